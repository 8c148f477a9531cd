//! Queries that single bytes decide, by enumeration of all values.
//!
//! The values of a variable that satisfy a condition are a set of at most 256 bits, computed once per
//! condition: for all values at once, node by node. A query about one byte is the intersection of such sets,
//! and a query about several fails at once if some byte has no value left.

use std::collections::BTreeMap;

use crate::evaluate::Evaluation;
use crate::float;
use crate::node::{Array, ArrayNode, Node, Term};
use crate::pool::Pool;
use crate::semantics;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Model, Outcome};

/// Maximum width of an enumerated variable.
const WIDTH: u32 = 8;
const BYTE_VALUES: usize = 1 << WIDTH;
/// Conditions with more nodes are left to solvers: each node takes 4 KiB here.
const MAX_NODES_PER_QUERY: usize = 256;

/// A set of values.
pub(super) type Set = [u64; BYTE_VALUES / 64];

#[derive(Default)]
pub(super) struct Bytes {
    /// For each condition over one byte, the byte and its satisfying values.
    sets: FxHashMap<Term, Option<(u32, Set)>>,
}

impl Bytes {
    /// An outcome, if enumeration of single bytes decides it.
    pub fn decide(
        &mut self,
        pool: &Pool,
        linked: &[Term],
        query: &[Term],
        given: &dyn Fn(u32) -> u128,
    ) -> Option<Outcome> {
        let mut left: BTreeMap<u32, Set> = BTreeMap::new();
        let mut complete = true;
        for &condition in query.iter().chain(linked) {
            match self.set(pool, condition) {
                Some((variable, set)) => {
                    let left = left.entry(variable).or_insert([!0; BYTE_VALUES / 64]);
                    for (left, set) in left.iter_mut().zip(set) {
                        *left &= set;
                    }
                    if left.iter().all(|&word| word == 0) {
                        return Some(Outcome::Unsat);
                    }
                }
                None => complete = false,
            }
        }
        if !complete {
            return None;
        }
        let values = left.into_iter().map(|(variable, set)| (variable, nearest(&set, given(variable))));
        Some(Outcome::Sat(Model { values: values.collect() }))
    }

    fn set(&mut self, pool: &Pool, condition: Term) -> Option<(u32, Set)> {
        *self.sets.entry(condition).or_insert_with(|| {
            let &[variable] = pool.few_variables(condition)? else { return None };
            Some((variable, values(pool, condition)?))
        })
    }
}

/// The member of a set nearest to a value.
pub(super) fn nearest(set: &Set, value: u128) -> u128 {
    let members = (0..BYTE_VALUES as u128).filter(|&at| set[at as usize / 64] >> (at % 64) & 1 == 1);
    members.min_by_key(|member| member.abs_diff(value)).unwrap_or_default()
}

/// The values of a condition's only variable that satisfy it.
fn values(pool: &Pool, condition: Term) -> Option<Set> {
    let mut left = usize::MAX;
    ValueRows::new(pool, &|_| 0).values(condition, None, &mut left)
}

/// Values of terms for all values of one variable, with the other variables as given.
pub(super) struct ValueRows<'a> {
    pool: &'a Pool,
    /// The values of terms that do not depend on the variable.
    fixed: Evaluation<'a>,
    rows: FxHashMap<Term, Box<[u128; BYTE_VALUES]>>,
}

