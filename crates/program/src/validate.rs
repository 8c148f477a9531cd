//! Checks that a module is well-formed, so that users of a module can index without checks.
//!
//! A module is read from a file and may contain anything. After [`Module::validate`] every index is
//! in range, blocks tile the code, phis name exactly the predecessors of their block, widths are
//! valid, and no type contains itself. Properties that would require an analysis are *not* checked:
//! that registers are assigned before they are read (they are zero then), and that values have the
//! type they are used with.

use crate::inst::{ArgTy, CastOp, FloatKind, Inst, Operand, Pure, Ty};
use crate::model::{Block, Function, Home, Module, SymbolKind};
use tables::{check_symbols, check_type_index, check_types};
use thiserror::Error;

mod tables;

/// Upper limits of slots, bytes and alignment of a function.
const MAX_SLOTS: u32 = 1 << 24;
const MAX_FRAME: u64 = 1 << 40;
const MAX_ALIGN: u32 = 1 << 30;
/// Limit of result and parameter slots: events count slots in a byte.
const MAX_PASSED: u32 = 255;

/// The error of a module.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Invalid {
    /// An error outside functions.
    #[error("{0}")]
    Module(String),
    /// An error of a function as a whole.
    #[error("function {function}: {what}")]
    Function {
        /// Its name.
        function: String,
        /// The failed check.
        what: String,
    },
    /// An error of one instruction.
    #[error("function {function}, instruction {index}: {what}")]
    Inst {
        /// Name of the function.
        function: String,
        /// Index in its code.
        index: usize,
        /// The failed check.
        what: String,
    },
}

impl Module {
    /// Checks the whole module.
    ///
    /// # Errors
    /// The first error found.
    pub fn validate(&self) -> Result<(), Invalid> {
        check_types(self).map_err(Invalid::Module)?;
        check_symbols(self).map_err(Invalid::Module)?;
        let mut next_site = 0;
        for (index, function) in self.functions.iter().enumerate() {
            let fault =
                |what: &str| Invalid::Function { function: function.name.clone(), what: what.to_owned() };
            if u64::from(function.first_site) < next_site {
                return Err(fault("its sites overlap with another function's"));
            }
            next_site = u64::from(function.first_site) + function.code.len() as u64;
            if next_site >= u64::from(u32::MAX) {
                return Err(fault("too many sites"));
            }
            match self.symbols.get(function.symbol as usize).map(|s| &s.kind) {
                Some(SymbolKind::Function(f)) if *f as usize == index => {}
                _ => return Err(fault("its symbol does not name it")),
            }
            self.validate_function(function)?;
        }
        Ok(())
    }

    /// Checks one function against the module's tables. It need not be in `functions` yet: the
    /// compiler uses this to decide whether a function can be modelled.
    ///
    /// # Errors
    /// The first error found.
    pub fn validate_function(&self, function: &Function) -> Result<(), Invalid> {
        let check = Check { module: self, function };
        let whole = |what| Invalid::Function { function: function.name.clone(), what };
        check.tables().map_err(whole)?;
        check.blocks().map_err(whole)?;
        check.debug_info().map_err(whole)?;
        for (index, inst) in function.code.iter().enumerate() {
            check.inst(inst).map_err(|what| Invalid::Inst {
                function: function.name.clone(),
                index,
                what,
            })?;
        }
        check.phis().map_err(whole)
    }
}

type Fault = Result<(), String>;

fn ensure(ok: bool, what: impl FnOnce() -> String) -> Fault {
    if ok { Ok(()) } else { Err(what()) }
}

fn check_ty(ty: Ty) -> Fault {
    match ty {
        Ty::Int(bits) => check_bits(bits, 128),
        _ => Ok(()),
    }
}

fn check_bits(bits: u16, max: u16) -> Fault {
    ensure((1..=max).contains(&bits), || format!("integers of {bits} bits"))
}

fn check_align(align: u32) -> Fault {
    ensure(align.is_power_of_two() && align <= MAX_ALIGN, || format!("alignment {align}"))
}

