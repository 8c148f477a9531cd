//! Calls and returns between functions in the fast loop ([`crate::fast`]).
//!
//! Calls between modelled functions whose arguments need no special handling, and their returns, are executed
//! here: leaving the loop for them and returning to it took some 30 % of the time of a Lua interpreter.

use crate::fast::{self, FastExit, FastState, ObserverContext};
use crate::fused::Fused;
use crate::machine::{Entered, Machine};
use crate::observer::{Effect, Observer};

/// Maximal number of instructions of one run; half a word of counts can hold twice as many.
const BUDGET: u64 = 1 << 31;

impl Machine<'_> {
    /// Runs until an operation needs another part of the machine.
    pub(crate) fn run_fast<O: Observer>(&mut self, observer: &mut O, limit: u64) -> FastExit {
        let image = self.image;
        let next_event_time = self.next_event_time;
        let mut time = self.time;
        let mut sum = self.sum;
        let mut count = self.counters.instructions;
        let mut loads = self.counters.loads;
        let Some(mut code) = self.frames.last().map(|f| image.code(f.function)) else {
            return FastExit::Plain;
        };
        let first = self.frames.last().map_or(0, |f| f.pc as usize);
        let mut start = code.fused.as_ref().map_or(0, |f| f.counts(first));
        let halt = loop {
            let depth = self.frames.len();
            let Some(frame) = self.frames.last_mut() else { break FastExit::Plain };
            let left = limit.saturating_sub(count).saturating_sub(code.ops.len() as u64);
            if time >= next_event_time || left == 0 || (O::STEPS && observer.all_steps()) {
                break FastExit::Plain;
            }
            let Some(fused) = &code.fused else { break FastExit::Plain };
            let Some(regs) = self.regs[frame.base..].first_chunk_mut() else { break FastExit::Plain };
            let mut pc = frame.pc as usize;
            let mut leg = FastState {
                pc,
                time,
                sum,
                base: 0u64.wrapping_sub(start),
                next_event_time,
                last: left.min(BUDGET) as u32,
            };
            let watched = ObserverContext { image, code, count, depth: depth as u32 };
            let halt = fast::run(&mut leg, fused, regs, &mut self.memory, frame.frame, observer, &watched);
            pc = leg.pc;
            (time, sum) = (leg.time, leg.sum);
            count += leg.base & 0xffff_ffff;
            loads += leg.base >> 32;
            frame.pc = pc as u32;
            let (from, entered) = (frame.base, frame.entered);
            let (stack, va) = (frame.saved_stack, frame.va_base);
            if O::STEPS
                && matches!(halt, FastExit::Call(_) | FastExit::Return(..))
                && let Some(v) = self.view()
            {
                observer.step(&v, Effect::None);
            }
            match halt {
                FastExit::Call(call) => {
                    let site = &code.calls[call as usize];
                    let (Some(target), Some(moves)) = (site.direct, &site.moves) else { break halt };
                    let base = from + code.total();
                    let callee = image.code(target);
                    if self.make_frame(target, callee, base, Entered::Linked).is_err() {
                        break halt;
                    }
                    let (low, high) = self.regs.split_at_mut(base);
                    let low = &low[from..];
                    for m in moves {
                        high[m.dst as usize] = low[m.src as usize];
                    }
                    code = callee;
                    start = 0;
                    if O::STEPS
                        && let Some(v) = self.view()
                    {
                        observer.enter(&v, false);
                    }
                }
                FastExit::Return(value, slots) if entered == Entered::Linked => {
                    let Some(caller) = depth.checked_sub(2).map(|d| &mut self.frames[d]) else { break halt };
                    let calling = image.code(caller.function);
                    let op = calling.fused.as_ref().and_then(|f| f.ops.get(caller.pc as usize));
                    let Some(&Fused::Call { ret, dst, loads, .. }) = op else { break halt };
                    let (to, from) = (caller.base + usize::from(dst), from + value as usize);
                    for k in 0..slots.min(ret.into()) as usize {
                        self.regs[to + k] = self.regs[from + k];
                    }
                    let back = caller.pc + 1;
                    start = u64::from(loads) << 32 | u64::from(back);
                    self.stack = stack;
                    self.va.truncate(va);
                    self.frames.truncate(depth - 1);
                    code = calling;
                    if O::STEPS
                        && let Some(v) = self.view()
                    {
                        observer.returned(&v);
                    }
                    if let Some(caller) = self.frames.last_mut() {
                        caller.pc = back;
                    }
                }
                _ => break halt,
            }
            self.context_before = self.context.1;
            self.context = (time, sum);
            count += 1;
            time += 1;
        };
        self.time = time;
        self.sum = sum;
        self.counters.instructions = count;
        self.counters.loads = loads;
        halt
    }
}
