//! `relapse contract search`: searches an input that violates a contract.

use super::text;
use crate::Session;
use crate::commands::expose::{self, workshop};
use crate::commands::locate::suite;
use crate::document::json_to;
use crate::failure::{Exit, Failure};
use crate::render::{counted, grouped};
use crate::signals::stop_on_signals;
use crate::solvers;
use crate::times::duration;
use clap::Args;
use contract::watch::Bounds;
use explore::contracts::{ContractOptions, Searched, search};
use explore::expose::{Request, Workers};
use explore::shared::FoundBy;
use locate::test::Test;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Search for an input that violates a contract
///
/// Starts with the inputs of the tests. One worker mutates them; another follows them symbolically through
/// both versions and uses a solver to find inputs that reach the changes. New inputs are recorded with both
/// versions, and the calls in the recordings are judged as by `contract check`.
///
/// If nothing is found, this proves nothing.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  relapse contract search --good HEAD~1 --bad . --build make --test './calc 2 3'
  relapse contract search --good v1 --bad v2 --build make --test './calc < t/1' --unchanged parse

Exit codes (beside those of `relapse --help`):
  0    no input was found
  1    an input was found with which a contract is violated
  3    a contract is wrong
  8    a version does not build
  10   the test command cannot be run
  11   a revision is named and git is not installed
  12   clang is not installed")]
pub struct SearchArgs {
    /// The version before the change: a git revision or a directory
    #[arg(long, value_name = "VERSION")]
    good: String,
    /// The version after it; `.` is the working tree
    #[arg(long, value_name = "VERSION")]
    bad: String,
    /// How to build a version; CC and CXX are set
    #[arg(long, value_name = "CMD")]
    build: String,
    /// An initial test, run where the build ran; may be given several times
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
    /// Time limit of the search once both versions are built, such as 90s, 2m or 1h
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "60s")]
    budget: Duration,
    /// Timeout of a test, in seconds
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<f64>,
    /// The SMT solver, with its arguments [default: cvc5, bitwuzla, z3, those that are installed]
    #[arg(long, value_name = "CMD")]
    solver: Option<String>,
    /// Seed of the random mutations
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Write the answer as JSON (`relapse.contract-search/1`); `-` is standard output
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Directory for builds and recordings [default: one for this project in the user's cache
    /// directory]
    #[arg(long, value_name = "DIR")]
    work: Option<PathBuf>,
    /// Keep the built trees in the work directory
    #[arg(long)]
    keep: bool,
}

pub fn run(args: &SearchArgs, session: &mut Session) -> Result<Exit, Failure> {
    let here = std::env::current_dir().map_err(|e| {
        Failure::failed_to(Exit::Environment, format_args!("find the current directory: {e}"))
    })?;
    let mut tests: Vec<Test> = args.test.iter().map(|command| Test::new(command)).collect();
    if let Some(file) = &args.suite {
        tests.extend(suite::commands(file)?);
    }
    let workshop =
        workshop(&args.build, args.timeout, args.work.as_ref(), args.keep, &here, "contract-search")?;
    let request = Request {
        good: args.good.clone(),
        bad: args.bad.clone(),
        workshop,
        tests,
        budget: args.budget,
        solvers: solvers::named(args.solver.as_deref())?,
        workers: Workers::Both,
        seed: args.seed,
        contracts: None,
    };
    let given = ContractOptions {
        file: args.contracts.clone(),
        unchanged: args.unchanged.clone(),
        bounds: Bounds { calls: 2000, bytes: 1 << 30 },
    };
    let stop = Arc::new(AtomicBool::new(false));
    stop_on_signals(&stop)
        .map_err(|e| Failure::failed_to(Exit::Environment, format_args!("watch for signals: {e}")))?;
    let searched = search(&request, &given, &stop)
        .map_err(|error| expose::failure(&error, stop.load(Ordering::Relaxed)))?;
    if let Some(path) = &args.json
        && json_to(path, &searched, session)?
    {
        return Ok(exit(&searched));
    }
    write(&searched, session)?;
    Ok(exit(&searched))
}

fn exit(searched: &Searched) -> Exit {
    if searched.violation.is_some() { Exit::No } else { Exit::Done }
}

fn write(searched: &Searched, session: &mut Session) -> Result<(), Failure> {
    let judged = counted(searched.judged, "input");
    match &searched.violation {
        None => {
            writeln!(
                session.out,
                "No input was found with which a contract is violated: {judged} judged in {:.0} s, with {} \
                 of calls; {} without recording. This is no proof.",
                searched.seconds,
                counted(searched.pairs, "pair"),
                counted(searched.runs, "run"),
            )?;
        }
        Some(found) => {
            let by = match found.found_by {
                FoundBy::Test => "of a test",
                FoundBy::Mutation => "found by mutation",
                FoundBy::Solver => "found by the solver",
            };
            writeln!(
                session.out,
                "{} ({by}, after {:.1} s and {} inputs)",
                session.paint.name(&found.command),
                found.seconds,
                grouped(searched.judged),
            )?;
            for part in &found.parts {
                writeln!(session.out, "  {}: \"{}\"", part.name, part.text)?;
            }
            text::write(session, &found.answer)?;
        }
    }
    for note in &searched.notes {
        writeln!(session.out, "note: {note}")?;
    }
    Ok(())
}
