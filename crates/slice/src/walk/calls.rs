//! Calls and returns on the way back.
//!
//! ```text
//! forward     call step │ Enter │ callee's steps … Return step │ Returned
//! backward    ◄─────────────────────────────────────────────────────────
//! ```
//! Walking back, a call is met from its end. What is wanted of its result is
//! handed to the callee's `Return`; what is left to be found in the callee when
//! its first instruction is reached (parameters, undecided blocks) is handed to
//! the call.

use super::step::Take;
use super::{Frame, Walker};
use crate::criterion::Criterion;
use crate::log::{Copied, Spill};
use crate::slice::{Dependence, NodeId, Origin};
use crate::wants::List;
use program::inst::{ArgTy, Call, Inst, Operand};

/// What is wanted of a call that is under way (it will be met further back).
#[derive(Default)]
pub struct CallState {
    /// Why it is taken.
    pub list: List,
    /// Slots of arguments, and whether they are wanted for sure.
    pub arguments: Vec<(u32, u32, bool)>,
    /// Bytes of arguments that are passed as memory: argument, offset, length, and the same.
    pub bytes: Vec<(u32, u64, u64, bool)>,
    /// All arguments.
    pub all: bool,
    /// Which instruction it is, if the call left the program.
    pub index: u32,
    /// The call left the program; it read these ranges.
    pub reads: Option<Vec<(u64, u64)>>,
    /// And it wrote these.
    pub writes: Vec<(u64, u64)>,
    /// Its node, if it has one already.
    pub node: Option<Option<NodeId>>,
}

impl Walker<'_, '_> {
    /// A linked call has returned: its result was made by the callee's return.
    pub(super) fn returned(&mut self, function: u32, index: u32, depth: u32) {
        let f = self.settle(depth, function);
        let Inst::Call(call) = self.all.facts.inst(function, index) else { return };
        let slots: u32 = call.ret.iter().map(|t| t.slots()).sum();
        let mut returns = Vec::new();
        if self.frames[f].wanted > 0 {
            for k in 0..slots {
                let list = self.take_reg(f, call.dst + k);
                if list.is_wanted() {
                    self.all.edges.rewrite(list, |how| match how {
                        Dependence::Register(r) => Dependence::Return(r),
                        other => other,
                    });
                    returns.push((k, list));
                }
            }
        }
        if !returns.is_empty() {
            self.frames.push(Box::new(Frame { returns, ..Frame::default() }));
        }
    }

    /// An activation began.
    pub(super) fn entered(&mut self, function: u32, depth: u32, outside: bool, copies: &[Copied]) {
        while self.frames.len() > depth as usize {
            if let Some(frame) = self.frames.pop() {
                self.forget(frame);
            }
        }
        if let Some(potential) = &mut self.potential {
            potential.places.leave(depth);
            if let Some(caller) = (depth as usize).checked_sub(2).and_then(|c| self.frames.get_mut(c)) {
                caller.callee = (!outside).then_some(function);
            }
        }
        if self.frames.len() < depth as usize {
            return;
        }
        let f = depth as usize - 1;
        let model = self.all.facts.function(function);
        let mut ran = List::default();
        for w in 0..self.frames[f].bits.len() {
            let mut bits = std::mem::take(&mut self.frames[f].bits[w]);
            while bits != 0 {
                let block = 64 * w + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let list = std::mem::take(&mut self.frames[f].undecided[block]).or_nobody();
                self.all.edges.rewrite(list, |_| Dependence::Call);
                ran = self.all.edges.join(ran, list);
            }
        }
        let mut arguments = Vec::new();
        if self.frames[f].wanted > 0 {
            for (number, p) in model.params.iter().enumerate() {
                for k in 0..p.ty.slots() {
                    let list = self.take_reg(f, p.reg + k);
                    // The address of the function's own copy is nobody's value.
                    if list.is_wanted() && !matches!(p.ty, ArgTy::ByVal { .. }) {
                        arguments.push((number as u32, k, list));
                    }
                }
            }
        }
        let mut bytes = std::mem::take(&mut self.frames[f].spilled);
        for copy in copies {
            for piece in self.take_pieces(copy.to, copy.len) {
                bytes.push((copy.parameter, piece.start - copy.to, piece.len, piece.list));
            }
        }
        if let Some(frame) = self.frames.pop() {
            if let Some(caller) = self.frames.last_mut() {
                let below = frame.groups.iter().map(|g| g.1).chain(frame.rising).chain(caller.rising);
                caller.rising = below.reduce(|a, b| self.all.edges.tags.unite(a, b));
            }
            self.forget(frame);
        }
        if depth == 1 {
            for (number, _, list) in arguments {
                if self.is_thread {
                    ran = self.all.edges.join(ran, list);
                } else {
                    let origin = Origin::Parameter { function: model.name.clone(), number };
                    self.all.leaf(list, &origin);
                }
            }
            self.began = self.all.edges.join(self.began, ran);
            return;
        }
        if !ran.is_wanted() && arguments.is_empty() && bytes.is_empty() {
            return;
        }
        let caller = f - 1;
        if outside {
            let lists = arguments.iter().map(|a| a.2).chain(bytes.iter().map(|b| b.3));
            for list in lists.collect::<Vec<_>>() {
                self.all.edges.rewrite(list, |_| Dependence::External);
                ran = self.all.edges.join(ran, list);
            }
            self.outside_takes(caller, ran);
            return;
        }
        let mut state = self.frames[caller].call.take().unwrap_or_default();
        state.list = self.all.edges.join(state.list, ran);
        for (number, slot, list) in arguments {
            state.list = self.all.edges.join(state.list, list);
            state.arguments.push((number, slot, self.is_sure(list)));
        }
        for (argument, offset, len, list) in bytes {
            state.list = self.all.edges.join(state.list, list);
            state.bytes.push((argument, offset, len, self.is_sure(list)));
        }
        self.frames[caller].call = Some(state);
    }

