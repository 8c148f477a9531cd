//! Delta debugging (Zeller, "Yesterday, my program worked. Today, it does not. Why?", 1999; in the simplified
//! form of Zeller and Hildebrandt, 2002).
//!
//! It searches for the smallest set of changes that, *applied to good*, fails. This is a different question
//! from which changes to revert in bad: where two changes each fail alone, it finds one of them, and
//! reverting that one does not help. It is provided for comparison, so its result has no proof.

use super::{Found, Search, cut, list, set, without};
use crate::change::{ChangeId, ChangeSet};
use crate::outcome::{Outcome, Trials};

impl<T: Trials> Search<'_, T> {
    /// Delta debugging over all changes.
    ///
    /// # Errors
    /// If a trial cannot be carried out.
    pub fn dd(&mut self) -> Result<Option<Found>, T::Error> {
        let all = self.structure.all().clone();
        self.failing(&all)
    }

    /// Delta debugging over the executed changes; the others stay as they are in bad. None if the test fails
    /// with all executed changes reverted: then the cause is elsewhere.
    ///
    /// # Errors
    /// If a trial cannot be carried out.
    pub fn add(&mut self, executed: &ChangeSet) -> Result<Option<Found>, T::Error> {
        if executed.is_empty() || self.outcome(executed)? == Outcome::Fail {
            return Ok(None);
        }
        self.failing(executed)
    }

    fn failing(&mut self, universe: &ChangeSet) -> Result<Option<Found>, T::Error> {
        let mut applied = list(universe);
        let mut parts = 2;
        while applied.len() > 1 && !self.exhausted() {
            self.suspects = applied.len();
            // Among parts of equal size the last comes first: code further down in a program is mostly closer
            // to the failure.
            let cuts = cut(self.structure, &applied, parts);
            let mut tries: Vec<(Vec<ChangeId>, usize)> =
                cuts.iter().rev().map(|part| (part.to_vec(), 2)).collect();
            if cuts.len() > 2 {
                tries.extend(cuts.iter().map(|part| (without(&applied, part), parts - 1)));
            }
            let sets: Vec<ChangeSet> = tries.iter().map(|(applied, _)| universe - &set(applied)).collect();
            if let Some(at) = self.first(&sets, Outcome::Fail)? {
                (applied, parts) = tries.swap_remove(at);
            } else if parts >= applied.len() {
                break;
            } else {
                parts = (2 * parts).min(applied.len());
            }
        }
        if applied.is_empty() {
            return Ok(None);
        }
        let root = set(&applied);
        match self.first_passing(vec![applied.clone()])? {
            Some(passing) => {
                let least = self.one_minimal(&passing.full, &applied)?;
                let kept = &root & &least;
                let root = if kept.is_empty() { least.clone() } else { kept };
                Ok(Some(Found { auxiliary: &least - &root, root, ..Found::default() }))
            }
            None => {
                let full = self.completed(&root)?.unwrap_or_else(|| root.clone());
                Ok(Some(Found { auxiliary: &full - &root, root, ..Found::default() }))
            }
        }
    }
}
