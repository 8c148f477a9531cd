//! One file in both versions, and its changes.

use super::cut::Parsed;
use super::detail::Detail;
use super::groups::{Lines, Runs, Side, groups, hunks, matter};
use super::heading::Headings;
use super::language::Language;
use super::state::FileState;
use super::walk::executable;
use crate::change::{Change, ChangeClass, ChangeId, ChangeKind, HunkId};
use crate::error::{Error, Result};
use crate::syntax::{RequestedLines, Syntax};
use std::ops::Range;

/// A file that differs. Change numbers are relative to the pair until [`Pair::shift`] makes them relative to
/// the whole difference.
pub(super) struct Pair {
    /// None: the file does not exist in good.
    pub old_path: Option<String>,
    /// None: the file does not exist in bad.
    pub new_path: Option<String>,
    pub old: FileState,
    pub new: FileState,
    /// The single change that covers the whole file: added, deleted, or a change of file type.
    pub whole: Option<ChangeId>,
    pub renamed: Option<ChangeId>,
    pub mode: Option<ChangeId>,
    pub binary: Option<ChangeId>,
    pub groups: Vec<Group>,
    /// One per change, in order.
    pub details: Vec<Detail>,
    /// Offsets of the lines, followed by the length of the text.
    pub old_at: Vec<usize>,
    pub new_at: Vec<usize>,
}

/// Lines (from 0) that one change replaced.
pub(super) struct Group {
    pub id: ChangeId,
    pub old: Range<u32>,
    pub new: Range<u32>,
}

/// Whether the content is text by git's definition: no NUL near the beginning, in any encoding.
pub(super) fn is_text(bytes: &[u8]) -> bool {
    !bytes.iter().take(8000).any(|byte| *byte == 0)
}

impl Pair {
    /// Compares both states of a file.
    pub fn new(
        (old_path, old): (Option<String>, FileState),
        (new_path, new): (Option<String>, FileState),
    ) -> Result<(Pair, Vec<Change>)> {
        let mut pair = Pair {
            old_path,
            new_path,
            old,
            new,
            whole: None,
            renamed: None,
            mode: None,
            binary: None,
            groups: Vec::new(),
            details: Vec::new(),
            old_at: Vec::new(),
            new_at: Vec::new(),
        };
        let changes = pair.compare()?;
        pair.detail_whole();
        Ok((pair, changes))
    }

    /// The file's name in bad, else in good.
    pub fn file(&self) -> &str {
        self.new_path.as_deref().or(self.old_path.as_deref()).unwrap_or_default()
    }

