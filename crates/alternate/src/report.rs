//! The result of a search.

use crate::facts::FactKind;
use crate::nearest::Nearest;
use crate::rerun::Ended;
use crate::side::{Both, Side};
use solver::Statistics;
use std::time::Duration;
use symbolic::{At, Index, Input, Origin};

/// One input byte that differs in an alternate input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// For example `stdin[3]`.
    pub name: String,
    /// Its value in the failing input.
    pub old: u8,
    /// Its value in the alternate input.
    pub new: u8,
}

/// The bytes of one origin, before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Where the bytes come from.
    pub origin: Origin,
    /// All bytes of the origin in the failing input.
    pub old: Vec<u8>,
    /// All bytes of the origin in the alternate input.
    pub new: Vec<u8>,
}

/// An input on which one version takes the path of the failing input and the other does not. Both have been
/// run with it.
#[derive(Clone, Debug)]
pub struct Alternate {
    /// The branch instance in the failing run.
    pub at: At,
    /// The execution index of that instance.
    pub index: Option<Index>,
    /// The condition that the failing input satisfies.
    pub condition: String,
    /// The condition that the alternate input satisfies.
    pub flipped: String,
    /// The bytes that differ, by origin and offset.
    pub changed: Vec<Changed>,
    /// Only the changed bytes.
    pub parts: Vec<Part>,
    /// The whole input, as each version can read it.
    pub input: Both<Input>,
    /// The output and status of both versions with it.
    pub ended: Both<Ended>,
    /// Whether both versions had the same output and status.
    pub passes: bool,
    /// Whether, in addition, they ended as the old version did with the recorded input. Otherwise, both may
    /// have failed alike.
    pub ends_as_old: bool,
}

/// A branch where the versions disagree about inputs close to the failing one.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The version the branch is in.
    pub side: Side,
    /// What kind of decision it is.
    pub what: FactKind,
    /// The path of its source file, as it was compiled.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1; 0 if unknown.
    pub column: u32,
    /// The linkage name of the function.
    pub function: String,
    /// Whether the other version ran a function of this name as well.
    pub shared: bool,
    /// A check of the old version, with an input that passes, in a function that the new version also ran,
    /// where no branch of the new version in this function has such an input: the new version lacks the
    /// check, or has a weaker one.
    pub omitted: bool,
    /// The condition of the best alternate input's instance, in the failing run.
    pub condition: String,
    /// The best first: those that pass and end as the old version did, others that pass, then those with few
    /// changes. Never empty.
    pub alternates: Vec<Alternate>,
    /// Number of instances of the branch that were skipped because enough was known.
    pub more: u64,
}

impl Candidate {
    /// Whether an alternate input passes.
    #[must_use]
    pub fn passes(&self) -> bool {
        self.alternates.iter().any(|a| a.passes)
    }

    /// Whether one passes and ends as the old version did with the recorded input.
    #[must_use]
    pub fn ends_as_old(&self) -> bool {
        self.alternates.iter().any(|a| a.ends_as_old)
    }

    /// The best alternate input.
    #[must_use]
    pub fn best(&self) -> Option<&Alternate> {
        self.alternates.first()
    }
}

/// Statistics of one direction.
#[derive(Clone, Debug)]
pub struct Searched {
    /// The version whose branches were tried.
    pub side: Side,
    /// Whether values that are not followed were allowed to change. Inputs found are equally good; finding
    /// none means nothing.
    pub relaxed: bool,
    /// Number of conditions, choices and predicates of the version.
    pub conditions: u64,
    /// Number of these that are decisions.
    pub decisions: u64,
    /// Decisions that were skipped because no output depends on them.
    pub irrelevant: u64,
    /// Queries made: decisions that are not repeated.
    pub asked: u64,
    /// Queries whose answer is that no such input exists.
    pub impossible: u64,
    /// Inputs that a solver proposed.
    pub found: u64,
    /// Inputs of these that runs confirmed.
    pub confirmed: u64,
    /// Inputs with which the programs took an unexpected path.
    pub rejected: u64,
    /// Inputs with which the programs could not be run.
    pub untried: u64,
    /// Queries without an answer.
    pub unknown: u64,
    /// Queries not made because time was up.
    pub unasked: u64,
    /// The first reasons for inputs that are unknown, untried or rejected.
    pub reasons: Vec<String>,
    /// Time for the direction, including runs.
    pub time: Duration,
    /// The solvers' work.
    pub statistics: Statistics,
}

impl Searched {
    pub(crate) fn new(side: Side, relaxed: bool) -> Searched {
        Searched {
            side,
            relaxed,
            conditions: 0,
            decisions: 0,
            irrelevant: 0,
            asked: 0,
            impossible: 0,
            found: 0,
            confirmed: 0,
            rejected: 0,
            untried: 0,
            unknown: 0,
            unasked: 0,
            reasons: Vec::new(),
            time: Duration::ZERO,
            statistics: Statistics::default(),
        }
    }

    /// Records a reason unless it is known or there are enough.
    pub(crate) fn reason(&mut self, reason: String) {
        if self.reasons.len() < 5 && !self.reasons.contains(&reason) {
            self.reasons.push(reason);
        }
    }

    /// Whether every query has been answered.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.rejected + self.untried + self.unknown + self.unasked + self.irrelevant == 0
    }
}

/// The overall result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// There are candidates.
    Found,
    /// In both versions exactly the same inputs take the path of the failing input: the fault does not affect
    /// branches.
    Equal,
    /// Nothing was found, but not all queries have an answer, or answers hold only while `fixed` values that
    /// are not followed do not change.
    /// Nothing is known for certain.
    Undecided {
        /// Number of values that are not followed, over both versions.
        fixed: usize,
    },
}

/// See the module's documentation.
#[derive(Clone, Debug)]
pub struct Report {
    /// Whether anything was found.
    pub verdict: Verdict,
    /// The most likely first: those that pass, of them those that end as the old version did; code that both
    /// versions ran; checks that the new version omits; the fewest changed bytes.
    pub candidates: Vec<Candidate>,
    /// If no candidate passes and ends as the old version did, and one was found.
    pub nearest: Option<Nearest>,
    /// Statistics of each direction, in the order of the search; those of relaxed searches come last.
    pub searched: Vec<Searched>,
    /// The output and status of both versions with the recorded input.
    pub ended: Both<Ended>,
    /// The recorded input.
    pub input: Both<Input>,
    /// Files that each version writes to.
    pub written: Both<Vec<String>>,
    /// Number of input bytes that are variables.
    pub bytes: usize,
    /// Time to follow the input of both runs.
    pub followed: Duration,
    /// Time for running programs again.
    pub ran: Duration,
    /// Number of runs of either version, including those with the recorded input.
    pub runs: u64,
}

impl Report {
    /// The alternate input that passes and is closest to the failing one.
    #[must_use]
    pub fn nearest_passing(&self) -> Option<&Alternate> {
        let all = self.candidates.iter().flat_map(|c| &c.alternates).filter(|a| a.passes);
        all.min_by_key(|a| a.changed.len())
    }
}
