//! Orders. Comparisons with a constant use only `Ule` and `Sle`.

use crate::node::{Binary, Node, Term};
use crate::pool::Pool;
use crate::semantics::{self, ones, signed};

impl Pool {
    pub(super) fn less(&mut self, a: Term, b: Term) -> Term {
        let width = self.width(a);
        if a == b {
            return self.truth(false);
        }
        match (self.as_constant(a), self.as_constant(b)) {
            (_, Some(0)) => return self.truth(false),
            (_, Some(k)) => {
                let k = self.constant(width, k - 1);
                return self.binary(Binary::Ule, a, k);
            }
            (Some(k), _) if k == ones(width) => return self.truth(false),
            (Some(k), _) => {
                let k = self.constant(width, k + 1);
                return self.binary(Binary::Ule, k, b);
            }
            _ => {}
        }
        match self.strip_zexts(a, b) {
            Some((a, b)) => self.binary(Binary::Ult, a, b),
            None if width == 1 => {
                let not = self.not(a);
                self.and(not, b)
            }
            None => self.plain(Binary::Ult, a, b),
        }
    }

    pub(super) fn less_or_equal(&mut self, a: Term, b: Term) -> Term {
        let width = self.width(a);
        if a == b {
            return self.truth(true);
        }
        if width == 1 {
            let not = self.not(a);
            return self.or(not, b);
        }
        match (self.as_constant(a), self.as_constant(b)) {
            (_, Some(k)) => return self.ule_constant(a, k),
            (Some(k), _) => return self.uge_constant(b, k),
            _ => {}
        }
        match self.strip_zexts(a, b) {
            Some((a, b)) => self.binary(Binary::Ule, a, b),
            None => self.plain(Binary::Ule, a, b),
        }
    }

    /// Both operands without their zero extensions.
    fn strip_zexts(&mut self, a: Term, b: Term) -> Option<(Term, Term)> {
        match (self.node(a), self.node(b)) {
            (Node::Zext(x), Node::Zext(y)) => {
                let width = self.width(x).max(self.width(y));
                Some((self.zext(x, width), self.zext(y, width)))
            }
            // Sign extension preserves the unsigned order: it keeps negative numbers above the others.
            (Node::Sext(x), Node::Sext(y)) if self.width(x) == self.width(y) => Some((x, y)),
            _ => None,
        }
    }

    fn ule_constant(&mut self, a: Term, k: u128) -> Term {
        let width = self.width(a);
        if k >= self.most(a) {
            return self.truth(true);
        }
        let constant = self.constant(width, k);
        if k == 0 {
            return self.binary(Binary::Eq, a, constant);
        }
        if k == ones(width) - 1 {
            let top = self.constant(width, ones(width));
            let equal = self.binary(Binary::Eq, a, top);
            return self.not(equal);
        }
        match self.node(a) {
            Node::Zext(x) => {
                let k = self.constant(self.width(x), k);
                self.binary(Binary::Ule, x, k)
            }
            // An unsigned bound on a difference is a pair of bounds.
            Node::Binary(Binary::Add, x, c) if self.as_constant(c).is_some() => {
                let low = self.as_constant(c).unwrap_or_default().wrapping_neg() & ones(width);
                match low.checked_add(k) {
                    Some(high) if high <= ones(width) => {
                        let (low, high) = (self.constant(width, low), self.constant(width, high));
                        let above = self.binary(Binary::Ule, low, x);
                        let below = self.binary(Binary::Ule, x, high);
                        self.and(above, below)
                    }
                    _ => self.plain(Binary::Ule, a, constant),
                }
            }
            _ => self.plain(Binary::Ule, a, constant),
        }
    }

    fn uge_constant(&mut self, b: Term, k: u128) -> Term {
        let width = self.width(b);
        if k == 0 {
            return self.truth(true);
        }
        if k > self.most(b) {
            return self.truth(false);
        }
        let constant = self.constant(width, k);
        if k == ones(width) {
            return self.binary(Binary::Eq, b, constant);
        }
        if k == 1 {
            let zero = self.constant(width, 0);
            let equal = self.binary(Binary::Eq, b, zero);
            return self.not(equal);
        }
        match self.node(b) {
            Node::Zext(x) => {
                let k = self.constant(self.width(x), k);
                self.binary(Binary::Ule, k, x)
            }
            Node::Binary(Binary::Add, _, c) if self.as_constant(c).is_some() => {
                // The negation of a bound on a difference.
                let low = self.as_constant(c).unwrap_or_default().wrapping_neg() & ones(width);
                match low.checked_add(k - 1) {
                    Some(high) if high <= ones(width) => {
                        let inside = self.ule_constant(b, k - 1);
                        self.not(inside)
                    }
                    _ => self.plain(Binary::Ule, constant, b),
                }
            }
            _ => self.plain(Binary::Ule, constant, b),
        }
    }

