//! The output of a run, byte by byte, as far as it depends on input.

use crate::condition::{At, Kind, Reason};
use crate::engine::Engine;
use crate::inputs::Origin;
use crate::observer::StepObserver;
use externals::FormatArgs;
use externals::format::{Number, Parser, Piece};
use replay::format::{Arguments, Formatted, format};
use replay::observer::{ExternalCall, View};
use solver::{Binary, Term};
use std::ops::Range;

/// Maximum length of a format or string that is read.
const MAX_TEXT: usize = 1 << 20;

/// One output event.
#[derive(Clone, Debug, Default)]
pub struct Output {
    /// The instruction that wrote.
    pub at: At,
    /// Where the bytes went; standard output and error are streams of those names.
    pub sink: Option<Origin>,
    /// Offset of the first byte in the sink.
    pub offset: u64,
    /// The concrete bytes, as far as known.
    pub bytes: Vec<u8>,
    /// Input-dependent bytes: position in `bytes`, and the byte's term.
    pub terms: Vec<(u32, Term)>,
    /// The numbers among the bytes whose digits are not in `terms`.
    pub printed: Vec<PrintedNumber>,
}

/// An input-dependent number that was printed.
#[derive(Clone, Debug)]
pub struct PrintedNumber {
    /// The bytes that it was printed as.
    pub range: Range<u32>,
    /// The number, as the argument that was passed.
    pub term: Term,
    /// How, in the format: `%5d`.
    pub conversion: Vec<u8>,
}

/// The variadic arguments of a call: first slot of each.
struct VariadicArguments<'v> {
    view: &'v View<'v>,
    slots: Vec<u32>,
}

impl VariadicArguments<'_> {
    fn slot(&self, number: u32, k: u32) -> u64 {
        let slot = self.slots.get(number as usize).map_or(u32::MAX, |s| s + k);
        self.view.regs.get(slot as usize).copied().unwrap_or(0)
    }
}

impl Arguments for VariadicArguments<'_> {
    fn int(&mut self, number: u32) -> u64 {
        self.slot(number, 0)
    }
    fn double(&mut self, number: u32) -> u64 {
        self.slot(number, 0)
    }
    fn long_double(&mut self, number: u32) -> u128 {
        u128::from(self.slot(number, 1)) << 64 | u128::from(self.slot(number, 0))
    }
}

/// Registers of the variadic arguments, counted from a slot of the call.
pub(crate) fn variadic_slots(call: &ExternalCall<'_>, first: u8) -> Vec<u32> {
    let mut slot = 0;
    let mut found = Vec::new();
    for a in &call.site.args {
        if slot >= u32::from(first) {
            found.push(a.src);
        }
        slot += a.slots;
    }
    found
}

