//! What distinguishes the failing test from a passing one.
//!
//! Both versions are recorded with a similar test that passes, and the events of the four runs are compared
//! ([`views::cause`]). Suspects are differences between the versions that occur on the failing test only, in
//! events of bad that occur on the failing test only. Changes at such lines are tried first.

use crate::align::Side;
use crate::answer::{self, Cause};
use crate::case::Case;
use crate::error::Error;
use crate::evidence::touching;
use crate::observe::Observed;
use changes::ChangeId;
use recording::Recording;
use std::collections::BTreeSet;
use std::path::Path;
use trials::TrialRunner;
use views::cause::{FourTraces, cause};
use views::compare::Settings;
use views::extract::Options;
use views::told::{Entry, SummaryLimits};
use views::trace::Trace;

/// The maximum number of suspects in an answer.
const SHOWN: usize = 8;
/// Longer runs are not compared here.
const MOST_STEPS: u64 = 400_000_000;

/// The result of the comparison.
pub struct Passing {
    answer: answer::Passing,
    /// Changes that suspects touch, those of the first suspect first.
    changes: Vec<ChangeId>,
}

impl Passing {
    /// Converts to the form of the answer and links suspects with its causes.
    #[must_use]
    pub fn beside(mut self, causes: &[Cause]) -> answer::Passing {
        let mut all: Vec<&Cause> = Vec::new();
        let mut todo: Vec<&Cause> = causes.iter().collect();
        while let Some(cause) = todo.pop() {
            todo.extend(&cause.children);
            all.push(cause);
        }
        for suspect in &mut self.answer.suspects {
            let at = |said: &[answer::Said], place: &Option<answer::Place>| {
                place
                    .as_ref()
                    .is_some_and(|p| said.iter().any(|s| s.place.file == p.file && s.place.line == p.line))
            };
            let there = all.iter().filter(|c| at(&suspect.bad, &c.place) || at(&suspect.good, &c.good_place));
            let ids: BTreeSet<u32> = there.map(|c| c.id).collect();
            suspect.causes = ids.into_iter().collect();
        }
        self.answer
    }
}

/// The order of trials with the changes of the suspects first.
#[must_use]
pub fn ahead(ranked: Vec<ChangeId>, passing: Option<&Passing>) -> Vec<ChangeId> {
    let Some(passing) = passing else { return ranked };
    let mut order: Vec<ChangeId> =
        passing.changes.iter().copied().filter(|change| ranked.contains(change)).collect();
    order.extend(ranked.into_iter().filter(|change| !passing.changes.contains(change)));
    order
}

/// Records the passing test and compares. The inner error is the reason why there is no result.
///
/// # Errors
/// Only if the trial runner cannot continue.
pub fn with_test(
    case: &Case<'_>,
    observed: &Observed,
    lab: &mut TrialRunner<'_>,
    test: &str,
) -> Result<Result<Passing, String>, Error> {
    let (good, bad) = match lab.record_other(test) {
        Ok(both) => both,
        Err(trials::Error::Cancelled) => return Err(trials::Error::Cancelled.into()),
        Err(error) => return Ok(Err(format!("failed to {error}"))),
    };
    let read = |path: &Path| std::fs::read(path).unwrap_or_default();
    if good.run.status != bad.run.status || read(&good.run.stdout) != read(&bad.run.stdout) {
        return Ok(Err(format!(
            "it does not pass: good ends with {}, bad with {}, or they print something else",
            good.run.status, bad.run.status
        )));
    }
    let runs = open(&good.directory, observed.good_process.unwrap_or(observed.process))
        .and_then(|good| Ok([good, open(&bad.directory, observed.process)?]));
    Ok(runs.and_then(|runs| with_runs(case, observed, &runs, Some(test.to_owned()))))
}

