//! Keeps assignments to locals visible.
//!
//! Once locals are registers, `k = 1` and `y = x` leave no instruction: the
//! constant, or the other register, stands wherever the variable was used.
//! Who asks why `y` had its value must still be led through that line, which
//! may be the very line that was changed. So before locals are promoted such a
//! store's value is passed through a call of a function that does not exist:
//!
//! | before | after |
//! |---|---|
//! | `store i32 1, ptr %k` | `%v = call i32 @relapse.assign.i32(i32 1, i32 7)` |
//! |  | `store i32 %v, ptr %k` |
//!
//! The second argument makes every call another one, lest equal assignments be
//! merged. Lowering turns the call into a copy; then it is taken out again, so
//! that it costs nothing in the recorded program.

use crate::llvm::{Opcode, TypeKind, Unit, Val};

const PREFIX: &str = "relapse.assign.";

/// What a called function may do, as little as possible: the optimiser may
/// drop the call if nobody wants the value.
const ATTRIBUTES: &[&str] = &["memory", "nounwind", "willreturn", "nosync", "nofree"];

/// Whether this is one of our calls.
pub fn is_mark(i: Val) -> bool {
    i.opcode() == Opcode::LLVMCall && i.called_value().is_function() && {
        i.called_value().name().starts_with(PREFIX)
    }
}

/// Marks assignments that would vanish. Before locals are promoted.
pub fn mark(unit: &Unit) {
    let b = unit.builder();
    let mut number = 0;
    for store in stores(unit) {
        let (value, pointer) = (store.operand(0), store.operand(1));
        if line(store) == 0 || !is_local(pointer) || store.is_volatile() || store.is_atomic() {
            continue;
        }
        let vanishes = if value.is_constant() {
            !value.is_undef()
        } else {
            value.is_instruction()
                && (line(value) != line(store)
                    || value.opcode() == Opcode::LLVMLoad && is_local(value.operand(0)))
        };
        let Some(name) = type_name(unit, value).filter(|_| vanishes) else { continue };
        number += 1;
        let ty = unit.function_type(value.ty(), &[value.ty(), unit.int(32)], false);
        let f = unit.named_function(&name).unwrap_or_else(|| {
            let f = unit.add_function(&name, ty);
            for attribute in ATTRIBUTES {
                f.add_attribute(u32::MAX, unit.enum_attribute(attribute, 0));
            }
            f
        });
        b.before(store);
        let marked = b.call(ty, f, &[value, unit.const_int(32, number)]);
        store.set_operand(0, marked);
    }
}

/// Takes out the marks of values that are used on their own line only, and so
/// are seen anyway. After locals were promoted.
pub fn thin_out(unit: &Unit) {
    for i in marks(unit) {
        let seen = |u: &Val| u.opcode() != Opcode::LLVMPHI && !is_mark(*u) && line(*u) == line(i);
        if i.users().iter().all(seen) {
            take_out(i);
        }
    }
}

/// Takes out all marks. After lowering.
pub fn clear(unit: &Unit) {
    for i in marks(unit) {
        take_out(i);
    }
}

fn take_out(i: Val) {
    i.replace_with(i.operand(0));
    i.erase();
}

fn marks(unit: &Unit) -> Vec<Val> {
    instructions(unit).filter(|i| is_mark(*i)).collect()
}

fn stores(unit: &Unit) -> Vec<Val> {
    instructions(unit).filter(|i| i.opcode() == Opcode::LLVMStore).collect()
}

fn instructions(unit: &Unit) -> impl Iterator<Item = Val> {
    unit.functions()
        .into_iter()
        .filter(|f| !f.is_declaration())
        .flat_map(Val::blocks)
        .flat_map(crate::llvm::Blk::instructions)
}

fn line(i: Val) -> u32 {
    i.debug_location().map_or(0, crate::llvm::Meta::line)
}

/// A local variable, or a part of one.
fn is_local(mut pointer: Val) -> bool {
    while pointer.is_instruction() && pointer.opcode() == Opcode::LLVMGetElementPtr {
        pointer = pointer.operand(0);
    }
    pointer.is_instruction() && pointer.opcode() == Opcode::LLVMAlloca
}

/// The marking function for values of this type; none if they are not scalar.
fn type_name(unit: &Unit, value: Val) -> Option<String> {
    let ty = value.ty();
    let letter = match ty.kind() {
        TypeKind::LLVMIntegerTypeKind if ty.int_bits() <= 64 => 'i',
        TypeKind::LLVMPointerTypeKind => 'p',
        TypeKind::LLVMFloatTypeKind | TypeKind::LLVMDoubleTypeKind => 'f',
        _ => return None,
    };
    Some(format!("{PREFIX}{letter}{}", unit.bits_of(ty)))
}
