//! `ite`.

use crate::node::{Binary, Node, Term, Unary};
use crate::pool::Pool;

impl Pool {
    /// `a` if `c` is 1, otherwise `b`.
    pub fn ite(&mut self, c: Term, a: Term, b: Term) -> Term {
        let width = self.width(a);
        assert!(self.width(c) == 1, "a choice by {} bits", self.width(c));
        assert!(width == self.width(b), "a choice between {width} and {} bits", self.width(b));
        match self.as_constant(c) {
            Some(0) => return b,
            Some(_) => return a,
            None => {}
        }
        if let Node::Unary(Unary::Not, opposite) = self.node(c) {
            return self.ite(opposite, b, a);
        }
        let a = match self.node(a) {
            Node::Ite(same, x, _) if same == c => x,
            _ => a,
        };
        let b = match self.node(b) {
            Node::Ite(same, _, y) if same == c => y,
            _ => b,
        };
        if a == b {
            return a;
        }
        if width == 1 {
            return self.bool_ite(c, a, b);
        }
        // `x == k ? k : x` is x.
        if let Node::Binary(Binary::Eq, x, k) = self.node(c)
            && ((a, b) == (k, x) || (a, b) == (x, k))
        {
            return b;
        }
        match (self.node(a), self.node(b)) {
            (Node::Ite(d, x, y), _) if y == b => {
                let both = self.and(c, d);
                return self.ite(both, x, b);
            }
            (_, Node::Ite(d, x, y)) if x == a => {
                let either = self.or(c, d);
                return self.ite(either, a, y);
            }
            _ => {}
        }
        self.make(Node::Ite(c, a, b), width)
    }

    /// Choices between truth values become connectives where an operand is known.
    fn bool_ite(&mut self, c: Term, a: Term, b: Term) -> Term {
        match (self.as_constant(a), self.as_constant(b)) {
            (Some(1), _) => return self.or(c, b),
            (Some(_), _) => {
                let otherwise = self.not(c);
                return self.and(otherwise, b);
            }
            (_, Some(0)) => return self.and(c, a),
            (_, Some(_)) => {
                let otherwise = self.not(c);
                return self.or(otherwise, a);
            }
            _ => {}
        }
        if a == c {
            return self.or(c, b);
        }
        if b == c {
            return self.and(c, a);
        }
        let opposite = self.not(b);
        if opposite == a {
            return self.binary(Binary::Eq, c, a);
        }
        self.make(Node::Ite(c, a, b), 1)
    }

    /// Matches a choice between two constants.
    pub(super) fn as_constant_ite(&self, t: Term) -> Option<(Term, u128, u128)> {
        match self.node(t) {
            Node::Ite(c, a, b) => Some((c, self.as_constant(a)?, self.as_constant(b)?)),
            _ => None,
        }
    }

    pub(super) fn constant_ite(&mut self, c: Term, width: u32, a: u128, b: u128) -> Term {
        let (a, b) = (self.constant(width, a), self.constant(width, b));
        self.ite(c, a, b)
    }
}
