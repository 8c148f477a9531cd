//! Live memory: bytes whose last definition before the current step has not been reached yet.
//!
//! A page has one bit per byte, so that testing a store costs a look-up and a mask. The uses of the bytes
//! are stored as runs beside the bits; live bytes outside all runs are untracked and definite. Once the
//! slice has reached its bound, all live bytes are.
//!
//! Of a byte with members of a bit-field only some bits may be live. Such bytes are few, and stored
//! separately; a byte may be live as a whole for some uses and in part for others.

use crate::uses::{UseList, Uses};
use rustc_hash::FxHashMap;
use std::cell::Cell;
use std::collections::BTreeMap;

const PAGE: u64 = 4096;
const WORDS: usize = (PAGE / 64) as usize;
/// Size of the direct-mapped cache from page numbers to indices.
const CACHED: u64 = 256;
const ABSENT: u32 = u32::MAX;
/// With more pages than this, the live lines are not listed.
const MOST_PAGES: usize = 4096;

/// Live bytes with the same uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveRange {
    pub start: u64,
    pub len: u64,
    pub uses: UseList,
}

/// Bytes `start..end` of a page, all live.
#[derive(Clone, Copy, Debug)]
struct Run {
    start: u16,
    end: u16,
    uses: UseList,
}

struct Page {
    number: u64,
    live: [u64; WORDS],
    /// Tracked runs in ascending order, without overlaps.
    runs: Vec<Run>,
}

/// See the module's documentation.
#[derive(Default)]
pub struct LiveMemory {
    pages: Vec<Page>,
    places: FxHashMap<u64, u32>,
    cache: Vec<Cell<(u64, u32)>>,
    /// Bytes that are live as a whole.
    bytes: u64,
    /// Partly live bytes: masks of bits with their uses.
    partial: BTreeMap<u64, Vec<(u8, UseList)>>,
}

/// Calls `f` with word and mask for each word that bytes `from..to` of a page touch.
#[inline]
fn words(from: u16, to: u16, mut f: impl FnMut(usize, u64)) {
    let (mut at, to) = (u32::from(from), u32::from(to));
    while at < to {
        let bit = at % 64;
        let n = (to - at).min(64 - bit);
        f(at as usize / 64, (u64::MAX >> (64 - n)) << bit);
        at += n;
    }
}

impl Page {
    #[inline]
    fn touches(&self, from: u16, to: u16) -> bool {
        let mut any = false;
        words(from, to, |w, mask| any |= self.live[w] & mask != 0);
        any
    }

    /// Calls `f` with the live ranges among bytes `from..to`, in order.
    fn ranges(&self, from: u16, to: u16, mut f: impl FnMut(u16, u16, UseList)) {
        let mut at = from;
        let first = self.runs.partition_point(|r| r.end <= from);
        for run in self.runs[first..].iter().take_while(|r| r.start < to) {
            self.untracked(at, run.start.max(at), &mut f);
            f(run.start.max(from), run.end.min(to), run.uses);
            at = run.end;
        }
        self.untracked(at, to, &mut f);
    }

    /// The live ranges among bytes that no run covers.
    fn untracked(&self, from: u16, to: u16, f: &mut impl FnMut(u16, u16, UseList)) {
        let mut open: Option<(u16, u16)> = None;
        words(from, to, |w, mask| {
            let mut hit = self.live[w] & mask;
            while hit != 0 {
                let bit = hit.trailing_zeros();
                let n = (hit >> bit).trailing_ones();
                hit &= !((u64::MAX >> (64 - n)) << bit);
                let start = (64 * w as u32 + bit) as u16;
                let end = start + n as u16;
                match &mut open {
                    Some(known) if known.1 == start => known.1 = end,
                    _ => {
                        if let Some((start, end)) = open.replace((start, end)) {
                            f(start, end, UseList::UNTRACKED);
                        }
                    }
                }
            }
        });
        if let Some((start, end)) = open {
            f(start, end, UseList::UNTRACKED);
        }
    }

    /// Makes bytes live. Returns how many were not.
    fn make_live(&mut self, from: u16, to: u16, uses: UseList, arena: &mut Uses) -> u64 {
        if uses.is_tracked() || !self.runs.is_empty() {
            self.add_runs(from, to, uses, arena);
        }
        let mut fresh = 0;
        words(from, to, |w, mask| {
            fresh += u64::from((mask & !self.live[w]).count_ones());
            self.live[w] |= mask;
        });
        fresh
    }

