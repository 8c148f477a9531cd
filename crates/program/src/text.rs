//! The model as readable text: the output of `relapse dump program`.
//!
//! A single instruction names symbols by number (`@3`); a listing uses their names (`@malloc`).
//! Definitions of values of more than one slot include the slot count: `r4:2`.

use crate::inst::{
    Arg, ArgTy, BinOp, CastOp, FloatKind, FloatOp, FloatPred, Inst, IntPred, Operand, Pure, RmwOp, Source, Ty,
};
use crate::model::Module;
use std::fmt::{self, Display, Formatter, Write};

mod listing;

pub use listing::{FunctionText, ModuleText};

/// An instruction or operand with the module that contains its symbols' names.
#[derive(Clone, Copy)]
pub(crate) struct Named<'a, T> {
    pub item: T,
    pub module: Option<&'a Module>,
}

impl Display for Inst {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Named { item: self, module: None }.fmt(f)
    }
}

impl Display for Operand {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Named { item: *self, module: None }.fmt(f)
    }
}

impl Display for Named<'_, Operand> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.item {
            Operand::Reg(r) => write!(f, "r{r}"),
            Operand::Const(c) if c < 1 << 20 => write!(f, "{c}"),
            // Small negative numbers of 64 bits. Narrower ones are zero-extended.
            Operand::Const(c) if c.cast_signed() > -(1 << 20) && c.cast_signed() < 0 => {
                write!(f, "{}", c.cast_signed())
            }
            Operand::Const(c) => write!(f, "{c:#x}"),
            Operand::Symbol { symbol, offset } => {
                match self.module.and_then(|m| m.symbols.get(symbol as usize)) {
                    Some(s) => write!(f, "@{}", s.name)?,
                    None => write!(f, "@{symbol}")?,
                }
                plus(f, offset)
            }
        }
    }
}

/// Writes `+n` or `-n`, or nothing for zero.
fn plus(f: &mut Formatter<'_>, offset: i64) -> fmt::Result {
    if offset == 0 { Ok(()) } else { write!(f, "{offset:+}") }
}

impl Display for Ty {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Ty::Int(bits) => write!(f, "i{bits}"),
            Ty::Ptr => f.write_str("ptr"),
            Ty::Float(kind) => kind.fmt(f),
        }
    }
}

impl Display for FloatKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FloatKind::F32 => "f32",
            FloatKind::F64 => "f64",
            FloatKind::F80 => "f80",
        })
    }
}

impl Display for ArgTy {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            ArgTy::Value(ty) => ty.fmt(f),
            ArgTy::ByVal { size, align } => write!(f, "byval({size}, align {align})"),
        }
    }
}

/// Types whose names here are their variant names in lower case.
macro_rules! lower_case_names {
    ($($ty:ty),*) => {$(
        impl Display for $ty {
            fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
                write!(LowerCase(f), "{self:?}")
            }
        }
    )*};
}

lower_case_names!(BinOp, FloatOp, IntPred, FloatPred, RmwOp);

struct LowerCase<'a, 'b>(&'a mut Formatter<'b>);

impl fmt::Write for LowerCase<'_, '_> {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        s.chars().try_for_each(|c| self.0.write_char(c.to_ascii_lowercase()))
    }
}

impl Display for CastOp {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        snake_case(f, &format!("{self:?}"))
    }
}

impl Display for Pure {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Pure::FNeg => f.write_str("fneg"),
            Pure::FAbs => f.write_str("fabs"),
            Pure::FTrunc => f.write_str("ftrunc"),
            Pure::SMin => f.write_str("smin"),
            Pure::SMax => f.write_str("smax"),
            Pure::UMin => f.write_str("umin"),
            Pure::UMax => f.write_str("umax"),
            Pure::BitReverse => f.write_str("bitreverse"),
            Pure::CopySign => f.write_str("copysign"),
            Pure::MinNum => f.write_str("minnum"),
            Pure::MaxNum => f.write_str("maxnum"),
            Pure::PtrMask => f.write_str("ptrmask"),
            // SAddOverflow: sadd_overflow
            _ => {
                let name = format!("{self:?}");
                match name.strip_suffix("Overflow").or_else(|| name.strip_suffix("Sat")) {
                    Some(stem) => {
                        let suffix = &name[stem.len()..];
                        write!(f, "{}_{}", stem.to_lowercase(), suffix.to_lowercase())
                    }
                    None => snake_case(f, &name),
                }
            }
        }
    }
}

