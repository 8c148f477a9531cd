//! `relapse locate`: where a failing test diverges from the nearest passing run.

pub(super) mod suite;
mod watch;

use crate::document::write;
use crate::failure::{Exit, Failure};
use crate::render::style;
use crate::signals::stop_on_signals;
use crate::times::{duration, seconds};
use crate::tools::Builder;
use crate::{Session, solvers};
use clap::{Args, ValueEnum};
use locate::answer::Located;
use locate::session::{self, Request};
use locate::test::Test;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use trials::TrialLimits;

/// Locate a fault with tests that pass; no older version is needed
///
/// Builds the program once with recording, records the failing test and those that may pass, and chooses the
/// passing run whose branches are nearest to the failing one, compared from the failure back. The report has
/// the branches that took another edge, those first that the failure depends on, the values that differ at
/// the same moments, and the initial values that the failure depends on. Your files are not touched.
///
/// A test passes if it exits with 0 and writes the expected output, if that is known; 125 means unresolved.
/// If the search is interrupted or out of time, the next call resumes it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  relapse locate --build make --test './sum 4' --passing './sum 3'
  relapse locate --build make --test './calc < bad.in' --expect bad.out --suite tests.txt
  relapse locate --build make --test './calc < cases/7.in' --expect cases/7.out \\
      --suite cases --template './calc < {}'
  relapse locate --build 'cmake -B b && cmake --build b' --suite b --test parser_3
  relapse locate --build 'make check TESTS=' --suite tests --test tests/parse

Exit codes (beside those of `relapse --help`):
  0    a passing run was found and compared with
  1    no passing run: the report is the slice of the failure
  6    the test does not fail
  7    the failing test is flaky
  8    the program does not build
  10   the test command cannot be run
  12   clang is not installed
  130  interrupted before anything was known")]
pub struct LocateArgs {
    /// How to build the program; CC and CXX are set to the compilers that record
    #[arg(long, value_name = "CMD")]
    build: String,
    /// The failing test, run where the build ran; or its name in --suite
    #[arg(long, value_name = "CMD")]
    test: String,
    /// A test that passes; may be given several times
    #[arg(long, value_name = "CMD")]
    passing: Vec<String>,
    /// Tests: a file with one command a line (# begins a comment), a directory of inputs for
    /// --template, a directory with the results of `make check` (.trs), or a directory of the build
    /// whose tests CTest knows. --test may then be the name of a test of make or CTest
    #[arg(long, value_name = "FILE|DIR")]
    suite: Option<PathBuf>,
    /// A command with {} in the place of an input of --suite. The expected output of NAME or NAME.in is
    /// in NAME.out or NAME.expected, if it is there
    #[arg(long, value_name = "CMD", requires = "suite")]
    template: Option<String>,
    /// The criterion for a passing test [default: exit]
    #[arg(long, value_enum, value_name = "ORACLE", conflicts_with = "expect")]
    oracle: Option<OracleKind>,
    /// The failing test is expected to write this file's content to standard output
    #[arg(long, value_name = "FILE")]
    expect: Option<PathBuf>,
    /// Standard input of the failing test
    #[arg(long, value_name = "FILE")]
    stdin: Option<PathBuf>,
    /// Write the report as a page for browsers
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write it as JSON (`relapse.locate/1`); `-` is standard output
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write it as SARIF, for code scanning services
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,
    /// Directory for the build and the recordings [default: one for this project in the user's
    /// cache directory]
    #[arg(long, value_name = "DIR")]
    work: Option<PathBuf>,
    /// Keep the built trees and the recordings of all tests in the work directory
    #[arg(long)]
    keep: bool,
    /// Number of parallel runs [default: one for each core]
    #[arg(short, long, value_name = "N")]
    jobs: Option<usize>,
    /// Timeout of a test, in seconds [default: 10 times what the failing one took, at least 5; the failing
    /// one: 100 times what others take, at least 10, and 60 without others]
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<f64>,
    /// How often the failing test is run to see whether it is flaky
    #[arg(long, value_name = "N", default_value_t = 3)]
    repeat: u32,
    /// Time limit of the search for passing runs, such as 90s, 2m or 1h
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "2m")]
    budget: Duration,
    /// Number of inputs near the failing one that are tried if no test passes
    #[arg(long, value_name = "N", default_value_t = 200)]
    perturb: usize,
    /// The SMT solver, with its arguments [default: cvc5, bitwuzla, z3, those that are installed]
    #[arg(long, value_name = "CMD")]
    solver: Option<String>,
    /// Say nothing on standard error unless something goes wrong
    #[arg(short, long)]
    quiet: bool,
}

/// The criterion for a passing test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OracleKind {
    /// As for `git bisect run`: 0 passes, 125 is unresolved, everything else fails
    Exit,
    /// The Test Anything Protocol on standard output, and the exit status
    Tap,
}