impl<'a> ValueRows<'a> {
    pub fn new(pool: &'a Pool, given: &'a dyn Fn(u32) -> u128) -> ValueRows<'a> {
        ValueRows { pool, fixed: Evaluation::new(pool, given), rows: FxHashMap::default() }
    }

    /// Whether a condition holds under the given values.
    pub fn holds(&mut self, condition: Term) -> bool {
        self.fixed.of(condition) == 1
    }

    /// Discards the rows that depend on the variable that was varied.
    pub fn next_variable(&mut self) {
        self.rows.clear();
    }

    /// The values of a variable that satisfy a condition; if `variable` is `None`, of its only variable.
    /// `None` if the variable is too wide, or if more rows were needed than are left.
    pub fn values(&mut self, condition: Term, variable: Option<Term>, left: &mut usize) -> Option<Set> {
        let order = self.dependent(condition, variable)?;
        *left = left.checked_sub(order.len())?;
        let mut count = BYTE_VALUES;
        for t in order {
            let width = self.pool.width(t);
            if let Node::Variable(_) = self.pool.node(t) {
                if width > WIDTH {
                    return None;
                }
                count = 1 << width;
            }
            let mut row = Box::new([0; BYTE_VALUES]);
            for (at, value) in row.iter_mut().enumerate() {
                *value = self.value(t, width, at);
            }
            self.rows.insert(t, row);
        }
        if let Some(variable) = variable {
            count = 1 << self.pool.width(variable);
        }
        let mut set = [0; BYTE_VALUES / 64];
        for at in 0..count {
            if self.get(condition, at) == 1 {
                set[at / 64] |= 1 << (at % 64);
            }
        }
        Some(set)
    }

    /// The nodes of a term without a row that may depend on the variable, operands first; `None` if there
    /// are too many.
    fn dependent(&self, root: Term, variable: Option<Term>) -> Option<Vec<Term>> {
        let pool = self.pool;
        let fixed = |t: Term| match variable {
            _ if pool.as_constant(t).is_some() => true,
            None => false,
            // Terms older than the variable cannot contain it.
            Some(variable) if t < variable => true,
            Some(variable) => match (pool.node(variable), pool.few_variables(t)) {
                (Node::Variable(index), Some(few)) => !few.contains(&index),
                _ => false,
            },
        };
        let mut seen: FxHashSet<Term> = FxHashSet::default();
        let mut arrays: FxHashSet<Array> = FxHashSet::default();
        let mut stack = vec![root];
        while let Some(t) = stack.pop() {
            if fixed(t) || self.rows.contains_key(&t) || !seen.insert(t) {
                continue;
            }
            if seen.len() > MAX_NODES_PER_QUERY {
                return None;
            }
            let node = pool.node(t);
            stack.extend(node.operands());
            let Node::Read(mut array, _) = node else { continue };
            while arrays.insert(array) {
                match pool.array_node(array) {
                    ArrayNode::Bytes(elements) => stack.extend_from_slice(elements),
                    ArrayNode::Store(old, index, value) => {
                        stack.extend([index, value]);
                        array = old;
                    }
                }
            }
        }
        let mut order: Vec<Term> = seen.into_iter().collect();
        order.sort_unstable();
        Some(order)
    }

    fn get(&mut self, t: Term, at: usize) -> u128 {
        match self.rows.get(&t) {
            Some(row) => row[at],
            None => self.fixed.of(t),
        }
    }

    fn value(&mut self, t: Term, width: u32, at: usize) -> u128 {
        let pool = self.pool;
        match pool.node(t) {
            Node::Constant(value) => value,
            Node::Variable(_) => at as u128 & semantics::ones(width),
            Node::Unary(op, a) => semantics::unary(op, width, self.get(a, at)),
            Node::Binary(op, a, b) => {
                let (x, y) = (self.get(a, at), self.get(b, at));
                semantics::binary(op, pool.width(a), x, y)
            }
            Node::Ite(c, a, b) => {
                let chosen = if self.get(c, at) == 1 { a } else { b };
                self.get(chosen, at)
            }
            Node::Extract(a, low) => semantics::extract(self.get(a, at), low, width),
            Node::Concat(a, b) => self.get(a, at) << pool.width(b) | self.get(b, at),
            Node::Zext(a) => self.get(a, at),
            Node::Sext(a) => semantics::sext(self.get(a, at), pool.width(a), width),
            Node::Read(array, index) => {
                let index = self.get(index, at);
                self.element(array, index, at)
            }
            Node::Float(op, a, b) => {
                let (x, y) = (self.get(a, at), b.map_or(0, |b| self.get(b, at)));
                float::evaluate(op, pool.width(a), width, x, y)
            }
        }
    }

    fn element(&mut self, mut array: Array, index: u128, at: usize) -> u128 {
        loop {
            match self.pool.array_node(array) {
                ArrayNode::Bytes(elements) => {
                    let element = usize::try_from(index).ok().and_then(|index| elements.get(index));
                    return element.map_or(0, |&element| self.get(element, at));
                }
                ArrayNode::Store(_, place, value) if self.get(place, at) == index => {
                    return self.get(value, at);
                }
                ArrayNode::Store(old, ..) => array = old,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{Built, steps};

    proptest! {
        #[test]
        fn sets_are_what_evaluation_says(steps in steps(1..40)) {
            let mut built = Built::new(&steps);
            let last = built.terms.len() - 1;
            let at = built.truth(last);
            let condition = built.terms[at];
            let pool = &built.pool;
            if let (Some(&[variable]), Some(set)) = (pool.few_variables(condition), Bytes::default().set(pool, condition)) {
                prop_assert_eq!(set.0, variable);
                let width = crate::testing::VARIABLES[variable as usize];
                for value in 0..BYTE_VALUES as u128 {
                    let holds = value < 1 << width && pool.evaluate(condition, &|_| value) == 1;
                    prop_assert_eq!(set.1[value as usize / 64] >> (value % 64) & 1 == 1, holds);
                }
            }
        }
    }
}