    pub(super) fn signed_less(&mut self, a: Term, b: Term) -> Term {
        let width = self.width(a);
        if a == b {
            return self.truth(false);
        }
        if width == 1 {
            // 1 represents -1.
            return self.binary(Binary::Ult, b, a);
        }
        let smallest = 1_u128 << (width - 1);
        match (self.as_constant(a), self.as_constant(b)) {
            (_, Some(k)) if k == smallest => return self.truth(false),
            (_, Some(k)) => {
                let k = self.constant(width, k.wrapping_sub(1));
                return self.binary(Binary::Sle, a, k);
            }
            (Some(k), _) if k == smallest - 1 => return self.truth(false),
            (Some(k), _) => {
                let k = self.constant(width, k.wrapping_add(1));
                return self.binary(Binary::Sle, k, b);
            }
            _ => {}
        }
        if self.is_non_negative(a) && self.is_non_negative(b) {
            return self.binary(Binary::Ult, a, b);
        }
        if let Some((a, b)) = self.strip_sexts(a, b) {
            return self.binary(Binary::Slt, a, b);
        }
        self.plain(Binary::Slt, a, b)
    }

    pub(super) fn signed_less_or_equal(&mut self, a: Term, b: Term) -> Term {
        let width = self.width(a);
        if a == b {
            return self.truth(true);
        }
        if width == 1 {
            return self.binary(Binary::Ule, b, a);
        }
        if self.is_non_negative(a) && self.is_non_negative(b) {
            return self.binary(Binary::Ule, a, b);
        }
        let smallest = 1_u128 << (width - 1);
        match (self.as_constant(a), self.as_constant(b)) {
            (_, Some(k)) => {
                if k == smallest - 1 {
                    return self.truth(true);
                }
                if k == smallest {
                    let k = self.constant(width, k);
                    return self.binary(Binary::Eq, a, k);
                }
                if semantics::negative(width, k) && self.is_non_negative(a) {
                    return self.truth(false);
                }
                if let Some(t) = self.sext_bound(a, k, true) {
                    return t;
                }
            }
            (Some(k), _) => {
                if k == smallest {
                    return self.truth(true);
                }
                if k == smallest - 1 {
                    let k = self.constant(width, k);
                    return self.binary(Binary::Eq, b, k);
                }
                if semantics::negative(width, k) && self.is_non_negative(b) {
                    return self.truth(true);
                }
                if let Some(t) = self.sext_bound(b, k, false) {
                    return t;
                }
            }
            _ => {}
        }
        if let Some((a, b)) = self.strip_sexts(a, b) {
            return self.binary(Binary::Sle, a, b);
        }
        self.plain(Binary::Sle, a, b)
    }

    /// Both operands without their sign extensions.
    fn strip_sexts(&mut self, a: Term, b: Term) -> Option<(Term, Term)> {
        match (self.node(a), self.node(b)) {
            (Node::Sext(x), Node::Sext(y)) => {
                let width = self.width(x).max(self.width(y));
                Some((self.sext(x, width), self.sext(y, width)))
            }
            _ => None,
        }
    }

    /// Compares a sign-extended term with a constant: `t <= k` if `above`, otherwise `k <= t`.
    fn sext_bound(&mut self, t: Term, k: u128, above: bool) -> Option<Term> {
        let Node::Sext(x) = self.node(t) else { return None };
        let inside = self.width(x);
        let k = signed(self.width(t), k);
        let (least, most) = (-1_i128 << (inside - 1), (1_i128 << (inside - 1)) - 1);
        if above && (k < least || k >= most) {
            return Some(self.truth(k >= most));
        }
        if !above && (k > most || k <= least) {
            return Some(self.truth(k <= least));
        }
        let k = self.constant(inside, k as u128);
        Some(if above { self.binary(Binary::Sle, x, k) } else { self.binary(Binary::Sle, k, x) })
    }
}
