//! Aligns two threads: decides which events of one correspond to which of the other.
//!
//! The algorithm advances both sides while the next events are equal. At a mismatch it compares a small
//! window of the next events on both sides. If the windows do not share enough, it searches for the next run
//! of equal events, at any distance, and matches the events before that run window by window. Each step
//! advances at least as far as it has read ahead, so the total time is linear in the number of events for a
//! fixed window size.

use crate::column::Cursor;
use crate::compare::Settings;
use crate::error::is_past;
use crate::lcs::Windows;
use crate::names::mix;
use crate::trace::{NONE, Trace};
use std::ops::Range;
use std::time::Instant;

/// The number of consecutive events that must agree before two positions count as corresponding.
const MIN_EQUAL_RUN: usize = 6;
/// The largest difference in position that is tried before a window is compared.
const MAX_SMALL_SKIP: usize = 4;
/// Initial number of slots in the hash table of a search.
const INITIAL_SLOTS: usize = 1 << 10;

/// The result of an alignment: which events are similar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matching {
    /// For each event of the left run its partner, or [`NONE`].
    pub right_of: Vec<u32>,
    /// For each event of the right run its partner.
    pub left_of: Vec<u32>,
    /// Events of the left run whose partner is at another position in the order; sorted once the comparison
    /// is complete.
    pub moved: Vec<u32>,
    /// The number of key comparisons, a measure of cost.
    pub compared: u64,
}

impl Matching {
    /// A matching without any pairs.
    #[must_use]
    pub fn new(left: usize, right: usize) -> Matching {
        Matching { right_of: vec![NONE; left], left_of: vec![NONE; right], moved: Vec::new(), compared: 0 }
    }

    /// Makes two events partners.
    pub fn pair(&mut self, left: usize, right: usize) {
        self.right_of[left] = right as u32;
        self.left_of[right] = left as u32;
    }

    /// Makes `count` consecutive events of both runs partners.
    fn pair_run(&mut self, left: usize, right: usize, count: usize) {
        for (k, to) in self.right_of[left..left + count].iter_mut().enumerate() {
            *to = (right + k) as u32;
        }
        for (k, to) in self.left_of[right..right + count].iter_mut().enumerate() {
            *to = (left + k) as u32;
        }
    }

    /// How many events of both runs have no partner.
    #[must_use]
    pub fn differences(&self) -> u64 {
        let alone = |of: &[u32]| of.iter().filter(|x| **x == NONE).count() as u64;
        alone(&self.right_of) + alone(&self.left_of)
    }
}

struct Aligner<'t> {
    left: &'t Trace,
    right: &'t Trace,
    /// Keys of both runs.
    keys: (Cursor<'t, u64>, Cursor<'t, u64>),
    window: usize,
    deadline: Option<Instant>,
    matching: &'t mut Matching,
    a: Vec<u64>,
    b: Vec<u64>,
    windows: Windows,
    run_indices: [RunIndex; 2],
}

/// Aligns two threads. After the deadline the rest is not aligned.
pub fn align(
    left: &Trace,
    l: Range<usize>,
    right: &Trace,
    r: Range<usize>,
    settings: &Settings,
    matching: &mut Matching,
) {
    let mut aligner = Aligner {
        left,
        right,
        keys: (left.keys.cursor(), right.keys.cursor()),
        window: settings.window.clamp(2, 1000),
        deadline: settings.deadline,
        matching,
        a: Vec::new(),
        b: Vec::new(),
        windows: Windows::default(),
        run_indices: Default::default(),
    };
    aligner.run(l, r);
}

