//! Completes a set so that it builds.
//!
//! Reverted alone, a change often does not compile: it uses a name whose declaration was deleted, or deletes
//! a declaration that is still used. AFTER calls the changes that must be reverted with it *auxiliary
//! changes* and finds them by shrinking the set of all others. Compilers report what is missing, so their
//! diagnostics are followed first: each round adds the changes that declare, or stop using, the names in the
//! first error of each file. A round only type-checks the touched files, which costs a fraction of a build.
//! Where diagnostics give no hint, the function and the file around the set are added, then shrunk again.
//!
//! The same works in the other direction: when changes are put into good (everything else is reverted), this
//! finds the changes that must be put in with them.

use super::diagnostics::{TargetVersion, first_errors, hinted_changes};
use super::{Search, Stage, cut, list, set, without};
use crate::change::ChangeSet;
use crate::outcome::{Outcome, Trials};

/// Maximum number of rounds of following diagnostics.
const MAX_ROUNDS: usize = 24;
/// Maximum number of checks while shrinking the added changes.
const MAX_CHECKS: u64 = 48;
/// Number of files whose first errors are followed in one round.
const MAX_FILES: usize = 6;
/// A completion that adds more changes than this, and more than [`MAX_ADDED_FACTOR`] the size of the requested set,
/// is not evidence about that set any more. Between releases this also holds for the file around it: with a
/// whole large file undone, most failures disappear.
const MAX_ADDED: usize = 32;
const MAX_ADDED_FACTOR: usize = 4;
/// Between releases, maximum number of surrounding changes that are undone with a set before shrinking.
const MAX_AROUND: usize = 128;

impl<T: Trials> Search<'_, T> {
    /// The smallest superset of `reverted` that was found to build; `None` if none was found within the
    /// limits.
    ///
    /// # Errors
    /// If a trial cannot be carried out.
    pub fn completed(&mut self, reverted: &ChangeSet) -> Result<Option<ChangeSet>, T::Error> {
        if let Some((_, full)) = self.completed.iter().find(|(set, _)| set == reverted) {
            return Ok(Some(full.clone()));
        }
        let full = self.during(Stage::Completing, |search| search.complete(reverted))?;
        if let Some(full) = &full {
            self.completed.push((reverted.clone(), full.clone()));
        }
        Ok(full)
    }

    fn complete(&mut self, reverted: &ChangeSet) -> Result<Option<ChangeSet>, T::Error> {
        if let Some(full) = self.follow_diagnostics(reverted, TargetVersion::Good)? {
            if full.len() <= reverted.len() + 1 {
                return Ok(Some(full));
            }
            let added = self.shrink_added(reverted, &full - reverted)?;
            return Ok(Some(reverted | &added));
        }
        match self.grow(reverted)? {
            Some(added) => Ok(Some(reverted | &self.shrink_added(reverted, added)?)),
            None => Ok(None),
        }
    }

    /// Adds the changes that diagnostics hint at until the set builds.
    pub(super) fn follow_diagnostics(
        &mut self,
        reverted: &ChangeSet,
        target_version: TargetVersion,
    ) -> Result<Option<ChangeSet>, T::Error> {
        let mut now = reverted.clone();
        let size = match target_version {
            TargetVersion::Good => reverted.len(),
            TargetVersion::Bad => self.structure.all().len() - reverted.len(),
        };
        let most = MAX_ADDED.max(size * MAX_ADDED_FACTOR);
        for _ in 0..MAX_ROUNDS {
            if self.builds(&now)? {
                return Ok(Some(now));
            }
            let Some(text) = self.trials.diagnostics(&now) else { return Ok(None) };
            let mut added = ChangeSet::new();
            for error in first_errors(&text).take(MAX_FILES) {
                let closest = hinted_changes(self.structure, error, &now, target_version).into_iter().next();
                added.extend(closest.unwrap_or_default());
            }
            // A unit is added as a whole.
            let added = self.structure.whole(&added);
            let next = match target_version {
                TargetVersion::Good => &now | &added,
                TargetVersion::Bad => &now - &added,
            };
            let moved = next.len().abs_diff(reverted.len());
            if next == now || moved > most || self.exhausted() {
                return Ok(None);
            }
            now = next;
        }
        Ok(None)
    }

    /// Tries a known superset that builds, then the surrounding functions, then the files.
    fn grow(&mut self, reverted: &ChangeSet) -> Result<Option<ChangeSet>, T::Error> {
        let mut tries: Vec<ChangeSet> = Vec::new();
        let known = self
            .completed
            .iter()
            .filter(|(smaller, full)| reverted.is_subset(full) && smaller.len() < full.len());
        if let Some((_, full)) = known.min_by_key(|(_, full)| full.len()) {
            tries.push(full.clone());
        }
        let most = if self.is_large_difference() {
            MAX_AROUND.max(reverted.len() * MAX_ADDED_FACTOR)
        } else {
            usize::MAX
        };
        for near in self.structure.around(reverted) {
            if !near.is_empty() && near.len() <= most {
                tries.push(reverted | &near);
            }
        }
        tries.sort_by_key(ChangeSet::len);
        tries.dedup();
        for full in tries {
            if self.builds(&full)? {
                return Ok(Some(&full - reverted));
            }
        }
        Ok(None)
    }

    /// Removes from `added`, in parts that follow the structure of the program, what is not needed to build.
    /// The remaining set builds.
    fn shrink_added(&mut self, reverted: &ChangeSet, added: ChangeSet) -> Result<ChangeSet, T::Error> {
        let mut kept = list(&added);
        let mut left = MAX_CHECKS;
        let mut parts = 2;
        while kept.len() > 1 && left > 0 && !self.exhausted() {
            let cuts = cut(self.structure, &kept, parts);
            let mut tries: Vec<Vec<_>> = cuts.iter().map(|part| part.to_vec()).collect();
            if cuts.len() > 2 {
                tries.extend(cuts.iter().map(|part| without(&kept, part)));
            }
            let mut smaller = None;
            for fewer in tries {
                left = left.saturating_sub(1);
                let full = reverted | &set(&fewer);
                // Running the test as well costs little beside the build, and the set may be the answer.
                if self.type_checks(&full)? && self.outcome(&full)? != Outcome::Broken {
                    smaller = Some(fewer);
                    break;
                }
                if left == 0 {
                    break;
                }
            }
            if let Some(fewer) = smaller {
                kept = fewer;
                parts = 2;
            } else if parts >= kept.len() {
                break;
            } else {
                parts = (2 * parts).min(kept.len());
            }
        }
        Ok(set(&kept))
    }
}
