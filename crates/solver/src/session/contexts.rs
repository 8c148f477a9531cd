//! Solver processes that hold assumptions from one question to the next.
//!
//! Each question brings a set of linked conditions. A process that holds some of them on its stack
//! keeps these and is told the others, each in a level of its own: what is learnt about them stays
//! while they stay. Questions about unrelated parts of an input take turns on a path, so several
//! stacks are kept, and the one with most in common is used.

use std::collections::HashSet;

use crate::error::Error;
use crate::node::Term;
use crate::pool::Pool;
use crate::process::{Answer, Command, Limits, Solver};

use super::{Model, Outcome, Settings};

/// How many stacks, and so processes of each solver, there are at most.
const STACKS: usize = 4;
/// So many conditions are given up for a new question rather than that a process more is started.
const GIVEN_UP: usize = 16;
/// New conditions are spread over at most this many levels.
const LEVELS: usize = 64;

pub(super) struct Contexts {
    commands: Vec<Command>,
    limits: Limits,
    all: Vec<Context>,
    latest: usize,
    clock: u64,
}

struct Context {
    solver: Solver,
    /// What is asserted, level by level.
    held: Vec<Vec<Term>>,
    used: u64,
}

impl Context {
    /// How many levels hold nothing but wanted conditions, and how many conditions are in them.
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

    /// The solver that answered last.
    pub fn winner(&self) -> String {
        self.all.get(self.latest).map(|context| context.solver.winner()).unwrap_or_default()
    }

    /// Asks a solver; the model has the values of all variables in the conditions.
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
        for level in missing.chunks(missing.len().div_ceil(LEVELS).max(1)) {
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
            // With nothing in common, whoever has least to lose, then whoever waited longest.
            (kept, std::cmp::Reverse(context.size()), std::cmp::Reverse(context.used))
        });
        if let Some((at, context)) = best {
            let (_, kept) = context.common(wanted);
            if context.size() - kept <= GIVEN_UP || self.all.len() >= STACKS {
                return at;
            }
        }
        let solver = Solver::new(self.commands.clone(), self.limits.clone(), false);
        self.all.push(Context { solver, held: Vec::new(), used: 0 });
        self.all.len() - 1
    }
}
