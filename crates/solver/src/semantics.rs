//! Semantics of the operations, as in SMT-LIB.
//!
//! Evaluation and constant folding share them, so they cannot disagree.

use crate::node::{Binary, Unary};

/// The number with this many low bits set.
pub(crate) fn ones(width: u32) -> u128 {
    if width >= 128 { u128::MAX } else { (1 << width) - 1 }
}

/// The number as two's complement of this width.
pub(crate) fn signed(width: u32, value: u128) -> i128 {
    let unused = 128 - width;
    ((value << unused) as i128) >> unused
}

/// Whether the top bit is set.
pub(crate) fn negative(width: u32, value: u128) -> bool {
    value >> (width - 1) & 1 == 1
}

pub(crate) fn unary(op: Unary, width: u32, a: u128) -> u128 {
    ones(width)
        & match op {
            Unary::Not => !a,
            Unary::Neg => a.wrapping_neg(),
        }
}

/// `width` is that of the operands.
pub(crate) fn binary(op: Binary, width: u32, a: u128, b: u128) -> u128 {
    let mask = ones(width);
    match op {
        Binary::Add => a.wrapping_add(b) & mask,
        Binary::Sub => a.wrapping_sub(b) & mask,
        Binary::Mul => a.wrapping_mul(b) & mask,
        Binary::UDiv => a.checked_div(b).unwrap_or(mask),
        Binary::URem => a.checked_rem(b).unwrap_or(a),
        Binary::SDiv if b == 0 => {
            if negative(width, a) {
                1
            } else {
                mask
            }
        }
        Binary::SDiv => signed(width, a).wrapping_div(signed(width, b)) as u128 & mask,
        Binary::SRem if b == 0 => a,
        Binary::SRem => signed(width, a).wrapping_rem(signed(width, b)) as u128 & mask,
        Binary::And => a & b,
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
        Binary::Shl if b >= u128::from(width) => 0,
        Binary::Shl => a << b & mask,
        Binary::LShr if b >= u128::from(width) => 0,
        Binary::LShr => a >> b,
        Binary::AShr => (signed(width, a) >> b.min(127)) as u128 & mask,
        Binary::Eq => u128::from(a == b),
        Binary::Ult => u128::from(a < b),
        Binary::Ule => u128::from(a <= b),
        Binary::Slt => u128::from(signed(width, a) < signed(width, b)),
        Binary::Sle => u128::from(signed(width, a) <= signed(width, b)),
    }
}

pub(crate) fn extract(a: u128, low: u32, width: u32) -> u128 {
    a >> low & ones(width)
}

pub(crate) fn sext(a: u128, from: u32, to: u32) -> u128 {
    signed(from, a) as u128 & ones(to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn division_by_zero_and_of_the_smallest_number_is_total() {
        assert_eq!(binary(Binary::UDiv, 8, 7, 0), 255);
        assert_eq!(binary(Binary::URem, 8, 7, 0), 7);
        assert_eq!(binary(Binary::SDiv, 8, 0x80, 0), 1);
        assert_eq!(binary(Binary::SDiv, 8, 5, 0), 255);
        assert_eq!(binary(Binary::SRem, 8, 0x85, 0), 0x85);
        assert_eq!(binary(Binary::SDiv, 8, 0x80, 0xff), 0x80);
        assert_eq!(binary(Binary::SRem, 128, 1 << 127, u128::MAX), 0);
        assert_eq!(binary(Binary::SRem, 8, 0xf9, 2), 0xff);
    }

    #[test]
    fn shifts_past_the_width_leave_nothing_or_the_sign() {
        assert_eq!(binary(Binary::Shl, 8, 0xff, 8), 0);
        assert_eq!(binary(Binary::LShr, 128, u128::MAX, 128), 0);
        assert_eq!(binary(Binary::AShr, 8, 0x80, 200), 0xff);
        assert_eq!(binary(Binary::AShr, 8, 0x7f, 200), 0);
        assert_eq!(binary(Binary::AShr, 128, 1 << 127, 1 << 100), u128::MAX);
    }
}
