//! Demanded bits: which bits of its operands an instruction needs for the used bits of its result.
//!
//! Compilers pass a small structure in one register, keep flags side by side in a word, and read a bit-field
//! by a shift and a mask. A slice that follows whole registers includes the origins of neighbouring fields.
//! So a live register has the set of bits that its uses demand: as in the analysis of the same name in
//! optimisers, but along the executed trace.
//!
//! An instruction whose bits are not modelled needs its operands as a whole.

use program::inst::{BinOp, CastOp, Inst, Operand, Pure, Ty};

/// All bits of a register slot.
pub const ALL: u64 = u64::MAX;

/// The lowest bits of a slot.
#[inline]
pub fn low(bits: u32) -> u64 {
    if bits >= 64 { ALL } else { (1 << bits) - 1 }
}

/// The bits of each operand that an instruction without memory access needs for some bits of its result.
/// Zero if these bits are the same for all operands, as for `flags |= READY`; that the instruction ran still
/// matters.
pub fn of_operands(inst: &Inst, demanded: u64) -> u64 {
    match inst {
        Inst::Copy { .. } => demanded,
        Inst::Cast { op, from: Ty::Int(from), to: Ty::Int(to), .. } if (*from).max(*to) <= 64 => {
            of_cast(*op, u32::from(*from), u32::from(*to), demanded)
        }
        Inst::Cast { op: CastOp::Bits, from, to, .. } if from.slots() == 1 && to.slots() == 1 => demanded,
        Inst::Bin { op, bits, a, b, .. } if *bits <= 64 => {
            of_binary(*op, u32::from(*bits), (*a, *b), demanded & low((*bits).into()))
        }
        Inst::Pure { op: Pure::Bswap, ty: Ty::Int(bits), .. } if *bits <= 64 => {
            (demanded & low((*bits).into())).swap_bytes() >> (64 - bits)
        }
        _ => ALL,
    }
}

fn of_cast(op: CastOp, from: u32, to: u32, demanded: u64) -> u64 {
    match op {
        CastOp::Trunc => demanded & low(to),
        CastOp::Zext => demanded & low(from),
        CastOp::Sext => with_sign(demanded & low(to), 0, from),
        CastOp::Bits => demanded,
        _ => ALL,
    }
}

/// The bits of a number that are needed for `demanded` bits of the number shifted right, sign-extended.
fn with_sign(demanded: u64, shift: u32, bits: u32) -> u64 {
    let kept = bits - shift;
    let sign = if demanded & !low(kept) == 0 { 0 } else { 1 << (bits - 1) };
    (demanded & low(kept)) << shift | sign
}

fn of_binary(op: BinOp, bits: u32, operands: (Operand, Operand), demanded: u64) -> u64 {
    let constant = match operands {
        (_, Operand::Const(c)) | (Operand::Const(c), _) => Some(c),
        _ => None,
    };
    // The amount of a shift is taken modulo the width.
    let amount = match operands.1 {
        Operand::Const(c) => Some((c % u64::from(bits)) as u32),
        _ => None,
    };
    match (op, amount) {
        (BinOp::And, _) => demanded & constant.unwrap_or(ALL),
        (BinOp::Or, _) => demanded & !constant.unwrap_or(0),
        (BinOp::Xor, _) => demanded,
        // Carries propagate upwards.
        (BinOp::Add | BinOp::Sub | BinOp::Mul, _) => low(64 - demanded.leading_zeros()),
        (BinOp::Shl, Some(n)) => demanded >> n,
        (BinOp::LShr, Some(n)) => demanded << n & low(bits),
        (BinOp::AShr, Some(n)) => with_sign(demanded, n, bits),
        _ => ALL,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const OPS: [BinOp; 9] = [
        BinOp::Add,
        BinOp::Sub,
        BinOp::Mul,
        BinOp::Shl,
        BinOp::LShr,
        BinOp::AShr,
        BinOp::And,
        BinOp::Or,
        BinOp::Xor,
    ];

    fn result(op: BinOp, bits: u32, a: u64, b: u64) -> u64 {
        let width = u16::try_from(bits).expect("a width");
        let (a, b) = (a & low(bits), b & low(bits));
        replay::arith::bin(op, width, a.into(), b.into()).expect("a result") as u64
    }

    fn is_shift(op: BinOp) -> bool {
        matches!(op, BinOp::Shl | BinOp::LShr | BinOp::AShr)
    }

    proptest! {
        /// Other bits of the operands do not change the demanded bits.
        #[test]
        fn what_is_not_needed_has_no_effect(
            op in 0..OPS.len(), bits in prop::sample::select(vec![8u32, 16, 32, 64]),
            (a, other, c) in any::<(u64, u64, u64)>(), demanded in any::<u64>(), shift in 0u32..64,
        ) {
            let (op, demanded) = (OPS[op], demanded >> shift);
            let c = if is_shift(op) { c % u64::from(bits) } else { c };
            let operands = (Operand::Reg(0), Operand::Const(c));
            let needed = of_binary(op, bits, operands, demanded & low(bits));
            let changed = a & needed | other & !needed;
            let seen = demanded & low(bits);
            prop_assert_eq!(result(op, bits, a, c) & seen, result(op, bits, changed, c) & seen);
        }

        /// Both operands may change where neither is a constant.
        #[test]
        fn both_operands_count(
            op in 0..OPS.len(), (a, b, x, y) in any::<(u64, u64, u64, u64)>(), demanded in any::<u64>(),
        ) {
            let op = OPS[op];
            let needed = of_binary(op, 64, (Operand::Reg(0), Operand::Reg(1)), demanded);
            prop_assume!(!is_shift(op));
            let (x, y) = (a & needed | x & !needed, b & needed | y & !needed);
            prop_assert_eq!(result(op, 64, a, b) & demanded, result(op, 64, x, y) & demanded);
        }
    }

    #[test]
    fn signs_are_needed_for_their_copies() {
        assert_eq!(of_cast(CastOp::Sext, 8, 32, 0xff00), 0x80);
        assert_eq!(of_cast(CastOp::Sext, 8, 32, 0x0f), 0x0f);
        assert_eq!(of_cast(CastOp::Zext, 8, 32, 0xff00), 0);
        assert_eq!(of_cast(CastOp::Trunc, 64, 32, ALL), 0xffff_ffff);
        assert_eq!(with_sign(0xff << 56, 32, 64), 1 << 63);
    }
}
