//! One fault localisation, from the request to the report.
//!
//! ```text
//! files -> build once with recording -> run the failing test a few times   (does it fail, always?)
//!       -> record it -> observe -> slices of the failure                   (what went wrong)
//!       -> record the pool -> nearest passing run                          (how it differs)
//!       -> run that one again                                              (does it pass, always?)
//!       -> branches, values, initial values -> ranked lines                (suspicious lines)
//! ```

use crate::answer::{Effort, Located, Pool, Ran, SCHEMA, SliceSize};
use crate::branches::{Branches, signature};
use crate::coverage;
use crate::dataflow::Aligned;
use crate::entries;
use crate::failure::Failure;
use crate::memory::{self, PoolStore};
use crate::observation::{against_expected, failed_tap, last_output_or_end, observed, with_byte_before};
use crate::pool::{Outcome, Passing, Reference, RunContext};
use crate::prepare::{build_as, check_fails, note_flaky_test, run_of, with_suite};
use crate::right_output;
use crate::search::Case;
use crate::suspicion;
use crate::test::{Test, Verdict};
use crate::upstream::{self, Upstream};
use crate::{Error, Result};
use explain::answer::{Commit, Place};
use recording::Recording;
use recording::argument::Argument;
use replay::process::{LoadedProcess, Options};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use trials::{Mode, Recorded, Suite, Tools, TrialLimits, Version};

/// Kinds of observations about how the program itself ended.
const OWN_END: &[&str] = &["assertion", "abort", "signal", "exit-status", "hang"];
/// Kinds of observations that something was executed, or was not, rather than of a value.
const RAN: &[&str] = &["assertion", "abort", "missing-output", "extra-output", "hang"];

/// What to locate, and the limits and tools.
#[derive(Clone, Debug)]
pub struct Request {
    /// The user's current directory.
    pub here: PathBuf,
    /// The shell command that builds the program.
    pub build: String,
    /// The failing test; a command that is the name of a test of the pool selects that test.
    pub test: Test,
    /// Tests that may pass.
    pub pool: Vec<Test>,
    /// A directory of the built tree with tests of CTest, relative to where the build runs.
    pub ctest: Option<PathBuf>,
    /// Number of tests that run at the same time.
    pub jobs: usize,
    /// How often the failing test is run to detect flakiness.
    pub repeat: usize,
    /// Limits of the build and of each run.
    pub limits: TrialLimits,
    /// The compiler wrappers and other programs that trials need.
    pub tools: Tools,
    /// A directory with the usual names of compilers, for builds that do not use `CC`.
    pub compilers: Option<PathBuf>,
    /// Directory for all intermediate files.
    pub work: PathBuf,
    /// Whether to keep intermediate files, including all recordings.
    pub keep: bool,
    /// Time limit of the search for passing runs.
    pub budget: Duration,
    /// Maximum number of inputs close to the failing one that are tried if no test passes.
    pub perturbations: usize,
    /// Solvers, the best first.
    pub solvers: Vec<solver::Command>,
}

/// A progress event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgressEvent {
    /// The program is built.
    Building,
    /// The failing test is run without a comparison, to see that it always fails.
    Testing,
    /// The failing test is recorded.
    Recording,
    /// A summary of what was observed.
    Observed(String),
    /// The failing run is sliced.
    Slicing,
    /// A run of the pool has started.
    Pool {
        /// The number of the run in the pool, from 0.
        run: usize,
        /// Number of runs of the pool.
        of: usize,
    },
    /// The failing input is being minimised.
    Reducing,
    /// A solver is being queried for inputs.
    Generating,
    /// The failing run is compared with the nearest passing one.
    Comparing,
}

/// Locates the fault. Where the failing test cannot be recorded or replayed, by coverage only.
///
/// # Errors
/// See [`Error`]; a test that passes and a flaky one are errors.
pub fn locate(
    request: &Request,
    stop: &Arc<AtomicBool>,
    news: &(dyn Fn(&ProgressEvent) + Sync),
) -> Result<Located> {
    let recorded = by_recordings(request, stop, news);
    let why = match &recorded {
        Err(error) if error.is_recording_error() => {
            format!("The failing test could not be recorded: failed to {error}.")
        }
        Ok(located) if located.is_incomparable() => {
            "No test that passes runs the same program as the failing \
             one: their branches cannot be compared."
                .to_owned()
        }
        _ => return recorded,
    };
    match coverage::locate(request, &why, stop, news) {
        // Without coverage, the result that there is.
        Err(Error::Coverage { .. }) => recorded,
        located => located,
    }
}

