//! Exact decimal and hexadecimal forms of binary floating-point numbers, as C's
//! `printf` writes them.

use crate::f80;

/// A floating-point number in its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Real {
    /// The sign bit, also of zeros and NaN.
    pub negative: bool,
    /// The kind of number, and the value without sign.
    pub class: Class,
    /// Written by `%a` with the explicit leading bits of `long double`.
    pub extended: bool,
}

/// The kinds of floating-point numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Quiet or signalling.
    Nan,
    /// The sign is in [`Real::negative`].
    Infinite,
    /// `mantissa * 2^exponent`
    Finite {
        /// An integer, not normalised: subnormal numbers and zero have leading zero bits.
        mantissa: u64,
        /// Of two.
        exponent: i32,
    },
}

impl Real {
    /// The parts of a `double`, given as bits.
    #[must_use]
    pub fn from_f64(bits: u64) -> Real {
        let biased = (bits >> 52 & 0x7ff) as i32;
        let fraction = bits & ((1 << 52) - 1);
        let class = match (biased, fraction) {
            (0x7ff, 0) => Class::Infinite,
            (0x7ff, _) => Class::Nan,
            (0, f) => Class::Finite { mantissa: f, exponent: -1074 },
            (e, f) => Class::Finite { mantissa: f | 1 << 52, exponent: e - 1075 },
        };
        Real { negative: bits >> 63 != 0, class, extended: false }
    }

    /// The parts of a `long double`, given as its 80 bits.
    #[must_use]
    pub fn from_f80(bits: u128) -> Real {
        let (mantissa, exponent) = f80::parts(bits);
        let class = match (bits >> 64 & 0x7fff, mantissa << 1) {
            (0x7fff, 0) => Class::Infinite,
            (0x7fff, _) => Class::Nan,
            _ => Class::Finite { mantissa, exponent },
        };
        Real { negative: bits >> 79 & 1 != 0, class, extended: true }
    }
}

/// Decimal digits without leading zeros, and how many of them are after the point (if more than there are
/// digits, zeros precede them).
pub(crate) struct Digits {
    pub digits: Vec<u8>,
    pub scale: usize,
}

const LIMB: u64 = 1_000_000_000;

/// The exact decimal form.
pub(crate) fn digits(mantissa: u64, exponent: i32) -> Digits {
    // Limbs of nine digits, least significant first.
    let mut limbs = Vec::new();
    let mut rest = mantissa;
    while rest > 0 {
        limbs.push(rest % LIMB);
        rest /= LIMB;
    }
    let multiply = |limbs: &mut Vec<u64>, by: u64| {
        let mut carry = 0;
        for l in limbs.iter_mut() {
            let v = *l * by + carry;
            *l = v % LIMB;
            carry = v / LIMB;
        }
        if carry > 0 {
            limbs.push(carry);
        }
    };
    // m * 2^-k = m * 5^k * 10^-k. Removing trailing zero bits first saves work.
    let mut exponent = exponent;
    if exponent < 0 && mantissa != 0 {
        let free = mantissa.trailing_zeros().min(exponent.unsigned_abs());
        limbs.clear();
        let mut rest = mantissa >> free;
        while rest > 0 {
            limbs.push(rest % LIMB);
            rest /= LIMB;
        }
        exponent += free as i32;
    }
    let (base, step) = if exponent < 0 { (5u64, 12) } else { (2u64, 29) };
    let mut left = exponent.unsigned_abs();
    while left > 0 && !limbs.is_empty() {
        let n = left.min(step);
        multiply(&mut limbs, base.pow(n));
        left -= n;
    }
    let mut digits = Vec::with_capacity(9 * limbs.len());
    for l in limbs.iter().rev() {
        let mut part = [0; 9];
        let mut v = *l;
        for d in part.iter_mut().rev() {
            *d = (v % 10) as u8;
            v /= 10;
        }
        digits.extend_from_slice(&part);
    }
    let zeros = digits.iter().take_while(|d| **d == 0).count();
    digits.drain(..zeros);
    let scale = if digits.is_empty() { 0 } else { (-exponent).max(0) as usize };
    Digits { digits, scale }
}

