//! The instructions that a question reaches by values.

use super::{NotApplicable, Question};
use crate::ways::decides;
use slice::slice::Needs;
use slice::{Dependence, NodeId};
use std::collections::BTreeSet;

/// Larger ones are left to slices: their formulas would be too.
pub const MOST: usize = 4000;
/// Branches whose conditions may join a formula, the newest.
const MOST_BRANCHES: usize = 200;

/// See the module's documentation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cone {
    /// All instructions, the newest first (nodes are numbered that way).
    pub nodes: Vec<NodeId>,
    /// Branches that let them run; their own values are in `nodes`.
    pub branches: Vec<NodeId>,
}

impl Cone {
    /// # Errors
    /// If it is empty or larger than [`MOST`].
    pub fn of(
        needs: &Needs,
        question: Question,
        is_branch: &dyn Fn(NodeId) -> bool,
        reaches: &dyn Fn(NodeId, Dependence) -> bool,
    ) -> Result<Cone, NotApplicable> {
        let mut nodes = BTreeSet::new();
        follow(needs, &mut nodes, question.node(), reaches)?;
        if nodes.len() < 2 {
            return Err(NotApplicable::Nothing);
        }
        let mut branches: BTreeSet<NodeId> = BTreeSet::new();
        for node in &nodes {
            let deciders = needs.of(*node).iter().filter(|(_, how)| *how == Dependence::Control);
            branches.extend(deciders.map(|x| x.0).filter(|b| is_branch(*b)));
        }
        // What was asked about is no reason for itself.
        branches.remove(&question.node());
        let branches: Vec<NodeId> = branches.into_iter().take(MOST_BRANCHES).collect();
        let mut kept = Vec::new();
        for branch in branches {
            let mut with = nodes.clone();
            if follow(needs, &mut with, branch, reaches).is_ok() {
                (nodes, _) = (with, kept.push(branch));
            }
        }
        Ok(Cone { nodes: nodes.into_iter().collect(), branches: kept })
    }
}

/// Adds a node and everything its value was made of.
pub fn follow(
    needs: &Needs,
    nodes: &mut BTreeSet<NodeId>,
    from: NodeId,
    reaches: &dyn Fn(NodeId, Dependence) -> bool,
) -> Result<(), NotApplicable> {
    let mut todo = vec![from];
    while let Some(node) = todo.pop() {
        if !nodes.insert(node) {
            continue;
        }
        if nodes.len() > MOST {
            return Err(NotApplicable::TooLarge(MOST));
        }
        // Where a value lay is another question than what it was; of the node
        // that is asked about it is the question.
        todo.extend(values(needs, node).filter(|(_, how)| node == from || !reaches(node, *how)).map(|x| x.0));
    }
    Ok(())
}

/// What a node's value was made of.
pub fn values(needs: &Needs, node: NodeId) -> impl Iterator<Item = (NodeId, Dependence)> + '_ {
    needs.of(node).iter().copied().filter(|(_, how)| !decides(*how))
}
