//! Lifts results of instructions to terms over the values beyond the cut.

use super::Question;
use super::facts::Fact;
use program::inst::{Inst, Operand, Reg, Ty};
use slice::slice::Needs;
use slice::{Dependence, NodeId};
use solver::{Binary, Pool, Term};
use std::collections::HashMap;
use symbolic::semantics;

/// Marks registers among the parts of a call's value.
const CALLS: u64 = 1 << 63;
/// The maximum length of a chain of memory copies that is followed.
const DEPTH: u32 = 32;

/// The interface of a run that lifting requires.
pub trait Ground {
    /// The instruction of a node.
    fn inst(&self, node: NodeId) -> &Inst;
    /// The dependences of all nodes of the slice.
    fn needs(&self) -> &Needs;
    /// The operands and the result of a node; `None` if they were not recorded.
    fn fact(&self, node: NodeId) -> Option<&Fact>;
    /// The number of the argument of a call that a node read from a register of the callee.
    fn argument(&self, node: NodeId, reg: Reg, call: NodeId) -> Option<usize>;
}

/// A value that is not computed here: the node that produced it, and the byte of it (by its address; `None`:
/// the whole value).
pub type Behind = (NodeId, Option<u64>);

/// Terms and their variables, shared by all formulas about one run: a variable has the same meaning in each.
#[derive(Default)]
pub struct Terms {
    /// The solver's terms.
    pub pool: Pool,
    variables: HashMap<Behind, u32>,
    /// The values of the variables in the run.
    given: Vec<u64>,
}

impl Terms {
    fn variable(&mut self, who: Behind, width: u32, value: u64) -> Term {
        let next = self.given.len() as u32;
        let number = *self.variables.entry(who).or_insert(next);
        if number == next {
            self.given.push(mask(value, width));
        }
        self.pool.variable(number, width)
    }

    /// Number of variables, which are numbered from 0.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.given.len() as u32
    }

    /// The value of a variable in the run.
    #[must_use]
    pub fn given(&self, variable: u32) -> u128 {
        self.given.get(variable as usize).copied().unwrap_or(0).into()
    }
}

/// Terms of the nodes before the cut, seen from the question.
pub struct Lift<'g, G: Ground> {
    ground: &'g G,
    all: &'g mut Terms,
    inside: &'g dyn Fn(NodeId) -> bool,
    terms: HashMap<NodeId, Term>,
}

impl<'g, G: Ground> Lift<'g, G> {
    /// `nodes`: the newest first.
    pub fn new(
        ground: &'g G,
        all: &'g mut Terms,
        nodes: &[NodeId],
        inside: &'g dyn Fn(NodeId) -> bool,
    ) -> Self {
        let mut lift = Lift { ground, all, inside, terms: HashMap::new() };
        // The oldest first: operands before results.
        for node in nodes.iter().rev().filter(|n| inside(**n)) {
            if let Some(term) = lift.result(*node) {
                lift.terms.insert(*node, term);
            }
        }
        lift
    }

    /// The condition `true`.
    pub fn yes(&mut self) -> Term {
        self.all.pool.constant(1, 1)
    }

    /// The condition that the question has another answer. `None` if the question has no term.
    pub fn negation(&mut self, question: Question) -> Option<Term> {
        if let Question::Decision(node) = question {
            let held = self.condition(node)?;
            return Some(self.all.pool.not(held));
        }
        let mut any: Option<Term> = None;
        let needs: Vec<_> = super::cone::values(self.ground.needs(), question.node()).collect();
        for (made_by, how) in needs {
            let mut terms = Vec::new();
            match how {
                Dependence::Memory { address, len } | Dependence::Thread { address, len } => {
                    for at in address..address + len.min(4096) {
                        terms.push(self.made(made_by, at, 0, 0));
                    }
                }
                Dependence::Register(reg) | Dependence::Return(reg) => {
                    terms.extend(self.value(question.node(), reg, made_by))
                }
                _ => {}
            }
            for term in terms {
                let actual = self.all.pool.evaluate(term, &|v| self.all.given(v));
                let width = self.all.pool.width(term);
                let actual = self.all.pool.constant(width, actual);
                let same = self.all.pool.binary(Binary::Eq, term, actual);
                let other = self.all.pool.not(same);
                any = Some(match any {
                    None => other,
                    Some(any) => self.all.pool.or(any, other),
                });
            }
        }
        any
    }