impl<W: StepObserver> Engine<'_, W> {
    /// The text that a `printf` printed, and which bytes of it depend on input.
    pub(crate) fn print(&mut self, view: &View<'_>, call: &ExternalCall<'_>, output: &mut Output) {
        let Some(formatted) = self.formatted(view, call) else { return };
        output.bytes.clone_from(&formatted.bytes);
        let mut numbers = false;
        for (range, piece) in self.pieces(view, call, &formatted) {
            match piece {
                Printed::Bytes(terms) => output.terms.extend(terms),
                Printed::Text { bytes, end } => {
                    for (_, term) in &bytes {
                        self.goes_on(view, *term);
                    }
                    if let Some(end) = end {
                        self.byte_is(view, end, 0, true);
                    }
                    output.terms.extend(bytes);
                }
                Printed::Number { term, conversion } => {
                    numbers = true;
                    output.printed.push(PrintedNumber { range, term, conversion });
                }
            }
        }
        if numbers {
            self.note_imprecision(view, Reason::Printed);
        }
    }

    /// A byte of a string is not zero, or the string would end there.
    pub(crate) fn goes_on(&mut self, view: &View<'_>, byte: Term) {
        let zero = self.constant(8, 0);
        let end = self.pool().binary(Binary::Eq, byte, zero);
        let goes_on = self.pool().not(end);
        self.assume(view, goes_on, Kind::External, 0, None);
    }

    /// The text of a call with plain variadic arguments.
    pub(crate) fn formatted(&self, view: &View<'_>, call: &ExternalCall<'_>) -> Option<Formatted> {
        let f = call.known?.format.filter(|f| !f.input)?;
        let FormatArgs::From(first) = f.args else { return None };
        let at = call.args.get(f.format as usize).copied().unwrap_or(0);
        let text = view.memory.peek_string(at, MAX_TEXT);
        let mut passed = VariadicArguments { view, slots: variadic_slots(call, first) };
        Some(format(&text, &mut passed, view.memory))
    }

    /// The input-dependent parts of a text.
    pub(crate) fn pieces(
        &mut self,
        view: &View<'_>,
        call: &ExternalCall<'_>,
        formatted: &Formatted,
    ) -> Vec<(Range<u32>, Printed)> {
        let mut found = Vec::new();
        let Some(f) = call.known.and_then(|k| k.format) else { return found };
        let FormatArgs::From(first) = f.args else { return found };
        let at = call.args.get(f.format as usize).copied().unwrap_or(0);
        let text = view.memory.peek_string(at, MAX_TEXT);
        let slots = variadic_slots(call, first);
        for part in &formatted.parts {
            let Some(argument) = part.arg else { continue };
            let conversion = Parser::printf(&text).find_map(|p| match p {
                Piece::Conversion(c) if c.start == part.format.start => Some(c),
                _ => None,
            });
            let Some(conversion) = conversion else { continue };
            let Some(slot) = slots.get(argument as usize).copied() else { continue };
            let range = part.output.start as u32..part.output.end as u32;
            let term = self.frames.get(view.depth as usize - 1).and_then(|f| f.get(slot));
            match conversion.kind {
                b's' => {
                    let from = view.regs.get(slot as usize).copied().unwrap_or(0);
                    let shown = &formatted.bytes[part.output.clone()];
                    let precision = match conversion.precision {
                        Number::None => None,
                        Number::Fixed(most) => Some(most as usize),
                        Number::Arg(number) => {
                            let slot = slots.get(number as usize);
                            let value = slot.and_then(|slot| view.regs.get(*slot as usize));
                            // A negative one counts as absent.
                            value.and_then(|value| usize::try_from(*value as i32).ok())
                        }
                    };
                    let whole = view.memory.peek_string(from, shown.len());
                    let len = precision.map_or(whole.len(), |most| whole.len().min(most));
                    // The rest of the width is padding.
                    let start = if conversion.left { 0 } else { shown.len() - len };
                    if !shown[start..].starts_with(&whole[..len]) {
                        continue;
                    }
                    let mut bytes = Vec::new();
                    for i in 0..len {
                        if let Some(term) = self.byte(from.wrapping_add(i as u64)) {
                            bytes.push((range.start + (start + i) as u32, term));
                        }
                    }
                    let is_cut = precision.is_some_and(|most| most <= len);
                    let end = (!is_cut).then_some(from.wrapping_add(len as u64));
                    let end = end.filter(|end| view.memory.peek_string(*end, 1).is_empty());
                    if !bytes.is_empty() || end.is_some_and(|end| self.any(end, 1)) {
                        found.push((range, Printed::Text { bytes, end }));
                    }
                }
                b'c' if range.len() == 1 => {
                    if let Some(term) = term {
                        let byte = self.fit(term, 8);
                        found.push((range.clone(), Printed::Bytes(vec![(range.start, byte)])));
                    }
                }
                _ => {
                    if let Some(term) = term {
                        let conversion = text.get(part.format.clone()).unwrap_or_default().to_vec();
                        found.push((range, Printed::Number { term, conversion }));
                    }
                }
            }
        }
        found
    }
}

/// An input-dependent part of a text.
pub(crate) enum Printed {
    /// Copied byte by byte: position in the text, and term.
    Bytes(Vec<(u32, Term)>),
    /// The same of a string, which a zero would end, and the address of the zero that ended it.
    Text { bytes: Vec<(u32, Term)>, end: Option<u64> },
    /// A number, and how it was printed.
    Number { term: Term, conversion: Vec<u8> },
}
