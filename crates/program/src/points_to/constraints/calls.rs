//! Constraints of calls: to modelled functions, and to functions without a model.

use super::{CallBack, Constraint, Constraints, IndirectCall, Var};
use crate::inst::{ArgTy, Call, Operand};
use crate::objects::{LIBRARY, OUTSIDE, Object};
use crate::outside::{Effect, ResultTarget};
use crate::whole::Callee;

impl Constraints<'_, '_> {
    pub(super) fn call(&mut self, f: u32, index: u32, call: &Call) {
        match self.whole.callee(self.instances.function(f), call.callee) {
            Callee::Function(callee) => self.link(f, index, call, callee),
            Callee::External(name) => {
                let effect = self.outside.effect(name);
                self.foreign(f, index, call, effect);
            }
            Callee::Pointer => {
                let callee = self.var(f, call.callee, 0);
                self.indirect.push(IndirectCall { instance: f, index, callee });
            }
        }
    }

    /// Links a call to a modelled function.
    pub fn link(&mut self, f: u32, index: u32, call: &Call, function: u32) {
        let callee = self.called(f, index, function);
        let target = self.whole.function(function);
        for (i, arg) in call.args.iter().enumerate() {
            let Some(p) = target.params.get(i) else {
                let object = self.object(Object::Variadic { function });
                let to = self.contents[object as usize];
                for k in 0..arg.ty.slots() {
                    self.flow(f, to, arg.value, k);
                }
                continue;
            };
            if let (ArgTy::ByVal { size, .. }, ArgTy::ByVal { .. }) = (arg.ty, p.ty) {
                let (to, from) = (self.reg(callee, p.reg), self.var(f, arg.value, 0));
                self.copy_content(to, from, Some(size));
                continue;
            }
            for k in 0..arg.ty.slots().min(p.ty.slots()) {
                self.flow(f, self.reg(callee, p.reg + k), arg.value, k);
            }
        }
        let given: u32 = target.ret.iter().map(|t| t.slots()).sum();
        for k in 0..call.ret.iter().map(|t| t.slots()).sum::<u32>().min(given) {
            let (to, from) = (self.reg(f, call.dst + k), self.result(callee, k));
            self.list.push(Constraint::Copy { to, from });
        }
    }

    /// Adds the constraints of a call to a function without a model.
    pub fn foreign(&mut self, f: u32, index: u32, call: &Call, effect: Option<Effect>) {
        let args: Vec<Var> = slots(call).into_iter().map(|(o, k)| self.var(f, o, k)).collect();
        let result = (!call.ret.is_empty()).then(|| self.reg(f, call.dst));
        let Some(effect) = effect else {
            for arg in &args {
                self.escape(*arg);
            }
            if let Some(to) = result {
                self.list.push(Constraint::Copy { to, from: self.stored[OUTSIDE as usize] });
            }
            self.call_backs.push(CallBack { args });
            return;
        };
        for (to, from) in &effect.copies {
            if let (Some(to), Some(from)) = (args.get(*to as usize), args.get(*from as usize)) {
                self.copy_content(*to, *from, None);
            }
        }
        for kept in effect.keeps.iter().filter_map(|s| args.get(*s as usize)) {
            self.list.push(Constraint::Copy { to: self.contents[LIBRARY as usize], from: *kept });
        }
        for at in effect.stores_new.iter().filter_map(|s| args.get(*s as usize)) {
            let object = self.object(Object::Made { instance: f, index });
            let from = self.fresh();
            self.list.push(Constraint::Points { to: from, object, offset: Some(0) });
            self.list.push(Constraint::Store { at: *at, from });
        }
        for returned in effect.returns.iter().filter(|_| result.is_some()) {
            match returned {
                ResultTarget::New => self.makes(f, index, call.dst),
                ResultTarget::Into(slot) => {
                    if let (Some(to), Some(from)) = (result, args.get(*slot as usize)) {
                        self.list.push(Constraint::Shift { to, from: *from, by: None });
                    }
                }
                ResultTarget::Same(slot) => {
                    if let (Some(to), Some(from)) = (result, args.get(*slot as usize)) {
                        self.list.push(Constraint::Copy { to, from: *from });
                    }
                }
                ResultTarget::Kept => {
                    if let Some(to) = result {
                        self.list.push(Constraint::Copy { to, from: self.stored[LIBRARY as usize] });
                    }
                }
                ResultTarget::Library => {
                    if let Some(to) = result {
                        self.list.push(Constraint::Points { to, object: LIBRARY, offset: None });
                    }
                }
            }
        }
        if effect.calls_back {
            self.call_backs.push(CallBack { args });
        }
    }

    /// Links a callback: a call that may call back received this function.
    pub fn link_callback(&mut self, given: &CallBack, function: u32) {
        self.called.insert(function);
        self.reach(function);
        for p in &self.whole.function(function).params {
            let to = self.reg(function, p.reg);
            for arg in &given.args {
                let at = self.moved(*arg, None);
                self.list.push(Constraint::Copy { to, from: at });
                self.list.push(Constraint::Load { to, at });
            }
        }
    }

    /// Whether an indirect call passes enough arguments for a function. With fewer, the function
    /// would read stale values.
    pub fn can_call(&self, call: &Call, function: u32) -> bool {
        self.whole.function(function).params.len() <= call.args.len()
    }

    pub fn effect(&self, name: &str) -> Option<Effect> {
        self.outside.effect(name)
    }
}

/// The slots of a call's arguments in order: each an operand and its slot index.
pub fn slots(call: &Call) -> Vec<(Operand, u32)> {
    call.args.iter().flat_map(|a| (0..a.ty.slots()).map(|k| (a.value, k))).collect()
}
