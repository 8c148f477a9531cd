//! A hash table of handles whose keys are stored elsewhere: four bytes per slot.

/// Marks a free slot; handles are smaller.
const FREE: u32 = u32::MAX;

/// Open addressing with linear probing, at most three quarters full.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    slots: Vec<u32>,
    used: usize,
}

impl Table {
    /// The handle with this hash for which `same` holds.
    pub fn find(&self, hash: u64, same: impl Fn(u32) -> bool) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            match self.slots[at] {
                FREE => return None,
                handle if same(handle) => return Some(handle),
                _ => at = (at + 1) & mask,
            }
        }
    }

    /// Adds a handle that is not in the table; `hash_of` returns the hashes of those that are.
    pub fn insert(&mut self, hash: u64, handle: u32, hash_of: impl Fn(u32) -> u64) {
        assert!(handle != FREE, "more terms than handles");
        if (self.used + 1) * 4 > self.slots.len() * 3 {
            let old = std::mem::take(&mut self.slots);
            self.slots = vec![FREE; (old.len() * 2).max(64)];
            for handle in old.into_iter().filter(|&handle| handle != FREE) {
                self.place(hash_of(handle), handle);
            }
        }
        self.place(hash, handle);
        self.used += 1;
    }

    fn place(&mut self, hash: u64, handle: u32) {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        while self.slots[at] != FREE {
            at = (at + 1) & mask;
        }
        self.slots[at] = handle;
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.slots.capacity() * 4
    }
}

/// A hash of a few words: multiply and fold, which distributes small handles well enough for linear probing
/// at the cost of one multiplication per word.
pub(crate) fn hash(words: impl IntoIterator<Item = u32>) -> u64 {
    let mut state = 0x243f_6a88_85a3_08d3_u64;
    for word in words {
        let product = u128::from(state ^ u64::from(word)) * 0x9e37_79b9_7f4a_7c15;
        state = (product >> 64) as u64 ^ product as u64;
    }
    state ^ (state >> 29)
}
