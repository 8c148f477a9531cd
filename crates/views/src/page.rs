//! A comparison laid out side by side: sequences of differences with the similar events around them, and for
//! each difference excerpts of its views.

use crate::compare::Comparison;
use crate::index::Index;
use crate::kinds::{SECONDARY, correlate};
use crate::names::NumberMap;
use crate::told::{Entry, Pair, SequenceSummary, SummaryLimits, entry, tell};
use crate::trace::{NONE, Trace};
use std::io;

/// The number of events of a view before a difference, and from it on, that an excerpt has.
const NEAR: usize = 8;

/// See the module's documentation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The names of the runs.
    pub names: [String; 2],
    /// The number of events of each run.
    pub events: [u64; 2],
    /// Events without a partner.
    pub differences: u64,
    /// The number of moved events.
    pub moved: u64,
    /// Whether the runs have hardly a function in common.
    pub unrelated: bool,
    /// The sections, in the order of time.
    pub sections: Vec<Section>,
    /// The number of sequences left out.
    pub more: u64,
    /// The excerpts of views.
    pub views: Vec<ViewExcerpt>,
    /// Notes for the reader.
    pub notes: Vec<String>,
}

/// A sequence of differences on the page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// The number of similar events since the previous section that are not shown.
    pub skipped: u64,
    /// The sequence.
    pub told: SequenceSummary,
    /// Views of its differences, as indices into [`Page::views`].
    pub views: Vec<usize>,
}

/// An excerpt of a view, from both runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ViewExcerpt {
    /// `method`, `target` or `active`.
    pub kind: &'static str,
    /// The view's name in the left and in the right run; empty if it has none there.
    pub titles: [String; 2],
    /// The view's number of events in each run.
    pub events: [u64; 2],
    /// The events, side by side.
    pub rows: Vec<Pair>,
    /// The section that first refers to it.
    pub from: usize,
}

/// Limits of the page's size.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// The maximum number of sequences.
    pub sections: usize,
    /// The maximum number of view excerpts.
    pub views: usize,
}

impl Default for Room {
    fn default() -> Self {
        Room { sections: 60, views: 120 }
    }
}

/// Lays out the given sequences.
///
/// # Errors
/// If writing an index to disk fails.
pub fn page(
    comparison: &Comparison,
    left: &Trace,
    right: &Trace,
    shown: &[usize],
    room: Room,
) -> io::Result<Page> {
    let mut page = Page {
        events: [left.len() as u64, right.len() as u64],
        differences: comparison.matching.differences(),
        moved: comparison.matching.moved.len() as u64,
        unrelated: comparison.unrelated(),
        more: shown.len().saturating_sub(room.sections) as u64,
        ..Page::default()
    };
    let context = 3;
    let mut web = ExcerptBuilder::new(comparison, left, right)?;
    let mut last = 0;
    for number in shown.iter().take(room.sections) {
        let told = tell(comparison, left, right, *number, SummaryLimits { rows: 40, context });
        let from = page.sections.len();
        let mut views = Vec::new();
        for pair in told.rows.iter().filter(|p| !p.same) {
            for (side, e) in [(0, &pair.left), (1, &pair.right)] {
                let Some(e) = e else { continue };
                for kind in 0..SECONDARY.len() {
                    let known = web.add(kind, side, e.event, from, &mut page.views, room.views);
                    if let Some(known) = known.filter(|k| !views.contains(k)) {
                        views.push(known);
                    }
                }
            }
        }
        let start = comparison.sequences[*number].left.start;
        let skipped = start.saturating_sub(last).saturating_sub(context) as u64;
        last = comparison.sequences[*number].left.end + context;
        page.sections.push(Section { skipped, told, views });
    }
    Ok(page)
}

struct ExcerptBuilder<'t> {
    comparison: &'t Comparison,
    traces: [&'t Trace; 2],
    indices: Vec<[Index; 2]>,
    maps: Vec<[NumberMap<u32, u32>; 2]>,
    done: NumberMap<u64, usize>,
}

