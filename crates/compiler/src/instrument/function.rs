//! One function: entry, return, frame, loops, and the walk over instructions.

use super::Shared;
use super::helpers::{KEY, STACK, SUM, TICKED, TIME, VA};
use crate::divisions::may_trap;
use crate::llvm::{Builder, Opcode, Typ, TypeKind, Unit, Val};
use crate::lower::{FunctionMap, leaves};
use crate::normalise::elements;
use program::Function;
use program::inst::{ArgTy, Inst};

pub struct Instrument<'a, 'u> {
    pub s: &'a mut Shared<'u>,
    pub map: &'a FunctionMap,
    pub model: &'a Function,
    pub b: Builder,
    pub unit: &'u Unit,
    /// Allocas of time and sum.
    pub time: Val,
    pub sum: Val,
    pub ctx: Val,
    pub key: Val,
    /// Descriptor of the variadic arguments of this activation.
    pub va: Option<Val>,
    /// Allocas for the state that a handler needs from the call that unwinds to it.
    pub landing: Option<Landing>,
}

/// Stores a landing's descriptor and the model stack pointer before an invoke.
#[derive(Clone, Copy)]
pub struct Landing {
    pub desc: Val,
    pub stack: Val,
}

impl<'a, 'u> Instrument<'a, 'u> {
    pub fn new(s: &'a mut Shared<'u>, map: &'a FunctionMap, model: &'a Function) -> Self {
        let unit = s.unit;
        let nothing = Val::const_null(unit.ptr());
        Instrument {
            s,
            map,
            model,
            b: unit.builder(),
            unit,
            time: nothing,
            sum: nothing,
            ctx: nothing,
            key: nothing,
            va: None,
            landing: None,
        }
    }

    pub fn run(mut self, index: usize) {
        let f = self.map.function;
        let blocks = f.blocks();
        let work: Vec<Val> = blocks.iter().flat_map(|b| b.instructions()).collect();
        let (linked, desc, entry_stack) = self.entry(index, work[0]);
        for header in &self.map.headers {
            if let Some(first) = header.first_non_phi().filter(|i| i.opcode() != Opcode::LLVMLandingPad) {
                self.b.before(first);
                self.tick();
            }
        }
        for i in work {
            if i.opcode() == Opcode::LLVMRet {
                self.leave(i, linked, desc, entry_stack);
            } else {
                self.instruction(i);
            }
        }
    }

    /// Advances time at a loop header, and stores it in memory that outlives the process. The store
    /// is volatile: otherwise the optimiser would sink it below a loop that may never end.
    pub fn tick(&self) {
        let t = self.b.bin(Opcode::LLVMAdd, self.now(), self.int(1));
        self.b.store(t, self.time);
        let s = self.b.store(t, self.field(TICKED));
        s.set_volatile(true);
    }

    pub fn i64(&self) -> Typ {
        self.unit.int(64)
    }

    pub fn int(&self, v: u64) -> Val {
        self.unit.const_int(64, v)
    }

    pub fn field(&self, offset: u64) -> Val {
        self.b.gep_bytes(self.unit, self.ctx, self.int(offset))
    }

    pub fn load_field(&self, offset: u64) -> Val {
        let p = self.field(offset);
        self.b.load(self.i64(), p)
    }

    pub fn store_field(&self, offset: u64, v: Val) {
        let p = self.field(offset);
        self.b.store(v, p);
    }

    pub fn now(&self) -> Val {
        self.b.load(self.i64(), self.time)
    }

    /// Calls a helper of [`super::helpers`], declared from the arguments.
    pub fn helper(&mut self, name: &str, ret: Typ, args: &[Val]) -> Val {
        let types: Vec<Typ> = args.iter().map(|a| a.ty()).collect();
        let ty = self.unit.function_type(ret, &types, false);
        let f = self.unit.add_function(name, ty);
        self.b.call(ty, f, args)
    }

    /// Calls a hook of the runtime.
    pub fn hook(&mut self, name: &str, args: &[Val]) -> Val {
        let void = self.unit.void();
        self.helper(name, void, args)
    }

    /// The 64-bit slots of a value, in the model's order.
    pub fn slots(&self, v: Val) -> Vec<Val> {
        let t = v.ty();
        let i64t = self.i64();
        match t.kind() {
            TypeKind::LLVMStructTypeKind | TypeKind::LLVMArrayTypeKind => (0..elements(self.unit, t).len())
                .flat_map(|n| self.slots(self.b.extract(v, n as u32)))
                .collect(),
            TypeKind::LLVMPointerTypeKind => vec![self.b.cast(Opcode::LLVMPtrToInt, v, i64t)],
            _ => {
                let bits = self.unit.bits_of(t) as u32;
                let int = self.as_int(v);
                if bits <= 64 {
                    return vec![self.widen(int, bits)];
                }
                let slot = |at: u32| {
                    let by = self.unit.const_int(bits, u64::from(at));
                    let moved = if at == 0 { int } else { self.b.bin(Opcode::LLVMLShr, int, by) };
                    self.b.cast(Opcode::LLVMTrunc, moved, i64t)
                };
                (0..bits).step_by(64).map(slot).collect()
            }
        }
    }

