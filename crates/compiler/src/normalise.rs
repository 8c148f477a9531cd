//! Makes every instruction's outcome a function of its operands, and reduces the IR to the forms of
//! the model.
//!
//! LLVM leaves many cases undefined: poison from overflow flags, shifts past the width, conversions
//! that do not fit, reads of uninitialised registers. The optimiser may then choose one outcome in
//! the check and another in the program. Replay must compute the same outcome, so every case must
//! be defined:
//!
//! | before | after |
//! |---|---|
//! | `add nsw i32 %a, %b` | `add i32 %a, %b` |
//! | `shl i32 %a, %n` | `shl i32 %a, (and %n, 31)` |
//! | `fptosi double %x to i32` | `select (in range), (fptosi %x), INT_MIN` |
//! | operand `undef` or `poison` | zero |
//! | `indirectbr ptr %p, [...]` | `switch` over small numbers |
//! | `load { i64, i64 }` | two loads |
//! | small constant `memcpy` | loads and stores |
//! | `fmuladd` | `fmul`, `fadd` |
//! | `fdiv double 0.0, 0.0` | `fdiv double NaN, 0.0` |
//!
//! Only promotion of locals to registers runs before lowering. Passes that merge, fold or move code
//! lose provenance: after common subexpression elimination, the second of two equal expressions has
//! no instruction of its own; after scalar replacement of aggregates, `memcpy` between locals has
//! none; after joining straight-line blocks, `break` has none. Such passes run after
//! instrumentation, when the model already exists. Promotion itself keeps a definition of each
//! assignment, see [`assignments`], and the value of each variable until the end of its scope, see
//! [`scopes`].

use crate::llvm::{Blk, Builder, Linkage, Opcode, RealPredicate, Typ, TypeKind, Unit, Val};
use crate::{assignments, divisions, invokes, nans, scopes, vectors};
use std::collections::HashMap;

/// Copies and fills up to this size become loads and stores.
const INLINE_COPY: u64 = 64;

const FUNCTION: u32 = u32::MAX;

/// Attributes that are invalid after instrumentation, or whose violation would be undefined
/// behaviour that replay does not share.
const STRIPPED: &[&str] = &[
    "memory",
    "nosync",
    "willreturn",
    "mustprogress",
    "nocallback",
    "nofree",
    "norecurse",
    "speculatable",
    "allockind",
    "allocsize",
    "noundef",
    "nonnull",
    "dereferenceable",
    "dereferenceable_or_null",
    "range",
    "returned",
    "readonly",
    "readnone",
    "writeonly",
    "captures",
    "initializes",
    "nofpclass",
    "noalias",
    "dead_on_return",
    "dead_on_unwind",
    "writable",
];

pub fn run(unit: &Unit) -> Result<(), String> {
    for f in unit.functions() {
        internalise(f);
        if !f.is_declaration() {
            replace_indirect_branches(unit, f);
            divisions::delete_unused_divisions(f);
            invokes::simplify(unit, f);
        }
        strip_attributes(unit, f);
    }
    unit.run_passes("function(unreachableblockelim)")?;
    assignments::mark(unit);
    scopes::extend(unit);
    unit.run_passes("function(mem2reg,lower-constant-intrinsics)")?;
    assignments::remove_redundant_marks(unit);
    if uses_vectors(unit) {
        vectors::expand(unit);
        // Vector variables are reassembled, since they are used as vectors in their scopes.
        unit.run_passes("function(scalarizer<load-store>,dce)")?;
    }
    scopes::clear(unit);
    for f in unit.functions() {
        if !f.is_declaration() {
            Normaliser { unit, b: unit.builder() }.function(f);
        }
    }
    Ok(())
}

/// Makes `available_externally` functions internal. Their code is also in another unit or library:
/// C99 inline functions, and templates that the C++ library has instantiated. The optimiser may
/// inline a call or not; as internal functions they are modelled in either case. Functions of the C
/// library that C headers define in this form are excluded, because the table of externals
/// describes them. Functions that must not be inlined (`-fno-inline`) remain calls of the external
/// code, for which a linker extracts an archive member.
fn internalise(f: Val) {
    let looked_at =
        f.linkage() == Linkage::LLVMAvailableExternallyLinkage && f.attribute(FUNCTION, "noinline").is_none();
    if looked_at && externals::find(&f.name()).is_none() {
        f.set_linkage(Linkage::LLVMInternalLinkage);
    }
}

