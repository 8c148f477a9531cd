//! Re-evaluates `printf`: computes the bytes that a formatted output call wrote from its arguments, and which
//! argument produced which bytes.

use crate::decimal::{Class, Real, digits, hexadecimal};
use crate::memory::Memory;
use externals::format::{Conversion, Number, Parser, Piece, Size};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Maximal length of a string or padding; a damaged recording may request more than there is memory.
const MAX_FIELD: usize = 1 << 26;

/// Source of the arguments. Numbers count from the first variadic one.
pub trait Arguments {
    /// An integer or pointer, also a width or precision; bits beyond the argument's type are arbitrary.
    fn int(&mut self, number: u32) -> u64;
    /// Bits of a `double`.
    fn double(&mut self, number: u32) -> u64;
    /// Bits of a `long double`.
    fn long_double(&mut self, number: u32) -> u128;
}

/// A part of the output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Bytes of the output.
    pub output: Range<usize>,
    /// Bytes of the format.
    pub format: Range<usize>,
    /// The argument that was formatted; `None` for text of the format itself.
    pub arg: Option<u32>,
}

/// The output of one call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Formatted {
    /// All bytes of the output.
    pub bytes: Vec<u8>,
    /// In the order of the output; parts that produced no bytes are omitted.
    pub parts: Vec<Part>,
    /// The output depends on state that is not in the recording (`%m`).
    pub uncertain: bool,
}

/// Formats as the C library does in the C locale.
pub fn format(text: &[u8], arguments: &mut dyn Arguments, memory: &Memory) -> Formatted {
    let mut out = Formatted::default();
    for piece in Parser::printf(text) {
        let start = out.bytes.len();
        let (range, arg) = match piece {
            Piece::Literal { start, end } => {
                out.bytes.extend_from_slice(text.get(start..end).unwrap_or_default());
                (start..end, None)
            }
            Piece::Conversion(c) => {
                convert(&c, arguments, memory, &mut out);
                (c.start..c.end, c.arg)
            }
        };
        let end = out.bytes.len();
        if end > start {
            out.parts.push(Part { output: start..end, format: range, arg });
        }
    }
    out
}

struct Field {
    width: usize,
    left: bool,
    zero: bool,
    /// `%#o`: the first digit is a zero.
    octal: bool,
}

impl Field {
    /// Sign or prefix, then digits: padded with spaces outside or zeros inside.
    fn put(&self, prefix: &str, body: &[u8], out: &mut Vec<u8>) {
        let pad = self.width.saturating_sub(prefix.len() + body.len());
        let spaces = |out: &mut Vec<u8>| out.extend(std::iter::repeat_n(b' ', pad));
        if !self.left && !self.zero {
            spaces(out);
        }
        out.extend_from_slice(prefix.as_bytes());
        if !self.left && self.zero {
            out.extend(std::iter::repeat_n(b'0', pad));
        }
        out.extend_from_slice(body);
        if self.left {
            spaces(out);
        }
    }
}

fn convert(c: &Conversion, arguments: &mut dyn Arguments, memory: &Memory, out: &mut Formatted) {
    let mut left = c.left;
    let width = match c.width {
        Number::None => 0,
        Number::Fixed(n) => n as usize,
        Number::Arg(n) => {
            let n = (arguments.int(n) as u32).cast_signed();
            left |= n < 0;
            n.unsigned_abs() as usize
        }
    };
    let precision = match c.precision {
        Number::None => None,
        Number::Fixed(n) => Some(n as usize),
        Number::Arg(n) => usize::try_from((arguments.int(n) as u32).cast_signed()).ok(),
    };
    let precision = precision.map(|p| p.min(MAX_FIELD));
    let mut field = Field { width: width.min(MAX_FIELD), left, zero: c.zero && !left, octal: false };
    let arg = c.arg.unwrap_or(0);
    match c.kind {
        b'%' => out.bytes.push(b'%'),
        b'd' | b'i' => {
            let v = signed(arguments.int(arg), c.size);
            let sign = sign_of(v < 0, c);
            integer(&mut field, sign, v.unsigned_abs(), 10, false, precision, out);
        }
        b'u' | b'o' | b'x' | b'X' | b'b' | b'B' => {
            let v = unsigned(arguments.int(arg), c.size);
            let (radix, prefix) = match c.kind {
                b'u' => (10, ""),
                b'o' => (8, ""),
                b'x' => (16, "0x"),
                b'X' => (16, "0X"),
                b'b' => (2, "0b"),
                _ => (2, "0B"),
            };
            let prefix = if c.alternate && v != 0 { prefix } else { "" };
            field.octal = c.kind == b'o' && c.alternate;
            integer(&mut field, prefix, v, radix, c.kind == b'X', precision, out);
        }
        b'p' => match arguments.int(arg) {
            0 => {
                field.zero = false;
                field.put("", b"(nil)", &mut out.bytes);
            }
            v => {
                let prefix = if c.plus {
                    "+0x"
                } else if c.space {
                    " 0x"
                } else {
                    "0x"
                };
                integer(&mut field, prefix, v, 16, false, precision, out);
            }
        },
        b'c' => {
            let v = arguments.int(arg);
            out.uncertain |= c.size == Size::Long && v > 0x7f;
            field.zero = false;
            field.put("", &[v as u8], &mut out.bytes);
        }
        b's' => {
            field.zero = false;
            let address = arguments.int(arg);
            let body = if address == 0 {
                if precision.is_none_or(|p| p >= 6) { b"(null)".to_vec() } else { Vec::new() }
            } else if c.size == Size::Long {
                wide_string(address, precision.unwrap_or(MAX_FIELD), memory, &mut out.uncertain)
            } else {
                memory.peek_string(address, precision.unwrap_or(MAX_FIELD))
            };
            field.put("", &body, &mut out.bytes);
        }
        b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'a' | b'A' => {
            let real = if c.size == Size::LongDouble {
                Real::from_f80(arguments.long_double(arg))
            } else {
                Real::from_f64(arguments.double(arg))
            };
            float(c, &mut field, real, precision, out);
        }
        b'm' => out.uncertain = true,
        // `%n` writes to memory, not to the output.
        _ => {}
    }
}

