//! The result of a check, as data.

use crate::compare::Difference;
use crate::moment::Shown;
use serde::Serialize;

/// The name of the schema.
pub const SCHEMA: &str = "relapse.contract/1";

/// The complete result.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Answer {
    /// Always [`SCHEMA`].
    pub schema: &'static str,
    /// The good version, as the user gave it; empty unless the whole check was run.
    pub good: String,
    /// The bad version, as the user gave it; empty unless the whole check was run.
    pub bad: String,
    /// The tests that were recorded, in the order of the request.
    pub tests: Vec<TestRun>,
    /// The functions that were checked, by name.
    pub functions: Vec<FunctionAnswer>,
    /// Functions that only one version calls, if the whole program is checked.
    pub only_good: Vec<String>,
    /// Functions that only bad calls, if the whole program is checked.
    pub only_bad: Vec<String>,
    /// Violated if any function is, else unknown if any is that was asked for, else holds.
    pub verdict: Verdict,
    /// Sentences about what limits the answer: incomplete recordings, sources that have changed.
    pub notes: Vec<String>,
    /// The duration of the whole check.
    pub seconds: f64,
    /// The part of these seconds spent on pairing and judging.
    pub judging: f64,
}

/// The termination of a test in both versions.
#[derive(Clone, Debug, Serialize)]
pub struct TestRun {
    /// The command of the test.
    pub command: String,
    /// Its exit status or signal in good, as text.
    pub good: String,
    /// Its exit status or signal in bad, as text.
    pub bad: String,
}

/// Whether a contract is satisfied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Every pair that counted satisfies it, or it is proved without assumptions.
    Holds,
    /// Some pair violates it, or runs confirmed a counterexample of a function that was asked for.
    Violated,
    /// No violation, but some function has no pair that counted, or something could not be decided.
    #[default]
    Unknown,
}

/// One function.
#[derive(Clone, Debug, Default, Serialize)]
pub struct FunctionAnswer {
    /// The readable name; C++ names are demangled.
    pub name: String,
    /// Its location in bad.
    pub place: String,
    /// The location of its contract; none if nothing may change.
    pub contract: Option<String>,
    /// Whether the function satisfies its contract.
    pub verdict: Verdict,
    /// Number of calls in good and in bad over all tests, including those beyond the bounds.
    pub calls: [u64; 2],
    /// Pairs with equal entry states: by execution index, and by entry state alone.
    pub counted: Counted,
    /// The cases of the contract, in order.
    pub cases: Vec<CaseAnswer>,
    /// Number of pairs with a violation.
    pub violated: u64,
    /// The first violations.
    pub violations: Vec<ViolationAnswer>,
    /// Pairs with undecided predicates, and the first reasons.
    pub untold: u64,
    /// At most three different reasons why predicates are undecided.
    pub untold_why: Vec<String>,
    /// Sentences about this function; no check makes one yet.
    pub notes: Vec<String>,
    /// The result beyond the observed calls, if the function is not violated.
    pub proof: Option<Proof>,
}

/// Whether a function satisfies its contract in all states.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Proof {
    /// Whether there is a proof or a counterexample.
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

/// The result of an attempt to prove a contract.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProofStatus {
    /// No state violates the contract, under the assumptions.
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
    /// Pairs with equal entry states that have the same execution index.
    pub by_index: u64,
    /// Pairs with equal entry states that have different execution indices.
    pub by_state: u64,
    /// Pairs whose entry states differ, and the first difference.
    pub differing: u64,
    /// The first difference between the entry states of the first such pair.
    pub first_difference: Option<Difference>,
    /// The position of the first such pair.
    pub first_differing_call: Option<CallPlace>,
    /// Calls without a partner.
    pub only_good: u64,
    /// Calls of bad without a partner.
    pub only_bad: u64,
    /// Calls beyond the bounds, which were skipped.
    pub passed_over: [u64; 2],
    /// Pairs whose states are larger than what was captured.
    pub truncated: u64,
}

impl Counted {
    /// Number of pairs with equal entry states.
    #[must_use]
    pub fn pairs(&self) -> u64 {
        self.by_index + self.by_state
    }
}

/// One `changed_behavior`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CaseAnswer {
    /// The location of the case: file, line and column.
    pub place: String,
    /// Number of pairs to which it applied.
    pub applied: u64,
}

/// The position of a call in the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CallPlace {
    /// The number of the test, from 0.
    pub test: usize,
    /// The ordinal number of the call in good and in bad.
    pub numbers: [u64; 2],
    /// Function and location of the caller in bad; none if external code called it.
    pub caller: Option<String>,
    /// File and line of the call site in bad; none if external code called it.
    pub place: Option<String>,
}

/// One pair of calls that violates the contract.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ViolationAnswer {
    /// The position of the pair.
    pub call: CallPlace,
    /// The clause and its text; none for the rule that everything else is unchanged.
    pub clause: Option<String>,
    /// The text of the clause on one line; none for the rule that everything else is unchanged.
    pub text: Option<String>,
    /// A description of the violation.
    pub what: String,
    /// Parameters at the beginning of the call.
    pub entry: Vec<Shown>,
    /// Results, or the kinds of termination of the calls.
    pub good: String,
    /// The result in bad, or how the call terminated.
    pub bad: String,
    /// The values of the parts of the clause's predicate; empty if there is no clause.
    pub values: Vec<Shown>,
    /// Differences after the calls, if the rule that everything else is unchanged is violated.
    pub differences: Vec<Difference>,
    /// A callee of it that itself violates its contract.
    pub follows: Option<String>,
}
