//! Bit moves: extract, concat, extensions, shifts by constants.
//!
//! A concatenation is a list of parts, highest first, nested to the right. Adjacent constants and adjacent
//! slices of one term are merged. A zero at the top is represented by `Zext` of the rest; a zero elsewhere
//! is a constant part.

use crate::node::{Binary, Node, Term, Unary};
use crate::pool::{MAX_WIDTH, Pool};
use crate::semantics::{self, ones};

/// Maximum depth of operations through which a slice is pushed towards the leaves.
const DEPTH: u32 = 4;

impl Pool {
    /// The slice of `width` bits from bit `low` on.
    pub fn extract(&mut self, a: Term, low: u32, width: u32) -> Term {
        let whole = self.width(a);
        assert!(width >= 1 && width <= whole && low <= whole - width, "bits {low}+{width} of {whole}");
        if width == whole {
            return self.normalise_top(a);
        }
        match self.node(a) {
            Node::Constant(value) => self.constant(width, semantics::extract(value, low, width)),
            Node::Extract(inner, below) => self.extract(inner, below + low, width),
            Node::Zext(inner) => {
                let inside = self.width(inner);
                if low >= inside {
                    self.constant(width, 0)
                } else if low + width <= inside {
                    self.extract(inner, low, width)
                } else {
                    let rest = self.extract(inner, low, inside - low);
                    self.zext(rest, width)
                }
            }
            Node::Sext(inner) => {
                let inside = self.width(inner);
                if low + width <= inside {
                    self.extract(inner, low, width)
                } else {
                    // Above the operand there are only copies of its sign.
                    let low = low.min(inside - 1);
                    let rest = self.extract(inner, low, inside - low);
                    self.sext(rest, width)
                }
            }
            Node::Concat(high, rest) => {
                let split = self.width(rest);
                if low >= split {
                    self.extract(high, low - split, width)
                } else if low + width <= split {
                    self.extract(rest, low, width)
                } else {
                    let high = self.extract(high, 0, low + width - split);
                    let rest = self.extract(rest, low, split - low);
                    self.concat(high, rest)
                }
            }
            Node::Ite(..) => match self.as_constant_ite(a) {
                Some((c, x, y)) => {
                    let (x, y) = (semantics::extract(x, low, width), semantics::extract(y, low, width));
                    self.constant_ite(c, width, x, y)
                }
                None => self.make(Node::Extract(a, low), width),
            },
            Node::Unary(op, x) if (op == Unary::Not || low == 0) && self.shrinks(x, low, width, DEPTH) => {
                let x = self.extract(x, low, width);
                self.unary(op, x)
            }
            Node::Binary(op, x, y)
                if splits(op, low)
                    && self.shrinks(x, low, width, DEPTH)
                    && self.shrinks(y, low, width, DEPTH) =>
            {
                let x = self.extract(x, low, width);
                let y = self.extract(y, low, width);
                self.binary(op, x, y)
            }
            _ => self.make(Node::Extract(a, low), width),
        }
    }

    /// Whether a slice of the term is certainly no larger than the term.
    fn shrinks(&self, t: Term, low: u32, width: u32, depth: u32) -> bool {
        if depth == 0 {
            return false;
        }
        match self.node(t) {
            Node::Constant(_) => true,
            Node::Extract(..) => true,
            Node::Zext(inner) | Node::Sext(inner) => {
                let inside = self.width(inner);
                low >= inside
                    || (low == 0 && width >= inside)
                    || self.shrinks(inner, low, width.min(inside - low), depth - 1)
            }
            Node::Concat(high, rest) => {
                let split = self.width(rest);
                if low >= split {
                    (low == split && width == self.width(high))
                        || self.shrinks(high, low - split, width, depth - 1)
                } else if low + width <= split {
                    (low == 0 && width == split) || self.shrinks(rest, low, width, depth - 1)
                } else {
                    low == 0 && low + width == split + self.width(high)
                }
            }
            Node::Unary(op, x) => (op == Unary::Not || low == 0) && self.shrinks(x, low, width, depth - 1),
            Node::Binary(op, x, y) => {
                splits(op, low)
                    && self.shrinks(x, low, width, depth - 1)
                    && self.shrinks(y, low, width, depth - 1)
            }
            Node::Ite(..) => self.as_constant_ite(t).is_some(),
            Node::Variable(_) | Node::Read(..) | Node::Float(..) => false,
        }
    }

