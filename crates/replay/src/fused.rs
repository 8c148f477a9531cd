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

/// A register slot of the frame; no frame in this form has more than [`WINDOW`].
pub type Slot = u16;

/// Number of slots that the fast loop can address from the base of a frame.
pub const WINDOW: usize = 1 << 16;

/// The operations of [`crate::code::Op`], by the same names. A number is a width in bits (a size in bytes for
/// accesses); concatenated names are consecutive instructions. `edge` is the first of two edges in
/// [`FusedCode::fused_edges`]: the one for the false condition follows.
///
/// Texts give the order in which a group assigns its slots. `dst[n]` is the slot `n` after `dst`.
/// the false condition follows.
// One line each, so that they read as a list.
#[rustfmt::skip]
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)] // The fields are operand slots, assigned as the texts of the variants state.
pub enum Fused {
    /// `dst = a + b`.
    Add64 { dst: Slot, a: Slot, b: Slot },
    /// `dst = a + b`, both truncated.
    Add32 { dst: Slot, a: Slot, b: Slot },
    /// `dst = a + b`, of any other width.
    Add { sh: u8, dst: Slot, a: Slot, b: Slot },
    /// `dst = a - b`.
    Sub64 { dst: Slot, a: Slot, b: Slot },
    /// `dst = a - b`, both truncated.
    Sub32 { dst: Slot, a: Slot, b: Slot },
    /// `dst = a - b`, of any other width.
    Sub { sh: u8, dst: Slot, a: Slot, b: Slot },
    /// `dst = a * b`.
    Mul { sh: u8, dst: Slot, a: Slot, b: Slot },
    /// `dst = a & b`.
    And { dst: Slot, a: Slot, b: Slot },
    /// `dst = a | b`.
    Or { dst: Slot, a: Slot, b: Slot },
    /// `dst = a ^ b`.
    Xor { dst: Slot, a: Slot, b: Slot },
    /// `dst = a << b`, the amount modulo the width.
    Shl { sh: u8, dst: Slot, a: Slot, b: Slot },
    /// `dst = a >> b`, filled with zeros.
    LShr { sh: u8, dst: Slot, a: Slot, b: Slot },
    /// `dst = a >> b`, filled with the sign.
    AShr { sh: u8, dst: Slot, a: Slot, b: Slot },
    /// `dst = a / b`, unsigned; left to the plain loop if it traps.
    UDiv { dst: Slot, a: Slot, b: Slot },
    /// `dst = a % b`, unsigned; left to the plain loop if it traps.
    URem { dst: Slot, a: Slot, b: Slot },
    /// `dst = a / b`, signed; left to the plain loop if it traps.
    SDiv { sh: u8, dst: Slot, a: Slot, b: Slot },
    /// `dst = a % b`, signed; left to the plain loop if it traps.
    SRem { sh: u8, dst: Slot, a: Slot, b: Slot },
    /// `dst = a == b`.
    Eq { dst: Slot, a: Slot, b: Slot },
    /// `dst = a != b`.
    Ne { dst: Slot, a: Slot, b: Slot },
    /// `dst = a < b`, unsigned.
    Ult { dst: Slot, a: Slot, b: Slot },
    /// `dst = a <= b`, unsigned.
    Ule { dst: Slot, a: Slot, b: Slot },
    /// `dst = a < b`, signed.
    Slt { sh: u8, dst: Slot, a: Slot, b: Slot },
    /// `dst = a <= b`, signed.
    Sle { sh: u8, dst: Slot, a: Slot, b: Slot },
    /// `dst = a + b`, of `double`.
    F64Add { dst: Slot, a: Slot, b: Slot },
    /// `dst = a - b`, of `double`.
    F64Sub { dst: Slot, a: Slot, b: Slot },
    /// `dst = a * b`, of `double`.
    F64Mul { dst: Slot, a: Slot, b: Slot },
    /// `dst = a op b`, of `double`: divisions; the others have operations of their own.
    F64 { op: FloatOp, dst: Slot, a: Slot, b: Slot },
    /// `dst = a op b`, of `float`.
    F32 { op: FloatOp, dst: Slot, a: Slot, b: Slot },
    /// `dst = a pred b`, of `double`.
    FCmp64 { pred: FloatPred, dst: Slot, a: Slot, b: Slot },
    /// `dst = a`, its low 32 bits.
    Trunc32 { dst: Slot, a: Slot },
    /// `dst = a`, its low bits.
    Trunc { sh: u8, dst: Slot, a: Slot },
    /// `dst = a`, sign-extended from 32 to 64 bits.
    Sext3264 { dst: Slot, a: Slot },
    /// `dst = a`, sign-extended; `from` and `to` are 64 minus the widths.
    Sext { from: u8, to: u8, dst: Slot, a: Slot },
    /// `dst = a`, a signed integer converted to `double`.
    SiToF64 { sh: u8, dst: Slot, a: Slot },
    /// `dst = a`.
    Copy { dst: Slot, a: Slot },
    /// `dst = cond ? a : b`.
    Select { dst: Slot, cond: Slot, a: Slot, b: Slot },
    /// `dst = base + index * scale`.
    Scaled64 { dst: Slot, base: Slot, index: Slot, scale: i32 },
    /// `dst = base + sext(index) * scale`.
    Scaled { sh: u8, dst: Slot, base: Slot, index: Slot, scale: i32 },
    /// `dst = frame + offset`.
    Frame { dst: Slot, offset: u32 },
    /// `dst = load addr`, 1 byte, zero-extended.
    Load1 { dst: Slot, addr: Slot },
    /// `dst = load addr`, 2 bytes, zero-extended.
    Load2 { dst: Slot, addr: Slot },
    /// `dst = load addr`, 4 bytes, zero-extended.
    Load4 { dst: Slot, addr: Slot },
    /// `dst = load addr`, 8 bytes.
    Load8 { dst: Slot, addr: Slot },
    /// `store value, addr`, the low byte.
    Store1 { addr: Slot, value: Slot },
    /// `store value, addr`, the low 2 bytes.
    Store2 { addr: Slot, value: Slot },
    /// `store value, addr`, the low 4 bytes.
    Store4 { addr: Slot, value: Slot },
    /// `store value, addr`, 8 bytes.
    Store8 { addr: Slot, value: Slot },
    /// Advances the time. A [`FusedEdge`] to the block includes it, and continues at the next instruction.
    Tick,
    /// Follows `edge`; there is no second one.
    Jump { edge: u32 },
    /// Follows `edge` or the one after it.
    Branch { cond: Slot, edge: u32 },
    /// Follows the edge that a table of [`FusedCode::tables`] has for `value`.
    Switch { value: Slot, table: u32 },
    /// Makes a call of [`crate::code::Code::calls`]: `ret` slots from `dst` on get the result, and `loads`
    /// loads precede the instruction in the code.
    Call { ret: u8, dst: Slot, call: u32, loads: u32 },
    /// Returns `slots` slots from `value` on; `loads` loads precede the instruction in the code.
    Return { slots: u8, value: Slot, loads: u32 },
    /// Every other instruction; left to the plain loop.
    Slow,

