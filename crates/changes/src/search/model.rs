//! Worlds to search in, made up for tests.

use crate::change::{ChangeId, ChangeSet};
use crate::outcome::{Outcome, Trials};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::convert::Infallible;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// What a compiler says to a set.
type Complain = Box<dyn Fn(&ChangeSet) -> String>;

/// A world with an outcome for every set.
pub(super) struct Model<F> {
    pub outcome: F,
    /// Tries whole batches, as many workers would.
    pub eager: bool,
    pub complain: Option<Complain>,
    pub tried: u64,
}

impl<F: Fn(&ChangeSet) -> Outcome> Model<F> {
    pub fn new(outcome: F) -> Self {
        Model { outcome, eager: false, complain: None, tried: 0 }
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

    fn builds(&mut self, reverted: &ChangeSet) -> Result<bool, Infallible> {
        self.tried += 1;
        Ok((self.outcome)(reverted) != Outcome::Broken)
    }

    fn fails_alike(&mut self, reverted: &ChangeSet) -> bool {
        (self.outcome)(reverted) == Outcome::Fail
    }

    fn complaint(&mut self, reverted: &ChangeSet) -> Option<String> {
        self.complain.as_ref().map(|complain| complain(reverted))
    }
}

/// A random world. Good passes and bad fails, otherwise much is possible.
#[derive(Clone, Debug)]
pub(super) struct World {
    pub changes: u32,
    /// Any of these reverted wholly makes the test pass.
    pub causes: Vec<ChangeSet>,
    /// Where the first is reverted, the second must be.
    pub needs: Vec<(ChangeId, ChangeId)>,
    pub seed: u64,
    /// Of a hundred sets, so many cannot be told, and so many pass or fail
    /// against all expectation.
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

    /// By trying every set: those that pass and stop passing when any single
    /// change is put back.
    pub fn minimal_sets(&self) -> BTreeMap<ChangeSet, ()> {
        let mut found = BTreeMap::new();
        for bits in 0_u32..1 << self.changes {
            let set: ChangeSet = (0..self.changes).filter(|id| bits >> id & 1 == 1).map(ChangeId).collect();
            if self.outcome(&set) == Outcome::Pass && self.needed_singly(&set) {
                found.insert(set, ());
            }
        }
        found
    }

    pub fn needed_singly(&self, set: &ChangeSet) -> bool {
        set.iter().all(|id| {
            let less: ChangeSet = set.iter().copied().filter(|other| other != id).collect();
            self.outcome(&less) != Outcome::Pass
        })
    }
}

/// Worlds of up to `most` changes, tame or wild.
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
