//! Floating-point operations in C's notation.

use super::{Level, Shown, Writer};
use crate::node::{Float, Node, Term};

impl Writer<'_> {
    pub(super) fn float(&self, op: Float, (a, b): (Term, Option<Term>), width: u32, budget: usize) -> Shown {
        let infix = |sign: &str, level| {
            let b = b.unwrap_or(a);
            let (x, y) = self.shares(a, b, budget);
            Shown::infix(self.number(a, x), sign, self.number(b, y), level)
        };
        let call = |name: &str| self.number(a, budget - 1).cast(name);
        match op {
            Float::Add => infix("+", Level::Sum),
            Float::Sub => infix("-", Level::Sum),
            Float::Mul => infix("*", Level::Product),
            Float::Div => infix("/", Level::Product),
            Float::Eq => infix("==", Level::Equality),
            Float::Lt => infix("<", Level::Order),
            Float::Le => infix("<=", Level::Order),
            Float::Sqrt => call("sqrt"),
            Float::Floor => call("floor"),
            Float::Ceil => call("ceil"),
            Float::Trunc => call("trunc"),
            Float::RoundEven => call("rint"),
            Float::RoundAway => call("round"),
            Float::FromSigned => self.signed(a, budget - 1).cast(format_of(width)),
            Float::FromUnsigned => self.term(a, budget - 1).cast(format_of(width)),
            Float::ToSigned => call(&format!("i{width}")),
            Float::ToUnsigned => call(&format!("u{width}")),
            Float::Convert => call(format_of(width)),
        }
    }

    /// An operand of such an operation: a constant is written as the number that its bits represent.
    fn number(&self, t: Term, budget: usize) -> Shown {
        let width = self.pool.width(t);
        match (self.pool.as_constant(t), self.pool.node(t)) {
            (Some(bits), _) if width == 32 => Shown::leaf(format!("{:?}", f32::from_bits(bits as u32))),
            (Some(bits), _) => Shown::leaf(format!("{:?}", f64::from_bits(bits as u64))),
            (None, Node::Float(..)) => self.term(t, budget),
            // Bits from another operation are reinterpreted as a number.
            (None, _) => self.term(t, budget).cast(&format!("{}_bits", format_of(width))),
        }
    }
}

fn format_of(width: u32) -> &'static str {
    if width == 32 { "float" } else { "double" }
}
