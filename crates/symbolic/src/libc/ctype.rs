//! Character classes and case conversion in the C locale, as functions and as the tables that the C library's
//! macros index.

use super::{arg, result};
use crate::condition::Reason;
use crate::engine::Engine;
use crate::observer::StepObserver;
use externals::Model;
use replay::observer::{ExternalCall, View};
use solver::{Binary, Flag, Layout, Term, Unary};
use std::rc::Rc;

/// A class: name, bit in the table, ranges of bytes.
type Class = (&'static str, u16, &'static [(u8, u8)]);

const CLASSES: [Class; 12] = [
    ("isupper", 0x100, &[(b'A', b'Z')]),
    ("islower", 0x200, &[(b'a', b'z')]),
    ("isalpha", 0x400, &[(b'A', b'Z'), (b'a', b'z')]),
    ("isdigit", 0x800, &[(b'0', b'9')]),
    ("isxdigit", 0x1000, &[(b'0', b'9'), (b'A', b'F'), (b'a', b'f')]),
    ("isspace", 0x2000, &[(9, 13), (b' ', b' ')]),
    ("isprint", 0x4000, &[(b' ', b'~')]),
    ("isgraph", 0x8000, &[(b'!', b'~')]),
    ("isblank", 0x1, &[(9, 9), (b' ', b' ')]),
    ("iscntrl", 0x2, &[(0, 31), (127, 127)]),
    ("ispunct", 0x4, &[(b'!', b'/'), (b':', b'@'), (b'[', b'`'), (b'{', b'~')]),
    ("isalnum", 0x8, &[(b'0', b'9'), (b'A', b'Z'), (b'a', b'z')]),
];

pub(super) const SPACE: &[(u8, u8)] = &[(9, 13), (b' ', b' ')];

/// The tables have entries for -128 to 255.
const TABLE_OFFSET: u64 = 128;

/// One of the tables.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TableKind {
    Classes,
    Lower,
    Upper,
}

fn kind_of(name: &str) -> TableKind {
    match name {
        "__ctype_b_loc" => TableKind::Classes,
        "__ctype_tolower_loc" => TableKind::Lower,
        _ => TableKind::Upper,
    }
}

fn class_table() -> Vec<u8> {
    let mut table = vec![0; 2 * 384];
    for (_, bit, ranges) in CLASSES {
        for (low, high) in ranges {
            for c in *low..=*high {
                let at = 2 * (TABLE_OFFSET as usize + c as usize);
                let old = u16::from_le_bytes([table[at], table[at + 1]]);
                table[at..at + 2].copy_from_slice(&(old | bit).to_le_bytes());
            }
        }
    }
    table
}

/// The bits of the table of classes, for text.
fn class_flags() -> Vec<Flag> {
    let flag = |(name, bit, _): Class| {
        let [low, high] = bit.to_le_bytes();
        Flag { offset: u64::from(low == 0), mask: low | high, name }
    };
    CLASSES.into_iter().map(flag).collect()
}

fn case_table(low: u8, high: u8) -> Vec<u8> {
    (-128i32..256)
        .flat_map(|c| {
            let c = match c {
                -1 => -1,
                negative if negative < 0 => negative + 256,
                letter if (i32::from(low)..=i32::from(high)).contains(&letter) => letter ^ 0x20,
                other => other,
            };
            c.to_le_bytes()
        })
        .collect()
}

