//! Lowers LLVM IR to the program model.
//!
//! The result is one [`program::Module`] per translation unit. A function whose IR contains a
//! construct that the model lacks becomes *opaque*: it is compiled without instrumentation and
//! treated as external code, with the reason recorded in the model.
//!
//! [`Lowered`] also contains the site of each LLVM instruction, the frame layout and the loop
//! headers for instrumentation, so that native code and model agree by construction.

mod bits;
mod constants;
mod debug;
mod function;
mod intrinsics;
mod memory;
mod scopes;
mod types;

pub use constants::constant_gep;
pub use types::leaves;

use crate::llvm::{Blk, Linkage, Unit, Val};
use debug::DebugInfo;
use program::model::{Module, Opaque, Symbol, SymbolKind};
use std::collections::{HashMap, HashSet};

/// The model of a unit, and its mapping to the IR.
pub struct Lowered {
    pub module: Module,
    /// The IR value of each symbol, in the order of `module.symbols`.
    pub symbols: Vec<Val>,
    /// Entries of `symbols` that denote the code in this unit, not the name.
    pub own: Vec<u32>,
    /// Modelled functions, in the order of `module.functions`.
    pub functions: Vec<FunctionMap>,
}

/// The data that instrumentation needs for one function.
pub struct FunctionMap {
    pub function: Val,
    pub sites: HashMap<Val, u32>,
    /// By index in the model's code, the LLVM instruction whose lowering ends there.
    pub origins: HashMap<u32, Val>,
    /// Sites at which exceptions from invokes land.
    pub landings: HashMap<Val, u32>,
    /// Fixed offsets of entry-block allocas in the frame.
    pub frame: HashMap<Val, u64>,
    pub headers: HashSet<Blk>,
    /// Symbol of each thread-local variable that is used.
    pub thread_locals: HashMap<Val, u32>,
}

/// Assigns numbers to all entities with an address, on first use.
pub struct Symbols {
    pub list: Vec<Symbol>,
    pub values: Vec<Val>,
    index: HashMap<Val, u32>,
    own: Vec<u32>,
}

impl Symbols {
    /// Adds a symbol for the code of a weak function in this unit, distinct from the address of its
    /// name.
    fn own(&mut self, f: Val, kind: SymbolKind) -> u32 {
        let i = self.list.len() as u32;
        self.list.push(Symbol { name: f.name(), kind });
        self.values.push(f);
        self.own.push(i);
        i
    }

    pub fn of(&mut self, v: Val, unit: &Unit) -> u32 {
        if let Some(i) = self.index.get(&v) {
            return *i;
        }
        let kind = if v.is_function() {
            SymbolKind::External
        } else if v.is_thread_local() {
            SymbolKind::ThreadLocal { size: unit.size_of(v.value_type()), ty: None }
        } else if v.is_global_variable() && !v.is_declaration() {
            SymbolKind::Data { size: unit.size_of(v.value_type()), ty: None, line: 0, file: 0 }
        } else {
            SymbolKind::ExternalData
        };
        let i = self.list.len() as u32;
        self.list.push(Symbol { name: v.name(), kind });
        self.values.push(v);
        self.index.insert(v, i);
        i
    }
}

/// Lowers every function that can be modelled. A function whose model fails validation becomes
/// opaque too, since a reader would reject it.
pub fn run(unit: &Unit) -> Lowered {
    let mut refused = HashMap::new();
    loop {
        let lowered = attempt(unit, &refused);
        let before = refused.len();
        for f in &lowered.module.functions {
            if let Err(e) = lowered.module.validate_function(f) {
                refused.insert(f.name.clone(), format!("its model is unsound: {e}"));
            }
        }
        if refused.len() == before {
            return lowered;
        }
    }
}

fn attempt(unit: &Unit, refused: &HashMap<String, String>) -> Lowered {
    let mut symbols =
        Symbols { list: Vec::new(), values: Vec::new(), index: HashMap::new(), own: Vec::new() };
    let mut debug = DebugInfo::new(unit);
    let mut module = Module { name: unit.source_name(), ..Module::default() };
    let mut functions = Vec::new();
    let resolvers: HashSet<Val> = unit.ifuncs().into_iter().map(|i| i.operand(0)).collect();
    let mut next_site = 0;
    for f in unit.functions() {
        if f.is_defined_elsewhere() {
            continue;
        }
        let name = f.name();
        let result = if let Some(reason) = refused.get(&name) {
            Err(reason.clone())
        } else if resolvers.contains(&f) {
            Err("it resolves an ifunc, before the program can be recorded".to_owned())
        } else {
            function::lower(unit, &mut symbols, &mut debug, f, next_site)
        };
        match result {
            Ok((mut model, map)) => {
                let kind = SymbolKind::Function(module.functions.len() as u32);
                let symbol = if matches!(f.linkage(), Linkage::LLVMWeakAnyLinkage) {
                    // Another unit may override it: the name then denotes that definition, and only
                    // the alias denotes this code.
                    symbols.own(f, kind)
                } else {
                    let symbol = symbols.of(f, unit);
                    symbols.list[symbol as usize].kind = kind;
                    symbol
                };
                model.symbol = symbol;
                next_site += model.code.len() as u32;
                module.functions.push(model);
                functions.push(map);
            }
            Err(reason) => module.opaque.push(Opaque { name, reason }),
        }
    }
    for g in unit.globals() {
        let Some((ty, file, line)) = debug.global(g) else { continue };
        if !g.name().starts_with("llvm.") {
            let i = symbols.of(g, unit) as usize;
            match &mut symbols.list[i].kind {
                SymbolKind::Data { ty: t, line: l, file: f, .. } => (*t, *l, *f) = (ty, line, file),
                SymbolKind::ThreadLocal { ty: t, .. } => *t = ty,
                _ => {}
            }
        }
    }
    module.initial = initial(unit, &mut symbols);
    module.symbols = symbols.list;
    debug.finish(&mut module);
    Lowered { module, symbols: symbols.values, own: symbols.own, functions }
}

/// The addresses in initial values of the relevant variables of this unit: those that have a
/// symbol, and those reachable from them.
fn initial(unit: &Unit, symbols: &mut Symbols) -> Vec<(u32, u32)> {
    let mut pairs = Vec::new();
    let mut next = 0;
    while let Some(variable) = symbols.values.get(next).copied() {
        let value = if variable.is_global_variable() { variable.initializer() } else { None };
        let mut work: Vec<Val> = value.into_iter().collect();
        let mut seen = HashSet::new();
        while let Some(v) = work.pop() {
            if !v.is_constant() || !seen.insert(v) {
                continue;
            }
            if !v.is_global() {
                work.extend(v.operands());
            } else if v.is_function() || !v.is_global_variable() || !v.is_thread_local() {
                pairs.push((next as u32, symbols.of(v, unit)));
            }
        }
        next += 1;
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}
