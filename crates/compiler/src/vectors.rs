//! Expands vector operations that LLVM's scalarizer does not split, before it runs.
//!
//! The model would not see those that access memory, and a reduction would be a value that only the
//! recording contains:
//!
//! | before | after |
//! |---|---|
//! | masked load, gather, expanding load | a load of each element |
//! | masked store, scatter, compressing store | a store of each element |
//! | `vector.reduce.add` and its like | a chain of additions |
//!
//! A disabled element must not be accessed, since its address may be unmapped. No branch is needed:
//! its address is replaced by that of a spare slot of the frame. The remaining intrinsics of
//! specific processors (variable shuffles, saturating packs) are values in the recording; all of
//! them are functions of their operands.

use crate::llvm::{Builder, IntPredicate, Opcode, TypeKind, Unit, Val};

/// Expands the supported operations in all functions of the unit.
pub fn expand(unit: &Unit) {
    for f in unit.functions() {
        if f.is_declaration() {
            continue;
        }
        let mut expander = Expander { unit, b: unit.builder(), function: f, spare: None };
        for i in f.blocks().into_iter().flat_map(crate::llvm::Blk::instructions) {
            if i.opcode() != Opcode::LLVMCall || !i.called_value().is_function() {
                continue;
            }
            if let Some(name) = i.called_value().name().strip_prefix("llvm.") {
                expander.call(i, name);
            }
        }
    }
}

struct Expander<'u> {
    unit: &'u Unit,
    b: Builder,
    function: Val,
    /// The slot for accesses of disabled elements.
    spare: Option<Val>,
}

/// An access of each element, in terms of the operands of its call.
struct Access {
    /// Vector of conditions, or of elements whose sign bit is the condition.
    mask: Val,
    place: Place,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Place {
    /// Elements are contiguous.
    Contiguous(Val),
    /// Elements are contiguous, and disabled elements take no space.
    Compressed(Val),
    /// A vector of addresses.
    Each(Val),
    /// A base, a vector of indices, a factor.
    Indexed(Val, Val, Val),
}

#[derive(Clone, Copy)]
enum Kind {
    /// The values of disabled elements.
    Load(Val),
    /// The values to store.
    Store(Val),
}

impl Expander<'_> {
    fn call(&mut self, i: Val, name: &str) {
        if let Some(rest) = name.strip_prefix("vector.reduce.") {
            if let Some(result) = self.reduction(i, rest) {
                replace(i, result);
            }
        } else if let Some(access) = access(i, name) {
            self.access(i, &access);
        } else if name.starts_with("x86.avx.ldu.") || name.starts_with("x86.sse3.ldu.") {
            self.b.before(i);
            let v = self.b.load(i.ty(), i.operand(0));
            v.set_alignment(1);
            replace(i, v);
        }
    }

    fn lane(&self, v: Val, n: u32) -> Val {
        self.b.element(v, self.unit.const_int(32, u64::from(n)))
    }

    fn access(&mut self, i: Val, access: &Access) {
        let vector = match access.kind {
            Kind::Load(masked) => masked.ty(),
            Kind::Store(value) => value.ty(),
        };
        let lanes = vector.vector_len();
        let element = vector.element();
        // Forms whose vectors have different lengths are left to the recording.
        let fits = |v: Val| v.ty().kind() == TypeKind::LLVMVectorTypeKind && v.ty().vector_len() == lanes;
        let fitting = match access.place {
            Place::Each(v) | Place::Indexed(_, v, _) => fits(v),
            Place::Contiguous(_) | Place::Compressed(_) => true,
        };
        if !fitting || !fits(access.mask) || !matches!(self.unit.bits_of(element), 8 | 16 | 32 | 64) {
            return;
        }
        let spare = self.spare_slot();
        self.b.before(i);
        let size = self.unit.size_of(element);
        let mut result = Val::const_null(vector);
        let mut packed = self.unit.const_int(64, 0);
        for n in 0..lanes {
            let wanted = self.condition(access.mask, n);
            let at = match access.place {
                Place::Contiguous(p) => {
                    self.b.gep_bytes(self.unit, p, self.unit.const_int(64, size * u64::from(n)))
                }
                Place::Compressed(p) => {
                    let at = self.b.gep_bytes(self.unit, p, packed);
                    let one = self.b.cast(Opcode::LLVMZExt, wanted, self.unit.int(64));
                    let step = self.b.bin(Opcode::LLVMMul, one, self.unit.const_int(64, size));
                    packed = self.b.bin(Opcode::LLVMAdd, packed, step);
                    at
                }
                Place::Each(all) => self.lane(all, n),
                Place::Indexed(base, indices, scale) => {
                    let index = self.as_word(self.lane(indices, n), Opcode::LLVMSExt);
                    let scale = self.as_word(scale, Opcode::LLVMZExt);
                    let offset = self.b.bin(Opcode::LLVMMul, index, scale);
                    self.b.gep_bytes(self.unit, base, offset)
                }
            };
            let at = self.b.select(wanted, at, spare);
            match access.kind {
                Kind::Load(masked) => {
                    let v = self.b.load(element, at);
                    v.set_alignment(1);
                    let v = self.b.select(wanted, v, self.lane(masked, n));
                    result = self.b.with_element(result, v, self.unit.const_int(32, u64::from(n)));
                }
                Kind::Store(values) => {
                    self.b.store(self.lane(values, n), at).set_alignment(1);
                }
            }
        }
        match access.kind {
            Kind::Load(_) => replace(i, result),
            Kind::Store(_) => i.erase(),
        }
    }

