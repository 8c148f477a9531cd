//! Numbers of several bytes that are read from an array: `weights[i]`, `ops[i].weight`.
//!
//! A read has one byte, so a wider one is a concatenation of reads at consecutive indices, and its comparison
//! with a constant a conjunction. An index in bytes is a multiple of the element's size, plus an offset.

use super::{Level, Shown, Writer, constants};
use crate::layout::Flag;
use crate::node::{Array, ArrayNode, Binary, Node, Term};

/// An index: `scale * term + offset`.
#[derive(Clone, Copy, PartialEq, Eq)]
struct ByteIndex {
    term: Term,
    scale: u64,
    offset: u64,
}

/// A number in an array.
#[derive(Clone, Copy)]
pub(super) struct Element {
    array: Array,
    index: ByteIndex,
    bytes: u64,
}

impl Writer<'_> {
    fn byte_index(&self, t: Term) -> ByteIndex {
        let constant = |t| self.pool.as_constant(t).and_then(|k| u64::try_from(k).ok());
        let (mut t, mut offset) = (t, 0u64);
        while let Node::Binary(Binary::Add, a, b) = self.pool.node(t)
            && let Some(k) = constant(b)
        {
            (t, offset) = (a, offset.wrapping_add(k));
        }
        // An index that cannot be negative is extended after it was scaled.
        if let Node::Zext(scaled) = self.pool.node(t) {
            t = scaled;
        }
        let (term, scale) = match self.pool.node(t) {
            Node::Concat(high, low) if constant(low).is_some() && self.pool.width(low) < 32 => {
                offset = offset.wrapping_add(constant(low).unwrap_or(0));
                (high, 1 << self.pool.width(low))
            }
            Node::Binary(Binary::Mul, a, b) => match constant(b) {
                Some(k) => (a, k),
                None => (t, 1),
            },
            _ => (t, 1),
        };
        ByteIndex { term, scale, offset }
    }

    /// The number of these bytes, the lowest first, if they are read from consecutive indices.
    pub(super) fn element(&self, bytes: impl IntoIterator<Item = Term>) -> Option<Element> {
        let mut found: Option<Element> = None;
        for byte in bytes {
            let Node::Read(array, index) = self.pool.node(byte) else { return None };
            let index = self.byte_index(index);
            match &mut found {
                None => found = Some(Element { array, index, bytes: 1 }),
                Some(e) => {
                    let next = ByteIndex { offset: e.index.offset.wrapping_add(e.bytes), ..e.index };
                    if next != index {
                        return None;
                    }
                    e.array = self.same_content(e.array, array)?;
                    e.bytes += 1;
                }
            }
        }
        found
    }

    /// Reads have only those elements that their index can reach: the longer one of two arrays, if the other
    /// one is its beginning.
    fn same_content(&self, a: Array, b: Array) -> Option<Array> {
        if a == b {
            return Some(a);
        }
        let (ArrayNode::Bytes(x), ArrayNode::Bytes(y)) = (self.pool.array_node(a), self.pool.array_node(b))
        else {
            return None;
        };
        let common = x.len().min(y.len());
        (x[..common] == y[..common]).then_some(if x.len() < y.len() { b } else { a })
    }

    /// A comparison of all bytes of a number with constants: the number, and the constant.
    pub(super) fn compared_element(&self, t: Term) -> Option<(Element, u128)> {
        let mut bytes: Vec<(ByteIndex, Term, u128)> = Vec::new();
        let mut todo = vec![t];
        while let Some(t) = todo.pop() {
            match self.pool.node(t) {
                Node::Binary(Binary::And, a, b) if self.pool.width(t) == 1 => todo.extend([a, b]),
                Node::Binary(Binary::Eq, a, b) => {
                    let Node::Read(_, index) = self.pool.node(a) else { return None };
                    bytes.push((self.byte_index(index), a, self.pool.as_constant(b)?));
                }
                _ => return None,
            }
        }
        if !matches!(bytes.len(), 2 | 4 | 8) {
            return None;
        }
        bytes.sort_by_key(|(index, ..)| index.offset);
        let element = self.element(bytes.iter().map(|(_, byte, _)| *byte))?;
        let value = bytes.iter().rev().fold(0, |value, (.., byte)| value << 8 | byte);
        Some((element, value))
    }

    /// The element with its index: `table[i]`. An access that is no element has the bytes from an index on:
    /// `u32(table[24 * i + 4..+4])`.
    pub(super) fn show_element(&self, e: Element, budget: usize) -> Shown {
        let ByteIndex { term, scale, offset } = e.index;
        let layout = self.pool.layout(e.array);
        let (stride, fields) =
            layout.map_or((e.bytes, &[][..]), |layout| (layout.stride, &layout.fields[..]));
        let index = |text: Shown, add: u64| match add {
            0 => text.text,
            // A negative offset.
            _ if add > u64::MAX / 2 => format!("{} - {}", text.at(Level::Sum), add.wrapping_neg()),
            _ => format!("{} + {add}", text.at(Level::Sum)),
        };
        let plain = self.term(self.plain_index(term), (budget / 2).max(1));
        if stride > 0 && scale == stride {
            // Division that rounds down: the offset is a signed number.
            let (whole, inside) =
                ((offset as i64).div_euclid(stride as i64), (offset as i64).rem_euclid(stride as i64) as u64);
            let field = fields.iter().find(|f| (f.offset, f.size) == (inside, e.bytes));
            let name = match field {
                Some(field) => Some(field.name.as_str()),
                None => (inside == 0 && e.bytes == stride).then_some(""),
            };
            if let Some(name) = name {
                let array = self.array_of(e.array, e.bytes, budget / 2);
                let origin = layout.map_or(0, |layout| layout.origin);
                let at = index(plain, (whole as u64).wrapping_sub(origin));
                return Shown::leaf(format!("{array}[{at}]{name}"));
            }
        }
        let array = self.array_of(e.array, 1, budget / 2);
        let scaled = match scale {
            1 => plain,
            _ => Shown { text: format!("{scale} * {}", plain.at(Level::Product)), level: Level::Product },
        };
        match e.bytes {
            1 => Shown::leaf(format!("{array}[{}]", index(scaled, offset))),
            n => Shown::leaf(format!("u{}({array}[{}..+{n}])", 8 * n, index(scaled, offset))),
        }
    }

    /// A bit of an element that has a name: the name, and the index of the element.
    pub(super) fn flag(&self, t: Term) -> Option<(&'static str, Term)> {
        let Node::Binary(Binary::And, read, mask) = self.pool.node(t) else { return None };
        let (mask, Node::Read(array, index)) = (self.pool.as_constant(mask)?, self.pool.node(read)) else {
            return None;
        };
        let (layout, index) = (self.pool.layout(array)?, self.byte_index(index));
        let inside = index.offset.checked_sub(layout.origin * layout.stride)?;
        let is_it = |flag: &&Flag| flag.offset == inside && u128::from(flag.mask) == mask;
        let flag = layout.flags.iter().find(is_it).filter(|_| index.scale == layout.stride)?;
        Some((flag.name, self.plain_index(index.term)))
    }

    /// An index without extensions and masks, which source text does not have either.
    fn plain_index(&self, t: Term) -> Term {
        match self.pool.node(t) {
            Node::Extract(a, 0) | Node::Zext(a) | Node::Sext(a) => self.plain_index(a),
            _ => t,
        }
    }

    /// The name of an array, or its content as numbers of this size.
    fn array_of(&self, array: Array, size: u64, budget: usize) -> String {
        if let ArrayNode::Bytes(elements) = self.pool.array_node(array)
            && self.pool.layout(array).is_none()
            && size > 1
        {
            let numbers: Option<Vec<u128>> = elements
                // Zeros at the end of an array are left out.
                .chunks(size as usize)
                .take(super::slices::ELEMENTS + 1)
                .map(|bytes| {
                    bytes.iter().rev().try_fold(0, |value, b| Some(value << 8 | self.pool.as_constant(*b)?))
                })
                .collect();
            if let Some(numbers) = numbers {
                let shown = numbers.iter().take(super::slices::ELEMENTS);
                let mut text: Vec<String> =
                    shown.map(|n| constants::number(128, *n, constants::Use::Plain)).collect();
                if numbers.len() > super::slices::ELEMENTS {
                    text.push("…".to_owned());
                }
                return format!("{{{}}}", text.join(", "));
            }
        }
        self.array(array, budget)
    }
}
