//! Unmatched events of two aligned threads, grouped by view.
//!
//! An event can have moved only if the other run has an unmatched event with an equal key; most differences
//! have no such counterpart and are not considered. The remaining events, the *candidates*, are listed by
//! view, each with its *mark*: the number of similar events that precede it in its view. Marks of
//! corresponding views are comparable, whatever other events are between them.

use crate::kinds::ViewType;
use crate::names::mix;
use crate::trace::{NONE, Row, Trace};
use std::ops::Range;

/// The set of keys of some events, as a Bloom filter with one hash function.
pub struct Said {
    bits: Vec<u64>,
}

impl Said {
    /// The keys of the events of a range without a partner.
    #[must_use]
    pub fn by(trace: &Trace, range: Range<usize>, partners: &[u32]) -> Said {
        let alone = partners[range.clone()].iter().filter(|p| **p == NONE).count();
        let mut said = Said { bits: vec![0; (alone / 4).next_power_of_two().max(16)] };
        let mut keys = trace.keys.cursor();
        for event in range.filter(|e| partners[*e] == NONE) {
            let at = said.place(keys.get(event));
            said.bits[at / 64] |= 1 << (at % 64);
        }
        said
    }

    fn place(&self, key: u64) -> usize {
        mix(key, 5) as usize & (64 * self.bits.len() - 1)
    }

    /// Whether a key may be in the set; there are false positives.
    #[must_use]
    pub fn contains(&self, key: u64) -> bool {
        let at = self.place(key);
        self.bits[at / 64] >> (at % 64) & 1 != 0
    }
}

/// The number of matched events of each view so far.
#[derive(Debug, Default)]
pub struct MatchCounts {
    /// That number plus one; 0 for views that have not occurred.
    counts: Vec<u32>,
}

impl MatchCounts {
    #[inline]
    fn of(&mut self, view: u32) -> &mut u32 {
        if view as usize >= self.counts.len() {
            self.counts.resize(view as usize + 1, 0);
        }
        let count = &mut self.counts[view as usize];
        *count += u32::from(*count == 0);
        count
    }

    /// The views that have occurred.
    pub fn views(&self) -> impl Iterator<Item = u32> + '_ {
        (0u32..).zip(&self.counts).filter(|(_, count)| **count > 0).map(|(view, _)| view)
    }
}

/// A candidate in a view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// The event.
    pub event: u32,
    /// The number of similar events before it in the view.
    pub mark: u32,
}

/// Candidates by view, for one view type.
#[derive(Debug, Default)]
pub struct ByView {
    /// The start of each view's entries, with an end marker.
    starts: Vec<u32>,
    /// The entries, view by view, in order.
    entries: Vec<Entry>,
    /// For each candidate, its view and entry; [`NONE`] if it belongs to no view.
    pub place: Vec<(u32, u32)>,
}

impl ByView {
    /// The index range of a view's entries.
    #[must_use]
    pub fn range(&self, view: u32) -> Range<usize> {
        let view = view as usize;
        match self.starts.get(view..view + 2) {
            Some([from, to]) => *from as usize..*to as usize,
            _ => 0..0,
        }
    }

    /// All entries.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Builds the lists from the views and entries of candidates in the order of events.
    fn new(listed: &[(u32, Entry)]) -> ByView {
        let views = listed.iter().filter(|l| l.0 != NONE).map(|l| l.0 as usize + 1).max().unwrap_or(0);
        let mut starts = vec![0u32; views + 1];
        for (view, _) in listed.iter().filter(|l| l.0 != NONE) {
            starts[*view as usize + 1] += 1;
        }
        for view in 0..views {
            starts[view + 1] += starts[view];
        }
        let mut next = starts.clone();
        let mut entries = vec![Entry::default(); starts[views] as usize];
        let place = listed
            .iter()
            .map(|(view, entry)| match *view {
                NONE => (NONE, NONE),
                view => {
                    let at = next[view as usize];
                    next[view as usize] += 1;
                    entries[at as usize] = *entry;
                    (view, at)
                }
            })
            .collect();
        ByView { starts, entries, place }
    }
}

