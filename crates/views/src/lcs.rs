//! Longest common subsequences of keys: an exact algorithm in linear space for whole runs, and a fast one for
//! small windows.
//!
//! Both represent a row of the dynamic-programming table as bits: from one column to the next the length
//! grows by one or stays the same, and a single addition computes the next row for 64 columns (Crochemore,
//! Iliopoulos, Pinzon and Reid; Hyyrö). A bit is 0 where the length grows.

use crate::names::NumberMap;

/// Pairs of indices of a longest common subsequence, ascending. Adds the number of computed table cells to
/// `compared`.
///
/// Hirschberg's algorithm: the table is computed row by row from both ends to the middle; the column with the
/// best sum splits the problem in two. Quadratic time, linear space.
#[must_use]
pub fn longest(a: &[u64], b: &[u64], compared: &mut u64) -> Vec<(usize, usize)> {
    let mut symbols: NumberMap<u64, u32> = NumberMap::default();
    let mut number = |key: &u64| {
        let next = symbols.len() as u32;
        *symbols.entry(*key).or_insert(next)
    };
    let a: Vec<u32> = a.iter().map(&mut number).collect();
    let b: Vec<u32> = b.iter().map(&mut number).collect();
    let mut lengths = Lengths { masks: vec![0; symbols.len()], carries: Vec::new() };
    let mut out = Vec::new();
    // An explicit stack: deep recursion on long runs could overflow the call stack.
    let mut todo = vec![(0, a.len(), 0, b.len())];
    while let Some((mut a0, mut a1, mut b0, mut b1)) = todo.pop() {
        while a0 < a1 && b0 < b1 && same(a[a0], b[b0], compared) {
            out.push((a0, b0));
            (a0, b0) = (a0 + 1, b0 + 1);
        }
        while a0 < a1 && b0 < b1 && same(a[a1 - 1], b[b1 - 1], compared) {
            (a1, b1) = (a1 - 1, b1 - 1);
            out.push((a1, b1));
        }
        if a0 == a1 || b0 == b1 {
            continue;
        }
        if a1 - a0 == 1 {
            if let Some(at) = (b0..b1).find(|j| same(a[a0], b[*j], compared)) {
                out.push((a0, at));
            }
            continue;
        }
        let middle = a0.midpoint(a1);
        *compared += ((a1 - a0) * (b1 - b0)) as u64;
        let forward = lengths.row(a[a0..middle].iter(), b[b0..b1].iter());
        let mut backward = lengths.row(a[middle..a1].iter().rev(), b[b0..b1].iter().rev());
        backward.reverse();
        let split = (0..=b1 - b0).max_by_key(|j| forward[*j] + backward[*j]).unwrap_or(0) + b0;
        todo.push((middle, a1, split, b1));
        todo.push((a0, middle, b0, split));
    }
    out.sort_unstable();
    out
}

#[inline]
fn same(a: u32, b: u32, compared: &mut u64) -> bool {
    *compared += 1;
    a == b
}

struct Lengths {
    /// For each symbol, the columns among the current 64 that have it.
    masks: Vec<u64>,
    /// For each row, the carry from the previous 64 columns.
    carries: Vec<bool>,
}

impl Lengths {
    /// The last row of the table: for each prefix of `b`, the length of its LCS with all of `a`.
    fn row<'k>(
        &mut self,
        a: impl ExactSizeIterator<Item = &'k u32> + Clone,
        b: impl ExactSizeIterator<Item = &'k u32>,
    ) -> Vec<u32> {
        self.carries.clear();
        self.carries.resize(a.len(), false);
        let mut out = Vec::with_capacity(b.len() + 1);
        let mut length = 0;
        out.push(length);
        let b: Vec<u32> = b.copied().collect();
        for block in b.chunks(64) {
            for (bit, symbol) in block.iter().enumerate() {
                self.masks[*symbol as usize] |= 1 << bit;
            }
            let mut row = u64::MAX;
            for (symbol, carry) in a.clone().zip(&mut self.carries) {
                (row, *carry) = next(row, self.masks[*symbol as usize], *carry);
            }
            for (bit, symbol) in block.iter().enumerate() {
                self.masks[*symbol as usize] = 0;
                length += u32::from(row >> bit & 1 == 0);
                out.push(length);
            }
        }
        out
    }
}

/// Computes the next row of 64 columns, and its carry.
#[inline]
fn next(row: u64, mask: u64, carry: bool) -> (u64, bool) {
    let (sum, one) = row.overflowing_add(row & mask);
    let (sum, two) = sum.overflowing_add(u64::from(carry));
    (sum | row & !mask, one | two)
}

/// Compares windows of up to a few hundred keys, one pair after another; buffers are reused.
#[derive(Debug, Default)]
pub struct Windows {
    /// Keys of the second window by open addressing: key, number of the comparison, symbol.
    slots: Vec<(u64, u32, u32)>,
    time: u32,
    /// For each symbol, the columns that have it.
    masks: Vec<u64>,
    /// Rows of the table, and their indices and symbols.
    rows: Vec<u64>,
    present: Vec<(u32, u32)>,
    pairs: Vec<(usize, usize)>,
}

