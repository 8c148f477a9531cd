//! Another input for the same path.
//!
//! One session assumes the conditions of a path. For each input byte that they name, it asks whether the byte
//! can have another value. A change that is found is kept, and the next byte is tried on top of it. In the
//! end as many bytes differ as the path allows, as far as such a greedy search finds. A solver only proposes;
//! a run has to confirm that the program takes the same path ([`crate::rerun`]).

use solver::{Binary, Error, Outcome, Session, Settings, Statistics};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};
use symbolic::{Path, TermContext};

/// An input that satisfies the conditions of the same path.
#[derive(Debug, Default)]
pub struct Another {
    /// Bytes that differ, with their new values.
    pub changed: BTreeMap<u32, u128>,
    /// Number of bytes that the conditions name.
    pub named: u64,
    /// Bytes that can have no other value, given those changed before.
    pub fixed: u64,
    /// Bytes for which the solver has no answer or time was up.
    pub unanswered: u64,
    /// The reason for the first of them.
    pub reason: Option<String>,
    /// The first error of a solver.
    pub trouble: Option<Error>,
    /// The solvers' work.
    pub statistics: Statistics,
}

impl Another {
    /// The value of a byte in this input.
    #[must_use]
    pub fn value(&self, world: &TermContext, variable: u32) -> u128 {
        self.changed.get(&variable).copied().unwrap_or_else(|| world.variables.value(variable))
    }

    fn unanswered(&mut self, reason: String) {
        self.unanswered += 1;
        self.reason.get_or_insert(reason);
    }
}

/// Searches for an input that differs from the recorded one as much as the path allows, within a time limit.
pub fn another(world: &mut TermContext, path: &Path, settings: &Settings, time: Duration) -> Another {
    let end = Instant::now() + time;
    let mut session = Session::new(settings.clone());
    for condition in world.nul_free_conditions() {
        session.assume(&mut world.pool, condition);
    }
    let TermContext { pool, variables } = world;
    let mut found = Another::default();
    let mut named: BTreeSet<u32> = BTreeSet::new();
    for condition in path.conditions.iter().filter(|c| !c.repeated) {
        session.assume(pool, condition.term);
        named.extend(pool.variables(condition.term).iter());
    }
    found.named = named.len() as u64;
    for variable in named {
        let old = variables.value(variable);
        let byte = pool.variable(variable, 8);
        let value = pool.constant(8, old);
        let same = pool.binary(Binary::Eq, byte, value);
        let other = pool.not(same);
        if !found.changed.contains_key(&variable) {
            if Instant::now() >= end {
                found.unanswered(format!("time was up after {} s", time.as_secs()));
                continue;
            }
            let given = |v: u32| found.changed.get(&v).copied().unwrap_or_else(|| variables.value(v));
            match session.ask(pool, other, &given) {
                Ok(Outcome::Sat(model)) => {
                    let changes = model.changes(&given);
                    for (changed, value) in changes {
                        // Only a byte that was not asked for may return to its recorded value.
                        if value == variables.value(changed) {
                            found.changed.remove(&changed);
                        } else {
                            found.changed.insert(changed, value);
                        }
                    }
                }
                Ok(Outcome::Unsat) => {
                    found.fixed += 1;
                    continue;
                }
                Ok(Outcome::Unknown(reason)) => {
                    found.unanswered(reason);
                    continue;
                }
                Err(error) => {
                    found.unanswered(format!("failed to {error}"));
                    found.trouble.get_or_insert(error);
                    continue;
                }
            }
        }
        // The byte must stay changed while the others are tried.
        session.assume(pool, other);
    }
    found.statistics = session.statistics();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use solver::Term;
    use symbolic::{At, Condition, Kind, Origin};

    /// A path with random conditions over three bytes, with the input that takes it.
    fn path(world: &mut TermContext, given: [u8; 3], tests: &[(usize, usize, u8, u8)]) -> Path {
        let stdin = world.variables.origin(&Origin::Stdin);
        let bytes: Vec<Term> = (0..3)
            .map(|n| {
                let (variable, _) = world.variables.byte(stdin, n as u64, given[n]);
                world.pool.variable(variable, 8)
            })
            .collect();
        let mut conditions = Vec::new();
        for &(a, b, add, how) in tests {
            let add = world.pool.constant(8, add.into());
            let sum = world.pool.binary(Binary::Add, bytes[a], add);
            let how = [Binary::Ult, Binary::Ule, Binary::Eq][usize::from(how)];
            let term = world.pool.binary(how, sum, bytes[b]);
            let holds = world.pool.evaluate(term, &|v| given[v as usize].into()) == 1;
            let term = if holds { term } else { world.pool.not(term) };
            conditions.push(Condition {
                term,
                kind: Kind::Branch,
                at: At::default(),
                computed: None,
                direction: 1,
                reason: None,
                repeated: false,
            });
        }
        Path {
            stream: 0,
            conditions,
            losses: Vec::new(),
            outputs: Vec::new(),
            environment: Vec::new(),
            read: Vec::new(),
            status: None,
            end: None,
            counters: replay::machine::Counters::default(),
            touched: 0,
        }
    }

    proptest! {
        #[test]
        fn what_is_found_takes_the_way_and_what_is_fixed_is(
            given in any::<[u8; 3]>(),
            tests in prop::collection::vec((0..3_usize, 0..3_usize, any::<u8>(), 0..3_u8), 1..6),
        ) {
            let mut world = TermContext::default();
            let path = path(&mut world, given, &tests);
            let found = another(&mut world, &path, &Settings::default(), Duration::from_secs(60));
            prop_assert_eq!(found.unanswered, 0, "bytes are easy: {:?}", found.reason);
            prop_assert_eq!(path.follows(&world, &|v| found.value(&world, v)), None);
            let different = found.changed.len() as u64;
            prop_assert_eq!(different + found.fixed, found.named);
            for (variable, value) in &found.changed {
                prop_assert_ne!(*value, u128::from(given[*variable as usize]));
            }
            // If nothing was changed, no single byte can be: try all values.
            if different == 0 {
                for at in 0..3 {
                    for value in 0..=255_u8 {
                        let mut input = given;
                        input[at] = value;
                        let goes = path.follows(&world, &|v| input[v as usize].into()).is_none();
                        let named = path.conditions.iter().any(|c| world.pool.variables(c.term).contains(&(at as u32)));
                        prop_assert!(!goes || !named || value == given[at]);
                    }
                }
            }
        }
    }

    #[test]
    fn time_that_is_up_is_told() {
        let mut world = TermContext::default();
        let path = path(&mut world, [1, 2, 3], &[(0, 1, 0, 0)]);
        let found = another(&mut world, &path, &Settings::default(), Duration::ZERO);
        assert_eq!((found.changed.len(), found.unanswered), (0, 2));
        assert!(found.reason.is_some_and(|reason| reason.contains("time was up")));
    }
}
