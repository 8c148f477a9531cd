//! Arithmetic of the model, for values of any type, as 128-bit patterns.
//!
//! This is the plain, complete version. The inner loop has its own code for frequent operations; tests
//! compare the two.

use crate::f80::{self, Rounding};
use program::inst::{BinOp, CastOp, FloatKind, FloatOp, FloatPred, IntPred, Pure, RmwOp, Ty};
use std::cmp::Ordering;

/// The low `bits` bits set.
#[must_use]
pub fn mask(bits: u16) -> u128 {
    if bits >= 128 { u128::MAX } else { (1 << bits) - 1 }
}

/// Sign-extends from `bits` bits.
#[must_use]
pub fn signed(v: u128, bits: u16) -> i128 {
    let shift = 128 - u32::from(bits.clamp(1, 128));
    (v << shift).cast_signed() >> shift
}

/// `None`: the machine traps (division by zero or overflow).
#[must_use]
pub fn bin(op: BinOp, bits: u16, a: u128, b: u128) -> Option<u128> {
    let m = mask(bits);
    let (a, b) = (a & m, b & m);
    let amount = (b % u128::from(bits.max(1))) as u32;
    let divides = |sign: bool| {
        if b == 0 {
            return false;
        }
        !(sign && signed(b, bits) == -1 && a == 1 << (bits - 1))
    };
    let v = match op {
        BinOp::Add => a.wrapping_add(b),
        BinOp::Sub => a.wrapping_sub(b),
        BinOp::Mul => a.wrapping_mul(b),
        BinOp::UDiv => a.checked_div(b)?,
        BinOp::URem => a.checked_rem(b)?,
        BinOp::SDiv if divides(true) => (signed(a, bits) / signed(b, bits)).cast_unsigned(),
        BinOp::SRem if divides(true) => (signed(a, bits) % signed(b, bits)).cast_unsigned(),
        BinOp::SDiv | BinOp::SRem => return None,
        BinOp::Shl => a << amount,
        BinOp::LShr => a >> amount,
        BinOp::AShr => (signed(a, bits) >> amount).cast_unsigned(),
        BinOp::And => a & b,
        BinOp::Or => a | b,
        BinOp::Xor => a ^ b,
    };
    Some(v & m)
}

/// Compares integers of a width; the operands' higher bits are ignored.
#[must_use]
pub fn icmp(pred: IntPred, bits: u16, a: u128, b: u128) -> bool {
    let m = mask(bits);
    let (a, b) = (a & m, b & m);
    let (s, t) = (signed(a, bits), signed(b, bits));
    match pred {
        IntPred::Eq => a == b,
        IntPred::Ne => a != b,
        IntPred::Ugt => a > b,
        IntPred::Uge => a >= b,
        IntPred::Ult => a < b,
        IntPred::Ule => a <= b,
        IntPred::Sgt => s > t,
        IntPred::Sge => s >= t,
        IntPred::Slt => s < t,
        IntPred::Sle => s <= t,
    }
}

/// A float predicate, given the comparison of its operands (`None`: unordered).
#[must_use]
pub fn float_pred(pred: FloatPred, order: Option<Ordering>) -> bool {
    use Ordering::{Equal, Greater, Less};
    let (ordered, unordered_is_true) = match pred {
        FloatPred::False => (false, false),
        FloatPred::True => (true, true),
        FloatPred::Oeq => (order == Some(Equal), false),
        FloatPred::Ogt => (order == Some(Greater), false),
        FloatPred::Oge => (matches!(order, Some(Greater | Equal)), false),
        FloatPred::Olt => (order == Some(Less), false),
        FloatPred::Ole => (matches!(order, Some(Less | Equal)), false),
        FloatPred::One => (matches!(order, Some(Less | Greater)), false),
        FloatPred::Ord => (order.is_some(), false),
        FloatPred::Uno => (false, true),
        FloatPred::Ueq => (order == Some(Equal), true),
        FloatPred::Ugt => (order == Some(Greater), true),
        FloatPred::Uge => (matches!(order, Some(Greater | Equal)), true),
        FloatPred::Ult => (order == Some(Less), true),
        FloatPred::Ule => (matches!(order, Some(Less | Equal)), true),
        FloatPred::Une => (matches!(order, Some(Less | Greater)), true),
    };
    if order.is_none() { unordered_is_true } else { ordered }
}

