//! The search for the guilty changes, by trials.
//!
//! A trial reverts a set of changes in the bad version, builds and tests. Bad itself (nothing reverted) fails
//! and good (everything reverted) passes; the caller guarantees this. In between, anything can happen: a set
//! may not build, may fail differently, may pass by accident, and a passing set need not keep passing when
//! more is reverted.
//!
//! An answer has two sides. It is *needed*: undone in bad, the test passes. It is *sufficient*: put into
//! good, the test fails in the same way. One-sided answers are often accidental: undoing a change that
//! disables the feature under test makes the test pass, but putting it into good breaks nothing. So a set
//! that is only needed is kept as a fallback while the search continues. A set whose program is not
//! [sane](crate::outcome::Sanity) is not an answer.
//!
//! Changes are tried in whole units (hunks, moved blocks, renamed names) before parts of them.
//!
//! * `ranked`: the stages of the search over ranked candidates
//! * `conclude`: from a passing set to an answer: minimal, sane, sufficient
//! * `sufficient`: the other direction, changes put into good
//! * `group_testing`: many suspects cleared by one trial
//! * `complete`: the changes that must be reverted too for the program to build; `diagnostics` extracts hints
//!   from the compiler's messages
//! * `minimal`: making a passing set 1-minimal
//! * `dd`: delta debugging, in the two forms used for comparison
//! * `verify`: the final check
//!
//! Answers do not depend on how many trials run in parallel: in a batch, everything after the first decisive
//! outcome is ignored, even if it is known.

mod complete;
mod conclude;
mod dd;
mod diagnostics;
mod group_testing;
mod minimal;
#[cfg(test)]
mod model;
mod ranked;
mod structure;
mod sufficient;
#[cfg(test)]
mod tests;
mod verify;

pub use structure::Structure;
pub use verify::Verified;

use crate::change::{ChangeId, ChangeSet};
use crate::outcome::{Outcome, Sanity, Trials};
use std::collections::{HashMap, HashSet};

/// The result of a search, and what was shown of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Changes that cause the failure.
    pub root: ChangeSet,
    /// Changes that must be reverted with them for the program to build.
    pub auxiliary: ChangeSet,
    /// Changes of the root whose guilt no trial showed, because the program does not build without undoing
    /// them: they lie on the chain from the change to the failure.
    pub by_chain: ChangeSet,
    /// Changes that must be put into good with them for good to build and to fail.
    pub applied_with: ChangeSet,
    /// What was shown of it.
    pub proof: Proof,
}

/// What was shown of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Proof {
    /// Undone in bad, the test passes.
    pub needed: Shown,
    /// Put into good, the test fails in the same way.
    pub sufficient: Shown,
    /// The program with the answer undone shows no undefined or accidental behaviour that
    /// good and bad do not show.
    pub sane: Shown,
}

/// Whether something was shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shown {
    /// A trial did not show it: the opposite holds, or the outcome was unresolved.
    No,
    /// No trial was made, or the program did not build.
    #[default]
    NotTried,
    /// It was shown.
    Yes,
}

impl Shown {
    pub(crate) fn from(yes: bool) -> Shown {
        if yes { Shown::Yes } else { Shown::No }
    }
}

impl Found {
    /// Root and auxiliary changes together.
    #[must_use]
    pub fn all(&self) -> ChangeSet {
        &self.root | &self.auxiliary
    }
}

/// The current stage of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Finding changes that make the test pass when reverted.
    Narrowing,
    /// Finding what else must be reverted for it to build.
    Completing,
    /// Putting changes into good.
    Applying,
    /// Removing what is not needed.
    Shrinking,
    /// Checking the answer, and the answer without each of its changes.
    Verifying,
}

/// Reported before each trial (or batch of trials).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The stage that requests the trial.
    pub stage: Stage,
    /// Number of trials requested so far.
    pub asked: u64,
    /// Changes reverted in the next one.
    pub reverting: usize,
    /// Changes that are still suspects.
    pub suspects: usize,
    /// Number of distinct sets tried so far.
    pub sets: usize,
    /// How many of these sets do not build.
    pub broken: usize,
}

/// A trial that was requested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// The changes that were reverted in bad.
    pub reverted: ChangeSet,
    /// What came of it.
    pub outcome: Outcome,
    /// The stage that requested it.
    pub stage: Stage,
}

