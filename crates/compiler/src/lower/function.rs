//! Lowers one function: blocks, registers, frame, and simple instructions.

use super::constants::aggregate_member;
use super::debug::DebugInfo;
use super::scopes::SourceScope;
use super::types::{arg_type, is_wide_vector, leaves, scalar, slots};
use super::{FunctionMap, Symbols};
use crate::llvm::{Blk, IntPredicate, Opcode, RealPredicate, Typ, TypeKind, Unit, Val};
use crate::normalise::elements;
use program::inst::{
    ArgTy, BinOp, CastOp, FloatKind, FloatOp, FloatPred, Inst, IntPred, LANDING_SLOTS, Operand, Reg, Ty,
};
use program::model::{Binding, BitAccess, Block, Function, Param, Phi, Place};
use std::collections::{HashMap, HashSet};

pub struct Lowering<'a> {
    pub unit: &'a Unit,
    pub symbols: &'a mut Symbols,
    pub debug: &'a mut DebugInfo,
    values: HashMap<Val, Reg>,
    pub constants: HashMap<Val, Reg>,
    next: Reg,
    /// Materialised constants; runs first.
    pub prologue: Vec<Inst>,
    code: Vec<(Inst, u32)>,
    places: Vec<Place>,
    place_index: HashMap<Place, u32>,
    place: u32,
    /// The source scope and line of each instruction, as far as its location contains them.
    code_scopes: Vec<(SourceScope, u32)>,
    scope: SourceScope,
    pub frame: HashMap<Val, u64>,
    frame_size: u64,
    frame_align: u64,
    sites: HashMap<Val, u32>,
    origins: HashMap<u32, Val>,
    /// For each invoke, the registers of its landing, and the landing's index in the code.
    landings: HashMap<Val, (Reg, u32)>,
    blocks: HashMap<Blk, u32>,
    pub thread_locals: HashMap<Val, u32>,
    pub returns_twice: bool,
    pub bindings: Vec<Binding>,
    pub bits: Vec<BitAccess>,
    /// Values of variables.
    pub variable_values: HashSet<Val>,
    pub variables: super::debug::Variables,
    /// An `llvm.trap` was seen; the following `unreachable` traps.
    pub trapped: bool,
}

pub fn lower(
    unit: &Unit,
    symbols: &mut Symbols,
    debug: &mut DebugInfo,
    f: Val,
    first_site: u32,
) -> Result<(Function, FunctionMap), String> {
    let globals = debug.globals.clone();
    let l = Lowering {
        unit,
        symbols,
        debug,
        values: HashMap::new(),
        constants: HashMap::new(),
        next: 0,
        prologue: Vec::new(),
        code: Vec::new(),
        places: vec![Place::default()],
        place_index: HashMap::from([(Place::default(), 0)]),
        place: 0,
        code_scopes: Vec::new(),
        scope: None,
        frame: HashMap::new(),
        frame_size: 0,
        frame_align: 16,
        sites: HashMap::new(),
        origins: HashMap::new(),
        landings: HashMap::new(),
        blocks: HashMap::new(),
        thread_locals: HashMap::new(),
        returns_twice: false,
        bindings: Vec::new(),
        bits: Vec::new(),
        variable_values: HashSet::new(),
        variables: super::debug::Variables::new(globals),
        trapped: false,
    };
    l.function(f, first_site)
}

