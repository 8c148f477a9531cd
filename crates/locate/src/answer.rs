//! The result: plain data. `report` renders it, and its JSON form is documented in `docs/json.md` as
//! `relapse.locate/1`. Places, observations and commits are those of [`explain::answer`]; in a pair of
//! values, `good` is the passing run's, `bad` the failing run's.

use explain::answer::{Commit, Observation, Place, ValuePair};
use serde::{Deserialize, Serialize};

/// The name of the JSON schema.
pub const SCHEMA: &str = "relapse.locate/1";

/// The whole result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Located {
    /// `relapse.locate/1`
    pub schema: String,
    pub build: String,
    pub failing: Ran,
    /// The nearest run that passes.
    pub passing: Option<Ran>,
    /// Whether it took the same path, up to the failure.
    pub same_control_flow: bool,
    /// Whether the failing test could not be recorded: then only lines are known, by how many failed and
    /// passed tests execute them.
    pub coverage_only: bool,
    pub observation: Observation,
    pub pool: Pool,
    /// Branches that took another direction in the passing run, the most suspicious first.
    pub branches: Vec<BranchEntry>,
    /// Values that differ at aligned steps and that the failure depends on.
    pub values: Vec<ValueEntry>,
    /// The passing run that values are compared with, if it is not the nearest one: it takes the same path as
    /// the failing run.
    pub values_from: Option<Ran>,
    /// Variables whose initial value the failure depends on, the nearest first.
    pub initial: Vec<InitialValue>,
    /// All lines that are reported, the most suspicious first.
    pub lines: Vec<SuspectLine>,
    pub slice: SliceSize,
    /// Remarks for the reader: what was not observable, what was tried.
    pub notes: Vec<String>,
    pub effort: Effort,
}

impl Located {
    /// Tests pass, but none of their runs can be compared with the failing one.
    #[must_use]
    pub fn is_incomparable(&self) -> bool {
        let Pool { passed, unrecorded, .. } = self.pool;
        self.passing.is_none() && self.pool.kind == "tests" && passed > 0 && unrecorded >= passed
    }
}

/// A run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ran {
    pub command: String,
    /// `exit 1`, `killed by SIGSEGV`.
    pub end: String,
    /// What differs in its input, if `locate` generated it.
    pub input: Option<String>,
    /// The recording, if it is kept.
    pub recording: Option<String>,
}

/// The source of passing runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pool {
    /// `tests` of the user, `perturbed` inputs, `generated` paths, or `none`.
    pub kind: String,
    pub runs: u32,
    pub passed: u32,
    pub failed: u32,
    /// Neither passed nor failed.
    pub unresolved: u32,
    /// Passed, but could not be recorded or replayed.
    pub unrecorded: u32,
    /// Compared exactly; the others were ruled out by their branch outcomes.
    pub compared: u32,
}

/// A branch that took another direction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchEntry {
    pub place: Place,
    /// The tested condition, if the line tests several and this one has a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// Its direction: whether the condition, or without one the line's condition, was `true` or `false`; the
    /// value of a switch; or `to line N` where it is not known which of several tests it is.
    pub failing: String,
    pub passing: String,
    /// Variables of the line in both runs.
    pub values: Vec<ValuePair>,
    /// Number of instances of this branch that took another direction.
    pub times: u32,
    /// The last of them in each run.
    pub step: u64,
    pub passing_step: u64,
    /// How the failure depends on it: `dynamic`, `relevant` (it could have changed it) or `none`.
    pub slice: String,
    /// The earlier branch that it only follows from: the only reason why its condition differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follows: Option<Place>,
    /// From the branch to the failure.
    pub chain: Vec<Link>,
    pub commit: Option<Commit>,
}

/// A value that differs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValueEntry {
    pub place: Place,
    pub values: Vec<ValuePair>,
    pub step: u64,
    pub passing_step: u64,
    /// From the value to the failure.
    pub chain: Vec<Link>,
    pub commit: Option<Commit>,
}

/// A variable that was not assigned before its use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InitialValue {
    pub name: String,
    /// Where it is defined.
    pub place: Place,
    /// Where its value was used.
    pub used: Place,
    pub value: Option<String>,
    pub commit: Option<Commit>,
}

/// A dependence on the path to the failure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    pub place: Place,
    /// How this line depends on the one before: `value`, `controls`, `could control`.
    pub how: String,
}

/// A suspicious line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SuspectLine {
    pub place: Place,
    /// `branch`, `value`, `initial`, `guarded` (executed because of the direction of a reported branch),
    /// `slice`, or `executed` (by the failing run, outside of the slice; only with a suite).
    pub why: String,
    /// Ochiai's coefficient over the runs of the pool, if there are enough: 1 if all failed runs and no
    /// others execute it.
    pub suspicion: Option<f64>,
    /// Whether it is not among those that are shown.
    pub folded: bool,
}

/// Distinct lines of the failure's slices.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SliceSize {
    pub dynamic: u32,
    pub relevant: u32,
}

/// The cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Effort {
    pub builds: u32,
    pub runs: u32,
    pub seconds: f64,
}
