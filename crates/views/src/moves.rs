//! Finds moved events: events whose partner is at another position in the other run's thread.
//!
//! The threads are already aligned. An unmatched event may have moved: it is then in a corresponding view,
//! among the same neighbours, at any distance in the thread. Windows of corresponding views around such
//! events are compared, and the events they have in common are similar too.

use crate::align::Matching;
use crate::compare::Settings;
use crate::error::is_past;
use crate::kinds::{SECONDARY, correlate};
use crate::lcs::Windows;
use crate::names::NumberMap;
use crate::trace::{NONE, Trace};
use crate::unmatched::{ByView, Entry, MatchCounts, Said, UnmatchedEvents};
use std::ops::Range;

/// The number of comparisons of one window.
const ROUNDS: usize = 4;

/// The number of differences that are processed at a time, to bound the memory for candidates. Events that
/// moved between blocks are not matched.
const BLOCK: usize = 4 << 20;

/// The number of events between two looks at the clock.
const CLOCK_INTERVAL: usize = 1 << 10;

/// A pair of event ranges that is searched for moved events.
type Block = (Range<usize>, Range<usize>);

/// Matches moved events. `pairs` are the ranges of corresponding threads. After the deadline the rest is not
/// looked at. Returns the memory used, in bytes.
pub fn find(
    left: &Trace,
    right: &Trace,
    pairs: &[Block],
    settings: &Settings,
    matching: &mut Matching,
) -> u64 {
    find_in(left, right, blocks(left, right, pairs, matching, BLOCK), settings, matching)
}

fn find_in(
    left: &Trace,
    right: &Trace,
    blocks: Vec<Block>,
    settings: &Settings,
    matching: &mut Matching,
) -> u64 {
    let kinds = &SECONDARY;
    let match_counts = || -> Vec<MatchCounts> { kinds.iter().map(|_| MatchCounts::default()).collect() };
    let (mut tallies_l, mut tallies_r) = (match_counts(), match_counts());
    let mut most = 0;
    let settings = &Settings { window: settings.window.clamp(2, 1000), ..*settings };
    for (l, r) in blocks {
        let (in_left, in_right) =
            (Said::by(left, l.clone(), &matching.right_of), Said::by(right, r.clone(), &matching.left_of));
        let a =
            UnmatchedEvents::gather(left, l.clone(), &matching.right_of, &in_right, kinds, &mut tallies_l);
        let b = UnmatchedEvents::gather(right, r.clone(), &matching.left_of, &in_left, kinds, &mut tallies_r);
        most = most.max(a.resident() + b.resident());
        if a.events.is_empty() || b.events.is_empty() {
            continue;
        }
        let maps = kinds
            .iter()
            .zip(tallies_l.iter().zip(&tallies_r))
            .map(|(kind, (l, r))| correlate(kind, left, l.views(), right, r.views()))
            .collect();
        let mut mover = MoveFinder { left, right, settings, a, b, maps, search: Search::default() };
        mover.run(l, r, matching);
    }
    matching.moved.sort_unstable();
    most
}

/// The whole of both runs, if they have few differences; else several blocks.
fn blocks(left: &Trace, right: &Trace, pairs: &[Block], matching: &Matching, most: usize) -> Vec<Block> {
    if matching.differences() <= 2 * most as u64 {
        return vec![(0..left.len(), 0..right.len())];
    }
    let mut out = Vec::new();
    for (l, r) in pairs {
        let (mut from, mut alone) = ((l.start, r.start), 0);
        // The position after the last similar events.
        let mut last = from;
        for event in l.clone() {
            match matching.right_of[event] {
                NONE => alone += 1,
                partner => {
                    let partner = partner as usize;
                    alone += partner.saturating_sub(last.1);
                    last = (event + 1, partner + 1);
                    if alone >= most {
                        out.push((from.0..last.0, from.1..last.1));
                        (from, alone) = (last, 0);
                    }
                }
            }
        }
        out.push((from.0..l.end, from.1..r.end));
    }
    out
}

/// Buffers for the comparison of windows.
#[derive(Default)]
struct Search {
    windows: Windows,
    a: Vec<u32>,
    b: Vec<u32>,
    keys_a: Vec<u64>,
    keys_b: Vec<u64>,
}

struct MoveFinder<'t> {
    left: &'t Trace,
    right: &'t Trace,
    settings: &'t Settings,
    a: UnmatchedEvents,
    b: UnmatchedEvents,
    maps: Vec<NumberMap<u32, u32>>,
    search: Search,
}

