//! Which operands of an output call each written byte came from.

use crate::criterion::{Criterion, Occurrence, Wanted};
use externals::format::{Conversion, Number, Parser, Piece, Size};
use externals::{Data, Format, FormatArgs};
use program::inst::{Call, Inst, Operand, Reg};
use replay::format::Formatted;
use replay::io::IoEvent;
use replay::observer::{ExternalCall, View};

/// Formats and strings are read up to this length.
const LIMIT: usize = 1 << 20;

/// The origin of some bytes of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// All operands of the call.
    Call,
    /// The execution of the call: literal text of a format, a constant.
    Ran,
    /// Registers of the calling function.
    Registers { first: Reg, slots: u32 },
    /// Memory, byte by byte.
    Bytes(Text),
    /// Memory as a whole: the padding depends on the length of the text.
    Whole(Text, u64),
}

/// Text in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text {
    pub address: u64,
    /// The register that held the address.
    pub pointer: Option<Reg>,
}

/// Bytes with the same origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    pub len: u64,
    pub made: Made,
}

/// Bytes that a call wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The call's step.
    pub step: u64,
    /// Of the first byte in the sink.
    pub offset: u64,
    pub len: u64,
    /// From the first byte on. Bytes after the last part have the origin [`Made::Call`].
    pub parts: Vec<Part>,
}

impl Output {
    /// The origin of a byte, relative to the first, and its index in the part.
    pub fn made(&self, byte: u64) -> (Made, u64) {
        let mut start = 0;
        for part in &self.parts {
            if byte - start < part.len {
                return (part.made, byte - start);
            }
            start += part.len;
        }
        (Made::Call, byte)
    }
}

/// A call's output without further detail: its origin is all operands of the call.
pub fn whole(event: &IoEvent) -> Output {
    // The event is recorded after the call has run.
    let step = event.instruction.saturating_sub(1);
    Output { step, offset: event.offset, len: event.length, parts: Vec::new() }
}

/// The parts of an event, determined when its call has returned.
pub fn parts(view: &View<'_>, call: &ExternalCall<'_>, event: &IoEvent) -> Vec<Part> {
    let Inst::Call(inst) = view.inst() else { return Vec::new() };
    let known = call.known;
    let mut parts = match (&event.format, known.and_then(|k| k.format)) {
        (Some(formatted), Some(format)) => Shown { view, call, inst, format }.parts(formatted),
        // What a library wrote is in the runtime's own memory: its origin is all operands of the call.
        _ if event.address != 0 && known.is_some_and(|known| known.io.is_some()) => {
            let text = Text { address: event.address, pointer: None };
            vec![Part { len: event.length, made: Made::Bytes(text) }]
        }
        _ if matches!(known.and_then(|k| k.io).map(|io| io.data), Some(Data::Byte)) => {
            let made = argument(inst, 0, 0).map_or(Made::Call, |(operand, slots)| plain(operand, slots));
            vec![Part { len: event.length, made }]
        }
        _ => Vec::new(),
    };
    // A call may have written less than it was given.
    let mut left = event.length;
    for part in &mut parts {
        part.len = part.len.min(left);
        left -= part.len;
    }
    parts.retain(|p| p.len > 0);
    parts
}

/// The origin of a value that is passed as it is.
fn plain(operand: Operand, slots: u32) -> Made {
    match operand {
        Operand::Reg(first) => Made::Registers { first, slots },
        // A constant originates in the line itself.
        Operand::Const(_) | Operand::Symbol { .. } => Made::Ran,
    }
}

/// Argument `number` of those that begin at an argument slot, and its number of slots.
fn argument(call: &Call, first: u32, number: u32) -> Option<(Operand, u32)> {
    let mut at = 0;
    let mut from = Vec::new();
    for arg in &call.args {
        if at >= first {
            from.push((arg.value, arg.ty.slots()));
        }
        at += arg.ty.slots();
    }
    from.get(number as usize).copied()
}

