//! `relapse explore`: groups the inputs of a program by what it computes.

mod text;

use super::expose::{failure, files, workshop};
use crate::document::{json_to, write};
use crate::failure::{Exit, Failure};
use crate::signals::stop_on_signals;
use crate::times::duration;
use crate::{Session, opened, solvers};
use alternate::{Both, Side};
use clap::Args;
use explore::Error;
use explore::explored::{Example, Explored};
use explore::signature::{self, By, Options};
use explore::subject::Subject;
use explore::versions::{BuiltVersion, not_run};
use locate::test::Test;
use recording::Recording;
use solver::{Limits, Settings};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use symbolic::Input;

/// Show what a program computes, and on which inputs
///
/// Runs the program with the input of a test, follows the input symbolically, and uses a solver to find
/// inputs that take other paths as far as its outputs (standard output, files, exit status) depend on them.
/// The result is one input for each group of paths that compute the outputs by the same expressions, with the
/// condition of the group. Inputs have the length of the test's. Inputs that make the program fault are
/// searched for as well, including those after branches that no output depends on: accesses out of bounds,
/// divisions by zero, signals.
///
/// The results for a built program are stored in the work directory. The same command continues with them.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  relapse explore --build make --test './classify 12'
  relapse explore --build make --test './classify < t/1.in' --write cases
  relapse explore recording                   of a recorded run, with the program as it is

Exit codes (beside those of `relapse --help`):
  0    all groups for inputs of this length were found, and nothing was taken as fixed
  1    some may be missing: time was up, or something is not followed; the answer says what
  8    the program does not build
  10   the test command cannot be run
  12   clang is not installed
  130  interrupted before anything was known")]
pub struct ExploreArgs {
    /// A recording of the program with the initial input
    #[arg(value_name = "RECORDING", conflicts_with_all = ["build", "test"])]
    recording: Option<PathBuf>,
    /// How to build the program; CC and CXX are set
    #[arg(long, value_name = "CMD", required_unless_present = "recording")]
    build: Option<String>,
    /// A test that runs the program with the initial input, run where the build ran
    #[arg(long, value_name = "CMD", required_unless_present = "recording")]
    test: Option<String>,
    /// Standard input of the test
    #[arg(long, value_name = "FILE", requires = "test")]
    stdin: Option<PathBuf>,
    /// Write the input of each group as a test into this directory
    #[arg(long, value_name = "DIR")]
    write: Option<PathBuf>,
    /// Write the report as a page for browsers
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write the answer as JSON (`relapse.explore/1`); `-` is standard output
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the faults as SARIF, for code scanning services
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,
    /// Time limit of the exploration, once the program is built, such as 90s, 2m or 1h
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "60s")]
    budget: Duration,
    /// Directory for the build and the recordings [default: one for this project in the user's
    /// cache directory]
    #[arg(long, value_name = "DIR")]
    work: Option<PathBuf>,
    /// Number of parallel runs [default: one for each core]
    #[arg(short, long, value_name = "N")]
    jobs: Option<usize>,
    /// The SMT solver, with its arguments [default: cvc5, bitwuzla, z3, those that are installed]
    #[arg(long, value_name = "CMD")]
    solver: Option<String>,
    /// Say nothing on standard error unless something goes wrong
    #[arg(short, long)]
    quiet: bool,
}

/// The time limit of a solver query.
const SOLVING: Duration = Duration::from_secs(5);
const TEST: Duration = Duration::from_secs(60);

/// The program to explore, with the files that must exist during the exploration.
struct Target {
    subject: Subject,
    input: Input,
    _build: Option<BuiltVersion>,
    scratch: tempfile::TempDir,
    /// Where the exploration is stored.
    store: Option<PathBuf>,
}

