//! An input for the same way, found by a solver and tried.

use super::{Followed, PathArgs};
use crate::failure::{Exit, Failure};
use crate::{Session, source};
use recording::Recording;
use replay::process::{LoadedProcess, Options};
use serde::Serialize;
use solver::{Answer, Solver};
use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::io::Write;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use symbolic::{Input, Origin, Parting};

/// Used when the user names no directory.
const DEFAULT: &str = "relapse-input";

#[derive(Debug, Serialize)]
pub struct Solved {
    /// The solver that answered.
    solver: String,
    /// Input bytes that differ from the recorded ones.
    changed: u64,
    /// The files that were written.
    files: Vec<String>,
    /// Whether the program took the same way with it; none if it was not run.
    pub same_way: Option<bool>,
    /// Why it was not run, or where it left the way.
    note: Option<String>,
}

pub fn solve(args: &PathArgs, followed: &Followed<'_>) -> Result<Solved, Failure> {
    let world = &followed.world;
    let commands = match &args.solver {
        Some(text) => solver::Command::parse(text).into_iter().collect(),
        None => solver::Command::found(),
    };
    if commands.is_empty() {
        return Err(Failure::new(Exit::Environment, "no solver was found")
            .hint("Install cvc5 (or bitwuzla, z3), or name one: --solver CMD."));
    }
    let mut solver = Solver::new(commands, args.limits(), false);
    let mut wanted: BTreeSet<u32> = BTreeSet::new();
    for c in followed.path.conditions.iter().filter(|c| !c.repeated) {
        solver.assert(&world.pool, c.term);
        wanted.extend(world.pool.variables(c.term).iter());
    }
    let failed = |e: solver::Error| Failure::failed_to(Exit::Environment, e);
    match solver.check().map_err(failed)? {
        Answer::Sat => {}
        Answer::Unsat => {
            let what = "the solver says that no input takes this way, but the recorded one did";
            return Err(Failure::new(Exit::BadInput, what).hint("Try another solver: --solver CMD."));
        }
        Answer::Unknown(reason) => {
            let count = followed.path.conditions.len();
            return Err(Failure::new(
                Exit::No,
                format_args!("the solver has no answer to {count} conditions: {reason}"),
            )
            .hint(
                "Give it more time (--timeout), follow fewer inputs (--only), or try another (--solver).",
            ));
        }
    }
    let wanted: Vec<u32> = wanted.into_iter().collect();
    let values: HashMap<u32, u128> = solver.values(&wanted).map_err(failed)?;
    let value = |v: u32| values.get(&v).copied().unwrap_or_else(|| world.variables.value(v));
    if let Some(number) = followed.path.follows(world, &value) {
        let c = &followed.path.conditions[number];
        let what = format!("{} gave a model in which {} is false", solver.winner(), world.text(c.term));
        return Err(Failure::new(Exit::Environment, what).hint("Try another solver: --solver CMD."));
    }
    let input = Input::with(world, &followed.recorded.info, &value);
    let changed = wanted.iter().filter(|v| value(**v) != world.variables.value(**v)).count() as u64;
    let directory = directory(args.input_dir.as_deref())?;
    let cannot = |e: std::io::Error| {
        Failure::failed_to(Exit::Environment, format_args!("write to {}: {e}", directory.display()))
    };
    let files = input.write(&directory).map_err(cannot)?;
    let mut solved = Solved {
        solver: solver.winner(),
        changed,
        files: files.iter().map(|f| source::short(&f.display().to_string())).collect(),
        same_way: None,
        note: None,
    };
    match try_it(followed, &input) {
        Ok(None) => solved.same_way = Some(true),
        Ok(Some(parting)) => {
            solved.same_way = Some(false);
            solved.note = Some(describe(followed, &parting));
        }
        Err(why) => solved.note = Some(why),
    }
    Ok(solved)
}

/// The directory for the input, made.
fn directory(named: Option<&Path>) -> Result<PathBuf, Failure> {
    let path = match named {
        Some(path) => path.to_owned(),
        None => (1u32..)
            .map(|n| PathBuf::from(if n == 1 { DEFAULT.to_owned() } else { format!("{DEFAULT}.{n}") }))
            .find(|p| !p.exists())
            .unwrap_or_else(|| PathBuf::from(DEFAULT)),
    };
    std::fs::create_dir_all(&path)
        .map_err(|e| Failure::failed_to(Exit::Environment, format_args!("make {}: {e}", path.display())))?;
    Ok(path)
}

