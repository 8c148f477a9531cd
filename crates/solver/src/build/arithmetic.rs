//! Sums, products, quotients.
//!
//! A constant in a sum is pulled outwards, so that `x + 1 + 1` and differences of two offsets of
//! one term fold. Operands are not both constant here, and a constant factor or summand is `b`.

use crate::node::{Binary, Node, Term, Unary};
use crate::pool::Pool;
use crate::semantics::{self, ones};

impl Pool {
    fn add_constant(&mut self, a: Term, value: u128) -> Term {
        let value = self.constant(self.width(a), value);
        self.binary(Binary::Add, a, value)
    }

    pub(super) fn sum(&mut self, a: Term, b: Term) -> Term {
        let width = self.width(a);
        if width == 1 {
            return self.binary(Binary::Xor, a, b);
        }
        if let Some(c) = self.as_constant(b) {
            if c == 0 {
                return a;
            }
            match self.node(a) {
                Node::Binary(Binary::Add, x, k) if self.as_constant(k).is_some() => {
                    let k = self.as_constant(k).unwrap_or_default();
                    return self.add_constant(x, k.wrapping_add(c));
                }
                Node::Binary(Binary::Sub, k, x) if self.as_constant(k).is_some() => {
                    let k = self.as_constant(k).unwrap_or_default();
                    let k = self.constant(width, k.wrapping_add(c));
                    return self.binary(Binary::Sub, k, x);
                }
                // `-x` is `!x + 1`.
                Node::Unary(Unary::Not, x) => {
                    let k = self.constant(width, c.wrapping_sub(1));
                    return self.binary(Binary::Sub, k, x);
                }
                _ => {}
            }
        } else {
            if let Some((x, c)) = self.offset(a) {
                let rest = self.binary(Binary::Add, x, b);
                return self.add_constant(rest, c);
            }
            if let Some((y, c)) = self.offset(b) {
                let rest = self.binary(Binary::Add, a, y);
                return self.add_constant(rest, c);
            }
            if a == b {
                let two = self.constant(width, 2);
                return self.binary(Binary::Mul, a, two);
            }
            for (x, y) in [(a, b), (b, a)] {
                match self.node(y) {
                    Node::Unary(Unary::Neg, z) => return self.binary(Binary::Sub, x, z),
                    Node::Binary(Binary::Sub, z, same) if same == x => return z,
                    Node::Binary(Binary::Sub, k, z) if self.as_constant(k).is_some() => {
                        let rest = self.binary(Binary::Sub, x, z);
                        return self.binary(Binary::Add, rest, k);
                    }
                    _ => {}
                }
            }
        }
        // If no bit is set in both operands, there is no carry.
        self.joined(a, b).unwrap_or_else(|| self.plain(Binary::Add, a, b))
    }

    pub(super) fn difference(&mut self, a: Term, b: Term) -> Term {
        let width = self.width(a);
        if let Some(c) = self.as_constant(b) {
            return self.add_constant(a, c.wrapping_neg());
        }
        if width == 1 {
            return self.binary(Binary::Xor, a, b);
        }
        if a == b {
            return self.constant(width, 0);
        }
        if let Some((y, c)) = self.offset(b) {
            let rest = self.binary(Binary::Sub, a, y);
            return self.add_constant(rest, c.wrapping_neg());
        }
        if let Some(k) = self.as_constant(a) {
            match self.node(b) {
                _ if k == 0 => return self.unary(Unary::Neg, b),
                Node::Binary(Binary::Sub, c, y) if self.as_constant(c).is_some() => {
                    let c = self.as_constant(c).unwrap_or_default();
                    return self.add_constant(y, k.wrapping_sub(c));
                }
                Node::Unary(Unary::Not, y) => return self.add_constant(y, k.wrapping_add(1)),
                Node::Unary(Unary::Neg, y) => return self.add_constant(y, k),
                _ => return self.plain(Binary::Sub, a, b),
            }
        }
        if let Some((x, c)) = self.offset(a) {
            let rest = self.binary(Binary::Sub, x, b);
            return self.add_constant(rest, c);
        }
        match self.node(a) {
            Node::Binary(Binary::Add, x, y) if x == b => return y,
            Node::Binary(Binary::Add, x, y) if y == b => return x,
            Node::Binary(Binary::Sub, x, y) if x == b => return self.unary(Unary::Neg, y),
            _ => {}
        }
        match self.node(b) {
            Node::Unary(Unary::Neg, y) => return self.binary(Binary::Add, a, y),
            Node::Binary(Binary::Add, x, y) if x == a => return self.unary(Unary::Neg, y),
            Node::Binary(Binary::Add, x, y) if y == a => return self.unary(Unary::Neg, x),
            Node::Binary(Binary::Sub, x, y) if x == a => return y,
            _ => {}
        }
        self.plain(Binary::Sub, a, b)
    }

