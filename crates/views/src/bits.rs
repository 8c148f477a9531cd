//! Bit-fields: which bits of its unit a load or store accesses.
//!
//! The machine reads and writes whole units. A read of a bit-field is a load whose value is shifted and
//! masked; a write is a load, a mask that clears the field, an `or` with the new bits, and a store:
//!
//! ```text
//! %unit  = load i8, p          ; part of the write, no read of a neighbour
//! %clear = and i8 %unit, -57
//! %set   = or i8 %clear, %bits
//! store i8 %set, p
//! ```
//!
//! Programs also mask and shift explicitly. A pattern found here therefore counts only if the type has a
//! member of exactly these bits at that offset.

use program::inst::{BinOp, Inst, Operand, Reg, Ty};
use program::model::Function;
use std::collections::HashMap;

/// A range of bits of a unit in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bits {
    pub shift: u32,
    pub width: u32,
    pub signed: bool,
}

impl Bits {
    /// Extracts the field's value from the unit's value.
    #[must_use]
    pub fn of(self, unit: u64) -> u64 {
        let above = 64 - self.width.clamp(1, 64);
        let top = (unit >> self.shift.min(63)) << above;
        if self.signed { (top.cast_signed() >> above).cast_unsigned() } else { top >> above }
    }
}

/// The bit-field accesses of a function, by instruction.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub fields: HashMap<u32, Bits>,
    /// Loads that are part of a bit-field store, with that store's index.
    pub parts: HashMap<u32, u32>,
}

/// Finds all bit-field accesses in one pass over the code.
pub(crate) fn find(f: &Function) -> Found {
    let mut found = Found::default();
    let mut def: HashMap<Reg, u32> = HashMap::new();
    for (index, inst) in f.code.iter().enumerate() {
        if let Some((reg, _)) = inst.defines() {
            def.insert(reg, index as u32);
        }
    }
    for (index, inst) in f.code.iter().enumerate() {
        match inst {
            Inst::Store { addr, value: Operand::Reg(value), ty: Ty::Int(size) } => {
                if let Some((load, bits)) = stored(f, &def, *value, *addr, (*size).into()) {
                    found.fields.insert(index as u32, bits);
                    found.parts.insert(load, index as u32);
                }
            }
            Inst::Load { dst, ty: Ty::Int(size), .. } => {
                if let Some(bits) = loaded(f, index, *dst, (*size).into()) {
                    found.fields.insert(index as u32, bits);
                }
            }
            _ => {}
        }
    }
    found
}

/// The bits that a store changes of the value loaded from the same address, and that load's index.
fn stored(
    f: &Function,
    def: &HashMap<Reg, u32>,
    value: Reg,
    addr: Operand,
    size: u32,
) -> Option<(u32, Bits)> {
    let at = |reg: &Reg| def.get(reg).and_then(|index| f.code.get(*index as usize));
    let cleared = |operand: &Operand| {
        let Operand::Reg(reg) = operand else { return None };
        let Inst::Bin { op: BinOp::And, a: Operand::Reg(unit), b: Operand::Const(mask), .. } = at(reg)?
        else {
            return None;
        };
        let load = *def.get(unit)?;
        let Inst::Load { addr: from, .. } = &f.code[load as usize] else { return None };
        let bits = run(!mask & ones(size))?;
        (*from == addr).then_some((load, bits))
    };
    match at(&value)? {
        Inst::Bin { op: BinOp::Or, a, b, .. } => cleared(a).or_else(|| cleared(b)),
        _ => cleared(&Operand::Reg(value)),
    }
}

/// The bits of a loaded value that the following instructions extract.
fn loaded(f: &Function, index: usize, dst: Reg, size: u32) -> Option<Bits> {
    let (n, op, by) = taken(f, index, dst)?;
    let by32 = u32::try_from(by).ok().filter(|by| *by < size);
    let next = |reg| taken(f, n, reg).map(|(_, op, by)| (op, by));
    let Inst::Bin { dst: result, .. } = &f.code[n] else { return None };
    let bits = |shift, width, signed| (width > 0 && width < size).then_some(Bits { shift, width, signed });
    match op {
        BinOp::And => run(by & ones(size)).filter(|b| b.shift == 0 && b.width < size),
        BinOp::LShr => {
            let shift = by32?;
            match next(*result) {
                Some((BinOp::And, mask)) => {
                    let low = run(mask & ones(size)).filter(|b| b.shift == 0)?;
                    bits(shift, low.width.min(size - shift), false)
                }
                _ => bits(shift, size - shift, false),
            }
        }
        BinOp::AShr => bits(by32?, size - by32?, true),
        BinOp::Shl => match next(*result) {
            Some((BinOp::AShr, right)) => {
                let (left, right) = (by32?, u32::try_from(right).ok().filter(|r| *r < size)?);
                bits(right.checked_sub(left)?, size - right, true)
            }
            _ => None,
        },
        _ => None,
    }
}

/// The next instruction, at most a few further on, that applies an operation with a constant to a value.
fn taken(f: &Function, index: usize, value: Reg) -> Option<(usize, BinOp, u64)> {
    const NEAR: usize = 4;
    let near = f.code.iter().enumerate().skip(index + 1).take(NEAR);
    near.filter_map(|(n, inst)| match inst {
        Inst::Bin { op, a: Operand::Reg(a), b: Operand::Const(by), .. } if *a == value => Some((n, *op, *by)),
        _ => None,
    })
    .next()
}

/// The bits of a mask, if they are contiguous.
fn run(mask: u64) -> Option<Bits> {
    let (shift, width) = (mask.trailing_zeros(), mask.count_ones());
    let whole = width > 0 && mask >> shift == ones(width);
    whole.then_some(Bits { shift, width, signed: false })
}

fn ones(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_have_values_of_their_own() {
        let bits = |shift, width, signed| Bits { shift, width, signed };
        assert_eq!(bits(3, 2, false).of(0b11_0111), 0b10);
        assert_eq!(bits(3, 2, true).of(0b11_0111).cast_signed(), -2);
        assert_eq!(bits(0, 64, false).of(u64::MAX), u64::MAX);
        assert_eq!(run(0b0011_1000), Some(bits(3, 3, false)));
        assert_eq!((run(0b101), run(0)), (None, None));
    }
}
