//! The difference between two versions as a source of variants.

use crate::variant::{Content, Variant, Variants};
use changes::{ChangeSet, Difference, FileState};
use std::path::PathBuf;

impl Variants for Difference {
    fn variant(&self, reverted: &ChangeSet) -> Result<Variant, String> {
        let mut variant = Variant::default();
        for (path, state) in self.tree(reverted) {
            let content = match state {
                FileState::Absent => None,
                FileState::Content { bytes, mode } => {
                    Some(Content::File { bytes, executable: mode & 0o100 != 0 })
                }
                FileState::Link { target } => Some(Content::Link(target)),
            };
            variant.put(PathBuf::from(path), content);
        }
        Ok(variant)
    }

    fn all(&self) -> ChangeSet {
        self.changes().iter().map(|change| change.id).collect()
    }
}
