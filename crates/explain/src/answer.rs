//! The answer: the observed failure, the guilty changes, and the chain of values between them. Plain data;
//! `report` renders it. `docs/json.md` documents its JSON form as `relapse.explain/2`.

use program::intervention::Intervention;
use serde::{Deserialize, Serialize};

/// The name of the JSON form.
pub const SCHEMA: &str = "relapse.explain/2";

/// The word for an outcome.
#[must_use]
pub fn outcome(outcome: changes::Outcome) -> &'static str {
    match outcome {
        changes::Outcome::Pass => "pass",
        changes::Outcome::Fail => "fail",
        changes::Outcome::Unresolved => "unresolved",
        changes::Outcome::Broken => "broken",
    }
}

/// The complete result of an explanation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// `relapse.explain/2`
    pub schema: String,
    /// The answer is needed, sufficient, sane and minimal: see [`Proof`].
    pub verified: bool,
    /// Why not, if it is not.
    pub not_verified: Option<String>,
    /// What the trials proved about the answer.
    pub proof: Proof,
    /// Why the search ended early: `interrupted`, `budget` or `limit` (of trials).
    #[serde(default)]
    pub stopped: Option<String>,
    /// The commit that introduced the failure, if the versions are commits.
    #[serde(default)]
    pub commit: Option<Commit>,
    /// `auto`, `dd` or `add`.
    pub method: String,
    /// The version in which the test passes: the parent of `commit` if bisection chose the pair.
    pub good: Version,
    /// The version in which the test fails: `commit` if bisection chose the pair.
    pub bad: Version,
    /// Bad with exactly `root` and `auxiliary` undone, if the causes compare the run of this version with
    /// that of bad. Then everything that the causes state about good refers to this version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixed: Option<Version>,
    /// The build command.
    pub build: String,
    /// The test command.
    pub test: String,
    /// The observed failure.
    pub observation: Observation,
    /// The guilty changes; empty without an answer.
    pub root: Vec<Hunk>,
    /// Changes that must be undone with the root for bad to build.
    pub auxiliary: Vec<Hunk>,
    /// Changes that must be put into good with the root for good to build and to fail.
    #[serde(default)]
    pub applied_with: Vec<u32>,
    /// Without an answer: the most suspicious changes, the most suspicious first.
    #[serde(default)]
    pub suspects: Vec<Hunk>,
    /// The forest of causes, from the failures (roots; usually one) to the changes (leaves).
    pub causes: Vec<Cause>,
    /// The nearest input on which both versions agree.
    #[serde(default)]
    pub alternate: Option<Alternate>,
    /// Why `alternate` is absent: what was tried, and what the user can do.
    #[serde(default)]
    pub no_alternate: Option<String>,
    /// What distinguishes the failing test from a passing one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passing: Option<Passing>,
    /// Commands that look further into the recordings, which are kept until the next explanation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub further: Vec<FollowUp>,
    /// What the search cost.
    pub trials: Effort,
    /// Notes for the reader: what could not be observed, what was assumed.
    pub notes: Vec<String>,
}

impl Answer {
    /// The name of the version that the causes compare bad with.
    #[must_use]
    pub fn reference(&self) -> &'static str {
        if self.fixed.is_some() { "fixed" } else { "good" }
    }
}

/// The properties proved of an answer: each `yes`, `no` or `not-tried`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    /// Undone in bad, the test passes.
    pub needed: String,
    /// Put into good, the test fails in the same way.
    pub sufficient: String,
    /// The program with the answer undone passes the sanity checks.
    pub sane: String,
    /// No part of the answer can be omitted.
    pub minimal: String,
    /// The checks that examined the program with the answer undone.
    #[serde(default)]
    pub examined_by: Vec<String>,
    /// Checks that were skipped, and why.
    #[serde(default)]
    pub left_out: Vec<String>,
}

impl Default for Proof {
    fn default() -> Proof {
        let not = || "not-tried".to_owned();
        Proof {
            needed: not(),
            sufficient: not(),
            sane: not(),
            minimal: not(),
            examined_by: Vec::new(),
            left_out: Vec::new(),
        }
    }
}

/// The text for a proved property.
#[must_use]
pub fn shown(shown: changes::Shown) -> String {
    match shown {
        changes::Shown::Yes => "yes",
        changes::Shown::No => "no",
        changes::Shown::NotTried => "not-tried",
    }
    .to_owned()
}

/// A commit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commit {
    /// The full hash.
    pub id: String,
    /// The first line of the message.
    pub subject: String,
    /// `YYYY-MM-DD`
    pub date: String,
}

impl From<&trials::Commit> for Commit {
    fn from(commit: &trials::Commit) -> Commit {
        Commit { id: commit.id.clone(), subject: commit.subject.clone(), date: commit.date.clone() }
    }
}

