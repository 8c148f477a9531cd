//! Byte arrays.

use crate::node::{Array, ArrayNode, Node, Term};
use crate::pool::Pool;

/// The width of an index.
const INDEX: u32 = 64;
/// The width of an element.
const ELEMENT: u32 = 8;

impl Pool {
    /// The array with these elements from index 0 on; all further elements are zero.
    pub fn bytes(&mut self, elements: &[Term]) -> Array {
        for &element in elements {
            assert!(self.width(element) == ELEMENT, "an element of {} bits", self.width(element));
        }
        // Trailing zeros are implicit.
        let zeros =
            elements.iter().rev().take_while(|&&element| self.as_constant(element) == Some(0)).count();
        self.make_bytes(&elements[..elements.len() - zeros])
    }

    /// The array with one element replaced.
    pub fn store(&mut self, array: Array, index: Term, value: Term) -> Array {
        self.check_index(index);
        assert!(self.width(value) == ELEMENT, "an element of {} bits", self.width(value));
        // Storing the value that the element already has.
        if let Node::Read(same, at) = self.node(value)
            && (same, at) == (array, index)
        {
            return array;
        }
        match self.array_node(array) {
            // The older store to the same index cannot be read any more.
            ArrayNode::Store(old, at, _) if at == index => self.store(old, index, value),
            _ => self.make_store(array, index, value),
        }
    }

    /// The element at an index.
    pub fn read(&mut self, array: Array, index: Term) -> Term {
        self.check_index(index);
        let mut array = array;
        loop {
            match self.array_node(array) {
                ArrayNode::Store(_, at, value) if at == index => return value,
                ArrayNode::Store(old, at, _) if self.differ(at, index) => array = old,
                ArrayNode::Store(..) => break,
                ArrayNode::Bytes(elements) => {
                    if let Some(k) = self.as_constant(index) {
                        let element = usize::try_from(k).ok().and_then(|k| elements.get(k)).copied();
                        return element.unwrap_or_else(|| self.constant(ELEMENT, 0));
                    }
                    // Only elements that the index can reach matter.
                    let reach = usize::try_from(self.most(index)).unwrap_or(usize::MAX).saturating_add(1);
                    if reach < elements.len() {
                        let elements = elements[..reach].to_vec();
                        let layout = self.layout(array).cloned();
                        array = self.bytes(&elements);
                        if let Some(layout) = layout {
                            self.describe(array, &layout);
                        }
                        continue;
                    }
                    match elements {
                        [] => return self.constant(ELEMENT, 0),
                        [first, rest @ ..] if reach == elements.len() && rest.iter().all(|t| t == first) => {
                            return *first;
                        }
                        _ => break,
                    }
                }
            }
        }
        self.make(Node::Read(array, index), ELEMENT)
    }

    fn check_index(&self, index: Term) {
        assert!(self.width(index) == INDEX, "an index of {} bits", self.width(index));
    }

    /// Whether two indices differ under all assignments, as far as their constant offsets show.
    fn differ(&self, a: Term, b: Term) -> bool {
        let base = |t| self.offset(t).unwrap_or((t, 0));
        if let (Some(x), Some(y)) = (self.as_constant(a), self.as_constant(b)) {
            return x != y;
        }
        let ((x, p), (y, q)) = (base(a), base(b));
        x == y && p != q
    }
}
