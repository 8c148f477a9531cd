//! Complement, and, or, exclusive or; on width 1 these are the logical connectives.

use crate::node::{Binary, Node, Term, Unary};
use crate::pool::Pool;
use crate::semantics::ones;

impl Pool {
    pub(super) fn complement(&mut self, a: Term) -> Term {
        let width = self.width(a);
        match self.node(a) {
            Node::Unary(Unary::Not, x) => x,
            Node::Unary(Unary::Neg, x) => {
                let less = self.constant(width, ones(width));
                self.binary(Binary::Add, x, less)
            }
            Node::Binary(Binary::Ult, x, y) => self.binary(Binary::Ule, y, x),
            Node::Binary(Binary::Ule, x, y) => self.binary(Binary::Ult, y, x),
            Node::Binary(Binary::Slt, x, y) => self.binary(Binary::Sle, y, x),
            Node::Binary(Binary::Sle, x, y) => self.binary(Binary::Slt, y, x),
            Node::Binary(Binary::Xor, x, c) if self.as_constant(c).is_some() => {
                let c = self.as_constant(c).unwrap_or_default();
                let c = self.constant(width, !c);
                self.binary(Binary::Xor, x, c)
            }
            Node::Binary(Binary::Sub, c, x) if self.as_constant(c).is_some() => {
                let c = self.as_constant(c).unwrap_or_default();
                let c = self.constant(width, !c);
                self.binary(Binary::Add, x, c)
            }
            _ => self.make(Node::Unary(Unary::Not, a), width),
        }
    }

    fn complementary(&self, a: Term, b: Term) -> bool {
        let is_not = |x, y| self.node(x) == Node::Unary(Unary::Not, y);
        is_not(a, b) || is_not(b, a)
    }

    pub(super) fn conjunction(&mut self, a: Term, b: Term) -> Term {
        let width = self.width(a);
        if a == b {
            return a;
        }
        if let Some(c) = self.as_constant(b) {
            return self.and_mask(a, c);
        }
        if self.complementary(a, b) {
            return self.constant(width, 0);
        }
        if let Some(t) = self.absorption(Binary::And, Binary::Or, a, b) {
            return t;
        }
        if let Some(t) = self.split_at_concat(Binary::And, a, b) {
            return t;
        }
        self.plain(Binary::And, a, b)
    }

    /// `a & mask`: an extraction if the mask is a run of ones at either end.
    fn and_mask(&mut self, a: Term, mask: u128) -> Term {
        let width = self.width(a);
        if mask == 0 {
            return self.constant(width, 0);
        }
        if mask == ones(width) {
            return a;
        }
        let kept = mask.trailing_ones();
        if mask == ones(kept) {
            let rest = self.extract(a, 0, kept);
            return self.zext(rest, width);
        }
        let cleared = mask.trailing_zeros();
        if mask >> cleared == ones(width - cleared) {
            let rest = self.extract(a, cleared, width - cleared);
            let zero = self.constant(cleared, 0);
            return self.concat(rest, zero);
        }
        let mask = self.constant(width, mask);
        self.with_constant(Binary::And, a, mask)
    }

    /// An `and`, `or` or `xor` with a constant, if no other rule applies.
    fn with_constant(&mut self, op: Binary, a: Term, b: Term) -> Term {
        match self.node(a) {
            Node::Binary(inner, x, c) if inner == op && self.as_constant(c).is_some() => {
                let c = self.binary(op, c, b);
                self.binary(op, x, c)
            }
            _ => match self.split_at_concat(op, a, b) {
                Some(t) => t,
                None => self.plain(op, a, b),
            },
        }
    }

