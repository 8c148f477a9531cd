//! What was found.

use crate::facts::What;
use crate::rerun::Ended;
use crate::side::{Both, Side};
use solver::Statistics;
use std::time::Duration;
use symbolic::{At, Index, Input, Origin};

/// One input byte that is another one in an alternate input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// Such as `stdin[3]`.
    pub name: String,
    pub old: u8,
    pub new: u8,
}

/// The bytes of one origin, as they were and as they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub origin: Origin,
    pub old: Vec<u8>,
    pub new: Vec<u8>,
}

/// An input on which one version takes the way of the failing input and the other does not. Both
/// have been run with it.
#[derive(Clone, Debug)]
pub struct Alternate {
    /// The branch instance: when it ran in the failing run.
    pub at: At,
    /// The execution index of that instance.
    pub index: Option<Index>,
    /// What the input bytes fulfil in the failing run.
    pub condition: String,
    /// What they fulfil now.
    pub flipped: String,
    pub changed: Vec<Changed>,
    /// Only what has changed.
    pub parts: Vec<Part>,
    /// The whole input, as each version can read it.
    pub input: Both<Input>,
    /// How both versions ended with it.
    pub ended: Both<Ended>,
    /// Both versions gave the same output and ended the same way.
    pub passes: bool,
}

/// A branch where the versions disagree about inputs near to the failing one.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The version the branch is in.
    pub side: Side,
    pub what: What,
    pub file: String,
    pub line: u32,
    pub column: u32,
    pub function: String,
    /// The other version ran a function of this name as well.
    pub shared: bool,
    /// A check of the old version, with an input that passes, in a function that the new version ran
    /// too, where no branch of the new version in this function has such an input: the new version
    /// lacks the check, or has a weaker one.
    pub omitted: bool,
    /// The condition of the best alternate input's instance, as it was in the failing run.
    pub condition: String,
    /// The best first: those that pass, then those with few changes. Never empty.
    pub alternates: Vec<Alternate>,
    /// Instances of the branch that were not asked about because enough was known.
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

/// What was done in one direction.
#[derive(Clone, Debug)]
pub struct Searched {
    /// Whose branches were looked at.
    pub side: Side,
    /// Values that are not followed were allowed to change: what is found so is as good, that nothing
    /// is found means nothing.
    pub relaxed: bool,
    /// Conditions of the version, and those of them that decide something.
    pub conditions: u64,
    pub decisions: u64,
    /// Decisions that were left out since no output depends on them.
    pub irrelevant: u64,
    /// Questions asked: decisions that are not repeated.
    pub asked: u64,
    pub impossible: u64,
    /// Inputs found, and what became of them.
    pub found: u64,
    pub confirmed: u64,
    /// The programs went another way with it than expected.
    pub rejected: u64,
    /// The programs could not be run with it.
    pub untried: u64,
    /// Questions without an answer.
    pub unknown: u64,
    /// Questions not asked because time was up.
    pub unasked: u64,
    /// The first reasons for what is unknown, untried or rejected.
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

    /// Keeps a reason unless it is known or there are enough.
    pub(crate) fn reason(&mut self, reason: String) {
        if self.reasons.len() < 5 && !self.reasons.contains(&reason) {
            self.reasons.push(reason);
        }
    }

    /// Whether every question has got its answer.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.rejected + self.untried + self.unknown + self.unasked + self.irrelevant == 0
    }
}

/// What all of it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// There are candidates.
    Found,
    /// Exactly the same inputs take the way of the failing input in both versions: the error does not
    /// show in branches.
    Equal,
    /// Nothing was found, but not all questions have an answer, or answers hold only as long as
    /// `fixed` values that are not followed stay as they were.
    Undecided { fixed: usize },
}

/// See the module's documentation.
#[derive(Clone, Debug)]
pub struct Report {
    pub verdict: Verdict,
    /// The most likely first: what passes; code that both versions ran; checks that the new version
    /// omits; what changes least of the input.
    pub candidates: Vec<Candidate>,
    pub searched: Vec<Searched>,
    /// How both versions end with the recorded input.
    pub ended: Both<Ended>,
    /// The recorded input.
    pub input: Both<Input>,
    /// Files that each version writes to.
    pub written: Both<Vec<String>>,
    /// Input bytes that both versions know.
    pub bytes: usize,
    /// Time to follow the input of both runs.
    pub followed: Duration,
    /// Time spent running programs again, and how often.
    pub ran: Duration,
    pub runs: u64,
}

impl Report {
    /// The alternate input that passes and is nearest to the failing one.
    #[must_use]
    pub fn nearest_passing(&self) -> Option<&Alternate> {
        let all = self.candidates.iter().flat_map(|c| &c.alternates).filter(|a| a.passes);
        all.min_by_key(|a| a.changed.len())
    }
}
