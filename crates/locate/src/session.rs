//! One fault located, from beginning to end.
//!
//! ```text
//! files -> build once with recording -> run the failing test a few times   (does it fail, always?)
//!       -> record it -> observe -> slices of the failure                   (what went wrong)
//!       -> record the pool -> nearest passing run                          (what went differently)
//!       -> branches, values, initial values -> ranked lines                (where to look)
//! ```

use crate::answer::{Effort, Located, Pool, Ran, SCHEMA, SliceSize};
use crate::branches::{Branches, signature};
use crate::entries;
use crate::failure::Failure;
use crate::pool::{Means, Outcome, Passing, Reference, Spectrum};
use crate::search::Case;
use crate::suspicion;
use crate::test::{Test, Verdict};
use crate::{Error, Result};
use explain::answer::{Commit, Place};
use explain::observe::{self, Observed, RunOutput, Sinks, observe};
use recording::Recording;
use replay::process::{LoadedProcess, Options};
use slice::Criterion;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use trials::{Oracle, Recorded, Rule, Run, Setup, Status, Suite, Tools, TrialLimits, Version, Work};

/// A recorded program is slower than a plain one.
const SLOWER: u32 = 100;
const AT_LEAST: Duration = Duration::from_secs(60);
/// Observations of how the program itself ended.
const OWN_END: &[&str] = &["assertion", "abort", "signal", "exit-status", "hang"];
/// Observations of something that ran, or did not, rather than of a value.
const RAN: &[&str] = &["assertion", "abort", "missing-output", "extra-output", "hang"];

/// What is to be located, and with what means.
#[derive(Clone, Debug)]
pub struct Request {
    /// Where the user stands.
    pub here: PathBuf,
    pub build: String,
    /// The failing test.
    pub test: Test,
    /// Tests that may pass.
    pub pool: Vec<Test>,
    pub jobs: usize,
    /// How often the failing test is run to see whether it is flaky.
    pub repeat: usize,
    pub limits: TrialLimits,
    pub tools: Tools,
    /// A directory with the usual names of compilers, for builds that do not ask for `CC`.
    pub compilers: Option<PathBuf>,
    /// Directory for everything that is made on the way.
    pub work: PathBuf,
    pub keep: bool,
    /// The time for looking for passing runs.
    pub budget: Duration,
    /// Inputs near to the failing one that are tried if no test passes.
    pub perturbations: usize,
    /// Solvers, the best first.
    pub solvers: Vec<solver::Command>,
    /// Somebody wants the lines that each run executed.
    pub spectra: bool,
}

/// What happens, for somebody who waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    Building,
    Testing,
    Recording,
    /// What was observed.
    Observed(String),
    Slicing,
    /// A run of the pool has begun.
    Pool {
        run: usize,
        of: usize,
    },
    /// A solver is asked for inputs.
    Generating,
    Comparing,
}

