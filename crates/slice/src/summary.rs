//! Static summaries for the transfer function: what each instruction defines, uses and controls,
//! which registers a fragment defines, what the phis of a block do on each edge.

use crate::facts::ProgramFacts;
use crate::fragments::{self, Fragment};
use program::inst::{ArgTy, BlockId, Inst, Operand, Reg};
use program::model::Function;
use std::sync::OnceLock;

/// How an instruction can become part of a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// By its result only.
    Value,
    /// By its result, or by what it stores.
    Memory,
    Jump,
    Branch,
    Return,
    Call,
}

/// The effect of an instruction apart from its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    None,
    Load,
    Store,
    /// `select`: it selects one of two values.
    Choice,
    /// Any other access to memory.
    Other,
}

/// A range in one of the vectors of [`FunctionSummary`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    start: u32,
    end: u32,
}

impl Span {
    fn since<T>(start: u32, all: &[T]) -> Span {
        Span { start, end: all.len() as u32 }
    }

    #[inline]
    pub fn of<T>(self, all: &[T]) -> &[T] {
        &all[self.start as usize..self.end as usize]
    }

    pub fn is_empty(self) -> bool {
        self.start == self.end
    }
}

#[derive(Clone, Copy, Debug)]
pub struct InstSummary {
    pub index: u32,
    pub kind: Kind,
    pub access: Access,
    /// Registers it defines.
    pub dst: Reg,
    pub count: u32,
    pub block: BlockId,
    /// Bytes that a load or store accesses.
    pub len: u32,
    /// The bits of them that it uses or defines, if it accesses a bit-field.
    pub bits: Option<u64>,
    /// Registers it uses, in [`FunctionSummary::uses`]; for a call, those of the callee; for a choice, the
    /// condition; for a store, the address.
    pub uses: Span,
    /// For a choice, the registers of the first and of the second value; for a store, those of the stored
    /// value (for a bit-field: of the new bits).
    pub values: [Span; 2],
    /// Number of operands in the trace before its own, within its function.
    pub operands: u32,
    /// For a branch, the blocks that it controls, in [`FunctionSummary::masks`].
    pub controls: Span,
}

/// One fragment. Its instructions are in reverse order.
#[derive(Clone, Copy, Debug)]
pub struct FragmentSummary {
    pub insts: Span,
    /// Instructions that store: indices in [`FunctionSummary::insts`].
    pub stores: Span,
    /// Registers that it defines, except by its call: a set in [`FunctionSummary::defined`].
    pub defined: Span,
    pub first: u32,
    pub last: u32,
}

/// A phi on one edge, for one of its registers.
#[derive(Clone, Debug)]
pub struct PhiMove {
    pub dst: Reg,
    /// The incoming register; `None` if the incoming value is a constant.
    pub src: Option<Reg>,
    /// Index of the register among those of the phi.
    pub slot: u32,
    /// Whether the edge chose the value: see [`crate::choice`]. Computed when first needed.
    pub is_choice: OnceLock<bool>,
}

struct PhiEdge {
    from: BlockId,
    moves: Vec<PhiMove>,
}

/// A block that control left on an edge, as part of a fused edge of the replay.
#[derive(Clone, Copy, Debug)]
pub struct EdgeExec {
    pub from: BlockId,
    pub to: BlockId,
    /// The block's last fragment, and its first and last instruction.
    pub fragment: u32,
    pub first: u32,
    pub last: u32,
}

/// See the module's documentation.
#[derive(Default)]
pub struct FunctionSummary {
    pub insts: Vec<InstSummary>,
    pub fragments: Vec<FragmentSummary>,
    pub stores: Vec<u32>,
    pub uses: Vec<Reg>,
    /// Sets of registers: indices of words, with their bits.
    pub defined: Vec<(u32, u64)>,
    /// Sets of blocks, in the same encoding.
    pub masks: Vec<(u32, u64)>,
    /// Grouped by the target blocks of the edges.
    phi_edges: Vec<PhiEdge>,
    phi_edges_to: Vec<Span>,
    /// For each fused edge of the replay its blocks, in [`FunctionSummary::edges`].
    pub fused: Vec<Span>,
    pub edges: Vec<EdgeExec>,
    pub fragment_of: Vec<u32>,
    /// For each instruction, and at the end, the number of operands before it.
    pub before: Vec<u32>,
}

impl FunctionSummary {
    pub fn of(facts: &ProgramFacts<'_>, function: u32) -> FunctionSummary {
        let model = facts.function(function);
        let (fragments, fragment_of) = fragments::split(model);
        let before = crate::segment_trace::before(model);
        let mut out = FunctionSummary { fragment_of, before, ..FunctionSummary::default() };
        for block in &model.blocks {
            let start = out.phi_edges.len() as u32;
            out.phi_edges.extend(phi_edges(&block.phis));
            out.phi_edges_to.push(Span::since(start, &out.phi_edges));
        }
        for fragment in &fragments {
            out.fragment(facts, model, function, fragment);
        }
        out.fused_edges(facts, function);
        out
    }

