//! The bytes that a call read and wrote. They extend its states where types do not lead.
//!
//! A pointer's type gives the extent of its target, but programs also use adjacent memory: a header before a
//! string, the next element of a pool, the target of a `void *`. Of such memory only what the call used is
//! compared: before the call what it read without having written it, with the values it read; after it what
//! it wrote. A call's footprint includes those of its callees. A footprint that becomes too large is
//! discarded and marked as such.

use crate::state::State;
use replay::memory::Memory;
use rustc_hash::FxHashMap;

/// Maximum number of words of a footprint.
const MAX_WORDS: usize = 4096;
const WORD: u64 = 8;

/// Eight bytes at a multiple of eight. Masks have one bit per byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Word {
    /// Bytes read before they were written, and their values.
    read: u8,
    found: [u8; 8],
    written: u8,
}

/// See the module's documentation.
#[derive(Clone, Debug, Default)]
pub struct Footprint {
    words: FxHashMap<u64, Word>,
    is_discarded: bool,
}

/// The words of a range: number, and the mask of its bytes.
fn words(address: u64, len: u64) -> impl Iterator<Item = (u64, u8)> {
    let end = address.saturating_add(len);
    let numbers = if len == 0 { 1..1 } else { address / WORD..(end - 1) / WORD + 1 };
    numbers.map(move |number| {
        let first = address.saturating_sub(number * WORD).min(WORD);
        let behind = (end - number * WORD).min(WORD);
        (number, (0xffu16 << first) as u8 & (0xffu16 >> (WORD - behind)) as u8)
    })
}

impl Footprint {
    fn has_room(&mut self, len: u64) -> bool {
        if self.words.len() as u64 + len / WORD > MAX_WORDS as u64 {
            self.is_discarded = true;
            self.words = FxHashMap::default();
        }
        !self.is_discarded
    }

    /// Records a read. The bytes must still have the values that were read.
    #[inline]
    pub fn read(&mut self, address: u64, len: u64, memory: &Memory) {
        if !self.has_room(len) {
            return;
        }
        for (number, mask) in words(address, len) {
            let word = self.words.entry(number).or_default();
            let new = mask & !(word.read | word.written);
            if new == 0 {
                continue;
            }
            let mut bytes = [0; WORD as usize];
            memory.peek(number * WORD, &mut bytes);
            for n in (0..8).filter(|n| new >> n & 1 == 1) {
                word.found[n] = bytes[n];
            }
            word.read |= new;
        }
    }

    /// Records a write. The values are read from memory when the call ends.
    #[inline]
    pub fn write(&mut self, address: u64, len: u64) {
        if !self.has_room(len) {
            return;
        }
        for (number, mask) in words(address, len) {
            self.words.entry(number).or_default().written |= mask;
        }
    }

    /// Adds the footprint of a callee, which ran last.
    pub fn absorb(&mut self, mut inner: Footprint) {
        self.is_discarded |= inner.is_discarded;
        if !self.has_room(inner.words.len() as u64 * WORD) {
            return;
        }
        if self.words.is_empty() {
            std::mem::swap(&mut self.words, &mut inner.words);
            return;
        }
        for (number, later) in inner.words {
            let word = self.words.entry(number).or_default();
            let new = later.read & !(word.read | word.written);
            for n in (0..8).filter(|n| new >> n & 1 == 1) {
                word.found[n] = later.found[n];
            }
            word.read |= new;
            word.written |= later.written;
        }
    }

    /// Records in the entry state what the call read, and in the exit state what it wrote, as far as it has
    /// values then.
    pub(crate) fn tell(
        &self,
        entry: &mut State,
        exit: &mut State,
        memory: &Memory,
        is_set: impl Fn(u64) -> bool,
    ) {
        for (number, word) in &self.words {
            let start = number * WORD;
            let mut bytes = [0; WORD as usize];
            if word.written != 0 {
                memory.peek(start, &mut bytes);
            }
            for n in 0..WORD {
                if word.read >> n & 1 == 1 {
                    entry.mark_used(start + n, word.found[n as usize]);
                }
                if word.written >> n & 1 == 1 && is_set(start + n) {
                    exit.mark_used(start + n, bytes[n as usize]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(footprint: &Footprint, memory: &Memory) -> [Vec<(u64, u8)>; 2] {
        let (mut entry, mut exit) = (State::default(), State::default());
        footprint.tell(&mut entry, &mut exit, memory, |_| true);
        [entry, exit].map(|state| state.used(0, u64::MAX).collect())
    }

    #[test]
    fn what_was_written_first_is_not_read() {
        let mut memory = Memory::default();
        memory.write(6, &[1, 2, 3, 4]);
        let mut footprint = Footprint::default();
        footprint.read(7, 2, &memory);
        memory.write(8, &[9, 9]);
        footprint.write(8, 2);
        footprint.read(8, 2, &memory);
        assert_eq!(told(&footprint, &memory), [vec![(7, 2), (8, 3)], vec![(8, 9), (9, 9)]]);
    }

    #[test]
    fn a_call_has_done_what_calls_in_it_did() {
        let mut memory = Memory::default();
        memory.write(16, &[1, 2]);
        let (mut outer, mut inner) = (Footprint::default(), Footprint::default());
        outer.write(16, 1);
        inner.read(16, 2, &memory);
        inner.write(24, 1);
        outer.absorb(inner);
        assert_eq!(told(&outer, &memory), [vec![(17, 2)], vec![(16, 1), (24, 0)]]);
    }

    #[test]
    fn one_that_is_too_large_is_given_up() {
        let memory = Memory::default();
        let mut footprint = Footprint::default();
        footprint.write(0, 8);
        footprint.write(64, 1 << 20);
        footprint.write(0, 8);
        assert_eq!(told(&footprint, &memory), [vec![], vec![]]);
    }
}
