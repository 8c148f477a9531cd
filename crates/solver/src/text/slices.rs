//! Slices, extensions and reads.

use crate::node::{Array, ArrayNode, Binary, Node, Term, Unary};

use super::{Level, Shown, Writer, constants};

/// Maximum number of elements of an array that are written.
pub(super) const ELEMENTS: usize = 8;

impl Writer<'_> {
    /// The parts of a concatenation, highest first.
    pub(super) fn concat_parts(&self, mut t: Term) -> Vec<Term> {
        let mut parts = Vec::new();
        while let Node::Concat(high, low) = self.pool.node(t) {
            parts.push(high);
            t = low;
        }
        parts.push(t);
        parts
    }

    pub(super) fn extract(&self, t: Term, a: Term, low: u32, budget: usize) -> Shown {
        let width = self.pool.width(t);
        let shifted = || {
            let operand = self.term(a, budget - 1);
            if low == 0 { operand } else { Shown::infix(operand, ">>", number(low), Level::Shift) }
        };
        match width {
            8 | 16 | 32 | 64 => shifted().cast(&format!("u{width}")),
            // A shift alone leaves the top bits.
            _ if low + width == self.pool.width(a) => shifted(),
            _ => {
                let mask =
                    Shown::leaf(constants::number(128, crate::semantics::ones(width), constants::Use::Plain));
                Shown::infix(shifted(), "&", mask, Level::BitAnd)
            }
        }
    }

    pub(super) fn zext(&self, t: Term, a: Term, budget: usize) -> Shown {
        let (width, inside) = (self.pool.width(t), self.pool.width(a));
        if let Node::Extract(x, low) = self.pool.node(a) {
            let top = low + inside == self.pool.width(x);
            if top && width == self.pool.width(x) {
                return Shown::infix(self.term(x, budget - 1), ">>", number(low), Level::Shift);
            }
        }
        // Arithmetic that wraps before it is extended is marked with its width.
        let wraps = match self.pool.node(a) {
            Node::Binary(op, ..) => matches!(op, Binary::Add | Binary::Sub | Binary::Mul | Binary::Shl),
            Node::Unary(Unary::Not | Unary::Neg, _) => true,
            _ => false,
        };
        let shown = self.term(a, budget - 1);
        if wraps && inside >= 32 { shown.cast(&format!("u{inside}")) } else { shown }
    }

    pub(super) fn sext(&self, t: Term, a: Term, budget: usize) -> Shown {
        let inside = self.pool.width(a);
        if let Node::Extract(x, low) = self.pool.node(a)
            && low > 0
            && low + inside == self.pool.width(x)
            && self.pool.width(t) == self.pool.width(x)
        {
            return Shown::infix(self.signed(x, budget - 1), ">>", number(low), Level::Shift);
        }
        self.term(a, budget - 1).cast(&format!("i{inside}"))
    }

    /// Parts shifted into position and combined.
    pub(super) fn concat(&self, t: Term, budget: usize) -> Shown {
        let parts = self.concat_parts(t);
        let mut at = self.pool.width(t);
        let mut result: Option<Shown> = None;
        let share = (budget / parts.len()).max(1);
        for part in parts {
            at -= self.pool.width(part);
            if self.pool.as_constant(part) == Some(0) {
                continue;
            }
            let shown = match self.pool.node(part) {
                // The lowest bits shifted to the top: the truncated bits are shifted out anyway.
                Node::Extract(x, 0) if result.is_none() && at > 0 => self.term(x, share),
                _ => self.number_part(part, share),
            };
            let moved = if at == 0 { shown } else { Shown::infix(shown, "<<", number(at), Level::Shift) };
            result = Some(match result {
                None => moved,
                Some(above) => Shown::infix(above, "|", moved, Level::BitOr),
            });
        }
        result.unwrap_or_else(|| Shown::leaf("0"))
    }

    fn number_part(&self, part: Term, budget: usize) -> Shown {
        match self.pool.as_constant(part) {
            Some(value) => Shown::leaf(constants::number(128, value, constants::Use::Plain)),
            None => self.term(part, budget),
        }
    }

    pub(super) fn read(&self, t: Term, array: Array, index: Term, budget: usize) -> Shown {
        if let ArrayNode::Bytes(elements) = self.pool.array_node(array)
            && let Some(range) = self.range(elements.iter().copied())
        {
            let index = self.term(index, budget - 1);
            let base = range.base;
            return Shown::leaf(match range.start {
                0 => format!("{base}[{}]", index.text),
                start => format!("{base}[{start} + {}]", index.at(Level::Sum)),
            });
        }
        match self.element([t]) {
            Some(element) => self.show_element(element, budget),
            None => Shown::leaf("…"),
        }
    }

    pub(super) fn array(&self, array: Array, budget: usize) -> String {
        match self.pool.array_node(array) {
            _ if let Some(layout) = self.pool.layout(array) => layout.name.clone(),
            _ if budget <= 1 => "…".to_owned(),
            ArrayNode::Bytes(elements) => {
                let bytes: Option<Vec<u8>> =
                    elements.iter().map(|&t| self.pool.as_constant(t).map(|value| value as u8)).collect();
                if let Some(text) =
                    bytes.filter(|bytes| bytes.len() <= 4 * ELEMENTS).and_then(|b| constants::string(&b))
                {
                    return text;
                }
                let share = (budget / ELEMENTS).max(1);
                let shown = elements.iter().take(ELEMENTS);
                let mut text: Vec<String> = shown.map(|&t| self.number_part(t, share).text).collect();
                if elements.len() > ELEMENTS {
                    text.push("…".to_owned());
                }
                format!("{{{}}}", text.join(", "))
            }
            ArrayNode::Store(old, index, value) => {
                let share = (budget / 3).max(1);
                let old = self.array(old, budget - 2 * share.min(budget / 2));
                let (index, value) = (self.term(index, share), self.term(value, share));
                format!("({old} with [{}] = {})", index.text, value.text)
            }
        }
    }
}

fn number(value: u32) -> Shown {
    Shown::leaf(value.to_string())
}
