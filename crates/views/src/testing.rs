//! Synthetic traces for tests.

use crate::column::{Budget, Column};
use crate::names::{Names, mix};
use crate::trace::{EventSite, Kind, Method, Object, Row, Shape, Thread, Trace, site_hash};
use std::sync::Arc;

/// An event: its function, the object it accesses, its key.
pub type Said = (u32, u32, u64);

/// A run with a single thread.
pub fn trace(events: &[Said], budget: &Arc<Budget>) -> Trace {
    let mut names = Names::new();
    let methods: Vec<Method> = (0..8)
        .map(|m| {
            let name = names.intern(&format!("f{m}"));
            Method { name, signature: name, file: 0, line: 0 }
        })
        .collect();
    let acts = (0..8)
        .map(|method| EventSite {
            kind: Kind::Set,
            method,
            owner: 0,
            name: 0,
            shape: Shape::Unsigned(4),
            arguments: Arc::new([]),
            file: 0,
            line: 0,
            column: 0,
            hash: site_hash(Kind::Set, 0, 0),
        })
        .collect();
    let ty = names.intern("thing");
    let objects =
        (0..8).map(|n| Object { ty, name: 0, number: n + 1, born: 0, birth: n.into(), written: 0 }).collect();
    let mut rows = Column::new(budget);
    let mut keys = Column::new(budget);
    for (method, target, value) in events {
        rows.push(Row { act: *method % 8, target: *target % 8, active: *target % 8, value: *value }.into());
        keys.push(mix(*value, 7));
    }
    rows.settle().unwrap();
    keys.settle().unwrap();
    Trace {
        names,
        acts,
        methods,
        objects,
        threads: vec![Thread { stream: 0, signal: false, first: 0, last: events.len(), spawned: Vec::new() }],
        rows,
        keys,
        arguments: Column::new(budget),
        instructions: 0,
        seconds: 0.0,
        untyped: Vec::new(),
        decisions: Vec::new(),
        meant: Vec::new(),
        notes: Vec::new(),
        budget: budget.clone(),
    }
}

/// A random program that can be run.
#[derive(Clone)]
pub struct Program {
    /// The steps of each function; a function calls only functions with a higher index, so there is no
    /// recursion.
    functions: Vec<Vec<Step>>,
}

#[derive(Clone, Copy)]
enum Step {
    /// Sets an object's value, which in a loop may depend on the iteration.
    Set {
        object: u32,
        value: u64,
        varies: bool,
    },
    Call {
        function: usize,
        rounds: u64,
    },
}

/// A pseudorandom number generator.
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides.max(1)
    }
}

impl Program {
    pub fn random(dice: &mut Dice) -> Program {
        let functions =
            (0..6).map(|f| (0..3 + dice.roll(8)).map(|_| Step::random(f, dice)).collect()).collect();
        Program { functions }
    }

    /// Makes one random change: modifies, removes, inserts or moves a step.
    pub fn change(&mut self, dice: &mut Dice) {
        let f = dice.roll(self.functions.len() as u64) as usize;
        let steps = &mut self.functions[f];
        let at = dice.roll(steps.len() as u64) as usize;
        match dice.roll(4) {
            0 => steps.insert(at, Step::random(f, dice)),
            1 if steps.len() > 1 => drop(steps.remove(at)),
            2 => {
                let other = dice.roll(steps.len() as u64) as usize;
                steps.swap(at, other);
            }
            _ => steps[at] = Step::random(f, dice),
        }
    }

    /// Runs the program, with at most this many events.
    pub fn run(&self, most: usize) -> Vec<Said> {
        let mut out = Vec::new();
        // Function, step, iteration, remaining iterations.
        let mut stack = vec![(0usize, 0usize, 0u64, 1u64)];
        while let Some((f, step, round, left)) = stack.pop() {
            if out.len() >= most {
                break;
            }
            let Some(next) = self.functions[f].get(step) else {
                if left > 1 {
                    stack.push((f, 0, round + 1, left - 1));
                }
                continue;
            };
            stack.push((f, step + 1, round, left));
            match *next {
                Step::Set { object, value, varies } => {
                    out.push((f as u32, object, value + if varies { round } else { 0 }));
                }
                Step::Call { function, rounds } => {
                    out.push((f as u32, 0, 1_000_000 + function as u64));
                    stack.push((function, 0, 0, rounds));
                }
            }
        }
        out
    }
}

impl Step {
    fn random(function: usize, dice: &mut Dice) -> Step {
        match dice.roll(3) {
            0 if function < 5 => Step::Call {
                function: function + 1 + dice.roll(5 - function as u64) as usize,
                rounds: 1 + dice.roll(6),
            },
            _ => Step::Set {
                object: dice.roll(8) as u32,
                value: 1000 * dice.roll(12),
                varies: dice.roll(2) == 0,
            },
        }
    }
}