fn f32_of(v: u128) -> f32 {
    f32::from_bits(v as u32)
}

fn f64_of(v: u128) -> f64 {
    f64::from_bits(v as u64)
}

/// Compares floats, given as bit patterns; a comparison with NaN is unordered.
#[must_use]
pub fn fcmp(pred: FloatPred, kind: FloatKind, a: u128, b: u128) -> bool {
    match kind {
        FloatKind::F32 => float_pred(pred, f32_of(a).partial_cmp(&f32_of(b))),
        FloatKind::F64 => float_pred(pred, f64_of(a).partial_cmp(&f64_of(b))),
        FloatKind::F80 => f80::compare(pred, a, b),
    }
}

/// SSE's rules for NaN: the result is the first NaN operand, made quiet; the result of an invalid operation
/// is the negative default NaN.
#[inline]
#[must_use]
pub fn float64(op: FloatOp, a: f64, b: f64) -> u64 {
    let v = match op {
        FloatOp::Add => a + b,
        FloatOp::Sub => a - b,
        FloatOp::Mul => a * b,
        FloatOp::Div => a / b,
        FloatOp::Rem => a % b,
    };
    if v.is_nan() { nan64(&[a, b]) } else { v.to_bits() }
}

#[cold]
fn nan64(operands: &[f64]) -> u64 {
    operands.iter().find(|v| v.is_nan()).map_or(0xfff8 << 48, |v| v.to_bits() | 1 << 51)
}

/// See [`float64`].
#[inline]
#[must_use]
pub fn float32(op: FloatOp, a: f32, b: f32) -> u32 {
    let v = match op {
        FloatOp::Add => a + b,
        FloatOp::Sub => a - b,
        FloatOp::Mul => a * b,
        FloatOp::Div => a / b,
        FloatOp::Rem => a % b,
    };
    if v.is_nan() { nan32(&[a, b]) } else { v.to_bits() }
}

#[cold]
fn nan32(operands: &[f32]) -> u32 {
    operands.iter().find(|v| v.is_nan()).map_or(0xffc0 << 16, |v| v.to_bits() | 1 << 22)
}

/// Float arithmetic on bit patterns. NaN follows [`float64`], in `long double` [`crate::f80`].
#[must_use]
pub fn float(op: FloatOp, kind: FloatKind, a: u128, b: u128) -> u128 {
    match kind {
        FloatKind::F32 => float32(op, f32_of(a), f32_of(b)).into(),
        FloatKind::F64 => float64(op, f64_of(a), f64_of(b)).into(),
        FloatKind::F80 => f80::op(op, a, b),
    }
}

fn float_to_int(kind: FloatKind, a: u128, bits: u16, sign: bool) -> u128 {
    let wide = match kind {
        FloatKind::F32 => f80::from_f32(a as u32),
        FloatKind::F64 => f80::from_f64(a as u64),
        FloatKind::F80 => a,
    };
    let v = if sign {
        f80::to_signed(wide, bits.into()).map(i128::cast_unsigned)
    } else {
        f80::to_unsigned(wide, bits.into())
    };
    v.unwrap_or(1 << (bits.clamp(1, 128) - 1)) & mask(bits)
}

fn float_to_float(from: FloatKind, to: FloatKind, a: u128) -> u128 {
    use FloatKind::{F32, F64, F80};
    match (from, to) {
        (F32, F64) => f64::from(f32_of(a)).to_bits().into(),
        (F64, F32) => (f64_of(a) as f32).to_bits().into(),
        (F32, F80) => f80::from_f32(a as u32),
        (F64, F80) => f80::from_f64(a as u64),
        (F80, F32) => f80::to_f32(a).into(),
        (F80, F64) => f80::to_f64(a).into(),
        (F32, F32) | (F64, F64) | (F80, F80) => a,
    }
}