impl Aligner<'_> {
    #[inline]
    fn same(&mut self, i: usize, j: usize) -> bool {
        self.matching.compared += 1;
        self.keys.0.get(i) == self.keys.1.get(j)
    }

    /// Pairs events while their keys are equal. Returns the number of pairs.
    fn together(&mut self, l: Range<usize>, r: Range<usize>) -> usize {
        let most = l.len().min(r.len());
        let mut done = 0;
        while done < most {
            let (i, j) = (l.start + done, r.start + done);
            let (a, b) = (self.keys.0.ahead(i), self.keys.1.ahead(j));
            let n = a.len().min(b.len()).min(most - done);
            let equal = a[..n].iter().zip(&b[..n]).take_while(|(a, b)| a == b).count();
            self.matching.pair_run(i, j, equal);
            done += equal;
            if equal < n || n == 0 {
                break;
            }
        }
        self.matching.compared += done as u64 + 1;
        done
    }

    fn run(&mut self, l: Range<usize>, r: Range<usize>) {
        let same = self.together(l.clone(), r.clone());
        let (mut i, mut j, mut end_l, mut end_r) = (l.start + same, r.start + same, l.end, r.end);
        while i < end_l && j < end_r && self.same(end_l - 1, end_r - 1) {
            (end_l, end_r) = (end_l - 1, end_r - 1);
            self.matching.pair(end_l, end_r);
        }
        // If a search finds no common run of events, no later search can find one.
        let mut hope = true;
        while i < end_l && j < end_r && !is_past(self.deadline) {
            let same = self.together(i..end_l, j..end_r);
            (i, j) = (i + same, j + same);
            if i == end_l || j == end_r {
                break;
            }
            // If one window covers all remaining events, the window comparison is the more accurate method.
            if (end_l - i).max(end_r - j) > 2 * self.window
                && let Some((next_l, next_r)) = self.skip_small_difference(i..end_l, j..end_r)
            {
                self.fill(i..next_l, j..next_r);
                (i, j) = (next_l, next_r);
                continue;
            }
            let clear = self.look(i..end_l, j..end_r);
            if clear || !hope {
                (i, j) = self.commit(i..end_l, j..end_r);
                continue;
            }
            match self.next_equal_run(i..end_l, j..end_r) {
                Some((next_l, next_r)) => {
                    self.fill(i..next_l, j..next_r);
                    (i, j) = (next_l, next_r);
                }
                None => hope = false,
            }
        }
    }

    /// Skips up to [`MAX_SMALL_SKIP`] events on either side if the following events are equal again. Most differences
    /// are that small and need no window comparison.
    fn skip_small_difference(&mut self, l: Range<usize>, r: Range<usize>) -> Option<(usize, usize)> {
        let reach = MAX_SMALL_SKIP + MIN_EQUAL_RUN;
        let (mut a, mut b) = ([0; MAX_SMALL_SKIP + MIN_EQUAL_RUN], [0; MAX_SMALL_SKIP + MIN_EQUAL_RUN]);
        let read = |cursor: &mut Cursor<'_, u64>, range: &Range<usize>, to: &mut [u64]| {
            let n = range.len().min(reach);
            for (k, to) in to[..n].iter_mut().enumerate() {
                *to = cursor.get(range.start + k);
            }
            n
        };
        let n = read(&mut self.keys.0, &l, &mut a);
        let m = read(&mut self.keys.1, &r, &mut b);
        for distance in 1..=MAX_SMALL_SKIP {
            for i in 0..=distance {
                let j = distance - i;
                self.matching.compared += 1;
                if i + MIN_EQUAL_RUN <= n
                    && j + MIN_EQUAL_RUN <= m
                    && a[i..i + MIN_EQUAL_RUN] == b[j..j + MIN_EQUAL_RUN]
                {
                    return Some((l.start + i, r.start + j));
                }
            }
        }
        None
    }

    /// Compares the next windows. Returns whether they share enough to continue from them.
    fn look(&mut self, l: Range<usize>, r: Range<usize>) -> bool {
        let reach = 2 * self.window;
        self.a.clear();
        self.b.clear();
        self.a.extend(l.clone().take(reach).map(|i| self.keys.0.get(i)));
        self.b.extend(r.clone().take(reach).map(|j| self.keys.1.get(j)));
        let pairs = self.windows.common(&self.a, &self.b, &mut self.matching.compared);
        let all = l.len() <= reach && r.len() <= reach;
        all || 2 * pairs.len() >= self.a.len().min(self.b.len())
    }

    /// Pairs the events that the windows have in common. Returns the positions to continue at.
    fn commit(&mut self, l: Range<usize>, r: Range<usize>) -> (usize, usize) {
        let all = self.a.len() == l.len() && self.b.len() == r.len();
        let half = if all { usize::MAX } else { self.window };
        let mut next = None;
        for (n, (i, j)) in self.windows.pairs().iter().enumerate() {
            // Pairs in the far half of the window are left for the next window, which has more context for
            // them.
            if n > 0 && (*i >= half || *j >= half) {
                break;
            }
            self.matching.pair(l.start + i, r.start + j);
            next = Some((l.start + i + 1, r.start + j + 1));
        }
        if all {
            return (l.end, r.end);
        }
        next.unwrap_or((l.start + half.min(l.len()), r.start + half.min(r.len())))
    }

    /// Matches the events before a common run of events.
    fn fill(&mut self, l: Range<usize>, r: Range<usize>) {
        let (mut i, mut j) = (l.start, r.start);
        while i < l.end && j < r.end && !is_past(self.deadline) {
            self.look(i..l.end, j..r.end);
            (i, j) = self.commit(i..l.end, j..r.end);
        }
    }

    /// Finds the nearest position ahead from which [`MIN_EQUAL_RUN`] consecutive events are equal.
    fn next_equal_run(&mut self, l: Range<usize>, r: Range<usize>) -> Option<(usize, usize)> {
        let mut ahead = [self.left.keys.cursor(), self.right.keys.cursor()];
        self.run_indices.iter_mut().for_each(RunIndex::clear);
        let ranges = [l, r];
        for n in 0..ranges[0].len().max(ranges[1].len()) {
            for side in 0..2 {
                let at = ranges[side].start + n;
                if at + MIN_EQUAL_RUN > ranges[side].end {
                    continue;
                }
                let gram = (at..at + MIN_EQUAL_RUN).fold(0, |hash, k| mix(hash, ahead[side].get(k)));
                self.matching.compared += 1;
                if let Some(other) = self.run_indices[1 - side].get(gram) {
                    let other = ranges[1 - side].start + other as usize;
                    return Some(if side == 0 { (at, other) } else { (other, at) });
                }
                self.run_indices[side].note(gram, n as u32);
            }
        }
        None
    }
}

