//! From two texts to the smallest groups of lines that can be reverted alone.
//!
//! The histogram algorithm gives hunks. A hunk in which lines were replaced is
//! cut further: lines that are alike are paired, each pair is a group, and so
//! is what lies between pairs. A cut makes sense only if both halves can live
//! without each other, so groups are joined again while old and new lines open
//! different numbers of brackets or end in different ways: reverting half of a
//! brace pair only costs a build.

use super::language::{Comments, Language};
use super::lexis::Lexed;
use crate::change::Matter;
use imara_diff::{Algorithm, Diff, InternedInput};
use std::ops::Range;

/// Old and new lines of a group, from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lines {
    pub old: Range<u32>,
    pub new: Range<u32>,
}

/// One version of a file.
pub(super) struct Side<'a> {
    /// With their ends.
    pub lines: Vec<&'a [u8]>,
    pub lexed: Lexed,
}

impl<'a> Side<'a> {
    pub fn new(language: Language, text: &'a [u8]) -> Side<'a> {
        let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
        let lexed = Lexed::new(language, &lines);
        Side { lines, lexed }
    }

    fn slice(&self, range: &Range<u32>) -> &[&'a [u8]] {
        &self.lines[range.start as usize..range.end as usize]
    }
}

/// Beyond so many pairs of lines to compare, a hunk's lines are not matched.
const MOST_COMPARED: usize = 40_000;

/// The groups between two versions of a file, in order.
pub(super) fn groups(language: Language, old: &Side, new: &Side) -> Vec<Lines> {
    let mut input = InternedInput::default();
    input.update_before(old.lines.iter().copied());
    input.update_after(new.lines.iter().copied());
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    let mut groups = Vec::new();
    for hunk in diff.hunks() {
        let hunk = Lines { old: hunk.before, new: hunk.after };
        split(language, old, new, hunk, &mut groups);
    }
    groups
}

/// What kind of change a group is; movement is seen later, over all files.
pub(super) fn matter(language: Language, old: &Side, new: &Side, group: &Lines) -> Matter {
    let Lines { old: o, new: n } = group;
    if language.comments == Comments::Nothing
        || old.lexed.tokens(o.start, o.end) != new.lexed.tokens(n.start, n.end)
        // A comment that begins here swallows code further down, or one ends here.
        || old.lexed.inside(o.start) != new.lexed.inside(n.start)
        || old.lexed.inside(o.end) != new.lexed.inside(n.end)
    {
        Matter::Substance
    } else if old.lexed.comments(o.start, o.end).eq(new.lexed.comments(n.start, n.end)) {
        Matter::Space
    } else {
        Matter::Comment
    }
}

fn split(language: Language, old: &Side, new: &Side, hunk: Lines, out: &mut Vec<Lines>) {
    // A last line without an end glues itself to whatever follows it, so what
    // stands around it is reverted with it or not at all.
    let unended =
        |side: &Side, range: &Range<u32>| side.slice(range).last().is_some_and(|line| !line.ends_with(b"\n"));
    if unended(old, &hunk.old) || unended(new, &hunk.new) {
        out.push(hunk);
        return;
    }
    if hunk.old.is_empty() {
        out.extend(paragraphs(new, &hunk.new).map(|new| Lines { old: hunk.old.clone(), new }));
        return;
    }
    if hunk.new.is_empty() {
        out.extend(paragraphs(old, &hunk.old).map(|old| Lines { old, new: hunk.new.clone() }));
        return;
    }
    let segments = segments(&hunk, &pairs(old, new, &hunk));
    let groups = join_dependent(old, new, &segments);
    let first = out.len();
    for group in groups {
        if old.slice(&group.old) == new.slice(&group.new) {
            continue;
        }
        // Re-indented or re-commented lines in a row are one change: cutting
        // them tells nobody anything.
        if let Some(last) = out.get_mut(first..).and_then(<[Lines]>::last_mut)
            && last.old.end == group.old.start
            && last.new.end == group.new.start
            && matter(language, old, new, last) != Matter::Substance
            && matter(language, old, new, &group) != Matter::Substance
        {
            last.old.end = group.old.end;
            last.new.end = group.new.end;
            continue;
        }
        out.push(group);
    }
}

/// Cuts added (or deleted) lines at blank lines outside all brackets.
fn paragraphs(side: &Side, range: &Range<u32>) -> impl Iterator<Item = Range<u32>> {
    let mut cuts = Vec::new();
    let mut start = range.start;
    for line in range.clone() {
        let blank = side.lines[line as usize].trim_ascii().is_empty();
        let next_begins = line + 1 < range.end && !side.lines[line as usize + 1].trim_ascii().is_empty();
        if blank
            && next_begins
            && side.lexed.inside(line + 1) == 0
            && side.lexed.balance(start, line) == [0; 4]
            && !side.lexed.tokens(start, line).is_empty()
            && !side.lexed.tokens(line + 1, range.end).is_empty()
        {
            cuts.push(start..line + 1);
            start = line + 1;
        }
    }
    cuts.push(start..range.end);
    cuts.into_iter()
}

/// Lines of a hunk that are versions of each other, in order on both sides.
fn pairs(old: &Side, new: &Side, hunk: &Lines) -> Vec<(u32, u32)> {
    // Equal but for layout: found by the same diff over tokens, which is fast
    // also where a whole file was re-indented.
    let mut unique = 0_u64;
    let mut keys = |side: &Side, range: &Range<u32>| -> Vec<(u64, Vec<u64>)> {
        range
            .clone()
            .map(|line| {
                let tokens = side.lexed.tokens(line, line + 1).to_vec();
                let comment = side.lexed.comments(line, line + 1).next().unwrap_or(0);
                if tokens.is_empty() && comment == 0 {
                    unique += 1;
                    (unique << 1, tokens)
                } else {
                    (comment, tokens)
                }
            })
            .collect()
    };
    let mut input = InternedInput::default();
    input.update_before(keys(old, &hunk.old).into_iter());
    input.update_after(keys(new, &hunk.new).into_iter());
    let diff = Diff::compute(Algorithm::Histogram, &input);
    let mut found = Vec::new();
    let (mut at_old, mut at_new) = (hunk.old.start, hunk.new.start);
    for inner in diff.hunks() {
        let gap = Lines {
            old: hunk.old.start + inner.before.start..hunk.old.start + inner.before.end,
            new: hunk.new.start + inner.after.start..hunk.new.start + inner.after.end,
        };
        found.extend((at_old..gap.old.start).zip(at_new..gap.new.start));
        alike(old, new, &gap, &mut found);
        (at_old, at_new) = (gap.old.end, gap.new.end);
    }
    found.extend((at_old..hunk.old.end).zip(at_new..hunk.new.end));
    found
}

/// Pairs lines that share most of their tokens: the order-preserving matching
/// with the largest sum of shared tokens.
fn alike(old: &Side, new: &Side, gap: &Lines, found: &mut Vec<(u32, u32)>) {
    let (rows, columns) = (gap.old.len(), gap.new.len());
    if rows == 0 || columns == 0 || rows.saturating_mul(columns) > MOST_COMPARED {
        return;
    }
    let sorted = |side: &Side, range: &Range<u32>| -> Vec<Vec<u64>> {
        range
            .clone()
            .map(|line| {
                let mut tokens = side.lexed.tokens(line, line + 1).to_vec();
                tokens.sort_unstable();
                tokens
            })
            .collect()
    };
    let (a, b) = (sorted(old, &gap.old), sorted(new, &gap.new));
    let width = columns + 1;
    let mut best = vec![0_u32; (rows + 1) * width];
    let mut weight = vec![0_u32; rows * columns];
    for row in (0..rows).rev() {
        for column in (0..columns).rev() {
            let shared = shared(&a[row], &b[column]);
            let enough = shared > 0 && 4 * shared >= a[row].len() + b[column].len();
            let shared = if enough { u32::try_from(shared).unwrap_or(u32::MAX) } else { 0 };
            weight[row * columns + column] = shared;
            let skip = best[(row + 1) * width + column].max(best[row * width + column + 1]);
            let take = if shared > 0 { shared + best[(row + 1) * width + column + 1] } else { 0 };
            best[row * width + column] = skip.max(take);
        }
    }
    let (mut row, mut column) = (0, 0);
    let (mut line_old, mut line_new) = (gap.old.start, gap.new.start);
    while row < rows && column < columns {
        let here = best[row * width + column];
        let shared = weight[row * columns + column];
        if shared > 0 && here == shared + best[(row + 1) * width + column + 1] {
            found.push((line_old, line_new));
            (row, column, line_old, line_new) = (row + 1, column + 1, line_old + 1, line_new + 1);
        } else if here == best[(row + 1) * width + column] {
            (row, line_old) = (row + 1, line_old + 1);
        } else {
            (column, line_new) = (column + 1, line_new + 1);
        }
    }
}

/// Size of the intersection of two sorted multisets.
fn shared(a: &[u64], b: &[u64]) -> usize {
    let (mut i, mut j, mut count) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                (i, j, count) = (i + 1, j + 1, count + 1);
            }
        }
    }
    count
}

