//! Queries along a path, with as little solving as possible.
//!
//! A session has assumptions, the conditions of a path so far, and is queried for further conditions. For
//! each query
//!
//! 1. only the assumptions that are linked to it by common variables count (`groups`): the others hold
//!    already, and their variables keep their values;
//! 2. earlier answers are reused, and earlier models are tried (`cache`);
//! 3. bytes are enumerated where single bytes decide (`bytes`), or where changing one suffices
//!    (`local_search`);
//! 4. a SAT solver in this process tries for a short time (`crate::circuit`);
//! 5. a solver process that has most of these assumptions already receives the rest (`contexts`).
//!
//! Every model is checked by evaluation before it is returned.

mod bytes;
mod cache;
mod contexts;
mod cores;
mod groups;
mod local_search;

use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, Instant};

use crate::circuit::{Circuit, CircuitAnswer};
use crate::error::Error;
use crate::evaluate::Evaluation;
use crate::node::{Binary, Node, Term, Unary};
use crate::pool::Pool;
use crate::process::{Command, Limits, Solver};
use bytes::Bytes;
use cache::Cache;
use contexts::Contexts;
use groups::Groups;

pub use cores::Core;

/// Budget, in evaluations of conditions, for moving a model towards the given values one variable at a time.
const MINIMISE_BUDGET: usize = 20_000;

/// Name of the solver in this process, in messages.
const INTERNAL_SOLVER: &str = "in this process";

/// Settings of a session.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The solvers to use, in order of preference.
    pub commands: Vec<Command>,
    /// Limits of solver processes.
    pub limits: Limits,
    /// Timeout of the solver in this process, before a solver process is used.
    pub internal_timeout: Duration,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            commands: Vec::new(),
            limits: Limits::default(),
            internal_timeout: Duration::from_millis(300),
        }
    }
}

/// A model of a query: values of all variables linked to it. The others keep the given values.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Model {
    /// By variable.
    pub values: BTreeMap<u32, u128>,
}

impl Model {
    /// A variable's value, with the given one as default.
    pub fn value(&self, variable: u32, given: u128) -> u128 {
        self.values.get(&variable).copied().unwrap_or(given)
    }

    /// The variables whose values differ from the given ones, with their new values.
    pub fn changes(&self, given: &dyn Fn(u32) -> u128) -> Vec<(u32, u128)> {
        let changed =
            |(&variable, &value): (&u32, &u128)| (value != given(variable)).then_some((variable, value));
        self.values.iter().filter_map(changed).collect()
    }
}

/// The answer to a query.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It is satisfiable, by this model.
    Sat(Model),
    /// It is unsatisfiable.
    Unsat,
    /// Undecided, with the reason.
    Unknown(String),
}

/// Counts of queries, by what answered them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// All queries, also those of cores.
    pub queries: u64,
    /// The condition was constant, or the negation of an assumption.
    pub constant: u64,
    /// The same query had been answered before.
    pub cached: u64,
    /// An earlier model satisfied it.
    pub reused: u64,
    /// By enumeration of a byte's values.
    pub enumerated: u64,
    /// By changing a single byte.
    pub moved: u64,
    /// By the SAT solver in this process.
    pub internal: u64,
    /// By a solver process.
    pub solved: u64,
    /// Those of them without an answer.
    pub unknown: u64,
    /// Restarts of processes.
    pub restarts: u64,
    /// Time spent in this process's own solver, including failed attempts.
    pub internal_time: Duration,
    /// Time spent waiting for solver processes.
    pub solver_time: Duration,
}

/// Assumptions, and everything learnt while answering queries. All terms must belong to one pool.
pub struct Session {
    settings: Settings,
    /// In the order in which they were assumed, with conjunctions split.
    assumed: Vec<Term>,
    known: HashSet<Term>,
    impossible: bool,
    groups: Groups,
    cache: Cache,
    bytes: Bytes,
    circuit: Circuit,
    contexts: Contexts,
    /// A solver process with unsat cores enabled.
    cores: Option<Solver>,
    statistics: Statistics,
}

impl Session {
    /// A session without assumptions; solver processes are started when needed.
    pub fn new(settings: Settings) -> Session {
        Session {
            contexts: Contexts::new(&settings),
            settings,
            assumed: Vec::new(),
            known: HashSet::new(),
            impossible: false,
            groups: Groups::default(),
            cache: Cache::default(),
            bytes: Bytes::default(),
            circuit: Circuit::new(),
            cores: None,
            statistics: Statistics::default(),
        }
    }

    /// The counts so far.
    pub fn statistics(&self) -> Statistics {
        Statistics {
            restarts: self.contexts.restarts() + self.cores.as_ref().map_or(0, Solver::restarts),
            ..self.statistics
        }
    }