impl<'t> ExcerptBuilder<'t> {
    fn new(comparison: &'t Comparison, left: &'t Trace, right: &'t Trace) -> io::Result<ExcerptBuilder<'t>> {
        let mut indices = Vec::new();
        let mut maps = Vec::new();
        for kind in &SECONDARY {
            let (l, r) = (Index::new(left, kind)?, Index::new(right, kind)?);
            let there = correlate(kind, left, l.views().iter().copied(), right, r.views().iter().copied());
            let back = there.iter().map(|(l, r)| (*r, *l)).collect();
            maps.push([there, back]);
            indices.push([l, r]);
        }
        Ok(ExcerptBuilder { comparison, traces: [left, right], indices, maps, done: NumberMap::default() })
    }

    /// Adds the excerpt of a view around an event, with the corresponding view of the other run.
    fn add(
        &mut self,
        kind: usize,
        side: usize,
        event: usize,
        from: usize,
        views: &mut Vec<ViewExcerpt>,
        most: usize,
    ) -> Option<usize> {
        let own = (SECONDARY[kind].naming)(self.traces[side], self.traces[side].row(event))?;
        let other = self.maps[kind][side].get(&own).copied();
        let pair = if side == 0 { [Some(own), other] } else { [other, Some(own)] };
        let key = pair.map(|v| u64::from(v.unwrap_or(NONE)));
        let key = crate::names::mix(crate::names::mix(key[0], key[1]), kind as u64);
        if let Some(known) = self.done.get(&key) {
            return Some(*known);
        }
        if views.len() >= most {
            return None;
        }
        let near = |n: usize, view: Option<u32>, event: usize| {
            let mut out = Vec::new();
            if let Some(view) = view {
                self.indices[kind][n].around(view, event as u32, NEAR, &mut out);
            }
            out
        };
        let there = self.across(side, event);
        let at = if side == 0 { [event, there] } else { [there, event] };
        let lists = [near(0, pair[0], at[0]), near(1, pair[1], at[1])];
        let title =
            |n: usize| pair[n].map_or_else(String::new, |v| (SECONDARY[kind].title)(self.traces[n], v));
        let count = |n: usize| pair[n].map_or(0, |v| self.indices[kind][n].len_of(v));
        let rows = self.rows(&lists);
        let number = views.len();
        views.push(ViewExcerpt {
            kind: SECONDARY[kind].name,
            titles: [title(0), title(1)],
            events: [count(0), count(1)],
            rows,
            from,
        });
        self.done.insert(key, number);
        Some(number)
    }

    /// The approximate position of an event in the other run.
    fn across(&self, side: usize, event: usize) -> usize {
        let m = &self.comparison.matching;
        let partners = if side == 0 { &m.right_of } else { &m.left_of };
        let near = (event.saturating_sub(1 << 12)..=event).rev().find(|e| partners[*e] != NONE);
        near.map_or(event, |e| partners[e] as usize)
    }

    fn rows(&self, lists: &[Vec<u32>; 2]) -> Vec<Pair> {
        let m = &self.comparison.matching;
        let [left, right] = self.traces;
        let mut rows = Vec::new();
        let mut next = 0;
        let alone = |l: Option<Entry>, r: Option<Entry>| Pair { left: l, right: r, ..Pair::default() };
        for l in &lists[0] {
            let partner = m.right_of[*l as usize];
            let at = lists[1].iter().position(|r| *r == partner).filter(|at| *at >= next);
            match at {
                Some(at) => {
                    rows.extend(
                        lists[1][next..at].iter().map(|r| alone(None, Some(entry(right, *r as usize)))),
                    );
                    rows.push(Pair {
                        same: true,
                        ..alone(Some(entry(left, *l as usize)), Some(entry(right, partner as usize)))
                    });
                    next = at + 1;
                }
                None => rows.push(alone(Some(entry(left, *l as usize)), None)),
            }
        }
        rows.extend(lists[1][next..].iter().map(|r| alone(None, Some(entry(right, *r as usize)))));
        rows
    }
}
