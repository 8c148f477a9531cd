//! Terms as SMT-LIB 2, in the theories of bit vectors, arrays and floating point.
//!
//! Shared subterms are written once, as definitions, so that text grows with the number of nodes and not
//! with the size of the tree. A definition stays valid until its scope is popped, so the next assertion of a
//! path costs only what is new in it.

mod floats;
mod script;

use std::fmt::Write;

use crate::node::{Array, ArrayNode, Binary, Node, Term, Unary};
use crate::pool::Pool;
use rustc_hash::FxHashMap;

pub use script::{Assertion, Script};

/// An expression with more nodes than this is named even if it is used once: another assertion may use it
/// again.
const INLINE: usize = 8;

pub(crate) const ARRAY_SORT: &str = "(Array (_ BitVec 64) (_ BitVec 8))";

/// The declarations and definitions so far, by scope.
pub(crate) struct Emitter<'a> {
    symbol: Box<dyn Fn(u32) -> String + 'a>,
    variables: FxHashMap<u32, String>,
    terms: FxHashMap<Term, String>,
    arrays: FxHashMap<Array, String>,
    /// Entries in order, and the start of each scope among them.
    log: Vec<LogEntry>,
    scopes: Vec<usize>,
    /// Something was written in the theory of floating point.
    floats: bool,
}

enum LogEntry {
    Variable(u32),
    Term(Term),
    Array(Array),
}

/// An expression under construction.
struct Piece {
    text: String,
    nodes: usize,
}