/// Converts between types. The operand's higher bits are ignored, those of the result are zero.
#[must_use]
pub fn cast(op: CastOp, from: Ty, to: Ty, a: u128) -> u128 {
    let a = a & mask(from.bits());
    let v = match (op, from, to) {
        (CastOp::Trunc | CastOp::Zext | CastOp::Bits, _, _) => a,
        (CastOp::Sext, _, _) => signed(a, from.bits()).cast_unsigned(),
        (CastOp::FpTrunc | CastOp::FpExt, Ty::Float(f), Ty::Float(t)) => float_to_float(f, t, a),
        (CastOp::FpToUi, Ty::Float(f), _) => float_to_int(f, a, to.bits(), false),
        (CastOp::FpToSi, Ty::Float(f), _) => float_to_int(f, a, to.bits(), true),
        (CastOp::UiToFp, _, Ty::Float(t)) => match t {
            FloatKind::F32 => (a as f32).to_bits().into(),
            FloatKind::F64 => (a as f64).to_bits().into(),
            FloatKind::F80 => f80::from_unsigned(a),
        },
        (CastOp::SiToFp, _, Ty::Float(t)) => {
            let s = signed(a, from.bits());
            match t {
                FloatKind::F32 => (s as f32).to_bits().into(),
                FloatKind::F64 => (s as f64).to_bits().into(),
                FloatKind::F80 => f80::from_signed(s),
            }
        }
        // Types that do not fit the operation: the bits pass unchanged.
        (
            CastOp::FpTrunc
            | CastOp::FpExt
            | CastOp::FpToUi
            | CastOp::FpToSi
            | CastOp::UiToFp
            | CastOp::SiToFp,
            Ty::Int(_) | Ty::Ptr | Ty::Float(_),
            _,
        ) => a,
    };
    v & mask(to.bits())
}

/// The new value of an atomic read-modify-write.
#[must_use]
pub fn rmw(op: RmwOp, ty: Ty, old: u128, v: u128) -> u128 {
    let bits = ty.bits();
    let (s, t) = (signed(old, bits), signed(v, bits));
    let r = match op {
        RmwOp::Xchg => v,
        RmwOp::Add => old.wrapping_add(v),
        RmwOp::Sub => old.wrapping_sub(v),
        RmwOp::And => old & v,
        RmwOp::Nand => !(old & v),
        RmwOp::Or => old | v,
        RmwOp::Xor => old ^ v,
        RmwOp::Max => (if s > t { s } else { t }).cast_unsigned(),
        RmwOp::Min => (if s < t { s } else { t }).cast_unsigned(),
        RmwOp::UMax => old.max(v),
        RmwOp::UMin => old.min(v),
    };
    r & mask(bits)
}