    fn add_runs(&mut self, from: u16, to: u16, uses: UseList, arena: &mut Uses) {
        let at = self.runs.partition_point(|r| r.end <= from);
        // Most often the bytes are not live, or exactly one run.
        if let Some(run) = self.runs.get_mut(at).filter(|run| (run.start, run.end) == (from, to)) {
            run.uses = arena.join(run.uses, uses);
            return;
        }
        if !self.touches(from, to) {
            if uses.is_tracked() {
                self.runs.insert(at, Run { start: from, end: to, uses });
            }
            return;
        }
        let mut new: Vec<Run> = Vec::new();
        let mut done = from;
        let mut push = |start: u16, end: u16, uses: UseList| {
            if start < end && uses.is_tracked() {
                new.push(Run { start, end, uses });
            }
        };
        let mut last: Option<(UseList, UseList)> = None;
        self.ranges(from, to, |start, end, known| {
            push(done, start, uses);
            let joined = match last {
                Some((before, joined)) if before == known => joined,
                _ => arena.join(known, uses),
            };
            last = Some((known, joined));
            push(start, end, joined);
            done = end;
        });
        push(done, to, uses);
        self.replace_runs(from, to, new);
    }

    /// Replaces the runs among bytes `from..to`.
    fn replace_runs(&mut self, from: u16, to: u16, mut new: Vec<Run>) {
        let first = self.runs.partition_point(|r| r.end <= from);
        let last = self.runs.partition_point(|r| r.start < to);
        if let Some(run) = self.runs[first..last].first().filter(|r| r.start < from) {
            new.insert(0, Run { end: from, ..*run });
        }
        if let Some(run) = self.runs[first..last].last().filter(|r| r.end > to) {
            new.push(Run { start: to, ..*run });
        }
        self.runs.splice(first..last, new);
    }

    /// Kills bytes. Returns how many were live.
    fn kill(&mut self, from: u16, to: u16) -> u64 {
        if !self.runs.is_empty() {
            let first = self.runs.partition_point(|r| r.end <= from);
            match self.runs.get(first) {
                Some(run) if (run.start, run.end) == (from, to) => drop(self.runs.remove(first)),
                Some(run) if run.start < to => self.replace_runs(from, to, Vec::new()),
                _ => {}
            }
        }
        let mut killed = 0;
        words(from, to, |w, mask| {
            killed += u64::from((mask & self.live[w]).count_ones());
            self.live[w] &= !mask;
        });
        killed
    }
}

