//! Use lists: which nodes of the slice use a live register, byte or block.
//!
//! A list is a chain of edges in one arena. Chains are persistent: adding an edge makes a new head and does
//! not change the old chain, so the bytes of a range share one chain until their uses differ. When the pass
//! reaches the definition of a location, its chain becomes the edges of the definition's node.

use crate::provenance::{Provenance, Provenances};
use crate::slice::{Dependence, END, Edge, NodeId};

/// Live, but the nodes that use it are not kept: the slice has reached its bound.
const UNTRACKED: u32 = END - 1;

/// The uses of one location. The default is "not live".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UseList {
    head: u32,
    /// In a relevant slice: the branch alternatives for which it is live.
    pub provenance: Provenance,
}

impl Default for UseList {
    fn default() -> UseList {
        UseList { head: END, provenance: Provenance::DEFINITE }
    }
}

impl UseList {
    /// Live, without a node that is kept.
    pub const UNTRACKED: UseList = UseList { head: UNTRACKED, provenance: Provenance::DEFINITE };

    #[inline]
    pub fn is_live(self) -> bool {
        self.head != END
    }

    #[inline]
    pub fn or_untracked(self) -> UseList {
        if self.is_live() { self } else { UseList::UNTRACKED }
    }

    /// Whether it records more than that the location is live.
    #[inline]
    pub fn is_tracked(self) -> bool {
        self.has_uses() || self.provenance != Provenance::DEFINITE
    }

    #[inline]
    fn has_uses(self) -> bool {
        self.head < UNTRACKED
    }

    /// The first edge, for a node.
    pub fn first(self) -> u32 {
        if self.has_uses() { self.head } else { END }
    }
}

/// A node that uses something, and the branch alternatives for which it does.
#[derive(Clone, Copy, Debug)]
pub struct Consumer {
    /// `None` if nodes are no longer kept.
    pub node: Option<NodeId>,
    pub provenance: Provenance,
}

impl Consumer {
    /// Whether a use by it records more than that the location is live.
    #[inline]
    pub fn is_tracked(self) -> bool {
        self.node.is_some() || self.provenance != Provenance::DEFINITE
    }

    #[cfg(test)]
    pub fn definite(node: Option<NodeId>) -> Consumer {
        Consumer { node, provenance: Provenance::DEFINITE }
    }
}

/// All edges of a slice.
#[derive(Default)]
pub struct Uses {
    pub all: Vec<Edge>,
    pub provenances: Provenances,
}

impl Uses {
    #[inline]
    pub fn one(&mut self, consumer: Consumer, how: Dependence) -> UseList {
        self.add(UseList::default(), consumer, how)
    }

    /// The list with a use prepended.
    #[inline]
    pub fn add(&mut self, list: UseList, consumer: Consumer, how: Dependence) -> UseList {
        let provenance = match list.is_live() {
            true => self.provenances.join(list.provenance, consumer.provenance),
            false => consumer.provenance,
        };
        match consumer.node {
            Some(node) if self.all.len() < UNTRACKED as usize => {
                UseList { head: self.push(node, how, list.first()), provenance }
            }
            _ => UseList { provenance, ..list.or_untracked() },
        }
    }

    fn push(&mut self, consumer: NodeId, how: Dependence, next: u32) -> u32 {
        self.all.push(Edge { consumer, how, next });
        self.all.len() as u32 - 1
    }

    /// Joins two lists: the shorter chain is copied to the front of the longer one.
    #[inline]
    pub fn join(&mut self, a: UseList, b: UseList) -> UseList {
        if !a.is_live() {
            return b;
        }
        if !b.is_live() {
            return a;
        }
        let provenance = self.provenances.join(a.provenance, b.provenance);
        let head = match (a.has_uses(), b.has_uses()) {
            (true, true) if a.head != b.head => self.concatenate(a.head, b.head),
            (true, _) => a.head,
            (false, _) => b.head,
        };
        UseList { head, provenance }
    }

