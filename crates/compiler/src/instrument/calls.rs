//! Calls and intrinsics.

use super::external_id;
use super::function::Instrument;
use super::helpers::{STACK, VA};
use crate::llvm::{Opcode, Val};
use program::inst::{ArgTy, Call, Inst};

impl Instrument<'_, '_> {
    pub fn call(&mut self, i: Val) {
        let Some(site) = self.map.sites.get(&i).copied() else { return };
        let at = (site - self.model.first_site) as usize;
        match &self.model.code[at] {
            Inst::Call(c) => self.protocol(i, c, site),
            Inst::MemCopy { .. } | Inst::MemSet { .. } => {
                self.b.before(i);
                let desc = self.s.descriptors.site(site, 0);
                let len = self.wide(i.operand(2));
                let now = self.now();
                if matches!(self.model.code[at], Inst::MemCopy { .. }) {
                    let args = [self.ctx, desc, now, i.operand(0), i.operand(1), len];
                    self.hook("__relapse_copy", &args);
                } else {
                    let byte = self.b.cast(Opcode::LLVMZExt, i.operand(1), self.unit.int(32));
                    self.hook("__relapse_set", &[self.ctx, desc, now, i.operand(0), byte, len]);
                }
                i.erase();
            }
            Inst::VaCopy { .. } => {
                self.b.before(i);
                let desc = self.s.descriptors.site(site, 0);
                let now = self.now();
                let args = [self.ctx, desc, now, i.operand(0), i.operand(1), self.int(24)];
                self.hook("__relapse_copy", &args);
                i.erase();
            }
            Inst::VaStart { .. } => {
                self.after(i);
                let desc = self.s.descriptors.site(site, 0);
                let va = self.va.unwrap_or(Val::const_null(self.unit.ptr()));
                let now = self.now();
                self.hook("__relapse_va_start", &[self.ctx, desc, now, i.operand(0), va]);
            }
            Inst::StackSave { .. } => {
                self.b.before(i);
                let s = self.load_field(STACK);
                let p = self.b.cast(Opcode::LLVMIntToPtr, s, self.unit.ptr());
                i.replace_with(p);
                i.erase();
            }
            Inst::StackRestore { .. } => {
                self.b.before(i);
                let s = self.b.cast(Opcode::LLVMPtrToInt, i.operand(0), self.i64());
                self.store_field(STACK, s);
                i.erase();
            }
            Inst::ThreadLocal { symbol, .. } => self.thread_local(i, site, *symbol),
            Inst::Unknown { .. } => {
                self.after(i);
                let slots = if self.slot_count(i.ty()) == 0 { Vec::new() } else { self.slots(i) };
                if !slots.is_empty() {
                    let buffer = self.buffer(&slots);
                    let desc = self.s.descriptors.site(site, slots.len() as u32);
                    let now = self.now();
                    self.hook("__relapse_value", &[self.ctx, desc, now, buffer]);
                }
            }
            _ => {}
        }
    }

    fn wide(&self, v: Val) -> Val {
        if v.ty().int_bits() < 64 { self.b.cast(Opcode::LLVMZExt, v, self.i64()) } else { v }
    }

    fn thread_local(&mut self, i: Val, site: u32, symbol: u32) {
        let Some(guards) = self.s.guards else { return };
        self.after(i);
        // The guard array is itself thread-local.
        let base = self.helper("llvm.threadlocal.address.p0", self.unit.ptr(), &[guards]);
        let guard = self.b.gep_bytes(self.unit, base, self.int(8 * u64::from(symbol)));
        let desc = self.s.descriptors.site(site, symbol);
        let check = self.s.helpers.thread_local();
        let now = self.now();
        let void = self.unit.void();
        self.helper(&check, void, &[self.ctx, desc, now, i, guard]);
    }

    fn protocol(&mut self, i: Val, c: &Call, site: u32) {
        let callee = i.called_value();
        let name =
            if callee.is_function() && callee.is_defined_elsewhere() { callee.name() } else { String::new() };
        let known = external_id(&name);
        let desc = self.s.descriptors.call(c, site, known);
        if i.opcode() == Opcode::LLVMCall {
            i.no_tail();
        }
        // The optimiser must not turn one library call into another: the model contains this one.
        i.add_call_attribute(u32::MAX, self.unit.enum_attribute("nobuiltin", 0));
        self.b.before(i);
        let args: Vec<Val> = i.call_args().into_iter().flat_map(|a| self.slots(a)).collect();
        self.synchronise();
        let before = externals::find(&name).is_some_and(|e| e.has(externals::flag::BEFORE));
        if before {
            let buffer = self.buffer(&args);
            self.hook("__relapse_before", &[self.ctx, desc, callee, buffer]);
        }
        for (n, a) in i.call_args().into_iter().enumerate() {
            if i.call_attribute(n as u32 + 1, "byval").is_some() {
                let size = c.args.iter().filter_map(|a| match a.ty {
                    ArgTy::ByVal { size, .. } => Some(size),
                    ArgTy::Value(_) => None,
                });
                let nth = (0..n).filter(|k| i.call_attribute(*k as u32 + 1, "byval").is_some()).count();
                let size = size.into_iter().nth(nth).unwrap_or(0);
                let now = self.now();
                self.hook("__relapse_read", &[self.ctx, desc, now, a, self.int(size)]);
            }
        }
        if let Some(fixed) = c.variadic {
            let va = self.s.descriptors.variadic(&c.args[fixed as usize..]);
            let at = self.b.gep_bytes(self.unit, self.ctx, self.int(VA));
            self.b.store(va, at);
        }
        if let (Some(landing), Some(site)) = (self.landing, self.map.landings.get(&i)) {
            self.b.store(self.s.descriptors.site(*site, 0), landing.desc);
            let stack = self.load_field(STACK);
            self.b.store(stack, landing.stack);
        }
        if self.s.private.contains(&callee) {
            // The call is always linked, so it needs no protocol.
            self.after(i);
            self.resume();
            return;
        }
        let stack = c.returns_twice.then(|| self.load_field(STACK));
        let announce = self.s.helpers.announce();
        let void = self.unit.void();
        self.helper(&announce, void, &[callee]);
        self.after(i);
        if let Some(s) = stack {
            self.store_field(STACK, s);
        }
        let results = if c.ret.is_empty() { Vec::new() } else { self.slots(i) };
        let after = self.s.helpers.after(args.len(), results.len());
        let mut all = vec![self.ctx, desc, callee];
        all.extend(args);
        all.extend(results);
        self.helper(&after, void, &all);
        self.resume();
    }

    /// An exception arrived from an invoke: the frames in between are gone.
    pub fn landing_pad(&mut self, i: Val) {
        let Some(landing) = self.landing else { return };
        self.after(i);
        let stack = self.b.load(self.i64(), landing.stack);
        self.store_field(STACK, stack);
        let slots = self.slots(i);
        let buffer = self.buffer(&slots);
        let desc = self.b.load(self.unit.ptr(), landing.desc);
        self.hook("__relapse_land", &[self.ctx, desc, buffer]);
        self.resume();
        if self.map.headers.contains(&i.parent()) {
            self.tick();
        }
    }
}
