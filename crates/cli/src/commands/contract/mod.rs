//! `relapse contract check` and `search`: checks that a change is as intended.

pub mod given;
mod search;
mod text;
mod watch;

use crate::Session;
use crate::document::json_to;
use crate::failure::{Exit, Failure};
use crate::signals::end_on_signals;
use crate::times::seconds;
use crate::tools::Builder;
use clap::{Args, Subcommand};
use contract::answer::{Answer, Verdict};
use contract::check::{Request, check};
use contract::watch::Bounds;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The grace period for builds and tests to end after a signal.
const GRACE: Duration = Duration::from_secs(3);

/// Check what a change was meant to change
#[derive(Debug, Subcommand)]
pub enum ContractCommand {
    Check(Box<CheckArgs>),
    Search(Box<search::SearchArgs>),
}

/// Check change contracts on recordings of both versions
///
/// A change contract describes the intended effect of a change of a function; everything else must stay. It
/// is written in comments (//@ or /*@ ... @*/) before the function in the new version, or in a file. Both
/// versions are built with recording and run the tests; calls that begin in equal states are compared.
/// docs/contracts.md describes the language.
///
/// Without a contract, --unchanged names functions whose behaviour may not change at all: a check
/// for refactorings.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  relapse contract check --good HEAD~1 --bad . --build make --test './calc 2 3'
                                      the contracts in the sources
  relapse contract check --good v1 --bad v2 --build make --test ./check --unchanged parse eval
                                      these two functions may not change
  relapse contract check --good v1 --bad v2 --build make --suite tests.txt --unchanged
                                      nothing may change

Exit codes (beside those of `relapse --help`):
  0    everything is as the contracts say
  1    a contract is violated
  3    a contract is wrong, or speaks of a function that is not there or never called
  4    nothing is violated, but not everything could be compared
  8    a version does not build
  10   the test command cannot be run
  11   a revision is named and git is not installed
  12   clang is not installed")]
pub struct CheckArgs {
    /// The version before the change: a git revision or a directory
    #[arg(long, value_name = "VERSION")]
    good: String,
    /// The version after it; `.` is the working tree
    #[arg(long, value_name = "VERSION")]
    bad: String,
    /// How to build a version; CC and CXX are set to the compilers that record
    #[arg(long, value_name = "CMD")]
    build: String,
    /// A test, run where the build ran; may be given several times
    #[arg(long, value_name = "CMD", required_unless_present = "suite")]
    test: Vec<String>,
    /// Tests, one command a line; lines that begin with # are comments
    #[arg(long, value_name = "FILE")]
    suite: Option<PathBuf>,
    /// A file of contracts [default: relapse.contracts of the bad version, if it is there]
    #[arg(long, value_name = "FILE")]
    contracts: Option<PathBuf>,
    /// Functions that may not change, or all of the program if none is named
    #[arg(long, value_name = "FUNCTION", num_args = 0..)]
    unchanged: Option<Vec<String>>,
    /// Maximum number of calls of each function that are compared in a run
    #[arg(long, value_name = "N", default_value_t = 2000)]
    calls: u64,
    /// Memory for the states of calls, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 1024)]
    memory: u64,
    /// Seconds after which a recorded test is stopped [default: 120]
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<f64>,
    /// Write the answer as JSON (`relapse.contract/1`); `-` is standard output
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Directory for builds and recordings [default: one for this project in the user's cache
    /// directory]
    #[arg(long, value_name = "DIR")]
    work: Option<PathBuf>,
    /// Keep the built trees in the work directory
    #[arg(long)]
    keep: bool,
    /// Say nothing on standard error unless something goes wrong
    #[arg(short, long)]
    quiet: bool,
}

pub fn run(command: &ContractCommand, session: &mut Session) -> Result<Exit, Failure> {
    let args = match command {
        ContractCommand::Check(args) => args,
        ContractCommand::Search(args) => return search::run(args, session),
    };
    let request = request(args)?;
    let stop = Arc::new(AtomicBool::new(false));
    end_on_signals(&stop, Some(GRACE))
        .map_err(|e| Failure::failed_to(Exit::Environment, format_args!("watch for signals: {e}")))?;
    let watcher = crate::progress::Watcher::new(!args.quiet, session.watched);
    let answer = check(&request, &stop, &|news| watcher.say(watch::words(news)));
    watcher.finish();
    let answer = answer.map_err(|error| given::failure(&error, stop.load(Ordering::Relaxed)))?;
    write_outputs(args, &answer, session)?;
    Ok(match answer.verdict {
        Verdict::Holds => Exit::Done,
        Verdict::Violated => Exit::No,
        Verdict::Unknown => Exit::Incomplete,
    })
}

fn request(args: &CheckArgs) -> Result<Request, Failure> {
    let here = std::env::current_dir().map_err(|e| {
        Failure::failed_to(Exit::Environment, format_args!("find the current directory: {e}"))
    })?;
    let Builder { tools, compilers, work } = Builder::new(args.work.as_ref(), &here.join("contract"))?;
    let mut tests = args.test.clone();
    if let Some(file) = &args.suite {
        tests.extend(super::locate::suite::commands(file)?.into_iter().map(|test| test.command));
    }
    if tests.is_empty() {
        return Err(Failure::new(Exit::Usage, "there is no test to compare the versions by")
            .hint("Name one with --test, or several in a file with --suite."));
    }
    Ok(Request {
        here,
        good: args.good.clone(),
        bad: args.bad.clone(),
        build: args.build.clone(),
        tests,
        contracts: args.contracts.clone(),
        unchanged: args.unchanged.clone(),
        bounds: Bounds { calls: args.calls, bytes: args.memory << 20 },
        timeout: args.timeout.map(seconds).transpose()?,
        tools,
        compilers: Some(compilers),
        work,
        keep: args.keep,
    })
}

fn write_outputs(args: &CheckArgs, answer: &Answer, session: &mut Session) -> Result<(), Failure> {
    if let Some(path) = &args.json
        && json_to(path, answer, session)?
    {
        return Ok(());
    }
    text::write(session, answer)
}
