//! An index of live memory by object, for queries whether an alternative of a branch may define any of it.
//!
//! A branch repeats its query at every execution, and most often nothing has become live since. So each
//! query records how many live ranges it has seen. A range with a negative answer stays negative (ranges
//! only die); a range whose answer depends on the activation is queried again. A query that was not repeated
//! for long scans all live ranges of the objects in question.

use super::objects::MemoryObject;
use crate::relevance::Defined;
use crate::uses::UseList;
use program::objects::ObjectId;
use rustc_hash::{FxHashMap as Map, FxHashSet as Set};

/// Memory outside all objects that are known here.
pub const NO_OBJECT: ObjectId = ObjectId::MAX;

/// A range that became live.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectRange {
    pub object: ObjectId,
    pub address: u64,
    pub len: u64,
    /// From the start of the object.
    pub offset: u64,
}

/// Granularity in bytes at which ranges of an object are recorded.
const GRANULARITY: u64 = 256;

impl ObjectRange {
    /// A range, extended within its object: live ranges of large objects are most often near each other.
    /// Where the memory held different objects at different times the range is not extended, because live
    /// bytes next to it may belong to another object.
    pub fn object(place: MemoryObject, address: u64, len: u64) -> ObjectRange {
        if !place.is_sole_occupant {
            return ObjectRange { object: place.object, address, len, offset: address - place.start };
        }
        let end = address.saturating_add(len);
        let start = (address / GRANULARITY * GRANULARITY).max(place.start);
        let to = end.div_ceil(GRANULARITY).saturating_mul(GRANULARITY).min(place.end).max(end);
        ObjectRange { object: place.object, address: start, len: to - start, offset: start - place.start }
    }
}

/// Whether an alternative may define a live range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Answer {
    Yes(UseList),
    /// Not for this execution of the branch.
    NotNow,
    No,
    /// The range is dead.
    Dead,
}

/// How many ranges are kept in order of arrival.
const RECENT: usize = 256;

#[derive(Default)]
struct Query {
    /// How many ranges it has seen.
    seen: u64,
    /// Ranges to query again.
    again: Vec<ObjectRange>,
    /// The range of the last positive answer.
    hit: Option<ObjectRange>,
}

#[derive(Default)]
struct Held {
    list: Set<ObjectRange>,
    /// The size at which dead ranges are pruned.
    prune_at: usize,
    /// How often ranges were pruned.
    pruned: u32,
}

/// A recently added range: adding it again is cheap unless it was pruned.
#[derive(Clone, Copy)]
struct Recent {
    live: ObjectRange,
    /// How many ranges were added before it.
    number: u64,
    pruned: u32,
}

/// Size of the table of recently added ranges.
const RECENT_SLOTS: usize = 1 << 12;

/// See the module's documentation.
#[derive(Default)]
pub struct QueryCache {
    recent: Vec<ObjectRange>,
    count: u64,
    /// The count when a query last scanned new ranges.
    looked: u64,
    objects: Map<ObjectId, Held>,
    queries: Vec<Query>,
    /// By a hash of the address.
    noted: Vec<Option<Recent>>,
}

impl QueryCache {
    fn place(address: u64) -> usize {
        (address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52) as usize % RECENT_SLOTS
    }

    /// Adds a range that became live; `is_new` if some of it was not live just before. `still` returns
    /// whether any of a range is still live.
    pub fn add(&mut self, live: ObjectRange, is_new: bool, still: impl Fn(&ObjectRange) -> bool) {
        if self.noted.is_empty() {
            self.noted = vec![None; RECENT_SLOTS];
        }
        let held = self.objects.entry(live.object).or_default();
        let noted = &mut self.noted[Self::place(live.address)];
        let known = noted.as_mut().filter(|n| n.live == live && n.pruned == held.pruned);
        // Later queries have not seen the range yet.
        if known.as_ref().is_some_and(|n| !is_new || n.number >= self.looked) {
            return;
        }
        let place = self.count as usize % RECENT;
        match self.recent.get_mut(place) {
            Some(old) => *old = live,
            None => self.recent.push(live),
        }
        self.count += 1;
        if let Some(known) = known {
            known.number = self.count - 1;
            return;
        }
        if held.list.len() >= held.prune_at.max(64) {
            held.list.retain(still);
            held.pruned = held.pruned.wrapping_add(1);
            held.prune_at = 2 * held.list.len();
        }
        held.list.insert(live);
        *noted = Some(Recent { live, number: self.count - 1, pruned: held.pruned });
    }

    /// Whether the answer to query `number` was no and cannot have changed.
    #[inline]
    pub fn is_settled(&self, number: u32) -> bool {
        let settled = |a: &Query| a.seen == self.count && a.again.is_empty() && a.hit.is_none();
        self.count == 0 || self.queries.get(number as usize).is_some_and(settled)
    }