/// A pure operation: the result, and the overflow bit for those that have one.
#[must_use]
pub fn pure(op: Pure, ty: Ty, args: &[u128]) -> (u128, bool) {
    let bits = ty.bits();
    let m = mask(bits);
    let arg = |i: usize| args.get(i).copied().unwrap_or(0);
    if let Ty::Float(kind) = ty {
        let v = float_pure(op, kind, arg(0), arg(1), arg(2));
        return (if op == Pure::FpClass { v } else { v & m }, false);
    }
    let (a, b) = (arg(0) & m, arg(1) & m);
    let (s, t) = (signed(a, bits), signed(b, bits));
    let (low, high) = (-(1i128 << (bits - 1).min(126)), (1i128 << (bits - 1).min(126)) - 1);
    let (low, high) = if bits >= 128 { (i128::MIN, i128::MAX) } else { (low, high) };
    let fits = |v: Option<i128>| v.is_some_and(|v| v >= low && v <= high);
    // The wrapped result, and whether it differs from the exact one.
    let s_over = |v: Option<i128>, w: i128| (w.cast_unsigned() & m, !fits(v));
    let clamp = |v: Option<i128>, negative: bool| match v {
        Some(v) => v.clamp(low, high).cast_unsigned() & m,
        None => (if negative { low } else { high }).cast_unsigned() & m,
    };
    let amount = ((arg(2) & m) % u128::from(bits)) as u32;
    let width = u32::from(bits);
    let v = match op {
        Pure::Bswap => a.swap_bytes() >> (128 - width),
        Pure::BitReverse => a.reverse_bits() >> (128 - width),
        Pure::Ctpop => a.count_ones().into(),
        Pure::Ctlz => (a.leading_zeros() - (128 - width)).into(),
        Pure::Cttz => a.trailing_zeros().min(width).into(),
        Pure::Abs => s.wrapping_abs().cast_unsigned(),
        Pure::SMin => s.min(t).cast_unsigned(),
        Pure::SMax => s.max(t).cast_unsigned(),
        Pure::UMin => a.min(b),
        Pure::UMax => a.max(b),
        Pure::Fshl if amount == 0 => a,
        Pure::Fshl => (a << amount) | (b >> (width - amount)),
        Pure::Fshr if amount == 0 => b,
        Pure::Fshr => (a << (width - amount)) | (b >> amount),
        Pure::SAddOverflow => return s_over(s.checked_add(t), s.wrapping_add(t)),
        Pure::SSubOverflow => return s_over(s.checked_sub(t), s.wrapping_sub(t)),
        Pure::SMulOverflow => return s_over(s.checked_mul(t), s.wrapping_mul(t)),
        Pure::UAddOverflow => {
            let r = a.checked_add(b);
            return (a.wrapping_add(b) & m, r.is_none_or(|r| r > m));
        }
        Pure::USubOverflow => return (a.wrapping_sub(b) & m, a < b),
        Pure::UMulOverflow => {
            let r = a.checked_mul(b);
            return (a.wrapping_mul(b) & m, r.is_none_or(|r| r > m));
        }
        Pure::SAddSat => clamp(s.checked_add(t), s < 0),
        Pure::SSubSat => clamp(s.checked_sub(t), s < 0),
        Pure::UAddSat => a.checked_add(b).map_or(m, |r| r.min(m)),
        Pure::USubSat => a.saturating_sub(b),
        Pure::PtrMask => a & b,
        // Float operations on integers do not exist; the bits pass unchanged.
        Pure::FNeg
        | Pure::FAbs
        | Pure::Sqrt
        | Pure::Floor
        | Pure::Ceil
        | Pure::FTrunc
        | Pure::Rint
        | Pure::Round
        | Pure::CopySign
        | Pure::MinNum
        | Pure::MaxNum
        | Pure::Fma
        | Pure::FpClass => a,
    };
    (v & m, false)
}

/// The integer operations, as a pattern, so that the compiler reports a new operation that is not classified.
macro_rules! on_integers {
    () => {
        Pure::Bswap
            | Pure::BitReverse
            | Pure::Ctpop
            | Pure::Ctlz
            | Pure::Cttz
            | Pure::Abs
            | Pure::SMin
            | Pure::SMax
            | Pure::UMin
            | Pure::UMax
            | Pure::Fshl
            | Pure::Fshr
            | Pure::SAddOverflow
            | Pure::UAddOverflow
            | Pure::SSubOverflow
            | Pure::USubOverflow
            | Pure::SMulOverflow
            | Pure::UMulOverflow
            | Pure::SAddSat
            | Pure::UAddSat
            | Pure::SSubSat
            | Pure::USubSat
            | Pure::PtrMask
    };
}