/// Locates the fault. The spectra are those of the failing run and of the runs of the pool, if they
/// are wanted.
///
/// # Errors
/// See [`Error`]; a test that passes and a flaky one are errors.
pub fn locate(
    request: &Request,
    stop: &Arc<AtomicBool>,
    news: &(dyn Fn(&News) + Sync),
) -> Result<(Located, Vec<Spectrum>)> {
    let began = Instant::now();
    let suite = build(request, stop, news)?;
    news(&News::Testing);
    let patience = failing_always(request, &suite)?;
    news(&News::Recording);
    let recorded_patience = (patience * SLOWER).max(AT_LEAST);
    let failing = suite.record(&run_of(&request.test, "failing"), recorded_patience)?;
    let mut located = Located {
        schema: SCHEMA.to_owned(),
        build: request.build.clone(),
        failing: ran(&request.test, &failing, true),
        ..Located::default()
    };
    if request.test.judge(&failing.run) != Verdict::Fail {
        located.notes.push(format!(
            "The recorded run of the failing test did not fail ({}): it depends on time or addresses.",
            failing.run.status
        ));
    }
    let recording = Recording::open(&failing.directory).map_err(|e| Error::Recording(e.to_string()))?;
    let mut observed = observed(&request.test, &failing, &recording);
    if let Some(summary) = against_expected(&observed.observation) {
        observed.observation.summary = summary;
    } else if observed.observation.kind == "unknown" {
        // There is no good version to tell it from.
        observed.observation.summary = format!("the test ended with {}", failing.run.status);
        observed.notes.clear();
    }
    news(&News::Observed(observed.observation.summary.clone()));
    located.observation = observed.observation.clone();
    located.notes.extend(observed.notes.iter().cloned());
    let index = observed.process.min(recording.processes.len().saturating_sub(1));
    let recorded =
        recording.processes.get(index).ok_or_else(|| Error::Recording("it is empty".to_owned()))?;
    let mut process = LoadedProcess::load(&recording, recorded, &Options::default())?;
    observed.prepare(&mut process);
    news(&News::Slicing);
    let criteria = if observed.criteria.is_empty() {
        let (criteria, note) = last_output_or_end(&process)?;
        located.notes.push(note.to_owned());
        criteria
    } else {
        observed.criteria.clone()
    };
    let criteria = with_byte_before(&process, criteria, &observed)?;
    let free = RAN.contains(&observed.observation.kind.as_str());
    let mut failure = Failure::new(&process, &criteria, suite.tree(), free)?;
    located.notes.append(&mut failure.notes);
    located.slice =
        SliceSize { dynamic: failure.dynamic_lines as u32, relevant: failure.relevant_lines as u32 };
    let stream = criteria.first().map_or(0, |criterion| criterion.at.stream);
    let mut until = criteria.iter().map(|c| c.at.step).max().unwrap_or(u64::MAX);
    if observed.observation.kind == "assertion"
        && let Some(own) = failure.own_branch()
    {
        // Every run that passes goes the other way there: it is the failure, not a reason for it.
        until = own.saturating_sub(1);
    }
    let branches = Branches::of_run(&process, stream, until)?;
    let reference = Reference {
        recording: &recording,
        process_index: index,
        process: &process,
        stream,
        branches: &branches,
    };
    let spectra = Mutex::new(Vec::new());
    if request.spectra {
        let own = Spectrum::of(&failing.directory, &failing.tree, Verdict::Fail)?;
        spectra.lock().unwrap_or_else(PoisonError::into_inner).push(own);
    }
    let means = Means {
        spectra: request.spectra.then_some(&spectra),
        suite: &suite,
        patience: recorded_patience,
        hang: request
            .limits
            .test
            .unwrap_or_else(|| Duration::from_secs_f64(failing.run.seconds * 10.0).max(TrialLimits::LEAST)),
        jobs: request.jobs,
        stop,
        until: Instant::now() + request.budget,
    };
    let case = Case { request, means: &means, reference: &reference, recorded, until, news };
    let own_end = OWN_END.contains(&observed.observation.kind.as_str());
    let found = case.search(own_end, &mut located.notes)?;
    news(&News::Comparing);
    located.pool = pool_of(&found.outcome, found.kind);
    if let Some(trouble) = &found.outcome.trouble {
        let unused = found.outcome.unrecorded;
        located.notes.push(format!("{unused} runs could not be used: failed to {trouble}."));
    }
    tell(&mut located, &failure, &reference, &found.outcome, &found.tests)?;
    let mut counts = found.outcome.counts;
    let (_, coverage) = signature(&process, stream)?;
    counts.add(&coverage, false);
    if counts.says_something() {
        let relative = |path: &str| failure.traced.relative(path);
        let suspicion = counts.lines(&process, &coverage, &relative);
        entries::add_executed(&mut located.lines, &failure, suspicion.keys());
        suspicion::join(&mut located.lines, &suspicion);
    }
    blame(request, &suite, &mut located);
    let (builds, runs) = suite.effort();
    located.effort = Effort { builds, runs, seconds: began.elapsed().as_secs_f64() };
    Ok((located, spectra.into_inner().unwrap_or_else(PoisonError::into_inner)))
}

