//! A function in the form that the inner loop runs: one operation of fixed size per instruction, so that the
//! program counter is the index in the model's code.
//!
//! Constants and symbol addresses are stored in register slots after the function's own (copied when a frame
//! is created), so that every operand is a slot.

use crate::fused::FusedCode;
use program::inst::{BlockId, FloatOp, FloatPred, IntPred};

/// A register slot of the frame: first the function's own, then one for scratch, then the constants.
pub type Slot = u32;

/// An instruction that the plain loop runs by itself. Operands are slots, and the result goes to `dst`.
///
/// Slots hold integers zero-extended. Integer operations that depend on the width carry `sh`, 64 minus it.
#[allow(missing_docs)] // Most fields are operand slots; the texts of the variants name the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Op {
    /// `a + b`, wrapping at the width.
    Add { sh: u8, dst: Slot, a: Slot, b: Slot },
    /// `a - b`, wrapping at the width.
    Sub { sh: u8, dst: Slot, a: Slot, b: Slot },
    /// `a * b`, wrapping at the width.
    Mul { sh: u8, dst: Slot, a: Slot, b: Slot },
    /// `a & b`.
    And { dst: Slot, a: Slot, b: Slot },
    /// `a | b`.
    Or { dst: Slot, a: Slot, b: Slot },
    /// `a ^ b`.
    Xor { dst: Slot, a: Slot, b: Slot },
    /// `a << b`. Shifts have widths that are powers of two, and take the amount modulo the width.
    Shl { sh: u8, dst: Slot, a: Slot, b: Slot },
    /// `a >> b`, filled with zeros.
    LShr { sh: u8, dst: Slot, a: Slot, b: Slot },
    /// `a >> b`, filled with the sign.
    AShr { sh: u8, dst: Slot, a: Slot, b: Slot },
    /// `a / b`, unsigned; traps if `b` is zero.
    UDiv { dst: Slot, a: Slot, b: Slot },
    /// `a % b`, unsigned; traps if `b` is zero.
    URem { dst: Slot, a: Slot, b: Slot },
    /// `a / b`, signed; traps if `b` is zero or the quotient overflows.
    SDiv { sh: u8, dst: Slot, a: Slot, b: Slot },
    /// `a % b`, signed; traps as the division does.
    SRem { sh: u8, dst: Slot, a: Slot, b: Slot },
    /// `a == b`, as 0 or 1.
    Eq { dst: Slot, a: Slot, b: Slot },
    /// `a != b`, as 0 or 1.
    Ne { dst: Slot, a: Slot, b: Slot },
    /// The unsigned predicates.
    UCmp { pred: IntPred, dst: Slot, a: Slot, b: Slot },
    /// `a < b`, signed; the predicate greater-than has its operands exchanged.
    Slt { sh: u8, dst: Slot, a: Slot, b: Slot },
    /// `a <= b`, signed; the predicate greater-or-equal has its operands exchanged.
    Sle { sh: u8, dst: Slot, a: Slot, b: Slot },
    /// Arithmetic on `double`, except for remainders.
    F64 { op: FloatOp, dst: Slot, a: Slot, b: Slot },
    /// Arithmetic on `float`, except for remainders.
    F32 { op: FloatOp, dst: Slot, a: Slot, b: Slot },
    /// A comparison of `double`, as 0 or 1.
    FCmp64 { pred: FloatPred, dst: Slot, a: Slot, b: Slot },
    /// Keeps the low bits.
    Trunc { sh: u8, dst: Slot, a: Slot },
    /// Sign extension: `from` and `to` are 64 minus the widths.
    Sext { from: u8, to: u8, dst: Slot, a: Slot },
    /// Signed integer to double.
    SiToF64 { sh: u8, dst: Slot, a: Slot },
    /// Copies one slot; also a zero extension, or a cast that keeps the bits.
    Copy { dst: Slot, a: Slot },
    /// `a` if the low bit of `cond` is set, else `b`.
    Select { dst: Slot, cond: Slot, a: Slot, b: Slot },
    /// `base + sext(index) * scale`
    Scaled { sh: u8, dst: Slot, base: Slot, index: Slot, scale: i32 },
    /// The address of a local: `offset` bytes into the fixed frame.
    Frame { dst: Slot, offset: u32 },
    /// Loads 1 byte, zero-extended.
    Load1 { dst: Slot, addr: Slot },
    /// Loads 2 bytes, zero-extended.
    Load2 { dst: Slot, addr: Slot },
    /// Loads 4 bytes, zero-extended.
    Load4 { dst: Slot, addr: Slot },
    /// Loads 8 bytes.
    Load8 { dst: Slot, addr: Slot },
    /// Stores the low byte; the checksum gets the whole slot, as with all stores.
    Store1 { addr: Slot, value: Slot },
    /// Stores the low 2 bytes.
    Store2 { addr: Slot, value: Slot },
    /// Stores the low 4 bytes.
    Store4 { addr: Slot, value: Slot },
    /// Stores 8 bytes.
    Store8 { addr: Slot, value: Slot },
    /// Advances the time by one, in a loop header.
    Tick,
    /// Continues at an edge. The operands of control flow are indices into [`Code::edges`].
    Jump { edge: u32 },
    /// Follows `then` if the low bit of `cond` is set, which adds to the checksum, else `otherwise`.
    Branch { cond: Slot, then: u32, otherwise: u32 },
    /// Follows the edge that a table of [`Code::tables`] has for `value`.
    Switch { value: Slot, table: u32 },
    /// Calls by a [`CallSite`] of [`Code::calls`].
    Call { call: u32 },
    /// Returns `slots` slots, the first of which is `value`.
    Return { value: Slot, slots: u32 },
    /// Every other instruction; executed directly from the model.
    Slow,
}

