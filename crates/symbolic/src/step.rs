//! The effect of each instruction on the shadow state.

use crate::condition::{Kind, Reason};
use crate::engine::{Engine, bits};
use crate::observer::StepObserver;
use crate::semantics;
use crate::shadow::TermByte;
use program::inst::{BinOp, BlockId, CastOp, Inst, Operand, RmwOp, Ty};
use replay::observer::{Effect, View};
use solver::{Binary, Term, Unary};

impl<W: StepObserver> Engine<'_, W> {
    /// Executes an instruction that may have touched something input-dependent.
    pub(crate) fn instruction(&mut self, view: &View<'_>, effect: Effect) {
        let inst = view.inst();
        match inst {
            Inst::Bin { op, bits, dst, a, b } => {
                let term = self.binary(view, *op, *bits, *a, *b);
                self.assign(view, *dst, *bits, term);
            }
            Inst::ICmp { pred, bits, dst, a, b } => {
                let operands = self.both(view, *bits, *a, *b);
                let term = operands.map(|(a, b)| semantics::compare(self.pool(), *pred, a, b));
                if let (Some(operands), Some(term)) = (operands, term) {
                    self.compared(view, operands, term);
                }
                self.assign(view, *dst, 1, term);
            }
            Inst::Cast { op, from, to, dst, a } => {
                let term = self.cast(view, *op, *from, *to, *a);
                self.assign(view, *dst, bits(*to), term);
            }
            Inst::Pure { op, ty, dst, args } => self.pure(view, *op, *ty, *dst, args),
            Inst::Select { slots, dst, cond, a, b } => self.select(view, *slots, *dst, *cond, *a, *b),
            Inst::Copy { dst, a } => {
                let term = self.slot(view, *a, 0);
                self.set_slot(view, *dst, term);
            }
            Inst::Address { dst, base, index, index_bits, scale, offset } => {
                let term = self.address(view, *base, (*index, *index_bits), *scale, *offset);
                self.assign(view, *dst, 64, term);
            }
            Inst::Load { dst, addr, ty } => self.load(view, *dst, *addr, *ty),
            Inst::Store { addr, value, ty } => self.store(view, *addr, *value, *ty),
            Inst::Rmw { .. } | Inst::CmpXchg { .. } => self.update(view, inst, effect),
            Inst::MemCopy { to, from, .. } | Inst::VaCopy { to, from } => {
                let len = if let Inst::MemCopy { len, .. } = inst { Some(*len) } else { None };
                self.concretise_operands(view, &[*to, *from], len);
                if let Effect::Copy { to, from, len } = effect {
                    self.moved(to, from, len);
                }
            }
            Inst::MemSet { to, byte, len } => {
                self.concretise_operands(view, &[*to], Some(*len));
                let term = self.operand(view, *byte, 8);
                if let Effect::Fill { to, len } = effect {
                    self.filled(to, len, term);
                }
            }
            Inst::VaStart { list } => {
                self.concretise_operands(view, &[*list], None);
                if let Effect::Fill { to, len } = effect {
                    self.overwritten(to, len);
                }
            }
            Inst::Alloca { dst, size, .. } => {
                self.concretise_operands(view, &[], Some(*size));
                let (start, size) = (view.value(Operand::Reg(*dst)), view.value(*size));
                self.forget(view, *dst, 1);
                if let Some(frame) = self.frames.get_mut(view.depth as usize - 1) {
                    frame.grown.push((start, size));
                }
            }
            Inst::Branch { cond, .. } => {
                if let Some(term) = self.operand(view, *cond, 1) {
                    let taken = view.value(*cond) & 1;
                    let site = self.computed(term);
                    let term = if taken == 1 { term } else { self.pool().not(term) };
                    self.found.touched += 1;
                    self.assume(view, term, Kind::Branch, taken, None);
                    self.set_computed_site(view, site);
                }
            }
            Inst::Switch { bits, value, default, cases } => {
                self.switch(view, *bits, *value, *default, cases);
            }
            Inst::Call(call) => self.before_call(view, call),
            Inst::Return { value, ret } => self.returning(view, *value, ret),
            Inst::Float { op, kind, dst, a, b } => self.float(view, *op, *kind, *dst, (*a, *b)),
            Inst::FCmp { pred, kind, dst, a, b } => self.float_comparison(view, *pred, *kind, *dst, (*a, *b)),
            Inst::Unknown { args, .. } => {
                for a in args {
                    self.concretise_operand(view, *a, Ty::Int(64), Reason::Opaque);
                }
                self.forget_result(view, inst);
            }
            Inst::StackRestore { a } => self.concretise_operand(view, *a, Ty::Ptr, Reason::Length),
            Inst::Frame { .. } | Inst::StackSave { .. } | Inst::ThreadLocal { .. } | Inst::Landing { .. } => {
                self.forget_result(view, inst);
            }
            _ => {}
        }
    }

    fn forget_result(&mut self, view: &View<'_>, inst: &Inst) {
        if let Some((dst, slots)) = inst.defines() {
            self.forget(view, dst, slots);
        }
    }

    /// Concretises an operand.
    pub(crate) fn concretise_operand(&mut self, view: &View<'_>, operand: Operand, ty: Ty, reason: Reason) {
        if let Some(term) = self.operand(view, operand, ty.bits()) {
            let value = if ty.slots() > 1 { view.wide(operand) } else { view.value(operand).into() };
            self.concretise(view, term, value, reason);
            // From here on it is a concrete number.
            if let Operand::Reg(r) = operand {
                self.forget(view, r, ty.slots());
            }
        }
    }

    fn concretise_operands(&mut self, view: &View<'_>, pointers: &[Operand], len: Option<Operand>) {
        for p in pointers {
            self.concretise_operand(view, *p, Ty::Ptr, Reason::UnknownObject);
        }
        if let Some(len) = len {
            self.concretise_operand(view, len, Ty::Int(64), Reason::Length);
        }
    }

    /// A range was filled with one byte.
    pub(crate) fn filled(&mut self, to: u64, len: u64, term: Option<Term>) {
        self.overwritten(to, len);
        if let Some(term) = term {
            for i in 0..len {
                self.memory.set(to.wrapping_add(i), Some(TermByte { term, byte: 0 }));
            }
        }
    }

    /// The term of one slot of an operand.
    pub(crate) fn slot(&self, view: &View<'_>, operand: Operand, k: u32) -> Option<Term> {
        match operand {
            Operand::Reg(r) => self.frames.get(view.depth as usize - 1)?.get(r + k),
            _ => None,
        }
    }

    pub(crate) fn set_slot(&mut self, view: &View<'_>, slot: u32, term: Option<Term>) {
        if let Some(frame) = self.frames.get_mut(view.depth as usize - 1) {
            frame.set(slot, term);
        }
    }

    /// Both operands as terms, if at least one depends on input.
    pub(crate) fn both(
        &mut self,
        view: &View<'_>,
        bits: u16,
        a: Operand,
        b: Operand,
    ) -> Option<(Term, Term)> {
        let (x, y) = (self.operand(view, a, bits), self.operand(view, b, bits));
        if x.is_none() && y.is_none() {
            return None;
        }
        let x = match x {
            Some(x) => x,
            None => self.term(view, a, bits),
        };
        let y = match y {
            Some(y) => y,
            None => self.term(view, b, bits),
        };
        Some((x, y))
    }

    fn binary(&mut self, view: &View<'_>, op: BinOp, bits: u16, a: Operand, b: Operand) -> Option<Term> {
        let (x, y) = self.both(view, bits, a, b)?;
        if matches!(op, BinOp::UDiv | BinOp::URem | BinOp::SDiv | BinOp::SRem) {
            self.assume_no_trap(view, op, x, y);
        }
        Some(semantics::binary(self.pool(), op, x, y))
    }

    /// Execution continued after a division, so it did not trap.
    fn assume_no_trap(&mut self, view: &View<'_>, op: BinOp, x: Term, y: Term) {
        let width = self.pool().width(x);
        let zero = self.constant(width, 0);
        let is_zero = self.pool().binary(Binary::Eq, y, zero);
        let fine = self.pool().not(is_zero);
        self.assume(view, fine, Kind::Bounds, 0, None);
        if matches!(op, BinOp::SDiv | BinOp::SRem) {
            let low = self.constant(width, 1 << (width - 1));
            let minus = self.constant(width, u128::MAX);
            let lowest = self.pool().binary(Binary::Eq, x, low);
            let by_minus = self.pool().binary(Binary::Eq, y, minus);
            let both = self.pool().and(lowest, by_minus);
            let fine = self.pool().not(both);
            self.assume(view, fine, Kind::Bounds, 0, None);
        }
    }

    fn cast(&mut self, view: &View<'_>, op: CastOp, from: Ty, to: Ty, a: Operand) -> Option<Term> {
        let term = self.operand(view, a, bits(from))?;
        let width = u32::from(bits(to));
        match semantics::integer_cast(self.pool(), op, term, width) {
            Some(term) => Some(term),
            None => self.float_cast(view, op, (from, to), a, term),
        }
    }

    fn select(&mut self, view: &View<'_>, slots: u32, dst: u32, cond: Operand, a: Operand, b: Operand) {
        let chosen = if view.value(cond) & 1 != 0 { a } else { b };
        let Some(cond) = self.operand(view, cond, 1) else {
            for k in 0..slots {
                let term = self.slot(view, chosen, k);
                self.set_slot(view, dst + k, term);
            }
            return;
        };
        for k in 0..slots {
            let (x, y) = (self.slot(view, a, k), self.slot(view, b, k));
            let value = |o: Operand| match o {
                Operand::Reg(r) => view.regs.get((r + k) as usize).copied().unwrap_or(0),
                other if k == 0 => view.value(other),
                _ => 0,
            };
            let width = [x, y].into_iter().flatten().map(|t| self.world.pool.width(t)).max();
            let needed = |v: u64| 64 - v.leading_zeros().min(63);
            // Wide enough for a concrete operand.
            let width = [x.is_none().then(|| needed(value(a))), y.is_none().then(|| needed(value(b)))]
                .into_iter()
                .flatten()
                .chain(width)
                .max()
                .unwrap_or(64);
            // Nearly all types have 1, 8, 16, 32 or 64 bits; odd widths only make terms longer.
            let width = [1, 8, 16, 32].into_iter().find(|w| *w >= width).unwrap_or(64);
            let side = |engine: &mut Self, term: Option<Term>, v: u64| match term {
                Some(t) => engine.fit(t, width),
                None => engine.constant(width, v.into()),
            };
            let (x, y) = (side(self, x, value(a)), side(self, y, value(b)));
            let term = self.pool().ite(cond, x, y);
            self.assign(view, dst + k, width as u16, Some(term));
        }
    }

    fn address(
        &mut self,
        view: &View<'_>,
        base: Operand,
        (index, index_bits): (Operand, u16),
        scale: i64,
        offset: i64,
    ) -> Option<Term> {
        let at = self.operand(view, base, 64);
        let by = self.operand(view, index, index_bits);
        if at.is_none() && by.is_none() {
            return None;
        }
        let at = match at {
            Some(t) => t,
            None => self.term(view, base, 64),
        };
        let by = match by {
            Some(t) => t,
            None => self.term(view, index, index_bits),
        };
        Some(semantics::address(self.pool(), at, by, scale, offset))
    }

    fn switch(
        &mut self,
        view: &View<'_>,
        bits: u16,
        value: Operand,
        default: BlockId,
        cases: &[(u64, BlockId)],
    ) {
        let Some(term) = self.operand(view, value, bits) else { return };
        let now = view.value(value);
        let target = cases.iter().find(|c| c.0 == now).map_or(default, |c| c.1);
        let mut same = self.constant(1, 0);
        for (case, block) in cases {
            // To the default: the value is none of the cases with other targets.
            if (*block == target) != (target == default) {
                let case = self.constant(bits.into(), (*case).into());
                let is = self.pool().binary(Binary::Eq, term, case);
                same = self.pool().or(same, is);
            }
        }
        if target == default {
            same = self.pool().not(same);
        }
        self.found.touched += 1;
        self.assume(view, same, Kind::Switch, now, None);
    }

    /// Assigns the phis of an edge as replay does: one by one, in an order that is equivalent to a parallel
    /// copy.
    pub(crate) fn moves(&mut self, view: &View<'_>, edge: u32) {
        let edge = &view.code.edges[edge as usize];
        let Some(frame) = self.frames.get_mut(view.depth as usize - 1) else { return };
        for m in &view.code.moves[edge.first as usize..edge.last as usize] {
            let term = frame.get(m.src);
            if term.is_some() || frame.get(m.dst).is_some() {
                frame.set(m.dst, term);
            }
        }
    }

    /// Assigns the phis of a block, all at once.
    pub(crate) fn phis(&mut self, view: &View<'_>, from: BlockId, to: BlockId) {
        let function = view.function();
        let Some(block) = function.blocks.get(to as usize) else { return };
        let mut moved: Vec<(u32, Option<Term>)> = Vec::with_capacity(block.phis.len());
        for phi in &block.phis {
            let Some((_, value)) = phi.incoming.iter().find(|i| i.0 == from) else { continue };
            for k in 0..phi.slots {
                moved.push((phi.dst + k, self.slot(view, *value, k)));
            }
        }
        for (slot, term) in moved {
            self.set_slot(view, slot, term);
        }
    }

    /// Atomic read-modify-write and compare-and-exchange.
    fn update(&mut self, view: &View<'_>, inst: &Inst, effect: Effect) {
        let Effect::Update { address, len, stored } = effect else { return };
        match inst {
            Inst::Rmw { op, dst, addr, value, ty } => {
                self.concretise_operand(view, *addr, Ty::Ptr, Reason::UnknownObject);
                let width = u32::from(ty.bits());
                let old_value = if ty.slots() > 1 {
                    view.wide(Operand::Reg(*dst))
                } else {
                    view.value(Operand::Reg(*dst)).into()
                };
                let old = self.loaded_as(address, len.into(), old_value).map(|t| self.fit(t, width));
                let operand = self.operand(view, *value, ty.bits());
                let mut new = None;
                if old.is_some() || operand.is_some() {
                    let x = match old {
                        Some(t) => t,
                        None => self.constant(width, old_value),
                    };
                    let y = self.term(view, *value, ty.bits());
                    new = Some(self.rmw(*op, x, y));
                }
                let new = new.map(|t| self.fit(t, 8 * len));
                self.put(view.memory, address, len.into(), new);
                self.objects.touched(address, len.into());
                self.assign(view, *dst, ty.bits(), old);
            }
            Inst::CmpXchg { dst, addr, expected, new, ty } => {
                self.concretise_operand(view, *addr, Ty::Ptr, Reason::UnknownObject);
                let width = u32::from(ty.bits());
                let old_value = if ty.slots() > 1 {
                    view.wide(Operand::Reg(*dst))
                } else {
                    view.value(Operand::Reg(*dst)).into()
                };
                let old = self.loaded_as(address, len.into(), old_value).map(|t| self.fit(t, width));
                let wanted = self.operand(view, *expected, ty.bits());
                if old.is_some() || wanted.is_some() {
                    let x = match old {
                        Some(t) => t,
                        None => self.constant(width, old_value),
                    };
                    let y = self.term(view, *expected, ty.bits());
                    let same = self.pool().binary(Binary::Eq, x, y);
                    // Whether the exchange succeeds decides what is stored, so it is handled like a branch.
                    let way = if stored { same } else { self.pool().not(same) };
                    self.assume(view, way, Kind::Branch, stored.into(), None);
                }
                if stored {
                    let new = self.operand(view, *new, ty.bits()).map(|t| self.fit(t, 8 * len));
                    self.put(view.memory, address, len.into(), new);
                    self.objects.touched(address, len.into());
                }
                self.assign(view, *dst, ty.bits(), old);
                self.forget(view, *dst + ty.slots(), 1);
            }
            _ => {}
        }
    }

    fn rmw(&mut self, op: RmwOp, old: Term, value: Term) -> Term {
        let pool = self.pool();
        let mut pick = |less: Binary, first: bool| {
            let c = pool.binary(less, old, value);
            if first { pool.ite(c, old, value) } else { pool.ite(c, value, old) }
        };
        match op {
            RmwOp::Xchg => value,
            RmwOp::Min => pick(Binary::Slt, true),
            RmwOp::UMin => pick(Binary::Ult, true),
            RmwOp::Max => pick(Binary::Slt, false),
            RmwOp::UMax => pick(Binary::Ult, false),
            RmwOp::Add => pool.binary(Binary::Add, old, value),
            RmwOp::Sub => pool.binary(Binary::Sub, old, value),
            RmwOp::And => pool.binary(Binary::And, old, value),
            RmwOp::Or => pool.binary(Binary::Or, old, value),
            RmwOp::Xor => pool.binary(Binary::Xor, old, value),
            RmwOp::Nand => {
                let and = pool.binary(Binary::And, old, value);
                pool.unary(Unary::Not, and)
            }
        }
    }

    /// The term of a memory range with known concrete content, little-endian.
    pub(crate) fn loaded_as(&mut self, address: u64, len: u64, value: u128) -> Option<Term> {
        if self.regions.overlap(address, len) {
            let bytes: Vec<Option<Term>> = (0..len).map(|i| self.byte(address.wrapping_add(i))).collect();
            let mut term: Option<Term> = None;
            for (i, byte) in bytes.iter().enumerate().rev() {
                let byte = byte.unwrap_or_else(|| self.world.pool.constant(8, value >> (8 * i)));
                term = Some(self.above(term, byte));
            }
            return term.filter(|_| bytes.iter().any(Option::is_some));
        }
        let mut term: Option<Term> = None;
        let mut any = false;
        let mut end = len;
        // From the highest byte down, in runs of adjacent bytes of one term.
        while end > 0 {
            let last = self.memory.get(address.wrapping_add(end - 1));
            let mut first = end - 1;
            while first > 0 {
                let next = self.memory.get(address.wrapping_add(first - 1));
                let joined = match (next, last) {
                    (None, None) => true,
                    (Some(a), Some(b)) => {
                        a.term == b.term && u64::from(a.byte) + (end - first) == u64::from(b.byte)
                    }
                    _ => false,
                };
                if !joined {
                    break;
                }
                first -= 1;
            }
            let width = 8 * (end - first) as u32;
            let part = match last {
                None => self.constant(width, value >> (8 * first)),
                Some(piece) => {
                    any = true;
                    let low = 8 * (u32::from(piece.byte) + 1) - width;
                    self.world.pool.extract(piece.term, low, width)
                }
            };
            term = Some(self.above(term, part));
            end = first;
        }
        term.filter(|_| any)
    }

    /// Concatenates a part below the parts so far.
    fn above(&mut self, high: Option<Term>, low: Term) -> Term {
        match high {
            Some(high) => self.world.pool.concat(high, low),
            None => low,
        }
    }
}
