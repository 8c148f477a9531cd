//! Term construction: every constructor simplifies.
//!
//! Rules match a few nodes deep and never traverse a whole term, so that construction takes constant time
//! and no depth of terms can exhaust the stack. The exceptions are bounded by the width of a term (parts of
//! a concatenation) or run as loops (chains of `ite` and of stores).
//!
//! The normal form: bit moves (shifts by constants, masks, extensions) are [slices](slices); constants are
//! the right operands of commutative operations and are pulled outwards in sums; comparisons with constants
//! use `Ule` and `Sle` only; negations are pushed into comparisons.

mod arithmetic;
mod arrays;
mod bitwise;
mod bounds;
mod choice;
mod comparison;
mod equality;
mod slices;

use crate::node::{Binary, Node, Term, Unary};
use crate::pool::Pool;
use crate::semantics;

impl Pool {
    /// The operation on one term; the result has its width.
    pub fn unary(&mut self, op: Unary, a: Term) -> Term {
        let width = self.width(a);
        if let Some(value) = self.as_constant(a) {
            return self.constant(width, semantics::unary(op, width, value));
        }
        if let Some((c, x, y)) = self.as_constant_ite(a) {
            let (x, y) = (semantics::unary(op, width, x), semantics::unary(op, width, y));
            return self.constant_ite(c, width, x, y);
        }
        match op {
            Unary::Not => self.complement(a),
            Unary::Neg => self.negation(a),
        }
    }

    /// Operands must have the same width; comparisons have width 1.
    pub fn binary(&mut self, op: Binary, a: Term, b: Term) -> Term {
        let width = self.width(a);
        assert!(width == self.width(b), "{op:?} of {width} and {} bits", self.width(b));
        let result = if op.is_comparison() { 1 } else { width };
        let (x, y) = (self.as_constant(a), self.as_constant(b));
        match (x, y) {
            (Some(x), Some(y)) => return self.constant(result, semantics::binary(op, width, x, y)),
            (None, Some(y)) => {
                if let Some((c, p, q)) = self.as_constant_ite(a) {
                    let p = semantics::binary(op, width, p, y);
                    let q = semantics::binary(op, width, q, y);
                    return self.constant_ite(c, result, p, q);
                }
            }
            (Some(x), None) => {
                if let Some((c, p, q)) = self.as_constant_ite(b) {
                    let p = semantics::binary(op, width, x, p);
                    let q = semantics::binary(op, width, x, q);
                    return self.constant_ite(c, result, p, q);
                }
            }
            (None, None) => {}
        }
        let (a, b) =
            if op.is_commutative() && (x.is_some() || (y.is_none() && b < a)) { (b, a) } else { (a, b) };
        match op {
            Binary::Add => self.sum(a, b),
            Binary::Sub => self.difference(a, b),
            Binary::Mul => self.product(a, b),
            Binary::UDiv => self.unsigned_quotient(a, b),
            Binary::URem => self.unsigned_remainder(a, b),
            Binary::SDiv => self.signed_quotient(a, b),
            Binary::SRem => self.signed_remainder(a, b),
            Binary::And => self.conjunction(a, b),
            Binary::Or => self.disjunction(a, b),
            Binary::Xor => self.exclusive(a, b),
            Binary::Shl | Binary::LShr | Binary::AShr => self.shift(op, a, b),
            Binary::Eq => self.equality(a, b),
            Binary::Ult => self.less(a, b),
            Binary::Ule => self.less_or_equal(a, b),
            Binary::Slt => self.signed_less(a, b),
            Binary::Sle => self.signed_less_or_equal(a, b),
        }
    }

    /// Bitwise complement; on a truth value, negation.
    pub fn not(&mut self, a: Term) -> Term {
        self.unary(Unary::Not, a)
    }

    /// Bitwise and; on truth values, conjunction.
    pub fn and(&mut self, a: Term, b: Term) -> Term {
        self.binary(Binary::And, a, b)
    }

    /// Bitwise or; on truth values, disjunction.
    pub fn or(&mut self, a: Term, b: Term) -> Term {
        self.binary(Binary::Or, a, b)
    }

    /// Constructs without simplification.
    fn plain(&mut self, op: Binary, a: Term, b: Term) -> Term {
        let width = if op.is_comparison() { 1 } else { self.width(a) };
        let (a, b) =
            if op.is_commutative() && self.as_constant(b).is_none() && b < a { (b, a) } else { (a, b) };
        self.make(Node::Binary(op, a, b), width)
    }

    fn truth(&mut self, value: bool) -> Term {
        self.constant(1, u128::from(value))
    }

    /// Matches `x + c`.
    fn offset(&self, t: Term) -> Option<(Term, u128)> {
        match self.node(t) {
            Node::Binary(Binary::Add, x, c) => self.as_constant(c).map(|c| (x, c)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
