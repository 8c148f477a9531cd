//! Assignments that branch edges not taken could have performed.
//!
//! A branch edge ([`BranchEdge`]) is the branch's block and one of its successors. Its *region* is the set of
//! blocks that run, or may run, only because the edge is taken: the blocks that are control dependent
//! on the branch by that successor, and transitively all blocks that depend on those.
//!
//! Variables in registers are defined by instructions and by phis at joins. A phi represents a
//! variable, and each incoming value that is not the value the variable had before is an assignment
//! on that edge.

use crate::cfg::{Dominators, Graph};
use crate::inst::{BlockId, Operand, Reg};
use crate::model::Function;
use std::collections::{HashMap, HashSet};

/// A branch edge: the branch's block, and the successor.
pub type BranchEdge = (BlockId, BlockId);

/// A set of blocks, as a bit set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ControlRegion {
    bits: Vec<u64>,
}

impl ControlRegion {
    /// Whether the region contains a block.
    #[must_use]
    pub fn contains(&self, block: BlockId) -> bool {
        self.bits.get(block as usize / 64).is_some_and(|w| w >> (block % 64) & 1 != 0)
    }

    fn insert(&mut self, block: BlockId) -> bool {
        let (word, bit) = (block as usize / 64, 1 << (block % 64));
        if self.bits.len() <= word {
            self.bits.resize(word + 1, 0);
        }
        let new = self.bits[word] & bit == 0;
        self.bits[word] |= bit;
        new
    }

    /// All blocks, in order.
    pub fn blocks(&self) -> impl Iterator<Item = BlockId> + '_ {
        (0..64 * self.bits.len() as BlockId).filter(|b| self.contains(*b))
    }
}

/// Predecessor block and register; `None` for a constant.
type Incoming = (BlockId, Option<Reg>);

/// The branch edges of one function, with their control dependence.
pub struct BranchEdges {
    graph: Graph,
    post: Dominators,
    /// For each block, the blocks that are control dependent on its branch.
    controls: Vec<Vec<BlockId>>,
    /// The block of the instruction that defines each register.
    def_block: HashMap<Reg, BlockId>,
    /// The phi that defines a register: its block and incoming values.
    phis: HashMap<Reg, (BlockId, Vec<Incoming>)>,
}

impl BranchEdges {
    /// Analyses a function.
    #[must_use]
    pub fn of(function: &Function) -> BranchEdges {
        let graph = Graph::of(function);
        let post = graph.post_dominators();
        let mut controls = vec![Vec::new(); function.blocks.len()];
        for (b, parents) in graph.control_dependence().into_iter().enumerate() {
            for a in parents.into_iter().filter(|a| graph.successors(*a).len() > 1) {
                controls[a as usize].push(b as BlockId);
            }
        }
        let mut def_block = HashMap::new();
        let mut phis = HashMap::new();
        for (b, block) in function.blocks.iter().enumerate() {
            for phi in &block.phis {
                for k in 0..phi.slots {
                    let incoming = phi.incoming.iter().map(|(from, value)| match value {
                        Operand::Reg(r) => (*from, Some(r + k)),
                        _ => (*from, None),
                    });
                    phis.insert(phi.dst + k, (b as BlockId, incoming.collect::<Vec<_>>()));
                }
            }
            for inst in &function.code[block.start as usize..block.end as usize] {
                if let Some((dst, n)) = inst.defines() {
                    def_block.extend((dst..dst + n).map(|r| (r, b as BlockId)));
                }
            }
        }
        BranchEdges { graph, post, controls, def_block, phis }
    }

    /// The region of a branch edge.
    #[must_use]
    pub fn region(&self, way: BranchEdge) -> ControlRegion {
        let stop = self.post.immediate(way.0);
        let mut work = Vec::new();
        let mut at = Some(way.1);
        while let Some(b) = at.filter(|b| Some(*b) != stop && (*b as usize) < self.graph.len()) {
            work.push(b);
            at = self.post.immediate(b);
        }
        let mut region = ControlRegion::default();
        while let Some(b) = work.pop() {
            if region.insert(b) {
                work.extend_from_slice(&self.controls[b as usize]);
            }
        }
        region
    }

    /// Whether taking `way` may assign a variable in a register: `reg` holds its value at the
    /// branch, and from there the value passed `through` these phis. `region` must be the edge's
    /// region.
    #[must_use]
    pub fn may_assign(&self, way: BranchEdge, region: &ControlRegion, reg: Reg, through: &[Reg]) -> bool {
        if self.def_block.get(&reg).is_some_and(|b| region.contains(*b)) {
            return true;
        }
        // Phis whose incoming value over this edge must be the same.
        let mut seen = HashSet::new();
        let mut work: Vec<Reg> = through.iter().copied().chain([reg]).collect();
        while let Some(phi_reg) = work.pop() {
            let Some((block, incoming)) = self.phis.get(&phi_reg) else { continue };
            if !seen.insert(phi_reg) {
                continue;
            }
            for (from, value) in incoming {
                if !region.contains(*from) && (*from, *block) != way {
                    continue;
                }
                match value {
                    Some(r) if *r == reg => {}
                    Some(r) if self.phis.get(r).is_some_and(|p| region.contains(p.0)) => work.push(*r),
                    _ => return true,
                }
            }
        }
        false
    }
}

#[cfg(test)]
mod tests;
