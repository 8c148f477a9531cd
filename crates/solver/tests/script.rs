//! Exported scripts, given to a solver as files.

use std::process::Command;

use solver::{Assertion, Binary, Pool, Script, Term};

fn cvc5(text: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("path.smt2");
    std::fs::write(&path, text).unwrap();
    let output = Command::new("cvc5").arg(&path).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// `table[stdin[0]]` is `stdin[1]`, after a store to an index that is read as well.
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
