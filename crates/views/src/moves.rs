//! Events that stand elsewhere in the other run, found through the views they
//! belong to.
//!
//! What two threads have in common in order is known by now. An event that is
//! left over may have moved: then it stands in a corresponding view, among the
//! same neighbours, however far away that is in the thread. Windows of
//! corresponding views are compared around such events, and what they have in
//! common is similar too.

use crate::align::Matching;
use crate::kinds::{SECONDARY, correlate};
use crate::lcs::Windows;
use crate::leftover::{ByView, Entry, Leftovers, Said, Tally};
use crate::names::NumberMap;
use crate::trace::{NONE, Trace};
use std::ops::Range;

/// How often a window is looked through.
const ROUNDS: usize = 4;

/// Differences that are looked through at a time, so that what is known of them
/// stays small beside the events. What has moved farther is not recognised.
const BLOCK: usize = 4 << 20;

/// Pairs of ranges, in which what has moved is looked for.
type Block = (Range<usize>, Range<usize>);

/// How what has moved is looked for.
#[derive(Clone, Copy, Debug)]
pub struct Reach {
    /// How many events around a place are looked at.
    pub window: usize,
    /// Views also correspond if they have events at the same distance from
    /// corresponding points.
    pub relaxed: bool,
}

/// Matches what has moved. `pairs` are the threads that correspond. Returns how many
/// bytes that took.
pub fn find(left: &Trace, right: &Trace, pairs: &[Block], reach: Reach, matching: &mut Matching) -> u64 {
    find_in(left, right, blocks(left, right, pairs, matching, BLOCK), reach, matching)
}

fn find_in(left: &Trace, right: &Trace, blocks: Vec<Block>, reach: Reach, matching: &mut Matching) -> u64 {
    let kinds = &SECONDARY;
    let tallies = || -> Vec<Tally> { kinds.iter().map(|_| Tally::default()).collect() };
    let (mut tallies_l, mut tallies_r) = (tallies(), tallies());
    let mut most = 0;
    let reach = Reach { window: reach.window.clamp(2, 1000), ..reach };
    for (l, r) in blocks {
        let (in_left, in_right) =
            (Said::by(left, l.clone(), &matching.right_of), Said::by(right, r.clone(), &matching.left_of));
        let a = Leftovers::gather(left, l.clone(), &matching.right_of, &in_right, kinds, &mut tallies_l);
        let b = Leftovers::gather(right, r.clone(), &matching.left_of, &in_left, kinds, &mut tallies_r);
        most = most.max(a.resident() + b.resident());
        if a.events.is_empty() || b.events.is_empty() {
            continue;
        }
        let maps = kinds
            .iter()
            .zip(tallies_l.iter().zip(&tallies_r))
            .map(|(kind, (l, r))| correlate(kind, left, l.views(), right, r.views()))
            .collect();
        let mut mover = Mover { left, right, reach, a, b, maps, search: Search::default() };
        mover.run(l, r, matching);
    }
    matching.moved.sort_unstable();
    most
}

/// The whole of both runs, if that is not too much; else piece by piece.
fn blocks(left: &Trace, right: &Trace, pairs: &[Block], matching: &Matching, most: usize) -> Vec<Block> {
    if matching.differences() <= 2 * most as u64 {
        return vec![(0..left.len(), 0..right.len())];
    }
    let mut out = Vec::new();
    for (l, r) in pairs {
        let (mut from, mut alone) = ((l.start, r.start), 0);
        // Where the last similar events end.
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

/// Buffers of a comparison of windows.
#[derive(Default)]
struct Search {
    windows: Windows,
    a: Vec<u32>,
    b: Vec<u32>,
    keys_a: Vec<u64>,
    keys_b: Vec<u64>,
}

struct Mover<'t> {
    left: &'t Trace,
    right: &'t Trace,
    reach: Reach,
    a: Leftovers,
    b: Leftovers,
    maps: Vec<NumberMap<u32, u32>>,
    search: Search,
}

impl Mover<'_> {
    fn run(&mut self, l: Range<usize>, r: Range<usize>, matching: &mut Matching) {
        // For each view, the first entry that has not been looked through yet, and
        // the one behind the last partner: with the view that corresponds, and with
        // one at the same distance.
        let mut done: Vec<[NumberMap<u32, (u32, u32)>; 2]> =
            SECONDARY.iter().map(|_| Default::default()).collect();
        let mut anchor = (l.start, r.start);
        let mut from = l.start;
        for n in 0..self.a.events.len() {
            let event = self.a.events[n] as usize;
            // The last event before it that has a partner in order: candidates have none.
            if let Some(similar) = last_similar(&matching.right_of, from..event, &self.a.events[..n]) {
                anchor = (similar + 1, matching.right_of[similar] as usize + 1);
            }
            from = event + 1;
            // Where it would stand if it had not moved.
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
                    // Of many with one mark the earlier ones have their partners.
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
                if self.reach.relaxed && matching.right_of[event] == NONE && !looked(&done[k][1]) {
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

    /// Compares the windows around an entry of the left run and around a place in a
    /// view of the right. Returns the entries behind the window, and behind the last
    /// partner found.
    fn explore(
        &mut self,
        kind: usize,
        (view, at): (u32, u32),
        (other, centre, mark): (u32, usize, u32),
        matching: &mut Matching,
    ) -> (u32, u32) {
        let window = self.reach.window;
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
        // Things that have changed places with each other take a round each.
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

/// The last event of a range that has a partner and is no candidate.
fn last_similar(partners: &[u32], range: Range<usize>, candidates: &[u32]) -> Option<usize> {
    let is_candidate = |e: usize| candidates.last().is_some_and(|c| *c as usize == e);
    range.rev().find(|e| partners[*e] != NONE && !is_candidate(*e))
}

/// Entries of a view around one of them that have about its mark: up to `window`
/// before it and from it on.
fn around(list: &ByView, view: u32, at: usize, mark: u32, window: usize) -> Range<usize> {
    let range = list.range(view);
    let near = |e: &&Entry| e.mark.abs_diff(mark) as usize <= window;
    let entries = list.entries();
    let before = entries[range.start..at].iter().rev().take(window).take_while(near).count();
    let behind = entries[at..range.end].iter().take(window).take_while(near).count();
    at - before..at + behind
}
