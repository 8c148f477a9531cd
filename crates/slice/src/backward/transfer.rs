//! The transfer function: what an executed instruction defines or controls, and what it uses.

use super::trace::Operands;
use super::{Backward, TraceResult};
use crate::criterion::{Criterion, Wanted};
use crate::demanded_bits::{self, ALL};
use crate::fragments::FragmentExec;
use crate::slice::Dependence;
use crate::summary::{Access, FragmentSummary, FunctionSummary, InstSummary, Kind, Span};
use crate::uses::{Consumer, UseList};
use program::inst::{Inst, Reg, RmwOp};
use replay::observer::Effect;

/// What the queries of a step require, apart from what the instruction defines.
#[derive(Default)]
pub(super) struct Demand<'w> {
    pub uses: UseList,
    /// All operands are used.
    pub all: bool,
    pub asked: Vec<(usize, &'w Criterion)>,
}

/// An executed instruction.
#[derive(Clone, Copy)]
pub(super) struct InstExec<'s> {
    pub f: usize,
    pub function: u32,
    pub depth: u32,
    pub step: u64,
    pub inst: &'s InstSummary,
    pub of: &'s FunctionSummary,
}

impl<'s> InstExec<'s> {
    /// The same fragment's execution at another instruction.
    #[inline]
    fn at(self, exec: &FragmentExec, inst: &'s InstSummary) -> InstExec<'s> {
        InstExec { inst, step: exec.step + u64::from(inst.index - exec.first), ..self }
    }
}

/// Why an instruction is a node, and which operands it uses.
struct Found {
    uses: UseList,
    /// Registers it uses, with the used bits; for a choice also those of the value that it took.
    regs: [(Span, u64); 3],
    /// For a return, the used slots of its value, with their bits; `None` if all are used.
    slots: Option<Vec<(u32, u64)>>,
    reads: Reads,
    /// Which bits of what it read are used.
    read_bits: u64,
}

impl Found {
    /// A node that uses registers as a whole.
    fn by(uses: UseList, regs: Span) -> Found {
        let none = (Span::default(), 0);
        Found { uses, regs: [(regs, ALL), none, none], slots: None, reads: Reads::default(), read_bits: ALL }
    }
}

/// Memory that an instruction read: most often one range.
#[derive(Default)]
struct Reads {
    first: Option<(u64, u64)>,
    more: Vec<(u64, u64)>,
}

impl Reads {
    #[inline]
    fn push(&mut self, address: u64, len: u64) {
        match self.first {
            None => self.first = Some((address, len)),
            Some(_) => self.more.push((address, len)),
        }
    }
}

impl<'w> Backward<'w, '_, '_> {
    /// Visits an executed fragment, or the part of it that ran.
    pub(super) fn fragment(&mut self, operands: Operands<'_>, exec: &FragmentExec) -> TraceResult<()> {
        let of = self.sink.facts.summary(exec.function);
        let fragment = &of.fragments[exec.fragment as usize];
        let skipped = fragment.last.checked_sub(exec.last);
        let (Some(skipped), true) = (skipped, exec.first >= fragment.first && exec.first <= exec.last) else {
            return Err(crate::InconsistentTrace(exec.step));
        };
        let count = (exec.last - exec.first + 1) as usize;
        let insts = &fragment.insts.of(&of.insts)[skipped as usize..][..count];
        let Some(tail) = insts.first() else { return Ok(()) };
        self.unwind(exec.depth);
        let f = exec.depth as usize - 1;
        let of_fragment = InstExec { f, function: exec.function, depth: exec.depth, step: 0, inst: tail, of };
        if self.landing.is_live() || self.last_query.is_some_and(|last| exec.step <= last) {
            for inst in insts {
                let it = of_fragment.at(exec, inst);
                let demand = self.demand(it);
                self.transfer(operands, exec, it, demand)?;
            }
            self.last_query = self.last_query();
        } else if let Some(first) = self.first_in_slice(operands, exec, (of, fragment), insts)? {
            for inst in &insts[first..] {
                self.transfer(operands, exec, of_fragment.at(exec, inst), Demand::default())?;
            }
        }
        self.position = exec.step;
        Ok(())
    }

