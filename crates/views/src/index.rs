//! The events of each view of a view type, in order.
//!
//! Events are indexed chunk by chunk, with two bytes per event: the events of a view within one chunk are
//! contiguous, and each view has a list of the chunks with its events. So an index is built in one pass and
//! may be stored on disk; both a whole view and the neighbourhood of an event in it are found without
//! scanning.

use crate::column::{CHUNK, Column};
use crate::kinds::ViewType;
use crate::names::NumberMap;
use crate::trace::{NONE, Trace};
use std::io;

struct Part {
    /// For each view with events in this chunk, their range in `order`, relative to `offset`.
    views: NumberMap<u32, (u32, u32)>,
    /// The chunk's start in `order`.
    offset: usize,
}

/// See the module's documentation.
pub struct Index {
    parts: Vec<Part>,
    order: Column<u16>,
    /// For each view, its chunks and its number of events.
    of: NumberMap<u32, (Vec<u32>, u64)>,
    /// The views, in the order of their first events.
    views: Vec<u32>,
}

impl Index {
    /// Indexes a trace.
    ///
    /// # Errors
    /// If writing to disk fails.
    pub fn new(trace: &Trace, kind: &ViewType) -> io::Result<Index> {
        let mut index = Index {
            parts: Vec::new(),
            order: Column::new(trace.budget()),
            of: NumberMap::default(),
            views: Vec::new(),
        };
        let mut names = vec![NONE; CHUNK];
        for chunk in 0..trace.len().div_ceil(CHUNK) {
            let first = chunk * CHUNK;
            let n = CHUNK.min(trace.len() - first);
            let mut seen: Vec<u32> = Vec::new();
            let mut views: NumberMap<u32, (u32, u32)> = NumberMap::default();
            // Consecutive events often belong to one view: cache the last lookup.
            let mut last: Option<(u32, u32)> = None;
            for (i, name) in names.iter_mut().enumerate().take(n) {
                *name = (kind.naming)(trace, trace.row(first + i)).unwrap_or(NONE);
                if *name == NONE {
                    continue;
                }
                match &mut last {
                    Some((view, count)) if view == name => *count += 1,
                    _ => {
                        if let Some((view, count)) = last.replace((*name, 1)) {
                            note(&mut views, &mut seen, view, count);
                        }
                    }
                }
            }
            if let Some((view, count)) = last {
                note(&mut views, &mut seen, view, count);
            }
            let mut at = 0;
            for view in &seen {
                let Some(place) = views.get_mut(view) else { continue };
                let known = index.of.entry(*view).or_insert_with(|| {
                    index.views.push(*view);
                    (Vec::new(), 0)
                });
                known.0.push(chunk as u32);
                known.1 += u64::from(place.1);
                let len = place.1;
                *place = (at, at);
                at += len;
            }
            let mut order = vec![0u16; at as usize];
            for (i, name) in names.iter().enumerate().take(n) {
                if let Some(place) = views.get_mut(name) {
                    order[place.1 as usize] = i as u16;
                    place.1 += 1;
                }
            }
            let offset = index.order.len();
            for i in order {
                index.order.push(i);
            }
            index.order.settle()?;
            index.parts.push(Part { views, offset });
        }
        Ok(index)
    }

    /// The views with events, in the order of their first ones.
    #[must_use]
    pub fn views(&self) -> &[u32] {
        &self.views
    }

    /// The number of events of a view.
    #[must_use]
    pub fn len_of(&self, view: u32) -> u64 {
        self.of.get(&view).map_or(0, |v| v.1)
    }

    /// The size in memory, in bytes.
    #[must_use]
    pub fn resident(&self) -> u64 {
        let parts: usize = self.parts.iter().map(|p| p.views.capacity() * 16).sum();
        self.order.resident() + parts as u64 + (self.of.len() * 48) as u64
    }

