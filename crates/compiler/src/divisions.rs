//! Makes divisions that can trap run in the program exactly where they run in the model.
//!
//! Replay traps at a division by zero. For the optimiser such a division is undefined behaviour: it
//! deletes one whose result is unused or that an earlier condition makes undefined, and it sinks
//! one past a branch. Instrumentation therefore pins each division by an empty assembly statement
//! that uses the result, and hides the divisor from the optimiser by another. But a division whose
//! result is unused in the source (`x / y, z`) does not run in a program compiled without
//! optimisation either: it is removed from both.

use crate::llvm::{Blk, Opcode, TypeKind, Val};

/// Maximum length of the chains of operations on a result that are followed.
const DEPTH: u32 = 8;

/// Deletes divisions with unused results. Runs before promotion.
pub fn delete_unused_divisions(f: Val) {
    for i in f.blocks().into_iter().flat_map(Blk::instructions) {
        if may_trap(i) && is_unused(i, DEPTH) {
            i.replace_with(i.operand(0));
            i.erase();
        }
    }
}

/// Whether a division may have no result.
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
