//! The values at an executed instruction as text; [`line`]: at the statement that contains it.

pub mod line;
mod next_line;
mod paths;

use crate::Result;
use crate::criterion::Occurrence;
use crate::slice::Site;
use crate::slicer::Slicer;
use program::inst::{Inst, Operand, Reg, Ty};
use program::model::{Function, Home, Module, Place, SymbolKind};
use program::names::readable;
use replay::machine::Machine;
use replay::observer::{Effect, ExternalCall, Observer, View};
use replay::vars::{self, Bindings, Data, Limits, Value, show_untyped};

/// A source location.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Where {
    /// Path as in the debug information; empty if unknown.
    pub file: String,
    /// From 1; 0 if unknown.
    pub line: u32,
    /// From 1; 0 if unknown.
    pub column: u32,
    /// Name of the function, demangled.
    pub function: String,
}

/// A value with its name in the source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named {
    /// A variable, or an expression such as `table[…]`; `None` if there is no name.
    pub name: Option<String>,
    /// Formatted by the variable's type if it has one, else by the instruction's operand type.
    pub value: String,
    /// The low 64 bits.
    pub raw: u64,
    /// The register, if the value was in one.
    pub reg: Option<Reg>,
}

/// See the module's documentation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// The execution; `None` only in a snapshot that was not taken.
    pub at: Option<Occurrence>,
    /// Its instruction; `None` at the end of a stream that has no activation left.
    pub site: Option<Site>,
    /// Its source location.
    pub place: Where,
    /// The location of each activation, innermost (which is `place`) first.
    pub stack: Vec<Where>,
    /// What the instruction read, in the order of the model's operands, without the callee of a call.
    pub operands: Vec<Named>,
    /// What it computed, loaded, stored, or received from outside the program; `None` for a call of a
    /// function of the program, whose `Return` has the value as its operand.
    pub result: Option<Named>,
    /// Whether a branch took its first target. For a switch, the value is the operand.
    pub branch: Option<bool>,
    /// Name of the callee, if this is a call.
    pub callee: Option<String>,
    /// Parameters and locals just before the instruction; those without a value there are left out.
    pub variables: Vec<Named>,
}

impl Slicer<'_> {
    /// Replays to each of the given executions and formats the values there, in the given order. One step
    /// past the last is allowed: the instruction that was about to run, without a result.
    ///
    /// # Errors
    /// If there is no such step, or replay fails.
    pub fn values(&self, at: &[Occurrence], limits: Limits) -> Result<Vec<Snapshot>> {
        let mut order: Vec<usize> = (0..at.len()).collect();
        order.sort_by_key(|i| at[*i]);
        let mut out = vec![Snapshot::default(); at.len()];
        let mut machine: Option<(u32, Machine<'_>)> = None;
        let mut before: Option<usize> = None;
        for i in order {
            let o = at[i];
            if let Some(b) = before.filter(|b| at[*b] == o) {
                out[i] = out[b].clone();
                continue;
            }
            let checkpoints = &self.prepared(o.stream)?.checkpoints;
            let mut here = match machine.take() {
                // Continuing is cheaper than restarting from a checkpoint nearby.
                Some((stream, mut m))
                    if stream == o.stream
                        && m.counters().instructions <= o.step
                        && o.step - m.counters().instructions < 1 << 16 =>
                {
                    m.run(&mut replay::observer::Null, o.step)?;
                    m
                }
                _ => checkpoints.machine_at(o.step)?,
            };
            out[i] = self.take_snapshot(o, &mut here, limits)?;
            machine = Some((o.stream, here));
            before = Some(i);
        }
        Ok(out)
    }

    fn take_snapshot(&self, at: Occurrence, machine: &mut Machine<'_>, limits: Limits) -> Result<Snapshot> {
        let mut out = Snapshot { at: Some(at), ..Snapshot::default() };
        if at.step < self.steps(at.stream)? {
            machine.enter_next(&mut replay::observer::Null)?;
        }
        for frame in machine.frames().iter().rev() {
            let code = self.process.image.code(frame.function);
            let module = self.process.image.module(code.module);
            out.stack.push(place(module, &module.functions[code.function as usize], frame.pc));
        }
        let Some(view) = machine.view() else { return Ok(out) };
        out.place = out.stack.first().cloned().unwrap_or_default();
        let site = Site { module: view.code.module, function: view.code.function, index: view.index };
        out.site = Some(site);
        let module = self.process.image.module(site.module);
        let function = &module.functions[site.function as usize];
        let bindings = Bindings::of(function);
        for (i, v) in function.variables.iter().enumerate() {
            let value = vars::value(&view, &bindings, i as u32);
            if value != Value::Gone {
                let raw = match &value {
                    Value::At(a) => view.memory.peek_word(*a, 8),
                    Value::Bytes { bytes, .. } => {
                        bytes.iter().take(8).rev().fold(0, |n, b| n << 8 | u64::from(*b))
                    }
                    Value::Gone => 0,
                };
                let text = vars::show(view.module(), Data::of(&view), v.ty, &value, limits);
                out.variables.push(Named { name: Some(v.name.clone()), value: text, raw, reg: None });
            }
        }
        let names = Names { module, function, bindings: &bindings, limits };
        let inst = &function.code[site.index as usize];
        out.callee = match inst {
            Inst::Call(c) => Some(callee(&view, c.callee)),
            _ => None,
        };
        // The operands can be read before the step, even if it never completes.
        out.operands = names.operands(&view, inst);
        if let Inst::Branch { cond, .. } = inst {
            out.branch = Some(view.value(*cond) & 1 != 0);
        }
        let mut after = After { step: at.step, ..After::default() };
        if at.step < self.steps(at.stream)? {
            machine.run(&mut after, at.step + 1)?;
        }
        out.result = after.regs.and_then(|(regs, frame)| {
            let view = View { regs: &regs, frame, ..machine.view()? };
            let code = self.process.image.code(self.process.image.function(site.module, site.function)?);
            names.result(&View { code, index: site.index, ..view }, inst, after.external.as_deref())
        });
        Ok(out)
    }
}

