//! Calls, parameters and results: how terms pass between frames.

use crate::condition::{Kind, Reason};
use crate::engine::Engine;
use crate::frames::Frame;
use crate::observer::StepObserver;
use crate::shadow::TermByte;
use externals::flag;
use program::inst::{ArgTy, Call, Inst, Operand, Ty};
use replay::code::Op;
use replay::observer::View;
use solver::{Binary, Term};

impl<W: StepObserver> Engine<'_, W> {
    /// Called before a call is made.
    pub(crate) fn before_call(&mut self, view: &View<'_>, call: &Call) {
        self.arguments.clear();
        self.by_value.clear();
        self.returning.clear();
        let depth = view.depth as usize;
        let Some(frame) = self.frames.get_mut(depth - 1) else { return };
        frame.at = view.index;
        frame.passed.clear();
        let live = frame.live > 0;
        if call.args.len() >= 4 {
            self.before_sort_call(view, call);
        }
        if !live && !call.args.iter().any(|a| matches!(a.ty, ArgTy::ByVal { .. })) {
            return;
        }
        if let Some(callee) = self.operand(view, call.callee, 64) {
            let target = view.value(call.callee);
            let value = self.constant(64, target.into());
            let same = self.pool().binary(Binary::Eq, callee, value);
            self.assume(view, same, Kind::CallTarget, target, None);
        }
        for (n, arg) in call.args.iter().enumerate() {
            let mut slots = [self.slot(view, arg.value, 0), None];
            if arg.ty.slots() > 1 {
                slots[1] = self.slot(view, arg.value, 1);
            }
            if let ArgTy::ByVal { size, .. } = arg.ty {
                self.concretise_operand(view, arg.value, Ty::Ptr, Reason::UnknownObject);
                slots = [None; 2];
                let from = view.value(arg.value);
                self.by_value.push((n as u32, from));
                if call.variadic.is_some_and(|fixed| n as u32 >= fixed) {
                    self.dissolve(from, size);
                    let bytes = self.memory.find(from, size);
                    self.frames[depth - 1].passed.push((n as u32, bytes));
                }
            }
            self.arguments.push(slots);
        }
        self.noreturn_call(view, call);
    }

    fn before_sort_call(&mut self, view: &View<'_>, call: &Call) {
        let known = match view.code.ops[view.index as usize] {
            Op::Call { call } => view.code.calls[call as usize].known,
            _ => None,
        };
        if known.is_some_and(|k| matches!(k.name, "qsort" | "qsort_r")) {
            let [start, count, size] = [0, 1, 2].map(|n| view.value(call.args[n].value));
            self.before_sort(view, start, count, size);
        }
    }

    /// Functions that do not return to their call site.
    fn noreturn_call(&mut self, view: &View<'_>, call: &Call) {
        let Op::Call { call: number } = view.code.ops[view.index as usize] else { return };
        let site = &view.code.calls[number as usize];
        let target = view.value(call.callee);
        let known = site.known.or_else(|| view.image.external_at(target).and_then(|e| e.1));
        let Some(known) = known else { return };
        if known.has(flag::EXITS)
            && let Some(status) = call.args.first()
        {
            self.found.status = self.operand(view, status.value, 32);
        }
        if known.has(flag::JUMPS) {
            for arg in &call.args {
                self.concretise_operand(view, arg.value, Ty::Int(32), Reason::Function(known.name));
            }
        }
    }

    /// A function was entered.
    pub(crate) fn entered(&mut self, view: &View<'_>, outside: bool) {
        let depth = view.depth as usize;
        if self.frames.len() < depth {
            self.frames.resize_with(depth, Frame::default);
        }
        self.frames[depth - 1].begin(view.code.module, view.code.function, view.frame, outside);
        if outside || self.arguments.is_empty() {
            return;
        }
        let arguments = std::mem::take(&mut self.arguments);
        let by_value = std::mem::take(&mut self.by_value);
        for (n, (parameter, argument)) in view.function().params.iter().zip(&arguments).enumerate() {
            match parameter.ty {
                ArgTy::Value(ty) => {
                    for k in 0..ty.slots() {
                        self.set_slot(view, parameter.reg + k, argument[k as usize % 2]);
                    }
                }
                ArgTy::ByVal { size, .. } => {
                    if let Some((_, from)) = by_value.iter().find(|b| b.0 == n as u32) {
                        self.moved(view.frame.wrapping_add(parameter.frame_offset), *from, size);
                    }
                }
            }
        }
        // Keep the allocations for the next call.
        (self.arguments, self.by_value) = (arguments, by_value);
        self.arguments.clear();
        self.by_value.clear();
    }

    /// A function is about to return.
    pub(crate) fn returning(&mut self, view: &View<'_>, value: Option<Operand>, ret: &[Ty]) {
        self.returning.clear();
        let depth = view.depth as usize;
        let Some(frame) = self.frames.get(depth - 1) else { return };
        let (Some(value), true) = (value, frame.live > 0) else { return };
        let outside = frame.outside;
        if !outside {
            let slots: u32 = ret.iter().map(|t| t.slots()).sum();
            for k in 0..slots {
                let term = self.slot(view, value, k);
                self.returning.push(term);
            }
            return;
        }
        let ty = ret.first().copied().unwrap_or(Ty::Int(64));
        if depth == 1 {
            if view.function().name == "main" {
                self.found.status = self.operand(view, value, 32);
            }
        } else if let Some(term) = self.operand(view, value, ty.bits()) {
            self.returned_to_external(view, term, value, ty);
        }
    }

    /// A function that external code called back is returning to it. Of the result of a comparison function,
    /// only the sign matters.
    fn returned_to_external(&mut self, view: &View<'_>, term: Term, value: Operand, ty: Ty) {
        let depth = view.depth as usize;
        let caller = &self.frames[depth - 2];
        let module = view.image.module(caller.module);
        let inst =
            module.functions.get(caller.function as usize).and_then(|f| f.code.get(caller.at as usize));
        let name = match inst {
            Some(Inst::Call(call)) => match call.callee {
                Operand::Symbol { symbol, .. } => {
                    module.symbols.get(symbol as usize).map(|s| s.name.as_str())
                }
                _ => None,
            },
            _ => None,
        };
        if matches!(name, Some("qsort" | "qsort_r" | "bsearch" | "lfind" | "lsearch" | "tsearch" | "tfind")) {
            let width = u32::from(ty.bits());
            let now = view.value(value) << (64 - width.min(64));
            let zero = self.constant(width, 0);
            let way = if now == 0 {
                self.pool().binary(Binary::Eq, term, zero)
            } else if now >> 63 == 1 {
                self.pool().binary(Binary::Slt, term, zero)
            } else {
                self.pool().binary(Binary::Slt, zero, term)
            };
            self.assume(view, way, Kind::External, now, None);
            return;
        }
        self.concretise_operand(view, value, ty, Reason::Returned);
    }

    /// A call to a modelled function has returned.
    pub(crate) fn call_returned(&mut self, view: &View<'_>) {
        if let Inst::Call(call) = view.inst() {
            let slots: u32 = call.ret.iter().map(|t| t.slots()).sum();
            if self.returning.is_empty() {
                self.forget(view, call.dst, slots);
            }
            for k in 0..slots.min(self.returning.len() as u32) {
                let term = self.returning[k as usize];
                self.set_slot(view, call.dst + k, term);
            }
        }
        self.returning.clear();
    }

    /// A variadic argument was written to memory.
    pub(crate) fn variadic_stored(&mut self, view: &View<'_>, argument: u32, address: u64, len: u64) {
        self.overwritten(address, len);
        let Some(caller) = (view.depth as usize).checked_sub(2).and_then(|n| self.frames.get(n)) else {
            return;
        };
        let module = view.image.module(caller.module);
        let inst =
            module.functions.get(caller.function as usize).and_then(|f| f.code.get(caller.at as usize));
        let Some(Inst::Call(call)) = inst else { return };
        let Some(arg) = call.args.get(argument as usize) else { return };
        let mut bytes: Vec<(u64, TermByte)> = Vec::new();
        match (arg.ty, arg.value) {
            (ArgTy::ByVal { .. }, _) => {
                if let Some((_, passed)) = caller.passed.iter().find(|p| p.0 == argument) {
                    bytes.clone_from(passed);
                }
            }
            (ArgTy::Value(ty), Operand::Reg(r)) => {
                let slots = [caller.get(r), if ty.slots() > 1 { caller.get(r + 1) } else { None }];
                for (k, slot) in slots.into_iter().enumerate() {
                    let Some(term) = slot else { continue };
                    let term = self.fit(term, 64);
                    bytes
                        .extend((0..8).map(|byte| (8 * k as u64 + u64::from(byte), TermByte { term, byte })));
                }
            }
            _ => {}
        }
        for (offset, piece) in bytes {
            if offset < len {
                self.memory.set(address.wrapping_add(offset), Some(piece));
            }
        }
    }
}