impl MoveFinder<'_> {
    fn run(&mut self, l: Range<usize>, r: Range<usize>, matching: &mut Matching) {
        // For each view, the first entry not yet processed and the one after the last partner: for the
        // corresponding view, and for the view at the same distance.
        let mut done: Vec<[NumberMap<u32, (u32, u32)>; 2]> =
            SECONDARY.iter().map(|_| Default::default()).collect();
        let mut anchor = (l.start, r.start);
        let mut from = l.start;
        for n in 0..self.a.events.len() {
            if n.is_multiple_of(CLOCK_INTERVAL) && is_past(self.settings.deadline) {
                return;
            }
            let event = self.a.events[n] as usize;
            // The last preceding event with a partner in order, so not a candidate.
            if let Some(similar) = last_similar(&matching.right_of, from..event, &self.a.events[..n]) {
                anchor = (similar + 1, matching.right_of[similar] as usize + 1);
            }
            from = event + 1;
            // Its position if it had not moved.
            let there = (anchor.1 + (event - anchor.0)).min(r.end.saturating_sub(1)).max(r.start);
            for (k, kind) in SECONDARY.iter().enumerate() {
                if matching.right_of[event] != NONE {
                    break;
                }
                let (view, at) = self.a.by_view[k].place[n];
                if view == NONE {
                    continue;
                }
                let known = self.maps[k].get(&view).copied();
                let looked =
                    |done: &NumberMap<u32, (u32, u32)>| done.get(&view).is_some_and(|next| at < next.0);
                if let Some(other) = known
                    && !looked(&done[k][0])
                {
                    let mark = self.a.by_view[k].entries()[at as usize].mark;
                    let b = &self.b.by_view[k];
                    let range = b.range(other);
                    let mut centre =
                        range.start + b.entries()[range.clone()].partition_point(|e| e.mark < mark);
                    // Several entries may have this mark; the earlier ones already have partners.
                    let behind = done[k][0].get(&view).map_or(0, |next| next.1 as usize);
                    if behind > centre
                        && b.entries().get(behind).is_some_and(|e| e.mark == mark)
                        && range.contains(&behind)
                    {
                        centre = behind;
                    }
                    let next = self.explore(k, (view, at), (other, centre, mark), matching);
                    done[k][0].insert(view, next);
                }
                if self.settings.relaxed && matching.right_of[event] == NONE && !looked(&done[k][1]) {
                    let near = (kind.naming)(self.right, self.right.row(there));
                    if let Some(other) = near.filter(|view| Some(*view) != known) {
                        let b = &self.b.by_view[k];
                        let entries = &b.entries()[b.range(other)];
                        let centre = entries.partition_point(|e| (e.event as usize) < there);
                        let mark = entries.get(centre).or(entries.last()).map_or(0, |e| e.mark);
                        let centre = b.range(other).start + centre;
                        let next = self.explore(k, (view, at), (other, centre, mark), matching);
                        done[k][1].insert(view, next);
                    }
                }
            }
        }
    }

    /// Compares the windows around an entry of the left run and around a position in a view of the right run.
    /// Returns the entries after the window, and after the last partner found.
    fn explore(
        &mut self,
        kind: usize,
        (view, at): (u32, u32),
        (other, centre, mark): (u32, usize, u32),
        matching: &mut Matching,
    ) -> (u32, u32) {
        let window = self.settings.window;
        let a = &self.a.by_view[kind];
        let own = a.entries()[at as usize].mark;
        let (l, r) = (
            around(a, view, at as usize, own, window),
            around(&self.b.by_view[kind], other, centre, mark, window),
        );
        let (next, first, mut behind) = (l.end as u32, r.start, r.start);
        let Search { windows, a, b, keys_a, keys_b } = &mut self.search;
        let events = |entries: &[Entry], to: &mut Vec<u32>| {
            to.clear();
            to.extend(entries.iter().map(|e| e.event));
        };
        events(&self.a.by_view[kind].entries()[l], a);
        let entries = &self.b.by_view[kind].entries()[r];
        events(entries, b);
        let keys = |trace: &Trace, events: &[u32], to: &mut Vec<u64>| {
            to.clear();
            to.extend(events.iter().map(|e| trace.key(*e as usize)));
        };
        // Events that swapped their order need one round each.
        for _ in 0..ROUNDS {
            a.retain(|e| matching.right_of[*e as usize] == NONE);
            b.retain(|e| matching.left_of[*e as usize] == NONE);
            if a.is_empty() || b.is_empty() {
                break;
            }
            keys(self.left, a, keys_a);
            keys(self.right, b, keys_b);
            let pairs = windows.common(keys_a, keys_b, &mut matching.compared);
            if pairs.is_empty() {
                break;
            }
            for (i, j) in pairs {
                let (left, right) = (a[*i], b[*j]);
                matching.right_of[left as usize] = right;
                matching.left_of[right as usize] = left;
                matching.moved.push(left);
            }
            if let Some((_, last)) = pairs.last() {
                behind = behind.max(first + entries.partition_point(|e| e.event <= b[*last]));
            }
        }
        (next, behind as u32)
    }
}

/// The last event of a range that has a partner and is not a candidate.
fn last_similar(partners: &[u32], range: Range<usize>, candidates: &[u32]) -> Option<usize> {
    let is_candidate = |e: usize| candidates.last().is_some_and(|c| *c as usize == e);
    range.rev().find(|e| partners[*e] != NONE && !is_candidate(*e))
}

/// Entries of a view around one of them, up to `window` before it and from it on, whose marks differ from its
/// mark by at most `window`.
fn around(list: &ByView, view: u32, at: usize, mark: u32, window: usize) -> Range<usize> {
    let range = list.range(view);
    let near = |e: &&Entry| e.mark.abs_diff(mark) as usize <= window;
    let entries = list.entries();
    let before = entries[range.start..at].iter().rev().take(window).take_while(near).count();
    let behind = entries[at..range.end].iter().take(window).take_while(near).count();
    at - before..at + behind
}
