//! Applies an [`Intervention`] to the code: replaces the value of one instruction at one moment.
//!
//! ```text
//! before                          after
//!   br i1 %c, %a, %b                %n = load i64, ptr @occurrences
//!                                   store i64 (%n + 1), ptr @occurrences
//!                                   %now = icmp eq i64 %n, OCCURRENCE
//!                                   %d = select i1 %now, i1 VALUE, i1 %c
//!                                   br i1 %d, %a, %b
//! ```
//!
//! For a branch, a switch, a store and a return the operand is replaced. For every other
//! instruction the uses of the result are replaced.

use crate::Error;
use crate::llvm::{IntPredicate, Linkage, Opcode, Typ, TypeKind, Unit, Val};
use crate::lower::Lowered;
use program::intervention::Intervention;

/// Applies the intervention.
pub(crate) fn apply(unit: &Unit, lowered: &Lowered, wanted: &Intervention) -> Result<(), Error> {
    let refuse = |why| Error::Intervene { function: wanted.function.clone(), why };
    let found = lowered.module.functions.iter().position(|f| f.name == wanted.function);
    let number = found.ok_or(refuse("there is no model of it in this unit"))?;
    let map = &lowered.functions[number];
    if lowered.module.functions[number].code.len() != wanted.length as usize {
        return Err(refuse("its model has another number of instructions"));
    }
    if !matches!(map.function.linkage(), Linkage::LLVMExternalLinkage | Linkage::LLVMInternalLinkage) {
        return Err(refuse("the linker may take the code of another unit"));
    }
    let inst = *map.origins.get(&wanted.index).ok_or(refuse("no instruction of LLVM ends there"))?;
    let operand = match inst.opcode() {
        Opcode::LLVMBr if inst.is_conditional() => Some(0),
        Opcode::LLVMSwitch | Opcode::LLVMStore => Some(0),
        Opcode::LLVMRet if inst.operand_count() == 1 => Some(0),
        Opcode::LLVMBr | Opcode::LLVMRet | Opcode::LLVMInvoke => return Err(refuse("it has no value")),
        _ => None,
    };
    let replaced = operand.map_or(inst, |operand| inst.operand(operand));
    let value = constant(unit, replaced.ty(), wanted.value).ok_or(refuse("its value is no number"))?;
    let b = unit.builder();
    let before = match operand {
        Some(_) => inst,
        None => inst.next_instruction().ok_or(refuse("nothing comes after it"))?,
    };
    b.before(before);
    b.set_location(inst.debug_location());
    let count = unit.add_global("__relapse.occurrences", unit.int(64));
    count.set_initializer(Val::const_null(unit.int(64)));
    count.set_linkage(Linkage::LLVMInternalLinkage);
    let n = b.load(unit.int(64), count);
    b.store(b.bin(Opcode::LLVMAdd, n, unit.const_int(64, 1)), count);
    let now = b.icmp(IntPredicate::LLVMIntEQ, n, unit.const_int(64, wanted.occurrence));
    let selected = b.select(now, value, replaced);
    match operand {
        Some(operand) => inst.set_operand(operand, selected),
        None => {
            replaced.replace_with(selected);
            // Its own operand was replaced like the other uses.
            selected.set_operand(2, replaced);
        }
    }
    Ok(())
}

/// A constant with these bits. Null is the only pointer with the same meaning in another run.
fn constant(unit: &Unit, ty: Typ, bits: u64) -> Option<Val> {
    match ty.kind() {
        TypeKind::LLVMIntegerTypeKind => {
            let width = unit.bits_of(ty) as u32;
            (width <= 64).then(|| unit.const_int(width, bits))
        }
        TypeKind::LLVMFloatTypeKind => Some(unit.const_int(32, bits).const_bitcast(ty)),
        TypeKind::LLVMDoubleTypeKind => Some(unit.const_int(64, bits).const_bitcast(ty)),
        TypeKind::LLVMPointerTypeKind if bits == 0 => Some(Val::const_null(ty)),
        _ => None,
    }
}
