//! `relapse values`: what a variable held whenever a line ran.

mod watch;

use crate::failure::{Exit, Failure};
use crate::render::{Table, counted, grouped};
use crate::source::{self, Spot};
use crate::{Session, opened};
use clap::Args;
use program::model::{Function, Module, SymbolKind};
use program::names::readable;
use replay::image::Image;
use replay::machine::Machine;
use replay::process::{LoadedProcess, LoadedStream, Options};
use serde::Serialize;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;
use watch::{Coverage, Marks, Watch};

/// Show a variable's value at each execution of a line
///
/// The value is the one before the line runs; where the line changes it, both are shown.
/// Without VAR all variables of the function are shown.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  relapse values run sum.c:7 total
  relapse values run src/list.c:120 --limit 20 --json")]
pub struct ValuesArgs {
    /// Directory of the recording
    recording: PathBuf,
    /// The line; the end of the file's path is enough
    #[arg(value_name = "FILE:LINE")]
    at: Spot,
    /// The variable, local or global
    #[arg(value_name = "VAR")]
    variable: Option<String>,
    /// At most so many executions
    #[arg(long, value_name = "N", default_value_t = 1000)]
    limit: usize,
    /// Answer in JSON (schema relapse.values/1)
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Answer {
    schema: &'static str,
    file: String,
    line: u32,
    variables: Vec<String>,
    executions: Vec<Row>,
    truncated: bool,
}

#[derive(Debug, Serialize)]
struct Row {
    stream: String,
    instruction: u64,
    function: String,
    values: Vec<Option<String>>,
    after: Option<Vec<Option<String>>>,
}

pub fn run(args: &ValuesArgs, session: &mut Session) -> Result<Exit, Failure> {
    let recording = opened::recording(&args.recording)?;
    let mut processes = Vec::new();
    for process in &recording.processes {
        let loaded = LoadedProcess::load(&recording, process, &Options::default());
        processes.push(loaded.map_err(|e| opened::cannot_load(&e))?);
    }
    opened::warn_of_edits(&processes);
    let file = find_file(&processes, &args.at.file)?;
    let variables = find_variables(&processes, &file, args)?;
    let mut answer = Answer {
        schema: "relapse.values/1",
        file: file.clone(),
        line: args.at.line,
        variables,
        executions: Vec::new(),
        truncated: false,
    };
    for process in &processes {
        let marks = marks(&process.image, &file, args.at.line);
        for stream in &process.streams {
            let room = args.limit - answer.executions.len().min(args.limit);
            let mut watch = Watch::new(&process.image, &marks, &answer.variables, room);
            // What comes before a divergence is still true.
            let outcome = Machine::new(&process.image, &stream.stream).run(&mut watch, u64::MAX);
            if let Err(error) = outcome {
                eprintln!("relapse: {} stops early: failed to {error}", stream_name(process, stream));
            }
            answer.truncated |= watch.truncated;
            let rows = watch.executions.into_iter().map(|e| Row {
                stream: stream_name(process, stream),
                instruction: e.instruction,
                function: readable(&process.image.module(e.module).functions[e.function as usize].name)
                    .into_owned(),
                values: e.before,
                after: e.after,
            });
            answer.executions.extend(rows);
        }
    }
    if answer.executions.is_empty() && !answer.truncated {
        return Err(never_ran(&processes, &file, args.at.line));
    }
    if args.json {
        return session.json(&answer);
    }
    print(&answer, session)
}

fn stream_name(process: &LoadedProcess, stream: &LoadedStream) -> String {
    format!("{}/t{}", process.name, stream.number)
}

/// All source files of the recorded programs.
fn files(processes: &[LoadedProcess]) -> BTreeSet<String> {
    let modules = processes.iter().flat_map(|p| p.image.modules());
    modules.flat_map(|(_, m)| (0..m.model.files.len()).map(|f| m.model.file_path(f as u32))).collect()
}

fn find_file(processes: &[LoadedProcess], wanted: &str) -> Result<String, Failure> {
    let all = files(processes);
    let mut found = all.iter().filter(|path| source::names(wanted, path));
    match (found.next(), found.next()) {
        (Some(file), None) => Ok(file.clone()),
        (Some(_), Some(_)) => {
            let list: Vec<String> = all
                .iter()
                .filter(|p| source::names(wanted, p))
                .map(|p| format!("  {}", source::short(p)))
                .collect();
            Err(Failure::new(Exit::Usage, format_args!("{wanted} names several files"))
                .hint(format_args!("Say more of the path:\n{}", list.join("\n"))))
        }
        _ => {
            let list: Vec<String> = all.iter().take(12).map(|p| source::short(p)).collect();
            Err(Failure::new(Exit::Usage, format_args!("the recorded programs have no source file {wanted}"))
                .hint(format_args!(
                    "They have {}{}.",
                    list.join(", "),
                    if all.len() > 12 { ", ..." } else { "" }
                )))
        }
    }
}

/// Functions with code on a line.
fn functions_at<'a>(
    image: &'a Image,
    file: &'a str,
    line: u32,
) -> impl Iterator<Item = (&'a Module, &'a Function)> {
    image.modules().flat_map(move |(_, m)| {
        let module: &Module = &m.model;
        module
            .functions
            .iter()
            .filter(move |f| on_line(module, f, file, line).any(|on| on))
            .map(move |f| (module, f))
    })
}

fn on_line<'a>(
    module: &'a Module,
    f: &'a Function,
    file: &'a str,
    line: u32,
) -> impl Iterator<Item = bool> + 'a {
    (0..f.code.len()).map(move |i| {
        let place = f.place(i);
        place.line == line && module.file_path(place.file) == file
    })
}

