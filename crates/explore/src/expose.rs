//! Inputs on which two versions behave differently: the whole search.
//!
//! ```text
//! versions -> built plain and with recording -> tests run by both        (those that differ already)
//!          -> the program in each test, and its input -> pool
//!          -> worker 1: mutations, run by both plain builds              (the wide doors)
//!          -> worker 2: recorded, followed, solved for, run              (the narrow ones)
//!          -> worker 3: both explored, group by group, pairs solved for  (many changes at once)
//!          -> every difference seen twice -> made small -> per change: reached, infected, exposed
//! ```

use crate::changed::{Changed, Code};
use crate::contracts::{ContractOptions, Contracts};
use crate::error::{Error, Result};
use crate::exposed::{self, Exposed};
use crate::fuzz::{FuzzWorker, run_candidate};
use crate::mutate::words;
use crate::pairs::Comparing;
use crate::reach::{Progress, SolverWorker};
use crate::shared::{Exposure, FoundBy, Seed, Shared};
use crate::shrink::minimised;
use crate::subject::Subject;
use crate::versions::{BuildSetup, Versions, name, not_run};
use alternate::{Both, Side, with_stop_flag};
use locate::test::Test;
use solver::{Command, Limits, Settings};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use trials::{TestRun, TrialLimits};

/// What to compare, and the limits and tools of the search.
#[derive(Clone, Debug)]
pub struct Request {
    /// The good version: a revision or a directory.
    pub good: String,
    /// The bad version: a revision or a directory.
    pub bad: String,
    /// How both versions are built.
    pub workshop: BuildSetup,
    /// The tests whose programs and inputs the search begins with.
    pub tests: Vec<Test>,
    /// Time limit of the search for inputs, after both versions are built.
    pub budget: Duration,
    /// Solvers, the best first.
    pub solvers: Vec<Command>,
    /// The workers that look for inputs.
    pub workers: Workers,
    /// Makes sessions repeatable.
    pub seed: u64,
    /// Intended changes are not reported.
    pub contracts: Option<ContractOptions>,
}

/// Which of the workers look for inputs. One alone is for comparing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Workers {
    /// All workers.
    #[default]
    Both,
    /// Only mutations, run by the plain builds.
    Mutations,
    /// Only the solver, with the comparison of groups.
    Solver,
    /// Both versions explored, and compared group by group.
    Signatures,
}

/// A progress event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgressEvent {
    /// Both versions are built.
    Building,
    /// A test is run with both versions.
    Testing {
        /// The number of the test, from 0.
        test: usize,
        /// Number of tests.
        of: usize,
    },
    /// A test is recorded with the bad version.
    Recording {
        /// The number of the test, from 0.
        test: usize,
        /// Number of tests that are recorded.
        of: usize,
    },
    /// The workers have started.
    Searching,
    /// The workers have ended; inputs are minimised.
    Finishing,
}

/// Timeout of one solver query: there are many.
const QUERY_TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum number of tests whose programs run with other inputs.
const MAX_TESTS: usize = 40;
/// Comparing groups starts after `FIRST`, or 1/`PART` of the time if that is less, because the other
/// workers find most differences at once.
const FIRST: Duration = Duration::from_secs(4);
const PART: u32 = 6;
/// Limits of minimising: runs for one input, and time for all.
const MAX_MINIMISING_RUNS: usize = 300;
const MINIMISING_TIME: Duration = Duration::from_secs(10);

/// A test that distinguishes the versions.
pub(crate) struct DistinguishingRun {
    pub test: Test,
    pub runs: Both<TestRun>,
}

