//! `relapse values`: the value of an expression at each execution of a line.

use crate::failure::{Exit, Failure};
use crate::render::{Table, counted, grouped};
use crate::source::{self, LineSpec};
use crate::which::{self, WhichArgs};
use crate::{Session, opened};
use clap::Args;
use expression::Expression;
use program::model::{Function, Module};
use program::names::readable;
use replay::image::Image;
use replay::machine::Machine;
use replay::observer::{Effect, Observer, View};
use replay::process::{LoadedProcess, LoadedStream};
use serde::Serialize;
use slice::executions::{Keep, Marks, Watch};
use slice::{Site, Slicer, WrongExpression};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;

/// Show an expression's value at each execution of a line
///
/// The value is the one before the line runs; where the line changes it, both are shown.
/// Without EXPR all variables of the function are shown.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  relapse values run sum.c:7 total
  relapse values run list.c:31 'node->next->v' --when 'node->flags & 4'
  relapse values run src/list.c:120 --limit 20 --json")]
pub struct ValuesArgs {
    /// Directory of the recording
    recording: PathBuf,
    /// The line; the end of the file's path is enough
    #[arg(value_name = "FILE:LINE")]
    at: LineSpec,
    /// A variable, local or global, or an expression in C over them: 'a[i]', 'p->next->v'; in C++
    /// also members without 'this', references, iterators, smart pointers and elements of vectors
    #[arg(value_name = "EXPR", value_parser = which::parsed)]
    expression: Option<Expression>,
    #[command(flatten)]
    which: WhichArgs,
    /// Maximum number of executions
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
    /// The requested line, if it has no code; `line` is then the next statement.
    #[serde(skip_serializing_if = "Option::is_none")]
    asked_line: Option<u32>,
    variables: Vec<String>,
    executions: Vec<Row>,
    truncated: bool,
}

#[derive(Debug, Serialize)]
struct Row {
    /// Its number among the selected executions, from 1 in each process.
    occurrence: u64,
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
        processes.push(opened::process(&recording, process)?);
    }
    opened::warn_of_changed_sources(&processes);
    let file = find_file(&processes, &args.at.file)?;
    let mut at = LineSpec { file: args.at.file.clone(), line: args.at.line };
    for process in &processes {
        source::move_to_statement(&process.image, &mut at);
    }
    let line = at.line;
    let expressions = match &args.expression {
        Some(expression) => vec![expression.clone()],
        None => locals(&processes, &file, line),
    };
    let mut answer = Answer {
        schema: "relapse.values/1",
        file: file.clone(),
        line,
        asked_line: (line != args.at.line).then_some(args.at.line),
        variables: expressions.iter().map(|e| e.text.clone()).collect(),
        executions: Vec::new(),
        truncated: false,
    };
    let (mut ran, mut succeeded, mut wrong) = (false, false, None);
    for process in &processes {
        let marks = marks(&process.image, &file, line);
        let mut count = 0;
        let slicer = Slicer::new(process, opened::slicing());
        for (index, stream) in (0..).zip(&process.streams) {
            if !args.which.has(process, stream.number) {
                continue;
            }
            let room = args.limit - answer.executions.len().min(args.limit);
            let keep = args.which.occurrence.map_or(Keep::First(room), Keep::Number);
            let shared = match &args.which.stream {
                // Steps before a fork are shown with the parent process.
                None => slicer.shared_steps(index).unwrap_or_default().unwrap_or(0),
                Some(_) => 0,
            };
            let mut watch = Watch::new(&process.image, &marks, keep)
                .evaluating(&expressions, args.which.when.as_ref())
                .from_step(shared)
                .after(count);
            let end = args.which.before.unwrap_or(u64::MAX);
            let outcome = slicer.watch(index, &mut watch, end).and_then(|_| {
                let is_beyond = end > slicer.steps(index)?;
                Ok(slicer.trouble(index)?.filter(|_| is_beyond))
            });
            // The values before a divergence are valid.
            if let Some(error) = outcome.unwrap_or_else(|error| Some(error.to_string())) {
                eprintln!("relapse: {} stops early: failed to {error}", stream_name(process, stream));
            }
            answer.truncated |= watch.truncated && args.which.occurrence.is_none();
            count = watch.count;
            ran |= watch.has_run;
            succeeded |= watch.succeeded;
            if let Some((text, error, site)) = watch.error.take() {
                let names = slice::occurrences::names_at(&process.image, site);
                wrong.get_or_insert(WrongExpression { text, error, names });
            }
            let executions = watch.executions.into_iter().filter(|e| e.first < end);
            let rows = executions.map(|e| Row {
                occurrence: e.number,
                stream: stream_name(process, stream),
                instruction: e.first,
                function: readable(&process.image.module(e.module).functions[e.function as usize].name)
                    .into_owned(),
                values: e.before,
                after: e.after,
            });
            answer.executions.extend(rows);
        }
    }
    let is_asked = args.expression.is_some() || args.which.when.is_some();
    if let Some(wrong) = wrong.filter(|_| is_asked && !succeeded) {
        return Err(which::wrong(&format!("{}:{line}", source::short(&file)), &wrong));
    }
    if answer.executions.is_empty() && !answer.truncated {
        return Err(if ran {
            none_fits(&file, line, &args.which)
        } else {
            never_ran(&processes, &file, line, &args.which)
        });
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
    let mut sites = Vec::new();
    for (module, loaded) in image.modules() {
        for (function, f) in loaded.model.functions.iter().enumerate() {
            let marked = on_line(&loaded.model, f, file, line).enumerate().filter(|(_, on)| *on);
            let site = |index| Site { module, function: function as u32, index };
            sites.extend(marked.map(|(index, _)| site(index as u32)));
        }
    }
    slice::executions::marks(image, &sites)
}