impl Digits {
    /// Power of ten of the first digit.
    pub fn magnitude(&self) -> i64 {
        if self.digits.is_empty() { 0 } else { self.digits.len() as i64 - 1 - self.scale as i64 }
    }

    /// Rounds, half to even, so that `keep` digits remain (negative: none, and the position before the first
    /// digit is cut off too).
    fn keep(&mut self, keep: i64) {
        let len = self.digits.len() as i64;
        if keep >= len {
            return;
        }
        if keep < 0 {
            self.digits.clear();
            self.scale = (self.scale as i64 - len + keep).max(0) as usize;
            return;
        }
        let keep = keep as usize;
        let cut = &self.digits[keep..];
        let up = match cut[0].cmp(&5) {
            std::cmp::Ordering::Greater => true,
            std::cmp::Ordering::Less => false,
            std::cmp::Ordering::Equal => {
                cut[1..].iter().any(|d| *d != 0) || (keep > 0 && self.digits[keep - 1] % 2 == 1)
            }
        };
        let dropped = len as usize - keep;
        self.digits.truncate(keep);
        // May be negative for integers; callers restore the zeros.
        let mut places = self.scale as i64 - dropped as i64;
        if up {
            let mut i = keep;
            loop {
                if i == 0 {
                    self.digits.insert(0, 1);
                    break;
                }
                i -= 1;
                if self.digits[i] == 9 {
                    self.digits[i] = 0;
                } else {
                    self.digits[i] += 1;
                    break;
                }
            }
        }
        while places < 0 {
            self.digits.push(0);
            places += 1;
        }
        self.scale = places as usize;
        let zeros = self.digits.iter().take_while(|d| **d == 0).count();
        self.digits.drain(..zeros);
    }

    /// The digit with the value `10^power`.
    fn at(&self, power: i64) -> u8 {
        let from_end = power + self.scale as i64;
        let index = self.digits.len() as i64 - 1 - from_end;
        if from_end < 0 || index < 0 { b'0' } else { b'0' + self.digits[index as usize] }
    }

    /// `%f`
    pub fn fixed(mut self, precision: usize, point: bool) -> String {
        let keep = self.digits.len() as i64 - self.scale as i64 + precision as i64;
        self.keep(keep);
        let mut out = String::new();
        for p in (0..=self.magnitude().max(0)).rev() {
            out.push(self.at(p).into());
        }
        if precision > 0 || point {
            out.push('.');
        }
        for p in 1..=precision as i64 {
            out.push(self.at(-p).into());
        }
        out
    }

    /// `%e`
    pub fn scientific(mut self, precision: usize, point: bool, upper: bool) -> String {
        self.keep(precision as i64 + 1);
        let m = self.magnitude();
        let mut out = String::new();
        out.push(self.at(m).into());
        if precision > 0 || point {
            out.push('.');
        }
        for p in 1..=precision as i64 {
            out.push(self.at(m - p).into());
        }
        let sign = if m < 0 { '-' } else { '+' };
        out.push(if upper { 'E' } else { 'e' });
        out.push(sign);
        out.push_str(&format!("{:02}", m.abs()));
        out
    }

    /// `%g`
    pub fn general(mut self, precision: usize, alternate: bool, upper: bool) -> String {
        let p = precision.max(1);
        self.keep(p as i64);
        let m = self.magnitude();
        let fixed = m >= -4 && m < p as i64;
        let text = if fixed {
            self.fixed((p as i64 - 1 - m) as usize, alternate)
        } else {
            self.scientific(p - 1, alternate, upper)
        };
        if alternate || !text.contains('.') {
            return text;
        }
        let (number, exponent) = match text.find(['e', 'E']) {
            Some(i) => text.split_at(i),
            None => (text.as_str(), ""),
        };
        format!("{}{exponent}", number.trim_end_matches('0').trim_end_matches('.'))
    }
}

