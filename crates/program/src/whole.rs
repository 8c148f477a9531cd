//! All modules of a program, linked: functions numbered consecutively, symbols resolved.
//!
//! Symbols are resolved by address, as the loader resolved them: two symbols with the same address
//! are the same entity, and the first function with an address owns it.

use crate::inst::Operand;
use crate::model::{Function, Module, SymbolKind};
use std::collections::{BTreeMap, HashMap};

/// A module and the addresses of its symbols in the running program.
#[derive(Clone, Copy)]
pub struct Part<'m> {
    /// The model.
    pub model: &'m Module,
    /// The address of each symbol; 0 if it has none.
    pub addresses: &'m [u64],
    first: u32,
}

/// See the module documentation.
pub struct LinkedProgram<'m> {
    parts: Vec<Part<'m>>,
    /// Part and local index of each function.
    functions: Vec<(u32, u32)>,
    by_address: HashMap<u64, u32>,
    externals: HashMap<u64, &'m str>,
    /// Variables of static storage: address to size.
    data: BTreeMap<u64, u64>,
}

/// The target of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callee<'m> {
    /// A modelled function.
    Function(u32),
    /// A function without a model, by name.
    External(&'m str),
    /// An indirect call.
    Pointer,
}

impl<'m> LinkedProgram<'m> {
    /// Links modules. Functions are numbered in module order.
    #[must_use]
    pub fn new(modules: impl IntoIterator<Item = (&'m Module, &'m [u64])>) -> LinkedProgram<'m> {
        let mut whole = LinkedProgram {
            parts: Vec::new(),
            functions: Vec::new(),
            by_address: HashMap::new(),
            externals: HashMap::new(),
            data: BTreeMap::new(),
        };
        for (model, addresses) in modules {
            let part = whole.parts.len() as u32;
            whole.parts.push(Part { model, addresses, first: whole.functions.len() as u32 });
            for (f, function) in model.functions.iter().enumerate() {
                let number = whole.functions.len() as u32;
                whole.functions.push((part, f as u32));
                match addresses.get(function.symbol as usize) {
                    None | Some(0) => {}
                    Some(address) => {
                        whole.by_address.entry(*address).or_insert(number);
                    }
                }
            }
            for (symbol, address) in model.symbols.iter().zip(addresses) {
                match symbol.kind {
                    _ if *address == 0 => {}
                    SymbolKind::External => {
                        whole.externals.entry(*address).or_insert(&symbol.name);
                    }
                    SymbolKind::Data { size, .. } => {
                        let known = whole.data.entry(*address).or_default();
                        *known = size.max(*known);
                    }
                    SymbolKind::ExternalData => {
                        whole.data.entry(*address).or_default();
                    }
                    SymbolKind::Function(_) | SymbolKind::ThreadLocal { .. } => {}
                }
            }
        }
        whole
    }

    /// The number of functions.
    #[must_use]
    pub fn functions(&self) -> u32 {
        self.functions.len() as u32
    }

    /// The function with a number, which must be below [`LinkedProgram::functions`].
    #[must_use]
    pub fn function(&self, number: u32) -> &'m Function {
        let (part, index) = self.functions[number as usize];
        &self.parts[part as usize].model.functions[index as usize]
    }

    /// The module that contains a function.
    #[must_use]
    pub fn part(&self, number: u32) -> Part<'m> {
        self.parts[self.functions[number as usize].0 as usize]
    }

    /// All modules.
    #[must_use]
    pub fn parts(&self) -> &[Part<'m>] {
        &self.parts
    }

    /// The global number of a part's function.
    #[must_use]
    pub fn number(&self, part: u32, function: u32) -> u32 {
        self.parts[part as usize].first + function
    }

    /// The function at an address.
    #[must_use]
    pub fn function_at(&self, address: u64) -> Option<u32> {
        self.by_address.get(&address).copied()
    }

    /// The name of the function without a model at an address.
    #[must_use]
    pub fn external_at(&self, address: u64) -> Option<&'m str> {
        self.externals.get(&address).copied()
    }

    /// Variables of static storage by address, with sizes; 0 if unknown.
    pub fn data(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.data.iter().map(|(a, n)| (*a, *n))
    }

    /// The size of the variable that begins at an address.
    #[must_use]
    pub fn data_size(&self, address: u64) -> Option<u64> {
        self.data.get(&address).copied()
    }

    /// Resolves the callee operand of a call in a function.
    #[must_use]
    pub fn callee(&self, function: u32, operand: Operand) -> Callee<'m> {
        let part = self.part(function);
        let Operand::Symbol { symbol, offset: 0 } = operand else { return Callee::Pointer };
        let address = part.addresses.get(symbol as usize).copied().unwrap_or(0);
        match (part.model.symbols.get(symbol as usize), self.function_at(address)) {
            (_, Some(number)) => Callee::Function(number),
            (Some(s), None) => match s.kind {
                // A symbol without an address is visible only in its own module.
                SymbolKind::Function(f) => Callee::Function(part.first + f),
                _ => Callee::External(&s.name),
            },
            (None, None) => Callee::Pointer,
        }
    }
}
