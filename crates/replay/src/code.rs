//! A function in the form the inner loop runs: one fixed-size operation an
//! instruction, so that the program counter is the index in the model's code.
//!
//! Constants and symbol addresses live in register slots behind the function's
//! own (copied in when a frame is made), so that an operand is always a slot.

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
    /// Everything else, straight from the model.
    Slow,
}

/// A way from one block to another, with the moves of the target's phis.
#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    /// Where to go on.
    pub pc: u32,
    /// Range in [`Code::moves`], in an order that makes them work one by one.
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

/// How an argument travels through a `va_list`; see the runtime's interface.
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

/// A call, with everything that can be known before it happens.
#[derive(Clone, Debug)]
pub struct CallSite {
    pub callee: Slot,
    /// The function of the image, if the callee is one for certain.
    pub direct: Option<u32>,
    pub args: Vec<CallArg>,
    /// Argument slots in all.
    pub arg_slots: u32,
    pub dst: Slot,
    pub ret_slots: u32,
    /// Number of fixed arguments of a variadic call.
    pub fixed: Option<u32>,
    pub returns_twice: bool,
    /// The table's entry, if the callee is named and not of this program.
    pub known: Option<&'static externals::External>,
    /// For direct calls whose arguments match the parameters slot by slot,
    /// and pass no memory: what goes where.
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
    /// For the fast loop, if the function is not too large for it.
    pub fused: Option<FusedCode>,
}

impl Code {
    /// Slots a frame takes.
    #[must_use]
    pub fn total(&self) -> usize {
        self.slots as usize + 1 + self.constants.len()
    }
}
