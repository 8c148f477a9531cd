//! The arena: hash-consed terms of twenty bytes each, and a slot of the hash table.

use crate::layout::Layout;
use crate::node::{Array, ArrayNode, Binary, Float, Node, Term, Unary};
use crate::semantics::ones;
use crate::sets::{SetId, Sets};
use crate::table::{Table, hash};
use std::collections::HashMap;
use std::sync::Arc;

/// Maximum width of a term in bits.
pub const MAX_WIDTH: u32 = 128;

/// Hash-consed terms of one analysis. Terms are never removed.
#[derive(Clone, Debug, Default)]
pub struct Pool {
    cells: Vec<Cell>,
    table: Table,
    /// Constants that need more than 64 bits.
    wide: Vec<u128>,
    wide_table: Table,
    arrays: Vec<ArrayCell>,
    array_table: Table,
    /// Elements of all `bytes` arrays, concatenated.
    elements: Vec<Term>,
    pub(crate) sets: Sets,
    /// By array; `None` if it has several names.
    layouts: HashMap<Array, Option<Arc<Layout>>>,
}

/// A stored node: the meaning of `a`, `b` and `c` depends on `kind`.
#[derive(Clone, Copy, Debug)]
struct Cell {
    kind: Kind,
    width: u8,
    a: u32,
    b: u32,
    c: u32,
    variables: SetId,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// `a` and `b` are the low and high halves.
    Constant,
    /// `a` is an index in `wide`.
    WideConstant,
    Variable,
    Unary(Unary),
    Binary(Binary),
    Ite,
    Extract,
    Concat,
    Zext,
    Sext,
    Read,
    /// `b` repeats `a` if there is no second operand.
    Float(Float),
}

#[derive(Clone, Copy, Debug)]
struct ArrayCell {
    shape: Shape,
    variables: SetId,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Shape {
    Bytes { start: u32, len: u32 },
    Store { array: u32, index: u32, value: u32 },
}

impl Cell {
    fn hash(self) -> u64 {
        let kind = match self.kind {
            Kind::Constant => 0,
            Kind::WideConstant => 1,
            Kind::Variable => 2,
            Kind::Ite => 3,
            Kind::Extract => 4,
            Kind::Concat => 5,
            Kind::Zext => 6,
            Kind::Sext => 7,
            Kind::Read => 8,
            Kind::Unary(op) => 16 + op as u32,
            Kind::Binary(op) => 32 + op as u32,
            Kind::Float(op) => 64 + op as u32,
        };
        hash([kind << 8 | u32::from(self.width), self.a, self.b, self.c])
    }

    fn same(self, other: Cell) -> bool {
        (self.kind, self.width, self.a, self.b, self.c)
            == (other.kind, other.width, other.a, other.b, other.c)
    }
}

impl Pool {
    /// A pool without terms.
    pub fn new() -> Pool {
        Pool::default()
    }

    /// Number of terms.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Whether there are no terms.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Describes the content of an array, for text. Arrays of equal content are one array: if these have
    /// different names, none is shown.
    pub fn describe(&mut self, array: Array, layout: &Arc<Layout>) {
        let known = self.layouts.entry(array).or_insert_with(|| Some(layout.clone()));
        if known.as_ref().is_some_and(|known| known != layout) {
            *known = None;
        }
    }

    /// The description of an array.
    pub fn layout(&self, array: Array) -> Option<&Arc<Layout>> {
        self.layouts.get(&array)?.as_ref()
    }

    /// Bytes on the heap, including hash tables and spare capacity.
    pub fn heap_bytes(&self) -> usize {
        self.cells.capacity() * size_of::<Cell>()
            + self.wide.capacity() * 16
            + self.arrays.capacity() * size_of::<ArrayCell>()
            + self.elements.capacity() * 4
            + self.table.bytes()
            + self.wide_table.bytes()
            + self.array_table.bytes()
            + self.sets.bytes()
    }

    /// The width of a term in bits, 1 to [`MAX_WIDTH`].
    pub fn width(&self, t: Term) -> u32 {
        u32::from(self.cells[t.index()].width)
    }

    /// The value of a constant; `None` for all other terms.
    pub fn as_constant(&self, t: Term) -> Option<u128> {
        let cell = self.cells[t.index()];
        match cell.kind {
            Kind::Constant => Some(u128::from(cell.a) | u128::from(cell.b) << 32),
            Kind::WideConstant => Some(self.wide[cell.a as usize]),
            _ => None,
        }
    }

