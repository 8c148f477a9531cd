//! Which line of the other version corresponds to the line of a step, and why none does.
//!
//! Execution indices give changed lines the key of the last unchanged line before them, so the instruction
//! that they find may be on another line. A line that both versions have corresponds to itself only; a changed
//! line to a changed line of the same hunk, if it has the same position in it or resembles it.
//!
//! A line without a counterpart at its own position may have been moved: the other version has its text in
//! a line that is new there. "does not have this line" is stated only if there is no such line.

use crate::align::Side;
use crate::answer::Place;
use crate::case::Case;
use crate::evidence::touching;
use crate::findings::{Findings, Run};
use changes::Difference;
use std::ops::Range;

/// Why the other run did not execute a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Absent {
    /// Its version does not have the line.
    NoLine,
    /// Its version has the line elsewhere, and its run executed it there or did not.
    Moved { line: u32, ran: bool },
    /// Its version has the line at several other places.
    Scattered,
    /// It never ran the line.
    NotRun,
    /// It ran the line, but with no corresponding execution.
    NoMoment,
}

impl Absent {
    /// Why the other run did not execute a line of a function of this side's version.
    pub fn line(
        findings: &Findings<'_>,
        case: &Case<'_>,
        side: Side,
        (file, line): (&str, u32),
        function: &str,
    ) -> Absent {
        let difference = case.difference;
        let (there, other) = match side {
            Side::Bad => (difference.map_line_to_good(file, line), Side::Good),
            Side::Good => (difference.map_line_to_bad(file, line), Side::Bad),
        };
        if let Some((file, line)) = there {
            return if findings.ran(other, &file, line) { Absent::NoMoment } else { Absent::NotRun };
        }
        let text = case.sources.line(side, file, line).unwrap_or_default();
        // A line that both versions have at corresponding positions is not a moved copy.
        let is_new = |line: &u32| match other {
            Side::Good => difference.map_line_to_bad(file, *line).is_none(),
            Side::Bad => difference.map_line_to_good(file, *line).is_none(),
        };
        let copies: Vec<u32> =
            case.sources.lines_like(other, file, &text).into_iter().filter(is_new).collect();
        let run = match other {
            Side::Good => findings.good.as_ref(),
            Side::Bad => findings.bad.as_ref(),
        };
        let line = match (&copies[..], &in_function(run, file, function, &copies)[..]) {
            ([], _) => return Absent::NoLine,
            ([line], _) | (_, [line]) => *line,
            _ => return Absent::Scattered,
        };
        Absent::Moved { line, ran: findings.ran(other, file, line) }
    }

    /// What bad did instead of a step of the version that it is compared with.
    pub fn in_bad(absent: Option<Absent>, reference: &str) -> String {
        match absent {
            Some(Absent::NoMoment) => format!("{reference} ran this line at a moment that bad does not have"),
            Some(Absent::NotRun) | None => format!("{reference} ran this, bad did not"),
            Some(absent) => absent.in_text("bad"),
        }
    }

    /// What the version that bad is compared with did instead of a step of bad.
    pub fn in_reference(self, reference: &str) -> String {
        match self {
            Absent::NotRun => format!("{reference} did not run this line"),
            Absent::NoMoment => format!("{reference} ran this line, but not at this moment"),
            _ => self.in_text(reference),
        }
    }

    /// The same as the end of a sentence about bad; nothing about lines that a version does not have there.
    pub fn beside(absent: Option<Absent>, reference: &str) -> String {
        match absent {
            Some(absent @ (Absent::NotRun | Absent::NoMoment)) => {
                format!("; {}", absent.in_reference(reference))
            }
            _ => String::new(),
        }
    }

    fn in_text(self, version: &str) -> String {
        match self {
            Absent::Moved { line, ran: true } => {
                format!("{version} has this at another place, in line {line}")
            }
            Absent::Moved { line, ran: false } => {
                format!("{version} has this at another place, in line {line}, which did not run")
            }
            Absent::Scattered => format!("{version} has this at other places"),
            _ => format!("{version} does not have this line"),
        }
    }
}

