//! Splits lines into tokens, so that two runs can be compared part by part.

use super::clock::timestamp;
use serde::Serialize;

/// The kind of characters in a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Blanks. One precedes each word, number, address and time, though it may be empty: `[ 9/10]` and
    /// `[10/10]` have the same tokens.
    Space,
    Word,
    Number,
    /// `0x7ffc...`
    Address,
    Time,
    /// One or more of the same sign: `=====` is one token, because such a row pads a line to a width.
    Mark(u8),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub class: Class,
    pub text: &'a [u8],
}

/// The kind of text at a position that differs from run to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Kind {
    Number,
    Address,
    Time,
    Name,
    /// Blanks or a row of signs of varying length.
    Padding,
}

impl Kind {
    pub fn accepts(self, class: Class) -> bool {
        match self {
            Kind::Number => class == Class::Number,
            Kind::Address => class == Class::Address,
            Kind::Time => class == Class::Time,
            Kind::Name => matches!(class, Class::Word | Class::Number | Class::Address),
            Kind::Padding => matches!(class, Class::Space | Class::Mark(_)),
        }
    }

    /// The kind of two tokens at the same position.
    pub fn of(a: Class, b: Class) -> Kind {
        match (a, b) {
            (Class::Space | Class::Mark(_), _) => Kind::Padding,
            (Class::Number, Class::Number) => Kind::Number,
            (Class::Address, Class::Address) => Kind::Address,
            (Class::Time, _) => Kind::Time,
            _ => Kind::Name,
        }
    }

    pub fn join(self, other: Kind) -> Kind {
        if self == other { self } else { Kind::Name }
    }

    pub fn word(self) -> &'static str {
        match self {
            Kind::Number => "number",
            Kind::Address => "address",
            Kind::Time => "time",
            Kind::Name => "name",
            Kind::Padding => "padding",
        }
    }
}

/// Units that directly follow a number.
const UNITS: [&str; 25] = [
    "s", "sec", "secs", "second", "seconds", "ms", "msec", "us", "usec", "ns", "min", "m", "h", "k", "K",
    "M", "G", "B", "kB", "KB", "MB", "GB", "KiB", "MiB", "x",
];

/// Units of durations, directly after a number or after a blank.
pub(super) const DURATIONS: [&str; 13] =
    ["s", "sec", "secs", "second", "seconds", "ms", "msec", "us", "usec", "ns", "min", "minute", "minutes"];

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b
}

pub(super) fn tokens(line: &[u8]) -> Vec<Token<'_>> {
    let mut found: Vec<Token> = Vec::new();
    if line.len() >= super::LONG_LINE {
        return vec![Token { class: Class::Word, text: line }];
    }
    let mut at = 0;
    while at < line.len() {
        let rest = &line[at..];
        let run = |is: &dyn Fn(u8) -> bool| rest.iter().take_while(|b| is(**b)).count();
        if is_space(rest[0]) {
            let text = &rest[..run(&is_space)];
            found.push(Token { class: Class::Space, text });
            at += text.len();
            continue;
        }
        let opens = at == 0 || is_space(line[at - 1]) || b"=(:,[<>".contains(&line[at - 1]);
        let signed = b"+-".contains(&rest[0]) && opens && number(rest).is_some();
        if !is_word(rest[0]) && !signed {
            let text = &rest[..run(&|b| b == rest[0])];
            found.push(Token { class: Class::Mark(rest[0]), text });
            at += text.len();
            continue;
        }
        if found.last().is_none_or(|t| t.class != Class::Space) {
            found.push(Token { class: Class::Space, text: &rest[..0] });
        }
        let (class, length) = match (timestamp(line, at), number(rest)) {
            (0, Some((length, unit))) => {
                found.push(Token { class: Class::Number, text: &rest[..length] });
                if unit > 0 {
                    found.push(Token { class: Class::Word, text: &rest[length..length + unit] });
                }
                at += length + unit;
                continue;
            }
            (0, None) => {
                let length = run(&is_word);
                let hex = rest[..length].strip_prefix(b"0x").filter(|h| !h.is_empty());
                let is_hex = hex.is_some_and(|h| h.iter().all(u8::is_ascii_hexdigit));
                (if is_hex { Class::Address } else { Class::Word }, length)
            }
            (length, _) => (Class::Time, length),
        };
        found.push(Token { class, text: &rest[..length] });
        at += length;
    }
    found
}

