//! Which edges choose the value of a phi.
//!
//! A phi copies the incoming register of the edge taken. In `m = a < b ? a : b` both registers were computed
//! before the branch, so the value does not depend on anything that ran after it: the edge is the
//! definition, and with it the branch that chose the edge. A phi of a variable that no arm assigned is
//! different. In `if (c) m = a;` with `c` false the incoming register is the one that `m` had at the branch:
//! that the branch left it unchanged is a potential dependence, which relevant slices follow, and not a
//! dynamic one.
//!
//! So an edge chooses the incoming register if a branch that chose the edge came after the register's
//! definition (some path leads from the branch to the edge without the definition), and no variable that the
//! phi represents had that register at the branch. The branch that chose an edge is the one at its source
//! or, if the source ends in an unconditional jump, those that control the source's block. A phi without a
//! variable is the value of an expression (`?:`, `&&`).
//!
//! Registers whose definition ran after the branch need no rule: the definition is in the slice,
//! and its control dependence leads to the branch.

use program::cfg::Graph;
use program::inst::{BlockId, Operand, Reg};
use program::model::{Function, Home};
use replay::vars::Bindings;

/// See the module's documentation.
pub struct Choices<'f> {
    function: &'f Function,
    graph: Graph,
    /// Per block, the branches that control it.
    parents: Vec<Vec<BlockId>>,
    /// The block that defines each register; `None` for parameters.
    defined_in: Vec<Option<BlockId>>,
    bindings: Bindings<'f>,
}

impl<'f> Choices<'f> {
    pub fn of(function: &'f Function) -> Choices<'f> {
        let graph = Graph::of(function);
        let mut parents = graph.control_dependence();
        for all in &mut parents {
            all.retain(|a| graph.successors(*a).len() > 1);
        }
        let mut defined_in = vec![None; function.slots as usize];
        for (b, block) in (0..).zip(&function.blocks) {
            let insts = &function.code[block.start as usize..block.end as usize];
            let defined = insts.iter().filter_map(program::inst::Inst::defines);
            for (dst, count) in defined.chain(block.phis.iter().map(|p| (p.dst, p.slots))) {
                defined_in[dst as usize..][..count as usize].fill(Some(b));
            }
        }
        Choices { function, graph, parents, defined_in, bindings: Bindings::of(function) }
    }

    /// Whether the edge from a block chooses the value of a phi with this incoming register.
    pub fn is_choice(&self, from: BlockId, phi: Reg, incoming: Reg) -> bool {
        let here = [from];
        let is_branch = self.graph.successors(from).len() > 1;
        let chosen_by = if is_branch { &here[..] } else { &self.parents[from as usize] };
        let is_before = |branch| match self.defined_in[incoming as usize] {
            Some(definition) => self.reaches(branch, from, definition),
            None => true,
        };
        chosen_by.iter().any(|branch| is_before(*branch) && !self.is_value_at(*branch, phi, incoming))
    }

    /// Whether a path leads from the end of block `start` to the end of block `end` without passing
    /// `without`.
    fn reaches(&self, start: BlockId, end: BlockId, without: BlockId) -> bool {
        if start == end {
            return true;
        }
        let mut seen = vec![false; self.function.blocks.len()];
        seen[without as usize] = true;
        let mut work = vec![start];
        while let Some(block) = work.pop() {
            for next in self.graph.successors(block) {
                if !std::mem::replace(&mut seen[*next as usize], true) {
                    if *next == end {
                        return true;
                    }
                    work.push(*next);
                }
            }
        }
        false
    }

    /// Whether a variable that a phi represents had a register at the branch of a block.
    fn is_value_at(&self, branch: BlockId, phi: Reg, reg: Reg) -> bool {
        let index = self.function.blocks[branch as usize].end - 1;
        let is_in = |home: Home, reg: Reg| matches!(home, Home::Value(Operand::Reg(r), _) if r == reg);
        let mut variables: Vec<u32> =
            self.function.bindings.iter().filter(|b| is_in(b.home, phi)).map(|b| b.variable).collect();
        variables.sort_unstable();
        variables.dedup();
        variables.iter().any(|v| self.bindings.at(index, *v).iter().any(|b| is_in(b.home, reg)))
    }
}