/// The registers just after a step.
#[derive(Default)]
struct After {
    step: u64,
    regs: Option<(Vec<u64>, u64)>,
    external: Option<Vec<u64>>,
}

impl Observer for After {
    fn step(&mut self, view: &View<'_>, _: Effect) {
        if view.count == self.step {
            self.regs = Some((view.regs.to_vec(), view.frame));
        }
    }

    fn external(&mut self, _: &View<'_>, call: &ExternalCall<'_>) {
        self.external = Some(call.result.to_vec());
    }
}

fn place(module: &Module, function: &Function, index: u32) -> Where {
    let Place { file, line, column } = function.place(index as usize);
    let path = if line == 0 { String::new() } else { module.file_path(file) };
    Where { file: path, line, column, function: readable(&function.name).into_owned() }
}

fn callee(view: &View<'_>, callee: Operand) -> String {
    let name = called(view, callee);
    name.map_or_else(|| format!("{:#x}", view.value(callee)), |name| readable(name).into_owned())
}

/// The symbol name of the function that an operand calls.
fn called<'v>(view: &View<'v>, callee: Operand) -> Option<&'v str> {
    let address = view.value(callee);
    if let Some(number) = view.image.function_at(address) {
        let code = view.image.code(number);
        return Some(&view.image.module(code.module).functions[code.function as usize].name);
    }
    let symbol = match callee {
        Operand::Symbol { symbol, .. } => view.module().symbols.get(symbol as usize),
        _ => None,
    };
    view.image.external_at(address).map(|e| e.0).or(symbol.map(|s| s.name.as_str()))
}

/// Finds names for the values of one function.
struct Names<'n> {
    module: &'n Module,
    function: &'n Function,
    bindings: &'n Bindings<'n>,
    limits: Limits,
}

