//! Determines the argument of an output call that produced a byte, and the slicing criterion for it.

use super::Error;
use externals::format::{Conversion, Number, Parser, Piece, Size};
use externals::{Data, External, FormatArgs, Place};
use program::inst::{Arg, Call, Inst, Operand};
use recording::event::{Event, Position};
use replay::io::IoEvent;
use replay::machine::{Machine, Stop};
use replay::memory::Memory;
use replay::observer::{EventContext, ExternalCall, Observer, View};
use replay::process::LoadedProcess;
use slice::Wanted;

/// The maximum length of a format string.
const MAX_FORMAT: usize = 1 << 20;

/// The part of a call that produced a byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Blamed {
    pub wanted: Vec<Wanted>,
    /// Number of the argument in the call, from 1, if an argument produced the byte.
    pub argument: Option<usize>,
}

/// The part of a call that produced byte `k` of an output. `other` is the same call in the other version,
/// with its byte at the same position: if an earlier conversion ended early, that conversion is blamed, not
/// what follows.
pub(super) fn blame(
    process: &LoadedProcess,
    stream: usize,
    event: &IoEvent,
    k: usize,
    other: Option<(&IoEvent, usize)>,
) -> Result<Blamed, Error> {
    let s = process.streams.get(stream).ok_or(Error::NoStream(stream))?;
    let mut caller = Caller { event, k, other, armed: false, blamed: None };
    let mut machine = Machine::new(&process.image, &s.stream);
    let mut limit = event.instruction;
    // The call may execute more instructions through callbacks.
    while caller.blamed.is_none() {
        if let Stop::Ended(_) = machine.run(&mut caller, limit)? {
            break;
        }
        limit = limit.saturating_add(1 << 20);
    }
    Ok(caller.blamed.unwrap_or(Blamed { wanted: vec![Wanted::All], argument: None }))
}

/// Observes the end of the call: the memory that it reads is certainly known then.
struct Caller<'e> {
    event: &'e IoEvent,
    k: usize,
    other: Option<(&'e IoEvent, usize)>,
    armed: bool,
    blamed: Option<Blamed>,
}

impl Observer for Caller<'_> {
    const STEPS: bool = false;

    fn event(&mut self, moment: &EventContext<'_>, position: Position, event: &Event<'_>) {
        let Event::Io { out: true, offset, .. } = event else { return };
        self.armed |= position == self.event.position
            && *offset == self.event.offset
            && moment.view.is_some_and(|v| v.count >= self.event.instruction);
    }

    fn external(&mut self, view: &View<'_>, _call: &ExternalCall<'_>) {
        if self.armed && self.blamed.is_none() && view.site() == self.event.position.site {
            self.blamed = Some(of_call(view, self.event, self.k, self.other));
        }
    }
}

fn of_call(view: &View<'_>, event: &IoEvent, k: usize, other: Option<(&IoEvent, usize)>) -> Blamed {
    let Inst::Call(call) = view.inst() else {
        return Blamed { wanted: vec![Wanted::All], argument: None };
    };
    let known = known(view, call);
    if let Some(formatted) = &event.format
        && let Some(format) = known.and_then(|x| x.format)
    {
        let part = |e: &IoEvent, k: usize| {
            let parts = &e.format.as_ref()?.parts;
            parts.iter().find(|p| p.output.contains(&k)).or(parts.last()).cloned()
        };
        let text_at = slot(call, format.format).map_or(0, |a| view.value(a.value));
        let text = view.memory.peek_string(text_at, MAX_FORMAT);
        let Some(mut at) = part(event, k).map(|p| p.format.start) else {
            return Blamed { wanted: vec![Wanted::All], argument: None };
        };
        if let Some(before) = other.and_then(|(e, k)| part(e, k)) {
            at = at.min(before.format.start);
        }
        let output = formatted.parts.iter().find(|p| p.format.start == at).map(|p| p.output.clone());
        let into = output.map_or((0, 0), |o| (k.saturating_sub(o.start).min(o.len()), o.len()));
        return formatted_byte(view, call, format.args, &text, text_at, (format.format, at), into);
    }
    match known.and_then(|x| x.io).map(|io| io.data) {
        Some(Data::Byte) => registers(call, 0, Vec::new()),
        _ if event.address != 0 && known.is_some_and(|known| known.io.is_some()) => {
            let pointer = known.and_then(pointer_slot).and_then(|s| index_of_slot(call, s));
            let memory = Wanted::Memory { address: event.address.wrapping_add(k as u64), len: 1 };
            let mut blamed = Blamed { wanted: vec![memory], argument: pointer.map(|p| p + 1) };
            // The other arguments determine the length of the output.
            for (i, arg) in call.args.iter().enumerate() {
                let asked = Some(i) == pointer || k as u64 + 1 >= event.length;
                if let (true, Operand::Reg(r)) = (asked, arg.value) {
                    blamed.wanted.push(Wanted::Registers(vec![r]));
                }
            }
            blamed
        }
        _ => Blamed { wanted: vec![Wanted::All], argument: None },
    }
}