impl Lowering<'_> {
    fn function(mut self, f: Val, first_site: u32) -> Result<(Function, FunctionMap), String> {
        for odd in ["naked", "presplitcoroutine"] {
            if f.attribute(u32::MAX, odd).is_some() {
                return Err(format!("it is `{odd}`"));
            }
        }
        let ty = f.value_type();
        let mut params = Vec::new();
        for (i, p) in f.params().into_iter().enumerate() {
            let tys = arg_type(self.unit, f, false, i as u32, p.ty())?;
            let mut first = None;
            for t in tys {
                let (n, frame_offset) = match t {
                    ArgTy::Value(t) => (t.slots(), 0),
                    ArgTy::ByVal { size, align } => (1, self.frame_place(size, u64::from(align))),
                };
                let reg = self.fresh(n);
                first.get_or_insert(reg);
                params.push(Param { ty: t, reg, frame_offset });
            }
            self.values.insert(p, first.unwrap_or(0));
        }
        let ret = leaves(self.unit, ty.return_type())?;
        let all = f.blocks();
        for (i, b) in all.iter().enumerate() {
            self.blocks.insert(*b, i as u32);
        }
        // Assign registers first: phis and loops refer to later values.
        for i in all.iter().flat_map(|b| b.instructions()) {
            if i.opcode() == Opcode::LLVMInvoke {
                let landing = self.fresh(LANDING_SLOTS);
                self.landings.insert(i, (landing, 0));
            }
            if i.ty().kind() == TypeKind::LLVMVoidTypeKind || is_alias(i) {
                continue;
            }
            if i.opcode() == Opcode::LLVMAlloca {
                self.place_alloca(i, all[0]);
            }
            let n = slots(&leaves(self.unit, i.ty())?);
            let reg = self.fresh(n);
            self.values.insert(i, reg);
        }
        self.variable_values = super::bits::variable_values(&all);
        let headers = loop_headers(&all);
        let mut blocks = Vec::new();
        for blk in &all {
            let start = self.code.len() as u32;
            let mut phis = Vec::new();
            let mut body = false;
            self.scope = None;
            for i in blk.instructions() {
                self.locate(i);
                if i.opcode() == Opcode::LLVMPHI {
                    phis.push(self.phi(i)?);
                    continue;
                }
                if i.opcode() == Opcode::LLVMLandingPad {
                    phis.push(self.landing_pad(i)?);
                }
                if !std::mem::replace(&mut body, true) && headers.contains(blk) {
                    self.emit(Inst::Tick);
                }
                self.bindings_of(i, &all)?;
                let before = self.here();
                self.instruction(i)?;
                if self.here() > before {
                    self.origins.insert(self.here() - 1, i);
                }
            }
            blocks.push(Block { start, end: self.code.len() as u32, phis });
        }
        if self.returns_twice || !self.landings.is_empty() {
            self.frame_place(16, 16);
        }
        Ok(self.assemble(f, first_site, params, ret, blocks, headers))
    }

    /// Prepends the prologue, which shifts every index by its length.
    fn assemble(
        mut self,
        f: Val,
        first_site: u32,
        params: Vec<Param>,
        ret: Vec<Ty>,
        mut blocks: Vec<Block>,
        headers: HashSet<Blk>,
    ) -> (Function, FunctionMap) {
        let shift = self.prologue.len() as u32;
        for (i, b) in blocks.iter_mut().enumerate() {
            b.end += shift;
            if i > 0 {
                b.start += shift;
            }
        }
        let scopes = self.variables.scopes(&self.code_scopes, &blocks, shift);
        let mut code = self.prologue;
        let mut code_places = vec![0; code.len()];
        for (inst, place) in self.code {
            code.push(inst);
            code_places.push(place);
        }
        let sites = self.sites.into_iter().map(|(v, i)| (v, first_site + i + shift)).collect();
        let origins = self.origins.into_iter().map(|(i, v)| (i + shift, v)).collect();
        let landings = self.landings.into_iter().map(|(v, (_, i))| (v, first_site + i + shift)).collect();
        let mut bindings = self.bindings;
        for b in &mut bindings {
            b.at += shift;
        }
        bindings.sort_by_key(|b| b.at);
        let mut bits = self.bits;
        for b in &mut bits {
            b.at += shift;
        }
        let (file, line) = self.debug.function_place(f);
        let model = Function {
            name: f.name(),
            symbol: 0,
            params,
            ret,
            result: self.debug.result(f),
            variadic: f.value_type().is_variadic(),
            slots: self.next,
            frame_size: self.frame_size.next_multiple_of(self.frame_align),
            frame_align: self.frame_align as u32,
            first_site,
            code,
            code_places,
            places: self.places,
            blocks,
            variables: self.variables.list,
            scopes,
            bindings,
            bits,
            file,
            line,
        };
        let map = FunctionMap {
            function: f,
            sites,
            origins,
            landings,
            frame: self.frame,
            headers,
            thread_locals: self.thread_locals,
        };
        (model, map)
    }

    pub fn fresh(&mut self, n: u32) -> Reg {
        let r = self.next;
        self.next += n;
        r
    }

    pub fn emit(&mut self, inst: Inst) {
        self.code.push((inst, self.place));
        self.code_scopes.push((self.scope, self.places[self.place as usize].line));
    }

    /// Emits the instruction whose site the instrumentation of `i` uses.
    pub fn emit_at(&mut self, i: Val, inst: Inst) {
        self.sites.insert(i, self.code.len() as u32);
        self.emit(inst);
    }

    pub fn here(&self) -> u32 {
        self.code.len() as u32
    }

    fn frame_place(&mut self, size: u64, align: u64) -> u64 {
        let align = align.max(1).next_power_of_two();
        self.frame_align = self.frame_align.max(align);
        let at = self.frame_size.next_multiple_of(align);
        self.frame_size = at + size.max(1);
        at
    }

    fn place_alloca(&mut self, i: Val, entry: Blk) {
        let count = i.operand(0);
        if i.parent() == entry && count.is_const_int() {
            let size = self.unit.size_of(i.allocated_type()).saturating_mul(count.zext_value());
            let at = self.frame_place(size, u64::from(i.alignment()));
            self.frame.insert(i, at);
        }
    }

    fn locate(&mut self, i: Val) {
        // An instruction without a location inherits the scope of the previous one.
        self.scope = self.source_scope(i).or(self.scope);
        let place = self.debug.place(i);
        self.place = *self.place_index.entry(place).or_insert_with(|| {
            self.places.push(place);
            self.places.len() as u32 - 1
        });
    }

    pub fn reg(&self, v: Val) -> Result<Reg, String> {
        self.values.get(&v).copied().ok_or_else(|| format!("no register for {}", v.print()))
    }

    pub fn operand(&mut self, v: Val) -> Result<Operand, String> {
        if v.is_instruction() && is_alias(v) {
            return self.part_of(v);
        }
        if v.is_instruction() || v.is_argument() {
            return Ok(Operand::Reg(self.reg(v)?));
        }
        if v.is_constant() {
            return self.constant(v);
        }
        Err(format!("it uses {}", v.print()))
    }

    /// `extractvalue` denotes a part of its operand's registers.
    fn part_of(&mut self, v: Val) -> Result<Operand, String> {
        let aggregate = v.operand(0);
        let (skip, _) = self.element_slots(aggregate.ty(), &v.indices())?;
        match self.operand(aggregate)? {
            Operand::Reg(r) => Ok(Operand::Reg(r + skip)),
            // An aggregate of one slot may be a constant.
            other => Ok(other),
        }
    }

    /// The position of an element among the slots of an aggregate: first and count.
    fn element_slots(&self, mut t: Typ, indices: &[u32]) -> Result<(u32, u32), String> {
        let mut skip = 0;
        for index in indices {
            let all = elements(self.unit, t);
            for (e, _) in &all[..*index as usize] {
                skip += slots(&leaves(self.unit, *e)?);
            }
            t = all[*index as usize].0;
        }
        Ok((skip, slots(&leaves(self.unit, t)?)))
    }

    pub fn block(&self, b: Blk) -> u32 {
        self.blocks[&b]
    }

    fn phi(&mut self, i: Val) -> Result<Phi, String> {
        let tys = leaves(self.unit, i.ty())?;
        let mut incoming: Vec<(u32, Operand)> = Vec::new();
        for (v, b) in i.incoming() {
            let from = self.block(b);
            if incoming.iter().all(|(p, _)| *p != from) {
                let value = self.operand(v)?;
                incoming.push((from, value));
            }
        }
        Ok(Phi { dst: self.reg(i)?, slots: slots(&tys), incoming })
    }

    /// The value of a landing pad: a phi of the landings of its invokes.
    fn landing_pad(&mut self, i: Val) -> Result<Phi, String> {
        let pad = i.parent();
        let slots = slots(&leaves(self.unit, i.ty())?);
        if slots != LANDING_SLOTS - 1 {
            return Err("it has a handler of an unknown kind".to_owned());
        }
        let mut incoming: Vec<(u32, Operand)> = self
            .landings
            .iter()
            .filter(|(invoke, _)| invoke.unwind_destination() == pad)
            .map(|(invoke, (landing, _))| (self.block(invoke.parent()), Operand::Reg(landing + 1)))
            .collect();
        incoming.sort_by_key(|entry| entry.0);
        Ok(Phi { dst: self.reg(i)?, slots, incoming })
    }

    fn invoke(&mut self, i: Val) -> Result<(), String> {
        self.call(i)?;
        if !matches!(self.code.last(), Some((Inst::Call(_), _))) {
            return Err("an exception may come out of something else than a call".to_owned());
        }
        let at = self.here();
        let Some((dst, place)) = self.landings.get_mut(&i) else { return Err("odd invoke".to_owned()) };
        *place = at;
        let dst = *dst;
        self.emit(Inst::Landing { dst });
        let (value, default) = (Operand::Reg(dst), self.block(i.normal_destination()));
        let cases = vec![(1, self.block(i.unwind_destination()))];
        self.emit(Inst::Switch { bits: 1, value, default, cases });
        Ok(())
    }

    fn instruction(&mut self, i: Val) -> Result<(), String> {
        use Opcode as O;
        let op = i.opcode();
        if let Some(op) = int_op(op) {
            let Ty::Int(bits) = scalar(self.unit, i.ty())? else { return Err("odd arithmetic".to_owned()) };
            not_vector(i)?;
            let (a, b) = (self.operand(i.operand(0))?, self.operand(i.operand(1))?);
            let dst = self.reg(i)?;
            self.emit_at(i, Inst::Bin { op, bits, dst, a, b });
            return Ok(());
        }
        if let Some(op) = float_op(op) {
            let kind = self.float_kind(i)?;
            let (a, b) = (self.operand(i.operand(0))?, self.operand(i.operand(1))?);
            let dst = self.reg(i)?;
            self.emit(Inst::Float { op, kind, dst, a, b });
            return Ok(());
        }
        match op {
            O::LLVMFNeg => {
                let ty = Ty::Float(self.float_kind(i)?);
                let args = vec![self.operand(i.operand(0))?];
                let dst = self.reg(i)?;
                self.emit(Inst::Pure { op: program::inst::Pure::FNeg, ty, dst, args });
            }
            O::LLVMICmp => {
                not_vector(i.operand(0))?;
                let bits = scalar(self.unit, i.operand(0).ty())?.bits();
                let pred = int_pred(i.int_predicate());
                let (a, b) = (self.operand(i.operand(0))?, self.operand(i.operand(1))?);
                let dst = self.reg(i)?;
                self.emit(Inst::ICmp { pred, bits, dst, a, b });
            }
            O::LLVMFCmp => {
                let kind = self.float_kind(i.operand(0))?;
                let pred = float_pred(i.real_predicate());
                let (a, b) = (self.operand(i.operand(0))?, self.operand(i.operand(1))?);
                let dst = self.reg(i)?;
                self.emit(Inst::FCmp { pred, kind, dst, a, b });
            }
            O::LLVMSelect => {
                if i.operand(0).ty().kind() == TypeKind::LLVMVectorTypeKind {
                    return Err("it selects by a vector".to_owned());
                }
                let slots = slots(&leaves(self.unit, i.ty())?);
                let cond = self.operand(i.operand(0))?;
                let (a, b) = (self.operand(i.operand(1))?, self.operand(i.operand(2))?);
                let dst = self.reg(i)?;
                self.emit(Inst::Select { slots, dst, cond, a, b });
            }
            O::LLVMGetElementPtr => self.gep(i)?,
            O::LLVMExtractValue => {}
            O::LLVMInsertValue => self.insert_value(i)?,
            O::LLVMExtractElement => self.extract_element(i)?,
            O::LLVMInsertElement => self.insert_element(i)?,
            O::LLVMBr => {
                let to: Vec<u32> = i.successors().into_iter().map(|b| self.block(b)).collect();
                if i.is_conditional() {
                    let cond = self.operand(i.condition())?;
                    self.emit_at(i, Inst::Branch { cond, then: to[0], otherwise: to[1] });
                } else {
                    self.emit(Inst::Jump { to: to[0] });
                }
            }
            O::LLVMSwitch => {
                let Ty::Int(bits @ ..=64) = scalar(self.unit, i.operand(0).ty())? else {
                    return Err("it switches over more than 64 bits".to_owned());
                };
                let value = self.operand(i.operand(0))?;
                let targets = i.successors();
                let default = self.block(targets[0]);
                let cases = targets[1..]
                    .iter()
                    .enumerate()
                    .map(|(n, b)| (i.switch_case_value(n as u32 + 1).zext_value(), self.block(*b)))
                    .collect();
                self.emit(Inst::Switch { bits, value, default, cases });
            }
            O::LLVMRet => {
                let value = match i.operand_count() {
                    0 => None,
                    _ => Some(self.operand(i.operand(0))?),
                };
                let ret = match i.operand_count() {
                    0 => Vec::new(),
                    _ => leaves(self.unit, i.operand(0).ty())?,
                };
                self.emit(Inst::Return { value, ret });
            }
            O::LLVMUnreachable => {
                let inst = if std::mem::take(&mut self.trapped) { Inst::Trap } else { Inst::Unreachable };
                self.emit(inst);
            }
            O::LLVMAlloca
            | O::LLVMLoad
            | O::LLVMStore
            | O::LLVMAtomicRMW
            | O::LLVMAtomicCmpXchg
            | O::LLVMFence => {
                self.memory(i)?;
            }
            O::LLVMCall => self.call(i)?,
            O::LLVMInvoke => self.invoke(i)?,
            // Lowered as a phi of its block.
            O::LLVMLandingPad => {}
            _ => return self.cast(i),
        }
        Ok(())
    }

    pub fn float_kind(&self, v: Val) -> Result<FloatKind, String> {
        match scalar(self.unit, v.ty())? {
            Ty::Float(k) => Ok(k),
            _ => Err("it has vector arithmetic".to_owned()),
        }
    }

    fn cast(&mut self, i: Val) -> Result<(), String> {
        use Opcode as O;
        let op = match i.opcode() {
            O::LLVMTrunc => CastOp::Trunc,
            O::LLVMZExt => CastOp::Zext,
            O::LLVMSExt => CastOp::Sext,
            O::LLVMFPTrunc => CastOp::FpTrunc,
            O::LLVMFPExt => CastOp::FpExt,
            O::LLVMFPToUI => CastOp::FpToUi,
            O::LLVMFPToSI => CastOp::FpToSi,
            O::LLVMUIToFP => CastOp::UiToFp,
            O::LLVMSIToFP => CastOp::SiToFp,
            O::LLVMBitCast | O::LLVMAddrSpaceCast => CastOp::Bits,
            O::LLVMPtrToInt | O::LLVMIntToPtr => CastOp::Bits,
            other => return Err(format!("it has the instruction {other:?}")),
        };
        if op == CastOp::Bits && is_wide_vector(self.unit, i.ty()) {
            return self.copy_slots(i);
        }
        let (from, to) = (scalar(self.unit, i.operand(0).ty())?, scalar(self.unit, i.ty())?);
        let a = self.operand(i.operand(0))?;
        let dst = self.reg(i)?;
        let inst = match op {
            CastOp::Bits if from.bits() == to.bits() => Inst::Cast { op, from, to, dst, a },
            CastOp::Bits if from.bits() > to.bits() => Inst::Cast { op: CastOp::Trunc, from, to, dst, a },
            CastOp::Bits => Inst::Cast { op: CastOp::Zext, from, to, dst, a },
            _ => {
                not_vector(i)?;
                not_vector(i.operand(0))?;
                Inst::Cast { op, from, to, dst, a }
            }
        };
        self.emit(inst);
        Ok(())
    }

    /// A bit cast between vectors of the same width.
    fn copy_slots(&mut self, i: Val) -> Result<(), String> {
        let a = self.operand(i.operand(0))?;
        let total = slots(&leaves(self.unit, i.ty())?);
        if slots(&leaves(self.unit, i.operand(0).ty())?) != total {
            return Err("it has an odd conversion of a vector".to_owned());
        }
        let dst = self.reg(i)?;
        for s in 0..total {
            self.emit(Inst::Copy { dst: dst + s, a: nth(a, s) });
        }
        Ok(())
    }

    fn gep(&mut self, i: Val) -> Result<(), String> {
        if i.ty().kind() != TypeKind::LLVMPointerTypeKind {
            return Err("it computes vectors of addresses".to_owned());
        }
        let mut base = self.operand(i.operand(0))?;
        let mut t = i.gep_source();
        let mut fixed = 0i64;
        let mut terms = Vec::new();
        for n in 1..i.operand_count() {
            let index = i.operand(n);
            let constant = (index.is_const_int() || index.is_null())
                .then(|| if index.is_null() { 0 } else { index.sext_value() });
            let scale = if n == 1 {
                self.unit.size_of(t).cast_signed()
            } else {
                let (e, step) = aggregate_member(self.unit, t, constant.unwrap_or(1)).ok_or("odd address")?;
                t = e;
                if constant.is_some() {
                    fixed = fixed.wrapping_add(step);
                    continue;
                }
                step
            };
            match constant {
                Some(c) => fixed = fixed.wrapping_add(c.wrapping_mul(scale)),
                None => terms.push((index, scale)),
            }
        }
        let dst = self.reg(i)?;
        let last = terms.len().saturating_sub(1);
        if terms.is_empty() {
            let index = Operand::Const(0);
            self.emit(Inst::Address { dst, base, index, index_bits: 64, scale: 0, offset: fixed });
        }
        for (n, (index, scale)) in terms.into_iter().enumerate() {
            let index_bits = scalar(self.unit, index.ty())?.bits();
            if index_bits > 64 {
                return Err("an index has more than 64 bits".to_owned());
            }
            let index = self.operand(index)?;
            let to = if n == last { dst } else { self.fresh(1) };
            let offset = if n == last { fixed } else { 0 };
            self.emit(Inst::Address { dst: to, base, index, index_bits, scale, offset });
            base = Operand::Reg(to);
        }
        Ok(())
    }

    fn insert_value(&mut self, i: Val) -> Result<(), String> {
        let total = slots(&leaves(self.unit, i.ty())?);
        let (skip, n) = self.element_slots(i.ty(), &i.indices())?;
        let (whole, part) = (self.operand(i.operand(0))?, self.operand(i.operand(1))?);
        let dst = self.reg(i)?;
        for s in 0..total {
            let a = if (skip..skip + n).contains(&s) { nth(part, s - skip) } else { nth(whole, s) };
            self.emit(Inst::Copy { dst: dst + s, a });
        }
        Ok(())
    }

    /// Bit position of an element that is in one slot.
    fn element_bit_range(&self, vector: Val, index: Val) -> Result<(u32, u32, u32), String> {
        let bits = self.unit.bits_of(vector.ty().element()) as u32;
        if !index.is_const_int() || bits > 64 {
            return Err("it addresses vector elements by variable index".to_owned());
        }
        let at = index.zext_value() as u32 * bits;
        if u64::from(at + bits) > self.unit.bits_of(vector.ty()) || at / 64 != (at + bits - 1) / 64 {
            return Err("a vector element crosses a register".to_owned());
        }
        Ok((at / 64, at % 64, bits))
    }

    fn extract_element(&mut self, i: Val) -> Result<(), String> {
        let (slot, shift, bits) = self.element_bit_range(i.operand(0), i.operand(1))?;
        let mut a = nth(self.operand(i.operand(0))?, slot);
        let dst = self.reg(i)?;
        if shift > 0 {
            let t = self.fresh(1);
            let b = Operand::Const(u64::from(shift));
            self.emit(Inst::Bin { op: BinOp::LShr, bits: 64, dst: t, a, b });
            a = Operand::Reg(t);
        }
        let b = Operand::Const(if bits == 64 { u64::MAX } else { (1 << bits) - 1 });
        self.emit(Inst::Bin { op: BinOp::And, bits: 64, dst, a, b });
        Ok(())
    }

    fn insert_element(&mut self, i: Val) -> Result<(), String> {
        let (slot, shift, bits) = self.element_bit_range(i.operand(0), i.operand(2))?;
        let total = slots(&leaves(self.unit, i.ty())?);
        let (whole, part) = (self.operand(i.operand(0))?, self.operand(i.operand(1))?);
        let dst = self.reg(i)?;
        for s in 0..total {
            if s != slot {
                self.emit(Inst::Copy { dst: dst + s, a: nth(whole, s) });
            }
        }
        let mask = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
        let (kept, moved) = (self.fresh(1), self.fresh(1));
        let keep = Operand::Const(!(mask << shift));
        self.emit(Inst::Bin { op: BinOp::And, bits: 64, dst: kept, a: nth(whole, slot), b: keep });
        let by = Operand::Const(u64::from(shift));
        self.emit(Inst::Bin { op: BinOp::Shl, bits: 64, dst: moved, a: part, b: by });
        let (a, b) = (Operand::Reg(kept), Operand::Reg(moved));
        self.emit(Inst::Bin { op: BinOp::Or, bits: 64, dst: dst + slot, a, b });
        Ok(())
    }
}