/// `%a`, without sign.
pub(crate) fn hexadecimal(real: Real, precision: Option<usize>, point: bool, upper: bool) -> String {
    let Class::Finite { mantissa, exponent } = real.class else { return String::new() };
    // The leading digit and the nibbles after it.
    let (mut lead, mut rest, nibbles, mut power) = if mantissa == 0 {
        (0, 0, if real.extended { 15 } else { 13 }, 0)
    } else if real.extended {
        (mantissa >> 60, mantissa << 4 >> 4, 15, exponent + 60)
    } else {
        (mantissa >> 52, mantissa & ((1 << 52) - 1), 13, exponent + 52)
    };
    let mut count = nibbles;
    match precision {
        Some(p) if p < nibbles => {
            let cut = 4 * (nibbles - p) as u32;
            let half = 1u64 << (cut - 1);
            let low = rest & ((half << 1) - 1);
            rest >>= cut;
            let odd = if p == 0 { lead & 1 } else { rest & 1 } == 1;
            if low > half || (low == half && odd) {
                rest += 1;
                if rest >> (4 * p as u32) != 0 {
                    rest = 0;
                    lead += 1;
                    if lead == 16 {
                        lead = 1;
                        power += 4;
                    }
                }
            }
            count = p;
        }
        Some(_) => {}
        None => {
            while count > 0 && rest & 15 == 0 {
                rest >>= 4;
                count -= 1;
            }
        }
    }
    let mut out = format!("0x{lead:x}");
    if count > 0 || precision.unwrap_or(0) > 0 || point {
        out.push('.');
    }
    for i in (0..count).rev() {
        out.push_str(&format!("{:x}", rest >> (4 * i) & 15));
    }
    for _ in count..precision.unwrap_or(0) {
        out.push('0');
    }
    out.push_str(&format!("p{}{}", if power < 0 { '-' } else { '+' }, power.abs()));
    if upper { out.to_uppercase() } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn d(v: f64) -> Digits {
        match Real::from_f64(v.to_bits()).class {
            Class::Finite { mantissa, exponent } => digits(mantissa, exponent),
            _ => panic!("finite values only"),
        }
    }

    #[test]
    fn rounds_half_to_even_on_the_exact_value() {
        assert_eq!(d(0.5).fixed(0, false), "0");
        assert_eq!(d(1.5).fixed(0, false), "2");
        assert_eq!(d(2.5).fixed(0, false), "2");
        assert_eq!(d(0.125).fixed(2, false), "0.12");
        assert_eq!(d(0.1).fixed(20, false), "0.10000000000000000555");
        assert_eq!(d(999.96).fixed(1, false), "1000.0");
        assert_eq!(d(0.0).scientific(2, false, false), "0.00e+00");
        assert_eq!(d(9.9999e-5).general(3, false, false), "0.0001");
        assert_eq!(d(1e22).general(6, false, false), "1e+22");
        assert_eq!(d(0.0001).general(6, true, false), "0.000100000");
        assert_eq!(d(1e-5).fixed(2, false), "0.00");
        assert_eq!(d(0.006).fixed(2, false), "0.01");
    }

    #[test]
    fn hexadecimal_forms() {
        let a = |v: f64, p| hexadecimal(Real::from_f64(v.to_bits()), p, false, false);
        assert_eq!(a(1.0, None), "0x1p+0");
        assert_eq!(a(0.1, None), "0x1.999999999999ap-4");
        assert_eq!(a(0.1, Some(3)), "0x1.99ap-4");
        assert_eq!(a(1.5, Some(0)), "0x2p+0");
        assert_eq!(a(5e-324, None), "0x0.0000000000001p-1022");
        let one = Real::from_f80(0x3fff_8000_0000_0000_0000);
        assert_eq!(hexadecimal(one, None, false, false), "0x8p-3");
    }

    proptest! {
        #[test]
        fn agrees_with_rust(bits: u64, precision in 0usize..30) {
            let v = f64::from_bits(bits & !(1 << 63));
            prop_assume!(v.is_finite());
            prop_assert_eq!(d(v).fixed(precision, false), format!("{v:.precision$}"));
            let rust = format!("{v:.precision$e}");
            let (mantissa, exponent) = rust.split_once('e').unwrap();
            let exponent: i32 = exponent.parse().unwrap();
            let want = format!("{mantissa}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs());
            prop_assert_eq!(d(v).scientific(precision, false, false), want);
        }
    }
}
