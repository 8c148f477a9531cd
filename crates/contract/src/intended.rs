//! The intended changes of behaviour, for analyses of the differences between runs.
//!
//! A pair of calls differs as intended if a case of the function's contract applies to it and no clause is
//! violated. Everything inside such calls is intended. Everything after they have returned is not: a caller
//! that cannot handle a changed result may be the regression.

use crate::checking::Checking;
use explain::meant::MeantFunction;
use std::collections::BTreeMap;

/// A call in a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// Index of the process in its recording.
    pub process: usize,
    /// Number of the stream in its process.
    pub stream: u32,
    /// Steps of its first and last instruction.
    pub steps: (u64, u64),
    /// The number of the function entry of the stream that began it, from 1.
    pub entered: u64,
    /// The process ended during the call.
    pub ends_process: bool,
}

/// A call in both versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallPair {
    /// The readable name of the function.
    pub function: String,
    /// The call in good.
    pub good: Span,
    /// The call in bad.
    pub bad: Span,
}

/// The contracts' verdicts about two runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Intended {
    /// Pairs of calls that changed as their contract specifies.
    pub fulfilled: Vec<CallPair>,
    /// Pairs of calls that changed otherwise, or that may not change at all.
    pub violated: Vec<CallPair>,
    /// Functions of these runs that have a contract.
    pub functions: Vec<String>,
    /// Sentences about what is known in part only.
    pub notes: Vec<String>,
}

impl Intended {
    /// Functions that themselves differ: a pair of calls with equal entry states violates the contract, and
    /// no callee in it changed as its contract specifies.
    #[must_use]
    pub fn unexplained(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for outer in &self.violated {
            let is_inside = |inner: &CallPair| {
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

    /// The beginnings of the calls that changed as their contract specifies, in good (0) or bad (1): by
    /// stream, the numbers of function entries, in order.
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

    /// Whether a contract covers the end of the process.
    #[must_use]
    pub fn covers_process_end(&self) -> bool {
        self.fulfilled.iter().any(|pair| pair.good.ends_process || pair.bad.ends_process)
    }
}

impl Checking<'_> {
    /// Functions with a contract that changed as it specifies and never otherwise.
    #[must_use]
    pub fn meant_functions(&self) -> Vec<MeantFunction> {
        let calls =
            |pairs: &[CallPair], name: &str| pairs.iter().filter(|pair| pair.function == name).count();
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

    /// The intended changes. It is not an error here if a function is never called or does not exist.
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
