//! Compares the simplifier with the semantics of the constructors.

use proptest::prelude::*;

use crate::semantics;
use crate::testing::{Built, assignments, steps};
use crate::{Binary, Evaluation, Node, Pool, Term};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn simplified_terms_mean_what_was_asked_for(steps in steps(1..40)) {
        let built = Built::new(&steps);
        for values in assignments() {
            let expected = built.reference(&values);
            let value = |index: u32| values[index as usize];
            let mut evaluation = Evaluation::new(&built.pool, &value);
            for (at, &term) in built.terms.iter().enumerate() {
                prop_assert_eq!(evaluation.of(term), expected[at], "step {} under {:?}", at, values);
            }
        }
    }

    #[test]
    fn normal_forms_stay(steps in steps(1..40)) {
        let mut built = Built::new(&steps);
        for term in built.terms.clone() {
            let again = rebuilt(&mut built.pool, term);
            prop_assert_eq!(again, term, "{:?} became {:?}", built.pool.node(term), built.pool.node(again));
        }
    }

    #[test]
    fn variables_are_those_in_the_term(steps in steps(1..40)) {
        let built = Built::new(&steps);
        for &term in &built.terms {
            let variables = built.pool.variables(term);
            // Variables outside the set do not matter.
            for values in assignments() {
                let all = built.pool.evaluate(term, &|index| values[index as usize]);
                let only = built.pool.evaluate(term, &|index| {
                    if variables.contains(&index) { values[index as usize] } else { 0 }
                });
                prop_assert_eq!(all, only);
            }
        }
    }
}

/// A small term and its values under all assignments of two variables of two bits.
#[derive(Clone)]
struct Sample {
    term: Term,
    width: u32,
    values: [u128; 16],
}

/// Small terms under all assignments: each operation on each of them is compared with its semantics.
struct ExhaustiveCheck {
    pool: Pool,
    /// Takes one in so many combinations, selected by a pseudo-random sequence with a fixed seed.
    sparsity: u64,
    state: u64,
}

impl ExhaustiveCheck {
    fn skips(&mut self) -> bool {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        !(self.state >> 33).is_multiple_of(self.sparsity)
    }

    fn constant(&mut self, width: u32, value: u128) -> Sample {
        Sample { term: self.pool.constant(width, value), width, values: [value; 16] }
    }

    fn binary(&mut self, op: Binary, a: &Sample, b: &Sample) -> Sample {
        let width = if op.is_comparison() { 1 } else { a.width };
        let values = std::array::from_fn(|at| semantics::binary(op, a.width, a.values[at], b.values[at]));
        Sample { term: self.pool.binary(op, a.term, b.term), width, values }
    }

    /// Two variables, and terms over them without arithmetic.
    fn bases(&mut self) -> Vec<Sample> {
        let (x, y) = (self.pool.variable(0, 2), self.pool.variable(1, 2));
        let sample = |term, width, value: &dyn Fn(u128, u128) -> u128| Sample {
            term,
            width,
            values: std::array::from_fn(|at| value(at as u128 & 3, at as u128 >> 2)),
        };
        let (zext, sext, concat) = (self.pool.zext(x, 3), self.pool.sext(x, 3), self.pool.concat(x, y));
        let cut = self.pool.extract(concat, 1, 3);
        let same = self.pool.binary(Binary::Eq, x, y);
        let choice = self.pool.ite(same, x, y);
        let choice = self.pool.zext(choice, 3);
        vec![
            sample(x, 2, &|x, _| x),
            sample(zext, 3, &|x, _| x),
            sample(sext, 3, &|x, _| semantics::sext(x, 2, 3)),
            sample(cut, 3, &|x, y| (x << 2 | y) >> 1 & 7),
            sample(choice, 3, &|x, y| if x == y { x } else { y }),
            sample(same, 1, &|x, y| u128::from(x == y)),
        ]
    }

    /// Applies each operation with each constant on each side.
    fn with_constants(&mut self, a: &Sample) -> Vec<Sample> {
        let mut all = Vec::new();
        for op in Binary::ALL {
            for value in 0..1 << a.width {
                if !self.skips() {
                    let k = self.constant(a.width, value);
                    all.push(self.binary(op, a, &k));
                    all.push(self.binary(op, &k, a));
                }
            }
        }
        all
    }

    fn check(&self, sample: &Sample) {
        for (at, &expected) in sample.values.iter().enumerate() {
            let value = |variable: u32| if variable == 0 { at as u128 & 3 } else { at as u128 >> 2 };
            let found = self.pool.evaluate(sample.term, &value);
            assert_eq!(found, expected, "{}", self.pool.text(sample.term, &|v| format!("v{v}"), 50));
        }
    }
}

#[test]
fn chains_of_operations_with_constants_mean_what_they_should() {
    let mut bench = ExhaustiveCheck { pool: Pool::new(), sparsity: 1, state: 1 };
    for base in bench.bases() {
        bench.sparsity = 1;
        for first in bench.with_constants(&base) {
            bench.check(&first);
            bench.sparsity = 2;
            for second in bench.with_constants(&first) {
                bench.check(&second);
            }
        }
    }
}

