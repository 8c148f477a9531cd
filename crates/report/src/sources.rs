//! Source files of both versions, and the excerpts that a report needs.

use std::collections::{BTreeMap, BTreeSet};

use explain::answer::{Answer, Place};

use crate::forest;

/// Contents of source files, by the paths in an answer. The caller provides the available files; for a
/// missing file only the lines in the answer itself are shown.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// Files of good.
    pub good: BTreeMap<String, String>,
    /// Files of bad.
    pub bad: BTreeMap<String, String>,
}

/// Consecutive lines of a file.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Excerpt {
    /// Number of the first line, from 1.
    pub start: u32,
    /// The texts of the lines, without newlines.
    pub lines: Vec<String>,
}

/// Number of context lines around each location.
const AROUND: u32 = 9;
/// Maximum number of lines per version; a longer page would not be read.
const MOST_LINES: usize = 60_000;
/// Longer lines are cut: generated files have lines of megabytes.
const LONGEST_LINE: usize = 500;

/// The excerpts of files around the locations of an answer, by path.
#[must_use]
pub fn excerpts(
    files: &BTreeMap<String, String>,
    places: &BTreeMap<String, BTreeSet<u32>>,
) -> BTreeMap<String, Vec<Excerpt>> {
    let mut left = MOST_LINES;
    let mut found = BTreeMap::new();
    for (path, lines) in places {
        let Some(text) = files.get(path) else { continue };
        let parts = around(text, lines, AROUND, &mut left);
        if !parts.is_empty() {
            found.insert(path.clone(), parts);
        }
    }
    found
}

/// The lines of `text` at most `reach` away from one of `lines`, as runs of consecutive lines.
fn around(text: &str, lines: &BTreeSet<u32>, reach: u32, left: &mut usize) -> Vec<Excerpt> {
    let mut wanted = lines.iter().filter(|&&line| line > 0).copied().peekable();
    let mut parts: Vec<Excerpt> = Vec::new();
    let mut last_wanted = None;
    for (number, line) in (1u32..).zip(text.lines()) {
        while let Some(next) = wanted.next_if(|&next| next <= number) {
            last_wanted = Some(next);
        }
        let near = last_wanted.is_some_and(|wanted: u32| number - wanted <= reach)
            || wanted.peek().is_some_and(|&wanted| wanted - number <= reach);
        if !near || *left == 0 {
            continue;
        }
        *left -= 1;
        let mut end = line.len().min(LONGEST_LINE);
        while !line.is_char_boundary(end) {
            end -= 1;
        }
        let line = crate::text::visible(&line[..end]).into_owned();
        match parts.last_mut() {
            Some(part) if part.start as usize + part.lines.len() == number as usize => part.lines.push(line),
            _ => parts.push(Excerpt { start: number, lines: vec![line] }),
        }
    }
    parts
}

/// The lines that an answer refers to, by version and path.
#[must_use]
pub fn places(answer: &Answer) -> (BTreeMap<String, BTreeSet<u32>>, BTreeMap<String, BTreeSet<u32>>) {
    let (mut good, mut bad) = (BTreeMap::new(), BTreeMap::new());
    let mut note = |to_good: bool, place: &Option<Place>| {
        if let Some(place) = place {
            let side: &mut BTreeMap<String, BTreeSet<u32>> = if to_good { &mut good } else { &mut bad };
            side.entry(place.file.clone()).or_default().insert(place.line);
        }
    };
    note(false, &answer.observation.place);
    note(true, &answer.observation.good_place);
    for node in forest::flatten(&answer.causes) {
        note(false, &node.cause.place);
        note(true, &node.cause.good_place);
    }
    (good, bad)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn excerpts_are_exactly_the_lines_around(
            length in 0u32..60, wanted in proptest::collection::btree_set(0u32..70, 0..6), reach in 0u32..5
        ) {
            let text: String = (1..=length).map(|line| format!("line {line}\n")).collect();
            let parts = around(&text, &wanted, reach, &mut usize::MAX.clone());
            let got: Vec<u32> = parts.iter()
                .flat_map(|part| (part.start..).zip(&part.lines).map(|(number, line)| {
                    assert_eq!(line, &format!("line {number}"));
                    number
                }))
                .collect();
            let expected: Vec<u32> = (1..=length)
                .filter(|&line| wanted.iter().any(|&wanted| wanted > 0 && wanted.abs_diff(line) <= reach))
                .collect();
            prop_assert_eq!(got, expected);
            for pair in parts.windows(2) {
                prop_assert!(pair[0].start + u32::try_from(pair[0].lines.len()).unwrap() < pair[1].start);
            }
        }
    }

    #[test]
    fn long_lines_are_cut_between_characters() {
        let text = "é".repeat(LONGEST_LINE);
        let parts = around(&text, &BTreeSet::from([1]), 0, &mut 10);
        assert_eq!(parts[0].lines[0].len(), LONGEST_LINE);
        let text = format!("a{}", "é".repeat(LONGEST_LINE));
        let parts = around(&text, &BTreeSet::from([1]), 0, &mut 10);
        assert_eq!(parts[0].lines[0].len(), LONGEST_LINE - 1);
    }
}