fn marks(image: &Image, file: &str, line: u32) -> Marks {
    let mut marks: Marks = Vec::new();
    for (index, loaded) in image.modules() {
        marks.resize_with(index as usize + 1, Vec::new);
        let of = |f: &Function| -> Option<Box<[bool]>> {
            let marked: Box<[bool]> = on_line(&loaded.model, f, file, line).collect();
            marked.contains(&true).then_some(marked)
        };
        marks[index as usize] = loaded.model.functions.iter().map(of).collect();
    }
    marks
}

/// The variables to show, in order of declaration.
fn find_variables(
    processes: &[LoadedProcess],
    file: &str,
    args: &ValuesArgs,
) -> Result<Vec<String>, Failure> {
    let mut locals: Vec<String> = Vec::new();
    let mut globals = BTreeSet::new();
    for (module, function) in processes.iter().flat_map(|p| functions_at(&p.image, file, args.at.line)) {
        let line: Vec<bool> = on_line(module, function, file, args.at.line).collect();
        let on_line = || line.iter().enumerate().filter(|(_, on)| **on).map(|(i, _)| i as u32);
        for (n, v) in function.variables.iter().enumerate().filter(|(_, v)| !v.name.is_empty()) {
            let visible = on_line().any(|i| function.in_scope(n as u32, i));
            if visible && !locals.contains(&v.name) {
                locals.push(v.name.clone());
            }
        }
        globals.extend(
            module
                .symbols
                .iter()
                .filter(|s| {
                    matches!(s.kind, SymbolKind::Data { ty: Some(_), .. }) && !s.name.starts_with('.')
                })
                .map(|s| s.name.clone()),
        );
    }
    let Some(wanted) = &args.variable else { return Ok(locals) };
    if locals.contains(wanted) || globals.contains(wanted) {
        return Ok(vec![wanted.clone()]);
    }
    if processes.iter().all(|p| functions_at(&p.image, file, args.at.line).next().is_none()) {
        return Err(never_ran(processes, file, args.at.line));
    }
    let mut hint = match locals.as_slice() {
        [] => "The function has no variables of its own.".to_owned(),
        list => format!("There {}.", list_of(list)),
    };
    if !globals.is_empty() {
        let list: Vec<String> = globals.into_iter().take(12).collect();
        hint += &format!(" Global: {}.", list.join(", "));
    }
    let place = format!("{}:{}", source::short(file), args.at.line);
    Err(Failure::new(Exit::Usage, format_args!("there is no variable {wanted} at {place}")).hint(hint))
}

fn list_of(names: &[String]) -> String {
    if let [one] = names { format!("is {one}") } else { format!("are {}", names.join(", ")) }
}

/// The line has no code or was never reached: name the nearest lines that ran.
fn never_ran(processes: &[LoadedProcess], file: &str, line: u32) -> Failure {
    let mut ran: BTreeSet<u32> = BTreeSet::new();
    let mut has_code = false;
    for process in processes {
        let mut coverage = Coverage::new(&process.image);
        for stream in &process.streams {
            // A divergence was or will be reported by `relapse replay`.
            let _ = Machine::new(&process.image, &stream.stream).run(&mut coverage, u64::MAX);
        }
        for (index, loaded) in process.image.modules() {
            for (f, function) in loaded.model.functions.iter().enumerate() {
                has_code |= on_line(&loaded.model, function, file, line).any(|on| on);
                let cells = &coverage.ran[index as usize][f];
                let places = (0..function.code.len()).filter(|i| cells[*i]).map(|i| function.place(i));
                ran.extend(
                    places.filter(|p| p.line > 0 && loaded.model.file_path(p.file) == file).map(|p| p.line),
                );
            }
        }
    }
    let place = format!("{}:{line}", source::short(file));
    let what =
        if has_code { format!("{place} never ran") } else { format!("{place} has no code of its own") };
    let below = ran.range(..line).next_back().copied();
    let above = ran.range(line + 1..).next().copied();
    let failure = Failure::new(Exit::No, what);
    match (below, above) {
        (Some(a), Some(b)) => failure.hint(format_args!("The nearest lines that ran are {a} and {b}.")),
        (Some(a), None) | (None, Some(a)) => failure.hint(format_args!("The nearest line that ran is {a}.")),
        (None, None) => failure.hint("No line of this file ran."),
    }
}

fn print(answer: &Answer, session: &mut Session) -> Result<Exit, Failure> {
    let several =
        |key: fn(&Row) -> &String| answer.executions.iter().any(|r| key(r) != key(&answer.executions[0]));
    let (streams, functions) = (several(|r| &r.stream), several(|r| &r.function));
    let mut columns = vec![">instruction"];
    columns.extend(streams.then_some("stream"));
    columns.extend(functions.then_some("function"));
    columns.extend(answer.variables.iter().map(String::as_str));
    let mut table = Table::new(&columns);
    for row in &answer.executions {
        let mut cells = vec![grouped(row.instruction)];
        cells.extend(streams.then(|| row.stream.clone()));
        cells.extend(functions.then(|| row.function.clone()));
        for (i, before) in row.values.iter().enumerate() {
            let after = row.after.as_ref().and_then(|a| a.get(i)).and_then(Option::as_ref);
            let shown = before.as_deref().unwrap_or("-");
            cells.push(match after {
                Some(after) if after != shown => format!("{shown} \u{2192} {after}"),
                _ => shown.to_owned(),
            });
        }
        table.row(cells);
    }
    table.write(&mut session.out, session.paint)?;
    if answer.truncated {
        let shown = counted(answer.executions.len() as u64, "execution");
        writeln!(session.out, "stopped after {shown}; --limit N shows more")?;
    }
    Ok(Exit::Done)
}