    fn fragment(&mut self, facts: &ProgramFacts<'_>, model: &Function, function: u32, fragment: &Fragment) {
        let (insts, stores) = (self.insts.len() as u32, self.stores.len() as u32);
        let defined = self.defined.len() as u32;
        for index in (fragment.start..fragment.end).rev() {
            let mut inst = self.inst(&model.code[index as usize], index, fragment.block);
            if let Some(field) = model.bit_access(index) {
                inst.bits = Some(field.mask);
                if let (Inst::Store { .. }, Some(value)) = (&model.code[index as usize], field.value) {
                    inst.values[0] = self.operand(value, 1);
                }
            }
            if inst.kind == Kind::Branch {
                let start = self.masks.len() as u32;
                self.masks.extend(facts.get(function).masks(fragment.block));
                inst.controls = Span::since(start, &self.masks);
            }
            if inst.kind == Kind::Memory {
                self.stores.push(self.insts.len() as u32);
            }
            if matches!(inst.kind, Kind::Value | Kind::Memory) {
                self.define(defined, inst.dst, inst.count);
            }
            self.insts.push(inst);
        }
        self.fragments.push(FragmentSummary {
            insts: Span::since(insts, &self.insts),
            stores: Span::since(stores, &self.stores),
            defined: Span::since(defined, &self.defined),
            first: fragment.start,
            last: fragment.end - 1,
        });
    }

    fn inst(&mut self, inst: &Inst, index: u32, block: BlockId) -> InstSummary {
        let (dst, count) = inst.defines().unwrap_or((0, 0));
        let (access, len) = match inst {
            Inst::Load { ty, .. } => (Access::Load, ty.bytes()),
            Inst::Store { ty, .. } => (Access::Store, ty.bytes()),
            Inst::Select { .. } => (Access::Choice, 0),
            Inst::Rmw { .. }
            | Inst::CmpXchg { .. }
            | Inst::MemCopy { .. }
            | Inst::MemSet { .. }
            | Inst::VaStart { .. }
            | Inst::VaCopy { .. } => (Access::Other, 0),
            _ => (Access::None, 0),
        };
        let kind = match inst {
            Inst::Jump { .. } => Kind::Jump,
            Inst::Branch { .. } | Inst::Switch { .. } => Kind::Branch,
            Inst::Return { .. } => Kind::Return,
            Inst::Call(_) => Kind::Call,
            _ if matches!(access, Access::Store | Access::Other) => Kind::Memory,
            _ => Kind::Value,
        };
        let mut values = [Span::default(); 2];
        let uses = match inst {
            Inst::Select { slots, cond, a, b, .. } => {
                values = [self.operand(*a, *slots), self.operand(*b, *slots)];
                self.operand(*cond, 1)
            }
            Inst::Store { addr, value, ty } => {
                values[0] = self.operand(*value, ty.slots());
                self.operand(*addr, 1)
            }
            Inst::Call(call) => self.operand(call.callee, 1),
            _ => {
                let start = self.uses.len() as u32;
                inst.for_each_use(|operand, slots| {
                    self.operand(operand, slots);
                });
                Span::since(start, &self.uses)
            }
        };
        let operands = self.before[index as usize];
        let controls = Span::default();
        let bits = None;
        InstSummary { index, kind, access, dst, count, block, len, bits, uses, values, operands, controls }
    }

    fn operand(&mut self, operand: Operand, slots: u32) -> Span {
        let start = self.uses.len() as u32;
        if let Operand::Reg(r) = operand {
            self.uses.extend(r..r + slots);
        }
        Span::since(start, &self.uses)
    }

    fn define(&mut self, first_word: u32, dst: Reg, count: u32) {
        for reg in dst..dst + count {
            let (word, bit) = (reg / 64, 1 << (reg % 64));
            match self.defined[first_word as usize..].iter_mut().find(|a| a.0 == word) {
                Some(known) => known.1 |= bit,
                None => self.defined.push((word, bit)),
            }
        }
    }

    fn fused_edges(&mut self, facts: &ProgramFacts<'_>, function: u32) {
        let blocks = &facts.function(function).blocks;
        let Some(fused) = &facts.image.code(function).fused else { return };
        for number in 0..fused.fused_edges.len() as u32 {
            let start = self.edges.len() as u32;
            for (from, to) in fused.edges_of(number) {
                let last = blocks[*from as usize].end - 1;
                let fragment = self.fragment_of[last as usize];
                let first = self.fragments[fragment as usize].first;
                self.edges.push(EdgeExec { from: *from, to: *to, fragment, first, last });
            }
            self.fused.push(Span::since(start, &self.edges));
        }
    }

    /// The copies that phis perform on an edge.
    #[inline]
    pub fn phi_moves(&self, from: BlockId, to: BlockId) -> &[PhiMove] {
        let edges = self.phi_edges_to[to as usize].of(&self.phi_edges);
        edges.iter().find(|edge| edge.from == from).map_or(&[], |edge| &edge.moves)
    }
}

fn phi_edges(phis: &[program::model::Phi]) -> Vec<PhiEdge> {
    let mut all: Vec<PhiEdge> = Vec::new();
    for phi in phis {
        for (from, value) in &phi.incoming {
            let moves = (0..phi.slots).map(|k| {
                let src = match value {
                    Operand::Reg(r) => Some(r + k),
                    _ => None,
                };
                PhiMove { dst: phi.dst + k, src, slot: k, is_choice: OnceLock::new() }
            });
            match all.iter_mut().find(|a| a.from == *from) {
                // A block may be a predecessor twice, with the same value.
                Some(known) if known.moves.iter().any(|m| m.dst == phi.dst) => {}
                Some(known) => known.moves.extend(moves),
                None => all.push(PhiEdge { from: *from, moves: moves.collect() }),
            }
        }
    }
    all
}

/// Parameters that are passed in registers: the register, the parameter's index, and its slot. The address
/// of the callee's copy of a by-value parameter is not a value of the caller.
pub fn parameters(function: &Function) -> impl Iterator<Item = (Reg, u32, u32)> + '_ {
    let passed = (0..).zip(&function.params).filter(|(_, p)| !matches!(p.ty, ArgTy::ByVal { .. }));
    passed.flat_map(|(number, p)| (0..p.ty.slots()).map(move |slot| (p.reg + slot, number, slot)))
}
