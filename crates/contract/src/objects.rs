//! Where objects begin and end in memory, and which bytes of them were ever set.
//!
//! C says of a pointer neither how many elements follow nor whether they have values. Both are
//! known to a replay: heap blocks from the calls that made them, locals from their frames, global
//! variables from the model; and every store is seen.

use externals::flag;
use program::model::{Function, Home};
use replay::observer::{Effect, ExternalCall};
use std::collections::{BTreeMap, HashMap};

const PAGE: u64 = 4096;
const WORDS: usize = PAGE as usize / 64;

/// See the module's documentation.
#[derive(Default)]
pub struct Objects {
    /// Start and length.
    heap: BTreeMap<u64, u64>,
    globals: Vec<(u64, u64)>,
    defined: HashMap<u64, Box<[u64; WORDS]>>,
}

impl Objects {
    /// `globals` are starts and ends of variables.
    #[must_use]
    pub fn new(mut globals: Vec<(u64, u64)>) -> Objects {
        globals.sort_unstable();
        Objects { globals, ..Objects::default() }
    }

    /// Start and end of the object around an address; of a local, in one of the frames.
    #[must_use]
    pub fn around(&self, address: u64, frames: &[(u64, &Function)]) -> Option<(u64, u64)> {
        if let Some((start, len)) = self.heap.range(..=address).next_back()
            && address - start < *len
        {
            return Some((*start, start + len));
        }
        let next = self.globals.partition_point(|g| g.0 <= address);
        if let Some(global) = next.checked_sub(1).map(|n| self.globals[n]).filter(|g| address < g.1) {
            return Some(global);
        }
        for (base, function) in frames.iter().rev() {
            let Some(offset) = address.checked_sub(*base).filter(|o| *o < function.frame_size.max(1)) else {
                continue;
            };
            // The next variable that begins behind bounds it.
            let starts = function.bindings.iter().filter_map(|b| match b.home {
                Home::Frame(at) if b.part.is_none() => Some(at),
                _ => None,
            });
            let (mut start, mut end) = (0, function.frame_size);
            for at in starts {
                if at <= offset {
                    start = start.max(at);
                } else {
                    end = end.min(at);
                }
            }
            return Some((base + start, base + end));
        }
        None
    }

    fn is_global(&self, address: u64) -> bool {
        let next = self.globals.partition_point(|g| g.0 <= address);
        next.checked_sub(1).is_some_and(|n| address < self.globals[n].1)
    }

    /// Whether a byte was ever set, since its object is there.
    #[must_use]
    pub fn is_defined(&self, address: u64) -> bool {
        let page = self.defined.get(&(address / PAGE));
        let bit = (address % PAGE) as usize;
        page.is_some_and(|page| page[bit / 64] >> (bit % 64) & 1 == 1) || self.is_global(address)
    }

    fn mark(&mut self, address: u64, len: u64, defined: bool) {
        let mut at = address;
        let end = address.saturating_add(len.min(1 << 32));
        while at < end {
            let (page, bit) = (at / PAGE, (at % PAGE) as usize);
            let here = (64 - bit % 64).min(usize::try_from(end - at).unwrap_or(64));
            let mask = (u64::MAX >> (64 - here)) << (bit % 64);
            if defined {
                self.defined.entry(page).or_insert_with(|| Box::new([0; WORDS]))[bit / 64] |= mask;
            } else if let Some(page) = self.defined.get_mut(&page) {
                page[bit / 64] &= !mask;
            }
            at += here as u64;
        }
    }

    /// Bytes have values now.
    pub fn define(&mut self, address: u64, len: u64) {
        self.mark(address, len, true);
    }

    /// A frame is new: nothing in it has a value.
    pub fn enter(&mut self, frame: u64, size: u64) {
        self.mark(frame, size, false);
    }

    fn copy(&mut self, to: u64, from: u64, len: u64) {
        let defined: Vec<bool> = (0..len.min(1 << 24)).map(|n| self.is_defined(from + n)).collect();
        for (n, is) in defined.into_iter().enumerate() {
            self.mark(to + n as u64, 1, is);
        }
    }

    /// An instruction ran.
    #[inline]
    pub fn step(&mut self, effect: Effect) {
        match effect {
            Effect::Store { address, len } | Effect::Update { address, len, stored: true } => {
                self.mark(address, len.into(), true);
            }
            Effect::Copy { to, from, len } => self.copy(to, from, len),
            Effect::Fill { to, len } => self.mark(to, len, true),
            Effect::None | Effect::Load { .. } | Effect::Update { .. } => {}
        }
    }

    /// A call outside has returned.
    pub fn external(&mut self, call: &ExternalCall<'_>, name: &str) {
        for (address, len) in call.writes {
            self.define(*address, *len);
        }
        let flags = call.known.map_or(0, |known| known.flags);
        let argument = |n: usize| call.args.get(n).copied().unwrap_or(0);
        let is_new = name.starts_with("_Znwm") || name.starts_with("_Znam");
        let is_delete = name.starts_with("_ZdlPv") || name.starts_with("_ZdaPv");
        if flags & flag::FREES != 0 || is_delete {
            self.heap.remove(&argument(0));
        }
        let result = call.result.first().copied().unwrap_or(0);
        if (flags & flag::ALLOCATES == 0 && !is_new) || result == 0 {
            return;
        }
        let len = match name {
            "calloc" => argument(0).saturating_mul(argument(1)),
            "realloc" | "memalign" | "aligned_alloc" => argument(1),
            "reallocarray" => argument(1).saturating_mul(argument(2)),
            "strdup" | "__strdup" | "strndup" | "__strndup" => {
                // As long as what was written there.
                call.writes.iter().filter(|w| w.0 == result).map(|w| w.1).max().unwrap_or(0)
            }
            _ => argument(0),
        };
        if flags & flag::MOVES != 0 {
            let old = self.heap.remove(&argument(0)).unwrap_or(0);
            if argument(0) != result {
                self.mark(result, len, false);
                self.copy(result, argument(0), old.min(len));
            } else if len > old {
                self.mark(result + old, len - old, false);
            }
        } else if !name.contains("strdup") && !name.contains("strndup") {
            self.mark(result, len, name == "calloc");
        }
        // What lay there before is gone.
        let gone: Vec<u64> = self.heap.range(result..result.saturating_add(len)).map(|b| *b.0).collect();
        for block in gone {
            self.heap.remove(&block);
        }
        if len > 0 {
            self.heap.insert(result, len);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_set_is_known_byte_by_byte() {
        let mut objects = Objects::new(vec![(0x100, 0x110)]);
        assert!(objects.is_defined(0x10f) && !objects.is_defined(0x110));
        objects.define(0x1ffe, 4);
        let defined: Vec<bool> = (0x1ffc..0x2004).map(|a| objects.is_defined(a)).collect();
        assert_eq!(defined, [false, false, true, true, true, true, false, false]);
        objects.step(Effect::Copy { to: 0x3000, from: 0x1ffc, len: 4 });
        assert_eq!([objects.is_defined(0x3001), objects.is_defined(0x3002)], [false, true]);
        objects.enter(0x2000, 0x10);
        assert!(objects.is_defined(0x1fff) && !objects.is_defined(0x2000));
    }

    #[test]
    fn objects_have_ends() {
        let mut objects = Objects::new(vec![(0x100, 0x110)]);
        objects.heap.insert(0x5000, 24);
        assert_eq!(objects.around(0x5017, &[]), Some((0x5000, 0x5018)));
        assert_eq!(objects.around(0x5018, &[]), None);
        assert_eq!(objects.around(0x104, &[]), Some((0x100, 0x110)));
    }
}
