//! The instructions of a function that could be taken at all, and what each one uses.

use crate::facts::AllFacts;
use crate::fragments;
use program::inst::{ArgTy, BlockId, Inst, Operand, Reg};
use program::model::Function;

/// What an instruction might be taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// For its result only.
    Value,
    /// For its result, or for what it stores.
    Memory,
    Jump,
    Branch,
    Return,
    Call,
}

/// What an instruction does beside computing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    None,
    Load,
    Store,
    /// It takes one of two values.
    Choice,
    /// Anything else that concerns memory.
    Other,
}

#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    pub index: u32,
    pub kind: Kind,
    pub access: Access,
    /// Registers it assigns.
    pub dst: u32,
    pub count: u32,
    /// The same as a word of a set and its bits; no bits if they are in two words.
    pub word: u32,
    pub mask: u64,
    pub block: BlockId,
    /// Bytes that a load or store accesses.
    pub len: u32,
    /// Registers it uses: a range of [`Candidates::uses`].
    pub uses: (u32, u32),
    /// Of a choice: where those of the first and of the second value begin.
    pub values: (u32, u32),
    /// In a trail: how many numbers of the function come up before it.
    pub at: u32,
    /// Of a call: its arguments, a range of [`Candidates::arguments`]; `uses` is what finds
    /// the callee.
    pub arguments: (u32, u32),
    /// Of a branch: the blocks it decides about, a range of [`Candidates::masks`].
    pub decides: (u32, u32),
}

/// The candidates of one stretch.
#[derive(Clone, Copy, Debug)]
pub struct Here {
    /// Where they are, the last of the stretch first.
    pub from: u32,
    pub to: u32,
    /// Those that store: a range of [`Candidates::stores`].
    pub stores: (u32, u32),
    /// What ends the stretch, if it changes control, and which candidate that is.
    pub tail: Option<(Kind, u32)>,
    /// Registers that the others assign: a range of [`Candidates::assigned`].
    pub assigned: (u32, u32),
    /// First and last instruction of the stretch.
    pub first: u32,
    pub last: u32,
}

/// What the phis of a block do on an edge to it, register by register.
struct Arrival {
    from: BlockId,
    moves: Vec<Copied>,
}

/// The register that a phi assigns, and the one it is a copy of, if it is one.
pub type Copied = (Reg, Option<Reg>);

/// A block on the way that control took, up to its end, and the edge from there.
#[derive(Clone, Copy, Debug)]
pub struct Hop {
    pub from: BlockId,
    pub to: BlockId,
    /// The block's last stretch, and its first and last instruction.
    pub stretch: u32,
    pub first: u32,
    pub last: u32,
    /// In a trail: how many numbers of the function come up before the stretch, and by its end.
    pub numbers: (u32, u32),
    /// The edge, if there are phis at its end.
    pub arrival: Option<u32>,
}

/// See the module's documentation.
pub struct Candidates {
    pub all: Vec<Candidate>,
    /// How often each was taken while executions were only counted.
    pub tally: Vec<u64>,
    pub stretches: Vec<Here>,
    /// Candidates that store.
    pub stores: Vec<u32>,
    pub uses: Vec<Reg>,
    /// Sets of registers: number of a word, and its bits.
    pub assigned: Vec<(u32, u64)>,
    /// Sets of blocks, in the same way.
    pub masks: Vec<(u32, u64)>,
    /// Arguments of calls: the first register, if it is one, and how many.
    pub arguments: Vec<(Option<Reg>, u32)>,
    /// Parameters that are passed in registers: the register, the parameter's number, and the
    /// slot of it.
    pub parameters: Vec<(Reg, u32, u32)>,
    /// In the order of the blocks arrived at.
    arrivals: Vec<Arrival>,
    /// Where those of each block are.
    arriving: Vec<(u32, u32)>,
    /// For each way of the fused code a range of [`Candidates::hops`].
    pub ways: Vec<(u32, u32)>,
    pub hops: Vec<Hop>,
    /// For each instruction its stretch, and the numbers that come up before it.
    pub stretch_of: Vec<u32>,
    pub starts: Vec<u32>,
    pub before: Vec<u32>,
}

impl Candidates {
    pub fn of(facts: &AllFacts<'_>, function: u32) -> Candidates {
        let model = facts.function(function);
        let (stretches, stretch_of) = fragments::split(model);
        let mut out = Candidates {
            all: Vec::new(),
            tally: Vec::new(),
            stretches: Vec::new(),
            stores: Vec::new(),
            uses: Vec::new(),
            assigned: Vec::new(),
            masks: Vec::new(),
            arguments: Vec::new(),
            parameters: parameters(model),
            arrivals: Vec::new(),
            arriving: Vec::new(),
            ways: Vec::new(),
            hops: Vec::new(),
            starts: stretches.iter().map(|s| s.start).collect(),
            stretch_of,
            before: crate::trail::before(model),
        };
        for block in &model.blocks {
            let from = out.arrivals.len() as u32;
            out.arrivals.extend(arrivals(&block.phis));
            out.arriving.push((from, out.arrivals.len() as u32));
        }
        out.ways(facts, function);
        let control = facts.get(function);
        for stretch in &stretches {
            let from = out.all.len() as u32;
            let first_word = out.assigned.len();
            let first_store = out.stores.len() as u32;
            let mut tail = None;
            for index in (stretch.start..stretch.end).rev() {
                let inst = &model.code[index as usize];
                let Some(candidate) = out.candidate(inst, index, stretch.block) else { continue };
                let mut c = Candidate { at: out.before[index as usize], ..candidate };
                if c.kind == Kind::Branch {
                    c.decides.0 = out.masks.len() as u32;
                    out.masks.extend(control.masks(stretch.block));
                    c.decides.1 = out.masks.len() as u32;
                }
                if c.kind == Kind::Memory {
                    out.stores.push(out.all.len() as u32);
                }
                match c.kind {
                    Kind::Value | Kind::Memory => out.assign(first_word, c.dst, c.count),
                    _ => tail = Some((c.kind, out.all.len() as u32)),
                }
                out.all.push(c);
            }
            let assigned = (first_word as u32, out.assigned.len() as u32);
            let stores = (first_store, out.stores.len() as u32);
            let (first, last) = (stretch.start, stretch.end - 1);
            out.stretches.push(Here { from, to: out.all.len() as u32, stores, tail, assigned, first, last });
        }
        out.tally = vec![0; out.all.len()];
        out
    }