    /// A bitwise operation on two concatenations with a common split point, or on one and a constant.
    fn split_at_concat(&mut self, op: Binary, a: Term, b: Term) -> Option<Term> {
        let width = self.width(a);
        let cut = |pool: &Pool, t| match pool.node(t) {
            Node::Zext(inner) => Some(pool.width(inner)),
            Node::Concat(_, low) => Some(pool.width(low)),
            _ => None,
        };
        let constant = |pool: &Pool, t| pool.as_constant(t).is_some();
        let at = match (cut(self, a), cut(self, b)) {
            (Some(at), Some(other)) if at == other => at,
            (Some(at), None) if constant(self, b) => at,
            (None, Some(at)) if constant(self, a) => at,
            _ => return None,
        };
        let (x, y) = (self.extract(a, at, width - at), self.extract(b, at, width - at));
        let high = self.binary(op, x, y);
        let (x, y) = (self.extract(a, 0, at), self.extract(b, 0, at));
        let low = self.binary(op, x, y);
        Some(self.concat(high, low))
    }

    /// Absorption: `a & (a & x)`, `a & (a | x)` and their duals, one level deep.
    fn absorption(&mut self, op: Binary, dual: Binary, a: Term, b: Term) -> Option<Term> {
        for (x, y) in [(a, b), (b, a)] {
            let Node::Binary(inner, p, q) = self.node(y) else { continue };
            if inner == op {
                if p == x || q == x {
                    return Some(y);
                }
                if self.complementary(p, x) || self.complementary(q, x) {
                    let width = self.width(a);
                    let extreme = if op == Binary::And { 0 } else { ones(width) };
                    return Some(self.constant(width, extreme));
                }
            } else if inner == dual {
                if p == x || q == x {
                    return Some(x);
                }
                if self.complementary(p, x) {
                    return Some(self.binary(op, x, q));
                }
                if self.complementary(q, x) {
                    return Some(self.binary(op, x, p));
                }
            }
        }
        None
    }

    pub(super) fn disjunction(&mut self, a: Term, b: Term) -> Term {
        let width = self.width(a);
        if a == b {
            return a;
        }
        match self.as_constant(b) {
            Some(0) => return a,
            Some(c) if c == ones(width) => return b,
            _ => {}
        }
        if let Some(t) = self.joined(a, b) {
            return t;
        }
        if self.as_constant(b).is_some() {
            return self.with_constant(Binary::Or, a, b);
        }
        if self.complementary(a, b) {
            return self.constant(width, ones(width));
        }
        if let Some(t) = self.absorption(Binary::Or, Binary::And, a, b) {
            return t;
        }
        if let Some(t) = self.split_at_concat(Binary::Or, a, b) {
            return t;
        }
        self.plain(Binary::Or, a, b)
    }

    pub(super) fn exclusive(&mut self, a: Term, b: Term) -> Term {
        let width = self.width(a);
        if a == b {
            return self.constant(width, 0);
        }
        match self.as_constant(b) {
            Some(0) => return a,
            Some(c) if c == ones(width) => return self.not(a),
            _ => {}
        }
        if width == 1 {
            // On truth values, inequality.
            let same = self.binary(Binary::Eq, a, b);
            return self.not(same);
        }
        if let Some(t) = self.joined(a, b) {
            return t;
        }
        if let Some(c) = self.as_constant(b) {
            if let Node::Unary(Unary::Not, x) = self.node(a) {
                let c = self.constant(width, !c);
                return self.binary(Binary::Xor, x, c);
            }
            return self.with_constant(Binary::Xor, a, b);
        }
        if self.complementary(a, b) {
            return self.constant(width, ones(width));
        }
        for (x, y) in [(a, b), (b, a)] {
            match self.node(y) {
                Node::Unary(Unary::Not, z) => {
                    let inner = self.binary(Binary::Xor, x, z);
                    return self.not(inner);
                }
                Node::Binary(Binary::Xor, p, q) if p == x => return q,
                Node::Binary(Binary::Xor, p, q) if q == x => return p,
                _ => {}
            }
        }
        if let Some(t) = self.split_at_concat(Binary::Xor, a, b) {
            return t;
        }
        self.plain(Binary::Xor, a, b)
    }
}
