//! Wanted bytes of memory when nobody is noted down who wants them.
//!
//! Once a slice has more nodes than are kept, all that counts of a byte is whether it
//! is wanted: one bit. Bits of a page lie together, so that what a load wants and a
//! store finds costs a look-up and a mask.

use super::pages::{PAGE, Pages, words};

/// See the module's documentation.
#[derive(Default)]
pub struct Light {
    pages: Vec<[u64; 64]>,
    of: Pages,
    /// Bytes wanted.
    bytes: u64,
}

impl Light {
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Wants a range.
    #[inline]
    pub fn want(&mut self, start: u64, len: u64) {
        words(start, len, |page, word, mask| {
            let at = self.of.find(page).unwrap_or_else(|| {
                self.pages.push([0; 64]);
                self.of.add(page)
            });
            let word = &mut self.pages[at][word];
            self.bytes += u64::from((mask & !*word).count_ones());
            *word |= mask;
        });
    }

    /// Takes a range out; whether any byte of it was wanted.
    #[inline]
    pub fn take(&mut self, start: u64, len: u64) -> bool {
        let before = self.bytes;
        if before > 0 {
            words(start, len, |page, word, mask| {
                if let Some(at) = self.of.find(page) {
                    let word = &mut self.pages[at][word];
                    self.bytes -= u64::from((mask & *word).count_ones());
                    *word &= !mask;
                }
            });
        }
        self.bytes != before
    }

    /// Takes a range out, as ranges.
    pub fn drain(&mut self, start: u64, len: u64) -> Vec<(u64, u64)> {
        let mut all: Vec<(u64, u64)> = Vec::new();
        if self.bytes == 0 {
            return all;
        }
        if let Some(parts) = self.of.parts_of_long(start, len) {
            parts.into_iter().for_each(|(start, len)| all.extend(self.drain(start, len)));
            return all;
        }
        words(start, len, |page, word, mask| {
            let Some(at) = self.of.find(page) else { return };
            let place = &mut self.pages[at][word];
            let mut hit = *place & mask;
            self.bytes -= u64::from(hit.count_ones());
            *place &= !mask;
            let base = page * PAGE + word as u64 * 64;
            while hit != 0 {
                let first = hit.trailing_zeros();
                let n = (!(hit >> first)).trailing_zeros().min(64 - first);
                let from = base + u64::from(first);
                match all.last_mut() {
                    Some((s, l)) if *s + *l == from => *l += u64::from(n),
                    _ => all.push((from, n.into())),
                }
                hit &= if first + n == 64 { 0 } else { u64::MAX << (first + n) };
            }
        });
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against one flag a byte.
        #[test]
        fn bits_are_bytes(ops in proptest::collection::vec((0u8..3, 0u64..9000, 0u64..7000), 1..40)) {
            let (mut light, mut bytes) = (Light::default(), vec![false; 16000]);
            for (op, start, len) in ops {
                let range = start as usize..(start + len) as usize;
                match op {
                    0 => {
                        light.want(start, len);
                        bytes[range].fill(true);
                    }
                    1 => {
                        prop_assert_eq!(light.take(start, len), bytes[range.clone()].contains(&true));
                        bytes[range].fill(false);
                    }
                    _ => {
                        let mut found = vec![false; 16000];
                        for (s, n) in light.drain(start, len) {
                            prop_assert!(n > 0);
                            found[s as usize..(s + n) as usize].fill(true);
                        }
                        let mut expected = vec![false; 16000];
                        expected[range.clone()].copy_from_slice(&bytes[range.clone()]);
                        prop_assert_eq!(found, expected);
                        bytes[range].fill(false);
                    }
                }
                prop_assert_eq!(light.is_empty(), !bytes.contains(&true));
            }
        }
    }
}
