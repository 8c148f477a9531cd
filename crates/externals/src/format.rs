//! Parser for the format strings of `printf` and `scanf`.
//!
//! The parser iterates over the format's bytes and yields literal text and conversions, each with
//! the numbers of its arguments (counted from the first variadic one). With it, the recorder finds
//! the arguments that are strings or addresses of results. The replayer formats with it and knows
//! which argument produced which bytes.
//!
//! ```
//! use externals::format::{Parser, Piece};
//! let mut pieces = Parser::printf(b"n=%-5d!");
//! assert_eq!(pieces.next(), Some(Piece::Literal { start: 0, end: 2 }));
//! let Some(Piece::Conversion(c)) = pieces.next() else { panic!() };
//! assert_eq!((c.kind, c.left, c.arg), (b'd', true, Some(0)));
//! ```

/// A number in a format: absent, literal, or taken from an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// Absent.
    None,
    /// Digits in the format.
    Fixed(u32),
    /// `*`: the argument with this number.
    Arg(u32),
}

/// The length modifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// No modifier: an `int`, or a `double` in `printf`.
    None,
    /// `hh`
    Char,
    /// `h`
    Short,
    /// `l`
    Long,
    /// `ll`, `q`
    LongLong,
    /// `L`
    LongDouble,
    /// `j`
    Max,
    /// `z`
    Size,
    /// `t`
    Diff,
}

impl Size {
    /// Bytes of an integer with this modifier.
    #[must_use]
    pub fn bytes(self) -> u64 {
        match self {
            Size::Char => 1,
            Size::Short => 2,
            Size::None => 4,
            _ => 8,
        }
    }
}

/// One `%...`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conversion {
    /// Start offset in the format.
    pub start: usize,
    /// End offset in the format, exclusive.
    pub end: usize,
    /// The conversion letter. `S` and `C` are converted to `ls` and `lc`.
    pub kind: u8,
    /// The length modifier.
    pub size: Size,
    /// Number of the argument it formats. `%%`, `%m` and (in `scanf`) `%*d` have none.
    pub arg: Option<u32>,
    /// Minimal width of output, maximal width of input.
    pub width: Number,
    /// Digits or bytes of output; [`Number::None`] in `scanf`.
    pub precision: Number,
    /// `-`: padded on the right.
    pub left: bool,
    /// `+`: positive numbers get a sign.
    pub plus: bool,
    /// A blank: positive numbers get a blank in place of a sign.
    pub space: bool,
    /// `#`: with the prefix of the radix, or always with a decimal point.
    pub alternate: bool,
    /// `0`: padded with zeros instead of blanks.
    pub zero: bool,
    /// `'`: thousands are grouped.
    pub grouped: bool,
    /// `scanf`: `m`, the argument points to a pointer that gets a new buffer.
    pub allocate: bool,
}

/// A part of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    /// A range of the format that is copied literally.
    Literal {
        /// Start offset in the format.
        start: usize,
        /// End offset in the format, exclusive.
        end: usize,
    },
    /// Bytes that convert an argument, or stand for other bytes (`%%`).
    Conversion(Conversion),
}

/// Iterator over the pieces. A truncated or unknown conversion ends the iteration with a literal up
/// to the end.
#[derive(Clone, Debug)]
pub struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    next_arg: u32,
    input: bool,
}

impl<'a> Parser<'a> {
    /// Parses a format of `printf`, without its NUL.
    #[must_use]
    pub fn printf(text: &'a [u8]) -> Self {
        Parser { text, at: 0, next_arg: 0, input: false }
    }

    /// Parses a format of `scanf`, without its NUL.
    #[must_use]
    pub fn scanf(text: &'a [u8]) -> Self {
        Parser { text, at: 0, next_arg: 0, input: true }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let hit = self.peek() == Some(byte);
        self.at += usize::from(hit);
        hit
    }

    fn digits(&mut self) -> Option<u32> {
        let start = self.at;
        let mut value = 0u32;
        while let Some(d @ b'0'..=b'9') = self.peek() {
            value = value.saturating_mul(10).saturating_add(u32::from(d - b'0'));
            self.at += 1;
        }
        (self.at > start).then_some(value)
    }

    /// `digits$`, the 1-based number of an argument.
    fn position(&mut self) -> Option<u32> {
        let start = self.at;
        if let Some(n @ 1..) = self.digits()
            && self.take(b'$')
        {
            return Some(n - 1);
        }
        self.at = start;
        None
    }

    fn next_arg(&mut self) -> u32 {
        self.next_arg += 1;
        self.next_arg - 1
    }

    fn number(&mut self) -> Number {
        if self.take(b'*') {
            let position = self.position();
            return Number::Arg(position.unwrap_or_else(|| self.next_arg()));
        }
        self.digits().map_or(Number::None, Number::Fixed)
    }

    fn size(&mut self) -> Size {
        let two = |p: &mut Self, byte, double, single| if p.take(byte) { double } else { single };
        let Some(letter) = self.peek() else { return Size::None };
        self.at += 1;
        match letter {
            b'h' => two(self, b'h', Size::Char, Size::Short),
            b'l' => two(self, b'l', Size::LongLong, Size::Long),
            b'q' => Size::LongLong,
            b'L' => Size::LongDouble,
            b'j' => Size::Max,
            b'z' | b'Z' => Size::Size,
            b't' => Size::Diff,
            _ => {
                self.at -= 1;
                Size::None
            }
        }
    }

