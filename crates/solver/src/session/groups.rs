//! Groups of conditions that are linked by common variables.
//!
//! Variables form a union-find forest, and each tree lists its conditions. A condition over many variables
//! is traversed only where it is new: all variables of a part that was traversed before are in one tree
//! already. So the work for a whole path grows with its nodes and not with the sum of its conditions' sizes.

use crate::node::{Array, ArrayNode, Node, Term};
use crate::pool::Pool;
use rustc_hash::{FxHashMap, FxHashSet};

#[derive(Default, Debug)]
pub(super) struct Groups {
    /// Each variable's index in the forest.
    places: FxHashMap<u32, usize>,
    parents: Vec<usize>,
    /// The conditions of each root.
    conditions: Vec<Vec<usize>>,
    /// Parts that were traversed, each with an index in the tree of all its variables.
    walked: FxHashMap<Term, usize>,
    visited_arrays: FxHashMap<Array, usize>,
}

/// The result of a traversal: known indices, and new parts.
#[derive(Default)]
struct Traversal {
    places: Vec<usize>,
    variables: Vec<u32>,
    terms: Vec<Term>,
    arrays: Vec<Array>,
}

impl Groups {
    /// Adds a condition with the number `at`.
    pub fn add(&mut self, pool: &Pool, condition: Term, at: usize) {
        let walk = self.walk(pool, &[condition]);
        let mut places = walk.places;
        for variable in walk.variables {
            let next = self.parents.len();
            let place = *self.places.entry(variable).or_insert(next);
            if place == next {
                self.parents.push(next);
                self.conditions.push(Vec::new());
            }
            places.push(place);
        }
        let Some(&first) = places.first() else { return };
        for &place in &places[1..] {
            self.join(first, place);
        }
        let root = self.root(first);
        self.conditions[root].push(at);
        self.walked.extend(walk.terms.into_iter().map(|t| (t, first)));
        self.visited_arrays.extend(walk.arrays.into_iter().map(|array| (array, first)));
    }

    /// The numbers of the conditions linked with these, in ascending order.
    pub fn linked(&mut self, pool: &Pool, query: &[Term]) -> Vec<usize> {
        let walk = self.walk(pool, query);
        let known = walk.variables.iter().filter_map(|variable| self.places.get(variable).copied());
        let places: Vec<usize> = walk.places.iter().copied().chain(known).collect();
        let roots: std::collections::BTreeSet<usize> =
            places.into_iter().map(|place| self.root(place)).collect();
        let mut all: Vec<usize> =
            roots.into_iter().flat_map(|root| self.conditions[root].iter().copied()).collect();
        all.sort_unstable();
        all
    }

    /// All groups, each in ascending order of numbers.
    pub fn all(&self) -> Vec<Vec<usize>> {
        let mut all: Vec<Vec<usize>> =
            self.conditions.iter().filter(|group| !group.is_empty()).cloned().collect();
        for group in &mut all {
            group.sort_unstable();
        }
        all.sort_unstable();
        all
    }

    fn walk(&self, pool: &Pool, roots: &[Term]) -> Traversal {
        let mut walk = Traversal::default();
        let mut seen = FxHashSet::default();
        let mut seen_arrays = FxHashSet::default();
        let mut variables = FxHashSet::default();
        let mut terms = roots.to_vec();
        let mut arrays: Vec<Array> = Vec::new();
        loop {
            if let Some(t) = terms.pop() {
                if let Some(few) = pool.few_variables(t) {
                    variables.extend(few.iter().copied());
                } else if let Some(&place) = self.walked.get(&t) {
                    walk.places.push(place);
                } else if seen.insert(t) {
                    walk.terms.push(t);
                    let node = pool.node(t);
                    terms.extend(node.operands());
                    if let Node::Read(array, _) = node {
                        arrays.push(array);
                    }
                }
            } else if let Some(array) = arrays.pop() {
                if let Some(&place) = self.visited_arrays.get(&array) {
                    walk.places.push(place);
                } else if seen_arrays.insert(array) {
                    walk.arrays.push(array);
                    match pool.array_node(array) {
                        ArrayNode::Bytes(elements) => terms.extend_from_slice(elements),
                        ArrayNode::Store(old, index, value) => {
                            arrays.push(old);
                            terms.extend([index, value]);
                        }
                    }
                }
            } else {
                break;
            }
        }
        walk.variables.extend(variables);
        walk
    }

    fn root(&mut self, mut place: usize) -> usize {
        while self.parents[place] != place {
            self.parents[place] = self.parents[self.parents[place]];
            place = self.parents[place];
        }
        place
    }

    fn join(&mut self, a: usize, b: usize) {
        let (mut a, mut b) = (self.root(a), self.root(b));
        if a == b {
            return;
        }
        // Move the shorter list.
        if self.conditions[a].len() < self.conditions[b].len() {
            std::mem::swap(&mut a, &mut b);
        }
        self.parents[b] = a;
        let moved = std::mem::take(&mut self.conditions[b]);
        self.conditions[a].extend(moved);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Binary;

    /// A condition over these variables.
    fn condition(pool: &mut Pool, variables: &[u32], bound: u128) -> Term {
        let mut sum = pool.constant(16, bound);
        for &variable in variables {
            let byte = pool.variable(variable, 8);
            let wide = pool.zext(byte, 16);
            sum = pool.binary(Binary::Add, sum, wide);
            sum = pool.binary(Binary::Mul, sum, wide);
        }
        let bound = pool.constant(16, bound + 7);
        pool.binary(Binary::Ult, sum, bound)
    }

    proptest! {
        #[test]
        fn linked_conditions_are_the_fixpoint(
            sets in proptest::collection::vec(proptest::collection::vec(0_u32..40, 1..14), 1..14),
            query in proptest::collection::vec(0_u32..40, 1..14),
        ) {
            let mut pool = Pool::new();
            let mut groups = Groups::default();
            let mut all = Vec::new();
            for (at, set) in sets.iter().enumerate() {
                let t = condition(&mut pool, set, at as u128);
                groups.add(&pool, t, at);
                all.push(pool.variables(t).into_owned());
            }
            let query = condition(&mut pool, &query, 100);
            let mut reached: FxHashSet<u32> = pool.variables(query).iter().copied().collect();
            let mut expected = std::collections::BTreeSet::new();
            loop {
                let more: Vec<usize> = (0..all.len())
                    .filter(|at| !expected.contains(at) && all[*at].iter().any(|v| reached.contains(v)))
                    .collect();
                if more.is_empty() { break; }
                for at in more {
                    expected.insert(at);
                    reached.extend(&all[at]);
                }
            }
            let mut expected: Vec<usize> = expected.into_iter().collect();
            expected.sort_unstable();
            prop_assert_eq!(groups.linked(&pool, &[query]), expected);
        }
    }
}
