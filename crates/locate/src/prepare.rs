//! Builds the program, lists its suite, and runs the failing test to check that it fails reliably.

use crate::search::Found;
use crate::session::{ProgressEvent, Request};
use crate::suites::ctest;
use crate::test::{Test, Verdict};
use crate::{Error, Result};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use trials::{Mode, Oracle, Rule, Run, Setup, Status, Suite, TrialLimits, Version, Work};

/// Builds the program.
pub(crate) fn build_as(
    request: &Request,
    mode: Mode,
    stop: &Arc<AtomicBool>,
    news: &dyn Fn(&ProgressEvent),
) -> Result<Suite> {
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
    news(&ProgressEvent::Building);
    let mut suite = Suite::open(work, setup, stop.clone())?;
    suite.build_as(mode)?;
    Ok(suite)
}

/// The request with the tests of CTest added, and notes on those that cannot be used. If the failing test is
/// given by name, the test with that name is used.
pub(crate) fn with_suite(request: &Request, suite: &Suite) -> Result<(Request, Vec<String>)> {
    let mut request = request.clone();
    let mut notes = Vec::new();
    if let Some(directory) = &request.ctest {
        let version = Version::resolve(".", &request.here)?;
        let inside = suite.tree().join(&version.subdirectory).join(directory);
        if !inside.join("CTestTestfile.cmake").is_file() {
            let why = format!(
                "{} is no list of commands, has no results of `make check`, and the build has not made it a \
                 directory with tests of CTest",
                directory.display()
            );
            return Err(Error::Suite { why });
        }
        // In the built tree, which the suite hands out first.
        let quoted = trials::quoted(inside.as_os_str().as_encoded_bytes());
        let command = format!("cd {quoted} && ctest --show-only=json-v1");
        let listing = suite.run(&run_of(&Test::new(&command), "ctest"), TrialLimits::GOOD)?;
        if listing.status != Status::Exit(0) {
            let said = std::fs::read_to_string(&listing.stderr).unwrap_or_default();
            return Err(Error::Suite {
                why: format!("ctest ended with {}: {}", listing.status, said.trim()),
            });
        }
        let text = std::fs::read(&listing.stdout).unwrap_or_default();
        let listed = ctest::read(&text, suite.tree(), &version.subdirectory)?;
        let tap = request.test.tap;
        request.pool.extend(listed.tests.into_iter().map(|test| Test { tap, ..test }));
        notes.extend(listed.left_out.iter().map(|test| format!("A test of the suite is not used: {test}.")));
    }
    let named = request.pool.iter().position(|test| test.name.as_deref() == Some(&*request.test.command));
    if let Some(at) = named {
        let named = request.pool.remove(at);
        request.test = Test { command: named.command, name: named.name, ..request.test };
    }
    Ok((request, notes))
}

/// Timeouts of runs.
pub(crate) struct Timeouts {
    /// For any other test.
    pub timeout: Duration,
    /// The timeout that the failing test exceeded, if it hung; it is that of other tests, too.
    pub hung: Option<Duration>,
    usual: Duration,
}

impl Timeouts {
    /// Timeout of recording the failing test.
    pub(crate) fn of_recording(&self) -> Duration {
        match self.hung {
            Some(_) => TrialLimits::of_recorded_hang(self.usual),
            None => (self.timeout * RECORDING_FACTOR).max(MIN_RECORDING_TIMEOUT),
        }
    }

    pub(crate) fn note(&self) -> Option<String> {
        let seconds = self.hung?.as_secs_f64();
        let recorded = self.of_recording().as_secs_f64();
        Some(format!(
            "The failing test did not end within {seconds:.0} s; {recorded:.2} s of it were recorded. --timeout \
             gives it longer to end."
        ))
    }
}