    /// The numbers of its changes.
    pub fn ids(&self) -> impl Iterator<Item = ChangeId> + '_ {
        let whole = [self.whole, self.renamed, self.mode, self.binary].into_iter().flatten();
        whole.chain(self.groups.iter().map(|group| group.id))
    }

    /// Gives its changes their final numbers.
    pub fn shift(&mut self, by: u32) {
        let all = [&mut self.whole, &mut self.renamed, &mut self.mode, &mut self.binary];
        let groups = self.groups.iter_mut().map(|group| &mut group.id);
        for id in all.into_iter().flatten().chain(groups) {
            id.0 += by;
        }
    }

    fn compare(&mut self) -> Result<Vec<Change>> {
        let mut changes = Vec::new();
        match (&self.old, &self.new) {
            (
                FileState::Content { bytes: old, mode: old_mode },
                FileState::Content { bytes: new, mode: new_mode },
            ) => {
                let (old, new) = (old.clone(), new.clone());
                let mode_differs = executable(*old_mode) != executable(*new_mode);
                if self.old_path != self.new_path {
                    self.renamed = Some(self.push(&mut changes, ChangeKind::Renamed));
                }
                if mode_differs {
                    self.mode = Some(self.push(&mut changes, ChangeKind::Mode));
                }
                if old != new {
                    if is_text(&old) && is_text(&new) {
                        self.compare_text(&old, &new, &mut changes)?;
                    } else {
                        self.binary = Some(self.push(&mut changes, ChangeKind::Binary));
                    }
                }
            }
            (FileState::Absent, new) => {
                let lines = shown(new);
                let id = self.push(&mut changes, ChangeKind::Added);
                self.whole = Some(id);
                changes[0].new_start = u32::from(!lines.is_empty());
                changes[0].new_lines = lines;
            }
            (old, FileState::Absent) => {
                let lines = shown(old);
                let id = self.push(&mut changes, ChangeKind::Deleted);
                self.whole = Some(id);
                changes[0].old_start = u32::from(!lines.is_empty());
                changes[0].old_lines = lines;
            }
            (old, new) => {
                let (old, new) = (shown(old), shown(new));
                self.whole = Some(self.push(&mut changes, ChangeKind::Mode));
                changes[0].old_start = u32::from(!old.is_empty());
                changes[0].old_lines = old;
                changes[0].new_start = u32::from(!new.is_empty());
                changes[0].new_lines = new;
            }
        }
        Ok(changes)
    }

    fn compare_text(&mut self, old: &[u8], new: &[u8], changes: &mut Vec<Change>) -> Result<()> {
        let language = Language::of(self.file());
        let (old, new) = (Side::new(language, old), Side::new(language, new));
        for side in [&old, &new] {
            // Line numbers, including those of the diff algorithm, have 31 bits.
            if i32::try_from(side.lines.len()).is_err() {
                return Err(Error::TooLong { file: self.file().to_owned() });
            }
        }
        self.old_at = offsets(&old.lines);
        self.new_at = offsets(&new.lines);
        let hunks = hunks(&old, &new);
        let parsed = self.parse(&old, &new, &hunks);
        let headings = Headings::new(self.file(), &new.lines);
        let first_hunk = changes.last().map_or(0, |last| last.hunk.0 + 1);
        let parts = (first_hunk..).zip(&hunks).flat_map(|(number, runs)| {
            let groups = groups(language, parsed.as_ref(), &old, &new, runs);
            groups.into_iter().map(move |group| (HunkId(number), group))
        });
        for (hunk, group) in parts {
            let id = self.push(changes, ChangeKind::Lines);
            let change = &mut changes[id.0 as usize];
            change.matter = matter(language, &old, &new, &group);
            (change.old_start, change.old_lines) = numbered(&old.lines, &group.old);
            (change.new_start, change.new_lines) = numbered(&new.lines, &group.new);
            let place =
                if group.new.is_empty() { group.new.start.saturating_sub(1) } else { group.new.start };
            change.heading = headings.around(place);
            let function = parsed.as_ref().and_then(|parsed| parsed.function(&group));
            change.function = function.map(|function| function.name.clone());
            change.hunk = hunk;
            self.details[id.0 as usize] = Detail::new(parsed.as_ref(), &old, &new, &group);
            self.groups.push(Group { id, old: group.old, new: group.new });
        }
        Ok(())
    }

    /// Parses both versions, if the grammar is known.
    fn parse(&self, old: &Side, new: &Side, hunks: &[Runs]) -> Option<Parsed> {
        let (old_path, new_path) = (self.old_path.as_deref()?, self.new_path.as_deref()?);
        let requested = |side: fn(&Lines) -> &Range<u32>| {
            RequestedLines::new(hunks.iter().flatten().map(side).cloned().collect())
        };
        let (old_lines, new_lines) = (requested(|hunk| &hunk.old), requested(|hunk| &hunk.new));
        let (old, new) = rayon::join(
            || Syntax::parse(old_path, old.text, &old_lines),
            || Syntax::parse(new_path, new.text, &new_lines),
        );
        Some(Parsed { old: old?, new: new? })
    }

    /// Computes the details of a change to the file as a whole, from its text.
    fn detail_whole(&mut self) {
        if self.whole.is_none() {
            return;
        }
        let language = Language::of(self.file());
        let text = |state: &FileState| match state {
            FileState::Content { bytes, .. } if is_text(bytes) => bytes.clone(),
            _ => [].into(),
        };
        let (old, new) = (text(&self.old), text(&self.new));
        let (old, new) = (Side::new(language, &old), Side::new(language, &new));
        let all = |side: &Side| 0..u32::try_from(side.lines.len()).unwrap_or(u32::MAX);
        let lines = Lines { old: all(&old), new: all(&new) };
        let requested = |lines: &Range<u32>| RequestedLines::only(lines.clone());
        let parse =
            |side: &Side, lines: &Range<u32>| Syntax::parse(self.file(), side.text, &requested(lines));
        let parsed = match (parse(&old, &lines.old), parse(&new, &lines.new)) {
            (Some(old), Some(new)) => Some(Parsed { old, new }),
            _ => None,
        };
        self.details[0] = Detail::new(parsed.as_ref(), &old, &new, &lines);
    }

    fn push(&mut self, changes: &mut Vec<Change>, kind: ChangeKind) -> ChangeId {
        let id = ChangeId(u32::try_from(changes.len()).unwrap_or(u32::MAX));
        let old_file =
            self.old_path.clone().filter(|old| self.new_path.as_ref().is_some_and(|new| new != old));
        self.details.push(Detail::default());
        let hunk = changes.last().map_or(HunkId(0), |last| HunkId(last.hunk.0 + 1));
        changes.push(Change {
            id,
            hunk,
            file: self.file().to_owned(),
            old_file,
            kind,
            matter: ChangeClass::Substance,
            old_start: 0,
            old_lines: Vec::new(),
            new_start: 0,
            new_lines: Vec::new(),
            heading: String::new(),
            function: None,
        });
        id
    }
}

/// Offsets of the lines of a text, followed by its length.
pub(super) fn offsets_of(text: &[u8]) -> Vec<usize> {
    offsets(&text.split_inclusive(|byte| *byte == b'\n').collect::<Vec<_>>())
}

fn offsets(lines: &[&[u8]]) -> Vec<usize> {
    let mut at = 0;
    let mut offsets = Vec::with_capacity(lines.len() + 1);
    offsets.push(0);
    for line in lines {
        at += line.len();
        offsets.push(at);
    }
    offsets
}

/// A range with line numbers from 1, and its lines.
fn numbered(lines: &[&[u8]], range: &Range<u32>) -> (u32, Vec<String>) {
    let text = lines[range.start as usize..range.end as usize].iter().map(|line| show(line)).collect();
    (if range.is_empty() { range.start } else { range.start + 1 }, text)
}

fn show(line: &[u8]) -> String {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line)).into_owned()
}

/// The lines of a text file or the target of a link; otherwise nothing.
fn shown(state: &FileState) -> Vec<String> {
    match state {
        FileState::Content { bytes, .. } if is_text(bytes) => {
            bytes.split_inclusive(|byte| *byte == b'\n').map(show).collect()
        }
        FileState::Link { target } => vec![target.to_string_lossy().into_owned()],
        _ => Vec::new(),
    }
}
