//! The 80-bit `long double`, in software.
//!
//! A value is its 80 bits, as the register pair holds them. x87's rules for NaN differ from SSE's: see
//! [`nan_of`].

use program::inst::{FloatOp, FloatPred};
use rustc_apfloat::ieee::{Double, Single, X87DoubleExtended as X};
use rustc_apfloat::{Float, FloatConvert, Round};
use std::cmp::Ordering;

const QUIET: u128 = 1 << 62;
const SIGN: u128 = 1 << 79;
/// The result of an invalid operation on x87.
const DEFAULT_NAN: u128 = 0xffff_c000_0000_0000_0000;

fn x(bits: u128) -> X {
    X::from_bits(bits & ((1 << 80) - 1))
}

fn is_nan(bits: u128) -> bool {
    x(bits).is_nan()
}

/// `a op b`, rounded to nearest; [`FloatOp::Rem`] is `fmod`.
pub fn op(op: FloatOp, a: u128, b: u128) -> u128 {
    if let Some(nan) = nan_of(a, b) {
        return nan;
    }
    let (l, r) = (x(a), x(b));
    let v = match op {
        FloatOp::Add => (l + r).value,
        FloatOp::Sub => (l - r).value,
        FloatOp::Mul => (l * r).value,
        FloatOp::Div => (l / r).value,
        FloatOp::Rem => l.c_fmod(r).value,
    };
    canonical(v)
}

/// The result of an operation with a NaN operand, made quiet: of two, the quiet one of a quiet and a signalling
/// NaN, else the one with the larger significand, else the positive one.
fn nan_of(a: u128, b: u128) -> Option<u128> {
    let nan = match (is_nan(a), is_nan(b)) {
        (false, false) => return None,
        (true, false) => a,
        (false, true) => b,
        (true, true) => {
            let key = |v: u128| (v & QUIET, v as u64, v & SIGN == 0);
            if key(a) >= key(b) { a } else { b }
        }
    };
    Some(nan | QUIET)
}

fn canonical(v: X) -> u128 {
    if v.is_nan() { DEFAULT_NAN } else { v.to_bits() }
}

/// Whether the predicate holds; a comparison with NaN is unordered.
pub fn compare(pred: FloatPred, a: u128, b: u128) -> bool {
    super::arith::float_pred(pred, x(a).partial_cmp(&x(b)))
}

/// The order of two values; `None` if one is NaN.
pub fn order(a: u128, b: u128) -> Option<Ordering> {
    x(a).partial_cmp(&x(b))
}

/// From the bits of a `float`; exact.
pub fn from_f32(v: u32) -> u128 {
    FloatConvert::<X>::convert(Single::from_bits(v.into()), &mut false).value.to_bits()
}

/// From the bits of a `double`; exact.
pub fn from_f64(v: u64) -> u128 {
    FloatConvert::<X>::convert(Double::from_bits(v.into()), &mut false).value.to_bits()
}

/// To the bits of a `float`, rounded to nearest.
pub fn to_f32(v: u128) -> u32 {
    FloatConvert::<Single>::convert(x(v), &mut false).value.to_bits() as u32
}

/// To the bits of a `double`, rounded to nearest.
pub fn to_f64(v: u128) -> u64 {
    FloatConvert::<Double>::convert(x(v), &mut false).value.to_bits() as u64
}

/// Rounded to nearest; exact for 64-bit integers.
pub fn from_signed(v: i128) -> u128 {
    X::from_i128(v).value.to_bits()
}

/// Rounded to nearest; exact for 64-bit integers.
pub fn from_unsigned(v: u128) -> u128 {
    X::from_u128(v).value.to_bits()
}

/// Towards zero; `None` if it does not fit.
pub fn to_signed(v: u128, bits: u32) -> Option<i128> {
    let r = x(v).to_i128_r(bits as usize, Round::TowardZero, &mut false);
    (!r.status.contains(rustc_apfloat::Status::INVALID_OP)).then_some(r.value)
}

/// Towards zero; `None` if it does not fit.
pub fn to_unsigned(v: u128, bits: u32) -> Option<u128> {
    let r = x(v).to_u128_r(bits as usize, Round::TowardZero, &mut false);
    (!r.status.contains(rustc_apfloat::Status::INVALID_OP)).then_some(r.value)
}

/// With the sign bit inverted, also of NaN.
pub fn neg(v: u128) -> u128 {
    v ^ SIGN
}

/// With the sign bit cleared, also of NaN.
pub fn abs(v: u128) -> u128 {
    v & !SIGN
}

/// `v` with the sign bit of `sign`.
pub fn copy_sign(v: u128, sign: u128) -> u128 {
    (v & !SIGN) | (sign & SIGN)
}

/// How to round to an integral value.
#[derive(Clone, Copy, Debug)]
pub enum Rounding {
    /// Towards negative infinity.
    Floor,
    /// Towards positive infinity.
    Ceil,
    /// Towards zero.
    Trunc,
    /// To nearest; ties to the even integer.
    Even,
    /// To nearest; ties away from zero.
    Away,
}

