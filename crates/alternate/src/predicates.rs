//! Predicates that the program does not test, evaluated during replay.
//!
//! A fault that affects only values does not show in branches. So values are treated as if the program had
//! tested them: results of functions, whether they are null or negative; variables, at each assignment,
//! whether they are equal to (or less than) the other variables of their type. The program is not rebuilt,
//! and its behaviour does not change.
//!
//! DARWIN inserts such tests into the source *before* an assignment. Here they come right after it: the facts
//! are the same, only earlier, and the last assigned value is tested as well.

use crate::facts::{Fact, FactCollector, FactKind};
use crate::options::Predicates;
use program::inst::{Inst, Operand, Ty};
use program::model::{Function, Home, Module, TypeKind};
use replay::image::Image;
use replay::vars::{Bindings, Value, value};
use solver::{Binary, Term};
use std::collections::HashMap;
use symbolic::SymbolicState;

/// Maximum number of other variables of a type that a variable is compared with, the closest declarations
/// first.
const MAX_COMPARED: usize = 12;

/// The variables of a function.
struct FunctionVariables<'i> {
    bindings: Bindings<'i>,
    /// Variables of scalar types: number, type without typedefs, size, signedness.
    simple: Vec<ScalarVariable>,
    /// Frame offset to variable, for variables in memory.
    homes: HashMap<u64, u32>,
    /// Instruction to the variables that get a new value there.
    bound: HashMap<u32, Vec<u32>>,
}

#[derive(Clone, Copy)]
struct ScalarVariable {
    number: u32,
    ty: u32,
    size: u64,
    signed: bool,
    line: u32,
}

/// See the module's documentation.
pub(crate) struct PredicateObserver<'i> {
    image: &'i Image,
    kind: Predicates,
    functions: HashMap<(u32, u32), FunctionVariables<'i>>,
}

