//! The extents of objects in memory, and which of their bytes were ever set.
//!
//! A C pointer has neither the number of elements nor whether they have values. A replay knows both: heap
//! blocks from the allocating calls, locals from their frames, global variables from the model; and it sees
//! every store.

use crate::state::Knowledge;
use externals::flag;
use replay::effects;
use replay::observer::{Effect, ExternalCall, View};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

const PAGE: u64 = 4096;
/// Maximum number of bytes of a freed block that are remembered.
const MAX_REMEMBERED: u64 = 1 << 28;
const WORDS: usize = PAGE as usize / 64;
/// Distance in pages from a heap block within which memory counts as heap.
const NEAR: u64 = 64;

/// See the module's documentation.
#[derive(Default)]
pub struct ObjectMap {
    /// Start and length.
    heap: BTreeMap<u64, u64>,
    /// Pages in which there ever was a heap block.
    heap_pages: BTreeSet<u64>,
    globals: Vec<(u64, u64)>,
    /// The range of all frames so far.
    stack: Range<u64>,
    /// Bytes that the program set.
    defined: Bytes,
    /// Bytes that it read: their values are known, whatever set them.
    seen: Bytes,
}

/// A set of addresses.
#[derive(Default)]
struct Bytes(FxHashMap<u64, Box<[u64; WORDS]>>);

impl Bytes {
    fn has(&self, address: u64) -> bool {
        let bit = (address % PAGE) as usize;
        self.0.get(&(address / PAGE)).is_some_and(|page| page[bit / 64] >> (bit % 64) & 1 == 1)
    }

    /// Passes to `put` the indices of the bytes of a range that are in the set.
    fn within(&self, address: u64, len: usize, mut put: impl FnMut(usize)) {
        let mut n = 0;
        while n < len {
            let at = address.wrapping_add(n as u64);
            let here = (PAGE - at % PAGE).min((len - n) as u64) as usize;
            if let Some(page) = self.0.get(&(at / PAGE)) {
                let first = (at % PAGE) as usize;
                let mut i = 0;
                while i < here {
                    let (word, bit) = ((first + i) / 64, (first + i) % 64);
                    let left = (64 - bit).min(here - i);
                    let mut bits = page[word] >> bit & (u64::MAX >> (64 - left));
                    while bits != 0 {
                        put(n + i + bits.trailing_zeros() as usize);
                        bits &= bits - 1;
                    }
                    i += left;
                }
            }
            n += here;
        }
    }

    #[inline]
    fn mark(&mut self, address: u64, len: u64, is_in: bool) {
        let mut at = address;
        let end = address.saturating_add(len.min(1 << 32));
        while at < end {
            let (page, bit) = (at / PAGE, (at % PAGE) as usize);
            let here = (64 - bit % 64).min(usize::try_from(end - at).unwrap_or(64));
            let mask = (u64::MAX >> (64 - here)) << (bit % 64);
            if is_in {
                self.0.entry(page).or_insert_with(|| Box::new([0; WORDS]))[bit / 64] |= mask;
            } else if let Some(page) = self.0.get_mut(&page) {
                page[bit / 64] &= !mask;
            }
            at += here as u64;
        }
    }
}

impl ObjectMap {
    /// `globals` are the starts and ends of variables.
    #[must_use]
    pub fn new(mut globals: Vec<(u64, u64)>) -> ObjectMap {
        globals.sort_unstable();
        ObjectMap { globals, ..ObjectMap::default() }
    }

    /// Start and end of the heap block that contains an address.
    #[must_use]
    pub fn block(&self, address: u64) -> Option<(u64, u64)> {
        let (start, len) = self.heap.range(..=address).next_back()?;
        (address - start < *len).then(|| (*start, start + len))
    }

    /// Whether an address is in memory for which every store is observed.
    #[must_use]
    pub fn is_tracked(&self, address: u64) -> bool {
        self.stack.contains(&address) || self.is_global(address) || self.block(address).is_some()
    }

    /// Whether an address is near present or former heap blocks: the C library has blocks of its own there,
    /// about which nothing is known.
    #[must_use]
    pub fn is_near_heap(&self, address: u64) -> bool {
        let page = address / PAGE;
        self.heap_pages.range(page.saturating_sub(NEAR)..=page + NEAR).next().is_some()
    }

    fn is_global(&self, address: u64) -> bool {
        let next = self.globals.partition_point(|g| g.0 <= address);
        next.checked_sub(1).is_some_and(|n| address < self.globals[n].1)
    }

    /// Whether a byte was ever set since its object exists.
    #[must_use]
    pub fn is_defined(&self, address: u64) -> bool {
        self.defined.has(address) || self.is_global(address)
    }

    /// The knowledge about the bytes of a range.
    pub(crate) fn knowledge(&self, address: u64, len: usize) -> Vec<Knowledge> {
        let mut known = vec![Knowledge::Nothing; len];
        self.seen.within(address, len, |n| known[n] = Knowledge::Seen);
        self.defined.within(address, len, |n| known[n] = Knowledge::Set);
        let next = self.globals.partition_point(|g| g.1 <= address);
        for (start, end) in self.globals[next..].iter().take_while(|g| g.0 < address + len as u64) {
            let first = start.saturating_sub(address) as usize;
            let last = (end - address).min(len as u64) as usize;
            known[first..last].fill(Knowledge::Set);
        }
        known
    }

