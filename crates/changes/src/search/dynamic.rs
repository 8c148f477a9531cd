//! Which of the candidates are guilty: rec(Δ, n).
//!
//! Only passing trials carry information. Classic delta debugging also trusts
//! failing ones and so misses causes that need two changes reverted together.
//! A set that does not build is completed by auxiliary changes and tried again.

use super::{Found, Search, Stage, cut, list, set, without};
use crate::change::{ChangeId, ChangeSet};
use crate::outcome::{Outcome, Trials};

/// Candidates that are tried alone, as they are, before anything else: one
/// trial each, and a set that does not build costs little more than nothing. Of
/// a large difference one in so many, but no more than so many.
const TRIED_ALONE: usize = 24;
const ONE_IN: usize = 40;
const MOST_ALONE: usize = 120;
/// With so many more candidates, several are tried at once.
const IN_COMPANY: usize = 16;
/// The first few are so likely that all else waits for them.
const BEFORE_FUNCTIONS: usize = 8;
/// Candidates that are worth the search for what must be reverted with them.
const COMPLETED_ALONE: usize = 4;
const COMPLETED_FUNCTIONS: usize = 3;

/// Candidates whose reversion, with everything else in `full`, passes.
#[derive(Debug)]
pub(super) struct Passing {
    pub candidates: Vec<ChangeId>,
    pub full: ChangeSet,
}

