//! `scanf` and `sscanf`: the path through the format becomes conditions; numbers and text become terms.
//!
//! A `scanf` inspects one byte more than it consumes. The classes that this byte is not in (digits, blanks)
//! become conditions when another call reads the byte. If none does, nothing depends on it.

use super::ctype::SPACE;
use super::number::{Shape, digit_ranges, is_in};
use super::{arg, result};
use crate::condition::{Kind, Reason};
use crate::engine::Engine;
use crate::observer::StepObserver;
use crate::output::variadic_slots;
use externals::FormatArgs;
use externals::format::{Conversion, Number, Parser, Piece, Size};
use replay::observer::{ExternalCall, View};
use solver::Term;

/// A lookahead byte is not in these ranges.
#[derive(Clone, Debug)]
pub(crate) struct LookaheadRanges {
    ranges: Vec<(u8, u8)>,
}

/// A text that is being scanned.
pub(super) struct Text {
    address: u64,
    pub bytes: Vec<u8>,
    pub at: usize,
    /// Origin and offset of the bytes, if they come from a stream and no NUL follows them.
    stream: Option<(u32, u64)>,
}

impl Text {
    fn now(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    pub fn place(&self) -> u64 {
        self.address.wrapping_add(self.at as u64)
    }

    /// The maximum width of a conversion, and the available bytes of the field.
    pub fn field(&self, c: &Conversion) -> (usize, &[u8]) {
        let most = width(c).unwrap_or(usize::MAX);
        let rest = &self.bytes[self.at..];
        (most, &rest[..rest.len().min(most)])
    }
}

/// The format has a conversion that is not followed.
pub(super) struct NotFollowed;

impl<W: StepObserver> Engine<'_, W> {
    pub(super) fn scans_string(&mut self, view: &View<'_>, call: &ExternalCall<'_>) -> bool {
        let address = arg(call, 0);
        self.concretise_arguments(view, call, &[0, 1], Reason::UnknownObject);
        let bytes = view.memory.peek_string(address, 1 << 20);
        self.scans(view, call, Text { address, bytes, at: 0, stream: None });
        true
    }

    pub(super) fn scans_stream(&mut self, view: &View<'_>, call: &ExternalCall<'_>) -> bool {
        let Some(n) = self.open.iter().position(|t| !t.out) else {
            self.stored(view, call);
            return true;
        };
        let transfer = self.open.remove(n);
        let Some(origin) = transfer.origin.filter(|o| self.options.inputs.wants(o)) else {
            self.stored(view, call);
            return true;
        };
        if transfer.address == 0 || !self.is_input(&origin, Some(view)) {
            self.note_imprecision(view, Reason::Unrecorded);
            self.stored(view, call);
            return true;
        }
        let origin = self.world.variables.origin(&origin);
        let mut bytes = vec![0; transfer.length.min(1 << 20) as usize];
        view.memory.peek(transfer.address, &mut bytes);
        for (i, byte) in bytes.iter().enumerate() {
            let term = self.input(origin, transfer.offset + i as u64, *byte);
            self.put_byte(view.memory, transfer.address.wrapping_add(i as u64), term);
            self.check_lookahead(view, origin, transfer.offset + i as u64, term);
        }
        let text = Text { address: transfer.address, bytes, at: 0, stream: Some((origin, transfer.offset)) };
        self.scans(view, call, text);
        // The buffer belongs to the library; no other code reads its bytes.
        self.memory.clear(transfer.address, transfer.length);
        true
    }

    /// A byte that a scan inspected before was read: adds its conditions.
    pub(crate) fn check_lookahead(&mut self, view: &View<'_>, origin: u32, offset: u64, term: Option<Term>) {
        let Some(expected) = self.expected.remove(&(origin, offset)) else { return };
        let Some(term) = term else { return };
        for e in expected {
            let inside = self.in_ranges(term, &e.ranges);
            let way = self.pool().not(inside);
            self.assume(view, way, Kind::External, 0, None);
        }
    }

    /// What a scan stored does not depend on input.
    fn stored(&mut self, view: &View<'_>, call: &ExternalCall<'_>) {
        for (pointer, len) in self.targets(view, call) {
            self.overwritten(pointer, len);
        }
    }