/// Searches for inputs on which the versions differ.
///
/// # Errors
/// See [`Error`]. That there is no difference is not an error.
pub fn expose(
    request: &Request,
    stop: &Arc<AtomicBool>,
    news: &(dyn Fn(&ProgressEvent) + Sync),
) -> Result<Exposed> {
    let began = Instant::now();
    news(&ProgressEvent::Building);
    let versions = request.workshop.versions(&request.good, &request.bad, stop)?;
    let built = began.elapsed();
    let scratch = versions.builds.new.recorded.work().fresh_tmp("inputs")?;
    let mut distinguishing = distinguishing(request, &versions, stop, news)?;
    let contracts = request.contracts.as_ref().map(|given| Contracts::new(given, &versions)).transpose()?;
    let (subjects, seeds, mut notes) = subjects(request, &versions, &scratch, stop, news)?;
    let changed = located(&subjects, &seeds, &versions)?;
    news(&ProgressEvent::Searching);
    let search = Instant::now();
    let same_programs = !subjects.is_empty() && subjects.iter().all(Subject::is_same_program);
    let budget = if same_programs { Duration::ZERO } else { request.budget };
    let shared = Shared::default();
    for seed in &seeds {
        shared.add(seed);
        shared.send(seed.clone());
        run_candidate(&subjects, &shared, seed, FoundBy::Test, search);
    }
    let progress = run_workers(
        request,
        &Search {
            subjects: &subjects,
            seeds: &seeds,
            versions: &versions,
            changed: &changed,
            shared: &shared,
            began: search,
            until: search + budget,
            stop,
            continue_when_exposed: contracts.is_some(),
        },
    );
    if let Some(error) = &progress.not_followed {
        notes.push(format!(
            "Some runs were not followed, so that no solver was asked about them: failed to {error}."
        ));
    }
    news(&ProgressEvent::Finishing);
    let searched = search.elapsed();
    let mut found: Vec<(usize, Exposure)> = shared.exposures(0).into_iter().enumerate().collect();
    let intended = match &contracts {
        Some(contracts) => contracts.remove(&subjects, &mut found, &mut distinguishing)?,
        None => 0,
    };
    let exposures = chosen(&subjects, found, &progress, stop);
    Ok(exposed::summary(&exposed::SearchSummary {
        request,
        versions: &versions,
        changed: &changed,
        subjects: &subjects,
        distinguishing: &distinguishing,
        exposures: &exposures,
        progress: &progress,
        runs: shared.runs.load(Ordering::Relaxed),
        built,
        searched,
        notes,
        intended,
        same_programs,
        interrupted: stop.load(Ordering::Relaxed),
    }))
}

/// The shared context of the workers.
pub(crate) struct Search<'s> {
    pub subjects: &'s [Subject],
    pub seeds: &'s [Seed],
    pub versions: &'s Versions,
    pub changed: &'s Changed,
    pub shared: &'s Shared,
    pub began: Instant,
    pub until: Instant,
    pub stop: &'s AtomicBool,
    pub continue_when_exposed: bool,
}

pub(crate) fn run_workers(request: &Request, search: &Search<'_>) -> Progress {
    let is_over = || search.shared.is_over(search.until, search.stop);
    with_stop_flag(&is_over, |over| run_workers_until(over, request, search))
}

fn run_workers_until(over: &AtomicBool, request: &Request, search: &Search<'_>) -> Progress {
    let &Search { subjects, seeds, versions, changed, shared, began, until, stop, continue_when_exposed } =
        search;
    let settings = Settings {
        commands: request.solvers.clone(),
        limits: Limits { timeout: QUERY_TIMEOUT, ..Limits::default() },
        ..Settings::default()
    };
    let words = source_words(versions);
    let reaching = SolverWorker {
        subjects,
        versions,
        changed,
        shared,
        settings: &settings,
        began,
        until,
        stop,
        over,
        continue_when_exposed,
    };
    let alone = request.workers == Workers::Signatures;
    let from = if alone { Duration::ZERO } else { FIRST.min(until.saturating_duration_since(began) / PART) };
    let from = began + from;
    let comparing = Comparing { subjects, seeds, shared, settings: &settings, began, from, until, stop };
    if alone {
        let signatures = comparing.work();
        shared.done.store(true, Ordering::Relaxed);
        return Progress { signatures, ..reaching.work() };
    }
    let fuzzing = FuzzWorker { subjects, shared, words: &words, began, until, stop, seed: request.seed };
    std::thread::scope(|scope| {
        let fuzz = scope.spawn(|| {
            if request.workers != Workers::Solver {
                fuzzing.work()
            }
        });
        if request.workers == Workers::Mutations {
            wait_for_exposure(&fuzzing, shared);
            shared.done.store(true, Ordering::Relaxed);
            let _ = fuzz.join();
            // Only attributes the exposures to changes.
            return reaching.work();
        }
        let signatures = scope.spawn(|| comparing.work());
        let mut progress = reaching.work();
        shared.done.store(true, Ordering::Relaxed);
        let _ = fuzz.join();
        progress.signatures = signatures.join().unwrap_or_default();
        progress
    })
}

