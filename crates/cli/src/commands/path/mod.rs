//! `relapse path`: the path of a run, as conditions on its input.

mod listing;
mod solve;

use crate::failure::{Exit, Failure};
use crate::{Session, opened};
use clap::Args;
use recording::header::StreamKind;
use replay::process::{LoadedProcess, Options as LoadOptions};
use serde::Serialize;
use std::path::PathBuf;
use std::time::Duration;
use symbolic::{Inputs, Kind, Options, Path, Reason, TermContext};

/// Show the path of a run, as conditions on its input bytes
///
/// Replays the run and follows its input. Every branch that depends on input becomes a condition over bytes
/// such as `stdin[3]`; an input (of the same lengths) takes the same path if and only if it satisfies all of
/// them.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  relapse path run                     the decisions, with their places
  relapse path run --smt2 path.smt2    for any SMT-LIB solver
  relapse path run --solve             another input for the same way, tried at once")]
pub struct PathArgs {
    /// Directory of the recording
    recording: PathBuf,
    /// Only this process, counted from 0 in the order they started
    #[arg(long, value_name = "N")]
    process: Option<usize>,
    /// The thread with this number [default: the first]
    #[arg(long, value_name = "N")]
    stream: Option<u32>,
    #[command(flatten)]
    inputs: InputArgs,
    /// Use the recorded values of addresses instead of following input into them
    #[arg(long)]
    fixed_addresses: bool,
    /// Use the recorded values of floating-point numbers instead of following input into them
    #[arg(long)]
    no_float: bool,
    /// Stop before this instruction of the thread
    #[arg(long, value_name = "N")]
    until: Option<u64>,
    /// Give up when the conditions have more parts than this
    #[arg(long, value_name = "N", default_value_t = 50_000_000)]
    largest: usize,
    /// List all conditions, not only the first decisions
    #[arg(long)]
    all: bool,
    /// Write the conditions as SMT-LIB, to a file or instead of the list
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    smt2: Option<PathBuf>,
    /// Use a solver to find an input for this path, and run the program with it
    #[arg(long)]
    solve: bool,
    /// Write the input that was found into this directory
    #[arg(long, value_name = "DIR", requires = "solve")]
    input_dir: Option<PathBuf>,
    /// The solver, with its arguments [default: cvc5, bitwuzla or z3, if installed]
    #[arg(long, value_name = "CMD")]
    solver: Option<String>,
    /// Time limit of a solver query, in seconds
    #[arg(long, value_name = "N", default_value_t = 10)]
    timeout: u64,
    /// Time limit of all queries, in seconds
    #[arg(long, value_name = "N", default_value_t = 60)]
    budget: u64,
    /// Time limit of the run with the new input, in seconds
    #[arg(long, value_name = "N", default_value_t = 10)]
    run_timeout: u64,
    /// Answer in JSON (schema relapse.path/1)
    #[arg(long, conflicts_with = "smt2")]
    json: bool,
}

/// Which inputs are followed.
#[derive(Debug, Args)]
struct InputArgs {
    /// Do not follow standard input
    #[arg(long)]
    no_stdin: bool,
    /// Do not follow the arguments
    #[arg(long)]
    no_arguments: bool,
    /// Do not follow files
    #[arg(long)]
    no_files: bool,
    /// Follow environment variables as well
    #[arg(long)]
    environment: bool,
    /// Only inputs whose name ends with this (a file's path, stdin, argv[1]); may be repeated
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
}

impl PathArgs {
    fn options(&self) -> Options {
        Options {
            inputs: Inputs {
                stdin: !self.inputs.no_stdin,
                arguments: !self.inputs.no_arguments,
                files: !self.inputs.no_files,
                environment: self.inputs.environment.into(),
                only: self.inputs.only.clone(),
                ..Inputs::default()
            },
            fixed_addresses: self.fixed_addresses,
            concrete_floats: self.no_float,
            until: self.until,
            max_terms: self.largest,
            ..Options::default()
        }
    }

    fn limits(&self) -> solver::Limits {
        solver::Limits { timeout: Duration::from_secs(self.timeout), ..solver::Limits::default() }
    }
}

/// A run with its path condition.
pub(super) struct Followed<'r> {
    pub recorded: &'r recording::Process,
    pub process: LoadedProcess,
    pub world: TermContext,
    pub path: Path,
}

#[derive(Debug, Serialize)]
struct Answer {
    schema: &'static str,
    process: String,
    stream: u32,
    instructions: u64,
    touched: u64,
    inputs: Vec<listing::Input>,
    conditions: Vec<listing::Row>,
    losses: Vec<listing::Lost>,
    status_depends_on_input: bool,
    solved: Option<solve::SolvedInput>,
}

