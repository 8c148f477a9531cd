//! One activation on the way back: what is wanted of it.

use super::automaton::EMPTY;
use super::calls::CallState;
use crate::tags::Group;
use crate::wants::List;
use program::inst::{BlockId, Reg};

/// One activation of a function.
#[derive(Default)]
pub struct Frame {
    /// Number of its function, once an instruction of it was seen.
    pub function: Option<u32>,
    /// Per register slot; empty while nothing is wanted. One that is wanted and has no list is
    /// wanted by nobody who is noted down.
    pub regs: Vec<List>,
    /// Wanted registers as a set, and how many there are.
    pub wanted_bits: Vec<u64>,
    pub wanted: usize,
    /// Per block, the taken instructions whose deciding branch is looked for.
    pub undecided: Vec<List>,
    /// The same as a set.
    pub bits: Vec<u64>,
    /// All of this as a number, while the sets are empty: see [`super::remembered`].
    pub state: Option<u32>,
    /// Some list of the two may name somebody.
    pub named: bool,
    /// Wanted slots of the result.
    pub returns: Vec<(u32, List)>,
    /// The same as a set, by nobody who is noted down.
    pub returned: u64,
    /// Variadic arguments: number, offset, length.
    pub spilled: Vec<(u32, u64, u64, List)>,
    /// The call under way, if anything is wanted of it.
    pub call: Option<Box<CallState>>,
    /// Of dummies, by the block whose deciding branch they rise to next.
    pub groups: Vec<(BlockId, Group)>,
    /// Groups of an activation that this one called: they rise to the call.
    pub rising: Option<Group>,
    /// Registers that only a dummy of the running block wants.
    pub tree: Vec<Reg>,
    /// Phis that wanted registers may have gone through, as a set; perhaps with others.
    pub passed: Vec<u64>,
    /// The function that the call under way called.
    pub callee: Option<u32>,
}

/// Lists and sets of an activation in which nothing is wanted.
pub struct Furniture {
    regs: Vec<List>,
    wanted_bits: Vec<u64>,
    undecided: Vec<List>,
    bits: Vec<u64>,
}

impl Furniture {
    pub fn new(slots: u32, blocks: usize) -> Furniture {
        Furniture {
            regs: vec![List::default(); slots as usize],
            wanted_bits: vec![0; slots.div_ceil(64) as usize],
            undecided: vec![List::default(); blocks],
            bits: vec![0; blocks.div_ceil(64)],
        }
    }
}

impl Frame {
    /// Makes an activation in which nothing is wanted as good as new.
    pub fn clear(&mut self) {
        self.returns.clear();
        self.spilled.clear();
        self.groups.clear();
        self.tree.clear();
        self.passed.clear();
        (self.named, self.returned) = (false, 0);
        (self.call, self.rising, self.callee) = (None, None, None);
        self.state = None;
    }

    /// Its result is wanted.
    #[inline]
    pub fn is_returning(&self) -> bool {
        self.returned != 0 || !self.returns.is_empty()
    }

    pub fn is_furnished(&self) -> bool {
        !self.bits.is_empty()
    }

    pub fn take_furniture(&mut self, from: Furniture) {
        (self.regs, self.wanted_bits) = (from.regs, from.wanted_bits);
        (self.undecided, self.bits) = (from.undecided, from.bits);
    }

    pub fn furniture(self) -> Furniture {
        let Frame { regs, wanted_bits, undecided, bits, .. } = self;
        Furniture { regs, wanted_bits, undecided, bits }
    }

    /// Whether one of some registers is wanted.
    #[inline]
    pub fn wants(&self, dst: u32, count: u32) -> bool {
        self.wanted > 0
            && (dst..dst + count)
                .any(|r| self.wanted_bits.get(r as usize / 64).is_some_and(|bits| bits >> (r % 64) & 1 != 0))
    }

    /// Wants a register for nobody in particular.
    #[inline]
    pub fn want_lightly(&mut self, reg: Reg) {
        let (word, bit) = (reg as usize / 64, 1u64 << (reg % 64));
        if let Some(word) = self.wanted_bits.get_mut(word) {
            self.wanted += usize::from(*word & bit == 0);
            *word |= bit;
        }
    }

    /// Takes registers of one word out of what is wanted, whoever wants them; whether any was.
    #[inline]
    pub fn take_lightly(&mut self, word: u32, mask: u64) -> bool {
        let bits = &mut self.wanted_bits[word as usize];
        let mut hit = *bits & mask;
        if hit == 0 {
            return false;
        }
        *bits ^= hit;
        while hit != 0 {
            self.wanted -= 1;
            if self.named {
                self.regs[(64 * word + hit.trailing_zeros()) as usize] = List::default();
            }
            hit &= hit - 1;
        }
        true
    }

    /// A wanted register went through a phi.
    #[inline]
    pub fn pass(&mut self, phi: Reg) {
        let word = phi as usize / 64;
        if self.passed.len() <= word {
            self.passed.resize(self.wanted_bits.len().max(word + 1), 0);
        }
        self.passed[word] |= 1 << (phi % 64);
    }

    /// Whether one of some registers may be wanted, or a phi that one went through.
    #[inline]
    pub fn may_have_passed(&self, regs: &[u64]) -> bool {
        let hit = |set: &[u64]| set.iter().zip(regs).any(|(a, b)| a & b != 0);
        self.wanted > 0 && (hit(&self.wanted_bits) || hit(&self.passed))
    }

    /// Whether some block is undecided.
    pub fn is_undecided(&self) -> bool {
        self.bits.iter().any(|w| *w != 0)
    }

    /// Nothing is wanted of it.
    pub fn is_idle(&self) -> bool {
        let nothing = self.wanted == 0 && !self.is_undecided() && self.spilled.is_empty();
        let nothing = nothing && self.call.is_none() && !self.is_returning();
        nothing && self.state.is_none_or(|state| state == EMPTY)
    }

    /// Takes all undecided blocks out; whether there were any.
    #[inline]
    pub fn undecide_all(&mut self) -> bool {
        let any = self.is_undecided();
        if any {
            self.bits.fill(0);
            if self.named {
                self.undecided.fill(List::default());
            }
        }
        any
    }

    /// Takes blocks out of those that are undecided, whoever wants to know; whether any was.
    #[inline]
    pub fn decide_lightly(&mut self, masks: &[(u32, u64)]) -> bool {
        let mut any = false;
        if self.bits.is_empty() {
            return any;
        }
        for (w, mask) in masks {
            let bits = &mut self.bits[*w as usize];
            let mut hit = *bits & mask;
            any |= hit != 0;
            *bits ^= hit;
            while self.named && hit != 0 {
                let block = 64 * w + hit.trailing_zeros();
                self.undecided[block as usize] = List::default();
                hit &= hit - 1;
            }
        }
        any
    }
}
