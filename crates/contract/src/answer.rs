//! What a check found, as data.

use crate::compare::Difference;
use crate::moment::Shown;
use serde::Serialize;

/// The name of the schema.
pub const SCHEMA: &str = "relapse.contract/1";

/// All of it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Answer {
    pub schema: &'static str,
    pub good: String,
    pub bad: String,
    pub tests: Vec<TestRun>,
    pub functions: Vec<FunctionAnswer>,
    /// Functions that only one version calls, if the whole program was looked at.
    pub only_good: Vec<String>,
    pub only_bad: Vec<String>,
    pub verdict: Verdict,
    pub notes: Vec<String>,
    pub seconds: f64,
    /// Seconds that pairing and judging took, of these.
    pub judging: f64,
}

/// How a test ended in both versions.
#[derive(Clone, Debug, Serialize)]
pub struct TestRun {
    pub command: String,
    pub good: String,
    pub bad: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    Holds,
    Violated,
    /// No violation, but of some function no pair counted, or something could not be told.
    #[default]
    Unknown,
}

/// One function.
#[derive(Clone, Debug, Default, Serialize)]
pub struct FunctionAnswer {
    pub name: String,
    /// Where it begins in bad.
    pub place: String,
    /// Where its contract stands; none if nothing may change.
    pub contract: Option<String>,
    pub verdict: Verdict,
    pub calls: [u64; 2],
    /// Pairs with equal entry states: by execution index, and by their entry state alone.
    pub counted: Counted,
    pub cases: Vec<CaseAnswer>,
    pub violated: u64,
    /// The first of them.
    pub violations: Vec<ViolationAnswer>,
    /// Pairs of which something could not be told, and the first reasons.
    pub untold: u64,
    pub untold_why: Vec<String>,
    pub notes: Vec<String>,
    /// What is known beyond the calls that were seen, once the function is not violated.
    pub proof: Option<Proof>,
}

/// Whether a function is as its contract says in all states.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Proof {
    pub status: ProofStatus,
    /// Paths in good and in bad.
    pub paths: [u64; 2],
    /// What is taken for true of all states.
    pub assumes: Vec<String>,
    /// A state in which it is not as its contract says, found by the solver.
    pub state: Vec<Shown>,
    /// How a call from this state ended in good and in bad, if both were run.
    pub ended: Option<[String; 2]>,
    /// What differed afterwards.
    pub differences: Vec<Difference>,
    /// Why nothing could be proved, or the state not be run.
    pub why: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProofStatus {
    Proved,
    /// There is a state in which it does not hold: both versions were run from it.
    Refuted,
    /// The solver found a state in which it does not hold, but no run could be made from it.
    Unconfirmed,
    /// Nobody could tell.
    #[default]
    Open,
}

/// Which calls counted, and why others did not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counted {
    pub by_index: u64,
    pub by_state: u64,
    /// Pairs whose entry states differ, and how the first one does.
    pub differing: u64,
    pub first_difference: Option<Difference>,
    pub first_differing_call: Option<CallPlace>,
    /// Calls without a partner.
    pub only_good: u64,
    pub only_bad: u64,
    /// Calls that were not looked at, beyond the bounds.
    pub passed_over: [u64; 2],
    /// Pairs whose states are larger than what was taken of them.
    pub truncated: u64,
}

impl Counted {
    #[must_use]
    pub fn pairs(&self) -> u64 {
        self.by_index + self.by_state
    }
}

/// One `changed_behavior`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CaseAnswer {
    pub place: String,
    /// In how many pairs it applied.
    pub applied: u64,
}

/// A call's place in the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CallPlace {
    /// The test, by its number.
    pub test: usize,
    /// The how-many-th call in good and in bad.
    pub numbers: [u64; 2],
    /// Function and place of the caller in bad; none if code outside called it.
    pub caller: Option<String>,
    pub place: Option<String>,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct ViolationAnswer {
    pub call: CallPlace,
    /// The clause and its text; none for the rule that everything else stays.
    pub clause: Option<String>,
    pub text: Option<String>,
    pub what: String,
    /// Parameters, as the call began.
    pub entry: Vec<Shown>,
    /// Results, or how else the calls ended.
    pub good: String,
    pub bad: String,
    pub values: Vec<Shown>,
    pub differences: Vec<Difference>,
    /// A function called in it that differs by itself.
    pub follows: Option<String>,
}
