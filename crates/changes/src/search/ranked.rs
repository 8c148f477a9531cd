//! The search over candidates ranked by suspicion.
//!
//! Only passing trials carry information. Classic delta debugging also relies on failing ones and so misses
//! causes that need two changes reverted together. A set that does not build is completed first.
//!
//! Mostly one of the first few units is the cause, so these are tried alone, then whole functions, many units
//! at once, whole files, prefixes of the list of increasing length, and finally the smallest set that breaks
//! good. Between releases, where much was rewritten, whole files come earlier: a file often builds in its old
//! version although no part of it does. The search ends with the first answer that holds in both directions.
//! An answer that is only needed is kept, and the search continues for about half as many trials as it took
//! so far.

use super::conclude::Passing;
use super::diagnostics::TargetVersion;
use super::{Found, Search, Shown, cut, set, without};
use crate::change::{ChangeId, ChangeSet};
use crate::outcome::{Outcome, Trials};
use std::collections::VecDeque;

/// Number of units tried alone before anything else. For a large difference one in [`ONE_IN`] units, at most
/// [`MAX_ALONE`].
const TRIED_ALONE: usize = 24;
const ONE_IN: usize = 40;
const MAX_ALONE: usize = 120;
/// With at least this many more candidates, several are tried at once.
const MIN_FOR_GROUPS: usize = 16;
/// Number of suspects per trial that group testing may use.
const SUSPECTS_PER_TRIAL: usize = 16;
/// The first few units are so likely that everything else is tried after them.
const FIRST: usize = 8;
/// Number of functions tried as a whole before the rest.
const FIRST_FUNCTIONS: usize = 3;
/// Number of files tried as a whole; between releases, before many units at once.
const FIRST_FILES: usize = 64;
const MAX_FILES: usize = 128;
/// Number of sets in one call.
const BATCH: usize = 4;
/// With an answer that is only needed, the search continues for at least this many trials.
const AFTER_NEEDED: u64 = 16;

/// How much effort is spent on making a set build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Completion {
    /// Adds the changes that diagnostics hint at.
    ByDiagnostics,
    /// If that is not enough, adds everything around the set and shrinks it.
    Thorough,
}

