//! Entering and leaving functions.

use crate::code::{CallSite, Code, VaKind};
use crate::error::Result;
use crate::fused::WINDOW;
use crate::machine::{Entered, Frame, MAX_REGISTERS, Machine, bounded};
use crate::observer::Observer;
use program::inst::ArgTy;
use recording::event::Event;

impl Machine<'_> {
    /// The next event is `Enter`.
    pub(crate) fn enter_from_outside<O: Observer>(&mut self, observer: &mut O) -> Result<()> {
        let at = self.head.map_or(0, |h| h.position.time);
        if at != self.time {
            return Err(self.diverged(format!("time {}", self.time), self.describe_next()));
        }
        let (position, event) = self.take()?;
        observer.event(&self.moment(), position, &event);
        let Event::Enter { module, function, slots, .. } = event else { return Ok(()) };
        let module = self.image.canonical(module);
        let Some(number) = self.image.function(module, function) else {
            return Err(self.diverged(
                "a function of the program",
                format!("Enter of function {function} of module {module}"),
            ));
        };
        let code = self.image.code(number);
        let base = self.next_base();
        self.make_frame(number, code, base, Entered::Outside)?;
        let f = &self.image.module(module).functions[function as usize];
        let mut values = slots.iter();
        for p in &f.params {
            let n = match p.ty {
                ArgTy::Value(ty) => ty.slots(),
                // Not passed in the event: a copy follows as patches.
                ArgTy::ByVal { .. } => 0,
            };
            for k in 0..n {
                self.regs[base + (p.reg + k) as usize] = values.next().unwrap_or(0);
            }
        }
        self.time += 1;
        if code.by_value {
            // The copies come as patches of the first instruction.
            let frame = self.frames.last().map_or(0, |f| f.frame);
            for p in &f.params {
                if let ArgTy::ByVal { .. } = p.ty {
                    self.regs[base + p.reg as usize] = frame.wrapping_add(p.frame_offset);
                }
            }
            self.patches(observer, code.module, code.first_site)?;
        }
        if O::STEPS
            && let Some(v) = self.view()
        {
            observer.enter(&v, true);
        }
        if self.time > self.next_event_time { self.event_overdue() } else { Ok(()) }
    }

    fn next_base(&self) -> usize {
        self.frames.last().map_or(0, |f| f.base + self.image.code(f.function).total())
    }

    /// Extends the registers to all that the fast loop can address.
    pub(crate) fn reserve_registers(&mut self) {
        let end = self.frames.last().map_or(0, |f| f.base) + WINDOW;
        if end > self.regs.len() {
            self.regs.resize(end, 0);
        }
    }

    /// Pushes a frame with its constants; the caller sets the parameters.
    #[inline]
    pub(crate) fn make_frame(
        &mut self,
        function: u32,
        code: &Code,
        base: usize,
        entered: Entered,
    ) -> Result<()> {
        let end = base + code.total();
        if end > self.regs.len() {
            if end > MAX_REGISTERS {
                return Err(self.diverged("a call", "a call depth no recording has"));
            }
            self.regs.resize(end.next_power_of_two(), 0);
        }
        if base + WINDOW > self.regs.len() {
            self.regs.resize((base + WINDOW).next_power_of_two(), 0);
        }
        let constants = base + code.slots as usize + 1;
        self.regs[constants..end].copy_from_slice(&code.constants);
        let saved_stack = self.stack;
        let mut frame = saved_stack;
        if code.frame_size > 0 {
            frame = saved_stack.wrapping_sub(code.frame_size) & code.frame_align.wrapping_neg();
            self.stack = frame;
        }
        let va_base = self.va.len();
        self.frames.push(Frame { function, pc: 0, base, frame, saved_stack, entered, va_base, va: None });
        Ok(())
    }

    /// A call to a function of the image. The caller's frame is the last, its
    /// `pc` at the call.
    #[inline]
    pub(crate) fn call_linked<O: Observer>(
        &mut self,
        observer: &mut O,
        caller: u32,
        call: u32,
        target: u32,
    ) -> Result<()> {
        let image = self.image;
        let site = &image.code(caller).calls[call as usize];
        let from = self.frames.last().map_or(0, |f| f.base);
        let base = from + image.code(caller).total();
        let code = image.code(target);
        match &site.moves {
            Some(moves) if site.direct == Some(target) => {
                self.make_frame(target, code, base, Entered::Linked)?;
                let (low, high) = self.regs.split_at_mut(base);
                let low = &low[from..];
                for m in moves {
                    high[m.dst as usize] = low[m.src as usize];
                }
            }
            _ => self.call_general(site, (caller, call), from, base, target)?,
        }
        self.time += 1;
        if O::STEPS
            && let Some(v) = self.view()
        {
            observer.enter(&v, false);
        }
        if self.time > self.next_event_time { self.event_overdue() } else { Ok(()) }
    }

    /// Passes arguments of any form: by position, memory by copy, variadic ones saved for `va_start`.
    fn call_general(
        &mut self,
        site: &CallSite,
        origin: (u32, u32),
        from: usize,
        base: usize,
        target: u32,
    ) -> Result<()> {
        let code = self.image.code(target);
        let f = &self.image.module(code.module).functions[code.function as usize];
        let va_base = self.va.len();
        if let (true, Some(fixed)) = (code.variadic, site.fixed) {
            for a in site.args.iter().skip(fixed as usize) {
                let first = from + a.src as usize;
                match a.kind {
                    VaKind::ByVal { size, .. } => {
                        for k in 0..bounded(size).div_ceil(8) {
                            let at = self.regs[first].wrapping_add(8 * k);
                            let n = (size - 8 * k).min(8) as usize;
                            let mut word = [0; 8];
                            self.memory.read(at, &mut word[..n]);
                            self.va.push(u64::from_le_bytes(word));
                        }
                    }
                    _ => self.va.extend_from_slice(&self.regs[first..first + a.slots as usize]),
                }
            }
        }
        self.make_frame(target, code, base, Entered::Linked)?;
        let last = self.frames.len() - 1;
        self.frames[last].va_base = va_base;
        if code.variadic && site.fixed.is_some() {
            self.frames[last].va = Some(origin);
        }
        let frame = self.frames[last].frame;
        for (p, a) in f.params.iter().zip(&site.args) {
            let first = from + a.src as usize;
            let dst = base + p.reg as usize;
            match p.ty {
                ArgTy::Value(ty) => {
                    for k in 0..ty.slots().min(a.slots) as usize {
                        self.regs[dst + k] = self.regs[first + k];
                    }
                }
                ArgTy::ByVal { size, .. } => {
                    let to = frame.wrapping_add(p.frame_offset);
                    self.memory.copy(to, self.regs[first], bounded(size));
                    self.regs[dst] = to;
                }
            }
        }
        Ok(())
    }

    /// The innermost function returns `slots` slots from `value`.
    #[inline]
    pub(crate) fn return_from<O: Observer>(
        &mut self,
        observer: &mut O,
        value: u32,
        slots: u32,
    ) -> Result<()> {
        self.write_context()?;
        if self.stopped(observer)? {
            return Ok(());
        }
        let Some(frame) = self.frames.pop() else { return Ok(()) };
        self.stack = frame.saved_stack;
        self.va.truncate(frame.va_base);
        if frame.entered == Entered::Outside {
            return if self.frames.is_empty() { Ok(()) } else { self.external(observer) };
        }
        let image = self.image;
        let Some(caller) = self.frames.last_mut() else { return Ok(()) };
        let code = image.code(caller.function);
        if let crate::code::Op::Call { call } = code.ops[caller.pc as usize] {
            let site = &code.calls[call as usize];
            let to = caller.base + site.dst as usize;
            let from = frame.base + value as usize;
            for k in 0..slots.min(site.ret_slots) as usize {
                self.regs[to + k] = self.regs[from + k];
            }
        }
        self.time += 1;
        if O::STEPS
            && let Some(v) = self.view()
        {
            observer.returned(&v);
        }
        if let Some(caller) = self.frames.last_mut() {
            caller.pc += 1;
        }
        if self.time > self.next_event_time { self.event_overdue() } else { Ok(()) }
    }
}
