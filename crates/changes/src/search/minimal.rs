//! Passing sets without anything superfluous.

use super::complaint::{Toward, hinted};
use super::{Found, Search, Stage, set};
use crate::change::{ChangeId, ChangeSet};
use crate::outcome::{Outcome, Trials};

/// Complaints are followed this often before it is given up.
const MOST_ROUNDS: usize = 6;

impl<T: Trials> Search<'_, T> {
    /// Leaves changes out of a passing set until putting any single one back
    /// makes it not pass. `order` says which to keep where there is a choice,
    /// the dearest first; what it does not name goes first of all.
    ///
    /// # Errors
    /// If a trial cannot be carried out.
    pub fn one_minimal(&mut self, passing: &ChangeSet, order: &[ChangeId]) -> Result<ChangeSet, T::Error> {
        self.during(Stage::Shrinking, |search| search.shrink(passing, order))
    }

    fn shrink(&mut self, passing: &ChangeSet, order: &[ChangeId]) -> Result<ChangeSet, T::Error> {
        // What builds only together goes together, then one by one.
        let units = self.structure.units(&by_preference(passing, order));
        let kept = if units.len() < passing.len() { self.leave_out(units)?.concat() } else { units.concat() };
        let singles = by_preference(&set(&kept), order).into_iter().map(|id| vec![id]).collect();
        Ok(set(&self.leave_out(singles)?.concat()))
    }

    /// Leaves out units, the last first, until no single one can be left out.
    fn leave_out(&mut self, mut kept: Vec<Vec<ChangeId>>) -> Result<Vec<Vec<ChangeId>>, T::Error> {
        // Large pieces first: with little needed, most goes in a few trials.
        let mut size = kept.len().div_ceil(2).max(1);
        while !self.exhausted() && !kept.is_empty() {
            self.suspects = kept.iter().map(Vec::len).sum();
            let mut tries: Vec<Vec<Vec<ChangeId>>> = Vec::new();
            let mut end = kept.len();
            while end > 0 {
                let start = end.saturating_sub(size);
                tries.push([&kept[..start], &kept[end..]].concat());
                end = start;
            }
            let sets: Vec<ChangeSet> = tries.iter().map(|kept| set(&kept.concat())).collect();
            if let Some(at) = self.first(&sets, Outcome::Pass)? {
                kept = tries.swap_remove(at);
                size = size.min(kept.len().div_ceil(2)).max(1);
            } else if size == 1 {
                break;
            } else {
                size = size.div_ceil(2);
            }
        }
        Ok(kept)
    }

    /// Leaves out changes that hang together. Putting one of them back alone
    /// does not build, so that leaving out one by one keeps them all; the
    /// compiler's complaint tells which others must be put back with it. What
    /// is `needed` is not touched.
    pub(super) fn drop_clusters(
        &mut self,
        passing: &ChangeSet,
        needed: &ChangeSet,
        order: &[ChangeId],
    ) -> Result<ChangeSet, T::Error> {
        self.during(Stage::Shrinking, |search| {
            let mut kept = passing.clone();
            for id in by_preference(passing, order).into_iter().rev() {
                if kept.contains(&id) && !needed.contains(&id) && !search.exhausted() {
                    kept = search.drop_cluster(kept, id, needed)?;
                }
            }
            Ok(kept)
        })
    }

    fn drop_cluster(
        &mut self,
        kept: ChangeSet,
        first: ChangeId,
        needed: &ChangeSet,
    ) -> Result<ChangeSet, T::Error> {
        let mut back = ChangeSet::from([first]);
        for _ in 0..MOST_ROUNDS {
            let rest = &kept - &back;
            match self.outcome(&rest)? {
                Outcome::Pass => return Ok(rest),
                Outcome::Broken => {}
                Outcome::Fail | Outcome::Unresolved => break,
            }
            let Some(text) = self.trials.complaint(&rest) else { break };
            let Some(circle) = hinted(self.structure, &text, &rest, Toward::Bad).into_iter().next() else {
                break;
            };
            if !circle.is_disjoint(needed) {
                break;
            }
            back.extend(circle);
        }
        Ok(kept)
    }

    /// Tells root from auxiliary in a passing set. Root is what a search
    /// claimed, and whatever the test is seen to need: without it the program
    /// builds and does not pass. The rest is there so that it builds.
    pub(super) fn roles(
        &mut self,
        passing: ChangeSet,
        claimed: ChangeSet,
        order: &[ChangeId],
    ) -> Result<Found, T::Error> {
        let list = by_preference(&passing, order);
        let one_back: Vec<ChangeSet> =
            list.iter().map(|id| passing.iter().copied().filter(|other| other != id).collect()).collect();
        let outcomes = self.ask(&one_back, None)?;
        let mut root = claimed;
        for (at, id) in list.iter().enumerate() {
            // What was not tried any more is not excused either.
            if outcomes.get(at) != Some(&Outcome::Broken) {
                root.insert(*id);
            }
        }
        if root.is_empty() {
            // Everything hangs together; the dearest stands for the rest.
            root.extend(list.first());
        }
        let auxiliary = &passing - &root;
        Ok(Found { root, auxiliary })
    }
}

fn by_preference(changes: &ChangeSet, order: &[ChangeId]) -> Vec<ChangeId> {
    let mut left = changes.clone();
    let mut list: Vec<ChangeId> = order.iter().copied().filter(|id| left.remove(id)).collect();
    list.extend(left);
    list
}