    fn as_word(&self, v: Val, extend: Opcode) -> Val {
        if v.ty().int_bits() == 64 { v } else { self.b.cast(extend, v, self.unit.int(64)) }
    }

    /// Whether element `n` is enabled.
    fn condition(&self, mask: Val, n: u32) -> Val {
        let m = self.lane(mask, n);
        let bits = self.unit.bits_of(m.ty()) as u32;
        if bits == 1 {
            return m;
        }
        let int = self.unit.int(bits);
        let m = if m.ty() == int { m } else { self.b.cast(Opcode::LLVMBitCast, m, int) };
        self.b.icmp(IntPredicate::LLVMIntSLT, m, Val::const_null(int))
    }

    fn spare_slot(&mut self) -> Val {
        if let Some(spare) = self.spare {
            return spare;
        }
        let first = self.function.blocks().first().and_then(|b| b.instructions().first().copied());
        if let Some(first) = first {
            self.b.before(first);
        }
        let slot = self.b.alloca(self.unit.int(64));
        self.spare = Some(slot);
        slot
    }

    fn reduction(&self, i: Val, name: &str) -> Option<Val> {
        use IntPredicate as P;
        let (operation, _) = name.split_once('.')?;
        let vector = i.operand(i.call_args().len() as u32 - 1);
        let lanes = 0..vector.ty().vector_len();
        self.b.before(i);
        let bin = |op| move |a, b| self.b.bin(op, a, b);
        let least = |p| move |a, b| self.b.select(self.b.icmp(p, a, b), a, b);
        let fold = |join: &dyn Fn(Val, Val) -> Val| lanes.clone().map(|n| self.lane(vector, n)).reduce(join);
        match operation {
            "add" => fold(&bin(Opcode::LLVMAdd)),
            "mul" => fold(&bin(Opcode::LLVMMul)),
            "and" => fold(&bin(Opcode::LLVMAnd)),
            "or" => fold(&bin(Opcode::LLVMOr)),
            "xor" => fold(&bin(Opcode::LLVMXor)),
            "smin" => fold(&least(P::LLVMIntSLT)),
            "smax" => fold(&least(P::LLVMIntSGT)),
            "umin" => fold(&least(P::LLVMIntULT)),
            "umax" => fold(&least(P::LLVMIntUGT)),
            "fadd" | "fmul" => {
                let op = if operation == "fadd" { Opcode::LLVMFAdd } else { Opcode::LLVMFMul };
                let start = i.operand(0);
                let all: Vec<Val> = lanes.map(|n| self.lane(vector, n)).collect();
                if !i.may_reassociate() {
                    return Some(all.into_iter().fold(start, bin(op)));
                }
                // Combines upper and lower halves, as the code generator does.
                Some(self.b.bin(op, start, halves(all, &bin(op))?))
            }
            _ => None,
        }
    }
}

/// Combines the halves of a list elementwise until one element is left.
fn halves(mut all: Vec<Val>, join: &dyn Fn(Val, Val) -> Val) -> Option<Val> {
    while all.len() > 1 && all.len().is_multiple_of(2) {
        let upper = all.split_off(all.len() / 2);
        all = all.into_iter().zip(upper).map(|(a, b)| join(a, b)).collect();
    }
    all.into_iter().reduce(join)
}

fn replace(i: Val, by: Val) {
    i.replace_with(by);
    i.erase();
}

/// The access of an intrinsic; `None` if it is not supported.
fn access(i: Val, name: &str) -> Option<Access> {
    let o = |n| i.operand(n);
    let loads = |masked, place, mask| Some(Access { mask, place, kind: Kind::Load(masked) });
    let stores = |value, place, mask| Some(Access { mask, place, kind: Kind::Store(value) });
    let starts = |prefix: &str| name.starts_with(prefix);
    match i.call_args().len() {
        2 if starts("x86.avx.maskload.") || starts("x86.avx2.maskload.") => {
            loads(Val::const_null(i.ty()), Place::Contiguous(o(0)), o(1))
        }
        3 if starts("masked.load.") => loads(o(2), Place::Contiguous(o(0)), o(1)),
        3 if starts("masked.expandload.") => loads(o(2), Place::Compressed(o(0)), o(1)),
        3 if starts("masked.gather.") => loads(o(2), Place::Each(o(0)), o(1)),
        3 if starts("masked.store.") => stores(o(0), Place::Contiguous(o(1)), o(2)),
        3 if starts("masked.compressstore.") => stores(o(0), Place::Compressed(o(1)), o(2)),
        3 if starts("masked.scatter.") => stores(o(0), Place::Each(o(1)), o(2)),
        3 if starts("x86.avx.maskstore.") || starts("x86.avx2.maskstore.") => {
            stores(o(2), Place::Contiguous(o(0)), o(1))
        }
        3 if starts("x86.sse2.maskmov.dqu") => stores(o(0), Place::Contiguous(o(2)), o(1)),
        5 if starts("x86.avx2.gather.") || starts("x86.avx512.mask.gather") => {
            loads(o(0), Place::Indexed(o(1), o(2), o(4)), o(3))
        }
        5 if starts("x86.avx512.mask.scatter") => stores(o(3), Place::Indexed(o(0), o(2), o(4)), o(1)),
        _ => None,
    }
}
