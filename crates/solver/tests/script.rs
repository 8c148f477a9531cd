//! Runs a real solver on exported scripts.

use std::process::Command;

use solver::{
    Answer, Assertion, Binary, Command as SolverCommand, Float, Limits, Pool, Script, Solver, Term,
};

fn cvc5(text: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("path.smt2");
    std::fs::write(&path, text).unwrap();
    let output = Command::new("cvc5").arg(&path).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// A read from a table after a store equals 190, and index and stored index differ.
fn with_arrays(pool: &mut Pool) -> (Term, Term) {
    let (x, y) = (pool.variable(0, 8), pool.variable(1, 8));
    let elements: Vec<Term> = (0..40).map(|value| pool.constant(8, 200 - value)).collect();
    let array = pool.bytes(&elements);
    let (i, j) = (pool.zext(x, 64), pool.zext(y, 64));
    let stored = pool.store(array, j, x);
    let read = pool.read(stored, i);
    let wanted = pool.constant(8, 190);
    let found = pool.binary(Binary::Eq, read, wanted);
    let different = pool.binary(Binary::Eq, x, y);
    (found, pool.not(different))
}

#[test]
fn values_are_those_that_satisfy_it() {
    let mut pool = Pool::new();
    let (found, different) = with_arrays(&mut pool);
    let assertions = [Assertion::new(found).with_comment("read at main.c:7"), Assertion::new(different)];
    let script = Script { values: true, core: false };
    let text = script.text(&pool, &assertions, &|index| format!("stdin[{index}]"));
    assert!(text.contains("(set-logic QF_ABV)") && text.contains("; read at main.c:7\n"), "{text}");
    let answer = cvc5(&text);
    // Element 10 is the only one.
    assert!(answer.starts_with("sat\n((|stdin[0]| #b00001010)"), "{answer}");
}

#[test]
fn places_behind_the_elements_are_zero() {
    let mut pool = Pool::new();
    let x = pool.variable(0, 8);
    let elements: Vec<Term> = (0..3).map(|value| pool.constant(8, 7 + value)).collect();
    let array = pool.bytes(&elements);
    let index = pool.zext(x, 64);
    let read = pool.read(array, index);
    let (three, ten) = (pool.constant(8, 3), pool.constant(8, 10));
    let past = pool.binary(Binary::Ule, three, x);
    let zero = pool.constant(8, 0);
    let zero = pool.binary(Binary::Eq, read, zero);
    let other = pool.not(zero);
    let more = pool.binary(Binary::Ule, ten, read);
    let script = Script { values: false, core: true };
    let assertions = [Assertion::named(past, "past"), Assertion::named(other, "not zero")];
    assert_eq!(cvc5(&script.text(&pool, &assertions, &|_| "x".into())), "unsat\n(\n|not zero|\npast\n)\n");
    let assertions = [Assertion::named(more, "more")];
    assert_eq!(cvc5(&script.text(&pool, &assertions, &|_| "x".into())), "unsat\n(\nmore\n)\n");
}

#[test]
fn floating_point_is_written_in_its_theory() {
    let mut pool = Pool::new();
    let byte = pool.variable(0, 8);
    let wide = pool.zext(byte, 32);
    let number = pool.float(Float::FromSigned, 64, wide, None);
    let half = pool.float_constant(number, 0.5);
    let product = pool.float(Float::Mul, 64, number, Some(half));
    let limit = pool.float_constant(number, 99.75);
    let large = pool.float(Float::Lt, 1, limit, Some(product));
    // 100.5 is the first value whose bits end like this.
    let whole = pool.float(Float::ToSigned, 32, product, None);
    let hundred = pool.constant(32, 100);
    let cut = pool.binary(Binary::Eq, whole, hundred);
    let fraction = pool.extract(product, 45, 1);
    let text = Script { values: true, core: false }.text(
        &pool,
        &[large, cut, fraction].map(Assertion::new),
        &|_| "x".into(),
    );
    assert!(text.contains("(set-logic QF_BVFP)"), "{text}");
    assert!(cvc5(&text).starts_with("sat\n((x #b11001001)"), "{text}{}", cvc5(&text));
    assert_eq!(pool.text(large, &|_| "x".into(), 50), "99.75 < double(x) * 0.5");
}

#[test]
fn a_running_solver_learns_that_there_are_numbers_with_fractions() {
    let mut pool = Pool::new();
    let (x, seven) = (pool.variable(0, 8), pool.constant(8, 7));
    let plain = pool.binary(Binary::Ule, seven, x);
    let number = pool.float(Float::FromUnsigned, 32, x, None);
    let limit = pool.float_constant(number, 6.5);
    let small = pool.float(Float::Le, 1, number, Some(limit));
    let mut solver = Solver::new(SolverCommand::found(), Limits::default(), false);
    solver.assert(&pool, plain);
    assert_eq!(solver.check().expect("an answer"), Answer::Sat);
    solver.assert(&pool, small);
    assert_eq!(solver.check().expect("an answer"), Answer::Unsat);
}
