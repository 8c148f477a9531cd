//! Minimal unsatisfiable cores.
//!
//! A solver's core is a start and rarely minimal. Conditions are removed one by one: if the rest is still
//! unsatisfiable, its own core is the next, smaller, set; if not, the condition is needed, also in every
//! smaller set. Models of satisfiable rests are kept: one that also satisfies another rest saves a query.

use std::collections::HashSet;

use crate::error::Error;
use crate::node::Term;
use crate::pool::Pool;
use crate::process::{Answer, Solver};

use super::groups::Groups;
use super::{INTERNAL_SOLVER, InternalAnswer, Model, Session, holds};

/// An unsatisfiable core of conditions, or the result that there is none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Core {
    /// Some of the conditions are unsatisfiable together.
    Unsat {
        /// Indices of the conditions, in ascending order.
        members: Vec<usize>,
        /// Without any one of them the others are satisfiable; otherwise this is unknown for some of them.
        minimal: bool,
    },
    /// All conditions are satisfiable together.
    Sat,
    /// Undecided, with the reason.
    Unknown(String),
}

/// The result for a set of conditions.
enum Verdict {
    Sat(Model),
    Unsat(Vec<usize>),
    Unknown(String),
}

impl Session {
    /// A minimal core of conditions, without the session's assumptions.
    pub fn core(&mut self, pool: &Pool, conditions: &[Term]) -> Result<Core, Error> {
        if let Some(at) = conditions.iter().position(|&t| pool.as_constant(t) == Some(0)) {
            return Ok(Core::Unsat { members: vec![at], minimal: true });
        }
        let mut groups = Groups::default();
        let mut seen = HashSet::new();
        for (at, &condition) in conditions.iter().enumerate() {
            if pool.as_constant(condition).is_none() && seen.insert(condition) {
                groups.add(pool, condition, at);
            }
        }
        let mut unknown = None;
        for group in groups.all() {
            match self.verdict(pool, conditions, &group)? {
                Verdict::Sat(_) => {}
                Verdict::Unknown(reason) => drop(unknown.get_or_insert(reason)),
                Verdict::Unsat(core) => return self.minimise(pool, conditions, core),
            }
        }
        Ok(unknown.map_or(Core::Sat, Core::Unknown))
    }

    fn minimise(&mut self, pool: &Pool, conditions: &[Term], core: Vec<usize>) -> Result<Core, Error> {
        let mut core = core;
        let mut needed: HashSet<usize> = HashSet::new();
        let mut minimal = true;
        let mut models: Vec<Model> = Vec::new();
        while let Some(&candidate) = core.iter().find(|at| !needed.contains(at)) {
            let rest: Vec<usize> = core.iter().copied().filter(|&at| at != candidate).collect();
            let terms: Vec<Term> = rest.iter().map(|&at| conditions[at]).collect();
            if models.iter().any(|model| holds(pool, &terms, &|v| model.value(v, 0))) {
                needed.insert(candidate);
                continue;
            }
            match self.verdict(pool, conditions, &rest)? {
                Verdict::Unsat(smaller) => core = smaller,
                Verdict::Sat(model) => {
                    needed.insert(candidate);
                    models.push(model);
                }
                Verdict::Unknown(_) => {
                    needed.insert(candidate);
                    minimal = false;
                }
            }
        }
        core.sort_unstable();
        Ok(Core::Unsat { members: core, minimal })
    }

    fn verdict(&mut self, pool: &Pool, conditions: &[Term], set: &[usize]) -> Result<Verdict, Error> {
        if set.is_empty() {
            return Ok(Verdict::Sat(Model::default()));
        }
        self.statistics.queries += 1;
        let terms: Vec<Term> = set.iter().map(|&at| conditions[at]).collect();
        match self.try_internally(pool, &terms) {
            Some(InternalAnswer::Unsat(core)) => {
                let core: HashSet<Term> = core.into_iter().collect();
                let mut seen = HashSet::new();
                // Keeps one of several equal conditions.
                let needed = |at: &usize| core.contains(&conditions[*at]) && seen.insert(conditions[*at]);
                return Ok(Verdict::Unsat(set.iter().copied().filter(needed).collect()));
            }
            Some(InternalAnswer::Sat(model)) => {
                return checked(pool, &terms, model, || INTERNAL_SOLVER.to_owned());
            }
            None => {}
        }
        self.statistics.solved += 1;
        let start = std::time::Instant::now();
        let (commands, limits) = (&self.settings.commands, &self.settings.limits);
        let solver = self.cores.get_or_insert_with(|| Solver::new(commands.clone(), limits.clone(), true));
        solver.push();
        for &at in set {
            solver.assert_named(pool, conditions[at], at as u32);
        }
        let verdict = decided(solver, pool, conditions, set);
        solver.pop();
        self.statistics.solver_time += start.elapsed();
        self.statistics.unknown += u64::from(matches!(verdict, Ok(Verdict::Unknown(_))));
        verdict
    }
}

fn decided(solver: &mut Solver, pool: &Pool, conditions: &[Term], set: &[usize]) -> Result<Verdict, Error> {
    match solver.check()? {
        Answer::Unknown(reason) => Ok(Verdict::Unknown(reason)),
        Answer::Unsat => {
            let named: HashSet<usize> = solver.core()?.into_iter().map(|name| name as usize).collect();
            let core: Vec<usize> = set.iter().copied().filter(|at| named.contains(at)).collect();
            // An empty core would mean that the empty conjunction is unsatisfiable.
            Ok(Verdict::Unsat(if core.is_empty() { set.to_vec() } else { core }))
        }
        Answer::Sat => {
            let terms: Vec<Term> = set.iter().map(|&at| conditions[at]).collect();
            let mut variables: Vec<u32> =
                terms.iter().flat_map(|&t| pool.variables(t).into_owned()).collect();
            variables.sort_unstable();
            variables.dedup();
            let model = Model { values: solver.values(&variables)?.into_iter().collect() };
            checked(pool, &terms, model, || solver.winner())
        }
    }
}

/// Checks a model by evaluation.
fn checked(pool: &Pool, terms: &[Term], model: Model, solver: impl Fn() -> String) -> Result<Verdict, Error> {
    if holds(pool, terms, &|v| model.value(v, 0)) {
        Ok(Verdict::Sat(model))
    } else {
        Err(Error::WrongModel { solver: solver() })
    }
}
