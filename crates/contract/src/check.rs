//! One check from beginning to end.
//!
//! ```text
//! versions -> build each with recording -> record the tests with each
//!          -> contracts of bad's sources, of a file, of the command line    (what is meant)
//!          -> variables that the functions use -> calls with their states   (what happened)
//!          -> pairs with equal entry states -> judged                       (is it what is meant?)
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

/// How long a recorded test may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// What is to be checked, and with what means.
#[derive(Clone, Debug)]
pub struct Request {
    /// Where the user stands.
    pub here: PathBuf,
    pub good: String,
    pub bad: String,
    pub build: String,
    pub tests: Vec<String>,
    /// A file of contracts; without one, `relapse.contracts` of bad, if it is there.
    pub contracts: Option<PathBuf>,
    /// Functions that may not change; none of them named: all.
    pub unchanged: Option<Vec<String>>,
    pub bounds: Bounds,
    pub timeout: Option<Duration>,
    pub tools: Tools,
    /// A directory with the usual names of compilers, for builds that do not ask for `CC`.
    pub compilers: Option<PathBuf>,
    /// Directory for everything that is made on the way.
    pub work: PathBuf,
    pub keep: bool,
}

/// What happens, for somebody who waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    Building(&'static str),
    Recording { test: usize, of: usize },
    Replaying { test: usize, of: usize },
}

/// The file of contracts that is looked for.
pub const FILE: &str = "relapse.contracts";

/// Checks the contracts.
///
/// # Errors
/// See [`Error`]. A violation is no error.
pub fn check(request: &Request, stop: &Arc<AtomicBool>, news: &(dyn Fn(&News) + Sync)) -> Result<Answer> {
    let began = Instant::now();
    let (good, bad) = trials::Version::resolve_pair(&request.good, &request.bad, &request.here)?;
    // Paths of the same length: what a program finds on its stack, its own name among it, then lies at the same
    // addresses in both, and tables that are ordered by addresses are the same.
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
        contracts: side_file(request, &suites[1].1, &bad.subdirectory)?,
        unchanged: request.unchanged.clone(),
        bounds: request.bounds,
        proofs: true,
    };
    let mut checking = Checking::new(&wanted);
    let map = |file: &str, line: u32| difference.map_line_to_good(file, line);
    let mut tests = Vec::new();
    for (number, test) in request.tests.iter().enumerate() {
        news(&News::Recording { test: number + 1, of: request.tests.len() });
        let one = record(&suites[0].0, request, test, number, 0)?;
        let other = record(&suites[1].0, request, test, number, 1)?;
        tests.push(answer::TestRun {
            command: test.clone(),
            good: one.run.status.to_string(),
            bad: other.run.status.to_string(),
        });
        news(&News::Replaying { test: number + 1, of: request.tests.len() });
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

/// Builds both versions, side by side.
fn build(suites: &mut [(Suite, PathBuf)], news: &(dyn Fn(&News) + Sync)) -> Result<()> {
    let results: Vec<Result<()>> = std::thread::scope(|scope| {
        let threads: Vec<_> = suites
            .iter_mut()
            .zip(NAMES)
            .map(|((suite, _), name)| {
                scope.spawn(move || {
                    news(&News::Building(name));
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

/// Contracts of a file of their own.
fn side_file(request: &Request, bad: &Path, subdirectory: &Path) -> Result<Vec<(String, Contract)>> {
    if let Some(path) = &request.contracts {
        return read_file(path, &path.display().to_string());
    }
    let places = [bad.join(subdirectory).join(FILE), bad.join(FILE)];
    places.iter().find(|path| path.is_file()).map_or(Ok(Vec::new()), |path| read_file(path, FILE))
}

fn record(suite: &Suite, request: &Request, test: &str, number: usize, side: usize) -> Result<Recorded> {
    let name = format!("test-{}", number + 1);
    let run = trials::Run { name: &name, command: test, ..Default::default() };
    let patience = request.timeout.unwrap_or(PATIENCE);
    let cannot_run = |ran: &TestRun| {
        let Status::Exit(code @ (126 | 127)) = ran.status else { return None };
        let said = std::fs::read_to_string(&ran.stderr).unwrap_or_default();
        let why = said.lines().last().map_or_else(|| format!("exit {code}"), str::to_owned);
        Some(Error::TestNotRun { version: NAMES[side], why })
    };
    match suite.record(&run, patience) {
        Ok(recorded) => match cannot_run(&recorded.run) {
            Some(error) => Err(error),
            None => Ok(recorded),
        },
        // Nothing is recorded of a test that is not there.
        Err(error @ trials::Error::Record { .. }) => {
            Err(cannot_run(&suite.run(&run, patience)?).unwrap_or_else(|| error.into()))
        }
        Err(error) => Err(error.into()),
    }
}
