//! Where variables live.

use crate::Result;
use crate::criterion::{Criterion, Occurrence, Wanted};
use crate::slice::Site;
use crate::slicer::Slicer;
use program::inst::Operand;
use program::model::{Function, Home, Module, SymbolKind};
use replay::image::Image;
use replay::machine::Machine;
use replay::observer::Null;
use replay::vars::Bindings;
use std::collections::HashSet;

/// A function whose variables are asked about.
pub(crate) struct Scope<'p> {
    image: &'p Image,
    module_number: u32,
    module: &'p Module,
    function: &'p Function,
    bindings: Bindings<'p>,
}

impl<'p> Scope<'p> {
    pub fn of(image: &'p Image, number: u32) -> Scope<'p> {
        let code = image.code(number);
        let module = image.module(code.module);
        let function = &module.functions[code.function as usize];
        let module_number = code.module;
        Scope { image, module_number, module, function, bindings: Bindings::of(function) }
    }

    /// Where a variable's value is before an instruction of an activation; none if it has
    /// no place there.
    pub fn place(
        &self,
        name: &str,
        index: u32,
        frame: u64,
        value: impl Fn(Operand) -> u64,
    ) -> Option<Vec<Wanted>> {
        let size =
            |ty: Option<u32>| ty.and_then(|t| self.module.types.get(t as usize)).map_or(8, |t| t.size.max(1));
        let variables = || self.function.variables.iter().enumerate().filter(|(_, v)| v.name == name);
        for (number, variable) in variables() {
            let mut wanted = Vec::new();
            for binding in self.bindings.at(index, number as u32) {
                let (skip, len) = binding
                    .part
                    .map_or((0, size(variable.ty)), |(o, n)| (u64::from(o / 8), u64::from(n.div_ceil(8))));
                let memory = |address: u64| Wanted::Memory { address: address.wrapping_add(skip), len };
                match binding.home {
                    Home::Value(Operand::Reg(r), ty) => {
                        wanted.push(Wanted::Registers((r..r + ty.slots()).collect()));
                    }
                    // A constant comes from nowhere else than the line itself.
                    Home::Value(..) => wanted.push(Wanted::Ran),
                    Home::Memory(o, d) => {
                        wanted.push(memory(value(o).wrapping_add_signed(d)));
                    }
                    Home::Frame(d) => wanted.push(memory(frame.wrapping_add(d))),
                    Home::Nowhere => {}
                }
            }
            if !wanted.is_empty() {
                return Some(wanted);
            }
        }
        if variables().next().is_some() {
            return None;
        }
        let symbols = self.module.symbols.iter().enumerate();
        symbols.filter(|(_, s)| s.name == name).find_map(|(i, s)| match s.kind {
            SymbolKind::Data { size, .. } => {
                let address = self.image.symbol(self.module_number, i as u32);
                Some(vec![Wanted::Memory { address, len: size.max(1) }])
            }
            _ => None,
        })
    }

    /// Names of the variables that have a place before an instruction: those of the
    /// function first, then those of the file.
    fn names(&self, index: u32) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        let mut add = |name: &str| {
            if !name.is_empty() && !name.starts_with('.') && !names.iter().any(|n| n == name) {
                names.push(name.to_owned());
            }
        };
        for (number, variable) in self.function.variables.iter().enumerate() {
            if self.bindings.at(index, number as u32).iter().any(|b| b.home != Home::Nowhere) {
                add(&variable.name);
            }
        }
        for symbol in &self.module.symbols {
            if matches!(symbol.kind, SymbolKind::Data { line: 1.., .. }) {
                add(&symbol.name);
            }
        }
        names
    }
}

impl Slicer<'_> {
    /// A variable's value before a line ran for the last time; none if the line
    /// never ran, or the variable has no place to look at there.
    ///
    /// # Errors
    /// If replay fails.
    pub fn ask_variable(&self, file: &str, line: u32, name: &str) -> Result<Option<Criterion>> {
        let sites: HashSet<Site> = self.sites_at(file, line).into_iter().collect();
        let Some(visit) = self.find_visit(&sites)? else { return Ok(None) };
        let stream = visit.first.stream;
        let mut machine = self.machine_at(visit.first)?;
        for step in visit.first.step..=visit.last.step {
            machine.run(&mut Null, step)?;
            let is_there = machine.view().is_some_and(|v| v.depth == visit.depth && sites.contains(&at(&v)));
            if is_there && let Some(wanted) = self.place_at(&machine, name) {
                return Ok(Some(Criterion { at: Occurrence { stream, step }, wanted }));
            }
        }
        Ok(None)
    }

    /// Where a variable's value is in a machine that stands still.
    fn place_at(&self, machine: &Machine<'_>, name: &str) -> Option<Vec<Wanted>> {
        let view = machine.view()?;
        let number = self.process.image.function(view.code.module, view.code.function)?;
        let scope = Scope::of(&self.process.image, number);
        scope.place(name, view.index, view.frame, |o| view.value(o))
    }

    /// Names of the variables that have a value before a line, as it ran last: those of the
    /// function first, then those of the file.
    ///
    /// # Errors
    /// If replay fails.
    pub fn variables_at(&self, file: &str, line: u32) -> Result<Vec<String>> {
        let sites: HashSet<Site> = self.sites_at(file, line).into_iter().collect();
        let Some(visit) = self.find_visit(&sites)? else { return Ok(Vec::new()) };
        let machine = self.machine_at(visit.first)?;
        let Some(view) = machine.view() else { return Ok(Vec::new()) };
        let number = self.process.image.function(view.code.module, view.code.function);
        Ok(number.map_or_else(Vec::new, |n| Scope::of(&self.process.image, n).names(view.index)))
    }
}

fn at(view: &replay::observer::View<'_>) -> Site {
    Site { module: view.code.module, function: view.code.function, index: view.index }
}
