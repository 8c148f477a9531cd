//! Which variables a term depends on.
//!
//! Every term carries the handle of a set. Small sets are interned as terms are built. A term over
//! more variables than [`SMALL`] carries the mark [`Sets::LARGE`], and its set is found by a walk when
//! somebody asks: interning those as well would take quadratic memory on sums over a long input.

use std::borrow::Cow;

use crate::node::{Array, ArrayNode, Node, Term};
use crate::pool::Pool;
use crate::table::{HandleSet, Table, hash};

/// The largest interned set.
const SMALL: usize = 8;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SetId(u32);

#[derive(Clone, Debug, Default)]
pub(crate) struct Sets {
    /// Where each set begins in `members`; set 0, the empty one, is not kept.
    starts: Vec<u32>,
    members: Vec<u32>,
    table: Table,
}

impl Sets {
    pub const EMPTY: SetId = SetId(0);
    pub const LARGE: SetId = SetId(u32::MAX);

    /// The members in order, unless there are too many to have been kept.
    pub fn members(&self, set: SetId) -> Option<&[u32]> {
        match set {
            Sets::EMPTY => Some(&[]),
            Sets::LARGE => None,
            SetId(id) => Some(self.slice(id - 1)),
        }
    }

    fn slice(&self, at: u32) -> &[u32] {
        let start = self.starts[at as usize] as usize;
        let end = self.starts.get(at as usize + 1).map_or(self.members.len(), |&end| end as usize);
        &self.members[start..end]
    }

    pub fn singleton(&mut self, variable: u32) -> SetId {
        self.intern(&[variable])
    }

    pub fn union(&mut self, a: SetId, b: SetId) -> SetId {
        if a == b || b == Sets::EMPTY {
            return a;
        }
        if a == Sets::EMPTY {
            return b;
        }
        let (Some(left), Some(right)) = (self.members(a), self.members(b)) else {
            return Sets::LARGE;
        };
        let mut all = [0; 2 * SMALL];
        let mut len = 0;
        let (mut i, mut j) = (0, 0);
        while i < left.len() || j < right.len() {
            let next = match (left.get(i), right.get(j)) {
                (Some(&x), Some(&y)) => x.min(y),
                (Some(&x), None) | (None, Some(&x)) => x,
                (None, None) => break,
            };
            i += usize::from(left.get(i) == Some(&next));
            j += usize::from(right.get(j) == Some(&next));
            all[len] = next;
            len += 1;
        }
        if len > SMALL { Sets::LARGE } else { self.intern(&all[..len]) }
    }

    fn intern(&mut self, members: &[u32]) -> SetId {
        let key = hash(members.iter().copied());
        if let Some(found) = self.table.find(key, |at| self.slice(at) == members) {
            return SetId(found + 1);
        }
        let at = self.starts.len() as u32;
        assert!(self.members.len() + members.len() < u32::MAX as usize, "more variable sets than handles");
        self.starts.push(self.members.len() as u32);
        self.members.extend_from_slice(members);
        let mut table = std::mem::take(&mut self.table);
        table.insert(key, at, |at| hash(self.slice(at).iter().copied()));
        self.table = table;
        SetId(at + 1)
    }

    pub fn bytes(&self) -> usize {
        (self.starts.capacity() + self.members.capacity()) * 4 + self.table.bytes()
    }
}

impl Pool {
    /// The variables a term depends on, in order. Free for terms over few variables; for others a
    /// walk over the term.
    pub fn variables(&self, t: Term) -> Cow<'_, [u32]> {
        match self.sets.members(self.set_of(t)) {
            Some(members) => Cow::Borrowed(members),
            None => Cow::Owned(self.walk(t)),
        }
    }

    /// The variables, if there are at most a handful: an answer without a walk.
    pub fn few_variables(&self, t: Term) -> Option<&[u32]> {
        self.sets.members(self.set_of(t))
    }

    fn walk(&self, t: Term) -> Vec<u32> {
        let mut found = HandleSet::default();
        let mut seen = HandleSet::default();
        let mut seen_arrays = HandleSet::default();
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
