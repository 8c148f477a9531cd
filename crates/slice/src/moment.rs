//! A moment of a replay as scope of C expressions.

use crate::criterion::Wanted;
use crate::touched::Touched;
use expression::types::Type;
use expression::{Evaluated, Expression, Home, Read, Scope, Variable};
use program::inst::Operand;
use program::model::{self, Function, Module, SymbolKind};
use replay::constants::Initial;
use replay::observer::View;
use replay::vars::{self, Bindings, Data, Limits, Value};

/// When an expression is evaluated, relative to an instruction.
#[derive(Clone, Copy)]
pub enum Side {
    /// Before the instruction of the view.
    Before,
    /// After it, before control is transferred.
    After,
}

/// See the module's documentation.
pub struct Moment<'v, 'b> {
    /// The instruction and the machine's state.
    pub view: View<'v>,
    /// The variables' locations in the function of `view`.
    pub bindings: &'b Bindings<'b>,
    /// Instructions at which names are looked up, in this order: a block scope may begin within a line.
    pub lookups: &'b [u32],
    /// Before or after the instruction of `view`.
    pub side: Side,
    /// Memory that was read or written before.
    pub touched: &'b Touched<'b>,
}

impl<'v> Moment<'v, '_> {
    fn local(&self, name: &str) -> Option<u32> {
        let f = self.view.function();
        self.lookups.iter().find_map(|index| f.variable_named(name, *index))
    }

    fn home(&self, variable: u32) -> Home {
        let value = match self.side {
            Side::Before => vars::value(&self.view, self.bindings, variable),
            Side::After => vars::value_after(&self.view, self.bindings, variable),
        };
        match value {
            Value::At(address) => Home::Memory(address),
            Value::Bytes { bytes, known } => Home::Registers { bytes, known },
            Value::Gone => Home::Nowhere,
        }
    }

    /// Evaluates an expression.
    ///
    /// # Errors
    /// If the expression is wrong, or has no value here.
    pub fn evaluate(&self, expression: &Expression) -> expression::Result<Evaluated<'v>> {
        expression::evaluate(expression, self)
    }

    /// The value of an expression as text; `None` if it has no value here.
    ///
    /// # Errors
    /// If the expression is wrong.
    pub fn show(&self, expression: &Expression, limits: Limits) -> expression::Result<Option<String>> {
        match self.evaluate(expression) {
            Ok(value) => Ok(Some(shown(&value, Data::of(&self.view), limits))),
            Err(error) => match &error.kind {
                expression::Kind::NoValue(_) => Ok(None),
                expression::Kind::Null(_) | expression::Kind::DivisionByZero => {
                    Ok(Some(format!("<{error}>")))
                }
                _ => Err(error),
            },
        }
    }

    /// The criteria for the bytes that an evaluation read.
    #[must_use]
    pub fn wanted(&self, reads: &[Read]) -> Vec<Wanted> {
        let mut wanted = Vec::new();
        for read in reads {
            match *read {
                Read::Memory { address, len } => wanted.push(Wanted::Memory { address, len }),
                Read::Bits { address, mask } => wanted.push(Wanted::Bits { address, mask }),
                Read::Variable { number, offset, len } => {
                    self.registers(number, offset..offset + len, &mut wanted)
                }
            }
        }
        wanted
    }

    fn registers(&self, variable: u32, bytes: std::ops::Range<u64>, wanted: &mut Vec<Wanted>) {
        for binding in self.bindings.at(self.view.index, variable) {
            let part = binding.part.map_or(0..u64::MAX, |(offset, bits)| {
                let start = u64::from(offset / 8);
                start..start + u64::from(bits.div_ceil(8))
            });
            if part.start >= bytes.end || part.end <= bytes.start {
                continue;
            }
            let memory = |address: u64| Wanted::Memory {
                address: address.wrapping_add(part.start),
                len: part.end - part.start,
            };
            match binding.home {
                model::Home::Value(Operand::Reg(r), ty) => {
                    wanted.push(Wanted::Registers((r..r + ty.slots()).collect()));
                }
                // A constant originates in the line itself.
                model::Home::Value(..) => wanted.push(Wanted::Ran),
                model::Home::Memory(o, d) => wanted.push(memory(self.view.value(o).wrapping_add_signed(d))),
                model::Home::Frame(d) => wanted.push(memory(self.view.frame.wrapping_add(d))),
                model::Home::Nowhere => {}
            }
        }
    }
}