/// The pairs and what lies between them, without a gap.
fn segments(hunk: &Lines, pairs: &[(u32, u32)]) -> Vec<Lines> {
    let mut segments = Vec::new();
    let (mut at_old, mut at_new) = (hunk.old.start, hunk.new.start);
    for &(old, new) in pairs.iter().chain(std::iter::once(&(hunk.old.end, hunk.new.end))) {
        if at_old < old || at_new < new {
            segments.push(Lines { old: at_old..old, new: at_new..new });
        }
        if old < hunk.old.end && new < hunk.new.end {
            segments.push(Lines { old: old..old + 1, new: new..new + 1 });
        }
        (at_old, at_new) = (old + 1, new + 1);
    }
    segments
}

fn join_dependent(old: &Side, new: &Side, segments: &[Lines]) -> Vec<Lines> {
    let mut groups = Vec::new();
    let mut at = 0;
    while at < segments.len() {
        let mut joined = segments[at].clone();
        let mut end = at + 1;
        while !stands_alone(old, new, &joined) && end < segments.len() {
            joined.old.end = segments[end].old.end;
            joined.new.end = segments[end].new.end;
            end += 1;
        }
        if stands_alone(old, new, &joined) {
            groups.push(joined);
            at = end;
        } else {
            // Its other half is not in this hunk; joining more would not help.
            groups.push(segments[at].clone());
            at += 1;
        }
    }
    groups
}

