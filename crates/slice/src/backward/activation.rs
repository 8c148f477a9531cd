//! One activation during the backward pass: its live registers and pending control dependences.

use super::calls::CallState;
use crate::output_effects::Streams;
use crate::provenance::Group;
use crate::slice::Dependence;
use crate::uses::{Consumer, UseList, Uses};
use program::inst::{BlockId, Reg};

/// One activation of a function.
#[derive(Default)]
pub struct Activation {
    /// Number of its function, once one of its instructions was seen.
    pub function: Option<u32>,
    sets: Sets,
    /// Live slots of the result, with their live bits.
    pub returns: Vec<(u32, u64, UseList)>,
    /// Variadic arguments in memory: number, offset, length.
    pub variadic: Vec<(u32, u64, u64, UseList)>,
    /// The call in progress, if anything of it is live.
    pub call: Option<Box<CallState>>,
    /// Relevant slices: groups of dummy branches, by the block whose controlling branch they reach next.
    pub groups: Vec<(BlockId, Group)>,
    /// Groups of a callee's activation: they reach the call next.
    pub groups_of_callee: Option<Group>,
    /// Omitted output: blocks in which, or under a branch of which, a queried stream was written to, and
    /// whose controlling branches have not been reached yet.
    pub wrote: Vec<(BlockId, Streams)>,
    /// The streams that a callee's activation wrote to.
    pub callee_written: Streams,
    /// Registers that are used only by the condition of a dummy branch of the current block.
    pub condition_regs: Vec<Reg>,
    /// A bit set that contains all phis which live registers passed; it may contain others.
    passed_phis: Vec<u64>,
    /// The callee of the call in progress.
    pub callee: Option<u32>,
}

/// The sets of an activation; allocated when something becomes live.
#[derive(Default)]
pub struct Sets {
    /// Per register slot. A live register without a list of uses is untracked.
    regs: Vec<UseList>,
    /// Per live register slot: the bits that its uses demand.
    demanded: Vec<u64>,
    live: Vec<u64>,
    live_count: usize,
    /// Per block, the nodes whose controlling branch has not been reached yet.
    pending: Vec<UseList>,
    pending_bits: Vec<u64>,
    /// Some list of uses may be tracked.
    tracked: bool,
}

impl Sets {
    pub fn new(slots: u32, blocks: usize) -> Sets {
        Sets {
            regs: vec![UseList::default(); slots as usize],
            demanded: vec![0; slots as usize],
            live: vec![0; slots.div_ceil(64) as usize],
            live_count: 0,
            pending: vec![UseList::default(); blocks],
            pending_bits: vec![0; blocks.div_ceil(64)],
            tracked: false,
        }
    }

    /// Makes bits of a register live. Returns whether any were live before; `None` if there is no such
    /// register, or if `bits` is zero.
    #[inline]
    fn demand(&mut self, reg: Reg, bits: u64) -> Option<bool> {
        let word = self.live.get_mut(reg as usize / 64).filter(|_| bits != 0)?;
        let bit = 1u64 << (reg % 64);
        let was_live = *word & bit != 0;
        *word |= bit;
        self.live_count += usize::from(!was_live);
        let demanded = &mut self.demanded[reg as usize];
        *demanded = if was_live { *demanded | bits } else { bits };
        Some(was_live)
    }
}

impl Activation {
    /// Resets an activation in which nothing is live, for reuse.
    pub fn clear(&mut self) {
        self.returns.clear();
        self.variadic.clear();
        self.groups.clear();
        self.wrote.clear();
        self.callee_written = Streams::NONE;
        self.condition_regs.clear();
        self.passed_phis.clear();
        (self.call, self.groups_of_callee, self.callee) = (None, None, None);
        self.sets.tracked = false;
    }

    #[inline]
    pub fn is_allocated(&self) -> bool {
        !self.sets.pending_bits.is_empty()
    }

    pub fn allocate(&mut self, sets: Sets) {
        self.sets = sets;
    }

    pub fn into_sets(self) -> Sets {
        self.sets
    }

    /// Nothing in it is live or pending.
    pub fn is_idle(&self) -> bool {
        !self.has_live()
            && !self.has_pending()
            && self.variadic.is_empty()
            && self.call.is_none()
            && self.returns.is_empty()
    }

    /// Whether a callee left groups or written streams that its call has not taken over yet.
    #[inline]
    pub fn has_callee_effects(&self) -> bool {
        self.groups_of_callee.is_some() || !self.callee_written.is_empty()
    }

    #[inline]
    pub fn has_live(&self) -> bool {
        self.sets.live_count > 0
    }

    #[inline]
    pub fn is_live(&self, reg: Reg) -> bool {
        self.sets.live.get(reg as usize / 64).is_some_and(|bits| bits >> (reg % 64) & 1 != 0)
    }

    /// Whether any register of a set (words and their bits) is live.
    #[inline]
    pub fn any_live(&self, words: &[(u32, u64)]) -> bool {
        self.has_live() && words.iter().any(|(w, bits)| self.sets.live[*w as usize] & bits != 0)
    }

    /// The live registers, as the words of a bit set.
    pub fn live_words(&self) -> &[u64] {
        &self.sets.live
    }

