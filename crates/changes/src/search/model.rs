//! Models of programs for tests of the search.

use crate::change::{ChangeId, ChangeSet};
use crate::outcome::{Outcome, Sanity, Trials};
use proptest::prelude::*;
use std::convert::Infallible;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Whether a set's program is not sane.
type Insane = Box<dyn Fn(&ChangeSet) -> bool>;
/// The compiler's diagnostics for a set.
type DiagnosticsOf = Box<dyn Fn(&ChangeSet) -> String>;

/// A model with an outcome for every set.
pub(super) struct Model<F> {
    pub outcome: F,
    /// Tries whole batches, as many parallel workers would.
    pub eager: bool,
    pub diagnostics_of: Option<DiagnosticsOf>,
    /// Whether the program of a passing set is not sane.
    pub insane: Option<Insane>,
    pub tried: u64,
}

impl<F: Fn(&ChangeSet) -> Outcome> Model<F> {
    pub fn new(outcome: F) -> Self {
        Model { outcome, eager: false, diagnostics_of: None, insane: None, tried: 0 }
    }
}

impl<F: Fn(&ChangeSet) -> Outcome> Trials for Model<F> {
    type Error = Infallible;

    fn outcomes(&mut self, reverted: &[ChangeSet], until_pass: bool) -> Result<Vec<Outcome>, Infallible> {
        let mut outcomes = Vec::new();
        for set in reverted {
            self.tried += 1;
            outcomes.push((self.outcome)(set));
            if until_pass && !self.eager && outcomes.last() == Some(&Outcome::Pass) {
                break;
            }
        }
        Ok(outcomes)
    }

    fn outcomes_until(&mut self, reverted: &[ChangeSet], stop: Outcome) -> Result<Vec<Outcome>, Infallible> {
        let mut outcomes = self.outcomes(reverted, false)?;
        if !self.eager
            && let Some(at) = outcomes.iter().position(|outcome| *outcome == stop)
        {
            outcomes.truncate(at + 1);
        }
        Ok(outcomes)
    }

    fn type_checks(&mut self, reverted: &ChangeSet) -> Result<bool, Infallible> {
        Ok((self.outcome)(reverted) != Outcome::Broken)
    }

    fn builds(&mut self, reverted: &ChangeSet) -> Result<bool, Infallible> {
        self.tried += 1;
        Ok((self.outcome)(reverted) != Outcome::Broken)
    }

    fn fails_alike(&mut self, reverted: &ChangeSet) -> bool {
        (self.outcome)(reverted) == Outcome::Fail
    }

    fn examine(&mut self, reverted: &ChangeSet) -> Result<Sanity, Infallible> {
        Ok(match &self.insane {
            Some(insane) if insane(reverted) => Sanity::Insane("it reads what was never set".to_owned()),
            Some(_) => Sanity::Sane,
            None => Sanity::Unknown,
        })
    }

    fn diagnostics(&mut self, reverted: &ChangeSet) -> Option<String> {
        self.diagnostics_of.as_ref().map(|diagnostics_of| diagnostics_of(reverted))
    }
}

/// A random model. Good passes and bad fails; otherwise little is fixed.
#[derive(Clone, Debug)]
pub(super) struct World {
    pub changes: u32,
    /// Reverting any of these sets completely makes the test pass.
    pub causes: Vec<ChangeSet>,
    /// If the first change is reverted, the second must be too.
    pub needs: Vec<(ChangeId, ChangeId)>,
    pub seed: u64,
    /// Percentage of sets that are unresolved, and of sets whose outcome contradicts the causes.
    pub unresolved: u64,
    pub odd: u64,
}

impl World {
    pub fn all(&self) -> ChangeSet {
        (0..self.changes).map(ChangeId).collect()
    }

    pub fn outcome(&self, reverted: &ChangeSet) -> Outcome {
        if reverted.len() == self.changes as usize {
            return Outcome::Pass;
        }
        if reverted.is_empty() {
            return Outcome::Fail;
        }
        if self.needs.iter().any(|(a, b)| reverted.contains(a) && !reverted.contains(b)) {
            return Outcome::Broken;
        }
        let bytes: Vec<u8> = reverted.iter().flat_map(|id| id.0.to_le_bytes()).collect();
        let chance = xxh3_64_with_seed(&bytes, self.seed) % 100;
        let passes = self.causes.iter().any(|cause| cause.is_subset(reverted));
        if chance < self.unresolved {
            Outcome::Unresolved
        } else if passes != (chance < self.unresolved + self.odd) {
            Outcome::Pass
        } else {
            Outcome::Fail
        }
    }

    pub fn model(&self) -> Model<impl Fn(&ChangeSet) -> Outcome> {
        let world = self.clone();
        Model::new(move |set: &ChangeSet| world.outcome(set))
    }

    pub fn needed_singly(&self, set: &ChangeSet) -> bool {
        set.iter().all(|id| self.outcome(&less(set, *id)) != Outcome::Pass)
    }

    /// Each change is needed for bad to pass or for good to fail.
    pub fn needed_in_a_direction(&self, set: &ChangeSet) -> bool {
        let breaks = |set: &ChangeSet| self.outcome(&(&self.all() - set)) == Outcome::Fail;
        set.iter().all(|id| self.outcome(&less(set, *id)) != Outcome::Pass || !breaks(&less(set, *id)))
    }
}

pub(super) fn less(set: &ChangeSet, id: ChangeId) -> ChangeSet {
    set.iter().copied().filter(|other| *other != id).collect()
}

/// Models of up to `most` changes, with and without irregular outcomes.
pub(super) fn world(most: u32) -> impl Strategy<Value = World> {
    (1..=most, any::<u64>(), prop_oneof![Just(0_u64), Just(15)], prop_oneof![Just(0_u64), Just(20)])
        .prop_flat_map(|(changes, seed, unresolved, odd)| {
            let id = (0..changes).prop_map(ChangeId);
            let cause = proptest::collection::btree_set(id.clone(), 1..4);
            let needs = proptest::collection::vec((id.clone(), id), 0..5);
            (proptest::collection::vec(cause, 1..3), needs).prop_map(move |(causes, needs)| World {
                changes,
                causes,
                needs,
                seed,
                unresolved,
                odd,
            })
        })
}
