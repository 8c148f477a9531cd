//! Branches that only follow from an earlier one.
//!
//! A branch that takes another direction changes further ones: code that it guards assigns another value, and
//! the next condition tests that. Such a branch gives no new information. Each executed instruction of the
//! failure's slice gets a label with the reason for its difference from the passing run:
//!
//! * an instruction with the same value at the aligned step does not differ, whatever its operands; results
//!   of calls are not compared, and a call of a function that is not recorded may be a reason of its own;
//! * an input that differs is a reason of its own;
//! * a branch that takes another direction is a reason of its own, unless everything that makes its condition
//!   differ has the same single branch as its reason: then it follows from that one;
//! * all others have the reasons of their operands and of the branches they are control dependent on.
//!
//! No consequence is reported for a branch with two reasons.

use crate::dataflow::Aligned;
use crate::failure::Failure;
use program::inst::Inst;
use slice::NodeId;
use std::collections::{HashMap, HashSet};

/// Why something differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    /// It does not differ.
    Same,
    /// Because of this branch.
    Branch(NodeId),
    /// Because of an input, or for several reasons.
    Other,
}

impl Reason {
    fn and(self, other: Reason) -> Reason {
        match (self, other) {
            (Reason::Same, reason) | (reason, Reason::Same) => reason,
            (one, other) if one == other => one,
            _ => Reason::Other,
        }
    }
}

/// Maps branches that took another direction, by their steps in the failing run, to the step of the earlier
/// branch that they follow from, if there is one.
#[must_use]
pub fn consequences(
    failure: &Failure<'_>,
    stream: u32,
    aligned: &Aligned,
    toggled: &HashSet<u64>,
) -> HashMap<u64, u64> {
    let nodes = &failure.traced.slice.nodes;
    let mut order: Vec<NodeId> =
        (0..nodes.len() as NodeId).filter(|n| nodes[*n as usize].at.stream == stream).collect();
    order.sort_unstable_by_key(|node| nodes[*node as usize].at.step);
    let needs = |node: NodeId| failure.traced.needs.of(node).iter().map(|(needed, _)| *needed).collect();
    let is_toggled = |node: NodeId| toggled.contains(&nodes[node as usize].at.step);
    let is_call = |node: NodeId| matches!(failure.traced.inst(nodes[node as usize].site), Inst::Call(_));
    let followed = label(nodes.len(), &order, &needs, &is_toggled, &is_call, &|node| aligned.is_same(node));
    let step = |node: NodeId| nodes[node as usize].at.step;
    followed.into_iter().map(|(branch, from)| (step(branch), step(from))).collect()
}

/// The branches that follow from others. `order`: nodes in execution order; `same`: for nodes with a partner,
/// whether it has the same value.
fn label(
    nodes: usize,
    order: &[NodeId],
    needs: &dyn Fn(NodeId) -> Vec<NodeId>,
    is_toggled: &dyn Fn(NodeId) -> bool,
    is_call: &dyn Fn(NodeId) -> bool,
    same: &dyn Fn(NodeId) -> Option<bool>,
) -> Vec<(NodeId, NodeId)> {
    // Nodes of other threads are not compared.
    let mut reasons = vec![Reason::Other; nodes];
    let mut followed = Vec::new();
    for &node in order {
        let made_of =
            || needs(node).into_iter().fold(Reason::Same, |all, needed| all.and(reasons[needed as usize]));
        let reason = match (is_toggled(node), same(node)) {
            (true, _) => match made_of() {
                Reason::Branch(earlier) => {
                    followed.push((node, earlier));
                    Reason::Branch(earlier)
                }
                _ => Reason::Branch(node),
            },
            (false, Some(true)) => Reason::Same,
            (false, Some(false)) => match made_of() {
                // The difference comes from outside.
                Reason::Same => Reason::Other,
                reason => reason,
            },
            (false, None) => match made_of() {
                Reason::Same if is_call(node) => Reason::Other,
                reason => reason,
            },
        };
        reasons[node as usize] = reason;
    }
    followed
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALL: NodeId = 9;

    /// 0: an input; 1: a branch on it; 2: assigned because of it; 3: a branch on the assigned value.
    fn followed(needs: &[&[NodeId]], toggled: &[NodeId], same: &[(NodeId, bool)]) -> Vec<(NodeId, NodeId)> {
        let order: Vec<NodeId> = (0..needs.len() as NodeId).collect();
        let needs_of = |node: NodeId| needs[node as usize].to_vec();
        label(
            needs.len(),
            &order,
            &needs_of,
            &|node| toggled.contains(&node),
            &|node| node == CALL,
            &|node| same.iter().find(|(of, _)| *of == node).map(|(_, same)| *same),
        )
    }

    #[test]
    fn a_branch_on_what_another_one_decided_follows_from_it() {
        let needs: &[&[NodeId]] = &[&[], &[0], &[1], &[2]];
        assert_eq!(followed(needs, &[1, 3], &[(0, false)]), [(3, 1)]);
        // The third of a chain follows from the first.
        let needs: &[&[NodeId]] = &[&[], &[0], &[1], &[2], &[3]];
        assert_eq!(followed(needs, &[1, 3, 4], &[(0, false)]), [(3, 1), (4, 1)]);
    }

    #[test]
    fn a_branch_with_an_input_of_its_own_does_not() {
        // The second input differs as well.
        let needs: &[&[NodeId]] = &[&[], &[0], &[], &[1, 2], &[3]];
        assert!(followed(needs, &[1, 4], &[(0, false), (2, false)]).is_empty());
        // It does not differ, so it is no reason.
        assert_eq!(followed(needs, &[1, 4], &[(0, false), (2, true)]), [(4, 1)]);
        // Two branches are two reasons.
        let needs: &[&[NodeId]] = &[&[], &[0], &[0], &[1, 2]];
        assert!(followed(needs, &[1, 2, 3], &[(0, false)]).is_empty());
        // The result of a call that is not recorded, and has no compared value, may differ.
        let mut needs: Vec<&[NodeId]> = vec![&[]; 12];
        (needs[1], needs[10], needs[11]) = (&[0], &[1, CALL], &[10]);
        assert!(followed(&needs, &[1, 11], &[(0, false)]).is_empty());
        needs[10] = &[1, 8];
        assert_eq!(followed(&needs, &[1, 11], &[(0, false)]), [(11, 1)]);
    }
}
