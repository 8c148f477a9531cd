//! Minimises passing sets.

use super::diagnostics::{TargetVersion, first_errors, hinted_changes};
use super::{Search, Stage, set};
use crate::change::{ChangeId, ChangeSet};
use crate::outcome::{Outcome, Trials};
use std::ops::Range;

/// Maximum number of rounds of following diagnostics.
const MAX_ROUNDS: usize = 6;
/// In a passing set with more changes than this, whole files are removed first.
const LARGE_SET: usize = 128;
/// Sets of at most this many changes are processed one by one, without trying large parts.
const SMALL_SET: usize = 32;

impl<T: Trials> Search<'_, T> {
    /// Removes changes from a passing set until putting any single one back makes it not pass. `order` lists
    /// the changes to keep where there is a choice, the most preferred first; changes that it does not
    /// contain are removed first.
    ///
    /// # Errors
    /// If a trial cannot be carried out.
    pub fn one_minimal(&mut self, passing: &ChangeSet, order: &[ChangeId]) -> Result<ChangeSet, T::Error> {
        self.during(Stage::Shrinking, |search| search.shrink(passing, order))
    }

    fn shrink(&mut self, passing: &ChangeSet, order: &[ChangeId]) -> Result<ChangeSet, T::Error> {
        // For a large set, whole files are removed first, then clusters that build only together, then whole
        // units, then parts of hunks.
        let files = self.structure.files(&by_preference(passing, order));
        let smaller;
        let passing = if passing.len() > LARGE_SET && files.len() > 1 {
            let alone = passing - &set(&files.concat());
            let kept = self.leave_out_files(files)?;
            smaller = &alone | &set(&kept.concat());
            &smaller
        } else {
            passing
        };
        let clusters = self.structure.clusters(&by_preference(passing, order));
        let kept = if clusters.len() == passing.len() {
            clusters
        } else if passing.len() > SMALL_SET {
            let half = clusters.len().div_ceil(2);
            self.leave_out(clusters, half)?
        } else {
            // Single changes are processed below.
            let (mut kept, several): (Vec<_>, Vec<_>) =
                clusters.into_iter().partition(|unit| unit.len() == 1);
            let fixed = kept.len();
            kept.extend(several);
            self.sweep(kept, fixed, 1, &mut ChangeSet::new())?
        };
        let units = self.structure.whole_units(&by_preference(&set(&kept.concat()), order));
        let size = if units.len() > SMALL_SET { units.len().div_ceil(2) } else { 1 };
        let kept = self.leave_out(units, size)?;
        let parts = self.structure.parts(&by_preference(&set(&kept.concat()), order));
        if parts.len() == kept.len() {
            return Ok(set(&kept.concat()));
        }
        Ok(set(&self.leave_out(parts, 1)?.concat()))
    }

    /// Removes whole files, in groups of decreasing size; each file is tried alone once.
    fn leave_out_files(&mut self, mut kept: Vec<Vec<ChangeId>>) -> Result<Vec<Vec<ChangeId>>, T::Error> {
        let mut needed = ChangeSet::new();
        let mut size = kept.len().div_ceil(2);
        loop {
            kept = self.sweep(kept, 0, size, &mut needed)?;
            if size <= 1 {
                return Ok(kept);
            }
            size = size.min(kept.len()).div_ceil(2).max(1);
        }
    }

    /// Removes units, starting from the last, until no single one can be removed.
    fn leave_out(
        &mut self,
        mut kept: Vec<Vec<ChangeId>>,
        mut size: usize,
    ) -> Result<Vec<Vec<ChangeId>>, T::Error> {
        let mut needed = ChangeSet::new();
        while !self.exhausted() && !kept.is_empty() {
            let before = kept.len();
            kept = self.sweep(kept, 0, size, &mut needed)?;
            if kept.len() < before {
                // A set that did not build before may build now, in parts no larger than half.
                size = size.min(kept.len().div_ceil(2)).max(1);
            } else if size > 1 {
                // Large parts first: if little is needed, most is removed in a few trials.
                size = size.div_ceil(2);
            } else if needed.is_empty() {
                break;
            } else {
                // Checks again the units that were needed within a larger set.
                needed.clear();
                let again = kept.len();
                kept = self.sweep(kept, 0, size, &mut needed)?;
                if kept.len() == again {
                    break;
                }
            }
        }
        Ok(kept)
    }

    /// Visits the units after the first `fixed` once, from the last to the first, in parts of this size, and
    /// removes each part that can be removed. A unit without which the program built and did not pass is
    /// `needed`, and is not tried alone a second time.
    fn sweep(
        &mut self,
        mut kept: Vec<Vec<ChangeId>>,
        fixed: usize,
        size: usize,
        needed: &mut ChangeSet,
    ) -> Result<Vec<Vec<ChangeId>>, T::Error> {
        let mut end = kept.len();
        while end > fixed && !self.exhausted() {
            self.suspects = kept.iter().map(Vec::len).sum();
            let pieces: Vec<Range<usize>> = (fixed..end)
                .rev()
                .step_by(size)
                .map(|last| (last + 1).saturating_sub(size).max(fixed)..last + 1)
                .filter(|piece| piece.len() > 1 || !needed.contains(&kept[piece.start][0]))
                .collect();
            let tries: Vec<Vec<Vec<ChangeId>>> =
                pieces.iter().map(|piece| [&kept[..piece.start], &kept[piece.end..]].concat()).collect();
            let sets: Vec<ChangeSet> = tries.iter().map(|kept| set(&kept.concat())).collect();
            let passing = self.first(&sets, Outcome::Pass)?;
            for (piece, tried) in pieces.iter().zip(&sets).take(passing.unwrap_or(sets.len())) {
                let outcome = self.known.get(tried);
                if piece.len() == 1 && matches!(outcome, Some(Outcome::Fail | Outcome::Unresolved)) {
                    needed.insert(kept[piece.start][0]);
                }
            }
            let Some(at) = passing else { break };
            end = pieces[at].start;
            kept = tries.into_iter().nth(at).unwrap_or_default();
        }
        Ok(kept)
    }

    /// Removes changes that depend on each other. Putting one of them back alone does not build, so removing
    /// them one by one keeps them all; the compiler's diagnostics identify the others that must be put back
    /// with it. Changes in `needed` are kept.
    pub(super) fn drop_clusters(
        &mut self,
        passing: &ChangeSet,
        needed: &ChangeSet,
        order: &[ChangeId],
    ) -> Result<ChangeSet, T::Error> {
        self.during(Stage::Shrinking, |search| {
            let mut kept = passing.clone();
            for part in search.structure.parts(&by_preference(passing, order)).into_iter().rev() {
                let part = set(&part);
                if part.is_subset(&kept) && part.is_disjoint(needed) && !search.exhausted() {
                    kept = search.drop_cluster(kept, part, needed)?;
                }
            }
            Ok(kept)
        })
    }

    fn drop_cluster(
        &mut self,
        kept: ChangeSet,
        first: ChangeSet,
        needed: &ChangeSet,
    ) -> Result<ChangeSet, T::Error> {
        let mut back = first;
        for _ in 0..MAX_ROUNDS {
            let rest = &kept - &back;
            match self.outcome(&rest)? {
                Outcome::Pass => return Ok(rest),
                Outcome::Broken => {}
                Outcome::Fail | Outcome::Unresolved => break,
            }
            let Some(text) = self.trials.diagnostics(&rest) else { break };
            let Some(hint_set) = first_errors(&text).next().and_then(|error| {
                hinted_changes(self.structure, error, &rest, TargetVersion::Bad).into_iter().next()
            }) else {
                break;
            };
            if !hint_set.is_disjoint(needed) {
                break;
            }
            back.extend(self.structure.whole(&hint_set));
        }
        Ok(kept)
    }
}

pub(super) fn by_preference(changes: &ChangeSet, order: &[ChangeId]) -> Vec<ChangeId> {
    let mut left = changes.clone();
    let mut list: Vec<ChangeId> = order.iter().copied().filter(|id| left.remove(id)).collect();
    list.extend(left);
    list
}