#[test]
fn operations_on_operations_mean_what_they_should() {
    let mut bench = ExhaustiveCheck { pool: Pool::new(), sparsity: 6, state: 2 };
    let mut all = Vec::new();
    for base in bench.bases() {
        all.extend(bench.with_constants(&base));
        all.push(base);
    }
    bench.sparsity = 40;
    for a in &all {
        for b in &all {
            for op in Binary::ALL {
                if a.width == b.width && !bench.skips() {
                    let sample = bench.binary(op, a, b);
                    bench.check(&sample);
                    let opposite = bench.pool.not(sample.term);
                    let mask = semantics::ones(sample.width);
                    bench.check(&Sample {
                        term: opposite,
                        width: sample.width,
                        values: sample.values.map(|value| !value & mask),
                    });
                }
            }
        }
    }
}

#[test]
fn reads_after_stores_mean_what_they_should() {
    let mut pool = Pool::new();
    let (x, y) = (pool.variable(0, 2), pool.variable(1, 2));
    let elements: Vec<Term> = (0..4).map(|value| pool.constant(8, 10 + value)).collect();
    let array = pool.bytes(&elements);
    let (p, q) = (pool.constant(8, 100), pool.constant(8, 200));
    // Indices as terms and as functions of the variables.
    let mut places: Vec<(Term, [u128; 16])> = Vec::new();
    for offset in 0..4 {
        let k = pool.constant(64, offset);
        places.push((k, [offset; 16]));
        for (variable, shift) in [(x, 0), (y, 2)] {
            let wide = pool.zext(variable, 64);
            let place = pool.binary(Binary::Add, wide, k);
            places.push((place, std::array::from_fn(|at| (at as u128 >> shift & 3) + offset)));
        }
    }
    for (first, first_at) in &places {
        let once = pool.store(array, *first, p);
        for (second, second_at) in &places {
            let twice = pool.store(once, *second, q);
            for (read, read_at) in &places {
                let t = pool.read(twice, *read);
                for at in 0..16 {
                    let expected = match read_at[at] {
                        place if place == second_at[at] => 200,
                        place if place == first_at[at] => 100,
                        place @ 0..4 => 10 + place,
                        _ => 0,
                    };
                    assert_eq!(pool.evaluate(t, &|v| at as u128 >> (2 * v) & 3), expected);
                }
            }
        }
    }
}

/// The term constructed again from its operands.
fn rebuilt(pool: &mut Pool, term: Term) -> Term {
    let width = pool.width(term);
    match pool.node(term) {
        Node::Constant(value) => pool.constant(width, value),
        Node::Variable(index) => pool.variable(index, width),
        Node::Unary(op, a) => pool.unary(op, a),
        Node::Binary(op, a, b) => pool.binary(op, a, b),
        Node::Ite(c, a, b) => pool.ite(c, a, b),
        Node::Extract(a, low) => pool.extract(a, low, width),
        Node::Concat(a, b) => pool.concat(a, b),
        Node::Zext(a) => pool.zext(a, width),
        Node::Sext(a) => pool.sext(a, width),
        Node::Read(array, index) => pool.read(array, index),
        Node::Float(op, a, b) => pool.float(op, width, a, b),
    }
}

#[test]
fn constants_in_sums_fold() {
    let mut pool = Pool::new();
    let x = pool.variable(0, 32);
    let one = pool.constant(32, 1);
    let three = pool.constant(32, 3);
    let mut t = x;
    for _ in 0..3 {
        t = pool.binary(Binary::Add, t, one);
    }
    assert_eq!(t, pool.binary(Binary::Add, three, x));
    assert_eq!(x, pool.binary(Binary::Sub, t, three));
}

#[test]
fn bytes_put_together_by_shifts_are_a_concatenation_and_come_apart_again() {
    let mut pool = Pool::new();
    let bytes: Vec<Term> = (0..4).map(|index| pool.variable(index, 8)).collect();
    let mut word = pool.constant(32, 0);
    for (index, &byte) in bytes.iter().enumerate() {
        let wide = pool.zext(byte, 32);
        let by = pool.constant(32, 8 * index as u128);
        let moved = pool.binary(Binary::Shl, wide, by);
        let op = [Binary::Or, Binary::Add, Binary::Xor, Binary::Or][index];
        word = pool.binary(op, word, moved);
    }
    let pair = pool.concat(bytes[3], bytes[2]);
    let triple = pool.concat(pair, bytes[1]);
    assert_eq!(word, pool.concat(triple, bytes[0]));
    for (index, &byte) in bytes.iter().enumerate() {
        assert_eq!(pool.extract(word, 8 * index as u32, 8), byte);
    }
    // Compared with a constant, the bytes are compared one by one.
    let constant = pool.constant(32, 0x4443_4241);
    let equal = pool.binary(Binary::Eq, word, constant);
    let mut expected = pool.constant(1, 1);
    for (&byte, letter) in bytes.iter().zip(0x41..) {
        let letter = pool.constant(8, letter);
        let one = pool.binary(Binary::Eq, byte, letter);
        expected = pool.and(one, expected);
    }
    assert_eq!(equal, expected);
}