/// Fills in what the runs say.
fn tell(
    located: &mut Located,
    failure: &Failure<'_>,
    reference: &Reference<'_>,
    outcome: &Outcome,
    tests: &[Test],
) -> Result<()> {
    if let Some(nearest) = outcome.best() {
        located.same_control_flow = nearest.difference.positions().is_empty();
        located.passing = tests.get(nearest.number).map(|test| ran(test, &nearest.recorded, true));
        let passing = Passing::open(nearest, reference)?;
        located.branches = entries::branches(failure, reference.stream, reference.branches, &passing)?;
    }
    // A run that takes the same way has a partner for every value.
    if let Some(same) = outcome.same_flow.as_ref().or(outcome.nearest.as_ref()) {
        if Some(same.number) != outcome.best().map(|best| best.number) {
            located.values_from = tests.get(same.number).map(|test| ran(test, &same.recorded, true));
        }
        let passing = Passing::open(same, reference)?;
        located.values = entries::values(failure, reference.stream, &passing)?;
    }
    located.initial = entries::initial(failure);
    located.lines =
        entries::lines(failure, reference.stream, &located.branches, &located.values, &located.initial);
    Ok(())
}

/// The commit that last touched each reported line.
fn blame(request: &Request, suite: &Suite, located: &mut Located) {
    let Ok(version) = Version::resolve(".", &request.here) else { return };
    let Some(repository) = version.repository() else { return };
    let commit = |place: &Place| {
        let text = suite.tree().join(&place.file);
        let found = trials::commit_of_line(repository, &text, &place.file, place.line);
        found.as_ref().map(Commit::from)
    };
    for entry in &mut located.branches {
        entry.commit = commit(&entry.place);
    }
    for entry in &mut located.values {
        entry.commit = commit(&entry.place);
    }
    for entry in &mut located.initial {
        entry.commit = commit(&entry.place);
    }
}

fn pool_of(outcome: &Outcome, kind: &str) -> Pool {
    Pool {
        kind: kind.to_owned(),
        runs: outcome.runs,
        passed: outcome.passed,
        failed: outcome.failed,
        unresolved: outcome.unresolved,
        unrecorded: outcome.unrecorded,
        compared: outcome.compared,
    }
}

fn build(request: &Request, stop: &Arc<AtomicBool>, news: &dyn Fn(&News)) -> Result<Suite> {
    let work = Work::open(&request.work, request.keep)?;
    let version = Version::resolve(".", &request.here)?;
    let files = work.sources("located");
    version.check_out(&files, work.root())?;
    let rule = request.test.expected.clone().map_or(Rule::Exit, Rule::Expect);
    let setup = Setup {
        bad: files,
        subdirectory: version.subdirectory.clone(),
        build: trials::with_compilers(&request.build, request.compilers.as_deref()),
        test: request.test.command.clone(),
        suite: None,
        stdin: None,
        oracle: Oracle { rule, observe: Vec::new() },
        tools: request.tools.clone(),
        jobs: request.jobs.max(1),
        repeat: request.repeat,
        limits: request.limits,
    };
    news(&News::Building);
    let mut suite = Suite::open(work, setup, stop.clone())?;
    suite.build()?;
    Ok(suite)
}

/// Runs the failing test as often as asked for; how long any other test may take.
fn failing_always(request: &Request, suite: &Suite) -> Result<Duration> {
    let limit = request.limits.test.unwrap_or(TrialLimits::GOOD);
    let mut verdicts = Vec::new();
    let mut slowest: f64 = 0.0;
    for _ in 0..request.repeat.max(1) {
        let run = suite.run(&run_of(&request.test, "plain"), limit)?;
        if let Status::Exit(code @ (126 | 127)) = run.status {
            let said = std::fs::read_to_string(&run.stderr).unwrap_or_default();
            let why = said.lines().last().map_or_else(|| format!("exit {code}"), str::to_owned);
            return Err(Error::TestNotRun { why });
        }
        verdicts.push((request.test.judge(&run), run.status));
        slowest = slowest.max(run.seconds);
        if run.status == Status::TimedOut {
            break;
        }
    }
    let failed = verdicts.iter().filter(|v| v.0 == Verdict::Fail).count();
    match verdicts.first() {
        Some((verdict, status)) if failed == 0 => {
            let why = match verdict {
                Verdict::Unresolved => format!("it cannot tell ({status})"),
                _ => format!("it passes ({status})"),
            };
            Err(Error::DoesNotFail { why })
        }
        _ if failed < verdicts.len() => {
            Err(Error::Flaky { why: format!("it failed in {failed} of {} runs", verdicts.len()) })
        }
        _ => Ok(request
            .limits
            .test
            .unwrap_or_else(|| Duration::from_secs_f64(slowest * 10.0).max(TrialLimits::LEAST))),
    }
}

