//! `strtol`, `atoi` and related functions.
//!
//! The classes of the bytes (blanks, sign, digits) are the path through the function and become conditions;
//! the number itself is a term over the digits. So another input with as many digits gives another number on
//! the same path, and one with more or fewer digits takes another path.

use super::ctype::SPACE;
use super::{arg, result};
use crate::condition::{Kind, Reason};
use crate::engine::Engine;
use crate::observer::StepObserver;
use replay::observer::{ExternalCall, View};
use solver::{Binary, Term, Unary};

/// Ranges of the bytes that are digits in a base.
pub(super) fn digit_ranges(base: u32) -> Vec<(u8, u8)> {
    let mut ranges = vec![(b'0', b'0' + base.min(10) as u8 - 1)];
    if base > 10 {
        let last = base as u8 - 11;
        ranges.push((b'A', b'A' + last));
        ranges.push((b'a', b'a' + last));
    }
    ranges
}

pub(super) fn is_in(byte: u8, ranges: &[(u8, u8)]) -> bool {
    ranges.iter().any(|(low, high)| (*low..=*high).contains(&byte))
}

/// The parts of a number's text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Shape {
    pub blanks: usize,
    /// The sign's byte, if there is one.
    pub sign: Option<u8>,
    /// Whether it has the prefix `0x` or `0b`.
    pub prefix: bool,
    pub base: u32,
    pub digits: usize,
}

impl Shape {
    /// The offset of the first digit.
    pub fn start(&self) -> usize {
        self.blanks + usize::from(self.sign.is_some()) + if self.prefix { 2 } else { 0 }
    }

    /// Parses a text as `strtol` does.
    pub fn of(text: &[u8], base: u32, binary: bool) -> Shape {
        let at = |i: usize| text.get(i).copied().unwrap_or(0);
        let blanks = text.iter().take_while(|b| is_in(**b, SPACE)).count();
        let mut i = blanks;
        let sign = Some(at(i)).filter(|b| matches!(b, b'+' | b'-'));
        i += usize::from(sign.is_some());
        let lead = |letter: u8, digits: u32| {
            at(i) == b'0'
                && at(i + 1).eq_ignore_ascii_case(&letter)
                && is_in(at(i + 2), &digit_ranges(digits))
        };
        let (base, prefix) = match base {
            0 | 16 if lead(b'x', 16) => (16, true),
            0 | 2 if binary && lead(b'b', 2) => (2, true),
            0 if at(i) == b'0' => (8, false),
            0 => (10, false),
            base => (base, false),
        };
        if prefix {
            i += 2;
        }
        let ranges = digit_ranges(base);
        let digits = text.iter().skip(i).take_while(|b| is_in(**b, &ranges)).count();
        Shape { blanks, sign, prefix, base, digits }
    }
}

