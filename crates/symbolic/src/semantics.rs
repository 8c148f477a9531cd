//! The semantics of integer instructions, as terms.
//!
//! This is the only translation from instructions to terms. The symbolic engine uses it forward along a run,
//! formulas of explanations use it backward along a slice. Operands are terms of the width of the
//! instruction's type. The caller handles traps: here a division by zero has the value that the solver
//! defines.

use program::inst::{BinOp, CastOp, IntPred, Pure};
use solver::{Binary, Pool, Term, Unary};

/// The result of an intrinsic.
#[derive(Clone, Copy, Debug)]
pub struct Intrinsic {
    /// The result proper, without the overflow bit.
    pub value: Term,
    /// The overflow bit, for intrinsics that return one.
    pub overflow: Option<Term>,
}

/// Resizes a term: truncates it, or zero-extends it.
pub fn fit(pool: &mut Pool, term: Term, width: u32) -> Term {
    match pool.width(term).cmp(&width) {
        std::cmp::Ordering::Equal => term,
        std::cmp::Ordering::Greater => pool.extract(term, 0, width),
        std::cmp::Ordering::Less => pool.zext(term, width),
    }
}

/// Binary arithmetic of two terms of the same width.
pub fn binary(pool: &mut Pool, op: BinOp, a: Term, b: Term) -> Term {
    let op = match op {
        BinOp::Add => Binary::Add,
        BinOp::Sub => Binary::Sub,
        BinOp::Mul => Binary::Mul,
        BinOp::UDiv => Binary::UDiv,
        BinOp::SDiv => Binary::SDiv,
        BinOp::URem => Binary::URem,
        BinOp::SRem => Binary::SRem,
        BinOp::And => Binary::And,
        BinOp::Or => Binary::Or,
        BinOp::Xor => Binary::Xor,
        BinOp::Shl => return shift(pool, Binary::Shl, a, b),
        BinOp::LShr => return shift(pool, Binary::LShr, a, b),
        BinOp::AShr => return shift(pool, Binary::AShr, a, b),
    };
    pool.binary(op, a, b)
}

/// The program model defines shift amounts modulo the width.
fn shift(pool: &mut Pool, op: Binary, a: Term, amount: Term) -> Term {
    let width = pool.width(a);
    let size = pool.constant(width, width.into());
    let amount = pool.binary(Binary::URem, amount, size);
    pool.binary(op, a, amount)
}

/// A comparison, one bit wide.
pub fn compare(pool: &mut Pool, pred: IntPred, a: Term, b: Term) -> Term {
    match pred {
        IntPred::Eq => pool.binary(Binary::Eq, a, b),
        IntPred::Ne => {
            let same = pool.binary(Binary::Eq, a, b);
            pool.not(same)
        }
        IntPred::Ult => pool.binary(Binary::Ult, a, b),
        IntPred::Ule => pool.binary(Binary::Ule, a, b),
        IntPred::Ugt => pool.binary(Binary::Ult, b, a),
        IntPred::Uge => pool.binary(Binary::Ule, b, a),
        IntPred::Slt => pool.binary(Binary::Slt, a, b),
        IntPred::Sle => pool.binary(Binary::Sle, a, b),
        IntPred::Sgt => pool.binary(Binary::Slt, b, a),
        IntPred::Sge => pool.binary(Binary::Sle, b, a),
    }
}

/// A cast between integers and pointers; `None` for floating-point casts.
pub fn integer_cast(pool: &mut Pool, op: CastOp, a: Term, to: u32) -> Option<Term> {
    match op {
        CastOp::Trunc | CastOp::Zext | CastOp::Bits => Some(fit(pool, a, to)),
        CastOp::Sext => Some(pool.sext(a, to)),
        CastOp::FpTrunc
        | CastOp::FpExt
        | CastOp::FpToUi
        | CastOp::FpToSi
        | CastOp::UiToFp
        | CastOp::SiToFp => None,
    }
}

/// `base + index * scale + offset`; the index is signed.
pub fn address(pool: &mut Pool, base: Term, index: Term, scale: i64, offset: i64) -> Term {
    let index = if pool.width(index) > 64 { fit(pool, index, 64) } else { pool.sext(index, 64) };
    let scale = pool.constant(64, scale.cast_unsigned().into());
    let offset = pool.constant(64, offset.cast_unsigned().into());
    let scaled = pool.binary(Binary::Mul, index, scale);
    let sum = pool.binary(Binary::Add, base, scaled);
    pool.binary(Binary::Add, sum, offset)
}

