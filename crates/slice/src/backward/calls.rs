//! Calls and returns.
//!
//! ```text
//! forward     call step │ Enter │ callee's steps … Return step │ Returned
//! backward    ◄─────────────────────────────────────────────────────────
//! ```
//! The backward pass reaches a call from its end. Uses of its result move to the callee's `Return`. What is
//! live in the callee when its first instruction is reached (parameters, pending blocks) moves to the call.

use super::trace::Operands;
use super::transfer::{Demand, InstExec};
use super::{Backward, TraceResult};
use crate::InconsistentTrace;
use crate::demanded_bits;
use crate::irregular::{Copied, Spill};
use crate::provenance::Provenance;
use crate::slice::{Dependence, NodeId, Origin};
use crate::summary;
use crate::uses::{Consumer, UseList};
use program::inst::{ArgTy, Call, Inst, Operand};
use program::names::readable;

/// What is live of a call in progress, whose instruction has not been visited yet.
#[derive(Default)]
pub struct CallState {
    pub uses: UseList,
    /// Live slots of arguments: argument, slot, live bits.
    pub arguments: Vec<(u32, u32, u64)>,
    /// Live bytes of arguments that are passed in memory: argument, offset, length.
    pub bytes: Vec<(u32, u64, u64)>,
    /// All arguments are used.
    pub all: bool,
    /// Index of the call instruction, if the call left the program.
    pub index: u32,
    /// The ranges that the call read, if it left the program.
    pub reads: Option<Vec<(u64, u64)>>,
    /// The ranges that it wrote.
    pub writes: Vec<(u64, u64)>,
    /// Parts of its reads that differed from what the program had written: they were written outside the
    /// program before the call.
    pub found: Vec<(u64, u64)>,
    /// Its node, if it has one already; the inner option is `None` if nodes are only counted.
    pub node: Option<Option<NodeId>>,
    /// For whom what it read is used so far.
    pub served: Provenance,
}

/// A use of a call's result is a use of what was returned.
pub(super) fn as_return(how: Dependence) -> Dependence {
    match how {
        Dependence::Register(r) => Dependence::Return(r),
        other => other,
    }
}

