//! The answer: what was observed, which changes did it, and the chain of values
//! between. Plain data; `report` shows it, and its JSON form is documented in
//! `docs/json.md` as `relapse.explain/2`.

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

/// Everything an explanation says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// `relapse.explain/2`
    pub schema: String,
    /// Needed, sufficient, sane and minimal: see [`Proof`].
    pub verified: bool,
    /// Why not, if it is not.
    pub not_verified: Option<String>,
    /// What was shown of the answer.
    pub proof: Proof,
    /// Why the search ended early: `interrupted`, `budget` or `limit` (of trials).
    #[serde(default)]
    pub stopped: Option<String>,
    /// The commit that the failure came with, if the versions are commits.
    #[serde(default)]
    pub commit: Option<Commit>,
    /// `auto`, `dd` or `add`.
    pub method: String,
    pub good: Version,
    pub bad: Version,
    /// Bad with exactly `root` and `auxiliary` undone, if the causes were read from its run and
    /// that of bad: then what they say of good is of this version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixed: Option<Version>,
    pub build: String,
    pub test: String,
    pub observation: Observation,
    pub root: Vec<Hunk>,
    pub auxiliary: Vec<Hunk>,
    /// Changes that must be put into good with the root for good to build and to fail.
    #[serde(default)]
    pub applied_with: Vec<u32>,
    /// Without an answer: the most suspicious changes, the first one most so.
    #[serde(default)]
    pub suspects: Vec<Hunk>,
    /// From the failure (the roots of the forest; mostly one) to the changes (leaves).
    pub causes: Vec<Cause>,
    /// The nearest input on which both versions agree.
    #[serde(default)]
    pub alternate: Option<Alternate>,
    /// Why there is none, if there is none: what was tried, and what to do.
    #[serde(default)]
    pub no_alternate: Option<String>,
    /// What tells the failing test from a passing one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passing: Option<Passing>,
    pub trials: Effort,
    /// Things the reader should know: what could not be seen, what was assumed.
    pub notes: Vec<String>,
}

impl Answer {
    /// What the version is called that the causes compare bad with.
    #[must_use]
    pub fn reference(&self) -> &'static str {
        if self.fixed.is_some() { "fixed" } else { "good" }
    }
}

/// What was shown of an answer: each `yes`, `no` or `not-tried`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    /// Undone in bad, the test passes.
    pub needed: String,
    /// Put into good, the test fails in the same way.
    pub sufficient: String,
    /// The program with the answer undone is no accident.
    pub sane: String,
    /// No part of the answer can be left out.
    pub minimal: String,
    /// What the program with the answer undone was examined by.
    #[serde(default)]
    pub examined_by: Vec<String>,
    /// What was left out of that, and why.
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

/// The word for what was shown.
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
    pub id: String,
    pub subject: String,
    /// `YYYY-MM-DD`
    pub date: String,
}

impl From<&trials::Commit> for Commit {
    fn from(commit: &trials::Commit) -> Commit {
        Commit { id: commit.id.clone(), subject: commit.subject.clone(), date: commit.date.clone() }
    }
}

/// A version, as the user named it and as it was found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
    pub name: String,
    /// The commit, if it is one.
    pub commit: Option<String>,
    /// How its test run ended: `exit 0`, `killed by SIGSEGV`, `stopped after 10 s`.
    pub end: String,
    /// The recording of its run, if one is kept.
    pub recording: Option<String>,
}

/// A change of the answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hunk {
    /// Number of the change in the whole difference, from 0.
    pub change: u32,
    pub file: String,
    /// Its path in good if that is another one.
    pub old_file: Option<String>,
    pub old_start: u32,
    /// The same in the fixed version, if the causes are read from that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixed_start: Option<u32>,
    /// How many lines good has here.
    pub old_lines: u32,
    pub new_start: u32,
    pub new_lines: u32,
    /// Those lines.
    pub old_text: Vec<String>,
    pub new_text: Vec<String>,
    /// Unchanged lines before and after, for showing.
    pub before: Vec<String>,
    pub after: Vec<String>,
    /// Lines of `new_text` (of `old_text`) that are on the chain of causes, from 0.
    pub guilty_new: Vec<u32>,
    pub guilty_old: Vec<u32>,
    /// Function around it, empty if unknown.
    pub heading: String,
    /// `lines`, `added`, `deleted`, `renamed`, `binary`, `mode`.
    pub kind: String,
    /// Only a part of a hunk of the difference.
    #[serde(default)]
    pub part: bool,
    /// The file belongs to the test.
    #[serde(default)]
    pub of_test: bool,
    /// The commit that brought it.
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
    /// In good, where it corresponds.
    pub good_place: Option<Place>,
    /// Innermost first.
    pub stack: Vec<Place>,
    pub output: Option<OutputDifference>,
    /// The last lines that bad's test wrote to standard error.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stderr: Vec<String>,
    /// Memory errors that sanitizers report of bad, and not of bad with the answer undone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory_errors: Vec<String>,
    /// In bad, where the block was freed that the process freed again or went on to use, if it died of that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier: Option<Place>,
    /// Number of the instruction in the bad recording's stream, if it is known.
    pub step: Option<u64>,
}