    /// The events of a view in one chunk.
    fn run(&self, view: u32, chunk: u32) -> impl DoubleEndedIterator<Item = u32> + ExactSizeIterator + '_ {
        let part = &self.parts[chunk as usize];
        let (from, to) = part.views.get(&view).copied().unwrap_or((0, 0));
        let first = chunk << CHUNK.trailing_zeros();
        (from..to).map(move |i| first + u32::from(self.order.get(part.offset + i as usize)))
    }

    /// All events of a view.
    pub fn events(&self, view: u32) -> impl Iterator<Item = u32> + '_ {
        let chunks = self.of.get(&view).map_or(&[][..], |v| &v.0);
        chunks.iter().flat_map(move |chunk| self.run(view, *chunk))
    }

    /// Up to `reach` events of a view before `event` and as many from it on, in order.
    pub fn around(&self, view: u32, event: u32, reach: usize, out: &mut Vec<u32>) {
        out.clear();
        let Some((chunks, _)) = self.of.get(&view) else { return };
        let here = event >> CHUNK.trailing_zeros();
        let at = chunks.partition_point(|c| *c < here);
        let inside = chunks.get(at).filter(|c| **c == here).map_or(0, |c| self.before(view, *c, event));
        let first = |chunk: u32| self.parts[chunk as usize].views.get(&view).copied().unwrap_or((0, 0));
        // The part of the event's chunk before it, then whole earlier chunks.
        let mut pieces = vec![];
        if inside > 0 {
            pieces.push((here, inside));
        }
        let earlier = chunks[..at].iter().rev().map(|c| (*c, first(*c).1 - first(*c).0));
        for (chunk, len) in pieces.into_iter().chain(earlier) {
            for e in self.run(view, chunk).take(len as usize).rev() {
                out.push(e);
                if out.len() == reach {
                    break;
                }
            }
            if out.len() == reach {
                break;
            }
        }
        out.reverse();
        let end = out.len() + reach;
        for chunk in &chunks[at..] {
            let skip = if *chunk == here { inside as usize } else { 0 };
            out.extend(self.run(view, *chunk).skip(skip).take(end - out.len()));
            if out.len() == end {
                break;
            }
        }
    }

    /// The number of events of a view in a chunk that precede an event.
    fn before(&self, view: u32, chunk: u32, event: u32) -> u32 {
        let part = &self.parts[chunk as usize];
        let (from, to) = part.views.get(&view).copied().unwrap_or((0, 0));
        let wanted = event - (chunk << CHUNK.trailing_zeros());
        let (mut low, mut high) = (from, to);
        while low < high {
            let middle = low.midpoint(high);
            match u32::from(self.order.get(part.offset + middle as usize)) < wanted {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        low - from
    }
}

fn note(views: &mut NumberMap<u32, (u32, u32)>, seen: &mut Vec<u32>, view: u32, count: u32) {
    let place = views.entry(view).or_insert_with(|| {
        seen.push(view);
        (0, 0)
    });
    place.1 += count;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column::Budget;
    use crate::kinds::{METHOD, TARGET};
    use crate::testing;
    use proptest::prelude::*;

    /// The events of a view, by scanning all events.
    fn listed(trace: &Trace, kind: &ViewType, view: u32) -> Vec<u32> {
        (0..trace.len())
            .filter(|e| (kind.naming)(trace, trace.row(*e)) == Some(view))
            .map(|e| e as u32)
            .collect()
    }

    proptest! {
        #[test]
        fn an_index_lists_what_a_scan_finds(
            events in proptest::collection::vec((0u32..4, 0u32..5, 0u64..3), 0..80),
            at in 0u32..80,
            reach in 1usize..9,
        ) {
            let trace = testing::trace(&events, &Budget::new(1 << 30));
            for kind in [METHOD, TARGET] {
                let index = Index::new(&trace, &kind).unwrap();
                for view in 0..8 {
                    let all = listed(&trace, &kind, view);
                    prop_assert_eq!(index.events(view).collect::<Vec<_>>(), all.clone());
                    prop_assert_eq!(index.len_of(view), all.len() as u64);
                    let mut near = Vec::new();
                    index.around(view, at, reach, &mut near);
                    let split = all.partition_point(|e| *e < at);
                    let wanted = &all[split.saturating_sub(reach)..(split + reach).min(all.len())];
                    prop_assert_eq!(&near[..], wanted);
                }
            }
        }
    }

    #[test]
    fn chunks_and_disk_make_no_difference() {
        let n = 2 * CHUNK + 1000;
        let events: Vec<testing::Said> =
            (0..n).map(|i| ((i / 1000) as u32 % 3, (i as u32).wrapping_mul(2_654_435_761) % 7, 1)).collect();
        for budget in [0, 1 << 30] {
            let trace = testing::trace(&events, &Budget::new(budget));
            let index = Index::new(&trace, &TARGET).unwrap();
            for view in [0, 6] {
                let all = listed(&trace, &TARGET, view);
                assert!(index.events(view).eq(all.iter().copied()));
                let mut near = Vec::new();
                index.around(view, CHUNK as u32 + 1, 20, &mut near);
                let split = all.partition_point(|e| *e < CHUNK as u32 + 1);
                assert_eq!(near, all[split - 20..split + 20]);
            }
        }
    }
}
