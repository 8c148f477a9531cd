//! A difference in figures, for JSON and for a line on the screen.

use super::Difference;
use crate::change::{ChangeKind, Matter};
use serde::{Deserialize, Serialize};

/// How much differs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    pub changes: u32,
    /// Changes that can matter to a compiled program.
    pub substantial: u32,
    pub old_lines: u32,
    pub new_lines: u32,
    pub files: Vec<FileSummary>,
}

/// How much differs in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSummary {
    pub file: String,
    /// Its name in good if that is another one.
    pub old_file: Option<String>,
    /// `added`, `deleted`, `renamed`, `binary`, `mode` or `lines`: the most
    /// that can be said of the file as a whole.
    pub kind: Option<ChangeKind>,
    pub changes: u32,
    pub old_lines: u32,
    pub new_lines: u32,
}

impl Difference {
    #[must_use]
    pub fn summary(&self) -> Summary {
        let mut summary = Summary::default();
        for change in &self.changes {
            let (old, new) = (count(change.old_lines.len()), count(change.new_lines.len()));
            summary.changes += 1;
            summary.substantial += u32::from(matches!(change.matter, Matter::Substance | Matter::Moved));
            summary.old_lines += old;
            summary.new_lines += new;
            if summary.files.last().is_none_or(|file| file.file != change.file) {
                // The first change of a file is the one about all of it, if there is one.
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
