//! From what was observed back to everything it came from, by the easiest way.
//!
//! A slice holds far more than anybody reads. What matters first is what made
//! the wrong value, then what decided that this was run, then what decided
//! that: each step through a decision is one *layer* further out (the
//! critical predicates of AFTER). Within a layer fewer lines are better.

use slice::slice::Needs;
use slice::{Dependence, NodeId, Slice};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// How far a node is from what was observed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Distance {
    /// Potential dependences on branches that have no counterpart in the other run: nothing shows
    /// that they would have gone the other way.
    pub unconfirmed: u32,
    /// Lines on the way whose value is the same in good and bad, and sizes of blocks: what made the
    /// runs differ did not come through them.
    pub dull: u32,
    /// Decisions on the way: branches, calls that only led here, and where in
    /// memory a value was looked for.
    pub decisions: u32,
    /// Changes from one line to another.
    pub hops: u32,
}

/// How far, and from where; from nowhere for a criterion.
type Reached = (Distance, Option<(NodeId, Dependence)>);

/// The easiest way to each node of a slice.
pub struct Ways {
    /// None: not reached.
    reached: Vec<Option<Reached>>,
}

/// What the search asks about nodes.
pub trait Ground {
    /// A number for the node's source line; equal for the same line.
    fn line(&self, node: NodeId) -> u32;
    /// The value here is the same in both versions: an explanation of the
    /// difference should go elsewhere if it can.
    fn dull(&self, node: NodeId) -> bool;
    /// The value here is known to be another one in the other version, or nothing is compared.
    fn differs(&self, node: NodeId) -> bool;
    /// The dependence only says where in memory the node's value was: not what
    /// it is, but how it was reached.
    fn reaches(&self, node: NodeId, how: Dependence) -> bool;
    /// The dependence says how large a block of memory is: not what is in it.
    fn sizes(&self, _node: NodeId, _how: Dependence) -> bool {
        false
    }
    /// The node calls a function that is not of the program: an output is what such a call reads, not
    /// where that is.
    fn calls_external(&self, _node: NodeId) -> bool {
        false
    }
    /// The node chooses what runs because an exception came.
    fn catches(&self, _node: NodeId) -> bool {
        false
    }
    /// The node decides whether an exception came out of a call.
    fn lands(&self, _node: NodeId) -> bool {
        false
    }
    /// How far a criterion is from what was observed: not at all, unless the way to it is one of
    /// the other run.
    fn start(&self, _node: NodeId) -> Distance {
        Distance::default()
    }
}

/// Whether this dependence is a decision rather than a value.
#[must_use]
pub fn decides(how: Dependence) -> bool {
    match how {
        Dependence::Control
        | Dependence::Call
        | Dependence::External
        | Dependence::Jump
        | Dependence::Potential => true,
        Dependence::Register(_)
        | Dependence::Memory { .. }
        | Dependence::Return(_)
        | Dependence::Thread { .. } => false,
    }
}

impl Ways {
    /// Dijkstra's algorithm from the criteria. `free`: that a criterion ran at
    /// all is what was observed (an assertion failed, a line was printed that
    /// should not be), so its first decision costs nothing.
    #[must_use]
    pub fn find(slice: &Slice, needs: &Needs, ground: &dyn Ground, free: bool) -> Ways {
        let mut reached: Vec<Option<Reached>> = vec![None; slice.nodes.len()];
        let mut heap = BinaryHeap::new();
        let criteria: Vec<NodeId> = slice.criteria.iter().flatten().copied().collect();
        for &node in &criteria {
            let start = ground.start(node);
            reached[node as usize] = Some((start, None));
            heap.push(Reverse((start, node)));
        }
        while let Some(Reverse((distance, node))) = heap.pop() {
            if reached[node as usize].is_some_and(|(known, _)| known < distance) {
                continue;
            }
            for &(next, how) in needs.of(node) {
                // The branch went the same way in the other run: it is not what made the difference. And any
                // call might have thrown an exception, which neither version's source says.
                if how == Dependence::Potential && (ground.dull(next) || ground.lands(next)) {
                    continue;
                }
                // The exception was thrown under the activation that catches it, so what made that run
                // is found behind the throw as well. That it was thrown is the reason.
                if matches!(how, Dependence::Control | Dependence::Call) && ground.catches(node) {
                    continue;
                }
                let observed = distance == Distance::default();
                let is_where = (!observed || ground.calls_external(node)) && ground.reaches(node, how);
                let decision = decides(how) && !(free && observed) || is_where;
                let other_line = ground.line(node) != ground.line(next);
                let is_dull = other_line && ground.dull(next) || ground.sizes(node, how);
                let unconfirmed = how == Dependence::Potential && !ground.differs(next);
                let there = Distance {
                    unconfirmed: distance.unconfirmed + u32::from(unconfirmed),
                    decisions: distance.decisions + u32::from(decision),
                    dull: distance.dull + u32::from(is_dull),
                    hops: distance.hops + u32::from(other_line),
                };
                let known = &mut reached[next as usize];
                if known.is_none_or(|(d, _)| there < d) {
                    *known = Some((there, Some((node, how))));
                    heap.push(Reverse((there, next)));
                }
            }
        }
        Ways { reached }
    }

    /// How far a node is; none if nothing leads to it.
    #[must_use]
    pub fn distance(&self, node: NodeId) -> Option<Distance> {
        self.reached.get(node as usize).copied().flatten().map(|(d, _)| d)
    }

    /// The way from the criterion to a node: each node with how the one
    /// before needed it.
    #[must_use]
    pub fn to(&self, node: NodeId) -> Vec<(NodeId, Option<Dependence>)> {
        let mut way = Vec::new();
        let mut at = Some(node);
        while let Some(node) = at {
            let Some((_, from)) = self.reached.get(node as usize).copied().flatten() else { break };
            way.push((node, from.map(|f| f.1)));
            at = from.map(|f| f.0);
        }
        way.reverse();
        way
    }
}
