//! `relapse dump recording`: the log, event by event.

use crate::failure::{Exit, Failure};
use crate::{Session, opened, render, source};
use clap::Args;
use recording::argument::Argument;
use recording::event::{self, Event, Position, Slots};
use recording::header::StreamKind;
use recording::{Process, Recording, Stream};
use replay::image::Image;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

/// Show processes, modules, streams and every event of a recording
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  relapse dump recording run
  relapse dump recording run --stream t1 | less")]
pub struct RecordingArgs {
    /// Directory of the recording
    recording: PathBuf,
    /// Only this stream: `t0`, or `p123.0/t0` where several processes have one
    #[arg(long, value_name = "STREAM")]
    stream: Option<String>,
    /// Only the summaries, no events
    #[arg(long)]
    brief: bool,
}

pub fn run(args: &RecordingArgs, session: &mut Session) -> Result<Exit, Failure> {
    let recording = opened::recording(&args.recording)?;
    let mut shown = 0;
    for complaint in opened::complaints(&recording) {
        writeln!(session.out, "! {complaint}")?;
    }
    if args.stream.is_none() {
        manifest(&recording, session)?;
    }
    for process in &recording.processes {
        let wanted = |s: &Stream| match &args.stream {
            None => true,
            Some(name) => *name == stream_name(s) || *name == format!("{}/{}", process.name, stream_name(s)),
        };
        if args.stream.is_none() {
            describe(process, session)?;
        }
        let image = opened::image(&recording.path, process).ok();
        for stream in process.streams.iter().filter(|s| wanted(s)) {
            shown += 1;
            stream_summary(process, stream, session)?;
            if !args.brief {
                events(&recording, stream, image.as_ref(), session)?;
            }
        }
    }
    match &args.stream {
        Some(name) if shown == 0 => Err(no_such_stream(name, &recording)),
        _ => Ok(Exit::Done),
    }
}

fn stream_name(stream: &Stream) -> String {
    format!("t{}", stream.header.stream)
}

fn no_such_stream(name: &str, recording: &Recording) -> Failure {
    let all: Vec<String> = recording
        .processes
        .iter()
        .flat_map(|p| p.streams.iter().map(move |s| format!("{}/{}", p.name, stream_name(s))))
        .collect();
    Failure::new(Exit::Usage, format_args!("the recording has no stream {name}"))
        .hint(format_args!("It has {}.", all.join(", ")))
}

fn manifest(recording: &Recording, session: &mut Session) -> Result<(), Failure> {
    if let Some(m) = &recording.manifest {
        let end = match m.outcome {
            Some(recording::Outcome::Exit(code)) => format!("exit status {code}"),
            Some(recording::Outcome::Signal(signal)) => format!("killed by signal {signal}"),
            None => "end not known".to_owned(),
        };
        writeln!(session.out, "command {} ({end})", m.command.join(" "))?;
    }
    Ok(())
}

fn describe(process: &Process, session: &mut Session) -> Result<(), Failure> {
    let info = &process.info;
    let forked =
        info.forked_from.map(|f| format!(", forked from p{}.{}", f.pid, f.image)).unwrap_or_default();
    let words: Vec<_> = info.arguments.iter().map(Argument::text).collect();
    writeln!(session.out, "{} {}{forked}", session.paint.name(&process.name), words.join(" "))?;
    writeln!(
        session.out,
        "  executable {} (build id {})",
        source::short(&info.executable),
        or_none(&info.build_id)
    )?;
    for module in process.modules.iter() {
        writeln!(
            session.out,
            "  module {} {} in {} at {:#x}, {}",
            module.index,
            recording::process::hex(&module.id),
            source::short(&module.path),
            module.load_address,
            render::counted(module.addresses.len() as u64, "symbol"),
        )?;
    }
    Ok(())
}

fn or_none(text: &str) -> &str {
    if text.is_empty() { "none" } else { text }
}

fn stream_summary(process: &Process, stream: &Stream, session: &mut Session) -> Result<(), Failure> {
    let h = &stream.header;
    let kind = match h.kind {
        StreamKind::Thread => format!("thread {}", h.tid),
        StreamKind::Signal => format!("signal handlers over stream t{}", h.parent_stream),
    };
    let fork = h.fork.map(|f| format!(", goes on from t{} of the parent at byte {}", f.stream, f.position));
    writeln!(
        session.out,
        "{} {kind}{}: time {}, {}, {} of events, {} stored, {}",
        session.paint.name(format_args!("{}/{}", process.name, stream_name(stream))),
        fork.unwrap_or_default(),
        render::grouped(h.time),
        render::counted(h.events, "event"),
        render::bytes(h.length),
        render::bytes(stream.stored_bytes),
        render::counted(h.misses, "mispredicted load"),
    )?;
    Ok(())
}

