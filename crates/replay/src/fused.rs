//! A function in the form that the fast loop runs: frequent groups of instructions as one operation.
//!
//! There is one operation for every instruction, at the same index as in the model. It may also execute the
//! next few instructions, and then leaves the registers as these would; their own operations remain after it,
//! so that replay can continue at any of them. The number of instructions executed is not counted: in
//! straight-line code it grows as the program counter does, so a base plus the program counter is the count,
//! and only edges have to correct the base. Loads are counted in the same manner, in the upper half of the
//! same word.
//!
//! Slots have 16 bits, and the loop's register file has 65,536 of them, so that no access needs a bounds
//! check.

use crate::code::Move;
use program::inst::{BlockId, FloatOp, FloatPred};

/// A register slot.
pub type Slot = u16;

/// Number of slots that the fast loop can address from the base of a frame.
pub const WINDOW: usize = 1 << 16;

/// The operations of [`crate::code::Op`], by the same names. A number is a width in bits (a size in bytes for
/// accesses); concatenated names are consecutive instructions. `edge` is the first of two edges: the one for
/// the false condition follows.
// One line each, so that they read as a list.
#[rustfmt::skip]
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fused {
    Add64 { dst: Slot, a: Slot, b: Slot },
    Add32 { dst: Slot, a: Slot, b: Slot },
    Add { sh: u8, dst: Slot, a: Slot, b: Slot },
    Sub64 { dst: Slot, a: Slot, b: Slot },
    Sub32 { dst: Slot, a: Slot, b: Slot },
    Sub { sh: u8, dst: Slot, a: Slot, b: Slot },
    Mul { sh: u8, dst: Slot, a: Slot, b: Slot },
    And { dst: Slot, a: Slot, b: Slot },
    Or { dst: Slot, a: Slot, b: Slot },
    Xor { dst: Slot, a: Slot, b: Slot },
    Shl { sh: u8, dst: Slot, a: Slot, b: Slot },
    LShr { sh: u8, dst: Slot, a: Slot, b: Slot },
    AShr { sh: u8, dst: Slot, a: Slot, b: Slot },
    UDiv { dst: Slot, a: Slot, b: Slot },
    URem { dst: Slot, a: Slot, b: Slot },
    SDiv { sh: u8, dst: Slot, a: Slot, b: Slot },
    SRem { sh: u8, dst: Slot, a: Slot, b: Slot },
    Eq { dst: Slot, a: Slot, b: Slot },
    Ne { dst: Slot, a: Slot, b: Slot },
    Ult { dst: Slot, a: Slot, b: Slot },
    Ule { dst: Slot, a: Slot, b: Slot },
    Slt { sh: u8, dst: Slot, a: Slot, b: Slot },
    Sle { sh: u8, dst: Slot, a: Slot, b: Slot },
    F64Add { dst: Slot, a: Slot, b: Slot },
    F64Sub { dst: Slot, a: Slot, b: Slot },
    F64Mul { dst: Slot, a: Slot, b: Slot },
    F64 { op: FloatOp, dst: Slot, a: Slot, b: Slot },
    F32 { op: FloatOp, dst: Slot, a: Slot, b: Slot },
    FCmp64 { pred: FloatPred, dst: Slot, a: Slot, b: Slot },
    Trunc32 { dst: Slot, a: Slot },
    Trunc { sh: u8, dst: Slot, a: Slot },
    Sext3264 { dst: Slot, a: Slot },
    Sext { from: u8, to: u8, dst: Slot, a: Slot },
    SiToF64 { sh: u8, dst: Slot, a: Slot },
    Copy { dst: Slot, a: Slot },
    Select { dst: Slot, cond: Slot, a: Slot, b: Slot },
    Scaled64 { dst: Slot, base: Slot, index: Slot, scale: i32 },
    Scaled { sh: u8, dst: Slot, base: Slot, index: Slot, scale: i32 },
    Frame { dst: Slot, offset: u32 },
    Load1 { dst: Slot, addr: Slot },
    Load2 { dst: Slot, addr: Slot },
    Load4 { dst: Slot, addr: Slot },
    Load8 { dst: Slot, addr: Slot },
    Store1 { addr: Slot, value: Slot },
    Store2 { addr: Slot, value: Slot },
    Store4 { addr: Slot, value: Slot },
    Store8 { addr: Slot, value: Slot },
    Tick,
    Jump { edge: u32 },
    Branch { cond: Slot, edge: u32 },
    Switch { value: Slot, table: u32 },
    /// With the operands of the return, and the number of loads before the instruction.
    Call { ret: u8, dst: Slot, call: u32, loads: u32 },
    Return { slots: u8, value: Slot, loads: u32 },
    Slow,

    /// An address and the access to it: members of structs.
    AddLoad1 { addr: Slot, a: Slot, b: Slot, dst: Slot },
    AddLoad2 { addr: Slot, a: Slot, b: Slot, dst: Slot },
    AddLoad4 { addr: Slot, a: Slot, b: Slot, dst: Slot },
    AddLoad8 { addr: Slot, a: Slot, b: Slot, dst: Slot },
    AddStore1 { addr: Slot, a: Slot, b: Slot, value: Slot },
    AddStore2 { addr: Slot, a: Slot, b: Slot, value: Slot },
    AddStore4 { addr: Slot, a: Slot, b: Slot, value: Slot },
    AddStore8 { addr: Slot, a: Slot, b: Slot, value: Slot },
    /// ... then zero-extended.
    AddLoad1Copy { addr: Slot, a: Slot, b: Slot, dst: Slot, copy: Slot },
    AddLoad2Copy { addr: Slot, a: Slot, b: Slot, dst: Slot, copy: Slot },
    AddLoad4Copy { addr: Slot, a: Slot, b: Slot, dst: Slot, copy: Slot },
    /// A member of the object that a member points to.
    AddLoad8Add { addr: Slot, a: Slot, b: Slot, dst: Slot, sum: Slot, c: Slot },
    AddLoad8AddLoad8 { addr: Slot, a: Slot, b: Slot, dst: Slot, sum: Slot, c: Slot, last: Slot },
    AddLoad8Copy { addr: Slot, a: Slot, b: Slot, dst: Slot, copy: Slot },
    /// The load does not use the sum: `*p++`.
    AddThenLoad1 { sum: Slot, a: Slot, b: Slot, dst: Slot, addr: Slot },
    AddThenLoad4 { sum: Slot, a: Slot, b: Slot, dst: Slot, addr: Slot },
    AddThenLoad8 { sum: Slot, a: Slot, b: Slot, dst: Slot, addr: Slot },
    Load8Copy { dst: Slot, addr: Slot, copy: Slot },
    Load8ThenLoad8 { dst: Slot, addr: Slot, dst2: Slot, addr2: Slot },
    CopyThenStore8 { dst: Slot, a: Slot, addr: Slot, value: Slot },
    /// Elements of arrays.
    Scaled64Load1 { addr: Slot, base: Slot, index: Slot, scale: i16, dst: Slot },
    Scaled64Load4 { addr: Slot, base: Slot, index: Slot, scale: i16, dst: Slot },
    Scaled64Load8 { addr: Slot, base: Slot, index: Slot, scale: i16, dst: Slot },
    ScaledLoad4 { sh: u8, addr: Slot, base: Slot, index: Slot, scale: i16, dst: Slot },
    Sext3264Scaled64 { index: Slot, a: Slot, dst: Slot, base: Slot, scale: i16 },
    CopyScaled64 { index: Slot, a: Slot, dst: Slot, base: Slot, scale: i16 },
    CopyScaled64Load8 { index: Slot, a: Slot, addr: Slot, base: Slot, scale: i16, dst: Slot },
    Sext3264Scaled64Load1 { index: Slot, a: Slot, addr: Slot, base: Slot, scale: i16, dst: Slot },
    Sext3264Scaled64Load4 { index: Slot, a: Slot, addr: Slot, base: Slot, scale: i16, dst: Slot },
    Sext3264Scaled64Load8 { index: Slot, a: Slot, addr: Slot, base: Slot, scale: i16, dst: Slot },
    /// Fields of packed words.
    LShrAnd { sh: u8, dst: Slot, a: Slot, b: Slot, and: Slot, c: Slot },
    /// ... as an index; each result is in the slot after the previous one.
    LShrAndSextScaled64 { sh: u8, dst: Slot, a: Slot, b: Slot, c: Slot, base: Slot, scale: i16 },
    AndCopy { dst: Slot, a: Slot, b: Slot, copy: Slot },
    AndEqBranch { and: Slot, a: Slot, b: Slot, dst: Slot, c: Slot, edge: u32 },
    AndNeBranch { and: Slot, a: Slot, b: Slot, dst: Slot, c: Slot, edge: u32 },
    CopySwitch { dst: Slot, a: Slot, table: u32 },
    /// The end of a block.
    Add64Jump { dst: Slot, a: Slot, b: Slot, edge: u32 },
    Add32Jump { dst: Slot, a: Slot, b: Slot, edge: u32 },
    CopyJump { dst: Slot, a: Slot, edge: u32 },
    Load8Jump { dst: Slot, addr: Slot, edge: u32 },
    AddStore1Jump { addr: Slot, a: Slot, b: Slot, value: Slot, edge: u32 },
    AddStore8Jump { addr: Slot, a: Slot, b: Slot, value: Slot, edge: u32 },
    /// Conditions.
    EqBranch { dst: Slot, a: Slot, b: Slot, edge: u32 },
    NeBranch { dst: Slot, a: Slot, b: Slot, edge: u32 },
    UltBranch { dst: Slot, a: Slot, b: Slot, edge: u32 },
    UleBranch { dst: Slot, a: Slot, b: Slot, edge: u32 },
    SltBranch { sh: u8, dst: Slot, a: Slot, b: Slot, edge: u32 },
    SleBranch { sh: u8, dst: Slot, a: Slot, b: Slot, edge: u32 },
    /// A condition in `__builtin_expect`: converted to `int`, then to `long`, then compared with zero; each
    /// result is in the slot after the previous one.
    EqExpect { dst: Slot, a: Slot, b: Slot, edge: u32 },
    NeExpect { dst: Slot, a: Slot, b: Slot, edge: u32 },
    UltExpect { dst: Slot, a: Slot, b: Slot, edge: u32 },
    SltExpect { sh: u8, dst: Slot, a: Slot, b: Slot, edge: u32 },
}

