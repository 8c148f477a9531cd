//! `strtod`, `atof` and `%lf`: decimal numbers with a fraction.
//!
//! As with `strtol`, the classes of the bytes (digits, point, exponent) are the path through the function;
//! the number is a term over the digits. Up to 15 digits are an integer that a `double` represents exactly,
//! and so is a power of ten up to 22. Their quotient or product, rounded once, is what the library computes
//! (W. D. Clinger, "How to read floating point numbers accurately", PLDI 1990, calls it the fast path). Other
//! numbers are concretised.

use super::ctype::SPACE;
use super::number::{digit_ranges, is_in};
use super::scan::{NotFollowed, Text};
use super::{arg, result};
use crate::condition::{Kind, Reason};
use crate::engine::Engine;
use crate::observer::StepObserver;
use externals::format::{Conversion, Size};
use replay::observer::{ExternalCall, View};
use solver::{Binary, Float, Term};

/// The parts of a number's text, after leading blanks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Decimal {
    sign: Option<u8>,
    whole: usize,
    point: bool,
    fraction: usize,
    /// Length of the exponent including its letter, and its value.
    exponent: Option<(usize, i32)>,
}

impl Decimal {
    /// Parses a text as `strtod` does. `None` if there is no decimal number, or if an exponent is malformed.
    fn of(text: &[u8]) -> Option<Decimal> {
        let at = |i: usize| text.get(i).copied().unwrap_or(0);
        let digits = |from: usize| text.iter().skip(from).take_while(|b| b.is_ascii_digit()).count();
        let sign = Some(at(0)).filter(|b| matches!(b, b'+' | b'-'));
        let start = usize::from(sign.is_some());
        let whole = digits(start);
        let mut end = start + whole;
        let point = at(end) == b'.';
        end += usize::from(point);
        let fraction = if point { digits(end) } else { 0 };
        end += fraction;
        if whole + fraction == 0 || (at(start) == b'0' && matches!(at(start + 1), b'x' | b'X')) {
            return None;
        }
        let exponent = match at(end) {
            b'e' | b'E' => {
                let minus = at(end + 1) == b'-';
                let signed = usize::from(matches!(at(end + 1), b'+' | b'-'));
                let len = digits(end + 1 + signed);
                let text = text.get(end + 1 + signed..)?.get(..len)?;
                let size: i32 = std::str::from_utf8(text).ok()?.parse().ok()?;
                Some((1 + signed + len, if minus { -size } else { size }))
            }
            _ => None,
        };
        Some(Decimal { sign, whole, point, fraction, exponent })
    }

    fn len(&self) -> usize {
        let exponent = self.exponent.map_or(0, |(len, _)| len);
        usize::from(self.sign.is_some()) + self.whole + usize::from(self.point) + self.fraction + exponent
    }

    /// The power of ten by which the digits, read as an integer, are multiplied.
    fn scale(&self) -> i32 {
        self.exponent.map_or(0, |(_, e)| e).saturating_sub(self.fraction as i32)
    }

    /// Bytes that would continue the number.
    fn continues(&self) -> Vec<(u8, u8)> {
        let mut ranges = digit_ranges(10);
        if self.exponent.is_none() {
            ranges.extend([(b'e', b'e'), (b'E', b'E')]);
            if !self.point {
                ranges.push((b'.', b'.'));
                if self.whole == 1 {
                    ranges.extend([(b'x', b'x'), (b'X', b'X')]);
                }
            }
        }
        ranges
    }
}

