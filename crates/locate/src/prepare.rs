//! The program built, its suite listed, and tests run to see whether they can be trusted.

use crate::search::Found;
use crate::session::{News, Request};
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
    news: &dyn Fn(&News),
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
    news(&News::Building);
    let mut suite = Suite::open(work, setup, stop.clone())?;
    suite.build_as(mode)?;
    Ok(suite)
}

/// The request with the tests that CTest knows, and notes on those that cannot be used. A failing test
/// that is named is the one of that name.
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
        // In the tree that was built, which is the first to be given out.
        let quoted = crate::inputs::quoted(inside.as_os_str().as_encoded_bytes());
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

/// Runs the failing test as often as asked for; how long any other test may take.
pub(crate) fn failing_always(request: &Request, suite: &Suite) -> Result<Duration> {
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

/// Says so if the test whose run is compared with does not always pass.
pub(crate) fn flaky_nearest(
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