impl Names<'_> {
    fn operands(&self, view: &View<'_>, inst: &Inst) -> Vec<Named> {
        let mut out = Vec::new();
        let skip = usize::from(matches!(inst, Inst::Call(_)));
        let mut n = 0;
        inst.for_each_use(|operand, _| {
            if n >= skip {
                out.push(self.named(view, operand, operand_type(inst, n)));
            }
            n += 1;
        });
        out
    }

    fn named(&self, view: &View<'_>, operand: Operand, ty: Ty) -> Named {
        let reg = match operand {
            Operand::Reg(r) => Some(r),
            _ => None,
        };
        let variable = reg.and_then(|r| self.variable_in(view.index, r));
        let name = match variable {
            Some(v) => Some(self.function.variables[v as usize].name.clone()),
            None => self.name(view.index, operand, 4),
        };
        let raw = view.wide(operand);
        let declared = match variable {
            Some(v) => self.function.variables[v as usize].ty,
            None => reg.and_then(|r| self.loaded_type(r, ty)),
        };
        let value = match declared {
            Some(t) => self.typed(view, t, raw),
            // Comparisons have integer operands, even of pointers.
            None if reg.is_some_and(|r| self.is_address(r)) => show_untyped(Ty::Ptr, raw),
            None => show_untyped(ty, raw),
        };
        Named { name, value, raw: raw as u64, reg }
    }

    fn is_address(&self, reg: Reg) -> bool {
        let makes_one = |inst: &Inst| {
            matches!(inst, Inst::Load { ty: Ty::Ptr, .. } | Inst::Address { .. } | Inst::Frame { .. })
        };
        self.definition(reg).is_some_and(makes_one)
    }

    /// The declared type of a variable that a register was loaded from as a whole.
    fn loaded_type(&self, reg: Reg, ty: Ty) -> Option<u32> {
        let Inst::Load { addr, .. } = self.definition(reg)? else { return None };
        self.global_type(*addr, ty).or_else(|| self.local_type(*addr, ty))
    }

    /// The declared type of the local variable at an address, if the access covers all of it.
    fn local_type(&self, address: Operand, ty: Ty) -> Option<u32> {
        let Operand::Reg(reg) = address else { return None };
        let Inst::Frame { offset, .. } = self.definition(reg)? else { return None };
        let home = self.function.bindings.iter().find(|b| b.home == Home::Frame(*offset))?;
        let declared = self.function.variables.get(home.variable as usize)?.ty?;
        let size = self.module.types.get(declared as usize)?.size;
        (size == u64::from(ty.bytes())).then_some(declared)
    }

    /// The declared type of a global variable that a register is stored to as a whole.
    fn stored_type(&self, reg: Reg, ty: Ty) -> Option<u32> {
        self.function.code.iter().find_map(|inst| match inst {
            Inst::Store { addr, value: Operand::Reg(r), .. } if *r == reg => self.global_type(*addr, ty),
            _ => None,
        })
    }

    /// The declared type of the global variable at an address, if the access covers all of it.
    fn global_type(&self, address: Operand, ty: Ty) -> Option<u32> {
        let Operand::Symbol { symbol, offset: 0 } = address else { return None };
        let (SymbolKind::Data { size, ty: declared, .. } | SymbolKind::ThreadLocal { size, ty: declared }) =
            self.module.symbols.get(symbol as usize)?.kind
        else {
            return None;
        };
        declared.filter(|_| size == u64::from(ty.bytes()))
    }

    fn typed(&self, view: &View<'_>, ty: u32, raw: u128) -> String {
        let size = self.module.types.get(ty as usize).map_or(8, |t| t.size.min(16)) as usize;
        let bytes = raw.to_le_bytes()[..size].to_vec();
        let known = vec![true; size];
        vars::show(self.module, Data::of(view), Some(ty), &Value::Bytes { bytes, known }, self.limits)
    }

    fn result(&self, view: &View<'_>, inst: &Inst, external: Option<&[u64]>) -> Option<Named> {
        match inst {
            Inst::Store { addr, value, ty } => {
                let mut named = self.named(view, *value, *ty);
                named.name = self.pointed(view.index, *addr, 4);
                if let Some(declared) = self.global_type(*addr, *ty) {
                    named.value = self.typed(view, declared, view.wide(*value));
                }
                Some(named)
            }
            Inst::Call(_) => {
                let raw = *external?.first()?;
                let (dst, ty) = inst.result()?;
                let variable = self.assigned_variable(dst);
                Some(self.result_named(view, dst, variable, ty, raw.into()))
            }
            _ => {
                let (dst, ty) = inst.result()?;
                let variable = self.assigned_variable(dst);
                let raw = view.wide(Operand::Reg(dst));
                Some(self.result_named(view, dst, variable, ty, raw))
            }
        }
    }

    fn result_named(&self, view: &View<'_>, dst: Reg, variable: Option<u32>, ty: Ty, raw: u128) -> Named {
        let declared = variable.and_then(|v| self.function.variables.get(v as usize));
        let ty_of_global = || self.loaded_type(dst, ty).or_else(|| self.stored_type(dst, ty));
        let value = match declared.and_then(|v| v.ty).or_else(ty_of_global) {
            Some(t) => self.typed(view, t, raw),
            None => show_untyped(ty, raw),
        };
        Named { name: declared.map(|v| v.name.clone()), value, raw: raw as u64, reg: Some(dst) }
    }

    /// The variable that is in a register at an instruction.
    fn variable_in(&self, index: u32, reg: Reg) -> Option<u32> {
        (0..self.function.variables.len() as u32).find(|v| {
            self.bindings
                .at(index, *v)
                .iter()
                .any(|b| b.part.is_none() && matches!(b.home, Home::Value(Operand::Reg(r), _) if r == reg))
        })
    }

    /// A variable that is in a register from some instruction on.
    fn assigned_variable(&self, reg: Reg) -> Option<u32> {
        let b =
            self.function.bindings.iter().find(|b| {
                b.part.is_none() && matches!(b.home, Home::Value(Operand::Reg(r), _) if r == reg)
            })?;
        Some(b.variable)
    }

    /// A name for an operand's value, derived from its definition.
    fn name(&self, index: u32, operand: Operand, depth: u32) -> Option<String> {
        let Operand::Reg(reg) = operand else { return self.symbol(operand).map(|s| format!("&{s}")) };
        if let Some(v) = self.variable_in(index, reg) {
            return Some(self.function.variables[v as usize].name.clone());
        }
        let inst = self.definition(reg)?;
        match inst {
            _ if depth == 0 => None,
            Inst::Load { addr, .. } => self.pointed(index, *addr, depth - 1),
            Inst::Copy { a, .. } | Inst::Cast { a, .. } => self.name(index, *a, depth - 1),
            Inst::Frame { .. } => self.pointed(index, operand, depth - 1).map(|n| format!("&{n}")),
            _ => self.assigned_variable(reg).map(|v| self.function.variables[v as usize].name.clone()),
        }
    }

    fn symbol(&self, operand: Operand) -> Option<&str> {
        match operand {
            Operand::Symbol { symbol, offset: 0 } => {
                let name = self.module.symbols.get(symbol as usize)?.name.as_str();
                // String literals have names that only the compiler knows.
                (!name.starts_with(".str") && !name.is_empty()).then_some(name)
            }
            _ => None,
        }
    }

    /// A name for the object that an address points to.
    fn pointed(&self, index: u32, address: Operand, depth: u32) -> Option<String> {
        let Operand::Reg(reg) = address else { return self.symbol(address).map(str::to_owned) };
        if depth > 0 {
            match self.definition(reg)? {
                Inst::Frame { offset, .. } => {
                    let home = self.function.bindings.iter().find(|b| b.home == Home::Frame(*offset))?;
                    return Some(self.function.variables[home.variable as usize].name.clone());
                }
                Inst::Address { base, index: Operand::Const(0), offset: 0, .. } => {
                    return self.pointed(index, *base, depth - 1);
                }
                Inst::Address { base, index: i, scale, offset, .. } => {
                    let base = self
                        .pointed(index, *base, depth - 1)
                        .or_else(|| self.name(index, *base, depth - 1))?;
                    if *scale != 0 {
                        let i = self.name(index, *i, depth - 1).unwrap_or_else(|| "…".to_owned());
                        return Some(format!("{base}[{i}]"));
                    }
                    return Some(format!("{base}+{offset}"));
                }
                _ => {}
            }
        }
        self.name(index, address, depth).map(|n| format!("*{n}"))
    }

    /// The instruction that defines a register; `None` for a phi and for a parameter.
    fn definition(&self, reg: Reg) -> Option<&Inst> {
        self.function.code.iter().find(|i| i.defines().is_some_and(|(d, n)| (d..d + n).contains(&reg)))
    }
}