/// A search in progress: the state shared by all methods.
pub struct Search<'a, T: Trials> {
    trials: &'a mut T,
    structure: &'a Structure,
    watch: &'a mut dyn FnMut(&Progress),
    known: HashMap<ChangeSet, Outcome>,
    built: HashMap<ChangeSet, bool>,
    type_checked: HashMap<ChangeSet, bool>,
    examined: HashMap<ChangeSet, Sanity>,
    /// Sets that did not build, with their completions.
    completed: Vec<(ChangeSet, ChangeSet)>,
    /// The best answer so far, and the number of trials after which the first was found.
    best: Option<Found>,
    needed_at: Option<u64>,
    /// Changes known to lie on the chain from the change to the failure.
    on_chain: Option<ChangeSet>,
    log: Vec<Tried>,
    /// How many of the logged sets do not build.
    broken: usize,
    asked: u64,
    limit: u64,
    stage: Stage,
    suspects: usize,
}

impl<'a, T: Trials> Search<'a, T> {
    /// A search over the changes of `structure`. `watch` receives progress reports.
    pub fn new(trials: &'a mut T, structure: &'a Structure, watch: &'a mut dyn FnMut(&Progress)) -> Self {
        // By definition; no trial is needed.
        let known =
            HashMap::from([(ChangeSet::new(), Outcome::Fail), (structure.all().clone(), Outcome::Pass)]);
        Search {
            trials,
            structure,
            watch,
            known,
            built: HashMap::new(),
            type_checked: HashMap::new(),
            examined: HashMap::new(),
            completed: Vec::new(),
            best: None,
            needed_at: None,
            on_chain: None,
            log: Vec::new(),
            broken: 0,
            asked: 0,
            limit: u64::MAX,
            stage: Stage::Narrowing,
            suspects: 0,
        }
    }

    /// Ends the search after this many further trials and builds: the answer found by then is reported,
    /// minimal or not.
    pub fn limit(&mut self, trials: u64) {
        self.limit = self.asked.saturating_add(trials);
    }

    /// Trials in the order in which their outcomes became known.
    #[must_use]
    pub fn log(&self) -> &[Tried] {
        &self.log
    }

    /// Number of trials and builds requested.
    #[must_use]
    pub fn asked(&self) -> u64 {
        self.asked
    }

    /// Whether the limit ended the search.
    #[must_use]
    pub fn exhausted(&self) -> bool {
        self.asked >= self.limit
    }

    /// Sets the changes that lie on the chain from the change to the failure according to the recordings.
    /// Among changes that only compile together, these are the cause. If there are none, all of them may be.
    pub fn set_on_chain(&mut self, changes: ChangeSet) {
        self.on_chain = Some(changes);
    }

    /// The best answer so far, for a search that was interrupted.
    #[must_use]
    pub fn best(&self) -> Option<Found> {
        self.best.clone().or_else(|| self.interim())
    }

    /// Number of trials that may still be requested.
    fn remaining_trials(&self) -> usize {
        usize::try_from(self.limit.saturating_sub(self.asked)).unwrap_or(usize::MAX)
    }

    fn outcome(&mut self, set: &ChangeSet) -> Result<Outcome, T::Error> {
        let outcomes = self.ask(std::slice::from_ref(set), None)?;
        Ok(outcomes.first().copied().unwrap_or(Outcome::Unresolved))
    }

    /// Index of the first set with the wanted outcome.
    fn first(&mut self, sets: &[ChangeSet], wanted: Outcome) -> Result<Option<usize>, T::Error> {
        let outcomes = self.ask(sets, Some(wanted))?;
        Ok(outcomes.iter().position(|outcome| *outcome == wanted))
    }

    /// Outcomes of these sets, up to the first that is `stop`.
    fn ask(&mut self, sets: &[ChangeSet], stop: Option<Outcome>) -> Result<Vec<Outcome>, T::Error> {
        // Sets after a known stop need not be tried.
        let known_stop = sets.iter().position(|set| stop.is_some() && self.known.get(set).copied() == stop);
        let sets = &sets[..known_stop.map_or(sets.len(), |at| at + 1)];
        // Beyond the limit nothing is tried any more; outcomes end there. The verification of the answer is
        // exempt.
        let remaining_trials =
            if self.stage == Stage::Verifying { usize::MAX } else { self.remaining_trials() };
        let unknown = distinct(sets, remaining_trials, |set| self.known.contains_key(set));
        if !unknown.is_empty() {
            self.report_progress(unknown[0].len());
            let mut answers = match stop {
                Some(stop) => self.trials.outcomes_until(&unknown, stop)?,
                None => self.trials.outcomes(&unknown, false)?,
            };
            if let Some(at) = answers.iter().position(|outcome| Some(*outcome) == stop) {
                answers.truncate(at + 1);
            }
            for (set, outcome) in unknown.into_iter().zip(answers) {
                self.asked += 1;
                self.built.insert(set.clone(), outcome != Outcome::Broken);
                self.log_outcome(&set, outcome);
                self.known.insert(set, outcome);
            }
        }
        let mut outcomes = Vec::new();
        for set in sets {
            let Some(outcome) = self.known.get(set) else { break };
            outcomes.push(*outcome);
            if Some(*outcome) == stop {
                break;
            }
        }
        Ok(outcomes)
    }

