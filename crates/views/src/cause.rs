//! Regression cause analysis: which of all differences made a test fail.
//!
//! The analysis uses four runs: the old and the new version, each with the failing test and with a similar
//! passing one. It makes three comparisons:
//!
//! * A, suspected: old against new on the failing test;
//! * B, expected: old against new on the passing test, the intended changes;
//! * C, regression: the passing against the failing test in the new version.
//!
//! D = (A − B) ∩ C. If the defect is that the new version *no longer* does something, its run has no trace of
//! it, and D = (A − B) − C. Sequences are compared as sets of statements; a statement combines the function,
//! the side, and the event's key. A sequence is expected if all its statements also occur in B. Sequences
//! with equal statement sets, such as those of a loop's iterations, count as one.

use crate::compare::{Comparison, Settings, compare};
use crate::error::{Result, in_time};
use crate::filter::{Which, alone, depends_on, meant};
use crate::names::mix;
use crate::told::{SequenceSummary, SummaryLimits, tell};
use crate::trace::Trace;
use std::collections::{HashMap, HashSet};

/// The four runs.
#[derive(Clone, Copy)]
pub struct FourTraces<'t> {
    /// The old version with the failing test.
    pub old: &'t Trace,
    /// The new version with the failing test.
    pub new: &'t Trace,
    /// The old version with the passing test.
    pub old_passing: &'t Trace,
    /// The new version with the passing test.
    pub new_passing: &'t Trace,
}

/// A sequence of A that may be the cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspect {
    /// Index into A's sequences.
    pub sequence: usize,
    /// Its events that were not expected: in the left and in the right run.
    pub unexpected: (u64, u64),
    /// How many of them also occur in C.
    pub confirmed: u64,
    /// A value differs in it.
    pub value: bool,
    /// How many sequences of A have the same statements; `sequence` is the first of them.
    pub times: u64,
}

/// See the module's documentation.
pub struct Cause {
    /// Old against new on the failing test.
    pub a: Comparison,
    /// Sequences of A, of B and of C.
    pub sequences: [usize; 3],
    /// How many sequences of A differ only in calls whose change was intended.
    pub meant: usize,
    /// How many depend on fleeting values, which differ in every run; they are not suspects.
    pub fleeting: usize,
    /// How many sequences of A remain after the expected ones are removed.
    pub unexpected: usize,
    /// (A − B) ∩ C, the most likely first.
    pub d: Vec<Suspect>,
    /// (A − B) − C, the most likely first.
    pub removed: Vec<Suspect>,
    expected: HashSet<u64>,
}

const LEFT: u64 = 1;
const RIGHT: u64 = 2;

/// Finds the cause.
///
/// # Errors
/// As [`compare`].
pub fn cause(four: FourTraces<'_>, settings: &Settings, ignored: &[Which]) -> Result<Cause> {
    let a = compare(four.old, four.new, settings)?;
    let b = compare(four.old_passing, four.new_passing, settings)?;
    let c = compare(four.new_passing, four.new, settings)?;
    let expected = statements(&b, four.old_passing, four.new_passing);
    let regression = statements(&c, four.new_passing, four.new);
    let (mut d, mut removed): (Vec<Suspect>, Vec<Suspect>) = (Vec::new(), Vec::new());
    let (mut unexpected, mut fleeting) = (0, 0);
    // The position in the lists of each set of statements seen so far.
    let mut known: HashMap<Vec<u64>, (bool, usize)> = HashMap::new();
    for (sequence, s) in a.sequences.iter().enumerate() {
        in_time(settings.deadline)?;
        let matters =
            |trace: &Trace, e: usize| !trace.is_meant(e) && !ignored.iter().any(|i| i.matches(trace, e));
        let (l, r) = alone(&a, s);
        let l: Vec<u64> = l
            .filter(|e| matters(four.old, *e))
            .map(|e| statement(four.old, e, LEFT))
            .filter(|s| !expected.contains(s))
            .collect();
        let r: Vec<usize> = r
            .filter(|e| matters(four.new, *e))
            .filter(|e| !expected.contains(&statement(four.new, *e, RIGHT)))
            .collect();
        if l.is_empty() && r.is_empty() {
            continue;
        }
        if depends_on(&a, four.old, four.new, sequence) != 0 {
            fleeting += 1;
            continue;
        }
        unexpected += 1;
        let mut says: Vec<u64> =
            l.iter().copied().chain(r.iter().map(|e| statement(four.new, *e, RIGHT))).collect();
        says.sort_unstable();
        says.dedup();
        if let Some((present, at)) = known.get(&says) {
            let list = if *present { &mut d } else { &mut removed };
            list[*at].times += 1;
            continue;
        }
        let confirmed =
            r.iter().filter(|e| regression.contains(&statement(four.new, **e, RIGHT))).count() as u64;
        let told = tell(&a, four.old, four.new, sequence, SummaryLimits { rows: 16, context: 0 });
        let value = told.rows.iter().any(|p| p.left.is_some() && p.right.is_some());
        let unexpected = (l.len() as u64, r.len() as u64);
        let suspect = Suspect { sequence, unexpected, confirmed, value, times: 1 };
        let list = if confirmed > 0 { &mut d } else { &mut removed };
        known.insert(says, (confirmed > 0, list.len()));
        list.push(suspect);
    }
    // Sequences in which a value differs are the strongest evidence; then earlier ones come first.
    d.sort_by_key(|s| (!s.value, s.sequence));
    removed.sort_by_key(|s| (s.unexpected.0 == 0, !s.value, s.sequence));
    let sequences = [a.sequences.len(), b.sequences.len(), c.sequences.len()];
    let meant = meant(&a, four.old, four.new);
    Ok(Cause { a, sequences, meant, fleeting, unexpected, d, removed, expected })
}

impl Cause {
    /// The suspects to show: D, or what was removed if D is empty.
    #[must_use]
    pub fn suspects(&self) -> &[Suspect] {
        if self.d.is_empty() { &self.removed } else { &self.d }
    }

    /// A summary of a suspect's sequence, with the expected events marked.
    #[must_use]
    pub fn tell(&self, four: FourTraces<'_>, suspect: &Suspect, extent: SummaryLimits) -> SequenceSummary {
        let mut told = tell(&self.a, four.old, four.new, suspect.sequence, extent);
        for pair in told.rows.iter_mut().filter(|p| !p.same) {
            let said = |trace: &Trace, e: &Option<crate::told::Entry>, side| {
                e.as_ref().is_none_or(|e| self.expected.contains(&statement(trace, e.event, side)))
            };
            pair.expected = said(four.old, &pair.left, LEFT) && said(four.new, &pair.right, RIGHT);
        }
        told
    }
}

/// The hash of an event as a difference: its key, its function's name, and its side.
fn statement(trace: &Trace, event: usize, side: u64) -> u64 {
    let method = &trace.methods[trace.act(event).method as usize];
    mix(mix(trace.key(event), trace.names.hash(method.name)), side)
}

fn statements(comparison: &Comparison, left: &Trace, right: &Trace) -> HashSet<u64> {
    let mut said = HashSet::new();
    for sequence in &comparison.sequences {
        let (l, r) = alone(comparison, sequence);
        said.extend(l.map(|e| statement(left, e, LEFT)));
        said.extend(r.map(|e| statement(right, e, RIGHT)));
    }
    said
}
