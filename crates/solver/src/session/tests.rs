//! Compares sessions and a real solver with exhaustive search.

use std::os::unix::fs::PermissionsExt;

use proptest::prelude::*;

use super::*;
use crate::Evaluation;
use crate::testing::{Built, VARIABLES, steps};

/// With the solver in this process, or with the solver process only.
fn session(inside: bool) -> Session {
    let limits = Limits { timeout: Duration::from_secs(30), ..Limits::default() };
    let inside = Duration::from_secs(if inside { 30 } else { 0 });
    Session::new(Settings {
        commands: vec![Command::parse("cvc5").unwrap()],
        limits,
        internal_timeout: inside,
    })
}

/// Whether some values of the variables satisfy conditions.
fn satisfiable(pool: &Pool, conditions: &[Term]) -> bool {
    let [a, b, c] = VARIABLES.map(|width| 1_u128 << width);
    (0..a).any(|x| (0..b).any(|y| (0..c).any(|z| holds(pool, conditions, &|v| [x, y, z][v as usize]))))
}

fn compare(pool: &mut Pool, op: Binary, a: Term, value: u128) -> Term {
    let k = pool.constant(pool.width(a), value);
    pool.binary(op, a, k)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn each_branch_is_flipped_exactly_if_it_can_be(
        steps in steps(20..80),
        given in proptest::array::uniform3(any::<u8>()),
        inside: bool,
    ) {
        let mut built = Built::new(&steps);
        let given = [0, 1, 2].map(|at| u128::from(given[at]) & crate::semantics::ones(VARIABLES[at]));
        let value = |v: u32| given[v as usize];
        let truths: Vec<Term> = (0..built.terms.len()).map(|at| { let at = built.truth(at); built.terms[at] }).collect();
        let mut session = session(inside);
        let mut path = Vec::new();
        for condition in truths {
            // The direction that was taken.
            let taken = Evaluation::new(&built.pool, &value).of(condition) == 1;
            let condition = if taken { condition } else { built.pool.not(condition) };
            let flipped = built.pool.not(condition);
            let mut all = path.clone();
            all.push(flipped);
            match session.ask(&mut built.pool, flipped, &value).unwrap() {
                Outcome::Sat(model) => {
                    prop_assert!(holds(&built.pool, &all, &|v| model.value(v, value(v))));
                }
                Outcome::Unsat => prop_assert!(!satisfiable(&built.pool, &all)),
                Outcome::Unknown(reason) => prop_assert!(false, "{}", reason),
            }
            session.assume(&mut built.pool, condition);
            path.push(condition);
        }
        // All together, from other values.
        let outcome = session.solve(&mut built.pool, &path, &|_| 0).unwrap();
        let Outcome::Sat(model) = outcome else { return Err(TestCaseError::fail("the path was taken")) };
        prop_assert!(holds(&built.pool, &path, &|v| model.value(v, 0)));
    }

    #[test]
    fn cores_are_unsatisfiable_and_minimal(
        steps in steps(20..60),
        picks in proptest::collection::vec(any::<(u8, bool)>(), 2..9),
        inside: bool,
    ) {
        let mut built = Built::new(&steps);
        let mut conditions = Vec::new();
        for (pick, negated) in picks {
            let at = built.truth(usize::from(pick) % built.terms.len());
            let t = built.terms[at];
            conditions.push(if negated { built.pool.not(t) } else { t });
        }
        let pool = &built.pool;
        match session(inside).core(pool, &conditions).unwrap() {
            Core::Sat => prop_assert!(satisfiable(pool, &conditions)),
            Core::Unknown(reason) => prop_assert!(false, "{}", reason),
            Core::Unsat { members, minimal } => {
                prop_assert!(minimal);
                let of = |members: &[usize]| members.iter().map(|&at| conditions[at]).collect::<Vec<_>>();
                prop_assert!(!satisfiable(pool, &of(&members)));
                for &left_out in &members {
                    let rest: Vec<usize> = members.iter().copied().filter(|&at| at != left_out).collect();
                    prop_assert!(satisfiable(pool, &of(&rest)), "{} is not needed in {:?}", left_out, members);
                }
            }
        }
    }
}

