//! Floating point: semantics of the operations on bits, and terms of them.
//!
//! IEEE 754 numbers are plain bits here, so that memory, unions and `memcpy` need no conversion. Evaluation
//! and constant folding use the processor's formats, which are those of the theory.

use crate::node::{Float, Node, Term};
use crate::pool::Pool;
use crate::semantics::{ones, signed};

/// The result in `to` bits of an operation on operands of `from` bits.
pub(crate) fn evaluate(op: Float, from: u32, to: u32, a: u128, b: u128) -> u128 {
    let float = if op.takes_float() { from } else { to };
    if float == 32 { single(op, from, to, a, b) } else { double(op, from, to, a, b) }
}

macro_rules! operations {
    ($name:ident, $format:ty, $bits:ty) => {
        fn $name(op: Float, from: u32, to: u32, a: u128, b: u128) -> u128 {
            let (x, y) = (<$format>::from_bits(a as $bits), <$format>::from_bits(b as $bits));
            let number = |number: $format| u128::from(number.to_bits());
            match op {
                Float::Add => number(x + y),
                Float::Sub => number(x - y),
                Float::Mul => number(x * y),
                Float::Div => number(x / y),
                Float::Eq => u128::from(x == y),
                Float::Lt => u128::from(x < y),
                Float::Le => u128::from(x <= y),
                Float::Sqrt => number(x.sqrt()),
                Float::Floor => number(x.floor()),
                Float::Ceil => number(x.ceil()),
                Float::Trunc => number(x.trunc()),
                Float::RoundEven => number(x.round_ties_even()),
                Float::RoundAway => number(x.round()),
                Float::FromSigned => number(signed(from, a) as $format),
                Float::FromUnsigned => number(a as $format),
                Float::ToSigned => fitting(to, whole(f64::from(x), to, true)),
                Float::ToUnsigned => fitting(to, whole(f64::from(x), to, false)),
                Float::Convert if to == 32 => u128::from((x as f32).to_bits()),
                Float::Convert => u128::from(f64::from(x).to_bits()),
            }
        }
    };
}

operations!(single, f32, u32);
operations!(double, f64, u64);

/// The number without its fraction, if it fits into that many bits.
fn whole(x: f64, width: u32, is_signed: bool) -> Option<u128> {
    let x = x.trunc();
    // Powers of two are exact.
    let (low, high) = range(width, is_signed);
    (low <= x && x < high).then_some(if is_signed { x as i128 as u128 } else { x as u128 })
}

fn fitting(width: u32, value: Option<u128>) -> u128 {
    value.map_or(1 << (width - 1), |value| value & ones(width))
}

/// The smallest number that fits, and the smallest larger number that does not.
fn range(width: u32, is_signed: bool) -> (f64, f64) {
    if is_signed {
        let half = 2f64.powi(width as i32 - 1);
        (-half, half)
    } else {
        (0.0, 2f64.powi(width as i32))
    }
}

impl Pool {
    /// An operation on IEEE 754 numbers; `width` is that of the result.
    ///
    /// ```
    /// use solver::{Float, Pool};
    ///
    /// let mut pool = Pool::new();
    /// let half = pool.constant(64, 0.5f64.to_bits().into());
    /// let sum = pool.float(Float::Add, 64, half, Some(half));
    /// assert_eq!(pool.as_constant(sum), Some(1f64.to_bits().into()));
    /// ```
    pub fn float(&mut self, op: Float, width: u32, a: Term, b: Option<Term>) -> Term {
        let b = b.filter(|_| op.is_binary());
        let from = self.width(a);
        let float = if op.takes_float() { from } else { width };
        assert!(matches!(float, 32 | 64), "{op:?} of {from} bits to {width}");
        let (x, y) = (self.as_constant(a), b.map_or(Some(0), |b| self.as_constant(b)));
        match (x, y) {
            (Some(x), Some(y)) => self.constant(width, evaluate(op, from, width, x, y)),
            _ => self.make(Node::Float(op, a, b), width),
        }
    }

    /// Whether an IEEE 754 number, without its fraction, fits into `width` bits.
    pub fn float_fits(&mut self, a: Term, width: u32, is_signed: bool) -> Term {
        let (low, high) = range(width, is_signed);
        let whole = self.float(Float::Trunc, self.width(a), a, None);
        let (low, high) = (self.float_constant(a, low), self.float_constant(a, high));
        let above = self.float(Float::Le, 1, low, Some(whole));
        let below = self.float(Float::Lt, 1, whole, Some(high));
        self.and(above, below)
    }

    /// A number in the format of `like`.
    pub fn float_constant(&mut self, like: Term, number: f64) -> Term {
        match self.width(like) {
            32 => self.constant(32, u128::from((number as f32).to_bits())),
            _ => self.constant(64, u128::from(number.to_bits())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_to_integers_that_do_not_fit_give_the_sign_bit() {
        let to = |x: f64, width, op| evaluate(op, 64, width, x.to_bits().into(), 0);
        assert_eq!(to(-1.9, 32, Float::ToSigned), u128::from(u32::MAX));
        assert_eq!(to(2_147_483_648.0, 32, Float::ToSigned), 1 << 31);
        assert_eq!(to(-2_147_483_648.9, 32, Float::ToSigned), 1 << 31);
        assert_eq!(to(-0.9, 64, Float::ToUnsigned), 0);
        assert_eq!(to(f64::NAN, 64, Float::ToUnsigned), 1 << 63);
    }

    #[test]
    fn single_numbers_round_once() {
        let bits = |x: f32| u128::from(x.to_bits());
        assert_eq!(evaluate(Float::Add, 32, 32, bits(16_777_216.0), bits(1.0)), bits(16_777_216.0));
        assert_eq!(evaluate(Float::FromSigned, 32, 32, 16_777_217, 0), bits(16_777_216.0));
        assert_eq!(evaluate(Float::Convert, 64, 32, 0.1f64.to_bits().into(), 0), bits(0.1));
    }

    #[test]
    fn what_fits_is_decided_without_its_fraction() {
        let mut pool = Pool::new();
        let x = pool.variable(0, 64);
        let fits = pool.float_fits(x, 8, true);
        let says = |number: f64| pool.evaluate(fits, &|_| number.to_bits().into()) == 1;
        assert!(says(127.9) && says(-128.9) && !says(128.0) && !says(-129.0) && !says(f64::NAN));
    }
}