    /// The index in `insts` (last instruction first) from which a fragment must be visited: 0, or 1 if its
    /// tail is not in the slice. `None` if no instruction of it is.
    #[inline]
    fn first_in_slice(
        &mut self,
        operands: Operands<'_>,
        exec: &FragmentExec,
        (of, fragment): (&FunctionSummary, &FragmentSummary),
        insts: &[InstSummary],
    ) -> TraceResult<Option<usize>> {
        let f = exec.depth as usize - 1;
        let Some(tail) = insts.first() else { return Ok(None) };
        let mut first = 0;
        if !matches!(tail.kind, Kind::Value | Kind::Memory) {
            if !self.is_tail_idle(f, exec.function, of, tail) {
                return Ok(Some(0));
            }
            self.skip_tail(f, tail.kind);
            first = 1;
        }
        let defines = self.activations.get(f).is_some_and(|a| a.any_live(fragment.defined.of(&of.defined)));
        if defines {
            return Ok(Some(first));
        }
        if self.has_live_memory() {
            for number in fragment.stores.of(&of.stores) {
                let store = &of.insts[*number as usize];
                if store.index < exec.first || store.index > exec.last {
                    continue;
                }
                if store.access != Access::Store
                    || self.touches(operands.address(exec, store)?, store.len.into())
                {
                    return Ok(Some(first));
                }
            }
        }
        Ok(None)
    }

    /// Whether the last instruction of a fragment is certainly not in the slice.
    #[inline]
    fn is_tail_idle(&self, f: usize, function: u32, of: &FunctionSummary, tail: &InstSummary) -> bool {
        let activation = self.activations.get(f);
        match tail.kind {
            Kind::Branch => {
                !self.chosen.is_live()
                    && !activation.is_some_and(|a| a.any_pending(tail.controls.of(&of.masks)))
                    && self.are_alternatives_idle(f, function, tail.block)
            }
            Kind::Call => {
                !activation.is_some_and(|a| a.call.is_some() || a.has_callee_effects())
                    && (self.relevant.is_none()
                        || tail.uses.is_empty()
                        || !self.has_live_memory() && !self.has_omitted_queries())
            }
            Kind::Return => {
                activation.is_none_or(|a| a.returns.is_empty()) && self.caller_outside(f).is_none()
            }
            Kind::Jump => !self.chosen.is_live(),
            Kind::Value | Kind::Memory => true,
        }
    }

