//! What a program's text says about its pointers.
//!
//! Every register slot, every function's result and the content of every object is a
//! *variable*; each instruction that can move a pointer relates some of them. Offsets in
//! objects are kept for addresses, not for contents: what is stored anywhere in an object may
//! be loaded from anywhere in it.

use crate::inst::{ArgTy, BinOp, Call, CastOp, Inst, Operand, Pure, Reg, Ty};
use crate::objects::{OUTSIDE, Object, ObjectId, Objects, thread_local};
use crate::outside::{Effect, Outside, Returned};
use crate::whole::{Callee, Whole};
use std::collections::HashSet;

/// A variable of the analysis.
pub type Var = u32;

/// A relation between variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Constraint {
    /// `to` may hold the address of this place of an object; none: of any.
    Points { to: Var, object: ObjectId, offset: Option<u64> },
    /// `to` may hold what `from` holds.
    Copy { to: Var, from: Var },
    /// The same, moved by so many bytes; none: by any number.
    Shift { to: Var, from: Var, by: Option<i64> },
    /// `to` may hold what lies where `at` points.
    Load { to: Var, at: Var },
    /// What lies where `at` points may be what `from` holds.
    Store { at: Var, from: Var },
}

/// A call whose callees are found on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Indirect {
    pub function: u32,
    pub index: u32,
    /// Holds the function's address.
    pub callee: Var,
}

/// A call out of the model that may call back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallBack {
    /// Its arguments: the functions, and what they may be given.
    pub args: Vec<Var>,
}

/// Everything at once.
pub struct Constraints<'w, 'm> {
    pub whole: &'w Whole<'m>,
    outside: &'w dyn Outside,
    pub objects: Objects,
    pub list: Vec<Constraint>,
    pub indirect: Vec<Indirect>,
    pub call_backs: Vec<CallBack>,
    /// First variable of each function: its slots, then those of its result.
    first: Vec<Var>,
    /// Variables of the contents of objects, in the order of objects.
    pub contents: Vec<Var>,
    pub vars: Var,
    called: HashSet<u32>,
}

impl<'w, 'm> Constraints<'w, 'm> {
    pub fn of(whole: &'w Whole<'m>, outside: &'w dyn Outside) -> Constraints<'w, 'm> {
        let mut first = Vec::new();
        let mut vars = 0;
        for number in 0..whole.functions() {
            let f = whole.function(number);
            first.push(vars);
            vars += f.slots + f.ret.iter().map(|t| t.slots()).sum::<u32>();
        }
        let objects = Objects::of(whole);
        let mut all = Constraints {
            whole,
            outside,
            objects,
            list: Vec::new(),
            indirect: Vec::new(),
            call_backs: Vec::new(),
            first,
            contents: Vec::new(),
            vars,
            called: HashSet::new(),
        };
        all.sync();
        all.everywhere();
        for number in 0..whole.functions() {
            all.function(number);
        }
        // Whatever nobody here calls is called from outside.
        let uncalled: Vec<u32> = (0..whole.functions()).filter(|f| !all.called.contains(f)).collect();
        for number in uncalled {
            for p in &whole.function(number).params {
                let to = all.reg(number, p.reg);
                all.list.push(Constraint::Points { to, object: OUTSIDE, offset: None });
            }
        }
        all
    }

    /// Every object has a variable for its content.
    fn sync(&mut self) {
        while self.contents.len() < self.objects.len() {
            let var = self.fresh();
            self.contents.push(var);
        }
    }

    fn fresh(&mut self) -> Var {
        self.vars += 1;
        self.vars - 1
    }

    fn object(&mut self, object: Object) -> ObjectId {
        let id = self.objects.add(object);
        self.sync();
        id
    }

    pub fn reg(&self, function: u32, reg: Reg) -> Var {
        self.first[function as usize] + reg
    }

    pub fn result(&self, function: u32, slot: u32) -> Var {
        self.first[function as usize] + self.whole.function(function).slots + slot
    }