fn total_slots(tys: &[Ty]) -> Result<u32, String> {
    let mut sum = 0u32;
    for ty in tys {
        check_ty(*ty)?;
        sum = sum.saturating_add(ty.slots());
    }
    ensure(sum <= MAX_PASSED, || format!("a result of {sum} slots"))?;
    Ok(sum)
}

struct Check<'a> {
    module: &'a Module,
    function: &'a Function,
}

impl Check<'_> {
    fn tables(&self) -> Fault {
        let f = self.function;
        ensure(f.slots <= MAX_SLOTS, || format!("{} register slots", f.slots))?;
        ensure(f.frame_size <= MAX_FRAME, || format!("a frame of {} bytes", f.frame_size))?;
        check_align(f.frame_align)?;
        total_slots(&f.ret)?;
        let mut passed = 0u32;
        for (i, p) in f.params.iter().enumerate() {
            let fault = |what: String| format!("parameter {i}: {what}");
            self.defined(p.reg, p.ty.slots()).map_err(fault)?;
            match p.ty {
                ArgTy::Value(ty) => check_ty(ty).map_err(fault)?,
                ArgTy::ByVal { size, align } => {
                    check_align(align).map_err(fault)?;
                    let end = p.frame_offset.checked_add(size);
                    ensure(end.is_some_and(|e| e <= f.frame_size), || {
                        fault("its copy is outside the frame".to_owned())
                    })?;
                }
            }
            passed = passed.saturating_add(p.ty.slots());
        }
        ensure(passed <= MAX_PASSED, || format!("{passed} slots of parameters"))
    }

    fn blocks(&self) -> Fault {
        let f = self.function;
        ensure(!f.blocks.is_empty(), || "no blocks".to_owned())?;
        ensure(f.code.len() < 1 << 30, || "too much code".to_owned())?;
        let mut next = 0;
        for (i, b) in f.blocks.iter().enumerate() {
            ensure(b.start == next && b.end > b.start && b.end as usize <= f.code.len(), || {
                format!("block {i} is {}..{} where it should start at {next}", b.start, b.end)
            })?;
            next = b.end;
            let code = &f.code[b.start as usize..b.end as usize];
            let terminators = code.iter().filter(|inst| inst.is_terminator()).count();
            ensure(terminators == 1 && code.last().is_some_and(Inst::is_terminator), || {
                format!("block {i} does not end with its only terminator")
            })?;
            for to in code.last().map(Inst::successors).unwrap_or_default() {
                ensure((to as usize) < f.blocks.len(), || format!("block {i} goes to block {to}"))?;
            }
        }
        ensure(next as usize == f.code.len(), || "code after the last block".to_owned())
    }

    fn debug_info(&self) -> Fault {
        let (m, f) = (self.module, self.function);
        ensure(f.code_places.len() == f.code.len(), || "one place an instruction is needed".to_owned())?;
        for p in &f.code_places {
            ensure((*p as usize) < f.places.len(), || format!("no place {p}"))?;
        }
        let file = |file: u32, line: u32| {
            ensure(line == 0 || (file as usize) < m.files.len(), || format!("no file {file}"))
        };
        f.places.iter().try_for_each(|p| file(p.file, p.line))?;
        file(f.file, f.line)?;
        check_type_index(m, f.result).map_err(|what| format!("result: {what}"))?;
        for v in &f.variables {
            check_type_index(m, v.ty).map_err(|what| format!("variable {}: {what}", v.name))?;
            file(v.file, v.line)?;
            let scope = v.scope.unwrap_or(0) as usize;
            ensure(v.scope.is_none() || scope < f.scopes.len(), || format!("no scope {scope}"))?;
        }
        for s in &f.scopes {
            let apart = s.ranges.windows(2).all(|w| w[0].1 < w[1].0);
            let inside = s.ranges.iter().all(|r| r.0 < r.1 && r.1 as usize <= f.code.len());
            ensure(apart && inside, || "the ranges of a scope".to_owned())?;
        }
        for b in &f.bits {
            let fits = |ty: Ty| matches!(ty, Ty::Int(1..=64));
            let fits = match f.code.get(b.at as usize) {
                Some(Inst::Load { ty, .. }) => fits(*ty) && b.value.is_none(),
                Some(Inst::Store { ty, .. }) => fits(*ty) && b.value.is_some(),
                _ => false,
            };
            ensure(fits, || format!("a bit-field at instruction {}", b.at))?;
            b.value.map_or(Ok(()), |value| self.operand(value, 1))?;
        }
        ensure(f.bits.windows(2).all(|w| w[0].at < w[1].at), || "bit-fields out of order".to_owned())?;
        for b in &f.bindings {
            ensure((b.variable as usize) < f.variables.len(), || format!("no variable {}", b.variable))?;
            ensure(b.at as usize <= f.code.len(), || format!("a binding at instruction {}", b.at))?;
            match b.home {
                Home::Value(operand, ty) => {
                    check_ty(ty)?;
                    self.operand(operand, ty.slots())?;
                }
                Home::Memory(operand, _) => self.operand(operand, 1)?,
                Home::Frame(offset) => self.frame(offset)?,
                Home::Nowhere => {}
            }
        }
        ensure(f.bindings.is_sorted_by_key(|b| b.at), || "bindings out of order".to_owned())
    }

    fn phis(&self) -> Fault {
        let f = self.function;
        ensure(f.blocks[0].phis.is_empty(), || "phis in the entry block".to_owned())?;
        let mut predecessors: Vec<Vec<u32>> = vec![Vec::new(); f.blocks.len()];
        for (i, Block { end, .. }) in f.blocks.iter().enumerate() {
            for to in f.code[*end as usize - 1].successors() {
                predecessors[to as usize].push(i as u32);
            }
        }
        for (i, b) in f.blocks.iter().enumerate() {
            let expected = &mut predecessors[i];
            expected.dedup(); // they were pushed in order
            for phi in &b.phis {
                let fault = |what: String| format!("block {i}, phi of r{}: {what}", phi.dst);
                ensure(phi.slots >= 1, || fault("no slots".to_owned()))?;
                self.defined(phi.dst, phi.slots).map_err(fault)?;
                let mut given: Vec<u32> = phi.incoming.iter().map(|(from, _)| *from).collect();
                given.sort_unstable();
                given.dedup();
                ensure(given == *expected, || {
                    fault(format!("values from {given:?}, entered from {expected:?}"))
                })?;
                for (_, operand) in &phi.incoming {
                    self.aggregate(*operand, phi.slots).map_err(fault)?;
                }
            }
        }
        Ok(())
    }

    fn inst(&self, inst: &Inst) -> Fault {
        self.shape(inst)?;
        if let Some((dst, slots)) = inst.defines() {
            self.defined(dst, slots)?;
        }
        let mut result = Ok(());
        inst.for_each_use(|operand, slots| {
            if result.is_ok() {
                result = self.operand(operand, slots);
            }
        });
        result
    }

    /// Checks widths, types and counts, before anything is derived from them.
    fn shape(&self, inst: &Inst) -> Fault {
        let float = |ty: Ty| matches!(ty, Ty::Float(_));
        match inst {
            Inst::Bin { bits, .. } | Inst::ICmp { bits, .. } => check_bits(*bits, 128),
            Inst::Address { index_bits, .. } => check_bits(*index_bits, 64),
            Inst::Switch { bits, .. } => check_bits(*bits, 64),
            Inst::Cast { op, from, to, .. } => {
                check_ty(*from)?;
                check_ty(*to)?;
                let (source, target) = (float(*from), float(*to));
                let ok = match op {
                    CastOp::Trunc => !source && !target && to.bits() <= from.bits(),
                    CastOp::Zext | CastOp::Sext => !source && !target && to.bits() >= from.bits(),
                    CastOp::FpTrunc => source && target && to.bits() <= from.bits(),
                    CastOp::FpExt => source && target && to.bits() >= from.bits(),
                    CastOp::FpToUi | CastOp::FpToSi => source && !target,
                    CastOp::UiToFp | CastOp::SiToFp => !source && target,
                    CastOp::Bits => from.slots() == to.slots(),
                };
                ensure(ok, || format!("a {op:?} from {from:?} to {to:?}"))
            }
            Inst::Pure { op, ty, args, .. } => {
                check_ty(*ty)?;
                ensure(op.is_float() == float(*ty), || format!("{op:?} of {ty:?}"))?;
                ensure(*op != Pure::Bswap || ty.bits().is_multiple_of(8), || format!("Bswap of {ty:?}"))?;
                ensure(args.len() >= op.operands(), || format!("{op:?} of {} operands", args.len()))
            }
            Inst::Select { slots, a, b, .. } => {
                ensure(*slots >= 1, || "a select of no slots".to_owned())?;
                self.aggregate(*a, *slots)?;
                self.aggregate(*b, *slots)
            }
            Inst::Frame { offset, .. } => self.frame(*offset),
            Inst::Alloca { align, .. } => check_align(*align),
            Inst::Load { ty, .. } | Inst::Store { ty, .. } => check_ty(*ty),
            Inst::Rmw { ty, .. } | Inst::CmpXchg { ty, .. } => {
                ensure(*ty != Ty::Float(FloatKind::F80), || "an atomic long double".to_owned())?;
                check_ty(*ty)
            }
            Inst::Call(c) => {
                total_slots(&c.ret)?;
                ensure(c.args.len() <= usize::from(u16::MAX), || format!("{} arguments", c.args.len()))?;
                ensure(c.variadic.is_none_or(|n| n as usize <= c.args.len()), || {
                    "fewer arguments than fixed parameters".to_owned()
                })?;
                c.args.iter().try_for_each(|arg| match arg.ty {
                    ArgTy::Value(ty) => check_ty(ty),
                    ArgTy::ByVal { align, size } => {
                        ensure(size <= MAX_FRAME, || format!("an argument of {size} bytes"))?;
                        check_align(align)
                    }
                })
            }
            Inst::Unknown { ret, .. } => total_slots(ret).map(drop),
            Inst::ThreadLocal { symbol, .. } => self.symbol(*symbol),
            Inst::Return { value, ret } => {
                let slots = total_slots(ret)?;
                let given = total_slots(&self.function.ret)?;
                ensure(slots == given, || format!("{slots} slots returned, {given} promised"))?;
                ensure(value.is_some() == (slots > 0), || "a result is missing or too much".to_owned())?;
                match value {
                    Some(operand) if ret.len() > 1 => self.aggregate(*operand, slots),
                    _ => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    fn frame(&self, offset: u64) -> Fault {
        ensure(offset <= self.function.frame_size, || format!("frame offset {offset}"))
    }

    fn symbol(&self, symbol: u32) -> Fault {
        ensure((symbol as usize) < self.module.symbols.len(), || format!("no symbol {symbol}"))
    }

    fn defined(&self, reg: u32, slots: u32) -> Fault {
        let end = u64::from(reg) + u64::from(slots);
        ensure(end <= u64::from(self.function.slots), || {
            format!("registers {reg}..{end} of {}", self.function.slots)
        })
    }

    fn operand(&self, operand: Operand, slots: u32) -> Fault {
        match operand {
            Operand::Reg(reg) => self.defined(reg, slots),
            Operand::Const(_) => Ok(()),
            Operand::Symbol { symbol, .. } => self.symbol(symbol),
        }
    }

    /// Checks a value that may be an aggregate: only registers can hold one of several slots.
    fn aggregate(&self, operand: Operand, slots: u32) -> Fault {
        ensure(slots == 1 || matches!(operand, Operand::Reg(_)), || format!("{slots} slots in {operand:?}"))?;
        self.operand(operand, slots)
    }
}