    /// The queries at a step.
    fn demand(&mut self, it: InstExec<'_>) -> Demand<'w> {
        self.position = it.step;
        while let Some(last) = self.read_after.last_entry().filter(|last| *last.key() >= it.step) {
            for range in last.remove() {
                self.make_memory_live(range.start, range.len, range.uses);
            }
        }
        let asked = self.asked.remove(&it.step).unwrap_or_default();
        let mut uses = std::mem::take(&mut self.landing);
        if let Some(start) = self.starts.remove(&it.step) {
            uses = self.sink.uses.join(uses, start);
        }
        let all = uses.is_live() || requires_all_operands(&asked, (it.inst.dst, it.inst.count));
        Demand { uses, all, asked }
    }

    /// Visits an instruction that was about to run when the stream ended.
    pub fn unfinished(&mut self, function: u32, index: u32, depth: u32, step: u64) -> TraceResult<()> {
        let of = self.sink.facts.summary(function);
        let fragment = of.fragment_of[index as usize];
        let exec =
            FragmentExec { function, depth, fragment, first: index, last: index, step, base: u64::MAX / 2 };
        let it = of.fragments[fragment as usize].insts.of(&of.insts).iter().find(|i| i.index == index);
        let inst = it.ok_or(crate::InconsistentTrace(step))?;
        self.unwind(depth);
        let it = InstExec { f: depth as usize - 1, function, depth, step, inst, of };
        let demand = self.demand(it);
        self.last_query = self.last_query();
        self.transfer(Operands::default(), &exec, it, demand)
    }

    fn transfer(
        &mut self,
        operands: Operands<'_>,
        exec: &FragmentExec,
        it: InstExec<'_>,
        demand: Demand<'w>,
    ) -> TraceResult<()> {
        self.position = it.step;
        if it.inst.kind == Kind::Call {
            return self.call(operands, it, demand);
        }
        let found = match it.inst.kind {
            Kind::Jump | Kind::Branch => self.transfer_control(it, &demand)?,
            Kind::Return => self.transfer_return(it, &demand),
            _ => self.transfer_value(operands, exec, it, &demand)?,
        };
        let Some(found) = found else { return Ok(()) };
        let Demand { all, asked, .. } = demand;
        let f = self.enter(it.depth, it.function)?;
        let InstExec { inst, of, function, .. } = it;
        let node = self.sink.exec(self.at(it.step), (function, inst.index), it.depth, found.uses);
        let in_condition = asked.is_empty() && self.is_in_condition(f, function, inst, found.uses);
        let mut consumer = self.sink.consumer_at(self.at(it.step), node, found.uses);
        if in_condition {
            self.sink.mark_potential(node);
            consumer.provenance = self.provenance_of_group_at(f, inst.block);
        }
        if found.uses.is_live() || all {
            let regs = found.regs.into_iter();
            let regs = regs.flat_map(|(span, bits)| span.of(&of.uses).iter().map(move |reg| (*reg, bits)));
            match found.slots {
                Some(slots) => {
                    let value = found.regs[0].0.of(&of.uses);
                    for (slot, bits) in slots {
                        if let Some(reg) = value.get(slot as usize) {
                            self.use_reg(f, *reg, bits, consumer);
                        }
                    }
                }
                None if in_condition => {
                    regs.for_each(|(reg, bits)| self.use_in_condition(f, reg, bits, consumer));
                }
                None => regs.for_each(|(reg, bits)| self.use_reg(f, reg, bits, consumer)),
            }
            let bits = found.read_bits & inst.bits.unwrap_or(ALL);
            for (address, len) in found.reads.first.into_iter().chain(found.reads.more) {
                self.use_bits(address, len, bits, consumer);
            }
        }
        if !in_condition {
            self.answer(f, (inst.dst, inst.count), consumer, &asked);
            self.add_pending(f, function, inst.block, consumer);
        }
        Ok(())
    }

    /// The transfer function of a jump or a branch.
    fn transfer_control(&mut self, it: InstExec<'_>, demand: &Demand<'_>) -> TraceResult<Option<Found>> {
        let InstExec { f, inst, of, .. } = it;
        let arena = &mut self.sink.uses;
        let mut uses = arena.join(demand.uses, std::mem::take(&mut self.chosen));
        if inst.kind == Kind::Branch {
            if let Some(activation) = self.activations.get_mut(f) {
                activation.resolve(inst.controls.of(&of.masks), |one| uses = arena.join(uses, one));
            }
            if self.relevant.is_some() {
                let is_node = uses.is_live() || !demand.asked.is_empty();
                let potential = self.alternatives(it, is_node)?;
                if potential.is_live() && self.is_closure() {
                    uses = self.sink.uses.join(uses, potential);
                } else if potential.is_live() {
                    self.dummy(it, potential)?;
                    return Ok(None);
                }
            }
        }
        if !uses.is_live() && demand.asked.is_empty() {
            return Ok(None);
        }
        Ok(Some(Found::by(uses, inst.uses)))
    }

    fn transfer_return(&mut self, it: InstExec<'_>, demand: &Demand<'_>) -> Option<Found> {
        let InstExec { f, inst, of, .. } = it;
        let mut uses = demand.uses;
        let mut slots = (!demand.all).then(Vec::new);
        let returns = self.activations.get_mut(f).map(|a| std::mem::take(&mut a.returns));
        for (slot, bits, one) in returns.into_iter().flatten() {
            uses = self.sink.uses.join(uses, one);
            if let Some(slots) = &mut slots {
                slots.push((slot, bits));
            }
        }
        // The external call that called back depends on the returned value.
        if let (Some(caller), Some(reg)) = (self.calling_external(f), inst.uses.of(&of.uses).first()) {
            let one = self.sink.uses.one(caller, Dependence::Return(*reg));
            uses = self.sink.uses.join(uses, one);
            slots = None;
        }
        if !uses.is_live() && demand.asked.is_empty() {
            return None;
        }
        Some(Found { slots, ..Found::by(uses, inst.uses) })
    }

    /// The transfer function of an instruction that computes, or accesses memory.
    #[inline]
    fn transfer_value(
        &mut self,
        operands: Operands<'_>,
        exec: &FragmentExec,
        it: InstExec<'_>,
        demand: &Demand<'_>,
    ) -> TraceResult<Option<Found>> {
        let InstExec { f, inst, function, .. } = it;
        let (defined, bits) = self.kill_regs(f, inst.dst, inst.count);
        let mut uses = self.sink.uses.join(demand.uses, defined);
        let uses_value = defined.is_live() || demand.all;
        let is_whole = demand.all || demand.uses.is_live();
        let bits = if is_whole { ALL } else { bits };
        let Found { mut regs, mut reads, mut read_bits, .. } = Found::by(uses, inst.uses);
        match inst.access {
            Access::None if defined.is_live() && !is_whole => {
                let code = self.sink.facts.inst(function, inst.index);
                regs[0].1 = demanded_bits::of_operands(code, bits);
            }
            Access::None => {}
            // It did not complete: it accessed nothing, and chose neither value.
            _ if operands.is_unfinished() => {
                [regs[1], regs[2]] = inst.values.map(|registers| (registers, ALL));
            }
            Access::Load if uses_value => {
                reads.push(operands.address(exec, inst)?, inst.len.into());
                read_bits = bits;
            }
            Access::Choice if uses_value => {
                regs[1] = (inst.values[usize::from(operands.address(exec, inst)? == 0)], bits);
            }
            Access::Load | Access::Choice => {}
            Access::Store => {
                regs[1] = (inst.values[0], ALL);
                if self.has_live_memory() {
                    let address = operands.address(exec, inst)?;
                    if !is_whole && inst.bits.is_none() && inst.len <= 8 {
                        regs[1].1 = self.live_bits(address, inst.len);
                    }
                    let stored = match inst.bits {
                        Some(bits) => self.kill_bits(address, bits),
                        None => self.kill_memory(address, inst.len.into()),
                    };
                    uses = self.sink.uses.join(uses, stored);
                }
            }
            Access::Other if !uses_value && !self.has_live_memory() => {}
            Access::Other => {
                let code = self.sink.facts.inst(function, inst.index);
                match operands.effect(exec, inst, code)? {
                    Effect::None | Effect::Load { .. } | Effect::Store { .. } => {}
                    Effect::Update { address, len, stored } => {
                        let mut is_hit = false;
                        if stored {
                            let bytes = self.kill_memory(address, len.into());
                            is_hit = bytes.is_live();
                            uses = self.sink.uses.join(uses, bytes);
                        }
                        let is_exchange = matches!(code, Inst::Rmw { op: RmwOp::Xchg, .. });
                        if uses_value || is_hit && !is_exchange {
                            reads.push(address, len.into());
                        }
                    }
                    Effect::Copy { to, from, len } => {
                        if demand.all {
                            reads.push(from, len);
                        }
                        for range in self.kill_ranges(to, len) {
                            reads.push(from.wrapping_add(range.start - to), range.len);
                            uses = self.sink.uses.join(uses, range.uses);
                        }
                    }
                    Effect::Fill { to, len } => {
                        let filled = self.kill_memory(to, len);
                        uses = self.sink.uses.join(uses, filled);
                    }
                }
            }
        }
        if !uses.is_live() && demand.asked.is_empty() {
            return Ok(None);
        }
        Ok(Some(Found { uses, regs, slots: None, reads, read_bits }))
    }

    /// Adds what the criteria at a step use beyond the operands of its instruction.
    pub(super) fn answer(
        &mut self,
        f: usize,
        (dst, count): (Reg, u32),
        consumer: Consumer,
        asked: &[(usize, &Criterion)],
    ) {
        for (n, criterion) in asked {
            if let Some(place) = self.sink.slice.criteria.get_mut(*n) {
                *place = consumer.node;
            }
            for wanted in &criterion.wanted {
                match wanted {
                    Wanted::All | Wanted::Ran => {}
                    Wanted::Registers(regs) => {
                        // The instruction's own result is defined by the node itself.
                        for reg in regs.iter().filter(|r| !(dst..dst + count).contains(r)) {
                            self.use_reg(f, *reg, ALL, consumer);
                        }
                    }
                    Wanted::Memory { address, len } => self.use_memory(*address, *len, consumer),
                    Wanted::Bits { address, mask } => {
                        let len = u64::from((64 - mask.leading_zeros()).div_ceil(8));
                        self.use_bits(*address, len, *mask, consumer);
                    }
                    Wanted::Omitted(stream) => self.use_omitted(*stream, consumer),
                }
            }
        }
    }
}

/// Whether a criterion requires all operands of an instruction: explicitly, or by its result.
pub(super) fn requires_all_operands(asked: &[(usize, &Criterion)], (dst, count): (Reg, u32)) -> bool {
    asked.iter().flat_map(|(_, c)| &c.wanted).any(|w| match w {
        Wanted::All => true,
        Wanted::Registers(regs) => regs.iter().any(|r| (dst..dst + count).contains(r)),
        Wanted::Ran | Wanted::Memory { .. } | Wanted::Bits { .. } | Wanted::Omitted(_) => false,
    })
}
