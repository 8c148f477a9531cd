//! `relapse dump steps`: every executed instruction, with source locations and values.

use crate::failure::{Exit, Failure};
use crate::source::{self, LineSpec};
use crate::{Session, opened, render};
use clap::Args;
use program::inst::Inst;
use replay::machine::{Machine, Stop};
use replay::observer::{Effect, ExternalCall, Null, Observer, View};
use replay::vars::show_untyped;
use serde::Serialize;
use std::collections::HashMap;
use std::io::{self, Write};
use std::path::PathBuf;

/// Show executed instructions with source places, values and addresses
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  relapse dump steps run --limit 100
  relapse dump steps run --function parse --from 1000000
  relapse dump steps run --at sum.c:7 --json")]
pub struct StepsArgs {
    /// Directory of the recording
    recording: PathBuf,
    /// Only steps in this function
    #[arg(long, value_name = "NAME")]
    function: Option<String>,
    /// Only steps of this line
    #[arg(long, value_name = "FILE:LINE")]
    at: Option<LineSpec>,
    /// Only this stream: `t0`, or `p123.0/t0` where several processes have one
    #[arg(long, value_name = "STREAM")]
    stream: Option<String>,
    /// From this instruction of the stream on
    #[arg(long, value_name = "N", default_value_t = 0)]
    from: u64,
    /// Up to this instruction of the stream
    #[arg(long, value_name = "M")]
    to: Option<u64>,
    /// At most so many steps of each stream
    #[arg(long, value_name = "K")]
    limit: Option<u64>,
    /// Answer in JSON, one object a line (schema relapse.steps/1)
    #[arg(long)]
    json: bool,
}

/// The number of instructions between two checks of the output limit.
const SLICE: u64 = 1 << 16;

pub fn run(args: &StepsArgs, session: &mut Session) -> Result<Exit, Failure> {
    let recording = opened::recording(&args.recording)?;
    let (mut streams, mut printed) = (0, 0);
    if args.json {
        writeln!(session.out, "{}", serde_json::json!({ "schema": "relapse.steps/1" }))?;
    }
    for process in &recording.processes {
        let loaded = opened::process(&recording, process)?;
        for stream in &loaded.streams {
            let name = format!("{}/t{}", process.name, stream.number);
            if args.stream.as_ref().is_some_and(|s| *s != name && *s != format!("t{}", stream.number)) {
                continue;
            }
            streams += 1;
            if !args.json {
                writeln!(session.out, "{}", session.paint.name(&name))?;
            }
            let mut machine = Machine::new(&loaded.image, &stream.stream);
            let mut printer = Printer {
                args,
                name: &name,
                out: &mut session.out,
                lines: HashMap::new(),
                printed: 0,
                failed: None,
            };
            let result = play(&mut machine, args, &mut printer);
            printed += printer.printed;
            if let Some(error) = printer.failed {
                return Err(error.into());
            }
            result.map_err(|e| Failure::failed_to(Exit::No, e))?;
        }
    }
    if streams == 0 {
        let name = args.stream.as_deref().unwrap_or("at all");
        return Err(Failure::new(Exit::Usage, format_args!("the recording has no stream {name}")));
    }
    if printed == 0 {
        return Err(Failure::new(Exit::No, "no step fits the filters"));
    }
    Ok(Exit::Done)
}

fn play(machine: &mut Machine<'_>, args: &StepsArgs, printer: &mut Printer<'_>) -> replay::error::Result<()> {
    if args.from > 0 {
        machine.run(&mut Null, args.from)?;
    }
    let to = args.to.unwrap_or(u64::MAX);
    while machine.counters().instructions < to && !printer.enough() {
        let next = (machine.counters().instructions + SLICE).min(to);
        if let Stop::Ended(_) = machine.run(printer, next)? {
            break;
        }
    }
    Ok(())
}

struct Printer<'a> {
    args: &'a StepsArgs,
    name: &'a str,
    out: &'a mut dyn Write,
    /// Cache of whether a location (module, file, line) is selected: comparing paths at each step is too
    /// slow.
    lines: HashMap<(u32, u32, u32), bool>,
    printed: u64,
    failed: Option<io::Error>,
}

#[derive(Serialize)]
struct Step<'a> {
    stream: &'a str,
    instruction: u64,
    time: u64,
    depth: u32,
    function: &'a str,
    file: String,
    line: u32,
    column: u32,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    effect: Option<EffectAnswer>,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
enum EffectAnswer {
    Load { address: u64, length: u64 },
    Store { address: u64, length: u64 },
    Update { address: u64, length: u64, stored: bool },
    Copy { to: u64, from: u64, length: u64 },
    Fill { to: u64, length: u64 },
}

