//! Equality. If an operand is constant, it is `b`.

use crate::node::{Binary, Node, Term, Unary};
use crate::pool::Pool;
use crate::semantics;

/// At most so many choices of a chain are compared with a constant one by one.
const CHAIN: usize = 256;

impl Pool {
    pub(super) fn equality(&mut self, a: Term, b: Term) -> Term {
        if a == b {
            return self.truth(true);
        }
        if self.width(a) == 1 {
            return self.bool_equality(a, b);
        }
        if let Some(k) = self.as_constant(b) {
            return self.chain_equals_constant(a, k);
        }
        match (self.node(a), self.node(b)) {
            (Node::Zext(x), Node::Zext(y)) => {
                let width = self.width(x).max(self.width(y));
                let (x, y) = (self.zext(x, width), self.zext(y, width));
                return self.binary(Binary::Eq, x, y);
            }
            (Node::Sext(x), Node::Sext(y)) => {
                let width = self.width(x).max(self.width(y));
                let (x, y) = (self.sext(x, width), self.sext(y, width));
                return self.binary(Binary::Eq, x, y);
            }
            (Node::Unary(op, x), Node::Unary(other, y)) if op == other => {
                return self.binary(Binary::Eq, x, y);
            }
            _ => {}
        }
        // Cancels constant summands of both sides.
        match (self.offset(a), self.offset(b)) {
            (Some((x, p)), Some((y, q))) => {
                let difference = self.constant(self.width(a), q.wrapping_sub(p));
                let moved = self.binary(Binary::Add, y, difference);
                return self.binary(Binary::Eq, x, moved);
            }
            (Some((x, _)), None) if x == b => return self.truth(false),
            (None, Some((y, _))) if y == a => return self.truth(false),
            _ => {}
        }
        if self.complement_of(a, b) {
            return self.truth(false);
        }
        self.plain(Binary::Eq, a, b)
    }

    fn complement_of(&self, a: Term, b: Term) -> bool {
        self.node(a) == Node::Unary(Unary::Not, b) || self.node(b) == Node::Unary(Unary::Not, a)
    }

    fn bool_equality(&mut self, a: Term, b: Term) -> Term {
        match self.as_constant(b) {
            Some(0) => return self.not(a),
            Some(_) => return a,
            None => {}
        }
        if self.complement_of(a, b) {
            return self.truth(false);
        }
        for (x, y) in [(a, b), (b, a)] {
            if let Node::Unary(Unary::Not, z) = self.node(x) {
                let same = self.binary(Binary::Eq, z, y);
                return self.not(same);
            }
        }
        self.plain(Binary::Eq, a, b)
    }

    /// Follows chains of choices in a loop: `c1 ? k1 : c2 ? k2 : x` compared with `k` reduces to the
    /// conditions.
    fn chain_equals_constant(&mut self, a: Term, k: u128) -> Term {
        let mut t = a;
        let mut excluded = Vec::new();
        while excluded.len() < CHAIN {
            let Node::Ite(c, x, y) = self.node(t) else { break };
            match (self.as_constant(x), self.as_constant(y)) {
                (Some(x), _) if x != k => {
                    let not = self.not(c);
                    excluded.push(not);
                    t = y;
                }
                (_, Some(y)) if y != k => {
                    excluded.push(c);
                    t = x;
                }
                _ => break,
            }
        }
        let mut result = match self.as_constant(t) {
            Some(value) => self.truth(value == k),
            None => self.leaf_equals_constant(t, k),
        };
        while let Some(condition) = excluded.pop() {
            result = self.and(condition, result);
        }
        result
    }

    fn leaf_equals_constant(&mut self, a: Term, k: u128) -> Term {
        let width = self.width(a);
        let equal = |pool: &mut Pool, t: Term, k: u128| {
            let k = pool.constant(pool.width(t), k);
            pool.binary(Binary::Eq, t, k)
        };
        if width == 1 || self.as_constant(a).is_some() {
            return equal(self, a, k);
        }
        match self.node(a) {
            Node::Zext(x) => {
                if k > semantics::ones(self.width(x)) {
                    return self.truth(false);
                }
                return equal(self, x, k);
            }
            Node::Sext(x) => {
                let inside = self.width(x);
                let short = k & semantics::ones(inside);
                if semantics::sext(short, inside, width) != k {
                    return self.truth(false);
                }
                return equal(self, x, short);
            }
            Node::Concat(high, low) => {
                let split = self.width(low);
                let high = equal(self, high, k >> split);
                let low = equal(self, low, k & semantics::ones(split));
                return self.and(high, low);
            }
            Node::Unary(op, x) => return equal(self, x, semantics::unary(op, width, k)),
            Node::Binary(op, x, y) => match (op, self.as_constant(x), self.as_constant(y)) {
                (Binary::Add, _, Some(c)) => return equal(self, x, k.wrapping_sub(c)),
                (Binary::Xor, _, Some(c)) => return equal(self, x, k ^ c),
                (Binary::Sub, Some(c), _) => return equal(self, y, c.wrapping_sub(k)),
                (Binary::Sub, None, None) if k == 0 => return self.binary(Binary::Eq, x, y),
                (Binary::Xor, None, None) if k == 0 => return self.binary(Binary::Eq, x, y),
                // Contradictions in the bits that the operation fixes.
                (Binary::And, _, Some(c)) if k & !c != 0 => return self.truth(false),
                (Binary::Or, _, Some(c)) if c & !k != 0 => return self.truth(false),
                // An odd factor has an inverse.
                (Binary::Mul, _, Some(c)) if c & 1 == 1 => {
                    return equal(self, x, k.wrapping_mul(inverse(c)));
                }
                _ => {}
            },
            _ => {}
        }
        if k > self.most(a) {
            return self.truth(false);
        }
        let k = self.constant(width, k);
        self.plain(Binary::Eq, a, k)
    }
}

/// The multiplicative inverse of an odd number modulo 2^128, and so modulo any smaller power of two. Each
/// step of Newton's method doubles the number of correct bits, from 3.
fn inverse(odd: u128) -> u128 {
    let mut inverse = odd;
    for _ in 0..6 {
        inverse = inverse.wrapping_mul(2_u128.wrapping_sub(odd.wrapping_mul(inverse)));
    }
    inverse
}

#[cfg(test)]
mod tests {
    #[test]
    fn odd_numbers_have_inverses() {
        for odd in [1, 3, 10_000_000_019, u128::MAX, 0x1234_5678_9abc_def1] {
            assert_eq!(super::inverse(odd).wrapping_mul(odd), 1);
        }
    }
}