/// An edge from one block to another, including the edges of blocks in between that only jump.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FusedEdge {
    /// Added to the checksum.
    pub mix: u64,
    /// Added to the base of the counts: instructions in the low half, loads in
    /// the high half.
    pub counts: u64,
    /// The instruction at which execution continues: the one after the target's `Tick`, if it has one.
    pub pc: u32,
    /// The first two moves; if there are fewer, moves of the scratch slot to itself.
    pub moves: [(Slot, Slot); 2],
    /// The remaining moves, in [`FusedCode::moves`].
    pub first: u32,
    pub more: u32,
    /// Added to the time.
    pub tick: bool,
    /// Whether it goes backward or ticks, so that limits must be checked.
    pub check: bool,
}

/// See the module's documentation.
#[derive(Clone, Debug, Default)]
pub struct FusedCode {
    pub ops: Vec<Fused>,
    pub fused_edges: Vec<FusedEdge>,
    pub moves: Vec<(Slot, Slot)>,
    pub tables: Vec<crate::code::Table>,
    /// Number of loads in the code before each instruction.
    pub loads: Vec<u32>,
    /// The edges of each [`FusedEdge`]: a range of [`FusedCode::edges`].
    pub edge_ranges: Vec<(u32, u32)>,
    /// Source and target block of each edge.
    pub edges: Vec<(BlockId, BlockId)>,
}

impl FusedCode {
    /// The edges that a [`FusedEdge`] follows: from its block, then from each block that only jumps.
    #[inline]
    #[must_use]
    pub fn edges_of(&self, fused_edge: u32) -> &[(BlockId, BlockId)] {
        let range = self.edge_ranges.get(fused_edge as usize).copied().unwrap_or((0, 0));
        &self.edges[range.0 as usize..range.1 as usize]
    }

    /// The counts of straight-line code up to an instruction.
    #[inline]
    #[must_use]
    pub fn counts(&self, pc: usize) -> u64 {
        let loads = self.loads.get(pc).copied().unwrap_or(0);
        pc as u64 | u64::from(loads) << 32
    }
}

/// A move whose slots are addressable.
pub(crate) fn near(m: Move) -> (Slot, Slot) {
    (m.dst as Slot, m.src as Slot)
}