fn sign_of(negative: bool, c: &Conversion) -> &'static str {
    if negative {
        "-"
    } else if c.plus {
        "+"
    } else if c.space {
        " "
    } else {
        ""
    }
}

fn signed(v: u64, size: Size) -> i64 {
    let shift = 64 - 8 * size.bytes();
    (v << shift).cast_signed() >> shift
}

fn unsigned(v: u64, size: Size) -> u64 {
    let shift = 64 - 8 * size.bytes();
    v << shift >> shift
}

fn integer(
    field: &mut Field,
    prefix: &str,
    v: u64,
    radix: u64,
    upper: bool,
    precision: Option<usize>,
    out: &mut Formatted,
) {
    let mut body = Vec::new();
    let mut rest = v;
    while rest > 0 {
        let d = (rest % radix) as u8;
        body.push(match d {
            0..=9 => b'0' + d,
            _ if upper => b'A' + d - 10,
            _ => b'a' + d - 10,
        });
        rest /= radix;
    }
    while body.len() < precision.unwrap_or(1) {
        body.push(b'0');
    }
    if field.octal && body.last() != Some(&b'0') {
        body.push(b'0');
    }
    body.reverse();
    // A precision disables the flag.
    field.zero &= precision.is_none();
    field.put(prefix, &body, &mut out.bytes);
}

fn float(c: &Conversion, field: &mut Field, real: Real, precision: Option<usize>, out: &mut Formatted) {
    let upper = c.kind.is_ascii_uppercase();
    let mut sign = sign_of(real.negative, c).to_owned();
    let body = match real.class {
        Class::Nan | Class::Infinite => {
            field.zero = false;
            let word = if real.class == Class::Nan { "nan" } else { "inf" };
            if upper { word.to_uppercase() } else { word.to_owned() }
        }
        Class::Finite { mantissa, exponent } => {
            let p = precision.unwrap_or(6);
            match c.kind.to_ascii_lowercase() {
                b'f' => digits(mantissa, exponent).fixed(p, c.alternate),
                b'e' => digits(mantissa, exponent).scientific(p, c.alternate, upper),
                b'g' => digits(mantissa, exponent).general(p, c.alternate, upper),
                _ => {
                    let text = hexadecimal(real, precision, c.alternate, upper);
                    // Zeros go between `0x` and the digits.
                    sign.push_str(&text[..2]);
                    text[2..].to_owned()
                }
            }
        }
    };
    field.put(&sign, body.as_bytes(), &mut out.bytes);
}

/// In the C locale only ASCII can be converted.
fn wide_string(address: u64, limit: usize, memory: &Memory, uncertain: &mut bool) -> Vec<u8> {
    let mut out = Vec::new();
    while out.len() < limit {
        match memory.peek_word(address.wrapping_add(4 * out.len() as u64), 4) {
            0 => break,
            v @ 1..=0x7f => out.push(v as u8),
            _ => {
                *uncertain = true;
                break;
            }
        }
    }
    out
}
