//! One step on the way back: what it assigned or decided, and what it used.

use super::Walker;
use crate::criterion::{Criterion, Wanted};
use crate::log::{FIRST, Log, SECOND};
use crate::slice::{Dependence, NodeId};
use crate::wants::List;
use program::inst::{Inst, Operand, Reg, RmwOp};
use replay::observer::Effect;

/// What an instruction is taken for, and what it used for that.
#[derive(Default)]
pub(super) struct Take {
    pub list: List,
    /// Asked for by name: all it used.
    pub all: bool,
    /// Registers and memory, where it is not simply all operands.
    regs: Vec<Reg>,
    reads: Vec<(u64, u64)>,
}

impl Walker<'_, '_> {
    pub(super) fn step(&mut self, log: &Log, function: u32, index: u32, depth: u32, effect: u32) {
        self.next -= 1;
        let step = self.next;
        let f = self.settle(depth, function);
        while let Some((at, _)) = self.after.last_key_value().filter(|(at, _)| **at >= step) {
            let at = *at;
            for piece in self.after.remove(&at).unwrap_or_default() {
                self.memory.want(piece.start, piece.len, piece.list, &mut self.all.edges);
                self.note_wanted(piece.start, piece.len, true);
            }
        }
        let inst = self.all.facts.inst(function, index);
        let asked = self.asked.remove(&step).unwrap_or_default();
        let mut take = Take { list: std::mem::take(&mut self.landing), ..Take::default() };
        if let Some(start) = self.starts.remove(&step) {
            take.list = self.all.edges.join(take.list, start);
        }
        take.all = take.list.is_wanted() || asks_all(&asked, inst);
        if let Inst::Call(call) = inst {
            let passed = log.passed.get(effect as usize).map_or(&[][..], Vec::as_slice);
            self.call(f, index, step, call, passed, take, &asked);
            return;
        }
        self.assigned(f, function, index, inst, log, effect, &mut take);
        let decides = match inst {
            Inst::Branch { cond: operand, .. } | Inst::Switch { value: operand, .. } => Some(*operand),
            _ => None,
        };
        if let (Some(operand), true) = (decides, self.potential.is_some()) {
            let taken = take.list.is_wanted() || !asked.is_empty();
            let list = self.branch(f, function, index, taken);
            if list.is_wanted() && self.closes() {
                take.list = list;
            } else if list.is_wanted() {
                self.dummy(f, index, step, operand, list);
                return;
            }
        }
        if !take.list.is_wanted() && asked.is_empty() {
            return;
        }
        let node = self.node(step, f, index, take.list);
        let block = self.all.facts.get(function).block_of[index as usize];
        if asked.is_empty() && self.is_of_tree(f, inst, take.list) {
            self.mark_potential(node);
            self.want_for_group(f, block);
            match inst {
                Inst::Select { slots, cond, a, b, .. } => {
                    self.want_tree(f, *cond, 1, node);
                    self.want_tree(f, if effect == SECOND { *b } else { *a }, *slots, node);
                }
                _ => inst.for_each_use(|operand, slots| self.want_tree(f, operand, slots, node)),
            }
            for (address, len) in take.reads {
                self.want_memory(address, len, node);
            }
            self.want_for_sure();
            return;
        }
        let sure = !asked.is_empty() || self.is_sure(take.list);
        if !sure {
            self.mark_potential(node);
            self.want_for_group(f, block);
        }
        if take.list.is_wanted() || take.all {
            if take.all || !matches!(inst, Inst::Return { .. }) {
                self.uses(f, inst, effect, node);
            }
            for reg in take.regs {
                self.want_operand(f, Operand::Reg(reg), 1, node);
            }
            for (address, len) in take.reads {
                self.want_memory(address, len, node);
            }
        }
        self.answer(f, inst, node, &asked);
        if sure {
            self.undecide(f, block, node);
        } else {
            self.want_for_sure();
        }
    }