fn float_pure(op: Pure, kind: FloatKind, a: u128, b: u128, c: u128) -> u128 {
    match kind {
        FloatKind::F80 => return f80_pure(op, a, b, c),
        FloatKind::F32 => {
            let sign = 1u128 << 31;
            match op {
                Pure::FNeg => return a ^ sign,
                Pure::FAbs => return a & !sign,
                Pure::CopySign => return (a & !sign) | (b & sign),
                Pure::FpClass => return class(a, b, 23, 8),
                _ => {} // Handled below, where all are named.
            }
        }
        FloatKind::F64 => {
            let sign = 1u128 << 63;
            match op {
                Pure::FNeg => return a ^ sign,
                Pure::FAbs => return a & !sign,
                Pure::CopySign => return (a & !sign) | (b & sign),
                Pure::FpClass => return class(a, b, 52, 11),
                _ => {} // Handled below, where all are named.
            }
        }
    }
    macro_rules! eval {
        ($of:ident, $nan:ident) => {{
            let (x, y, z) = ($of(a), $of(b), $of(c));
            let (v, operands) = match op {
                Pure::Sqrt => (x.sqrt(), vec![x]),
                Pure::Floor => (x.floor(), vec![x]),
                Pure::Ceil => (x.ceil(), vec![x]),
                Pure::FTrunc => (x.trunc(), vec![x]),
                Pure::Rint => (x.round_ties_even(), vec![x]),
                Pure::Round => (x.round(), vec![x]),
                // If one operand is NaN, the result is the other; equal values (zeros of either sign) give
                // the second, as `minsd` does.
                Pure::MinNum => (
                    if x.is_nan() {
                        y
                    } else if y.is_nan() || x < y {
                        x
                    } else {
                        y
                    },
                    vec![x, y],
                ),
                Pure::MaxNum => (
                    if x.is_nan() {
                        y
                    } else if y.is_nan() || x > y {
                        x
                    } else {
                        y
                    },
                    vec![x, y],
                ),
                Pure::Fma => (x.mul_add(y, z), vec![x, y, z]),
                // Handled above, or not a float operation: the bits pass unchanged.
                Pure::FNeg | Pure::FAbs | Pure::CopySign | Pure::FpClass | on_integers!() => return a,
            };
            if v.is_nan() { $nan(&operands).into() } else { v.to_bits().into() }
        }};
    }
    if kind == FloatKind::F32 { eval!(f32_of, nan32) } else { eval!(f64_of, nan64) }
}

fn f80_pure(op: Pure, a: u128, b: u128, c: u128) -> u128 {
    let pick = |want: Ordering| match f80::order(a, b) {
        Some(o) => {
            if o == want {
                a
            } else {
                b
            }
        }
        None if f80::order(a, a).is_none() => b,
        None => a,
    };
    match op {
        Pure::FNeg => f80::neg(a),
        Pure::FAbs => f80::abs(a),
        Pure::Sqrt => f80::sqrt(a),
        Pure::Floor => f80::round(a, Rounding::Floor),
        Pure::Ceil => f80::round(a, Rounding::Ceil),
        Pure::FTrunc => f80::round(a, Rounding::Trunc),
        Pure::Rint => f80::round(a, Rounding::Even),
        Pure::Round => f80::round(a, Rounding::Away),
        Pure::CopySign => f80::copy_sign(a, b),
        Pure::MinNum => pick(Ordering::Less),
        Pure::MaxNum => pick(Ordering::Greater),
        Pure::Fma => f80::fma(a, b, c),
        Pure::FpClass => u128::from(f80::class(a) & b as u32 != 0),
        // Not a float operation: the bits pass unchanged.
        on_integers!() => a,
    }
}

