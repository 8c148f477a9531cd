//! Keeps the value of a local until the end of its scope.
//!
//! Promotion inserts a phi for a variable at a join only if the variable is live there. After its
//! last use, a variable that was assigned on two paths has no value that is valid on both, although
//! the unoptimised program still has one, and a debugger shows it. Before promotion each local
//! therefore gets an additional use on every exit of its scope, and before each new assignment:
//!
//! | before | after |
//! |---|---|
//! | `ret void` | `%v = load i32, ptr %x` |
//! |  | `call void @relapse.use.i32(i32 %v)` |
//! |  | `ret void` |
//!
//! The calls are removed after promotion; the phis that they caused remain. Only the model contains
//! these phis: the optimiser, which runs after instrumentation, deletes them as dead code. `clang
//! -fextend-variable-liveness` does the same in the front end, but joins the exits of a scope in
//! one block with a `switch`: branches that are not in the source.

use crate::assignments::{promotable, scalar_name};
use crate::llvm::{Blk, Meta, Opcode, Unit, Val, is_subprogram, md_operands};
use std::collections::{HashMap, HashSet};

const PREFIX: &str = "relapse.use.";

// Operand positions: DILocalVariable and DILexicalBlock.
const VARIABLE_SCOPE: usize = 0;
const BLOCK_SCOPE: usize = 1;

/// The scope in which a variable is declared.
pub fn of_variable(unit: &Unit, variable: Meta) -> Option<Val> {
    md_operands(unit.as_value(variable)).get(VARIABLE_SCOPE).copied().flatten()
}

/// A scope and its ancestors, from the inside out, excluding that of the function.
pub fn around(unit: &Unit, scope: Meta) -> Vec<Val> {
    let mut out = Vec::new();
    let mut next = Some(unit.as_value(scope));
    while let Some(scope) = next.filter(|s| !is_subprogram(*s)) {
        out.push(scope);
        next = enclosing(scope);
    }
    out
}

/// The parent of a scope that is not a function's.
pub fn enclosing(scope: Val) -> Option<Val> {
    md_operands(scope).get(BLOCK_SCOPE).copied().flatten()
}

/// Adds uses at the ends of scopes. Runs before promotion.
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
        // Variables declared in this block and not assigned since.
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
            // The first assignment does not end an earlier value.
            if i.opcode() == Opcode::LLVMStore
                && locals.contains(&i.operand(1))
                && !fresh.remove(&i.operand(1))
            {
                ends.push((i, i.operand(1)));
            }
        }
    }
    // Temporaries of the front end are excluded.
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

/// Removes the uses. Runs after promotion.
pub fn clear(unit: &Unit) {
    for f in unit.functions().into_iter().filter(|f| f.name().starts_with(PREFIX)) {
        for call in f.users() {
            call.erase();
        }
        f.delete_function();
    }
}
