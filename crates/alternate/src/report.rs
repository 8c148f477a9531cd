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
    pub old: u8,
    pub new: u8,
}

/// The bytes of one origin, before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub origin: Origin,
    pub old: Vec<u8>,
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
    pub changed: Vec<Changed>,
    /// Only the changed bytes.
    pub parts: Vec<Part>,
    /// The whole input, as each version can read it.
    pub input: Both<Input>,
    /// The output and status of both versions with it.
    pub ended: Both<Ended>,
    /// Whether both versions had the same output and status.
    pub passes: bool,
}

/// A branch where the versions disagree about inputs close to the failing one.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The version the branch is in.
    pub side: Side,
    pub what: FactKind,
    pub file: String,
    pub line: u32,
    pub column: u32,
    pub function: String,
    /// Whether the other version ran a function of this name as well.
    pub shared: bool,
    /// A check of the old version, with an input that passes, in a function that the new version also ran,
    /// where no branch of the new version in this function has such an input: the new version lacks the
    /// check, or has a weaker one.
    pub omitted: bool,
    /// The condition of the best alternate input's instance, in the failing run.
    pub condition: String,
    /// The best first: those that pass, then those with few changes. Never empty.
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
    /// Conditions of the version, and the decisions among them.
    pub conditions: u64,
    pub decisions: u64,
    /// Decisions that were skipped because no output depends on them.
    pub irrelevant: u64,
    /// Queries made: decisions that are not repeated.
    pub asked: u64,
    pub impossible: u64,
    /// Inputs found, and confirmed by runs.
    pub found: u64,
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
    pub time: Duration,
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
    Undecided { fixed: usize },
}

/// See the module's documentation.
#[derive(Clone, Debug)]
pub struct Report {
    pub verdict: Verdict,
    /// The most likely first: those that pass; code that both versions ran; checks that the new version
    /// omits; the fewest changed bytes.
    pub candidates: Vec<Candidate>,
    /// If no candidate passes, and one was found.
    pub nearest: Option<Nearest>,
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
    /// Time for running programs again, and the number of runs.
    pub ran: Duration,
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