/// The variables of the functions on a line, in order of declaration.
fn locals(processes: &[LoadedProcess], file: &str, line: u32) -> Vec<Expression> {
    let mut names: Vec<String> = Vec::new();
    let modules = processes.iter().flat_map(|p| p.image.modules());
    for (module, function) in modules.flat_map(|(_, m)| m.model.functions.iter().map(|f| (&m.model, f))) {
        let line: Vec<bool> = on_line(module, function, file, line).collect();
        let on_line = || line.iter().enumerate().filter(|(_, on)| **on).map(|(i, _)| i as u32);
        for (n, v) in function.variables.iter().enumerate().filter(|(_, v)| !v.name.is_empty()) {
            let visible = on_line().any(|i| function.in_scope(n as u32, i));
            if visible && !names.contains(&v.name) {
                names.push(v.name.clone());
            }
        }
    }
    names.iter().map(|name| Expression::of_name(name)).collect()
}

/// The failure for a line that ran, but not in an execution that was selected.
fn none_fits(file: &str, line: u32, which: &WhichArgs) -> Failure {
    let wanted = which.words();
    let (place, wanted) = (source::short(file), wanted.trim_start_matches(", "));
    Failure::new(Exit::No, format_args!("no execution of {place}:{line} fits: {wanted}"))
}

/// The failure for a line that has no code or never ran: lists the nearest lines that ran.
fn never_ran(processes: &[LoadedProcess], file: &str, line: u32, which: &WhichArgs) -> Failure {
    let mut ran: BTreeSet<u32> = BTreeSet::new();
    let mut has_code = false;
    for process in processes {
        let mut coverage = Coverage::new(&process.image);
        for stream in &process.streams {
            // A divergence is reported by `relapse replay`.
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
    // It did run, after the part that was examined.
    if ran.contains(&line) {
        return none_fits(file, line, which);
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

/// Records which instructions ran at least once, for the selected modules.
struct Coverage {
    ran: Vec<Vec<Box<[bool]>>>,
}

impl Coverage {
    fn new(image: &Image) -> Coverage {
        let mut ran: Vec<Vec<Box<[bool]>>> = Vec::new();
        for (index, loaded) in image.modules() {
            ran.resize_with(index as usize + 1, Vec::new);
            ran[index as usize] =
                loaded.model.functions.iter().map(|f| vec![false; f.code.len()].into()).collect();
        }
        Coverage { ran }
    }
}

impl Observer for Coverage {
    fn step(&mut self, view: &View<'_>, _effect: Effect) {
        let function =
            self.ran.get_mut(view.code.module as usize).and_then(|m| m.get_mut(view.code.function as usize));
        if let Some(cell) = function.and_then(|f| f.get_mut(view.index as usize)) {
            *cell = true;
        }
    }
}
