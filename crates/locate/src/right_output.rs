//! Suspicion from the correct output of the failing run.
//!
//! If the whole expected output of a test is known, most of the output of a failing run is usually
//! correct. A line that the wrong byte depends on and correct output does not is more suspicious than
//! one that both need (dicing; Lyle and Weiser, *Automatic program bug location by program slicing*).
//! Each line of correct output counts as a passing run whose coverage is the lines of its slice, and so
//! does the correct beginning of the wrong line.

use crate::Result;
use crate::failure::Failure;
use crate::suspicion::{Suspicion, ochiai};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Maximum number of correct output lines that are sliced: those closest to the wrong byte.
const MOST: usize = 16;
/// Maximum number of instructions replayed for these slices.
const STEPS: u64 = 200_000_000;

/// By line, Ochiai's coefficient of the dependence of wrong and correct output on it. Lines that the
/// wrong output does not depend on are absent. Empty if no output is correct.
///
/// # Errors
/// If the run does not replay.
pub fn suspicion(failure: &Failure<'_>, sink: &str, written: &[u8], expected: &[u8]) -> Result<Suspicion> {
    let slicer = &failure.slicer;
    let affordable = STEPS / failure.steps.max(1);
    let mut right: BTreeMap<(String, u32), u32> = BTreeMap::new();
    let mut asked = 0;
    for bytes in right_ranges(written, expected) {
        if asked == MOST.min(affordable as usize) {
            break;
        }
        let criteria = slicer.output_criteria(sink, bytes.start as u64..bytes.end as u64)?;
        if criteria.is_empty() {
            continue;
        }
        asked += 1;
        let slice = slicer.slice(&criteria, &mut |_| {})?;
        let lines: BTreeSet<_> = slicer
            .lines(&slice)
            .into_iter()
            .map(|(file, line)| (failure.traced.relative(&file), line))
            .collect();
        for line in lines {
            *right.entry(line).or_default() += 1;
        }
    }
    if asked == 0 {
        return Ok(Suspicion::new());
    }
    let wrong = failure.dynamic_lines.iter().map(|line| {
        let needed = right.get(line).copied().unwrap_or_default();
        (line.clone(), ochiai(1, needed, 1))
    });
    Ok(wrong.collect())
}

/// The ranges of correct bytes in the output, by lines: the beginning of the wrong line, the lines
/// before it, and the common lines at the end, ordered by distance.
fn right_ranges(written: &[u8], expected: &[u8]) -> Vec<Range<usize>> {
    let common = written.iter().zip(expected).take_while(|(a, b)| a == b).count();
    let mut before = lines(&written[..common]);
    before.reverse();
    let rest = [&written[common..], &expected[common..]];
    let [ours, theirs] = rest.map(lines);
    let same = ours.iter().rev().zip(theirs.iter().rev());
    let same = same.take_while(|(a, b)| rest[0][(*a).clone()] == rest[1][(*b).clone()]).count();
    // The rest of the wrong line is not a line of its own.
    let behind = ours.len() - same.min(ours.len().saturating_sub(1));
    let after = ours[behind..].iter().map(|line| line.start + common..line.end + common);
    let mut list = Vec::new();
    let (mut before, mut after) = (before.into_iter(), after);
    loop {
        match (before.next(), after.next()) {
            (None, None) => return list,
            (one, other) => list.extend(one.into_iter().chain(other)),
        }
    }
}

/// The lines of a text without their ends; empty ones are left out.
fn lines(text: &[u8]) -> Vec<Range<usize>> {
    let mut list = Vec::new();
    let mut start = 0;
    for line in text.split(|byte| *byte == b'\n') {
        if !line.is_empty() {
            list.push(start..start + line.len());
        }
        start += line.len() + 1;
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts<'t>(written: &'t str, expected: &str) -> Vec<&'t str> {
        right_ranges(written.as_bytes(), expected.as_bytes())
            .into_iter()
            .map(|range| &written[range])
            .collect()
    }

    #[test]
    fn right_output_is_what_both_have_around_the_first_wrong_byte() {
        assert_eq!(
            texts("a 1\nb 2\nc 3\nd 4\ne 5\n", "a 1\nb 2\nc 9\nd 4\ne 5\n"),
            ["c ", "d 4", "b 2", "e 5", "a 1"]
        );
        // A line that is missing, and one too many.
        assert_eq!(texts("a\nc\n", "a\nb\nc\n"), ["a"]);
        assert_eq!(texts("a\nb\nc\n", "a\nc\n"), ["a", "c"]);
        assert_eq!(texts("", "a\n"), [""; 0]);
        assert_eq!(texts("x", "y"), [""; 0]);
    }
}
