//! One complete check.
//!
//! ```text
//! versions -> build each with recording -> record the tests with each
//!          -> contracts of bad's sources, of a file, of the command line    (the intention)
//!          -> variables that the functions use -> calls with their states   (the behaviour)
//!          -> pairs with equal entry states -> judged                       (do they agree?)
//! ```

use crate::answer::{self, Answer};
use crate::checking::{Checking, NAMES, Runs, Wanted};
use crate::error::{Error, Result};
use crate::find::read_file;
use crate::language::Contract;
use crate::watch::Bounds;
use changes::DiffOptions;
use recording::Recording;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use trials::{Oracle, Recorded, Setup, Status, Suite, TestRun, Tools, TrialLimits, Work};

/// Default timeout of a recorded test.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);

/// What to check, and the tools for it.
#[derive(Clone, Debug)]
pub struct Request {
    /// The user's current directory.
    pub here: PathBuf,
    /// The good version: a revision or a directory.
    pub good: String,
    /// The bad version: a revision or a directory.
    pub bad: String,
    /// The shell command that builds a version.
    pub build: String,
    /// The shell commands of the tests; each is run once with each version.
    pub tests: Vec<String>,
    /// A file of contracts; by default `relapse.contracts` of bad, if it exists.
    pub contracts: Option<PathBuf>,
    /// Functions that may not change; an empty list means all.
    pub unchanged: Option<Vec<String>>,
    /// Limits on the calls that are observed.
    pub bounds: Bounds,
    /// Time limit of each recorded test; 120 seconds if none.
    pub timeout: Option<Duration>,
    /// The compiler wrappers and other programs that trials need.
    pub tools: Tools,
    /// A directory with compilers under their usual names, for builds that do not use `CC`.
    pub compilers: Option<PathBuf>,
    /// Directory for all intermediate files.
    pub work: PathBuf,
    /// Whether to keep the intermediate files.
    pub keep: bool,
}

/// Progress events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgressEvent {
    /// The build of this version, "good" or "bad", begins.
    Building(&'static str),
    /// A test is recorded with both versions.
    Recording {
        /// The number of the test, from 1.
        test: usize,
        /// Number of tests.
        of: usize,
    },
    /// Both recordings of a test are replayed.
    Replaying {
        /// The number of the test, from 1.
        test: usize,
        /// Number of tests.
        of: usize,
    },
}

/// Name of the default file of contracts.
pub const FILE: &str = "relapse.contracts";

/// Checks the contracts.
///
/// # Errors
/// See [`Error`]. A violation is not an error.
pub fn check(
    request: &Request,
    stop: &Arc<AtomicBool>,
    news: &(dyn Fn(&ProgressEvent) + Sync),
) -> Result<Answer> {
    let began = Instant::now();
    let (good, bad) = trials::Version::resolve_pair(&request.good, &request.bad, &request.here)?;
    // Paths of the same length: the contents of a program's stack, including its own name, then have the same
    // addresses in both versions, and tables ordered by addresses are the same.
    let works = [request.work.join("old"), request.work.join("new")];
    let mut suites = Vec::new();
    for (n, version) in [&good, &bad].into_iter().enumerate() {
        let work = Work::open(&works[n], request.keep)?;
        let files = work.sources("checked");
        version.check_out(&files, work.root())?;
        suites.push((Suite::open(work, setup(request, version, files.clone()), stop.clone())?, files));
    }
    let difference = changes::difference(&suites[0].1, &suites[1].1, &DiffOptions::default())?;
    build(&mut suites, news)?;
    let wanted = Wanted {
        contracts: contract_file(request, &suites[1].1, &bad.subdirectory)?,
        unchanged: request.unchanged.clone(),
        bounds: request.bounds,
        proofs: true,
    };
    let mut checking = Checking::new(&wanted);
    let map = |file: &str, line: u32| difference.map_line_to_good(file, line);
    let mut tests = Vec::new();
    for (number, test) in request.tests.iter().enumerate() {
        news(&ProgressEvent::Recording { test: number + 1, of: request.tests.len() });
        let one = record(&suites[0].0, request, test, number, 0)?;
        let other = record(&suites[1].0, request, test, number, 1)?;
        tests.push(answer::TestRun {
            command: test.clone(),
            good: one.run.status.to_string(),
            bad: other.run.status.to_string(),
        });
        news(&ProgressEvent::Replaying { test: number + 1, of: request.tests.len() });
        let open = |recorded: &Recorded| {
            Recording::open(&recorded.directory).map_err(|e| Error::Recording(e.to_string()))
        };
        let recordings = [&open(&one)?, &open(&other)?];
        checking.test(number, &Runs { recordings, trees: [&one.tree, &other.tree], map: &map })?;
        for (n, recorded) in [one, other].into_iter().enumerate() {
            if let Some(why) = &recorded.incomplete {
                checking
                    .notes
                    .push(format!("The recording of {} with {test} is incomplete: {why}.", NAMES[n]));
            }
        }
    }
    let mut answer = checking.finish()?;
    (answer.good, answer.bad, answer.tests) = (request.good.clone(), request.bad.clone(), tests);
    answer.seconds = began.elapsed().as_secs_f64();
    Ok(answer)
}