    /// The view of one term.
    pub fn node(&self, t: Term) -> Node {
        let Cell { kind, a, b, c, .. } = self.cells[t.index()];
        match kind {
            Kind::Constant => Node::Constant(u128::from(a) | u128::from(b) << 32),
            Kind::WideConstant => Node::Constant(self.wide[a as usize]),
            Kind::Variable => Node::Variable(a),
            Kind::Unary(op) => Node::Unary(op, Term(a)),
            Kind::Binary(op) => Node::Binary(op, Term(a), Term(b)),
            Kind::Ite => Node::Ite(Term(a), Term(b), Term(c)),
            Kind::Extract => Node::Extract(Term(a), b),
            Kind::Concat => Node::Concat(Term(a), Term(b)),
            Kind::Zext => Node::Zext(Term(a)),
            Kind::Sext => Node::Sext(Term(a)),
            Kind::Read => Node::Read(Array(a), Term(b)),
            Kind::Float(op) => Node::Float(op, Term(a), op.is_binary().then_some(Term(b))),
        }
    }

    /// The view of one array.
    pub fn array_node(&self, array: Array) -> ArrayNode<'_> {
        match self.arrays[array.index()].shape {
            Shape::Bytes { start, len } => {
                ArrayNode::Bytes(&self.elements[start as usize..start as usize + len as usize])
            }
            Shape::Store { array, index, value } => ArrayNode::Store(Array(array), Term(index), Term(value)),
        }
    }

    pub(crate) fn set_of(&self, t: Term) -> SetId {
        self.cells[t.index()].variables
    }

    pub(crate) fn set_of_array(&self, array: Array) -> SetId {
        self.arrays[array.index()].variables
    }

    /// A constant; bits above the width are dropped.
    pub fn constant(&mut self, width: u32, value: u128) -> Term {
        let value = value & ones(check_width(width));
        match u64::try_from(value) {
            Ok(short) => self.intern(Kind::Constant, width, short as u32, (short >> 32) as u32, 0),
            Err(_) => {
                let index = self.wide(value);
                self.intern(Kind::WideConstant, width, index, 0, 0)
            }
        }
    }

    /// The caller's variable with this number; a number must always have the same width.
    pub fn variable(&mut self, index: u32, width: u32) -> Term {
        self.intern(Kind::Variable, check_width(width), index, 0, 0)
    }

    /// A variable of at most eight bits with this number, if there is one.
    pub(crate) fn small_variable(&self, index: u32) -> Option<Term> {
        (1..=8).rev().find_map(|width| {
            let (kind, variables) = (Kind::Variable, Sets::EMPTY);
            let cell = Cell { kind, width, a: index, b: 0, c: 0, variables };
            self.table.find(cell.hash(), |at| self.cells[at as usize].same(cell)).map(Term)
        })
    }

    /// The term for a node, without simplification.
    pub(crate) fn make(&mut self, node: Node, width: u32) -> Term {
        match node {
            Node::Constant(value) => self.constant(width, value),
            Node::Variable(index) => self.variable(index, width),
            Node::Unary(op, a) => self.intern(Kind::Unary(op), width, a.0, 0, 0),
            Node::Binary(op, a, b) => self.intern(Kind::Binary(op), width, a.0, b.0, 0),
            Node::Ite(c, a, b) => self.intern(Kind::Ite, width, c.0, a.0, b.0),
            Node::Extract(a, low) => self.intern(Kind::Extract, width, a.0, low, 0),
            Node::Concat(a, b) => self.intern(Kind::Concat, width, a.0, b.0, 0),
            Node::Zext(a) => self.intern(Kind::Zext, width, a.0, 0, 0),
            Node::Sext(a) => self.intern(Kind::Sext, width, a.0, 0, 0),
            Node::Read(array, index) => self.intern(Kind::Read, width, array.0, index.0, 0),
            Node::Float(op, a, b) => self.intern(Kind::Float(op), width, a.0, b.unwrap_or(a).0, 0),
        }
    }

    fn intern(&mut self, kind: Kind, width: u32, a: u32, b: u32, c: u32) -> Term {
        let mut cell = Cell { kind, width: width as u8, a, b, c, variables: Sets::EMPTY };
        let hash = cell.hash();
        if let Some(found) = self.table.find(hash, |at| self.cells[at as usize].same(cell)) {
            return Term(found);
        }
        cell.variables = self.set_of_cell(cell);
        let handle = self.cells.len() as u32;
        if self.cells.len() == self.cells.capacity() {
            // Grow by a quarter: this wastes less capacity than doubling.
            self.cells.reserve_exact((self.cells.len() / 4).max(64));
        }
        self.cells.push(cell);
        self.table.insert(hash, handle, |at| self.cells[at as usize].hash());
        Term(handle)
    }

