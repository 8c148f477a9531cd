//! Tests with a real solver, and with small scripts that fail as solvers do.

use std::os::unix::fs::PermissionsExt;

use proptest::prelude::*;

use super::*;
use crate::Binary;
use crate::testing::{Built, steps};

fn cvc5() -> Command {
    Command::parse("cvc5").unwrap()
}

fn limits(timeout: u64) -> Limits {
    Limits { timeout: Duration::from_millis(timeout), alone: Duration::from_millis(50), max_parallel: 2 }
}

/// A script in place of a solver.
fn script(dir: &tempfile::TempDir, name: &str, text: &str) -> Command {
    let path = dir.path().join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{text}")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    Command::new(path, [] as [&str; 0])
}

/// A script that answers each `check-sat` with the given command.
fn answering(answer: &str) -> String {
    format!(
        "while read line; do case $line in *check-sat*) {answer};; *get-value*) echo '((v0 #x07))';; esac; done"
    )
}

fn equation(pool: &mut Pool, variable: u32, value: u128) -> Term {
    let (x, k) = (pool.variable(variable, 8), pool.constant(8, value));
    pool.binary(Binary::Eq, x, k)
}

#[test]
fn cvc5_decides_and_gives_values_and_cores() {
    let mut pool = Pool::new();
    let mut solver = Solver::new(vec![cvc5()], limits(10_000), true);
    let (x, y) = (pool.variable(0, 8), pool.variable(1, 8));
    let product = pool.binary(Binary::Mul, x, y);
    let k = pool.constant(8, 35);
    let equal = pool.binary(Binary::Eq, product, k);
    solver.assert_named(&pool, equal, 5);
    assert_eq!(solver.check().unwrap(), Answer::Sat);
    let values = solver.values(&[0, 1, 99]).unwrap();
    assert_eq!((values[&0] * values[&1]) & 255, 35);
    assert!(!values.contains_key(&99));
    solver.push();
    let zero = equation(&mut pool, 0, 0);
    let other = equation(&mut pool, 7, 3);
    solver.assert_named(&pool, other, 6);
    solver.assert_named(&pool, zero, 7);
    assert_eq!(solver.check().unwrap(), Answer::Unsat);
    let mut core = solver.core().unwrap();
    core.sort_unstable();
    assert_eq!(core, [5, 7]);
    solver.pop();
    assert_eq!(solver.check().unwrap(), Answer::Sat);
    assert_eq!((solver.winner().as_str(), solver.restarts()), ("cvc5", 0));
}

#[test]
fn a_solver_that_hangs_is_killed_and_told_everything_again() {
    let dir = tempfile::tempdir().unwrap();
    // Hangs the first time, then runs cvc5.
    let mark = dir.path().join("mark");
    let text = format!(
        "if [ -e {0} ]; then exec cvc5 --incremental --lang smt2; fi; touch {0}; sleep 100",
        mark.display()
    );
    let mut pool = Pool::new();
    let mut solver = Solver::new(vec![script(&dir, "slow", &text)], limits(300), false);
    let seven = equation(&mut pool, 0, 7);
    solver.assert(&pool, seven);
    solver.push();
    assert_eq!(solver.check().unwrap(), Answer::Unknown("no answer within 0.3 s".into()));
    solver.limits.timeout = Duration::from_secs(20);
    assert_eq!(solver.check().unwrap(), Answer::Sat);
    assert_eq!(solver.values(&[0]).unwrap()[&0], 7);
    assert_eq!(solver.restarts(), 1);
}

#[test]
fn a_solver_that_dies_is_started_once_more() {
    let dir = tempfile::tempdir().unwrap();
    let mark = dir.path().join("mark");
    let text = format!(
        "if [ -e {0} ]; then exec cvc5 --incremental --lang smt2; fi; touch {0}; exit 1",
        mark.display()
    );
    let mut pool = Pool::new();
    let mut solver = Solver::new(vec![script(&dir, "mortal", &text)], limits(20_000), false);
    let seven = equation(&mut pool, 0, 7);
    solver.assert(&pool, seven);
    assert_eq!(solver.check().unwrap(), Answer::Sat);
    let mut solver =
        Solver::new(vec![script(&dir, "dead", "echo out of luck >&2; exit 3")], limits(20_000), false);
    solver.assert(&pool, seven);
    let error = solver.check().unwrap_err();
    assert_eq!(error.to_string(), "get an answer from the solver dead, which ended saying \"out of luck\"");
}

