//! Calls that leave the modelled program, replayed from the recording.

use crate::code::{CallSite, Op};
use crate::error::Result;
use crate::machine::{AccessedRanges, End, Entered, Machine};
use crate::memory::Memory;
use crate::observer::{ExternalCall, Observer};
use externals::FormatArgs;
use program::inst::{Inst, LANDING_SLOTS};
use recording::event::{Event, kind};

/// Maximal number of argument slots that are passed on; no table entry uses more.
const MAX_ARGS: usize = 64;

impl externals::Memory for Memory {
    fn read(&mut self, at: u64, into: &mut [u8]) {
        Memory::read(self, at, into);
    }
    fn write(&mut self, at: u64, bytes: &[u8]) {
        Memory::write(self, at, bytes);
    }
    fn copy(&mut self, to: u64, from: u64, len: u64) {
        Memory::copy(self, to, from, len);
    }
    fn fill(&mut self, to: u64, byte: u8, len: u64) {
        Memory::fill(self, to, byte, len);
    }
    fn byte(&mut self, at: u64) -> u8 {
        self.load1(at)
    }
}

fn module_site(head: recording::decode::EventHead) -> (u32, u32) {
    (head.position.module, head.position.site)
}

/// Records the ranges that a model reads and writes.
struct TracedMemory<'m> {
    memory: &'m mut Memory,
    touched: &'m mut AccessedRanges,
}

fn note(ranges: &mut Vec<(u64, u64)>, at: u64, len: u64) {
    if len == 0 {
        return;
    }
    // Comparisons read two ranges alternately, byte by byte.
    for r in ranges.iter_mut().rev().take(4) {
        let from = at.wrapping_sub(r.0);
        if from <= r.1 {
            r.1 = r.1.max(from.saturating_add(len));
            return;
        }
    }
    ranges.push((at, len));
}

impl externals::Memory for TracedMemory<'_> {
    fn read(&mut self, at: u64, into: &mut [u8]) {
        note(&mut self.touched.reads, at, into.len() as u64);
        self.memory.read(at, into);
    }
    fn write(&mut self, at: u64, bytes: &[u8]) {
        note(&mut self.touched.writes, at, bytes.len() as u64);
        self.memory.write(at, bytes);
    }
    fn copy(&mut self, to: u64, from: u64, len: u64) {
        note(&mut self.touched.reads, from, len);
        note(&mut self.touched.writes, to, len);
        self.memory.copy(to, from, len);
    }
    fn fill(&mut self, to: u64, byte: u8, len: u64) {
        note(&mut self.touched.writes, to, len);
        self.memory.fill(to, byte, len);
    }
}