    /// The condition that a branch took the direction of the run.
    pub fn condition(&mut self, node: NodeId) -> Option<Term> {
        let actual = self.ground.fact(node)?.value;
        match self.ground.inst(node) {
            Inst::Branch { cond, .. } => {
                let cond = self.operand(node, *cond, 1)?;
                Some(if actual & 1 != 0 { cond } else { self.all.pool.not(cond) })
            }
            Inst::Switch { value, bits, .. } if *bits <= 64 => {
                let width = u32::from(*bits);
                let value = self.operand(node, *value, width)?;
                let actual = self.all.pool.constant(width, u128::from(mask(actual, width)));
                Some(self.all.pool.binary(Binary::Eq, value, actual))
            }
            _ => None,
        }
    }

    /// The result of an instruction from its operands. An opaque result is a constant if all its dependences
    /// are, and otherwise a variable.
    fn result(&mut self, node: NodeId) -> Option<Term> {
        let inst = self.ground.inst(node);
        let exact = match inst {
            Inst::Bin { op, bits, a, b, .. } if *bits <= 64 => {
                let width = u32::from(*bits);
                let (a, b) = (self.operand(node, *a, width)?, self.operand(node, *b, width)?);
                Some(semantics::binary(&mut self.all.pool, *op, a, b))
            }
            Inst::ICmp { pred, bits, a, b, .. } if *bits <= 64 => {
                let width = u32::from(*bits);
                let (a, b) = (self.operand(node, *a, width)?, self.operand(node, *b, width)?);
                Some(semantics::compare(&mut self.all.pool, *pred, a, b))
            }
            Inst::Cast { op, from, to, a, .. } if whole(*from) && whole(*to) => {
                let (from, to) = (u32::from(from.bits()), u32::from(to.bits()));
                let a = self.operand(node, *a, from)?;
                semantics::integer_cast(&mut self.all.pool, *op, a, to)
            }
            Inst::Pure { op, ty, args, .. } if whole(*ty) && op.result_slots(*ty) == 1 => {
                let width = u32::from(ty.bits());
                let args: Option<Vec<Term>> = args.iter().map(|a| self.operand(node, *a, width)).collect();
                let result = args.and_then(|args| semantics::intrinsic(&mut self.all.pool, *op, &args));
                result.map(|result| result.value)
            }
            Inst::Select { slots: 1, cond, a, b, .. } => {
                // A slice contains dependences only of the operand that was selected.
                let held = self.ground.fact(node)?.of(*cond)? & 1 != 0;
                self.operand(node, if held { *a } else { *b }, 64)
            }
            Inst::Copy { a, .. } => self.operand(node, *a, 64),
            Inst::Address { base, index, index_bits, scale, offset, .. } => {
                let base = self.operand(node, *base, 64)?;
                let index = self.operand(node, *index, u32::from(*index_bits))?;
                Some(semantics::address(&mut self.all.pool, base, index, *scale, *offset))
            }
            Inst::Load { ty, .. } if whole(*ty) => {
                let fact = self.ground.fact(node)?;
                let (address, value) = (fact.address, fact.value);
                let mut term: Option<Term> = None;
                for i in 0..u64::from(ty.bytes()) {
                    let byte = self.byte(node, address + i, (value >> (8 * i)) as u8, 0);
                    term = Some(match term {
                        None => byte,
                        Some(low) => self.all.pool.concat(byte, low),
                    });
                }
                term.map(|t| self.fit(t, u32::from(ty.bits())))
            }
            Inst::Store { value, ty, .. } if whole(*ty) => {
                let term = self.operand(node, *value, u32::from(ty.bits()))?;
                Some(self.fit(term, 8 * ty.bytes()))
            }
            _ => None,
        };
        exact.or_else(|| self.opaque(node))
    }

    fn opaque(&mut self, node: NodeId) -> Option<Term> {
        let value = self.ground.fact(node)?.value;
        Some(if self.grounded(node) {
            self.all.pool.constant(64, value.into())
        } else {
            self.all.variable((node, None), 64, value)
        })
    }

    /// An operand of a node, in the width of its use.
    fn operand(&mut self, node: NodeId, operand: Operand, width: u32) -> Option<Term> {
        let actual = self.ground.fact(node)?.of(operand)?;
        let term = match operand {
            Operand::Reg(reg) => self.source(node, reg).and_then(|from| self.handed(node, reg, from, actual)),
            _ => None,
        };
        let term = match term {
            Some(term) => term,
            None => self.all.pool.constant(64, actual.into()),
        };
        Some(self.fit(term, width))
    }

    /// The node that produced the value that a node read from a register.
    fn source(&self, node: NodeId, reg: Reg) -> Option<NodeId> {
        let mine =
            |how: &Dependence| matches!(how, Dependence::Register(r) | Dependence::Return(r) if *r == reg);
        self.ground.needs().of(node).iter().find(|(_, how)| mine(how)).map(|x| x.0)
    }

