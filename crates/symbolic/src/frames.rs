//! Shadow registers: the terms of the input-dependent slots of each frame.
//!
//! Most frames never hold input and allocate no memory here. A slot's term has the width of the value; the
//! bits of the slot above it are zero.

use crate::shadow::TermByte;
use replay::code::Op;
use solver::Term;

/// One activation of a function.
#[derive(Default)]
pub struct Frame {
    regs: Vec<Option<Term>>,
    /// Number of slots that hold a term.
    pub live: u32,
    /// The function, and the instruction of its current call.
    pub module: u32,
    pub function: u32,
    pub at: u32,
    /// Address of the fixed part of the frame.
    pub base: u64,
    /// Ranges that `alloca` added to the frame.
    pub grown: Vec<(u64, u64)>,
    /// Whether the current external function of the caller called it back.
    pub outside: bool,
    /// By-value variadic arguments of the current call: number, and the terms of their bytes.
    pub passed: Vec<(u32, Vec<(u64, TermByte)>)>,
}

impl Frame {
    /// Resets the frame for a new activation.
    pub fn begin(&mut self, module: u32, function: u32, base: u64, outside: bool) {
        self.clear();
        (self.module, self.function, self.base, self.outside) = (module, function, base, outside);
        self.at = 0;
        self.grown.clear();
        self.passed.clear();
    }

    fn clear(&mut self) {
        if self.live > 0 {
            self.regs.fill(None);
            self.live = 0;
        }
    }

    #[inline]
    #[must_use]
    pub fn get(&self, slot: u32) -> Option<Term> {
        if self.live == 0 { None } else { self.regs.get(slot as usize).copied().flatten() }
    }

    /// Whether an operation reads or assigns a slot that holds a term. Conservative: always true for calls,
    /// returns and slow operations.
    #[inline]
    #[must_use]
    pub fn touches(&self, op: Op) -> bool {
        let any = |slots: &[u32]| slots.iter().any(|s| self.get(*s).is_some());
        match op {
            Op::Add { dst, a, b, .. }
            | Op::Sub { dst, a, b, .. }
            | Op::Mul { dst, a, b, .. }
            | Op::And { dst, a, b }
            | Op::Or { dst, a, b }
            | Op::Xor { dst, a, b }
            | Op::Shl { dst, a, b, .. }
            | Op::LShr { dst, a, b, .. }
            | Op::AShr { dst, a, b, .. }
            | Op::UDiv { dst, a, b }
            | Op::URem { dst, a, b }
            | Op::SDiv { dst, a, b, .. }
            | Op::SRem { dst, a, b, .. }
            | Op::Eq { dst, a, b }
            | Op::Ne { dst, a, b }
            | Op::UCmp { dst, a, b, .. }
            | Op::Slt { dst, a, b, .. }
            | Op::Sle { dst, a, b, .. }
            | Op::F64 { dst, a, b, .. }
            | Op::F32 { dst, a, b, .. }
            | Op::FCmp64 { dst, a, b, .. } => any(&[dst, a, b]),
            Op::Trunc { dst, a, .. }
            | Op::Sext { dst, a, .. }
            | Op::SiToF64 { dst, a, .. }
            | Op::Copy { dst, a } => any(&[dst, a]),
            Op::Select { dst, cond, a, b } => any(&[dst, cond, a, b]),
            Op::Scaled { dst, base, index, .. } => any(&[dst, base, index]),
            Op::Frame { dst, .. } => any(&[dst]),
            Op::Load1 { dst, addr }
            | Op::Load2 { dst, addr }
            | Op::Load4 { dst, addr }
            | Op::Load8 { dst, addr } => any(&[dst, addr]),
            Op::Store1 { addr, value }
            | Op::Store2 { addr, value }
            | Op::Store4 { addr, value }
            | Op::Store8 { addr, value } => any(&[addr, value]),
            Op::Tick | Op::Jump { .. } => false,
            Op::Branch { cond, .. } => any(&[cond]),
            Op::Switch { value, .. } => any(&[value]),
            Op::Call { .. } | Op::Return { .. } | Op::Slow => true,
        }
    }

    pub fn set(&mut self, slot: u32, term: Option<Term>) {
        let slot = slot as usize;
        if slot >= self.regs.len() {
            if term.is_none() {
                return;
            }
            self.regs.resize((slot + 1).next_power_of_two(), None);
        }
        let place = &mut self.regs[slot];
        self.live = self.live + u32::from(term.is_some()) - u32::from(place.is_some());
        *place = term;
    }
}