    fn conversion(&mut self) -> Option<Conversion> {
        let start = self.at;
        self.at += 1;
        let mut c = Conversion {
            start,
            end: start,
            kind: 0,
            size: Size::None,
            arg: None,
            width: Number::None,
            precision: Number::None,
            left: false,
            plus: false,
            space: false,
            alternate: false,
            zero: false,
            grouped: false,
            allocate: false,
        };
        let position = self.position();
        let mut skipped = false;
        if self.input {
            skipped = self.take(b'*');
            c.grouped = self.take(b'\'');
            c.width = self.digits().map_or(Number::None, Number::Fixed);
            c.allocate = self.take(b'm');
        } else {
            while let Some(flag) = self.peek() {
                match flag {
                    b'-' => c.left = true,
                    b'+' => c.plus = true,
                    b' ' => c.space = true,
                    b'#' => c.alternate = true,
                    b'0' => c.zero = true,
                    b'\'' => c.grouped = true,
                    b'I' => {}
                    _ => break,
                }
                self.at += 1;
            }
            c.width = self.number();
            if self.take(b'.') {
                c.precision = match self.number() {
                    Number::None => Number::Fixed(0),
                    given => given,
                };
            }
        }
        c.size = self.size();
        c.kind = self.peek()?;
        self.at += 1;
        if self.input && c.kind == b'[' {
            self.take(b'^');
            self.take(b']');
            while self.peek()? != b']' {
                self.at += 1;
            }
            self.at += 1;
        }
        (c.kind, c.size) = match c.kind {
            b'S' => (b's', Size::Long),
            b'C' => (b'c', Size::Long),
            other => (other, c.size),
        };
        match c.kind {
            b'd' | b'i' | b'o' | b'u' | b'x' | b'X' | b'c' | b's' | b'p' | b'n' | b'e' | b'E' | b'f'
            | b'F' | b'g' | b'G' | b'a' | b'A' | b'b' | b'B' | b'[' => {
                if !skipped {
                    c.arg = Some(position.unwrap_or_else(|| self.next_arg()));
                }
            }
            b'%' | b'm' => {}
            _ => return None,
        }
        c.end = self.at;
        Some(c)
    }
}

impl Iterator for Parser<'_> {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        let start = self.at;
        let rest = self.text.get(start..)?;
        if rest.is_empty() {
            return None;
        }
        let literal = rest.iter().position(|&b| b == b'%').unwrap_or(rest.len());
        if literal > 0 {
            self.at += literal;
            return Some(Piece::Literal { start, end: self.at });
        }
        if let Some(c) = self.conversion() {
            return Some(Piece::Conversion(c));
        }
        self.at = self.text.len();
        Some(Piece::Literal { start, end: self.at })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn conversions(pieces: Parser<'_>) -> Vec<Conversion> {
        pieces.filter_map(|p| if let Piece::Conversion(c) = p { Some(c) } else { None }).collect()
    }

    #[test]
    fn arguments_are_counted() {
        let c = conversions(Parser::printf(b"%*.*f %% %s %3$d %n"));
        assert_eq!(c[0].width, Number::Arg(0));
        assert_eq!(c[0].precision, Number::Arg(1));
        assert_eq!(c[0].arg, Some(2));
        assert_eq!(c[1].arg, None);
        assert_eq!((c[2].kind, c[2].arg), (b's', Some(3)));
        assert_eq!(c[3].arg, Some(2));
        assert_eq!((c[4].kind, c[4].arg), (b'n', Some(4)));
    }

    #[test]
    fn sizes_and_flags() {
        let c = conversions(Parser::printf(b"%-+ #0'12.5lld%hhx%zu%Lf%S%.s"));
        assert!(c[0].left && c[0].plus && c[0].space && c[0].alternate && c[0].zero && c[0].grouped);
        assert_eq!((c[0].width, c[0].precision), (Number::Fixed(12), Number::Fixed(5)));
        let sizes: Vec<_> = c.iter().map(|c| c.size).collect();
        let want = [Size::LongLong, Size::Char, Size::Size, Size::LongDouble, Size::Long, Size::None];
        assert_eq!(sizes, want);
        assert_eq!(c[5].precision, Number::Fixed(0));
    }

    #[test]
    fn scanf_sets_and_skips() {
        let c = conversions(Parser::scanf(b"%*d %[]a-z] %3c%ms"));
        assert_eq!(c[0].arg, Option::None);
        assert_eq!((c[1].kind, c[1].arg), (b'[', Some(0)));
        assert_eq!((c[2].width, c[2].arg), (Number::Fixed(3), Some(1)));
        assert!(c[3].allocate);
    }

    #[test]
    fn pieces_tile_the_format() {
        for text in [&b"a%db%"[..], b"%", b"%%%", b"x%5", b"%y tail", b"", b"%[", b"%1$"] {
            for parser in [Parser::printf(text), Parser::scanf(text)] {
                let mut at = 0;
                for piece in parser {
                    let (start, end) = match piece {
                        Piece::Literal { start, end } => (start, end),
                        Piece::Conversion(c) => (c.start, c.end),
                    };
                    assert_eq!(start, at);
                    assert!(end > start);
                    at = end;
                }
                assert_eq!(at, text.len());
            }
        }
    }
}
