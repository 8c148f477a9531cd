//! Nodes of a slice whose values differ in every run: computed from addresses as numbers, from the time, or
//! from randomness.
//!
//! Versions differ in them without a cause in the program, for example in the slot of a hash table whose seed
//! is an address. This analysis is coarser than the comparison of events in `views`, and is used for ranking
//! only.

use crate::findings::Run;
use crate::ways::{Ground, decides};
use externals::Channel;
use program::inst::{BinOp, Inst, Operand, Ty};
use slice::NodeId;
use std::collections::HashSet;

/// Returns those of the nodes, given oldest first, that are computed from such values, or ran because of one.
#[must_use]
pub fn fleeting(run: &Run<'_>, nodes: &[NodeId]) -> HashSet<NodeId> {
    let traced = &run.traced;
    let inst = |node: NodeId| traced.inst(traced.slice.nodes[node as usize].site);
    let mut found = HashSet::new();
    for &node in nodes {
        let needs = traced.needs.of(node);
        let is_number_of_address = |node: NodeId| matches!(inst(node), Inst::Cast { from: Ty::Ptr, .. });
        let is_source = is_number_of_address(node)
            || takes_address(inst(node))
            || traced.external(node).is_some_and(|external| {
                external.io.iter().any(|io| matches!(io.channel, Channel::Clock | Channel::Random))
            });
        // The difference of two addresses is not an address.
        let mut operands = needs.iter().filter(|(_, how)| !decides(*how));
        let is_distance = matches!(inst(node), Inst::Bin { op: BinOp::Sub, .. })
            && operands.all(|(need, _)| is_number_of_address(*need));
        // A dependence on the address of a value does not make the value fleeting.
        let is_made_of = |&(need, how): &(NodeId, _)| found.contains(&need) && !traced.reaches(node, how);
        if is_source || !is_distance && needs.iter().any(is_made_of) {
            found.insert(node);
        }
    }
    found
}

/// Whether an instruction uses the address of a symbol as a number.
fn takes_address(inst: &Inst) -> bool {
    let is_symbol = |operand: &Operand| matches!(operand, Operand::Symbol { .. });
    match inst {
        Inst::Store { value, ty, .. } => *ty != Ty::Ptr && is_symbol(value),
        Inst::Bin { a, b, .. } => is_symbol(a) || is_symbol(b),
        _ => false,
    }
}