    /// What of the wanted the instruction assigned or decided.
    #[allow(clippy::too_many_arguments)] // one step, in its parts
    fn assigned(
        &mut self,
        f: usize,
        function: u32,
        index: u32,
        inst: &Inst,
        log: &Log,
        effect: u32,
        take: &mut Take,
    ) {
        match inst {
            Inst::Jump { .. } | Inst::Branch { .. } | Inst::Switch { .. } => {
                let constant = std::mem::take(&mut self.constant);
                take.list = self.all.edges.join(take.list, constant);
                if !matches!(inst, Inst::Jump { .. }) {
                    let block = self.all.facts.get(function).block_of[index as usize];
                    let decided = self.decide(f, function, block);
                    take.list = self.all.edges.join(take.list, decided);
                }
                return;
            }
            Inst::Return { value, ret } => {
                let mut lightly = std::mem::take(&mut self.frames[f].returned);
                while lightly != 0 {
                    self.frames[f].returns.push((lightly.trailing_zeros(), List::ANONYMOUS));
                    lightly &= lightly - 1;
                }
                for (k, list) in std::mem::take(&mut self.frames[f].returns) {
                    take.list = self.all.edges.join(take.list, list);
                    if let Some(Operand::Reg(r)) = value {
                        take.regs.push(r + k);
                    }
                }
                // Whoever called back from outside did what it did by this value.
                if let (Some(caller), Some(Operand::Reg(r))) = (self.called_back(f), value) {
                    let list = self.all.edges.one(caller, Dependence::Return(*r));
                    take.list = self.all.edges.join(take.list, list);
                    take.regs.extend((0..ret.iter().map(|t| t.slots()).sum()).map(|k| r + k));
                }
                return;
            }
            _ => {}
        }
        let mut assigned = List::default();
        if let Some((dst, n)) = inst.defines() {
            assigned = self.take_regs(f, dst, n);
            take.list = self.all.edges.join(take.list, assigned);
        }
        let wants_value = assigned.is_wanted() || take.all;
        let Some(effect) = log.effects.get(effect as usize).copied() else { return };
        match effect {
            Effect::None => {}
            Effect::Load { address, len } => {
                if wants_value {
                    take.reads.push((address, len.into()));
                }
            }
            Effect::Store { address, len } => {
                let stored = self.take_memory(address, len.into());
                take.list = self.all.edges.join(take.list, stored);
            }
            Effect::Update { address, len, stored } => {
                let mut hit = false;
                if stored {
                    let bytes = self.take_memory(address, len.into());
                    hit = bytes.is_wanted();
                    take.list = self.all.edges.join(take.list, bytes);
                }
                let exchanged = matches!(inst, Inst::Rmw { op: RmwOp::Xchg, .. });
                if wants_value || hit && !exchanged {
                    take.reads.push((address, len.into()));
                }
            }
            Effect::Copy { to, from, len } => {
                if take.all {
                    take.reads.push((from, len));
                }
                for piece in self.take_pieces(to, len) {
                    take.reads.push((from.wrapping_add(piece.start - to), piece.len));
                    take.list = self.all.edges.join(take.list, piece.list);
                }
            }
            Effect::Fill { to, len } => {
                let filled = self.take_memory(to, len);
                take.list = self.all.edges.join(take.list, filled);
            }
        }
    }

    /// Looks for the operands.
    fn uses(&mut self, f: usize, inst: &Inst, effect: u32, node: Option<NodeId>) {
        match inst {
            Inst::Select { slots, cond, a, b, .. } => {
                self.want_operand(f, *cond, 1, node);
                if effect != SECOND {
                    self.want_operand(f, *a, *slots, node);
                }
                if effect != FIRST {
                    self.want_operand(f, *b, *slots, node);
                }
            }
            _ => {
                let mut operands = [(Operand::Const(0), 0); 8];
                let mut more = Vec::new();
                let mut n = 0;
                inst.for_each_use(|o, slots| {
                    match operands.get_mut(n) {
                        Some(place) => *place = (o, slots),
                        None => more.push((o, slots)),
                    }
                    n += 1;
                });
                for (o, slots) in operands.into_iter().take(n).chain(more) {
                    self.want_operand(f, o, slots, node);
                }
            }
        }
    }

    /// Looks for what the questions at a step ask beyond what it used.
    pub(super) fn answer(
        &mut self,
        f: usize,
        inst: &Inst,
        node: Option<NodeId>,
        asked: &[(usize, &Criterion)],
    ) {
        let (dst, slots) = inst.defines().unwrap_or((0, 0));
        for (n, criterion) in asked {
            if let Some(place) = self.all.slice.criteria.get_mut(*n) {
                *place = node;
            }
            for wanted in &criterion.wanted {
                match wanted {
                    Wanted::All | Wanted::Ran => {}
                    Wanted::Registers(regs) => {
                        // Its own result is this very instruction's.
                        for reg in regs.iter().filter(|r| !(dst..dst + slots).contains(r)) {
                            self.want_operand(f, Operand::Reg(*reg), 1, node);
                        }
                    }
                    Wanted::Memory { address, len } => self.want_memory(*address, *len, node),
                }
            }
        }
    }
}

/// Whether all that an instruction used is asked for; its result is, if it is.
pub(super) fn asks_all(asked: &[(usize, &Criterion)], inst: &Inst) -> bool {
    let (dst, n) = inst.defines().unwrap_or((0, 0));
    asked.iter().flat_map(|(_, c)| &c.wanted).any(|w| match w {
        Wanted::All => true,
        Wanted::Registers(regs) => regs.iter().any(|r| (dst..dst + n).contains(r)),
        Wanted::Ran | Wanted::Memory { .. } => false,
    })
}
