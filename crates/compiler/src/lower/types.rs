//! LLVM types as lists of register leaves.

use crate::llvm::{Typ, TypeKind, Unit, Val, attribute_int, attribute_type};
use crate::normalise::elements;
use program::inst::{ArgTy, FloatKind, Ty};

/// Values with more leaves are not kept in registers.
const MAX_LEAVES: usize = 64;

/// The scalar parts of a first-class value, in order. A vector of up to 128 bits is one integer of
/// that width; a wider one consists of 64-bit integers.
pub fn leaves(unit: &Unit, t: Typ) -> Result<Vec<Ty>, String> {
    let one = |t| Ok(vec![t]);
    match t.kind() {
        TypeKind::LLVMVoidTypeKind => Ok(Vec::new()),
        TypeKind::LLVMIntegerTypeKind if t.int_bits() <= 128 => one(Ty::Int(t.int_bits() as u16)),
        TypeKind::LLVMPointerTypeKind => one(Ty::Ptr),
        TypeKind::LLVMFloatTypeKind => one(Ty::Float(FloatKind::F32)),
        TypeKind::LLVMDoubleTypeKind => one(Ty::Float(FloatKind::F64)),
        TypeKind::LLVMX86_FP80TypeKind => one(Ty::Float(FloatKind::F80)),
        TypeKind::LLVMVectorTypeKind if unit.bits_of(t) <= 128 => one(Ty::Int(unit.bits_of(t) as u16)),
        TypeKind::LLVMVectorTypeKind if unit.bits_of(t) <= 64 * MAX_LEAVES as u64 => {
            let bits = unit.bits_of(t);
            Ok((0..bits).step_by(64).map(|at| Ty::Int((bits - at).min(64) as u16)).collect())
        }
        TypeKind::LLVMStructTypeKind | TypeKind::LLVMArrayTypeKind => {
            let mut out = Vec::new();
            for (e, _) in elements(unit, t) {
                out.extend(leaves(unit, e)?);
                if out.len() > MAX_LEAVES {
                    return Err(format!("a value of type {} does not fit registers", t.print()));
                }
            }
            Ok(out)
        }
        _ => Err(format!("it has values of type {}", t.print())),
    }
}

/// Whether a value is a vector with several leaves.
pub fn is_wide_vector(unit: &Unit, t: Typ) -> bool {
    t.kind() == TypeKind::LLVMVectorTypeKind && unit.bits_of(t) > 128
}

/// The single leaf of a scalar type.
pub fn scalar(unit: &Unit, t: Typ) -> Result<Ty, String> {
    match leaves(unit, t)?.as_slice() {
        [one] => Ok(*one),
        _ => Err(format!("a value of type {} is not a scalar", t.print())),
    }
}

pub fn slots(tys: &[Ty]) -> u32 {
    tys.iter().map(|t| t.slots()).sum()
}

/// How argument `index` (from 0) of a call, or a parameter of a function (`call` false), is passed.
/// Aggregates have one entry per leaf.
pub fn arg_type(unit: &Unit, of: Val, call: bool, index: u32, t: Typ) -> Result<Vec<ArgTy>, String> {
    let attribute =
        |name| if call { of.call_attribute(index + 1, name) } else { of.attribute(index + 1, name) };
    if let Some(a) = attribute("byval") {
        let ty = attribute_type(a);
        let align = attribute("align").map_or(8, attribute_int).max(8) as u32;
        return Ok(vec![ArgTy::ByVal { size: unit.size_of(ty), align }]);
    }
    for odd in ["inalloca", "preallocated", "nest", "swiftself", "swifterror", "swiftasync"] {
        if attribute(odd).is_some() {
            return Err(format!("a parameter is passed by `{odd}`"));
        }
    }
    Ok(leaves(unit, t)?.into_iter().map(ArgTy::Value).collect())
}
