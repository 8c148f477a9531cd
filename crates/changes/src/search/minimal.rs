//! Passing sets without anything superfluous.

use super::complaint::{Toward, first_line, hinted};
use super::{Found, Search, Stage, set};
use crate::change::{ChangeId, ChangeSet};
use crate::outcome::{Outcome, Trials};

/// Complaints are followed this often before it is given up.
const MOST_ROUNDS: usize = 6;
/// So many changes are gone through one by one.
const FEW: usize = 32;

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
        let half = units.len().div_ceil(2);
        let in_units = units.len() < passing.len();
        let kept = if in_units { self.leave_out(units, half)?.concat() } else { units.concat() };
        let singles: Vec<Vec<ChangeId>> =
            by_preference(&set(&kept), order).into_iter().map(|id| vec![id]).collect();
        // Where whole units could not go, large pieces of them hardly can.
        let half = if in_units && singles.len() <= FEW { 1 } else { singles.len().div_ceil(2) };
        Ok(set(&self.leave_out(singles, half)?.concat()))
    }

    /// Leaves out units, the last first, until no single one can be left out.
    fn leave_out(
        &mut self,
        mut kept: Vec<Vec<ChangeId>>,
        first_size: usize,
    ) -> Result<Vec<Vec<ChangeId>>, T::Error> {
        // Large pieces first: with little needed, most goes in a few trials.
        let mut size = first_size.max(1);
        while !self.exhausted() && !kept.is_empty() {
            let before = kept.len();
            kept = self.sweep(kept, size)?;
            if kept.len() < before {
                // What could not go before it may go now; but not before all else was tried.
                size = size.min(kept.len().div_ceil(2)).max(1);
            } else if size == 1 {
                break;
            } else {
                size = size.div_ceil(2);
            }
        }
        Ok(kept)
    }

    /// Goes through the units once, from the last to the first, in pieces of this
    /// size, and leaves out each piece that can go.
    fn sweep(&mut self, mut kept: Vec<Vec<ChangeId>>, size: usize) -> Result<Vec<Vec<ChangeId>>, T::Error> {
        let mut end = kept.len();
        while end > 0 && !self.exhausted() {
            self.suspects = kept.iter().map(Vec::len).sum();
            let pieces: Vec<std::ops::Range<usize>> =
                (0..end).rev().step_by(size).map(|last| (last + 1).saturating_sub(size)..last + 1).collect();
            let tries: Vec<Vec<Vec<ChangeId>>> =
                pieces.iter().map(|piece| [&kept[..piece.start], &kept[piece.end..]].concat()).collect();
            let sets: Vec<ChangeSet> = tries.iter().map(|kept| set(&kept.concat())).collect();
            let Some(at) = self.first(&sets, Outcome::Pass)? else { break };
            end = pieces[at].start;
            kept = tries.into_iter().nth(at).unwrap_or_default();
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
            let Some(circle) =
                hinted(self.structure, first_line(&text), &rest, Toward::Bad).into_iter().next()
            else {
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
