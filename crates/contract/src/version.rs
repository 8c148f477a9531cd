//! One version's program as contracts see it: its functions, its global variables, their names.

use crate::error::{Error, Result};
use crate::state::{Root, RootKind, parameter_address};
use expression::types::Type;
use program::inst::{Inst, Operand, Ty};
use program::model::{Function, Home, Module, SymbolKind, Variable};
use program::names::readable;
use replay::image::Image;
use std::collections::{BTreeMap, HashMap};

/// See the module's documentation.
pub struct Version<'m> {
    /// The loaded program.
    pub image: &'m Image,
    /// The models of all its modules, in the order of the image.
    pub modules: Vec<&'m Module>,
    /// By address.
    pub globals: Vec<Global<'m>>,
    by_name: HashMap<String, usize>,
}

/// A global variable, or a `static` one.
#[derive(Clone, Debug)]
pub struct Global<'m> {
    /// The linkage name; a `static` variable of a function is called `function.name`.
    pub name: String,
    /// Its first byte in this run.
    pub address: u64,
    /// Its size in bytes.
    pub size: u64,
    /// Its declared type.
    pub ty: Type<'m>,
}

/// A function whose calls are observed.
#[derive(Clone, Debug)]
pub struct ObservedFunction<'m> {
    /// Index of the module in the image.
    pub module: u32,
    /// Index of the function in the module.
    pub number: u32,
    /// The model of the module.
    pub model: &'m Module,
    /// The model of the function.
    pub function: &'m Function,
    /// Number of leading instructions that only store parameters in their homes.
    pub prologue: u32,
    /// Registers that hold parameters after the prologue.
    pub passed: Vec<u32>,
    /// The parameters in the source, in order.
    pub parameters: Vec<Parameter<'m>>,
}

/// A parameter in the source.
#[derive(Clone, Debug)]
pub struct Parameter<'m> {
    /// The name in the source.
    pub name: String,
    /// The declared type.
    pub ty: Type<'m>,
    /// Index into the function's variables.
    pub variable: u32,
}

impl<'m> Version<'m> {
    /// Collects the variables of the source that are not constant.
    #[must_use]
    pub fn new(image: &'m Image) -> Version<'m> {
        let mut globals = Vec::new();
        let mut modules = Vec::new();
        for (index, _) in image.modules() {
            let model = image.module(index);
            modules.push(model);
            for (number, symbol) in model.symbols.iter().enumerate() {
                let SymbolKind::Data { size, ty, line: 1.., .. } = symbol.kind else { continue };
                let address = image.symbol(index, number as u32);
                if address != 0 && image.constant(address).is_none() {
                    globals.push(Global {
                        name: symbol.name.clone(),
                        address,
                        size,
                        ty: Type::of(model, ty),
                    });
                }
            }
        }
        globals.sort_by_key(|g: &Global<'_>| g.address);
        globals.dedup_by_key(|g| g.address);
        let mut by_name = HashMap::new();
        for (n, global) in globals.iter().enumerate() {
            by_name.entry(global.name.clone()).or_insert(n);
        }
        Version { image, modules, globals, by_name }
    }

    /// A global variable by name.
    #[must_use]
    pub fn global(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// The type of a thread-local variable, including `errno`.
    #[must_use]
    pub fn thread_local(&self, name: &str) -> Option<Type<'m>> {
        if name == crate::watch::ERRNO && !self.by_name.contains_key(name) {
            return Some(expression::types::INT);
        }
        self.modules.iter().find_map(|model| {
            model.symbols.iter().find_map(|symbol| match symbol.kind {
                SymbolKind::ThreadLocal { ty, .. } if symbol.name == name => Some(Type::of(model, ty)),
                _ => None,
            })
        })
    }

    /// The function at an address, with the number of its module.
    #[must_use]
    pub fn function_at(&self, address: u64) -> Option<(u32, &'m Function)> {
        let code = self.image.code(self.image.function_at(address)?);
        self.image.module(code.module).functions.get(code.function as usize).map(|f| (code.module, f))
    }

    /// The variable that contains an address.
    #[must_use]
    pub fn global_at(&self, address: u64) -> Option<usize> {
        let n = self.globals.partition_point(|g| g.address <= address).checked_sub(1)?;
        (address - self.globals[n].address < self.globals[n].size).then_some(n)
    }

    /// Functions with a model, by their name in the source.
    #[must_use]
    pub fn functions(&self) -> BTreeMap<String, Vec<ObservedFunction<'m>>> {
        let mut all: BTreeMap<String, Vec<ObservedFunction<'m>>> = BTreeMap::new();
        for (index, _) in self.image.modules() {
            if self.image.canonical(index) != index {
                continue;
            }
            let model = self.image.module(index);
            for (number, function) in model.functions.iter().enumerate() {
                if function.line > 0 {
                    let watched = ObservedFunction::new(index, number as u32, model, function);
                    all.entry(readable(&function.name).into_owned()).or_default().push(watched);
                }
            }
        }
        all
    }

    /// The functions with a name; for C++, with or without the namespaces.
    ///
    /// # Errors
    /// If there is none, or it has no model.
    pub fn named(&self, name: &str, version: &'static str) -> Result<Vec<ObservedFunction<'m>>> {
        let functions = self.functions();
        let found: Vec<ObservedFunction<'m>> = functions
            .iter()
            .filter(|(known, all)| {
                *known == name
                    || known.ends_with(&format!("::{name}"))
                    || all.iter().any(|w| w.function.name == name)
            })
            .flat_map(|(_, all)| all.clone())
            .collect();
        if !found.is_empty() {
            return Ok(found);
        }
        for module in &self.modules {
            if let Some(opaque) = module.opaque.iter().find(|o| readable(&o.name) == name) {
                let reason = opaque.reason.clone();
                return Err(Error::Opaque { name: name.to_owned(), version, reason });
            }
        }
        let similar = similar(name, functions.keys().map(String::as_str));
        Err(Error::NoFunction { name: name.to_owned(), version, similar })
    }
}

/// Similar names, as suggestions.
fn similar<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Vec<String> {
    let distance = |a: &str, b: &str| {
        let b: Vec<char> = b.chars().collect();
        let mut row: Vec<usize> = (0..=b.len()).collect();
        for (i, x) in a.chars().enumerate() {
            let mut diagonal = row[0];
            row[0] = i + 1;
            for (j, y) in b.iter().enumerate() {
                let next = (diagonal + usize::from(x != *y)).min(row[j] + 1).min(row[j + 1] + 1);
                diagonal = row[j + 1];
                row[j + 1] = next;
            }
        }
        row[b.len()]
    };
    let mut near: Vec<(usize, &str)> = known.map(|k| (distance(name, k), k)).collect();
    near.sort_unstable();
    let limit = name.len() / 2 + 1;
    near.into_iter().filter(|n| n.0 <= limit).take(3).map(|n| n.1.to_owned()).collect()
}

impl<'m> ObservedFunction<'m> {
    fn new(module: u32, number: u32, model: &'m Module, function: &'m Function) -> ObservedFunction<'m> {
        let mut variables: Vec<(u32, &Variable)> = function
            .variables
            .iter()
            .enumerate()
            .filter(|v| v.1.arg > 0)
            .map(|(n, v)| (n as u32, v))
            .collect();
        variables.sort_by_key(|v| v.1.arg);
        variables.dedup_by_key(|v| v.1.arg);
        let parameters = variables
            .into_iter()
            .map(|(variable, v)| Parameter { name: v.name.clone(), ty: Type::of(model, v.ty), variable })
            .collect();
        let (prologue, passed) = prologue(function);
        ObservedFunction { module, number, model, function, prologue, passed, parameters }
    }

    /// The type of its result; none for `void`.
    #[must_use]
    pub fn result(&self) -> Option<Type<'m>> {
        match (self.function.result, self.function.ret.first()) {
            (Some(ty), _) => Some(Type::of(self.model, Some(ty))),
            (None, Some(ty)) => Some(Type::Integer { bytes: ty.bytes().min(16) as u8, signed: true }),
            (None, None) => None,
        }
    }

