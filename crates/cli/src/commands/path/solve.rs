//! Finds an input for the same path with a solver, and runs the program with it.

use super::super::alternate::text::excerpts;
use super::{Followed, PathArgs};
use crate::failure::{Exit, Failure};
use crate::{Session, solvers, source};
use alternate::rerun::{Recorder, Runner};
use alternate::same::{Another, another};
use serde::Serialize;
use solver::Settings;
use std::time::Duration;
use symbolic::{Divergence, Input};

#[derive(Debug, Serialize)]
pub struct SolvedInput {
    /// The number of input bytes that differ from the recorded ones.
    changed: u64,
    /// The number of input bytes in the conditions, and of those with only one possible value.
    named: u64,
    fixed: u64,
    /// The number of bytes for which the solver gave no answer, and the reason.
    unanswered: u64,
    reason: Option<String>,
    /// The number of queries sent to a solver; the others were answered internally.
    solver_questions: u64,
    /// The files that were written.
    files: Vec<String>,
    /// The parts of the input that differ from the recorded run.
    parts: Vec<Part>,
    /// Whether the program took the same path; `None` if it was not run.
    pub same_way: Option<bool>,
    /// The reason why it was not run, or where it left the path.
    note: Option<String>,
}

/// The bytes of one origin, before and after.
#[derive(Debug, Serialize)]
struct Part {
    name: String,
    old: Vec<u8>,
    new: Vec<u8>,
}

pub fn solve(args: &PathArgs, followed: &mut Followed<'_>) -> Result<SolvedInput, Failure> {
    let commands = solvers::named(args.solver.as_deref())?;
    let settings = Settings { commands, limits: args.limits(), ..Settings::default() };
    let found = another(&mut followed.world, &followed.path, &settings, Duration::from_secs(args.budget));
    if found.changed.is_empty() && found.unanswered > 0 {
        return Err(unanswered(&found));
    }
    let world = &followed.world;
    let value = |v: u32| found.value(world, v);
    let input = Input::with(world, &followed.recorded.info, &value);
    let recorded = |v: u32| world.variables.value(v);
    let before = Input::with(world, &followed.recorded.info, &recorded);
    let parts = input.parts.iter().filter_map(|(origin, new)| {
        let old = before.parts.get(origin).cloned().unwrap_or_default();
        (old != *new).then(|| Part { name: origin.name(), old, new: new.clone() })
    });
    let files = match &args.input_dir {
        Some(directory) => input.write(directory).map_err(|e| {
            Failure::failed_to(Exit::Environment, format_args!("write to {}: {e}", directory.display()))
        })?,
        None => Vec::new(),
    };
    let mut solved = SolvedInput {
        changed: found.changed.len() as u64,
        named: found.named,
        fixed: found.fixed,
        unanswered: found.unanswered,
        reason: found.reason,
        solver_questions: found.statistics.solved,
        parts: parts.collect(),
        files: files.iter().map(|f| source::short(&f.display().to_string())).collect(),
        same_way: None,
        note: None,
    };
    match run_with_input(args, followed, &input) {
        Ok(None) => solved.same_way = Some(true),
        Ok(Some(parting)) => {
            solved.same_way = Some(false);
            solved.note = Some(describe(followed, &parting));
        }
        Err(why) => solved.note = Some(why),
    }
    Ok(solved)
}

/// The failure for a search in which no byte could be decided.
fn unanswered(found: &Another) -> Failure {
    let reason = found.reason.as_deref().unwrap_or("the reason is not known");
    let (exit, hint) = match &found.trouble {
        Some(solver::Error::NoSolver) => {
            (Exit::Environment, "Install cvc5 (or bitwuzla, z3), or name a solver: --solver CMD.")
        }
        Some(_) => (Exit::Environment, "Try another solver: --solver CMD."),
        None => (
            Exit::No,
            "Give it more time (--timeout, --budget), follow fewer inputs (--only), or try another solver \
             (--solver).",
        ),
    };
    let bytes = crate::render::counted(found.unanswered, "input byte");
    Failure::new(exit, format_args!("no other input was found: {bytes} could not be decided, {reason}"))
        .hint(hint)
}

/// Records a run of the program with an input, and compares the paths. The error is the reason why it cannot
/// be run.
fn run_with_input(
    args: &PathArgs,
    followed: &Followed<'_>,
    input: &Input,
) -> Result<Option<Divergence>, String> {
    let mut runner = Recorder::new(std::env::temp_dir(), Duration::from_secs(args.run_timeout));
    runner.remember(followed.recorded, &followed.path);
    let rerun =
        runner.run(followed.recorded, input, &followed.path.written()).map_err(|why| why.to_string())?;
    symbolic::divergence(&followed.process, &rerun.process, followed.path.stream)
        .map_err(|e| format!("the runs could not be compared: failed to {e}"))
}

fn describe(followed: &Followed<'_>, parting: &Divergence) -> String {
    let Some(jump) = parting.first else {
        return "it went on where the recorded run had ended".to_owned();
    };
    let module = followed.process.image.module(jump.module);
    let Some(function) = module.functions.get(jump.function as usize) else { return String::new() };
    let place = function.place(jump.index as usize);
    let file = source::short(&module.file_path(place.file));
    format!("it left the way at {file}:{} in {}, instruction {}", place.line, function.name, jump.step)
}

pub fn write(session: &mut Session, solved: &SolvedInput) -> Result<(), Failure> {
    let paint = session.paint;
    let changed = crate::render::counted(solved.changed, "byte");
    match solved.files.is_empty() {
        true => writeln!(session.out, "\nAn input for the same way ({changed} changed):")?,
        false => {
            writeln!(
                session.out,
                "\nAn input for the same way ({changed} changed): {}",
                solved.files.join(", ")
            )?;
        }
    }
    for part in &solved.parts {
        let (old, new) = excerpts(&part.old, &part.new);
        writeln!(session.out, "   {}:", part.name)?;
        writeln!(session.out, "   {}", paint.bad(format!("- {old}")))?;
        writeln!(session.out, "   {}", paint.good(format!("+ {new}")))?;
    }
    if solved.changed == 0 {
        let named = crate::render::counted(solved.named, "byte");
        writeln!(
            session.out,
            "It is the recorded one: no other value of the {named} that decide takes this way."
        )?;
    }
    if let Some(reason) = &solved.reason {
        let bytes = crate::render::counted(solved.unanswered, "byte");
        writeln!(session.out, "{bytes} stayed as they were without an answer: {reason}.")?;
    }
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
