//! The result of `expose`, as plain data.

use crate::changed::Changed;
use crate::expose::{DistinguishingRun, Request};
use crate::pairs::Signatures;
use crate::reach::{Answers, Progress};
use crate::shared::{Exposure, FoundBy};
use crate::subject::Subject;
use crate::versions::Versions;
use alternate::rerun::PlainRun;
use alternate::{Side, Status};
use changes::{Change, ChangeId};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use symbolic::{Input, Origin};

/// The name and version of the schema.
pub const SCHEMA: &str = "relapse.expose/1";

/// The whole result.
#[derive(Clone, Debug, Serialize)]
pub struct Exposed {
    /// Always [`SCHEMA`].
    pub schema: &'static str,
    /// The good version, as the user gave it.
    pub good: String,
    /// The bad version, as the user gave it.
    pub bad: String,
    /// The overall result.
    pub verdict: Verdict,
    /// Tests that distinguish the versions unchanged.
    pub tests: Vec<DistinguishingTest>,
    /// Inputs on which the versions differ.
    pub inputs: Vec<ExposingInput>,
    /// The changes that can affect behaviour, in the order of the difference.
    pub changes: Vec<ChangeRow>,
    /// The coverage of the code around the changes.
    pub coverage: Coverage,
    /// What the search cost.
    pub effort: Effort,
    /// Number of inputs and tests on which the versions differ only as their contracts allow; they are left
    /// out.
    pub intended: u64,
    /// Sentences about tests that were not used.
    pub notes: Vec<String>,
}

/// The overall result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// There are inputs on which the versions differ.
    Differ,
    /// None was found.
    NoDifferenceFound,
    /// Both versions were built to the same program, byte by byte.
    SamePrograms,
    /// All paths of inputs with the lengths of the tests' inputs were followed in both versions, and on none
    /// of them can the outputs differ.
    NoneOfTheseLengths,
}

/// A test that distinguishes the versions.
#[derive(Clone, Debug, Serialize)]
pub struct DistinguishingTest {
    /// The command of the test.
    pub command: String,
    /// The behaviour of good.
    pub good: Seen,
    /// The behaviour of bad.
    pub bad: Seen,
}

/// The observable behaviour of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Seen {
    /// The exit status as text: `exit 0`, `SIGSEGV`, `no end in time`.
    pub end: String,
    /// Standard output; invalid UTF-8 is replaced.
    pub stdout: String,
    /// The standard output as it is.
    #[serde(skip)]
    pub bytes: Vec<u8>,
    /// Files that it wrote.
    pub files: BTreeMap<String, String>,
}

/// An input on which the versions differ.
#[derive(Clone, Debug, Serialize)]
pub struct ExposingInput {
    /// From 1.
    pub number: usize,
    /// How it was found.
    pub found_by: FoundBy,
    /// Time from the start of the search.
    pub seconds: f64,
    /// The program with its arguments, as a shell command.
    pub command: String,
    /// Its other inputs.
    pub parts: Vec<Part>,
    /// The behaviour of good.
    pub good: Seen,
    /// The behaviour of bad.
    pub bad: Seen,
    /// Numbers of the changes that it exposes.
    pub changes: Vec<u32>,
    /// The input as it was run.
    #[serde(skip)]
    pub input: Input,
}

/// The bytes of one input.
#[derive(Clone, Debug, Serialize)]
pub struct Part {
    /// `stdin`, `argv[1]`, `file "x"`.
    pub name: String,
    /// Bytes that are not printable are escaped.
    pub text: String,
}

/// The result for one change.
#[derive(Clone, Debug, Serialize)]
pub struct ChangeRow {
    /// The number of the change in the difference.
    pub id: u32,
    /// Its path in bad.
    pub file: String,
    /// The first line in bad; the line in good if nothing was added.
    pub line: u32,
    /// The enclosing function; `None` if unknown.
    pub function: Option<String>,
    /// The first changed line, for display.
    pub text: String,
    /// Whether some run reached it.
    pub reached: bool,
    /// Whether it affected values or branches of some run.
    pub infected: bool,
    /// The number of an exposing input.
    pub exposed_by: Option<usize>,
    /// Whether neither version has code for it.
    pub without_code: bool,
}