/// The first difference in something the program put out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputDifference {
    /// `stdout`, `stderr` or a file's path.
    pub sink: String,
    /// First differing byte.
    pub offset: u64,
    /// Its line, from 1.
    pub line: u64,
    /// That line in either version, `\xNN` for what is not text.
    pub good: String,
    pub bad: String,
}

/// A place in a source file of one of the versions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Relative to the version's root where it lies within.
    pub file: String,
    pub line: u32,
    pub column: u32,
    pub function: String,
    /// The text of the line.
    pub text: String,
}

/// One executed line on the way from the changes to the failure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cause {
    /// Unique in the answer, in the order of a walk from the failure.
    pub id: u32,
    /// `failure`, `value`, `branch`, `call`, `input` or `missing` (good ran it, bad did not).
    pub kind: String,
    /// One short sentence: `sum became -1`, `the branch was taken, in good it was not`.
    pub what: String,
    /// How this one made its parent what it was: `sum`, `controls whether the next step runs`; empty at the top.
    pub how: String,
    pub place: Option<Place>,
    /// Where good ran the same; its text differs where a change touches it.
    pub good_place: Option<Place>,
    /// What the line computed, in names of the source: `sum = sum + (0 - z)`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub formula: Option<String>,
    pub values: Vec<ValuePair>,
    /// Number of the change that brought this line (or took it away), if one did.
    pub change: Option<u32>,
    /// Number of the instruction in its recording's stream.
    pub step: Option<u64>,
    /// What came of bad with the other version's value at this moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<Link>,
    /// What this depended on.
    pub children: Vec<Cause>,
}

/// A step whose value or decision can be replaced in bad by that of the other version, at its moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// `passes`: with that alone the test passes. `gone`: it fails, but what was observed is gone.
    /// `other`: it ends in another way. `same`: it fails as before. `not-tried`.
    pub outcome: String,
    /// The source file whose code it is.
    pub unit: String,
    /// What is replaced; also a line for the end of that file, see `docs/compiler-driver.md`.
    pub intervention: Intervention,
}

/// A value in both versions at corresponding moments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValuePair {
    /// Variable or expression.
    pub name: String,
    /// None: it did not exist, or this was not executed.
    pub good: Option<String>,
    pub bad: Option<String>,
}

/// An input on which both versions give the same output, and the branch that
/// tells it from the failing one. Both were run with it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alternate {
    /// What is different in it.
    pub changed: Vec<Byte>,
    /// The version that the branch is in: `good` or `bad`.
    pub version: String,
    pub place: Place,
    /// What the failing input fulfils there, and what this one does.
    pub condition: String,
    pub flipped: String,
    /// How both versions end with it, and the beginning of what they print.
    pub end: String,
    pub stdout: String,
}

/// What both versions do differently on the failing test but not on a passing one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passing {
    /// The passing test; none if it is the failing one with the alternate input.
    pub test: Option<String>,
    /// `present`: the cause shows in what bad does; `removed`: in what it does not do
    /// any more; `none`.
    pub kind: String,
    /// Sequences of differences between the versions on the failing test, on the
    /// passing test, and those of the first that the second does not have.
    pub suspected: u32,
    pub expected: u32,
    pub unexpected: u32,
    /// The most likely first.
    pub suspects: Vec<Suspect>,
    /// Suspects left out.
    pub more: u32,
}

/// A sequence of events that differ.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suspect {
    /// `insertion`, `deletion` or `modification`.
    pub change: String,
    /// What only good, and only bad did.
    pub good: Vec<Said>,
    pub bad: Vec<Said>,
    /// Functions under way, innermost first.
    pub stack: Vec<String>,
    /// Numbers of the changes whose lines did it.
    pub changes: Vec<u32>,
    /// Causes of the answer at the same lines, by their `id`.
    pub causes: Vec<u32>,
    /// Its number among the sequences of differences of both runs, in the order of time.
    #[serde(default)]
    pub sequence: u32,
}

/// An event of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// `set list#1.n = 3`
    pub text: String,
    pub place: Place,
}

/// A byte of input.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Byte {
    /// Such as `stdin[3]`.
    pub name: String,
    /// In the failing input, and in this one.
    pub old: u8,
    pub new: u8,
}

/// What it took.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Effort {
    /// Changes between the versions, and how many of them were candidates.
    pub changes: u32,
    pub candidates: u32,
    pub builds: u32,
    /// Builds that failed.
    #[serde(default)]
    pub broken_builds: u32,
    /// Sets that the compiler refused when it was asked about single files, without a build.
    #[serde(default)]
    pub checks: u32,
    pub runs: u32,
    /// Answers taken from earlier trials.
    pub remembered: u32,
    pub seconds: f64,
    /// Until the changes were known.
    #[serde(default)]
    pub seconds_to_verdict: f64,
    /// Changes in files that neither the builds nor the tests opened.
    #[serde(default)]
    pub unread: u32,
    /// What differs from run to run of one version and was not compared.
    #[serde(default)]
    pub masked: Vec<String>,
    /// All changes in the order of suspicion, by number: what was tried first.
    pub order: Vec<u32>,
    /// The trials in order.
    pub log: Vec<Tried>,
}

/// One trial.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    /// Numbers of the reverted changes.
    pub reverted: Vec<u32>,
    /// `pass`, `fail`, `unresolved`, `broken`, or `builds` if only that was asked.
    pub outcome: String,
    pub why: String,
}