    /// The assumptions, with conjunctions split and without duplicates.
    pub fn assumed(&self) -> &[Term] {
        &self.assumed
    }

    /// Adds an assumption.
    pub fn assume(&mut self, pool: &mut Pool, condition: Term) {
        for part in conjuncts(pool, condition) {
            match pool.as_constant(part) {
                Some(0) => self.impossible = true,
                Some(_) => {}
                None => {
                    if self.known.insert(part) {
                        self.groups.add(pool, part, self.assumed.len());
                        self.assumed.push(part);
                    }
                }
            }
        }
    }

    /// Drops all assumptions. The cache stays, and processes keep their stacks.
    pub fn clear(&mut self) {
        self.assumed.clear();
        self.known.clear();
        self.impossible = false;
        self.groups = Groups::default();
    }

    /// Whether a condition is satisfiable together with the assumptions.
    ///
    /// `given` are values that satisfy the assumptions. Variables that are not linked to the condition keep
    /// them, and others do where that is cheap to find.
    pub fn ask(
        &mut self,
        pool: &mut Pool,
        condition: Term,
        given: &dyn Fn(u32) -> u128,
    ) -> Result<Outcome, Error> {
        self.statistics.queries += 1;
        if self.impossible {
            self.statistics.constant += 1;
            return Ok(Outcome::Unsat);
        }
        let mut query = Vec::new();
        for part in conjuncts(pool, condition) {
            let opposite = pool.not(part);
            if pool.as_constant(part) == Some(0) || self.known.contains(&opposite) {
                self.statistics.constant += 1;
                return Ok(Outcome::Unsat);
            }
            if pool.as_constant(part).is_none() && !self.known.contains(&part) {
                query.push(part);
            }
        }
        if query.is_empty() {
            self.statistics.constant += 1;
            return Ok(Outcome::Sat(Model::default()));
        }
        let linked: Vec<Term> =
            self.groups.linked(pool, &query).into_iter().map(|at| self.assumed[at]).collect();
        self.decide(pool, &linked, &query, given)
    }

    /// Whether conditions are satisfiable together, without the assumptions. `given` is kept for each group
    /// of linked conditions that it satisfies.
    pub fn solve(
        &mut self,
        pool: &mut Pool,
        conditions: &[Term],
        given: &dyn Fn(u32) -> u128,
    ) -> Result<Outcome, Error> {
        self.statistics.queries += 1;
        let mut groups = Groups::default();
        let mut parts: Vec<Term> = Vec::new();
        let mut seen = HashSet::new();
        for &condition in conditions {
            for part in conjuncts(pool, condition) {
                match pool.as_constant(part) {
                    Some(0) => {
                        self.statistics.constant += 1;
                        return Ok(Outcome::Unsat);
                    }
                    None if seen.insert(part) => {
                        groups.add(pool, part, parts.len());
                        parts.push(part);
                    }
                    _ => {}
                }
            }
        }
        let mut all = Model::default();
        for group in groups.all() {
            let group: Vec<Term> = group.into_iter().map(|at| parts[at]).collect();
            if holds(pool, &group, given) {
                continue;
            }
            match self.decide(pool, &group, &[], given)? {
                Outcome::Sat(model) => all.values.extend(model.values),
                other => return Ok(other),
            }
        }
        Ok(Outcome::Sat(all))
    }

    /// Decides linked conditions; `query` are the new ones.
    fn decide(
        &mut self,
        pool: &Pool,
        linked: &[Term],
        query: &[Term],
        given: &dyn Fn(u32) -> u128,
    ) -> Result<Outcome, Error> {
        let all: Vec<Term> = linked.iter().chain(query).copied().collect();
        if let Some(outcome) = self.cache.get(&all) {
            self.statistics.cached += 1;
            return Ok(outcome);
        }
        // The new conditions are the ones that fail, so they are evaluated first.
        let order: Vec<Term> = query.iter().chain(linked.iter().rev()).copied().collect();
        if let Some(model) = self.cache.model(|model| holds(pool, &order, &|v| model.value(v, given(v)))) {
            self.statistics.reused += 1;
            let model = complete_model(pool, &all, &model, given);
            let outcome = Outcome::Sat(minimise_change(pool, &all, model, given));
            self.cache.put(&all, &outcome);
            return Ok(outcome);
        }
        let mut solver = None;
        let outcome = if let Some(outcome) = self.bytes.decide(pool, linked, query, given) {
            self.statistics.enumerated += 1;
            outcome
        } else if let Some(model) = local_search::change_one_byte(pool, &all, given) {
            self.statistics.moved += 1;
            Outcome::Sat(complete_model(pool, &all, &model, given))
        } else if let Some(answer) = self.try_internally(pool, &all) {
            match answer {
                InternalAnswer::Sat(model) => Outcome::Sat(model),
                InternalAnswer::Unsat(_) => Outcome::Unsat,
            }
        } else {
            self.statistics.solved += 1;
            let start = Instant::now();
            let found = self.contexts.decide(pool, linked, query);
            self.statistics.solver_time += start.elapsed();
            solver = Some(self.contexts.winner());
            found?
        };
        let outcome = match outcome {
            Outcome::Sat(model) => {
                if !holds(pool, &all, &|v| model.value(v, given(v))) {
                    return Err(Error::WrongModel {
                        solver: solver.unwrap_or_else(|| INTERNAL_SOLVER.to_owned()),
                    });
                }
                Outcome::Sat(minimise_change(pool, &all, model, given))
            }
            other => other,
        };
        self.statistics.unknown += u64::from(matches!(outcome, Outcome::Unknown(_)));
        self.cache.put(&all, &outcome);
        Ok(outcome)
    }
}