    /// Whether a set builds, or at least type-checks where only that is possible.
    fn builds(&mut self, set: &ChangeSet) -> Result<bool, T::Error> {
        let known = self.known.get(set).map(|outcome| *outcome != Outcome::Broken);
        if let Some(built) = self.built.get(set).copied().or(known) {
            return Ok(built);
        }
        if self.exhausted() || !self.type_checks(set)? {
            return Ok(false);
        }
        self.report_progress(set.len());
        let built = self.trials.builds(set)?;
        self.asked += 1;
        if !built {
            self.note_broken(set);
        }
        self.built.insert(set.clone(), built);
        Ok(built)
    }

    /// Whether the compiler accepts the touched sources. This does not count as a trial.
    fn type_checks(&mut self, set: &ChangeSet) -> Result<bool, T::Error> {
        if let Some(outcome) = self.known.get(set) {
            return Ok(*outcome != Outcome::Broken);
        }
        if let Some(correct) = self.type_checked.get(set) {
            return Ok(*correct);
        }
        let correct = self.trials.type_checks(set)?;
        if !correct {
            self.note_broken(set);
        }
        self.type_checked.insert(set.clone(), correct);
        Ok(correct)
    }

    fn note_broken(&mut self, set: &ChangeSet) {
        self.log_outcome(set, Outcome::Broken);
        self.known.insert(set.clone(), Outcome::Broken);
        self.built.insert(set.clone(), false);
    }

    fn log_outcome(&mut self, set: &ChangeSet, outcome: Outcome) {
        self.broken += usize::from(outcome == Outcome::Broken);
        self.log.push(Tried { reverted: set.clone(), outcome, stage: self.stage });
    }

    fn report_progress(&mut self, reverting: usize) {
        let progress = Progress {
            stage: self.stage,
            asked: self.asked,
            reverting,
            suspects: self.suspects,
            sets: self.log.len(),
            broken: self.broken,
        };
        (self.watch)(&progress);
    }

    /// Runs `work` as part of a stage, then restores the previous stage.
    fn during<R>(&mut self, stage: Stage, work: impl FnOnce(&mut Self) -> R) -> R {
        let before = std::mem::replace(&mut self.stage, stage);
        let result = work(self);
        self.stage = before;
        result
    }
}

/// Splits a list into `parts` slices of nearly equal length (fewer if it is short), at borders between files
/// or functions where one is nearby: changes that are close together mostly build together.
fn cut<'l>(structure: &Structure, list: &'l [ChangeId], parts: usize) -> Vec<&'l [ChangeId]> {
    let parts = parts.clamp(1, list.len().max(1));
    let reach = list.len() / parts / 4;
    let mut cuts = Vec::new();
    let mut start = 0;
    for part in 1..parts {
        let ideal = list.len() * part / parts;
        let window = ideal.saturating_sub(reach).max(start + 1)..=(ideal + reach).min(list.len() - 1);
        let best = window.max_by_key(|at| {
            let border = structure.border(list[at - 1], list[*at]);
            (border, std::cmp::Reverse(at.abs_diff(ideal)))
        });
        let at = best.unwrap_or(ideal.max(start + 1).min(list.len()));
        if at > start {
            cuts.push(&list[start..at]);
            start = at;
        }
    }
    if start < list.len() {
        cuts.push(&list[start..]);
    }
    cuts
}

/// The first `most` distinct sets that are not known.
fn distinct(sets: &[ChangeSet], most: usize, known: impl Fn(&ChangeSet) -> bool) -> Vec<ChangeSet> {
    let mut seen = HashSet::new();
    sets.iter().filter(|set| !known(set) && seen.insert(*set)).take(most).cloned().collect()
}

fn list(set: &ChangeSet) -> Vec<ChangeId> {
    // Numbers follow files and lines, so neighbouring changes stay adjacent.
    set.iter().copied().collect()
}

fn without(list: &[ChangeId], part: &[ChangeId]) -> Vec<ChangeId> {
    let part = set(part);
    list.iter().copied().filter(|id| !part.contains(id)).collect()
}

fn set(list: &[ChangeId]) -> ChangeSet {
    list.iter().copied().collect()
}