impl LiveMemory {
    /// The 64-byte lines with live bytes, by number; `None` if there are very many pages.
    pub fn lines(&self) -> Option<impl Iterator<Item = u64> + '_> {
        let of_page = |page: &Page| {
            let number = page.number;
            page.live
                .into_iter()
                .zip(0u64..)
                .filter(|(live, _)| *live != 0)
                .map(move |(_, n)| number << 6 | n)
        };
        let partial = self.partial.keys().map(|address| address >> 6);
        (self.pages.len() <= MOST_PAGES).then(|| self.pages.iter().flat_map(of_page).chain(partial))
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.bytes == 0 && self.partial.is_empty()
    }

    #[inline]
    fn find(&self, number: u64) -> Option<usize> {
        let at = match self.cache.get((number % CACHED) as usize).map(Cell::get) {
            Some((known, at)) if known == number => at,
            _ => self.look_up(number),
        };
        (at != ABSENT).then_some(at as usize)
    }

    #[cold]
    fn look_up(&self, number: u64) -> u32 {
        let at = self.places.get(&number).copied().unwrap_or(ABSENT);
        if let Some(place) = self.cache.get((number % CACHED) as usize) {
            place.set((number, at));
        }
        at
    }

    #[cold]
    fn add(&mut self, number: u64) -> usize {
        if self.cache.is_empty() {
            // The key of an empty entry: no address is on that page.
            self.cache = vec![Cell::new((u64::MAX, ABSENT)); CACHED as usize];
        }
        self.places.insert(number, self.pages.len() as u32);
        self.pages.push(Page { number, live: [0; WORDS], runs: Vec::new() });
        self.look_up(number) as usize
    }

    /// Calls `f` with the index of each page that a range touches, and the bytes within it.
    #[inline]
    fn parts(&self, start: u64, len: u64, mut f: impl FnMut(usize, u16, u16)) {
        let (offset, number) = (start % PAGE, start / PAGE);
        if offset + len.min(PAGE) <= PAGE && len <= PAGE {
            if let Some(at) = self.find(number).filter(|_| len > 0) {
                f(at, offset as u16, (offset + len) as u16);
            }
            return;
        }
        let end = start + len.min(u64::MAX - start);
        if len / PAGE <= self.pages.len() as u64 {
            each_page(start, end, |number, from, to| {
                if let Some(at) = self.find(number) {
                    f(at, from, to);
                }
            });
            return;
        }
        // The range covers more pages than exist here.
        let mut pages: Vec<u64> = self.pages.iter().map(|p| p.number).collect();
        pages.sort_unstable();
        for number in pages {
            let first = number * PAGE;
            let (from, to) = (first.max(start), first.saturating_add(PAGE).min(end));
            if let Some(at) = self.find(number).filter(|_| from < to) {
                f(at, (from - first) as u16, (to - first) as u16);
            }
        }
    }

    /// Whether any byte of a range is live.
    #[inline]
    pub fn touches(&self, start: u64, len: u64) -> bool {
        let mut any = false;
        if self.bytes > 0 {
            self.parts(start, len, |at, from, to| any |= self.pages[at].touches(from, to));
        }
        any || (!self.partial.is_empty() && self.partial.range(bytes(start, len)).next().is_some())
    }

    /// Makes some bits of a byte live. Returns whether any of them was not.
    pub fn make_bits_live(&mut self, at: u64, mask: u8, uses: UseList, arena: &mut Uses) -> bool {
        let parts = self.partial.entry(at).or_default();
        let is_new = parts.iter().fold(mask, |left, part| left & !part.0) != 0;
        match parts.iter_mut().find(|part| part.0 == mask) {
            Some(part) => part.1 = arena.join(part.1, uses),
            None => parts.push((mask, uses)),
        }
        is_new
    }

    /// The live bits of at most eight bytes; bit 0 is the lowest bit of the first byte.
    pub fn bits(&self, start: u64, len: u32) -> u64 {
        let mut bits = 0;
        let mut add = |at: u64, mask: u8| bits |= u64::from(mask) << (8 * (at - start));
        if self.bytes > 0 {
            self.parts(start, len.into(), |page, from, to| {
                let page = &self.pages[page];
                let is_live = |at: &u16| page.live[usize::from(*at) / 64] >> (at % 64) & 1 != 0;
                let live = (from..to).filter(is_live);
                live.for_each(|at| add(page.number * PAGE + u64::from(at), u8::MAX));
            });
        }
        if !self.partial.is_empty() {
            for (at, parts) in self.partial.range(bytes(start, len.into())) {
                parts.iter().for_each(|part| add(*at, part.0));
            }
        }
        bits
    }

    /// Kills bits of a word. Returns the uses of all entries that have any of them. The other bits stay
    /// live.
    pub fn kill_bits(&mut self, start: u64, mask: u64, arena: &mut Uses) -> UseList {
        let mut uses = UseList::default();
        for (at, mask) in bytes_of(start, mask) {
            let mut parts = self.partial.remove(&at).unwrap_or_default();
            self.ranges_of_whole(at, 1, |range| parts.push((u8::MAX, range.uses)));
            self.forget(at, 1);
            parts.retain_mut(|part| {
                if part.0 & mask != 0 {
                    uses = arena.join(uses, part.1);
                }
                part.0 &= !mask;
                part.0 != 0
            });
            if !parts.is_empty() {
                self.partial.insert(at, parts);
            }
        }
        uses
    }

    /// Makes a range live for further uses. Returns whether any byte was not live.
    #[inline]
    pub fn make_live(&mut self, start: u64, len: u64, uses: UseList, arena: &mut Uses) -> bool {
        let before = self.bytes;
        let end = start + len.min(u64::MAX - start);
        each_page(start, end, |number, from, to| {
            let at = self.find(number).unwrap_or_else(|| self.add(number));
            self.bytes += self.pages[at].make_live(from, to, uses, arena);
        });
        self.bytes != before
    }

    /// Calls `f` with the live ranges in a range: first the wholly live ones in ascending order, then the
    /// partly live bytes.
    pub fn ranges(&self, start: u64, len: u64, mut f: impl FnMut(LiveRange)) {
        self.ranges_of_whole(start, len, &mut f);
        if !self.partial.is_empty() {
            for (at, parts) in self.partial.range(bytes(start, len)) {
                parts.iter().for_each(|part| f(LiveRange { start: *at, len: 1, uses: part.1 }));
            }
        }
    }

    fn ranges_of_whole(&self, start: u64, len: u64, mut f: impl FnMut(LiveRange)) {
        if self.bytes == 0 {
            return;
        }
        self.parts(start, len, |at, from, to| {
            let page = &self.pages[at];
            let base = page.number * PAGE;
            page.ranges(from, to, |from, to, uses| {
                f(LiveRange { start: base + u64::from(from), len: u64::from(to - from), uses });
            });
        });
    }

    /// Kills a range, which is defined here. Returns its live ranges.
    pub fn kill(&mut self, start: u64, len: u64) -> Vec<LiveRange> {
        let mut all: Vec<LiveRange> = Vec::new();
        self.ranges(start, len, |range| match all.last_mut() {
            Some(last) if last.start + last.len == range.start && last.uses == range.uses => {
                last.len += range.len;
            }
            _ => all.push(range),
        });
        self.forget(start, len);
        all
    }

    /// Kills a range. Returns the joined uses of its live ranges.
    #[inline]
    pub fn kill_uses(&mut self, start: u64, len: u64, arena: &mut Uses) -> UseList {
        let mut uses = UseList::default();
        if !self.touches(start, len) {
            return uses;
        }
        let (mut last, mut several) = (UseList::default(), Vec::new());
        self.ranges(start, len, |range| {
            if range.uses != last {
                if last.is_tracked() {
                    several.push(last);
                }
                last = range.uses;
            }
            uses = UseList::UNTRACKED;
        });
        if last.is_tracked() {
            uses = last;
        }
        for (n, other) in several.iter().enumerate() {
            if *other != last && !several[..n].contains(other) {
                uses = arena.join(uses, *other);
            }
        }
        self.forget(start, len);
        uses
    }

    fn forget(&mut self, start: u64, len: u64) {
        if !self.partial.is_empty() {
            let gone: Vec<u64> = self.partial.range(bytes(start, len)).map(|byte| *byte.0).collect();
            for at in gone {
                self.partial.remove(&at);
            }
        }
        if self.bytes == 0 {
            return;
        }
        let mut parts = [(0, 0, 0); 2];
        let (mut n, mut more) = (0, Vec::new());
        self.parts(start, len, |at, from, to| {
            match parts.get_mut(n) {
                Some(place) => *place = (at, from, to),
                None => more.push((at, from, to)),
            }
            n += 1;
        });
        for (at, from, to) in parts.into_iter().take(n).chain(more) {
            self.bytes -= self.pages[at].kill(from, to);
        }
    }

    /// Kills and returns everything that is live.
    pub fn drain(&mut self) -> Vec<LiveRange> {
        self.kill(0, u64::MAX)
    }
}

