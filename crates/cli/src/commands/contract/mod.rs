//! `relapse contract check` and `search`: is the change what it is meant to be?

mod search;
mod text;
mod watch;

use super::explain::{end_on_signals, seconds, tools};
use crate::Session;
use crate::failure::{Exit, Failure};
use clap::{Args, Subcommand};
use contract::answer::{Answer, Verdict};
use contract::check::{Request, check};
use contract::watch::Bounds;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// After a signal, builds and tests have so long to end.
const GRACE: Duration = Duration::from_secs(3);

/// Check what a change was meant to change
#[derive(Debug, Subcommand)]
pub enum ContractCommand {
    Check(Box<CheckArgs>),
    Search(Box<search::SearchArgs>),
}

/// Check change contracts on recordings of both versions
///
/// A change contract says what a change of a function is meant to change; everything else must
/// stay. It stands in comments (//@ or /*@ ... @*/) before the function in the new version, or in
/// a file. Both versions are built with recording and run the tests; calls that begin in equal
/// states are compared. docs/contracts.md has the language.
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
    /// The version after it; `.` is the working tree as it is
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
    /// So many calls of each function are looked at in a run
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
    let answer = answer.map_err(|error| failure(&error, stop.load(Ordering::Relaxed)))?;
    deliver(args, &answer, session)?;
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
    let work = match &args.work {
        Some(directory) => directory.clone(),
        None => tools::work_directory(&here.join("contract"))?,
    };
    let mut found = tools::find()?;
    let compilers = tools::compilers(&work, &found)?;
    found.cxx = compilers.join("c++");
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
        tools: found,
        compilers: Some(compilers),
        work,
        keep: args.keep,
    })
}

fn deliver(args: &CheckArgs, answer: &Answer, session: &mut Session) -> Result<(), Failure> {
    if let Some(path) = &args.json
        && super::expose::json_to(path, answer, session)?
    {
        return Ok(());
    }
    text::write(session, answer)
}

/// The contracts that options ask about: those of a file, beside those in comments of the sources. None
/// if nothing is asked.
pub fn asked(
    file: Option<&std::path::Path>,
    intended: bool,
) -> Result<Option<Vec<(String, contract::language::Contract)>>, Failure> {
    match file {
        Some(file) => contract::find::read_file(file, &file.display().to_string())
            .map(Some)
            .map_err(|error| failure(&error, false)),
        None => Ok(intended.then(Vec::new)),
    }
}

/// The sentence and the exit code for a check that there is not.
pub fn failure(error: &contract::Error, interrupted: bool) -> Failure {
    use contract::Error as C;
    use trials::Error as T;
    let failed = |exit| Failure::failed_to(exit, error);
    match error {
        // A sentence with its place.
        C::Syntax { place, what } => {
            Failure::new(Exit::BadInput, format_args!("{place}: {what}")).hint(place.caret())
        }
        C::NoFunction { similar, .. } => {
            let failure = failed(Exit::BadInput);
            match similar.as_slice() {
                [] => failure,
                names => failure.hint(format_args!("There is {}.", names.join(", "))),
            }
        }
        C::Opaque { .. } => {
            failed(Exit::BadInput).hint("Such functions run as they are and are not recorded inside.")
        }
        C::NeverCalled { .. } => failed(Exit::BadInput).hint("Name a test that calls it with --test."),
        C::NoFunctionFollows { place } => failed(Exit::BadInput).hint(format_args!(
            "{}\nA contract stands directly before the definition of a function that is compiled.",
            place.caret()
        )),
        C::NothingToCheck => failed(Exit::Usage).hint(
            "Write a contract as //@ before the function, name a file with --contracts, or give\n\
             --unchanged for a refactoring. docs/contracts.md has examples.",
        ),
        C::Read { .. } => failed(Exit::Usage),
        C::TestNotRun { .. } => failed(Exit::TestNotRun)
            .hint("The test runs where the build ran. Correct --test, or have --build make what it needs."),
        C::DoesNotBuild { .. } => failed(Exit::DoesNotBuild).hint("Correct --build."),
        C::Trials(T::NoGit { .. }) => failed(Exit::NoGit),
        C::Trials(T::NoSuchVersion { .. } | T::AmbiguousVersion { .. }) => failed(Exit::Usage),
        C::Trials(T::Record { why, .. }) => {
            Failure::failed_to(Exit::Environment, format_args!("make a recording of the test: {why}"))
        }
        C::Trials(T::Cancelled) if interrupted => Failure::new(Exit::OfCommand(130), "interrupted"),
        C::Trials(T::Busy { .. }) => {
            failed(Exit::Environment).hint("Wait for it, or name another directory with --work.")
        }
        C::Recording(_) | C::Replay(_) => failed(Exit::BadInput),
        C::Trials(_) | C::Changes(_) => failed(Exit::Environment),
    }
}
