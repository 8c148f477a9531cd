//! `relapse dump io`: input and output.

use crate::failure::{Exit, Failure};
use crate::{Session, opened, source};
use clap::Args;
use program::names::readable;
use recording::event;
use replay::io::{Collector, IoEvent, IoList, Source};
use replay::machine::Machine;
use replay::process::LoadedProcess;
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;

/// Show input and output: source, offset, bytes, and for printf which argument made them
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  relapse dump io run
  relapse dump io run --environment      the environment is left out otherwise
  relapse dump io run --json | jq '.processes[].events[] | select(.direction == \"out\")'")]
pub struct IoArgs {
    /// Directory of the recording
    recording: PathBuf,
    /// Show environment variables too
    #[arg(long)]
    environment: bool,
    /// Answer in JSON (schema relapse.io/1)
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Answer {
    schema: &'static str,
    processes: Vec<ProcessAnswer>,
}

#[derive(Serialize)]
struct ProcessAnswer {
    process: String,
    events: Vec<EventAnswer>,
}

#[derive(Serialize)]
struct EventAnswer {
    stream: String,
    instruction: u64,
    time: u64,
    function: Option<String>,
    file: Option<String>,
    line: Option<u32>,
    direction: &'static str,
    source: SourceAnswer,
    offset: u64,
    address: u64,
    length: u64,
    bytes: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pieces: Vec<Piece>,
}

#[derive(Serialize)]
struct SourceAnswer {
    kind: &'static str,
    fd: Option<i32>,
    name: String,
}

#[derive(Serialize)]
struct Piece {
    from: usize,
    to: usize,
    argument: Option<u32>,
    text: String,
}

pub fn run(args: &IoArgs, session: &mut Session) -> Result<Exit, Failure> {
    let recording = opened::recording(&args.recording)?;
    let mut answer = Answer { schema: "relapse.io/1", processes: Vec::new() };
    let mut exit = Exit::Done;
    for sentence in opened::complaints(&recording) {
        eprintln!("relapse: {sentence}");
        exit = Exit::BadInput;
    }
    for process in &recording.processes {
        let loaded = opened::process(&recording, process)?;
        let mut events = Vec::new();
        for stream in &loaded.streams {
            let mut collector = Collector::default();
            // The events before a divergence are valid.
            if let Err(error) = Machine::new(&loaded.image, &stream.stream).run(&mut collector, u64::MAX) {
                eprintln!("relapse: {}/t{} stops early: failed to {error}", process.name, stream.number);
                exit = Exit::No;
            }
            if let Some(damage) = &stream.damage {
                let damage = opened::shorter(damage, &recording.path);
                eprintln!("relapse: {}/t{} is damaged: {damage}", process.name, stream.number);
                exit = Exit::BadInput;
            }
            let IoList { sources, events: list } = collector.finish();
            for e in &list {
                let Some(source) = sources.get(e.source) else { continue };
                if args.environment || source.kind != event::source::ENVIRONMENT {
                    events.push(event_answer(e, source, stream.number, &loaded));
                }
            }
        }
        answer.processes.push(ProcessAnswer { process: process.name.clone(), events });
    }
    if args.json {
        session.json(&answer)?;
        return Ok(exit);
    }
    for process in &answer.processes {
        writeln!(session.out, "{}", session.paint.name(&process.process))?;
        for e in &process.events {
            print(e, session)?;
        }
    }
    Ok(exit)
}

fn event_answer(e: &IoEvent, source: &Source, stream: u32, process: &LoadedProcess) -> EventAnswer {
    let module = process.image.module(e.position.module);
    let place = module.function_at(e.position.site).map(|(f, index)| {
        let function = &module.functions[f];
        let place = function.place(index);
        (readable(&function.name).into_owned(), module.file_path(place.file), place.line)
    });
    let formatted = e.format.as_ref().filter(|_| e.verified);
    EventAnswer {
        stream: format!("t{stream}"),
        instruction: e.instruction,
        time: e.position.time,
        function: place.as_ref().map(|p| p.0.clone()),
        file: place.as_ref().map(|p| p.1.clone()),
        line: place.as_ref().map(|p| p.2),
        direction: if e.out { "out" } else { "in" },
        source: SourceAnswer {
            kind: event::source::name(source.kind),
            fd: (source.fd >= 0).then_some(source.fd),
            name: source.name.clone(),
        },
        offset: e.offset,
        address: e.address,
        length: e.length,
        bytes: e.bytes.escape_ascii().to_string(),
        pieces: formatted
            .map(|f| {
                let piece = |p: &replay::format::Part| Piece {
                    from: p.output.start,
                    to: p.output.end,
                    argument: p.arg,
                    text: f.bytes.get(p.output.clone()).unwrap_or_default().escape_ascii().to_string(),
                };
                f.parts.iter().map(piece).collect()
            })
            .unwrap_or_default(),
    }
}

fn print(e: &EventAnswer, session: &mut Session) -> Result<(), Failure> {
    let place = match (&e.function, &e.file, e.line) {
        (Some(function), Some(file), Some(line)) => format!("  {function} {}:{line}", source::short(file)),
        _ => String::new(),
    };
    let fd = e.source.fd.map(|fd| format!(" {fd}")).unwrap_or_default();
    let name =
        if e.source.name.is_empty() { String::new() } else { format!(" {}", source::short(&e.source.name)) };
    let arrow = if e.direction == "out" { "out" } else { "in " };
    writeln!(
        session.out,
        "  {arrow} {}{fd}{name} at {}: \"{}\"{}",
        e.source.kind,
        e.offset,
        e.bytes,
        session.paint.faint(place)
    )?;
    for piece in e.pieces.iter().filter(|p| p.argument.is_some()) {
        let argument = piece.argument.unwrap_or(0) + 1;
        writeln!(
            session.out,
            "        bytes {}..{} \"{}\" are argument {argument}",
            e.offset + piece.from as u64,
            e.offset + piece.to as u64,
            piece.text
        )?;
    }
    Ok(())
}
