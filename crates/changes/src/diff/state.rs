//! Computes the states of the touched files when some changes are reverted.

use super::Difference;
use super::pair::Pair;
use crate::change::ChangeSet;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use xxhash_rust::xxh3::Xxh3;

/// What exists at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileState {
    /// Nothing.
    Absent,
    /// A file with these bytes and permission bits.
    Content {
        /// The content.
        bytes: Arc<[u8]>,
        /// Permission bits, of which only those for execution make a difference.
        mode: u32,
    },
    /// A symbolic link.
    Link {
        /// Where it points, as stored in the link.
        target: PathBuf,
    },
}

impl Difference {
    /// Every path touched by any change, and its state when exactly these changes are reverted in bad. All
    /// other files are as in bad.
    ///
    /// With nothing reverted the result equals bad, byte by byte; with everything reverted it equals good.
    /// (Where good has a directory and bad a file of the same name, some sets require both; the directory's
    /// files win.)
    #[must_use]
    pub fn tree(&self, reverted: &ChangeSet) -> BTreeMap<String, FileState> {
        let mut tree = BTreeMap::new();
        for pair in &self.pairs {
            for path in [&pair.old_path, &pair.new_path].into_iter().flatten() {
                tree.entry(path.clone()).or_insert(FileState::Absent);
            }
            let (path, state) = pair.state(reverted);
            if state != FileState::Absent {
                tree.insert(path.to_owned(), state);
            }
        }
        drop_conflicting_files(&mut tree);
        tree
    }

    /// A hash of the resulting tree: equal for sets of changes that give the same files. It is meaningful
    /// only within this difference.
    #[must_use]
    pub fn key(&self, reverted: &ChangeSet) -> [u8; 16] {
        let mut hash = Xxh3::new();
        for (path, state) in self.tree(reverted) {
            hash.update(&(path.len() as u64).to_le_bytes());
            hash.update(path.as_bytes());
            match state {
                FileState::Absent => hash.update(&[0]),
                FileState::Content { bytes, mode } => {
                    hash.update(&[1]);
                    hash.update(&mode.to_le_bytes());
                    hash.update(&(bytes.len() as u64).to_le_bytes());
                    hash.update(&bytes);
                }
                FileState::Link { target } => {
                    let target = target.as_os_str().as_encoded_bytes();
                    hash.update(&[2]);
                    hash.update(&(target.len() as u64).to_le_bytes());
                    hash.update(target);
                }
            }
        }
        hash.digest128().to_le_bytes()
    }
}

impl Pair {
    /// The path of the file and its state with these changes reverted.
    pub(super) fn state(&self, reverted: &ChangeSet) -> (&str, FileState) {
        let is_reverted = |change: &Option<_>| change.is_some_and(|id| reverted.contains(&id));
        if let Some(id) = self.whole {
            let old = reverted.contains(&id);
            let (path, state) = if old { (&self.old_path, &self.old) } else { (&self.new_path, &self.new) };
            // A side without a path is one where the file is absent.
            let path = path.as_deref().unwrap_or_default();
            return (path, if path.is_empty() { FileState::Absent } else { state.clone() });
        }
        let path = if is_reverted(&self.renamed) { &self.old_path } else { &self.new_path };
        let path = path.as_deref().unwrap_or_default();
        let (
            FileState::Content { bytes: old, mode: old_mode },
            FileState::Content { bytes: new, mode: new_mode },
        ) = (&self.old, &self.new)
        else {
            return (path, self.new.clone());
        };
        let mode = if is_reverted(&self.mode) { *old_mode } else { *new_mode };
        let bytes = if let Some(id) = self.binary {
            if reverted.contains(&id) { old.clone() } else { new.clone() }
        } else {
            self.text(old, new, reverted)
        };
        (path, FileState::Content { bytes, mode })
    }

    fn text(&self, old: &Arc<[u8]>, new: &Arc<[u8]>, reverted: &ChangeSet) -> Arc<[u8]> {
        let mut count = 0;
        let mut out = Vec::new();
        let mut copied = 0;
        for group in self.groups.iter().filter(|group| reverted.contains(&group.id)) {
            count += 1;
            out.extend_from_slice(&new[copied..self.new_at[group.new.start as usize]]);
            out.extend_from_slice(
                &old[self.old_at[group.old.start as usize]..self.old_at[group.old.end as usize]],
            );
            copied = self.new_at[group.new.end as usize];
        }
        if count == 0 {
            return new.clone();
        }
        if count == self.groups.len() {
            return old.clone();
        }
        out.extend_from_slice(&new[copied..]);
        out.into()
    }
}

/// A path cannot be both a file and the parent directory of another file.
fn drop_conflicting_files(tree: &mut BTreeMap<String, FileState>) {
    let mut conflicting = Vec::new();
    for (path, state) in tree.iter() {
        if *state == FileState::Absent {
            continue;
        }
        for (at, _) in path.match_indices('/') {
            if tree.get(&path[..at]).is_some_and(|state| *state != FileState::Absent) {
                conflicting.push(path[..at].to_owned());
            }
        }
    }
    for path in conflicting {
        tree.insert(path, FileState::Absent);
    }
}
