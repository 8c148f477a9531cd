//! Lowers calls: ordinary ones, intrinsics that the model computes, and values that only the
//! recording contains.

use super::function::{Lowering, nth};
use super::types::{arg_type, is_wide_vector, leaves, scalar, slots};
use crate::llvm::{TypeKind, Val};
use program::inst::{Arg, ArgTy, Call, Inst, Operand, Pure, Source, Ty};

/// Intrinsics without effect in the model.
const NO_EFFECT: &[&str] =
    &["llvm.va_end", "llvm.dbg.", "llvm.sideeffect", "llvm.annotation", "llvm.var.annotation"];

/// Functions that return a constant address per thread. They are called so often (every `isdigit`,
/// every `errno`) that an event per call would be wasteful.
const PER_THREAD: &[&str] = &[
    "__ctype_b_loc",
    "__ctype_tolower_loc",
    "__ctype_toupper_loc",
    "__errno_location",
    "__h_errno_location",
];

impl Lowering<'_> {
    pub fn call(&mut self, i: Val) -> Result<(), String> {
        if i.is_must_tail() {
            return Err("it has a guaranteed tail call".to_owned());
        }
        if i.bundle_count() > 0 {
            return Err("it has a call with operand bundles".to_owned());
        }
        if crate::assignments::is_mark(i) {
            let a = self.operand(i.operand(0))?;
            let dst = self.reg(i)?;
            for s in 0..slots(&leaves(self.unit, i.ty())?) {
                self.emit(Inst::Copy { dst: dst + s, a: nth(a, s) });
            }
            return Ok(());
        }
        let callee = i.called_value();
        if callee.is_inline_asm() {
            return self.unknown(i, Source::Asm(callee.inline_asm_text()));
        }
        if callee.is_function() && callee.name().starts_with("llvm.") {
            return self.intrinsic(i, &callee.name());
        }
        if callee.is_function()
            && callee.is_defined_elsewhere()
            && PER_THREAD.contains(&callee.name().as_str())
        {
            return self.thread_local_address(i, callee);
        }
        let ty = i.called_type();
        let mut args = Vec::new();
        for (n, v) in i.call_args().into_iter().enumerate() {
            let mut value = self.operand(v)?;
            for ty in arg_type(self.unit, i, true, n as u32, v.ty())? {
                args.push(Arg { value, ty });
                if let (Operand::Reg(r), ArgTy::Value(t)) = (value, ty) {
                    value = Operand::Reg(r + t.slots());
                }
            }
        }
        let variadic = if ty.is_variadic() {
            let fixed = ty.params().len();
            if i.call_args().iter().skip(fixed).any(|v| is_wide_vector(self.unit, v.ty())) {
                return Err("it passes a wide vector to a variadic function".to_owned());
            }
            let mut n = 0;
            for (k, v) in i.call_args().into_iter().take(fixed).enumerate() {
                n += arg_type(self.unit, i, true, k as u32, v.ty())?.len() as u32;
            }
            Some(n)
        } else {
            None
        };
        let returns_twice = i.call_attribute(u32::MAX, "returns_twice").is_some()
            || callee.is_function() && callee.attribute(u32::MAX, "returns_twice").is_some();
        self.returns_twice |= returns_twice;
        let ret = leaves(self.unit, i.ty())?;
        let dst = if ret.is_empty() { 0 } else { self.reg(i)? };
        let callee = self.operand(callee)?;
        self.emit_at(i, Inst::Call(Box::new(Call { callee, args, dst, ret, variadic, returns_twice })));
        Ok(())
    }

    /// The address of `of` (a variable, or the result of a function) in the current thread.
    fn thread_local_address(&mut self, i: Val, of: Val) -> Result<(), String> {
        let symbol = self.symbols.of(of, self.unit);
        self.thread_locals.insert(i, symbol);
        let dst = self.reg(i)?;
        self.emit_at(i, Inst::ThreadLocal { dst, symbol });
        Ok(())
    }

    fn unknown(&mut self, i: Val, source: Source) -> Result<(), String> {
        let ret = leaves(self.unit, i.ty())?;
        let mut args = Vec::new();
        for v in i.call_args() {
            if v.ty().kind() != TypeKind::LLVMMetadataTypeKind {
                args.push(self.operand(v)?);
            }
        }
        let dst = if ret.is_empty() { 0 } else { self.reg(i)? };
        self.emit_at(i, Inst::Unknown { dst, ret, args, source: Box::new(source) });
        Ok(())
    }

    fn intrinsic(&mut self, i: Val, name: &str) -> Result<(), String> {
        if NO_EFFECT.iter().any(|s| name.starts_with(s)) {
            return Ok(());
        }
        if name.starts_with("llvm.trap") || name.starts_with("llvm.ubsantrap") {
            self.trapped = true;
            return Ok(());
        }
        if name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.") {
            let (to, from) = (self.operand(i.operand(0))?, self.operand(i.operand(1))?);
            let len = self.operand(i.operand(2))?;
            self.emit_at(i, Inst::MemCopy { to, from, len });
            return Ok(());
        }
        if name.starts_with("llvm.memset.") {
            let (to, byte) = (self.operand(i.operand(0))?, self.operand(i.operand(1))?);
            let len = self.operand(i.operand(2))?;
            self.emit_at(i, Inst::MemSet { to, byte, len });
            return Ok(());
        }
        let one = |l: &mut Self, n| l.operand(i.operand(n));
        if name.starts_with("llvm.stacksave") {
            let dst = self.reg(i)?;
            self.emit_at(i, Inst::StackSave { dst });
            return Ok(());
        }
        if name.starts_with("llvm.stackrestore") {
            let a = one(self, 0)?;
            self.emit_at(i, Inst::StackRestore { a });
            return Ok(());
        }
        if name.starts_with("llvm.va_start") {
            let list = one(self, 0)?;
            self.emit_at(i, Inst::VaStart { list });
            return Ok(());
        }
        if name.starts_with("llvm.va_copy") {
            let (to, from) = (one(self, 0)?, one(self, 1)?);
            self.emit_at(i, Inst::VaCopy { to, from });
            return Ok(());
        }
        if name.starts_with("llvm.threadlocal.address") {
            return self.thread_local_address(i, i.operand(0));
        }
        if let Some((op, operands)) = pure(name) {
            let whole = i.operand(0).ty();
            let scalar_type = match whole.kind() {
                TypeKind::LLVMVectorTypeKind => None,
                _ => Some(scalar(self.unit, whole)?),
            };
            if let Some(ty) = scalar_type.filter(|ty| supported(op, *ty)) {
                let mut args = Vec::new();
                for n in 0..operands {
                    args.push(self.operand(i.operand(n))?);
                }
                let dst = self.reg(i)?;
                self.emit_at(i, Inst::Pure { op, ty, dst, args });
                return Ok(());
            }
        }
        if name.starts_with("llvm.eh.typeid.for") {
            // The linker assigns numbers to the types that are caught.
            return self.unknown(i, Source::Intrinsic(name.to_owned()));
        }
        for odd in ["llvm.eh.", "llvm.coro.", "llvm.gc.", "llvm.experimental.", "llvm.localescape"] {
            if name.starts_with(odd) {
                return Err(format!("it uses {name}"));
            }
        }
        self.unknown(i, Source::Intrinsic(name.to_owned()))
    }
}