fn setup(request: &Request, version: &trials::Version, files: PathBuf) -> Setup {
    Setup {
        bad: files,
        subdirectory: version.subdirectory.clone(),
        build: trials::with_compilers(&request.build, request.compilers.as_deref()),
        test: String::new(),
        suite: None,
        stdin: None,
        oracle: Oracle::default(),
        tools: request.tools.clone(),
        jobs: 1,
        repeat: 1,
        limits: TrialLimits::default(),
    }
}

/// Builds both versions in parallel.
fn build(suites: &mut [(Suite, PathBuf)], news: &(dyn Fn(&ProgressEvent) + Sync)) -> Result<()> {
    let results: Vec<Result<()>> = std::thread::scope(|scope| {
        let threads: Vec<_> = suites
            .iter_mut()
            .zip(NAMES)
            .map(|((suite, _), name)| {
                scope.spawn(move || {
                    news(&ProgressEvent::Building(name));
                    match suite.build() {
                        Err(trials::Error::DoesNotBuild { diagnostic, log, .. }) => {
                            Err(Error::DoesNotBuild {
                                version: name,
                                diagnostic,
                                log: log.display().to_string(),
                            })
                        }
                        other => Ok(other?),
                    }
                })
            })
            .collect();
        let ended = |t: std::thread::ScopedJoinHandle<'_, Result<()>>| {
            t.join()
                .unwrap_or_else(|_| Err(Error::Recording("build a version: it came to a bad end".to_owned())))
        };
        threads.into_iter().map(ended).collect()
    });
    results.into_iter().collect()
}

/// Contracts of a separate file.
fn contract_file(request: &Request, bad: &Path, subdirectory: &Path) -> Result<Vec<(String, Contract)>> {
    if let Some(path) = &request.contracts {
        return read_file(path, &path.display().to_string());
    }
    let places = [bad.join(subdirectory).join(FILE), bad.join(FILE)];
    places.iter().find(|path| path.is_file()).map_or(Ok(Vec::new()), |path| read_file(path, FILE))
}

fn record(suite: &Suite, request: &Request, test: &str, number: usize, side: usize) -> Result<Recorded> {
    let name = format!("test-{}", number + 1);
    let run = trials::Run { name: &name, command: test, ..Default::default() };
    let time_limit = request.timeout.unwrap_or(DEFAULT_TIMEOUT);
    let cannot_run = |ran: &TestRun| {
        let Status::Exit(code @ (126 | 127)) = ran.status else { return None };
        let said = std::fs::read_to_string(&ran.stderr).unwrap_or_default();
        let why = said.lines().last().map_or_else(|| format!("exit {code}"), str::to_owned);
        Some(Error::TestNotRun { version: NAMES[side], why })
    };
    match suite.record(&run, time_limit) {
        Ok(recorded) => match cannot_run(&recorded.run) {
            Some(error) => Err(error),
            None => Ok(recorded),
        },
        // Nothing is recorded of a test that does not exist.
        Err(error @ trials::Error::Record { .. }) => {
            Err(cannot_run(&suite.run(&run, time_limit)?).unwrap_or_else(|| error.into()))
        }
        Err(error) => Err(error.into()),
    }
}
