//! The bit-vector operations as circuits, lowest bit first.

use super::gates::{Gates, Wire};

type Bits = Vec<Wire>;

impl Gates {
    pub fn constant(&self, width: u32, value: u128) -> Bits {
        (0..width).map(|bit| self.known(value >> bit & 1 == 1)).collect()
    }

    /// `a + b + carry`, and the carry out.
    pub fn adder(&mut self, a: &[Wire], b: &[Wire], mut carry: Wire) -> (Bits, Wire) {
        let mut sum = Vec::with_capacity(a.len());
        for (&x, &y) in a.iter().zip(b) {
            let half = self.xor(x, y);
            sum.push(self.xor(half, carry));
            carry = self.majority(x, y, carry);
        }
        (sum, carry)
    }

    pub fn complement(bits: &[Wire]) -> Bits {
        bits.iter().map(|&bit| !bit).collect()
    }

    /// `a - b`, and whether there was no borrow: `a >= b`.
    pub fn subtractor(&mut self, a: &[Wire], b: &[Wire]) -> (Bits, Wire) {
        let yes = self.yes;
        self.adder(a, &Gates::complement(b), yes)
    }

    pub fn negation(&mut self, a: &[Wire]) -> Bits {
        let zero = self.constant(a.len() as u32, 0);
        self.subtractor(&zero, a).0
    }

    pub fn product(&mut self, a: &[Wire], b: &[Wire]) -> Bits {
        let width = a.len();
        let no = !self.yes;
        let known =
            |bits: &[Wire], gates: &Gates| bits.iter().filter(|&&bit| bit == no || bit == gates.yes).count();
        // Add rows for the bits of the factor with more constant bits: constant bits make no gates.
        let (a, b) = if known(a, self) > known(b, self) { (b, a) } else { (a, b) };
        let mut sum = self.constant(width as u32, 0);
        for (shift, &factor) in b.iter().enumerate() {
            if factor == no {
                continue;
            }
            let row: Bits = a[..width - shift].iter().map(|&bit| self.and(bit, factor)).collect();
            let (high, _) = self.adder(&sum[shift..], &row, no);
            sum.splice(shift.., high);
        }
        sum
    }

    /// Quotient and remainder by long division. A divisor of zero fits in every step, so that the quotient
    /// is all ones and the remainder the dividend, as SMT-LIB defines it.
    pub fn division(&mut self, a: &[Wire], b: &[Wire]) -> (Bits, Bits) {
        let width = a.len();
        let no = !self.yes;
        // One bit wider than the divisor, for the bit that is shifted out.
        let mut divisor = b.to_vec();
        divisor.push(no);
        let mut rest = vec![no; width + 1];
        let mut quotient = vec![no; width];
        for at in (0..width).rev() {
            rest.insert(0, a[at]);
            rest.truncate(width + 1);
            let (less, fits) = self.subtractor(&rest, &divisor);
            quotient[at] = fits;
            rest = self.choice(fits, &less, &rest);
        }
        rest.truncate(width);
        (quotient, rest)
    }

    pub fn signed_division(&mut self, a: &[Wire], b: &[Wire]) -> (Bits, Bits) {
        let (x, y) = (a[a.len() - 1], b[b.len() - 1]);
        let minus = self.negation(a);
        let size_a = self.choice(x, &minus, a);
        let minus = self.negation(b);
        let size_b = self.choice(y, &minus, b);
        let (quotient, remainder) = self.division(&size_a, &size_b);
        let signs = self.xor(x, y);
        let minus = self.negation(&quotient);
        let quotient = self.choice(signs, &minus, &quotient);
        let minus = self.negation(&remainder);
        (quotient, self.choice(x, &minus, &remainder))
    }

    pub fn choice(&mut self, c: Wire, a: &[Wire], b: &[Wire]) -> Bits {
        a.iter().zip(b).map(|(&a, &b)| self.mux(c, a, b)).collect()
    }

    /// Barrel shifter for a variable distance; `fill` is shifted in.
    pub fn shift(&mut self, a: &[Wire], by: &[Wire], left: bool, fill: Wire) -> Bits {
        let width = a.len();
        let mut bits = a.to_vec();
        let mut past = !self.yes;
        for (stage, &move_it) in by.iter().enumerate() {
            let distance =
                1_usize.checked_shl(stage as u32).filter(|&distance| distance < width && stage < 32);
            let Some(distance) = distance else {
                past = self.or(past, move_it);
                continue;
            };
            let moved: Bits = (0..width)
                .map(|at| {
                    let from = if left { at.checked_sub(distance) } else { Some(at + distance) };
                    from.and_then(|from| bits.get(from)).copied().unwrap_or(fill)
                })
                .collect();
            bits = self.choice(move_it, &moved, &bits);
        }
        let gone = vec![fill; width];
        self.choice(past, &gone, &bits)
    }

    pub fn equal(&mut self, a: &[Wire], b: &[Wire]) -> Wire {
        let mut all = self.yes;
        for (&x, &y) in a.iter().zip(b) {
            let differ = self.xor(x, y);
            all = self.and(all, !differ);
        }
        all
    }

    /// `a < b`, or `a <= b`.
    pub fn less(&mut self, a: &[Wire], b: &[Wire], or_equal: bool) -> Wire {
        let mut less = self.known(or_equal);
        for (&x, &y) in a.iter().zip(b) {
            // The higher bit decides unless both are equal.
            less = self.majority(!x, y, less);
        }
        less
    }
}