/// Pure operations that replay computes exactly for this type. (The result of `minnum` for zeros of
/// both signs depends on the machine, so it is not in the table at all.)
fn supported(op: Pure, ty: Ty) -> bool {
    match op {
        Pure::FNeg | Pure::FAbs | Pure::CopySign | Pure::FpClass => true,
        _ => ty != Ty::Float(program::inst::FloatKind::F80),
    }
}

fn pure(name: &str) -> Option<(Pure, u32)> {
    let stem = name.strip_prefix("llvm.")?;
    let table: &[(&str, Pure, u32)] = &[
        ("bswap.", Pure::Bswap, 1),
        ("bitreverse.", Pure::BitReverse, 1),
        ("ctpop.", Pure::Ctpop, 1),
        ("ctlz.", Pure::Ctlz, 1),
        ("cttz.", Pure::Cttz, 1),
        ("abs.", Pure::Abs, 1),
        ("smin.", Pure::SMin, 2),
        ("smax.", Pure::SMax, 2),
        ("umin.", Pure::UMin, 2),
        ("umax.", Pure::UMax, 2),
        ("fshl.", Pure::Fshl, 3),
        ("fshr.", Pure::Fshr, 3),
        ("sadd.with.overflow.", Pure::SAddOverflow, 2),
        ("uadd.with.overflow.", Pure::UAddOverflow, 2),
        ("ssub.with.overflow.", Pure::SSubOverflow, 2),
        ("usub.with.overflow.", Pure::USubOverflow, 2),
        ("smul.with.overflow.", Pure::SMulOverflow, 2),
        ("umul.with.overflow.", Pure::UMulOverflow, 2),
        ("sadd.sat.", Pure::SAddSat, 2),
        ("uadd.sat.", Pure::UAddSat, 2),
        ("ssub.sat.", Pure::SSubSat, 2),
        ("usub.sat.", Pure::USubSat, 2),
        ("ptrmask.", Pure::PtrMask, 2),
        ("fabs.", Pure::FAbs, 1),
        ("sqrt.", Pure::Sqrt, 1),
        ("floor.", Pure::Floor, 1),
        ("ceil.", Pure::Ceil, 1),
        ("trunc.", Pure::FTrunc, 1),
        ("rint.", Pure::Rint, 1),
        ("nearbyint.", Pure::Rint, 1),
        ("round.", Pure::Round, 1),
        ("copysign.", Pure::CopySign, 2),
        ("fma.", Pure::Fma, 3),
        ("is.fpclass.", Pure::FpClass, 2),
    ];
    table.iter().find(|(p, _, _)| stem.starts_with(p)).map(|(_, op, n)| (*op, *n))
}
