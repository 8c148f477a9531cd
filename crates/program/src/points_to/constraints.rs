//! Generates points-to constraints from a program.
//!
//! Every register slot, every function result and the content of every object is a *variable*; each
//! instruction that can move a pointer relates some of them. An object's content has two variables:
//! one for values stored at an unknown offset, and one for all values stored in it. The solver
//! models values stored at known offsets itself.
//!
//! Only reachable functions are analysed, as their calls are resolved; allocation wrappers once per
//! call site ([`super::wrappers`]). Each such analysis is an *instance*; the first instance of a
//! function has the function's number.

mod calls;

use super::instances::{Instances, Var};
use super::wrappers::Wrappers;
use crate::inst::{ArgTy, BinOp, CastOp, Inst, Operand, Pure, Reg, Ty};
use crate::model::Function;
use crate::objects::{LIBRARY, OUTSIDE, Object, ObjectId, Objects, thread_local};
use crate::outside::Outside;
use crate::whole::{Callee, LinkedProgram};
use std::collections::{HashMap, HashSet};

pub use calls::slots;

/// A constraint between variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Constraint {
    /// `to` may hold the address of this offset of an object; `None` for any offset.
    Points { to: Var, object: ObjectId, offset: Option<u64> },
    /// `to` may hold what `from` holds.
    Copy { to: Var, from: Var },
    /// `to` may hold the value of `from` plus an offset; `None` for any offset.
    Shift { to: Var, from: Var, by: Option<i64> },
    /// `to` may hold a value stored where `at` points.
    Load { to: Var, at: Var },
    /// A value stored where `at` points may be the value of `from`.
    Store { at: Var, from: Var },
}

/// An indirect call, whose callees are resolved on the fly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndirectCall {
    pub instance: u32,
    pub index: u32,
    /// Holds the address of the callee.
    pub callee: Var,
}

/// A call to code without a model that may call back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallBack {
    /// Its arguments: possible callees, and the values these may receive.
    pub args: Vec<Var>,
}

/// The constraints and the tables for generating them.
pub struct Constraints<'w, 'm> {
    pub whole: &'w LinkedProgram<'m>,
    outside: &'w dyn Outside,
    pub objects: Objects,
    pub list: Vec<Constraint>,
    pub indirect: Vec<IndirectCall>,
    pub call_backs: Vec<CallBack>,
    pub instances: Instances,
    wrappers: Wrappers,
    /// Instances that were analysed, and the worklist.
    reached: HashSet<u32>,
    work: Vec<u32>,
    /// For each object, the variable for values stored at an unknown offset.
    pub contents: Vec<Var>,
    /// For each object, the variable for all values stored in it.
    pub stored: Vec<Var>,
    pub vars: Var,
    called: HashSet<u32>,
    /// Amount of code that was analysed more than once.
    again: usize,
    /// Memoised offset additions.
    moved: HashMap<(Var, Option<i64>), Var>,
}

/// Name of the program's entry function.
const MAIN: &str = "main";
/// Limit of repeated analysis, as a multiple of the program's code.
const CLONE_LIMIT_FACTOR: usize = 3;
/// Up to this size, a copy is modelled one pointer at a time.
const MAX_WORDWISE_COPY: u64 = 256;

impl<'w, 'm> Constraints<'w, 'm> {
    /// `entries` are called by code without a model, in addition to the calls found here.
    pub fn of(
        whole: &'w LinkedProgram<'m>,
        outside: &'w dyn Outside,
        entries: &[u32],
    ) -> Constraints<'w, 'm> {
        let mut all = Constraints {
            whole,
            outside,
            objects: Objects::of(whole),
            list: Vec::new(),
            indirect: Vec::new(),
            call_backs: Vec::new(),
            instances: Instances::default(),
            wrappers: Wrappers::of(whole, outside),
            reached: HashSet::new(),
            work: Vec::new(),
            contents: Vec::new(),
            stored: Vec::new(),
            vars: 0,
            called: HashSet::new(),
            again: 0,
            moved: HashMap::new(),
        };
        for function in 0..whole.functions() {
            all.instance(function);
        }
        all.sync();
        all.initial_constraints();
        // Other entries may still be found to be called here, with known arguments.
        let main = |f: &u32| whole.function(*f).name == MAIN;
        let any = entries.iter().any(main);
        let roots: Vec<u32> = entries.iter().copied().filter(|f| !any || main(f)).collect();
        all.call_entry_points(&roots);
        all
    }

    /// Adds an instance of a function.
    fn instance(&mut self, function: u32) -> u32 {
        let f = self.whole.function(function);
        let instance = self.instances.add(function, self.vars);
        self.vars += f.slots + f.ret.iter().map(|t| t.slots()).sum::<u32>();
        instance
    }