    // An address and the access to it: members of structs.
    /// `addr = a + b; dst = load addr`, 1 byte.
    AddLoad1 { addr: Slot, a: Slot, b: Slot, dst: Slot },
    /// `addr = a + b; dst = load addr`, 2 bytes.
    AddLoad2 { addr: Slot, a: Slot, b: Slot, dst: Slot },
    /// `addr = a + b; dst = load addr`, 4 bytes.
    AddLoad4 { addr: Slot, a: Slot, b: Slot, dst: Slot },
    /// `addr = a + b; dst = load addr`, 8 bytes.
    AddLoad8 { addr: Slot, a: Slot, b: Slot, dst: Slot },
    /// `addr = a + b; store value, addr`, 1 byte.
    AddStore1 { addr: Slot, a: Slot, b: Slot, value: Slot },
    /// `addr = a + b; store value, addr`, 2 bytes.
    AddStore2 { addr: Slot, a: Slot, b: Slot, value: Slot },
    /// `addr = a + b; store value, addr`, 4 bytes.
    AddStore4 { addr: Slot, a: Slot, b: Slot, value: Slot },
    /// `addr = a + b; store value, addr`, 8 bytes.
    AddStore8 { addr: Slot, a: Slot, b: Slot, value: Slot },
    // The same, and the value copied: zero-extended.
    /// `addr = a + b; dst = load addr; copy = dst`, 1 byte.
    AddLoad1Copy { addr: Slot, a: Slot, b: Slot, dst: Slot, copy: Slot },
    /// `addr = a + b; dst = load addr; copy = dst`, 2 bytes.
    AddLoad2Copy { addr: Slot, a: Slot, b: Slot, dst: Slot, copy: Slot },
    /// `addr = a + b; dst = load addr; copy = dst`, 4 bytes.
    AddLoad4Copy { addr: Slot, a: Slot, b: Slot, dst: Slot, copy: Slot },
    // A member of the object that a member points to.
    /// `addr = a + b; dst = load addr; sum = dst + c`.
    AddLoad8Add { addr: Slot, a: Slot, b: Slot, dst: Slot, sum: Slot, c: Slot },
    /// `addr = a + b; dst = load addr; sum = dst + c; last = load sum`.
    AddLoad8AddLoad8 { addr: Slot, a: Slot, b: Slot, dst: Slot, sum: Slot, c: Slot, last: Slot },
    /// `addr = a + b; dst = load addr; copy = dst`, 8 bytes.
    AddLoad8Copy { addr: Slot, a: Slot, b: Slot, dst: Slot, copy: Slot },
    // The load does not use the sum: `*p++`.
    /// `sum = a + b; dst = load addr`, 1 byte.
    AddThenLoad1 { sum: Slot, a: Slot, b: Slot, dst: Slot, addr: Slot },
    /// `sum = a + b; dst = load addr`, 4 bytes.
    AddThenLoad4 { sum: Slot, a: Slot, b: Slot, dst: Slot, addr: Slot },
    /// `sum = a + b; dst = load addr`, 8 bytes.
    AddThenLoad8 { sum: Slot, a: Slot, b: Slot, dst: Slot, addr: Slot },
    /// `dst = load addr; copy = dst`.
    Load8Copy { dst: Slot, addr: Slot, copy: Slot },
    /// `dst = load addr; dst2 = load addr2`; the second address may be the first result.
    Load8ThenLoad8 { dst: Slot, addr: Slot, dst2: Slot, addr2: Slot },
    /// `dst = a; store value, addr`.
    CopyThenStore8 { dst: Slot, a: Slot, addr: Slot, value: Slot },
    // Elements of arrays.
    /// `addr = base + index * scale; dst = load addr`, 1 byte.
    Scaled64Load1 { addr: Slot, base: Slot, index: Slot, scale: i16, dst: Slot },
    /// `addr = base + index * scale; dst = load addr`, 4 bytes.
    Scaled64Load4 { addr: Slot, base: Slot, index: Slot, scale: i16, dst: Slot },
    /// `addr = base + index * scale; dst = load addr`, 8 bytes.
    Scaled64Load8 { addr: Slot, base: Slot, index: Slot, scale: i16, dst: Slot },
    /// `addr = base + sext(index) * scale; dst = load addr`, 4 bytes.
    ScaledLoad4 { sh: u8, addr: Slot, base: Slot, index: Slot, scale: i16, dst: Slot },
    /// `index = sext(a); dst = base + index * scale`.
    Sext3264Scaled64 { index: Slot, a: Slot, dst: Slot, base: Slot, scale: i16 },
    /// `index = a; dst = base + index * scale`.
    CopyScaled64 { index: Slot, a: Slot, dst: Slot, base: Slot, scale: i16 },
    /// `index = a; addr = base + index * scale; dst = load addr`.
    CopyScaled64Load8 { index: Slot, a: Slot, addr: Slot, base: Slot, scale: i16, dst: Slot },
    /// `index = sext(a); addr = base + index * scale; dst = load addr`, 1 byte.
    Sext3264Scaled64Load1 { index: Slot, a: Slot, addr: Slot, base: Slot, scale: i16, dst: Slot },
    /// `index = sext(a); addr = base + index * scale; dst = load addr`, 4 bytes.
    Sext3264Scaled64Load4 { index: Slot, a: Slot, addr: Slot, base: Slot, scale: i16, dst: Slot },
    /// `index = sext(a); addr = base + index * scale; dst = load addr`, 8 bytes.
    Sext3264Scaled64Load8 { index: Slot, a: Slot, addr: Slot, base: Slot, scale: i16, dst: Slot },
    // Fields of packed words.
    /// `dst = a >> b; and = dst & c`.
    LShrAnd { sh: u8, dst: Slot, a: Slot, b: Slot, and: Slot, c: Slot },
    /// As an index: `dst = a >> b; dst[1] = dst & c; dst[2] = sext(dst[1]); dst[3] = base + dst[2] * scale`.
    LShrAndSextScaled64 { sh: u8, dst: Slot, a: Slot, b: Slot, c: Slot, base: Slot, scale: i16 },
    /// `dst = a & b; copy = dst`.
    AndCopy { dst: Slot, a: Slot, b: Slot, copy: Slot },
    /// `and = a & b; dst = and == c`; branch on `dst`.
    AndEqBranch { and: Slot, a: Slot, b: Slot, dst: Slot, c: Slot, edge: u32 },
    /// `and = a & b; dst = and != c`; branch on `dst`.
    AndNeBranch { and: Slot, a: Slot, b: Slot, dst: Slot, c: Slot, edge: u32 },
    /// `dst = a`; switch on `dst`.
    CopySwitch { dst: Slot, a: Slot, table: u32 },
    // The end of a block.
    /// `dst = a + b`; jump.
    Add64Jump { dst: Slot, a: Slot, b: Slot, edge: u32 },
    /// `dst = a + b`, both truncated; jump.
    Add32Jump { dst: Slot, a: Slot, b: Slot, edge: u32 },
    /// `dst = a`; jump.
    CopyJump { dst: Slot, a: Slot, edge: u32 },
    /// `dst = load addr`; jump.
    Load8Jump { dst: Slot, addr: Slot, edge: u32 },
    /// `addr = a + b; store value, addr`, 1 byte; jump.
    AddStore1Jump { addr: Slot, a: Slot, b: Slot, value: Slot, edge: u32 },
    /// `addr = a + b; store value, addr`, 8 bytes; jump.
    AddStore8Jump { addr: Slot, a: Slot, b: Slot, value: Slot, edge: u32 },
    // Conditions.
    /// `dst = a == b`; branch on `dst`.
    EqBranch { dst: Slot, a: Slot, b: Slot, edge: u32 },
    /// `dst = a != b`; branch on `dst`.
    NeBranch { dst: Slot, a: Slot, b: Slot, edge: u32 },
    /// `dst = a < b`, unsigned; branch on `dst`.
    UltBranch { dst: Slot, a: Slot, b: Slot, edge: u32 },
    /// `dst = a <= b`, unsigned; branch on `dst`.
    UleBranch { dst: Slot, a: Slot, b: Slot, edge: u32 },
    /// `dst = a < b`, signed; branch on `dst`.
    SltBranch { sh: u8, dst: Slot, a: Slot, b: Slot, edge: u32 },
    /// `dst = a <= b`, signed; branch on `dst`.
    SleBranch { sh: u8, dst: Slot, a: Slot, b: Slot, edge: u32 },
    // A condition in `__builtin_expect`: converted to `int`, then to `long`, then compared with zero; each
    // result is in the slot after the previous one.
    /// `a == b` to `dst` and the three slots after it; branch on it.
    EqExpect { dst: Slot, a: Slot, b: Slot, edge: u32 },
    /// `a != b` to `dst` and the three slots after it; branch on it.
    NeExpect { dst: Slot, a: Slot, b: Slot, edge: u32 },
    /// `a < b`, unsigned, to `dst` and the three slots after it; branch on it.
    UltExpect { dst: Slot, a: Slot, b: Slot, edge: u32 },
    /// `a < b`, signed, to `dst` and the three slots after it; branch on it.
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
    /// Start of the remaining moves in [`FusedCode::moves`].
    pub first: u32,
    /// Number of the remaining moves.
    pub more: u32,
    /// Added to the time.
    pub tick: bool,
    /// Whether it goes backward or ticks, so that limits must be checked.
    pub check: bool,
}

/// A function in fused form. The module's documentation describes it.
#[derive(Clone, Debug, Default)]
pub struct FusedCode {
    /// One for each instruction, at the same index as in the model.
    pub ops: Vec<Fused>,
    /// The edges that control can follow, in the order of the jumps, branches and switches that use them.
    pub fused_edges: Vec<FusedEdge>,
    /// The moves (destination, source) that do not fit into their [`FusedEdge`].
    pub moves: Vec<(Slot, Slot)>,
    /// Of its switches; their entries are indices into [`FusedCode::fused_edges`].
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
