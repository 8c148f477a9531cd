//! A fast hash for small keys made of numbers. Keys come from our own counting, so
//! nobody can aim at collisions; the default hasher would take most of the time.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// A map by that hash.
pub type Map<K, V> = HashMap<K, V, BuildHasherDefault<Mix>>;
pub type Set<K> = HashSet<K, BuildHasherDefault<Mix>>;

#[derive(Clone, Copy, Debug, Default)]
pub struct Mix(u64);

impl Mix {
    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        // The table looks at the low bits for the place and at the high ones to compare.
        self.0 ^ self.0 >> 29
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.add(u64::from_le_bytes(word));
        }
    }

    fn write_u32(&mut self, n: u32) {
        self.add(n.into());
    }

    fn write_u64(&mut self, n: u64) {
        self.add(n);
    }
}
