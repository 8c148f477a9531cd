use proptest::prelude::*;

use crate::testing::{Built, steps};
use crate::{Array, Binary, Field, Flag, Layout, Pool, Term, Unary};
use std::sync::Arc;

/// Bytes from 0 are `stdin`, bytes from 100 the first argument.
fn name(index: u32) -> String {
    match index {
        0..100 => format!("stdin[{index}]"),
        _ => format!("argv[1][{}]", index - 100),
    }
}

struct TextFixture(Pool);

impl TextFixture {
    fn byte(&mut self, index: u32) -> Term {
        self.0.variable(index, 8)
    }

    fn number(&mut self, width: u32, value: i128) -> Term {
        self.0.constant(width, value as u128)
    }

    fn with(&mut self, op: Binary, a: Term, value: i128) -> Term {
        let k = self.number(self.0.width(a), value);
        self.0.binary(op, a, k)
    }

    fn word(&mut self, bytes: &[u32]) -> Term {
        let mut word = self.byte(bytes[0]);
        for &index in &bytes[1..] {
            let byte = self.byte(index);
            word = self.0.concat(byte, word);
        }
        word
    }

    fn shows(&self, t: Term, text: &str) {
        assert_eq!(self.0.text(t, &name, 200), text);
    }
}

#[test]
fn comparisons_read_like_source() {
    let mut d = TextFixture(Pool::new());
    let x = d.byte(3);
    let t = d.with(Binary::Eq, x, 97);
    d.shows(t, "stdin[3] == 'a'");
    let t = d.0.not(t);
    d.shows(t, "stdin[3] != 'a'");
    let t = d.with(Binary::Eq, x, 10);
    d.shows(t, "stdin[3] == '\\n'");
    let t = d.with(Binary::Eq, x, 0);
    d.shows(t, "stdin[3] == '\\0'");
    let t = d.with(Binary::Eq, x, 200);
    d.shows(t, "stdin[3] == 200");
    let t = d.with(Binary::Ule, x, 57);
    d.shows(t, "stdin[3] <= '9'");
    let t = d.0.not(t);
    d.shows(t, "stdin[3] >= ':'");
    let y = d.byte(104);
    let t = d.0.binary(Binary::Ult, x, y);
    d.shows(t, "stdin[3] < argv[1][4]");
    let t = d.0.binary(Binary::Slt, x, y);
    d.shows(t, "i8(stdin[3]) < i8(argv[1][4])");
    let t = d.with(Binary::Slt, x, 0);
    d.shows(t, "i8(stdin[3]) < 0");
    let wide = d.0.zext(x, 32);
    let moved = d.with(Binary::Add, wide, -48);
    let t = d.with(Binary::Ult, moved, 10);
    d.shows(t, "'0' <= stdin[3] && stdin[3] <= '9'");
    let t = d.with(Binary::Slt, moved, 10);
    d.shows(t, "i32(stdin[3] - 48) <= 9");
}

#[test]
fn numbers_made_of_bytes_are_shown_as_one() {
    let mut d = TextFixture(Pool::new());
    let little = d.word(&[4, 5, 6, 7]);
    let t = d.with(Binary::Eq, little, 0x7fff_ffff);
    // Compared with a constant, the bytes are compared one by one.
    d.shows(t, "stdin[7] == 127 && stdin[6] == 255 && stdin[5] == 255 && stdin[4] == 255");
    let t = d.with(Binary::Ule, little, 1000);
    d.shows(t, "u32(stdin[4..8]) <= 1000");
    let big = d.word(&[3, 2]);
    let wide = d.0.zext(big, 64);
    let t = d.with(Binary::Add, wide, 1);
    d.shows(t, "u16be(stdin[2..4]) + 1");
    let mixed = d.word(&[1, 3]);
    d.shows(mixed, "stdin[3] << 8 | stdin[1]");
    let signed = d.0.sext(little, 64);
    d.shows(signed, "i32(u32(stdin[4..8]))");
}