    /// The value that a node received in a register from another; `None` if that is a constant.
    fn handed(&mut self, node: NodeId, reg: Reg, from: NodeId, actual: u64) -> Option<Term> {
        let inside = (self.inside)(from);
        match self.ground.inst(from) {
            Inst::Call(call) => {
                let argument = self.ground.argument(node, reg, from).and_then(|n| call.args.get(n));
                if let (true, Some(argument)) = (inside, argument) {
                    return self.operand(from, argument.value, 64);
                }
                // A call passes many values: each register has its own variable.
                let own = (from, Some(CALLS | u64::from(reg)));
                let number = inside && self.grounded(from);
                (!number).then(|| self.all.variable(own, 64, actual))
            }
            // Registers hold zero-extended values: the upper bits are not free.
            other if !inside => {
                let width = assigned(other);
                Some(self.all.variable((from, None), width, actual))
            }
            Inst::Return { value: Some(value), .. } => self.operand(from, *value, 64),
            // A constant assigned on a control-flow edge.
            Inst::Jump { .. } | Inst::Branch { .. } | Inst::Switch { .. } => None,
            _ => self.terms.get(&from).copied(),
        }
    }

    /// Whether all value dependences of a node are constants.
    fn grounded(&self, node: NodeId) -> bool {
        super::cone::values(self.ground.needs(), node).all(|(need, _)| {
            (self.inside)(need)
                && self.terms.get(&need).is_none_or(|t| self.all.pool.as_constant(*t).is_some())
        })
    }

    fn value(&mut self, node: NodeId, reg: Reg, made_by: NodeId) -> Option<Term> {
        let actual = self.ground.fact(made_by)?.value;
        match self.handed(node, reg, made_by, actual) {
            Some(term) => Some(term),
            None => Some(self.all.pool.constant(64, actual.into())),
        }
    }

    /// A byte that a node read.
    fn byte(&mut self, node: NodeId, at: u64, actual: u8, depth: u32) -> Term {
        let holds = |how: &Dependence| match how {
            Dependence::Memory { address, len } | Dependence::Thread { address, len } => {
                (*address..address + len).contains(&at)
            }
            _ => false,
        };
        let source = self.ground.needs().of(node).iter().find(|(_, how)| holds(how)).map(|x| x.0);
        match source {
            Some(made_by) if depth < DEPTH => self.made(made_by, at, actual, depth + 1),
            _ => self.all.pool.constant(8, actual.into()),
        }
    }

    /// A byte that a node wrote.
    fn made(&mut self, made_by: NodeId, at: u64, actual: u8, depth: u32) -> Term {
        let Some(fact) = self.ground.fact(made_by) else { return self.all.pool.constant(8, actual.into()) };
        let (start, from, value) = (fact.address, fact.from, fact.value);
        let offset = at.wrapping_sub(start);
        match self.ground.inst(made_by) {
            Inst::Store { ty, .. } if whole(*ty) && offset < 8 => {
                let byte = (value >> (8 * offset)) as u8;
                match self.terms.get(&made_by).copied() {
                    _ if !(self.inside)(made_by) => self.all.variable((made_by, Some(at)), 8, byte.into()),
                    Some(term) if 8 * (offset as u32 + 1) <= self.all.pool.width(term) => {
                        self.all.pool.extract(term, 8 * offset as u32, 8)
                    }
                    _ => self.all.pool.constant(8, byte.into()),
                }
            }
            _ if !(self.inside)(made_by) => self.all.variable((made_by, Some(at)), 8, actual.into()),
            Inst::MemCopy { .. } => self.byte(made_by, from.wrapping_add(offset), actual, depth),
            _ => self.all.pool.constant(8, actual.into()),
        }
    }

    fn fit(&mut self, term: Term, width: u32) -> Term {
        semantics::fit(&mut self.all.pool, term, width)
    }
}

/// The width of the value that an instruction assigns; that of a whole register if it is not simple.
fn assigned(inst: &Inst) -> u32 {
    let is_plain =
        matches!(inst, Inst::Bin { .. } | Inst::ICmp { .. } | Inst::Cast { .. } | Inst::Load { .. });
    match inst.result() {
        Some((_, ty)) if is_plain && whole(ty) => u32::from(ty.bits()),
        _ => 64,
    }
}

/// Whether values of the type are bits in one slot.
fn whole(ty: Ty) -> bool {
    match ty {
        Ty::Int(bits) => bits <= 64,
        Ty::Ptr => true,
        Ty::Float(_) => false,
    }
}

fn mask(value: u64, width: u32) -> u64 {
    if width >= 64 { value } else { value & ((1 << width) - 1) }
}
