//! One question: can this be decided the other way, with everything else as assumed?
//!
//! All questions of a direction go to one session, which holds the path condition of the other
//! version and, as the search goes on, the branches before the one in question; so each is told to a
//! solver once. A question that turns out to be hard is made easier:
//!
//! 1. without the other version's conditions: if the branch cannot go the other way even then, it
//!    never can (many branches repeat an earlier test). Once one question has been slow, this comes
//!    first;
//! 2. with every input byte fixed that the branch itself does not depend on. What is found so is as
//!    good; that nothing is found means nothing.

use solver::{Error, Evaluation, Outcome, Pool, Session, Settings, Statistics, Term};
use std::collections::HashSet;
use std::time::{Duration, Instant};
use symbolic::World;

/// A question that takes longer is hard.
const HARD: Duration = Duration::from_secs(1);
/// Time for the question without the other version's conditions.
const PRECHECK: Duration = Duration::from_secs(10);

pub(crate) struct Asker {
    session: Session,
    settings: Settings,
    /// The branches so far, for the questions without the other version.
    before: Vec<Term>,
    /// A session for those, and how many branches it has been told.
    bare: Option<(Session, usize)>,
    hard: bool,
}

impl Asker {
    pub fn new(settings: &Settings) -> Asker {
        Asker {
            session: Session::new(settings.clone()),
            settings: settings.clone(),
            before: Vec::new(),
            bare: None,
            hard: false,
        }
    }

    /// A condition of the other version.
    pub fn hold(&mut self, pool: &mut Pool, condition: Term) {
        self.session.assume(pool, condition);
    }

    /// A branch that the next questions come behind.
    pub fn pass(&mut self, pool: &mut Pool, condition: Term) {
        self.session.assume(pool, condition);
        self.before.push(condition);
    }

    pub fn statistics(&self) -> Statistics {
        let mut all = self.session.statistics();
        if let Some((bare, _)) = &self.bare {
            let more = bare.statistics();
            all.solved += more.solved;
            all.enumerated += more.enumerated;
            all.solver_time += more.solver_time;
            all.restarts += more.restarts;
        }
        all
    }

    /// Whether the opposite of a condition can hold with everything assumed.
    ///
    /// # Errors
    /// If there is no solver. What a solver does wrong is an unknown answer.
    pub fn ask(&mut self, world: &mut World, condition: Term) -> Result<Outcome, Error> {
        let World { pool, variables } = world;
        let given = |v: u32| variables.value(v);
        let opposite = pool.not(condition);
        if self.hard && self.impossible_before(pool, opposite, &given)? {
            return Ok(Outcome::Unsat);
        }
        let start = Instant::now();
        let outcome = answered(self.session.ask(pool, opposite, &given))?;
        let slow = start.elapsed() >= HARD;
        let Outcome::Unknown(reason) = outcome else {
            self.hard |= slow;
            return Ok(outcome);
        };
        if !self.hard && self.impossible_before(pool, opposite, &given)? {
            self.hard |= slow;
            return Ok(Outcome::Unsat);
        }
        self.hard |= slow;
        match self.narrowed(pool, opposite, &given)? {
            found @ Outcome::Sat(_) => Ok(found),
            _ => Ok(Outcome::Unknown(reason)),
        }
    }

    /// Whether the branches before rule a condition out by themselves.
    fn impossible_before(
        &mut self,
        pool: &mut Pool,
        condition: Term,
        given: &dyn Fn(u32) -> u128,
    ) -> Result<bool, Error> {
        let (bare, told) = self.bare.get_or_insert_with(|| {
            let mut settings = self.settings.clone();
            settings.limits.timeout = settings.limits.timeout.min(PRECHECK);
            (Session::new(settings), 0)
        });
        for &term in &self.before[*told..] {
            bare.assume(pool, term);
        }
        *told = self.before.len();
        Ok(answered(bare.ask(pool, condition, given))? == Outcome::Unsat)
    }

    /// The question with all bytes fixed that the condition does not name.
    fn narrowed(
        &mut self,
        pool: &mut Pool,
        condition: Term,
        given: &dyn Fn(u32) -> u128,
    ) -> Result<Outcome, Error> {
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

/// What a solver does wrong concerns this question only.
fn answered(outcome: Result<Outcome, Error>) -> Result<Outcome, Error> {
    match outcome {
        Err(error @ (Error::NoSolver | Error::Start { .. })) => Err(error),
        Err(error) => Ok(Outcome::Unknown(format!("failed to {error}"))),
        answer => answer,
    }
}

/// Whether conditions hold under values.
pub(crate) fn holds(
    pool: &Pool,
    conditions: impl IntoIterator<Item = Term>,
    value: &dyn Fn(u32) -> u128,
) -> bool {
    let mut evaluation = Evaluation::new(pool, value);
    conditions.into_iter().all(|condition| evaluation.of(condition) == 1)
}
