//! Instructions and operands of the model.
//!
//! The set is small on purpose: LLVM IR constructs with the same meaning are lowered to one
//! instruction. Arithmetic wraps (the compiler strips every flag that would make a result poison),
//! shift amounts are taken modulo the width, and a float that does not fit converts to the integer
//! with only its sign bit set. Each instruction therefore has exactly one outcome, and replay is
//! exact.

use serde::{Deserialize, Serialize};

/// A 64-bit register slot of a function.
pub type Reg = u32;

/// Index of a block in its function.
pub type BlockId = u32;

/// An operand of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Operand {
    /// The slot of a value, or the first of its slots.
    Reg(Reg),
    /// A constant of one slot, zero-extended.
    Const(u64),
    /// Address of the module's symbol plus an offset.
    Symbol { symbol: u32, offset: i64 },
}

/// The floating-point formats of C on x86-64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FloatKind {
    F32,
    F64,
    /// x87 extended precision, two slots.
    F80,
}

/// Type of a value in a register or in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Ty {
    /// 1 to 128 bits.
    Int(u16),
    Ptr,
    Float(FloatKind),
}

impl Ty {
    /// The number of register slots of a value of this type.
    #[must_use]
    pub fn slots(self) -> u32 {
        match self {
            Ty::Int(bits) if bits > 64 => 2,
            Ty::Float(FloatKind::F80) => 2,
            _ => 1,
        }
    }

    /// The number of bytes that a load or store of this type accesses.
    #[must_use]
    pub fn bytes(self) -> u32 {
        match self {
            Ty::Int(bits) => u32::from(bits).div_ceil(8),
            Ty::Ptr | Ty::Float(FloatKind::F64) => 8,
            Ty::Float(FloatKind::F32) => 4,
            Ty::Float(FloatKind::F80) => 10,
        }
    }

    /// Width in bits.
    #[must_use]
    pub fn bits(self) -> u16 {
        match self {
            Ty::Int(bits) => bits,
            Ty::Ptr | Ty::Float(FloatKind::F64) => 64,
            Ty::Float(FloatKind::F32) => 32,
            Ty::Float(FloatKind::F80) => 80,
        }
    }
}

/// Integer arithmetic on two operands of equal width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BinOp {
    Add,
    Sub,
    Mul,
    UDiv,
    SDiv,
    URem,
    SRem,
    Shl,
    LShr,
    AShr,
    And,
    Or,
    Xor,
}

/// Float arithmetic; rounds to nearest, ties to even.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FloatOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
}

/// Integer comparisons: `U` unsigned, `S` signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum IntPred {
    Eq,
    Ne,
    Ugt,
    Uge,
    Ult,
    Ule,
    Sgt,
    Sge,
    Slt,
    Sle,
}

/// Float predicates as in LLVM: `O` ordered, `U` true if unordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FloatPred {
    False,
    Oeq,
    Ogt,
    Oge,
    Olt,
    Ole,
    One,
    Ord,
    Uno,
    Ueq,
    Ugt,
    Uge,
    Ult,
    Ule,
    Une,
    True,
}

/// Conversions of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum CastOp {
    /// To fewer bits.
    Trunc,
    Zext,
    Sext,
    /// float to narrower float
    FpTrunc,
    FpExt,
    FpToUi,
    FpToSi,
    UiToFp,
    SiToFp,
    /// A bit cast: same bits, other type (also between int and pointer of 64 bits).
    Bits,
}

/// Pure operations that LLVM represents as intrinsics. The `*Overflow` forms write the result and,
/// in the next slot, the overflow bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Pure {
    Bswap,
    BitReverse,
    Ctpop,
    Ctlz,
    Cttz,
    Abs,
    SMin,
    SMax,
    UMin,
    UMax,
    /// Funnel shifts: three operands.
    Fshl,
    Fshr,
    SAddOverflow,
    UAddOverflow,
    SSubOverflow,
    USubOverflow,
    SMulOverflow,
    UMulOverflow,
    SAddSat,
    UAddSat,
    SSubSat,
    USubSat,
    /// Clears the bits of the first operand that are not set in the second.
    PtrMask,
    FNeg,
    FAbs,
    Sqrt,
    Floor,
    Ceil,
    FTrunc,
    /// Round half to even.
    Rint,
    /// Round half away from zero.
    Round,
    CopySign,
    MinNum,
    MaxNum,
    Fma,
    /// `is.fpclass`: the second operand is the class mask.
    FpClass,
}