/// How many branch edges in functions with changes recorded runs covered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Coverage {
    /// Of good's recorded runs.
    pub good: EdgeCoverage,
    /// Of bad's recorded runs.
    pub bad: EdgeCoverage,
}

/// Branch edges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EdgeCoverage {
    /// Number of edges that some recorded run took.
    pub taken: usize,
    /// Number of edges in the code.
    pub all: usize,
}

/// The cost of the search.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Effort {
    /// Time until both versions were built.
    pub seconds_building: f64,
    /// Time from the first query or run to the end of the workers.
    pub seconds_searching: f64,
    /// Plain runs of both versions.
    pub runs: u64,
    /// Recorded runs, of either version.
    pub recorded_runs: u64,
    /// Queries of the solver worker.
    pub questions: Answers,
    /// What the versions compute, group by group.
    pub signatures: Signatures,
    /// Values that were concretised in queries.
    pub fixed_values: u64,
    /// Whether the user ended it.
    pub interrupted: bool,
}

impl Exposed {
    /// Whether the versions are known to differ.
    #[must_use]
    pub fn differ(&self) -> bool {
        self.verdict == Verdict::Differ
    }
}

pub(crate) struct SearchSummary<'t> {
    pub request: &'t Request,
    pub versions: &'t Versions,
    pub changed: &'t Changed,
    pub subjects: &'t [Subject],
    pub distinguishing: &'t [DistinguishingRun],
    pub exposures: &'t [(usize, Exposure)],
    pub progress: &'t Progress,
    pub runs: u64,
    pub built: Duration,
    pub searched: Duration,
    pub notes: Vec<String>,
    pub intended: u64,
    pub same_programs: bool,
    pub interrupted: bool,
}

pub(crate) fn summary(summary: &SearchSummary<'_>) -> Exposed {
    let progress = summary.progress;
    let mut inputs = Vec::new();
    let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
    for (index, exposure) in summary.exposures {
        let Some(subject) = summary.subjects.get(exposure.seed.subject) else { continue };
        let number = inputs.len() + 1;
        numbers.insert(*index, number);
        let of = progress.of.get(index).cloned().unwrap_or_default();
        inputs.push(exposing(number, exposure, subject, of));
    }
    let difference = &summary.versions.difference;
    let changes: Vec<ChangeRow> = summary
        .changed
        .list
        .iter()
        .map(|id| {
            let exposed_by = progress.exposed.get(id).and_then(|index| numbers.get(index)).copied();
            row(difference.change(*id), *id, progress, summary.changed, exposed_by)
        })
        .collect();
    let complete = progress.exhausted && progress.gaps == 0 && progress.fixed == 0 && !summary.interrupted;
    let verdict = match (inputs.is_empty() && summary.distinguishing.is_empty(), complete) {
        (false, _) => Verdict::Differ,
        _ if summary.same_programs => Verdict::SamePrograms,
        (true, true) if progress.recorded > 0 && summary.intended == 0 => Verdict::NoneOfTheseLengths,
        (true, _) => Verdict::NoDifferenceFound,
    };
    let branch_edges = |side: Side| EdgeCoverage {
        taken: progress.branch_edges.of(side).len(),
        all: summary.changed.branch_edges.of(side).len(),
    };
    Exposed {
        schema: SCHEMA,
        good: summary.request.good.clone(),
        bad: summary.request.bad.clone(),
        verdict,
        tests: summary.distinguishing.iter().map(distinguishing).collect(),
        inputs,
        changes,
        coverage: Coverage { good: branch_edges(Side::Old), bad: branch_edges(Side::New) },
        effort: Effort {
            seconds_building: summary.built.as_secs_f64(),
            seconds_searching: summary.searched.as_secs_f64(),
            runs: summary.runs,
            recorded_runs: progress.recorded,
            questions: progress.answers,
            signatures: progress.signatures,
            fixed_values: progress.fixed,
            interrupted: summary.interrupted,
        },
        intended: summary.intended,
        notes: summary.notes.clone(),
    }
}

