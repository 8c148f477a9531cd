//! The plain inner loop: every step can be observed, every instruction is counted. While neither is needed,
//! it delegates to the fast loop ([`crate::run_fast`]).

use crate::arith;
use crate::arith64;
use crate::code::Op;
use crate::error::Result;
use crate::fast::FastExit;
use crate::machine::{Machine, Stop};
use crate::observer::{Effect, Observer, View};
use program::inst::Inst;
use recording::event::kind;

/// Why the inner loop left the frame.
enum Exit {
    Limit,
    Call(u32),
    Return(u32, u32),
    /// The instruction at `pc` needs the whole machine.
    Slow,
    /// Time has passed the next event; `pc` is after the instruction.
    EventOverdue,
}

impl Machine<'_> {
    /// Between two functions that were called from outside of the program: advances to the first instruction
    /// of the next, without running it.
    ///
    /// # Errors
    /// A divergence, or damaged events.
    pub fn enter_next<O: Observer>(&mut self, observer: &mut O) -> Result<()> {
        while self.end.is_none() && !self.forked() && self.frames.is_empty() {
            if std::mem::take(&mut self.paused) {
                self.external(observer)?;
            } else {
                self.top(observer)?;
            }
        }
        Ok(())
    }

    /// Runs until `limit` instructions have been executed since the start of
    /// the stream, or to its end.
    ///
    /// # Errors
    /// A divergence, or damaged events.
    pub fn run<O: Observer>(&mut self, observer: &mut O, limit: u64) -> Result<Stop> {
        let image = self.image;
        self.reserve_registers();
        loop {
            if let Some(end) = self.end {
                return Ok(Stop::Ended(end));
            }
            if self.forked() {
                return Ok(Stop::Limit);
            }
            if self.counters.instructions >= limit {
                return Ok(Stop::Limit);
            }
            if std::mem::take(&mut self.paused) {
                self.external(observer)?;
                continue;
            }
            let depth = self.frames.len();
            let Some(frame) = self.frames.last_mut() else {
                self.top(observer)?;
                continue;
            };
            let function = frame.function;
            let code = image.code(function);
            if !(O::STEPS && observer.all_steps())
                && code.fused.is_some()
                && self.time < self.next_event_time
                && self.counters.instructions.saturating_add(code.ops.len() as u64) < limit
            {
                match self.run_fast(observer, limit) {
                    FastExit::Plain => {}
                    FastExit::Slow => self.slow(observer)?,
                    FastExit::Call(call) => {
                        self.counters.instructions += 1;
                        let function = self.frames.last().map_or(function, |f| f.function);
                        self.call(observer, function, call)?;
                    }
                    FastExit::Return(value, slots) => {
                        self.counters.instructions += 1;
                        self.return_from(observer, value, slots)?;
                    }
                }
                continue;
            }
            let ops = &code.ops[..];
            let regs = &mut self.regs[frame.base..frame.base + code.total()];
            let memory = &mut self.memory;
            let mut pc = frame.pc as usize;
            let mut time = self.time;
            let mut sum = self.sum;
            let mut count = self.counters.instructions;
            let mut loads = 0u64;
            let next_event_time = self.next_event_time;
            // The registers as a macro, so that the loop uses plain slices.
            macro_rules! r {
                ($slot:expr) => {
                    regs[$slot as usize]
                };
            }
            macro_rules! observe {
                ($index:expr, $effect:expr) => {
                    if O::STEPS {
                        let view = View {
                            image,
                            code,
                            index: $index as u32,
                            regs,
                            memory,
                            count: count - 1,
                            time,
                            depth: depth as u32,
                            frame: frame.frame,
                        };
                        observer.step(&view, $effect);
                    }
                };
            }
            macro_rules! go {
                ($edge:expr) => {{
                    let edge = &code.edges[$edge as usize];
                    observe!(pc, Effect::None);
                    for m in &code.moves[edge.first as usize..edge.last as usize] {
                        r!(m.dst) = r!(m.src);
                    }
                    if O::STEPS {
                        let view = View {
                            image,
                            code,
                            index: pc as u32,
                            regs,
                            memory,
                            count: count - 1,
                            time,
                            depth: depth as u32,
                            frame: frame.frame,
                        };
                        observer.edge(&view, edge.from, edge.to);
                    }
                    pc = edge.pc as usize;
                    continue;
                }};
            }
            macro_rules! load {
                ($dst:expr, $addr:expr, $load:ident, $n:literal) => {{
                    if time >= next_event_time {
                        count -= 1;
                        break Exit::Slow;
                    }
                    let address = r!($addr);
                    r!($dst) = u64::from(memory.$load(address));
                    loads += 1;
                    Effect::Load { address, len: $n }
                }};
            }
            macro_rules! store {
                ($addr:expr, $value:expr, $store:ident, $ty:ty) => {{
                    if time >= next_event_time {
                        count -= 1;
                        break Exit::Slow;
                    }
                    let (address, value) = (r!($addr), r!($value));
                    memory.$store(address, value as $ty);
                    sum = sum.wrapping_add(value);
                    Effect::Store { address, len: size_of::<$ty>() as u32 }
                }};
            }
            macro_rules! divided {
                ($value:expr) => {
                    match $value {
                        Some(v) => v,
                        None => {
                            count -= 1;
                            break Exit::Slow;
                        }
                    }
                };
            }
            let exit = loop {
                if count >= limit {
                    break Exit::Limit;
                }
                count += 1;
                let mut effect = Effect::None;
                match ops[pc] {
                    Op::Add { sh, dst, a, b } => r!(dst) = arith64::wrap(r!(a).wrapping_add(r!(b)), sh),
                    Op::Sub { sh, dst, a, b } => r!(dst) = arith64::wrap(r!(a).wrapping_sub(r!(b)), sh),
                    Op::Mul { sh, dst, a, b } => r!(dst) = arith64::wrap(r!(a).wrapping_mul(r!(b)), sh),
                    Op::And { dst, a, b } => r!(dst) = r!(a) & r!(b),
                    Op::Or { dst, a, b } => r!(dst) = r!(a) | r!(b),
                    Op::Xor { dst, a, b } => r!(dst) = r!(a) ^ r!(b),
                    Op::Shl { sh, dst, a, b } => r!(dst) = arith64::shl(sh, r!(a), r!(b)),
                    Op::LShr { sh, dst, a, b } => r!(dst) = arith64::lshr(sh, r!(a), r!(b)),
                    Op::AShr { sh, dst, a, b } => r!(dst) = arith64::ashr(sh, r!(a), r!(b)),
                    Op::UDiv { dst, a, b } => r!(dst) = divided!(r!(a).checked_div(r!(b))),
                    Op::URem { dst, a, b } => r!(dst) = divided!(r!(a).checked_rem(r!(b))),
                    Op::SDiv { sh, dst, a, b } => r!(dst) = divided!(arith64::sdiv(sh, r!(a), r!(b))),
                    Op::SRem { sh, dst, a, b } => r!(dst) = divided!(arith64::srem(sh, r!(a), r!(b))),
                    Op::Eq { dst, a, b } => r!(dst) = u64::from(r!(a) == r!(b)),
                    Op::Ne { dst, a, b } => r!(dst) = u64::from(r!(a) != r!(b)),
                    Op::UCmp { pred, dst, a, b } => r!(dst) = arith64::ucmp(pred, r!(a), r!(b)).into(),
                    Op::Slt { sh, dst, a, b } => r!(dst) = arith64::slt(sh, r!(a), r!(b)).into(),
                    Op::Sle { sh, dst, a, b } => r!(dst) = arith64::sle(sh, r!(a), r!(b)).into(),
                    Op::F64 { op, dst, a, b } => {
                        r!(dst) = arith::float64(op, f64::from_bits(r!(a)), f64::from_bits(r!(b)));
                    }
                    Op::F32 { op, dst, a, b } => {
                        let (a, b) = (f32::from_bits(r!(a) as u32), f32::from_bits(r!(b) as u32));
                        r!(dst) = arith::float32(op, a, b).into();
                    }
                    Op::FCmp64 { pred, dst, a, b } => r!(dst) = arith64::fcmp64(pred, r!(a), r!(b)).into(),
                    Op::Trunc { sh, dst, a } => r!(dst) = arith64::wrap(r!(a), sh),
                    Op::Sext { from, to, dst, a } => {
                        r!(dst) = arith64::wrap(arith64::sext(r!(a), from).cast_unsigned(), to);
                    }
                    Op::SiToF64 { sh, dst, a } => r!(dst) = (arith64::sext(r!(a), sh) as f64).to_bits(),
                    Op::Copy { dst, a } => r!(dst) = r!(a),
                    Op::Select { dst, cond, a, b } => {
                        r!(dst) = if r!(cond) & 1 != 0 { r!(a) } else { r!(b) };
                    }
                    Op::Scaled { sh, dst, base, index, scale } => {
                        let i = arith64::sext(r!(index), sh);
                        r!(dst) = r!(base).wrapping_add_signed(i.wrapping_mul(scale.into()));
                    }
                    Op::Frame { dst, offset } => r!(dst) = frame.frame.wrapping_add(offset.into()),
                    Op::Load1 { dst, addr } => effect = load!(dst, addr, load1, 1),
                    Op::Load2 { dst, addr } => effect = load!(dst, addr, load2, 2),
                    Op::Load4 { dst, addr } => effect = load!(dst, addr, load4, 4),
                    Op::Load8 { dst, addr } => effect = load!(dst, addr, load8, 8),
                    Op::Store1 { addr, value } => effect = store!(addr, value, store1, u8),
                    Op::Store2 { addr, value } => effect = store!(addr, value, store2, u16),
                    Op::Store4 { addr, value } => effect = store!(addr, value, store4, u32),
                    Op::Store8 { addr, value } => effect = store!(addr, value, store8, u64),
                    Op::Tick => {
                        time += 1;
                        if time > next_event_time {
                            observe!(pc, effect);
                            pc += 1;
                            break Exit::EventOverdue;
                        }
                    }
                    Op::Jump { edge } => go!(edge),
                    Op::Branch { cond, then, otherwise } => {
                        if r!(cond) & 1 != 0 {
                            sum = sum.wrapping_add(Inst::branch_mix(code.first_site + pc as u32));
                            go!(then)
                        }
                        go!(otherwise)
                    }
                    Op::Switch { value, table } => go!(code.tables[table as usize].find(r!(value))),
                    Op::Call { call } => {
                        observe!(pc, effect);
                        break Exit::Call(call);
                    }
                    Op::Return { value, slots } => {
                        observe!(pc, effect);
                        break Exit::Return(value, slots);
                    }
                    Op::Slow => {
                        count -= 1;
                        break Exit::Slow;
                    }
                }
                observe!(pc, effect);
                pc += 1;
            };
            frame.pc = pc as u32;
            self.time = time;
            self.sum = sum;
            self.counters.instructions = count;
            self.counters.loads += loads;
            match exit {
                Exit::Limit => {}
                Exit::Call(call) => self.call(observer, function, call)?,
                Exit::Return(value, slots) => self.return_from(observer, value, slots)?,
                Exit::Slow => self.slow(observer)?,
                Exit::EventOverdue => {
                    self.event_overdue_in_loop()?;
                    self.stopped(observer)?;
                }
            }
        }
    }

    #[inline]
    fn call<O: Observer>(&mut self, observer: &mut O, caller: u32, call: u32) -> Result<()> {
        self.write_context()?;
        if self.stopped(observer)? {
            return Ok(());
        }
        let image = self.image;
        let code = image.code(caller);
        let site = &code.calls[call as usize];
        if self.time >= self.next_event_time
            && let Some(f) = self.frames.last()
        {
            // The memory that a ByVal argument points to was made known before the call.
            self.patches(observer, code.module, code.first_site + f.pc)?;
        }
        let target = match site.direct {
            Some(t) => Some(t),
            None => {
                let base = self.frames.last().map_or(0, |f| f.base);
                image.function_at(self.regs[base + site.callee as usize])
            }
        };
        match target {
            Some(target) => self.call_linked(observer, caller, call, target),
            None => {
                self.leaving(observer);
                self.external(observer)
            }
        }
    }

    pub(crate) fn pending(&self, wanted: u8) -> bool {
        self.head.is_some_and(|h| h.kind == wanted)
    }

    /// The machine trapped (division, `__builtin_trap`).
    pub(crate) fn trap(&mut self, what: &str) -> Result<()> {
        if self.pending(kind::CRASH) {
            return self.crash(true);
        }
        if self.head.is_none() {
            return self.cut();
        }
        Err(self.diverged(what, self.describe_next()))
    }
}
