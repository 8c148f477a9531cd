//! Learns a mask from runs.

use super::align::{LearnedRule, align, durations, lesson};
use super::template::{Duration, Field, Fields, Masked, Part, Rules, Template, Text, duration};
use super::token::{Class, Kind, has_letters, shape};
use super::{Mask, wordless_positions};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of rounds. Each round may align lines that were not recognised before; this is more than
/// was ever needed.
const ROUNDS: usize = 6;
/// An output that is larger than this and not reproducible is not analysed.
const LARGE: usize = 16 << 20;

type Versions<'a> = [&'a [Vec<u8>]; 2];

pub(super) fn learn(good: &[Vec<u8>], bad: &[Vec<u8>], seconds: f64) -> Mask {
    let versions = [good, bad];
    let steady = versions.iter().all(|runs| runs.iter().all(|run| *run == runs[0]));
    if versions.iter().any(|runs| runs.iter().any(|run| run.len() > LARGE)) {
        return Mask { ignores_all: !steady, ..Mask::default() };
    }
    let likely = likely_durations(&versions, seconds);
    if steady && likely.is_empty() {
        return Mask::default();
    }
    let mask = learn_with(&versions, Some(likely));
    let equal = |mask: &Mask| match (good.first(), bad.first()) {
        (Some(good), Some(bad)) => mask.apply(good) == mask.apply(bad),
        _ => false,
    };
    if equal(&mask) {
        let plain = learn_with(&versions, None);
        if !equal(&plain) {
            return plain;
        }
    }
    mask
}

/// Numbers before a unit of time that may be durations although all runs have the same ones: none is longer
/// than a run took. Whole seconds are too often something else.
fn likely_durations(versions: &Versions, seconds: f64) -> Vec<Duration> {
    let rules = Rules::default();
    let mut found: Vec<(Duration, bool)> = Vec::new();
    for line in versions.iter().flat_map(|runs| runs.iter()).flat_map(|run| run.split(|b| *b == b'\n')) {
        if !line.iter().any(u8::is_ascii_digit) {
            continue;
        }
        let masked = rules.mask(line, None);
        for at in 0..masked.pieces.len() {
            let Some(duration) = duration(&masked.pieces, at) else { continue };
            let Some(length) = duration.length(masked.pieces[at].text) else { continue };
            let plausible = (0.0..=seconds).contains(&length);
            match found.iter_mut().find(|(known, _)| known.is_like(&duration)) {
                Some((_, all_plausible)) => *all_plausible &= plausible,
                None => found.push((duration.owned(line), plausible)),
            }
        }
    }
    found.into_iter().filter(|(_, plausible)| *plausible).map(|(duration, _)| duration).collect()
}

/// Generalises beyond single lines if `likely` is given, even if it is empty.
fn learn_with(versions: &Versions, likely: Option<Vec<Duration>>) -> Mask {
    let generalise = likely.is_some();
    let mut mask = Mask::default();
    mask.rules.durations = likely.unwrap_or_default();
    for _ in 0..ROUNDS {
        if !mask.batch(versions, generalise) {
            break;
        }
    }
    if generalise {
        mask.learn_counters(versions);
    }
    mask.learn_positions(versions);
    mask.finish_learning(versions);
    mask
}

impl Mask {
    /// Compares each run with the first of its version. Returns whether something new was learned.
    fn batch(&mut self, versions: &Versions, generalise: bool) -> bool {
        let mut learned = false;
        for runs in versions {
            for run in runs.iter().skip(1) {
                let (first, other) = (self.lines(&runs[0]), self.lines(run));
                for (x, y) in align(&first, &other) {
                    let (x, y) = (&first[x], &other[y]);
                    match lesson(x, y) {
                        Some(LearnedRule::Template(template)) if has_words(&template) => {
                            learned |= self.rules.add(template);
                            for duration in durations(x, y).into_iter().filter(|_| generalise) {
                                if !self.rules.durations.iter().any(|d| d.is_like(&duration)) {
                                    self.rules.durations.push(duration.owned(x.line));
                                    learned = true;
                                }
                            }
                        }
                        Some(LearnedRule::Fields(fields)) => learned |= self.rules.add_fields(fields),
                        _ => {}
                    }
                }
            }
        }
        learned
    }