fn exposing(number: usize, exposure: &Exposure, subject: &Subject, of: Vec<ChangeId>) -> ExposingInput {
    let input = &exposure.seed.input;
    ExposingInput {
        number,
        found_by: exposure.means,
        seconds: exposure.after,
        command: command(subject, input),
        parts: parts(input),
        good: seen(&exposure.outcomes.old),
        bad: seen(&exposure.outcomes.new),
        changes: of.iter().map(|id| id.0).collect(),
        input: input.clone(),
    }
}

/// The inputs of a program that are not on its command line.
pub(crate) fn parts(input: &Input) -> Vec<Part> {
    let is_told = |origin: &Origin| matches!(origin, Origin::Argument(_) | Origin::Environment(_));
    let others = input.parts.iter().filter(|(origin, _)| !is_told(origin));
    others
        .map(|(origin, bytes)| Part { name: origin.name(), text: bytes.escape_ascii().to_string() })
        .collect()
}

fn seen(run: &PlainRun) -> Seen {
    let files = run.files.iter().map(|(path, content)| {
        let text = content.as_ref().map_or("(not there)".into(), |b| String::from_utf8_lossy(b).into_owned());
        (path.clone(), text)
    });
    Seen {
        end: match run.ended.status {
            Status::Signal(number) => {
                trials::signal_name(number).map_or_else(|| format!("signal {number}"), str::to_owned)
            }
            other => other.to_string(),
        },
        stdout: String::from_utf8_lossy(&run.ended.stdout).into_owned(),
        bytes: run.ended.stdout.clone(),
        files: files.collect(),
    }
}

fn distinguishing(distinguishing: &DistinguishingRun) -> DistinguishingTest {
    let seen = |side: Side| {
        let run = distinguishing.runs.of(side);
        let bytes = std::fs::read(&run.stdout).unwrap_or_default();
        Seen {
            end: run.status.to_string(),
            stdout: String::from_utf8_lossy(&bytes).into_owned(),
            bytes,
            files: BTreeMap::new(),
        }
    };
    DistinguishingTest {
        command: distinguishing.test.command.clone(),
        good: seen(Side::Old),
        bad: seen(Side::New),
    }
}

fn row(
    change: &Change,
    id: ChangeId,
    progress: &Progress,
    changed: &Changed,
    exposed_by: Option<usize>,
) -> ChangeRow {
    let says = |line: &&str| {
        let comment = ["//", "/*", "*", "#if", "#endif"].iter().any(|mark| line.starts_with(mark));
        !comment && line.contains(|c: char| c.is_alphanumeric())
    };
    let first = |lines: &[String]| {
        let of = |is: &dyn Fn(&&str) -> bool| lines.iter().map(|l| l.trim()).find(is).map(str::to_owned);
        of(&says).or_else(|| of(&|line| !line.is_empty()))
    };
    let line = if change.new_lines.is_empty() { change.old_start } else { change.new_start };
    ChangeRow {
        id: id.0,
        file: change.file.clone(),
        line,
        function: change.function.clone(),
        text: first(&change.new_lines).or_else(|| first(&change.old_lines)).unwrap_or_default(),
        reached: progress.reached.contains(&id),
        infected: progress.infected.contains(&id) || exposed_by.is_some(),
        exposed_by,
        without_code: changed.without_code.contains(&id),
    }
}

/// The program with its arguments as a shell command; input files have the names under which they are
/// written.
#[must_use]
pub fn command(subject: &Subject, input: &Input) -> String {
    let info = subject.info(Side::New);
    let directory = Path::new(&info.directory);
    let executable = Path::new(&info.executable);
    let program = match executable.strip_prefix(directory) {
        Ok(inside) => format!("./{}", inside.display()),
        Err(_) => info.arguments.first().map(|name| name.text().into_owned()).unwrap_or_default(),
    };
    let set = subject.changed_environment(input);
    let mut words: Vec<String> =
        set.map(|(name, value)| format!("{name}={}", trials::quoted(value))).collect();
    words.push(program);
    for (number, given) in info.arguments.iter().enumerate().skip(1) {
        let bytes = input.parts.get(&Origin::Argument(number as u32)).cloned();
        words.push(trials::quoted(&bytes.unwrap_or_else(|| given.bytes().to_vec())));
    }
    words.join(" ")
}