/// The integral value, with the sign of `v` (also if it is zero).
pub fn round(v: u128, how: Rounding) -> u128 {
    if is_nan(v) {
        return v | QUIET;
    }
    let mode = match how {
        Rounding::Floor => Round::TowardNegative,
        Rounding::Ceil => Round::TowardPositive,
        Rounding::Trunc => Round::TowardZero,
        Rounding::Even => Round::NearestTiesToEven,
        Rounding::Away => Round::NearestTiesToAway,
    };
    copy_sign(x(v).round_to_integral(mode).value.to_bits(), v)
}

/// `a * b + c`, rounded once.
pub fn fma(a: u128, b: u128, c: u128) -> u128 {
    for v in [a, b, c] {
        if is_nan(v) {
            return v | QUIET;
        }
    }
    canonical(x(a).mul_add(x(b), x(c)).value)
}

/// Mantissa (with its explicit leading bit) and unbiased exponent of a finite
/// value: the value is `m * 2^e`.
pub fn parts(v: u128) -> (u64, i32) {
    let exponent = ((v >> 64) & 0x7fff) as i32;
    ((v & u128::from(u64::MAX)) as u64, exponent.max(1) - 16383 - 63)
}

/// The square root, correctly rounded; that of a negative number is the default NaN.
pub fn sqrt(v: u128) -> u128 {
    if is_nan(v) {
        return v | QUIET;
    }
    let f = x(v);
    if f.is_zero() || (f.is_infinite() && !f.is_negative()) {
        return v;
    }
    if f.is_negative() {
        return DEFAULT_NAN;
    }
    let (m, e) = parts(v);
    // n * 2^q with even q and n of 127 or 128 bits: its root has 64 bits, and the remainder determines the
    // rounding (a tie is impossible).
    let zeros = m.leading_zeros();
    let mut n = u128::from(m << zeros) << 64;
    let mut q = e - zeros as i32 - 64;
    if q & 1 != 0 {
        n >>= 1;
        q += 1;
    }
    let root = n.isqrt();
    let up = n - root * root > root;
    let rounded = root + u128::from(up);
    X::from_u128(rounded).value.scalbn(q / 2).to_bits()
}

/// The classes of LLVM's `is.fpclass`.
pub fn class(v: u128) -> u32 {
    let f = x(v);
    if f.is_nan() {
        return if v & QUIET != 0 { 2 } else { 1 };
    }
    let negative = v & SIGN != 0;
    let kind = if f.is_infinite() {
        0
    } else if f.is_zero() {
        3
    } else if f.is_denormal() {
        2
    } else {
        1
    };
    if negative { 4 << kind } else { 0x200 >> kind }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ONE: u128 = 0x3fff_8000_0000_0000_0000;

    #[test]
    fn knows_its_constants() {
        assert_eq!(from_f64(1f64.to_bits()), ONE);
        assert_eq!(from_signed(-2), 0xc000_8000_0000_0000_0000);
        assert_eq!(op(FloatOp::Div, ONE, 0), 0x7fff_8000_0000_0000_0000);
        assert_eq!(op(FloatOp::Div, 0, 0), DEFAULT_NAN);
        // sqrt(2) to 64 bits, from the x87
        assert_eq!(sqrt(from_signed(2)), 0x3fff_b504_f333_f9de_6484);
        assert_eq!(to_signed(from_f64((-3.9f64).to_bits()), 32), Some(-3));
        assert_eq!(to_signed(from_f64(3e9f64.to_bits()), 32), None);
        assert_eq!(to_unsigned(from_f64((-0.5f64).to_bits()), 32), Some(0));
        assert_eq!(to_unsigned(from_f64((-1f64).to_bits()), 32), None);
        assert_eq!(class(0), 0x40);
        assert_eq!(class(ONE), 0x100);
        assert_eq!(class(neg(ONE)), 0x8);
        assert_eq!(class(DEFAULT_NAN), 2);
    }

    proptest! {
        // A double's root, sum and product are exact to 53 bits; the extended
        // result rounded to a double agrees except for rare double rounding.
        #[test]
        fn near_double(a in 1e-100f64..1e100, b in 1e-100f64..1e100) {
            let (l, r) = (from_f64(a.to_bits()), from_f64(b.to_bits()));
            let close = |bits: u128, v: f64| {
                let d = f64::from_bits(to_f64(bits));
                ((d - v) / v).abs() <= f64::EPSILON
            };
            prop_assert!(close(op(FloatOp::Add, l, r), a + b));
            prop_assert!(close(op(FloatOp::Mul, l, r), a * b));
            prop_assert!(close(op(FloatOp::Div, l, r), a / b));
            prop_assert!(close(sqrt(l), a.sqrt()));
            prop_assert_eq!(compare(FloatPred::Olt, l, r), a < b);
            prop_assert_eq!(to_f64(l), a.to_bits());
        }

        #[test]
        fn squares_have_exact_roots(n in 0u32..u32::MAX) {
            let n = u128::from(n);
            prop_assert_eq!(sqrt(from_unsigned(n * n)), from_unsigned(n));
        }

        #[test]
        fn integers_survive(v: i64) {
            let f = from_signed(v.into());
            prop_assert_eq!(to_signed(f, 64), Some(i128::from(v)));
            prop_assert_eq!(round(f, Rounding::Floor), f);
        }
    }
}