fn known(view: &View<'_>, call: &Call) -> Option<&'static External> {
    view.image.external_at(view.value(call.callee)).and_then(|e| e.1)
}

/// The slot of the argument that points to the output bytes.
fn pointer_slot(external: &External) -> Option<u8> {
    let range = match external.io?.data {
        Data::Read(i) | Data::Line(i) | Data::Text(i) => external.reads.get(i as usize)?,
        _ => return None,
    };
    match range.place {
        Place::Arg(slot) => Some(slot),
        _ => None,
    }
}

/// The argument that is passed in a slot.
fn index_of_slot(call: &Call, slot: u8) -> Option<usize> {
    let mut at = 0;
    for (i, arg) in call.args.iter().enumerate() {
        if at == u32::from(slot) {
            return Some(i);
        }
        at += arg.ty.slots();
    }
    None
}

fn slot(call: &Call, slot: u8) -> Option<&Arg> {
    call.args.get(index_of_slot(call, slot)?)
}

/// A criterion of the registers of an argument and of `wanted`.
fn registers(call: &Call, argument: usize, mut wanted: Vec<Wanted>) -> Blamed {
    let mut regs = Vec::new();
    if let Some(Arg { value: Operand::Reg(r), ty }) = call.args.get(argument) {
        regs.extend(*r..*r + ty.slots());
    }
    if regs.is_empty() {
        // For a constant, the only criterion is that the call ran.
        wanted.push(Wanted::Ran);
    } else {
        wanted.push(Wanted::Registers(regs));
    }
    Blamed { wanted, argument: Some(argument + 1) }
}

/// The origin of a byte of formatted output, from the slot of the format, the position of the conversion in
/// it, and the offset in the output of the conversion.
fn formatted_byte(
    view: &View<'_>,
    call: &Call,
    args: FormatArgs,
    text: &[u8],
    text_at: u64,
    (format_slot, at): (u8, usize),
    (into, length): (usize, usize),
) -> Blamed {
    let conversion = Parser::printf(text).find_map(|p| match p {
        Piece::Conversion(c) if c.start == at => Some(c),
        _ => None,
    });
    let Some(c) = conversion.filter(|c| c.arg.is_some()) else {
        // A literal character of the format.
        let memory = Wanted::Memory { address: text_at.wrapping_add((at + into) as u64), len: 1 };
        let mut wanted = vec![memory];
        if let Some(Arg { value: Operand::Reg(r), .. }) = slot(call, format_slot) {
            wanted.push(Wanted::Registers(vec![*r]));
        }
        wanted.push(Wanted::Ran);
        return Blamed { wanted, argument: index_of_slot(call, format_slot).map(|i| i + 1) };
    };
    let number = c.arg.unwrap_or(0);
    match args {
        FormatArgs::From(first) => {
            let first = index_of_slot(call, first).unwrap_or(call.args.len());
            let mut wanted = Vec::new();
            for n in extra(&c) {
                if let Some(Arg { value: Operand::Reg(r), .. }) = call.args.get(first + n as usize) {
                    wanted.push(Wanted::Registers(vec![*r]));
                }
            }
            let argument = first + number as usize;
            let value = call.args.get(argument).map_or(0, |a| view.value(a.value));
            wanted.extend(string_byte(&c, value, view.memory, into, length));
            registers(call, argument, wanted)
        }
        FormatArgs::List(list) => {
            let list = slot(call, list).map_or(0, |a| view.value(a.value));
            let places = listed(text, list, view.memory);
            let mut wanted = Vec::new();
            for n in extra(&c).chain([number]) {
                if let Some((address, len)) = places.get(n as usize).copied() {
                    wanted.push(Wanted::Memory { address, len });
                }
            }
            if let Some((address, _)) = places.get(number as usize) {
                let value = view.memory.peek_word(*address, 8);
                wanted.extend(string_byte(&c, value, view.memory, into, length));
            }
            Blamed { wanted, argument: None }
        }
    }
}

/// Arguments that specify width and precision.
fn extra(c: &Conversion) -> impl Iterator<Item = u32> {
    [c.width, c.precision].into_iter().filter_map(|n| match n {
        Number::Arg(n) => Some(n),
        _ => None,
    })
}

/// The byte of a string that a conversion wrote at `into`; the NUL if the string ended there.
fn string_byte(c: &Conversion, value: u64, memory: &Memory, into: usize, length: usize) -> Option<Wanted> {
    if c.kind != b's' || c.size == Size::Long || value == 0 {
        return None;
    }
    let string = memory.peek_string(value, MAX_FORMAT).len();
    let padding = if c.left { 0 } else { length.saturating_sub(string) };
    let byte = into.saturating_sub(padding).min(string);
    Some(Wanted::Memory { address: value.wrapping_add(byte as u64), len: 1 })
}

/// The location of the arguments of a format in a `va_list`: address and length, by the rules of the System V
/// ABI for x86-64.
fn listed(text: &[u8], list: u64, memory: &Memory) -> Vec<(u64, u64)> {
    #[derive(Clone, Copy)]
    enum Class {
        Integer,
        Float,
        LongDouble,
    }
    let mut classes: Vec<Class> = Vec::new();
    let mut note = |number: u32, class| {
        if number < 4096 {
            let n = number as usize;
            classes.resize(classes.len().max(n + 1), Class::Integer);
            classes[n] = class;
        }
    };
    for piece in Parser::printf(text) {
        let Piece::Conversion(c) = piece else { continue };
        extra(&c).for_each(|n| note(n, Class::Integer));
        if let Some(n) = c.arg {
            let float = matches!(c.kind.to_ascii_lowercase(), b'e' | b'f' | b'g' | b'a');
            note(
                n,
                match (float, c.size) {
                    (true, Size::LongDouble) => Class::LongDouble,
                    (true, _) => Class::Float,
                    _ => Class::Integer,
                },
            );
        }
    }
    let mut general = memory.peek_word(list, 4);
    let mut vector = memory.peek_word(list.wrapping_add(4), 4);
    let mut stack = memory.peek_word(list.wrapping_add(8), 8);
    let saved = memory.peek_word(list.wrapping_add(16), 8);
    classes
        .into_iter()
        .map(|class| match class {
            Class::Integer if general < 48 => {
                general += 8;
                (saved.wrapping_add(general - 8), 8)
            }
            Class::Float if vector < 176 => {
                vector += 16;
                (saved.wrapping_add(vector - 16), 8)
            }
            Class::LongDouble => {
                let at = stack.wrapping_add(15) & !15;
                stack = at.wrapping_add(16);
                (at, 10)
            }
            Class::Integer | Class::Float => {
                stack = stack.wrapping_add(8);
                (stack.wrapping_sub(8), 8)
            }
        })
        .collect()
}
