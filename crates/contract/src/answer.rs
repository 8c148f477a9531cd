//! The result of a check, as data.

use crate::compare::Difference;
use crate::moment::Shown;
use serde::Serialize;

/// The name of the schema.
pub const SCHEMA: &str = "relapse.contract/1";

/// The complete result.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Answer {
    pub schema: &'static str,
    pub good: String,
    pub bad: String,
    pub tests: Vec<TestRun>,
    pub functions: Vec<FunctionAnswer>,
    /// Functions that only one version calls, if the whole program is checked.
    pub only_good: Vec<String>,
    pub only_bad: Vec<String>,
    pub verdict: Verdict,
    pub notes: Vec<String>,
    pub seconds: f64,
    /// The part of these seconds spent on pairing and judging.
    pub judging: f64,
}

/// The termination of a test in both versions.
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
    /// No violation, but some function has no pair that counted, or something could not be decided.
    #[default]
    Unknown,
}

/// One function.
#[derive(Clone, Debug, Default, Serialize)]
pub struct FunctionAnswer {
    pub name: String,
    /// Its location in bad.
    pub place: String,
    /// The location of its contract; none if nothing may change.
    pub contract: Option<String>,
    pub verdict: Verdict,
    pub calls: [u64; 2],
    /// Pairs with equal entry states: by execution index, and by entry state alone.
    pub counted: Counted,
    pub cases: Vec<CaseAnswer>,
    pub violated: u64,
    /// The first violations.
    pub violations: Vec<ViolationAnswer>,
    /// Pairs with undecided predicates, and the first reasons.
    pub untold: u64,
    pub untold_why: Vec<String>,
    pub notes: Vec<String>,
    /// The result beyond the observed calls, if the function is not violated.
    pub proof: Option<Proof>,
}

/// Whether a function satisfies its contract in all states.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Proof {
    pub status: ProofStatus,
    /// Paths in good and in bad.
    pub paths: [u64; 2],
    /// Assumptions about all states.
    pub assumes: Vec<String>,
    /// A state that violates the contract, found by the solver.
    pub state: Vec<Shown>,
    /// How a call from this state terminated in good and in bad, if both were run.
    pub ended: Option<[String; 2]>,
    /// The differences after the call.
    pub differences: Vec<Difference>,
    /// Why no proof was found, or the state could not be run.
    pub why: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProofStatus {
    Proved,
    /// There is a violating state, and both versions were run from it.
    Refuted,
    /// The solver found a violating state, but no run from it was possible.
    Unconfirmed,
    /// Undecided.
    #[default]
    Open,
}

/// The calls that counted, and why others did not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counted {
    pub by_index: u64,
    pub by_state: u64,
    /// Pairs whose entry states differ, and the first difference.
    pub differing: u64,
    pub first_difference: Option<Difference>,
    pub first_differing_call: Option<CallPlace>,
    /// Calls without a partner.
    pub only_good: u64,
    pub only_bad: u64,
    /// Calls beyond the bounds, which were skipped.
    pub passed_over: [u64; 2],
    /// Pairs whose states are larger than what was captured.
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
    /// Number of pairs to which it applied.
    pub applied: u64,
}

/// The position of a call in the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CallPlace {
    /// The number of the test.
    pub test: usize,
    /// The ordinal number of the call in good and in bad.
    pub numbers: [u64; 2],
    /// Function and location of the caller in bad; none if external code called it.
    pub caller: Option<String>,
    pub place: Option<String>,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct ViolationAnswer {
    pub call: CallPlace,
    /// The clause and its text; none for the rule that everything else is unchanged.
    pub clause: Option<String>,
    pub text: Option<String>,
    pub what: String,
    /// Parameters at the beginning of the call.
    pub entry: Vec<Shown>,
    /// Results, or the kinds of termination of the calls.
    pub good: String,
    pub bad: String,
    pub values: Vec<Shown>,
    pub differences: Vec<Difference>,
    /// A callee of it that itself violates its contract.
    pub follows: Option<String>,
}