    /// Initial values, and what unknown code may do with what it got hold of.
    fn everywhere(&mut self) {
        let known = self.contents[OUTSIDE as usize];
        self.list.push(Constraint::Points { to: known, object: OUTSIDE, offset: None });
        self.list.push(Constraint::Load { to: known, at: known });
        self.list.push(Constraint::Store { at: known, from: known });
        for part in self.whole.parts() {
            for (variable, target) in &part.model.initial {
                let address = |s: &u32| part.addresses.get(*s as usize).copied().unwrap_or(0);
                let Some(object) = self.at_address(address(variable)) else { continue };
                let to = self.contents[object as usize];
                if let Some(pointee) = self.at_address(address(target)) {
                    // Which place of it the value names is not kept.
                    self.list.push(Constraint::Points { to, object: pointee, offset: None });
                }
            }
        }
    }

    /// What is at the address of a symbol.
    fn at_address(&mut self, address: u64) -> Option<ObjectId> {
        if address == 0 {
            return None;
        }
        if let Some(function) = self.whole.function_at(address) {
            return Some(self.object(Object::Code { function }));
        }
        if let Some(name) = self.whole.external_at(address) {
            return Some(self.object(Object::Foreign { name: name.to_owned() }));
        }
        let size = self.whole.data_size(address)?;
        self.objects.find(&Object::Data { address, size })
    }

    /// Where an operand points by itself: an object and a place in it.
    pub fn address(&mut self, function: u32, operand: Operand) -> Option<(ObjectId, u64)> {
        let Operand::Symbol { symbol, offset } = operand else { return None };
        let part = self.whole.part(function);
        let address = part.addresses.get(symbol as usize).copied().unwrap_or(0);
        let object = match self.at_address(address) {
            Some(object) => object,
            // Without an address, only its own module knows it.
            None => match self.whole.callee(function, Operand::Symbol { symbol, offset: 0 }) {
                Callee::Function(function) => self.object(Object::Code { function }),
                _ => OUTSIDE,
            },
        };
        Some((object, offset.cast_unsigned()))
    }

    /// `to` may hold what an operand is.
    fn flow(&mut self, function: u32, to: Var, operand: Operand, slot: u32) {
        match operand {
            Operand::Reg(r) => {
                let from = self.reg(function, r + slot);
                self.list.push(Constraint::Copy { to, from });
            }
            Operand::Symbol { .. } if slot == 0 => {
                if let Some((object, offset)) = self.address(function, operand) {
                    self.list.push(Constraint::Points { to, object, offset: Some(offset) });
                }
            }
            _ => {}
        }
    }

    /// A variable that holds what an operand is.
    fn var(&mut self, function: u32, operand: Operand, slot: u32) -> Var {
        if let Operand::Reg(r) = operand {
            return self.reg(function, r + slot);
        }
        let var = self.fresh();
        self.flow(function, var, operand, slot);
        var
    }

    fn function(&mut self, number: u32) {
        let f = self.whole.function(number);
        for phi in f.blocks.iter().flat_map(|b| &b.phis) {
            for (_, value) in &phi.incoming {
                for k in 0..phi.slots {
                    self.flow(number, self.reg(number, phi.dst + k), *value, k);
                }
            }
        }
        for p in f.params.iter().filter(|p| matches!(p.ty, ArgTy::ByVal { .. })) {
            if let Some((object, offset)) = self.objects.in_frame(self.whole, number, p.frame_offset) {
                let to = self.reg(number, p.reg);
                self.list.push(Constraint::Points { to, object, offset: Some(offset) });
            }
        }
        for (index, inst) in f.code.iter().enumerate() {
            self.inst(number, index as u32, inst);
        }
    }