    fn candidate(&mut self, inst: &Inst, index: u32, block: BlockId) -> Option<Candidate> {
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
            _ if count > 0 => Kind::Value,
            _ => return None,
        };
        let from = self.uses.len() as u32;
        let mut values = (from, from);
        let first_argument = self.arguments.len() as u32;
        match inst {
            Inst::Select { slots, cond, a, b, .. } => {
                self.want(*cond, 1);
                values.0 = self.uses.len() as u32;
                self.want(*a, *slots);
                values.1 = self.uses.len() as u32;
                self.want(*b, *slots);
            }
            Inst::Call(call) => {
                self.want(call.callee, 1);
                self.arguments.extend(call.args.iter().map(|arg| match arg.value {
                    Operand::Reg(r) => (Some(r), arg.ty.slots()),
                    _ => (None, arg.ty.slots()),
                }));
            }
            _ => inst.for_each_use(|operand, slots| self.want(operand, slots)),
        }
        let arguments = (first_argument, self.arguments.len() as u32);
        let uses = (from, self.uses.len() as u32);
        let fits = count > 0 && dst % 64 + count <= 64;
        let mask = if fits { (u64::MAX >> (64 - count)) << (dst % 64) } else { 0 };
        Some(Candidate {
            index,
            kind,
            access,
            dst,
            count,
            word: dst / 64,
            mask,
            block,
            len,
            uses,
            values,
            at: 0,
            arguments,
            decides: (0, 0),
        })
    }

    /// The ways that the fast loop knows.
    fn ways(&mut self, facts: &AllFacts<'_>, function: u32) {
        let blocks = &facts.function(function).blocks;
        let Some(fused) = &facts.image.code(function).fused else { return };
        for way in 0..fused.ways.len() as u32 {
            let start = self.hops.len() as u32;
            for (from, to) in fused.edges_of(way) {
                let last = blocks[*from as usize].end - 1;
                let stretch = self.stretch_of[last as usize];
                let first = self.starts[stretch as usize];
                let numbers = (self.before[first as usize], self.before[last as usize + 1]);
                let arrival = self.arrival(*from, *to);
                self.hops.push(Hop { from: *from, to: *to, stretch, first, last, numbers, arrival });
            }
            self.ways.push((start, self.hops.len() as u32));
        }
    }

    fn want(&mut self, operand: Operand, slots: u32) {
        if let Operand::Reg(r) = operand {
            self.uses.extend(r..r + slots);
        }
    }

    fn assign(&mut self, first_word: usize, dst: Reg, count: u32) {
        for reg in dst..dst + count {
            let (word, bit) = (reg / 64, 1 << (reg % 64));
            match self.assigned[first_word..].iter_mut().find(|a| a.0 == word) {
                Some(known) => known.1 |= bit,
                None => self.assigned.push((word, bit)),
            }
        }
    }

    /// The call at an instruction.
    pub fn call(&self, index: u32) -> Option<&Candidate> {
        let stretch = self.stretches.get(*self.stretch_of.get(index as usize)? as usize)?;
        // A call ends its stretch.
        self.all.get(stretch.from as usize).filter(|c| c.kind == Kind::Call && c.index == index)
    }

    /// Edges with phis at their ends.
    pub fn arrivals(&self) -> usize {
        self.arrivals.len()
    }

    /// An edge, if there are phis at its end.
    #[inline]
    pub fn arrival(&self, from: BlockId, to: BlockId) -> Option<u32> {
        let (first, last) = self.arriving[to as usize];
        (first..last).find(|n| self.arrivals[*n as usize].from == from)
    }

    /// What the phis do on an edge.
    #[inline]
    pub fn moves_of(&self, arrival: u32) -> &[Copied] {
        &self.arrivals[arrival as usize].moves
    }
}

fn parameters(function: &Function) -> Vec<(Reg, u32, u32)> {
    let mut all = Vec::new();
    for (number, p) in function.params.iter().enumerate() {
        // The address of the function's own copy is nobody's value.
        if !matches!(p.ty, ArgTy::ByVal { .. }) {
            all.extend((0..p.ty.slots()).map(|k| (p.reg + k, number as u32, k)));
        }
    }
    all
}

fn arrivals(phis: &[program::model::Phi]) -> Vec<Arrival> {
    let mut all: Vec<Arrival> = Vec::new();
    for phi in phis {
        for (from, value) in &phi.incoming {
            let moves = (0..phi.slots).map(|k| match value {
                Operand::Reg(r) => (phi.dst + k, Some(r + k)),
                _ => (phi.dst + k, None),
            });
            match all.iter_mut().find(|a| a.from == *from) {
                // A block may come in twice over, with the same value.
                Some(known) if known.moves.iter().any(|m| m.0 == phi.dst) => {}
                Some(known) => known.moves.extend(moves),
                None => all.push(Arrival { from: *from, moves: moves.collect() }),
            }
        }
    }
    all
}
