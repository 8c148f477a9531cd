//! A difference in figures, for JSON and for a summary line.

use super::Difference;
use crate::change::{ChangeClass, ChangeKind};
use serde::{Deserialize, Serialize};

/// The extent of a difference.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// Number of changes.
    pub changes: u32,
    /// Changes that can affect a compiled program.
    pub substantial: u32,
    /// Lines of good that are gone or replaced in bad.
    pub old_lines: u32,
    /// Lines of bad that are new or replace others.
    pub new_lines: u32,
    /// The files that differ, in the order of their changes.
    pub files: Vec<FileSummary>,
}

/// The extent of the difference in one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSummary {
    /// As [`Change::file`](crate::Change::file).
    pub file: String,
    /// Its name in good if it differs.
    pub old_file: Option<String>,
    /// `added`, `deleted`, `renamed`, `binary`, `mode` or `lines`: the strongest statement about the file as
    /// a whole.
    pub kind: Option<ChangeKind>,
    /// Number of changes in the file.
    pub changes: u32,
    /// As [`Summary::old_lines`].
    pub old_lines: u32,
    /// As [`Summary::new_lines`].
    pub new_lines: u32,
}

impl Difference {
    /// The figures of the difference.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let mut summary = Summary::default();
        for change in &self.changes {
            let (old, new) = (count(change.old_lines.len()), count(change.new_lines.len()));
            summary.changes += 1;
            summary.substantial +=
                u32::from(matches!(change.matter, ChangeClass::Substance | ChangeClass::Moved));
            summary.old_lines += old;
            summary.new_lines += new;
            if summary.files.last().is_none_or(|file| file.file != change.file) {
                // A change of the file as a whole, if there is one, is the first change of the file.
                summary.files.push(FileSummary {
                    file: change.file.clone(),
                    old_file: change.old_file.clone(),
                    kind: Some(change.kind),
                    ..FileSummary::default()
                });
            }
            if let Some(file) = summary.files.last_mut() {
                file.changes += 1;
                file.old_lines += old;
                file.new_lines += new;
            }
        }
        summary
    }
}

fn count(lines: usize) -> u32 {
    u32::try_from(lines).unwrap_or(u32::MAX)
}