    fn widen(&self, v: Val, bits: u32) -> Val {
        if bits == 64 { v } else { self.b.cast(Opcode::LLVMZExt, v, self.i64()) }
    }

    /// A scalar or vector as an integer of the same width.
    pub fn as_int(&self, v: Val) -> Val {
        let t = v.ty();
        match t.kind() {
            TypeKind::LLVMIntegerTypeKind => v,
            TypeKind::LLVMPointerTypeKind => self.b.cast(Opcode::LLVMPtrToInt, v, self.i64()),
            _ => {
                let bits = self.unit.bits_of(t) as u32;
                self.b.cast(Opcode::LLVMBitCast, v, self.unit.int(bits))
            }
        }
    }

    /// Entry protocol, time, frame, by-value parameters.
    fn entry(&mut self, index: usize, first: Val) -> (Val, Option<Val>, Option<Val>) {
        let f = self.map.function;
        self.b.before(first);
        let location = first.debug_location().or_else(|| {
            f.subprogram().map(|s| crate::llvm::Meta::new_location(self.unit, s.subprogram_line(), s))
        });
        self.b.set_location(location);
        self.time = self.b.alloca(self.i64());
        self.sum = self.b.alloca(self.i64());
        if !self.map.landings.is_empty() {
            let desc = self.b.alloca(self.unit.ptr());
            self.landing = Some(Landing { desc, stack: self.b.alloca(self.i64()) });
        }
        let (linked, desc) = self.begin(index, f);
        let context = self.s.helpers.context();
        self.ctx = self.helper(&context, self.unit.ptr(), &[]);
        self.key = self.load_field(KEY);
        let t = self.load_field(TIME);
        let t = self.b.bin(Opcode::LLVMAdd, t, self.int(1));
        self.b.store(t, self.time);
        let h = self.load_field(SUM);
        self.b.store(h, self.sum);
        if self.model.variadic {
            let va = self.b.gep_bytes(self.unit, self.ctx, self.int(VA));
            let va = self.b.load(self.unit.ptr(), va);
            self.va = Some(self.b.select(linked, va, Val::const_null(self.unit.ptr())));
        }
        let stack = self.frame(f, linked);
        (linked, desc, stack)
    }

    /// The entry protocol. Returns whether the caller is instrumented, and the descriptor for the
    /// return protocol if it may not be.
    fn begin(&mut self, index: usize, f: Val) -> (Val, Option<Val>) {
        if self.s.private.contains(&f) {
            return (self.unit.const_int(1, 1), None);
        }
        let mut slots = Vec::new();
        for (n, p) in f.params().into_iter().enumerate() {
            // The address of a by-value copy has no meaning in replay.
            if f.attribute(n as u32 + 1, "byval").is_none() {
                slots.extend(self.slots(p));
            }
        }
        let desc = self.s.descriptors.function(index, slots.len(), &self.model.name);
        let begin = self.s.helpers.begin(slots.len());
        let mut args = vec![desc, f];
        args.extend(slots);
        let linked = self.helper(&begin, self.unit.int(1), &args);
        (linked, Some(desc))
    }

    /// Allocates the frame. Returns the stack pointer to restore, if it changes.
    fn frame(&mut self, f: Val, linked: Val) -> Option<Val> {
        let moves = self.model.code.iter().any(|i| matches!(i, Inst::Alloca { .. }));
        if self.model.frame_size == 0 && !moves {
            return None;
        }
        let old = self.load_field(STACK);
        if self.model.frame_size == 0 {
            return Some(old);
        }
        let base = self.b.bin(Opcode::LLVMSub, old, self.int(self.model.frame_size));
        let mask = (u64::from(self.model.frame_align)).wrapping_neg();
        let base = self.b.bin(Opcode::LLVMAnd, base, self.int(mask));
        self.store_field(STACK, base);
        let base = self.b.cast(Opcode::LLVMIntToPtr, base, self.unit.ptr());
        for (alloca, offset) in &self.map.frame {
            let p = self.b.gep_bytes(self.unit, base, self.int(*offset));
            alloca.replace_with(p);
        }
        let desc = self.s.descriptors.site(self.model.first_site, 0);
        let byval: Vec<(u64, u64)> = self
            .model
            .params
            .iter()
            .filter_map(|p| match p.ty {
                ArgTy::ByVal { size, .. } => Some((p.frame_offset, size)),
                ArgTy::Value(_) => None,
            })
            .collect();
        let native = f.params().into_iter().enumerate();
        let native = native.filter(|(n, _)| f.attribute(*n as u32 + 1, "byval").is_some());
        for ((offset, size), (_, p)) in byval.into_iter().zip(native.collect::<Vec<_>>()) {
            let to = self.b.gep_bytes(self.unit, base, self.int(offset));
            p.replace_with(to);
            let now = self.now();
            let flag = self.b.cast(Opcode::LLVMZExt, linked, self.unit.int(32));
            self.hook("__relapse_byval", &[self.ctx, desc, now, to, p, self.int(size), flag]);
        }
        Some(old)
    }

