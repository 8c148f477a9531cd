//! Propagates labels between functions of the program.

use super::{OWN, propagated_bits};
use crate::extract::Extractor;
use program::inst::{ArgTy, Call, Inst, Operand, Ty};
use replay::observer::View;

impl Extractor<'_> {
    /// Collects the labels of a call's arguments, before the call.
    pub(super) fn passing(&mut self, view: &View<'_>, call: &Call) {
        self.fleeting.arguments.clear();
        self.fleeting.by_value.clear();
        self.fleeting.returning.clear();
        if self.fleeting.memory.held() > 0 {
            for (n, arg) in call.args.iter().enumerate() {
                if let ArgTy::ByVal { .. } = arg.ty {
                    self.fleeting.by_value.push((n, view.value(arg.value)));
                }
            }
        }
        if !self.fleeting.is_live(view.depth) && self.plans[self.current].sources.is_none() {
            return;
        }
        for arg in &call.args {
            let labels = match arg.ty {
                ArgTy::Value(ty) => {
                    let second =
                        if ty.slots() > 1 { propagated_bits(self.slot(view, arg.value, 1)) } else { 0 };
                    [propagated_bits(self.number(view, arg.value, ty)), second]
                }
                ArgTy::ByVal { .. } => [0; 2],
            };
            self.fleeting.arguments.push(labels);
        }
    }

    /// Assigns the passed labels to the parameters of a function that was entered.
    pub(crate) fn received(&mut self, view: &View<'_>, outside: bool) {
        let arguments = std::mem::take(&mut self.fleeting.arguments);
        if !outside {
            for (n, parameter) in view.function().params.iter().enumerate() {
                match parameter.ty {
                    ArgTy::Value(ty) => {
                        let labels = arguments.get(n).copied().unwrap_or_default();
                        for k in 0..ty.slots() {
                            self.fleeting.set(view.depth, parameter.reg + k, labels[k as usize % 2]);
                        }
                    }
                    ArgTy::ByVal { size, .. } => {
                        let to = view.frame.wrapping_add(parameter.frame_offset);
                        match self.fleeting.by_value.iter().find(|b| b.0 == n).map(|b| b.1) {
                            Some(from) => self.fleeting.memory.copy(to, from, size),
                            None => self.fleeting.overwritten(to, size),
                        }
                    }
                }
            }
        }
        self.fleeting.arguments = arguments;
        self.fleeting.arguments.clear();
    }

    pub(super) fn pass_result(&mut self, view: &View<'_>, value: Option<Operand>, ret: &[Ty]) {
        self.fleeting.returning.clear();
        let Some(value) = value else { return };
        let symbol = matches!(value, Operand::Symbol { .. });
        if !self.fleeting.is_live(view.depth) && !symbol {
            return;
        }
        let slots: u32 = ret.iter().map(|t| t.slots()).sum();
        for k in 0..slots {
            let label = match ret {
                [ty] if k == 0 => self.number(view, value, *ty),
                _ => self.slot(view, value, k),
            };
            self.fleeting.returning.push(propagated_bits(label));
        }
    }

    /// Assigns the returned labels to the result of a call.
    pub(crate) fn receive_result(&mut self, view: &View<'_>) {
        if let Inst::Call(call) = view.inst() {
            let slots: u32 = call.ret.iter().map(|t| t.slots()).sum();
            for k in 0..slots {
                let label = self.fleeting.returning.get(k as usize).copied().unwrap_or(0);
                self.fleeting.set(view.depth, call.dst + k, label);
            }
        }
        self.fleeting.returning.clear();
    }

    /// Labels the copy of a variadic argument that was stored to memory.
    pub(crate) fn spilled(&mut self, view: &View<'_>, argument: u32, address: u64, len: u64) {
        self.fleeting.overwritten(address, len);
        let depth = view.depth.saturating_sub(1);
        let Some(caller) = (depth as usize).checked_sub(1).and_then(|n| self.frames.get(n)) else { return };
        let plan = &self.plans[caller.plan as usize];
        let function = self.trace_tables.image.module(plan.module).functions.get(plan.function as usize);
        let inst = function.and_then(|f| f.code.get(caller.index as usize));
        let Some(Inst::Call(call)) = inst else { return };
        if let Some(arg) = call.args.get(argument as usize)
            && let (ArgTy::Value(_), Operand::Reg(r)) = (arg.ty, arg.value)
        {
            let label = self.fleeting.get(depth, r) & OWN;
            self.fleeting.memory.fill(address, len, label);
        }
    }
}