fn stands_alone(old: &Side, new: &Side, group: &Lines) -> bool {
    let Lines { old: o, new: n } = group;
    let balance = old.lexed.balance(o.start, o.end);
    balance == new.lexed.balance(n.start, n.end)
        // Parameters and arguments that go on in the next line belong together.
        && balance[1] <= 0
        && (o.is_empty() || n.is_empty() || old.lexed.ending(o.start, o.end) == new.lexed.ending(n.start, n.end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(path: &str, old: &str, new: &str) -> Vec<(Vec<String>, Vec<String>)> {
        let language = Language::of(path);
        let (old, new) = (Side::new(language, old.as_bytes()), Side::new(language, new.as_bytes()));
        let text = |side: &Side, range: &Range<u32>| -> Vec<String> {
            side.slice(range).iter().map(|line| String::from_utf8_lossy(line).trim().to_owned()).collect()
        };
        groups(language, &old, &new)
            .iter()
            .map(|group| (text(&old, &group.old), text(&new, &group.new)))
            .collect()
    }

    fn group(old: &[&str], new: &[&str]) -> (Vec<String>, Vec<String>) {
        let owned = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
        (owned(old), owned(new))
    }

    #[test]
    fn neighbouring_fixes_are_changes_of_their_own() {
        let old = "a = f(x, 1);\nb = g(y, 2);\n";
        let new = "a = f(x, 3);\nb = g(y, 4);\n";
        assert_eq!(
            shown("a.c", old, new),
            [group(&["a = f(x, 1);"], &["a = f(x, 3);"]), group(&["b = g(y, 2);"], &["b = g(y, 4);"])]
        );
    }

    #[test]
    fn halves_of_a_bracket_stay_together() {
        let old = "if (limit > 0) take(limit);\nz = 1;\n";
        let new = "if (limit > 0) {\n  take(limit);\n}\nz = 2;\n";
        assert_eq!(
            shown("a.c", old, new),
            [
                group(&["if (limit > 0) take(limit);"], &["if (limit > 0) {", "take(limit);", "}"]),
                group(&["z = 1;"], &["z = 2;"])
            ]
        );
    }

    #[test]
    fn halves_of_a_statement_stay_together() {
        let old = "total = first + second;\nrest = 0;\n";
        let new = "total = first +\n  second + third;\nrest = 1;\n";
        assert_eq!(
            shown("a.c", old, new),
            [
                group(&["total = first + second;"], &["total = first +", "second + third;"]),
                group(&["rest = 0;"], &["rest = 1;"])
            ]
        );
    }

    #[test]
    fn lines_of_a_parameter_list_stay_together() {
        let old = "static int find (State *L, Call *ci,\n                 const char **name) {\n";
        let new =
            "static int find (State *L, const Proto *p,\n                 int pc, const char **name) {\n";
        assert_eq!(shown("a.c", old, new).len(), 1);
    }

    #[test]
    fn new_functions_are_cut_at_blank_lines() {
        let new = "int f(void)\n{\n  int a;\n\n  return 1;\n}\n\nint g(void)\n{\n  return 2;\n}\n";
        let groups = shown("a.c", "", new);
        assert_eq!(groups.len(), 2);
        assert_eq!(groups[1].1[0], "int g(void)");
    }

    #[test]
    fn a_last_line_without_end_is_not_torn_apart() {
        assert_eq!(shown("a", "x 1 2\ny 1 2", "x 1 3\ny 1 3\nz\n").len(), 1);
        assert_eq!(shown("a", "x 1 2\ny 1 2\n", "x 1 3\ny 1 3\n").len(), 2);
    }

    #[test]
    fn re_indented_lines_are_one_change() {
        let old = "a = 1;\nb = 2;\nc = 3;\nd = 4;\n";
        let new = "  a = 1;\n  b = 2;\n  c = 5;\n  d = 4;\n";
        assert_eq!(shown("a.c", old, new).len(), 3);
        assert_eq!(shown("a.c", "a = 1;\r\nb = 2;\r\n", "a = 1;\nb = 2;\n").len(), 1);
    }
}