/// A call of a formatting function.
struct Shown<'c> {
    view: &'c View<'c>,
    call: &'c ExternalCall<'c>,
    inst: &'c Call,
    format: Format,
}

impl Shown<'_> {
    fn parts(&self, formatted: &Formatted) -> Vec<Part> {
        let at = self.call.args.get(self.format.format as usize).copied().unwrap_or(0);
        let text = self.view.memory.peek_string(at, LIMIT);
        let conversions: Vec<Conversion> = Parser::printf(&text)
            .filter_map(|piece| match piece {
                Piece::Conversion(c) => Some(c),
                Piece::Literal { .. } => None,
            })
            .collect();
        let mut all = Vec::new();
        let mut done = 0;
        for part in &formatted.parts {
            if part.output.start > done {
                all.push(Part { len: (part.output.start - done) as u64, made: Made::Call });
            }
            done = part.output.end;
            let len = part.output.len() as u64;
            let conversion = conversions.iter().find(|c| c.start == part.format.start);
            match (part.arg, self.format.args, conversion) {
                (None, ..) => all.push(Part { len, made: Made::Ran }),
                (Some(number), FormatArgs::From(slot), Some(c)) => {
                    self.converted(slot.into(), number, c, len, &mut all);
                }
                _ => all.push(Part { len, made: Made::Call }),
            }
        }
        all
    }

    /// Adds the bytes of one conversion.
    fn converted(&self, first: u32, number: u32, c: &Conversion, len: u64, all: &mut Vec<Part>) {
        let Some((operand, slots)) = argument(self.inst, first, number) else {
            return all.push(Part { len, made: Made::Call });
        };
        let address = self.view.value(operand);
        if c.kind != b's' || address == 0 {
            return all.push(Part { len, made: plain(operand, slots) });
        }
        if c.size == Size::Long {
            return all.push(Part { len, made: Made::Call });
        }
        let most = match c.precision {
            Number::Fixed(n) => n as usize,
            Number::Arg(n) => match argument(self.inst, first, n) {
                // A negative precision counts as none.
                Some((given, _)) => usize::try_from(self.view.value(given) as u32 as i32).unwrap_or(LIMIT),
                None => LIMIT,
            },
            Number::None => LIMIT,
        };
        let shown = self.view.memory.peek_string(address, most.min(LIMIT)).len() as u64;
        let pointer = match operand {
            Operand::Reg(r) => Some(r),
            _ => None,
        };
        let text = Text { address, pointer };
        let body = Part { len: shown.min(len), made: Made::Bytes(text) };
        // The NUL determines the length, unless the precision does.
        let read = shown + u64::from(shown < most as u64);
        let blanks = Part { len: len - body.len, made: Made::Whole(text, read) };
        all.extend(if c.left { [body, blanks] } else { [blanks, body] }.iter().filter(|p| p.len > 0));
    }
}

/// The criterion for a byte of an output, relative to its first byte.
pub fn criterion(stream: u32, output: &Output, byte: u64) -> Criterion {
    let pointer = |text: Text| text.pointer.map(|r| Wanted::Registers(vec![r]));
    let memory = |address, len| Wanted::Memory { address, len };
    let wanted = match output.made(byte) {
        (Made::Call, _) => vec![Wanted::All],
        (Made::Ran, _) => vec![Wanted::Ran],
        (Made::Registers { first, slots }, _) => {
            vec![Wanted::Registers((first..first.saturating_add(slots.min(2))).collect())]
        }
        (Made::Bytes(text), n) => {
            pointer(text).into_iter().chain([memory(text.address.wrapping_add(n), 1)]).collect()
        }
        (Made::Whole(text, len), _) => pointer(text).into_iter().chain([memory(text.address, len)]).collect(),
    };
    Criterion { at: Occurrence { stream, step: output.step }, wanted }
}

/// Whether `asked` denotes an output: `stdout`, `stderr`, or the end of its path.
pub fn is_meant(kind: u8, name: &str, asked: &str) -> bool {
    recording::event::source::name(kind) == asked || std::path::Path::new(name).ends_with(asked)
}