fn strip_attributes(unit: &Unit, f: Val) {
    if f.name().starts_with("llvm.") {
        return;
    }
    let n = f.params().len() as u32;
    for name in STRIPPED {
        for index in (0..=n).chain([FUNCTION]) {
            f.remove_attribute(index, name);
        }
    }
    if !f.is_declaration() {
        // A null dereference is a crash to record, and not undefined behaviour.
        f.add_attribute(FUNCTION, unit.enum_attribute("null_pointer_is_valid", 0));
    }
}

fn uses_vectors(unit: &Unit) -> bool {
    unit.functions().iter().flat_map(|f| f.blocks()).flat_map(Blk::instructions).any(|i| {
        i.ty().kind() == TypeKind::LLVMVectorTypeKind
            || i.operands().iter().any(|o| o.ty().kind() == TypeKind::LLVMVectorTypeKind)
    })
}

/// Replaces `indirectbr` by `switch`. The addresses of labels become numbers from 1, which only an
/// `indirectbr` of the same function may interpret.
fn replace_indirect_branches(unit: &Unit, f: Val) {
    let mut numbers: HashMap<Blk, u64> = HashMap::new();
    let branches: Vec<Val> = f
        .blocks()
        .into_iter()
        .filter_map(Blk::terminator)
        .filter(|t| t.opcode() == Opcode::LLVMIndirectBr)
        .collect();
    if branches.is_empty() {
        return;
    }
    for br in &branches {
        for target in br.successors() {
            let next = numbers.len() as u64 + 1;
            numbers.entry(target).or_insert(next);
        }
    }
    let b = unit.builder();
    for (blk, number) in &numbers {
        let n = unit.const_int(64, *number);
        let address = blk.address_of(f);
        address.replace_with(n.const_int_to_ptr(unit.ptr()));
    }
    for br in branches {
        b.before(br);
        let v = b.cast(Opcode::LLVMPtrToInt, br.operand(0), unit.int(64));
        let mut targets = br.successors();
        targets.dedup();
        let mut seen = std::collections::HashSet::new();
        targets.retain(|t| seen.insert(*t));
        let cases: Vec<_> = targets.iter().map(|t| (unit.const_int(64, numbers[t]), *t)).collect();
        let from = br.parent();
        // A phi in a target has one entry per edge; the switch has one edge to it.
        for t in &targets {
            t.dedup_incoming(from, unit);
        }
        let trap = unit.append_block(f, "no.label");
        b.before(br);
        b.switch(v, trap, &cases);
        br.erase();
        b.at_end(trap);
        b.unreachable();
    }
}

struct Normaliser<'u> {
    unit: &'u Unit,
    b: Builder,
}

