//! Terms as circuits in this process, decided by an incremental SAT solver.
//!
//! The wires of every term are made once, and a query passes its conditions as assumptions: no condition is
//! asserted permanently, so that the next query can have any set of conditions, and learnt clauses about the
//! circuits serve all queries.

mod arithmetic;
mod gates;

use std::collections::HashSet;
use std::time::{Duration, Instant};

use batsat::{SolverInterface, lbool};

use crate::node::{Array, ArrayNode, Binary, Node, Term, Unary};
use crate::pool::Pool;
use gates::{Gates, Wire};
use rustc_hash::{FxHashMap, FxHashSet};

/// Larger circuits, by wires, are left to solver processes.
const MAX_WIRES: usize = 400_000;
/// Circuits with more wires than this are dropped when a query needs only a small part of them: the SAT
/// solver assigns all existing wires.
const MAX_KEPT_WIRES: usize = 3_000;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum CircuitAnswer {
    /// Values of all variables in any query so far.
    Sat(FxHashMap<u32, u128>),
    /// A subset of the conditions that is unsatisfiable.
    Unsat(Vec<Term>),
    /// Too large, or the time ran out.
    Undecided,
}

pub(crate) struct Circuit {
    gates: Gates,
    wires: FxHashMap<Term, Vec<Wire>>,
    variables: FxHashMap<u32, Vec<Wire>>,
    /// Conditions of all queries so far.
    asked: FxHashSet<Term>,
}

impl Circuit {
    pub fn new() -> Circuit {
        Circuit {
            gates: Gates::new(),
            wires: FxHashMap::default(),
            variables: FxHashMap::default(),
            asked: FxHashSet::default(),
        }
    }

    /// Decides whether conditions are satisfiable together, within a time limit.
    pub fn decide(&mut self, pool: &Pool, conditions: &[Term], time: Duration) -> CircuitAnswer {
        if self.gates.len() > MAX_KEPT_WIRES && conditions.len() * 4 < self.asked.len() {
            *self = Circuit::new();
        }
        self.asked.extend(conditions.iter().copied());
        let mut assumed = Vec::with_capacity(conditions.len());
        for &condition in conditions {
            if !self.build(pool, condition) {
                *self = Circuit::new();
                return CircuitAnswer::Undecided;
            }
            assumed.push(self.bits(pool, condition)[0]);
        }
        let end = Instant::now() + time;
        self.gates.sat.cb_mut().set_stop(move || Instant::now() >= end);
        match self.gates.sat.solve_limited(&assumed) {
            answer if answer == lbool::TRUE => {
                let bit = |(at, &wire): (usize, &Wire)| u128::from(self.gates.value(wire)) << at;
                let value = |wires: &Vec<Wire>| wires.iter().enumerate().map(bit).sum();
                CircuitAnswer::Sat(
                    self.variables.iter().map(|(&variable, wires)| (variable, value(wires))).collect(),
                )
            }
            answer if answer == lbool::FALSE => {
                let failed: HashSet<u32> =
                    self.gates.sat.unsat_core().iter().map(|wire| wire.var().idx()).collect();
                let pairs = conditions.iter().zip(&assumed);
                let core: Vec<Term> =
                    pairs.filter(|(_, wire)| failed.contains(&wire.var().idx())).map(|(&t, _)| t).collect();
                // Empty if two conditions are complementary, or one is false by itself.
                CircuitAnswer::Unsat(if core.is_empty() { conditions.to_vec() } else { core })
            }
            _ => CircuitAnswer::Undecided,
        }
    }

    fn bits(&self, pool: &Pool, t: Term) -> Vec<Wire> {
        match pool.as_constant(t) {
            Some(value) => self.gates.constant(pool.width(t), value),
            None => self.wires.get(&t).cloned().unwrap_or_default(),
        }
    }

    /// Makes the wires of a term and of all its subterms. Returns `false` if there are too many, or if some
    /// have no circuit here.
    fn build(&mut self, pool: &Pool, root: Term) -> bool {
        let mut stack = vec![root];
        let mut order: Vec<Term> = Vec::new();
        let mut seen: FxHashMap<Term, ()> = FxHashMap::default();
        let mut arrays: FxHashMap<Array, ()> = FxHashMap::default();
        while let Some(t) = stack.pop() {
            if pool.as_constant(t).is_some() || self.wires.contains_key(&t) || seen.insert(t, ()).is_some() {
                continue;
            }
            order.push(t);
            let node = pool.node(t);
            if matches!(node, Node::Float(..)) {
                // Solvers with a floating-point theory do better than bit-blasting.
                return false;
            }
            stack.extend(node.operands());
            let Node::Read(mut array, _) = node else { continue };
            while arrays.insert(array, ()).is_none() {
                match pool.array_node(array) {
                    ArrayNode::Bytes(elements) => stack.extend_from_slice(elements),
                    ArrayNode::Store(old, index, value) => {
                        stack.extend([index, value]);
                        array = old;
                    }
                }
            }
        }
        order.sort_unstable();
        for t in order {
            if self.gates.len() > MAX_WIRES {
                return false;
            }
            let wires = self.wire(pool, t);
            self.wires.insert(t, wires);
        }
        true
    }