#[test]
fn what_makes_no_sense_is_said_again() {
    let dir = tempfile::tempdir().unwrap();
    let mut pool = Pool::new();
    let seven = equation(&mut pool, 0, 7);
    for (answer, message) in [
        ("echo maybe", "understand the solver odd: asked for an answer, it said \"maybe\""),
        ("echo '(error \"line 1: no\")'", "get an answer from the solver odd: line 1: no"),
        ("echo ')'", "understand the solver odd: asked for an answer, it said \"\\n\""),
    ] {
        let mut solver = Solver::new(vec![script(&dir, "odd", &answering(answer))], limits(20_000), false);
        solver.assert(&pool, seven);
        assert_eq!(solver.check().unwrap_err().to_string(), message);
    }
    let mut solver = Solver::new(vec![script(&dir, "odd", &answering("echo unknown"))], limits(1500), false);
    solver.assert(&pool, seven);
    assert_eq!(solver.check().unwrap(), Answer::Unknown("odd does not know".into()));
    let mut solver = Solver::new(vec![script(&dir, "odd", &answering("echo sat"))], limits(20_000), false);
    solver.assert(&pool, seven);
    assert_eq!(solver.check().unwrap(), Answer::Sat);
    let more = equation(&mut pool, 1, 7);
    solver.assert(&pool, more);
    let error = solver.values(&[0, 1]).unwrap_err().to_string();
    assert_eq!(error, "understand the solver odd: asked for values, it said \"((v0 #x07))\"");
    let nothing = Solver::new(vec![], limits(10), false).check().unwrap_err();
    assert_eq!(nothing.to_string(), "solve anything: no solver was given");
    let missing = vec![Command::new("/no/such/solver", [] as [&str; 0])];
    let error = Solver::new(missing, limits(10), false).check().unwrap_err().to_string();
    assert!(error.starts_with("start the solver solver: No such file"), "{error}");
}

#[test]
fn the_first_answer_counts_and_the_slow_one_is_killed() {
    let dir = tempfile::tempdir().unwrap();
    let pid = dir.path().join("pid");
    let slow = script(&dir, "slow", &format!("echo $$ > {}; sleep 1000", pid.display()));
    let mut pool = Pool::new();
    let mut solver = Solver::new(vec![slow, cvc5()], limits(20_000), false);
    let seven = equation(&mut pool, 0, 7);
    solver.assert(&pool, seven);
    assert_eq!(solver.check().unwrap(), Answer::Sat);
    assert_eq!(solver.winner(), "cvc5");
    let pid = std::fs::read_to_string(pid).unwrap();
    assert!(!std::path::Path::new("/proc").join(pid.trim()).exists());
    // A solver that cannot be started does not matter if another one can.
    let missing = Command::new("/no/such/solver", [] as [&str; 0]);
    let mut solver = Solver::new(vec![missing, cvc5()], limits(20_000), false);
    solver.assert(&pool, seven);
    assert_eq!(solver.check().unwrap(), Answer::Sat);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// A real solver agrees with evaluation for all operations.
    #[test]
    fn cvc5_means_the_same(steps in steps(5..40), values in proptest::array::uniform3(any::<u8>())) {
        let mut built = Built::new(&steps);
        let values = [u128::from(values[0] & 7), u128::from(values[1] & 3), u128::from(values[2])];
        let variables: Vec<Term> = built.terms[..3].to_vec();
        let mut solver = Solver::new(vec![cvc5()], limits(20_000), false);
        for (index, &variable) in variables.iter().enumerate() {
            let value = built.pool.constant(built.pool.width(variable), values[index]);
            let equal = built.pool.binary(Binary::Eq, variable, value);
            solver.assert(&built.pool, equal);
        }
        // The assertion that some term differs from its value must be unsatisfiable.
        let mut differs = built.pool.constant(1, 0);
        for term in built.terms.clone() {
            let value = built.pool.evaluate(term, &|index| values[index as usize]);
            let width = built.pool.width(term);
            let value = built.pool.constant(width, value);
            let equal = built.pool.binary(Binary::Eq, term, value);
            let not = built.pool.not(equal);
            differs = built.pool.or(differs, not);
        }
        solver.push();
        solver.assert(&built.pool, differs);
        prop_assert_eq!(solver.check().unwrap(), Answer::Unsat);
        solver.pop();
        prop_assert_eq!(solver.check().unwrap(), Answer::Sat);
    }
}