/// Slot `n` of an operand.
pub fn nth(o: Operand, n: u32) -> Operand {
    match o {
        Operand::Reg(r) => Operand::Reg(r + n),
        other => other,
    }
}

/// Instructions that only denote a part of another value.
fn is_alias(i: Val) -> bool {
    i.opcode() == Opcode::LLVMExtractValue
}

fn not_vector(v: Val) -> Result<(), String> {
    if v.ty().kind() == TypeKind::LLVMVectorTypeKind {
        return Err("it has vector arithmetic".to_owned());
    }
    Ok(())
}

/// Targets of retreating edges of a depth-first search: every cycle contains one.
fn loop_headers(blocks: &[Blk]) -> HashSet<Blk> {
    let mut headers = HashSet::new();
    let mut state: HashMap<Blk, u8> = HashMap::new();
    let Some(entry) = blocks.first() else { return headers };
    let next = |b: &Blk| b.terminator().map(|t| t.successors()).unwrap_or_default();
    let mut stack = vec![(*entry, next(entry), 0usize)];
    state.insert(*entry, 1);
    while let Some((b, succ, i)) = stack.last_mut() {
        if let Some(s) = succ.get(*i).copied() {
            *i += 1;
            match state.get(&s) {
                None => {
                    state.insert(s, 1);
                    stack.push((s, next(&s), 0));
                }
                Some(1) => {
                    headers.insert(s);
                }
                _ => {}
            }
        } else {
            state.insert(*b, 2);
            stack.pop();
        }
    }
    headers
}

