//! The sign of NaN results of constant operations.
//!
//! For `0.0 / 0.0` the processor and replay compute a negative NaN, but the optimiser folds it to a
//! positive one. With the positive NaN as an operand, all three return that operand.

use crate::assignments::is_mark;
use crate::llvm::{Builder, Opcode, RealPredicate, Val};

const FUNCTION: u32 = u32::MAX;

/// Maximum depth of constant operands that are followed.
const DEPTH: u32 = 8;

/// Replaces an operand of an operation on constants by its NaN result, if the optimiser would fold
/// it.
pub fn fold_nan_operand(b: &Builder, f: Val, i: Val) {
    if !computes(i) || f.attribute(FUNCTION, "optnone").is_some() {
        return;
    }
    b.before(i);
    if let Some(folded) = known(b, i, DEPTH)
        && b.fcmp(RealPredicate::LLVMRealUNO, folded, folded).zext_value() == 1
    {
        // Keep an operand that is not constant, so that its data dependence remains.
        i.set_operand(u32::from(!i.operand(0).is_const_fp() && i.operand(1).is_const_fp()), folded);
    }
}

fn computes(i: Val) -> bool {
    matches!(i.opcode(), Opcode::LLVMFAdd | Opcode::LLVMFSub | Opcode::LLVMFMul | Opcode::LLVMFDiv)
}

/// The constant to which the optimiser folds a value, if there is one.
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