impl<W: StepObserver> Engine<'_, W> {
    /// `__ctype_b_loc` and the like return the address of a pointer to a table.
    pub(super) fn table(&mut self, call: &ExternalCall<'_>, name: &str) -> bool {
        self.overwritten(result(call), 8);
        self.pointers.push((result(call), kind_of(name)));
        true
    }

    /// The address of a thread-local variable became known. The pointers to the tables are thread-local
    /// variables.
    pub(crate) fn thread_local(&mut self, name: &str, address: u64) {
        if name.starts_with("__ctype_") {
            self.pointers.push((address, kind_of(name)));
        }
    }

    /// Adds the tables whose pointers are initialised by now.
    pub(crate) fn tables(&mut self, view: &View<'_>) {
        for (address, kind) in self.pointers.clone() {
            let start = view.memory.peek_word(address, 8);
            if start == 0 {
                continue;
            }
            let (content, size, name) = match kind {
                TableKind::Classes => (class_table(), 2, "ctype_b"),
                TableKind::Lower => (case_table(b'A', b'Z'), 4, "ctype_tolower"),
                TableKind::Upper => (case_table(b'a', b'z'), 4, "ctype_toupper"),
            };
            let flags = if matches!(kind, TableKind::Classes) { class_flags() } else { Vec::new() };
            let layout = Layout {
                name: name.to_owned(),
                stride: size,
                origin: TABLE_OFFSET,
                flags,
                ..Layout::default()
            };
            let start = start.wrapping_sub(TABLE_OFFSET * size);
            self.objects.add_table(start, &Rc::new(content), layout);
            self.pointers.retain(|p| p.0 != address);
        }
    }

    /// Whether a term is in one of the ranges.
    pub(super) fn in_ranges(&mut self, term: Term, ranges: &[(u8, u8)]) -> Term {
        let width = self.world.pool.width(term);
        let mut any = self.constant(1, 0);
        for (low, high) in ranges {
            let (low, high) = (self.constant(width, (*low).into()), self.constant(width, (*high).into()));
            let pool = self.pool();
            let inside = if low == high {
                pool.binary(Binary::Eq, term, low)
            } else {
                let from = pool.binary(Binary::Ule, low, term);
                let to = pool.binary(Binary::Ule, term, high);
                pool.and(from, to)
            };
            any = pool.or(any, inside);
        }
        any
    }

    /// `isdigit` and the like, called as functions.
    pub(super) fn class(&mut self, view: &View<'_>, call: &ExternalCall<'_>, name: &str) -> bool {
        let Some(term) = self.argument(view, call, 0, 32) else { return true };
        let Some((_, bit, ranges)) = CLASSES.iter().find(|c| c.0 == name) else { return false };
        let now = arg(call, 0) as u32;
        let inside = ranges.iter().any(|(low, high)| (u32::from(*low)..=u32::from(*high)).contains(&now));
        let real = result(call) as u32;
        // The recorded number, if it agrees with the C locale; other locales are not followed.
        let yes = match (inside, real) {
            (true, 0) => return false,
            (true, number) => number,
            (false, 0) => (*bit).into(),
            (false, _) => return false,
        };
        let is = self.in_ranges(term, ranges);
        let (yes, no) = (self.constant(32, yes.into()), self.constant(32, 0));
        let term = self.pool().ite(is, yes, no);
        self.assign(view, call.site.dst, 32, Some(term));
        true
    }

    /// Functions of one number.
    pub(super) fn character(&mut self, view: &View<'_>, call: &ExternalCall<'_>, model: Model) -> bool {
        let width = if matches!(model, Model::Labs | Model::Ffsl) { 64 } else { 32 };
        let Some(a) = self.argument(view, call, 0, width) else { return true };
        let term = match model {
            Model::Toupper => self.shifted(a, b'a', b'z'),
            Model::Tolower => self.shifted(a, b'A', b'Z'),
            Model::Abs | Model::Labs => {
                let zero = self.constant(width, 0);
                let pool = self.pool();
                let negative = pool.binary(Binary::Slt, a, zero);
                let minus = pool.unary(Unary::Neg, a);
                pool.ite(negative, minus, a)
            }
            Model::Isascii => {
                let last = self.constant(32, 0x7f);
                let is = self.pool().binary(Binary::Ule, a, last);
                self.fit(is, 32)
            }
            Model::Toascii => {
                let mask = self.constant(32, 0x7f);
                self.pool().binary(Binary::And, a, mask)
            }
            Model::Swap16 | Model::Swap32 => {
                let bytes = if model == Model::Swap16 { 2 } else { 4 };
                let mut term = self.pool().extract(a, 0, 8);
                for i in 1..bytes {
                    let byte = self.pool().extract(a, 8 * i, 8);
                    term = self.pool().concat(term, byte);
                }
                self.fit(term, 32)
            }
            _ => return false,
        };
        let variables = &self.world.variables;
        let ours = self.world.pool.evaluate(term, &|v| variables.value(v));
        let mask = if width == 64 { u64::MAX } else { u64::from(u32::MAX) };
        if ours != u128::from(result(call) & mask) {
            self.concretise_arguments(view, call, &[0], Reason::Detail("another locale than C"));
            return true;
        }
        self.assign(view, call.site.dst, width as u16, Some(term));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_say_what_the_c_locale_says() {
        let table = class_table();
        let entry = |c: i32| {
            let at = 2 * (128 + c) as usize;
            u16::from_le_bytes([table[at], table[at + 1]])
        };
        for c in 0..=127u8 {
            let bits = entry(c.into());
            assert_eq!(bits & 0x100 != 0, c.is_ascii_uppercase(), "{c}");
            assert_eq!(bits & 0x400 != 0, c.is_ascii_alphabetic(), "{c}");
            assert_eq!(bits & 0x800 != 0, c.is_ascii_digit(), "{c}");
            assert_eq!(bits & 0x1000 != 0, c.is_ascii_hexdigit(), "{c}");
            assert_eq!(bits & 0x2000 != 0, c.is_ascii_whitespace() || c == 11, "{c}");
            assert_eq!(bits & 0x8000 != 0, c.is_ascii_graphic(), "{c}");
            assert_eq!(bits & 0x2 != 0, c.is_ascii_control(), "{c}");
            assert_eq!(bits & 0x4 != 0, c.is_ascii_punctuation(), "{c}");
            assert_eq!(bits & 0x8 != 0, c.is_ascii_alphanumeric(), "{c}");
        }
        assert_eq!(entry(-1), 0);
        assert_eq!(entry(200), 0);
        let lower = case_table(b'A', b'Z');
        let at = |c: i32| i32::from_le_bytes(lower[4 * (128 + c) as usize..][..4].try_into().unwrap());
        assert_eq!((at(i32::from(b'Q')), at(i32::from(b'q')), at(-1), at(-2)), (113, 113, -1, 254));
    }
}
