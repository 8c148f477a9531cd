//! Where the pages of a sparse table over memory are, by their numbers.

use rustc_hash::FxHashMap as Map;
use std::cell::Cell;

/// Bytes of a page.
pub const PAGE: u64 = 4096;
const LATELY: u64 = 256;
const NOWHERE: u32 = u32::MAX;

/// See the module's documentation.
#[derive(Default)]
pub struct Pages {
    of: Map<u64, u32>,
    /// Pages looked up lately, and where they are; [`NOWHERE`] if there is none of that number.
    lately: Vec<Cell<(u64, u32)>>,
}

impl Pages {
    /// Where a page is.
    #[inline]
    pub fn find(&self, number: u64) -> Option<usize> {
        let at = match self.lately.get((number % LATELY) as usize).map(Cell::get) {
            Some((known, at)) if known == number => at,
            _ => self.look_up(number),
        };
        (at != NOWHERE).then_some(at as usize)
    }

    #[cold]
    fn look_up(&self, number: u64) -> u32 {
        let at = self.of.get(&number).copied().unwrap_or(NOWHERE);
        if let Some(place) = self.lately.get((number % LATELY) as usize) {
            place.set((number, at));
        }
        at
    }

    /// A new page; where it is: behind the others.
    #[cold]
    pub fn add(&mut self, number: u64) -> usize {
        if self.lately.is_empty() {
            // No address is on that page.
            self.lately = vec![Cell::new((u64::MAX, NOWHERE)); LATELY as usize];
        }
        self.of.insert(number, self.of.len() as u32);
        self.look_up(number) as usize
    }

    /// The parts of a range that are on a page, in order, as starts and lengths; none if the range
    /// is short, and its pages are better looked up one by one.
    pub fn parts_of_long(&self, start: u64, len: u64) -> Option<Vec<(u64, u64)>> {
        if len / PAGE <= self.of.len() as u64 {
            return None;
        }
        let end = start.saturating_add(len);
        let mut pages: Vec<u64> = self.of.keys().copied().collect();
        pages.sort_unstable();
        let parts = pages.into_iter().map(|page| {
            let from = (page * PAGE).max(start);
            (from, (page * PAGE).saturating_add(PAGE).min(end).saturating_sub(from))
        });
        Some(parts.filter(|(_, len)| *len > 0).collect())
    }
}

/// Calls `f` with page, word and mask for every word a range touches.
#[inline]
pub fn words(start: u64, len: u64, mut f: impl FnMut(u64, usize, u64)) {
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
