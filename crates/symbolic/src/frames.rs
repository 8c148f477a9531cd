//! Registers beside registers: which slots of a frame are input-dependent.
//!
//! Most frames never see input; they own no memory here. A slot's term has the
//! width of the value, and the bits of the slot above it are zero.

use crate::shadow::Piece;
use solver::Term;

/// One activation of a function.
#[derive(Default)]
pub struct Frame {
    regs: Vec<Option<Term>>,
    /// How many slots hold a term.
    pub live: u32,
    /// The function, and the call under way.
    pub module: u32,
    pub function: u32,
    pub at: u32,
    /// Address of its fixed frame.
    pub base: u64,
    /// Ranges it has grown by (`alloca`).
    pub grown: Vec<(u64, u64)>,
    /// Entered from outside, by the external function under way.
    pub outside: bool,
    /// By-value variadic arguments of the call under way: number, and their bytes' terms.
    pub passed: Vec<(u32, Vec<(u64, Piece)>)>,
}

impl Frame {
    /// Makes it a new activation.
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