/// Length of the number at the beginning, and of its unit. Digits followed by other letters are not a number:
/// they are part of a name.
fn number(text: &[u8]) -> Option<(usize, usize)> {
    let digits =
        |at: usize| text.get(at..).map_or(0, |t| t.iter().take_while(|b| b.is_ascii_digit()).count());
    let sign = usize::from(b"+-".contains(text.first()?));
    let whole = digits(sign);
    if whole == 0 {
        return None;
    }
    let mut end = sign + whole;
    if text.get(end) == Some(&b'.') && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
    }
    // As printf writes it, with one digit before the point; others are parts of identifiers.
    let exponent = text.get(end..end + 2).is_some_and(|e| b"eE".contains(&e[0]) && b"+-".contains(&e[1]));
    if exponent && whole == 1 && digits(end + 2) >= 2 {
        end += 2 + digits(end + 2);
    }
    let rest = &text[end..];
    let unit = &rest[..rest.iter().take_while(|b| is_word(**b)).count()];
    (unit.is_empty() || UNITS.iter().any(|u| u.as_bytes() == unit)).then_some((end, unit.len()))
}

/// One byte for each token: lines of different shapes cannot be matched token by token.
pub(super) fn shape(tokens: &[Token]) -> Vec<u8> {
    let letter = |token: &Token| match token.class {
        Class::Space => b' ',
        Class::Word | Class::Number | Class::Address => b'w',
        Class::Time => b't',
        Class::Mark(sign) => sign,
    };
    tokens.iter().map(letter).collect()
}

/// The line without what often differs: numbers, and optionally those within words. Lines that agree in this
/// are assumed to be the same line of two runs.
pub(super) fn general(tokens: &[Token], within_words: bool) -> Vec<u8> {
    let mut text = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        // Blanks before a number vary with its width.
        let padding = tokens.get(at + 1).is_some_and(|next| next.class == Class::Number);
        match token.class {
            Class::Space if token.text.is_empty() || padding => {}
            Class::Space => text.push(b' '),
            Class::Number => text.push(b'#'),
            Class::Address => text.push(b'@'),
            Class::Time => text.push(b'%'),
            Class::Mark(sign) => text.push(sign),
            Class::Word if !within_words => text.extend_from_slice(token.text),
            Class::Word => {
                for part in token.text.chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit()) {
                    text.extend_from_slice(if part[0].is_ascii_digit() { b"#" } else { part });
                }
            }
        }
    }
    text
}

/// Whether a text contains letters, not only digits and signs.
pub(super) fn has_letters(text: &[u8]) -> bool {
    text.iter().any(|b| b.is_ascii_alphabetic() || *b >= 0x80)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(line: &str) -> Vec<String> {
        let solid = tokens(line.as_bytes()).into_iter().filter(|t| t.class != Class::Space);
        solid.map(|t| format!("{:?} {}", t.class, String::from_utf8_lossy(t.text))).collect()
    }

    #[test]
    fn numbers_and_names_are_told_apart() {
        assert_eq!(shown("in 0.01s"), ["Word in", "Number 0.01", "Word s"]);
        assert_eq!(shown("x=-1.5e-05"), ["Word x", "Mark(61) =", "Number -1.5e-05"]);
        assert_eq!(shown("7f3a 12ab a12"), ["Word 7f3a", "Word 12ab", "Word a12"]);
        assert_eq!(shown("0x7ffe0 0xyz"), ["Address 0x7ffe0", "Word 0xyz"]);
        assert_eq!(shown("==== at 12:30:01"), ["Mark(61) ====", "Word at", "Time 12:30:01"]);
        assert_eq!(shape(&tokens(b"[ 9/10] x")), shape(&tokens(b"[10/10] x")));
    }

    proptest! {
        #[test]
        fn tokens_are_the_line(line in "[ -~\t]{0,60}") {
            let found = tokens(line.as_bytes());
            prop_assert_eq!(found.iter().flat_map(|t| t.text.to_vec()).collect::<Vec<_>>(), line.as_bytes());
        }
    }
}