impl<W: StepObserver> Engine<'_, W> {
    pub(super) fn number(&mut self, view: &View<'_>, call: &ExternalCall<'_>, name: &str) -> bool {
        let plain = name.starts_with("ato");
        let unsigned = name.contains("ul") || name.contains("umax");
        let from = arg(call, 0);
        let base = if plain { 10 } else { arg(call, 2) as u32 };
        let end = if plain { 0 } else { arg(call, 1) };
        let text = view.memory.peek_string(from, 1 << 16);
        if end != 0 {
            self.overwritten(end, 8);
        }
        self.concretise_arguments(view, call, &[0], Reason::UnknownObject);
        if !plain {
            self.concretise_arguments(view, call, &[1, 2], Reason::Detail("the base of a number"));
        }
        if base == 1 || base > 36 {
            return true;
        }
        let shape = Shape::of(&text, base, name.contains("isoc23"));
        if !self.any(from, (shape.start() + shape.digits + 4) as u64) {
            return true;
        }
        self.assume_shape(view, from, &shape, base, name.contains("isoc23"));
        let Some(value) = self.number_value(view, from, &shape, unsigned) else { return true };
        let width = if name == "atoi" { 32 } else { 64 };
        let term = self.fit(value, width);
        let variables = &self.world.variables;
        let ours = self.world.pool.evaluate(term, &|v| variables.value(v));
        let mask = if width == 32 { u64::from(u32::MAX) } else { u64::MAX };
        if ours != u128::from(result(call) & mask) {
            // Another locale, or an unknown rule: concretise the bytes that were read.
            let len = (shape.start() + shape.digits) as u64;
            self.concretise_range(view, from, len, Reason::Detail("a number read by unknown rules"));
            return true;
        }
        self.assign(view, call.site.dst, width as u16, Some(term));
        true
    }

    /// Adds conditions that the text of a number keeps its shape.
    pub(super) fn assume_shape(
        &mut self,
        view: &View<'_>,
        from: u64,
        shape: &Shape,
        asked: u32,
        binary: bool,
    ) {
        for i in 0..shape.blanks {
            self.byte_in(view, from + i as u64, SPACE, true);
        }
        let mut at = from + shape.blanks as u64;
        match shape.sign {
            Some(sign) => {
                self.byte_is(view, at, sign, true);
                at += 1;
            }
            None if shape.digits == 0 => {
                // Neither blank nor sign. With digits, their conditions imply this.
                self.byte_in(view, at, SPACE, false);
                self.byte_in(view, at, &[(b'+', b'+'), (b'-', b'-')], false);
            }
            None => {}
        }
        if shape.prefix {
            self.byte_is(view, at, b'0', true);
            let letter = if shape.base == 16 { b'x' } else { b'b' };
            let both = [(letter, letter), (letter & !0x20, letter & !0x20)];
            self.byte_in(view, at + 1, &both, true);
            at += 2;
        } else {
            if asked == 0 && shape.digits > 0 {
                self.byte_is(view, at, b'0', shape.base == 8);
            }
            for (letter, base) in [(b'x', 16), (b'b', 2)] {
                let possible = asked == base || asked == 0 && shape.base == 8;
                if possible && shape.digits > 0 && (binary || base == 16) {
                    self.assume_no_prefix(view, at, letter, base);
                }
            }
        }
        let ranges = digit_ranges(shape.base);
        for i in 0..shape.digits {
            self.byte_in(view, at + i as u64, &ranges, true);
        }
        self.byte_in(view, at + shape.digits as u64, &ranges, false);
    }

    /// Adds the condition that a zero does not start a prefix of another base.
    fn assume_no_prefix(&mut self, view: &View<'_>, at: u64, letter: u8, base: u32) {
        let first = self.at_byte(view, at);
        let second = self.at_byte(view, at + 1);
        let third = self.at_byte(view, at + 2);
        let zero = self.in_ranges(first, &[(b'0', b'0')]);
        let upper = letter & !0x20;
        let is_letter = self.in_ranges(second, &[(letter, letter), (upper, upper)]);
        let digit = self.in_ranges(third, &digit_ranges(base));
        let pool = self.pool();
        let both = pool.and(zero, is_letter);
        let prefix = pool.and(both, digit);
        let way = pool.not(prefix);
        self.assume(view, way, Kind::External, 0, None);
    }

    /// Adds the condition that a byte is in the ranges, or is not.
    pub(super) fn byte_in(&mut self, view: &View<'_>, at: u64, ranges: &[(u8, u8)], is: bool) {
        if let Some(term) = self.byte(at) {
            let inside = self.in_ranges(term, ranges);
            let way = if is { inside } else { self.pool().not(inside) };
            self.assume(view, way, Kind::External, is.into(), None);
        }
    }

    /// The number as 64 bits; `None` if it is concretised.
    pub(super) fn number_value(
        &mut self,
        view: &View<'_>,
        from: u64,
        shape: &Shape,
        unsigned: bool,
    ) -> Option<Term> {
        if shape.digits == 0 {
            return None;
        }
        let start = from + shape.start() as u64;
        // Leading zeros that do not depend on input are zeros in every input that the conditions cover.
        let is_zero = |engine: &mut Self, i: &usize| {
            let byte = engine.at_byte(view, start + *i as u64);
            engine.pool().as_constant(byte) == Some(b'0'.into())
        };
        let zeros = (0..shape.digits).take_while(|i| is_zero(self, i)).count();
        // An estimate from the number of digits: it decides how wide the term must be to detect overflow.
        let bits = f64::from(shape.base).log2() * (shape.digits - zeros) as f64;
        let width = if bits < 63.0 {
            64
        } else if bits < 127.0 {
            128
        } else {
            let reason = Reason::Detail("a number of very many digits");
            self.concretise_range(view, start, shape.digits as u64, reason);
            return None;
        };
        let base = self.constant(width, shape.base.into());
        let mut value = self.constant(width, 0);
        for i in zeros..shape.digits {
            let byte = self.at_byte(view, start + i as u64);
            let digit = self.digit(byte, shape.base);
            let digit = self.fit(digit, width);
            let shifted = self.pool().binary(Binary::Mul, value, base);
            value = self.pool().binary(Binary::Add, shifted, digit);
        }
        let negative = shape.sign == Some(b'-');
        if width == 128 {
            let limit: u128 = match (unsigned, negative) {
                (true, _) => u64::MAX.into(),
                (false, true) => 1 << 63,
                (false, false) => (1 << 63) - 1,
            };
            let limit = self.constant(width, limit);
            let fits = self.pool().binary(Binary::Ule, value, limit);
            let variables = &self.world.variables;
            let now = self.world.pool.evaluate(fits, &|v| variables.value(v)) == 1;
            let way = if now { fits } else { self.pool().not(fits) };
            self.assume(view, way, Kind::External, now.into(), None);
            if !now {
                return None;
            }
        }
        let value = self.fit(value, 64);
        Some(if negative { self.pool().unary(Unary::Neg, value) } else { value })
    }

    /// The value of a byte that is a digit, in 8 bits.
    fn digit(&mut self, byte: Term, base: u32) -> Term {
        let zero = self.constant(8, b'0'.into());
        let plain = self.pool().binary(Binary::Sub, byte, zero);
        if base <= 10 {
            return plain;
        }
        let case = self.constant(8, 0x20);
        let offset = self.constant(8, u128::from(b'a' - 10));
        let nine = self.constant(8, b'9'.into());
        let pool = self.pool();
        let lower = pool.binary(Binary::Or, byte, case);
        let letter = pool.binary(Binary::Sub, lower, offset);
        let is_digit = pool.binary(Binary::Ule, byte, nine);
        pool.ite(is_digit, plain, letter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_those_of_strtol() {
        let shape = |text: &str, base| {
            let s = Shape::of(text.as_bytes(), base, false);
            (s.blanks, s.sign, s.prefix, s.base, s.digits)
        };
        assert_eq!(shape(" \t-12a", 10), (2, Some(b'-'), false, 10, 2));
        assert_eq!(shape("0x1fg", 0), (0, None, true, 16, 2));
        assert_eq!(shape("0xg", 16), (0, None, false, 16, 1));
        assert_eq!(shape("0778", 0), (0, None, false, 8, 3));
        assert_eq!(shape("+", 10), (0, Some(b'+'), false, 10, 0));
        assert_eq!(shape("zZ!", 36), (0, None, false, 36, 2));
        assert_eq!(Shape::of(b"0b11", 0, true).base, 2);
    }
}
