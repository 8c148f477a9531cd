//! Random terms for property tests: one recipe, executed twice.
//!
//! A recipe is built in a [`Pool`] through its constructors, and recorded as the plain operations. The
//! reference value is computed from the latter, so that every simplification between the two is tested.

use proptest::prelude::*;

use crate::semantics;
use crate::{Array, Binary, Pool, Term, Unary};

/// Widths of the variables: small, so that assignments can be enumerated.
pub const VARIABLES: [u32; 3] = [3, 2, 8];

#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub kind: u8,
    pub a: u8,
    pub b: u8,
    pub c: u8,
    pub number: u128,
}

/// A recorded operation; operands are indices of steps.
#[derive(Clone, Debug)]
enum Plain {
    Constant(u128),
    Variable(u32),
    Unary(Unary, usize),
    Binary(Binary, usize, usize),
    Ite(usize, usize, usize),
    Extract(usize, u32),
    Concat(usize, usize),
    Zext(usize),
    Sext(usize),
    Read(usize, usize),
}

#[derive(Clone, Debug)]
enum PlainArray {
    Bytes(Vec<usize>),
    Store(usize, usize, usize),
}

#[derive(Default)]
pub struct Built {
    pub pool: Pool,
    pub terms: Vec<Term>,
    plain: Vec<(Plain, u32)>,
    arrays: Vec<Array>,
    plain_arrays: Vec<PlainArray>,
}

pub fn steps(len: impl Into<proptest::collection::SizeRange>) -> impl Strategy<Value = Vec<Step>> {
    let number = prop_oneof![
        4 => 0_u128..4,
        2 => (0_u32..128).prop_map(|bit| 1 << bit),
        2 => (0_u32..128).prop_map(|bit| (1 << bit) - 1),
        1 => (0_u32..128).prop_map(|bit| !0 << bit),
        1 => any::<u8>().prop_map(u128::from),
        1 => any::<u128>(),
    ];
    let step = (any::<u8>(), any::<u8>(), any::<u8>(), any::<u8>(), number)
        .prop_map(|(kind, a, b, c, number)| Step { kind, a, b, c, number });
    proptest::collection::vec(step, len)
}

impl Built {
    pub fn new(steps: &[Step]) -> Built {
        let mut built = Built::default();
        for (index, &width) in VARIABLES.iter().enumerate() {
            built.push(Plain::Variable(index as u32), width);
        }
        for &step in steps {
            built.follow(step);
        }
        built
    }

    fn width(&self, at: usize) -> u32 {
        self.plain[at].1
    }

    fn push(&mut self, plain: Plain, width: u32) -> usize {
        let pool = &mut self.pool;
        let t = &self.terms;
        let term = match plain {
            Plain::Constant(value) => pool.constant(width, value),
            Plain::Variable(index) => pool.variable(index, width),
            Plain::Unary(op, a) => pool.unary(op, t[a]),
            Plain::Binary(op, a, b) => pool.binary(op, t[a], t[b]),
            Plain::Ite(c, a, b) => pool.ite(t[c], t[a], t[b]),
            Plain::Extract(a, low) => pool.extract(t[a], low, width),
            Plain::Concat(a, b) => pool.concat(t[a], t[b]),
            Plain::Zext(a) => pool.zext(t[a], width),
            Plain::Sext(a) => pool.sext(t[a], width),
            Plain::Read(array, index) => pool.read(self.arrays[array], t[index]),
        };
        assert_eq!(pool.width(term), width, "{plain:?}");
        self.terms.push(term);
        self.plain.push((plain, width));
        self.terms.len() - 1
    }