    fn leave(&mut self, ret: Val, linked: Val, desc: Option<Val>, stack: Option<Val>) {
        self.b.before(ret);
        if let Some(s) = stack {
            self.store_field(STACK, s);
        }
        self.synchronise();
        let Some(desc) = desc else { return };
        let end = self.s.helpers.end();
        let void = self.unit.void();
        self.helper(&end, void, &[linked, desc]);
    }

    /// Stores time and sum in the context, where callees read them.
    pub fn synchronise(&self) {
        let t = self.now();
        self.store_field(TIME, t);
        let h = self.b.load(self.i64(), self.sum);
        self.store_field(SUM, h);
    }

    /// Loads time and sum from the context after a call, and advances time.
    pub fn resume(&self) {
        let t = self.load_field(TIME);
        let t = self.b.bin(Opcode::LLVMAdd, t, self.int(1));
        self.b.store(t, self.time);
        let h = self.load_field(SUM);
        self.b.store(h, self.sum);
    }

    pub fn site(&self, i: Val) -> u32 {
        self.map.sites.get(&i).copied().unwrap_or(u32::MAX)
    }

    fn instruction(&mut self, i: Val) {
        use Opcode as O;
        match i.opcode() {
            O::LLVMAlloca => self.alloca(i),
            O::LLVMLoad => self.load(i),
            O::LLVMStore => self.store(i),
            O::LLVMAtomicRMW => self.rmw(i),
            O::LLVMAtomicCmpXchg => self.cmpxchg(i),
            O::LLVMCall | O::LLVMInvoke => self.call(i),
            O::LLVMLandingPad => self.landing_pad(i),
            _ if may_trap(i) => self.division(i),
            O::LLVMBr if i.is_conditional() => {
                self.b.before(i);
                let h = self.b.load(self.i64(), self.sum);
                let mixed = self.b.bin(O::LLVMAdd, h, self.int(Inst::branch_mix(self.site(i))));
                let h = self.b.select(i.condition(), mixed, h);
                self.b.store(h, self.sum);
            }
            _ => {}
        }
    }

    /// Pins a division. Replay traps if it has no result; the optimiser may sink it past a branch,
    /// delete it if the result is unused, or delete it if an earlier condition shows that it has no
    /// result.
    fn division(&mut self, i: Val) {
        let bits = i.ty().int_bits();
        if matches!(bits, 8 | 16 | 32 | 64) {
            self.b.before(i);
            let by = self.b.hide(self.unit, i.operand(1));
            i.set_operand(1, by);
        }
        self.after(i);
        let v = if bits > 64 { self.b.cast(Opcode::LLVMTrunc, i, self.i64()) } else { i };
        self.b.keep(self.unit, v);
    }

    fn alloca(&mut self, i: Val) {
        if self.map.frame.contains_key(&i) {
            i.erase();
            return;
        }
        self.b.before(i);
        let each = self.unit.size_of(i.allocated_type());
        let count = i.operand(0);
        let bits = count.ty().int_bits();
        let count = if bits < 64 { self.b.cast(Opcode::LLVMZExt, count, self.i64()) } else { count };
        let size = self.b.bin(Opcode::LLVMMul, count, self.int(each));
        let old = self.load_field(STACK);
        let at = self.b.bin(Opcode::LLVMSub, old, size);
        let mask = u64::from(i.alignment().max(16)).wrapping_neg();
        let at = self.b.bin(Opcode::LLVMAnd, at, self.int(mask));
        self.store_field(STACK, at);
        let p = self.b.cast(Opcode::LLVMIntToPtr, at, self.unit.ptr());
        i.replace_with(p);
        i.erase();
    }

    /// An array of slots on the machine stack, allocated in the entry block.
    pub fn buffer(&mut self, values: &[Val]) -> Val {
        let ty = self.unit.array_type(self.i64(), values.len().max(1) as u64);
        let here = self.unit.builder();
        let entry = self.map.function.blocks()[0];
        if let Some(first) = entry.instructions().first() {
            here.before(*first);
        }
        let a = here.alloca(ty);
        for (n, v) in values.iter().enumerate() {
            let p = self.b.gep_bytes(self.unit, a, self.int(8 * n as u64));
            self.b.store(*v, p);
        }
        a
    }

    /// The number of slots of a value of this type in the model.
    pub fn slot_count(&self, t: Typ) -> u32 {
        leaves(self.unit, t).map(|l| l.iter().map(|t| t.slots()).sum()).unwrap_or(0)
    }
}