impl<'i> PredicateObserver<'i> {
    pub fn new(image: &'i Image, kind: Predicates) -> PredicateObserver<'i> {
        PredicateObserver { image, kind, functions: HashMap::new() }
    }

    /// Evaluates the predicates for the instruction that has just run.
    pub fn step(&mut self, now: &mut SymbolicState<'_, '_>, found: &mut Vec<Fact>) {
        if self.kind == Predicates::None {
            return;
        }
        if let Inst::Return { value: Some(value), ret } = now.view.inst()
            && let [ty @ (Ty::Ptr | Ty::Int(2..=64))] = ret[..]
        {
            result(now, *value, ty, found);
        }
        let key = (now.view.code.module, now.view.code.function);
        let image = self.image;
        let known = self.functions.entry(key).or_insert_with(|| {
            let module = image.module(key.0);
            FunctionVariables::of(module, &module.functions[key.1 as usize])
        });
        let assigned: Vec<u32> = match now.view.inst() {
            Inst::Store { addr, .. } => {
                let offset = now.view.value(*addr).wrapping_sub(now.view.frame);
                known.homes.get(&offset).copied().into_iter().collect()
            }
            _ => known.bound.get(&now.view.index).cloned().unwrap_or_default(),
        };
        for number in assigned {
            compare(now, known, number, self.kind, found);
        }
    }
}

/// A function returns: null or not, negative or not.
fn result(now: &mut SymbolicState<'_, '_>, operand: Operand, ty: Ty, found: &mut Vec<Fact>) {
    let Some(term) = now.operand(operand, ty) else { return };
    let bits = u32::from(ty.bits());
    let raw = now.view.value(operand);
    let zero = now.world.pool.constant(bits, 0);
    let (test, holds, words) = match ty {
        Ty::Ptr => (Binary::Eq, raw == 0, "null"),
        _ => (Binary::Slt, raw >> (bits - 1) & 1 == 1, "negative"),
    };
    let test = now.world.pool.binary(test, term, zero);
    let name = &now.view.function().name;
    let what = FactKind::Predicate(format!("whether the result of {name} is {words}"));
    FactCollector::note(now, test, holds, what, found);
}

/// A variable has a new value: compares it to the others of its type.
fn compare(
    now: &mut SymbolicState<'_, '_>,
    known: &FunctionVariables<'_>,
    number: u32,
    kind: Predicates,
    found: &mut Vec<Fact>,
) {
    let Some(x) = known.simple.iter().find(|s| s.number == number).copied() else { return };
    let line = now.view.place().line;
    let others = known.simple.iter().filter(|s| s.number != number && s.ty == x.ty && s.line <= line);
    let mut others: Vec<ScalarVariable> = others.copied().collect();
    others.sort_by_key(|s| line - s.line);
    for y in others.into_iter().take(MAX_COMPARED) {
        let Some((a, b)) = pair(now, known, x, y) else { continue };
        let signed = |v: u128| (v as i128) << (128 - 8 * x.size) >> (128 - 8 * x.size);
        let name = |s: ScalarVariable| &now.variables()[s.number as usize].name;
        let (left, right) = (name(x).clone(), name(y).clone());
        let equal = now.world.pool.binary(Binary::Eq, a.0, b.0);
        FactCollector::note(now, equal, a.1 == b.1, FactKind::Predicate(format!("{left} == {right}")), found);
        if kind == Predicates::Ordered {
            let (op, holds) = match x.signed {
                true => (Binary::Slt, signed(a.1) < signed(b.1)),
                false => (Binary::Ult, a.1 < b.1),
            };
            let less = now.world.pool.binary(op, a.0, b.0);
            FactCollector::note(now, less, holds, FactKind::Predicate(format!("{left} < {right}")), found);
        }
    }
}

/// Terms and values of two variables, if one of them depends on input and both values are known.
fn pair(
    now: &mut SymbolicState<'_, '_>,
    known: &FunctionVariables<'_>,
    x: ScalarVariable,
    y: ScalarVariable,
) -> Option<((Term, u128), (Term, u128))> {
    let terms = [x, y].map(|s| now.variable(&known.bindings, s.number, s.size));
    if terms == [None, None] {
        return None;
    }
    let mut sides = Vec::with_capacity(2);
    for (s, term) in [x, y].into_iter().zip(terms) {
        let value = concrete(now, known, s)?;
        let bits = 8 * s.size as u32;
        let pool = &mut now.world.pool;
        let term = match term {
            Some(term) if pool.width(term) > bits => pool.extract(term, 0, bits),
            Some(term) => pool.zext(term, bits),
            None => pool.constant(bits, value),
        };
        sides.push((term, value));
    }
    Some((sides[0], sides[1]))
}

fn concrete(now: &SymbolicState<'_, '_>, known: &FunctionVariables<'_>, s: ScalarVariable) -> Option<u128> {
    let mut wide = [0; 16];
    let size = s.size as usize;
    match value(now.view, &known.bindings, s.number) {
        Value::At(address) => now.view.memory.peek(address, &mut wide[..size]),
        Value::Bytes { bytes, known } if known.iter().all(|k| *k) => {
            let n = size.min(bytes.len());
            wide[..n].copy_from_slice(&bytes[..n]);
        }
        _ => return None,
    }
    Some(u128::from_le_bytes(wide))
}

impl<'i> FunctionVariables<'i> {
    fn of(module: &'i Module, function: &'i Function) -> FunctionVariables<'i> {
        let mut simple = Vec::new();
        for (number, variable) in function.variables.iter().enumerate() {
            let Some((ty, size, signed)) = simple_type(module, variable.ty) else { continue };
            simple.push(ScalarVariable { number: number as u32, ty, size, signed, line: variable.line });
        }
        let is_simple = |n: u32| simple.iter().any(|s| s.number == n);
        let mut homes = HashMap::new();
        let mut bound: HashMap<u32, Vec<u32>> = HashMap::new();
        for binding in function.bindings.iter().filter(|b| b.part.is_none() && is_simple(b.variable)) {
            match binding.home {
                Home::Frame(offset) => drop(homes.insert(offset, binding.variable)),
                Home::Value(..) => bound.entry(binding.at).or_default().push(binding.variable),
                Home::Memory(..) | Home::Nowhere => {}
            }
        }
        FunctionVariables { bindings: Bindings::of(function), simple, homes, bound }
    }
}

/// The number of a type without typedefs, its size and signedness, if it is an integer or a pointer.
fn simple_type(module: &Module, ty: Option<u32>) -> Option<(u32, u64, bool)> {
    let mut number = ty?;
    // A deeper chain is a cycle.
    for _ in 0..64 {
        let found = module.types.get(number as usize)?;
        let signed = match &found.kind {
            TypeKind::Alias { of } => {
                number = (*of)?;
                continue;
            }
            TypeKind::Signed | TypeKind::Char { signed: true } | TypeKind::Enum { .. } => true,
            TypeKind::Unsigned
            | TypeKind::Bool
            | TypeKind::Char { signed: false }
            | TypeKind::Pointer { .. }
            | TypeKind::Reference { .. } => false,
            _ => return None,
        };
        return (1..=8).contains(&found.size).then_some((number, found.size, signed));
    }
    None
}