impl Printer<'_> {
    fn enough(&self) -> bool {
        self.failed.is_some() || self.args.limit.is_some_and(|limit| self.printed >= limit)
    }

    fn wanted(&mut self, view: &View<'_>) -> bool {
        if self.args.function.as_ref().is_some_and(|f| view.function().name != *f) {
            return false;
        }
        let Some(spot) = &self.args.at else { return true };
        let place = view.place();
        place.line == spot.line
            && *self
                .lines
                .entry((view.code.module, place.file, place.line))
                .or_insert_with(|| source::names(&spot.file, &view.module().file_path(place.file)))
    }

    fn show(&mut self, view: &View<'_>, text: String, value: Option<String>, effect: Effect) {
        if self.enough() || !self.wanted(view) {
            return;
        }
        self.printed += 1;
        let place = view.place();
        let file = view.module().file_path(place.file);
        let result = if self.args.json {
            let step = Step {
                stream: self.name,
                instruction: view.count,
                time: view.time,
                depth: view.depth,
                function: &view.function().name,
                file,
                line: place.line,
                column: place.column,
                text,
                value,
                effect: effect_answer(effect),
            };
            serde_json::to_writer(&mut *self.out, &step)
                .map_err(io::Error::from)
                .and_then(|()| writeln!(self.out))
        } else {
            let short = file.rsplit('/').next().unwrap_or(&file);
            let place = match place.line {
                0 => view.function().name.clone(),
                line => format!("{} {short}:{line}", view.function().name),
            };
            let value = value.map(|v| format!("   = {v}")).unwrap_or_default();
            let effect = effect_words(effect);
            writeln!(self.out, "{:>10}  {place:<24}  {text}{value}{effect}", render::grouped(view.count))
        };
        self.failed = result.err();
    }
}

impl Observer for Printer<'_> {
    fn step(&mut self, view: &View<'_>, effect: Effect) {
        // A call's result is not available yet: see `returned` and `external`.
        let value = if matches!(view.inst(), Inst::Call(_)) { None } else { result(view) };
        let text = instruction(view);
        self.show(view, text, value, effect);
    }

    // These events occur after an instruction and are attributed to it.

    fn returned(&mut self, view: &View<'_>) {
        let view = &after(view);
        if let Some(value) = result(view) {
            self.show(view, "returned".to_owned(), Some(value), Effect::None);
        }
    }

    fn external(&mut self, view: &View<'_>, call: &ExternalCall<'_>) {
        let view = &after(view);
        let name = view.image.external_at(call.target).map_or("external code", |(name, _)| name);
        let how = if call.modelled { "computed" } else { "recorded" };
        self.show(view, format!("{name} returned ({how})"), result(view), Effect::None);
    }

    fn landed(&mut self, view: &View<'_>) {
        let view = &after(view);
        let by = if matches!(view.inst(), Inst::Landing { .. }) { "an exception" } else { "longjmp" };
        self.show(view, format!("landed by {by}"), result(view), Effect::None);
    }
}

/// Between two instructions `count` is the number of the next one; this view has the previous number.
fn after<'v>(view: &View<'v>) -> View<'v> {
    View { count: view.count.saturating_sub(1), ..*view }
}

/// The instruction as text, with symbol names.
fn instruction(view: &View<'_>) -> String {
    let text = view.inst().to_string();
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find('@') {
        let digits = rest[at + 1..].bytes().take_while(u8::is_ascii_digit).count();
        let end = at + 1 + digits;
        let symbol = rest[at + 1..end].parse::<usize>().ok().and_then(|n| view.module().symbols.get(n));
        out += &rest[..=at];
        out += symbol.map_or(&rest[at + 1..end], |s| &s.name);
        rest = &rest[end..];
    }
    out + rest
}

/// The value that an instruction assigned.
fn result(view: &View<'_>) -> Option<String> {
    let (dst, slots) = view.inst().defines()?;
    let mut rest = view.regs.get(dst as usize..(dst + slots) as usize)?;
    let mut words = Vec::new();
    for ty in view.inst().result_types() {
        let (own, others) = rest.split_at_checked(ty.slots() as usize)?;
        let raw = own.iter().rev().fold(0, |raw, slot| raw << 64 | u128::from(*slot));
        words.push(show_untyped(ty, raw));
        rest = others;
    }
    Some(words.join(", "))
}

fn effect_answer(effect: Effect) -> Option<EffectAnswer> {
    Some(match effect {
        Effect::None => return None,
        Effect::Load { address, len } => EffectAnswer::Load { address, length: len.into() },
        Effect::Store { address, len } => EffectAnswer::Store { address, length: len.into() },
        Effect::Update { address, len, stored } => {
            EffectAnswer::Update { address, length: len.into(), stored }
        }
        Effect::Copy { to, from, len } => EffectAnswer::Copy { to, from, length: len },
        Effect::Fill { to, len } => EffectAnswer::Fill { to, length: len },
    })
}

fn effect_words(effect: Effect) -> String {
    match effect {
        Effect::None => String::new(),
        Effect::Load { address, .. } => format!("   from {address:#x}"),
        Effect::Store { address, .. } => format!("   at {address:#x}"),
        Effect::Update { address, stored, .. } => {
            format!("   at {address:#x}{}", if stored { "" } else { ", not stored" })
        }
        Effect::Copy { to, from, len } => {
            format!("   {} from {from:#x} to {to:#x}", render::counted(len, "byte"))
        }
        Effect::Fill { to, len } => format!("   {} at {to:#x}", render::counted(len, "byte")),
    }
}
