//! Wanted bytes of memory when nobody is noted down who wants them.
//!
//! Once a slice has more nodes than are kept, all that counts of a byte is whether it
//! is wanted: one bit. Bits of a page lie together, so that what a load wants and a
//! store finds costs a look-up and a mask.

use index::hash::Map;

pub(super) const PAGE: u64 = 4096;
const LATELY: u64 = 256;
const NOWHERE: u32 = u32::MAX;

/// See the module's documentation.
#[derive(Default)]
pub struct Light {
    pages: Vec<[u64; 64]>,
    of: Map<u64, u32>,
    /// Pages looked up lately, and where they are; [`NOWHERE`] if nothing of one was ever wanted.
    lately: Vec<(u64, u32)>,
    /// Bytes wanted.
    bytes: u64,
}

/// Calls `f` with page, word and mask for every word a range touches.
#[inline]
pub(super) fn words(start: u64, len: u64, mut f: impl FnMut(u64, usize, u64)) {
    let bit = start % 64;
    if bit + len <= 64 && (1..64).contains(&len) {
        f(start / PAGE, (start % PAGE / 64) as usize, ((1 << len) - 1) << bit);
        return;
    }
    let mut at = start;
    let mut left = len.min(u64::MAX - start);
    while left > 0 {
        let bit = at % 64;
        let n = left.min(64 - bit);
        let mask = if n == 64 { u64::MAX } else { ((1 << n) - 1) << bit };
        f(at / PAGE, (at % PAGE / 64) as usize, mask);
        at += n;
        left -= n;
    }
}

impl Light {
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    #[inline]
    fn page(&mut self, page: u64) -> Option<u32> {
        let at = match self.lately.get((page % LATELY) as usize) {
            Some((known, at)) if *known == page => *at,
            _ => self.look_up(page),
        };
        (at != NOWHERE).then_some(at)
    }

    #[cold]
    fn look_up(&mut self, page: u64) -> u32 {
        if self.lately.is_empty() {
            // No address is on that page.
            self.lately = vec![(u64::MAX, NOWHERE); LATELY as usize];
        }
        let at = self.of.get(&page).copied().unwrap_or(NOWHERE);
        self.lately[(page % LATELY) as usize] = (page, at);
        at
    }

    /// Wants a range.
    #[inline]
    pub fn want(&mut self, start: u64, len: u64) {
        words(start, len, |page, word, mask| {
            let at = self.page(page).unwrap_or_else(|| {
                let at = self.pages.len() as u32;
                self.pages.push([0; 64]);
                self.of.insert(page, at);
                self.look_up(page)
            });
            let word = &mut self.pages[at as usize][word];
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
                if let Some(at) = self.page(page) {
                    let word = &mut self.pages[at as usize][word];
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
        // A long range is looked at from the side of the pages there are.
        if len / PAGE > self.of.len() as u64 {
            let end = start.saturating_add(len);
            let mut pages: Vec<u64> = self.of.keys().copied().collect();
            pages.sort_unstable();
            for page in pages {
                let from = (page * PAGE).max(start);
                let to = (page * PAGE).saturating_add(PAGE).min(end);
                if from < to {
                    all.extend(self.drain(from, to - from));
                }
            }
            return all;
        }
        words(start, len, |page, word, mask| {
            let Some(at) = self.page(page) else { return };
            let place = &mut self.pages[at as usize][word];
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