#[test]
fn arithmetic_has_few_parentheses() {
    let mut d = TextFixture(Pool::new());
    let (a, b) = (d.word(&[0, 1, 2, 3]), d.word(&[4, 5, 6, 7]));
    let sum = d.0.binary(Binary::Add, a, b);
    let product = d.0.binary(Binary::Mul, sum, b);
    d.shows(product, "u32(stdin[4..8]) * (u32(stdin[0..4]) + u32(stdin[4..8]))");
    let ten = d.with(Binary::Mul, a, 10);
    let t = d.0.binary(Binary::Add, ten, b);
    d.shows(t, "u32(stdin[4..8]) + u32(stdin[0..4]) * 10");
    let t = d.with(Binary::SDiv, sum, 7);
    d.shows(t, "i32(u32(stdin[0..4]) + u32(stdin[4..8])) / 7");
    let t = d.with(Binary::And, sum, 0x14);
    let t = d.with(Binary::Eq, t, 4);
    d.shows(t, "(u32(stdin[0..4]) + u32(stdin[4..8]) & 20) == 4");
    let t = d.with(Binary::LShr, sum, 3);
    d.shows(t, "u32(stdin[0..4]) + u32(stdin[4..8]) >> 3");
    let t = d.with(Binary::AShr, sum, 3);
    d.shows(t, "i32(u32(stdin[0..4]) + u32(stdin[4..8])) >> 3");
    let t = d.with(Binary::Shl, sum, 3);
    d.shows(t, "u32(stdin[0..4]) + u32(stdin[4..8]) << 3");
    let t = d.with(Binary::And, sum, 1);
    d.shows(t, "u32(stdin[0..4]) + u32(stdin[4..8]) & 1");
    let t = d.0.extract(sum, 0, 8);
    d.shows(t, "u8(stdin[0] + stdin[4])");
    let x = d.byte(9);
    let less = d.with(Binary::Add, x, -32);
    let t = d.with(Binary::Eq, less, 65);
    d.shows(t, "stdin[9] == 'a'");
    let wide = d.0.zext(less, 32);
    d.shows(wide, "u8(stdin[9] - 32)");
    let t = d.0.unary(Unary::Neg, a);
    d.shows(t, "-u32(stdin[0..4])");
}

#[test]
fn choices_connectives_and_reads() {
    let mut d = TextFixture(Pool::new());
    let (x, y) = (d.byte(0), d.byte(1));
    let (p, q) = (d.with(Binary::Eq, x, 65), d.with(Binary::Ult, y, 66));
    let either = d.0.or(p, q);
    let z = d.byte(2);
    let r = d.with(Binary::Eq, z, 0);
    let t = d.0.and(either, r);
    d.shows(t, "(stdin[0] == 'A' || stdin[1] <= 'A') && stdin[2] == '\\0'");
    let t = d.0.not(either);
    d.shows(t, "!(stdin[0] == 'A' || stdin[1] <= 'A')");
    let t = d.0.ite(p, x, y);
    d.shows(t, "stdin[0] == 'A' ? stdin[0] : stdin[1]");
    let index = d.0.zext(x, 64);
    let digits: Vec<Term> = b"0123456789abcdef".iter().map(|&c| d.number(8, c.into())).collect();
    let array = d.0.bytes(&digits);
    let t = d.0.read(array, index);
    d.shows(t, "\"0123456789abcdef\"[stdin[0]]");
    let input: Vec<Term> = (10..20).map(|index| d.byte(index)).collect();
    let array = d.0.bytes(&input);
    let t = d.0.read(array, index);
    d.shows(t, "stdin[10 + stdin[0]]");
    let wide = d.0.zext(y, 64);
    let stored: Array = d.0.store(array, wide, z);
    let t = d.0.read(stored, index);
    d.shows(t, "({stdin[10], stdin[11], stdin[12], stdin[13], stdin[14], stdin[15], stdin[16], stdin[17], …} with [stdin[1]] = stdin[2])[stdin[0]]");
}

#[test]
fn of_large_terms_the_parts_near_the_root_are_shown() {
    let mut d = TextFixture(Pool::new());
    let mut sum = d.number(32, 7);
    for index in 0..50_000 {
        let byte = d.0.variable(index, 8);
        let wide = d.0.zext(byte, 32);
        let square = d.0.binary(Binary::Mul, wide, wide);
        sum = d.0.binary(Binary::Add, sum, square);
    }
    let text = d.0.text(sum, &|index| format!("x[{index}]"), 24);
    assert_eq!(text, "… + x[49998] * x[49998] + x[49999] * x[49999] + 7");
}

proptest! {
    #[test]
    fn text_stays_within_its_limit(steps in steps(1..60), limit in 0_usize..60) {
        let built = Built::new(&steps);
        for &term in &built.terms {
            let text = built.pool.text(term, &|index| format!("v{index}"), limit);
            prop_assert!(!text.is_empty());
            // A node takes at most a sign, a cast or a constant of 128 bits.
            prop_assert!(text.len() <= 60 * (limit + 10), "{text}");
            let mut depth = 0_i32;
            // A byte that is a bracket is written as one, in quotes.
            for c in text.replace("'('", "").replace("')'", "").chars() {
                depth += match c { '(' => 1, ')' => -1, _ => 0 };
                prop_assert!(depth >= 0, "{text}");
            }
            prop_assert_eq!(depth, 0, "{}", text);
        }
    }
}

