//! Adjacent bytes of one input.

use crate::node::{Node, Term};

use super::Writer;

/// Splits a name like `stdin[3]`.
fn place(name: &str) -> Option<(&str, u64)> {
    let (base, index) = name.strip_suffix(']')?.rsplit_once('[')?;
    let digits = !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit());
    if digits && !base.is_empty() { Some((base, index.parse().ok()?)) } else { None }
}

/// A range of bytes of one input: the input, the first, and one past the last.
pub(super) struct Range {
    pub base: String,
    pub start: u64,
    pub end: u64,
}

impl Writer<'_> {
    fn byte_name(&self, t: Term) -> Option<String> {
        match self.pool.node(t) {
            Node::Variable(index) if self.pool.width(t) == 8 => Some((self.name)(index)),
            _ => None,
        }
    }

    /// The range of these bytes, if they are adjacent and ascending.
    pub(super) fn range(&self, bytes: impl IntoIterator<Item = Term>) -> Option<Range> {
        let mut range: Option<Range> = None;
        for byte in bytes {
            let name = self.byte_name(byte)?;
            let (base, index) = place(&name)?;
            match &mut range {
                None => {
                    range = Some(Range { base: base.to_owned(), start: index, end: index.checked_add(1)? })
                }
                Some(range) if range.base == base && range.end == index => {
                    range.end = index.checked_add(1)?
                }
                Some(_) => return None,
            }
        }
        range
    }

    /// A concatenation of adjacent bytes as a number: `u32(stdin[4..8])`, `u32be(…)` if the first byte is
    /// the highest.
    pub(super) fn input_bytes(&self, t: Term) -> Option<String> {
        if !matches!(self.pool.node(t), Node::Concat(..)) {
            return None;
        }
        // From the highest to the lowest.
        let parts = self.concat_parts(t);
        let width = self.pool.width(t);
        if let Some(Range { base, start, end }) = self.range(parts.iter().rev().copied()) {
            return Some(format!("u{width}({base}[{start}..{end}])"));
        }
        let Range { base, start, end } = self.range(parts)?;
        Some(format!("u{width}be({base}[{start}..{end}])"))
    }
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn places_are_the_last_brackets() {
        assert_eq!(place("stdin[3]"), Some(("stdin", 3)));
        assert_eq!(place("argv[1][0]"), Some(("argv[1]", 0)));
        for name in ["x", "[3]", "x[]", "x[a]", "x[-1]", "x[3", "x[99999999999999999999]", "x[+1]", ""] {
            assert_eq!(place(name), None, "{name}");
        }
    }
}
