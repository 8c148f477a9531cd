//! Objects that were stored to at an input-dependent address.
//!
//! After such a store every byte of the object may be the new one. So the object becomes one array, and loads
//! and stores go through it. When an operation copies or overwrites a range of it, it becomes individual
//! bytes again.

use solver::{Array, Pool, Term};

/// One object as an array.
#[derive(Clone, Copy, Debug)]
pub struct Region {
    pub start: u64,
    pub len: u64,
    pub array: Array,
}

/// All regions; there are few at a time.
#[derive(Default)]
pub struct Regions {
    list: Vec<Region>,
}

impl Regions {
    #[must_use]
    pub fn at(&self, address: u64) -> Option<Region> {
        self.list.iter().copied().find(|r| address.wrapping_sub(r.start) < r.len)
    }

    #[must_use]
    pub fn overlap(&self, address: u64, len: u64) -> bool {
        self.list.iter().any(|r| overlaps(r, address, len))
    }

    pub fn add(&mut self, region: Region) {
        self.list.push(region);
    }

    /// Removes and returns a region that overlaps a range.
    pub fn take(&mut self, address: u64, len: u64) -> Option<Region> {
        let found = self.list.iter().position(|r| overlaps(r, address, len))?;
        Some(self.list.swap_remove(found))
    }

    /// Replaces a byte at a known address.
    pub fn store(&mut self, pool: &mut Pool, address: u64, value: Term) {
        if let Some(r) = self.list.iter_mut().find(|r| address.wrapping_sub(r.start) < r.len) {
            let index = pool.constant(64, (address - r.start).into());
            r.array = pool.store(r.array, index, value);
        }
    }

    /// Replaces the array of a region.
    pub fn replace(&mut self, start: u64, array: Array) {
        if let Some(r) = self.list.iter_mut().find(|r| r.start == start) {
            r.array = array;
        }
    }
}

fn overlaps(r: &Region, address: u64, len: u64) -> bool {
    address < r.start.saturating_add(r.len) && r.start < address.saturating_add(len)
}
