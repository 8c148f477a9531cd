//! The simplifier against the plain meaning of what was asked for.

use proptest::prelude::*;

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
            // Whatever is not in the set does not matter.
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

/// The term made once more of its operands.
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
    // And compared with a constant they are compared one by one.
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