    /// Uses of a live register.
    pub fn uses(&self, reg: Reg) -> UseList {
        self.sets.regs[reg as usize].or_untracked()
    }

    /// Makes bits of a register live for further uses.
    #[inline]
    pub fn make_live(&mut self, reg: Reg, bits: u64, uses: UseList, arena: &mut Uses) {
        let sets = &mut self.sets;
        let Some(was_live) = sets.demand(reg, bits) else { return };
        if uses.is_tracked() || sets.tracked {
            let place = &mut sets.regs[reg as usize];
            let before = if was_live { place.or_untracked() } else { UseList::default() };
            *place = arena.join(before, uses);
            sets.tracked |= place.is_tracked();
        }
    }

    /// A node uses bits of a register.
    #[inline]
    pub fn use_reg(&mut self, reg: Reg, bits: u64, consumer: Consumer, arena: &mut Uses) {
        let sets = &mut self.sets;
        let Some(was_live) = sets.demand(reg, bits) else { return };
        if consumer.is_tracked() || sets.tracked {
            let place = &mut sets.regs[reg as usize];
            let before = if was_live { place.or_untracked() } else { UseList::default() };
            *place = arena.add(before, consumer, Dependence::Register(reg));
            sets.tracked |= place.is_tracked();
        }
    }

    /// Kills a register, which is defined here. Returns its uses, and the bits that they demand.
    #[inline]
    pub fn kill(&mut self, reg: Reg) -> (UseList, u64) {
        let sets = &mut self.sets;
        let bit = 1u64 << (reg % 64);
        match sets.live.get_mut(reg as usize / 64) {
            Some(word) if *word & bit != 0 => {
                *word ^= bit;
                sets.live_count -= 1;
                let uses = if sets.tracked {
                    std::mem::take(&mut sets.regs[reg as usize]).or_untracked()
                } else {
                    UseList::UNTRACKED
                };
                (uses, sets.demanded[reg as usize])
            }
            _ => (UseList::default(), 0),
        }
    }

    pub fn has_pending(&self) -> bool {
        self.sets.pending_bits.iter().any(|w| *w != 0)
    }

    pub fn is_pending(&self, block: usize) -> bool {
        self.sets.pending_bits[block / 64] >> (block % 64) & 1 != 0
    }

    pub fn blocks(&self) -> usize {
        self.sets.pending.len()
    }

    pub fn pending_uses(&self, block: usize) -> UseList {
        self.sets.pending[block]
    }

    /// Adds a pending control dependence for an executed block.
    #[inline]
    pub fn add_pending(&mut self, block: BlockId, consumer: Consumer, arena: &mut Uses) {
        let sets = &mut self.sets;
        let (word, bit) = (block as usize / 64, 1u64 << (block % 64));
        let was_pending = sets.pending_bits[word] & bit != 0;
        sets.pending_bits[word] |= bit;
        if consumer.is_tracked() || sets.tracked {
            let place = &mut sets.pending[block as usize];
            let before = if was_pending { place.or_untracked() } else { UseList::default() };
            *place = arena.add(before, consumer, Dependence::Control);
            sets.tracked |= place.is_tracked();
        }
    }

    /// Whether any block of a set is pending.
    #[inline]
    pub fn any_pending(&self, masks: &[(u32, u64)]) -> bool {
        self.is_allocated() && masks.iter().any(|(w, mask)| self.sets.pending_bits[*w as usize] & mask != 0)
    }

    /// Resolves the pending blocks of a set; calls `f` with the uses of each.
    #[inline]
    pub fn resolve(&mut self, masks: &[(u32, u64)], mut f: impl FnMut(UseList)) {
        if !self.is_allocated() {
            return;
        }
        let sets = &mut self.sets;
        for (w, mask) in masks {
            let bits = &mut sets.pending_bits[*w as usize];
            let mut hit = *bits & mask;
            *bits ^= hit;
            while hit != 0 {
                let block = 64 * *w as usize + hit.trailing_zeros() as usize;
                hit &= hit - 1;
                f(std::mem::take(&mut sets.pending[block]).or_untracked());
            }
        }
    }

    /// Resolves all pending blocks.
    pub fn resolve_all(&mut self, f: impl FnMut(UseList)) {
        let all: Vec<(u32, u64)> = (0..self.sets.pending_bits.len() as u32).map(|w| (w, u64::MAX)).collect();
        if self.has_pending() {
            self.resolve(&all, f);
        }
    }

    /// Records that a live register passed a phi.
    pub fn pass_phi(&mut self, phi: Reg) {
        let word = phi as usize / 64;
        if self.passed_phis.len() <= word {
            self.passed_phis.resize(self.sets.live.len().max(word + 1), 0);
        }
        self.passed_phis[word] |= 1 << (phi % 64);
    }

    /// Whether one of some registers may be live, or is a phi that a live register passed.
    #[inline]
    pub fn may_have_passed(&self, regs: &[u64]) -> bool {
        let hit = |set: &[u64]| set.iter().zip(regs).any(|(a, b)| a & b != 0);
        self.has_live() && (hit(&self.sets.live) || hit(&self.passed_phis))
    }
}