/// The operation of an atomic read-modify-write: computes the stored value from the old value and
/// the operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RmwOp {
    Xchg,
    Add,
    Sub,
    And,
    Nand,
    Or,
    Xor,
    Max,
    Min,
    UMax,
    UMin,
}

/// One argument of a call, or one parameter of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ArgTy {
    Value(Ty),
    /// The callee gets a copy of this many bytes. The operand is the address of the original.
    ByVal {
        size: u64,
        align: u32,
    },
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arg {
    pub value: Operand,
    pub ty: ArgTy,
}

/// A call, direct or through a pointer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// Address of the callee. A direct call has a `Symbol`.
    pub callee: Operand,
    pub args: Vec<Arg>,
    /// First slot of the result.
    pub dst: Reg,
    /// Scalar leaves of the result type, in order. Empty for `void`.
    pub ret: Vec<Ty>,
    /// Number of fixed parameters when the callee is variadic.
    pub variadic: Option<u32>,
    /// Whether the callee returns twice (`setjmp` and similar).
    pub returns_twice: bool,
}

/// The number of slots of an [`Inst::Landing`].
pub const LANDING_SLOTS: u32 = 3;

/// The origin of an [`Inst::Unknown`] value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Source {
    /// Inline assembly, with its text.
    Asm(String),
    /// An LLVM intrinsic whose result replay cannot compute.
    Intrinsic(String),
}

/// One instruction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Inst {
    Bin {
        op: BinOp,
        bits: u16,
        dst: Reg,
        a: Operand,
        b: Operand,
    },
    Float {
        op: FloatOp,
        kind: FloatKind,
        dst: Reg,
        a: Operand,
        b: Operand,
    },
    ICmp {
        pred: IntPred,
        bits: u16,
        dst: Reg,
        a: Operand,
        b: Operand,
    },
    FCmp {
        pred: FloatPred,
        kind: FloatKind,
        dst: Reg,
        a: Operand,
        b: Operand,
    },
    Cast {
        op: CastOp,
        from: Ty,
        to: Ty,
        dst: Reg,
        a: Operand,
    },
    Pure {
        op: Pure,
        ty: Ty,
        dst: Reg,
        args: Vec<Operand>,
    },
    /// Copies `slots` slots from `a` or, if the condition is false, from `b`. With more than one
    /// slot both operands are registers.
    Select {
        slots: u32,
        dst: Reg,
        cond: Operand,
        a: Operand,
        b: Operand,
    },
    /// Copies one slot.
    Copy {
        dst: Reg,
        a: Operand,
    },
    /// `base + sext(index) * scale + offset`
    Address {
        dst: Reg,
        base: Operand,
        index: Operand,
        index_bits: u16,
        scale: i64,
        offset: i64,
    },
    /// Address of a fixed offset in the function's frame: `frame base + offset`.
    Frame {
        dst: Reg,
        offset: u64,
    },
    /// Grows the frame: `stack pointer -= size; stack pointer &= -align`.
    Alloca {
        dst: Reg,
        size: Operand,
        align: u32,
    },
    StackSave {
        dst: Reg,
    },
    StackRestore {
        a: Operand,
    },
    /// The shadow may not predict the value (a miss): see the recording format.
    Load {
        dst: Reg,
        addr: Operand,
        ty: Ty,
    },
    /// Stores a value and adds its slots to the checksum.
    Store {
        addr: Operand,
        value: Operand,
        ty: Ty,
    },
    Rmw {
        op: RmwOp,
        dst: Reg,
        addr: Operand,
        value: Operand,
        ty: Ty,
    },
    /// `dst` gets the old value. The next slot records whether the exchange happened.
    CmpXchg {
        dst: Reg,
        addr: Operand,
        expected: Operand,
        new: Operand,
        ty: Ty,
    },
    Fence,
    /// The ranges may overlap.
    MemCopy {
        to: Operand,
        from: Operand,
        len: Operand,
    },
    MemSet {
        to: Operand,
        byte: Operand,
        len: Operand,
    },
    Call(Box<Call>),
    VaStart {
        list: Operand,
    },
    VaCopy {
        to: Operand,
        from: Operand,
    },
    /// The address of a thread-local variable in the current thread.
    ThreadLocal {
        dst: Reg,
        symbol: u32,
    },
    /// A value that only the recording contains.
    Unknown {
        dst: Reg,
        ret: Vec<Ty>,
        args: Vec<Operand>,
        source: Box<Source>,
    },
    /// Advances the thread's time by one. It is the first instruction of every loop header.
    Tick,
    Jump {
        to: BlockId,
    },
    /// Adds [`Inst::branch_mix`] to the checksum if the branch is taken.
    Branch {
        cond: Operand,
        then: BlockId,
        otherwise: BlockId,
    },
    Switch {
        bits: u16,
        value: Operand,
        default: BlockId,
        cases: Vec<(u64, BlockId)>,
    },
    /// The operand is the first slot of the result.
    Return {
        value: Option<Operand>,
        ret: Vec<Ty>,
    },
    /// Traps, as `abort`.
    Trap,
    Unreachable,
    /// Follows a call that may throw and precedes the [`Inst::Switch`] that dispatches to the
    /// handler. Three slots: whether control landed here instead of returning, the exception, and
    /// its selector. All three are zero when the call returned.
    Landing {
        dst: Reg,
    },
}