impl Session {
    /// An answer of the solver in this process, within its timeout.
    fn try_internally(&mut self, pool: &Pool, conditions: &[Term]) -> Option<InternalAnswer> {
        if self.settings.internal_timeout.is_zero() {
            return None;
        }
        let start = Instant::now();
        let decided = self.circuit.decide(pool, conditions, self.settings.internal_timeout);
        self.statistics.internal_time += start.elapsed();
        let answer = match decided {
            CircuitAnswer::Undecided => return None,
            CircuitAnswer::Unsat(core) => InternalAnswer::Unsat(core),
            CircuitAnswer::Sat(known) => {
                let variables = variables(pool, conditions.iter().copied());
                let values = variables.into_iter().filter_map(|v| Some((v, *known.get(&v)?))).collect();
                InternalAnswer::Sat(Model { values })
            }
        };
        self.statistics.internal += 1;
        Some(answer)
    }
}

/// The answer of the solver in this process.
enum InternalAnswer {
    Sat(Model),
    Unsat(Vec<Term>),
}

/// The variables of conditions, without duplicates.
fn variables(pool: &Pool, conditions: impl Iterator<Item = Term>) -> Vec<u32> {
    let mut all: Vec<u32> = Vec::new();
    for condition in conditions {
        all.extend(pool.variables(condition).iter());
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// The parts of a conjunction, in order.
pub(crate) fn conjuncts(pool: &mut Pool, condition: Term) -> Vec<Term> {
    let mut parts = Vec::new();
    let mut stack = vec![condition];
    while let Some(t) = stack.pop() {
        match pool.node(t) {
            Node::Binary(Binary::And, a, b) if pool.width(t) == 1 => stack.extend([b, a]),
            Node::Unary(Unary::Not, inner) if pool.width(t) == 1 => match pool.node(inner) {
                // De Morgan.
                Node::Binary(Binary::Or, a, b) => {
                    let (a, b) = (pool.not(a), pool.not(b));
                    stack.extend([b, a]);
                }
                _ => parts.push(t),
            },
            _ => parts.push(t),
        }
    }
    parts
}

/// Whether all conditions hold.
fn holds(pool: &Pool, conditions: &[Term], value: &dyn Fn(u32) -> u128) -> bool {
    let mut evaluation = Evaluation::new(pool, value);
    conditions.iter().all(|&condition| evaluation.of(condition) == 1)
}

/// Values of all variables of these conditions, from a model and the given values.
fn complete_model(pool: &Pool, conditions: &[Term], model: &Model, given: &dyn Fn(u32) -> u128) -> Model {
    let mut values = BTreeMap::new();
    for &condition in conditions {
        for &variable in pool.variables(condition).iter() {
            values.entry(variable).or_insert_with(|| model.value(variable, given(variable)));
        }
    }
    Model { values }
}

/// Restores given values in a model wherever all conditions still hold: an input that is changed in few
/// places is easier to understand.
fn minimise_change(pool: &Pool, conditions: &[Term], mut model: Model, given: &dyn Fn(u32) -> u128) -> Model {
    let mut budget = MINIMISE_BUDGET;
    let variables: Vec<u32> = model.values.keys().copied().collect();
    for variable in variables {
        let old = model.value(variable, 0);
        if old == given(variable) {
            continue;
        }
        // Only conditions on this variable can fail now.
        let concerned: Vec<Term> = conditions
            .iter()
            .copied()
            .filter(|&t| pool.few_variables(t).is_none_or(|few| few.contains(&variable)))
            .collect();
        if concerned.len() > budget {
            continue;
        }
        budget -= concerned.len();
        model.values.insert(variable, given(variable));
        if !holds(pool, &concerned, &|v| model.value(v, given(v))) {
            model.values.insert(variable, old);
        }
    }
    model
}

#[cfg(test)]
mod tests;
