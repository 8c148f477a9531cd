//! Parses C constants and string literals.

use crate::ast::ExprKind;

/// Parses a number; `None` if it is not a valid C constant.
pub(crate) fn number(text: &str) -> Option<ExprKind> {
    let lower = text.to_ascii_lowercase().replace('\'', "");
    let hexadecimal = lower.starts_with("0x");
    let is_float = lower.contains('.') || (!hexadecimal && lower.contains('e'));
    if is_float && !hexadecimal {
        let (digits, bytes) = match lower.strip_suffix('f') {
            Some(digits) => (digits, 4),
            None => (lower.as_str(), 8),
        };
        let value = digits.parse::<f64>().ok()?;
        let value = if bytes == 4 { f64::from(value as f32) } else { value };
        return Some(ExprKind::Float { value, bytes });
    }
    let digits = lower.trim_end_matches(['u', 'l']);
    let suffix = &lower[digits.len()..];
    if suffix.matches('u').count() > 1 || suffix.matches('l').count() > 2 {
        return None;
    }
    let (radix, digits) = if let Some(d) = digits.strip_prefix("0x") {
        (16, d)
    } else if let Some(d) = digits.strip_prefix("0b") {
        (2, d)
    } else if digits.len() > 1 && digits.starts_with('0') {
        (8, &digits[1..])
    } else {
        (10, digits)
    };
    let value = u64::from_str_radix(digits, radix).ok()?;
    let (unsigned, long) = (suffix.contains('u'), suffix.contains('l'));
    // The first type in C's list that can represent the value; decimal constants skip the unsigned
    // ones.
    let candidates = [(4, true), (4, false), (8, true), (8, false)];
    let (bytes, signed) = candidates.into_iter().find(|(bytes, signed)| {
        let bits = 8 * u32::from(*bytes) - u32::from(*signed);
        let fits = u128::from(value) < 1u128 << bits;
        fits && !(unsigned && *signed)
            && !(long && *bytes == 4)
            && (unsigned || *signed || radix != 10 || *bytes == 8)
    })?;
    Some(ExprKind::Integer { value: value.into(), bytes, signed })
}

/// The bytes between the quotes with escapes resolved; `None` for an invalid escape.
pub(crate) fn unescaped(inner: &str) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut rest = inner.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        if first != b'\\' {
            out.push(first);
            continue;
        }
        let (&escape, after) = rest.split_first()?;
        let digits = |bytes: &[u8], most: usize, radix: u32| {
            bytes.iter().take(most).take_while(|b| char::from(**b).is_digit(radix)).count()
        };
        let (byte, taken) = match escape {
            b'n' => (b'\n', 1),
            b't' => (b'\t', 1),
            b'r' => (b'\r', 1),
            b'a' => (7, 1),
            b'b' => (8, 1),
            b'f' => (12, 1),
            b'v' => (11, 1),
            b'e' => (27, 1),
            b'\\' | b'\'' | b'"' | b'?' => (escape, 1),
            b'0'..=b'7' => {
                let n = digits(rest, 3, 8);
                let text = std::str::from_utf8(&rest[..n]).ok()?;
                (u8::try_from(u32::from_str_radix(text, 8).ok()?).ok()?, n)
            }
            b'x' => {
                let n = digits(after, 2, 16);
                let text = std::str::from_utf8(&after[..n]).ok()?;
                (u8::from_str_radix(text, 16).ok()?, n + 1)
            }
            _ => return None,
        };
        out.push(byte);
        rest = &rest[taken..];
    }
    Some(out)
}

/// A character constant, with its quotes. It has type `int`.
pub(crate) fn character(text: &str) -> Option<ExprKind> {
    let inner = text.strip_prefix('\'')?.strip_suffix('\'')?;
    match unescaped(inner)?.as_slice() {
        [byte] => Some(ExprKind::Integer { value: byte.cast_signed().into(), bytes: 4, signed: true }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_have_the_types_of_c() {
        let int = |text| match number(text) {
            Some(ExprKind::Integer { value, bytes, signed }) => Some((value, bytes, signed)),
            _ => None,
        };
        assert_eq!(int("0"), Some((0, 4, true)));
        assert_eq!(int("2147483648"), Some((1 << 31, 8, true)));
        assert_eq!(int("0x80000000"), Some((1 << 31, 4, false)));
        assert_eq!(int("017"), Some((15, 4, true)));
        assert_eq!(int("0b101u"), Some((5, 4, false)));
        assert_eq!(int("1UL"), Some((1, 8, false)));
        assert_eq!(int("0xffffffffffffffff"), Some((u64::MAX.into(), 8, false)));
        assert_eq!(int("1lll"), None);
        assert_eq!(number("1.5f"), Some(ExprKind::Float { value: 1.5, bytes: 4 }));
        assert_eq!(number("1e3"), Some(ExprKind::Float { value: 1000.0, bytes: 8 }));
    }

    #[test]
    fn escapes_are_resolved() {
        assert_eq!(unescaped(r#"a\n\x41\101\"\0"#).as_deref(), Some(&b"a\nAA\"\0"[..]));
        assert_eq!(unescaped(r"\q"), None);
        assert_eq!(unescaped("\\"), None);
        assert_eq!(character("'\\xff'"), Some(ExprKind::Integer { value: -1, bytes: 4, signed: true }));
        assert_eq!(character("'ab'"), None);
    }
}
