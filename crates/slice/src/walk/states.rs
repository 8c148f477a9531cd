//! What is wanted of an activation, as one thing that can be compared, and tables by it.

use program::inst::Reg;
use rustc_hash::FxHashMap as Map;
use std::collections::HashMap;

/// Not worked out yet.
pub const NONE: u32 = u32::MAX;

/// What is wanted of an activation, by nobody who is noted down.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct State {
    pub regs: Vec<u64>,
    /// Undecided blocks.
    pub blocks: Vec<u64>,
    /// Slots of the result.
    pub returned: u64,
    /// Of the call under way: a number in [`Wishes`].
    pub call: u32,
    /// The edge just walked over assigned a constant that is wanted.
    pub constant: bool,
}

impl State {
    pub fn want(&mut self, reg: Reg) {
        if let Some(word) = self.regs.get_mut(reg as usize / 64) {
            *word |= 1 << (reg % 64);
        }
    }

    pub fn take(&mut self, reg: Reg) -> bool {
        let Some(word) = self.regs.get_mut(reg as usize / 64) else { return false };
        let bit = 1 << (reg % 64);
        let hit = *word & bit != 0;
        *word &= !bit;
        hit
    }
}

/// Arguments of a call, by number and slot, that may be wanted together. Number 0 is for a call
/// of which nothing is wanted.
pub struct Wishes {
    all: Vec<Vec<(u32, u32)>>,
    index: HashMap<Vec<(u32, u32)>, u32>,
}

impl Default for Wishes {
    fn default() -> Wishes {
        Wishes { all: vec![Vec::new()], index: HashMap::new() }
    }
}

impl Wishes {
    pub fn get(&self, number: u32) -> &[(u32, u32)] {
        &self.all[number as usize]
    }

    pub fn add(&mut self, mut wish: Vec<(u32, u32)>) -> u32 {
        wish.sort_unstable();
        wish.dedup();
        let next = self.all.len() as u32;
        *self.index.entry(wish).or_insert_with_key(|wish| {
            self.all.push(wish.clone());
            next
        })
    }
}

/// Numbers by state and piece of a function's code: stretches first, then edges with phis, then
/// those edges together with the stretches they came from.
#[derive(Default)]
pub struct Start {
    pub pieces: u32,
    pub stretches: u32,
    pub arrivals: u32,
    /// All pieces of the first few states, state by state.
    near: Vec<u32>,
    far: Map<(u32, u32), u32>,
}

/// Numbers that are held in a row.
const NEAR: usize = 1 << 21;

impl Start {
    #[inline]
    pub fn get(&self, state: u32, piece: u32) -> Option<u32> {
        let at = state as usize * self.pieces as usize + piece as usize;
        match self.near.get(at) {
            Some(&number) => (number != NONE).then_some(number),
            None => self.far.get(&(state, piece)).copied(),
        }
    }

    pub fn set(&mut self, state: u32, piece: u32, number: u32) {
        let row = state as usize * self.pieces as usize;
        let end = row + self.pieces as usize;
        // Numbers may be far already only if their row does not fit.
        if end <= NEAR {
            if self.near.len() < end {
                self.near.resize(end, NONE);
            }
            self.near[row + piece as usize] = number;
        } else {
            self.far.insert((state, piece), number);
        }
    }
}