    fn inst(&mut self, f: u32, index: u32, inst: &Inst) {
        match inst {
            Inst::Copy { dst, a } => self.flow(f, self.reg(f, *dst), *a, 0),
            Inst::Select { slots, dst, a, b, .. } => {
                for k in 0..*slots {
                    self.flow(f, self.reg(f, dst + k), *a, k);
                    self.flow(f, self.reg(f, dst + k), *b, k);
                }
            }
            Inst::Cast { op: CastOp::Bits | CastOp::Zext | CastOp::Sext | CastOp::Trunc, dst, a, .. } => {
                self.flow(f, self.reg(f, *dst), *a, 0);
            }
            // Pointers that are computed with as numbers.
            Inst::Bin {
                op: BinOp::Add | BinOp::Sub | BinOp::And | BinOp::Or | BinOp::Xor,
                bits: 64,
                dst,
                a,
                b,
            } => {
                for operand in [a, b] {
                    let from = self.var(f, *operand, 0);
                    self.list.push(Constraint::Shift { to: self.reg(f, *dst), from, by: None });
                }
            }
            Inst::Pure { op: Pure::PtrMask, dst, args, .. } => {
                if let Some(a) = args.first() {
                    let from = self.var(f, *a, 0);
                    self.list.push(Constraint::Shift { to: self.reg(f, *dst), from, by: None });
                }
            }
            Inst::Address { dst, base, index, scale, offset, .. } => {
                let by = match index {
                    Operand::Const(n) => Some(n.cast_signed().wrapping_mul(*scale).wrapping_add(*offset)),
                    _ if *scale == 0 => Some(*offset),
                    _ => None,
                };
                let to = self.reg(f, *dst);
                let from = self.var(f, *base, 0);
                self.list.push(Constraint::Shift { to, from, by });
                if matches!(base, Operand::Const(_)) && by.is_none() {
                    let from = self.var(f, *index, 0);
                    self.list.push(Constraint::Shift { to, from, by: None });
                }
            }
            Inst::Frame { dst, offset } => {
                if let Some((object, offset)) = self.objects.in_frame(self.whole, f, *offset) {
                    let to = self.reg(f, *dst);
                    self.list.push(Constraint::Points { to, object, offset: Some(offset) });
                }
            }
            Inst::Alloca { dst, .. } => self.makes(f, index, *dst),
            Inst::ThreadLocal { dst, symbol } => {
                let object = self.object(thread_local(self.whole, f, *symbol));
                let to = self.reg(f, *dst);
                self.list.push(Constraint::Points { to, object, offset: Some(0) });
            }
            Inst::Load { dst, addr, ty } if holds(*ty) => {
                let at = self.var(f, *addr, 0);
                for k in 0..ty.slots() {
                    self.list.push(Constraint::Load { to: self.reg(f, dst + k), at });
                }
            }
            Inst::Store { addr, value, ty } if holds(*ty) => self.store(f, *addr, *value, *ty),
            Inst::Rmw { dst, addr, value, ty, .. } if holds(*ty) => {
                let at = self.var(f, *addr, 0);
                self.list.push(Constraint::Load { to: self.reg(f, *dst), at });
                self.store(f, *addr, *value, *ty);
            }
            Inst::CmpXchg { dst, addr, new, ty, .. } if holds(*ty) => {
                let at = self.var(f, *addr, 0);
                self.list.push(Constraint::Load { to: self.reg(f, *dst), at });
                self.store(f, *addr, *new, *ty);
            }
            Inst::MemCopy { to, from, .. } | Inst::VaCopy { to, from } => {
                let (to, from) = (self.var(f, *to, 0), self.var(f, *from, 0));
                self.copy_content(to, from);
            }
            Inst::VaStart { list } => {
                let object = self.object(Object::Variadic { function: f });
                let at = self.var(f, *list, 0);
                let from = self.fresh();
                self.list.push(Constraint::Points { to: from, object, offset: None });
                self.list.push(Constraint::Store { at, from });
            }
            Inst::Unknown { dst, ret, args, .. } => {
                for arg in args {
                    let arg = self.var(f, *arg, 0);
                    self.escape(arg);
                }
                for k in 0..ret.iter().map(|t| t.slots()).sum() {
                    let from = self.contents[OUTSIDE as usize];
                    self.list.push(Constraint::Copy { to: self.reg(f, dst + k), from });
                }
            }
            Inst::Return { value: Some(value), ret } => {
                for k in 0..ret.iter().map(|t| t.slots()).sum() {
                    self.flow(f, self.result(f, k), *value, k);
                }
            }
            Inst::Call(call) => self.call(f, index, call),
            _ => {}
        }
    }

    fn makes(&mut self, f: u32, index: u32, dst: Reg) {
        let object = self.object(Object::Made { function: f, index });
        self.list.push(Constraint::Points { to: self.reg(f, dst), object, offset: Some(0) });
    }

    fn store(&mut self, f: u32, addr: Operand, value: Operand, ty: Ty) {
        let at = self.var(f, addr, 0);
        for k in 0..ty.slots() {
            let from = self.var(f, value, k);
            self.list.push(Constraint::Store { at, from });
        }
    }