    /// The instance that a call calls.
    fn called(&mut self, caller: u32, index: u32, callee: u32) -> u32 {
        self.called.insert(callee);
        let code = self.whole.function(callee).code.len();
        let from = self.instances.function(caller);
        let target = match self.instances.apart(caller, index, callee) {
            Some(known) => known,
            None if self.wrappers.is_cloned(from, callee) && self.again + code <= self.clone_limit() => {
                self.again += code;
                let new = self.instance(callee);
                self.instances.set_clone(caller, index, callee, new);
                new
            }
            None => callee,
        };
        self.reach(target);
        target
    }

    fn clone_limit(&self) -> usize {
        CLONE_LIMIT_FACTOR
            * (0..self.whole.functions()).map(|f| self.whole.function(f).code.len()).sum::<usize>()
    }

    fn reach(&mut self, instance: u32) {
        if self.reached.insert(instance) {
            self.work.push(instance);
        }
    }

    /// Analyses the functions on the worklist.
    pub fn look(&mut self) {
        while let Some(instance) = self.work.pop() {
            self.function(instance);
        }
    }

    /// Functions without a known caller at this point are called from outside, with arguments from
    /// outside.
    pub fn call_entry_points(&mut self, functions: &[u32]) {
        for number in functions.iter().copied() {
            if !self.called.insert(number) {
                continue;
            }
            let function = self.whole.function(number);
            // The arguments of `main` are data of the library.
            let object = if function.name == MAIN { LIBRARY } else { OUTSIDE };
            for p in &function.params {
                let to = self.reg(number, p.reg);
                self.list.push(Constraint::Points { to, object, offset: None });
            }
            self.reach(number);
        }
        self.look();
    }