    /// The concatenation of `high` and `low`.
    pub fn concat(&mut self, high: Term, low: Term) -> Term {
        let width = self.width(high) + self.width(low);
        assert!(width <= MAX_WIDTH, "a concatenation of {width} bits: at most {MAX_WIDTH}");
        let mut parts = Vec::with_capacity(8);
        self.parts(high, &mut parts);
        self.parts(low, &mut parts);
        self.concat_of_parts(parts)
    }

    /// Zero extension to this width.
    pub fn zext(&mut self, a: Term, width: u32) -> Term {
        let from = self.width(a);
        assert!((from..=MAX_WIDTH).contains(&width), "{from} bits zero-extended to {width}");
        if width == from {
            return a;
        }
        if let Some((c, x, y)) = self.as_constant_ite(a) {
            return self.constant_ite(c, width, x, y);
        }
        let zero = self.constant(width - from, 0);
        self.concat(zero, a)
    }

    /// Sign extension to this width.
    pub fn sext(&mut self, a: Term, width: u32) -> Term {
        let from = self.width(a);
        assert!((from..=MAX_WIDTH).contains(&width), "{from} bits sign-extended to {width}");
        if width == from {
            return a;
        }
        if let Some((c, x, y)) = self.as_constant_ite(a) {
            let (x, y) = (semantics::sext(x, from, width), semantics::sext(y, from, width));
            return self.constant_ite(c, width, x, y);
        }
        match self.node(a) {
            Node::Constant(value) => self.constant(width, semantics::sext(value, from, width)),
            Node::Sext(inner) => self.sext(inner, width),
            Node::Concat(high, _)
                if self
                    .as_constant(high)
                    .is_some_and(|high_value| semantics::negative(self.width(high), high_value)) =>
            {
                let sign = self.constant(width - from, ones(width - from));
                self.concat(sign, a)
            }
            _ if self.is_non_negative(a) => self.zext(a, width),
            _ => self.make(Node::Sext(a), width),
        }
    }

    /// The parts of a concatenation, highest first.
    fn parts(&mut self, mut t: Term, into: &mut Vec<Term>) {
        loop {
            match self.node(t) {
                Node::Concat(high, low) => {
                    into.push(high);
                    t = low;
                }
                Node::Zext(inner) => {
                    let zero = self.constant(self.width(t) - self.width(inner), 0);
                    into.push(zero);
                    t = inner;
                }
                _ => {
                    into.push(t);
                    return;
                }
            }
        }
    }

    /// The concatenation of parts, highest first, none of which is a concatenation.
    fn concat_of_parts(&mut self, parts: Vec<Term>) -> Term {
        let mut merged: Vec<Term> = Vec::with_capacity(parts.len());
        for part in parts {
            match merged.last().and_then(|&above| self.merge(above, part)) {
                Some(both) => {
                    merged.pop();
                    merged.push(both);
                }
                None => merged.push(part),
            }
        }
        let zeros = match merged.first() {
            Some(&first) if merged.len() > 1 && self.as_constant(first) == Some(0) => self.width(first),
            _ => 0,
        };
        let parts = &merged[usize::from(zeros > 0)..];
        let Some((&last, above)) = parts.split_last() else {
            return merged[0];
        };
        let mut result = last;
        for &part in above.iter().rev() {
            let width = self.width(part) + self.width(result);
            result = self.make(Node::Concat(part, result), width);
        }
        if zeros == 0 {
            return result;
        }
        let width = zeros + self.width(result);
        match self.as_constant_ite(result) {
            Some((c, x, y)) => self.constant_ite(c, width, x, y),
            None => self.make(Node::Zext(result), width),
        }
    }

