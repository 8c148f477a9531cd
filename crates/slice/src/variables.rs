//! Where variables live.

use crate::Result;
use crate::criterion::{Criterion, Occurrence, Wanted};
use crate::slice::Site;
use crate::slicer::Slicer;
use index::Ran;
use program::inst::Operand;
use program::model::{Function, Home, Module, SymbolKind};
use replay::image::Image;
use replay::machine::Machine;
use replay::observer::Null;
use replay::vars::Bindings;
use std::collections::HashSet;

/// A function whose variables are asked about.
pub(crate) struct Scope<'p> {
    /// Its number in the image.
    pub number: u32,
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
        Scope { number, image, module_number, module, function, bindings: Bindings::of(function) }
    }

    /// Where a variable's value is before an instruction of an activation; none if it has
    /// no place there. The error says that the value of a register decides, and `value`
    /// does not know it.
    pub fn place(
        &self,
        name: &str,
        index: u32,
        frame: u64,
        value: impl Fn(Operand) -> Option<u64>,
    ) -> std::result::Result<Option<Vec<Wanted>>, ByPointer> {
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
                        let address = value(o).ok_or(ByPointer)?;
                        wanted.push(memory(address.wrapping_add_signed(d)));
                    }
                    Home::Frame(d) => wanted.push(memory(frame.wrapping_add(d))),
                    Home::Nowhere => {}
                }
            }
            if !wanted.is_empty() {
                return Ok(Some(wanted));
            }
        }
        if variables().next().is_some() {
            return Ok(None);
        }
        let symbols = self.module.symbols.iter().enumerate();
        Ok(symbols.filter(|(_, s)| s.name == name).find_map(|(i, s)| match s.kind {
            SymbolKind::Data { size, .. } => {
                let address = self.image.symbol(self.module_number, i as u32);
                Some(vec![Wanted::Memory { address, len: size.max(1) }])
            }
            _ => None,
        }))
    }

    /// Values of operands that no run is needed for.
    fn known(&self, operand: Operand) -> Option<u64> {
        match operand {
            Operand::Reg(_) => None,
            Operand::Const(c) => Some(c),
            Operand::Symbol { symbol, offset } => {
                Some(self.image.symbol(self.module_number, symbol).wrapping_add_signed(offset))
            }
        }
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

/// The value of a pointer decides where a variable is.
#[derive(Debug)]
pub(crate) struct ByPointer;

/// What an index says of a variable.
type Told = std::result::Result<Vec<Wanted>, ByPointer>;

impl<'p> Slicer<'p> {
    /// A variable's value before a line ran for the last time; none if the line
    /// never ran, or the variable has no place to look at there.
    ///
    /// # Errors
    /// If replay fails.
    pub fn ask_variable(&self, file: &str, line: u32, name: &str) -> Result<Option<Criterion>> {
        let sites: HashSet<Site> = self.sites_at(file, line).into_iter().collect();
        let mut scope: Option<Scope<'p>> = None;
        // The earliest step of the visit that says where the variable is: it comes last.
        let mut told: Option<(u64, Told)> = None;
        let mut look = |ran: &Ran, index: u32| {
            if scope.as_ref().is_none_or(|s| s.number != ran.function) {
                scope = Some(Scope::of(&self.process.image, ran.function));
            }
            let Some(scope) = &scope else { return };
            let step = ran.step + u64::from(index - ran.first);
            if let Some(place) = scope.place(name, index, ran.frame, |o| scope.known(o)).transpose() {
                told = Some((step, place));
            }
        };
        let Some(visit) = self.find_visit(&sites, &mut look)? else { return Ok(None) };
        let stream = visit.first.stream;
        if self.reader(stream)?.is_some() {
            return Ok(match told {
                None => None,
                Some((step, Ok(wanted))) => Some(Criterion { at: Occurrence { stream, step }, wanted }),
                Some((step, Err(ByPointer))) => {
                    let at = Occurrence { stream, step };
                    let wanted = self.place_at(&self.machine_before(at)?, name);
                    wanted.map(|wanted| Criterion { at, wanted })
                }
            });
        }
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
        scope.place(name, view.index, view.frame, |o| Some(view.value(o))).ok()?
    }

    /// Names of the variables that have a value before a line, as it ran last: those of the
    /// function first, then those of the file.
    ///
    /// # Errors
    /// If replay fails.
    pub fn variables_at(&self, file: &str, line: u32) -> Result<Vec<String>> {
        let sites: HashSet<Site> = self.sites_at(file, line).into_iter().collect();
        let mut first = None;
        let mut look = |ran: &Ran, index: u32| first = Some((ran.function, index));
        let Some(visit) = self.find_visit(&sites, &mut look)? else { return Ok(Vec::new()) };
        if first.is_none() {
            let machine = self.machine_at(visit.first)?;
            let image = &self.process.image;
            first =
                machine.view().and_then(|v| Some((image.function(v.code.module, v.code.function)?, v.index)));
        }
        Ok(first.map_or_else(Vec::new, |(number, index)| Scope::of(&self.process.image, number).names(index)))
    }
}

fn at(view: &replay::observer::View<'_>) -> Site {
    Site { module: view.code.module, function: view.code.function, index: view.index }
}