fn snake_case(f: &mut Formatter<'_>, name: &str) -> fmt::Result {
    for (i, c) in name.chars().enumerate() {
        if c.is_ascii_uppercase() && i > 0 {
            f.write_char('_')?;
        }
        f.write_char(c.to_ascii_lowercase())?;
    }
    Ok(())
}

/// Items with a separator.
pub(crate) struct Joined<I>(pub I);

impl<I: Iterator<Item: Display> + Clone> Display for Joined<I> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (i, item) in self.0.clone().enumerate() {
            write!(f, "{}{item}", if i == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

impl Display for Named<'_, &Arg> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let value = Named { item: self.item.value, module: self.module };
        write!(f, "{} {value}", self.item.ty)
    }
}

impl Display for Named<'_, &Inst> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let op = |item: &Operand| Named { item: *item, module: self.module };
        if let Some((dst, slots)) = self.item.defines() {
            match slots {
                1 => write!(f, "r{dst} = ")?,
                _ => write!(f, "r{dst}:{slots} = ")?,
            }
        }
        match self.item {
            Inst::Bin { op: what, bits, a, b, .. } => write!(f, "{what}.i{bits} {}, {}", op(a), op(b)),
            Inst::Float { op: what, kind, a, b, .. } => write!(f, "f{what}.{kind} {}, {}", op(a), op(b)),
            Inst::ICmp { pred, bits, a, b, .. } => write!(f, "icmp.{pred}.i{bits} {}, {}", op(a), op(b)),
            Inst::FCmp { pred, kind, a, b, .. } => write!(f, "fcmp.{pred}.{kind} {}, {}", op(a), op(b)),
            Inst::Cast { op: what, from, to, a, .. } => write!(f, "{what}.{from}.{to} {}", op(a)),
            Inst::Pure { op: what, ty, args, .. } => {
                write!(f, "{what}.{ty} {}", Joined(args.iter().map(op)))
            }
            Inst::Select { cond, a, b, .. } => write!(f, "select {}, {}, {}", op(cond), op(a), op(b)),
            Inst::Copy { a, .. } => write!(f, "{}", op(a)),
            Inst::Address { base, index, index_bits, scale, offset, .. } => {
                write!(f, "address {}", op(base))?;
                if *scale != 0 && *index != Operand::Const(0) {
                    write!(f, " + {}.i{index_bits} * {scale}", op(index))?;
                }
                match offset {
                    0 => Ok(()),
                    _ => write!(f, " {} {}", if *offset < 0 { '-' } else { '+' }, offset.unsigned_abs()),
                }
            }
            Inst::Frame { offset, .. } => write!(f, "frame + {offset}"),
            Inst::Alloca { size, align, .. } => write!(f, "alloca {}, align {align}", op(size)),
            Inst::StackSave { .. } => f.write_str("stack_save"),
            Inst::StackRestore { a } => write!(f, "stack_restore {}", op(a)),
            Inst::Load { addr, ty, .. } => write!(f, "load.{ty} [{}]", op(addr)),
            Inst::Store { addr, value, ty } => write!(f, "store.{ty} [{}], {}", op(addr), op(value)),
            Inst::Rmw { op: what, addr, value, ty, .. } => {
                write!(f, "rmw.{what}.{ty} [{}], {}", op(addr), op(value))
            }
            Inst::CmpXchg { addr, expected, new, ty, .. } => {
                write!(f, "cmpxchg.{ty} [{}], {}, {}", op(addr), op(expected), op(new))
            }
            Inst::Fence => f.write_str("fence"),
            Inst::MemCopy { to, from, len } => write!(f, "copy [{}], [{}], {}", op(to), op(from), op(len)),
            Inst::MemSet { to, byte, len } => write!(f, "set [{}], {}, {}", op(to), op(byte), op(len)),
            Inst::Call(call) => {
                write!(f, "call {}(", op(&call.callee))?;
                let args = call.args.iter().map(|item| Named { item, module: self.module });
                match call.variadic {
                    None => write!(f, "{}", Joined(args))?,
                    Some(fixed) => {
                        let fixed = fixed as usize;
                        let (before, after) = (args.clone().take(fixed), args.skip(fixed));
                        let gap = if fixed == 0 { "" } else { ", " };
                        write!(f, "{}{gap}...", Joined(before))?;
                        after.into_iter().try_for_each(|arg| write!(f, ", {arg}"))?;
                    }
                }
                f.write_char(')')?;
                if !call.ret.is_empty() {
                    write!(f, " -> {}", Joined(call.ret.iter()))?;
                }
                f.write_str(if call.returns_twice { " returns_twice" } else { "" })
            }
            Inst::Landing { .. } => f.write_str("landing"),
            Inst::VaStart { list } => write!(f, "va_start [{}]", op(list)),
            Inst::VaCopy { to, from } => write!(f, "va_copy [{}], [{}]", op(to), op(from)),
            Inst::ThreadLocal { symbol, .. } => {
                write!(f, "thread_local {}", op(&Operand::Symbol { symbol: *symbol, offset: 0 }))
            }
            Inst::Unknown { ret, args, source, .. } => {
                let (kind, text) = match &**source {
                    Source::Asm(text) => ("asm", text),
                    Source::Intrinsic(name) => ("intrinsic", name),
                };
                write!(f, "unknown {kind} {text:?}({})", Joined(args.iter().map(op)))?;
                match ret.is_empty() {
                    true => Ok(()),
                    false => write!(f, " -> {}", Joined(ret.iter())),
                }
            }
            Inst::Tick => f.write_str("tick"),
            Inst::Jump { to } => write!(f, "jump b{to}"),
            Inst::Branch { cond, then, otherwise } => {
                write!(f, "branch {}, b{then}, b{otherwise}", op(cond))
            }
            Inst::Switch { bits, value, default, cases } => {
                write!(f, "switch.i{bits} {} {{ ", op(value))?;
                for (case, to) in cases {
                    write!(f, "{}: b{to}, ", op(&Operand::Const(*case)))?;
                }
                write!(f, "else: b{default} }}")
            }
            Inst::Return { value: None, .. } => f.write_str("return"),
            Inst::Return { value: Some(value), ret } => {
                write!(f, "return {} {}", Joined(ret.iter()), op(value))
            }
            Inst::Trap => f.write_str("trap"),
            Inst::Unreachable => f.write_str("unreachable"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inst::Call;

    #[test]
    fn instructions_read_well() {
        let (r1, r2, c) = (Operand::Reg(1), Operand::Reg(2), Operand::Const(1));
        let call = Call {
            callee: Operand::Symbol { symbol: 3, offset: 0 },
            args: vec![
                Arg { value: r1, ty: ArgTy::Value(Ty::Ptr) },
                Arg { value: c, ty: ArgTy::Value(Ty::Int(32)) },
            ],
            dst: 5,
            ret: vec![Ty::Int(32)],
            variadic: Some(1),
            returns_twice: false,
        };
        let cases = [
            (
                Inst::Float { op: FloatOp::Add, kind: FloatKind::F80, dst: 4, a: r1, b: r2 },
                "r4:2 = fadd.f80 r1, r2",
            ),
            (Inst::ICmp { pred: IntPred::Slt, bits: 8, dst: 4, a: r1, b: c }, "r4 = icmp.slt.i8 r1, 1"),
            (
                Inst::Cast {
                    op: CastOp::FpToSi,
                    from: Ty::Float(FloatKind::F32),
                    to: Ty::Int(64),
                    dst: 0,
                    a: r1,
                },
                "r0 = fp_to_si.f32.i64 r1",
            ),
            (
                Inst::Pure { op: Pure::SAddOverflow, ty: Ty::Int(32), dst: 6, args: vec![r1, c] },
                "r6:2 = sadd_overflow.i32 r1, 1",
            ),
            (
                Inst::Address { dst: 1, base: r1, index: r2, index_bits: 32, scale: 4, offset: -8 },
                "r1 = address r1 + r2.i32 * 4 - 8",
            ),
            (
                Inst::Store { addr: Operand::Symbol { symbol: 2, offset: 16 }, value: c, ty: Ty::Ptr },
                "store.ptr [@2+16], 1",
            ),
            (Inst::Call(Box::new(call)), "r5 = call @3(ptr r1, ..., i32 1) -> i32"),
            (
                Inst::Switch { bits: 32, value: r1, default: 2, cases: vec![(7, 1)] },
                "switch.i32 r1 { 7: b1, else: b2 }",
            ),
            (Inst::Return { value: Some(r1), ret: vec![Ty::Ptr] }, "return ptr r1"),
            (Inst::Copy { dst: 0, a: Operand::Const(u64::MAX) }, "r0 = -1"),
            (Inst::Copy { dst: 0, a: Operand::Const(0xdead_beef) }, "r0 = 0xdeadbeef"),
        ];
        for (inst, text) in cases {
            assert_eq!(inst.to_string(), text);
        }
    }
}