/// A version: its name as given by the user, and what it resolved to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
    /// As the user gave it; `fixed` for that version.
    pub name: String,
    /// The commit, if it is one.
    pub commit: Option<String>,
    /// How its test run ended: `exit 0`, `killed by SIGSEGV`, `stopped after 10 s`.
    pub end: String,
    /// The recording of its run, if one was kept.
    pub recording: Option<String>,
}

/// A change of the answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hunk {
    /// Number of the change in the whole difference, from 0.
    pub change: u32,
    /// Its path in bad.
    pub file: String,
    /// Its path in good if it differs.
    pub old_file: Option<String>,
    /// First line in good, from 1; where good has no lines here, the line before.
    pub old_start: u32,
    /// The first line in the fixed version, if the causes compare with that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixed_start: Option<u32>,
    /// Number of lines that good has here.
    pub old_lines: u32,
    /// First line in bad, from 1; where bad has no lines here, the line before.
    pub new_start: u32,
    /// Number of lines that bad has here.
    pub new_lines: u32,
    /// The lines of good.
    pub old_text: Vec<String>,
    /// The lines of bad.
    pub new_text: Vec<String>,
    /// Unchanged lines of bad before the change, as context.
    pub before: Vec<String>,
    /// Unchanged lines of bad after the change.
    pub after: Vec<String>,
    /// Lines of `new_text` that are on the chain of causes, from 0.
    pub guilty_new: Vec<u32>,
    /// Lines of `old_text` that are on the chain of causes, from 0.
    pub guilty_old: Vec<u32>,
    /// The enclosing function, empty if unknown.
    pub heading: String,
    /// `lines`, `added`, `deleted`, `renamed`, `binary`, `mode`.
    pub kind: String,
    /// Only a part of a hunk of the difference is in the answer.
    #[serde(default)]
    pub part: bool,
    /// The file belongs to the test.
    #[serde(default)]
    pub of_test: bool,
    /// The commit that introduced it.
    #[serde(default)]
    pub commit: Option<Commit>,
}

/// What went wrong, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    /// `assertion`, `abort`, `signal`, `exit-status`, `output`, `missing-output`,
    /// `extra-output`, `hang`, `slower` or `unknown`.
    pub kind: String,
    /// One sentence.
    pub summary: String,
    /// In bad.
    pub place: Option<Place>,
    /// The corresponding location in good.
    pub good_place: Option<Place>,
    /// Innermost first.
    pub stack: Vec<Place>,
    /// The first difference in the output; `None` if it is not what was observed.
    pub output: Option<OutputDifference>,
    /// The last lines that bad's test wrote to standard error.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stderr: Vec<String>,
    /// Memory errors that sanitizers report for bad, but not for bad with the answer undone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory_errors: Vec<String>,
    /// In bad, the location that freed the block, if the process died because it freed the block again or
    /// used it afterwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier: Option<Place>,
    /// Step number in the stream of bad's recording, if known.
    pub step: Option<u64>,
}

/// The first difference in an output of the program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputDifference {
    /// `stdout`, `stderr` or a file's path.
    pub sink: String,
    /// Offset of the first differing byte.
    pub offset: u64,
    /// The line of that byte, from 1.
    pub line: u64,
    /// That line in good, with `\xNN` for bytes that are not text; empty if good does not have it.
    pub good: String,
    /// That line in bad, in the same form; empty if bad does not have it.
    pub bad: String,
}

/// A location in a source file of one of the versions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Relative to the version's root if the file is below it.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1; 0 if unknown.
    pub column: u32,
    /// The readable name of the function.
    pub function: String,
    /// The text of the line.
    pub text: String,
}

/// One executed line on the dependence path from the changes to the failure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cause {
    /// Unique in the answer, in preorder from the failure.
    pub id: u32,
    /// `failure`, `value`, `branch`, `call`, `input` or `missing` (executed in good but not in bad).
    pub kind: String,
    /// One short sentence: `sum became -1`, `the branch was taken, in good it was not`.
    pub what: String,
    /// How this cause determined its parent: `sum`, `controls whether the next step runs`; empty at the top.
    pub how: String,
    /// The location in bad; `None` if nothing in bad corresponds.
    pub place: Option<Place>,
    /// The corresponding location in good; its text differs if a change touches it.
    pub good_place: Option<Place>,
    /// What the line computed, in names of the source: `sum = sum + (0 - z)`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub formula: Option<String>,
    /// The values that the line used or computed.
    pub values: Vec<ValuePair>,
    /// Number of the change that introduced or removed this line, if any.
    pub change: Option<u32>,
    /// Step number in its recording's stream.
    pub step: Option<u64>,
    /// The result of running bad with the other version's value at this step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<Link>,
    /// The causes that this one depended on.
    pub children: Vec<Cause>,
}

