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
//! A statement that only reads a local (`(void)x;`) has its load marked in the
//! same way. The second argument makes every call another one, lest equal
//! assignments be merged. Lowering turns the call into a copy; then it is taken
//! out again, so that it costs nothing in the recorded program.

use crate::llvm::{Builder, Opcode, Typ, TypeKind, Unit, Val};
use std::collections::HashSet;

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
    let mut marker = Marker { unit, b: unit.builder(), number: 0 };
    let locals = promotable(unit);
    let all: Vec<Val> = instructions(unit).filter(|i| line(*i) != 0).collect();
    for i in all {
        match i.opcode() {
            Opcode::LLVMStore if locals.contains(&i.operand(1)) && vanishes(i.operand(0), i, &locals) => {
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
    /// Passes a value through a marking call, at the line that it is used on; none if
    /// it is not scalar.
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

/// Whether the line of an assignment has no instruction of its own once the local is
/// a register.
fn vanishes(value: Val, store: Val, locals: &HashSet<Val>) -> bool {
    if value.is_constant() {
        return !value.is_undef();
    }
    if !value.is_instruction() {
        return false;
    }
    line(value) != line(store)
        || match value.opcode() {
            Opcode::LLVMLoad => locals.contains(&value.operand(0)),
            // No instructions in the model, or none that stays.
            Opcode::LLVMPHI | Opcode::LLVMExtractValue | Opcode::LLVMFreeze => true,
            Opcode::LLVMCall => {
                let callee = value.called_value();
                callee.is_function() && callee.name().starts_with("llvm.")
            }
            _ => false,
        }
}

/// Takes out the marks of values that are used at once, on their own line, and so
/// are seen anyway. After locals were promoted.
pub fn thin_out(unit: &Unit) {
    for i in marks(unit) {
        let seen = |u: &Val| {
            u.opcode() != Opcode::LLVMPHI && !is_mark(*u) && line(*u) == line(i) && u.parent() == i.parent()
        };
        let users = i.users();
        // The register of a phi gets its next value on the way back to the loop, when
        // that of the variable may still be asked for.
        let value = i.operand(0);
        let steady = !value.is_instruction() || value.opcode() != Opcode::LLVMPHI;
        if steady && !users.is_empty() && users.iter().all(seen) {
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

/// A function that takes values of this type; none if they are neither scalar nor vectors.
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
