//! Bit-fields in formulas: hides the containing word, its shifts and its masks, which the compiler
//! introduces.

use super::{DEEPEST, Reader, number};
use program::inst::{BinOp, CastOp, Inst, Operand};
use program::model::{Home, TypeKind};

impl Reader<'_> {
    /// The formula for the store of a bit-field: `line->kind = 3`.
    pub(super) fn bit_store(&self, index: u32, address: Operand) -> Option<String> {
        let access = self.function.bit_access(index)?;
        let target = self.bit_place(address, access.mask)?;
        let (place, width) = (access.mask.trailing_zeros(), access.mask.count_ones());
        let value = match access.value? {
            Operand::Const(word) => number((word & access.mask) >> place),
            word => {
                let shifted = match self.binary(word) {
                    Some((BinOp::Shl, value, amount)) if amount == u64::from(place) => value,
                    _ if place == 0 => word,
                    _ => return None,
                };
                let cut = match self.binary(shifted) {
                    Some((BinOp::And, value, mask)) if mask == low(width) => value,
                    _ => shifted,
                };
                self.operand(cut, false, DEEPEST)?
            }
        };
        Some(format!("{target} = {value}"))
    }

    /// The bit-field that an instruction extracts from its word, if it is the last instruction of the
    /// extraction.
    pub(super) fn bit_load(&self, inst: &Inst) -> Option<String> {
        let Inst::Bin { op, bits, a, b: Operand::Const(constant), .. } = inst else { return None };
        let (inner, shift) = match self.binary(*a) {
            Some((inner @ (BinOp::LShr | BinOp::Shl), word, shift)) => (Some((inner, word)), shift),
            _ => (None, 0),
        };
        let word = inner.map_or(*a, |(_, word)| word);
        let Operand::Reg(reg) = word else { return None };
        let (at, Inst::Load { addr, .. }) = self.definition(reg)? else { return None };
        let mask = self.function.bit_access(at)?.mask;
        let (place, width) = (u64::from(mask.trailing_zeros()), mask.count_ones());
        let above = u64::from(*bits).checked_sub(place + u64::from(width))?;
        let takes_out = match (inner, op) {
            (Some((BinOp::LShr, _)), BinOp::And) => shift == place && *constant == low(width),
            (None, BinOp::And) => place == 0 && *constant == low(width),
            (None, BinOp::LShr) => above == 0 && *constant == place,
            (Some((BinOp::Shl, _)), BinOp::AShr) => shift == above && *constant == above + place,
            (None, BinOp::AShr) => above == 0 && *constant == place,
            _ => false,
        };
        if takes_out { self.bit_place(*addr, mask) } else { None }
    }

    /// A binary operation with a constant; casts between integers are skipped.
    fn binary(&self, operand: Operand) -> Option<(BinOp, Operand, u64)> {
        let Operand::Reg(reg) = operand else { return None };
        match self.definition(reg)?.1 {
            Inst::Bin { op, a, b: Operand::Const(constant), .. } => Some((*op, *a, *constant)),
            Inst::Cast { op: CastOp::Trunc | CastOp::Zext | CastOp::Sext, a, .. } => self.binary(*a),
            _ => None,
        }
    }

    /// The member that occupies the bits of a word at an address.
    fn bit_place(&self, address: Operand, mask: u64) -> Option<String> {
        let (object, ty, offset) = self.object(address)?;
        let TypeKind::Record { members, .. } = self.bare(ty)? else { return None };
        let first = 8 * u64::try_from(offset).ok()? + u64::from(mask.trailing_zeros());
        let is_it = |m: &&program::model::Member| {
            m.bit_offset == first && m.bits == u64::from(mask.count_ones()) && !m.name.is_empty()
        };
        Some(format!("{object}{}", members.iter().find(is_it)?.name))
    }

    /// The object at an address, as a prefix for its members: its type, and the offset in it.
    fn object(&self, address: Operand) -> Option<(String, u32, i64)> {
        let behind = |pointer: Operand| self.pointer(pointer).map(|(name, ty)| (format!("{name}->"), ty));
        let Operand::Reg(reg) = address else { return None };
        match self.definition(reg).map(|d| d.1) {
            Some(Inst::Frame { offset, .. }) => self.in_frame(*offset),
            Some(Inst::Address { base, index: Operand::Const(0), offset, .. }) => {
                if let Operand::Reg(reg) = base
                    && let Some((_, Inst::Frame { offset: first, .. })) = self.definition(*reg)
                    && let Some((name, ty, within)) = self.in_frame(*first)
                {
                    return Some((name, ty, within + offset));
                }
                behind(*base).map(|(name, ty)| (name, ty, *offset))
            }
            _ => behind(address).map(|(name, ty)| (name, ty, 0)),
        }
    }

    /// The variable at an offset of the frame: a prefix for its members, its type, and the offset in it.
    fn in_frame(&self, offset: u64) -> Option<(String, u32, i64)> {
        self.function.bindings.iter().find_map(|binding| {
            let Home::Frame(first) = binding.home else { return None };
            let variable = self.function.variables.get(binding.variable as usize)?;
            let size = self.module.types.get(variable.ty? as usize)?.size;
            let within = offset.checked_sub(first).filter(|within| *within < size)?;
            Some((format!("{}.", variable.name), variable.ty?, within.cast_signed()))
        })
    }
}

fn low(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}