    /// Learns lines without words, which are identified by their position.
    fn learn_positions(&mut self, versions: &Versions) {
        self.rules.retain(|t| t.around.is_none());
        for _ in 0..ROUNDS {
            let mut learned = false;
            for runs in versions {
                for run in runs.iter().skip(1) {
                    let (first, other) = (self.lines(&runs[0]), self.lines(run));
                    // Positions are those that `lines` computes before it uses positions.
                    let plain = |lines: &[Masked]| -> BTreeMap<usize, _> {
                        let plain: Vec<_> = lines.iter().map(|m| self.rules.mask(m.line, None)).collect();
                        wordless_positions(&plain).into_iter().collect()
                    };
                    let (here, there) = (plain(&first), plain(&other));
                    for (x, y) in align(&first, &other) {
                        let (Some(around), true) = (here.get(&x), here.get(&x) == there.get(&y)) else {
                            continue;
                        };
                        if let Some(LearnedRule::Template(template)) = lesson(&first[x], &other[y])
                            && !has_words(&template)
                        {
                            learned |= self.rules.add(Template { around: Some(around.clone()), ..template });
                        }
                    }
                }
            }
            if !learned {
                break;
            }
        }
    }

    /// Learns numbers that count lines in output order: in lines of the same shape they grow from line to
    /// line in every run, and belong to other lines in another run.
    fn learn_counters(&mut self, versions: &Versions) {
        let mut places: BTreeMap<(Vec<u8>, usize), Vec<&Template>> = BTreeMap::new();
        for template in &self.rules.templates {
            for at in 0..template.parts.len() {
                if template.parts[at] == Part::Wild(Kind::Number) {
                    places.entry((template.shape.0.clone(), at)).or_default().push(template);
                }
            }
        }
        let mut found = Vec::new();
        for ((shape, at), templates) in places.into_iter().filter(|(_, t)| t.len() > 1) {
            let common = |i: usize| {
                let first = &templates[0].parts[i];
                let same =
                    matches!(first, Part::Literal(_)) && templates.iter().all(|t| t.parts[i] == *first);
                if same { first.clone() } else { Part::Kept }
            };
            let mut parts: Vec<Part> = (0..shape.len()).map(common).collect();
            parts[at] = Part::Wild(Kind::Number);
            // Counters are aligned in columns.
            if at > 0 && shape[at - 1] == b' ' {
                parts[at - 1] = Part::Wild(Kind::Padding);
            }
            let example = templates[0].example.clone();
            let template = Template { shape: Text(shape), parts, drop: false, around: None, example };
            if has_words(&template) && self.counts(&template, at, versions) {
                found.push(template);
            }
        }
        for template in found {
            self.rules.add(template);
        }
    }

    fn counts(&self, template: &Template, at: usize, versions: &Versions) -> bool {
        versions.iter().flat_map(|runs| runs.iter()).all(|run| {
            let (mut last, mut increases) = (None, true);
            for line in self.lines(run).iter().filter(|m| !m.by_fields && fits(template, m)) {
                let number =
                    std::str::from_utf8(line.pieces[at].text).ok().and_then(|t| t.parse::<u64>().ok());
                increases &= number.is_some() && number > last;
                last = number;
            }
            increases
        })
    }

    /// Handles the remaining differences: the order of lines, lines that occur only in some runs, or else
    /// ignores everything.
    fn finish_learning(&mut self, versions: &Versions) {
        if self.is_stable_by_order(versions) {
            return;
        }
        if !self.learn_drops(versions) {
            self.ignores_all = true;
            return;
        }
        self.learn_positions(versions);
        let left = |run: &Vec<u8>| self.lines(run).iter().any(|m| !m.dropped);
        let something = versions.iter().flat_map(|runs| runs.iter()).any(left);
        self.ignores_all = !something || !self.is_stable_by_order(versions);
    }

    fn is_stable_by_order(&mut self, versions: &Versions) -> bool {
        for sorted in [false, true] {
            self.sorted = sorted;
            let same = |runs: &&[Vec<u8>]| {
                let mut applied = runs.iter().map(|run| self.apply(run));
                let first = applied.next();
                applied.all(|other| Some(other) == first)
            };
            if versions.iter().all(same) {
                return true;
            }
        }
        self.sorted = false;
        false
    }

