//! Events that stand elsewhere in the other run, found through the views they
//! belong to.
//!
//! What two threads have in common in order is known by now. An event that is
//! left over may have moved: then it stands in a corresponding view, among the
//! same neighbours, however far away that is in the thread. Windows of
//! corresponding views are compared around such events, and what they have in
//! common is similar too.

use crate::align::Matching;
use crate::index::Index;
use crate::kinds::{SECONDARY, correlate};
use crate::lcs;
use crate::names::NumberMap;
use crate::trace::{NONE, Trace};
use std::io;
use std::ops::Range;

/// How often a window is looked through.
const ROUNDS: usize = 4;

/// Looks for partners of the events of two threads that have none.
pub struct Mover<'t> {
    left: &'t Trace,
    right: &'t Trace,
    window: usize,
    relaxed: bool,
    indices: Vec<(Index, Index)>,
    maps: Vec<NumberMap<u32, u32>>,
}

impl<'t> Mover<'t> {
    /// Makes the indices of both runs. With `relaxed`, views also correspond if
    /// they have events at the same distance from corresponding points.
    ///
    /// # Errors
    /// If an index has no room on disk.
    pub fn new(left: &'t Trace, right: &'t Trace, window: usize, relaxed: bool) -> io::Result<Mover<'t>> {
        let mut indices = Vec::new();
        let mut maps = Vec::new();
        for kind in &SECONDARY {
            let (l, r) = (Index::new(left, kind)?, Index::new(right, kind)?);
            maps.push(correlate(kind, left, l.views(), right, r.views()));
            indices.push((l, r));
        }
        Ok(Mover { left, right, window: window.clamp(2, 1000), relaxed, indices, maps })
    }

    /// Bytes that the indices take in memory.
    #[must_use]
    pub fn resident(&self) -> u64 {
        self.indices.iter().map(|(l, r)| l.resident() + r.resident()).sum()
    }

    /// Matches what has moved in a pair of threads.
    pub fn find(&self, l: Range<usize>, r: Range<usize>, matching: &mut Matching) {
        // For each view, how far it has been looked through already.
        let mut done: Vec<NumberMap<u32, u32>> = vec![NumberMap::default(); 2 * SECONDARY.len()];
        let mut anchor = (l.start, r.start);
        let mut moved = Vec::new();
        for event in l {
            if matching.right_of[event] != NONE {
                anchor = (event + 1, matching.right_of[event] as usize + 1);
                continue;
            }
            // Where it would stand if it had not moved.
            let there = (anchor.1 + (event - anchor.0)).min(r.end.saturating_sub(1)).max(r.start);
            for (n, kind) in SECONDARY.iter().enumerate() {
                let Some(view) = (kind.naming)(self.left, self.left.row(event)) else { continue };
                let known = self.maps[n].get(&view).copied();
                self.explore(n, view, known, event, there, &mut done[n], matching, &mut moved);
                if self.relaxed && matching.right_of[event] == NONE && there < self.right.len() {
                    let near = (kind.naming)(self.right, self.right.row(there));
                    let near = near.filter(|view| Some(*view) != known);
                    let done = &mut done[SECONDARY.len() + n];
                    self.explore(n, view, near, event, there, done, matching, &mut moved);
                }
                if matching.right_of[event] != NONE {
                    break;
                }
            }
        }
        matching.moved.extend(moved);
    }

    #[allow(clippy::too_many_arguments)] // One step of a loop, set apart.
    fn explore(
        &self,
        kind: usize,
        view: u32,
        other: Option<u32>,
        event: usize,
        there: usize,
        done: &mut NumberMap<u32, u32>,
        matching: &mut Matching,
        moved: &mut Vec<u32>,
    ) {
        let Some(other) = other else { return };
        if done.get(&view).is_some_and(|last| event as u32 <= *last) {
            return;
        }
        let (l, r) = &self.indices[kind];
        let (mut a, mut b) = (Vec::new(), Vec::new());
        l.around(view, event as u32, self.window, &mut a);
        r.around(other, there as u32, self.window, &mut b);
        done.insert(view, a.last().copied().unwrap_or(event as u32));
        let keys = |trace: &Trace, events: &[u32]| -> Vec<u64> {
            events.iter().map(|e| trace.key(*e as usize)).collect()
        };
        let (mut table, mut pairs) = (Vec::new(), Vec::new());
        // Things that have changed places with each other take a round each.
        for _ in 0..ROUNDS {
            a.retain(|e| matching.right_of[*e as usize] == NONE);
            b.retain(|e| matching.left_of[*e as usize] == NONE);
            let (left, right) = (keys(self.left, &a), keys(self.right, &b));
            lcs::window(&left, &right, &mut table, &mut matching.compared, &mut pairs);
            for (i, j) in &pairs {
                matching.pair(a[*i] as usize, b[*j] as usize);
                moved.push(a[*i]);
            }
            if pairs.is_empty() {
                break;
            }
        }
    }
}