/// A line of a version.
pub(crate) struct Stated<'a> {
    pub side: Side,
    pub file: &'a str,
    pub line: u32,
    pub text: &'a str,
}

impl Stated<'_> {
    /// Whether a line of the other version, where an instruction with the same index was found, corresponds
    /// to this one.
    pub fn is_counterpart(&self, difference: &Difference, there: &Place) -> bool {
        let (mapped, back) = match self.side {
            Side::Bad => (
                difference.map_line_to_good(self.file, self.line),
                difference.map_line_to_bad(&there.file, there.line),
            ),
            Side::Good => (
                difference.map_line_to_bad(self.file, self.line),
                difference.map_line_to_good(&there.file, there.line),
            ),
        };
        if mapped.is_some() || back.is_some() {
            return mapped.is_some_and(|(file, line)| file == there.file && line == there.line);
        }
        let (line, text) = (there.line, there.text.as_str());
        let Some(change) = touching(difference, self.side, self.file, self.line) else {
            return resembles(self.text, text);
        };
        let (own, other) = match self.side {
            Side::Bad => (change.new_range(), change.old_range()),
            Side::Good => (change.old_range(), change.new_range()),
        };
        let offset = |range: &Range<u32>, line: u32| line.checked_sub(range.start);
        let is_paired = own.len() == other.len() && offset(&own, self.line) == offset(&other, line);
        is_paired || resembles(self.text, text)
    }
}

/// Whether at least half of the words and operators of two lines agree.
fn resembles(a: &str, b: &str) -> bool {
    let (a, mut b) = (tokens(a), tokens(b));
    let total = a.len() + b.len();
    let common = a.iter().filter(|token| match b.iter().position(|other| other == *token) {
        Some(at) => {
            b.swap_remove(at);
            true
        }
        None => false,
    });
    4 * common.count() >= total
}

/// Words, numbers and operators; brackets and separators do not tell lines apart.
fn tokens(text: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut tokens = Vec::new();
    let mut rest = text.trim();
    while let Some(first) = rest.chars().next() {
        let alike = |c: char| is_word(c) == is_word(first) && !c.is_whitespace() && !"(){}[],;".contains(c);
        let end = rest.find(|c| !alike(c)).unwrap_or(rest.len()).max(first.len_utf8());
        let (token, behind) = rest.split_at(end);
        if alike(first) {
            tokens.push(token);
        }
        rest = behind.trim_start();
    }
    tokens
}

/// Those of the lines that are in the function of this name.
fn in_function(run: Option<&Run<'_>>, file: &str, name: &str, lines: &[u32]) -> Vec<u32> {
    let body = run.and_then(|run| run.traced.body(file, name));
    lines.iter().copied().filter(|line| body.as_ref().is_some_and(|body| body.contains(line))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_resemble_each_other_if_most_of_their_words_agree() {
        for (a, b) in [
            ("if (x < y)", "if (x > y)"),
            ("sum += (0 - z);", "sum += z;"),
            ("while (child->next)", "if (child->prev)"),
            ("return a;", "return b;"),
        ] {
            assert!(resembles(a, b), "{a} {b}");
        }
        for (a, b) in [
            ("if (!posix && member == NULL) {", "pp = dyndep0(base, tsuff, infrule);"),
            ("return a + b;", "return total(list);"),
            ("}", "free(p);"),
        ] {
            assert!(!resembles(a, b), "{a} {b}");
        }
    }

    #[test]
    fn words_numbers_and_operators_are_tokens() {
        assert_eq!(
            tokens("  if (a_1 <= 0x2f && !p->q[3]) {"),
            ["if", "a_1", "<=", "0x2f", "&&", "!", "p", "->", "q", "3"]
        );
    }
}
