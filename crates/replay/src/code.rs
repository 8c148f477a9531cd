//! A function in the form that the inner loop runs: one operation of fixed size per instruction, so that the
//! program counter is the index in the model's code.
//!
//! Constants and symbol addresses are stored in register slots after the function's own (copied when a frame
//! is created), so that every operand is a slot.

use crate::fused::FusedCode;
use program::inst::{BlockId, FloatOp, FloatPred, IntPred};

/// A register slot of the frame, constants included.
pub type Slot = u32;

/// Integer operations carry `sh`, 64 minus the width.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Op {
    Add {
        sh: u8,
        dst: Slot,
        a: Slot,
        b: Slot,
    },
    Sub {
        sh: u8,
        dst: Slot,
        a: Slot,
        b: Slot,
    },
    Mul {
        sh: u8,
        dst: Slot,
        a: Slot,
        b: Slot,
    },
    And {
        dst: Slot,
        a: Slot,
        b: Slot,
    },
    Or {
        dst: Slot,
        a: Slot,
        b: Slot,
    },
    Xor {
        dst: Slot,
        a: Slot,
        b: Slot,
    },
    /// Shifts of widths that are powers of two.
    Shl {
        sh: u8,
        dst: Slot,
        a: Slot,
        b: Slot,
    },
    LShr {
        sh: u8,
        dst: Slot,
        a: Slot,
        b: Slot,
    },
    AShr {
        sh: u8,
        dst: Slot,
        a: Slot,
        b: Slot,
    },
    UDiv {
        dst: Slot,
        a: Slot,
        b: Slot,
    },
    URem {
        dst: Slot,
        a: Slot,
        b: Slot,
    },
    SDiv {
        sh: u8,
        dst: Slot,
        a: Slot,
        b: Slot,
    },
    SRem {
        sh: u8,
        dst: Slot,
        a: Slot,
        b: Slot,
    },
    Eq {
        dst: Slot,
        a: Slot,
        b: Slot,
    },
    Ne {
        dst: Slot,
        a: Slot,
        b: Slot,
    },
    /// The unsigned predicates.
    UCmp {
        pred: IntPred,
        dst: Slot,
        a: Slot,
        b: Slot,
    },
    Slt {
        sh: u8,
        dst: Slot,
        a: Slot,
        b: Slot,
    },
    Sle {
        sh: u8,
        dst: Slot,
        a: Slot,
        b: Slot,
    },
    F64 {
        op: FloatOp,
        dst: Slot,
        a: Slot,
        b: Slot,
    },
    F32 {
        op: FloatOp,
        dst: Slot,
        a: Slot,
        b: Slot,
    },
    FCmp64 {
        pred: FloatPred,
        dst: Slot,
        a: Slot,
        b: Slot,
    },
    /// Keeps the low bits.
    Trunc {
        sh: u8,
        dst: Slot,
        a: Slot,
    },
    Sext {
        from: u8,
        to: u8,
        dst: Slot,
        a: Slot,
    },
    /// Signed integer to double.
    SiToF64 {
        sh: u8,
        dst: Slot,
        a: Slot,
    },
    Copy {
        dst: Slot,
        a: Slot,
    },
    Select {
        dst: Slot,
        cond: Slot,
        a: Slot,
        b: Slot,
    },
    /// `base + sext(index) * scale`
    Scaled {
        sh: u8,
        dst: Slot,
        base: Slot,
        index: Slot,
        scale: i32,
    },
    Frame {
        dst: Slot,
        offset: u32,
    },
    Load1 {
        dst: Slot,
        addr: Slot,
    },
    Load2 {
        dst: Slot,
        addr: Slot,
    },
    Load4 {
        dst: Slot,
        addr: Slot,
    },
    Load8 {
        dst: Slot,
        addr: Slot,
    },
    Store1 {
        addr: Slot,
        value: Slot,
    },
    Store2 {
        addr: Slot,
        value: Slot,
    },
    Store4 {
        addr: Slot,
        value: Slot,
    },
    Store8 {
        addr: Slot,
        value: Slot,
    },
    Tick,
    /// Operands of control flow are edges.
    Jump {
        edge: u32,
    },
    Branch {
        cond: Slot,
        then: u32,
        otherwise: u32,
    },
    Switch {
        value: Slot,
        table: u32,
    },
    Call {
        call: u32,
    },
    Return {
        value: Slot,
        slots: u32,
    },
    /// Every other instruction; executed directly from the model.
    Slow,
}

/// An edge from one block to another, with the moves of the target's phis.
#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    /// The instruction at which execution continues.
    pub pc: u32,
    /// Range in [`Code::moves`], ordered such that executing them sequentially is correct.
    pub first: u32,
    pub last: u32,
    pub from: BlockId,
    pub to: BlockId,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Move {
    pub dst: Slot,
    pub src: Slot,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Table {
    /// `edges[value - low]`
    Dense { low: u64, edges: Vec<u32>, default: u32 },
    /// Sorted by value.
    Sparse { cases: Vec<(u64, u32)>, default: u32 },
}

impl Table {
    #[inline]
    #[must_use]
    pub fn find(&self, value: u64) -> u32 {
        match self {
            Table::Dense { low, edges, default } => usize::try_from(value.wrapping_sub(*low))
                .ok()
                .and_then(|i| edges.get(i))
                .copied()
                .unwrap_or(*default),
            Table::Sparse { cases, default } => {
                cases.binary_search_by_key(&value, |c| c.0).map_or(*default, |i| cases[i].1)
            }
        }
    }
}

/// How an argument is passed through a `va_list`; see `docs/runtime-interface.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VaKind {
    Int,
    Float,
    Double,
    LongDouble,
    WideInt,
    ByVal { size: u64, align: u32 },
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CallArg {
    pub src: Slot,
    pub slots: u32,
    pub kind: VaKind,
}

/// A call, with everything that is known statically.
#[derive(Clone, Debug)]
pub struct CallSite {
    pub callee: Slot,
    /// The function of the image, if the callee is statically known.
    pub direct: Option<u32>,
    pub args: Vec<CallArg>,
    /// Total number of argument slots.
    pub arg_slots: u32,
    pub dst: Slot,
    pub ret_slots: u32,
    /// Number of fixed arguments of a variadic call.
    pub fixed: Option<u32>,
    pub returns_twice: bool,
    /// The entry in the table of externals, if the callee is named and not part of this program.
    pub known: Option<&'static externals::External>,
    /// For direct calls whose arguments match the parameters slot by slot and pass no memory: the moves from
    /// arguments to parameters.
    pub moves: Option<Vec<Move>>,
}

/// A function ready to run.
#[derive(Clone, Debug, Default)]
pub struct Code {
    pub module: u32,
    pub function: u32,
    pub first_site: u32,
    pub ops: Vec<Op>,
    pub edges: Vec<Edge>,
    pub moves: Vec<Move>,
    pub tables: Vec<Table>,
    pub calls: Vec<CallSite>,
    /// Slots of the function's values; then one scratch slot; then constants.
    pub slots: u32,
    pub constants: Vec<u64>,
    pub frame_size: u64,
    pub frame_align: u64,
    pub variadic: bool,
    pub by_value: bool,
    /// The form for the fast loop, unless the function is too large for it.
    pub fused: Option<FusedCode>,
}

impl Code {
    /// Number of slots of a frame.
    #[must_use]
    pub fn total(&self) -> usize {
        self.slots as usize + 1 + self.constants.len()
    }
}