impl<W: StepObserver> Engine<'_, W> {
    pub(super) fn decimal(&mut self, view: &View<'_>, call: &ExternalCall<'_>, name: &str) -> bool {
        let from = arg(call, 0);
        let end = if name == "atof" { 0 } else { arg(call, 1) };
        let text = view.memory.peek_string(from, 1 << 16);
        if end != 0 {
            self.overwritten(end, 8);
        }
        self.concretise_arguments(view, call, &[0], Reason::UnknownObject);
        let blanks = text.iter().take_while(|b| is_in(**b, SPACE)).count();
        let shape = text.get(blanks..).and_then(Decimal::of).filter(|_| !self.options.concrete_floats);
        let Some(shape) = shape else {
            let reason = Reason::Detail("a floating-point number that is not followed");
            self.concretise_range(view, from, text.len() as u64 + 1, reason);
            return true;
        };
        if !self.any(from, (blanks + shape.len() + 1) as u64) {
            return true;
        }
        for i in 0..blanks {
            self.byte_in(view, from + i as u64, SPACE, true);
        }
        let start = from + blanks as u64;
        self.assume_decimal_shape(view, start, &shape);
        self.byte_in(view, start + shape.len() as u64, &shape.continues(), false);
        let bits = if name == "strtof" { 32 } else { 64 };
        let read = result(call) & if bits == 32 { u64::from(u32::MAX) } else { u64::MAX };
        if let Some(term) = self.decimal_value(view, start, &shape, bits, read) {
            self.assign(view, call.site.dst, bits as u16, Some(term));
        }
        true
    }

    /// `%lf` and its variants; skips leading blanks.
    pub(super) fn scanned_decimal(
        &mut self,
        view: &View<'_>,
        text: &mut Text,
        c: &Conversion,
        pointer: Option<u64>,
    ) -> Result<bool, NotFollowed> {
        self.blanks(view, text);
        let (most, rest) = text.field(c);
        let bits = match c.size {
            Size::None => 32,
            Size::Long => 64,
            _ => return Err(NotFollowed),
        };
        if self.options.concrete_floats {
            return Err(NotFollowed);
        }
        let shape = Decimal::of(rest).ok_or(NotFollowed)?;
        let from = text.place();
        self.assume_decimal_shape(view, from, &shape);
        text.at += shape.len();
        if shape.len() < most {
            self.expect_outside(view, text, &shape.continues());
        }
        if let Some(pointer) = pointer {
            let read = view.memory.peek_word(pointer, bits as usize / 8);
            if let Some(term) = self.decimal_value(view, from, &shape, bits, read) {
                self.put(view.memory, pointer, u64::from(bits / 8), Some(term));
            }
        }
        Ok(true)
    }

    /// Adds conditions that the text of a number keeps its shape and its exponent.
    fn assume_decimal_shape(&mut self, view: &View<'_>, from: u64, shape: &Decimal) {
        let mut at = from;
        if let Some(sign) = shape.sign {
            self.byte_is(view, at, sign, true);
            at += 1;
        }
        let digits = digit_ranges(10);
        for _ in 0..shape.whole {
            self.byte_in(view, at, &digits, true);
            at += 1;
        }
        if shape.point {
            self.byte_is(view, at, b'.', true);
            at += 1;
        }
        for _ in 0..shape.fraction {
            self.byte_in(view, at, &digits, true);
            at += 1;
        }
        if let Some((len, _)) = shape.exponent {
            self.concretise_range(view, at, len as u64, Reason::Detail("the exponent of a number"));
        }
    }

    /// The term of the number; `None` if it is concretised. `read`: the bits that the library returned.
    fn decimal_value(
        &mut self,
        view: &View<'_>,
        from: u64,
        shape: &Decimal,
        bits: u32,
        read: u64,
    ) -> Option<Term> {
        let start = from + u64::from(shape.sign.is_some());
        let point = start + shape.whole as u64;
        let behind = point + u64::from(shape.point);
        let places = (start..point).chain(behind..behind + shape.fraction as u64);
        // The limits of exactly representable digits and powers of ten.
        let (digits, powers) = if bits == 32 { (7, 10) } else { (15, 22) };
        let scale = shape.scale();
        if shape.whole + shape.fraction > digits || scale.unsigned_abs() > powers {
            self.fixed_digits(view, places);
            return None;
        }
        let (zero, ten) = (self.constant(8, b'0'.into()), self.constant(64, 10));
        let mut value = self.constant(64, 0);
        for place in places.clone() {
            let byte = self.at_byte(view, place);
            let digit = self.pool().binary(Binary::Sub, byte, zero);
            let digit = self.fit(digit, 64);
            let shifted = self.pool().binary(Binary::Mul, value, ten);
            value = self.pool().binary(Binary::Add, shifted, digit);
        }
        let pool = self.pool();
        let number = pool.float(Float::FromUnsigned, bits, value, None);
        let power = pool.float_constant(number, 10f64.powi(scale.abs()));
        let number = match scale {
            0 => number,
            1.. => pool.float(Float::Mul, bits, number, Some(power)),
            _ => pool.float(Float::Div, bits, number, Some(power)),
        };
        let sign = pool.constant(bits, if shape.sign == Some(b'-') { 1 << (bits - 1) } else { 0 });
        let number = pool.binary(Binary::Xor, number, sign);
        let variables = &self.world.variables;
        if self.world.pool.evaluate(number, &|v| variables.value(v)) != u128::from(read) {
            // Another locale or rounding mode.
            self.fixed_digits(view, places);
            return None;
        }
        Some(number)
    }

    fn fixed_digits(&mut self, view: &View<'_>, places: impl Iterator<Item = u64>) {
        for place in places {
            self.concretise_range(view, place, 1, Reason::Detail("a number of many digits"));
        }
    }

    /// `sqrt`, which sets `errno` for negative arguments.
    pub(super) fn square_root(&mut self, view: &View<'_>, call: &ExternalCall<'_>, name: &str) -> bool {
        let bits = if name == "sqrtf" { 32 } else { 64 };
        let Some(term) = self.argument(view, call, 0, bits) else { return true };
        if self.options.concrete_floats {
            return false;
        }
        let zero = self.pool().float_constant(term, 0.0);
        let negative = self.pool().float(Float::Lt, 1, term, Some(zero));
        let variables = &self.world.variables;
        let is = self.world.pool.evaluate(negative, &|v| variables.value(v)) == 1;
        let way = if is { negative } else { self.pool().not(negative) };
        self.assume(view, way, Kind::External, is.into(), None);
        let root = self.pool().float(Float::Sqrt, bits, term, None);
        self.assign(view, call.site.dst, bits as u16, Some(root));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_those_of_strtod() {
        let shape = |text: &str| {
            Decimal::of(text.as_bytes()).map(|d| (d.whole, d.point, d.fraction, d.scale(), d.len()))
        };
        assert_eq!(shape("12.50x"), Some((2, true, 2, -2, 5)));
        assert_eq!(shape("-.5"), Some((0, true, 1, -1, 3)));
        assert_eq!(shape("3."), Some((1, true, 0, 0, 2)));
        assert_eq!(shape("+1e-3,"), Some((1, false, 0, -3, 5)));
        assert_eq!(shape("."), None);
        assert_eq!(shape("1e"), None);
        assert_eq!(shape("0x1p3"), None);
        assert_eq!(shape("nan"), None);
        assert_eq!(shape("1e99999999999"), None);
    }
}
