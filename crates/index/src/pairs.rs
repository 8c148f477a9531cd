//! Where neighbours occur in a grammar that is being made.

use crate::hash::Map;
use std::collections::hash_map::Entry;

/// Two neighbours: their symbols and counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Pair {
    pub(crate) symbols: (u32, u32),
    pub(crate) counts: (u64, u64),
}

/// Where pairs are. Looking them up is what compressing takes time for, so that one look
/// finds all that most pairs need.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pairs {
    known: Map<(u32, u32), Known>,
    /// Pairs with their counts, if these are not both 1: at most one place has each.
    counted: Map<Pair, u32>,
}

/// Places of a pair of symbols; [`NOWHERE`] if there is none.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// Where both counts are 1.
    single: u32,
    /// The last one, whatever its counts.
    last: u32,
}

const NOWHERE: u32 = u32::MAX;

impl Pairs {
    /// Where the pair is with these counts, and where it was last with any.
    #[inline]
    pub(crate) fn get(&self, pair: Pair) -> (Option<u32>, Option<u32>) {
        let there = |at: u32| (at != NOWHERE).then_some(at);
        let known = self.known.get(&pair.symbols).copied();
        let same = match pair.counts {
            (1, 1) => known.and_then(|k| there(k.single)),
            _ => self.counted.get(&pair).copied(),
        };
        (same, known.and_then(|k| there(k.last)))
    }

    #[inline]
    pub(crate) fn insert(&mut self, pair: Pair, at: u32) {
        let known = self.known.entry(pair.symbols).or_insert(Known { single: NOWHERE, last: at });
        known.last = at;
        match pair.counts {
            (1, 1) => known.single = at,
            _ => {
                self.counted.insert(pair, at);
            }
        }
    }

    /// Forgets the pair, as far as it is known at this place.
    #[inline]
    pub(crate) fn remove(&mut self, pair: Pair, at: u32) {
        if let Entry::Occupied(mut known) = self.known.entry(pair.symbols) {
            let Known { single, last } = known.get_mut();
            if *single == at && pair.counts == (1, 1) {
                *single = NOWHERE;
            }
            if *last == at {
                *last = NOWHERE;
            }
            if (*single, *last) == (NOWHERE, NOWHERE) {
                known.remove();
            }
        }
        if pair.counts != (1, 1)
            && let Entry::Occupied(counted) = self.counted.entry(pair)
            && *counted.get() == at
        {
            counted.remove();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        /// As one table of pairs with counts and one without would answer.
        #[test]
        fn two_tables_say_the_same(does in proptest::collection::vec((0u32..3, 1u64..3, 1u64..3, 0u32..4, any::<bool>()), 0..200)) {
            let mut pairs = Pairs::default();
            let (mut exact, mut similar) = (HashMap::new(), HashMap::new());
            for (symbol, a, b, at, inserts) in does {
                let pair = Pair { symbols: (symbol, 9), counts: (a, b) };
                if inserts {
                    pairs.insert(pair, at);
                    exact.insert(pair, at);
                    similar.insert(pair.symbols, at);
                } else {
                    pairs.remove(pair, at);
                    exact.retain(|k, v| *k != pair || *v != at);
                    similar.retain(|k, v| *k != pair.symbols || *v != at);
                }
                prop_assert_eq!(pairs.get(pair), (exact.get(&pair).copied(), similar.get(&pair.symbols).copied()));
            }
        }
    }
}
