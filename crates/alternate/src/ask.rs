//! One query: can this decision be negated under all assumptions?
//!
//! All queries of a direction use one session. It holds the path condition of the other version and,
//! incrementally, the branches before the current one, so a solver gets each of them once. A query that is
//! hard is simplified:
//!
//! 1. without the other version's conditions: if the branch cannot be negated even then, the answer is unsat
//!    (many branches repeat an earlier test). Once one query was slow, this comes first;
//! 2. with every input byte fixed that the branch itself does not depend on. A model that is found is a model
//!    of the query; unsat means nothing.

use solver::{Error, Evaluation, Outcome, Pool, Session, Settings, Statistics, Term};
use std::collections::HashSet;
use std::time::{Duration, Instant};
use symbolic::TermContext;

/// A query that takes longer is hard.
const HARD_QUERY_TIME: Duration = Duration::from_secs(1);
/// The reason for an unanswered hard query, and the remedy.
const NO_SOLVER: &str = "too hard without a solver, and none was found: install cvc5 (or bitwuzla, z3)";
/// Timeout of the query without the other version's conditions.
const PRECHECK: Duration = Duration::from_secs(10);

pub(crate) struct DecisionSolver {
    session: Session,
    settings: Settings,
    /// The branches so far, for queries without the other version.
    before: Vec<Term>,
    /// A session for those queries, and how many branches it has assumed.
    path_session: Option<(Session, usize)>,
    hard: bool,
}

impl DecisionSolver {
    pub fn new(settings: &Settings) -> DecisionSolver {
        DecisionSolver {
            session: Session::new(settings.clone()),
            settings: settings.clone(),
            before: Vec::new(),
            path_session: None,
            hard: false,
        }
    }

    /// Assumes a condition of the other version.
    pub fn assume_other(&mut self, pool: &mut Pool, condition: Term) {
        self.session.assume(pool, condition);
    }

    /// Assumes a branch that precedes the next queries.
    pub fn assume_branch(&mut self, pool: &mut Pool, condition: Term) {
        self.session.assume(pool, condition);
        self.before.push(condition);
    }

    pub fn statistics(&self) -> Statistics {
        let mut all = self.session.statistics();
        if let Some((path_session, _)) = &self.path_session {
            let more = path_session.statistics();
            all.solved += more.solved;
            all.enumerated += more.enumerated;
            all.solver_time += more.solver_time;
            all.restarts += more.restarts;
        }
        all
    }

    /// Whether the negation of a condition is satisfiable under all assumptions.
    pub fn ask(&mut self, world: &mut TermContext, condition: Term) -> Outcome {
        let TermContext { pool, variables } = world;
        let given = |v: u32| variables.value(v);
        let opposite = pool.not(condition);
        if self.hard && self.is_unsat_on_path(pool, opposite, &given) {
            return Outcome::Unsat;
        }
        let start = Instant::now();
        let outcome = answered(self.session.ask(pool, opposite, &given));
        let slow = start.elapsed() >= HARD_QUERY_TIME;
        let Outcome::Unknown(reason) = outcome else {
            self.hard |= slow;
            return outcome;
        };
        if !self.hard && self.is_unsat_on_path(pool, opposite, &given) {
            self.hard |= slow;
            return Outcome::Unsat;
        }
        self.hard |= slow;
        match self.with_other_bytes_fixed(pool, opposite, &given) {
            found @ Outcome::Sat(_) => found,
            _ => Outcome::Unknown(reason),
        }
    }

    /// Whether the branches before imply the negation of a condition.
    fn is_unsat_on_path(&mut self, pool: &mut Pool, condition: Term, given: &dyn Fn(u32) -> u128) -> bool {
        let (path_session, told) = self.path_session.get_or_insert_with(|| {
            let mut settings = self.settings.clone();
            settings.limits.timeout = settings.limits.timeout.min(PRECHECK);
            (Session::new(settings), 0)
        });
        for &term in &self.before[*told..] {
            path_session.assume(pool, term);
        }
        *told = self.before.len();
        answered(path_session.ask(pool, condition, given)) == Outcome::Unsat
    }

    /// The query with all bytes fixed that the condition does not name.
    fn with_other_bytes_fixed(
        &mut self,
        pool: &mut Pool,
        condition: Term,
        given: &dyn Fn(u32) -> u128,
    ) -> Outcome {
        let free: HashSet<u32> = pool.variables(condition).iter().copied().collect();
        let mut conditions = self.session.assumed().to_vec();
        let mut others: HashSet<u32> = HashSet::new();
        for &term in &conditions {
            others.extend(pool.variables(term).iter().filter(|v| !free.contains(v)));
        }
        let mut others: Vec<u32> = others.into_iter().collect();
        others.sort_unstable();
        for variable in others {
            let byte = pool.variable(variable, 8);
            let value = pool.constant(8, given(variable));
            conditions.push(pool.binary(solver::Binary::Eq, byte, value));
        }
        conditions.push(condition);
        answered(self.session.solve(pool, &conditions, given))
    }
}