/// Factor for the slowdown of recording.
const RECORDING_FACTOR: u32 = 100;
const MIN_RECORDING_TIMEOUT: Duration = Duration::from_secs(60);
/// Number of other tests from which a usual time is measured.
const SAMPLES: usize = 3;
/// A test that takes this many times as long as others hangs.
const HANG_FACTOR: u32 = 100;
const HANGS_BESIDE_OTHERS: Duration = Duration::from_secs(10);
const HANGS_ALONE: Duration = Duration::from_secs(60);

/// The time of the slowest of the first tests of the pool that end.
fn usual(request: &Request, suite: &Suite) -> Result<Option<Duration>> {
    let mut slowest: Option<f64> = None;
    for test in request.pool.iter().take(SAMPLES) {
        let run = suite.run(&run_of(test, "sample"), request.limits.test.unwrap_or(HANGS_BESIDE_OTHERS))?;
        if run.status != Status::TimedOut {
            slowest = Some(slowest.unwrap_or_default().max(run.seconds));
        }
    }
    Ok(slowest.map(Duration::from_secs_f64))
}

/// Runs the failing test `repeat` times and checks that it always fails. Returns the timeouts of other runs.
pub(crate) fn check_fails(request: &Request, suite: &Suite) -> Result<Timeouts> {
    let mut limit = request.limits.test.unwrap_or(HANGS_BESIDE_OTHERS);
    let mut usual_time = Duration::ZERO;
    let mut hung = None;
    let mut verdicts = Vec::new();
    let mut slowest: f64 = 0.0;
    for _ in 0..request.repeat.max(1) {
        let mut run = suite.run(&run_of(&request.test, "plain"), limit)?;
        if run.status == Status::TimedOut {
            let usual = usual(request, suite)?;
            let longer = usual.map_or(HANGS_ALONE, |usual| (usual * HANG_FACTOR).max(HANGS_BESIDE_OTHERS));
            usual_time = usual.unwrap_or_default();
            if request.limits.test.is_none() && longer > limit {
                limit = longer;
                run = suite.run(&run_of(&request.test, "plain"), limit)?;
            }
        }
        if let Status::Exit(code @ (126 | 127)) = run.status {
            let said = std::fs::read_to_string(&run.stderr).unwrap_or_default();
            let why = said.lines().last().map_or_else(|| format!("exit {code}"), str::to_owned);
            return Err(Error::TestNotRun { why });
        }
        verdicts.push((request.test.judge(&run), run.status));
        slowest = slowest.max(run.seconds);
        if run.status == Status::TimedOut {
            hung = Some(limit);
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
        _ if hung.is_some() => Ok(Timeouts { timeout: limit, hung, usual: usual_time }),
        _ => {
            let timeout = Duration::from_secs_f64(slowest * 10.0).max(TrialLimits::MIN_TIMEOUT);
            Ok(Timeouts { timeout: request.limits.test.unwrap_or(timeout), hung, usual: usual_time })
        }
    }
}

/// Adds a note if the test of the compared run does not always pass.
pub(crate) fn note_flaky_test(
    request: &Request,
    suite: &Suite,
    found: &Found,
    timeout: Duration,
    notes: &mut Vec<String>,
) -> Result<()> {
    let Some(test) = found.outcome.best().and_then(|nearest| found.tests.get(nearest.number)) else {
        return Ok(());
    };
    let more = request.repeat.saturating_sub(1);
    let mut passed = 0;
    for _ in 0..more {
        let run = match suite.run(&run_of(test, "again"), timeout) {
            Err(trials::Error::Cancelled) => return Ok(()),
            run => run?,
        };
        passed += usize::from(test.judge(&run) == Verdict::Pass);
    }
    if passed < more {
        notes.push(format!(
            "The passing test is flaky: run again {more} times, it passed {passed} times. What differs may \
             be chance."
        ));
    }
    Ok(())
}

pub(crate) fn run_of<'t>(test: &'t Test, name: &'t str) -> Run<'t> {
    Run { name, command: &test.command, stdin: test.stdin.as_deref(), files: &test.files }
}
