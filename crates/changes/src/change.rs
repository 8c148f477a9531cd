//! What a change is: the smallest piece of a difference that can be reverted
//! by itself; and the hunks changes are parts of.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ops::Range;

/// Number of a change in its [`Difference`](crate::Difference), from 0, in the
/// order of file names and lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ChangeId(pub u32);

/// Number of a hunk in its [`Difference`](crate::Difference), from 0, in the
/// same order as changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct HunkId(pub u32);

/// A set of changes: those *reverted* in the bad version, unless said otherwise.
pub type ChangeSet = BTreeSet<ChangeId>;

/// A group of lines (or a whole file) that differs between the versions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    pub id: ChangeId,
    /// The hunk it is a part of, or all of.
    pub hunk: HunkId,
    /// Path in the bad version, relative to its root, with `/`; for a file
    /// that bad has not, the path in good.
    pub file: String,
    /// Path in the good version if it is another one (renamed or moved).
    pub old_file: Option<String>,
    pub kind: ChangeKind,
    pub matter: Matter,
    /// First line in good, from 1. If there are no old lines, the line after
    /// which the new ones were inserted (0: at the beginning).
    pub old_start: u32,
    /// The lines in good, without line ends.
    pub old_lines: Vec<String>,
    pub new_start: u32,
    pub new_lines: Vec<String>,
    /// The enclosing function or section as `diff -p` would show it; empty if unknown.
    pub heading: String,
    /// The function it is of by the syntax of bad (of good for a
    /// deletion), the first if it is of several; none outside functions and
    /// where the syntax is not known.
    pub function: Option<String>,
}

impl Change {
    /// Lines of the bad version this change brought, empty for a deletion.
    #[must_use]
    pub fn new_range(&self) -> Range<u32> {
        self.new_start..self.new_start + u32::try_from(self.new_lines.len()).unwrap_or(u32::MAX)
    }

    /// Lines of the good version this change took away.
    #[must_use]
    pub fn old_range(&self) -> Range<u32> {
        self.old_start..self.old_start + u32::try_from(self.old_lines.len()).unwrap_or(u32::MAX)
    }
}

/// What `diff` shows as one piece: a run of changed lines with no unchanged
/// line between them but blank ones, or a change of a file as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hunk {
    pub id: HunkId,
    /// Its parts, in order; more than one only where each can be reverted
    /// without the others.
    pub changes: Vec<ChangeId>,
    /// As [`Change::file`].
    pub file: String,
}

/// What reverting does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeKind {
    /// Lines of a text file.
    Lines,
    /// The file is new in bad.
    Added,
    /// The file is gone in bad.
    Deleted,
    /// The file has another name in bad (its lines are changes of their own).
    Renamed,
    /// The content of a file that is not text.
    Binary,
    /// Permission bits, or a symbolic link.
    Mode,
}

/// Whether a change can matter to a compiled program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Matter {
    /// Code, or data, or a file of unknown kind.
    Substance,
    /// Only white space (in a language where that means nothing).
    Space,
    /// Only comments.
    Comment,
    /// The lines stand, unchanged, elsewhere in bad or good: they were moved.
    Moved,
}