    /// Queries everything live that the code of query `number` could have assigned.
    pub fn ask_all(
        &mut self,
        number: u32,
        defined: &Defined,
        mut try_it: impl FnMut(&ObjectRange) -> Answer,
    ) {
        let number = number as usize;
        if self.queries.len() <= number {
            self.queries.resize_with(number + 1, Query::default);
        }
        let query = &mut self.queries[number];
        self.looked = self.count;
        let mut list = std::mem::take(&mut query.again);
        if self.count - query.seen <= RECENT as u64 {
            let new = (query.seen..self.count).map(|n| self.recent[n as usize % RECENT]);
            list.extend(new.filter(|w| defined.may_assign(w.object)));
        } else {
            let held = self.objects.iter().filter(|(object, _)| defined.may_assign(**object));
            list.extend(held.flat_map(|(_, held)| &held.list));
        }
        list.sort_unstable();
        list.dedup();
        list.retain(|live| matches!(try_it(live), Answer::Yes(_) | Answer::NotNow));
        (query.seen, query.again) = (self.count, list);
    }

    /// Whether the code of query `number` could have assigned anything live, as decided by `try_it`.
    pub fn ask(
        &mut self,
        number: u32,
        defined: &Defined,
        mut try_it: impl FnMut(&ObjectRange) -> Answer,
    ) -> Option<UseList> {
        let number = number as usize;
        if self.queries.len() <= number {
            self.queries.resize_with(number + 1, Query::default);
        }
        let query = &mut self.queries[number];
        if let Some(hit) = query.hit.take()
            && let Answer::Yes(list) = try_it(&hit)
        {
            query.hit = Some(hit);
            return Some(list);
        }
        let mut again = Vec::new();
        for live in &query.again {
            match try_it(live) {
                Answer::Yes(list) => {
                    query.hit = Some(*live);
                    return Some(list);
                }
                Answer::NotNow => again.push(*live),
                Answer::No | Answer::Dead => {}
            }
        }
        self.looked = self.count;
        let hit = if self.count - query.seen <= RECENT as u64 {
            let new = (query.seen..self.count).map(|n| self.recent[n as usize % RECENT]);
            new.filter(|w| defined.may_assign(w.object)).find_map(|live| match try_it(&live) {
                Answer::Yes(list) => Some((live, list)),
                Answer::NotNow => {
                    again.push(live);
                    None
                }
                Answer::No | Answer::Dead => None,
            })
        } else {
            // Scans everything, including the ranges to query again.
            again.clear();
            let mut held = self.objects.iter_mut().filter(|(object, _)| defined.may_assign(**object));
            held.find_map(|(_, held)| {
                let (before, mut hit) = (held.list.len(), None);
                held.list.retain(|live| {
                    if hit.is_some() {
                        return true;
                    }
                    let answer = try_it(live);
                    match answer {
                        Answer::Yes(list) => hit = Some((*live, list)),
                        Answer::NotNow => again.push(*live),
                        Answer::No | Answer::Dead => {}
                    }
                    answer != Answer::Dead
                });
                if held.list.len() != before {
                    held.pruned = held.pruned.wrapping_add(1);
                }
                hit
            })
        };
        match hit {
            Some((hit, list)) => {
                query.hit = Some(hit);
                Some(list)
            }
            None => {
                again.sort_unstable();
                again.dedup();
                (query.seen, query.again) = (self.count, again);
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// An added range contains the whole live range, and beyond it only bytes of the same object.
        #[test]
        fn pieces_stay_in_their_objects(start in 0u64..2000, size in 1u64..2000, at in 0u64..2000, len in 1u64..600) {
            let place = MemoryObject { object: 7, start, end: start + size, is_sole_occupant: true };
            let address = start + at % size;
            let noted = ObjectRange::object(place, address, len);
            prop_assert!(noted.address <= address && address + len <= noted.address + noted.len);
            prop_assert_eq!(noted.address, start + noted.offset);
            prop_assert!(noted.address + noted.len <= place.end.max(address + len));
        }

        /// Compares with a scan of everything at each query.
        #[test]
        fn askers_miss_nothing(ops in proptest::collection::vec((0u8..4, 0u32..4, 0u64..6), 1..900)) {
            let mut pending = QueryCache::default();
            // Ranges that are live, and those that a query may currently assign.
            let (mut live, mut open) = (BTreeSet::new(), BTreeSet::new());
            for (op, object, n) in ops {
                let address = u64::from(object) * 100 + n;
                match op {
                    0 => {
                        let is_new = live.insert(address);
                        let range = ObjectRange { object, address, len: 1, offset: n };
                        pending.add(range, is_new, |w| live.contains(&w.address));
                    }
                    1 => drop(live.remove(&address)),
                    // Ranges in `open` are answered yes, other even ones not now, odd ones no.
                    2 if !open.remove(&address) => drop(open.insert(address)),
                    2 => {}
                    _ => {
                        let defined = Defined::of_objects([object, (object + 1) % 4]);
                        let good = |a: u64| a.is_multiple_of(2) && open.contains(&a);
                        let was_settled = pending.is_settled(object);
                        let answer = pending.ask(object, &defined, |w| match w.address {
                            a if !live.contains(&a) => Answer::Dead,
                            a if good(a) => Answer::Yes(UseList::UNTRACKED),
                            a if a.is_multiple_of(2) => Answer::NotNow,
                            _ => Answer::No,
                        });
                        let mine = |a: u64| defined.may_assign((a / 100) as ObjectId);
                        let expected = live.iter().any(|a| mine(*a) && good(*a));
                        prop_assert_eq!(answer.is_some(), expected);
                        prop_assert!(!was_settled || !expected);
                    }
                }
            }
        }
    }
}