/// An edge from one block to another, with the moves of the target's phis.
#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    /// The instruction at which execution continues.
    pub pc: u32,
    /// Start of its range in [`Code::moves`], ordered such that executing them sequentially is correct.
    pub first: u32,
    /// End of the range, exclusive.
    pub last: u32,
    /// The block that control leaves.
    pub from: BlockId,
    /// The block that control enters.
    pub to: BlockId,
}

/// A copy of one slot: of an incoming value to a phi, or of an argument to a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Move {
    /// The slot written; for a parameter, of the callee's frame.
    pub dst: Slot,
    /// The slot read; for an argument, of the caller's frame.
    pub src: Slot,
}

/// The cases of a switch, as edges: those of [`Code::edges`], or of [`FusedCode::fused_edges`] in fused code.
#[derive(Clone, Debug, PartialEq)]
pub enum Table {
    /// Cases that are close to each other: `edges[value - low]`.
    Dense {
        /// The least value with a case.
        low: u64,
        /// By distance from `low`; the default where there is no case.
        edges: Vec<u32>,
        /// For values outside.
        default: u32,
    },
    /// Cases that are far apart.
    Sparse {
        /// Value and edge, sorted by value.
        cases: Vec<(u64, u32)>,
        /// For all other values.
        default: u32,
    },
}

impl Table {
    /// The edge that the switch follows for a value.
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
    /// An integer or pointer of one slot, in a general register or the overflow area.
    Int,
    /// A `float` (C passes a `double` instead), in a vector register or the overflow area.
    Float,
    /// A `double`, in a vector register or the overflow area.
    Double,
    /// A `long double`, always in the overflow area.
    LongDouble,
    /// An integer of two slots.
    WideInt,
    /// A copy of memory, in the overflow area; the slot holds the address of the original.
    ByVal {
        /// Bytes of the copy.
        size: u64,
        /// Its alignment in bytes; `va_arg` rounds up to at least 8.
        align: u32,
    },
}

/// An argument of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CallArg {
    /// Its first slot in the caller's frame.
    pub src: Slot,
    /// Number of its consecutive slots.
    pub slots: u32,
    /// How `va_arg` finds it, if it is one of the variadic arguments.
    pub kind: VaKind,
}

/// A call, with everything that is known statically.
#[derive(Clone, Debug)]
pub struct CallSite {
    /// The slot that holds the callee's address.
    pub callee: Slot,
    /// The function of the image, if the callee is statically known.
    pub direct: Option<u32>,
    /// Fixed and variadic arguments, in order.
    pub args: Vec<CallArg>,
    /// Total number of argument slots.
    pub arg_slots: u32,
    /// First slot of the result in the caller's frame.
    pub dst: Slot,
    /// Number of slots of the result, 0 for `void`.
    pub ret_slots: u32,
    /// Number of fixed arguments of a variadic call.
    pub fixed: Option<u32>,
    /// Whether control may come back to it a second time, as to `setjmp`.
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
    /// Registration index of its module.
    pub module: u32,
    /// Its index in the module's functions.
    pub function: u32,
    /// Site of its first instruction; the others follow in order.
    pub first_site: u32,
    /// The instructions, at the same indices as in the model.
    pub ops: Vec<Op>,
    /// All edges between its blocks; those of [`Op`] refer to them.
    pub edges: Vec<Edge>,
    /// The moves of all edges, of which each [`Edge`] names a range.
    pub moves: Vec<Move>,
    /// Of its switches.
    pub tables: Vec<Table>,
    /// Of its calls, by the index in [`Op::Call`].
    pub calls: Vec<CallSite>,
    /// Number of slots of the function's values; then one scratch slot; then constants.
    pub slots: u32,
    /// Values of the constant slots, copied into each new frame.
    pub constants: Vec<u64>,
    /// Bytes of the fixed frame.
    pub frame_size: u64,
    /// Alignment of the fixed frame, at least 1.
    pub frame_align: u64,
    /// Whether it takes variadic arguments.
    pub variadic: bool,
    /// Whether a parameter is passed as a copy of memory.
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
