//! Aligns the lines of two runs, and derives templates from aligned lines.

use super::template::{Field, Fields, Found, Masked, Part, Piece, Template, Text, duration, numeric};
use super::token::{Class, Kind, general, has_letters, shape};
use imara_diff::{Algorithm, Diff, InternedInput};
use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;

/// Above this number of pairs, lines are not compared pairwise.
const MAX_PAIRS: usize = 250_000;

/// Pairs of lines that correspond although they differ, by index. Most certain first: lines that agree except
/// for numbers, in order, then out of order; the same with numbers within words; and lines that agree in at
/// least half of their words, the most similar ones first.
pub(super) fn align(a: &[Masked], b: &[Masked]) -> Vec<(usize, usize)> {
    let texts = |lines: &[Masked]| lines.iter().map(Masked::text).collect::<Vec<_>>();
    let (a_texts, b_texts) = (texts(a), texts(b));
    let hunks = differing(&a_texts, &b_texts).into_iter();
    let mut gaps: Vec<(Vec<usize>, Vec<usize>)> = hunks.map(|(x, y)| (x.collect(), y.collect())).collect();
    // Lines that only moved are not different lines.
    take_moved(&mut gaps, &a_texts, &b_texts);
    let mut pairs = Vec::new();
    for within_words in [false, true] {
        let keys =
            |lines: &[Masked]| lines.iter().map(|m| general(&m.tokens(), within_words)).collect::<Vec<_>>();
        let (a_keys, b_keys) = (keys(a), keys(b));
        for (left, right) in &mut gaps {
            pairs.extend(take_ordered(left, right, &a_keys, &b_keys));
        }
        pairs.extend(take_moved(&mut gaps, &a_keys, &b_keys));
    }
    let left: Vec<usize> = gaps.iter().flat_map(|g| &g.0).copied().collect();
    let right: Vec<usize> = gaps.iter().flat_map(|g| &g.1).copied().collect();
    if left.len() * right.len() <= MAX_PAIRS {
        pairs.extend(most_similar(a, b, &left, &right));
    } else {
        let in_order = gaps.iter().flat_map(|(x, y)| x.iter().zip(y));
        pairs.extend(in_order.map(|(x, y)| (*x, *y)).filter(|(x, y)| similarity(&a[*x], &b[*y]) > 0));
    }
    pairs
}

/// Removes from a gap the lines that agree in order.
fn take_ordered(
    left: &mut Vec<usize>,
    right: &mut Vec<usize>,
    a: &[Vec<u8>],
    b: &[Vec<u8>],
) -> Vec<(usize, usize)> {
    let pick = |from: &[Vec<u8>], which: &[usize]| which.iter().map(|i| from[*i].clone()).collect::<Vec<_>>();
    let mut differs = (vec![false; left.len()], vec![false; right.len()]);
    for (x, y) in differing(&pick(a, left), &pick(b, right)) {
        x.for_each(|i| differs.0[i] = true);
        y.for_each(|i| differs.1[i] = true);
    }
    let take = |lines: &mut Vec<usize>, differs: &[bool]| {
        let of = |is: bool| lines.iter().zip(differs).filter(move |(_, d)| **d == is).map(|(l, _)| *l);
        let (taken, rest): (Vec<_>, Vec<_>) = (of(false).collect(), of(true).collect());
        *lines = rest;
        taken
    };
    take(left, &differs.0).into_iter().zip(take(right, &differs.1)).collect()
}

fn differing(a: &[Vec<u8>], b: &[Vec<u8>]) -> Vec<(Range<usize>, Range<usize>)> {
    let mut input: InternedInput<&[u8]> = InternedInput::default();
    input.update_before(a.iter().map(Vec::as_slice));
    input.update_after(b.iter().map(Vec::as_slice));
    let diff = Diff::compute(Algorithm::Histogram, &input);
    let range = |r: Range<u32>| r.start as usize..r.end as usize;
    diff.hunks().map(|hunk| (range(hunk.before), range(hunk.after))).collect()
}

/// Removes from the gaps the lines that occur in gaps of both, in any order.
fn take_moved(gaps: &mut [(Vec<usize>, Vec<usize>)], a: &[Vec<u8>], b: &[Vec<u8>]) -> Vec<(usize, usize)> {
    let mut there: HashMap<&[u8], VecDeque<usize>> = HashMap::new();
    for line in gaps.iter().flat_map(|g| &g.1) {
        there.entry(&b[*line]).or_default().push_back(*line);
    }
    let mut pairs = Vec::new();
    for (left, _) in gaps.iter_mut() {
        left.retain(|line| match there.get_mut(&a[*line][..]).and_then(VecDeque::pop_front) {
            Some(other) => {
                pairs.push((*line, other));
                false
            }
            None => true,
        });
    }
    let taken: HashSet<usize> = pairs.iter().map(|p| p.1).collect();
    for (_, right) in gaps.iter_mut() {
        right.retain(|line| !taken.contains(line));
    }
    pairs
}

/// The most similar pairs of lines, and among equals the closest ones.
fn most_similar(a: &[Masked], b: &[Masked], left: &[usize], right: &[usize]) -> Vec<(usize, usize)> {
    let mut choices = Vec::new();
    for (i, x) in left.iter().enumerate() {
        for (j, y) in right.iter().enumerate() {
            let alike = similarity(&a[*x], &b[*y]);
            if alike > 0 {
                choices.push((std::cmp::Reverse(alike), i.abs_diff(j), *x, *y));
            }
        }
    }
    choices.sort_unstable();
    let (mut used, mut used_there) = (HashSet::new(), HashSet::new());
    let mut free = |(_, _, x, y): &(_, _, usize, usize)| {
        let free = !used.contains(x) && !used_there.contains(y);
        if free {
            used.insert(*x);
            used_there.insert(*y);
        }
        free
    };
    choices.into_iter().filter(|c| free(c)).map(|(_, _, x, y)| (x, y)).collect()
}

