//! Intended changes: those in functions that changed in both runs of the test only as intended, according to
//! a callback (change contracts implement it). They are suspected last. An intended change can still make the
//! test fail: then the test and the intention contradict each other, and the answer reports this.

use crate::align::{LineMap, Side};
use crate::case::Case;
use changes::{Change, ChangeId, ChangeKind, ChangeSet};
use recording::Recording;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

/// Recordings of the test with both versions, good first.
#[derive(Clone, Copy)]
pub struct Runs<'r> {
    /// The recordings.
    pub recordings: [&'r Recording; 2],
    /// The roots to which paths are relative.
    pub trees: [&'r Path; 2],
    /// Maps a line of bad to the line of good.
    pub map: &'r LineMap<'r>,
}

/// A function that changed only as intended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeantFunction {
    /// The readable name.
    pub name: String,
    /// Its file in bad.
    pub file: String,
    /// From its first to its last line in bad, inclusive.
    pub lines: RangeInclusive<u32>,
    /// Number of pairs of calls that changed, all of them as intended.
    pub calls: u64,
}

type Ask = dyn Fn(&Runs<'_>) -> Result<Vec<MeantFunction>, String> + Send + Sync;

/// A callback that returns the functions that changed only as intended.
#[derive(Clone)]
pub struct Intentions(Arc<Ask>);

impl Intentions {
    /// Wraps a callback; its error completes a sentence of the notes.
    #[must_use]
    pub fn new(ask: Box<Ask>) -> Intentions {
        Intentions(ask.into())
    }
}

impl std::fmt::Debug for Intentions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Intentions")
    }
}

/// The intended changes.
#[derive(Clone, Debug, Default)]
pub struct Meant {
    /// With the name of the function that contains each.
    changes: Vec<(ChangeId, String)>,
    /// Sentences for the reader.
    pub notes: Vec<String>,
}

impl Meant {
    /// Queries the intended changes of a case whose runs were recorded.
    #[must_use]
    pub fn ask(intentions: &Intentions, case: &Case<'_>) -> Meant {
        let open = |good: bool| Recording::open(case.end(good).1?).ok();
        let (Some(good), Some(bad)) = (open(true), open(false)) else { return Meant::default() };
        let map = |file: &str, line: u32| case.difference.map_line_to_good(file, line);
        let trees = [case.tree(Side::Good), case.tree(Side::Bad)];
        let functions = match (intentions.0)(&Runs { recordings: [&good, &bad], trees, map: &map }) {
            Ok(functions) => functions,
            Err(why) => {
                return Meant {
                    changes: Vec::new(),
                    notes: vec![format!("Contracts were not considered: {why}.")],
                };
            }
        };
        let mut meant = Meant::default();
        for function in functions {
            let inside =
                case.difference.changes_of(&function.file).filter(|change| lies_in(change, &function));
            let before = meant.changes.len();
            meant.changes.extend(inside.map(|change| (change.id, function.name.clone())));
            let calls =
                if function.calls == 1 { "1 call".to_owned() } else { format!("{} calls", function.calls) };
            if meant.changes.len() > before {
                meant.notes.push(format!(
                    "{} changed in this test as its contract says ({calls}): changes in it are suspected last.",
                    function.name
                ));
            }
        }
        meant
    }

    /// Whether a change was intended.
    #[must_use]
    pub fn contains(&self, change: ChangeId) -> bool {
        self.changes.iter().any(|(id, _)| *id == change)
    }

    /// The same order with the intended changes moved to its end.
    #[must_use]
    pub fn last(&self, order: Vec<ChangeId>) -> Vec<ChangeId> {
        let (meant, mut order): (Vec<ChangeId>, Vec<ChangeId>) =
            order.into_iter().partition(|id| self.contains(*id));
        order.extend(meant);
        order
    }

    /// The notes for the case that these changes make the test fail.
    #[must_use]
    pub fn contradicted(&self, found: &ChangeSet) -> Vec<String> {
        let is_found = |(id, _): &&(ChangeId, String)| found.contains(id);
        let mut names: Vec<&str> =
            self.changes.iter().filter(is_found).map(|(_, name)| name.as_str()).collect();
        names.dedup();
        let told = |name: &str| {
            format!("What {name} does now is what its contract says: the contract and this test disagree.")
        };
        names.into_iter().map(told).collect()
    }
}

/// Whether all lines that a change adds to bad are in a function.
fn lies_in(change: &Change, function: &MeantFunction) -> bool {
    let new = change.new_range();
    // Where nothing was added, `new_start` is the preceding line.
    let last = if change.new_lines.is_empty() { change.new_start } else { new.end.saturating_sub(1) };
    change.kind == ChangeKind::Lines
        && function.lines.contains(&change.new_start)
        && function.lines.contains(&last)
}
