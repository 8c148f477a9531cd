//! Combines the results of all pairs of calls.

use crate::answer::{Answer, CaseAnswer, Proof, ProofStatus, SCHEMA, Verdict};
use crate::checking::{Checked, Checking};
use crate::error::{Error, Result};
use crate::language::Place;
use std::collections::BTreeMap;

impl Checking<'_> {
    /// Whether there was nothing to check.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }

    /// Whether some call violates its contract.
    #[must_use]
    pub fn is_violated(&self) -> bool {
        !self.violated.is_empty()
    }

    /// Pairs of calls that were judged.
    #[must_use]
    pub fn pairs(&self) -> u64 {
        self.functions.values().map(|checked| checked.answer.counted.pairs()).sum()
    }

    /// The answer, except for the versions' names, the tests and the time.
    ///
    /// # Errors
    /// If a requested function does not exist or was never called.
    pub fn finish(mut self) -> Result<Answer> {
        // A name may be known to one process only.
        self.missing.retain(|error| match error {
            Error::NoFunction { name, .. } | Error::Opaque { name, .. } => {
                let is_it = |known: &str| known == name || known.ends_with(&format!("::{name}"));
                !self.functions.values().any(|c| is_it(&c.answer.name) && c.answer.calls != [0, 0])
            }
            // A header may define a function in some processes only.
            Error::NoFunctionFollows { place } => {
                let is_it =
                    |known: &Place| known.source.file == place.source.file && known.start == place.start;
                !self.functions.values().any(|c| is_it(&c.contract.place))
            }
            _ => true,
        });
        if !self.missing.is_empty() {
            return Err(self.missing.swap_remove(0));
        }
        if self.functions.is_empty() {
            return Err(Error::NothingToCheck);
        }
        let whole = self.wanted.unchanged.as_ref().is_some_and(Vec::is_empty);
        for checked in self.functions.values() {
            let [good, bad] = checked.answer.calls;
            if (good == 0 || bad == 0) && (checked.is_written || !whole) {
                let name = checked.answer.name.clone();
                return Err(Error::NeverCalled { name, good: good > 0, bad: bad > 0 });
            }
        }
        Ok(self.answer())
    }

    /// The same for the functions that were called.
    #[must_use]
    pub fn answer(self) -> Answer {
        let whole = self.wanted.unchanged.as_ref().is_some_and(Vec::is_empty);
        let mut answer =
            Answer { schema: SCHEMA, notes: self.notes, judging: self.judging, ..Answer::default() };
        answer.notes.dedup();
        let follows = follows(&self.functions);
        for (name, mut checked) in self.functions {
            for (n, from) in follows.get(&name).into_iter().flatten() {
                checked.answer.violations[*n].follows = Some(from.clone());
            }
            let mut f = checked.answer;
            f.cases = checked
                .contract
                .cases
                .iter()
                .zip(&checked.applied)
                .map(|(case, applied)| CaseAnswer { place: case.place.to_string(), applied: *applied })
                .collect();
            let status = f.proof.as_ref().map(|proof| proof.status);
            // For a function that was not named, a state that no test reaches is only reported.
            let is_asked = f.contract.is_some() || !whole;
            f.verdict = if f.violated > 0 || is_asked && status == Some(ProofStatus::Refuted) {
                Verdict::Violated
            } else if f.untold == 0 && f.proof.as_ref().is_some_and(is_certain) {
                Verdict::Holds
            } else if f.counted.pairs() == 0 || f.untold > 0 {
                Verdict::Unknown
            } else {
                Verdict::Holds
            };
            answer.functions.push(f);
        }
        let has = |verdict: Verdict| {
            answer.functions.iter().any(|f| {
                f.verdict == verdict && (f.contract.is_some() || !whole || verdict == Verdict::Violated)
            })
        };
        answer.verdict = match (has(Verdict::Violated), has(Verdict::Unknown)) {
            (true, _) => Verdict::Violated,
            (_, true) => Verdict::Unknown,
            _ => Verdict::Holds,
        };
        if whole {
            let [good, bad] = &self.calls;
            let only = |one: &BTreeMap<String, u64>, other: &BTreeMap<String, u64>| {
                let is_only = |name: &String| other.get(name).copied().unwrap_or(0) == 0;
                one.iter()
                    .filter(|(name, calls)| **calls > 0 && is_only(name))
                    .map(|(name, _)| name.clone())
                    .collect()
            };
            (answer.only_good, answer.only_bad) = (only(good, bad), only(bad, good));
        }
        answer
    }
}

/// A proof without assumptions needs no calls.
fn is_certain(proof: &Proof) -> bool {
    proof.status == ProofStatus::Proved && proof.assumes.is_empty()
}

/// Violations of callers that contain a violation of another function: by function, the number of the
/// violation and the other function.
fn follows(functions: &BTreeMap<String, Checked>) -> BTreeMap<String, Vec<(usize, String)>> {
    let mut all: BTreeMap<String, Vec<(usize, String)>> = BTreeMap::new();
    for (name, checked) in functions {
        for (n, (test, stream, outer)) in checked.steps.iter().enumerate() {
            let mut inner: Vec<(u64, &String)> = Vec::new();
            for (other, checked) in functions.iter().filter(|(other, _)| *other != name) {
                let inside = checked.steps.iter().filter(|(t, s, steps)| {
                    t == test && s == stream && steps.0 > outer.0 && steps.1 <= outer.1
                });
                inner.extend(inside.map(|(_, _, steps)| (steps.1 - steps.0, other)));
            }
            // The innermost one is the origin.
            if let Some((_, from)) = inner.into_iter().min() {
                all.entry(name.clone()).or_default().push((n, from.clone()));
            }
        }
    }
    all
}