    /// A variadic argument was put into memory; the call will say what it was.
    pub(super) fn spilled(&mut self, spill: Spill, depth: u32) {
        let f = depth as usize - 1;
        if self.frames.len() <= f {
            return;
        }
        for piece in self.take_pieces(spill.address, spill.len) {
            let offset = piece.start - spill.address;
            self.frames[f].spilled.push((spill.argument, offset, piece.len, piece.list));
        }
    }

    /// The call itself, when the way back comes to it.
    #[allow(clippy::too_many_arguments)] // one step, in its parts
    pub(super) fn call(
        &mut self,
        f: usize,
        index: u32,
        step: u64,
        call: &Call,
        passed: &[u64],
        take: Take,
        asked: &[(usize, &Criterion)],
    ) {
        let mut state = self.frames[f].call.take().unwrap_or_default();
        state.list = self.all.edges.join(state.list, take.list);
        self.rise_to_call(f, index);
        if self.potential.is_some() {
            let taken = state.list.is_wanted() || state.node.is_some() || !asked.is_empty();
            let list = self.other_callee(f, index, call, taken);
            self.frames[f].callee = None;
            if list.is_wanted() && self.closes() {
                state.list = list;
            } else if list.is_wanted() {
                self.dummy(f, index, step, call.callee, list);
                return;
            }
        }
        // A call that never returned: what is left of its result is nobody's.
        if !state.list.is_wanted() && state.node.is_none() && asked.is_empty() {
            return;
        }
        let fresh = state.node.is_none();
        let node = match state.node {
            Some(node) => {
                self.place(node, f, index, step, state.list);
                node
            }
            None => self.node(step, f, index, state.list),
        };
        let wanted = state.list.is_wanted() || take.all;
        let sure = !asked.is_empty() || self.is_sure(state.list);
        if !sure {
            self.mark_potential(node);
            self.want_for_group_of(f, index);
        }
        if wanted {
            self.want_operand(f, call.callee, 1, node);
        }
        if take.all || state.all {
            for (number, arg) in call.args.iter().enumerate() {
                self.want_operand(f, arg.value, arg.ty.slots(), node);
                if let ArgTy::ByVal { size, .. } = arg.ty {
                    self.want_passed(call, passed, number as u32, 0, size, node);
                }
            }
            if let (Some(reads), true) = (&state.reads, fresh) {
                for (address, len) in reads {
                    self.want_memory(*address, *len, node);
                }
            }
        } else {
            for (number, slot, for_sure) in state.arguments {
                self.for_argument(f, index, sure, for_sure);
                if let Some(arg) = call.args.get(number as usize)
                    && slot < arg.ty.slots()
                    && let Operand::Reg(r) = arg.value
                {
                    self.want_operand(f, Operand::Reg(r + slot), 1, node);
                }
            }
            for (number, offset, len, for_sure) in state.bytes {
                self.for_argument(f, index, sure, for_sure);
                self.argument_bytes(f, call, passed, (number, offset, len), node);
            }
            self.for_argument(f, index, sure, true);
        }
        self.frames[f].callee = None;
        let Some(function) = self.frames[f].function else { return };
        let block = self.all.facts.get(function).block_of[index as usize];
        let inst = self.all.facts.inst(function, index);
        self.answer(f, inst, node, asked);
        if sure {
            self.undecide(f, block, node);
        } else {
            self.want_for_sure();
        }
    }

    /// An argument of a call that is taken for `sure` need not be wanted `for_sure` itself.
    fn for_argument(&mut self, f: usize, index: u32, sure: bool, for_sure: bool) {
        match (sure, for_sure) {
            (true, true) => self.want_for_sure(),
            (true, false) => self.want_for_group_of(f, index),
            // The whole call is wanted by a group.
            (false, _) => {}
        }
    }

    /// Bytes of an argument that the callee has in memory.
    fn argument_bytes(
        &mut self,
        f: usize,
        call: &Call,
        passed: &[u64],
        (number, offset, len): (u32, u64, u64),
        node: Option<NodeId>,
    ) {
        let Some(arg) = call.args.get(number as usize) else { return };
        match (arg.ty, arg.value) {
            (ArgTy::ByVal { .. }, value) => {
                self.want_operand(f, value, 1, node);
                self.want_passed(call, passed, number, offset, len, node);
            }
            (ArgTy::Value(ty), Operand::Reg(r)) => {
                for slot in offset / 8..(offset + len).div_ceil(8).min(ty.slots().into()) {
                    self.want_operand(f, Operand::Reg(r + slot as u32), 1, node);
                }
            }
            (ArgTy::Value(_), _) => {}
        }
    }

    /// Bytes of the memory that a by-value argument was copied from.
    fn want_passed(
        &mut self,
        call: &Call,
        passed: &[u64],
        number: u32,
        offset: u64,
        len: u64,
        node: Option<NodeId>,
    ) {
        let before = call.args[..number as usize].iter().filter(|a| matches!(a.ty, ArgTy::ByVal { .. }));
        if let Some(address) = passed.get(before.count()) {
            self.want_memory(address.wrapping_add(offset), len, node);
        }
    }

    /// A node that was made before its step was known.
    fn place(&mut self, node: Option<NodeId>, f: usize, index: u32, step: u64, list: List) {
        let Some(function) = self.frames[f].function else { return };
        let at = crate::criterion::Occurrence { stream: self.stream, step };
        self.all.count(function, index, at);
        if let Some(node) = node.and_then(|n| self.all.slice.nodes.get_mut(n as usize)) {
            node.at = at;
            node.first = list.first();
        }
    }
}