fn by_recordings(
    request: &Request,
    stop: &Arc<AtomicBool>,
    news: &(dyn Fn(&ProgressEvent) + Sync),
) -> Result<Located> {
    let began = Instant::now();
    let suite = build_as(request, Mode::Instrument, stop, news)?;
    let (request, unlisted) = &with_suite(request, &suite)?;
    news(&ProgressEvent::Testing);
    let timeouts = check_fails(request, &suite)?;
    news(&ProgressEvent::Recording);
    let failing = suite.record(&run_of(&request.test, "failing"), timeouts.of_recording())?;
    let mut located = Located {
        schema: SCHEMA.to_owned(),
        build: request.build.clone(),
        failing: ran(&request.test, &failing, true),
        notes: timeouts.note().into_iter().collect(),
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
        // There is no good version to compare it with.
        observed.observation.summary = format!("the test ended with {}", failing.run.status);
        observed.notes.clear();
    }
    news(&ProgressEvent::Observed(observed.observation.summary.clone()));
    located.observation = observed.observation.clone();
    located.notes.extend(observed.notes.iter().chain(unlisted).cloned());
    let mut index = observed.process.min(recording.processes.len().saturating_sub(1));
    let mut recorded =
        recording.processes.get(index).ok_or_else(|| Error::Recording("it is empty".to_owned()))?;
    let mut process = LoadedProcess::load(&recording, recorded, &Options::default())?;
    observed.prepare(&mut process);
    news(&ProgressEvent::Slicing);
    if let Some((summary, criterion)) = failed_tap(&request.test, &failing, &process)? {
        (located.observation.kind, located.observation.summary) = ("output".to_owned(), summary);
        observed.criteria = vec![criterion];
    }
    let criteria = if observed.criteria.is_empty() {
        let (criteria, note) = last_output_or_end(&process)?;
        located.notes.push(note.to_owned());
        criteria
    } else {
        observed.criteria.clone()
    };
    let mut criteria = criteria;
    let sender = upstream::computed(&recording, index, &process, &criteria)?;
    let is_passed_on = sender.is_some();
    if let Some(sender) = sender {
        located.notes.push(passed_on(&recording, &sender));
        (index, process, criteria) = (sender.process, sender.loaded, sender.criteria);
        recorded = &recording.processes[index];
    } else {
        criteria = with_byte_before(&process, criteria, &observed)?;
    }
    located.notes.extend(other_processes(&recording, recorded));
    let free = RAN.contains(&observed.observation.kind.as_str());
    let mut failure = Failure::new(&process, &criteria, suite.tree(), free)?;
    located.notes.append(&mut failure.notes);
    located.slice =
        SliceSize { dynamic: failure.dynamic_lines.len() as u32, relevant: failure.relevant_lines as u32 };
    let stream = criteria.first().map_or(0, |criterion| criterion.at.stream);
    let mut until = criteria.iter().map(|c| c.at.step).max().unwrap_or(u64::MAX);
    if observed.observation.kind == "assertion"
        && let Some(own) = failure.own_branch()
    {
        // Every run that passes takes the other direction there: it is the failure, not a reason for it.
        until = own.saturating_sub(1);
    }
    let branches = Branches::of_run(&process, stream, until)?;
    located.notes.extend(branches.note());
    let reference = Reference {
        recording: &recording,
        process_index: index,
        process: &process,
        stream,
        branches: &branches,
    };
    let memory = PoolStore::open(
        &suite.work().root().join("pool"),
        identity(request, &suite, &branches),
        &request.pool,
    )?;
    if !memory.is_empty() {
        located.notes.push(format!("{} runs of the pool are known from an earlier call.", memory.len()));
    }
    let hang =
        request.limits.test.or(timeouts.hung).unwrap_or_else(|| {
            Duration::from_secs_f64(failing.run.seconds * 10.0).max(TrialLimits::MIN_TIMEOUT)
        });
    let means = RunContext {
        memory: Some(&memory),
        same_end: None,
        keep: request.keep,
        suite: &suite,
        hang,
        jobs: request.jobs,
        stop,
        until: Instant::now() + request.budget,
    };
    let status = failing.run.status;
    let case = Case { request, means: &means, reference: &reference, recorded, until, status, news };
    let own_status = OWN_END.contains(&observed.observation.kind.as_str());
    let found = case.search(own_status, &mut located.notes)?;
    if found.outcome.hung > 0 {
        let (hung, seconds) = (found.outcome.hung, means.hang.as_secs_f64());
        located.notes.push(format!(
            "{hung} of these runs did not end within {seconds:.0} s and count as failed; --timeout gives them longer."
        ));
    }
    if found.all_given {
        memory.forget();
    }
    note_flaky_test(request, &suite, &found, timeouts.timeout, &mut located.notes)?;
    news(&ProgressEvent::Comparing);
    located.pool = pool_of(&found.outcome, found.kind);
    if let Some(first_error) = &found.outcome.first_error {
        let unused = found.outcome.unrecorded;
        located.notes.push(format!("{unused} runs could not be used: failed to {first_error}."));
    }
    fill_results(&mut located, &failure, &reference, &found.outcome, &found.tests)?;
    let mut counts = found.outcome.counts;
    // A loop without end continues as it began.
    let last = if timeouts.hung.is_some() { until } else { u64::MAX };
    let (_, coverage) = signature(&process, stream, last)?;
    counts.add(&coverage, false);
    let pool = counts.weight().map(|weight| {
        let relative = |path: &str| failure.traced.relative(path);
        (weight, counts.lines(&process, &coverage, &relative))
    });
    if let Some((_, pool)) = &pool {
        entries::add_executed(&mut located.lines, &failure, pool.keys());
    }
    let right = match (&request.test.expected, &observed.observation.output) {
        (Some(expected), Some(output)) if output.sink == "stdout" && !is_passed_on => {
            let written = std::fs::read(&failing.run.stdout).unwrap_or_default();
            right_output::suspicion(&failure, &output.sink, &written, expected)?
        }
        _ => suspicion::Suspicion::new(),
    };
    suspicion::join(&mut located.lines, pool.as_ref().map(|(weight, pool)| (*weight, pool)), &right);
    entries::fold(&mut located.lines);
    blame(request, &suite, &mut located);
    let (builds, runs) = suite.effort();
    located.effort = Effort { builds, runs, seconds: began.elapsed().as_secs_f64() };
    Ok(located)
}