    /// Where a scan may have stored: address and length.
    fn targets(&self, view: &View<'_>, call: &ExternalCall<'_>) -> Vec<(u64, u64)> {
        let Some(f) = call.known.and_then(|k| k.format) else { return Vec::new() };
        let FormatArgs::From(first) = f.args else { return Vec::new() };
        let text = view.memory.peek_string(arg(call, f.format as usize), 1 << 16);
        let slots = variadic_slots(call, first);
        let mut found = Vec::new();
        for piece in Parser::scanf(&text) {
            let Piece::Conversion(c) = piece else { continue };
            let slot = c.arg.and_then(|a| slots.get(a as usize).copied());
            let Some(pointer) = slot.and_then(|s| view.regs.get(s as usize).copied()) else { continue };
            let len = match c.kind {
                b's' | b'[' => view.memory.peek_string(pointer, 1 << 16).len() as u64 + 1,
                b'c' => width(&c).unwrap_or(1) as u64,
                _ => c.size.bytes(),
            };
            found.push((pointer, len));
        }
        found
    }

    fn scans(&mut self, view: &View<'_>, call: &ExternalCall<'_>, mut text: Text) {
        let Some(f) = call.known.and_then(|k| k.format) else { return };
        let FormatArgs::From(first) = f.args else { return };
        let targets = self.targets(view, call);
        let symbolic = self.any(text.address, text.bytes.len() as u64 + 1);
        for (pointer, len) in &targets {
            self.overwritten(*pointer, *len);
        }
        if !symbolic {
            return;
        }
        let format = view.memory.peek_string(arg(call, f.format as usize), 1 << 16);
        let slots = variadic_slots(call, first);
        let stored = (result(call) as u32).cast_signed();
        let mut assigned = 0;
        for piece in Parser::scanf(&format) {
            let goes_on = match piece {
                Piece::Literal { start, end } => Ok(format
                    .get(start..end)
                    .unwrap_or_default()
                    .iter()
                    .all(|b| self.literal(view, &mut text, *b))),
                Piece::Conversion(c) => {
                    let slot = c.arg.and_then(|a| slots.get(a as usize).copied());
                    let pointer = slot.and_then(|s| view.regs.get(s as usize).copied());
                    let counts = pointer.is_some() && c.kind != b'n' && c.kind != b'%';
                    let done = self.conversion(view, &mut text, &c, pointer);
                    assigned += i32::from(counts && matches!(done, Ok(true)));
                    done
                }
            };
            match goes_on {
                Ok(true) => {}
                Ok(false) => break,
                Err(NotFollowed) => {
                    let len = text.bytes.len() as u64 + u64::from(text.stream.is_none());
                    let reason = Reason::Detail("this format is not followed");
                    self.concretise_range(view, text.address, len, reason);
                    return;
                }
            }
        }
        if stored >= 0 && assigned != stored {
            // The library parsed the text differently.
            let len = text.bytes.len() as u64 + u64::from(text.stream.is_none());
            self.concretise_range(view, text.address, len, Reason::Detail("a scan by unknown rules"));
        }
    }

    /// The byte at the cursor is not in these ranges. It may be past the consumed bytes.
    pub(super) fn expect_outside(&mut self, view: &View<'_>, text: &Text, ranges: &[(u8, u8)]) {
        match text.stream {
            Some((origin, offset)) if text.at >= text.bytes.len() => {
                let key = (origin, offset + text.at as u64);
                self.expected.entry(key).or_default().push(LookaheadRanges { ranges: ranges.to_vec() });
            }
            _ => self.byte_in(view, text.place(), ranges, false),
        }
    }

    pub(super) fn blanks(&mut self, view: &View<'_>, text: &mut Text) {
        while text.now().is_some_and(|b| is_in(b, SPACE)) {
            self.byte_in(view, text.place(), SPACE, true);
            text.at += 1;
        }
        self.expect_outside(view, text, SPACE);
    }

    fn literal(&mut self, view: &View<'_>, text: &mut Text, byte: u8) -> bool {
        if is_in(byte, SPACE) {
            self.blanks(view, text);
            return true;
        }
        if text.now() == Some(byte) {
            self.byte_is(view, text.place(), byte, true);
            text.at += 1;
            return true;
        }
        self.expect_outside(view, text, &[(byte, byte)]);
        false
    }