impl<'v> Scope<'v> for Moment<'v, '_> {
    fn module(&self) -> &'v Module {
        self.view.module()
    }

    fn modules(&self) -> Vec<&'v Module> {
        let image = self.view.image;
        image.modules().map(|(index, _)| image.module(index)).collect()
    }

    fn variable(&self, name: &str) -> Option<Variable<'v>> {
        let module = self.view.module();
        if let Some(number) = self.local(name) {
            let ty = Type::of(module, self.view.function().variables[number as usize].ty);
            return Some(Variable { ty, home: self.home(number), number });
        }
        // A `static` variable of a function is a symbol with the function's name as prefix.
        let inner = format!("{}.{name}", self.view.function().name);
        let (ty, home) = self
            .symbol(self.view.code.module, &inner)
            .or_else(|| self.symbol(self.view.code.module, name))?;
        Some(Variable { ty, home, number: u32::MAX })
    }

    fn read(&self, address: u64, out: &mut [u8]) -> bool {
        out.copy_from_slice(&Data::of(&self.view).read(address, out.len()));
        for (n, byte) in out.iter_mut().enumerate().filter(|(_, byte)| **byte == 0) {
            match self.touched.initial(address.wrapping_add(n as u64)) {
                Some(Initial::Byte(initial)) => *byte = initial,
                // The address it points to is not known.
                Some(Initial::Address) => return false,
                None => {}
            }
        }
        true
    }
}

impl<'v> Moment<'v, '_> {
    /// The file-scope meaning of a name in a module.
    fn symbol(&self, module: u32, name: &str) -> Option<(Type<'v>, Home)> {
        let image = self.view.image;
        let model = image.module(module);
        let number = model.symbols.iter().position(|s| s.name == name)?;
        let address = image.symbol(module, number as u32);
        let home = |address: u64| if address == 0 { Home::Nowhere } else { Home::Memory(address) };
        Some(match model.symbols[number].kind {
            SymbolKind::Data { ty, .. } => (Type::of(model, ty), home(address)),
            SymbolKind::ThreadLocal { ty, .. } => (Type::of(model, ty), Home::Nowhere),
            SymbolKind::Function(_) | SymbolKind::External => (Type::Function, home(address)),
            SymbolKind::ExternalData => {
                let types = image.modules().filter_map(|(index, _)| {
                    let model = image.module(index);
                    model.symbols.iter().find_map(|s| match s.kind {
                        SymbolKind::Data { ty, .. } if s.name == name => Some(Type::of(model, ty)),
                        _ => None,
                    })
                });
                (types.into_iter().next().unwrap_or(Type::Void), home(address))
            }
        })
    }
}

/// Formats a value as text.
pub(crate) fn shown(value: &Evaluated<'_>, data: Data<'_>, limits: Limits) -> String {
    let Evaluated { ty, bytes, known, .. } = value;
    let mut wide = [0; 16];
    let n = bytes.len().min(16);
    wide[..n].copy_from_slice(&bytes[..n]);
    let raw = u128::from_le_bytes(wide);
    match ty {
        Type::Declared(module, ty) => {
            let value = Value::Bytes { bytes: bytes.clone(), known: known.clone() };
            vars::show(module, data, Some(*ty), &value, limits)
        }
        Type::Integer { signed: true, .. } => replay::arith::signed(raw, 8 * n.max(1) as u16).to_string(),
        Type::Integer { .. } => raw.to_string(),
        Type::Float { bytes: 4 } => f32::from_bits(raw as u32).to_string(),
        Type::Float { .. } => f64::from_bits(raw as u64).to_string(),
        Type::Pointer(to) => match to.as_ref() {
            Type::Declared(module, to) => vars::show_pointer(module, data, Some(*to), raw as u64, limits),
            _ => vars::show_pointer(&Module::default(), data, None, raw as u64, limits),
        },
        Type::Function | Type::Void => format!("{raw:#x}"),
    }
}

/// Names in scope at an instruction: those of the function first, then those of the file.
pub(crate) fn names(
    module: &Module,
    function: &Function,
    bindings: &Bindings<'_>,
    index: u32,
) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut add = |name: &str| {
        if !name.is_empty() && !name.starts_with('.') && !names.iter().any(|n| n == name) {
            names.push(name.to_owned());
        }
    };
    for (number, variable) in function.variables.iter().enumerate() {
        if bindings.at(index, number as u32).iter().any(|b| b.home != model::Home::Nowhere) {
            add(&variable.name);
        }
    }
    let own = format!("{}.", function.name);
    for symbol in &module.symbols {
        if matches!(symbol.kind, SymbolKind::Data { line: 1.., .. }) {
            // Static variables of other functions are out of scope.
            match symbol.name.strip_prefix(&own) {
                Some(name) => add(name),
                None if !symbol.name.contains('.') => add(&symbol.name),
                None => {}
            }
        }
    }
    names
}