pub fn run(args: &PathArgs, session: &mut Session) -> Result<Exit, Failure> {
    let recording = opened::recording(&args.recording)?;
    let mut first = None;
    for (number, recorded) in recording.processes.iter().enumerate() {
        if args.process.is_some_and(|n| n != number) {
            continue;
        }
        let mut followed = follow(args, &recording, recorded)?;
        if followed.path.decisions().next().is_some() {
            return answer(args, session, &mut followed);
        }
        first.get_or_insert(followed);
    }
    let Some(mut followed) = first else {
        let n = recording.processes.len();
        let what = format!("the recording has no process {}", args.process.unwrap_or(0));
        return Err(Failure::new(Exit::Usage, what).hint(format_args!("It has {n}, counted from 0.")));
    };
    if args.json {
        answer(args, session, &mut followed)?;
    }
    Err(nothing(args, &followed))
}

fn follow<'r>(
    args: &PathArgs,
    recording: &recording::Recording,
    recorded: &'r recording::Process,
) -> Result<Followed<'r>, Failure> {
    let process = LoadedProcess::load(recording, recorded, &LoadOptions::default())
        .map_err(|e| opened::load_failure(&e))?;
    let main = process.streams.iter().find(|s| s.kind == StreamKind::Thread).map_or(0, |s| s.number);
    let stream = args.stream.unwrap_or(main);
    let mut world = TermContext::default();
    let path = symbolic::replay(&process, recorded, stream, &mut world, &args.options()).map_err(|e| {
        let exit = match e {
            symbolic::Error::NoStream(_) => Exit::Usage,
            symbolic::Error::TooLarge { .. } | symbolic::Error::TimeUp { .. } => Exit::No,
            symbolic::Error::Replay(_) => Exit::BadInput,
        };
        let failure = Failure::failed_to(exit, &e);
        if exit == Exit::No {
            return failure.hint(
                "Follow fewer inputs (--only), a part of the run (--until), or allow more (--largest; mind the\n\
                 memory).",
            );
        }
        failure
    })?;
    Ok(Followed { recorded, process, world, path })
}

/// The failure for a run without branches on input: what was read, and what to do.
fn nothing(args: &PathArgs, followed: &Followed<'_>) -> Failure {
    let bytes = followed.world.variables.list.len() as u64;
    let all = args.inputs.no_stdin || args.inputs.no_arguments || args.inputs.no_files;
    let failure = Failure::new(
        Exit::No,
        format_args!(
            "no branch of {} depends on its input: it read {} that {} followed",
            followed.recorded.name,
            crate::render::counted(bytes, "byte"),
            if bytes == 1 { "is" } else { "are" }
        ),
    );
    let path = &followed.path;
    let fixed = path.conditions.iter().filter(|c| c.kind == Kind::Concretised).count();
    let lost = path.losses.iter().filter(|l| l.reason != Reason::Printed).count();
    match (bytes, all || !args.inputs.only.is_empty()) {
        (0, true) => failure.hint("Follow more inputs: leave out --no-... and --only."),
        (0, false) => failure.hint(
            "Standard input, arguments and files are followed; `relapse dump io DIR` shows what was read,\n\
             --environment follows the environment as well.",
        ),
        _ if fixed + lost > 0 => failure.hint(format_args!(
            "As far as can be seen: {} fixed because what uses them is not followed, and {} effects of input are\n\
             not followed. --json lists them with their reasons.",
            crate::render::counted(fixed as u64, "value"),
            lost
        )),
        _ => failure.hint("Any input of these lengths takes the same way."),
    }
}

fn answer(args: &PathArgs, session: &mut Session, followed: &mut Followed<'_>) -> Result<Exit, Failure> {
    if let Some(number) = followed.path.broken(&followed.world) {
        // Defensive: it would be an internal error, and the output must not be wrong.
        let what = format!("condition {number} does not hold on its own run; this is a fault in relapse");
        return Err(Failure::new(Exit::BadInput, what));
    }
    if let Some(file) = &args.smt2 {
        let text = listing::smt2(followed);
        if file.as_os_str() == "-" {
            use std::io::Write;
            session.out.write_all(text.as_bytes())?;
            return Ok(Exit::Done);
        }
        std::fs::write(file, text).map_err(|e| {
            Failure::failed_to(Exit::Environment, format_args!("write {}: {e}", file.display()))
        })?;
    }
    let solved = if args.solve { Some(solve::solve(args, followed)?) } else { None };
    let followed = &*followed;
    if args.json {
        let path = &followed.path;
        return session.json(&Answer {
            schema: "relapse.path/1",
            process: followed.recorded.name.clone(),
            stream: path.stream,
            instructions: path.counters.instructions,
            touched: path.touched,
            inputs: listing::inputs(followed),
            conditions: listing::rows(followed).map_err(|e| Failure::failed_to(Exit::BadInput, e))?,
            losses: listing::losses(followed),
            status_depends_on_input: path.status.is_some(),
            solved,
        });
    }
    listing::write(args.all, session, followed)?;
    if let Some(solved) = solved {
        solve::write(session, &solved)?;
        return Ok(if solved.same_way == Some(false) { Exit::No } else { Exit::Done });
    }
    Ok(Exit::Done)
}

/// Whether a condition comes from a branch of the program.
fn is_decision(kind: Kind) -> bool {
    !matches!(kind, Kind::Bounds | Kind::Concretised)
}