impl Backward<'_, '_, '_> {
    /// The call instruction at an index of a function.
    pub(super) fn call_inst(&self, function: u32, index: u32) -> TraceResult<&'_ Call> {
        match self.sink.facts.inst(function, index) {
            Inst::Call(call) => Ok(call),
            _ => Err(InconsistentTrace(self.position)),
        }
    }

    /// A call of a linked function has returned: the callee's return defines its result.
    pub(super) fn returned(
        &mut self,
        (function, index): (u32, u32),
        depth: u32,
        callee: u32,
    ) -> TraceResult<()> {
        self.unwind(depth);
        let f = depth as usize - 1;
        let Some(caller) = self.activations.get_mut(f).filter(|a| a.has_live()) else { return Ok(()) };
        let Inst::Call(call) = self.sink.facts.inst(function, index) else {
            return Err(InconsistentTrace(self.position));
        };
        let slots: u32 = call.ret.iter().map(|t| t.slots()).sum();
        let mut returns = Vec::new();
        for slot in 0..slots {
            let (uses, bits) = caller.kill(call.dst + slot);
            if uses.is_live() {
                let uses = self.sink.uses.rewrite(uses, as_return);
                returns.push((slot, bits, uses));
            }
        }
        if !returns.is_empty() {
            let mut activation = self.fresh(callee);
            activation.returns = returns;
            self.activations.push(activation);
        }
        Ok(())
    }

    /// The first instruction of an activation was reached.
    pub(super) fn entered(
        &mut self,
        function: u32,
        depth: u32,
        is_outside: bool,
        copies: &[Copied],
    ) -> TraceResult<()> {
        self.unwind(depth);
        let f = depth as usize - 1;
        if let Some(relevant) = &mut self.relevant {
            relevant.objects.leave(depth);
            // The call must know its callee, whether anything of it is live or not.
            while self.activations.len() < f {
                self.activations.push(Box::default());
            }
            if let Some(caller) = f.checked_sub(1) {
                self.activations[caller].callee = (!is_outside).then_some(function);
            }
        }
        if self.activations.len() <= f {
            return Ok(());
        }
        let Some(mut activation) = self.activations.pop() else { return Ok(()) };
        if activation.function.is_some_and(|known| known != function) {
            return Err(InconsistentTrace(self.position));
        }
        let mut ran = UseList::default();
        activation.resolve_all(|uses| {
            let uses = self.sink.uses.rewrite(uses, |_| Dependence::Call);
            ran = self.sink.uses.join(ran, uses);
        });
        let model = self.sink.facts.function(function);
        let mut arguments: Vec<((u32, u32, u64), UseList)> = Vec::new();
        if activation.has_live() {
            for (reg, number, slot) in summary::parameters(model) {
                let (uses, bits) = activation.kill(reg);
                if uses.is_live() {
                    arguments.push(((number, slot, bits), uses));
                }
            }
        }
        let mut bytes = std::mem::take(&mut activation.variadic);
        for copy in copies {
            for range in self.kill_ranges(copy.to, copy.len) {
                bytes.push((copy.parameter, range.start - copy.to, range.len, range.uses));
            }
        }
        if let Some(caller) = self.activations.last_mut() {
            let below = activation.groups.iter().map(|g| g.1).chain(activation.groups_of_callee);
            let below = below.chain(caller.groups_of_callee);
            caller.groups_of_callee = below.reduce(|a, b| self.sink.uses.provenances.unite(a, b));
            let wrote = activation.wrote.iter().map(|w| w.1).chain([activation.callee_written]);
            wrote.for_each(|wrote| caller.callee_written |= wrote);
        }
        self.recycle(activation);
        if depth == 1 {
            for ((number, ..), uses) in arguments {
                if self.is_thread {
                    ran = self.sink.uses.join(ran, uses);
                } else {
                    let origin = Origin::Parameter { function: readable(&model.name).into_owned(), number };
                    self.sink.leaf(uses, &origin);
                }
            }
            self.uses_of_thread_start = self.sink.uses.join(self.uses_of_thread_start, ran);
            return Ok(());
        }
        if !ran.is_live() && arguments.is_empty() && bytes.is_empty() {
            return Ok(());
        }
        let caller = f - 1;
        if is_outside {
            for uses in arguments.iter().map(|a| a.1).chain(bytes.iter().map(|b| b.3)) {
                let uses = self.sink.uses.rewrite(uses, |_| Dependence::External);
                ran = self.sink.uses.join(ran, uses);
            }
            self.use_external(caller, ran)?;
            return Ok(());
        }
        let state = self.activations[caller].call.get_or_insert_default();
        state.uses = self.sink.uses.join(state.uses, ran);
        for (argument, uses) in arguments {
            state.uses = self.sink.uses.join(state.uses, uses);
            state.arguments.push(argument);
        }
        for (argument, offset, len, uses) in bytes {
            state.uses = self.sink.uses.join(state.uses, uses);
            state.bytes.push((argument, offset, len));
        }
        Ok(())
    }

    /// A variadic argument was stored to memory; its value is an operand of the call.
    pub(super) fn spilled(&mut self, spill: Spill, depth: u32) {
        let ranges = self.kill_ranges(spill.address, spill.len);
        if ranges.is_empty() {
            return;
        }
        while self.activations.len() < depth as usize {
            self.activations.push(Box::default());
        }
        for range in ranges {
            let offset = range.start - spill.address;
            let variadic = &mut self.activations[depth as usize - 1].variadic;
            variadic.push((spill.argument, offset, range.len, range.uses));
        }
    }

    /// The transfer function of a call instruction.
    pub(super) fn call(
        &mut self,
        operands: Operands<'_>,
        it: InstExec<'_>,
        demand: Demand<'_>,
    ) -> TraceResult<()> {
        let Inst::Call(call) = self.sink.facts.inst(it.function, it.inst.index) else {
            return Err(InconsistentTrace(it.step));
        };
        let (f, index) = (it.f, it.inst.index);
        let state = self.activations.get_mut(f).and_then(|a| a.call.take());
        let mut state = state.map_or_else(CallState::default, |state| *state);
        state.uses = self.sink.uses.join(state.uses, demand.uses);
        let found = std::mem::take(&mut state.found);
        if self.relevant.is_some() {
            self.propagate_to_call(f, it.inst.block);
            let wrote = self.take_callee_written(f, it.inst.block);
            let is_node = state.uses.is_live() || state.node.is_some() || !demand.asked.is_empty();
            let potential = self.other_callees(it, is_node, wrote);
            if let Some(activation) = self.activations.get_mut(f) {
                activation.callee = None;
            }
            if potential.is_live() && self.is_closure() {
                state.uses = self.sink.uses.join(state.uses, potential);
            } else if potential.is_live() {
                return self.dummy(it, potential);
            }
        }
        if !state.uses.is_live() && state.node.is_none() && demand.asked.is_empty() {
            return Ok(());
        }
        let f = self.enter(it.depth, it.function)?;
        let is_fresh = state.node.is_none();
        let at = self.at(it.step);
        let node = match state.node {
            Some(node) => {
                self.sink.place(node, at, (it.function, index), state.uses);
                node
            }
            None => self.sink.exec(at, (it.function, index), it.depth, state.uses),
        };
        let consumer = self.sink.consumer_at(at, node, state.uses);
        if state.uses.is_live() || demand.all {
            self.use_operand(f, call.callee, 1, consumer);
        }
        if demand.all || state.all {
            for (number, arg) in call.args.iter().enumerate() {
                self.use_operand(f, arg.value, arg.ty.slots(), consumer);
                if let ArgTy::ByVal { size, .. } = arg.ty {
                    self.use_by_value(call, operands.by_value, (number as u32, 0, size), consumer);
                }
            }
            // Memory read by callbacks may have gained uses since, also for other consumers.
            if let (Some(reads), true) = (&state.reads, is_fresh || consumer.provenance != state.served) {
                for (address, len) in reads {
                    self.use_memory(*address, *len, consumer);
                }
            }
        } else {
            for (number, slot, bits) in state.arguments {
                if let Some(arg) = call.args.get(number as usize)
                    && slot < arg.ty.slots()
                    && let Operand::Reg(r) = arg.value
                {
                    self.use_reg(f, r + slot, bits, consumer);
                }
            }
            for bytes in state.bytes {
                self.use_argument_bytes(f, call, operands.by_value, bytes, consumer);
            }
        }
        self.answer(f, (it.inst.dst, it.inst.count), consumer, &demand.asked);
        // What becomes live just before the call was already there when the call read it.
        for (address, len) in found {
            for range in self.kill_ranges(address, len) {
                self.note_external_origin(range);
            }
        }
        self.add_pending(f, it.function, it.inst.block, consumer);
        Ok(())
    }

    fn use_operand(&mut self, f: usize, operand: Operand, slots: u32, consumer: Consumer) {
        if let Operand::Reg(r) = operand {
            for reg in r..r + slots {
                self.use_reg(f, reg, demanded_bits::ALL, consumer);
            }
        }
    }

    /// Uses bytes of an argument that the callee has in memory: argument, offset, length.
    fn use_argument_bytes(
        &mut self,
        f: usize,
        call: &Call,
        by_value: &[u64],
        (number, offset, len): (u32, u64, u64),
        consumer: Consumer,
    ) {
        let Some(arg) = call.args.get(number as usize) else { return };
        match (arg.ty, arg.value) {
            (ArgTy::ByVal { .. }, value) => {
                self.use_operand(f, value, 1, consumer);
                self.use_by_value(call, by_value, (number, offset, len), consumer);
            }
            (ArgTy::Value(ty), Operand::Reg(r)) => {
                for slot in offset / 8..(offset + len).div_ceil(8).min(ty.slots().into()) {
                    self.use_reg(f, r + slot as u32, demanded_bits::ALL, consumer);
                }
            }
            (ArgTy::Value(_), _) => {}
        }
    }

    /// Uses bytes of the memory that a by-value argument was copied from: argument, offset, length.
    fn use_by_value(
        &mut self,
        call: &Call,
        by_value: &[u64],
        (number, offset, len): (u32, u64, u64),
        consumer: Consumer,
    ) {
        let before = call.args[..number as usize].iter().filter(|a| matches!(a.ty, ArgTy::ByVal { .. }));
        if let Some(address) = by_value.get(before.count()) {
            self.use_memory(address.wrapping_add(offset), len, consumer);
        }
    }
}
