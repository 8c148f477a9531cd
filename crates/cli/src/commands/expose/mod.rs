//! `relapse expose`: finds inputs on which two versions behave differently.

pub(super) mod files;
mod text;
mod watch;

use super::locate::suite;
use crate::document::{json_to, write};
use crate::failure::{Exit, Failure};
use crate::signals::stop_on_signals;
use crate::times::{duration, seconds};
use crate::tools::Builder;
use crate::{Session, solvers};
use clap::Args;
use contract::watch::Bounds;
use explore::Error;
use explore::contracts::ContractOptions;
use explore::expose::{self, Request, Workers};
use explore::exposed::Exposed;
use explore::versions::BuildSetup;
use locate::test::Test;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use trials::TrialLimits;

/// Find inputs on which two versions behave differently
///
/// Builds both versions and starts with the given tests: those that already distinguish the versions come
/// first. Then the programs that the tests run are given other input, by three workers. One mutates inputs and
/// runs both versions; another follows the input symbolically through both, and uses a solver to find inputs
/// that reach the changes and make outputs differ; the third explores both versions and compares what they
/// compute, group by group. Every reported input was run twice by both versions, built without
/// instrumentation, and standard output, written files or exit status differed. Your files are not touched.
///
/// If nothing is found, the report lists what was tried. It does not mean that the versions are equivalent,
/// unless the report states that all paths were followed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  relapse expose --good v1.2 --bad HEAD --build make --test './calc < t/1.in'
  relapse expose --good HEAD --bad . --build make --pool t --template './calc < {}'
  relapse expose --good old/ --bad new/ --build 'make sum' --test './sum 3 4' --write cases

Exit codes (beside those of `relapse --help`):
  0    no difference was found
  1    the versions differ: there is a test or an input that shows it
  8    the good or the bad version does not build
  10   the test command cannot be run
  11   a revision is named and git is not installed
  12   clang is not installed
  130  interrupted before anything was known")]
pub struct ExposeArgs {
    /// The version to compare with: a commit, or a directory
    #[arg(long, value_name = "VERSION")]
    good: String,
    /// The version with the changes: a commit, or a directory
    #[arg(long, value_name = "VERSION", default_value = ".")]
    bad: String,
    /// How to build a version; CC and CXX are set
    #[arg(long, value_name = "CMD")]
    build: String,
    /// An initial test, run where the build ran; may be given several times
    #[arg(long, value_name = "CMD")]
    test: Vec<String>,
    /// Tests, one command a line; lines that begin with # are comments
    #[arg(long, value_name = "FILE")]
    suite: Option<PathBuf>,
    /// A directory of inputs for --template
    #[arg(long, value_name = "DIR", requires = "template")]
    pool: Option<PathBuf>,
    /// A command with {} in the place of an input of --pool
    #[arg(long, value_name = "CMD", requires = "pool")]
    template: Option<String>,
    /// Standard input of the tests given by --test
    #[arg(long, value_name = "FILE")]
    stdin: Option<PathBuf>,
    /// Leave out inputs on which the versions differ only as the contracts in this file describe, or those in
    /// comments of the bad version's sources (docs/contracts.md)
    #[arg(long, value_name = "FILE")]
    contracts: Option<PathBuf>,
    /// The same with the contracts in comments only
    #[arg(long)]
    intended: bool,
    /// Write each exposing input as a test into this directory: its files, the output of good, and a shell
    /// script
    #[arg(long, value_name = "DIR")]
    write: Option<PathBuf>,
    /// Write the report as a page for browsers
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write the answer as JSON (`relapse.expose/1`); `-` is standard output
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write it as SARIF, for code scanning services: a result for each change
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,
    /// Time limit of the search once both versions are built, such as 90s, 2m or 1h
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "60s")]
    budget: Duration,
    /// Directory for builds and recordings [default: one for this project in the user's cache
    /// directory]
    #[arg(long, value_name = "DIR")]
    work: Option<PathBuf>,
    /// Keep the built trees in the work directory
    #[arg(long)]
    keep: bool,
    /// Timeout of a test, in seconds
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<f64>,
    /// The SMT solver, with its arguments [default: cvc5, bitwuzla, z3, those that are installed]
    #[arg(long, value_name = "CMD")]
    solver: Option<String>,
    /// Seed of the random mutations
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Say nothing on standard error unless something goes wrong
    #[arg(short, long)]
    quiet: bool,
}