impl Inst {
    /// The value that a taken branch at this site adds to the checksum.
    #[must_use]
    pub fn branch_mix(site: u32) -> u64 {
        // A sign-extended 32-bit immediate, so that it costs one instruction.
        i64::from(site.wrapping_mul(0x9E37_79B1).cast_signed() | 1).cast_unsigned()
    }

    /// Whether this instruction ends its block.
    #[must_use]
    pub fn is_terminator(&self) -> bool {
        matches!(
            self,
            Inst::Jump { .. }
                | Inst::Branch { .. }
                | Inst::Switch { .. }
                | Inst::Return { .. }
                | Inst::Trap
                | Inst::Unreachable
        )
    }

    /// The successor blocks, in order, with repetitions.
    #[must_use]
    pub fn successors(&self) -> Vec<BlockId> {
        match self {
            Inst::Jump { to } => vec![*to],
            Inst::Branch { then, otherwise, .. } => vec![*then, *otherwise],
            Inst::Switch { default, cases, .. } => {
                std::iter::once(*default).chain(cases.iter().map(|c| c.1)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The slots this instruction defines: first slot and count.
    #[must_use]
    pub fn defines(&self) -> Option<(Reg, u32)> {
        let sum = |tys: &[Ty]| tys.iter().map(|t| t.slots()).sum::<u32>();
        let (dst, n) = match self {
            Inst::Bin { dst, bits, .. } => (*dst, Ty::Int(*bits).slots()),
            Inst::Float { dst, kind, .. } => (*dst, Ty::Float(*kind).slots()),
            Inst::ICmp { dst, .. }
            | Inst::FCmp { dst, .. }
            | Inst::Copy { dst, .. }
            | Inst::Address { dst, .. }
            | Inst::Frame { dst, .. }
            | Inst::Alloca { dst, .. }
            | Inst::StackSave { dst }
            | Inst::ThreadLocal { dst, .. } => (*dst, 1),
            Inst::Cast { dst, to, .. } => (*dst, to.slots()),
            Inst::Pure { dst, op, ty, .. } => (*dst, op.result_slots(*ty)),
            Inst::Select { dst, slots, .. } => (*dst, *slots),
            Inst::Landing { dst } => (*dst, LANDING_SLOTS),
            Inst::Load { dst, ty, .. } | Inst::Rmw { dst, ty, .. } => (*dst, ty.slots()),
            Inst::CmpXchg { dst, ty, .. } => (*dst, ty.slots() + 1),
            Inst::Call(c) => (c.dst, sum(&c.ret)),
            Inst::Unknown { dst, ret, .. } => (*dst, sum(ret)),
            _ => return None,
        };
        (n > 0).then_some((dst, n))
    }

    /// The first value that this instruction defines, and its type. A value that is only copied
    /// between slots has the type of a word.
    #[must_use]
    pub fn result(&self) -> Option<(Reg, Ty)> {
        let (dst, _) = self.defines()?;
        let ty = match self {
            Inst::Bin { bits, .. } => Ty::Int(*bits),
            Inst::Float { kind, .. } => Ty::Float(*kind),
            Inst::ICmp { .. } | Inst::FCmp { .. } => Ty::Int(1),
            Inst::Cast { to, .. } => *to,
            Inst::Pure { op: Pure::FpClass, .. } => Ty::Int(1),
            Inst::Pure { ty, .. } | Inst::Load { ty, .. } => *ty,
            Inst::Rmw { ty, .. } | Inst::CmpXchg { ty, .. } => *ty,
            Inst::Call(call) => *call.ret.first()?,
            Inst::Unknown { ret, .. } => *ret.first()?,
            Inst::Select { .. } | Inst::Copy { .. } | Inst::Landing { .. } => Ty::Int(64),
            _ => Ty::Ptr,
        };
        Some((dst, ty))
    }

    /// The types of all values that this instruction defines, in slot order.
    #[must_use]
    pub fn result_types(&self) -> Vec<Ty> {
        let slots = self.defines().map_or(0, |(_, slots)| slots);
        let mut types = match self {
            Inst::Call(call) => call.ret.clone(),
            Inst::Unknown { ret, .. } => ret.clone(),
            _ => self.result().map(|(_, ty)| ty).into_iter().collect(),
        };
        let mut left = slots.saturating_sub(types.iter().map(|ty| ty.slots()).sum());
        // An overflow or exchange bit, and the remaining words of a copy.
        let more = match self {
            Inst::Pure { .. } | Inst::CmpXchg { .. } => Ty::Int(1),
            _ => Ty::Int(64),
        };
        while left > 0 {
            types.push(more);
            left -= 1;
        }
        types
    }

    /// The characteristic value of this instruction and its type: the value it defines, stores,
    /// returns or branches on.
    #[must_use]
    pub fn value(&self) -> Option<(Operand, Ty)> {
        match self {
            Inst::Store { value, ty, .. } => Some((*value, *ty)),
            Inst::Branch { cond, .. } => Some((*cond, Ty::Int(1))),
            Inst::Switch { value, bits, .. } => Some((*value, Ty::Int(*bits))),
            Inst::Return { value, ret } => Some(((*value)?, *ret.first()?)),
            _ => self.result().map(|(dst, ty)| (Operand::Reg(dst), ty)),
        }
    }

    /// Calls `f` for every operand, with the number of slots read. The second slot of a constant or
    /// symbol that is read as two slots is zero.
    pub fn for_each_use(&self, mut f: impl FnMut(Operand, u32)) {
        match self {
            Inst::Bin { a, b, bits, .. } | Inst::ICmp { a, b, bits, .. } => {
                f(*a, Ty::Int(*bits).slots());
                f(*b, Ty::Int(*bits).slots());
            }
            Inst::Float { a, b, kind, .. } | Inst::FCmp { a, b, kind, .. } => {
                f(*a, Ty::Float(*kind).slots());
                f(*b, Ty::Float(*kind).slots());
            }
            Inst::Cast { a, from, .. } => f(*a, from.slots()),
            Inst::Pure { op, ty, args, .. } => {
                for (i, a) in args.iter().enumerate() {
                    f(*a, if *op == Pure::FpClass && i > 0 { 1 } else { ty.slots() });
                }
            }
            Inst::Select { slots, cond, a, b, .. } => {
                f(*cond, 1);
                f(*a, *slots);
                f(*b, *slots);
            }
            Inst::Address { base, index, .. } => {
                f(*base, 1);
                f(*index, 1);
            }
            Inst::Copy { a, .. } | Inst::StackRestore { a } => f(*a, 1),
            Inst::Alloca { size, .. } => f(*size, 1),
            Inst::Load { addr, .. } => f(*addr, 1),
            Inst::Store { addr, value, ty } | Inst::Rmw { addr, value, ty, .. } => {
                f(*addr, 1);
                f(*value, ty.slots());
            }
            Inst::CmpXchg { addr, expected, new, ty, .. } => {
                f(*addr, 1);
                f(*expected, ty.slots());
                f(*new, ty.slots());
            }
            Inst::MemCopy { to, from: other, len } | Inst::MemSet { to, byte: other, len } => {
                f(*to, 1);
                f(*other, 1);
                f(*len, 1);
            }
            Inst::Call(c) => {
                f(c.callee, 1);
                for arg in &c.args {
                    f(arg.value, arg.ty.slots());
                }
            }
            Inst::VaStart { list } => f(*list, 1),
            Inst::VaCopy { to, from } => {
                f(*to, 1);
                f(*from, 1);
            }
            Inst::Unknown { args, .. } => args.iter().for_each(|a| f(*a, 1)),
            Inst::Branch { cond, .. } => f(*cond, 1),
            Inst::Switch { value, .. } => f(*value, 1),
            Inst::Return { value: Some(value), ret } => f(*value, ret.iter().map(|t| t.slots()).sum()),
            Inst::Frame { .. }
            | Inst::StackSave { .. }
            | Inst::Landing { .. }
            | Inst::Fence
            | Inst::ThreadLocal { .. }
            | Inst::Tick
            | Inst::Jump { .. }
            | Inst::Return { value: None, .. }
            | Inst::Trap
            | Inst::Unreachable => {}
        }
    }
}

impl ArgTy {
    /// The number of slots of the argument. A `ByVal` argument has the slot of its address.
    #[must_use]
    pub fn slots(self) -> u32 {
        match self {
            ArgTy::Value(ty) => ty.slots(),
            ArgTy::ByVal { .. } => 1,
        }
    }
}

impl Pure {
    /// The number of operands.
    #[must_use]
    pub fn operands(self) -> usize {
        match self {
            Pure::Bswap
            | Pure::BitReverse
            | Pure::Ctpop
            | Pure::Ctlz
            | Pure::Cttz
            | Pure::Abs
            | Pure::FNeg
            | Pure::FAbs
            | Pure::Sqrt
            | Pure::Floor
            | Pure::Ceil
            | Pure::FTrunc
            | Pure::Rint
            | Pure::Round => 1,
            Pure::Fshl | Pure::Fshr | Pure::Fma => 3,
            _ => 2,
        }
    }

    /// Whether the operation is on floats.
    #[must_use]
    pub fn is_float(self) -> bool {
        matches!(
            self,
            Pure::FNeg
                | Pure::FAbs
                | Pure::Sqrt
                | Pure::Floor
                | Pure::Ceil
                | Pure::FTrunc
                | Pure::Rint
                | Pure::Round
                | Pure::CopySign
                | Pure::MinNum
                | Pure::MaxNum
                | Pure::Fma
                | Pure::FpClass
        )
    }

    /// The number of result slots for operands of type `ty`.
    #[must_use]
    pub fn result_slots(self, ty: Ty) -> u32 {
        match self {
            Pure::SAddOverflow
            | Pure::UAddOverflow
            | Pure::SSubOverflow
            | Pure::USubOverflow
            | Pure::SMulOverflow
            | Pure::UMulOverflow => ty.slots() + 1,
            Pure::FpClass => 1,
            _ => ty.slots(),
        }
    }
}
