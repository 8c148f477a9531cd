//! Shortest dependence paths from the observed failure to the nodes of its slice.
//!
//! A slice is far larger than a reader can use. The computation of the wrong value matters first, then the
//! decision that let it run, then the decision that led to that one: each decision on the path is one *layer*
//! further out (the critical predicates of AFTER). Within a layer, paths with fewer lines are shorter.

use slice::slice::Needs;
use slice::{Dependence, NodeId, Slice};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The distance of a node from the observed failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Distance {
    /// Potential dependences on branches that have no counterpart in the other run: there is no evidence that
    /// they would have taken the other direction.
    pub unconfirmed: u32,
    /// Lines on the path whose value is the same in good and bad, and sizes of blocks: the difference between
    /// the runs did not propagate through them.
    pub dull: u32,
    /// Decisions on the path: branches, calls as control dependences, and dependences of addresses.
    pub decisions: u32,
    /// Changes from one line to another.
    pub hops: u32,
}

/// Distance and predecessor; no predecessor for a criterion.
type Reached = (Distance, Option<(NodeId, Dependence)>);

/// The shortest path to each node of a slice.
pub struct Ways {
    /// `None`: not reached.
    reached: Vec<Option<Reached>>,
}

/// The node properties that the search uses.
pub trait Ground {
    /// A number for the node's source line; equal for the same line.
    fn line(&self, node: NodeId) -> u32;
    /// The value here is equal in both versions: an explanation of the difference should avoid it if
    /// possible.
    fn dull(&self, node: NodeId) -> bool;
    /// The value here is known to differ in the other version, or nothing is compared.
    fn differs(&self, node: NodeId) -> bool;
    /// The dependence only determines the address of the node's value, not the value itself.
    fn reaches(&self, node: NodeId, how: Dependence) -> bool;
    /// The dependence determines the size of a memory block, not its content.
    fn sizes(&self, _node: NodeId, _how: Dependence) -> bool {
        false
    }
    /// The node calls an external function: an output is the data that such a call reads, not its address.
    fn calls_external(&self, _node: NodeId) -> bool {
        false
    }
    /// The node selects what runs because an exception was caught.
    fn catches(&self, _node: NodeId) -> bool {
        false
    }
    /// The node decides whether a call threw an exception.
    fn lands(&self, _node: NodeId) -> bool {
        false
    }
    /// The initial distance of a criterion: zero, unless its path begins in the other run.
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
    /// Dijkstra's algorithm from the criteria. `free`: the observation is that a criterion was executed at
    /// all (an assertion failed, an extra line was printed), so its first decision costs nothing.
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
                // The branch took the same direction in the other run, so it did not cause the difference.
                // And any call might have thrown an exception, which neither version's source states.
                if how == Dependence::Potential && (ground.dull(next) || ground.lands(next)) {
                    continue;
                }
                // The exception was thrown below the activation that catches it, so the control dependences
                // of the handler are also reached through the throw. The throw is the cause.
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

    /// The distance of a node; `None` if no path reaches it.
    #[must_use]
    pub fn distance(&self, node: NodeId) -> Option<Distance> {
        self.reached.get(node as usize).copied().flatten().map(|(d, _)| d)
    }

    /// The path from the criterion to a node: each node with the dependence of its predecessor on it.
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