    /// Whether a byte was read, so that its value is known.
    #[must_use]
    pub fn is_seen(&self, address: u64) -> bool {
        self.seen.has(address)
    }

    fn mark(&mut self, address: u64, len: u64, defined: bool) {
        self.defined.mark(address, len, defined);
        if !defined {
            self.seen.mark(address, len, false);
        }
    }

    /// Marks bytes as set.
    pub fn define(&mut self, address: u64, len: u64) {
        self.mark(address, len, true);
    }

    /// Enters a new frame, in which nothing has a value.
    pub fn enter(&mut self, frame: u64, size: u64) {
        let end = frame.saturating_add(size.max(1));
        self.stack = match self.stack.is_empty() {
            true => frame..end,
            false => self.stack.start.min(frame)..self.stack.end.max(end),
        };
        self.mark(frame, size, false);
    }

    fn add_block(&mut self, start: u64, len: u64) {
        self.heap.insert(start, len);
        let last = start.saturating_add(len.min(MAX_REMEMBERED) - 1);
        self.heap_pages.extend(start / PAGE..=last / PAGE);
    }

    fn copy(&mut self, to: u64, from: u64, len: u64) {
        // Bytes set before the program ran, such as its arguments, have values.
        let has_value = |at: u64| self.is_defined(at) || self.is_seen(at) || !self.is_tracked(at);
        let defined: Vec<bool> = (0..len.min(1 << 24)).map(|n| has_value(from.wrapping_add(n))).collect();
        for (n, is) in defined.into_iter().enumerate() {
            self.mark(to.wrapping_add(n as u64), 1, is);
        }
    }

    /// Updates the state after an instruction.
    #[inline]
    pub fn step(&mut self, effect: Effect) {
        match effect {
            Effect::Store { address, len } | Effect::Update { address, len, stored: true } => {
                self.mark(address, len.into(), true);
            }
            Effect::Copy { to, from, len } => self.copy(to, from, len),
            Effect::Fill { to, len } => self.mark(to, len, true),
            Effect::Load { address, len } => self.seen.mark(address, len.into(), true),
            Effect::None | Effect::Update { .. } => {}
        }
    }

    /// Updates the state after an external call.
    pub fn external(&mut self, view: &View<'_>, call: &ExternalCall<'_>, name: &str) {
        for (address, len) in call.reads {
            self.seen.mark(*address, *len, true);
        }
        for (address, len) in call.writes {
            self.define(*address, *len);
        }
        let flags = call.known.map_or(0, |known| known.flags);
        let argument = |n: usize| call.args.get(n).copied().unwrap_or(0);
        let is_new = name.starts_with("_Znwm") || name.starts_with("_Znam");
        let is_delete = name.starts_with("_ZdlPv") || name.starts_with("_ZdaPv");
        let given_back = if flags & (flag::FREES | flag::MOVES) != 0 || is_delete {
            self.heap.remove(&argument(0)).unwrap_or(0)
        } else {
            0
        };
        let result = call.result.first().copied().unwrap_or(0);
        let block = match is_new {
            true => (result != 0).then(|| (result, argument(0))),
            false => effects::allocated(view, call),
        };
        let Some((result, len)) = block else { return };
        let is_filled = call
            .known
            .is_some_and(|k| k.writes.iter().any(|w| Some(w.place) == k.allocates.map(|b| b.place)));
        if flags & flag::MOVES != 0 {
            let old = given_back;
            if argument(0) != result {
                self.mark(result, len, false);
                self.copy(result, argument(0), old.min(len));
            } else if len > old {
                self.mark(result + old, len - old, false);
            }
        } else if !is_filled {
            self.mark(result, len, name == "calloc");
        }
        // Earlier blocks in this range no longer exist.
        let gone: Vec<u64> = self.heap.range(result..result.saturating_add(len)).map(|b| *b.0).collect();
        for block in gone {
            self.heap.remove(&block);
        }
        if len > 0 {
            self.add_block(result, len);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_set_is_known_byte_by_byte() {
        let mut objects = ObjectMap::new(vec![(0x100, 0x110)]);
        assert!(objects.is_defined(0x10f) && !objects.is_defined(0x110));
        objects.define(0x1ffe, 4);
        let defined: Vec<bool> = (0x1ffc..0x2004).map(|a| objects.is_defined(a)).collect();
        assert_eq!(defined, [false, false, true, true, true, true, false, false]);
        objects.enter(0x2000, 0x10);
        assert!(objects.is_defined(0x1fff) && !objects.is_defined(0x2000));
        // Bytes of a frame are unknown until they are stored; bytes elsewhere have some value.
        objects.step(Effect::Copy { to: 0x3000, from: 0x1ffc, len: 8 });
        let copied: Vec<bool> = (0x3000..0x3008).map(|a| objects.is_defined(a)).collect();
        assert_eq!(copied, [true, true, true, true, false, false, false, false]);
    }

    #[test]
    fn objects_have_ends() {
        let mut objects = ObjectMap::new(vec![(0x100, 0x110)]);
        objects.add_block(0x5000, 24);
        assert_eq!(objects.block(0x5017), Some((0x5000, 0x5018)));
        assert_eq!(objects.block(0x5018), None);
        assert!(
            objects.is_near_heap(0x5018) && objects.is_near_heap(0x6000) && !objects.is_near_heap(0x50_0000)
        );
        assert!(objects.is_tracked(0x104) && objects.is_tracked(0x5000) && !objects.is_tracked(0x110));
    }
}