/// Runs the program with an input under recording, and compares the ways. Why not, if it
/// cannot be tried.
fn try_it(followed: &Followed<'_>, input: &Input) -> Result<Option<Parting>, String> {
    let info = &followed.recorded.info;
    if input.parts.keys().any(|o| matches!(o, Origin::Stream(..))) {
        return Err("it has bytes of a pipe or socket, which cannot be replaced from here".to_owned());
    }
    if info.executable.is_empty() {
        return Err("the recording does not name the program".to_owned());
    }
    let scratch = scratch().map_err(|e| format!("no directory for the run could be made: {e}"))?;
    let result = run_in(followed, input, &scratch);
    let _ = std::fs::remove_dir_all(&scratch);
    result
}

fn run_in(followed: &Followed<'_>, input: &Input, scratch: &Path) -> Result<Option<Parting>, String> {
    let info = &followed.recorded.info;
    let mut directory = PathBuf::from(&info.directory);
    if input.files().next().is_some() {
        let written: Vec<String> = followed
            .path
            .outputs
            .iter()
            .filter_map(|o| match &o.sink {
                Some(Origin::File(path)) => Some(path.clone()),
                _ => None,
            })
            .collect();
        directory = scratch.join("directory");
        let complete = input
            .stage(info, &written, &directory)
            .map_err(|e| format!("the working directory could not be copied: {e}"))?;
        if !complete {
            return Err("it has a file outside of the working directory, which is left alone".to_owned());
        }
    }
    let record = scratch.join("recording");
    let own = std::env::current_exe().map_err(|e| format!("relapse does not find itself: {e}"))?;
    let arguments = input.arguments(info);
    // By the name it was started with, if that is a path; the program may look at it.
    let name = arguments.first().map(|a| OsString::from_vec(a.clone())).unwrap_or_default();
    let by_name = name.to_string_lossy().contains('/') && directory.join(&name).exists();
    let program = if by_name { name } else { info.executable.clone().into() };
    let mut command = Command::new(own);
    command.arg("record").arg("--quiet").arg("-o").arg(&record).arg("--").arg(program);
    command.args(arguments.into_iter().skip(1).map(OsString::from_vec));
    for (name, value) in input.environment() {
        command.env(name, OsString::from_vec(value.to_vec()));
    }
    command.current_dir(&directory).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|e| format!("the program could not be run: {e}"))?;
    if let Some(mut pipe) = child.stdin.take() {
        // A program that does not read all of its input may be gone already.
        let _ = pipe.write_all(input.stdin());
    }
    child.wait().map_err(|e| format!("the program could not be run: {e}"))?;
    let recording = Recording::open(&record).map_err(|e| format!("it was not recorded: failed to {e}"))?;
    let same = |p: &&recording::Process| p.info.executable == info.executable;
    let recorded = recording.processes.iter().find(same).or(recording.processes.first());
    let recorded = recorded.ok_or("the run recorded nothing")?;
    let process = LoadedProcess::load(&recording, recorded, &Options::default())
        .map_err(|e| format!("its recording cannot be replayed: failed to {e}"))?;
    symbolic::parting(&followed.process, &process, followed.path.stream)
        .map_err(|e| format!("the runs could not be compared: failed to {e}"))
}

fn scratch() -> std::io::Result<PathBuf> {
    let base = std::env::temp_dir();
    for n in 0u32.. {
        let path = base.join(format!("relapse-path-{}-{n}", std::process::id()));
        match std::fs::create_dir(&path) {
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
            made => return made.and_then(|()| path.canonicalize()),
        }
    }
    Err(std::io::ErrorKind::AlreadyExists.into())
}

fn describe(followed: &Followed<'_>, parting: &Parting) -> String {
    let Some(jump) = parting.first else {
        return "it went on where the recorded run had ended".to_owned();
    };
    let module = followed.process.image.module(jump.module);
    let Some(function) = module.functions.get(jump.function as usize) else { return String::new() };
    let place = function.place(jump.index as usize);
    let file = source::short(&module.file_path(place.file));
    format!("it left the way at {file}:{} in {}, instruction {}", place.line, function.name, jump.step)
}

pub fn write(session: &mut Session, solved: &Solved) -> Result<(), Failure> {
    let paint = session.paint;
    writeln!(
        session.out,
        "\n{} found an input ({} changed): {}",
        solved.solver,
        crate::render::counted(solved.changed, "byte"),
        solved.files.join(", ")
    )?;
    match (solved.same_way, &solved.note) {
        (Some(true), _) => {
            writeln!(session.out, "{} The program took the same way with it.", paint.good("Tried:"))?
        }
        (Some(false), note) => writeln!(
            session.out,
            "{} {}.",
            paint.bad("Tried:"),
            note.as_deref().unwrap_or("it took another way")
        )?,
        (None, note) => {
            writeln!(session.out, "Not tried: {}.", note.as_deref().unwrap_or("unknown reason"))?;
        }
    }
    Ok(())
}
