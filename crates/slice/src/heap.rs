//! Heap blocks: where, when and by which calls they were allocated.

use program::points_to::MAX_CALL_CHAIN;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::ops::Bound::{Excluded, Unbounded};
use std::sync::OnceLock;

/// Function, and index of an instruction in it.
type Call = (u32, u32);

/// Interned call chains of allocations: innermost call first, truncated to the length that the points-to
/// analysis distinguishes.
#[derive(Default, Serialize, Deserialize)]
pub struct Chains {
    list: Vec<Vec<Call>>,
    #[serde(skip)]
    index: HashMap<Vec<Call>, u32>,
    /// The last chain that was interned, which is often the next.
    #[serde(skip)]
    last: u32,
}

impl Chains {
    pub fn len(&self) -> u32 {
        self.list.len() as u32
    }

    /// All functions in the chains.
    pub fn functions(&self) -> impl Iterator<Item = u32> + '_ {
        self.list.iter().flatten().map(|call| call.0)
    }

    /// Interns a chain.
    pub fn of(&mut self, calls: impl Iterator<Item = Call> + Clone) -> u32 {
        let calls = calls.take(MAX_CALL_CHAIN);
        if self.list.get(self.last as usize).is_some_and(|l| l.iter().copied().eq(calls.clone())) {
            return self.last;
        }
        let next = self.list.len() as u32;
        self.last = *self.index.entry(calls.collect()).or_insert_with_key(|chain| {
            self.list.push(chain.clone());
            next
        });
        self.last
    }
}

/// An allocated block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allocated {
    pub stream: u32,
    pub step: u64,
    pub size: u64,
    /// Number of its call chain.
    pub chain: u32,
}

/// The block that contained an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    pub start: u64,
    pub block: Allocated,
    /// If the block is also the answer for all addresses from its start up to this one, and for all steps
    /// from its allocation up to the queried step.
    pub until: Option<u64>,
}

/// All blocks of a process.
#[derive(Default)]
pub struct Heap {
    /// By address, then by stream and step.
    blocks: BTreeMap<u64, Vec<Allocated>>,
    chains: Vec<Vec<Call>>,
    /// For each start in ascending order, the greatest end of all blocks with that start or a lower one.
    reach: OnceLock<Vec<(u64, u64)>>,
}

impl Heap {
    /// Adds the chains of a stream. Returns the number of the first.
    pub fn add_chains(&mut self, chains: &Chains) -> u32 {
        let first = self.chains.len() as u32;
        self.chains.extend_from_slice(&chains.list);
        first
    }

    pub fn chains(&self) -> &[Vec<Call>] {
        &self.chains
    }

    pub fn add(&mut self, address: u64, block: Allocated) {
        self.blocks.entry(address).or_default().push(block);
    }

    /// The block that contained an address at a step.
    pub fn find(&self, address: u64, stream: u32, step: u64) -> Option<Found> {
        // The last block of this stream at the nearest start is most often the one; then it is the answer
        // for all addresses up to the next start.
        let (start, all) = self.blocks.range(..=address).next_back()?;
        let before = all[..all.partition_point(|b| (b.stream, b.step) <= (stream, step))].last();
        if let Some(block) = before.filter(|b| b.stream == stream && address - start < b.size) {
            let end = start.saturating_add(block.size);
            let next = self.blocks.range((Excluded(address), Unbounded)).next();
            let until = Some(next.map_or(end, |next| end.min(*next.0)));
            return Some(Found { start: *start, block: *block, until });
        }
        let (start, block) = self.search(address, stream, step)?;
        Some(Found { start, block, until: None })
    }

    /// Whether no other block ever overlapped this one.
    pub fn is_sole_occupant(&self, start: u64, block: &Allocated) -> bool {
        let reach = self.reach.get_or_init(|| {
            let mut most = 0;
            let ends = self.blocks.iter().map(|(start, all)| {
                let end = all.iter().map(|b| start.saturating_add(b.size)).max();
                most = end.unwrap_or(0).max(most);
                (*start, most)
            });
            ends.collect()
        });
        let end = start.saturating_add(block.size);
        let here = reach.partition_point(|r| r.0 < start);
        let before = here.checked_sub(1).map_or(0, |n| reach[n].1);
        let after = reach.get(here + 1).map_or(u64::MAX, |r| r.0);
        before <= start && end <= after && self.blocks.get(&start).is_some_and(|all| all.len() == 1)
    }