/// The type of an instruction's `n`th operand (a call's callee is the first).
fn operand_type(inst: &Inst, n: usize) -> Ty {
    match inst {
        Inst::Bin { bits, .. } | Inst::ICmp { bits, .. } => Ty::Int(*bits),
        Inst::Float { kind, .. } | Inst::FCmp { kind, .. } => Ty::Float(*kind),
        Inst::Cast { from, .. } => *from,
        Inst::Pure { ty, .. } => *ty,
        Inst::Store { ty, .. } | Inst::Rmw { ty, .. } | Inst::CmpXchg { ty, .. } if n > 0 => *ty,
        Inst::Switch { bits, .. } => Ty::Int(*bits),
        Inst::Branch { .. } => Ty::Int(1),
        Inst::Return { ret, .. } => ret.first().copied().unwrap_or(Ty::Int(64)),
        Inst::Call(c) => match n.checked_sub(1).and_then(|n| c.args.get(n)).map(|a| a.ty) {
            Some(program::inst::ArgTy::Value(ty)) => ty,
            _ => Ty::Ptr,
        },
        Inst::Address { index_bits, .. } if n == 1 => Ty::Int(*index_bits),
        Inst::Select { .. } if n == 0 => Ty::Int(1),
        Inst::Select { .. } | Inst::Copy { .. } | Inst::Alloca { .. } | Inst::Unknown { .. } => Ty::Int(64),
        Inst::MemCopy { .. } | Inst::MemSet { .. } if n == 2 => Ty::Int(64),
        Inst::MemSet { .. } if n == 1 => Ty::Int(8),
        _ => Ty::Ptr,
    }
}