/// Compares the failing runs with passing ones of good and of bad.
///
/// # Errors
/// The reason why there is no result.
pub fn with_runs(
    case: &Case<'_>,
    observed: &Observed,
    passing: &[Trace; 2],
    test: Option<String>,
) -> Result<Passing, String> {
    let [old, new] = failing(case, observed)?;
    let four = FourTraces { old: &old, new: &new, old_passing: &passing[0], new_passing: &passing[1] };
    let found = cause(four, &Settings::default(), &[]).map_err(|e| format!("failed to {e}"))?;
    let suspects = found.suspects();
    let mut changes = Vec::new();
    let mut told = Vec::new();
    for suspect in suspects.iter().take(SHOWN) {
        let sequence = found.tell(four, suspect, SummaryLimits { rows: 16, context: 0 });
        let of = |side: Side, entry: fn(&views::told::Pair) -> Option<&Entry>| -> Vec<answer::Said> {
            let rows = sequence.rows.iter().filter(|p| !p.same && !p.expected);
            rows.filter_map(entry).map(|e| said(case, side, e)).collect()
        };
        let (good, bad) = (of(Side::Good, |p| p.left.as_ref()), of(Side::Bad, |p| p.right.as_ref()));
        let mut own: Vec<ChangeId> = Vec::new();
        for (side, list) in [(Side::Bad, &bad), (Side::Good, &good)] {
            let change = |at: &answer::Place| touching(case.difference, side, &at.file, at.line);
            for change in list.iter().filter_map(|s| change(&s.place)).map(|change| change.id) {
                if !own.contains(&change) {
                    own.push(change);
                }
            }
        }
        changes.extend(own.iter().copied().filter(|c| !changes.contains(c)).collect::<Vec<_>>());
        told.push(answer::Suspect {
            change: sequence.change.to_owned(),
            good,
            bad,
            stack: sequence.stack,
            changes: own.iter().map(|c| c.0).collect(),
            causes: Vec::new(),
            sequence: u32::try_from(suspect.sequence).unwrap_or(u32::MAX),
        });
    }
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let kind = match (found.d.is_empty(), suspects.is_empty()) {
        (false, _) => "present",
        (true, false) => "removed",
        _ => "none",
    };
    let answer = answer::Passing {
        test,
        kind: kind.to_owned(),
        suspected: number(found.sequences[0]),
        expected: number(found.sequences[1]),
        unexpected: number(found.unexpected),
        more: number(suspects.len().saturating_sub(SHOWN)),
        suspects: told,
    };
    Ok(Passing { answer, changes })
}

/// The events of the failing test, with good and with bad.
///
/// # Errors
/// The reason why they are not available.
pub fn failing(case: &Case<'_>, observed: &Observed) -> Result<[Trace; 2], String> {
    let directory =
        |good: bool| case.end(good).1.ok_or_else(|| "there is no recording of both versions".to_owned());
    let old = open(directory(true)?, observed.good_process.unwrap_or(observed.process))?;
    Ok([old, open(directory(false)?, observed.process)?])
}

fn open(directory: &Path, process: usize) -> Result<Trace, String> {
    let recording = Recording::open(directory).map_err(|e| format!("failed to {e}"))?;
    // A passing test may start other processes.
    let process = if process < recording.processes.len() { process } else { 0 };
    let trace =
        views::run::trace(&recording, process, &Options::default()).map_err(|e| format!("failed to {e}"))?;
    match trace.instructions > MOST_STEPS {
        true => Err(format!("a run has {} instructions; `relapse cause` compares it", trace.instructions)),
        false => Ok(trace),
    }
}

fn said(case: &Case<'_>, side: Side, entry: &Entry) -> answer::Said {
    let file = Path::new(&entry.file);
    let file = file.strip_prefix(case.tree(side)).unwrap_or(file).display().to_string();
    let text = case.sources.line(side, &file, entry.line).unwrap_or_default();
    let place = answer::Place { file, line: entry.line, column: 0, function: entry.function.clone(), text };
    answer::Said { text: entry.text.clone(), place }
}