pub fn run(args: &ExploreArgs, session: &mut Session) -> Result<Exit, Failure> {
    if let Some(directory) = &args.write {
        files::must_be_empty(directory)?;
    }
    let stop = Arc::new(AtomicBool::new(false));
    stop_on_signals(&stop)
        .map_err(|e| Failure::failed_to(Exit::Environment, format_args!("watch for signals: {e}")))?;
    let say = |what: &str| {
        if !args.quiet && !session.watched {
            eprintln!("relapse: {what}");
        }
    };
    let target = match &args.recording {
        Some(directory) => of_recording(directory)?,
        None => {
            say("building the program");
            built(args, &stop)?
        }
    };
    say("exploring");
    let bar = crate::progress::line(!args.quiet && session.watched);
    let settings = Settings {
        commands: solvers::named(args.solver.as_deref())?,
        limits: Limits { timeout: SOLVING, ..Limits::default() },
        ..Settings::default()
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let store = target.store.as_ref().and_then(|directory| {
        let name = target.subject.name(&target.input)?;
        Some((directory.join(format!("explored-{name}.json")), name))
    });
    let options = Options {
        by: By::Output,
        follow: target.subject.follow(),
        settings,
        until: Instant::now() + args.budget,
        stop: &|| stop.load(Ordering::Relaxed),
        progress: &|groups| bar.set_message(format!("exploring: {groups} groups")),
        jobs: args.jobs.unwrap_or(cores).max(1),
        store,
        faults: true,
    };
    let began = Instant::now();
    let record = |input: &Input| target.subject.record(Side::New, input);
    let explored = signature::explore(&target.input, &options, &record);
    bar.finish_and_clear();
    let interrupted = stop.load(Ordering::Relaxed);
    let (explored, _) = explored.map_err(|e| failure(&e, interrupted))?;
    let answer = Explored::new(&explored, &target.subject, began.elapsed(), interrupted);
    let written = match &args.write {
        Some(directory) => files::write_all(directory, &answer.examples().map(case).collect::<Vec<_>>())?,
        None => Vec::new(),
    };
    drop(target.scratch);
    write_outputs(args, &answer, &written, session)?;
    Ok(if answer.complete { Exit::Done } else { Exit::No })
}

fn case(example: &Example) -> files::Case<'_> {
    files::Case {
        input: &example.input,
        command: &example.command,
        expected: &example.ended.stdout,
        end: &example.end,
    }
}

fn write_outputs(
    args: &ExploreArgs,
    answer: &Explored,
    written: &[PathBuf],
    session: &mut Session,
) -> Result<(), Failure> {
    if let Some(path) = &args.html {
        write(path, &report::explored::to_html(answer))?;
    }
    if let Some(path) = &args.sarif {
        write(path, &report::explored::to_sarif(answer))?;
    }
    if let Some(path) = &args.json
        && json_to(path, answer, session)?
    {
        return Ok(());
    }
    write!(session.out, "{}", text::text(answer, written, session.paint))?;
    Ok(())
}

fn scratch() -> Result<tempfile::TempDir, Failure> {
    tempfile::Builder::new()
        .prefix("relapse-explore-")
        .tempdir()
        .map_err(|e| Failure::failed_to(Exit::Environment, format_args!("make a directory for runs: {e}")))
}

fn of_recording(directory: &Path) -> Result<Target, Failure> {
    let recording = opened::recording(directory)?;
    let scratch = scratch()?;
    let (subject, input) = subject(&recording, Path::new("/"), Path::new("/"), scratch.path())
        .map_err(|e| failure(&e, false))?;
    Ok(Target { subject, input, _build: None, scratch, store: None })
}

fn subject(
    recording: &Recording,
    tree: &Path,
    plain: &Path,
    scratch: &Path,
) -> explore::Result<(Subject, Input)> {
    Subject::of_recording(recording, Both { old: tree, new: tree }, Both { old: plain, new: plain }, scratch)
}

fn built(args: &ExploreArgs, stop: &Arc<AtomicBool>) -> Result<Target, Failure> {
    let here = std::env::current_dir().map_err(|e| {
        Failure::failed_to(Exit::Environment, format_args!("find the current directory: {e}"))
    })?;
    let (Some(build), Some(command)) = (&args.build, &args.test) else {
        return Err(Failure::new(Exit::Usage, "neither a recording nor a program to build is named"));
    };
    let stdin = args.stdin.as_ref().map(|path| {
        path.canonicalize().map_err(|e| {
            Failure::failed_to(Exit::Usage, format_args!("read the standard input {}: {e}", path.display()))
        })
    });
    let test = Test { stdin: stdin.transpose()?, ..Test::new(command) };
    let workshop = workshop(build, None, args.work.as_ref(), false, &here, "explore")?;
    let store = Some(workshop.work.clone());
    let scratch = scratch()?;
    let failed = |e: &Error| failure(e, stop.load(Ordering::Relaxed));
    let version = workshop.version(".", stop).map_err(|e| failed(&e))?;
    let run = version.run(&test, "test", TEST).map_err(|e| failed(&e))?;
    if let Some(why) = not_run(&run) {
        return Err(failed(&Error::TestNotRun { version: "present", why }));
    }
    let recorded = version.record(&test, "test", TEST).map_err(|e| failed(&e))?;
    let recording =
        Recording::open(&recorded.directory).map_err(|e| failed(&Error::Recording(e.to_string())))?;
    let found = subject(&recording, version.recorded.tree(), version.plain.tree(), scratch.path());
    let (subject, input) = found.map_err(|e| failed(&e))?;
    Ok(Target { subject, input, _build: Some(version), scratch, store })
}