pub fn run(args: &LocateArgs, session: &mut Session) -> Result<Exit, Failure> {
    let here = std::env::current_dir().map_err(|e| {
        Failure::failed_to(Exit::Environment, format_args!("find the current directory: {e}"))
    })?;
    let request = request(args, &here)?;
    let stop = Arc::new(AtomicBool::new(false));
    stop_on_signals(&stop)
        .map_err(|e| Failure::failed_to(Exit::Environment, format_args!("watch for signals: {e}")))?;
    let watcher = crate::progress::Watcher::new(!args.quiet, session.watched);
    let located = session::locate(&request, &stop, &|news| watcher.say(watch::words(news)));
    watcher.finish();
    let located = located.map_err(|error| failure(&error, stop.load(Ordering::Relaxed)))?;
    write_outputs(args, &located, session)?;
    let has_passing = located.passing.is_some() || located.coverage_only && located.pool.passed > 0;
    Ok(if has_passing { Exit::Done } else { Exit::No })
}

fn request(args: &LocateArgs, here: &Path) -> Result<Request, Failure> {
    let Builder { tools, compilers, work } = Builder::new(args.work.as_ref(), &here.join("locate"))?;
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let absolute = |path: &PathBuf| {
        path.canonicalize().map_err(|e| {
            Failure::failed_to(Exit::Usage, format_args!("read the standard input {}: {e}", path.display()))
        })
    };
    let tap = args.oracle == Some(OracleKind::Tap);
    let test = Test {
        stdin: args.stdin.as_ref().map(absolute).transpose()?,
        expected: args.expect.as_deref().map(|file| suite::read(file, "the expected output")).transpose()?,
        ..Test::new(&args.test)
    };
    let mut pool: Vec<Test> = args.passing.iter().map(|command| Test::new(command)).collect();
    let mut ctest = None;
    match (&args.suite, &args.template) {
        (Some(directory), Some(template)) => pool.extend(suite::inputs(directory, template)?),
        (Some(named), None) => match suite::tests(named, here)? {
            Some(tests) => pool.extend(tests),
            None => ctest = Some(named.clone()),
        },
        (None, _) => {}
    }
    let judged = |test: Test| Test { tap, ..test };
    Ok(Request {
        here: here.to_owned(),
        build: args.build.clone(),
        test: judged(test),
        pool: pool.into_iter().map(judged).collect(),
        ctest,
        jobs: args.jobs.unwrap_or(cores).max(1),
        repeat: args.repeat.max(1) as usize,
        limits: TrialLimits { test: args.timeout.map(seconds).transpose()?, ..TrialLimits::default() },
        tools,
        compilers: Some(compilers),
        work,
        keep: args.keep,
        budget: args.budget,
        perturbations: args.perturb,
        solvers: solvers::named(args.solver.as_deref())?,
    })
}

/// Writes the report in all requested formats.
fn write_outputs(args: &LocateArgs, located: &Located, session: &mut Session) -> Result<(), Failure> {
    let mut to_stdout = false;
    if let Some(path) = &args.json {
        let text = report::located::to_json(located).map_err(|e| Failure::failed_to(Exit::Environment, e))?;
        if path.as_os_str() == "-" {
            to_stdout = true;
            write!(session.out, "{text}")?;
        } else {
            write(path, &text)?;
        }
    }
    if let Some(path) = &args.sarif {
        write(path, &report::located::to_sarif(located))?;
    }
    if let Some(path) = &args.html {
        write(path, &report::located::to_html(located))?;
    }
    if !to_stdout {
        let style = report::Style { colour: session.paint.enabled(), ..style() };
        write!(session.out, "{}", report::located::render(located, &style))?;
    }
    Ok(())
}

/// The sentence and the exit code for a failed search.
fn failure(error: &locate::Error, interrupted: bool) -> Failure {
    use locate::Error as L;
    use trials::Error as T;
    let failed = |exit| Failure::failed_to(exit, error);
    match error {
        L::DoesNotFail { .. } => failed(Exit::NoRegression)
            .hint("There is nothing to locate. Name a test that fails, and what it is to write as --expect."),
        L::Flaky { .. } => failed(Exit::Flaky)
            .hint("Runs of a test that comes and goes cannot be compared. Make it repeatable."),
        L::TestNotRun { .. } => failed(Exit::TestNotRun)
            .hint("The test runs where the build ran. Correct --test, or have --build make what it needs."),
        L::Suite { .. } => failed(Exit::Usage),
        L::Trials(T::DoesNotBuild { diagnostic, log, .. }) => Failure::failed_to(
            Exit::DoesNotBuild,
            format_args!("build the program: {diagnostic} (log in {})", log.display()),
        )
        .hint("Correct --build."),
        L::Trials(T::Record { why, .. }) => {
            Failure::failed_to(Exit::Environment, format_args!("make a recording of the failing test: {why}"))
        }
        L::Trials(T::Cancelled) if interrupted => Failure::new(Exit::OfCommand(130), "interrupted"),
        L::Trials(T::Busy { .. }) => {
            failed(Exit::Environment).hint("Wait for it, or name another directory with --work.")
        }
        L::Recording(_) | L::Replay(_) | L::Slice(_) => failed(Exit::BadInput),
        _ => failed(Exit::Environment),
    }
}