    pub(super) fn negation(&mut self, a: Term) -> Term {
        let width = self.width(a);
        match self.node(a) {
            _ if width == 1 => a,
            Node::Unary(Unary::Neg, x) => x,
            Node::Unary(Unary::Not, x) => self.add_constant(x, 1),
            Node::Binary(Binary::Sub, x, y) => self.binary(Binary::Sub, y, x),
            Node::Binary(Binary::Add, x, c) if self.as_constant(c).is_some() => {
                let c = self.as_constant(c).unwrap_or_default();
                let c = self.constant(width, c.wrapping_neg());
                self.binary(Binary::Sub, c, x)
            }
            _ => self.make(Node::Unary(Unary::Neg, a), width),
        }
    }

    pub(super) fn product(&mut self, a: Term, b: Term) -> Term {
        let width = self.width(a);
        if width == 1 {
            return self.binary(Binary::And, a, b);
        }
        if let Some(c) = self.as_constant(b) {
            if c == 0 {
                return b;
            }
            if c == ones(width) {
                return self.unary(Unary::Neg, a);
            }
            if c.is_power_of_two() {
                return self.shifted_left(a, c.trailing_zeros());
            }
            match self.node(a) {
                Node::Binary(Binary::Mul, x, k) if self.as_constant(k).is_some() => {
                    let k = self.as_constant(k).unwrap_or_default();
                    let k = self.constant(width, k.wrapping_mul(c));
                    return self.binary(Binary::Mul, x, k);
                }
                Node::Unary(Unary::Neg, x) => {
                    let k = self.constant(width, c.wrapping_neg());
                    return self.binary(Binary::Mul, x, k);
                }
                _ => {}
            }
        }
        self.plain(Binary::Mul, a, b)
    }

    pub(super) fn unsigned_quotient(&mut self, a: Term, b: Term) -> Term {
        let width = self.width(a);
        let Some(c) = self.as_constant(b) else {
            return self.plain(Binary::UDiv, a, b);
        };
        if c == 0 {
            return self.constant(width, ones(width));
        }
        if c.is_power_of_two() {
            return self.shifted_right(a, c.trailing_zeros());
        }
        let (inner, most) = (self.strip_zext(a), self.most(a));
        if c > most {
            return self.constant(width, 0);
        }
        if self.width(inner) < width {
            let short = self.constant(self.width(inner), c);
            let quotient = self.binary(Binary::UDiv, inner, short);
            return self.zext(quotient, width);
        }
        self.plain(Binary::UDiv, a, b)
    }

    pub(super) fn unsigned_remainder(&mut self, a: Term, b: Term) -> Term {
        let width = self.width(a);
        let Some(c) = self.as_constant(b) else {
            return self.plain(Binary::URem, a, b);
        };
        if c == 0 {
            return a;
        }
        if c.is_power_of_two() {
            let mask = self.constant(width, c - 1);
            return self.binary(Binary::And, a, mask);
        }
        if c > self.most(a) {
            return a;
        }
        let inner = self.strip_zext(a);
        if self.width(inner) < width {
            let short = self.constant(self.width(inner), c);
            let remainder = self.binary(Binary::URem, inner, short);
            return self.zext(remainder, width);
        }
        self.plain(Binary::URem, a, b)
    }

    pub(super) fn signed_quotient(&mut self, a: Term, b: Term) -> Term {
        let width = self.width(a);
        match self.as_constant(b) {
            Some(1) if width > 1 => return a,
            Some(c) if c == ones(width) => return self.unary(Unary::Neg, a),
            _ => {}
        }
        // Signed and unsigned division agree on non-negative numbers, including division by zero.
        if self.is_non_negative(a) && self.is_non_negative(b) {
            return self.binary(Binary::UDiv, a, b);
        }
        self.plain(Binary::SDiv, a, b)
    }

    pub(super) fn signed_remainder(&mut self, a: Term, b: Term) -> Term {
        let width = self.width(a);
        match self.as_constant(b) {
            Some(c) if c == 1 || c == ones(width) => return self.constant(width, 0),
            Some(0) => return a,
            // Only the magnitude of the divisor matters; the smallest number has no positive counterpart.
            Some(c) if semantics::negative(width, c) && c != 1 << (width - 1) => {
                let size = self.constant(width, c.wrapping_neg());
                return self.binary(Binary::SRem, a, size);
            }
            _ => {}
        }
        if self.is_non_negative(a) && self.is_non_negative(b) {
            return self.binary(Binary::URem, a, b);
        }
        self.plain(Binary::SRem, a, b)
    }
}