impl Normaliser<'_> {
    fn function(&self, f: Val) {
        for blk in f.blocks() {
            for i in blk.instructions() {
                self.operands(i);
                i.strip_flags();
                nans::fold_nan_operand(&self.b, f, i);
                self.instruction(i);
            }
        }
    }

    /// Replaces `undef` and `poison` operands by zero.
    fn operands(&self, i: Val) {
        for n in 0..i.operand_count() {
            let o = i.operand(n);
            if o.is_constant() && o.is_undef() {
                i.set_operand(n, Val::const_null(o.ty()));
            }
        }
    }

    fn instruction(&self, i: Val) {
        match i.opcode() {
            Opcode::LLVMFreeze => {
                i.replace_with(i.operand(0));
                i.erase();
            }
            Opcode::LLVMShl | Opcode::LLVMLShr | Opcode::LLVMAShr => self.shift(i),
            Opcode::LLVMFPToSI => self.to_int(i, true),
            Opcode::LLVMFPToUI => self.to_int(i, false),
            Opcode::LLVMLoad => {
                for kind in ["range", "nonnull", "noundef", "invariant.load", "align", "dereferenceable"] {
                    i.clear_metadata(self.unit.md_kind(kind));
                }
                if is_aggregate(i.ty()) && !i.is_atomic() {
                    self.split_load(i);
                }
            }
            Opcode::LLVMStore if is_aggregate(i.operand(0).ty()) && !i.is_atomic() => self.split_store(i),
            Opcode::LLVMBr | Opcode::LLVMSwitch => i.clear_metadata(self.unit.md_kind("llvm.loop")),
            Opcode::LLVMCall | Opcode::LLVMInvoke => self.call(i),
            _ => {}
        }
    }

    fn shift(&self, i: Val) {
        let t = i.ty();
        if t.kind() != TypeKind::LLVMIntegerTypeKind {
            return;
        }
        let bits = t.int_bits();
        let n = i.operand(1);
        if n.is_const_int() && bits <= 64 && n.zext_value() < u64::from(bits) {
            return;
        }
        self.b.before(i);
        let amount = if bits.is_power_of_two() {
            self.b.bin(Opcode::LLVMAnd, n, self.unit.const_int(bits, u64::from(bits) - 1))
        } else {
            self.b.bin(Opcode::LLVMURem, n, self.unit.const_int(bits, u64::from(bits)))
        };
        i.set_operand(1, amount);
    }

    fn to_int(&self, i: Val, signed: bool) {
        let (x, t) = (i.operand(0), i.ty());
        if t.kind() != TypeKind::LLVMIntegerTypeKind || t.int_bits() > 64 {
            return;
        }
        let bits = t.int_bits();
        let power = |e: u32| Val::const_real(x.ty(), 2f64.powi(e.cast_signed()));
        self.b.before(i);
        let (low, high) = if signed {
            let low = Val::const_real(x.ty(), -(2f64.powi(bits.cast_signed() - 1)));
            (self.b.fcmp(RealPredicate::LLVMRealOGE, x, low), power(bits - 1))
        } else {
            let low = Val::const_real(x.ty(), -1.0);
            (self.b.fcmp(RealPredicate::LLVMRealOGT, x, low), power(bits))
        };
        let below = self.b.fcmp(RealPredicate::LLVMRealOLT, x, high);
        let fits = self.b.bin(Opcode::LLVMAnd, low, below);
        let op = if signed { Opcode::LLVMFPToSI } else { Opcode::LLVMFPToUI };
        let r = self.b.cast(op, x, t);
        let s = self.b.select(fits, r, self.unit.const_int(bits, 1 << (bits - 1)));
        i.replace_with(s);
        i.erase();
    }

    fn split_load(&self, i: Val) {
        self.b.before(i);
        let whole = self.load_parts(i.ty(), i.operand(0), i.is_volatile());
        i.replace_with(whole);
        i.erase();
    }

    fn load_parts(&self, t: Typ, p: Val, volatile: bool) -> Val {
        if !is_aggregate(t) {
            let v = self.b.load(t, p);
            v.set_alignment(1);
            v.set_volatile(volatile);
            return v;
        }
        let mut whole = Val::const_null(t);
        for (n, (element, offset)) in elements(self.unit, t).into_iter().enumerate() {
            let q = self.b.gep_bytes(self.unit, p, self.unit.const_int(64, offset));
            let part = self.load_parts(element, q, volatile);
            whole = self.b.insert(whole, part, n as u32);
        }
        whole
    }

    fn split_store(&self, i: Val) {
        self.b.before(i);
        self.store_parts(i.operand(0), i.operand(1), i.is_volatile());
        i.erase();
    }

    fn store_parts(&self, v: Val, p: Val, volatile: bool) {
        if !is_aggregate(v.ty()) {
            let s = self.b.store(v, p);
            s.set_alignment(1);
            s.set_volatile(volatile);
            return;
        }
        for (n, (_, offset)) in elements(self.unit, v.ty()).into_iter().enumerate() {
            let part = self.b.extract(v, n as u32);
            let q = self.b.gep_bytes(self.unit, p, self.unit.const_int(64, offset));
            self.store_parts(part, q, volatile);
        }
    }

    fn call(&self, i: Val) {
        let callee = i.called_value();
        let invoked = i.opcode() == Opcode::LLVMInvoke;
        if invoked || !callee.is_function() || !callee.name().starts_with("llvm.") {
            let n = i.call_args().len() as u32;
            for name in STRIPPED {
                for index in (0..=n).chain([FUNCTION]) {
                    i.remove_call_attribute(index, name);
                }
            }
            return;
        }
        let name = callee.name();
        let starts = |p: &str| name.starts_with(p);
        if starts("llvm.lifetime.")
            || starts("llvm.assume")
            || starts("llvm.invariant.")
            || starts("llvm.prefetch")
            || starts("llvm.experimental.noalias")
            || starts("llvm.donothing")
            || starts("llvm.pseudoprobe")
        {
            if i.has_uses() {
                i.replace_with(Val::const_null(i.ty()));
            }
            i.erase();
        } else if starts("llvm.expect.")
            || starts("llvm.ssa.copy")
            || starts("llvm.ptr.annotation")
            || starts("llvm.launder.invariant")
            || starts("llvm.strip.invariant")
            || starts("llvm.arithmetic.fence")
        {
            i.replace_with(i.operand(0));
            i.erase();
        } else if starts("llvm.fmuladd.") {
            self.b.before(i);
            let product = self.b.bin(Opcode::LLVMFMul, i.operand(0), i.operand(1));
            let sum = self.b.bin(Opcode::LLVMFAdd, product, i.operand(2));
            i.replace_with(sum);
            i.erase();
        } else if starts("llvm.ctlz.") || starts("llvm.cttz.") || starts("llvm.abs.") {
            // Zero, or the minimum integer, must have a defined outcome too.
            i.set_operand(1, self.unit.const_int(1, 0));
        } else if starts("llvm.memcpy.") || starts("llvm.memmove.") {
            self.small_copy(i);
        } else if starts("llvm.memset.") {
            self.small_fill(i);
        }
    }

    fn constant_length(&self, i: Val) -> Option<u64> {
        let len = i.operand(2);
        let volatile = i.operand(3);
        (len.is_const_int() && len.zext_value() <= INLINE_COPY && volatile.zext_value() == 0)
            .then(|| len.zext_value())
    }

    fn small_copy(&self, i: Val) {
        let Some(len) = self.constant_length(i) else { return };
        self.b.before(i);
        let parts: Vec<(u64, Val)> = chunks(len)
            .map(|(offset, size)| {
                let p = self.b.gep_bytes(self.unit, i.operand(1), self.unit.const_int(64, offset));
                let v = self.b.load(self.unit.int(8 * size), p);
                v.set_alignment(1);
                (offset, v)
            })
            .collect();
        for (offset, v) in parts {
            let p = self.b.gep_bytes(self.unit, i.operand(0), self.unit.const_int(64, offset));
            self.b.store(v, p).set_alignment(1);
        }
        i.erase();
    }

    fn small_fill(&self, i: Val) {
        let Some(len) = self.constant_length(i) else { return };
        self.b.before(i);
        for (offset, size) in chunks(len) {
            let t = self.unit.int(8 * size);
            let byte = i.operand(1);
            let v = if byte.is_const_int() {
                self.unit.const_int(8 * size, byte.zext_value().wrapping_mul(0x0101_0101_0101_0101))
            } else if size == 1 {
                byte
            } else {
                let wide = self.b.cast(Opcode::LLVMZExt, byte, t);
                self.b.bin(Opcode::LLVMMul, wide, self.unit.const_int(8 * size, 0x0101_0101_0101_0101))
            };
            let p = self.b.gep_bytes(self.unit, i.operand(0), self.unit.const_int(64, offset));
            self.b.store(v, p).set_alignment(1);
        }
        i.erase();
    }
}