    /// Parameters as roots of states.
    #[must_use]
    pub fn roots(&self) -> Vec<Root<'m>> {
        let root = |(n, p): (usize, &Parameter<'m>)| Root {
            kind: RootKind::Parameter(n),
            name: p.name.clone(),
            ty: p.ty.clone(),
            address: parameter_address(n),
        };
        self.parameters.iter().enumerate().map(root).collect()
    }

    /// Whether a register holds a parameter after the prologue: all others have no value yet.
    pub(crate) fn is_passed(&self, operand: Operand) -> bool {
        matches!(operand, Operand::Reg(r) if self.passed.contains(&r))
    }

    /// The homes of a parameter after the prologue: those that are bound first.
    pub(crate) fn homes(&self, parameter: &Parameter<'m>) -> Vec<(Home, Option<(u32, u32)>)> {
        let of_it = || self.function.bindings.iter().filter(|b| b.variable == parameter.variable);
        let Some(first) = of_it().map(|b| b.at).min() else { return Vec::new() };
        let whole = of_it().find(|b| b.at == first && b.part.is_none());
        match whole {
            Some(whole) => vec![(whole.home, None)],
            None => {
                let mut parts: Vec<(Home, Option<(u32, u32)>)> = Vec::new();
                for b in of_it() {
                    if !parts.iter().any(|(_, part)| *part == b.part) {
                        parts.push((b.home, b.part));
                    }
                }
                parts
            }
        }
    }
}

/// The number of leading instructions that only store parameters in the function's own frame or widen them,
/// and the registers that hold parameters then.
fn prologue(function: &Function) -> (u32, Vec<u32>) {
    let mut parameters: Vec<u32> =
        function.params.iter().flat_map(|p| p.reg..p.reg + p.ty.slots().max(1)).collect();
    let mut in_frame: Vec<u32> = Vec::new();
    let mut len = 0;
    let block = function.blocks.first().map_or(0, |b| b.end);
    for (n, inst) in function.code.iter().take(block as usize).enumerate() {
        match inst {
            Inst::Frame { dst, .. } => in_frame.push(*dst),
            Inst::Address { dst, base: Operand::Reg(base), index: Operand::Const(_), .. }
                if in_frame.contains(base) =>
            {
                in_frame.push(*dst);
            }
            Inst::Store { addr: Operand::Reg(addr), value: Operand::Reg(value), .. }
                if in_frame.contains(addr) && parameters.contains(value) =>
            {
                len = n as u32 + 1;
            }
            // A `bool` is passed as one bit.
            Inst::Cast { from: Ty::Int(1), dst, a: Operand::Reg(passed), .. }
                if parameters.contains(passed) =>
            {
                parameters.push(*dst);
                len = n as u32 + 1;
            }
            Inst::Alloca { .. } | Inst::StackSave { .. } | Inst::Fence | Inst::Tick => {}
            _ => break,
        }
    }
    (len, parameters)
}
