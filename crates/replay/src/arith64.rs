//! Arithmetic on values of up to 64 bits, shared by both inner loops.
//!
//! `sh` is 64 minus the width: shifted left by it, a value's sign is the sign of the whole word.

use crate::arith;
use program::inst::{FloatPred, IntPred};

#[inline(always)]
pub fn wrap(v: u64, sh: u8) -> u64 {
    v << (sh & 63) >> (sh & 63)
}

#[inline(always)]
pub fn sext(v: u64, sh: u8) -> i64 {
    (v << (sh & 63)).cast_signed() >> (sh & 63)
}

/// Shifts of widths that are powers of two.
#[inline(always)]
pub fn shl(sh: u8, a: u64, b: u64) -> u64 {
    wrap(a << (b & u64::from(63 - (sh & 63))), sh)
}

#[inline(always)]
pub fn lshr(sh: u8, a: u64, b: u64) -> u64 {
    a >> (b & u64::from(63 - (sh & 63)))
}

#[inline(always)]
pub fn ashr(sh: u8, a: u64, b: u64) -> u64 {
    wrap((sext(a, sh) >> (b & u64::from(63 - (sh & 63)))).cast_unsigned(), sh)
}

/// `None`: the machine traps. After the shift, an overflow in any width is one in 64 bits.
#[inline(always)]
pub fn sdiv(sh: u8, a: u64, b: u64) -> Option<u64> {
    let (x, y) = ((a << (sh & 63)).cast_signed(), sext(b, sh));
    x.checked_div(y).map(|_| wrap(((x >> (sh & 63)) / y).cast_unsigned(), sh))
}

#[inline(always)]
pub fn srem(sh: u8, a: u64, b: u64) -> Option<u64> {
    let (x, y) = ((a << (sh & 63)).cast_signed(), sext(b, sh));
    x.checked_rem(y).map(|_| wrap(((x >> (sh & 63)) % y).cast_unsigned(), sh))
}

#[inline(always)]
pub fn slt(sh: u8, a: u64, b: u64) -> bool {
    (a << (sh & 63)).cast_signed() < (b << (sh & 63)).cast_signed()
}

#[inline(always)]
pub fn sle(sh: u8, a: u64, b: u64) -> bool {
    (a << (sh & 63)).cast_signed() <= (b << (sh & 63)).cast_signed()
}

/// The unsigned predicates.
#[inline(always)]
pub fn ucmp(pred: IntPred, a: u64, b: u64) -> bool {
    match pred {
        IntPred::Ugt => a > b,
        IntPred::Uge => a >= b,
        IntPred::Ult => a < b,
        _ => a <= b,
    }
}

#[inline(always)]
pub fn fcmp64(pred: FloatPred, a: u64, b: u64) -> bool {
    let (a, b) = (f64::from_bits(a), f64::from_bits(b));
    match pred {
        FloatPred::Olt => a < b,
        FloatPred::Ogt => a > b,
        FloatPred::Oeq => a == b,
        FloatPred::Une => a != b,
        _ => arith::float_pred(pred, a.partial_cmp(&b)),
    }
}
