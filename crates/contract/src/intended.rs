//! What a change was meant to change, for those who look at differences between runs.
//!
//! A pair of calls differs as it should if a case of the function's contract applies to it and nothing
//! of the contract is violated. What happens inside such calls is meant. What happens after they have
//! returned is not: a caller that cannot deal with a changed result is what a regression may be.

use crate::checking::Checking;
use explain::meant::MeantFunction;
use std::collections::BTreeMap;

/// A call in a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    pub process: usize,
    pub stream: u32,
    /// Steps of its first and last instruction.
    pub steps: (u64, u64),
    /// Which of the stream's entries into functions began it, from 1.
    pub entered: u64,
    /// The process ended inside of it.
    pub ends_process: bool,
}

/// A call in both versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairOfCalls {
    pub function: String,
    pub good: Span,
    pub bad: Span,
}

/// What contracts say of two runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Intended {
    /// Pairs of calls that changed as their contract says.
    pub fulfilled: Vec<PairOfCalls>,
    /// Pairs of calls that changed in another way, or that may not change at all.
    pub violated: Vec<PairOfCalls>,
    /// Functions of these runs that have a contract.
    pub functions: Vec<String>,
    pub notes: Vec<String>,
}

impl Intended {
    /// Functions that differ by themselves: in a pair of calls with equal entry states that violates
    /// its contract, and in which nothing was called that changed as its contract says.
    #[must_use]
    pub fn unexplained(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for outer in &self.violated {
            let is_inside = |inner: &PairOfCalls| {
                let (inner, outer) = (&inner.bad, &outer.bad);
                inner.process == outer.process
                    && inner.stream == outer.stream
                    && inner.steps.0 >= outer.steps.0
                    && inner.steps.1 <= outer.steps.1
            };
            let is_known = names.contains(&outer.function.as_str());
            if !is_known && !self.fulfilled.iter().any(is_inside) {
                names.push(&outer.function);
            }
        }
        names
    }

    /// Where the calls begin that changed as their contract says, in good (0) or bad (1): by stream,
    /// numbers of entries into functions, in order.
    #[must_use]
    pub fn starts(&self, side: usize) -> BTreeMap<u32, Vec<u64>> {
        let mut starts: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        for pair in &self.fulfilled {
            let span = [&pair.good, &pair.bad][side.min(1)];
            starts.entry(span.stream).or_default().push(span.entered);
        }
        starts.values_mut().for_each(|of| of.sort_unstable());
        starts
    }

    /// Whether a contract speaks of how the process ends.
    #[must_use]
    pub fn speaks_of_the_end(&self) -> bool {
        self.fulfilled.iter().any(|pair| pair.good.ends_process || pair.bad.ends_process)
    }
}

impl Checking<'_> {
    /// Functions with a contract that changed as it says, and not once in another way.
    #[must_use]
    pub fn meant_functions(&self) -> Vec<MeantFunction> {
        let calls =
            |pairs: &[PairOfCalls], name: &str| pairs.iter().filter(|pair| pair.function == name).count();
        self.functions
            .iter()
            .filter(|(_, checked)| checked.is_written && checked.answer.untold == 0)
            .filter_map(|(name, checked)| {
                let (file, lines) = checked.place.clone()?;
                let (fulfilled, violated) = (calls(&self.fulfilled, name), calls(&self.violated, name));
                let function = MeantFunction { name: name.clone(), file, lines, calls: fulfilled as u64 };
                (fulfilled > 0 && violated == 0).then_some(function)
            })
            .collect()
    }

    /// What was meant; that a function is never called, or not there, does not matter here.
    #[must_use]
    pub fn intended(self) -> Intended {
        let with_contract = self.functions.into_iter().filter(|(_, checked)| checked.is_written);
        let functions = with_contract.map(|(name, _)| name).collect();
        let mut notes = self.notes;
        notes.sort();
        notes.dedup();
        Intended { fulfilled: self.fulfilled, violated: self.violated, functions, notes }
    }
}
