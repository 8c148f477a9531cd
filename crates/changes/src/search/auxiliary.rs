//! Changes that must be reverted too, so that it builds: aux(Δ−, Δ+, n).
//!
//! Δ− stays reverted; wanted is a small Δ+ such that Δ− ∪ Δ+ builds. Reverting
//! everything gives good, which builds, so there always is one. The paper
//! starts from everything and shrinks; compilers, however, mostly say what is
//! missing, so their hints are followed first, then what stands near, and only
//! then everything.

use super::complaint::{Toward, first_line, hinted};
use super::{Search, Stage, cut, list, set, without};
use crate::change::ChangeSet;
use crate::outcome::Trials;

/// Complaints are followed this often before it is given up.
const MOST_ROUNDS: usize = 24;
/// Shrinking what was added to a small set ends after so many builds, for a
/// large set earlier: what is too much is left out later, when a passing set is
/// made minimal.
const MOST_BUILDS: u64 = 48;
/// Beyond so many changes a set is large.
const LARGE: usize = 8;

impl<T: Trials> Search<'_, T> {
    /// A small set that makes `reverted` build when it is reverted as well.
    /// Empty if it builds already.
    ///
    /// # Errors
    /// If a trial cannot be carried out.
    pub fn auxiliary(&mut self, reverted: &ChangeSet) -> Result<ChangeSet, T::Error> {
        if let Some((_, added)) = self.completed.iter().find(|(set, _)| set == reverted) {
            return Ok(added.clone());
        }
        let added = self.during(Stage::Auxiliary, |search| search.complete(reverted))?;
        self.completed.push((reverted.clone(), added.clone()));
        Ok(added)
    }

    fn complete(&mut self, reverted: &ChangeSet) -> Result<ChangeSet, T::Error> {
        if self.first_built(std::slice::from_ref(reverted))?.is_some() {
            return Ok(ChangeSet::new());
        }
        let (enough, most) = match self.follow_complaints(reverted)? {
            // Compilers ask for little that is not needed.
            Some(added) if reverted.len() > LARGE => return Ok(added),
            Some(added) => (added, MOST_BUILDS),
            None if reverted.len() > LARGE => (self.grow(reverted)?, MOST_BUILDS / 4),
            None => (self.grow(reverted)?, MOST_BUILDS),
        };
        // Beside much that is reverted, a little more makes no difference.
        if 4 * enough.len() <= reverted.len() {
            return Ok(enough);
        }
        self.shrink_added(reverted, enough, most)
    }

    /// Adds what the compiler asks for until it is content.
    pub(super) fn follow_complaints(&mut self, reverted: &ChangeSet) -> Result<Option<ChangeSet>, T::Error> {
        let mut added = ChangeSet::new();
        for _ in 0..MOST_ROUNDS {
            let now = reverted | &added;
            let Some(text) = self.trials.complaint(&now) else { return Ok(None) };
            // What is said further on often only follows from the first.
            let Some(circle) =
                hinted(self.structure, first_line(&text), &now, Toward::Good).into_iter().next()
            else {
                return Ok(None);
            };
            added.extend(circle);
            if self.first_built(&[reverted | &added])?.is_some() {
                return Ok(Some(added));
            }
            if self.exhausted() {
                break;
            }
        }
        Ok(None)
    }

    /// What made a superset build, then the surroundings, then everything.
    fn grow(&mut self, reverted: &ChangeSet) -> Result<ChangeSet, T::Error> {
        let mut tries: Vec<ChangeSet> = Vec::new();
        let smallest = self
            .completed
            .iter()
            .filter(|(superset, added)| reverted.is_subset(superset) && !added.is_empty())
            .min_by_key(|(superset, added)| superset.len() + added.len());
        if let Some((superset, added)) = smallest {
            tries.push(reverted | added);
            tries.push(superset | added);
        }
        for near in self.structure.around(reverted) {
            if !near.is_empty() {
                tries.push(reverted | &near);
            }
        }
        let all = self.structure.all().clone();
        tries.sort_by_key(ChangeSet::len);
        tries.dedup();
        let found = self.first_built(&tries)?;
        let builds = found.map_or(all, |at| tries[at].clone());
        Ok(&builds - reverted)
    }

    /// Leaves out of `added` what it builds without, in parts that follow the
    /// structure of the program.
    fn shrink_added(
        &mut self,
        reverted: &ChangeSet,
        added: ChangeSet,
        most: u64,
    ) -> Result<ChangeSet, T::Error> {
        let mut kept = list(&added);
        let end = self.asked.saturating_add(most);
        let mut parts = 2;
        while kept.len() > 1 && self.asked < end && !self.exhausted() {
            let mut tries: Vec<Vec<_>> = Vec::new();
            let cuts = cut(self.structure, &kept, parts);
            tries.extend(cuts.iter().map(|part| part.to_vec()));
            if cuts.len() > 2 {
                tries.extend(cuts.iter().map(|part| without(&kept, part)));
            }
            let sets: Vec<ChangeSet> = tries.iter().map(|kept| reverted | &set(kept)).collect();
            if let Some(at) = self.first_built(&sets)? {
                kept = tries.swap_remove(at);
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