fn command_line(process: &recording::Process) -> String {
    let words: Vec<_> = process.info.arguments.iter().map(Argument::text).collect();
    words.join(" ")
}

/// Says which processes only passed on what is wrong.
fn passed_on(recording: &Recording, sender: &Upstream) -> String {
    let command = |process: &usize| format!("`{}`", command_line(&recording.processes[*process]));
    let passed: Vec<String> = sender.passed.iter().map(command).collect();
    let from = command(&sender.process);
    format!("What is wrong is only passed on by {}: {from} sent it.", passed.join(" and "))
}

/// Says so if the test ran other processes too: what they sent or gave is input here.
fn other_processes(recording: &Recording, failing: &recording::Process) -> Option<String> {
    let others = recording.processes.len().checked_sub(1).filter(|others| *others > 0)?;
    let processes = if others == 1 { "process" } else { "processes" };
    let command = command_line(failing);
    Some(format!(
        "The lines are of one process, `{command}`; the test ran {others} more recorded {processes}, and what \
         came from there is not followed."
    ))
}

/// Fills in the results of the runs.
fn fill_results(
    located: &mut Located,
    failure: &Failure<'_>,
    reference: &Reference<'_>,
    outcome: &Outcome,
    tests: &[Test],
) -> Result<()> {
    if let Some(nearest) = outcome.best() {
        located.same_control_flow = nearest.difference.positions().is_empty();
        located.passing = tests.get(nearest.number).map(|test| ran(test, &nearest.recorded, true));
        let stream = reference.stream;
        let mut passing = Passing::open(nearest, reference)?;
        let mut aligned = Aligned::new(failure, stream, &passing.process, passing.stream)?;
        located.branches = entries::branches(failure, stream, reference.branches, &passing, &aligned);
        // A run that takes the same path has a partner for every value.
        if let Some(same) = outcome.same_flow.as_ref().filter(|same| same.number != nearest.number) {
            located.values_from = tests.get(same.number).map(|test| ran(test, &same.recorded, true));
            passing = Passing::open(same, reference)?;
            aligned = Aligned::new(failure, stream, &passing.process, passing.stream)?;
        }
        located.values = entries::values(failure, stream, &passing, &aligned);
    }
    located.initial = entries::initial(failure);
    located.lines =
        entries::lines(failure, reference.stream, &located.branches, &located.values, &located.initial);
    Ok(())
}

/// Finds the commit that last touched each reported line.
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

/// Identifies a pool's stored results: the program, how it is built, and the branches of the failing run.
fn identity(request: &Request, suite: &Suite, branches: &Branches) -> u64 {
    let mut hasher = DefaultHasher::new();
    memory::content(&suite.work().sources("located")).hash(&mut hasher);
    (&request.build, &request.test).hash(&mut hasher);
    branches.events().for_each(|event| event.hash(&mut hasher));
    hasher.finish()
}

fn ran(test: &Test, recorded: &Recorded, kept: bool) -> Ran {
    Ran {
        command: test.command.clone(),
        end: recorded.run.status.to_string(),
        input: test.input.clone(),
        recording: kept.then(|| recorded.directory.display().to_string()),
    }
}