fn run_of<'t>(test: &'t Test, name: &'t str) -> Run<'t> {
    Run { name, command: &test.command, stdin: test.stdin.as_deref(), files: &test.files }
}

fn ran(test: &Test, recorded: &Recorded, kept: bool) -> Ran {
    Ran {
        command: test.command.clone(),
        end: recorded.run.status.to_string(),
        input: test.input.clone(),
        recording: kept.then(|| recorded.directory.display().to_string()),
    }
}

/// What went wrong: held against what was expected, since no run of another version is there.
fn observed(test: &Test, failing: &Recorded, recording: &Recording) -> Observed {
    let bad = RunOutput::from(&failing.run);
    let good = RunOutput {
        exit: Some(0),
        stdout: test.expected.clone().unwrap_or_else(|| bad.stdout.clone()),
        stderr: bad.stderr.clone(),
        ..RunOutput::default()
    };
    let run = |recording, output| observe::Run { recording, root: &failing.tree, output };
    let sinks = Sinks { stdout: test.expected.is_some(), stderr: false, files: false };
    let same = |file: &str, line: u32| Some((file.to_owned(), line));
    observe(run(None, &good), run(Some(recording), &bad), &same, sinks).unwrap_or_else(|error| Observed {
        observation: explain::answer::Observation {
            kind: "unknown".to_owned(),
            summary: format!("the test ended with {}", failing.run.status),
            ..Default::default()
        },
        notes: vec![format!("What was observed could not be placed: failed to {error}.")],
        ..Observed::default()
    })
}

/// What to ask about if nothing inside the program is seen to be wrong: what it wrote last, which
/// somebody else found wrong, or else its end.
fn last_output_or_end(process: &LoadedProcess) -> Result<(Vec<Criterion>, &'static str)> {
    let slicer = slice::Slicer::new(process, slice::SlicerOptions::default());
    for stream in 0..process.streams.len() as u32 {
        let written = slicer.io(stream)?.events.iter().filter(|event| event.out && event.length > 0);
        let ends: Vec<u64> = written.map(|event| event.offset + event.length - 1).collect();
        for end in ends.into_iter().rev() {
            if let Some(criterion) = slicer.ask_output("stdout", end)? {
                let note =
                    "What is wrong was found outside of the program: it is asked about what it wrote last.";
                return Ok((vec![criterion], note));
            }
        }
    }
    let note = "What is wrong could not be seen inside the program: it is asked about its end.";
    Ok((slicer.ask_failure()?.into_iter().collect(), note))
}

/// Which byte stands where depends on what was written before it: without the byte before, nothing
/// of a loop that wrote too few would be seen.
fn with_byte_before(
    process: &LoadedProcess,
    mut criteria: Vec<Criterion>,
    observed: &Observed,
) -> Result<Vec<Criterion>> {
    if let Some(output) = &observed.observation.output
        && let Some(before) = output.offset.checked_sub(1)
        && !output.bad.is_empty()
    {
        let slicer = slice::Slicer::new(process, slice::SlicerOptions::default());
        let more = slicer.ask_output(&output.sink, before)?;
        let latest = criteria.iter().map(|c| c.at).max();
        criteria.extend(more.filter(|criterion| latest.is_some_and(|at| criterion.at < at)));
    }
    Ok(criteria)
}

/// The sentence for an output that differs: it was expected, not printed by another version.
fn against_expected(observation: &explain::answer::Observation) -> Option<String> {
    let output = observation.output.as_ref()?;
    let place = observation
        .place
        .as_ref()
        .map(|place| format!("; written in {} ({}:{})", place.function, place.file, place.line));
    Some(format!(
        "line {} of {} is `{}`, expected `{}`{}",
        output.line,
        output.sink,
        output.bad,
        output.good,
        place.unwrap_or_default()
    ))
}
