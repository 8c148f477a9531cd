//! The value of a term under given values of its variables.

use crate::float;
use crate::node::{Array, ArrayNode, Node, Term};
use crate::pool::Pool;
use crate::semantics;
use rustc_hash::FxHashMap;

/// Values of terms under one assignment; values of subterms are memoised across terms.
pub struct Evaluation<'a> {
    pool: &'a Pool,
    value: &'a dyn Fn(u32) -> u128,
    known: FxHashMap<Term, u128>,
    /// Explicit stack of terms under evaluation, because terms can be deeper than the thread's stack allows.
    work: Vec<Term>,
}

impl<'a> Evaluation<'a> {
    /// `value` returns each variable's value; bits above its width are dropped.
    pub fn new(pool: &'a Pool, value: &'a dyn Fn(u32) -> u128) -> Evaluation<'a> {
        Evaluation { pool, value, known: FxHashMap::default(), work: Vec::new() }
    }

    /// The value of a term, at most its width. Values of subterms are kept for further calls.
    pub fn of(&mut self, t: Term) -> u128 {
        self.work.push(t);
        while let Some(&t) = self.work.last() {
            if self.known.contains_key(&t) || self.pool.as_constant(t).is_some() {
                self.work.pop();
                continue;
            }
            // Either the value, or an operand that must be evaluated first.
            match self.step(t) {
                Ok(value) => {
                    self.known.insert(t, value);
                    self.work.pop();
                }
                Err(first) => {
                    self.work.push(first);
                    if let Node::Read(array, _) = self.pool.node(t) {
                        self.push_store_indices(array);
                    }
                }
            }
        }
        self.get(t).unwrap_or_default()
    }

    /// Pushes all indices of a chain of stores, which `element` compares one by one: so the chain is
    /// traversed twice and not once per store.
    fn push_store_indices(&mut self, mut array: Array) {
        while let ArrayNode::Store(old, place, _) = self.pool.array_node(array) {
            if self.get(place).is_err() {
                self.work.push(place);
            }
            array = old;
        }
    }

    fn get(&self, t: Term) -> Result<u128, Term> {
        self.pool.as_constant(t).or_else(|| self.known.get(&t).copied()).ok_or(t)
    }

    fn step(&self, t: Term) -> Result<u128, Term> {
        let pool = self.pool;
        let width = pool.width(t);
        Ok(match pool.node(t) {
            Node::Constant(value) => value,
            Node::Variable(index) => (self.value)(index) & semantics::ones(width),
            Node::Unary(op, a) => semantics::unary(op, width, self.get(a)?),
            Node::Binary(op, a, b) => semantics::binary(op, pool.width(a), self.get(a)?, self.get(b)?),
            Node::Ite(c, a, b) => self.get(if self.get(c)? == 1 { a } else { b })?,
            Node::Extract(a, low) => semantics::extract(self.get(a)?, low, width),
            Node::Concat(a, b) => self.get(a)? << pool.width(b) | self.get(b)?,
            Node::Zext(a) => self.get(a)?,
            Node::Sext(a) => semantics::sext(self.get(a)?, pool.width(a), width),
            Node::Read(array, index) => self.element(array, self.get(index)?)?,
            Node::Float(op, a, b) => {
                let y = b.map_or(Ok(0), |b| self.get(b))?;
                float::evaluate(op, pool.width(a), width, self.get(a)?, y)
            }
        })
    }

    fn element(&self, mut array: Array, index: u128) -> Result<u128, Term> {
        loop {
            match self.pool.array_node(array) {
                ArrayNode::Bytes(elements) => {
                    let element = usize::try_from(index).ok().and_then(|index| elements.get(index));
                    return element.map_or(Ok(0), |&element| self.get(element));
                }
                ArrayNode::Store(_, at, value) if self.get(at)? == index => return self.get(value),
                ArrayNode::Store(old, ..) => array = old,
            }
        }
    }
}

impl Pool {
    /// The exact value of a term under an assignment.
    pub fn evaluate(&self, t: Term, value: &dyn Fn(u32) -> u128) -> u128 {
        Evaluation::new(self, value).of(t)
    }
}