/// An intrinsic on integers. `None` if it needs terms of more than 128 bits, or has floating-point operands.
pub fn intrinsic(pool: &mut Pool, op: Pure, args: &[Term]) -> Option<Intrinsic> {
    let (&a, b) = (args.first()?, args.get(1).copied());
    let width = pool.width(a);
    let value = match op {
        Pure::Bswap => {
            let mut term = pool.extract(a, 0, 8);
            for i in 1..width / 8 {
                let byte = pool.extract(a, 8 * i, 8);
                term = pool.concat(term, byte);
            }
            term
        }
        Pure::BitReverse => {
            let mut term = pool.extract(a, 0, 1);
            for i in 1..width {
                let bit = pool.extract(a, i, 1);
                term = pool.concat(term, bit);
            }
            term
        }
        Pure::Ctpop => {
            let mut sum = pool.constant(width, 0);
            for i in 0..width {
                let bit = pool.extract(a, i, 1);
                let bit = fit(pool, bit, width);
                sum = pool.binary(Binary::Add, sum, bit);
            }
            sum
        }
        // The first set bit, from the most or the least significant end.
        Pure::Ctlz => first_set(pool, a, (0..width).map(|i| (i, width - 1 - i))),
        Pure::Cttz => first_set(pool, a, (0..width).rev().map(|i| (i, i))),
        Pure::Abs => {
            let zero = pool.constant(width, 0);
            let negative = pool.binary(Binary::Slt, a, zero);
            let minus = pool.unary(Unary::Neg, a);
            pool.ite(negative, minus, a)
        }
        Pure::SMin => smaller(pool, Binary::Slt, a, b?).0,
        Pure::SMax => smaller(pool, Binary::Slt, a, b?).1,
        Pure::UMin => smaller(pool, Binary::Ult, a, b?).0,
        Pure::UMax => smaller(pool, Binary::Ult, a, b?).1,
        Pure::Fshl | Pure::Fshr => {
            let size = pool.constant(width, width.into());
            let amount = pool.binary(Binary::URem, *args.get(2)?, size);
            let rest = pool.binary(Binary::Sub, size, amount);
            // Shifts by the whole width give zero, so the amount 0 needs no special case.
            let (up, down) = if op == Pure::Fshl { (amount, rest) } else { (rest, amount) };
            let high = pool.binary(Binary::Shl, a, up);
            let low = pool.binary(Binary::LShr, b?, down);
            pool.binary(Binary::Or, high, low)
        }
        Pure::SAddOverflow
        | Pure::UAddOverflow
        | Pure::SSubOverflow
        | Pure::USubOverflow
        | Pure::SMulOverflow
        | Pure::UMulOverflow => return overflowing(pool, op, a, b?),
        Pure::SAddSat | Pure::SSubSat | Pure::UAddSat | Pure::USubSat => saturating(pool, op, a, b?),
        Pure::PtrMask => pool.binary(Binary::And, a, b?),
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
        | Pure::FpClass => return None,
    };
    Some(Intrinsic { value, overflow: None })
}

/// The smaller and the larger of two.
fn smaller(pool: &mut Pool, less: Binary, a: Term, b: Term) -> (Term, Term) {
    let is_less = pool.binary(less, a, b);
    (pool.ite(is_less, a, b), pool.ite(is_less, b, a))
}

/// The second of the last pair whose first is a set bit; the width if no bit is set.
fn first_set(pool: &mut Pool, a: Term, order: impl Iterator<Item = (u32, u32)>) -> Term {
    let width = pool.width(a);
    let mut term = pool.constant(width, width.into());
    for (bit, answer) in order {
        let is = pool.extract(a, bit, 1);
        let answer = pool.constant(width, answer.into());
        term = pool.ite(is, answer, term);
    }
    term
}

