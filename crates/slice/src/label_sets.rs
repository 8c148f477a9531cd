//! Sets of small numbers with shared structure.
//!
//! The backward pass keeps for each live location the set of labels for which it is live. Such sets are
//! united at every node, are large in long runs, and differ little from one location to the next. They
//! are therefore hash-consed binary tries over words of 64 numbers: equal sets have the same handle,
//! adding one number allocates one path of nodes, and a union stops where both operands are equal or
//! their union is memoised.

use rustc_hash::FxHashMap as Map;

/// A handle of a set, or of a subtree of one.
pub type Labels = u32;

/// The empty set.
pub const NONE: Labels = 0;

/// Numbers per leaf.
const LEAF: u32 = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Node {
    Leaf(u64),
    /// The numbers whose highest bit is clear, and those with it set.
    Pair(Labels, Labels),
}

/// An arena of sets of numbers below a bound.
#[derive(Clone, Debug)]
pub struct LabelSets {
    nodes: Vec<Node>,
    index: Map<Node, Labels>,
    united: Map<(Labels, Labels), Labels>,
    /// Number of pair levels above each leaf.
    height: u32,
}

impl Default for LabelSets {
    fn default() -> LabelSets {
        LabelSets::below(1)
    }
}

impl LabelSets {
    /// An arena for numbers below a bound.
    pub fn below(bound: u32) -> LabelSets {
        let height = bound.div_ceil(LEAF).max(1).next_power_of_two().ilog2();
        LabelSets { nodes: vec![Node::Leaf(0)], index: Map::default(), united: Map::default(), height }
    }

    fn add(&mut self, node: Node) -> Labels {
        let next = self.nodes.len() as Labels;
        *self.index.entry(node).or_insert_with(|| {
            self.nodes.push(node);
            next
        })
    }

    /// The set that contains one number.
    pub fn one(&mut self, number: u32) -> Labels {
        let mut set = self.add(Node::Leaf(1 << (number % LEAF)));
        for level in 0..self.height {
            let is_upper = (number / LEAF) >> level & 1 != 0;
            set = self.add(if is_upper { Node::Pair(NONE, set) } else { Node::Pair(set, NONE) });
        }
        set
    }

    /// The union of two sets.
    pub fn union(&mut self, a: Labels, b: Labels) -> Labels {
        if a == b || a == NONE || b == NONE {
            return a.max(b);
        }
        let key = (a.min(b), a.max(b));
        if let Some(known) = self.united.get(&key) {
            return *known;
        }
        let node = match (self.nodes[a as usize], self.nodes[b as usize]) {
            (Node::Leaf(a), Node::Leaf(b)) => Node::Leaf(a | b),
            (Node::Pair(a, b), Node::Pair(c, d)) => Node::Pair(self.union(a, c), self.union(b, d)),
            // All leaves have the same depth.
            (pair @ Node::Pair(..), _) | (_, pair) => pair,
        };
        let both = self.add(node);
        self.united.insert(key, both);
        both
    }

    /// Whether a number is in a set.
    #[must_use]
    pub fn contains(&self, mut set: Labels, number: u32) -> bool {
        for level in (0..self.height).rev() {
            match self.nodes[set as usize] {
                Node::Pair(lower, upper) => {
                    set = if (number / LEAF) >> level & 1 != 0 { upper } else { lower }
                }
                Node::Leaf(_) => return false,
            }
        }
        matches!(self.nodes[set as usize], Node::Leaf(bits) if bits >> (number % LEAF) & 1 != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// Compared with `BTreeSet`; equal sets have the same handle.
        #[test]
        fn tries_are_sets(bound in 1u32..700, ops in proptest::collection::vec((0usize..8, 0usize..8, any::<u32>()), 1..80)) {
            let mut sets = LabelSets::below(bound);
            let mut real = [NONE; 8];
            let mut model: [BTreeSet<u32>; 8] = Default::default();
            for (a, b, number) in ops {
                let number = number % bound;
                let one = sets.one(number);
                let added = sets.union(real[b], one);
                real[a] = sets.union(real[a], added);
                let mut more = model[b].clone();
                more.insert(number);
                model[a].extend(more);
            }
            for (set, expected) in real.iter().zip(&model) {
                let found: BTreeSet<u32> = (0..bound).filter(|n| sets.contains(*set, *n)).collect();
                prop_assert_eq!(&found, expected);
            }
            for (n, m) in (0..8).flat_map(|n| (0..8).map(move |m| (n, m))) {
                prop_assert_eq!(real[n] == real[m], model[n] == model[m]);
            }
        }
    }
}
