//! The instructions that a question reaches by values.
//!
//! Dependences lead from newer to older instructions, so the newest of a cone are known without the others. That is
//! enough if the cut lies among them: what is behind a cut may be anything, and need not be known.

use super::{NotApplicable, Question};
use crate::ways::decides;
use slice::slice::Needs;
use slice::{Dependence, NodeId};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// Of larger ones the newest instructions are looked at: the cut often lies among them.
pub const MOST: usize = 4000;
/// Branches whose conditions may join a formula, the newest.
const MOST_BRANCHES: usize = 200;

/// See the module's documentation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cone {
    /// The instructions, the newest first (nodes are numbered that way).
    pub nodes: Vec<NodeId>,
    /// Branches that let them run; their own values are in `nodes`.
    pub branches: Vec<NodeId>,
    /// Nothing older bears on the question.
    pub whole: bool,
}

impl Cone {
    /// `most`: so many instructions of the question, and half as many more of branches.
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
        // What was asked about is no reason for itself.
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

/// Adds a node and everything up to `last` that its value was made of, the newest first, while there are
/// no more than `most` nodes. Returns up to which node nothing is missing.
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
        // Where a value lay is another question than what it was; of the node
        // that is asked about it is the question.
        let of = values(needs, node).filter(|(_, how)| node == from || !reaches(node, *how));
        todo.extend(of.map(|(of, _)| Reverse(of)));
    }
    last
}

/// What a node's value was made of.
pub fn values(needs: &Needs, node: NodeId) -> impl Iterator<Item = (NodeId, Dependence)> + '_ {
    needs.of(node).iter().copied().filter(|(_, how)| !decides(*how))
}
