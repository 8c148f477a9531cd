//! Bit-fields: the bits of a word that a load uses and a store defines.
//!
//! ```text
//! s.f = x;                               return s.f;
//!   %w = load i8, ptr %p                   %w = load i8, ptr %p       ; uses 0x38
//!   %v = and i8 %x, 7                      %s = lshr i8 %w, 3
//!   %n = shl i8 %v, 3                      %f = and i8 %s, 7
//!   %k = and i8 %w, -57
//!   %o = or i8 %k, %n
//!   store i8 %o, ptr %p    ; defines 0x38, as in %n
//! ```
//!
//! The IR does not record that a word contains bit-fields, and need not: a store that writes back
//! bits just loaded from the same address defines only the other bits, for a bit-field as well as
//! for `flags |= 4`. Both masks are conservative: a load uses no other bits, a store preserves no
//! other bits.

use super::function::Lowering;
use crate::llvm::{Blk, DbgRecord, Opcode, TypeKind, Val};
use program::inst::Operand;
use program::model::BitAccess;
use std::collections::HashSet;

/// Maximum length of operation chains between a load and the last use of its bits.
const DEPTH: u32 = 6;

impl Lowering<'_> {
    /// Records the used bits of the word that the next instruction loads.
    pub fn load_bits(&mut self, load: Val) {
        let Some(all) = all_bits(load) else { return };
        let mask = self.used(load, DEPTH) & all;
        if mask != all && mask != 0 {
            self.bits.push(BitAccess { at: self.here(), mask, value: None });
        }
    }

    /// The bits of a value on which the rest of the program, or the displayed value of a variable,
    /// can depend.
    fn used(&self, v: Val, depth: u32) -> u64 {
        let Some(all) = all_bits(v) else { return u64::MAX };
        if depth == 0 || self.variable_values.contains(&v) {
            return all;
        }
        let sign = all ^ (all >> 1);
        v.users().into_iter().fold(0, |sum, u| {
            let rest = || self.used(u, depth - 1);
            let second = u.operand_count() > 1 && u.operand(0) == v && u.operand(1).is_const_int();
            let by = if second { u.operand(1).zext_value() } else { 64 };
            let bits = match u.opcode() {
                Opcode::LLVMAnd if second => rest() & u.operand(1).zext_value(),
                Opcode::LLVMShl if by < 64 => rest() >> by,
                Opcode::LLVMLShr if by < 64 => rest() << by,
                Opcode::LLVMAShr if by < 64 => rest() << by | sign,
                Opcode::LLVMTrunc | Opcode::LLVMZExt => rest(),
                Opcode::LLVMSExt => rest() | sign,
                _ => all,
            };
            sum | bits & all
        })
    }

    /// Records the bits that the next instruction defines.
    pub fn store_bits(&mut self, store: Val) -> Result<(), String> {
        let Some(all) = all_bits(store.operand(0)) else { return Ok(()) };
        let Some((kept, new)) = bit_insertion(store) else { return Ok(()) };
        let value = match new {
            Some(v) => self.operand(v)?,
            None => Operand::Const(0),
        };
        self.bits.push(BitAccess { at: self.here(), mask: all & !kept, value: Some(value) });
        Ok(())
    }
}

/// The mask of all bits of an integer that fits a register.
fn all_bits(v: Val) -> Option<u64> {
    if v.ty().kind() != TypeKind::LLVMIntegerTypeKind {
        return None;
    }
    match v.ty().int_bits() {
        64 => Some(u64::MAX),
        bits @ 2..64 => Some((1 << bits) - 1),
        _ => None,
    }
}

/// The bits that a store preserves, and the value with the other bits; `None` if these become zero.
fn bit_insertion(store: Val) -> Option<(u64, Option<Val>)> {
    let word = store.operand(0);
    if !word.is_instruction() || store.is_atomic() {
        return None;
    }
    let all = all_bits(word)?;
    match word.opcode() {
        Opcode::LLVMAnd => kept(word, store).map(|kept| (kept, None)),
        Opcode::LLVMOr => {
            let (a, b) = (word.operand(0), word.operand(1));
            [(a, b), (b, a)].into_iter().find_map(|(old, new)| {
                if let Some(kept) = kept(old, store) {
                    return (possible(new, DEPTH) & kept == 0).then_some((kept, Some(new)));
                }
                let sets = new.is_const_int() && is_loaded(old, store);
                sets.then(|| (all & !new.zext_value(), Some(new)))
            })
        }
        _ => None,
    }
}

/// The bits preserved from the word in memory, if `v` masks it.
fn kept(v: Val, store: Val) -> Option<u64> {
    let masks = v.is_instruction() && v.opcode() == Opcode::LLVMAnd;
    let (a, b) = if masks { (v.operand(0), v.operand(1)) } else { return None };
    [(a, b), (b, a)]
        .into_iter()
        .find(|(old, mask)| mask.is_const_int() && is_loaded(*old, store))
        .and_then(|(_, mask)| Some(mask.zext_value() & all_bits(v)?))
}

/// Whether `v` is the value in the memory that `store` writes to, just before the store.
fn is_loaded(v: Val, store: Val) -> bool {
    if !v.is_instruction()
        || v.opcode() != Opcode::LLVMLoad
        || v.is_atomic()
        || v.operand(0) != store.operand(1)
        || v.parent() != store.parent()
    {
        return false;
    }
    let mut next = v.next_instruction();
    while let Some(i) = next {
        if i == store {
            return true;
        }
        let writes = match i.opcode() {
            Opcode::LLVMCall => !crate::assignments::is_mark(i),
            Opcode::LLVMStore | Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg | Opcode::LLVMFence => true,
            _ => false,
        };
        if writes {
            return false;
        }
        next = i.next_instruction();
    }
    false
}

/// The bits of a value that are not known to be zero.
fn possible(v: Val, depth: u32) -> u64 {
    let Some(all) = all_bits(v) else { return u64::MAX };
    if v.is_const_int() {
        return v.zext_value() & all;
    }
    if depth == 0 || !v.is_instruction() {
        return all;
    }
    let of = |n: u32| possible(v.operand(n), depth - 1);
    let by = || Some(v.operand(1)).filter(|n| n.is_const_int()).map_or(64, |n| n.zext_value());
    match v.opcode() {
        Opcode::LLVMAnd => of(0) & of(1),
        Opcode::LLVMOr => of(0) | of(1),
        Opcode::LLVMShl if by() < 64 => of(0) << by() & all,
        Opcode::LLVMLShr if by() < 64 => of(0) >> by(),
        Opcode::LLVMTrunc => of(0) & all,
        Opcode::LLVMZExt => of(0) & all_bits(v.operand(0)).unwrap_or(1),
        _ => all,
    }
}

/// The values of variables, from debug records.
pub fn variable_values(blocks: &[Blk]) -> HashSet<Val> {
    let records = blocks.iter().flat_map(|b| b.instructions()).flat_map(Val::debug_records);
    records.filter(|r| r.is_variable()).filter_map(DbgRecord::value).collect()
}