    fn follow(&mut self, step: Step) {
        let Step { kind, a, b, c, number } = step;
        // Prefers recent terms, so that terms get deep.
        let pick = |by: u8, len: usize| {
            let back = if by < 160 { usize::from(by) % 6 } else { usize::from(by) };
            len - 1 - back % len
        };
        let len = self.terms.len();
        let (x, y, z) = (pick(a, len), pick(b, len), pick(c, len));
        match kind % 32 {
            0..=1 => {
                let width = self.width(x);
                self.push(Plain::Constant(number & semantics::ones(width)), width);
            }
            2..=3 => {
                let op = Unary::ALL[usize::from(c) % 2];
                self.push(Plain::Unary(op, x), self.width(x));
            }
            4..=9 => self.operation(c, x, y),
            10..=16 => {
                let k = self.push(Plain::Constant(number & semantics::ones(self.width(x))), self.width(x));
                if b.is_multiple_of(4) {
                    self.operation(c, k, x);
                } else {
                    self.operation(c, x, k);
                }
            }
            17..=19 => {
                let c = self.truth(z);
                let y = self.fit(y, self.width(x), false);
                self.push(Plain::Ite(c, x, y), self.width(x));
            }
            20..=22 => {
                let low = u32::from(b) % self.width(x);
                let width = 1 + u32::from(c) % (self.width(x) - low);
                self.push(Plain::Extract(x, low), width);
            }
            23..=24 if self.width(x) + self.width(y) <= 128 => {
                self.push(Plain::Concat(x, y), self.width(x) + self.width(y));
            }
            25..=27 => {
                let wider = [self.width(x) + 1, self.width(x) + 5, 8, 32, 64, 128][usize::from(b) % 6];
                let width = wider.clamp(self.width(x), 128);
                self.push(if c % 2 == 0 { Plain::Zext(x) } else { Plain::Sext(x) }, width);
            }
            28 => {
                let elements = (0..usize::from(c) % 6).map(|i| self.fit((x + i) % len, 8, false)).collect();
                self.push_array(PlainArray::Bytes(elements));
            }
            29 if !self.arrays.is_empty() => {
                let array = pick(c, self.arrays.len());
                let (index, value) = (self.fit(x, 64, b % 2 == 0), self.fit(y, 8, false));
                self.push_array(PlainArray::Store(array, index, value));
            }
            _ if !self.arrays.is_empty() => {
                let array = pick(c, self.arrays.len());
                let index = self.fit(x, 64, b % 2 == 0);
                self.push(Plain::Read(array, index), 8);
            }
            _ => {}
        }
    }

    fn operation(&mut self, op: u8, x: usize, y: usize) {
        let op = Binary::ALL[usize::from(op) % Binary::ALL.len()];
        let width = self.width(x);
        let y = self.fit(y, width, (op as usize).is_multiple_of(2));
        self.push(Plain::Binary(op, x, y), if op.is_comparison() { 1 } else { width });
    }

    fn push_array(&mut self, plain: PlainArray) {
        let t = |at: &usize| self.terms[*at];
        let array = match &plain {
            PlainArray::Bytes(elements) => {
                let elements: Vec<Term> = elements.iter().map(t).collect();
                self.pool.bytes(&elements)
            }
            PlainArray::Store(array, index, value) => {
                self.pool.store(self.arrays[*array], t(index), t(value))
            }
        };
        self.arrays.push(array);
        self.plain_arrays.push(plain);
    }

    /// The term truncated or extended to a width.
    fn fit(&mut self, at: usize, width: u32, signed: bool) -> usize {
        match self.width(at).cmp(&width) {
            std::cmp::Ordering::Equal => at,
            std::cmp::Ordering::Greater => self.push(Plain::Extract(at, 0), width),
            std::cmp::Ordering::Less => {
                self.push(if signed { Plain::Sext(at) } else { Plain::Zext(at) }, width)
            }
        }
    }

    pub fn truth(&mut self, at: usize) -> usize {
        self.fit(at, 1, false)
    }

    /// The values of all steps, by the plain operations.
    pub fn reference(&self, values: &[u128]) -> Vec<u128> {
        let mut known: Vec<u128> = Vec::with_capacity(self.plain.len());
        for (plain, width) in &self.plain {
            let v = |at: &usize| known[*at];
            known.push(match plain {
                Plain::Constant(value) => *value,
                Plain::Variable(index) => values[*index as usize],
                Plain::Unary(op, a) => semantics::unary(*op, *width, v(a)),
                Plain::Binary(op, a, b) => semantics::binary(*op, self.width(*a), v(a), v(b)),
                Plain::Ite(c, a, b) => v(if v(c) == 1 { a } else { b }),
                Plain::Extract(a, low) => semantics::extract(v(a), *low, *width),
                Plain::Concat(a, b) => v(a) << self.width(*b) | v(b),
                Plain::Zext(a) => v(a),
                Plain::Sext(a) => semantics::sext(v(a), self.width(*a), *width),
                Plain::Read(array, index) => self.element(*array, v(index), &known),
            });
        }
        known
    }

    fn element(&self, mut array: usize, index: u128, known: &[u128]) -> u128 {
        loop {
            match &self.plain_arrays[array] {
                PlainArray::Bytes(elements) => {
                    return elements.get(index as usize).map_or(0, |&element| known[element]);
                }
                PlainArray::Store(_, at, value) if known[*at] == index => return known[*value],
                PlainArray::Store(old, ..) => array = *old,
            }
        }
    }
}

/// All values of the small variables, with some of the byte.
pub fn assignments() -> impl Iterator<Item = [u128; 3]> {
    (0..8)
        .flat_map(|x| (0..4).flat_map(move |y| [0, 1, 2, 5, 0x7f, 0x80, 0xfe, 0xff].map(move |z| [x, y, z])))
}