impl<T: Trials> Search<'_, T> {
    /// Searches the candidates in order of suspicion, the most suspicious first. If the list contains all
    /// changes, an answer is always found, because good passes.
    ///
    /// # Errors
    /// If a trial cannot be carried out; [`Search::best`] then returns what was found.
    pub fn find(&mut self, ranked: &[ChangeId]) -> Result<Option<Found>, T::Error> {
        let ranked = distinct(ranked);
        if ranked.is_empty() {
            return Ok(None);
        }
        self.suspects = ranked.len();
        let units = self.structure.whole_units(&ranked);
        let functions = self.structure.functions(&ranked);
        // With most of the difference undone nearly everything passes, which is not informative.
        let is_most = |file: &Vec<ChangeId>| file.len() * 2 > ranked.len();
        let (most, mut files): (Vec<_>, Vec<_>) =
            self.structure.files(&ranked).into_iter().partition(is_most);
        let early = if self.is_large_difference() { files.len().min(FIRST_FILES) } else { 0 };
        files.extend(most);
        let done = self.first_units(&units, &ranked)?
            || self.each(
                functions.iter().take(FIRST_FUNCTIONS).cloned().collect(),
                Completion::Thorough,
                &ranked,
            )?
            || self.each(files[..early].to_vec(), Completion::ByDiagnostics, &ranked)?
            || self.many(&units, &functions, &ranked)?
            || self.each(
                files.iter().skip(early).take(MAX_FILES).cloned().collect(),
                Completion::ByDiagnostics,
                &ranked,
            )?
            || self.passing_prefix(&units, &ranked)?
            || self.smallest_in_good(&units, &ranked)?;
        if !done
            && self.best.is_none()
            && !self.exhausted()
            && let Some(passing) = self.partition(&ranked)?
        {
            self.conclude(&passing, &ranked)?;
        }
        Ok(self.best())
    }

    /// Whether the search has continued long enough after an answer that is only needed.
    pub(super) fn is_followed_up(&self) -> bool {
        let Some((best, at)) = self.best.as_ref().zip(self.needed_at) else { return false };
        // A set that cannot be put into good at all may well be the cause; one that breaks nothing there is
        // not.
        let more = match best.proof.sufficient {
            Shown::No => AFTER_NEEDED.max(at / 2),
            Shown::NotTried | Shown::Yes => AFTER_NEEDED,
        };
        self.asked >= at + more
    }

    /// The first units alone, and combined as a pair and as a group of four.
    fn first_units(&mut self, units: &[Vec<ChangeId>], ranked: &[ChangeId]) -> Result<bool, T::Error> {
        let mut tries = Vec::new();
        for alone in 0..units.len().min(FIRST) {
            tries.push(units[alone].clone());
            if matches!(alone, 1 | 3) {
                tries.push(units[..=alone].concat());
            }
        }
        self.each(tries, Completion::Thorough, ranked)
    }

    /// Tries lists of changes in order, completed so that they build, in small batches. Returns whether one
    /// of them ended the search.
    fn each(
        &mut self,
        tries: Vec<Vec<ChangeId>>,
        completion: Completion,
        ranked: &[ChangeId],
    ) -> Result<bool, T::Error> {
        let mut tries = VecDeque::from(self.ready_first(tries, completion)?);
        while !tries.is_empty() && !self.exhausted() && !self.is_followed_up() {
            let mut batch: Vec<Passing> = Vec::new();
            while batch.len() < BATCH
                && let Some(candidates) = tries.pop_front()
            {
                let wanted = set(&candidates);
                let known = self.best.as_ref().is_some_and(|best| best.root.is_subset(&wanted));
                if known {
                    continue;
                }
                if self.type_checks(&wanted)? {
                    batch.push(Passing { candidates, full: wanted });
                    continue;
                }
                if !batch.is_empty() {
                    // Completing takes longer than trying the sets that are ready.
                    tries.push_front(candidates);
                    break;
                }
                if let Some(full) = self.type_checked(&wanted, completion)? {
                    batch.push(Passing { candidates, full });
                    break;
                }
            }
            let mut from = 0;
            while from < batch.len() && !self.exhausted() {
                let sets: Vec<ChangeSet> = batch[from..].iter().map(|tried| tried.full.clone()).collect();
                let outcomes = self.ask(&sets, Some(Outcome::Pass))?;
                for (tried, outcome) in batch[from..].to_vec().iter().zip(&outcomes) {
                    from += 1;
                    let passing = match outcome {
                        Outcome::Pass => Some(tried.clone()),
                        // It compiles but does not link.
                        Outcome::Broken if completion == Completion::Thorough => self.linked(tried)?,
                        Outcome::Broken | Outcome::Fail | Outcome::Unresolved => None,
                    };
                    if let Some(passing) = passing
                        && self.conclude(&passing, ranked)?
                    {
                        return Ok(true);
                    }
                }
                if outcomes.is_empty() {
                    break;
                }
            }
        }
        Ok(false)
    }

    /// With thorough completion, the sets that need no completion go first.
    fn ready_first(
        &mut self,
        tries: Vec<Vec<ChangeId>>,
        completion: Completion,
    ) -> Result<Vec<Vec<ChangeId>>, T::Error> {
        if completion == Completion::ByDiagnostics {
            return Ok(tries);
        }
        let (mut easy, mut others) = (Vec::new(), Vec::new());
        for candidates in tries {
            if self.type_checks(&set(&candidates))? { &mut easy } else { &mut others }.push(candidates);
        }
        easy.extend(others);
        Ok(easy)
    }

    /// A set with the changes it needs to type-check, found by type checks alone.
    fn type_checked(
        &mut self,
        wanted: &ChangeSet,
        completion: Completion,
    ) -> Result<Option<ChangeSet>, T::Error> {
        if self.type_checks(wanted)? {
            return Ok(Some(wanted.clone()));
        }
        match completion {
            Completion::Thorough => self.completed(wanted),
            Completion::ByDiagnostics => self.follow_diagnostics(wanted, TargetVersion::Good),
        }
    }

    fn linked(&mut self, tried: &Passing) -> Result<Option<Passing>, T::Error> {
        let Some(full) = self.completed(&tried.full)? else { return Ok(None) };
        let passes = self.outcome(&full)? == Outcome::Pass;
        Ok(passes.then(|| Passing { candidates: tried.candidates.clone(), full }))
    }

    /// The next units of the list, in groups if there are many, then each alone, and the functions that were
    /// rewritten.
    fn many(
        &mut self,
        units: &[Vec<ChangeId>],
        functions: &[Vec<ChangeId>],
        ranked: &[ChangeId],
    ) -> Result<bool, T::Error> {
        if self.exhausted() || self.is_followed_up() {
            return Ok(false);
        }
        let most = (units.len() / ONE_IN).clamp(TRIED_ALONE, MAX_ALONE) - FIRST;
        let next = units.get(FIRST..).unwrap_or_default();
        let mut cleared = ChangeSet::new();
        if next.len() >= MIN_FOR_GROUPS {
            let needs = self.structure.needs(ranked);
            // A unit that needs others in order to build would only spoil the trials of the rest.
            let alone = |unit: &&Vec<ChangeId>| {
                let members = set(unit);
                unit.iter().filter_map(|id| needs.get(id)).all(|needed| needed.is_subset(&members))
            };
            let suspects: Vec<Vec<ChangeId>> =
                next.iter().filter(alone).take(SUSPECTS_PER_TRIAL * most).cloned().collect();
            let tried = self.group_test(&suspects, most)?;
            cleared = tried.cleared;
            if let Some(candidates) = tried.passing {
                let units = self.structure.whole_units(&candidates);
                let least = self.narrow(units, set(&candidates))?;
                if self.conclude(&least, ranked)? {
                    return Ok(true);
                }
            }
        }
        let mut tries = Vec::new();
        for n in 0..MAX_ALONE {
            tries.extend(functions.get(n + FIRST_FUNCTIONS).filter(|_| n < most).cloned());
            tries.extend(next.get(n).filter(|unit| unit.iter().any(|id| !cleared.contains(id))).cloned());
        }
        self.each(tries, Completion::ByDiagnostics, ranked)
    }

    /// The shortest passing prefix of the list, then a minimal part of it.
    fn passing_prefix(&mut self, units: &[Vec<ChangeId>], ranked: &[ChangeId]) -> Result<bool, T::Error> {
        if self.exhausted() || self.best.is_some() {
            return Ok(false);
        }
        match self.shortest_passing_prefix(units, usize::MAX)? {
            Some(passing) => self.conclude(&passing, ranked),
            None => Ok(false),
        }
    }

    /// Tries prefixes of a list of units with increasing length, each also closed under build dependences,
    /// until one of at most `most` changes passes; then narrows it.
    pub(super) fn shortest_passing_prefix(
        &mut self,
        units: &[Vec<ChangeId>],
        most: usize,
    ) -> Result<Option<Passing>, T::Error> {
        let closed = self.structure.closed_units(units);
        let mut length = FIRST;
        loop {
            // The compiler's diagnostics mostly require fewer changes than the names suggest.
            for units in [units, &closed] {
                let list = &units[..length.min(units.len())];
                let candidates = set(&list.concat());
                if candidates.len() <= most
                    && let Some(full) = self.type_checked(&candidates, Completion::ByDiagnostics)?
                    && full.len() <= most
                    && self.outcome(&full)? == Outcome::Pass
                {
                    return self.narrow(list.to_vec(), full).map(Some);
                }
            }
            if length >= units.len() || self.exhausted() {
                return Ok(None);
            }
            length *= 2;
        }
    }

    /// The smallest set that breaks good, if no answer holds in both directions yet.
    fn smallest_in_good(&mut self, units: &[Vec<ChangeId>], ranked: &[ChangeId]) -> Result<bool, T::Error> {
        if self.exhausted() || units.len() < 2 || (self.best.is_some() && self.is_large_difference()) {
            return Ok(false);
        }
        let units = self.structure.closed_units(units);
        match self.smallest_sufficient(&units)? {
            Some(sufficient) => self.record_sufficient(&sufficient, ranked),
            None => Ok(false),
        }
    }

    /// rec(Δ, n) of AFTER, where Δ itself need not pass.
    fn partition(&mut self, ranked: &[ChangeId]) -> Result<Option<Passing>, T::Error> {
        let mut delta = ranked.to_vec();
        let mut best = None;
        let mut parts = 2;
        while delta.len() > 1 && !self.exhausted() {
            self.suspects = delta.len();
            let mut tries: Vec<Vec<ChangeId>> = Vec::new();
            for part in cut(self.structure, &delta, parts) {
                tries.push(part.to_vec());
                // With two halves, each is the complement of the other.
                if parts > 2 {
                    tries.push(without(&delta, part));
                }
            }
            if let Some(passing) = self.first_passing(tries)? {
                delta.clone_from(&passing.candidates);
                best = Some(passing);
                parts = 2;
            } else if parts >= delta.len() {
                break;
            } else {
                parts = (2 * parts).min(delta.len());
            }
        }
        match best {
            Some(passing) => Ok(Some(passing)),
            None => self.first_passing(vec![delta]),
        }
    }

    /// Reduces a passing list: the shortest passing prefix ends with a unit that is needed. That unit is
    /// kept, and the search continues with the units before it. For k needed units of n this takes about k
    /// log n trials. It keeps the most suspicious units where there is a choice.
    pub(super) fn narrow(
        &mut self,
        units: Vec<Vec<ChangeId>>,
        mut full: ChangeSet,
    ) -> Result<Passing, T::Error> {
        let mut rest = units;
        let mut needed: Vec<ChangeId> = Vec::new();
        while !rest.is_empty() && !self.exhausted() {
            self.suspects = needed.len() + rest.iter().map(Vec::len).sum::<usize>();
            if !needed.is_empty()
                && let Some(enough) = self.first_passing(vec![needed.clone()])?
            {
                return Ok(enough);
            }
            let (mut fails, mut passes) = (0, rest.len());
            while passes - fails > 1 && !self.exhausted() {
                let middle = fails.midpoint(passes);
                let shorter = [needed.as_slice(), &rest[..middle].concat()].concat();
                match self.first_passing(vec![shorter])? {
                    Some(shorter) => {
                        passes = middle;
                        full = shorter.full;
                    }
                    None => fails = middle,
                }
            }
            rest.truncate(passes);
            needed.extend(rest.pop().unwrap_or_default());
        }
        needed.extend(rest.concat());
        Ok(Passing { candidates: needed, full })
    }

    /// The first of these sets that passes as it is, else the first that passes after completion.
    pub(super) fn first_passing(&mut self, tries: Vec<Vec<ChangeId>>) -> Result<Option<Passing>, T::Error> {
        let sets: Vec<ChangeSet> = tries.iter().map(|list| set(list)).collect();
        let outcomes = self.ask(&sets, Some(Outcome::Pass))?;
        if outcomes.last() == Some(&Outcome::Pass) {
            let at = outcomes.len() - 1;
            return Ok(Some(Passing { candidates: tries[at].clone(), full: sets[at].clone() }));
        }
        for (at, outcome) in outcomes.into_iter().enumerate() {
            if outcome != Outcome::Broken || self.exhausted() {
                continue;
            }
            let Some(full) = self.completed(&sets[at])? else { continue };
            if self.outcome(&full)? == Outcome::Pass {
                return Ok(Some(Passing { candidates: tries[at].clone(), full }));
            }
        }
        Ok(None)
    }
}

fn distinct(list: &[ChangeId]) -> Vec<ChangeId> {
    let mut seen = ChangeSet::new();
    list.iter().copied().filter(|id| seen.insert(*id)).collect()
}