/// Waits until there is an exposure, or the search is over.
fn wait_for_exposure(fuzzing: &FuzzWorker<'_>, shared: &Shared) {
    while !shared.is_over(fuzzing.until, fuzzing.stop) {
        if !shared.exposures(0).is_empty() {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Tests that distinguish the versions unchanged.
fn distinguishing(
    request: &Request,
    versions: &Versions,
    stop: &AtomicBool,
    news: &dyn Fn(&ProgressEvent),
) -> Result<Vec<DistinguishingRun>> {
    let time = request.workshop.limits.test.unwrap_or(TrialLimits::GOOD);
    let mut found = Vec::new();
    for (number, test) in request.tests.iter().enumerate() {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        news(&ProgressEvent::Testing { test: number, of: request.tests.len() });
        let run = |round: &str| {
            Both::try_from(|side| versions.builds.of(side).run(test, &format!("test-{number}-{round}"), time))
        };
        let runs = run("first")?;
        for side in [Side::Old, Side::New] {
            if let Some(why) = not_run(runs.of(side)) {
                return Err(Error::TestNotRun { version: name(side), why });
            }
        }
        if seen(&runs.old) != seen(&runs.new) {
            let again = run("again")?;
            let same = seen(&again.old) == seen(&runs.old) && seen(&again.new) == seen(&runs.new);
            if same {
                found.push(DistinguishingRun { test: test.clone(), runs });
            }
        }
    }
    Ok(found)
}

/// The part of a test's run that is compared.
fn seen(run: &TestRun) -> (trials::Status, Vec<u8>) {
    (run.status, std::fs::read(&run.stdout).unwrap_or_default())
}

/// The programs that tests run, each once, and the inputs of the tests.
#[allow(clippy::type_complexity)]
pub(crate) fn subjects(
    request: &Request,
    versions: &Versions,
    scratch: &Path,
    stop: &AtomicBool,
    news: &dyn Fn(&ProgressEvent),
) -> Result<(Vec<Subject>, Vec<Seed>, Vec<String>)> {
    let time = request.workshop.limits.test.unwrap_or(TrialLimits::GOOD);
    let mut subjects: Vec<Subject> = Vec::new();
    let mut seeds = Vec::new();
    let mut notes = Vec::new();
    let mut first_error = None;
    for (number, test) in request.tests.iter().take(MAX_TESTS).enumerate() {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        news(&ProgressEvent::Recording { test: number, of: request.tests.len().min(MAX_TESTS) });
        let began = Instant::now();
        let found = Subject::of_test(versions, test, &format!("seed-{number}"), time, scratch);
        let (subject, input) = match found {
            Ok(found) => found,
            Err(
                error @ (Error::Trials(trials::Error::Cancelled) | Error::Trials(trials::Error::NotPrepared)),
            ) => {
                return Err(error);
            }
            Err(error) => {
                first_error.get_or_insert(error);
                continue;
            }
        };
        let subject = subject.with_time(began.elapsed().as_secs_f64().min(2.0) / 4.0, scratch);
        let known = subjects.iter().position(|s| s.is_same_invocation(&subject));
        let index = known.unwrap_or_else(|| {
            subjects.push(subject);
            subjects.len() - 1
        });
        seeds.push(Seed { subject: index, input });
    }
    match first_error {
        Some(error) if subjects.is_empty() => return Err(error),
        Some(error) => notes.push(format!("Some tests gave no input to begin with: failed to {error}.")),
        None => {}
    }
    if request.tests.len() > MAX_TESTS {
        notes.push(format!("Only the inputs of the first {MAX_TESTS} tests were varied."));
    }
    Ok((subjects, seeds, notes))
}

/// Locates the changes in the code of all programs that the tests run.
pub(crate) fn located(subjects: &[Subject], seeds: &[Seed], versions: &Versions) -> Result<Changed> {
    let mut all: Option<Changed> = None;
    let mut programs: Vec<&str> = Vec::new();
    for (number, subject) in subjects.iter().enumerate() {
        let program = subject.info(Side::New).executable.as_str();
        let Some(seed) = seeds.iter().find(|s| s.subject == number) else { continue };
        if programs.contains(&program) {
            continue;
        }
        programs.push(program);
        let runs = Both::try_from(|side| subject.record_any(side, &seed.input))?;
        let tree = |side: Side| versions.builds.of(side).recorded.tree();
        let code = Both {
            old: Code { image: &runs.old.process.image, tree: tree(Side::Old) },
            new: Code { image: &runs.new.process.image, tree: tree(Side::New) },
        };
        let changed = Changed::new(&versions.difference, &code);
        match &mut all {
            Some(all) => all.merge(changed),
            None => all = Some(changed),
        }
    }
    Ok(all.unwrap_or_default())
}

/// Tokens of the files that differ, in both versions.
fn source_words(versions: &Versions) -> Vec<Vec<u8>> {
    let mut files: Vec<PathBuf> = Vec::new();
    for change in versions.difference.changes() {
        for side in [Side::Old, Side::New] {
            let tree = versions.builds.of(side).plain.tree();
            let file = change.old_file.as_ref().filter(|_| side == Side::Old).unwrap_or(&change.file);
            files.push(tree.join(file));
        }
    }
    files.sort();
    files.dedup();
    words(files.iter().map(PathBuf::as_path))
}

/// The exposures to report: one for each change, minimised.
fn chosen(
    subjects: &[Subject],
    found: Vec<(usize, Exposure)>,
    progress: &Progress,
    stop: &AtomicBool,
) -> Vec<(usize, Exposure)> {
    let mut list = Vec::new();
    let is_there = |number: &usize| found.iter().any(|(n, _)| n == number);
    let needed: Vec<usize> = progress.exposed.values().copied().filter(is_there).collect();
    for (number, exposure) in found {
        // One that exposes no further change is not needed, unless no exposure was attributed.
        if needed.contains(&number) || needed.is_empty() && list.is_empty() {
            list.push((number, exposure));
        }
    }
    let until = Instant::now() + MINIMISING_TIME;
    let mut left = list.len() as u32;
    for (_, exposure) in &mut list {
        let now = Instant::now();
        minimise(subjects, exposure, now + until.saturating_duration_since(now) / left, stop);
        left -= 1;
    }
    // Those of tests come first, because they need no new test.
    list.sort_by_key(|(number, e)| (e.means != FoundBy::Test, *number));
    list
}

fn minimise(subjects: &[Subject], exposure: &mut Exposure, until: Instant, stop: &AtomicBool) {
    let Some(subject) = subjects.get(exposure.seed.subject) else { return };
    if exposure.means == FoundBy::Test {
        return;
    }
    let (old, new) = (exposure.outcomes.old.ended.status, exposure.outcomes.new.ended.status);
    let mut alike = |input: &symbolic::Input| {
        if stop.load(Ordering::Relaxed) || Instant::now() >= until {
            return false;
        }
        subject
            .run_both(input)
            .is_ok_and(|o| o.old != o.new && o.old.ended.status == old && o.new.ended.status == new)
    };
    let small = minimised(&exposure.seed.input, MAX_MINIMISING_RUNS, &mut alike);
    if let Ok(outcomes) = subject.run_both(&small)
        && subject.confirmed(&small, &outcomes).unwrap_or(false)
    {
        exposure.seed.input = small;
        exposure.outcomes = outcomes;
    }
}