#[test]
fn a_digit_is_seen_as_a_range_of_bytes() {
    let mut pool = Pool::new();
    let byte = pool.variable(0, 8);
    let wide = pool.zext(byte, 32);
    let minus = pool.constant(32, (-48_i128) as u128);
    let moved = pool.binary(Binary::Add, wide, minus);
    let ten = pool.constant(32, 10);
    let digit = pool.binary(Binary::Ult, moved, ten);
    let (zero, nine) = (pool.constant(8, 48), pool.constant(8, 57));
    let above = pool.binary(Binary::Ule, zero, byte);
    let below = pool.binary(Binary::Ule, byte, nine);
    assert_eq!(digit, pool.and(above, below));
}

#[test]
fn arithmetic_on_extended_bytes_is_done_on_bytes_where_only_a_byte_is_kept() {
    let mut pool = Pool::new();
    let byte = pool.variable(0, 8);
    let wide = pool.sext(byte, 32);
    let minus = pool.constant(32, (-32_i128) as u128);
    let upper = pool.binary(Binary::Add, wide, minus);
    let kept = pool.extract(upper, 0, 8);
    let short = pool.constant(8, (-32_i128) as u128);
    assert_eq!(kept, pool.binary(Binary::Add, byte, short));
}

#[test]
fn a_flag_compared_with_constants_is_the_condition() {
    let mut pool = Pool::new();
    let byte = pool.variable(0, 8);
    let k = pool.constant(8, 7);
    let c = pool.binary(Binary::Eq, byte, k);
    let flag = pool.zext(c, 32);
    let (zero, one) = (pool.constant(32, 0), pool.constant(32, 1));
    assert_eq!(pool.binary(Binary::Eq, flag, one), c);
    let not = pool.not(c);
    assert_eq!(pool.binary(Binary::Eq, flag, zero), not);
    let chosen = pool.ite(c, one, zero);
    let differs = pool.binary(Binary::Ult, zero, chosen);
    assert_eq!(differs, c);
}

#[test]
fn reads_see_through_stores_to_other_places() {
    let mut pool = Pool::new();
    let elements: Vec<Term> = (0..4).map(|index| pool.constant(8, index)).collect();
    let array = pool.bytes(&elements);
    let byte = pool.variable(0, 8);
    let index = pool.zext(byte, 64);
    let two = pool.constant(64, 2);
    let next = pool.binary(Binary::Add, index, two);
    let value = pool.variable(1, 8);
    let stored = pool.store(array, next, value);
    assert_eq!(pool.read(stored, next), value);
    assert_eq!(pool.read(stored, index), pool.read(array, index));
    let third = pool.constant(64, 3);
    assert_eq!(pool.read(array, third), elements[3]);
    let past = pool.constant(64, 1 << 40);
    let zero = pool.constant(8, 0);
    assert_eq!(pool.read(array, past), zero);
}

#[test]
fn an_index_of_few_bits_reaches_few_elements() {
    let mut pool = Pool::new();
    let elements: Vec<Term> = (0..100).map(|index| pool.constant(8, 1 + index)).collect();
    let byte = pool.variable(0, 8);
    let mask = pool.constant(8, 3);
    let low = pool.and(byte, mask);
    let index = pool.zext(low, 64);
    let (long, short) = (pool.bytes(&elements), pool.bytes(&elements[..4]));
    assert_eq!(pool.read(long, index), pool.read(short, index));
    let same = pool.bytes(&[elements[7]; 4]);
    assert_eq!(pool.read(same, index), elements[7]);
}

#[test]
fn deep_terms_need_no_stack() {
    let mut pool = Pool::new();
    let mut sum = pool.variable(0, 32);
    let mut chain = pool.constant(32, 7);
    let mut all = pool.constant(1, 1);
    for index in 1..200_000 {
        let byte = pool.variable(index, 8);
        let wide = pool.zext(byte, 32);
        sum = pool.binary(Binary::Add, sum, wide);
        let mixed = pool.binary(Binary::Mul, sum, wide);
        let k = pool.constant(8, u128::from(index % 200));
        let c = pool.binary(Binary::Ult, byte, k);
        let value = pool.constant(32, u128::from(index));
        chain = pool.ite(c, value, chain);
        let odd = pool.extract(mixed, 0, 1);
        all = pool.and(all, odd);
    }
    assert_eq!(pool.evaluate(sum, &|_| 1), 200_000);
    let seven = pool.constant(32, 7);
    let last = pool.binary(Binary::Eq, chain, seven);
    assert_eq!(pool.evaluate(last, &|_| 255), 1);
    assert_eq!(pool.evaluate(last, &|_| 3), 0);
    assert_eq!(pool.variables(sum).len(), 200_000);
    pool.evaluate(all, &|index| u128::from(index) * 77);
}
