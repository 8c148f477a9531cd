//! Tests many suspects in one trial (group testing).
//!
//! In a large difference the guilty change is often not among the first few, and trying a hundred changes one
//! by one takes a hundred builds. Most of them do not affect the test: reverted together they leave it
//! failing exactly as before, and one trial clears them all. The reasons for which such a trial is
//! inconclusive can be recognised:
//! * a change that does not build alone is named by the compiler's diagnostics and is removed, using only
//!   type checks where these are available;
//! * a change that breaks the test differently makes it fail in another way than bad does; then halves are
//!   tried.
//!
//! A change may be cleared wrongly if another one undoes the effect of its reversion. That costs time but
//! does not change the answer: the later searches include all changes.

use super::diagnostics::accused;
use super::{Search, set};
use crate::change::{ChangeId, ChangeSet};
use crate::outcome::{Outcome, Trials};
use std::collections::VecDeque;

/// The first group is small because its members are the most suspicious.
const FIRST: usize = 8;
const LARGEST: usize = 32;
/// Number of groups tried in parallel.
const PARALLEL_GROUPS: usize = 2;
/// Maximum number of times members are removed from a group before it is halved.
const MAX_ROUNDS: usize = 8;

/// Units that are tried together.
type Group = Vec<Vec<ChangeId>>;

/// The result of trying suspects in groups.
#[derive(Debug, Default)]
pub(super) struct GroupTested {
    /// The changes of a group that passes.
    pub passing: Option<Vec<ChangeId>>,
    /// Members of groups that failed exactly as bad does.
    pub cleared: ChangeSet,
}

impl<T: Trials> Search<'_, T> {
    /// Tries units in groups of increasing size until one passes, all were tried or `most` trials were made.
    pub(super) fn group_test(
        &mut self,
        suspects: &[Vec<ChangeId>],
        most: usize,
    ) -> Result<GroupTested, T::Error> {
        let mut found = GroupTested::default();
        let mut waiting = groups(suspects);
        let mut left = most;
        while !waiting.is_empty() && left > 0 && !self.exhausted() {
            let mut now: Vec<Group> = Vec::new();
            for group in waiting.drain(..waiting.len().min(PARALLEL_GROUPS)) {
                now.extend(Some(self.type_checking_part(group)?).filter(|group| !group.is_empty()));
            }
            let sets: Vec<ChangeSet> = now.iter().map(|group| set(&group.concat())).collect();
            let outcomes = self.ask(&sets, Some(Outcome::Pass))?;
            left = left.saturating_sub(outcomes.len());
            if outcomes.last() == Some(&Outcome::Pass) {
                found.passing = now.into_iter().nth(outcomes.len() - 1).map(|group| group.concat());
                break;
            }
            let mut next = Vec::new();
            for ((group, reverted), outcome) in now.into_iter().zip(&sets).zip(outcomes) {
                match outcome {
                    Outcome::Fail if self.trials.fails_alike(reverted) => found.cleared.extend(reverted),
                    Outcome::Broken => {
                        let rest = self.without_accused(&group, reverted);
                        if rest.len() < group.len() { next.push(rest) } else { next.extend(halves(&group)) }
                    }
                    _ => next.extend(halves(&group)),
                }
            }
            for group in next.into_iter().rev().filter(|group| !group.is_empty()) {
                waiting.push_front(group);
            }
        }
        Ok(found)
    }

    /// A group without the members that the compiler accuses, found by type checks.
    fn type_checking_part(&mut self, mut group: Group) -> Result<Group, T::Error> {
        for _ in 0..MAX_ROUNDS {
            let reverted = set(&group.concat());
            if group.is_empty() || self.type_checks(&reverted)? {
                break;
            }
            let rest = self.without_accused(&group, &reverted);
            if rest.len() == group.len() {
                break;
            }
            group = rest;
        }
        Ok(group)
    }

    /// The rest of a group that does not build, without the accused members.
    fn without_accused(&mut self, group: &[Vec<ChangeId>], reverted: &ChangeSet) -> Group {
        let text = self.trials.diagnostics(reverted).unwrap_or_default();
        let accused = accused(self.structure, &text, reverted);
        group.iter().filter(|unit| unit.iter().all(|id| !accused.contains(id))).cloned().collect()
    }
}

fn groups(suspects: &[Vec<ChangeId>]) -> VecDeque<Group> {
    let mut groups = VecDeque::new();
    let (mut rest, mut size) = (suspects, FIRST);
    while !rest.is_empty() {
        let (group, others) = rest.split_at(size.min(rest.len()));
        groups.push_back(group.to_vec());
        rest = others;
        size = (2 * size).min(LARGEST);
    }
    groups
}

/// A group of one has no halves.
fn halves(group: &[Vec<ChangeId>]) -> Vec<Group> {
    if group.len() < 2 {
        return Vec::new();
    }
    let (first, second) = group.split_at(group.len().div_ceil(2));
    vec![first.to_vec(), second.to_vec()]
}