impl<T: Trials> Search<'_, T> {
    /// The method of the paper over candidates nobody has ranked: partition
    /// until no smaller part passes. None if no set that was tried passes.
    ///
    /// # Errors
    /// If a trial cannot be carried out.
    pub fn dynamic(&mut self, candidates: &ChangeSet) -> Result<Option<Found>, T::Error> {
        let order = list(candidates);
        match self.partition(order.clone())? {
            Some(passing) => self.finish(passing, &order).map(Some),
            None => Ok(None),
        }
    }

    /// As [`Search::dynamic`] with candidates in the order of suspicion, the
    /// most suspicious first: mostly one of the first few is it, so these are
    /// tried alone, then ever longer beginnings of the list. If the list holds
    /// all changes there are, something is always found, for good passes.
    ///
    /// # Errors
    /// If a trial cannot be carried out.
    pub fn dynamic_ranked(&mut self, ranked: &[ChangeId]) -> Result<Option<Found>, T::Error> {
        let ranked = distinct(ranked);
        if ranked.is_empty() {
            return Ok(None);
        }
        self.suspects = ranked.len();
        let tries = |most: usize| -> Vec<Vec<ChangeId>> {
            first_tries(ranked.len().min(most)).into_iter().map(|range| ranked[range].to_vec()).collect()
        };
        let functions = self.structure.functions(&ranked);
        let mut passing = self.first_as_it_is(&tries(BEFORE_FUNCTIONS))?;
        for function in functions.iter().take(COMPLETED_FUNCTIONS) {
            if passing.is_none() && !self.exhausted() {
                passing = self.as_asked_for(function)?;
            }
        }
        if passing.is_none() && !self.exhausted() {
            let most = (ranked.len() / ONE_IN).clamp(TRIED_ALONE, MOST_ALONE) - BEFORE_FUNCTIONS;
            passing = self.each_alone(&ranked, &functions, most)?;
        }
        if passing.is_none() && !self.exhausted() {
            passing = self.first_passing(tries(COMPLETED_ALONE))?;
        }
        let mut passing = match passing {
            // Parts of a function seldom build; it is made smaller as a whole, and
            // nothing says yet which of it is guilty.
            Some(passing) if functions.contains(&passing.candidates) => {
                Some(Passing { candidates: Vec::new(), ..passing })
            }
            Some(passing) => Some(self.narrow(singles(passing.candidates), passing.full)?),
            None => None,
        };
        if passing.is_none() && !self.exhausted() {
            passing = self.long_beginnings(&ranked)?;
        }
        if passing.is_none() {
            passing = self.partition(ranked.clone())?;
        }
        let Some(passing) = passing else { return Ok(None) };
        self.finish(passing, &ranked).map(Some)
    }

    /// The next of the list, in company where there are many, then each alone,
    /// and the functions that were rewritten.
    fn each_alone(
        &mut self,
        ranked: &[ChangeId],
        functions: &[Vec<ChangeId>],
        most: usize,
    ) -> Result<Option<Passing>, T::Error> {
        let next = ranked.get(BEFORE_FUNCTIONS..).unwrap_or_default();
        let needs = self.structure.needs(ranked);
        let mut cleared = ChangeSet::new();
        if next.len() >= IN_COMPANY {
            // What needs others so that it builds only spoils the trials of the rest.
            let builds =
                |id: &ChangeId| needs.get(id).is_none_or(|needed| needed.iter().all(|other| other == id));
            let suspects: Vec<ChangeId> = next.iter().copied().filter(builds).take(2 * most).collect();
            let tried = self.together(&suspects, most)?;
            if let Some(candidates) = tried.passing {
                return Ok(Some(Passing { full: set(&candidates), candidates }));
            }
            cleared = tried.cleared;
        }
        // A function that was rewritten goes back as a whole, if it seems to build so.
        let closed = |function: &&Vec<ChangeId>| {
            let members = set(function);
            function.iter().filter_map(|id| needs.get(id)).all(|needed| needed.is_subset(&members))
        };
        let whole: Vec<&Vec<ChangeId>> = functions.iter().filter(closed).collect();
        let mut alone = Vec::new();
        for n in 0..most {
            alone.extend(whole.get(n).map(|function| (*function).clone()));
            alone.extend(next.get(n).filter(|id| !cleared.contains(id)).map(|id| vec![*id]));
        }
        self.first_as_it_is(&alone)
    }

    /// Ever longer beginnings of the list, in units of what builds together,
    /// until one passes; then the least of it.
    fn long_beginnings(&mut self, ranked: &[ChangeId]) -> Result<Option<Passing>, T::Error> {
        let units = self.structure.closed_units(ranked);
        let lengths = long_tries(units.len());
        let tries: Vec<Vec<ChangeId>> = lengths.iter().map(|length| units[..*length].concat()).collect();
        let Some(passing) = self.first_passing(tries.clone())? else { return Ok(None) };
        let at = tries.iter().position(|list| *list == passing.candidates).unwrap_or(tries.len() - 1);
        let units = units[..lengths[at]].to_vec();
        let in_units = self.narrow(units, passing.full)?;
        // A unit may be guilty because of one of its members.
        self.narrow(singles(in_units.candidates), in_units.full).map(Some)
    }

    /// rec(Δ, n), where Δ need not pass itself.
    fn partition(&mut self, mut delta: Vec<ChangeId>) -> Result<Option<Passing>, T::Error> {
        let mut best = None;
        let mut parts = 2;
        self.suspects = delta.len();
        while delta.len() > 1 && !self.exhausted() {
            let mut tries: Vec<Vec<ChangeId>> = Vec::new();
            for part in cut(self.structure, &delta, parts) {
                tries.push(part.to_vec());
                // Of two halves each is the other's rest.
                if parts > 2 {
                    tries.push(without(&delta, part));
                }
            }
            if let Some(passing) = self.first_passing(tries)? {
                delta.clone_from(&passing.candidates);
                self.suspects = delta.len();
                best = Some(passing);
                parts = 2;
            } else if parts >= delta.len() {
                break;
            } else {
                parts = (2 * parts).min(delta.len());
            }
        }
        if best.is_none() {
            return self.first_passing(vec![delta]);
        }
        Ok(best)
    }

    /// Of a list that passes, the least: the shortest passing beginning ends
    /// with a unit that is needed; keep that one and go on with what stands
    /// before it. For k needed units of n this takes about k log n trials, and
    /// it keeps the most suspicious where there is a choice.
    fn narrow(&mut self, units: Vec<Vec<ChangeId>>, mut full: ChangeSet) -> Result<Passing, T::Error> {
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

    /// The first of these sets that passes as it is, else the first that passes
    /// when it is completed so that it builds.
    pub(super) fn first_passing(&mut self, tries: Vec<Vec<ChangeId>>) -> Result<Option<Passing>, T::Error> {
        if let Some(passing) = self.first_as_it_is(&tries)? {
            return Ok(Some(passing));
        }
        let sets: Vec<ChangeSet> = tries.iter().map(|list| set(list)).collect();
        let outcomes = self.ask(&sets, Some(Outcome::Pass))?;
        for (at, outcome) in outcomes.into_iter().enumerate() {
            if outcome != Outcome::Broken || self.exhausted() {
                continue;
            }
            let full = &sets[at] | &self.auxiliary(&sets[at])?;
            if self.outcome(&full)? == Outcome::Pass {
                return Ok(Some(Passing { candidates: tries[at].clone(), full }));
            }
        }
        Ok(None)
    }

    /// A set as it is or, if it does not build, with what the compiler asks for.
    fn as_asked_for(&mut self, list: &[ChangeId]) -> Result<Option<Passing>, T::Error> {
        let mut full = set(list);
        if self.outcome(&full)? == Outcome::Broken {
            let added = self.during(Stage::Auxiliary, |search| search.follow_complaints(&full))?;
            full.extend(added.unwrap_or_default());
        }
        let passes = self.outcome(&full)? == Outcome::Pass;
        Ok(passes.then(|| Passing { candidates: list.to_vec(), full }))
    }

    /// The first of these sets that passes without anything added.
    fn first_as_it_is(&mut self, tries: &[Vec<ChangeId>]) -> Result<Option<Passing>, T::Error> {
        let sets: Vec<ChangeSet> = tries.iter().map(|list| set(list)).collect();
        let at = self.first(&sets, Outcome::Pass)?;
        Ok(at.map(|at| Passing { candidates: tries[at].clone(), full: sets[at].clone() }))
    }

    /// From a set that passes to an answer: 1-minimal, in root and auxiliary.
    pub(super) fn finish(&mut self, passing: Passing, ranked: &[ChangeId]) -> Result<Found, T::Error> {
        let order: Vec<ChangeId> = passing.candidates.iter().chain(ranked).copied().collect();
        let mut least = self.one_minimal(&passing.full, &order)?;
        let mut claimed: ChangeSet = &set(&passing.candidates) & &least;
        loop {
            let fewer = self.drop_clusters(&least, &claimed, &order)?;
            if fewer == least {
                break;
            }
            least = self.one_minimal(&fewer, &order)?;
            claimed = &claimed & &least;
        }
        self.during(Stage::Shrinking, |search| search.roles(least, claimed, &order))
    }
}

fn distinct(list: &[ChangeId]) -> Vec<ChangeId> {
    let mut seen = ChangeSet::new();
    list.iter().copied().filter(|id| seen.insert(*id)).collect()
}

/// The first few alone, and the pairs and quartets they make.
fn first_tries(length: usize) -> Vec<std::ops::Range<usize>> {
    let mut tries = Vec::new();
    for alone in 0..length {
        tries.push(alone..alone + 1);
        if matches!(alone, 1 | 3) {
            tries.push(0..alone + 1);
        }
    }
    tries
}

/// Lengths of ever longer beginnings, and at last all.
fn long_tries(length: usize) -> Vec<usize> {
    let mut tries = Vec::new();
    let mut end = 2 * COMPLETED_ALONE;
    while end < length {
        tries.push(end);
        end *= 2;
    }
    tries.push(length);
    tries
}

fn singles(list: Vec<ChangeId>) -> Vec<Vec<ChangeId>> {
    list.into_iter().map(|id| vec![id]).collect()
}