impl<'a> Emitter<'a> {
    /// `symbol` returns the symbol of each variable; symbols must be distinct.
    pub fn new(symbol: impl Fn(u32) -> String + 'a) -> Emitter<'a> {
        Emitter {
            symbol: Box::new(symbol),
            variables: FxHashMap::default(),
            terms: FxHashMap::default(),
            arrays: FxHashMap::default(),
            log: Vec::new(),
            scopes: Vec::new(),
            floats: false,
        }
    }

    pub fn push(&mut self) {
        self.scopes.push(self.log.len());
    }

    /// Forgets the entries since the last push.
    pub fn pop(&mut self) {
        let start = self.scopes.pop().unwrap_or(0);
        for entered in self.log.drain(start..) {
            match entered {
                LogEntry::Variable(index) => drop(self.variables.remove(&index)),
                LogEntry::Term(t) => drop(self.terms.remove(&t)),
                LogEntry::Array(array) => drop(self.arrays.remove(&array)),
            }
        }
    }

    pub fn has_floats(&self) -> bool {
        self.floats
    }

    pub fn symbol_of(&self, variable: u32) -> Option<&str> {
        self.variables.get(&variable).map(String::as_str)
    }

    /// Writes the definitions that a truth value needs, and returns an expression of sort Bool for it.
    pub fn condition(&mut self, pool: &Pool, t: Term, out: &mut String) -> String {
        let pieces = self.define(pool, t, out);
        self.as_bool(pool, t, &pieces)
    }

    /// Declares and defines the subterms of a term. Returns the pieces without a name.
    fn define(&mut self, pool: &Pool, root: Term, out: &mut String) -> FxHashMap<Term, Piece> {
        let (order, uses) = self.unknown(pool, root);
        let mut pieces: FxHashMap<Term, Piece> = FxHashMap::default();
        for t in order {
            let node = pool.node(t);
            if let Node::Variable(index) = node {
                self.declare(index, pool.width(t), out);
                continue;
            }
            if let Node::Read(array, index) = node {
                self.define_array(pool, array, &pieces, out);
                self.bound(pool, array, index, &pieces, out);
            }
            if let Node::Float(op, a, b) = node {
                self.floats = true;
                if op.gives_float() {
                    self.define_float(pool, t, op, (a, b), &pieces, out);
                    continue;
                }
            }
            let mut nodes = 1;
            for operand in node.operands() {
                nodes += pieces.get(&operand).map_or(1, |piece| piece.nodes);
            }
            let text = self.expression(pool, t, node, &pieces);
            if uses.get(&t).is_some_and(|&uses| uses > 1) || nodes > INLINE {
                let sort = if is_truth(pool, t) { "Bool".to_owned() } else { bits(pool.width(t)) };
                let name = format!("t{}", t.index());
                let _ = writeln!(out, "(define-fun {name} () {sort} {text})");
                self.terms.insert(t, name);
                self.log.push(LogEntry::Term(t));
            } else {
                pieces.insert(t, Piece { text, nodes });
            }
        }
        pieces
    }

    /// The subterms without a name, operands first, and how often each is used.
    fn unknown(&self, pool: &Pool, root: Term) -> (Vec<Term>, FxHashMap<Term, u32>) {
        let mut uses: FxHashMap<Term, u32> = FxHashMap::default();
        let mut arrays: FxHashMap<Array, ()> = FxHashMap::default();
        let mut terms = vec![root];
        let mut waiting: Vec<Array> = Vec::new();
        loop {
            if let Some(t) = terms.pop() {
                if pool.as_constant(t).is_some() || self.terms.contains_key(&t) {
                    continue;
                }
                let count = uses.entry(t).or_insert(0);
                *count += 1;
                if *count > 1 {
                    continue;
                }
                let node = pool.node(t);
                terms.extend(node.operands());
                if let Node::Read(array, _) = node {
                    waiting.push(array);
                }
            } else if let Some(array) = waiting.pop() {
                if self.arrays.contains_key(&array) || arrays.insert(array, ()).is_some() {
                    continue;
                }
                match pool.array_node(array) {
                    ArrayNode::Bytes(elements) => terms.extend_from_slice(elements),
                    ArrayNode::Store(old, index, value) => {
                        waiting.push(old);
                        terms.extend([index, value]);
                    }
                }
            } else {
                break;
            }
        }
        let mut order: Vec<Term> = uses.keys().copied().collect();
        order.sort_unstable();
        (order, uses)
    }

    fn declare(&mut self, index: u32, width: u32, out: &mut String) {
        if self.variables.contains_key(&index) {
            return;
        }
        let symbol = (self.symbol)(index);
        let _ = writeln!(out, "(declare-const {symbol} {})", bits(width));
        self.variables.insert(index, symbol);
        self.log.push(LogEntry::Variable(index));
    }

    /// Asserts that an array is zero after its elements, for an index that is read.
    fn bound(
        &self,
        pool: &Pool,
        array: Array,
        index: Term,
        pieces: &FxHashMap<Term, Piece>,
        out: &mut String,
    ) {
        let mut base = array;
        let elements = loop {
            match pool.array_node(base) {
                ArrayNode::Bytes(elements) => break elements,
                ArrayNode::Store(old, ..) => base = old,
            }
        };
        if pool.most(index) < elements.len() as u128 {
            return;
        }
        let (base, index) =
            (self.arrays.get(&base).map_or("", String::as_str), self.as_bits(pool, index, pieces));
        let end = constant(64, elements.len() as u128);
        let _ = writeln!(out, "(assert (or (bvult {index} {end}) (= (select {base} {index}) #x00)))");
    }

    /// Declares an array and asserts its elements. (A chain of stores over a constant array is equivalent,
    /// but slow in solvers.)
    fn define_array(&mut self, pool: &Pool, array: Array, pieces: &FxHashMap<Term, Piece>, out: &mut String) {
        // From the outermost store inwards to what is defined, then outwards again.
        let mut chain = Vec::new();
        let mut at = array;
        while !self.arrays.contains_key(&at) {
            chain.push(at);
            match pool.array_node(at) {
                ArrayNode::Store(old, ..) => at = old,
                ArrayNode::Bytes(_) => break,
            }
        }
        for array in chain.into_iter().rev() {
            let name = format!("a{}", array.index());
            match pool.array_node(array) {
                ArrayNode::Bytes(elements) => {
                    let _ = writeln!(out, "(declare-const {name} {ARRAY_SORT})");
                    for (index, &element) in elements.iter().enumerate() {
                        let (index, element) =
                            (constant(64, index as u128), self.as_bits(pool, element, pieces));
                        let _ = writeln!(out, "(assert (= (select {name} {index}) {element}))");
                    }
                }
                ArrayNode::Store(old, index, value) => {
                    let old = self.arrays.get(&old).map_or("", String::as_str);
                    let (index, value) =
                        (self.as_bits(pool, index, pieces), self.as_bits(pool, value, pieces));
                    let _ =
                        writeln!(out, "(define-fun {name} () {ARRAY_SORT} (store {old} {index} {value}))");
                }
            }
            self.arrays.insert(array, name);
            self.log.push(LogEntry::Array(array));
        }
    }

    fn text<'t>(&'t self, pool: &Pool, t: Term, pieces: &'t FxHashMap<Term, Piece>) -> &'t str {
        let known = match pool.node(t) {
            Node::Variable(index) => self.variables.get(&index),
            _ => self.terms.get(&t),
        };
        known.or_else(|| pieces.get(&t).map(|piece| &piece.text)).map_or("", String::as_str)
    }

    fn as_bits(&self, pool: &Pool, t: Term, pieces: &FxHashMap<Term, Piece>) -> String {
        match pool.as_constant(t) {
            Some(value) => constant(pool.width(t), value),
            None if is_truth(pool, t) => format!("(ite {} #b1 #b0)", self.text(pool, t, pieces)),
            None => self.text(pool, t, pieces).to_owned(),
        }
    }

    fn as_bool(&self, pool: &Pool, t: Term, pieces: &FxHashMap<Term, Piece>) -> String {
        match pool.as_constant(t) {
            Some(value) => (value == 1).to_string(),
            None if is_truth(pool, t) => self.text(pool, t, pieces).to_owned(),
            None => format!("(= {} #b1)", self.text(pool, t, pieces)),
        }
    }

    fn expression(&self, pool: &Pool, t: Term, node: Node, pieces: &FxHashMap<Term, Piece>) -> String {
        let bits = |t| self.as_bits(pool, t, pieces);
        let truth = is_truth(pool, t);
        match node {
            Node::Constant(value) => constant(pool.width(t), value),
            Node::Variable(_) => self.text(pool, t, pieces).to_owned(),
            Node::Unary(Unary::Not, a) if truth => format!("(not {})", self.as_bool(pool, a, pieces)),
            Node::Unary(Unary::Not, a) => format!("(bvnot {})", bits(a)),
            Node::Unary(Unary::Neg, a) => format!("(bvneg {})", bits(a)),
            Node::Binary(op, a, b) => {
                let truths =
                    pool.width(a) == 1 && truth && matches!(op, Binary::And | Binary::Or | Binary::Eq);
                let operand = |t| if truths { self.as_bool(pool, t, pieces) } else { bits(t) };
                format!("({} {} {})", operator(op, truths), operand(a), operand(b))
            }
            Node::Ite(c, a, b) => {
                let operand = |t| if truth { self.as_bool(pool, t, pieces) } else { bits(t) };
                format!("(ite {} {} {})", self.as_bool(pool, c, pieces), operand(a), operand(b))
            }
            Node::Extract(a, low) => format!("((_ extract {} {low}) {})", low + pool.width(t) - 1, bits(a)),
            Node::Concat(a, b) => format!("(concat {} {})", bits(a), bits(b)),
            Node::Zext(a) => format!("((_ zero_extend {}) {})", pool.width(t) - pool.width(a), bits(a)),
            Node::Sext(a) => format!("((_ sign_extend {}) {})", pool.width(t) - pool.width(a), bits(a)),
            Node::Read(array, index) => {
                format!("(select {} {})", self.arrays.get(&array).map_or("", String::as_str), bits(index))
            }
            Node::Float(op, a, b) => self.float_expression(pool, t, op, (a, b), pieces),
        }
    }
}

/// Whether a term is written with sort Bool.
fn is_truth(pool: &Pool, t: Term) -> bool {
    pool.width(t) == 1
        && match pool.node(t) {
            Node::Binary(op, ..) => op.is_comparison() || matches!(op, Binary::And | Binary::Or),
            Node::Unary(op, _) => op == Unary::Not,
            Node::Ite(..) => true,
            Node::Float(op, ..) => op.is_comparison(),
            _ => false,
        }
}

fn bits(width: u32) -> String {
    format!("(_ BitVec {width})")
}

fn constant(width: u32, value: u128) -> String {
    if width.is_multiple_of(4) {
        format!("#x{value:0digits$x}", digits = width as usize / 4)
    } else {
        format!("#b{value:0digits$b}", digits = width as usize)
    }
}

fn operator(op: Binary, truths: bool) -> &'static str {
    match op {
        Binary::Add => "bvadd",
        Binary::Sub => "bvsub",
        Binary::Mul => "bvmul",
        Binary::UDiv => "bvudiv",
        Binary::URem => "bvurem",
        Binary::SDiv => "bvsdiv",
        Binary::SRem => "bvsrem",
        Binary::And if truths => "and",
        Binary::Or if truths => "or",
        Binary::And => "bvand",
        Binary::Or => "bvor",
        Binary::Xor => "bvxor",
        Binary::Shl => "bvshl",
        Binary::LShr => "bvlshr",
        Binary::AShr => "bvashr",
        Binary::Eq => "=",
        Binary::Ult => "bvult",
        Binary::Ule => "bvule",
        Binary::Slt => "bvslt",
        Binary::Sle => "bvsle",
    }
}
