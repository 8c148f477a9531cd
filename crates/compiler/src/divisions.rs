//! Divisions that can trap run in the program exactly where they run in the model.
//!
//! Replay traps at a division by zero. To the optimiser such a division is undefined: it
//! drops one whose result is not wanted, or that a condition before it tells to have none, or moves it
//! behind a branch. So instrumentation keeps each where it is, by an empty assembly statement that takes
//! the result, and hides the divisor from the optimiser by another one. But one
//! that nothing wants in the source (`x / y, z`) does not run in a program compiled
//! without optimisation either: it is taken out of both.

use crate::llvm::{Blk, Opcode, TypeKind, Val};

/// How many operations on a result are looked at.
const DEPTH: u32 = 8;

/// Takes out divisions whose result nothing wants, before locals are promoted.
pub fn drop_unused(f: Val) {
    for i in f.blocks().into_iter().flat_map(Blk::instructions) {
        if may_trap(i) && is_unused(i, DEPTH) {
            i.replace_with(i.operand(0));
            i.erase();
        }
    }
}

/// Whether a division can have no result.
pub fn may_trap(i: Val) -> bool {
    let signed = match i.opcode() {
        Opcode::LLVMSDiv | Opcode::LLVMSRem => true,
        Opcode::LLVMUDiv | Opcode::LLVMURem => false,
        _ => return false,
    };
    let by = i.operand(1);
    i.ty().kind() == TypeKind::LLVMIntegerTypeKind
        && (!by.is_const_int() || by.is_null() || signed && by.sext_value() == -1)
}

fn is_unused(v: Val, depth: u32) -> bool {
    use Opcode as O;
    v.users().into_iter().all(|u| {
        let computes = matches!(
            u.opcode(),
            O::LLVMAdd
                | O::LLVMSub
                | O::LLVMMul
                | O::LLVMSDiv
                | O::LLVMUDiv
                | O::LLVMSRem
                | O::LLVMURem
                | O::LLVMShl
                | O::LLVMLShr
                | O::LLVMAShr
                | O::LLVMAnd
                | O::LLVMOr
                | O::LLVMXor
                | O::LLVMICmp
                | O::LLVMTrunc
                | O::LLVMZExt
                | O::LLVMSExt
                | O::LLVMSelect
        );
        computes && depth > 0 && is_unused(u, depth - 1)
    })
}