/// Offsets and sizes of the parts of a small copy, each as wide as possible.
fn chunks(len: u64) -> impl Iterator<Item = (u64, u32)> {
    let mut offset = 0;
    std::iter::from_fn(move || {
        let size = [8u64, 4, 2, 1].into_iter().find(|s| *s <= len - offset)?;
        let piece = (offset, size as u32);
        offset += size;
        Some(piece)
    })
}

pub fn is_aggregate(t: Typ) -> bool {
    matches!(t.kind(), TypeKind::LLVMStructTypeKind | TypeKind::LLVMArrayTypeKind)
}

/// Direct elements of an aggregate with their byte offsets.
pub fn elements(unit: &Unit, t: Typ) -> Vec<(Typ, u64)> {
    match t.kind() {
        TypeKind::LLVMStructTypeKind => t
            .struct_elements()
            .into_iter()
            .enumerate()
            .map(|(i, e)| (e, unit.element_offset(t, i as u32)))
            .collect(),
        TypeKind::LLVMArrayTypeKind => {
            let e = t.element();
            let size = unit.size_of(e);
            (0..t.array_len()).map(|i| (e, i * size)).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::chunks;

    #[test]
    fn chunks_cover_the_length_without_gaps() {
        for len in 0..=64 {
            let mut at = 0;
            for (offset, size) in chunks(len) {
                assert_eq!(offset, at);
                at += u64::from(size);
            }
            assert_eq!(at, len);
        }
    }
}