/// Whether the value is in one of the classes of `test`.
fn class(v: u128, test: u128, fraction: u32, exponent: u32) -> u128 {
    let f = v & mask(fraction as u16);
    let e = (v >> fraction) & mask(exponent as u16);
    let negative = v >> (fraction + exponent) & 1 == 1;
    let is = if e == mask(exponent as u16) && f != 0 {
        if f >> (fraction - 1) == 1 { 2 } else { 1 }
    } else {
        let kind = match (e == mask(exponent as u16), e == 0, f == 0) {
            (true, ..) => 0,
            (_, true, true) => 3,
            (_, true, false) => 2,
            _ => 1,
        };
        if negative { 4 << kind } else { 0x200 >> kind }
    };
    u128::from(is & test != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    macro_rules! against {
        ($name:ident, $u:ty, $s:ty, $bits:literal) => {
            proptest! {
                #[test]
                fn $name(a: $u, b: $u, small in 0u32..70) {
                    for b in [b, small as $u, (-(i64::from(small))) as $u] {
                        let (x, y) = (a as u128, b as u128);
                        let (s, t) = (a as $s, b as $s);
                        let r = |op| bin(op, $bits, x, y).map(|v| v as $u);
                        prop_assert_eq!(r(BinOp::Add), Some(a.wrapping_add(b)));
                        prop_assert_eq!(r(BinOp::Sub), Some(a.wrapping_sub(b)));
                        prop_assert_eq!(r(BinOp::Mul), Some(a.wrapping_mul(b)));
                        prop_assert_eq!(r(BinOp::UDiv), a.checked_div(b));
                        prop_assert_eq!(r(BinOp::URem), a.checked_rem(b));
                        prop_assert_eq!(r(BinOp::SDiv), s.checked_div(t).map(|v| v as $u));
                        prop_assert_eq!(r(BinOp::SRem), s.checked_rem(t).map(|v| v as $u));
                        prop_assert_eq!(r(BinOp::Shl), Some(a << (b % $bits)));
                        prop_assert_eq!(r(BinOp::LShr), Some(a >> (b % $bits)));
                        prop_assert_eq!(r(BinOp::AShr), Some((s >> (b % $bits)) as $u));
                        prop_assert_eq!(icmp(IntPred::Slt, $bits, x, y), s < t);
                        prop_assert_eq!(icmp(IntPred::Uge, $bits, x, y), a >= b);
                        let p = |op| { let (v, o) = pure(op, Ty::Int($bits), &[x, y]); (v as $u, o) };
                        let (v, o) = s.overflowing_add(t);
                        prop_assert_eq!(p(Pure::SAddOverflow), (v as $u, o));
                        let (v, o) = s.overflowing_mul(t);
                        prop_assert_eq!(p(Pure::SMulOverflow), (v as $u, o));
                        prop_assert_eq!(p(Pure::UMulOverflow), a.overflowing_mul(b));
                        prop_assert_eq!(p(Pure::UAddOverflow), a.overflowing_add(b));
                        prop_assert_eq!(p(Pure::USubOverflow), a.overflowing_sub(b));
                        prop_assert_eq!(p(Pure::SAddSat).0, s.saturating_add(t) as $u);
                        prop_assert_eq!(p(Pure::SSubSat).0, s.saturating_sub(t) as $u);
                        prop_assert_eq!(p(Pure::UAddSat).0, a.saturating_add(b));
                        prop_assert_eq!(p(Pure::Bswap).0, a.swap_bytes());
                        prop_assert_eq!(p(Pure::BitReverse).0, a.reverse_bits());
                        prop_assert_eq!(p(Pure::Ctlz).0, a.leading_zeros() as $u);
                        prop_assert_eq!(p(Pure::Cttz).0, a.trailing_zeros() as $u);
                        prop_assert_eq!(p(Pure::Abs).0, s.wrapping_abs() as $u);
                        let rot = pure(Pure::Fshl, Ty::Int($bits), &[x, x, y]).0 as $u;
                        prop_assert_eq!(rot, a.rotate_left((b % $bits) as u32));
                        let rot = pure(Pure::Fshr, Ty::Int($bits), &[x, x, y]).0 as $u;
                        prop_assert_eq!(rot, a.rotate_right((b % $bits) as u32));
                        prop_assert_eq!(
                            cast(CastOp::Sext, Ty::Int($bits), Ty::Int(128), x),
                            (s as i128) as u128
                        );
                        prop_assert_eq!(
                            cast(CastOp::SiToFp, Ty::Int($bits), Ty::Float(FloatKind::F64), x) as u64,
                            (s as f64).to_bits()
                        );
                    }
                }
            }
        };
    }
    against!(bytes, u8, i8, 8);
    against!(halves, u16, i16, 16);
    against!(words, u32, i32, 32);
    against!(longs, u64, i64, 64);
    against!(wides, u128, i128, 128);

    proptest! {
        #[test]
        fn floats_to_integers(bits: u64, near in -3e9f64..6e9) {
            for f in [f64::from_bits(bits), near, near * 4e9] {
                let f64_ty = Ty::Float(FloatKind::F64);
                let v = u128::from(f.to_bits());
                let s = cast(CastOp::FpToSi, f64_ty, Ty::Int(32), v) as u32 as i32;
                let want = if f > -2147483649.0 && f < 2147483648.0 { f as i32 } else { i32::MIN };
                prop_assert_eq!(s, want);
                let u = cast(CastOp::FpToUi, f64_ty, Ty::Int(64), v) as u64;
                let want = if f > -1.0 && f < 18446744073709551616.0 { f as u64 } else { 1 << 63 };
                prop_assert_eq!(u, want);
            }
        }

        #[test]
        fn float_predicates(a: f64, b: f64) {
            let r = |p| fcmp(p, FloatKind::F64, a.to_bits().into(), b.to_bits().into());
            prop_assert_eq!(r(FloatPred::Olt), a < b);
            prop_assert_eq!(r(FloatPred::Oge), a >= b);
            prop_assert_eq!(r(FloatPred::Une), a != b);
            prop_assert_eq!(r(FloatPred::Ueq), a == b || a.is_nan() || b.is_nan());
            prop_assert_eq!(r(FloatPred::One), a.partial_cmp(&b).is_some_and(Ordering::is_ne));
        }
    }

    #[test]
    fn odd_corners() {
        assert_eq!(bin(BinOp::SDiv, 32, 0x8000_0000, 0xffff_ffff), None);
        assert_eq!(bin(BinOp::SDiv, 1, 1, 1), None);
        assert_eq!(
            cast(CastOp::FpToUi, Ty::Float(FloatKind::F64), Ty::Int(8), f64::NAN.to_bits().into()),
            0x80
        );
        assert_eq!(float64(FloatOp::Div, 0.0, 0.0), 0xfff8_0000_0000_0000);
        assert_eq!(float64(FloatOp::Rem, 5.5, -2.0), 1.5f64.to_bits());
        let min = |a: f64, b: f64| {
            pure(Pure::MinNum, Ty::Float(FloatKind::F64), &[a.to_bits().into(), b.to_bits().into()]).0 as u64
        };
        assert_eq!(min(f64::NAN, 2.0), 2f64.to_bits());
        assert_eq!(min(2.0, f64::NAN), 2f64.to_bits());
        assert_eq!(min(1.0, 2.0), 1f64.to_bits());
        let ninf = f64::NEG_INFINITY.to_bits().into();
        assert_eq!(pure(Pure::FpClass, Ty::Float(FloatKind::F64), &[ninf, 4]).0, 1);
        assert_eq!(pure(Pure::FpClass, Ty::Float(FloatKind::F64), &[ninf, 0x3fb]).0, 0);
        assert_eq!(rmw(RmwOp::Min, Ty::Int(8), 0xff, 1), 0xff);
        assert_eq!(rmw(RmwOp::Nand, Ty::Int(8), 0xf0, 0x3c), 0xcf);
        // f32 rounding happens once, straight from the wide integer
        let v = (1u128 << 100) + (1 << 76) + 1;
        assert_eq!(
            cast(CastOp::UiToFp, Ty::Int(128), Ty::Float(FloatKind::F32), v) as u32,
            (v as f32).to_bits()
        );
    }
}
