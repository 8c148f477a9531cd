//! Bounds on the value of a term that follow from its shape.

use crate::node::{Binary, Node, Term};
use crate::pool::Pool;
use crate::semantics::{self, ones};

/// Search depth for a bound, in nodes.
const DEPTH: u32 = 4;

impl Pool {
    /// The term under a zero extension, or the term itself.
    pub(super) fn strip_zext(&self, t: Term) -> Term {
        match self.node(t) {
            Node::Zext(inner) => inner,
            _ => t,
        }
    }

    /// An upper bound of the unsigned value of the term.
    pub(crate) fn most(&self, t: Term) -> u128 {
        self.upper_bound_within(t, DEPTH)
    }

    fn upper_bound_within(&self, t: Term, depth: u32) -> u128 {
        let all = ones(self.width(t));
        if depth == 0 {
            return all;
        }
        let constant = |t| self.as_constant(t);
        match self.node(t) {
            Node::Constant(value) => value,
            Node::Zext(a) => self.upper_bound_within(a, depth - 1),
            Node::Concat(a, b) => {
                self.upper_bound_within(a, depth - 1) << self.width(b) | ones(self.width(b))
            }
            Node::Ite(_, a, b) => {
                self.upper_bound_within(a, depth - 1).max(self.upper_bound_within(b, depth - 1))
            }
            Node::Binary(Binary::And, a, b) => {
                self.upper_bound_within(a, depth - 1).min(self.upper_bound_within(b, depth - 1))
            }
            Node::Binary(Binary::URem, a, b) => match constant(b) {
                Some(c) if c > 0 => (c - 1).min(self.upper_bound_within(a, depth - 1)),
                _ => all,
            },
            Node::Binary(Binary::UDiv, a, b) => match constant(b) {
                Some(c) if c > 0 => self.upper_bound_within(a, depth - 1) / c,
                _ => all,
            },
            Node::Binary(Binary::Add, a, b) => {
                let (a, b) = (self.upper_bound_within(a, depth - 1), self.upper_bound_within(b, depth - 1));
                a.checked_add(b).filter(|&sum| sum <= all).unwrap_or(all)
            }
            Node::Binary(Binary::Mul, a, b) => {
                let (a, b) = (self.upper_bound_within(a, depth - 1), self.upper_bound_within(b, depth - 1));
                a.checked_mul(b).filter(|&product| product <= all).unwrap_or(all)
            }
            _ => all,
        }
    }

    /// Whether the sign bit is known to be clear.
    pub(super) fn is_non_negative(&self, t: Term) -> bool {
        !semantics::negative(self.width(t), self.most(t))
    }
}