    /// Learns lines whose counts differ between runs. False if that cannot work: a line without words, or
    /// lines in each run that occur in no other, because the next run will have new ones too.
    fn learn_drops(&mut self, versions: &Versions) -> bool {
        let mut drops: Vec<LearnedRule> = Vec::new();
        for runs in versions {
            let lines: Vec<Vec<Masked>> = runs.iter().map(|run| self.lines(run)).collect();
            let counts: Vec<BTreeMap<Vec<u8>, usize>> = lines.iter().map(|l| count(l)).collect();
            let texts: BTreeSet<&Vec<u8>> = counts.iter().flat_map(BTreeMap::keys).collect();
            let steady = |text: &Vec<u8>| counts.iter().all(|c| c.get(text) == counts[0].get(text));
            let unsteady: BTreeSet<&Vec<u8>> = texts.into_iter().filter(|t| !steady(t)).collect();
            let steady: Vec<&Masked> = lines[..].iter().flatten().filter(|m| steady(&m.text())).collect();
            let mut own = vec![false; runs.len()];
            let mut done = BTreeSet::new();
            for (run, line) in lines.iter().enumerate().flat_map(|(run, l)| l.iter().map(move |m| (run, m))) {
                let text = line.text();
                if line.dropped || !unsteady.contains(&text) {
                    continue;
                }
                let Some(lesson) = drop_rule(line, &steady) else { return false };
                let shared = lines.iter().enumerate().any(|(other, l)| {
                    other != run
                        && l.iter().any(|m| {
                            matches!(&lesson, LearnedRule::Template(t) if fits(t, m)) || m.text() == text
                        })
                });
                own[run] |= !shared;
                if done.insert(text) {
                    drops.push(lesson);
                }
            }
            if own.len() > 1 && own.iter().all(|o| *o) {
                return false;
            }
        }
        for drop in drops {
            match drop {
                LearnedRule::Template(template) => self.rules.add(template),
                LearnedRule::Fields(fields) => self.rules.add_fields(fields),
            };
        }
        true
    }
}

fn count(lines: &[Masked]) -> BTreeMap<Vec<u8>, usize> {
    let mut counts = BTreeMap::new();
    for line in lines.iter().filter(|m| !m.dropped) {
        *counts.entry(line.text()).or_default() += 1;
    }
    counts
}

/// The rule that drops a line. Its numbers are wild, because they may vary, unless that would also drop
/// stable lines.
fn drop_rule(line: &Masked, steady: &[&Masked]) -> Option<LearnedRule> {
    if !line.has_words() && !line.line.is_empty() {
        return None;
    }
    let example = Text(line.line.to_vec());
    if line.by_fields {
        let field = |pieces: &[super::template::Piece]| match pieces {
            [prefix, inner, suffix] if inner.wild.is_some() => Field::Within {
                prefix: Text(prefix.text.to_vec()),
                suffix: Text(suffix.text.to_vec()),
                kind: inner.wild.unwrap_or(Kind::Name),
            },
            _ => Field::Literal(Text(pieces.iter().flat_map(|p| p.text).copied().collect())),
        };
        let fields = line.fields().into_iter().map(field).collect();
        return Some(LearnedRule::Fields(Fields { fields, drop: true, example }));
    }
    let template = |generous: bool| {
        let part = |p: &super::template::Piece| {
            let numeric = matches!(p.class, Class::Number | Class::Address | Class::Time) && generous;
            let wild = p.wild.or(numeric.then(|| Kind::of(p.class, p.class)));
            wild.map_or_else(|| Part::Literal(Text(p.text.to_vec())), Part::Wild)
        };
        let parts = line.pieces.iter().map(part).collect();
        let shape = Text(shape(&line.tokens()));
        Template { shape, parts, drop: true, around: None, example: example.clone() }
    };
    let generous = template(true);
    let harms = steady.iter().any(|m| fits(&generous, m));
    Some(LearnedRule::Template(if harms { template(false) } else { generous }))
}

/// Whether a line matches a template.
fn fits(template: &Template, line: &Masked) -> bool {
    let part = |(part, piece): (&Part, &super::template::Piece)| match part {
        Part::Literal(text) => text.0 == piece.text,
        Part::Wild(kind) => kind.accepts(piece.class),
        Part::Kept => true,
    };
    !line.by_fields
        && template.shape.0 == shape(&line.tokens())
        && template.parts.iter().zip(&line.pieces).all(part)
}

fn has_words(template: &Template) -> bool {
    template.parts.iter().any(|part| matches!(part, Part::Literal(text) if has_letters(&text.0)))
}
