//! Loads, stores and atomics.

use super::function::Instrument;
use crate::llvm::{IntPredicate, Opcode, RmwBinOp, Val};

/// Offsets up to this do not change the high bits of an address inside an object.
const MAX_FOLDED_OFFSET: u64 = 1 << 20;

impl Instrument<'_, '_> {
    /// Positions the builder right after an instruction.
    pub fn after(&self, i: Val) {
        let next = match i.opcode() {
            // That block has no other predecessor.
            Opcode::LLVMInvoke => i.normal_destination().first_non_phi(),
            _ => i.next_instruction(),
        };
        if let Some(next) = next {
            self.b.before(next);
        }
        self.b.set_location(i.debug_location());
    }

    pub fn load(&mut self, i: Val) {
        self.after(i);
        // One value for the check and for the program, even if the memory is uninitialised.
        let v = self.b.freeze(i);
        i.replace_with(v);
        v.set_operand(0, i);
        let int = self.as_int(v);
        let bits = self.unit.bits_of(i.ty()) as u32;
        let site = u64::from(self.site(i)) | u64::from(bits.div_ceil(8)) << 32;
        let check = self.s.helpers.check(bits);
        let now = self.now();
        let shadow = self.shadow(i.operand(0));
        let void = self.unit.void();
        self.helper(&check, void, &[self.ctx, now, shadow, int, self.int(site)]);
    }

    /// The shadow of an address. The key changes only high bits, so a small constant offset may be
    /// added after it: accesses through one pointer then share one `xor`.
    fn shadow(&self, p: Val) -> Val {
        let (mut base, mut offset) = (p, 0i64);
        while base.is_instruction() && base.opcode() == Opcode::LLVMGetElementPtr {
            let Some(more) = crate::lower::constant_gep(self.unit, base) else { break };
            let sum = offset.wrapping_add(more);
            if sum.unsigned_abs() > MAX_FOLDED_OFFSET {
                break;
            }
            (base, offset) = (base.operand(0), sum);
        }
        let at = self.b.cast(Opcode::LLVMPtrToInt, base, self.i64());
        let at = self.b.bin(Opcode::LLVMXor, at, self.key);
        let shadow = self.b.cast(Opcode::LLVMIntToPtr, at, self.unit.ptr());
        if offset == 0 {
            return shadow;
        }
        self.b.gep_bytes(self.unit, shadow, self.int(offset.cast_unsigned()))
    }

    pub fn store(&mut self, i: Val) {
        let (v, p) = (i.operand(0), i.operand(1));
        self.after(i);
        if i.is_atomic() {
            let slots = self.slots(v);
            let buffer = self.buffer(&slots);
            let size = self.unit.bits_of(v.ty()).div_ceil(8);
            self.hook("__relapse_atomic_store", &[self.ctx, p, buffer, self.int(size)]);
        } else {
            let shadow = self.shadow(p);
            let s = self.b.store(v, shadow);
            s.set_alignment(1);
        }
        let mut h = self.b.load(self.i64(), self.sum);
        for slot in self.slots(v) {
            h = self.b.bin(Opcode::LLVMAdd, h, slot);
        }
        self.b.store(h, self.sum);
    }

    pub fn rmw(&mut self, i: Val) {
        self.after(i);
        let (p, operand) = (i.operand(0), i.operand(1));
        let new = self.combined(i.rmw_op(), i, operand);
        let (old, new) = (self.slots(i), self.slots(new));
        let (old, new) = (self.buffer(&old), self.buffer(&new));
        self.atomic(i, p, i, old, new);
    }

    pub fn cmpxchg(&mut self, i: Val) {
        self.after(i);
        let p = i.operand(0);
        let value = self.b.extract(i, 0);
        let done = self.b.extract(i, 1);
        let (old, new) = (self.slots(value), self.slots(i.operand(2)));
        let (old, new) = (self.buffer(&old), self.buffer(&new));
        let new = self.b.select(done, new, Val::const_null(self.unit.ptr()));
        self.atomic(i, p, value, old, new);
    }

    fn atomic(&mut self, i: Val, p: Val, value: Val, old: Val, new: Val) {
        let size = self.unit.bits_of(value.ty()).div_ceil(8) as u32;
        let site = self.site(i);
        let desc = self.s.descriptors.site(site, size);
        let now = self.now();
        self.hook("__relapse_atomic", &[self.ctx, desc, now, p, old, new]);
    }

    /// The value in memory after an atomic operation.
    fn combined(&self, op: RmwBinOp, old: Val, operand: Val) -> Val {
        use RmwBinOp as B;
        let simple = |o| self.b.bin(o, old, operand);
        let pick = |p| {
            let c = self.b.icmp(p, old, operand);
            self.b.select(c, old, operand)
        };
        match op {
            B::LLVMAtomicRMWBinOpAdd => simple(Opcode::LLVMAdd),
            B::LLVMAtomicRMWBinOpSub => simple(Opcode::LLVMSub),
            B::LLVMAtomicRMWBinOpAnd => simple(Opcode::LLVMAnd),
            B::LLVMAtomicRMWBinOpOr => simple(Opcode::LLVMOr),
            B::LLVMAtomicRMWBinOpXor => simple(Opcode::LLVMXor),
            B::LLVMAtomicRMWBinOpNand => {
                let both = simple(Opcode::LLVMAnd);
                let ones = self.unit.const_int(both.ty().int_bits(), u64::MAX);
                self.b.bin(Opcode::LLVMXor, both, ones)
            }
            B::LLVMAtomicRMWBinOpMax => pick(IntPredicate::LLVMIntSGT),
            B::LLVMAtomicRMWBinOpMin => pick(IntPredicate::LLVMIntSLE),
            B::LLVMAtomicRMWBinOpUMax => pick(IntPredicate::LLVMIntUGT),
            B::LLVMAtomicRMWBinOpUMin => pick(IntPredicate::LLVMIntULE),
            _ => operand,
        }
    }
}