impl TextFixture {
    /// The number of `bytes` bytes at `scale * (stdin[0] - 48) + offset`.
    fn read(&mut self, array: Array, scale: i128, offset: i128, bytes: u32) -> Term {
        let byte = self.byte(0);
        let index = self.0.zext(byte, 64);
        let index = self.with(Binary::Sub, index, 48);
        let start = self.with(Binary::Mul, index, scale);
        let mut word: Option<Term> = None;
        for k in 0..bytes {
            let at = self.with(Binary::Add, start, offset + i128::from(k));
            let byte = self.0.read(array, at);
            word = Some(word.map_or(byte, |low| self.0.concat(byte, low)));
        }
        word.expect("a byte")
    }

    fn table(&mut self, numbers: &[u32], layout: Option<Layout>) -> Array {
        let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
        let elements: Vec<Term> = bytes.iter().map(|b| self.number(8, (*b).into())).collect();
        let array = self.0.bytes(&elements);
        if let Some(layout) = layout {
            self.0.describe(array, &Arc::new(layout));
        }
        array
    }
}

#[test]
fn elements_of_arrays_read_like_source() {
    let mut d = TextFixture(Pool::new());
    let numbers = d.table(&[10, 20, 300, 4000], None);
    let t = d.read(numbers, 4, 0, 4);
    d.shows(t, "{10, 20, 300, 4000}[stdin[0] - 48]");
    let named = Layout { name: "weights".to_owned(), stride: 4, ..Layout::default() };
    let weights = d.table(&[11, 20, 300, 4000], Some(named.clone()));
    let t = d.read(weights, 4, 0, 4);
    d.shows(t, "weights[stdin[0] - 48]");
    let is = d.with(Binary::Eq, t, 300);
    d.shows(is, "weights[stdin[0] - 48] == 300");
    let not = d.0.not(is);
    d.shows(not, "weights[stdin[0] - 48] != 300");
    let next = d.read(weights, 4, 4, 4);
    d.shows(next, "weights[stdin[0] - 48 + 1]");
    // What is no element is shown by its bytes.
    let half = d.read(weights, 4, 2, 2);
    d.shows(half, "u16(weights[4 * (stdin[0] - 48) + 2..+2])");
    // Two variables with the same content are one array here.
    d.0.describe(weights, &Arc::new(Layout { name: "other".to_owned(), ..named }));
    d.shows(t, "{11, 20, 300, 4000}[stdin[0] - 48]");
}

#[test]
fn members_and_named_bits_are_those_of_the_element() {
    let mut d = TextFixture(Pool::new());
    let field = |offset, name: &str| Field { offset, size: 4, name: name.to_owned() };
    let fields = vec![field(0, ".id"), field(4, ".length")];
    let records = Layout { name: "records".to_owned(), stride: 8, fields, ..Layout::default() };
    let records = d.table(&[1, 2, 3, 4], Some(records));
    let t = d.read(records, 8, 4, 4);
    d.shows(t, "records[stdin[0] - 48].length");
    let flags = vec![Flag { offset: 1, mask: 0x20, name: "isspace" }];
    let classes = Layout { name: "classes".to_owned(), stride: 4, origin: 1, flags, ..Layout::default() };
    let classes = d.table(&[0, 0x2000, 0, 0x2001], Some(classes));
    let t = d.read(classes, 4, 5, 1);
    let t = d.with(Binary::And, t, 0x20);
    let none = d.with(Binary::Eq, t, 0);
    d.shows(none, "!isspace(stdin[0] - 48)");
    let space = d.0.not(none);
    d.shows(space, "isspace(stdin[0] - 48)");
    // The index of a byte that is not negative: zeros, the byte, and one more zero.
    let flags = vec![Flag { offset: 1, mask: 0x20, name: "isspace" }];
    let words = Layout { name: "words".to_owned(), stride: 2, flags, ..Layout::default() };
    let words = d.table(&[0x2000_0000, 0, 0x2001], Some(words));
    let (zeros, byte, zero) = (d.number(55, 0), d.byte(0), d.number(1, 0));
    let low = d.0.concat(byte, zero);
    let start = d.0.concat(zeros, low);
    let at = d.with(Binary::Add, start, 1);
    let read = d.0.read(words, at);
    let t = d.with(Binary::And, read, 0x20);
    let none = d.with(Binary::Eq, t, 0);
    d.shows(none, "!isspace(stdin[0])");
}
