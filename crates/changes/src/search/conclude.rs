//! Turns a passing set into an answer.
//!
//! A passing set is made minimal, whole units first. The resulting program is examined, and its changes are
//! put into good. A set that turns out not to be sane counts as unresolved from then on, so that the next
//! minimisation takes another route.

use super::minimal::by_preference;
use super::{Found, Proof, Search, Shown, Stage, list, set};
use crate::change::{ChangeId, ChangeSet};
use crate::outcome::{Outcome, Sanity, Trials};

/// Maximum number of insane sets before a passing set is given up.
const MAX_INSANE: usize = 6;

/// A larger set is not yet evidence about the cause.
const MAX_INTERIM: usize = 24;

/// For a larger passing set, a prefix of it that passes is searched for first.
const MAX_AT_ONCE: usize = 128;

/// Candidates whose reversion, together with the other changes of `full`, passes.
#[derive(Clone, Debug)]
pub(super) struct Passing {
    pub candidates: Vec<ChangeId>,
    pub full: ChangeSet,
}

/// The roles of the changes of a passing set: see [`Found`].
struct Roles {
    root: ChangeSet,
    by_chain: ChangeSet,
}

impl<T: Trials> Search<'_, T> {
    /// Turns a passing set into an answer. Returns whether it is good enough to end the search: needed, sane
    /// and sufficient.
    pub(super) fn conclude(&mut self, passing: &Passing, ranked: &[ChangeId]) -> Result<bool, T::Error> {
        let order: Vec<ChangeId> = passing.candidates.iter().chain(ranked).copied().collect();
        let shorter = self.shortened(passing, &order)?;
        let passing = shorter.as_ref().unwrap_or(passing);
        let least = self.sane_minimal(&passing.full, &order)?;
        if self.exhausted() && self.best.is_none() {
            return Ok(false);
        }
        let Some(least) = least else { return Ok(false) };
        if self.record_answer(&least, &order)? {
            return Ok(true);
        }
        // In a larger set, another part may be the cause: the smallest set that breaks good.
        if passing.full.len() > least.len() && !self.is_large_difference() {
            let units = self.structure.whole_units(&list(&passing.full));
            if let Some(sufficient) = self.smallest_sufficient(&units)? {
                return self.record_sufficient(&sufficient, &order);
            }
        }
        Ok(false)
    }

    /// A large passing set (a whole file of a release, for example) without most of what is not needed.
    /// Subsets obtained by removing parts mostly do not build; those completed from the most suspicious
    /// changes do.
    fn shortened(&mut self, passing: &Passing, order: &[ChangeId]) -> Result<Option<Passing>, T::Error> {
        if passing.full.len() <= MAX_AT_ONCE {
            return Ok(None);
        }
        let units = self.structure.whole_units(&by_preference(&passing.full, order));
        self.during(Stage::Shrinking, |search| search.shortest_passing_prefix(&units, passing.full.len() / 2))
    }

    /// The answer if the search is interrupted before an answer is complete: the smallest set known to pass.
    /// No change that may be guilty counts as auxiliary.
    pub(super) fn interim(&self) -> Option<Found> {
        let all = self.structure.all();
        let passing = self.known.iter().filter(|(set, outcome)| **outcome == Outcome::Pass && *set != all);
        let smallest = passing.min_by_key(|(set, _)| (set.len(), *set));
        let (full, _) = smallest.filter(|(set, _)| set.len() <= MAX_INTERIM)?;
        let root: ChangeSet = full.iter().copied().filter(|id| self.is_on_chain(id)).collect();
        let root = if root.is_empty() { full.clone() } else { root };
        let proof = Proof { needed: Shown::Yes, sane: self.is_sane(full), ..Proof::default() };
        let by_chain = root.clone();
        Some(Found { auxiliary: full - &root, root, by_chain, applied_with: ChangeSet::new(), proof })
    }

    /// Whether the program without these changes was examined and found sane.
    fn is_sane(&self, full: &ChangeSet) -> Shown {
        match self.examined.get(full) {
            Some(Sanity::Sane) => Shown::Yes,
            Some(Sanity::Insane(_)) => Shown::No,
            Some(Sanity::Unknown) | None => Shown::NotTried,
        }
    }

    fn is_on_chain(&self, id: &ChangeId) -> bool {
        self.on_chain.as_ref().is_some_and(|chain| chain.contains(id))
    }

    /// Builds an answer from changes that break good, if undoing them makes bad pass.
    pub(super) fn record_sufficient(
        &mut self,
        sufficient: &ChangeSet,
        order: &[ChangeId],
    ) -> Result<bool, T::Error> {
        let Some(full) = self.completed(sufficient)? else { return Ok(false) };
        if !self.accepts(&full)? {
            return Ok(false);
        }
        self.record_answer(&full, order)
    }

    /// Whether the set passes and its program is sane, as far as this can be checked.
    pub(super) fn accepts(&mut self, reverted: &ChangeSet) -> Result<bool, T::Error> {
        if self.outcome(reverted)? != Outcome::Pass {
            return Ok(false);
        }
        Ok(!matches!(self.examine(reverted)?, Sanity::Insane(_)))
    }

    fn examine(&mut self, reverted: &ChangeSet) -> Result<Sanity, T::Error> {
        if let Some(known) = self.examined.get(reverted) {
            return Ok(known.clone());
        }
        let sanity = self.during(Stage::Verifying, |search| {
            search.report_progress(reverted.len());
            search.trials.examine(reverted)
        })?;
        if matches!(sanity, Sanity::Insane(_)) {
            self.known.insert(reverted.clone(), Outcome::Unresolved);
        }
        self.examined.insert(reverted.clone(), sanity.clone());
        Ok(sanity)
    }

    /// A minimal subset of a passing set whose program is sane.
    fn sane_minimal(
        &mut self,
        passing: &ChangeSet,
        order: &[ChangeId],
    ) -> Result<Option<ChangeSet>, T::Error> {
        // The changes that an accidentally passing subset leaves out may be its only defect.
        let mut fallback = None;
        for _ in 0..MAX_INSANE {
            if self.outcome(passing)? != Outcome::Pass {
                return Ok(fallback);
            }
            let least = self.minimal(passing, order)?;
            if self.accepts(&least)? {
                return Ok(Some(least));
            }
            if self.exhausted() {
                break;
            }
            if fallback.is_none() && least != *passing && self.accepts(passing)? {
                fallback = Some(passing.clone());
            }
        }
        Ok(fallback)
    }

    fn minimal(&mut self, passing: &ChangeSet, order: &[ChangeId]) -> Result<ChangeSet, T::Error> {
        let mut least = self.one_minimal(passing, order)?;
        loop {
            let fewer = self.drop_clusters(&least, &ChangeSet::new(), order)?;
            if fewer == least {
                return Ok(least);
            }
            least = self.one_minimal(&fewer, order)?;
        }
    }

    /// Assigns roles, puts the answer into good, and keeps it if it is the best so far.
    fn record_answer(&mut self, full: &ChangeSet, order: &[ChangeId]) -> Result<bool, T::Error> {
        let undone = self.without_superfluous(full, order)?;
        let Roles { root, by_chain } = self.roles(&undone, order)?;
        let auxiliary = &undone - &root;
        let applied = self.applied(full)?;
        let proof = Proof { needed: Shown::Yes, sufficient: applied.shown, sane: self.is_sane(&undone) };
        let found =
            Found { applied_with: &(&applied.full - &root) - &auxiliary, root, auxiliary, by_chain, proof };
        let better = self.best.as_ref().is_none_or(|best| {
            let key = |found: &Found| (found.proof.sufficient, std::cmp::Reverse(found.all().len()));
            key(&found) > key(best)
        });
        if better {
            self.best = Some(found);
            self.needed_at.get_or_insert(self.asked);
        }
        Ok(applied.shown == Shown::Yes)
    }

    /// A passing set without the changes that need not be undone. It may contain such changes because of
    /// good: good does not build with a shorter table and all of its old entries, while bad builds with a
    /// longer one.
    fn without_superfluous(&mut self, full: &ChangeSet, order: &[ChangeId]) -> Result<ChangeSet, T::Error> {
        let units = self.structure.whole_units(&by_preference(full, order));
        let mut least = full.clone();
        for unit in units.iter().filter(|_| units.len() > 1) {
            let rest = full - &set(unit);
            if !self.exhausted() && self.outcome(&rest)? == Outcome::Pass {
                least = &least - &set(unit);
            }
        }
        // If several changes only fail together, any one of them may remain; then each of them is a cause.
        let is_less = least.len() < full.len() && !least.is_empty();
        Ok(if is_less && self.accepts(&least)? { least } else { full.clone() })
    }

    /// Separates the cause from what must be reverted with it. A change is the cause if it lies on the chain
    /// from the change to the failure, or if the program builds without its reversion and then fails as bad
    /// does. A crash or a build error without its reversion is no proof of guilt.
    fn roles(&mut self, passing: &ChangeSet, order: &[ChangeId]) -> Result<Roles, T::Error> {
        let units = self.structure.whole_units(&by_preference(passing, order));
        let (mut root, mut by_chain) = (ChangeSet::new(), ChangeSet::new());
        if units.len() == 1 {
            root.extend(passing);
        }
        for unit in units.iter().filter(|_| units.len() > 1) {
            let rest: ChangeSet = passing - &set(unit);
            let outcome = if self.exhausted() { None } else { Some(self.outcome(&rest)?) };
            let on_chain = unit.iter().any(|id| self.is_on_chain(id));
            let is_cause = match outcome {
                Some(Outcome::Broken | Outcome::Unresolved) => on_chain,
                // A change that was not tried any more is not excluded.
                Some(Outcome::Fail | Outcome::Pass) | None => true,
            };
            if is_cause {
                root.extend(unit);
            }
            if is_cause && matches!(outcome, Some(Outcome::Broken | Outcome::Unresolved)) {
                by_chain.extend(unit);
            }
        }
        if root.is_empty() {
            // All changes depend on each other, and no chain identifies the guilty ones.
            match &self.on_chain {
                Some(_) => root.extend(passing),
                None => root.extend(units.first().into_iter().flatten()),
            }
            by_chain.clone_from(&root);
        }
        Ok(Roles { root, by_chain })
    }
}
