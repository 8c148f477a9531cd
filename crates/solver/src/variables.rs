//! The variables that a term depends on.
//!
//! Every term has the handle of a set. Small sets are interned as terms are built. A term over more than a
//! few variables has the mark [`Sets::LARGE`], and its set is computed on demand by a traversal: interning
//! those as well would take quadratic memory on sums over a long input.

use std::borrow::Cow;

use crate::node::{Array, ArrayNode, Node, Term};
use crate::pool::Pool;
use rustc_hash::FxHashSet;

impl Pool {
    /// The variables a term depends on, in ascending order. Free for terms over few variables; for others a
    /// traversal of the term.
    pub fn variables(&self, t: Term) -> Cow<'_, [u32]> {
        match self.sets.members(self.set_of(t)) {
            Some(members) => Cow::Borrowed(members),
            None => Cow::Owned(self.walk(t)),
        }
    }

    /// The variables, if there are few; without a traversal.
    pub fn few_variables(&self, t: Term) -> Option<&[u32]> {
        self.sets.members(self.set_of(t))
    }

    fn walk(&self, t: Term) -> Vec<u32> {
        let mut found = FxHashSet::default();
        let mut seen = FxHashSet::default();
        let mut seen_arrays = FxHashSet::default();
        let mut terms = vec![t];
        let mut arrays: Vec<Array> = Vec::new();
        loop {
            if let Some(t) = terms.pop() {
                if let Some(members) = self.sets.members(self.set_of(t)) {
                    found.extend(members.iter().copied());
                } else if seen.insert(t) {
                    let node = self.node(t);
                    terms.extend(node.operands());
                    if let Node::Read(array, _) = node {
                        arrays.push(array);
                    }
                }
            } else if let Some(array) = arrays.pop() {
                if let Some(members) = self.sets.members(self.set_of_array(array)) {
                    found.extend(members.iter().copied());
                } else if seen_arrays.insert(array) {
                    match self.array_node(array) {
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
        let mut found: Vec<u32> = found.into_iter().collect();
        found.sort_unstable();
        found
    }
}
