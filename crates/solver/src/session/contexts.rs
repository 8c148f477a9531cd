//! Solver processes that keep assumptions between queries.
//!
//! Each query has a set of linked conditions. A process that has some of them on its stack keeps these and
//! receives the others, in levels of their own: what the solver learnt about them stays valid while they
//! stay on the stack. Queries about unrelated parts of an input alternate on a path, so several stacks are
//! kept, and the one with most conditions in common is used.

use std::collections::HashSet;

use crate::error::Error;
use crate::node::Term;
use crate::pool::Pool;
use crate::process::{Answer, Command, Limits, Solver};

use super::{Model, Outcome, Settings};

/// Maximum number of stacks, and so of processes of each solver.
const MAX_STACKS: usize = 4;
/// At most so many conditions are popped for a new query before another stack is started instead.
const MAX_POPPED: usize = 16;
/// Maximum number of levels for new conditions.
const MAX_NEW_LEVELS: usize = 64;

pub(super) struct Contexts {
    commands: Vec<Command>,
    limits: Limits,
    all: Vec<Context>,
    latest: usize,
    clock: u64,
}

struct Context {
    solver: Solver,
    /// The asserted conditions, level by level.
    held: Vec<Vec<Term>>,
    used: u64,
}

impl Context {
    /// The number of bottom levels that have only wanted conditions, and the number of conditions in them.
    fn common(&self, wanted: &HashSet<Term>) -> (usize, usize) {
        let kept = self.held.iter().take_while(|level| level.iter().all(|t| wanted.contains(t))).count();
        (kept, self.held[..kept].iter().map(Vec::len).sum())
    }

    fn size(&self) -> usize {
        self.held.iter().map(Vec::len).sum()
    }
}

impl Contexts {
    pub fn new(settings: &Settings) -> Contexts {
        let (commands, limits) = (settings.commands.clone(), settings.limits.clone());
        Contexts { commands, limits, all: Vec::new(), latest: 0, clock: 0 }
    }

    pub fn restarts(&self) -> u64 {
        self.all.iter().map(|context| context.solver.restarts()).sum()
    }

    /// The name of the solver that answered last.
    pub fn winner(&self) -> String {
        self.all.get(self.latest).map(|context| context.solver.winner()).unwrap_or_default()
    }

    /// Decides the conditions with a solver; the model has values of all variables in them.
    pub fn decide(&mut self, pool: &Pool, linked: &[Term], query: &[Term]) -> Result<Outcome, Error> {
        let wanted: HashSet<Term> = linked.iter().copied().collect();
        self.latest = self.choose(&wanted);
        self.clock += 1;
        let context = &mut self.all[self.latest];
        context.used = self.clock;
        let (levels, _) = context.common(&wanted);
        while context.held.len() > levels {
            context.held.pop();
            context.solver.pop();
        }
        let held: HashSet<Term> = context.held.iter().flatten().copied().collect();
        let missing: Vec<Term> = linked.iter().copied().filter(|t| !held.contains(t)).collect();
        for level in missing.chunks(missing.len().div_ceil(MAX_NEW_LEVELS).max(1)) {
            context.solver.push();
            for &condition in level {
                context.solver.assert(pool, condition);
            }
            context.held.push(level.to_vec());
        }
        let solver = &mut context.solver;
        solver.push();
        for &condition in query {
            solver.assert(pool, condition);
        }
        let outcome = solver.check().and_then(|answer| {
            Ok(match answer {
                Answer::Unsat => Outcome::Unsat,
                Answer::Unknown(reason) => Outcome::Unknown(reason),
                Answer::Sat => {
                    let variables = super::variables(pool, linked.iter().chain(query).copied());
                    let values = solver.values(&variables)?;
                    Outcome::Sat(Model { values: values.into_iter().collect() })
                }
            })
        });
        solver.pop();
        outcome
    }

    fn choose(&mut self, wanted: &HashSet<Term>) -> usize {
        let best = self.all.iter().enumerate().max_by_key(|(_, context)| {
            let (_, kept) = context.common(wanted);
            // Without common conditions, the stack with the fewest conditions, then the least recently used.
            (kept, std::cmp::Reverse(context.size()), std::cmp::Reverse(context.used))
        });
        if let Some((at, context)) = best {
            let (_, kept) = context.common(wanted);
            if context.size() - kept <= MAX_POPPED || self.all.len() >= MAX_STACKS {
                return at;
            }
        }
        let solver = Solver::new(self.commands.clone(), self.limits.clone(), false);
        self.all.push(Context { solver, held: Vec::new(), used: 0 });
        self.all.len() - 1
    }
}