#[test]
fn what_is_not_linked_keeps_its_values() {
    let mut pool = Pool::new();
    let mut session = session(false);
    let bytes: Vec<Term> = (0..6).map(|index| pool.variable(index, 8)).collect();
    let given = |v: u32| 10 + u128::from(v);
    // Bytes 0 and 1 are linked, and so are 3 and 4.
    for (x, y) in [(0, 1), (3, 4)] {
        let less = pool.binary(Binary::Ult, bytes[x], bytes[y]);
        session.assume(&mut pool, less);
    }
    let sum = pool.binary(Binary::Mul, bytes[0], bytes[1]);
    // No change of one byte satisfies it.
    let query = compare(&mut pool, Binary::Eq, sum, 35);
    let Outcome::Sat(model) = session.ask(&mut pool, query, &given).unwrap() else { panic!() };
    assert_eq!(model.values.keys().copied().collect::<Vec<_>>(), [0, 1]);
    assert!(model.values[&0] < model.values[&1] && model.values[&0] * model.values[&1] % 256 == 35);
    // A repeated query is cached, and the model also satisfies a weaker one.
    let again = session.ask(&mut pool, query, &given).unwrap();
    assert_eq!(again, Outcome::Sat(model));
    let weaker = compare(&mut pool, Binary::Ule, sum, 35);
    assert!(matches!(session.ask(&mut pool, weaker, &given).unwrap(), Outcome::Sat(_)));
    let statistics = session.statistics();
    assert_eq!((statistics.queries, statistics.solved), (3, 1));
    assert_eq!((statistics.cached, statistics.reused), (1, 1));
}

#[test]
fn few_bytes_are_changed() {
    let mut pool = Pool::new();
    let mut session = session(false);
    let bytes: Vec<Term> = (0..8).map(|index| pool.variable(index, 8)).collect();
    let mut sum = pool.constant(32, 0);
    for &byte in &bytes {
        let wide = pool.zext(byte, 32);
        sum = pool.binary(Binary::Add, sum, wide);
    }
    let query = compare(&mut pool, Binary::Ult, sum, 800);
    let given = |_: u32| 120;
    let Outcome::Sat(model) = session.ask(&mut pool, query, &given).unwrap() else { panic!() };
    let changes = model.changes(&given);
    assert!(!changes.is_empty() && changes.len() <= 3, "{changes:?}");
}

#[test]
fn one_byte_needs_no_solver() {
    let mut pool = Pool::new();
    // No solver.
    let mut session = Session::new(Settings { internal_timeout: Duration::ZERO, ..Settings::default() });
    let byte = pool.variable(0, 8);
    let digit = compare(&mut pool, Binary::Ule, byte, 57);
    let above = compare(&mut pool, Binary::Ult, byte, 48);
    let above = pool.not(above);
    session.assume(&mut pool, digit);
    session.assume(&mut pool, above);
    let five = compare(&mut pool, Binary::Eq, byte, 53);
    let letter = compare(&mut pool, Binary::Eq, byte, 97);
    let given = |_: u32| 48;
    let Outcome::Sat(model) = session.ask(&mut pool, five, &given).unwrap() else { panic!() };
    assert_eq!(model.values[&0], 53);
    assert_eq!(session.ask(&mut pool, letter, &given).unwrap(), Outcome::Unsat);
    // Also if another variable is linked: no value is left.
    let other = pool.variable(1, 8);
    let less = pool.binary(Binary::Ult, byte, other);
    session.assume(&mut pool, less);
    assert_eq!(session.ask(&mut pool, letter, &given).unwrap(), Outcome::Unsat);
    let opposite = pool.not(less);
    assert_eq!(session.ask(&mut pool, opposite, &given).unwrap(), Outcome::Unsat);
    let product = pool.binary(Binary::Mul, byte, other);
    let hard = compare(&mut pool, Binary::Eq, product, 3);
    assert_eq!(
        session.ask(&mut pool, hard, &given).unwrap_err().to_string(),
        "solve anything: no solver was given"
    );
    assert_eq!(session.statistics().enumerated, 3);
}

#[test]
fn a_wrong_model_is_an_error_that_names_the_solver() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("liar");
    let text = "#!/bin/sh\nwhile read line; do case $line in *check-sat*) echo sat;; *get-value*) echo '((v0 #x07) (v1 #x07))';; esac; done";
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let commands = vec![Command::new(path, [] as [&str; 0])];
    let mut session =
        Session::new(Settings { commands, internal_timeout: Duration::ZERO, ..Settings::default() });
    let mut pool = Pool::new();
    let (x, y) = (pool.variable(0, 8), pool.variable(1, 8));
    let product = pool.binary(Binary::Mul, x, y);
    let query = compare(&mut pool, Binary::Eq, product, 3);
    let error = session.ask(&mut pool, query, &|_| 0).unwrap_err();
    assert_eq!(error.to_string(), "trust the solver liar: its model does not satisfy what was asked");
}

#[test]
fn conjunctions_come_apart() {
    let mut pool = Pool::new();
    let (x, y) = (pool.variable(0, 8), pool.variable(1, 8));
    let (p, q) = (compare(&mut pool, Binary::Eq, x, 3), compare(&mut pool, Binary::Eq, y, 4));
    let both = pool.and(p, q);
    assert_eq!(conjuncts(&mut pool, both), [p, q]);
    let (not_p, not_q) = (pool.not(p), pool.not(q));
    let either = pool.or(p, q);
    let neither = pool.not(either);
    assert_eq!(conjuncts(&mut pool, neither), [not_p, not_q]);
    assert_eq!(conjuncts(&mut pool, either), [either]);
}