pub fn run(args: &ExposeArgs, session: &mut Session) -> Result<Exit, Failure> {
    let here = std::env::current_dir().map_err(|e| {
        Failure::failed_to(Exit::Environment, format_args!("find the current directory: {e}"))
    })?;
    if let Some(directory) = &args.write {
        files::must_be_empty(directory)?;
    }
    let request = request(args, &here)?;
    let stop = Arc::new(AtomicBool::new(false));
    stop_on_signals(&stop)
        .map_err(|e| Failure::failed_to(Exit::Environment, format_args!("watch for signals: {e}")))?;
    let watcher = crate::progress::Watcher::new(!args.quiet, session.watched);
    let exposed = expose::expose(&request, &stop, &|news| watcher.say(watch::words(news)));
    watcher.finish();
    let exposed = exposed.map_err(|error| failure(&error, stop.load(Ordering::Relaxed)))?;
    let written = match &args.write {
        Some(directory) => files::write(directory, &exposed)?,
        None => Vec::new(),
    };
    write_outputs(args, &exposed, &written, session)?;
    Ok(if exposed.differ() { Exit::No } else { Exit::Done })
}

fn request(args: &ExposeArgs, here: &Path) -> Result<Request, Failure> {
    let absolute = |path: &PathBuf| {
        path.canonicalize().map_err(|e| {
            Failure::failed_to(Exit::Usage, format_args!("read the standard input {}: {e}", path.display()))
        })
    };
    let stdin = args.stdin.as_ref().map(absolute).transpose()?;
    let mut tests: Vec<Test> =
        args.test.iter().map(|command| Test { stdin: stdin.clone(), ..Test::new(command) }).collect();
    if let Some(file) = &args.suite {
        tests.extend(suite::commands(file)?);
    }
    if let (Some(directory), Some(template)) = (&args.pool, &args.template) {
        tests.extend(suite::inputs(directory, template)?);
    }
    if tests.is_empty() {
        return Err(Failure::new(Exit::Usage, "there is no test to begin with").hint(
            "Say --test, --suite, or --pool with --template; `relapse expose --help` shows examples.",
        ));
    }
    Ok(Request {
        good: args.good.clone(),
        bad: args.bad.clone(),
        workshop: workshop(&args.build, args.timeout, args.work.as_ref(), args.keep, here, "expose")?,
        tests,
        budget: args.budget,
        solvers: solvers::named(args.solver.as_deref())?,
        workers: Workers::Both,
        seed: args.seed,
        contracts: (args.intended || args.contracts.is_some()).then(|| ContractOptions {
            file: args.contracts.clone(),
            unchanged: None,
            bounds: Bounds { calls: 2000, bytes: 1 << 30 },
        }),
    })
}

/// The tools and directories for building versions.
pub(super) fn workshop(
    build: &str,
    timeout: Option<f64>,
    work: Option<&PathBuf>,
    keep: bool,
    here: &Path,
    command: &str,
) -> Result<BuildSetup, Failure> {
    let Builder { tools, compilers, work } = Builder::new(work, &here.join(command))?;
    Ok(BuildSetup {
        here: here.to_owned(),
        build: build.to_owned(),
        limits: TrialLimits { test: timeout.map(seconds).transpose()?, ..TrialLimits::default() },
        tools,
        compilers: Some(compilers),
        work,
        keep,
    })
}

fn write_outputs(
    args: &ExposeArgs,
    exposed: &Exposed,
    written: &[PathBuf],
    session: &mut Session,
) -> Result<(), Failure> {
    if let Some(path) = &args.html {
        write(path, &report::exposed::to_html(exposed))?;
    }
    if let Some(path) = &args.sarif {
        write(path, &report::exposed::to_sarif(exposed))?;
    }
    if let Some(path) = &args.json
        && json_to(path, exposed, session)?
    {
        return Ok(());
    }
    write!(session.out, "{}", text::text(exposed, written, session.paint))?;
    Ok(())
}

/// The sentence and the exit code for a failed search.
pub(super) fn failure(error: &Error, interrupted: bool) -> Failure {
    use trials::Error as T;
    let failed = |exit| Failure::failed_to(exit, error);
    match error {
        Error::SameFiles => failed(Exit::Usage).hint("Name two versions that differ as --good and --bad."),
        Error::DoesNotBuild { .. } => failed(Exit::DoesNotBuild).hint("Correct --build."),
        Error::TestNotRun { .. } => failed(Exit::TestNotRun)
            .hint("The test runs where the build ran. Correct --test, or have --build make what it needs."),
        Error::NoSubject(_) => failed(Exit::BadInput).hint(
            "Name a test that runs a program of the build by itself, with input from standard input,\n\
             arguments or files.",
        ),
        Error::Trials(T::Cancelled) if interrupted => Failure::new(Exit::OfCommand(130), "interrupted"),
        Error::Trials(T::NoGit { .. }) => failed(Exit::NoGit),
        Error::Trials(T::NoSuchVersion { .. } | T::AmbiguousVersion { .. } | T::NoSubdirectory { .. }) => {
            failed(Exit::Usage)
        }
        Error::Trials(T::Busy { .. }) => {
            failed(Exit::Environment).hint("Wait for it, or name another directory with --work.")
        }
        Error::Contract(error) => super::contract::given::failure(error, interrupted),
        Error::Recording(_) | Error::Replay(_) | Error::Slice(_) | Error::Symbolic(_) => {
            failed(Exit::BadInput)
        }
        _ => failed(Exit::Environment),
    }
}
