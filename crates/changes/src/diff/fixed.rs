//! The difference that remains when the good version is replaced by bad with some changes reverted: exactly
//! these changes.

use super::Difference;
use super::pair::{Group, Pair, offsets_of};
use super::state::FileState;
use crate::change::{Change, ChangeKind, ChangeSet, Hunk};
use std::collections::HashMap;

impl Difference {
    /// The difference between bad with exactly these changes reverted, taken as good, and bad. Changes and
    /// hunks keep their numbers. Changes that are not reverted are absent; lines and names of good are those
    /// of the reverted tree.
    #[must_use]
    pub fn to_reverted(&self, reverted: &ChangeSet) -> Difference {
        let mut left = Difference::default();
        let mut changes: HashMap<_, Change> = self
            .changes
            .iter()
            .filter(|change| reverted.contains(&change.id))
            .map(|change| (change.id, change.clone()))
            .collect();
        for pair in self.pairs.iter().filter(|pair| pair.ids().any(|id| reverted.contains(&id))) {
            let pair = pair.to_reverted(reverted);
            for id in pair.ids() {
                let Some(change) = changes.get_mut(&id) else { continue };
                change.old_file = match (&pair.old_path, &pair.new_path) {
                    (Some(old), Some(new)) if old != new => Some(old.clone()),
                    _ => None,
                };
                let group = pair.groups.iter().find(|group| group.id == id);
                if let Some(group) = group.filter(|_| change.kind == ChangeKind::Lines) {
                    change.old_start = group.old.start + u32::from(!group.old.is_empty());
                }
            }
            let number = left.pairs.len();
            left.by_new.extend(pair.new_path.clone().map(|path| (path, number)));
            left.by_old.extend(pair.old_path.clone().map(|path| (path, number)));
            left.pairs.push(pair);
        }
        left.changes.extend(self.changes.iter().filter_map(|change| changes.remove(&change.id)));
        for hunk in &self.hunks {
            let of_it: Vec<_> = hunk.changes.iter().copied().filter(|id| reverted.contains(id)).collect();
            if !of_it.is_empty() {
                left.hunks.push(Hunk { changes: of_it, ..hunk.clone() });
            }
        }
        left
    }
}

impl Pair {
    fn to_reverted(&self, reverted: &ChangeSet) -> Pair {
        let kept = |id| Some(id).filter(|id| reverted.contains(id));
        let (_, old) = self.state(reverted);
        let renamed = self.renamed.and_then(kept);
        let is_old = self.whole.is_some() || renamed.is_some();
        let mut groups = Vec::new();
        // Lines removed and added so far in the reverted tree relative to bad.
        let (mut removed, mut added) = (0, 0);
        for group in self.groups.iter().filter(|group| reverted.contains(&group.id)) {
            let start = group.new.start + added - removed;
            groups.push(Group {
                id: group.id,
                old: start..start + group.old.len() as u32,
                new: group.new.clone(),
            });
            added += group.old.len() as u32;
            removed += group.new.len() as u32;
        }
        let old_at = match &old {
            FileState::Content { bytes, .. } if !groups.is_empty() => offsets_of(bytes),
            _ => Vec::new(),
        };
        Pair {
            old_path: if is_old { self.old_path.clone() } else { self.new_path.clone() },
            new_path: self.new_path.clone(),
            old,
            new: self.new.clone(),
            whole: self.whole.and_then(kept),
            renamed,
            mode: self.mode.and_then(kept),
            binary: self.binary.and_then(kept),
            groups,
            details: Vec::new(),
            old_at,
            new_at: self.new_at.clone(),
        }
    }
}
