//! Instructions outside the inner loop: rare types, and all that events may affect.

use crate::arith;
use crate::code::VaKind;
use crate::error::Result;
use crate::machine::{Machine, bounded};
use crate::observer::{Effect, Observer};
use program::inst::{Inst, Operand, Reg, Ty};
use recording::event::{Event, kind};

impl Machine<'_> {
    fn value(&self, base: usize, module: u32, o: Operand) -> u64 {
        match o {
            Operand::Reg(r) => self.regs[base + r as usize],
            Operand::Const(c) => c,
            Operand::Symbol { symbol, offset } => {
                self.image.symbol(module, symbol).wrapping_add_signed(offset)
            }
        }
    }

    /// Runs the instruction at the innermost frame's `pc` and advances.
    pub(crate) fn slow<O: Observer>(&mut self, observer: &mut O) -> Result<()> {
        let image = self.image;
        let Some(frame) = self.frames.last().copied() else { return Ok(()) };
        let code = image.code(frame.function);
        let (module, site) = (code.module, code.first_site + frame.pc);
        let inst = &image.module(module).functions[code.function as usize].code[frame.pc as usize];
        let base = frame.base;
        let one = |m: &Self, o: Operand| m.value(base, module, o);
        let wide = |m: &Self, o: Operand, slots: u32| -> u128 {
            let low = u128::from(m.value(base, module, o));
            match o {
                Operand::Reg(r) if slots > 1 => low | u128::from(m.regs[base + r as usize + 1]) << 64,
                _ => low,
            }
        };
        let mut effect = Effect::None;
        match inst {
            Inst::Bin { op, bits, dst, a, b } => {
                let slots = Ty::Int(*bits).slots();
                match arith::bin(*op, *bits, wide(self, *a, slots), wide(self, *b, slots)) {
                    Some(v) => self.set(base, *dst, slots, v),
                    None => return self.trap("a division that traps"),
                }
            }
            Inst::Float { op, kind, dst, a, b } => {
                let slots = Ty::Float(*kind).slots();
                let v = arith::float(*op, *kind, wide(self, *a, slots), wide(self, *b, slots));
                self.set(base, *dst, slots, v);
            }
            Inst::ICmp { pred, bits, dst, a, b } => {
                let slots = Ty::Int(*bits).slots();
                let v = arith::icmp(*pred, *bits, wide(self, *a, slots), wide(self, *b, slots));
                self.set(base, *dst, 1, v.into());
            }
            Inst::FCmp { pred, kind, dst, a, b } => {
                let slots = Ty::Float(*kind).slots();
                let v = arith::fcmp(*pred, *kind, wide(self, *a, slots), wide(self, *b, slots));
                self.set(base, *dst, 1, v.into());
            }
            Inst::Cast { op, from, to, dst, a } => {
                let v = arith::cast(*op, *from, *to, wide(self, *a, from.slots()));
                self.set(base, *dst, to.slots(), v);
            }
            Inst::Pure { op, ty, dst, args } => {
                let mut values = [0; 3];
                for (v, a) in values.iter_mut().zip(args) {
                    *v = wide(self, *a, ty.slots());
                }
                let (v, overflow) = arith::pure(*op, *ty, &values[..args.len().min(3)]);
                let slots = op.result_slots(*ty);
                self.set(base, *dst, ty.slots().min(slots), v);
                if slots > ty.slots() {
                    self.set(base, *dst + ty.slots(), 1, overflow.into());
                }
            }
            Inst::Select { slots, dst, cond, a, b } => {
                let from = if one(self, *cond) & 1 != 0 { *a } else { *b };
                for k in 0..*slots {
                    let v = match from {
                        Operand::Reg(r) => self.regs[base + (r + k) as usize],
                        o if k == 0 => one(self, o),
                        _ => 0,
                    };
                    self.regs[base + (dst + k) as usize] = v;
                }
            }
            Inst::Copy { dst, a } => self.regs[base + *dst as usize] = one(self, *a),
            Inst::Address { dst, base: from, index, index_bits, scale, offset } => {
                let i = arith::signed(wide(self, *index, Ty::Int(*index_bits).slots()), *index_bits) as i64;
                let v =
                    one(self, *from).wrapping_add_signed(i.wrapping_mul(*scale)).wrapping_add_signed(*offset);
                self.regs[base + *dst as usize] = v;
            }
            Inst::Frame { dst, offset } => {
                self.regs[base + *dst as usize] = frame.frame.wrapping_add(*offset);
            }
            Inst::Alloca { dst, size, align } => {
                self.stack =
                    self.stack.wrapping_sub(one(self, *size)) & u64::from((*align).max(1)).wrapping_neg();
                self.regs[base + *dst as usize] = self.stack;
            }
            Inst::StackSave { dst } => self.regs[base + *dst as usize] = self.stack,
            Inst::StackRestore { a } => self.stack = one(self, *a),
            Inst::Load { dst, addr, ty } => {
                let address = one(self, *addr);
                if self.faults(observer, address, ty.bytes().into())? {
                    return Ok(());
                }
                let v = self.load(observer, module, site, address, *ty)?;
                self.counters.loads += 1;
                self.set(base, *dst, ty.slots(), v);
                effect = Effect::Load { address, len: ty.bytes() };
            }
            Inst::Store { addr, value, ty } => {
                let address = one(self, *addr);
                if self.faults(observer, address, ty.bytes().into())? {
                    return Ok(());
                }
                let v = wide(self, *value, ty.slots());
                self.sum = self.sum.wrapping_add(v as u64).wrapping_add((v >> 64) as u64);
                self.memory.write(address, &v.to_le_bytes()[..ty.bytes() as usize]);
                effect = Effect::Store { address, len: ty.bytes() };
            }
            Inst::Rmw { op, dst, addr, value, ty } => {
                let address = one(self, *addr);
                if self.faults(observer, address, ty.bytes().into())? {
                    return Ok(());
                }
                let old = self.load(observer, module, site, address, *ty)?;
                self.counters.loads += 1;
                let new = arith::rmw(*op, *ty, old, wide(self, *value, ty.slots()));
                self.memory.write(address, &new.to_le_bytes()[..ty.bytes() as usize]);
                self.set(base, *dst, ty.slots(), old);
                effect = Effect::Update { address, len: ty.bytes(), stored: true };
            }
            Inst::CmpXchg { dst, addr, expected, new, ty } => {
                let address = one(self, *addr);
                if self.faults(observer, address, ty.bytes().into())? {
                    return Ok(());
                }
                let old = self.load(observer, module, site, address, *ty)?;
                self.counters.loads += 1;
                let stored = old == wide(self, *expected, ty.slots()) & arith::mask(ty.bits());
                if stored {
                    let new = wide(self, *new, ty.slots());
                    self.memory.write(address, &new.to_le_bytes()[..ty.bytes() as usize]);
                }
                self.set(base, *dst, ty.slots(), old);
                self.set(base, *dst + ty.slots(), 1, stored.into());
                effect = Effect::Update { address, len: ty.bytes(), stored };
            }
            Inst::Fence => {}
            Inst::MemCopy { to, from, len } => {
                let (to, from, len) = (one(self, *to), one(self, *from), bounded(one(self, *len)));
                if len > 0 && (self.crashes_at(to, len) || self.crashes_at(from, len)) {
                    return self.crash(true);
                }
                self.patches(observer, module, site)?;
                self.memory.copy(to, from, len);
                effect = Effect::Copy { to, from, len };
            }
            Inst::MemSet { to, byte, len } => {
                let (to, byte, len) = (one(self, *to), one(self, *byte), bounded(one(self, *len)));
                if len > 0 && self.crashes_at(to, len) {
                    return self.crash(true);
                }
                self.memory.fill(to, byte as u8, len);
                effect = Effect::Fill { to, len };
            }
            Inst::VaStart { list } => {
                let list = one(self, *list);
                self.va_start(observer, module, site, list)?;
                effect = Effect::Fill { to: list, len: 24 };
            }
            Inst::VaCopy { to, from } => {
                let (to, from) = (one(self, *to), one(self, *from));
                self.patches(observer, module, site)?;
                self.memory.copy(to, from, 24);
                effect = Effect::Copy { to, from, len: 24 };
            }
            Inst::ThreadLocal { dst, symbol } => {
                if self.is_next(module, site) && self.pending(kind::THREAD_LOCAL) {
                    let (position, event) = self.take()?;
                    if let Event::ThreadLocal { symbol, address } = event {
                        self.tls.insert((module, symbol), address);
                    }
                    observer.event(&self.moment(), position, &event);
                }
                let Some(address) = self.tls.get(&(module, *symbol)) else {
                    return self.missing("the address of a thread-local variable");
                };
                self.regs[base + *dst as usize] = *address;
            }
            Inst::Unknown { dst, ret, .. } => {
                let slots: u32 = ret.iter().map(|t| t.slots()).sum();
                if slots > 0 {
                    if !(self.is_next(module, site) && self.pending(kind::VALUE)) {
                        return self.missing("a value that cannot be computed");
                    }
                    let (position, event) = self.take()?;
                    if let Event::Value { slots: values } = event {
                        for (k, v) in values.iter().take(slots as usize).enumerate() {
                            self.regs[base + *dst as usize + k] = v;
                        }
                    }
                    observer.event(&self.moment(), position, &event);
                }
            }
            Inst::Switch { value, .. } => {
                // Wider than a slot; the model has only 64-bit cases.
                let _ = value;
                return Err(self.diverged("a switch of at most 64 bits", "a wider one"));
            }
            Inst::Trap => return self.trap("a trap"),
            Inst::Unreachable => return self.trap("the end of a function that does not return"),
            // Handled by the inner loop.
            Inst::Tick
            | Inst::Jump { .. }
            | Inst::Branch { .. }
            | Inst::Call(_)
            | Inst::Landing { .. }
            | Inst::Return { .. } => {}
        }
        if O::STEPS
            && let Some(view) = self.view()
        {
            observer.step(&view, effect);
        }
        self.counters.instructions += 1;
        if let Some(f) = self.frames.last_mut() {
            f.pc += 1;
        }
        Ok(())
    }

    /// Handles the access that ended the program, or the one that a handler left by a jump.
    fn faults<O: Observer>(&mut self, observer: &mut O, address: u64, len: u64) -> Result<bool> {
        if self.crashes_at(address, len) {
            self.crash(true)?;
            return Ok(true);
        }
        if self.is_left_by_jump(address, len) {
            self.jump(observer)?;
            return Ok(true);
        }
        Ok(false)
    }

    /// A required event is missing: the recording is cut, or replay is wrong.
    fn missing(&mut self, what: &str) -> Result<()> {
        if self.head.is_none() {
            return self.cut();
        }
        if self.pending(kind::CRASH) {
            return self.crash(true);
        }
        if self.pending(kind::END) {
            return self.finish();
        }
        Err(self.diverged(what, self.describe_next()))
    }

    fn set(&mut self, base: usize, dst: Reg, slots: u32, v: u128) {
        let at = base + dst as usize;
        self.regs[at] = v as u64;
        if slots > 1 {
            self.regs[at + 1] = (v >> 64) as u64;
        }
    }

    /// A load; the recording corrects its value if it has an event for it.
    fn load<O: Observer>(
        &mut self,
        observer: &mut O,
        module: u32,
        site: u32,
        address: u64,
        ty: Ty,
    ) -> Result<u128> {
        let len = ty.bytes() as usize;
        let mut bytes = [0; 16];
        self.memory.read(address, &mut bytes[..len]);
        if self.is_next(module, site) {
            if !self.pending(kind::LOAD) {
                return Err(self.diverged("a load", self.describe_next()));
            }
            let (position, event) = self.take()?;
            let writer = match event {
                Event::Load { size, delta, writer } if usize::from(size) == len => {
                    let v = (u128::from_le_bytes(bytes) as u64).wrapping_add(delta);
                    bytes[..8].copy_from_slice(&v.to_le_bytes());
                    bytes[len..].fill(0);
                    writer
                }
                Event::WideLoad { bytes: b, writer } if b.len() == len => {
                    bytes[..len].copy_from_slice(b);
                    writer
                }
                _ => {
                    return Err(self.diverged(format!("a load of {len} bytes"), format!("{event:?}")));
                }
            };
            self.memory.write(address, &bytes[..len]);
            self.counters.mispredicted += 1;
            if let Some(view) = self.view() {
                observer.event(&self.moment(), position, &event);
                observer.miss(&view, address, len as u32, position, writer);
            }
        }
        Ok(u128::from_le_bytes(bytes) & arith::mask(ty.bits()))
    }

    /// Fills a `va_list` and stores the arguments where the callee's prologue and the caller have stored
    /// them.
    fn va_start<O: Observer>(&mut self, observer: &mut O, module: u32, site: u32, list: u64) -> Result<()> {
        if !(self.is_next(module, site) && self.pending(kind::VA_START)) {
            return self.missing("where variadic arguments are");
        }
        let (position, event) = self.take()?;
        if let Event::VaStart { gp_offset, fp_offset, overflow_area, save_area } = event {
            self.memory.store4(list, gp_offset);
            self.memory.store4(list.wrapping_add(4), fp_offset);
            self.memory.store8(list.wrapping_add(8), overflow_area);
            self.memory.store8(list.wrapping_add(16), save_area);
            self.spill(observer, u64::from(gp_offset), u64::from(fp_offset), overflow_area, save_area);
        }
        observer.event(&self.moment(), position, &event);
        Ok(())
    }

    /// Stores variadic arguments by the System V rules.
    fn spill<O: Observer>(
        &mut self,
        observer: &mut O,
        mut gp: u64,
        mut fp: u64,
        mut overflow: u64,
        save: u64,
    ) {
        let Some(frame) = self.frames.last().copied() else { return };
        let Some((caller, call)) = frame.va else { return };
        let image = self.image;
        let site = &image.code(caller).calls[call as usize];
        let mut at = frame.va_base;
        for (number, arg) in site.args.iter().enumerate().skip(site.fixed.unwrap_or(0) as usize) {
            let (len, align, slot) = match arg.kind {
                VaKind::Int => (8, 8, (gp < 48).then_some((&mut gp, 8))),
                VaKind::Float => (4, 8, (fp < 176).then_some((&mut fp, 16))),
                VaKind::Double => (8, 8, (fp < 176).then_some((&mut fp, 16))),
                VaKind::WideInt => (16, 16, (gp <= 32).then_some((&mut gp, 16))),
                VaKind::LongDouble => (10, 16, None),
                VaKind::ByVal { size, align } => (bounded(size), u64::from(align.max(8)), None),
            };
            let words = len.div_ceil(8);
            let to = match slot {
                Some((offset, step)) => {
                    let to = save.wrapping_add(*offset);
                    *offset += step;
                    to
                }
                None => {
                    let to = overflow.wrapping_add(align - 1) & align.wrapping_neg();
                    overflow = to.wrapping_add(8 * words);
                    to
                }
            };
            for k in 0..words {
                let word = self.va.get(at).copied().unwrap_or(0).to_le_bytes();
                let n = (len - 8 * k).min(8) as usize;
                self.memory.write(to.wrapping_add(8 * k), &word[..n]);
                at += 1;
            }
            if O::STEPS
                && let Some(view) = self.view()
            {
                observer.variadic(&view, number as u32, to, len);
            }
        }
    }
}