    /// Merges two adjacent parts, if possible.
    fn merge(&mut self, high: Term, low: Term) -> Option<Term> {
        let width = self.width(high) + self.width(low);
        if let (Some(x), Some(y)) = (self.as_constant(high), self.as_constant(low)) {
            return Some(self.constant(width, x << self.width(low) | y));
        }
        if let (Node::Extract(x, above), Node::Extract(y, below)) = (self.node(high), self.node(low))
            && x == y
            && above == below + self.width(low)
        {
            let whole = self.extract(x, below, width);
            // The result is never a concatenation: the extraction would have split it before.
            return Some(whole);
        }
        None
    }

    /// Normalises the low half of a concatenation, whose leading zero is represented differently at the top.
    fn normalise_top(&mut self, t: Term) -> Term {
        match self.node(t) {
            Node::Concat(high, _) if self.as_constant(high) == Some(0) => {
                let mut parts = Vec::new();
                self.parts(t, &mut parts);
                self.concat_of_parts(parts)
            }
            _ => t,
        }
    }

    /// `a << by`, for less than the width.
    pub(super) fn shifted_left(&mut self, a: Term, by: u32) -> Term {
        let width = self.width(a);
        if by == 0 {
            return a;
        }
        let rest = self.extract(a, 0, width - by);
        let zero = self.constant(by, 0);
        self.concat(rest, zero)
    }

    /// `a >> by` without sign, for less than the width.
    pub(super) fn shifted_right(&mut self, a: Term, by: u32) -> Term {
        let width = self.width(a);
        let rest = self.extract(a, by, width - by);
        self.zext(rest, width)
    }

    pub(super) fn shift(&mut self, op: Binary, a: Term, by: Term) -> Term {
        let width = self.width(a);
        if self.as_constant(a) == Some(0) {
            return a;
        }
        let Some(by) = self.as_constant(by) else {
            return match op {
                Binary::AShr if self.is_non_negative(a) => self.plain(Binary::LShr, a, by),
                _ => self.plain(op, a, by),
            };
        };
        let past = by >= u128::from(width);
        match op {
            Binary::AShr => {
                let by = by.min(u128::from(width - 1)) as u32;
                let rest = self.extract(a, by, width - by);
                self.sext(rest, width)
            }
            _ if past => self.constant(width, 0),
            Binary::Shl => self.shifted_left(a, by as u32),
            _ => self.shifted_right(a, by as u32),
        }
    }

    /// Merges two terms of one width without a common set bit: this is their sum, their `or` and their
    /// `xor`.
    pub(super) fn joined(&mut self, a: Term, b: Term) -> Option<Term> {
        let slices = |pool: &Pool, t| matches!(pool.node(t), Node::Zext(_) | Node::Concat(..));
        if !(slices(self, a) && (slices(self, b) || self.as_constant(b).is_some())) {
            return None;
        }
        let mut cuts = Vec::with_capacity(8);
        for t in [a, b] {
            let mut parts = Vec::with_capacity(8);
            self.parts(t, &mut parts);
            let mut at = 0;
            for part in parts.into_iter().rev() {
                at += self.width(part);
                cuts.push(at);
            }
        }
        cuts.sort_unstable();
        cuts.dedup();
        let mut from = 0;
        let mut joined = Vec::with_capacity(cuts.len());
        for cut in cuts {
            let (x, y) = (self.extract(a, from, cut - from), self.extract(b, from, cut - from));
            joined.push(match (self.as_constant(x), self.as_constant(y)) {
                (Some(0), _) => y,
                (_, Some(0)) => x,
                (Some(p), Some(q)) if p & q == 0 => self.constant(cut - from, p | q),
                _ => return None,
            });
            from = cut;
        }
        let mut parts = Vec::with_capacity(joined.len());
        for part in joined.into_iter().rev() {
            self.parts(part, &mut parts);
        }
        Some(self.concat_of_parts(parts))
    }
}

/// Whether a slice of the result depends only on the same slices of the operands.
fn splits(op: Binary, low: u32) -> bool {
    match op {
        Binary::And | Binary::Or | Binary::Xor => true,
        // Carries propagate upwards only.
        Binary::Add | Binary::Sub | Binary::Mul => low == 0,
        _ => false,
    }
}