/// The candidates of a range of one run.
#[derive(Debug, Default)]
pub struct UnmatchedEvents {
    /// Events, ascending.
    pub events: Vec<u32>,
    /// The candidates by view, for each view type.
    pub by_view: Vec<ByView>,
}

impl UnmatchedEvents {
    /// Collects the candidates of a range. `other` has the keys of the other run's unmatched events;
    /// `match_counts` is carried over from range to range.
    #[must_use]
    pub fn gather(
        trace: &Trace,
        range: Range<usize>,
        partners: &[u32],
        other: &Said,
        kinds: &[ViewType],
        match_counts: &mut [MatchCounts],
    ) -> UnmatchedEvents {
        let mut events = Vec::new();
        let mut listed: Vec<Vec<(u32, Entry)>> = vec![Vec::new(); kinds.len()];
        let (mut rows, mut keys) = (trace.rows.cursor(), trace.keys.cursor());
        for event in range {
            let row = Row::from(rows.get(event));
            let alone = partners[event] == NONE;
            let candidate = alone && other.contains(keys.get(event));
            if candidate {
                events.push(event as u32);
            }
            for (n, kind) in kinds.iter().enumerate() {
                let view = (kind.naming)(trace, row).unwrap_or(NONE);
                let mut mark = 0;
                if view != NONE {
                    let count = match_counts[n].of(view);
                    mark = *count;
                    *count += u32::from(!alone);
                }
                if candidate {
                    listed[n].push((view, Entry { event: event as u32, mark }));
                }
            }
        }
        UnmatchedEvents { events, by_view: listed.iter().map(|l| ByView::new(l)).collect() }
    }

    /// The size in memory, in bytes.
    #[must_use]
    pub fn resident(&self) -> u64 {
        let of = |v: &ByView| 4 * v.starts.len() + 8 * v.entries.len() + 8 * v.place.len();
        (4 * self.events.len() + self.by_view.iter().map(of).sum::<usize>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column::Budget;
    use crate::kinds::{METHOD, TARGET};
    use crate::testing;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn marks_count_similar_events_of_the_view(
            events in proptest::collection::vec((0u32..4, 0u32..5, 0u64..6), 0..80),
            alone in proptest::collection::vec(any::<bool>(), 80),
            said in proptest::collection::vec(0u64..6, 0..4),
            cut in 0usize..80,
        ) {
            let budget = Budget::new(1 << 30);
            let trace = testing::trace(&events, &budget);
            let spoken: Vec<testing::Said> = said.iter().map(|value| (0, 0, *value)).collect();
            let spoken = testing::trace(&spoken, &budget);
            let other = Said::by(&spoken, 0..spoken.len(), &vec![NONE; spoken.len()]);
            let partners: Vec<u32> =
                (0..events.len()).map(|e| if alone[e] { NONE } else { 0 }).collect();
            let kinds = [METHOD, TARGET];
            let mut match_counts = [MatchCounts::default(), MatchCounts::default()];
            let cut = cut.min(events.len());
            for range in [0..cut, cut..events.len()] {
                let found = UnmatchedEvents::gather(&trace, range.clone(), &partners, &other, &kinds, &mut match_counts);
                for e in range.clone().filter(|e| alone[*e] && said.contains(&events[*e].2)) {
                    prop_assert!(found.events.contains(&(e as u32)), "nothing that may have moved is missed");
                }
                for (n, kind) in kinds.iter().enumerate() {
                    let view_of = |e: usize| (kind.naming)(&trace, trace.row(e)).unwrap();
                    for (k, e) in found.events.iter().enumerate() {
                        prop_assert!(alone[*e as usize]);
                        let (view, at) = found.by_view[n].place[k];
                        prop_assert_eq!(view, view_of(*e as usize));
                        prop_assert!(found.by_view[n].range(view).contains(&(at as usize)));
                        let entry = found.by_view[n].entries()[at as usize];
                        prop_assert_eq!(entry.event, *e);
                        let before = (0..*e as usize).filter(|b| !alone[*b] && view_of(*b) == view).count();
                        prop_assert_eq!(entry.mark as usize, before + 1);
                    }
                }
            }
        }
    }
}