/// The first position of each run of events, by hash. Reused from one search to the next, so that a short
/// search costs only what it reads.
#[derive(Debug, Default)]
struct RunIndex {
    /// Open addressing: hash, number of the search, position.
    slots: Vec<(u64, u32, u32)>,
    search: u32,
    used: usize,
}

impl RunIndex {
    fn clear(&mut self) {
        self.used = 0;
        self.search = self.search.wrapping_add(1);
        // A table that grew in a long search is dropped: it would slow down all short ones.
        if self.search == 0 || self.slots.len() != INITIAL_SLOTS {
            self.slots = vec![(0, 0, 0); INITIAL_SLOTS];
            self.search = 1;
        }
    }

    #[inline]
    fn slot(&self, gram: u64) -> usize {
        let last = self.slots.len() - 1;
        let mut at = (gram >> 20) as usize & last;
        while self.slots[at].1 == self.search && self.slots[at].0 != gram {
            at = (at + 1) & last;
        }
        at
    }

    #[inline]
    fn get(&self, gram: u64) -> Option<u32> {
        let slot = self.slots[self.slot(gram)];
        (slot.1 == self.search).then_some(slot.2)
    }

    #[inline]
    fn note(&mut self, gram: u64, place: u32) {
        if 2 * self.used >= self.slots.len() {
            self.grow();
        }
        let at = self.slot(gram);
        if self.slots[at].1 != self.search {
            self.slots[at] = (gram, self.search, place);
            self.used += 1;
        }
    }

    #[cold]
    fn grow(&mut self) {
        let larger = vec![(0, 0, 0); 4 * self.slots.len()];
        for old in std::mem::replace(&mut self.slots, larger) {
            if old.1 == self.search {
                let at = self.slot(old.0);
                self.slots[at] = old;
            }
        }
    }
}