impl Machine<'_> {
    fn evaluate<O: Observer>(&mut self, model: externals::Model, args: &[u64], result: u64) -> u64 {
        let r = if O::STEPS {
            let mut noted = TracedMemory { memory: &mut self.memory, touched: &mut self.touched };
            externals::evaluate(model, args, result, &mut noted)
        } else {
            externals::evaluate(model, args, result, &mut self.memory)
        };
        // On an error, the recorder's evaluation failed in the same state, and it logged the result.
        r.unwrap_or(0)
    }

    /// The innermost frame's `pc` is at a call to code outside. Consumes the call's events until it is
    /// complete, or until outside code calls back: then the new frame runs first, and its return continues
    /// here.
    pub(crate) fn external<O: Observer>(&mut self, observer: &mut O) -> Result<()> {
        let image = self.image;
        let Some(frame) = self.frames.last().copied() else { return Ok(()) };
        let code = image.code(frame.function);
        let (module, site) = (code.module, code.first_site + frame.pc);
        let Op::Call { call } = code.ops[frame.pc as usize] else {
            return Err(self.diverged("a call", "a return from outside"));
        };
        let call = &code.calls[call as usize];
        let target = self.regs[frame.base + call.callee as usize];
        let known = call.known.or_else(|| image.external_at(target).and_then(|e| e.1));
        let model = known.and_then(|k| k.model);
        loop {
            if self.pause_at == Some(self.event_cursor.place()) {
                self.paused = true;
                return Ok(());
            }
            let Some(head) = self.head else {
                // After the last event only a call that needs no event can complete.
                if model.is_some_and(|m| !m.needs_result()) && self.time < self.next_event_time {
                    break;
                }
                return self.cut();
            };
            let now = head.position.time == self.time;
            if now && head.position.site == site && head.position.module == module {
                match head.kind {
                    kind::EXTERNAL => {
                        return self.external_result(observer, call, target, known);
                    }
                    kind::LAND => return self.land(observer),
                    kind::EXEC => {
                        self.apply(observer)?;
                        if self.head.is_none() {
                            self.end = Some(End::Exec);
                            return Ok(());
                        }
                        continue;
                    }
                    kind::LOAD | kind::VALUE | kind::VA_START | kind::THREAD_LOCAL => {
                        return Err(self.diverged("an external call", self.describe_next()));
                    }
                    _ => {
                        self.apply(observer)?;
                        continue;
                    }
                }
            }
            match head.kind {
                kind::SOURCE if now => self.apply(observer)?,
                kind::CHECK if now => self.apply(observer)?,
                kind::ENTER if now => return self.enter_from_outside(observer),
                kind::LAND if now => return self.land(observer),
                kind::UNWOUND if now => return self.drop_unwound_frames(observer),
                kind::INTERRUPTED if now => return self.jump(observer),
                kind::END if now => return self.finish(),
                // The handler was left by a jump: the next run starts from an empty stack.
                kind::SIGNAL => {
                    self.frames.clear();
                    self.va.clear();
                    self.stack = self.stream.initial_stack;
                    self.time = head.position.time;
                    return Ok(());
                }
                kind::CRASH
                    if now && (model.is_none() || self.may_crash_in_model(call, frame.base, known)) =>
                {
                    return self.crash(true);
                }
                _ if model.is_some_and(|m| !m.needs_result()) => break,
                _ if now && self.unwind(observer, module_site(head)) => return self.external(observer),
                _ => {
                    let name = image.external_at(target).map_or("an unknown function", |e| e.0);
                    return Err(self
                        .diverged(format!("a call to {name} (site {module}.{site})"), self.describe_next()));
                }
            }
        }
        // Modelled, and the recording does not contradict the result.
        let (args, count) = self.arguments(call, frame.base);
        let mut result = 0;
        if let Some(m) = model {
            result = self.evaluate::<O>(m, &args[..count], 0);
        }
        self.complete(observer, call, target, known, &args[..count], &[result], true)
    }

    /// An exception left code that was called back, and code outside caught it: drops the frames down to the
    /// one that waits for a call to outside at this site, if there is one.
    fn unwind<O: Observer>(&mut self, observer: &mut O, place: (u32, u32)) -> bool {
        let waits = |i: &usize| {
            let (frame, inner) = (&self.frames[*i], &self.frames[i + 1]);
            let code = self.image.code(frame.function);
            inner.entered == Entered::Outside && (code.module, code.first_site + frame.pc) == place
        };
        let Some(home) = (0..self.frames.len().saturating_sub(1)).rev().find(waits) else { return false };
        let dropped = self.frames[home + 1];
        self.va.truncate(dropped.va_base);
        self.frames.truncate(home + 1);
        self.touched.clear();
        self.stack = dropped.saved_stack;
        (self.time, self.sum) = self.context;
        if let Some(view) = self.view() {
            observer.unwound(&view);
        }
        true
    }

    /// The next event is `Unwound`: code outside jumped over the frames of `entries` entries.
    fn drop_unwound_frames<O: Observer>(&mut self, observer: &mut O) -> Result<()> {
        let (position, event) = self.take()?;
        let Event::Unwound { entries } = event else { return Ok(()) };
        observer.event(&self.moment(), position, &event);
        for _ in 0..entries {
            while let Some(frame) = self.frames.pop() {
                self.va.truncate(frame.va_base);
                self.stack = frame.saved_stack;
                if frame.entered == Entered::Outside {
                    break;
                }
            }
        }
        self.touched.clear();
        (self.time, self.sum) = self.context;
        let Some(view) = self.view() else { return Ok(()) };
        observer.unwound(&view);
        self.external(observer)
    }

    /// Argument slots of a call.
    fn arguments(&self, call: &CallSite, base: usize) -> ([u64; MAX_ARGS], usize) {
        let mut args = [0; MAX_ARGS];
        let mut n = 0;
        for a in &call.args {
            for k in 0..a.slots as usize {
                if n < MAX_ARGS {
                    args[n] = self.regs[base + a.src as usize + k];
                    n += 1;
                }
            }
        }
        (args, n)
    }

    /// Reports a call that takes a `va_list`, before the callee consumes the list.
    pub(crate) fn leaving<O: Observer>(&self, observer: &mut O) {
        let Some(view) = self.view() else { return };
        let Op::Call { call } = view.code.ops[view.index as usize] else { return };
        let call = &view.code.calls[call as usize];
        let Some(frame) = self.frames.last() else { return };
        let target = self.regs[frame.base + call.callee as usize];
        let known = call.known.or_else(|| self.image.external_at(target).and_then(|e| e.1));
        let format = known.and_then(|k| k.format);
        if format.is_some_and(|f| !f.input && matches!(f.args, FormatArgs::List(_))) {
            let (args, count) = self.arguments(call, frame.base);
            let none: &[(u64, u64)] = &[];
            let args = &args[..count];
            let (result, modelled) = (&[][..], false);
            observer.leaving(
                &view,
                &ExternalCall {
                    site: call,
                    target,
                    known,
                    args,
                    result,
                    reads: none,
                    writes: none,
                    transfers: &[],
                    modelled,
                    frames: &self.frames,
                },
            );
        }
    }

    /// The next event is the call's `External`.
    fn external_result<O: Observer>(
        &mut self,
        observer: &mut O,
        call: &CallSite,
        target: u64,
        known: Option<&'static externals::External>,
    ) -> Result<()> {
        let base = self.frames.last().map_or(0, |f| f.base);
        let (position, event) = self.take()?;
        let Event::External { slots } = event else { return Ok(()) };
        let mut result = [0; 255];
        let mut n = 0;
        for (r, v) in result.iter_mut().zip(slots.iter()) {
            *r = v;
            n += 1;
        }
        observer.event(&self.moment(), position, &event);
        let (args, count) = self.arguments(call, base);
        if let Some(m) = known.and_then(|k| k.model) {
            // The effect is the modelled one; the result is the recorded one.
            self.evaluate::<O>(m, &args[..count], result[0]);
        }
        if self.pending(kind::CHECK) && self.head.is_some_and(|h| h.position.time == self.time) {
            self.apply(observer)?;
        }
        self.complete(observer, call, target, known, &args[..count], &result[..n], false)
    }

    #[allow(clippy::too_many_arguments)] // one call site, and a struct would only repeat the parameters
    fn complete<O: Observer>(
        &mut self,
        observer: &mut O,
        call: &CallSite,
        target: u64,
        known: Option<&'static externals::External>,
        args: &[u64],
        result: &[u64],
        modelled: bool,
    ) -> Result<()> {
        let Some(frame) = self.frames.last().copied() else { return Ok(()) };
        let n = (call.ret_slots as usize).min(result.len());
        let to = frame.base + call.dst as usize;
        self.regs[to..to + n].copy_from_slice(&result[..n]);
        if let Some(view) = self.view() {
            let AccessedRanges { reads, writes, transfers } = &self.touched;
            let result = &result[..n];
            let frames = &self.frames;
            let done = ExternalCall {
                site: call,
                target,
                known,
                args,
                result,
                reads,
                writes,
                transfers,
                modelled,
                frames,
            };
            observer.external(&view, &done);
        }
        self.touched.clear();
        self.after_call()
    }

    /// Time advances after a call, and the caller continues.
    fn after_call(&mut self) -> Result<()> {
        if let Some(f) = self.frames.last_mut() {
            f.pc += 1;
        }
        self.time += 1;
        if self.time > self.next_event_time { self.event_overdue() } else { Ok(()) }
    }

    /// The next event is `Interrupted`: a signal handler jumped to the target of the `Land` event after it.
    pub(crate) fn jump<O: Observer>(&mut self, observer: &mut O) -> Result<()> {
        self.apply(observer)?;
        if !self.pending(kind::LAND) {
            return Err(self.diverged("a landing", self.describe_next()));
        }
        self.land(observer)
    }

    /// The next event is `Land`: drops frames down to the one that it names.
    pub(crate) fn land<O: Observer>(&mut self, observer: &mut O) -> Result<()> {
        let image = self.image;
        let (position, event) = self.take()?;
        let Event::Land { stack, slots } = event else { return Ok(()) };
        observer.event(&self.moment(), position, &event);
        let home = (0..self.frames.len()).rev().find(|&i| {
            let f = &self.frames[i];
            let code = image.code(f.function);
            let pointer = self.frames.get(i + 1).map_or(self.stack, |g| g.saved_stack);
            let index = position.site.wrapping_sub(code.first_site) as usize;
            code.module == position.module && index < code.ops.len() && pointer == stack
        });
        let Some(home) = home else {
            return Err(self.diverged("a frame to land in", format!("a landing at stack {stack:#x}")));
        };
        if let Some(dropped) = self.frames.get(home + 1) {
            self.va.truncate(dropped.va_base);
        }
        self.frames.truncate(home + 1);
        self.touched.clear();
        self.stack = stack;
        // Restore the context that the thread stored last; if the jump started at a call, only the time of it
        // can be out of date.
        self.context.0 = self.context.0.max(position.time);
        (self.time, self.sum) = self.context;
        let f = &mut self.frames[home];
        let code = image.code(f.function);
        f.pc = position.site - code.first_site;
        let base = f.base;
        let inst = &image.module(code.module).functions[code.function as usize].code[f.pc as usize];
        let to = match inst {
            Inst::Call(_) => inst.defines(),
            Inst::Landing { dst } => {
                self.regs[base + *dst as usize] = 1;
                Some((dst + 1, LANDING_SLOTS - 1))
            }
            _ => return Err(self.diverged("a call to land after", "another instruction")),
        };
        if let Some((dst, count)) = to {
            for (k, v) in slots.iter().take(count as usize).enumerate() {
                self.regs[base + dst as usize + k] = v;
            }
        }
        if self.pending(kind::CHECK) && self.head.is_some_and(|h| h.position.time == self.time) {
            self.apply(observer)?;
        }
        if let Some(view) = self.view() {
            observer.landed(&view);
        }
        self.after_call()
    }

    /// Whether the crash can have happened in the current call of a modelled function: the function has no
    /// modelled effect, or the faulting address is less than 1 GiB after one of its arguments.
    fn may_crash_in_model(
        &self,
        call: &CallSite,
        base: usize,
        known: Option<&'static externals::External>,
    ) -> bool {
        if known.and_then(|k| k.model) == Some(externals::Model::Nothing) {
            return true;
        }
        let (args, n) = self.arguments(call, base);
        args[..n].iter().any(|a| self.crashes_at(*a, 1 << 30))
    }
}
