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
    /// The build command.
    pub build: String,
    /// The failing test and its recorded run.
    pub failing: Ran,
    /// The nearest run that passes.
    pub passing: Option<Ran>,
    /// Whether it took the same path, up to the failure.
    pub same_control_flow: bool,
    /// Whether the failing test could not be recorded: then only lines are known, by how many failed and
    /// passed tests execute them.
    pub coverage_only: bool,
    /// The observed failure.
    pub observation: Observation,
    /// The runs among which the passing one was chosen.
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
    /// How many lines the failure depends on.
    pub slice: SliceSize,
    /// Remarks for the reader: what was not observable, what was tried.
    pub notes: Vec<String>,
    /// What the localisation cost.
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
    /// The command of the test, given to `sh -c`.
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
    /// Number of runs, including those of an earlier call that were not repeated.
    pub runs: u32,
    /// Number of runs that passed.
    pub passed: u32,
    /// Number of runs that failed; runs that were stopped at the timeout count as failed.
    pub failed: u32,
    /// Neither passed nor failed.
    pub unresolved: u32,
    /// Could not be recorded, or passed and could not be replayed. The latter also count as passed.
    pub unrecorded: u32,
    /// Compared exactly; the others were ruled out by their branch outcomes.
    pub compared: u32,
}

/// A branch that took another direction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchEntry {
    /// The location of the branch.
    pub place: Place,
    /// The tested condition, if the line tests several and this one has a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// Its direction: whether the condition, or without one the line's condition, was `true` or `false`; the
    /// value of a switch; or `to line N` where it is not known which of several tests it is.
    pub failing: String,
    /// The direction in the passing run, in the same form.
    pub passing: String,
    /// Variables of the line in both runs.
    pub values: Vec<ValuePair>,
    /// Number of instances of this branch that took another direction.
    pub times: u32,
    /// The shown instance in the failing run: the last of those that the failure depends on most.
    pub step: u64,
    /// The step of the partner of `step` in the passing run.
    pub passing_step: u64,
    /// How the failure depends on it: `dynamic`, `relevant` (it could have changed it) or `none`.
    pub slice: String,
    /// The earlier branch that it only follows from: the only reason why its condition differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follows: Option<Place>,
    /// From the branch to the failure.
    pub chain: Vec<Link>,
    /// The commit that last touched the line; `None` if the line is not committed.
    pub commit: Option<Commit>,
}

/// A value that differs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValueEntry {
    /// The location of the instruction that computed the value.
    pub place: Place,
    /// The variables of the line that differ, or the result of the instruction if none does.
    pub values: Vec<ValuePair>,
    /// The first step of this line that differs, in the failing run.
    pub step: u64,
    /// The aligned step in the passing run.
    pub passing_step: u64,
    /// From the value to the failure.
    pub chain: Vec<Link>,
    /// The commit that last touched the line; `None` if the line is not committed.
    pub commit: Option<Commit>,
}

/// A variable that was not assigned before its use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InitialValue {
    /// The name of the variable in the source.
    pub name: String,
    /// Where it is defined.
    pub place: Place,
    /// Where its value was used.
    pub used: Place,
    /// Its value; `None` unless the use loads a whole global variable that is no pointer.
    pub value: Option<String>,
    /// The commit that last touched the definition; `None` if that line is not committed.
    pub commit: Option<Commit>,
}

/// A dependence on the path to the failure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// The location of this line.
    pub place: Place,
    /// How this line depends on the one before: `value`, `controls`, `could control`.
    pub how: String,
}

/// A suspicious line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SuspectLine {
    /// The location of the line.
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
    /// Of the dynamic slice.
    pub dynamic: u32,
    /// Of the relevant slice; of the dynamic one if the run is too long for a relevant one.
    pub relevant: u32,
}

/// The cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Effort {
    /// Number of complete builds.
    pub builds: u32,
    /// Number of runs of tests, with those of the build's own checks.
    pub runs: u32,
    /// The duration of the whole localisation.
    pub seconds: f64,
}
