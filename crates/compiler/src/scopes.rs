//! Keeps the value of a local to the end of its scope.
//!
//! Promotion joins the values of a variable, where ways meet, only if the variable
//! is used further on. After its last use a variable that was assigned on two ways
//! has no value that holds on both, though the program without optimisation still
//! has one, and a debugger shows it. So before locals are promoted each is used once
//! more wherever control leaves its scope, and before it is assigned anew:
//!
//! | before | after |
//! |---|---|
//! | `ret void` | `%v = load i32, ptr %x` |
//! |  | `call void @relapse.use.i32(i32 %v)` |
//! |  | `ret void` |
//!
//! The calls are taken out after promotion; the phis they asked for stay. Only the
//! model has them: the optimiser, which runs after instrumentation, finds them dead.
//! `clang -fextend-variable-liveness` does the same in the front end, but makes the
//! ways out of a scope pass one block with a `switch`: branches that are not in the
//! source.

use crate::assignments::{promotable, scalar_name};
use crate::llvm::{Blk, Meta, Opcode, Unit, Val, is_subprogram, md_operands};
use std::collections::{HashMap, HashSet};

const PREFIX: &str = "relapse.use.";

// Operand positions: DILocalVariable and DILexicalBlock.
const VARIABLE_SCOPE: usize = 0;
const BLOCK_SCOPE: usize = 1;

/// The scope that a variable is declared in.
pub fn of_variable(unit: &Unit, variable: Meta) -> Option<Val> {
    md_operands(unit.as_value(variable)).get(VARIABLE_SCOPE).copied().flatten()
}

/// A scope and those around it, from the inside, up to that of the function, which is
/// not among them.
pub fn around(unit: &Unit, scope: Meta) -> Vec<Val> {
    let mut out = Vec::new();
    let mut next = Some(unit.as_value(scope));
    while let Some(scope) = next.filter(|s| !is_subprogram(*s)) {
        out.push(scope);
        next = enclosing(scope);
    }
    out
}

/// The scope around one that is not a function's.
pub fn enclosing(scope: Val) -> Option<Val> {
    md_operands(scope).get(BLOCK_SCOPE).copied().flatten()
}

/// Adds uses at the ends of scopes. Before locals are promoted.
pub fn extend(unit: &Unit) {
    let locals = promotable(unit);
    for f in unit.functions().into_iter().filter(|f| f.subprogram().is_some()) {
        extend_in(unit, f, &locals);
    }
}

fn extend_in(unit: &Unit, f: Val, locals: &HashSet<Val>) {
    let blocks = f.blocks();
    let mut chains: HashMap<Meta, Vec<Val>> = HashMap::new();
    let mut scopes: HashMap<Blk, HashSet<Val>> = HashMap::new();
    let mut variables: Vec<(Val, Val)> = Vec::new();
    let mut ends: Vec<(Val, Val)> = Vec::new();
    for blk in &blocks {
        let here = scopes.entry(*blk).or_default();
        // Declared in this block, and not assigned since.
        let mut fresh: HashSet<Val> = HashSet::new();
        for i in blk.instructions() {
            if let Some(at) = i.debug_location() {
                let chain = chains.entry(at.scope()).or_insert_with(|| around(unit, at.scope()));
                here.extend(chain.iter().copied());
            }
            for record in i.debug_records().into_iter().filter(|r| r.is_variable() && r.is_declare()) {
                let scope = of_variable(unit, record.variable());
                if let (Some(alloca), Some(scope)) = (record.value(), scope)
                    && locals.contains(&alloca)
                {
                    variables.push((alloca, scope));
                    fresh.insert(alloca);
                }
            }
            // The first assignment is no end of an earlier value.
            if i.opcode() == Opcode::LLVMStore
                && locals.contains(&i.operand(1))
                && !fresh.remove(&i.operand(1))
            {
                ends.push((i, i.operand(1)));
            }
        }
    }
    // Values that the front end keeps for itself are of no interest.
    let named: HashSet<Val> = variables.iter().map(|v| v.0).collect();
    ends.retain(|(_, alloca)| named.contains(alloca));
    for blk in &blocks {
        let Some(end) = blk.terminator() else { continue };
        let next = end.successors();
        for (alloca, scope) in &variables {
            let inside = |b: &Blk| is_subprogram(*scope) || scopes[b].contains(scope);
            if inside(blk) && (next.is_empty() || !next.iter().all(inside)) {
                ends.push((end, *alloca));
            }
        }
    }
    let b = unit.builder();
    for (end, alloca) in ends {
        let ty = alloca.allocated_type();
        let Some(name) = scalar_name(unit, ty, PREFIX) else { continue };
        let signature = unit.function_type(unit.void(), &[ty], false);
        let function = unit.add_function(&name, signature);
        b.before(end);
        let value = b.load(ty, alloca);
        b.call(signature, function, &[value]);
    }
}

/// Takes the uses out again. After locals were promoted.
pub fn clear(unit: &Unit) {
    for f in unit.functions().into_iter().filter(|f| f.name().starts_with(PREFIX)) {
        for call in f.users() {
            call.erase();
        }
        f.delete_function();
    }
}