    /// One of two lists, with the provenance of both.
    pub fn either(&mut self, a: UseList, b: UseList) -> UseList {
        match (a.is_live(), b.is_live()) {
            (false, _) => b,
            (true, false) => a,
            (true, true) => UseList { provenance: self.provenances.join(a.provenance, b.provenance), ..a },
        }
    }

    fn concatenate(&mut self, a: u32, b: u32) -> u32 {
        let (mut x, mut y) = (a, b);
        while x != END && y != END {
            (x, y) = (self.all[x as usize].next, self.all[y as usize].next);
        }
        let (short, long) = if x == END { (a, b) } else { (b, a) };
        self.copy(short, long, |how| how)
    }

    /// A copy of a chain, continued by `rest`.
    fn copy(&mut self, chain: u32, rest: u32, change: impl Fn(Dependence) -> Dependence) -> u32 {
        let (mut at, mut head, mut last) = (chain, rest, None);
        while at != END && self.all.len() < UNTRACKED as usize {
            let Edge { consumer, how, next } = self.all[at as usize];
            at = next;
            let new = self.push(consumer, change(how), rest);
            match last.replace(new) {
                Some(last) => self.all[last as usize].next = new,
                None => head = new,
            }
        }
        head
    }

    /// The list with other kinds of dependence. Chains are shared, so the list is copied.
    pub fn rewrite(&mut self, list: UseList, change: impl Fn(Dependence) -> Dependence) -> UseList {
        if !list.has_uses() {
            return list;
        }
        UseList { head: self.copy(list.head, END, change), ..list }
    }

    /// A list, continued by the edges of a node.
    pub fn with_edges_of(&mut self, list: UseList, first: u32) -> u32 {
        match (list.has_uses(), first != END) {
            (true, true) => self.copy(list.head, first, |how| how),
            (true, false) => list.head,
            (false, _) => first,
        }
    }

    pub fn iter(&self, list: UseList) -> impl Iterator<Item = (NodeId, Dependence)> + '_ {
        let mut at = list.first();
        std::iter::from_fn(move || {
            let edge = self.all.get(at as usize)?;
            at = edge.next;
            Some((edge.consumer, edge.how))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn consumers(uses: &Uses, list: UseList) -> Vec<NodeId> {
        let mut all: Vec<NodeId> = uses.iter(list).map(|e| e.0).collect();
        all.sort_unstable();
        all
    }

    proptest! {
        /// Compares chains with vectors: no operation changes another list.
        #[test]
        fn lists_are_persistent(ops in proptest::collection::vec((0u8..3, 0usize..6, 0usize..6), 1..60)) {
            let mut uses = Uses::default();
            let mut lists = [UseList::default(); 6];
            let mut model: [Vec<NodeId>; 6] = Default::default();
            for (n, (op, a, b)) in ops.into_iter().enumerate() {
                let node = n as NodeId;
                match op {
                    0 => {
                        lists[a] = uses.add(lists[a], Consumer::definite(Some(node)), Dependence::Control);
                        model[a].push(node);
                    }
                    1 if lists[a] != lists[b] => {
                        lists[a] = uses.join(lists[a], lists[b]);
                        let other = model[b].clone();
                        model[a].extend(other);
                    }
                    1 => {}
                    _ => {
                        lists[a] = uses.rewrite(lists[b], |_| Dependence::Call);
                        model[a] = model[b].clone();
                        prop_assert!(uses.iter(lists[a]).all(|e| e.1 == Dependence::Call));
                    }
                }
                for (list, expected) in lists.iter().zip(&model) {
                    let mut expected = expected.clone();
                    expected.sort_unstable();
                    prop_assert_eq!(consumers(&uses, *list), expected);
                }
            }
        }
    }

    #[test]
    fn a_place_can_be_live_without_a_consumer() {
        let mut uses = Uses::default();
        let untracked = uses.one(Consumer::definite(None), Dependence::Control);
        assert!(untracked.is_live() && !untracked.is_tracked());
        assert_eq!(uses.iter(untracked).count(), 0);
        let tracked = uses.one(Consumer::definite(Some(3)), Dependence::Control);
        let both = uses.join(untracked, tracked);
        assert_eq!(consumers(&uses, both), [3]);
    }
}
