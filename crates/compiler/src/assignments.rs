//! Keeps assignments to locals visible.
//!
//! Once locals are promoted to registers, `k = 1` and `y = x` have no instruction: the constant, or
//! the other register, replaces every use of the variable. A slice for the value of `y` must still
//! include that line, which may be the very line that was changed. Before promotion, the value of
//! such a store is therefore passed through a call of a fictitious function:
//!
//! | before | after |
//! |---|---|
//! | `store i32 1, ptr %k` | `%v = call i32 @relapse.assign.i32(i32 1, i32 7)` |
//! |  | `store i32 %v, ptr %k` |
//!
//! A load of a local whose value is unused (`(void)x;`) is marked in the same way. The second
//! argument makes every call distinct, so that equal assignments are not merged. Lowering turns the
//! call into a copy; then the call is removed again, so that it costs nothing in the recorded
//! program.

use crate::llvm::{Builder, Opcode, Typ, TypeKind, Unit, Val};
use std::collections::HashSet;

const PREFIX: &str = "relapse.assign.";

/// Attributes that restrict the effects of the called function: the optimiser may delete the call
/// if its value is unused.
const ATTRIBUTES: &[&str] = &["memory", "nounwind", "willreturn", "nosync", "nofree"];

/// Whether this is a marking call.
pub fn is_mark(i: Val) -> bool {
    i.opcode() == Opcode::LLVMCall && i.called_value().is_function() && {
        i.called_value().name().starts_with(PREFIX)
    }
}

/// Marks assignments that promotion would remove. Runs before promotion.
pub fn mark(unit: &Unit) {
    let mut marker = Marker { unit, b: unit.builder(), number: 0 };
    let locals = promotable(unit);
    let all: Vec<Val> = instructions(unit).filter(|i| line(*i) != 0).collect();
    for i in all {
        match i.opcode() {
            Opcode::LLVMStore
                if locals.contains(&i.operand(1)) && is_lost_by_promotion(i.operand(0), i, &locals) =>
            {
                if let Some(marked) = marker.call(i.operand(0), i) {
                    i.set_operand(0, marked);
                }
            }
            Opcode::LLVMLoad if !i.has_uses() && locals.contains(&i.operand(0)) => {
                if let Some(next) = i.next_instruction() {
                    marker.call(i, next);
                }
            }
            _ => {}
        }
    }
}

struct Marker<'u> {
    unit: &'u Unit,
    b: Builder,
    number: u64,
}

impl Marker<'_> {
    /// Passes a value through a marking call, at the line of its use. `None` if its type is neither
    /// scalar nor a vector.
    fn call(&mut self, value: Val, before: Val) -> Option<Val> {
        let unit = self.unit;
        let name = scalar_name(unit, value.ty(), PREFIX)?;
        self.number += 1;
        let ty = unit.function_type(value.ty(), &[value.ty(), unit.int(32)], false);
        let f = unit.named_function(&name).unwrap_or_else(|| {
            let f = unit.add_function(&name, ty);
            for attribute in ATTRIBUTES {
                f.add_attribute(u32::MAX, unit.enum_attribute(attribute, 0));
            }
            f
        });
        self.b.before(before);
        if value.is_instruction() && value.opcode() == Opcode::LLVMLoad && !value.has_uses() {
            self.b.set_location(value.debug_location());
        }
        Some(self.b.call(ty, f, &[value, unit.const_int(32, self.number)]))
    }
}

/// Whether the line of an assignment has no instruction of its own after promotion of the local.
fn is_lost_by_promotion(value: Val, store: Val, locals: &HashSet<Val>) -> bool {
    if value.is_constant() {
        return !value.is_undef();
    }
    if !value.is_instruction() {
        return false;
    }
    line(value) != line(store)
        || match value.opcode() {
            Opcode::LLVMLoad => locals.contains(&value.operand(0)),
            // No instructions in the model, or none that remain.
            Opcode::LLVMPHI | Opcode::LLVMExtractValue | Opcode::LLVMFreeze => true,
            Opcode::LLVMCall => {
                let callee = value.called_value();
                callee.is_function() && callee.name().starts_with("llvm.")
            }
            _ => false,
        }
}

/// Removes marks of values that are used immediately on the same line, and are therefore visible
/// without. Runs after promotion.
pub fn remove_redundant_marks(unit: &Unit) {
    for i in marks(unit) {
        let seen = |u: &Val| {
            u.opcode() != Opcode::LLVMPHI && !is_mark(*u) && line(*u) == line(i) && u.parent() == i.parent()
        };
        let users = i.users();
        // On the back edge of a loop, the register of a phi gets its next value while the previous
        // value of the variable may still be queried.
        let value = i.operand(0);
        let steady = !value.is_instruction() || value.opcode() != Opcode::LLVMPHI;
        if steady && !users.is_empty() && users.iter().all(seen) {
            remove_mark(i);
        }
    }
}

/// Removes all marks. Runs after lowering.
pub fn clear(unit: &Unit) {
    for i in marks(unit) {
        remove_mark(i);
    }
}

fn remove_mark(i: Val) {
    i.replace_with(i.operand(0));
    i.erase();
}

fn marks(unit: &Unit) -> Vec<Val> {
    instructions(unit).filter(|i| is_mark(*i)).collect()
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

/// The locals that promotion turns into registers.
pub fn promotable(unit: &Unit) -> HashSet<Val> {
    instructions(unit).filter(|i| i.opcode() == Opcode::LLVMAlloca && is_promotable(*i)).collect()
}

fn is_promotable(pointer: Val) -> bool {
    pointer.users().iter().all(|u| {
        let whole = |ty| ty == pointer.allocated_type() && !u.is_volatile() && !u.is_atomic();
        match u.opcode() {
            Opcode::LLVMLoad => whole(u.ty()),
            Opcode::LLVMStore => u.operand(0) != pointer && whole(u.operand(0).ty()),
            _ => false,
        }
    })
}

/// The name of a function for values of this type; `None` if they are neither scalar nor vectors.
pub fn scalar_name(unit: &Unit, ty: Typ, prefix: &str) -> Option<String> {
    let (lanes, element) = match ty.kind() {
        TypeKind::LLVMVectorTypeKind => (format!("v{}", ty.vector_len()), ty.element()),
        _ => (String::new(), ty),
    };
    let letter = match element.kind() {
        TypeKind::LLVMIntegerTypeKind if element.int_bits() <= 128 => 'i',
        TypeKind::LLVMPointerTypeKind => 'p',
        TypeKind::LLVMFloatTypeKind | TypeKind::LLVMDoubleTypeKind | TypeKind::LLVMX86_FP80TypeKind => 'f',
        _ => return None,
    };
    Some(format!("{prefix}{lanes}{letter}{}", unit.bits_of(element)))
}
