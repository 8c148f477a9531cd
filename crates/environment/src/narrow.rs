//! Narrows a decisive file to the lines that matter.

use crate::candidates::Candidate;
use crate::error::Result;
use crate::place::PathMap;
use crate::record::{Key, KeyId, Start};
use crate::replay::Selection;
use crate::search;
use crate::there::RecordIndex;
use crate::words;
use imara_diff::{Algorithm, Diff, InternedInput};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// Lines that differ. An empty list on one side: that side lacks them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Number of the first line there, from 1; without lines, of the line before which they are missing.
    pub there_at: usize,
    /// Number of the first line here, likewise.
    pub here_at: usize,
    /// The recorded lines, without line ends.
    pub there: Vec<String>,
    /// The lines here, without line ends.
    pub here: Vec<String>,
}

/// Files with more differences are not narrowed.
const MAX_HUNKS: usize = 4096;

/// The lines of a candidate's file, or the elements of a variable that is a list, that must be as recorded
/// for the command to pass.
pub fn lines(
    there: &RecordIndex<'_>,
    candidate: &Candidate,
    places: &PathMap,
    here: &Start,
    chosen: &Selection,
    mut passes: impl FnMut(&Selection) -> Result<bool>,
) -> Result<Vec<Line>> {
    let Some(id) = candidate.keys.first().copied() else { return Ok(Vec::new()) };
    let texts = match (there.record.key(id), &candidate.directory) {
        (Key::File(path), None) => of_file(there, id, &places.here(path)),
        (Key::Variable(name), None) => of_list(&there.record.start, here, name),
        _ => None,
    };
    let Some(TextPair { old, new, separator }) = texts else { return Ok(Vec::new()) };
    let cut = TextDiff::new(&new, &old);
    if cut.hunks.is_empty() || cut.hunks.len() > MAX_HUNKS {
        return Ok(Vec::new());
    }
    let mut with = |set: &[usize]| {
        let mut chosen = chosen.clone();
        let mut text = cut.with(set);
        if separator != '\n' {
            text = text.trim_end_matches('\n').replace('\n', &separator.to_string());
        }
        chosen.contents.insert(id, text.into_bytes());
        passes(&chosen)
    };
    let all: Vec<usize> = (0..cut.hunks.len()).collect();
    let few = if all.len() > 1 { search::ddmin(all, &mut with)? } else { all };
    Ok(few.into_iter().map(|at| cut.line(at)).collect())
}

/// The two texts: the recorded one, the one here, and the separator of their parts.
struct TextPair {
    old: String,
    new: String,
    separator: char,
}

fn of_file(there: &RecordIndex<'_>, id: KeyId, path: &[u8]) -> Option<TextPair> {
    let content = there.content(id);
    let new = std::fs::read(OsStr::from_bytes(path)).ok()?;
    let old = content.bytes(u64::MAX);
    if !words::is_text(&old)
        || !words::is_text(&new)
        || old == new
        || old.is_empty()
        || !content.is_complete()
    {
        return None;
    }
    Some(TextPair { old: String::from_utf8(old).ok()?, new: String::from_utf8(new).ok()?, separator: '\n' })
}

/// A variable that is a list of directories, such as `PATH`, one element per line.
fn of_list(there: &Start, here: &Start, name: &[u8]) -> Option<TextPair> {
    let lines = |start: &Start| -> Option<String> {
        let (_, value) = start.variables.iter().find(|(n, _)| n == name)?;
        let text = std::str::from_utf8(value).ok()?;
        Some(text.split(':').map(|element| format!("{element}\n")).collect())
    };
    let (old, new) = (lines(there)?, lines(here)?);
    let list = |text: &str| text.starts_with('/');
    let texts = TextPair { old, new, separator: ':' };
    (list(&texts.old) && list(&texts.new) && texts.old.lines().count() > 1).then_some(texts)
}

/// The text here, and the hunks in which the recorded text differs.
struct TextDiff<'t> {
    here: Vec<&'t str>,
    there: Vec<&'t str>,
    hunks: Vec<(std::ops::Range<usize>, std::ops::Range<usize>)>,
}

impl<'t> TextDiff<'t> {
    fn new(here: &'t str, there: &'t str) -> TextDiff<'t> {
        let input = InternedInput::new(here, there);
        let diff = Diff::compute(Algorithm::Histogram, &input);
        let range = |range: std::ops::Range<u32>| range.start as usize..range.end as usize;
        let mut hunks = Vec::new();
        for hunk in diff.hunks() {
            let (before, after) = (range(hunk.before), range(hunk.after));
            // Lines that only changed, or exist only in the recorded text, are separate hunks.
            if before.len() == after.len() {
                hunks.extend(before.zip(after).map(|(b, a)| (b..b + 1, a..a + 1)));
            } else if before.is_empty() {
                hunks.extend(after.map(|a| (before.clone(), a..a + 1)));
            } else if before.len() == 1 {
                hunks.push((before.clone(), after.start..after.start));
                hunks.extend(after.map(|a| (before.end..before.end, a..a + 1)));
            } else {
                hunks.push((before, after));
            }
        }
        TextDiff {
            here: here.split_inclusive('\n').collect(),
            there: there.split_inclusive('\n').collect(),
            hunks,
        }
    }

    /// The text here with some hunks as recorded.
    fn with(&self, set: &[usize]) -> String {
        let (mut text, mut at) = (String::new(), 0);
        for hunk in set {
            let (before, after) = &self.hunks[*hunk];
            text.extend(self.here[at..before.start].iter().copied());
            text.extend(self.there[after.clone()].iter().copied());
            at = before.end;
        }
        text.extend(self.here[at..].iter().copied());
        text
    }

    fn line(&self, hunk: usize) -> Line {
        let (before, after) = &self.hunks[hunk];
        let texts = |lines: &[&str]| lines.iter().map(|l| l.trim_end_matches('\n').to_owned()).collect();
        Line {
            there_at: after.start + 1,
            here_at: before.start + 1,
            there: texts(&self.there[after.clone()]),
            here: texts(&self.here[before.clone()]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_place_gives_here_and_all_give_there(
            here in prop::collection::vec("[ab]{0,2}", 0..12),
            there in prop::collection::vec("[ab]{0,2}", 0..12),
        ) {
            let (here, there) = (here.join("\n"), there.join("\n"));
            let cut = TextDiff::new(&here, &there);
            prop_assert_eq!(cut.with(&[]), here.clone());
            prop_assert_eq!(cut.with(&Vec::from_iter(0..cut.hunks.len())), there.clone());
        }
    }
}