fn events(
    recording: &Recording,
    stream: &Stream,
    image: Option<&Image>,
    session: &mut Session,
) -> Result<(), Failure> {
    let events = stream.events().map_err(|e| Failure::failed_to(Exit::BadInput, e))?;
    let mut decoder = events.decoder();
    loop {
        match decoder.next() {
            Ok(Some((position, event))) => {
                let place = place(position, image);
                let seq = position.seq.map(|s| format!(" #{s}")).unwrap_or_default();
                let time = render::grouped(position.time);
                writeln!(session.out, "  {time:>12}{seq}  {:<24}  {}", place, describe_event(&event, image))?;
            }
            Ok(None) => break,
            Err(error) => {
                writeln!(session.out, "! failed to {error}")?;
                break;
            }
        }
    }
    if let Some(damage) = &events.damage {
        writeln!(session.out, "! {}", opened::damage(damage, &recording.path))?;
    }
    Ok(())
}

/// `function file:line` of a site, or its number.
fn place(position: Position, image: Option<&Image>) -> String {
    // Module 0: events before any code runs.
    if position.site == event::NO_SITE || position.module == 0 {
        return String::new();
    }
    let module = image.map(|i| i.module(position.module));
    match module.and_then(|m| Some((m, m.function_at(position.site)?))) {
        Some((module, (function, index))) => {
            let f = &module.functions[function];
            let place = f.place(index);
            let path = module.file_path(place.file);
            let file = path.rsplit('/').next().unwrap_or(&path);
            format!("{} {file}:{}", f.name, place.line)
        }
        None => format!("module {} site {}", position.module, position.site),
    }
}

fn slots(slots: &Slots<'_>) -> String {
    let mut text = String::new();
    for (i, slot) in slots.iter().enumerate() {
        let _ = write!(text, "{}{slot:#x}", if i > 0 { " " } else { "" });
    }
    text
}

fn describe_event(event: &Event<'_>, image: Option<&Image>) -> String {
    let writer = |w: &Option<u32>| w.map(|w| format!(", written by t{w}")).unwrap_or_default();
    let details = match event {
        Event::Load { size, delta, writer: w } => {
            format!("{size} bytes, {:+} to the prediction{}", delta.cast_signed(), writer(w))
        }
        Event::WideLoad { bytes, writer: w } => format!("{}{}", hex(bytes), writer(w)),
        Event::Patch { address, bytes } => {
            format!("{address:#x} {} {}", render::counted(bytes.len() as u64, "byte"), preview(bytes))
        }
        Event::External { slots: s } | Event::Value { slots: s } => slots(s),
        Event::Enter { module, function, slots: s, inside } => {
            let name = image
                .and_then(|i| i.module(*module).functions.get(*function as usize))
                .map_or_else(|| format!("module {module} function {function}"), |f| f.name.clone());
            format!("{name}({}){}", slots(s), if *inside { " from an external call" } else { "" })
        }
        Event::Land { stack, slots: s } => format!("stack {stack:#x}, result {}", slots(s)),
        Event::Io { out, source, offset, address, length } => format!(
            "{} source {source} at {offset}, {} at {address:#x}",
            if *out { "to" } else { "from" },
            render::counted(*length, "byte")
        ),
        Event::Source { kind, fd, name } => {
            let fd = if *fd >= 0 { format!(" {fd}") } else { String::new() };
            format!("{}{fd} {}", event::source::name(*kind), String::from_utf8_lossy(name))
        }
        Event::Check { sum } => format!("sum {sum:#x}"),
        Event::VaStart { gp_offset, fp_offset, overflow_area, save_area } => {
            format!(
                "general {gp_offset}, vector {fp_offset}, overflow {overflow_area:#x}, saved {save_area:#x}"
            )
        }
        Event::ThreadLocal { symbol, address } => format!("symbol {symbol} at {address:#x}"),
        Event::Moved { from, to, length } => {
            format!("{from:#x} to {to:#x}, {}", render::counted(*length, "byte"))
        }
        Event::Zeroed { address, length } | Event::Mapped { address, length } => {
            format!("{address:#x}, {}", render::counted(*length, "byte"))
        }
        Event::Fork { child } => format!("child {child}"),
        Event::Exec => String::new(),
        Event::Thread { stream, handle } => {
            let stream = stream.map_or_else(|| "not known yet".to_owned(), |s| format!("t{s}"));
            format!("stream {stream}, handle {handle:#x}")
        }
        Event::Unwound { entries } => format!("{entries} entries"),
        Event::Interrupted { called, address } => format!("after time {called}, address {address:#x}"),
        Event::Signal { signal, interrupted } => format!("{signal}, at time {interrupted}"),
        Event::Sync { object, operation } => {
            let names = ["other", "lock", "unlock", "wait", "wake", "join"];
            format!("{} {object:#x}", names.get(usize::from(*operation)).unwrap_or(&"?"))
        }
        Event::End { sum, status } => format!("status {status}, sum {sum:#x}"),
        Event::Crash { signal, address, code } => {
            format!("signal {signal}, address {address:#x}, code {code}")
        }
    };
    let name = event::kind::name(event.kind()).unwrap_or("?");
    format!("{name} {details}").trim_end().to_owned()
}

fn hex(bytes: &[u8]) -> String {
    recording::process::hex(bytes)
}

/// The first bytes as text, with the others escaped.
fn preview(bytes: &[u8]) -> String {
    const SHOWN: usize = 32;
    let more = if bytes.len() > SHOWN { " ..." } else { "" };
    format!("\"{}\"{more}", bytes[..bytes.len().min(SHOWN)].escape_ascii())
}