    fn search(&self, address: u64, stream: u32, step: u64) -> Option<(u64, Allocated)> {
        // Blocks from earlier, which were smaller, may be in between.
        self.blocks.range(..=address).rev().take(16).find_map(|(start, all)| {
            let covers = |b: &&Allocated| address - start < b.size;
            // Sorted by stream, then by step.
            let before = &all[..all.partition_point(|b| (b.stream, b.step) <= (stream, step))];
            let own = before.iter().rev().take_while(|b| b.stream == stream).find(covers);
            let block = own.or_else(|| all.iter().rev().filter(|b| b.stream != stream).find(covers))?;
            Some((*start, *block))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_same_calls_are_one_chain() {
        let mut chains = Chains::default();
        let of = |chains: &mut Chains, calls: &[Call]| chains.of(calls.iter().copied());
        let (a, b) = (of(&mut chains, &[(1, 2), (3, 4)]), of(&mut chains, &[(1, 2), (3, 5)]));
        assert_ne!(a, b);
        assert_eq!((of(&mut chains, &[(1, 2), (3, 4)]), of(&mut chains, &[(1, 2), (3, 5)])), (a, b));
        let long: Vec<Call> = (0..40).map(|n| (n, n)).collect();
        let longer: Vec<Call> = (0..41).map(|n| (n, n)).collect();
        assert_eq!(of(&mut chains, &long), of(&mut chains, &longer));
    }

    proptest! {
        /// Compares with a search for each address and step.
        #[test]
        fn a_block_is_found_for_all_it_is_said_to_be(
            blocks in proptest::collection::vec((0u64..60, 0u32..2, 0u64..9, 1u64..30), 1..20),
            (address, stream, step) in (0u64..90, 0u32..2, 0u64..10),
        ) {
            let mut heap = Heap::default();
            let mut blocks = blocks;
            blocks.sort_by_key(|b| (b.1, b.2));
            for (start, stream, step, size) in blocks {
                heap.add(start, Allocated { stream, step, size, chain: 0 });
            }
            let found = heap.find(address, stream, step);
            let expected = heap.search(address, stream, step);
            prop_assert_eq!(found.map(|f| (f.start, f.block)), expected);
            if let Some(Found { start, block, until: Some(until) }) = found {
                let overlaps = |(s, all): (&u64, &Vec<Allocated>)| {
                    all.iter().filter(|b| *s < start + block.size && start < s + b.size).count()
                };
                let there: usize = heap.blocks.iter().map(overlaps).sum();
                prop_assert_eq!(heap.is_sole_occupant(start, &block), there == 1);
                for (a, s) in (start..until).flat_map(|a| (block.step..=step).map(move |s| (a, s))) {
                    prop_assert_eq!(heap.search(a, stream, s), expected, "{} {}", a, s);
                }
            }
        }
    }

    #[test]
    fn a_block_is_the_last_one_before() {
        let mut heap = Heap::default();
        let block = |stream, step, size| Allocated { stream, step, size, chain: 0 };
        for (address, b) in [(16, block(0, 5, 64)), (16, block(0, 9, 8)), (32, block(0, 20, 8))] {
            heap.add(address, b);
        }
        heap.add(16, block(1, 1, 8));
        let found = |address, stream, step| heap.find(address, stream, step).map(|f| (f.start, f.block.step));
        assert_eq!(found(40, 0, 7), Some((16, 5)));
        assert_eq!(found(20, 0, 12), Some((16, 9)));
        assert_eq!(found(33, 0, 30), Some((32, 20)));
        assert_eq!(found(17, 1, 3), Some((16, 1)));
        assert_eq!(found(200, 0, 30), None);
    }
}