fn int_op(op: Opcode) -> Option<BinOp> {
    use Opcode as O;
    Some(match op {
        O::LLVMAdd => BinOp::Add,
        O::LLVMSub => BinOp::Sub,
        O::LLVMMul => BinOp::Mul,
        O::LLVMUDiv => BinOp::UDiv,
        O::LLVMSDiv => BinOp::SDiv,
        O::LLVMURem => BinOp::URem,
        O::LLVMSRem => BinOp::SRem,
        O::LLVMShl => BinOp::Shl,
        O::LLVMLShr => BinOp::LShr,
        O::LLVMAShr => BinOp::AShr,
        O::LLVMAnd => BinOp::And,
        O::LLVMOr => BinOp::Or,
        O::LLVMXor => BinOp::Xor,
        _ => return None,
    })
}

fn float_op(op: Opcode) -> Option<FloatOp> {
    use Opcode as O;
    Some(match op {
        O::LLVMFAdd => FloatOp::Add,
        O::LLVMFSub => FloatOp::Sub,
        O::LLVMFMul => FloatOp::Mul,
        O::LLVMFDiv => FloatOp::Div,
        O::LLVMFRem => FloatOp::Rem,
        _ => return None,
    })
}

fn int_pred(p: IntPredicate) -> IntPred {
    use IntPredicate as P;
    match p {
        P::LLVMIntEQ => IntPred::Eq,
        P::LLVMIntNE => IntPred::Ne,
        P::LLVMIntUGT => IntPred::Ugt,
        P::LLVMIntUGE => IntPred::Uge,
        P::LLVMIntULT => IntPred::Ult,
        P::LLVMIntULE => IntPred::Ule,
        P::LLVMIntSGT => IntPred::Sgt,
        P::LLVMIntSGE => IntPred::Sge,
        P::LLVMIntSLT => IntPred::Slt,
        P::LLVMIntSLE => IntPred::Sle,
    }
}

fn float_pred(p: RealPredicate) -> FloatPred {
    use RealPredicate as P;
    match p {
        P::LLVMRealPredicateFalse => FloatPred::False,
        P::LLVMRealOEQ => FloatPred::Oeq,
        P::LLVMRealOGT => FloatPred::Ogt,
        P::LLVMRealOGE => FloatPred::Oge,
        P::LLVMRealOLT => FloatPred::Olt,
        P::LLVMRealOLE => FloatPred::Ole,
        P::LLVMRealONE => FloatPred::One,
        P::LLVMRealORD => FloatPred::Ord,
        P::LLVMRealUNO => FloatPred::Uno,
        P::LLVMRealUEQ => FloatPred::Ueq,
        P::LLVMRealUGT => FloatPred::Ugt,
        P::LLVMRealUGE => FloatPred::Uge,
        P::LLVMRealULT => FloatPred::Ult,
        P::LLVMRealULE => FloatPred::Ule,
        P::LLVMRealUNE => FloatPred::Une,
        P::LLVMRealPredicateTrue => FloatPred::True,
    }
}