    fn copy_content(&mut self, to: Var, from: Var) {
        let moved = self.fresh();
        self.list.push(Constraint::Load { to: moved, at: from });
        self.list.push(Constraint::Store { at: to, from: moved });
    }

    /// Unknown code got hold of it.
    fn escape(&mut self, var: Var) {
        self.list.push(Constraint::Copy { to: self.contents[OUTSIDE as usize], from: var });
    }

    fn call(&mut self, f: u32, index: u32, call: &Call) {
        match self.whole.callee(f, call.callee) {
            Callee::Function(callee) => self.link(f, call, callee),
            Callee::External(name) => {
                let effect = self.outside.effect(name);
                self.foreign(f, index, call, effect);
            }
            Callee::Pointer => {
                let callee = self.var(f, call.callee, 0);
                self.indirect.push(Indirect { function: f, index, callee });
            }
        }
    }

    /// A call may call a modelled function.
    pub fn link(&mut self, f: u32, call: &Call, callee: u32) {
        self.called.insert(callee);
        let target = self.whole.function(callee);
        for (i, arg) in call.args.iter().enumerate() {
            let Some(p) = target.params.get(i) else {
                let object = self.object(Object::Variadic { function: callee });
                let to = self.contents[object as usize];
                for k in 0..arg.ty.slots() {
                    self.flow(f, to, arg.value, k);
                }
                continue;
            };
            if let (ArgTy::ByVal { .. }, ArgTy::ByVal { .. }) = (arg.ty, p.ty) {
                let (to, from) = (self.reg(callee, p.reg), self.var(f, arg.value, 0));
                self.copy_content(to, from);
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

    /// A call leaves the model.
    pub fn foreign(&mut self, f: u32, index: u32, call: &Call, effect: Option<Effect>) {
        let args: Vec<Var> = slots(call).into_iter().map(|(o, k)| self.var(f, o, k)).collect();
        let result = (!call.ret.is_empty()).then(|| self.reg(f, call.dst));
        let Some(effect) = effect else {
            for arg in &args {
                self.escape(*arg);
            }
            if let Some(to) = result {
                self.list.push(Constraint::Copy { to, from: self.contents[OUTSIDE as usize] });
            }
            self.call_backs.push(CallBack { args });
            return;
        };
        for (to, from) in &effect.copies {
            if let (Some(to), Some(from)) = (args.get(*to as usize), args.get(*from as usize)) {
                self.copy_content(*to, *from);
            }
        }
        for at in effect.stores_new.iter().filter_map(|s| args.get(*s as usize)) {
            let object = self.object(Object::Made { function: f, index });
            let from = self.fresh();
            self.list.push(Constraint::Points { to: from, object, offset: Some(0) });
            self.list.push(Constraint::Store { at: *at, from });
        }
        for returned in effect.returns.iter().filter(|_| result.is_some()) {
            match returned {
                Returned::New => self.makes(f, index, call.dst),
                Returned::Into(slot) => {
                    if let (Some(to), Some(from)) = (result, args.get(*slot as usize)) {
                        self.list.push(Constraint::Shift { to, from: *from, by: None });
                    }
                }
                Returned::Outside => {
                    if let Some(to) = result {
                        self.list.push(Constraint::Points { to, object: OUTSIDE, offset: None });
                    }
                }
            }
        }
        if effect.calls_back {
            self.call_backs.push(CallBack { args });
        }
    }

    /// A call that may call back was given this function.
    pub fn called_back(&mut self, given: &CallBack, function: u32) {
        self.called.insert(function);
        for p in &self.whole.function(function).params {
            let to = self.reg(function, p.reg);
            for arg in &given.args {
                self.list.push(Constraint::Shift { to, from: *arg, by: None });
                self.list.push(Constraint::Load { to, at: *arg });
            }
        }
    }

    pub fn effect(&self, name: &str) -> Option<Effect> {
        self.outside.effect(name)
    }
}

/// The slots of a call's arguments, in order: each an operand, and which of its slots.
pub fn slots(call: &Call) -> Vec<(Operand, u32)> {
    call.args.iter().flat_map(|a| (0..a.ty.slots()).map(|k| (a.value, k))).collect()
}

/// Whether a pointer fits.
fn holds(ty: Ty) -> bool {
    matches!(ty, Ty::Ptr) || matches!(ty, Ty::Int(bits) if bits >= 64)
}