/// A step whose value or decision can be replaced in bad by that of the other version at the same execution.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// `passes`: with this replacement alone the test passes. `gone`: it fails, but without the observed
    /// difference. `other`: it fails differently. `same`: it fails as before. `not-tried`.
    pub outcome: String,
    /// The source file that contains the code.
    pub unit: String,
    /// The replacement; also a line for the end of that file, see `docs/compiler-driver.md`.
    pub intervention: Intervention,
}

/// A value in both versions, at corresponding executions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValuePair {
    /// Variable or expression.
    pub name: String,
    /// `None`: it did not exist, or the line was not executed.
    pub good: Option<String>,
    /// In bad; `None` as for `good`.
    pub bad: Option<String>,
}

/// An input on which both versions give the same output, and the branch that distinguishes it from the
/// failing input. Both versions were run with it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alternate {
    /// The bytes that differ from the failing input.
    pub changed: Vec<Byte>,
    /// The version that contains the branch: `good` or `bad`.
    pub version: String,
    /// The location of the branch in that version.
    pub place: Place,
    /// The condition at the branch that the failing input satisfies.
    pub condition: String,
    /// The condition that this input satisfies.
    pub flipped: String,
    /// How `version` ends with this input; the other version ends in the same way.
    pub end: String,
    /// The beginning of the standard output of `version` with this input.
    pub stdout: String,
    /// The parts of an input of another length, whole. Then `changed` is empty, and there is no branch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<InputPart>,
}

/// A part of the input: standard input, an argument, a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputPart {
    /// Such as `stdin` or `argv[1]`.
    pub name: String,
    /// Its text in the failing input.
    pub old: String,
    /// Its text in this input.
    pub new: String,
}

/// Differences between the versions on the failing test that do not occur on a passing one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passing {
    /// The passing test; `None` if it is the failing test with the alternate input.
    pub test: Option<String>,
    /// `present`: the cause is visible in events of bad; `removed`: in events that bad no longer has; `none`.
    pub kind: String,
    /// Number of difference sequences between the versions on the failing test.
    pub suspected: u32,
    /// Number on the passing test: expected, since the versions may differ.
    pub expected: u32,
    /// Number of those of `suspected` that are not among `expected`.
    pub unexpected: u32,
    /// The most likely first.
    pub suspects: Vec<Suspect>,
    /// Number of suspects omitted.
    pub more: u32,
}

/// A sequence of events that differ.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suspect {
    /// `insertion`, `deletion` or `modification`.
    pub change: String,
    /// Events of good only.
    pub good: Vec<Said>,
    /// Events of bad only.
    pub bad: Vec<Said>,
    /// The call stack, innermost first.
    pub stack: Vec<String>,
    /// Numbers of the changes whose lines caused it.
    pub changes: Vec<u32>,
    /// Causes of the answer at the same lines, by their `id`.
    pub causes: Vec<u32>,
    /// Its number among the difference sequences of both runs, in the order of time.
    #[serde(default)]
    pub sequence: u32,
}

/// An event of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// `set list#1.n = 3`
    pub text: String,
    /// Where the event happened: in good or in bad, as its run.
    pub place: Place,
}

/// A command for the recorded runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FollowUp {
    /// What it answers: `where the runs first differ`.
    pub asks: String,
    /// For `sh`.
    pub command: String,
}

/// A byte of input.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Byte {
    /// Such as `stdin[3]`.
    pub name: String,
    /// Its value in the failing input.
    pub old: u8,
    /// Its value in this input.
    pub new: u8,
}

/// The cost of the explanation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Effort {
    /// Number of changes between the versions.
    pub changes: u32,
    /// Changes with evidence in a slice.
    pub candidates: u32,
    /// Number of complete builds.
    pub builds: u32,
    /// Builds that failed.
    #[serde(default)]
    pub broken_builds: u32,
    /// Sets that the compiler rejected when it checked single files, without a build.
    #[serde(default)]
    pub checks: u32,
    /// Number of runs of the test.
    pub runs: u32,
    /// Results reused from earlier trials.
    pub remembered: u32,
    /// The duration of the whole session, which includes the recordings.
    pub seconds: f64,
    /// Seconds until the changes were known.
    #[serde(default)]
    pub seconds_to_verdict: f64,
    /// Changes in files that neither the builds nor the tests opened.
    #[serde(default)]
    pub unread: u32,
    /// Output that differs between runs of one version and was not compared.
    #[serde(default)]
    pub masked: Vec<String>,
    /// All changes in the order of suspicion, by number: the order in which they were tried.
    pub order: Vec<u32>,
    /// The trials in order.
    pub log: Vec<Tried>,
}

/// One trial.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    /// Numbers of the reverted changes.
    pub reverted: Vec<u32>,
    /// `pass`, `fail`, `unresolved`, `broken`, or `builds` if the trial only built.
    pub outcome: String,
    /// The first error of the build, or how the run deviates from that of good or bad; may be empty.
    pub why: String,
}