    fn wire(&mut self, pool: &Pool, t: Term) -> Vec<Wire> {
        let width = pool.width(t);
        let no = !self.gates.yes;
        match pool.node(t) {
            Node::Constant(value) => self.gates.constant(width, value),
            Node::Variable(index) => {
                let wires: Vec<Wire> = (0..width).map(|_| self.gates.input()).collect();
                self.variables.insert(index, wires.clone());
                wires
            }
            Node::Unary(Unary::Not, a) => Gates::complement(&self.bits(pool, a)),
            Node::Unary(Unary::Neg, a) => {
                let a = self.bits(pool, a);
                self.gates.negation(&a)
            }
            Node::Binary(op, a, b) => {
                let (a, b) = (self.bits(pool, a), self.bits(pool, b));
                self.binary(op, &a, &b)
            }
            Node::Ite(c, a, b) => {
                let (c, a, b) = (self.bits(pool, c)[0], self.bits(pool, a), self.bits(pool, b));
                self.gates.choice(c, &a, &b)
            }
            Node::Extract(a, low) => self.bits(pool, a)[low as usize..(low + width) as usize].to_vec(),
            Node::Concat(high, low) => {
                let mut bits = self.bits(pool, low);
                bits.extend(self.bits(pool, high));
                bits
            }
            Node::Zext(a) => {
                let mut bits = self.bits(pool, a);
                bits.resize(width as usize, no);
                bits
            }
            Node::Sext(a) => {
                let mut bits = self.bits(pool, a);
                let sign = bits[bits.len() - 1];
                bits.resize(width as usize, sign);
                bits
            }
            Node::Read(array, index) => {
                let index = self.bits(pool, index);
                self.read(pool, array, &index)
            }
            // `build` has rejected these.
            Node::Float(..) => Vec::new(),
        }
    }

    fn binary(&mut self, op: Binary, a: &[Wire], b: &[Wire]) -> Vec<Wire> {
        let gates = &mut self.gates;
        let no = !gates.yes;
        let last = a.len() - 1;
        // With the sign bits flipped, signed numbers have the unsigned order.
        let moved = |bits: &[Wire]| {
            let mut bits = bits.to_vec();
            bits[last] = !bits[last];
            bits
        };
        match op {
            Binary::Add => gates.adder(a, b, no).0,
            Binary::Sub => gates.subtractor(a, b).0,
            Binary::Mul => gates.product(a, b),
            Binary::UDiv => gates.division(a, b).0,
            Binary::URem => gates.division(a, b).1,
            Binary::SDiv => gates.signed_division(a, b).0,
            Binary::SRem => gates.signed_division(a, b).1,
            Binary::And => a.iter().zip(b).map(|(&a, &b)| gates.and(a, b)).collect(),
            Binary::Or => a.iter().zip(b).map(|(&a, &b)| gates.or(a, b)).collect(),
            Binary::Xor => a.iter().zip(b).map(|(&a, &b)| gates.xor(a, b)).collect(),
            Binary::Shl => gates.shift(a, b, true, no),
            Binary::LShr => gates.shift(a, b, false, no),
            Binary::AShr => gates.shift(a, b, false, a[last]),
            Binary::Eq => vec![gates.equal(a, b)],
            Binary::Ult => vec![gates.less(a, b, false)],
            Binary::Ule => vec![gates.less(a, b, true)],
            Binary::Slt => vec![gates.less(&moved(a), &moved(b), false)],
            Binary::Sle => vec![gates.less(&moved(a), &moved(b), true)],
        }
    }

    /// An element: a multiplexer tree over the index's bits, then the stores compared from the first to the
    /// last.
    fn read(&mut self, pool: &Pool, mut array: Array, index: &[Wire]) -> Vec<Wire> {
        let mut stores = Vec::new();
        let elements = loop {
            match pool.array_node(array) {
                ArrayNode::Store(old, place, value) => {
                    stores.push((place, value));
                    array = old;
                }
                ArrayNode::Bytes(elements) => break elements,
            }
        };
        let mut rows: Vec<Vec<Wire>> = elements.iter().map(|&element| self.bits(pool, element)).collect();
        let zero = self.gates.constant(8, 0);
        let mut used = 0;
        while rows.len() > 1 {
            let bit = index[used];
            used += 1;
            let pairs = rows.chunks(2);
            let halved: Vec<Vec<Wire>> =
                pairs.map(|pair| self.gates.choice(bit, pair.get(1).unwrap_or(&zero), &pair[0])).collect();
            rows = halved;
        }
        let mut result = rows.pop().unwrap_or_else(|| zero.clone());
        for &high in &index[used..] {
            result = self.gates.choice(high, &zero, &result);
        }
        for (place, value) in stores.into_iter().rev() {
            let (place, value) = (self.bits(pool, place), self.bits(pool, value));
            let here = self.gates.equal(&place, index);
            result = self.gates.choice(here, &value, &result);
        }
        result
    }
}

#[cfg(test)]
mod tests;