/// The addresses of a range.
fn bytes(start: u64, len: u64) -> std::ops::Range<u64> {
    start..start.saturating_add(len)
}

/// The bytes of a word in which a mask has bits, with those bits.
fn bytes_of(start: u64, mask: u64) -> impl Iterator<Item = (u64, u8)> {
    let all = (0..8).map(move |n| (start.wrapping_add(n), (mask >> (8 * n)) as u8));
    all.filter(|byte| byte.1 != 0)
}

/// Calls `f` with the number and the bytes of each page of a range.
#[inline]
fn each_page(start: u64, end: u64, mut f: impl FnMut(u64, u16, u16)) {
    let mut at = start;
    while at < end {
        let offset = at % PAGE;
        let n = (end - at).min(PAGE - offset);
        f(at / PAGE, offset as u16, (offset + n) as u16);
        at += n;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slice::{Dependence, NodeId};
    use crate::uses::Consumer;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    const SIZE: u64 = 9000;

    proptest! {
        /// Compares with one set of consumers per byte.
        #[test]
        fn live_memory_is_sets_of_bytes(
            ops in proptest::collection::vec((0u8..4, 0u64..8400, 0u64..5000), 1..40),
            short in any::<bool>(),
        ) {
            let (mut live, mut arena) = (LiveMemory::default(), Uses::default());
            let mut bytes: Vec<Option<BTreeSet<NodeId>>> = vec![None; SIZE as usize];
            for (n, (op, start, len)) in ops.into_iter().enumerate() {
                let (start, len) = if short { (4064 + start % 64, len % 24) } else { (start, len % (SIZE - start)) };
                let range = start as usize..(start + len) as usize;
                match op {
                    0 | 1 => {
                        let node = (op == 0).then_some(n as NodeId);
                        let uses = arena.one(Consumer::definite(node), Dependence::Control);
                        let fresh = bytes[range.clone()].contains(&None);
                        prop_assert_eq!(live.make_live(start, len, uses, &mut arena), fresh);
                        for byte in &mut bytes[range] {
                            byte.get_or_insert_default().extend(node);
                        }
                    }
                    2 => {
                        let mut found = vec![None; SIZE as usize];
                        for LiveRange { start, len, uses } in live.kill(start, len) {
                            let nodes: BTreeSet<NodeId> = arena.iter(uses).map(|e| e.0).collect();
                            found[start as usize..(start + len) as usize].fill(Some(nodes));
                        }
                        let mut expected = vec![None; SIZE as usize];
                        expected[range.clone()].clone_from_slice(&bytes[range.clone()]);
                        prop_assert_eq!(found, expected);
                        bytes[range].fill(None);
                    }
                    _ => {
                        let expected: BTreeSet<NodeId> =
                            bytes[range.clone()].iter().flatten().flatten().copied().collect();
                        let any = bytes[range.clone()].iter().any(Option::is_some);
                        prop_assert_eq!(live.touches(start, len), any);
                        let uses = live.kill_uses(start, len, &mut arena);
                        prop_assert_eq!(uses.is_live(), any);
                        prop_assert_eq!(arena.iter(uses).map(|e| e.0).collect::<BTreeSet<_>>(), expected);
                        bytes[range].fill(None);
                    }
                }
                prop_assert_eq!(live.is_empty(), bytes.iter().all(Option::is_none));
            }
            let left: u64 = live.drain().iter().map(|r| r.len).sum();
            prop_assert_eq!(left, bytes.iter().flatten().count() as u64);
        }

        /// Compares with one set of consumers per bit.
        #[test]
        fn live_bits_are_sets_of_bits(
            ops in proptest::collection::vec((0u8..4, 0u64..20, 0u64..12, any::<u64>(), 0u32..64), 1..40),
        ) {
            let (mut live, mut arena) = (LiveMemory::default(), Uses::default());
            let mut bits: Vec<BTreeSet<NodeId>> = vec![BTreeSet::new(); 8 * 64];
            for (n, (op, start, len, mask, shift)) in ops.into_iter().enumerate() {
                let (node, mask) = (n as NodeId, mask >> shift);
                let word: Vec<usize> =
                    (0..64).filter(|bit| mask >> bit & 1 == 1).map(|bit| 8 * start as usize + bit).collect();
                let range: Vec<usize> = (8 * start as usize..8 * (start + len) as usize).collect();
                let one = arena.one(Consumer::definite(Some(node)), Dependence::Control);
                let here = if op == 1 || op == 3 { word } else { range };
                match op {
                    0 => drop(live.make_live(start, len, one, &mut arena)),
                    1 => {
                        let mut is_new = false;
                        for (at, mask) in bytes_of(start, mask) {
                            is_new |= live.make_bits_live(at, mask, one, &mut arena);
                        }
                        // Bytes that are live both as a whole and in part are not compared.
                        prop_assert!(is_new || here.iter().all(|bit| !bits[*bit].is_empty()));
                    }
                    _ => {
                        let expected: BTreeSet<NodeId> =
                            here.iter().flat_map(|bit| bits[*bit].iter().copied()).collect();
                        prop_assert_eq!(op == 3 || live.touches(start, len), op == 3 || !expected.is_empty());
                        let found: Vec<UseList> = match op {
                            2 => live.kill(start, len).into_iter().map(|range| range.uses).collect(),
                            _ => vec![live.kill_bits(start, mask, &mut arena)],
                        };
                        let found: BTreeSet<NodeId> =
                            found.into_iter().flat_map(|uses| arena.iter(uses).map(|e| e.0)).collect();
                        prop_assert_eq!(found, expected);
                        here.iter().for_each(|bit| bits[*bit].clear());
                        prop_assert_eq!(live.is_empty(), bits.iter().all(BTreeSet::is_empty));
                        continue;
                    }
                }
                for bit in here {
                    bits[bit].insert(node);
                }
                let some = (0..64).filter(|bit| !bits[8 * start as usize + bit].is_empty());
                prop_assert_eq!(live.bits(start, 8), some.fold(0, |word, bit| word | 1 << bit));
            }
        }
    }

    #[test]
    fn the_end_of_the_address_space_has_no_surprises() {
        let (mut live, mut arena) = (LiveMemory::default(), Uses::default());
        live.make_live(u64::MAX - 4, 100, UseList::UNTRACKED, &mut arena);
        assert!(live.touches(u64::MAX - 1, 1));
        assert!(!live.touches(0, 50));
        assert_eq!(live.kill(u64::MAX - 2, u64::MAX).len(), 1);
        assert_eq!(live.drain().len(), 1);
    }
}
