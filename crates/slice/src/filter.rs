//! A quick "certainly not": which lines of memory may hold something wanted.
//!
//! Most stores of a run hit nothing that is looked for. One bit a line of 64 bytes, by
//! a hash of its number, says so without a search. Bits are only ever set; when many
//! have been set for ranges that are gone, the filter is made anew.

const LINE: u32 = 6;
const BITS: u32 = 16;
/// A range of more lines is not worth noting line by line.
const LONG: u64 = 256;
/// Ranges after which it is time to forget old ones.
const OLD: usize = 8192;

#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Empty as long as nothing was added.
    bits: Vec<u64>,
    added: usize,
    /// Something too long to note is wanted.
    long: bool,
}

#[inline]
fn place(line: u64) -> (usize, u64) {
    let hash = line.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - BITS);
    ((hash / 64) as usize, 1 << (hash % 64))
}

fn lines(start: u64, len: u64) -> std::ops::RangeInclusive<u64> {
    start >> LINE..=start.saturating_add(len.saturating_sub(1)) >> LINE
}

impl Filter {
    /// A filter for these ranges only.
    pub fn of(ranges: impl Iterator<Item = (u64, u64)>) -> Filter {
        let mut new = Filter::default();
        for (start, len) in ranges {
            new.note(start, len);
        }
        new.added = 0;
        new
    }

    fn note(&mut self, start: u64, len: u64) {
        self.added += 1;
        let lines = lines(start, len);
        if lines.end() - lines.start() >= LONG {
            self.long = true;
            return;
        }
        if self.bits.is_empty() {
            self.bits = vec![0; 1 << (BITS - 6)];
        }
        for line in lines {
            let (word, bit) = place(line);
            self.bits[word] |= bit;
        }
    }

    /// Notes a range; true if it is time to make the filter anew from the ranges there
    /// are, of which there were `count`.
    pub fn add(&mut self, start: u64, len: u64, count: usize) -> bool {
        self.note(start, len);
        self.added > OLD.max(4 * count)
    }

    /// False if nothing in the range was added.
    #[inline]
    pub fn may_hold(&self, start: u64, len: u64) -> bool {
        if self.long {
            return true;
        }
        let mut lines = lines(start, len);
        if lines.end() - lines.start() >= LONG {
            return true;
        }
        lines.any(|line| {
            let (word, bit) = place(line);
            self.bits.get(word).is_some_and(|w| w & bit != 0)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_was_added_is_held(
            ranges in proptest::collection::vec((any::<u64>(), 1u64..100_000), 1..40),
            anew in any::<bool>(),
        ) {
            let mut filter = Filter::default();
            for (start, len) in &ranges {
                filter.add(*start, *len, 0);
            }
            if anew {
                filter = Filter::of(ranges.iter().copied());
            }
            for (start, len) in ranges {
                prop_assert!(filter.may_hold(start, 1));
                prop_assert!(filter.may_hold(start.saturating_add(len - 1), 1));
                prop_assert!(filter.may_hold(start.saturating_sub(3), 8));
            }
        }
    }

    #[test]
    fn most_else_is_not() {
        let mut filter = Filter::default();
        (0..64).for_each(|i| {
            filter.add(i * 4096, 8, 0);
        });
        let held = (0..10_000u64).filter(|i| filter.may_hold(0x7000_0000 + i * 64, 8)).count();
        assert!(held < 100, "{held}");
        assert!(!Filter::default().may_hold(0, 64));
    }
}
