//! Questions that one byte decides, answered by trying all its values.
//!
//! The values of a variable for which a condition holds are a set of at most 256 bits, computed once
//! per condition: all values at a time, node after node. A question about one byte is then the
//! intersection of such sets, and a question about several fails at once if some byte has no value left.

use std::collections::{BTreeMap, HashMap};

use crate::meaning;
use crate::node::{Array, ArrayNode, Node, Term};
use crate::pool::Pool;

use super::{Model, Outcome};

/// The widest variable that is enumerated.
const WIDTH: u32 = 8;
const VALUES: usize = 1 << WIDTH;
/// Conditions of more nodes are left to the solver: each takes 4 KiB here.
const NODES: usize = 256;

/// A set of values.
type Set = [u64; VALUES / 64];

#[derive(Default)]
pub(super) struct Bytes {
    /// For each condition over one byte, the byte and the values for which it holds.
    sets: HashMap<Term, Option<(u32, Set)>>,
}

impl Bytes {
    /// An answer, if bytes on their own give it.
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
                    let left = left.entry(variable).or_insert([!0; VALUES / 64]);
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

/// The member nearest to a value.
fn nearest(set: &Set, value: u128) -> u128 {
    let members = (0..VALUES as u128).filter(|&at| set[at as usize / 64] >> (at % 64) & 1 == 1);
    members.min_by_key(|member| member.abs_diff(value)).unwrap_or_default()
}

/// The values of its only variable for which a condition holds.
fn values(pool: &Pool, condition: Term) -> Option<Set> {
    let order = nodes(pool, condition)?;
    let mut table = Table { pool, rows: HashMap::with_capacity(order.len()) };
    let mut count = VALUES;
    for t in order {
        let width = pool.width(t);
        if let Node::Variable(_) = pool.node(t) {
            if width > WIDTH {
                return None;
            }
            count = 1 << width;
        }
        let mut row = Box::new([0; VALUES]);
        for (at, value) in row.iter_mut().enumerate() {
            *value = table.value(t, width, at);
        }
        table.rows.insert(t, row);
    }
    let mut set = [0; VALUES / 64];
    for at in (0..count).filter(|&at| table.get(condition, at) == 1) {
        set[at / 64] |= 1 << (at % 64);
    }
    Some(set)
}

struct Table<'a> {
    pool: &'a Pool,
    rows: HashMap<Term, Box<[u128; VALUES]>>,
}

impl Table<'_> {
    fn get(&self, t: Term, at: usize) -> u128 {
        match self.rows.get(&t) {
            Some(row) => row[at],
            None => self.pool.as_constant(t).unwrap_or_default(),
        }
    }

    fn value(&self, t: Term, width: u32, at: usize) -> u128 {
        let pool = self.pool;
        let get = |t| self.get(t, at);
        match pool.node(t) {
            Node::Constant(value) => value,
            Node::Variable(_) => at as u128 & meaning::ones(width),
            Node::Unary(op, a) => meaning::unary(op, width, get(a)),
            Node::Binary(op, a, b) => meaning::binary(op, pool.width(a), get(a), get(b)),
            Node::Ite(c, a, b) => get(if get(c) == 1 { a } else { b }),
            Node::Extract(a, low) => meaning::extract(get(a), low, width),
            Node::Concat(a, b) => get(a) << pool.width(b) | get(b),
            Node::Zext(a) => get(a),
            Node::Sext(a) => meaning::sext(get(a), pool.width(a), width),
            Node::Read(array, index) => self.element(array, get(index), at),
        }
    }

    fn element(&self, mut array: Array, index: u128, at: usize) -> u128 {
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

/// The nodes of a term without constants, operands first, unless there are too many.
fn nodes(pool: &Pool, root: Term) -> Option<Vec<Term>> {
    let mut seen: HashMap<Term, ()> = HashMap::new();
    let mut arrays: HashMap<Array, ()> = HashMap::new();
    let mut stack = vec![root];
    while let Some(t) = stack.pop() {
        if pool.as_constant(t).is_some() || seen.insert(t, ()).is_some() {
            continue;
        }
        if seen.len() > NODES {
            return None;
        }
        let node = pool.node(t);
        stack.extend(node.operands());
        let Node::Read(mut array, _) = node else { continue };
        while arrays.insert(array, ()).is_none() {
            match pool.array_node(array) {
                ArrayNode::Bytes(elements) => stack.extend_from_slice(elements),
                ArrayNode::Store(old, index, value) => {
                    stack.extend([index, value]);
                    array = old;
                }
            }
        }
    }
    let mut order: Vec<Term> = seen.into_keys().collect();
    order.sort_unstable();
    Some(order)
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
                for value in 0..VALUES as u128 {
                    let holds = value < 1 << width && pool.evaluate(condition, &|_| value) == 1;
                    prop_assert_eq!(set.1[value as usize / 64] >> (value % 64) & 1 == 1, holds);
                }
            }
        }
    }
}
