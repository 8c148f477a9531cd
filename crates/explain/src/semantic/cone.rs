//! The backward cone of a question: the instructions that it reaches by value dependences.
//!
//! Dependences lead from newer to older instructions, so the newest part of a cone is computed without the
//! rest. That is sufficient if the cut is in it: values beyond a cut are unconstrained, and need not be
//! known.

use super::{NotApplicable, Question};
use crate::ways::decides;
use slice::slice::Needs;
use slice::{Dependence, NodeId};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// Of larger cones only the newest instructions are used: the cut is often among them.
pub const MOST: usize = 4000;
/// The maximum number of branches, the newest ones, whose conditions can be part of a formula.
const MOST_BRANCHES: usize = 200;

/// See the module's documentation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cone {
    /// The instructions, the newest first (nodes are numbered that way).
    pub nodes: Vec<NodeId>,
    /// Branches that control them; the values of their conditions are in `nodes`.
    pub branches: Vec<NodeId>,
    /// No older instruction affects the question.
    pub whole: bool,
}

impl Cone {
    /// `most`: the maximum number of instructions for the question; branches may add half as many.
    ///
    /// # Errors
    /// If it is empty.
    pub fn of(
        needs: &Needs,
        question: Question,
        most: usize,
        is_branch: &dyn Fn(NodeId) -> bool,
        reaches: &dyn Fn(NodeId, Dependence) -> bool,
    ) -> Result<Cone, NotApplicable> {
        let mut nodes = BTreeSet::new();
        let last = follow(needs, &mut nodes, question.node(), NodeId::MAX, most, reaches);
        if nodes.len() < 2 {
            return Err(NotApplicable::Nothing);
        }
        let mut branches: BTreeSet<NodeId> = BTreeSet::new();
        for node in &nodes {
            let deciders = needs.of(*node).iter().filter(|(_, how)| *how == Dependence::Control);
            branches.extend(deciders.map(|x| x.0).filter(|b| *b <= last && is_branch(*b)));
        }
        // The question is not its own cause.
        branches.remove(&question.node());
        let branches: Vec<NodeId> = branches.into_iter().take(MOST_BRANCHES).collect();
        let room = nodes.len() + most / 2;
        let mut kept = Vec::new();
        for branch in branches {
            let mut with = nodes.clone();
            if follow(needs, &mut with, branch, last, room, reaches) == last {
                (nodes, _) = (with, kept.push(branch));
            }
        }
        Ok(Cone { nodes: nodes.into_iter().collect(), branches: kept, whole: last == NodeId::MAX })
    }
}

/// Adds a node and its transitive value dependences up to `last`, the newest first, while there are no more
/// than `most` nodes. Returns the node up to which the result is complete.
pub fn follow(
    needs: &Needs,
    nodes: &mut BTreeSet<NodeId>,
    from: NodeId,
    last: NodeId,
    most: usize,
    reaches: &dyn Fn(NodeId, Dependence) -> bool,
) -> NodeId {
    let mut todo = BinaryHeap::from([Reverse(from)]);
    while let Some(Reverse(node)) = todo.pop() {
        if node > last || nodes.contains(&node) {
            continue;
        }
        if nodes.len() >= most {
            return node.saturating_sub(1);
        }
        nodes.insert(node);
        // The address of a value is another question than the value itself; for the starting node it is part
        // of the question.
        let of = values(needs, node).filter(|(_, how)| node == from || !reaches(node, *how));
        todo.extend(of.map(|(of, _)| Reverse(of)));
    }
    last
}

/// The value dependences of a node.
pub fn values(needs: &Needs, node: NodeId) -> impl Iterator<Item = (NodeId, Dependence)> + '_ {
    needs.of(node).iter().copied().filter(|(_, how)| !decides(*how))
}
