//! `relapse explain`: which changes broke the test, and how.

mod forms;
mod meant;
mod options;
mod watch;

use crate::document::write;
use crate::failure::{Exit, Failure};
use crate::signals::stop_on_signals;
use crate::times::{duration, seconds};
use crate::tools::Builder;
use crate::{Session, solvers};
use clap::Args;
use explain::session::{self, Explanation, Method, Request};
pub use forms::OutputFormats;
use options::{Options, OracleKind};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use trials::{Oracle, Rule, Sink, TrialLimits};

/// Find the changes that broke a test, and show how
///
/// Takes the version in which the test passes, the one in which it fails, and the commands to build and to
/// test. Commits between them are bisected first. Then the failing run is recorded and traced back from the
/// failure; changes that it depends on are undone and the test is run again, until those are known that are
/// needed (undone, the test passes), sufficient (put into good, it fails in the same way) and give a sane
/// program. Your files, index and branches are not touched.
///
/// Missing options are read from relapse.toml, here or in a directory above; --save writes it. During a `git
/// bisect` the versions default to its marks.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  relapse explain --good v1.2 --bad HEAD --build make --test './run-test'
  relapse explain --good HEAD --bad . --build make --test './sum 4'
  relapse explain --good old/ --bad new/ --build 'make sum' --test './sum < in' --html why.html
  relapse explain                 as the saved options say

Exit codes (beside those of `relapse --help`):
  0    explained, and the answer is verified: needed, sufficient and sane
  1    not all of that was shown, or no answer was found; the report says what is known
  6    no regression: the test does not pass on good, or does not fail on bad
  7    the test is flaky: runs of one version disagree
  8    the good or the bad version does not build
  9    the versions are swapped: the test passes on bad and fails on good
  10   the test command cannot be run
  11   a revision is named and git is not installed
  12   clang is not installed
  130  interrupted before anything was known; the next call goes on where this one stopped")]