/// An error of a solver, or the lack of one, affects this query only.
fn answered(outcome: Result<Outcome, Error>) -> Outcome {
    match outcome {
        Ok(outcome) => outcome,
        Err(Error::NoSolver) => Outcome::Unknown(NO_SOLVER.to_owned()),
        Err(error) => Outcome::Unknown(format!("failed to {error}")),
    }
}

/// Whether conditions hold under an assignment.
pub(crate) fn holds(
    pool: &Pool,
    conditions: impl IntoIterator<Item = Term>,
    value: &dyn Fn(u32) -> u128,
) -> bool {
    let mut evaluation = Evaluation::new(pool, value);
    conditions.into_iter().all(|condition| evaluation.of(condition) == 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use solver::{Binary, Command};
    use symbolic::Origin;

    /// A condition that the product of two bytes is not a certain value.
    fn product(world: &mut TermContext) -> Term {
        let stdin = world.variables.origin(&Origin::Stdin);
        let bytes = [3, 5].map(|value| {
            let offset = u64::from(value);
            let (number, _) = world.variables.byte(stdin, offset, value);
            let byte = world.pool.variable(number, 8);
            world.pool.zext(byte, 16)
        });
        let product = world.pool.binary(Binary::Mul, bytes[0], bytes[1]);
        let prime = world.pool.constant(16, 251 * 241);
        let same = world.pool.binary(Binary::Eq, product, prime);
        world.pool.not(same)
    }

    fn settings(command: &str) -> Settings {
        let commands = Command::parse(command).into_iter().collect();
        Settings { commands, internal_timeout: Duration::ZERO, ..Settings::default() }
    }

    #[test]
    fn a_question_without_a_solver_is_unknown_and_says_what_to_do() {
        let mut world = TermContext::default();
        let condition = product(&mut world);
        let Outcome::Unknown(reason) = DecisionSolver::new(&settings("")).ask(&mut world, condition) else {
            panic!("nobody can know")
        };
        assert!(reason.contains("install cvc5"), "{reason}");
        let missing = DecisionSolver::new(&settings("./no-such-solver")).ask(&mut world, condition);
        let Outcome::Unknown(reason) = missing else { panic!("nobody can know") };
        assert!(reason.starts_with("failed to start the solver no-such-solver"), "{reason}");
    }

    #[test]
    fn the_other_version_and_the_branches_before_count() {
        let mut world = TermContext::default();
        let condition = product(&mut world);
        let mut asker = DecisionSolver::new(&settings("cvc5"));
        let Outcome::Sat(model) = asker.ask(&mut world, condition) else { panic!("251 times 241") };
        let mut found: Vec<u128> = model.values.values().copied().collect();
        found.sort_unstable();
        assert_eq!(found, [241, 251]);
        // The first byte is not the larger one.
        let (x, y) = (world.pool.variable(0, 8), world.pool.variable(1, 8));
        let less = world.pool.binary(Binary::Ult, x, y);
        asker.assume_other(&mut world.pool, less);
        let Outcome::Sat(model) = asker.ask(&mut world, condition) else { panic!("241 times 251") };
        assert_eq!(model.values[&0], 241);
        // A branch before contradicts it.
        let limit = world.pool.constant(8, 250);
        let small = world.pool.binary(Binary::Ult, y, limit);
        asker.assume_branch(&mut world.pool, small);
        assert_eq!(asker.ask(&mut world, condition), Outcome::Unsat);
        // The branches alone contradict it if the product requires this order.
        asker.hard = true;
        let opposite = world.pool.not(less);
        asker.assume_branch(&mut world.pool, opposite);
        assert_eq!(asker.ask(&mut world, less), Outcome::Unsat);
    }

    #[test]
    fn a_hard_question_may_be_answered_with_other_bytes_fixed() {
        let mut world = TermContext::default();
        let _ = product(&mut world);
        let (x, y) = (world.pool.variable(0, 8), world.pool.variable(1, 8));
        let mut asker = DecisionSolver::new(&settings("cvc5"));
        let less = world.pool.binary(Binary::Ult, x, y);
        asker.assume_other(&mut world.pool, less);
        let four = world.pool.constant(8, 4);
        let small = world.pool.binary(Binary::Ult, x, four);
        let opposite = world.pool.not(small);
        let given = |v: u32| world.variables.value(v);
        let Outcome::Sat(model) = asker.with_other_bytes_fixed(&mut world.pool, opposite, &given) else {
            panic!("4 is less than 5")
        };
        assert_eq!((model.value(0, 3), model.value(1, 5)), (4, 5));
    }
}
