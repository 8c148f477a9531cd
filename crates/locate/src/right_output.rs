//! What the failing run got right.
//!
//! Where the whole output is known that a test is to write, most of what a failing run wrote is as it should
//! be. A line that the wrong byte depends on and right output does not is more suspicious than one that both
//! need (dicing; Lyle and Weiser, *Automatic program bug location by program slicing*). Each
//! line of right output counts as a run that passes, with the lines of its slice as what it executed,
//! and so does the right beginning of the wrong line.

use crate::Result;
use crate::failure::Failure;
use crate::suspicion::{Suspicion, ochiai};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Right outputs that are asked about, those next to the wrong one.
const MOST: usize = 16;
/// Instructions that may be replayed for them.
const STEPS: u64 = 200_000_000;

/// By line: how much the wrong output alone depends on it, as Ochiai's coefficient has it. Lines that the
/// wrong output does not depend on are not there, and nothing is if no output is right.
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

/// The bytes of what was written that are as expected, by lines: the beginning of the wrong line, the lines before
/// it and those at the end that both have, the nearest first.
fn right_ranges(written: &[u8], expected: &[u8]) -> Vec<Range<usize>> {
    let common = written.iter().zip(expected).take_while(|(a, b)| a == b).count();
    let mut before = lines(&written[..common]);
    before.reverse();
    let rest = [&written[common..], &expected[common..]];
    let [ours, theirs] = rest.map(lines);
    let same = ours.iter().rev().zip(theirs.iter().rev());
    let same = same.take_while(|(a, b)| rest[0][(*a).clone()] == rest[1][(*b).clone()]).count();
    // What is left of the wrong line is no line of its own.
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
