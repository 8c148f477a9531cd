//! Interned texts, and the hashes that enter event keys.

use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_64;

/// A hash map with integer keys.
pub type NumberMap<K, V> = FxHashMap<K, V>;

/// Combines two numbers into a hash; not commutative.
#[inline]
#[must_use]
pub fn mix(a: u64, b: u64) -> u64 {
    let wide = u128::from(a ^ 0x9E37_79B9_7F4A_7C15) * u128::from(b ^ 0xC2B2_AE3D_27D4_EB4F);
    (wide as u64) ^ ((wide >> 64) as u64).wrapping_add(a.rotate_left(23))
}

/// See the module's documentation.
#[derive(Debug, Default)]
pub struct Names {
    texts: Vec<Box<str>>,
    hashes: Vec<u64>,
    known: NumberMap<u64, u32>,
}

impl Names {
    /// A table in which number 0 is the empty text.
    #[must_use]
    pub fn new() -> Names {
        let mut names = Names::default();
        names.intern("");
        names
    }

    /// Interns a text. Texts with equal 64-bit hashes are identified.
    pub fn intern(&mut self, text: &str) -> u32 {
        let hash = xxh3_64(text.as_bytes());
        if let Some(known) = self.known.get(&hash) {
            return *known;
        }
        self.add(hash, text.into())
    }

    /// Interns bytes that may not be valid UTF-8.
    pub fn intern_bytes(&mut self, bytes: &[u8]) -> u32 {
        let hash = xxh3_64(bytes);
        if let Some(known) = self.known.get(&hash) {
            return *known;
        }
        self.add(hash, String::from_utf8_lossy(bytes).into())
    }

    /// Interns a text under the hash of another one: `shown` is displayed, `says` is compared.
    pub fn intern_as(&mut self, shown: &[u8], says: &[u8]) -> u32 {
        let hash = xxh3_64(says);
        if let Some(known) = self.known.get(&hash) {
            return *known;
        }
        self.add(hash, String::from_utf8_lossy(shown).into())
    }

    fn add(&mut self, hash: u64, text: Box<str>) -> u32 {
        let number = self.texts.len() as u32;
        self.texts.push(text);
        self.hashes.push(hash);
        self.known.insert(hash, number);
        number
    }

    /// The text with a number; empty if there is none.
    #[must_use]
    pub fn text(&self, number: u32) -> &str {
        self.texts.get(number as usize).map_or("", |t| t)
    }

    /// The hash of a text: the same in every run.
    #[must_use]
    pub fn hash(&self, number: u32) -> u64 {
        self.hashes.get(number as usize).copied().unwrap_or(0)
    }

    /// The number of a text, if it is interned.
    #[must_use]
    pub fn find(&self, text: &str) -> Option<u32> {
        self.known.get(&xxh3_64(text.as_bytes())).copied()
    }

    /// The number of texts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there are no texts.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_keep_their_numbers() {
        let mut names = Names::new();
        let a = names.intern("a");
        assert_eq!(names.intern("b"), a + 1);
        assert_eq!((names.intern("a"), names.intern("")), (a, 0));
        assert_eq!(names.text(a), "a");
        assert_eq!(names.find("b"), Some(a + 1));
        assert_eq!(names.find("c"), None);
        assert_eq!(names.text(99), "");
        assert_eq!(names.intern_bytes(b"a"), a);
    }

    #[test]
    fn order_matters_when_mixing() {
        assert_ne!(mix(1, 2), mix(2, 1));
        assert_ne!(mix(mix(0, 0), 0), mix(0, 0));
    }
}
