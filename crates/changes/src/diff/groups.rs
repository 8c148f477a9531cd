//! Computes the smallest groups of lines of two texts that can be reverted independently.
//!
//! The histogram algorithm gives hunks. Where the syntax of both versions is known, `cut` splits a hunk.
//! Elsewhere lines and brackets are used: similar lines are paired, and each pair and each range between
//! pairs is a group. A split is useful only if both halves can be reverted independently. So groups are
//! merged again while old and new lines open different numbers of brackets or end differently: reverting half
//! of a brace pair only costs a build.

use super::alike::{pairs, segments};
use super::cut::{Parsed, parts};
use super::language::{Comments, Language};
use super::line_lexer::Lexed;
use crate::change::ChangeClass;
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
    pub text: &'a [u8],
    /// Including their line ends.
    pub lines: Vec<&'a [u8]>,
    pub lexed: Lexed,
}

impl<'a> Side<'a> {
    pub fn new(language: Language, text: &'a [u8]) -> Side<'a> {
        let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
        let lexed = Lexed::new(language, &lines);
        Side { text, lines, lexed }
    }

    fn slice(&self, range: &Range<u32>) -> &[&'a [u8]] {
        &self.lines[range.start as usize..range.end as usize]
    }

    pub fn is_blank(&self, range: Range<u32>) -> bool {
        self.slice(&range).iter().all(|line| line.trim_ascii().is_empty())
    }

    /// Its last line has no line end and would be concatenated with the line that follows. So the lines
    /// around it can only be reverted together with it.
    fn lacks_final_newline(&self, range: &Range<u32>) -> bool {
        self.slice(range).last().is_some_and(|line| !line.ends_with(b"\n"))
    }
}

/// A hunk: runs of changed lines that are separated only by blank lines.
pub(super) type Runs = Vec<Lines>;

/// The hunks between two versions of a file, in order.
pub(super) fn hunks(old: &Side, new: &Side) -> Vec<Runs> {
    let mut input = InternedInput::default();
    input.update_before(old.lines.iter().copied());
    input.update_after(new.lines.iter().copied());
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    let mut hunks: Vec<Runs> = Vec::new();
    for run in diff.hunks() {
        let run = Lines { old: run.before, new: run.after };
        let near = |last: &Lines| old.is_blank(last.old.end..run.old.start);
        match hunks.last_mut().filter(|runs| runs.last().is_some_and(near)) {
            Some(runs) => runs.push(run),
            None => hunks.push(vec![run]),
        }
    }
    hunks
}

/// Splits a hunk into groups, in order.
pub(super) fn groups(
    language: Language,
    parsed: Option<&Parsed>,
    old: &Side,
    new: &Side,
    runs: &[Lines],
) -> Vec<Lines> {
    let parts = match (parsed, runs) {
        (Some(parsed), [first, .., last]) => by_syntax(parsed, old, new, first, last, runs),
        (Some(parsed), [only]) => by_syntax(parsed, old, new, only, only, runs),
        _ => runs.iter().flat_map(|run| split(old, new, run)).collect(),
    };
    let mut groups: Vec<Lines> = Vec::new();
    for part in parts.iter().map(|part| trimmed(old, new, part)) {
        if part.old.is_empty() && part.new.is_empty() {
            continue;
        }
        // Adjacent lines with only white space or comment changes are one change: splitting them has no use.
        if let Some(last) = groups.last_mut()
            && last.old.end == part.old.start
            && last.new.end == part.new.start
            && matter(language, old, new, last) != ChangeClass::Substance
            && matter(language, old, new, &part) != ChangeClass::Substance
        {
            last.old.end = part.old.end;
            last.new.end = part.new.end;
            continue;
        }
        groups.push(part);
    }
    groups
}

fn by_syntax(
    parsed: &Parsed,
    old: &Side,
    new: &Side,
    first: &Lines,
    last: &Lines,
    runs: &[Lines],
) -> Vec<Lines> {
    let hunk = Lines { old: first.old.start..last.old.end, new: first.new.start..last.new.end };
    if old.lacks_final_newline(&hunk.old) || new.lacks_final_newline(&hunk.new) {
        return vec![hunk];
    }
    let mut found = Vec::new();
    let mut behind = (hunk.old.start, hunk.new.start);
    for run in runs {
        found.extend((behind.0..run.old.start).zip(behind.1..run.new.start));
        found.extend(pairs(old, new, run));
        behind = (run.old.end, run.new.end);
    }
    parts(parsed, old, new, &hunk, &found)
}

/// Without the equal lines at its beginning and end.
fn trimmed(old: &Side, new: &Side, part: &Lines) -> Lines {
    let (a, b) = (old.slice(&part.old), new.slice(&part.new));
    let front = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (rest_a, rest_b) = (&a[front..], &b[front..]);
    let back = rest_a.iter().rev().zip(rest_b.iter().rev()).take_while(|(a, b)| a == b).count();
    let count = |count: usize| u32::try_from(count).unwrap_or(0);
    let (front, back) = (count(front), count(back));
    Lines {
        old: part.old.start + front..part.old.end - back,
        new: part.new.start + front..part.new.end - back,
    }
}

/// Classifies a group. Moved lines are detected later, across all files.
pub(super) fn matter(language: Language, old: &Side, new: &Side, group: &Lines) -> ChangeClass {
    let Lines { old: o, new: n } = group;
    if language.comments == Comments::Nothing
        || old.lexed.tokens(o.start, o.end) != new.lexed.tokens(n.start, n.end)
        // A comment that begins here extends over code below, or one ends here.
        || old.lexed.inside(o.start) != new.lexed.inside(n.start)
        || old.lexed.inside(o.end) != new.lexed.inside(n.end)
    {
        ChangeClass::Substance
    } else if old.lexed.comments(o.start, o.end).eq(new.lexed.comments(n.start, n.end)) {
        ChangeClass::Space
    } else {
        ChangeClass::Comment
    }
}

/// Splits a hunk by lines and brackets.
fn split(old: &Side, new: &Side, hunk: &Lines) -> Vec<Lines> {
    if old.lacks_final_newline(&hunk.old) || new.lacks_final_newline(&hunk.new) {
        return vec![hunk.clone()];
    }
    if hunk.old.is_empty() {
        return paragraphs(new, &hunk.new).map(|new| Lines { old: hunk.old.clone(), new }).collect();
    }
    if hunk.new.is_empty() {
        return paragraphs(old, &hunk.old).map(|old| Lines { old, new: hunk.new.clone() }).collect();
    }
    join_dependent(old, new, &segments(hunk, &pairs(old, new, hunk)))
}

/// Splits added (or deleted) lines at blank lines outside all brackets.
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

fn join_dependent(old: &Side, new: &Side, segments: &[Lines]) -> Vec<Lines> {
    let mut groups = Vec::new();
    let mut at = 0;
    while at < segments.len() {
        let mut joined = segments[at].clone();
        let mut end = at + 1;
        while !is_self_contained(old, new, &joined) && end < segments.len() {
            joined.old.end = segments[end].old.end;
            joined.new.end = segments[end].new.end;
            end += 1;
        }
        if is_self_contained(old, new, &joined) {
            groups.push(joined);
            at = end;
        } else {
            // The matching bracket is not in this hunk; merging more groups would not help.
            groups.push(segments[at].clone());
            at += 1;
        }
    }
    groups
}

fn is_self_contained(old: &Side, new: &Side, group: &Lines) -> bool {
    let Lines { old: o, new: n } = group;
    let balance = old.lexed.balance(o.start, o.end);
    balance == new.lexed.balance(n.start, n.end)
        // Parameters and arguments that continue on the next line belong together.
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
        hunks(&old, &new)
            .iter()
            .flat_map(|runs| groups(language, None, &old, &new, runs))
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