/// Wrapped result and overflow bit.
fn overflowing(pool: &mut Pool, op: Pure, a: Term, b: Term) -> Option<Intrinsic> {
    let width = pool.width(a);
    let signed = matches!(op, Pure::SAddOverflow | Pure::SSubOverflow | Pure::SMulOverflow);
    let plain = match op {
        Pure::SAddOverflow | Pure::UAddOverflow => Binary::Add,
        Pure::SSubOverflow | Pure::USubOverflow => Binary::Sub,
        _ => Binary::Mul,
    };
    let wide = if plain == Binary::Mul { 2 * width } else { width + 1 };
    if wide > 128 {
        return None;
    }
    let (x, y) = (stretch(pool, a, signed, wide), stretch(pool, b, signed, wide));
    let exact = pool.binary(plain, x, y);
    let value = pool.extract(exact, 0, width);
    let back = stretch(pool, value, signed, wide);
    let same = pool.binary(Binary::Eq, back, exact);
    Some(Intrinsic { value, overflow: Some(pool.not(same)) })
}

fn saturating(pool: &mut Pool, op: Pure, a: Term, b: Term) -> Term {
    let width = pool.width(a);
    let wide = (width + 1).min(128);
    let signed = matches!(op, Pure::SAddSat | Pure::SSubSat);
    let plain = if matches!(op, Pure::SAddSat | Pure::UAddSat) { Binary::Add } else { Binary::Sub };
    let (low, high) = if signed {
        let half = 1u128 << (width - 1);
        (half.wrapping_neg(), half - 1)
    } else {
        (0, if width >= 128 { u128::MAX } else { (1 << width) - 1 })
    };
    let (low, high) = (pool.constant(wide, low), pool.constant(wide, high));
    let (x, y) = (stretch(pool, a, signed, wide), stretch(pool, b, signed, wide));
    let exact = pool.binary(plain, x, y);
    // With one more bit the exact result is a signed number for all four.
    let below = match op {
        Pure::UAddSat => pool.constant(1, 0),
        _ => pool.binary(Binary::Slt, exact, low),
    };
    let above = match op {
        Pure::UAddSat => pool.binary(Binary::Ult, high, exact),
        Pure::USubSat => pool.constant(1, 0),
        _ => pool.binary(Binary::Slt, high, exact),
    };
    let capped = pool.ite(above, high, exact);
    let both = pool.ite(below, low, capped);
    pool.extract(both, 0, width)
}

fn stretch(pool: &mut Pool, term: Term, signed: bool, wide: u32) -> Term {
    if signed { pool.sext(term, wide) } else { pool.zext(term, wide) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use program::inst::Ty;
    use replay::arith;

    /// Values at the edges of a width, and some within.
    fn values(width: u32) -> Vec<u128> {
        let mask = (1u128 << width) - 1;
        let half = 1u128 << (width - 1);
        [0, 1, 2, 7, width.into(), half - 1, half, half + 1, mask - 1, mask, 0x5a3c_96e1_0f87_b42d]
            .into_iter()
            .map(|value| value & mask)
            .collect()
    }

    /// Terms over variables evaluate to the results of replay, in every width.
    #[test]
    fn intrinsics_are_those_of_replay() {
        use Pure::*;
        let operations = [
            BitReverse,
            Ctpop,
            Ctlz,
            Cttz,
            Abs,
            SMin,
            SMax,
            UMin,
            UMax,
            Fshl,
            Fshr,
            SAddOverflow,
            UAddOverflow,
            SSubOverflow,
            USubOverflow,
            SMulOverflow,
            UMulOverflow,
            SAddSat,
            UAddSat,
            SSubSat,
            USubSat,
            PtrMask,
            Bswap,
        ];
        for width in [8u32, 16, 32, 64] {
            let some = values(width);
            let mut pool = Pool::default();
            let variables: Vec<Term> = (0..3).map(|n| pool.variable(n, width)).collect();
            for op in operations {
                if op == Bswap && width == 8 {
                    continue;
                }
                let result = intrinsic(&mut pool, op, &variables).expect("no wider than 128 bits");
                for (i, &a) in some.iter().enumerate() {
                    for &b in &some {
                        let given = [a, b, some[(i + 3) % some.len()]];
                        let value = |term| pool.evaluate(term, &|n| given[n as usize]);
                        let (expected, overflow) = arith::pure(op, Ty::Int(width as u16), &given);
                        assert_eq!(value(result.value), expected, "{op:?} of {given:x?} in {width} bits");
                        if let Some(term) = result.overflow {
                            assert_eq!(value(term) != 0, overflow, "{op:?} of {given:x?} in {width} bits");
                        }
                    }
                }
            }
        }
    }
}