impl Windows {
    /// Pairs of indices of a longest common subsequence, ascending; early pairs are preferred. Adds the
    /// number of computed table cells to `compared`.
    pub fn common(&mut self, a: &[u64], b: &[u64], compared: &mut u64) -> &[(usize, usize)] {
        self.pairs.clear();
        let head = a.iter().zip(b).take_while(|(a, b)| a == b).count();
        self.pairs.extend((0..head).map(|i| (i, i)));
        let (a, b) = (&a[head..], &b[head..]);
        *compared += head as u64;
        if a.is_empty() || b.is_empty() {
            return &self.pairs;
        }
        *compared += (a.len() * b.len()) as u64;
        // The table is filled from the end, so that the traceback starts at the beginning.
        let words = b.len().div_ceil(64);
        self.enter(b, words);
        self.rows.clear();
        self.rows.resize(words, u64::MAX);
        self.present.clear();
        for (i, key) in a.iter().enumerate().rev() {
            let Some(symbol) = self.symbol(*key) else { continue };
            self.present.push((i as u32, symbol));
            let (last, mask) = (self.rows.len() - words, symbol as usize * words);
            let mut carry = false;
            for w in 0..words {
                let row;
                (row, carry) = next(self.rows[last + w], self.masks[mask + w], carry);
                self.rows.push(row);
            }
        }
        let (mut i, mut j) = (self.present.len(), b.len());
        while i > 0 && j > 0 {
            let (word, bit) = ((j - 1) / 64, (j - 1) % 64);
            let (index, symbol) = self.present[i - 1];
            if self.masks[symbol as usize * words + word] >> bit & 1 != 0 {
                self.pairs.push((head + index as usize, head + b.len() - j));
                (i, j) = (i - 1, j - 1);
            } else if self.rows[i * words + word] >> bit & 1 != 0 {
                j -= 1;
            } else {
                i -= 1;
            }
        }
        &self.pairs
    }

    /// The result of the last comparison.
    #[must_use]
    pub fn pairs(&self) -> &[(usize, usize)] {
        &self.pairs
    }

    /// Records the columns of each key of `b`, counted from the end.
    fn enter(&mut self, b: &[u64], words: usize) {
        let size = (2 * b.len()).next_power_of_two().max(128);
        self.time = self.time.wrapping_add(1);
        if self.slots.len() != size || self.time == 0 {
            self.slots.clear();
            self.slots.resize(size, (0, 0, 0));
            self.time = 1;
        }
        self.masks.clear();
        for (column, key) in b.iter().rev().enumerate() {
            let slot = self.slot(*key);
            if self.slots[slot].1 != self.time {
                self.slots[slot] = (*key, self.time, (self.masks.len() / words) as u32);
                self.masks.resize(self.masks.len() + words, 0);
            }
            let symbol = self.slots[slot].2 as usize;
            self.masks[symbol * words + column / 64] |= 1 << (column % 64);
        }
    }

    /// The slot of a key, or the free slot for it.
    #[inline]
    fn slot(&self, key: u64) -> usize {
        let last = self.slots.len() - 1;
        let mut at = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize & last;
        while self.slots[at].1 == self.time && self.slots[at].0 != key {
            at = (at + 1) & last;
        }
        at
    }

    #[inline]
    fn symbol(&self, key: u64) -> Option<u32> {
        let slot = self.slots[self.slot(key)];
        (slot.1 == self.time).then_some(slot.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The length, by the textbook recursion.
    fn length(a: &[u64], b: &[u64]) -> usize {
        match (a, b) {
            ([x, a @ ..], [y, b @ ..]) if x == y => 1 + length(a, b),
            ([_, rest_a @ ..], [_, rest_b @ ..]) => length(rest_a, b).max(length(a, rest_b)),
            _ => 0,
        }
    }

    /// The length, by the textbook table.
    fn by_table(a: &[u64], b: &[u64]) -> usize {
        let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
        for i in 0..a.len() {
            for j in 0..b.len() {
                table[i + 1][j + 1] =
                    if a[i] == b[j] { table[i][j] + 1 } else { table[i][j + 1].max(table[i + 1][j]) };
            }
        }
        table[a.len()][b.len()]
    }

    fn is_common(a: &[u64], b: &[u64], pairs: &[(usize, usize)]) -> bool {
        pairs.windows(2).all(|w| w[0].0 < w[1].0 && w[0].1 < w[1].1) && pairs.iter().all(|p| a[p.0] == b[p.1])
    }

    proptest! {
        #[test]
        fn both_ways_find_a_longest_one(
            a in proptest::collection::vec(0u64..4, 0..9),
            b in proptest::collection::vec(0u64..4, 0..9),
        ) {
            let wanted = length(&a, &b);
            prop_assert_eq!(by_table(&a, &b), wanted);
            let pairs = longest(&a, &b, &mut 0);
            prop_assert!(is_common(&a, &b, &pairs));
            prop_assert_eq!(pairs.len(), wanted);
            let mut windows = Windows::default();
            let quick = windows.common(&a, &b, &mut 0);
            prop_assert!(is_common(&a, &b, quick));
            prop_assert_eq!(quick.len(), wanted);
        }

        #[test]
        fn long_ones_agree(
            a in proptest::collection::vec(0u64..9, 0..200),
            b in proptest::collection::vec(0u64..9, 0..200),
            c in proptest::collection::vec(0u64..70, 0..200),
        ) {
            let mut windows = Windows::default();
            for (a, b) in [(&a, &b), (&a, &c), (&c, &b)] {
                let quick = windows.common(a, b, &mut 0);
                prop_assert!(is_common(a, b, quick));
                prop_assert_eq!(quick.len(), by_table(a, b));
                let pairs = longest(a, b, &mut 0);
                prop_assert!(is_common(a, b, &pairs));
                prop_assert_eq!(pairs.len(), quick.len());
            }
        }
    }

    #[test]
    fn the_earliest_pairs_are_preferred() {
        let mut windows = Windows::default();
        assert_eq!(windows.common(&[1], &[2, 1, 1], &mut 0), [(0, 1)]);
        assert_eq!(windows.common(&[3, 1, 1], &[1], &mut 0), [(1, 0)]);
    }
}
