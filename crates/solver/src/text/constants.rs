//! Numbers and characters.

use crate::semantics;

/// The context in which a constant is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Use {
    /// An operation: a number.
    Plain,
    /// `==`: a byte is a character.
    Equal,
    /// An order: a printable byte is a character.
    Order,
    /// A signed order.
    Signed,
}

pub(super) fn number(width: u32, value: u128, used: Use) -> String {
    if width == 1 && used == Use::Plain {
        return if value == 1 { "true" } else { "false" }.to_owned();
    }
    if width == 8
        && used != Use::Plain
        && let Some(text) = character(value as u8, used == Use::Equal)
    {
        return text;
    }
    if used == Use::Signed {
        let value = semantics::signed(width, value);
        return if value < 0 {
            format!("-{}", unsigned(value.unsigned_abs()))
        } else {
            unsigned(value as u128)
        };
    }
    // A small negative number is most likely what the programmer wrote.
    if used == Use::Equal && width >= 16 && semantics::negative(width, value) {
        let size = semantics::signed(width, value).unsigned_abs();
        if size < 10_000 {
            return format!("-{size}");
        }
    }
    unsigned(value)
}

fn unsigned(value: u128) -> String {
    if value < 100_000 { value.to_string() } else { format!("{value:#x}") }
}

fn character(value: u8, control: bool) -> Option<String> {
    match value {
        b'\'' => Some("'\\''".to_owned()),
        b'\\' => Some("'\\\\'".to_owned()),
        b' '..=b'~' => Some(format!("'{}'", char::from(value))),
        0 if control => Some("'\\0'".to_owned()),
        b'\n' if control => Some("'\\n'".to_owned()),
        b'\r' if control => Some("'\\r'".to_owned()),
        b'\t' if control => Some("'\\t'".to_owned()),
        _ => None,
    }
}

/// Bytes as a C string, if all can be printed.
pub(super) fn string(bytes: &[u8]) -> Option<String> {
    let mut text = String::from("\"");
    for &byte in bytes {
        match byte {
            b'"' => text.push_str("\\\""),
            b'\\' => text.push_str("\\\\"),
            b'\n' => text.push_str("\\n"),
            b'\t' => text.push_str("\\t"),
            b' '..=b'~' => text.push(char::from(byte)),
            _ => return None,
        }
    }
    text.push('"');
    Some(text)
}
