//! Defines a change, the smallest part of a difference that can be reverted by itself, and the hunks that
//! changes belong to.

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
    /// Its number in the difference.
    pub id: ChangeId,
    /// The hunk that contains it.
    pub hunk: HunkId,
    /// Path in the bad version, relative to its root, with `/`. For a file that does not exist in bad, the
    /// path in good.
    pub file: String,
    /// Path in the good version if it differs (renamed or moved).
    pub old_file: Option<String>,
    /// What kind of difference it is.
    pub kind: ChangeKind,
    /// Whether it can affect a compiled program.
    pub matter: ChangeClass,
    /// First line in good, from 1. If there are no old lines, the line after
    /// which the new ones were inserted (0: at the beginning).
    pub old_start: u32,
    /// The lines in good, without line ends.
    pub old_lines: Vec<String>,
    /// As `old_start`, in bad.
    pub new_start: u32,
    /// The lines in bad, without line ends.
    pub new_lines: Vec<String>,
    /// The enclosing function or section as `diff -p` would show it; empty if unknown.
    pub heading: String,
    /// The enclosing function according to the syntax of bad (of good for a deletion); the first one if there
    /// are several. None outside functions and where the syntax is not known.
    pub function: Option<String>,
}

impl Change {
    /// Lines of the bad version that this change added; empty for a deletion.
    #[must_use]
    pub fn new_range(&self) -> Range<u32> {
        self.new_start..self.new_start + u32::try_from(self.new_lines.len()).unwrap_or(u32::MAX)
    }

    /// Lines of the good version that this change removed.
    #[must_use]
    pub fn old_range(&self) -> Range<u32> {
        self.old_start..self.old_start + u32::try_from(self.old_lines.len()).unwrap_or(u32::MAX)
    }
}

/// What `diff` shows as one block: a run of changed lines separated at most by blank unchanged lines, or a
/// change of a file as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hunk {
    /// Its number.
    pub id: HunkId,
    /// Its changes, in order. There is more than one only where each can be reverted without the others.
    pub changes: Vec<ChangeId>,
    /// As [`Change::file`].
    pub file: String,
}

/// The effect of reverting the change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeKind {
    /// Lines of a text file.
    Lines,
    /// The file is new in bad.
    Added,
    /// The file is gone in bad.
    Deleted,
    /// The file has a different name in bad (its line changes are separate changes).
    Renamed,
    /// The content of a file that is not text.
    Binary,
    /// Permission bits, or a symbolic link.
    Mode,
}

/// Whether a change can affect a compiled program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeClass {
    /// Code, or data, or a file of unknown kind.
    Substance,
    /// Only white space, in a language where white space has no meaning.
    Space,
    /// Only comments.
    Comment,
    /// The same lines occur elsewhere in bad or good: they were moved.
    Moved,
}