pub struct ExplainArgs {
    #[command(flatten)]
    options: Options,
    #[command(flatten)]
    forms: OutputFormats,
    /// Write it as JSON (`relapse.explain/2`), which `relapse show` reads; `-` is standard output
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Directory for builds, recordings and stored outcomes [default: one for this project in the user's
    /// cache directory]
    #[arg(long, value_name = "DIR")]
    work: Option<PathBuf>,
    /// Keep the built trees in the work directory
    #[arg(long)]
    keep: bool,
    /// Time limit, such as 90s, 2m or 1h: then the best answer so far is reported
    #[arg(long, value_name = "TIME", value_parser = duration)]
    budget: Option<Duration>,
    /// Undo nothing: report only the failure, the ranking of the changes and the chain of values
    #[arg(long)]
    no_trials: bool,
    /// End the search after this number of trials, with the best answer so far
    #[arg(long, value_name = "N")]
    most_trials: Option<u64>,
    /// The SMT solver, with its arguments [default: cvc5, bitwuzla, z3, those that are installed]
    #[arg(long, value_name = "CMD")]
    solver: Option<String>,
    /// Standard input of the test
    #[arg(long, value_name = "FILE")]
    stdin: Option<PathBuf>,
    #[command(flatten)]
    meant: meant::MeantArgs,
    /// Write the options to relapse.toml, so that the next call needs none
    #[arg(long)]
    save: bool,
    /// Say nothing on standard error unless something goes wrong
    #[arg(short, long)]
    quiet: bool,
}

pub fn run(args: &ExplainArgs, session: &mut Session) -> Result<Exit, Failure> {
    let directory = std::env::current_dir().map_err(|e| {
        Failure::failed_to(Exit::Environment, format_args!("find the current directory: {e}"))
    })?;
    let here = options::home(&directory);
    let said = args.options.clone().rebased(&directory, &here);
    let mut options = said.or(options::load(&here)?);
    let saved = options.clone();
    bisected(&mut options, &here)?;
    let request = request(args, &options, &here)?;
    if args.save {
        options::save(&here, &saved)?;
    }
    let stop = Arc::new(AtomicBool::new(false));
    stop_on_signals(&stop)
        .map_err(|e| Failure::failed_to(Exit::Environment, format_args!("watch for signals: {e}")))?;
    let watcher = watch::Watcher::new(!args.quiet, session.watched);
    let news = watcher.news();
    let explanation = session::explain(&request, stop.clone(), news);
    watcher.finish();
    let explanation = explanation.map_err(|error| failure(&error, stop.load(Ordering::Relaxed)))?;
    write_outputs(args, &explanation, session)?;
    Ok(if explanation.answer.verified { Exit::Done } else { Exit::No })
}

/// During a `git bisect`, its marks are the default versions.
fn bisected(options: &mut Options, here: &Path) -> Result<(), Failure> {
    if options.good.is_some() && options.bad.is_some() {
        return Ok(());
    }
    let marks = trials::bisect_marks(here).map_err(|e| Failure::failed_to(Exit::Environment, e))?;
    if let Some((good, bad)) = marks {
        options.good.get_or_insert(good);
        options.bad.get_or_insert(bad);
    }
    Ok(())
}

fn request(args: &ExplainArgs, options: &Options, here: &Path) -> Result<Request, Failure> {
    let named = |value: &Option<String>, option: &str, what: &str| {
        value.clone().ok_or_else(|| {
            Failure::new(Exit::Usage, format_args!("{what} is not named"))
                .hint(format!("Say --{option}; `relapse explain --help` shows examples."))
        })
    };
    let (good, bad) = (
        named(&options.good, "good", "the version in which the test passes")?,
        named(&options.bad, "bad", "the version in which the test fails")?,
    );
    let test = named(&options.test, "test", "the failing test")?;
    let build = named(&options.build, "build", "the command that builds a version")?;
    let rule = match (&options.expect, options.oracle) {
        (Some(file), _) => Rule::Expect(std::fs::read(file).map_err(|e| {
            Failure::failed_to(Exit::Usage, format_args!("read the expected output {}: {e}", file.display()))
        })?),
        (None, Some(OracleKind::Exit)) => Rule::Exit,
        (None, Some(OracleKind::Slower)) => Rule::Slower,
        (None, _) => Rule::SameAsGood,
    };
    let Builder { tools, compilers, work } = Builder::new(args.work.as_ref(), here)?;
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let stdin = args.stdin.as_ref().map(|path| {
        path.canonicalize().map_err(|e| {
            Failure::failed_to(Exit::Usage, format_args!("read the standard input {}: {e}", path.display()))
        })
    });
    Ok(Request {
        good,
        bad,
        here: here.to_owned(),
        build,
        test,
        passing_test: options.passing_test.clone(),
        suite: options.suite.clone(),
        test_files: options.test_files.clone(),
        budget: args.budget,
        no_trials: args.no_trials,
        stdin: stdin.transpose()?,
        oracle: Oracle { rule, observe: options.observe.iter().map(|name| Sink::named(name)).collect() },
        method: match options.method {
            Some(options::Method::Dd) => Method::Dd,
            Some(options::Method::Add) => Method::Add,
            Some(options::Method::Auto) | None => Method::Auto,
        },
        jobs: options.jobs.unwrap_or(cores).max(1),
        repeat: options.repeat.unwrap_or(3).max(1) as usize,
        limits: TrialLimits {
            test: options.timeout.map(seconds).transpose()?,
            memory: options.memory.map(|mib| mib << 20),
            ..TrialLimits::default()
        },
        tools,
        compilers: Some(compilers),
        work,
        keep: args.keep,
        most_trials: args.most_trials,
        solvers: solvers::named(args.solver.as_deref())?,
        ignore: vec![options::FILE.into()],
        runs: args.forms.html.is_some(),
        intentions: args.meant.intentions()?,
    })
}

/// Writes the answer in all requested formats.
fn write_outputs(
    args: &ExplainArgs,
    explanation: &Explanation,
    session: &mut Session,
) -> Result<(), Failure> {
    let answer = &explanation.answer;
    let mut to_stdout = false;
    if let Some(path) = &args.json {
        let text = report::json::to_json(answer).map_err(|e| Failure::failed_to(Exit::Environment, e))?;
        if path.as_os_str() == "-" {
            to_stdout = true;
            writeln!(session.out, "{}", text.trim_end())?;
        } else {
            write(path, &text)?;
        }
    }
    args.forms.write(answer, || {
        let sources = report::Sources {
            good: explanation.good_files.iter().cloned().collect(),
            bad: explanation.bad_files.iter().cloned().collect(),
        };
        let runs =
            report::html::Runs { phases: explanation.phases.as_ref(), both: explanation.runs.as_ref() };
        report::html::render_with(answer, Some(&sources), runs)
    })?;
    if !to_stdout {
        args.forms.print(answer, session)?;
    }
    Ok(())
}

/// The sentence and the exit code for a failed explanation.
fn failure(error: &explain::error::Error, interrupted: bool) -> Failure {
    use trials::Error as T;
    let explain::error::Error::Trials(inner) = error else {
        let exit = match error {
            explain::error::Error::SameVersions => Exit::NoRegression,
            _ => Exit::BadInput,
        };
        return Failure::failed_to(exit, error);
    };
    let failed = |exit| Failure::failed_to(exit, inner);
    match inner {
        T::DoesNotPass { .. } => failed(Exit::NoRegression)
            .hint("There is nothing to explain: name a version in which the test passes as --good."),
        T::DoesNotFail { .. } => failed(Exit::NoRegression)
            .hint("There is nothing to explain: name a version in which the test fails as --bad."),
        T::Swapped { .. } => {
            failed(Exit::Swapped).hint("Exchange --good and --bad, if that is what you meant.")
        }
        T::TestNotRun { .. } => failed(Exit::TestNotRun)
            .hint("The test runs where the build ran. Correct --test, or have --build make what it needs."),
        T::NoGit { .. } => failed(Exit::NoGit).hint("Install git, or name directories."),
        T::Flaky { .. } => failed(Exit::Flaky).hint(
            "An explanation of a test that comes and goes would be a guess. Make it repeatable, or\n\
             leave out what differs (--oracle exit looks at the exit status only).",
        ),
        T::DoesNotBuild { .. } => {
            failed(Exit::DoesNotBuild).hint("Correct --build, or name another version.")
        }
        T::NoSuchVersion { .. } | T::AmbiguousVersion { .. } | T::NoSubdirectory { .. } => {
            failed(Exit::Usage)
        }
        T::Cancelled if interrupted => Failure::new(Exit::OfCommand(130), "interrupted")
            .hint("What was tried is remembered: the same call goes on from here."),
        T::Busy { .. } => {
            failed(Exit::Environment).hint("Wait for it, or name another directory with --work.")
        }
        T::Git { .. } => failed(Exit::BadInput),
        _ => failed(Exit::Environment),
    }
}