    /// Whether the conversion was successful.
    fn conversion(
        &mut self,
        view: &View<'_>,
        text: &mut Text,
        c: &Conversion,
        pointer: Option<u64>,
    ) -> Result<bool, NotFollowed> {
        match c.kind {
            b'd' | b'u' | b'x' | b'X' | b'o' => self.scanned_number(view, text, c, pointer),
            b'f' | b'e' | b'g' | b'F' | b'E' | b'G' => self.scanned_decimal(view, text, c, pointer),
            b'c' => {
                let n = width(c).unwrap_or(1);
                if text.bytes.len() - text.at < n {
                    return Ok(false);
                }
                self.taken(view, text, n, pointer);
                Ok(true)
            }
            b's' => {
                self.blanks(view, text);
                let most = width(c).unwrap_or(usize::MAX);
                let mut n = 0;
                while n < most && text.bytes.get(text.at + n).is_some_and(|b| !is_in(*b, SPACE)) {
                    let at = text.place().wrapping_add(n as u64);
                    self.byte_in(view, at, SPACE, false);
                    if text.stream.is_none() {
                        self.byte_is(view, at, 0, false);
                    }
                    n += 1;
                }
                if n == 0 {
                    return Ok(false);
                }
                self.taken(view, text, n, pointer);
                if n < most {
                    match text.now() {
                        Some(_) => self.byte_in(view, text.place(), SPACE, true),
                        None if text.stream.is_none() => self.byte_is(view, text.place(), 0, true),
                        None => self.expect_inside(text, SPACE),
                    }
                }
                Ok(true)
            }
            b'%' => {
                self.blanks(view, text);
                Ok(self.literal(view, text, b'%'))
            }
            b'n' => Ok(true),
            _ => Err(NotFollowed),
        }
    }

    /// The byte after the consumed ones is in these ranges; expressed as not being in the complement.
    fn expect_inside(&mut self, text: &Text, ranges: &[(u8, u8)]) {
        let Some((origin, offset)) = text.stream else { return };
        let mut outside = Vec::new();
        let mut next = 0u16;
        for (low, high) in ranges {
            if next < u16::from(*low) {
                outside.push((next as u8, low - 1));
            }
            next = u16::from(*high) + 1;
        }
        if next <= 255 {
            outside.push((next as u8, 255));
        }
        let key = (origin, offset + text.at as u64);
        self.expected.entry(key).or_default().push(LookaheadRanges { ranges: outside });
    }

    /// Copies bytes from the text to the pointer's target, and consumes them.
    fn taken(&mut self, view: &View<'_>, text: &mut Text, n: usize, pointer: Option<u64>) {
        for i in 0..n as u64 {
            let term = self.byte(text.place().wrapping_add(i));
            if let Some(pointer) = pointer {
                self.put_byte(view.memory, pointer.wrapping_add(i), term);
            }
        }
        text.at += n;
    }

    fn scanned_number(
        &mut self,
        view: &View<'_>,
        text: &mut Text,
        c: &Conversion,
        pointer: Option<u64>,
    ) -> Result<bool, NotFollowed> {
        self.blanks(view, text);
        let (most, rest) = text.field(c);
        let base = match c.kind {
            b'x' | b'X' => 16,
            b'o' => 8,
            _ => 10,
        };
        let sign = rest.first().copied().filter(|b| matches!(b, b'+' | b'-'));
        let ranges = digit_ranges(base);
        let start = usize::from(sign.is_some());
        let digits = rest[start..].iter().take_while(|b| is_in(**b, &ranges)).count();
        if base == 16 && rest.get(start) == Some(&b'0') && matches!(rest.get(start + 1), Some(b'x' | b'X')) {
            return Err(NotFollowed);
        }
        if sign.is_none() {
            if digits == 0 {
                self.expect_outside(view, text, &[(b'+', b'+'), (b'-', b'-')]);
            }
        } else if let Some(sign) = sign {
            self.byte_is(view, text.place(), sign, true);
        }
        let from = text.place();
        for i in 0..digits {
            self.byte_in(view, from.wrapping_add((start + i) as u64), &ranges, true);
        }
        text.at += start + digits;
        if start + digits < most {
            self.expect_outside(view, text, &ranges);
        }
        if digits == 0 {
            return Ok(false);
        }
        let shape = Shape { blanks: 0, sign, prefix: false, base, digits };
        let value = self.number_value(view, from, &shape, c.kind != b'd');
        if let (Some(value), Some(pointer)) = (value, pointer) {
            let size = c.size.bytes();
            let term = self.fit(value, 8 * size as u32);
            let variables = &self.world.variables;
            let ours = self.world.pool.evaluate(term, &|v| variables.value(v));
            if ours != u128::from(view.memory.peek_word(pointer, size as usize)) {
                return Err(NotFollowed);
            }
            if c.size != Size::LongDouble {
                self.put(view.memory, pointer, size, Some(term));
            }
        }
        Ok(true)
    }
}

fn width(c: &Conversion) -> Option<usize> {
    match c.width {
        Number::Fixed(n) => Some(n as usize),
        _ => None,
    }
}