    /// Creates the content variables of new objects.
    fn sync(&mut self) {
        while self.contents.len() < self.objects.len() {
            let (anywhere, all) = (self.fresh(), self.fresh());
            self.contents.push(anywhere);
            self.stored.push(all);
            self.list.push(Constraint::Copy { to: all, from: anywhere });
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

    pub fn reg(&self, instance: u32, reg: Reg) -> Var {
        self.instances.first(instance) + reg
    }

    fn result(&self, instance: u32, slot: u32) -> Var {
        self.instances.first(instance) + self.model(instance).slots + slot
    }

    fn model(&self, instance: u32) -> &'m Function {
        self.whole.function(self.instances.function(instance))
    }

    /// A variable for the same address plus an offset; `None` for any offset.
    fn moved(&mut self, from: Var, by: Option<i64>) -> Var {
        if by == Some(0) {
            return from;
        }
        if let Some(known) = self.moved.get(&(from, by)) {
            return *known;
        }
        let to = self.fresh();
        self.moved.insert((from, by), to);
        self.list.push(Constraint::Shift { to, from, by });
        to
    }

    /// Initial values, and what unknown code may do with objects that escaped to it.
    fn initial_constraints(&mut self) {
        let known = self.contents[OUTSIDE as usize];
        self.list.push(Constraint::Points { to: known, object: OUTSIDE, offset: None });
        let library = self.contents[LIBRARY as usize];
        self.list.push(Constraint::Points { to: library, object: LIBRARY, offset: None });
        let at = self.moved(known, None);
        self.list.push(Constraint::Load { to: known, at });
        self.list.push(Constraint::Store { at, from: known });
        for part in self.whole.parts() {
            for (variable, target) in &part.model.initial {
                let address = |s: &u32| part.addresses.get(*s as usize).copied().unwrap_or(0);
                let Some(object) = self.at_address(address(variable)) else { continue };
                let to = self.contents[object as usize];
                if let Some(pointee) = self.at_address(address(target)) {
                    // The model does not record the offset that the initial value names.
                    self.list.push(Constraint::Points { to, object: pointee, offset: None });
                }
            }
        }
    }

    /// The object at the address of a symbol.
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

    /// The object and offset that a symbol operand denotes.
    pub fn address(&mut self, instance: u32, operand: Operand) -> Option<(ObjectId, u64)> {
        let function = self.instances.function(instance);
        let Operand::Symbol { symbol, offset } = operand else { return None };
        let part = self.whole.part(function);
        let address = part.addresses.get(symbol as usize).copied().unwrap_or(0);
        let object = match self.at_address(address) {
            Some(object) => object,
            // A symbol without an address is visible only in its own module.
            None => match self.whole.callee(function, Operand::Symbol { symbol, offset: 0 }) {
                Callee::Function(function) => self.object(Object::Code { function }),
                _ => OUTSIDE,
            },
        };
        Some((object, offset.cast_unsigned()))
    }

    /// `to` may hold the value of an operand.
    fn flow(&mut self, instance: u32, to: Var, operand: Operand, slot: u32) {
        match operand {
            Operand::Reg(r) => {
                let from = self.reg(instance, r + slot);
                self.list.push(Constraint::Copy { to, from });
            }
            Operand::Symbol { .. } if slot == 0 => {
                if let Some((object, offset)) = self.address(instance, operand) {
                    self.list.push(Constraint::Points { to, object, offset: Some(offset) });
                }
            }
            _ => {}
        }
    }

    /// A variable with the value of an operand.
    fn var(&mut self, instance: u32, operand: Operand, slot: u32) -> Var {
        if let Operand::Reg(r) = operand {
            return self.reg(instance, r + slot);
        }
        let var = self.fresh();
        self.flow(instance, var, operand, slot);
        var
    }

    fn function(&mut self, number: u32) {
        let f = self.model(number);
        for phi in f.blocks.iter().flat_map(|b| &b.phis) {
            for (_, value) in &phi.incoming {
                for k in 0..phi.slots {
                    self.flow(number, self.reg(number, phi.dst + k), *value, k);
                }
            }
        }
        for p in f.params.iter().filter(|p| matches!(p.ty, ArgTy::ByVal { .. })) {
            if let Some((object, offset)) = self.in_frame(number, p.frame_offset) {
                let to = self.reg(number, p.reg);
                self.list.push(Constraint::Points { to, object, offset: Some(offset) });
            }
        }
        for (index, inst) in f.code.iter().enumerate() {
            self.inst(number, index as u32, inst);
        }
    }

    fn in_frame(&self, instance: u32, offset: u64) -> Option<(ObjectId, u64)> {
        self.objects.in_frame(self.whole, self.instances.function(instance), offset)
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
            // Pointer arithmetic on integers.
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
                if let Some((object, offset)) = self.in_frame(f, *offset) {
                    let to = self.reg(f, *dst);
                    self.list.push(Constraint::Points { to, object, offset: Some(offset) });
                }
            }
            Inst::Alloca { dst, .. } => self.makes(f, index, *dst),
            Inst::ThreadLocal { dst, symbol } => {
                let object = self.object(thread_local(self.whole, self.instances.function(f), *symbol));
                let to = self.reg(f, *dst);
                self.list.push(Constraint::Points { to, object, offset: Some(0) });
            }
            Inst::Load { dst, addr, ty } if holds(*ty) => {
                let at = self.var(f, *addr, 0);
                for k in 0..ty.slots() {
                    let at = self.moved(at, Some(8 * i64::from(k)));
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
            Inst::MemCopy { to, from, len, .. } => {
                let (to, from) = (self.var(f, *to, 0), self.var(f, *from, 0));
                let len = match len {
                    Operand::Const(n) => Some(*n),
                    _ => None,
                };
                self.copy_content(to, from, len);
            }
            Inst::VaCopy { to, from } => {
                let (to, from) = (self.var(f, *to, 0), self.var(f, *from, 0));
                self.copy_content(to, from, Some(24));
            }
            Inst::VaStart { list } => {
                let object = self.object(Object::Variadic { function: self.instances.function(f) });
                let at = self.var(f, *list, 0);
                let at = self.moved(at, None);
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
                    let from = self.stored[OUTSIDE as usize];
                    self.list.push(Constraint::Copy { to: self.reg(f, dst + k), from });
                }
            }
            Inst::Landing { dst } => {
                // The exception object: outside code allocated or received it.
                let from = self.stored[OUTSIDE as usize];
                self.list.push(Constraint::Copy { to: self.reg(f, dst + 1), from });
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
        let object = self.object(Object::Made { instance: f, index });
        self.list.push(Constraint::Points { to: self.reg(f, dst), object, offset: Some(0) });
    }

    fn store(&mut self, f: u32, addr: Operand, value: Operand, ty: Ty) {
        let at = self.var(f, addr, 0);
        for k in 0..ty.slots() {
            let from = self.var(f, value, k);
            let at = self.moved(at, Some(8 * i64::from(k)));
            self.list.push(Constraint::Store { at, from });
        }
    }

    /// Copies `len` bytes; `None`: any part of the source to any offset of the target.
    fn copy_content(&mut self, to: Var, from: Var, len: Option<u64>) {
        let parts: Vec<Option<i64>> = match len {
            Some(len) if len <= MAX_WORDWISE_COPY => {
                (0..len.div_ceil(8)).map(|k| Some(8 * k.cast_signed())).collect()
            }
            _ => vec![None],
        };
        for by in parts {
            let (to, from, value) = (self.moved(to, by), self.moved(from, by), self.fresh());
            self.list.push(Constraint::Load { to: value, at: from });
            self.list.push(Constraint::Store { at: to, from: value });
        }
    }

    /// The value escapes to unknown code.
    fn escape(&mut self, var: Var) {
        self.list.push(Constraint::Copy { to: self.contents[OUTSIDE as usize], from: var });
    }
}

/// Whether a type can hold a pointer.
fn holds(ty: Ty) -> bool {
    matches!(ty, Ty::Ptr) || matches!(ty, Ty::Int(bits) if bits >= 64)
}
