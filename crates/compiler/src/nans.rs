//! The sign of a NaN that constants make.
//!
//! The processor makes a negative one of `0.0 / 0.0`, and so does replay; the optimiser folds it to a
//! positive one. With the positive one as an operand, the result is that one to all three.

use crate::assignments::is_mark;
use crate::llvm::{Builder, Opcode, RealPredicate, Val};

const FUNCTION: u32 = u32::MAX;

/// How many operations on a number that is known are looked at.
const DEPTH: u32 = 8;

/// Settles the result of an operation on numbers that are known, where the optimiser will look at it.
pub fn settle(b: &Builder, f: Val, i: Val) {
    if !computes(i) || f.attribute(FUNCTION, "optnone").is_some() {
        return;
    }
    b.before(i);
    if let Some(folded) = known(b, i, DEPTH)
        && b.fcmp(RealPredicate::LLVMRealUNO, folded, folded).zext_value() == 1
    {
        // The other one still leads to what was assigned before.
        i.set_operand(u32::from(!i.operand(0).is_const_fp() && i.operand(1).is_const_fp()), folded);
    }
}

fn computes(i: Val) -> bool {
    matches!(i.opcode(), Opcode::LLVMFAdd | Opcode::LLVMFSub | Opcode::LLVMFMul | Opcode::LLVMFDiv)
}

/// What the optimiser folds a number to, if that is a constant.
fn known(b: &Builder, v: Val, depth: u32) -> Option<Val> {
    if v.is_const_fp() {
        return Some(v);
    }
    if !v.is_instruction() || depth == 0 {
        return None;
    }
    let operand = |n| known(b, v.operand(n), depth - 1);
    let folded = match v.opcode() {
        op @ (Opcode::LLVMFPTrunc | Opcode::LLVMFPExt) => b.cast(op, operand(0)?, v.ty()),
        op if computes(v) => b.bin(op, operand(0)?, operand(1)?),
        _ if is_mark(v) => operand(0)?,
        _ => return None,
    };
    folded.is_const_fp().then_some(folded)
}