/// The similarity of two lines in thousandths; 0 if it is less than half or no words agree. Numbers and
/// similar tokens are expected to differ.
fn similarity(a: &Masked, b: &Masked) -> u64 {
    let (mut equal, mut total, mut words) = (0, 0, false);
    let mut compare = |x: &[u8], y: &[u8]| {
        total += 1;
        equal += u64::from(x == y);
        words |= x == y && has_letters(x);
    };
    if !a.by_fields && !b.by_fields && shape(&a.tokens()) == shape(&b.tokens()) {
        let expected = |x: Class, y: Class| Kind::of(x, y) != Kind::Name;
        let solid =
            a.pieces.iter().zip(&b.pieces).filter(|(x, y)| x.text == y.text || !expected(x.class, y.class));
        let solid = solid.filter(|(x, _)| !Kind::Padding.accepts(x.class));
        solid.for_each(|(x, y)| compare(x.text, y.text));
    } else {
        let (x, y) = (a.fields(), b.fields());
        if x.len() != y.len() {
            return 0;
        }
        for (x, y) in x.into_iter().zip(y) {
            let (x, y) = (joined(x), joined(y));
            if x == y || !numeric(&x) || !numeric(&y) {
                compare(&x, &y);
            }
        }
    }
    if words && equal * 2 >= total { 1 + equal * 1000 / total } else { 0 }
}

fn joined(pieces: &[Piece]) -> Vec<u8> {
    pieces.iter().flat_map(|p| p.text).copied().collect()
}

/// The rule learned from two forms of one line.
pub(super) enum LearnedRule {
    Template(Template),
    Fields(Fields),
}

/// The template of two forms of one line: parts that differ are wild, and so are parts that were already
/// wild.
pub(super) fn lesson(a: &Masked, b: &Masked) -> Option<LearnedRule> {
    let shape_of = |m: &Masked| shape(&m.tokens());
    if a.by_fields || b.by_fields || shape_of(a) != shape_of(b) {
        return fields(a, b).map(LearnedRule::Fields);
    }
    let part = |(x, y): (&Piece, &Piece)| {
        let differs = (x.text != y.text).then(|| Kind::of(x.class, y.class));
        let kinds = [x.wild, y.wild, differs].into_iter().flatten();
        kinds.reduce(Kind::join).map_or_else(|| Part::Literal(Text(x.text.to_vec())), Part::Wild)
    };
    let mut parts: Vec<Part> = a.pieces.iter().zip(&b.pieces).map(part).collect();
    // The width of a number changes the blanks before it.
    for at in 1..parts.len() {
        let blanks = a.pieces[at - 1].class == Class::Space && !a.pieces[at - 1].text.is_empty();
        if parts[at] == Part::Wild(Kind::Number) && blanks {
            parts[at - 1] = Part::Wild(Kind::Padding);
        }
    }
    let example = Text(a.line.to_vec());
    Some(LearnedRule::Template(Template {
        shape: Text(shape_of(a)),
        parts,
        drop: false,
        around: None,
        example,
    }))
}

fn fields(a: &Masked, b: &Masked) -> Option<Fields> {
    let (x, y) = (a.fields(), b.fields());
    if x.len() != y.len() {
        return None;
    }
    let mut words = false;
    let mut fields = Vec::new();
    for (x, y) in x.into_iter().zip(y) {
        let wild = x.iter().chain(y).any(|p| p.wild.is_some());
        let (left, right) = (joined(x), joined(y));
        if left == right && !wild {
            words |= has_letters(&left);
            fields.push(Field::Literal(Text(left)));
            continue;
        }
        // Parts that are already masked do not belong to the common prefix or suffix.
        let open = |pieces: &mut dyn Iterator<Item = &Piece>| {
            pieces.take_while(|p| p.wild.is_none()).map(|p| p.text.len()).sum::<usize>()
        };
        let most = open(&mut x.iter()).min(open(&mut y.iter())).min(left.len().min(right.len()) - 1);
        let common = left.iter().zip(&right).take(most).take_while(|(p, q)| p == q).count();
        let end = |byte: &u8| !(byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80);
        let prefix = left[..common].iter().rposition(end).map_or(0, |at| at + 1);
        let most = open(&mut x.iter().rev()).min(open(&mut y.iter().rev()));
        let most = most.min(left.len().min(right.len()) - prefix - 1);
        let common = left.iter().rev().zip(right.iter().rev()).take(most).take_while(|(p, q)| p == q).count();
        let suffix = left[left.len() - common..].iter().position(end).map_or(0, |at| common - at);
        let inner = |text: &[u8]| numeric(&text[prefix..text.len() - suffix]);
        let kind = if inner(&left) && inner(&right) { Kind::Number } else { Kind::Name };
        let (prefix, suffix) = (left[..prefix].to_vec(), left[left.len() - suffix..].to_vec());
        words |= has_letters(&prefix) || has_letters(&suffix);
        fields.push(Field::Within { prefix: Text(prefix), suffix: Text(suffix), kind });
    }
    words.then(|| Fields { fields, drop: false, example: Text(a.line.to_vec()) })
}

/// Durations that differ between two forms of one line.
pub(super) fn durations<'a>(a: &Masked<'a>, b: &Masked) -> Vec<Found<'a>> {
    let both = a.pieces.iter().zip(&b.pieces).enumerate();
    let differing = both.filter(|(_, (x, y))| x.text != y.text && y.class == Class::Number);
    differing.filter_map(|(at, _)| duration(&a.pieces, at)).collect()
}