    fn set_of_cell(&mut self, cell: Cell) -> SetId {
        let Cell { a, b, c, .. } = cell;
        let of = |at: u32| self.cells[at as usize].variables;
        match cell.kind {
            Kind::Constant | Kind::WideConstant => Sets::EMPTY,
            Kind::Variable => self.sets.singleton(a),
            Kind::Unary(_) | Kind::Extract | Kind::Zext | Kind::Sext => of(a),
            Kind::Binary(_) | Kind::Concat | Kind::Float(_) => {
                let (a, b) = (of(a), of(b));
                self.sets.union(a, b)
            }
            Kind::Ite => {
                let (a, b, c) = (of(a), of(b), of(c));
                let ab = self.sets.union(a, b);
                self.sets.union(ab, c)
            }
            Kind::Read => {
                let (a, b) = (self.arrays[a as usize].variables, of(b));
                self.sets.union(a, b)
            }
        }
    }

    fn wide(&mut self, value: u128) -> u32 {
        let words = |value: u128| hash((0..4).map(|word| (value >> (32 * word)) as u32));
        if let Some(found) = self.wide_table.find(words(value), |at| self.wide[at as usize] == value) {
            return found;
        }
        let index = self.wide.len() as u32;
        self.wide.push(value);
        self.wide_table.insert(words(value), index, |at| words(self.wide[at as usize]));
        index
    }

    /// The array of these elements, without simplification.
    pub(crate) fn make_bytes(&mut self, elements: &[Term]) -> Array {
        let hash = hash_bytes(elements);
        let same = |at: u32| self.array_node(Array(at)) == ArrayNode::Bytes(elements);
        if let Some(found) = self.array_table.find(hash, same) {
            return Array(found);
        }
        let mut variables = Sets::EMPTY;
        for &element in elements {
            variables = self.sets.union(variables, self.cells[element.index()].variables);
        }
        let (start, len) = (self.elements.len() as u32, elements.len() as u32);
        assert!(
            self.elements.len() + elements.len() <= u32::MAX as usize,
            "more array elements than handles"
        );
        self.elements.extend_from_slice(elements);
        self.add_array(hash, ArrayCell { shape: Shape::Bytes { start, len }, variables })
    }

    /// The array after a store, without simplification.
    pub(crate) fn make_store(&mut self, array: Array, index: Term, value: Term) -> Array {
        let shape = Shape::Store { array: array.0, index: index.0, value: value.0 };
        let hash = hash_store(array.0, index.0, value.0);
        if let Some(found) = self.array_table.find(hash, |at| self.arrays[at as usize].shape == shape) {
            return Array(found);
        }
        let (old, index, value) = (self.set_of_array(array), self.set_of(index), self.set_of(value));
        let written = self.sets.union(index, value);
        let variables = self.sets.union(old, written);
        self.add_array(hash, ArrayCell { shape, variables })
    }

    fn add_array(&mut self, hash: u64, cell: ArrayCell) -> Array {
        let handle = self.arrays.len() as u32;
        self.arrays.push(cell);
        let (arrays, elements) = (&self.arrays, &self.elements);
        self.array_table.insert(hash, handle, |at| match arrays[at as usize].shape {
            Shape::Bytes { start, len } => {
                hash_bytes(&elements[start as usize..start as usize + len as usize])
            }
            Shape::Store { array, index, value } => hash_store(array, index, value),
        });
        Array(handle)
    }
}

fn hash_bytes(elements: &[Term]) -> u64 {
    hash(elements.iter().map(|element| element.0))
}

fn hash_store(array: u32, index: u32, value: u32) -> u64 {
    hash([u32::MAX, array, index, value])
}

fn check_width(width: u32) -> u32 {
    assert!((1..=MAX_WIDTH).contains(&width), "a term of {width} bits: must be 1 to {MAX_WIDTH}");
    width
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_takes_twenty_bytes() {
        assert_eq!(size_of::<Cell>(), 20);
    }

    #[test]
    fn equal_terms_have_equal_handles() {
        let mut pool = Pool::new();
        let wide = pool.constant(128, u128::MAX - 5);
        assert_eq!(wide, pool.constant(128, u128::MAX - 5));
        assert_eq!(pool.as_constant(wide), Some(u128::MAX - 5));
        assert_ne!(pool.constant(8, 1), pool.constant(9, 1));
        assert_eq!(pool.constant(8, 0x101), pool.constant(8, 1));
        assert_eq!(pool.variable(7, 8), pool.variable(7, 8));
        let elements: Vec<Term> = (0..10).map(|index| pool.variable(index, 8)).collect();
        assert_eq!(pool.make_bytes(&elements), pool.make_bytes(&elements));
        assert_ne!(pool.make_bytes(&elements), pool.make_bytes(&elements[..9]));
    }
}
