//! The JSON document of `relapse diff`.

use super::DiffArgs;
use serde::Serialize;
use std::path::Path;
use views::compare::{Change, Comparison};
use views::told::{SequenceSummary, SummaryLimits, tell};
use views::trace::Trace;

#[derive(Debug, Serialize)]
pub struct Answer {
    schema: &'static str,
    pub left: Run,
    pub right: Run,
    /// Whether the runs have hardly a function in common.
    pub unrelated: bool,
    /// The number of pairs of similar events, and of those that moved.
    pub similar: u64,
    pub moved: u64,
    /// Events of both runs without a partner.
    pub differences: u64,
    /// Whether most events differ, so that the result is mostly noise.
    pub noise: bool,
    pub sequences: Sequences,
    /// The number of event comparisons.
    pub compared: u64,
    /// The time of the comparison in seconds, and the memory of the views' indices.
    pub seconds: f64,
    pub index_bytes: u64,
    pub shown: Vec<SequenceSummary>,
    /// The number of sequences that are not shown.
    pub more: u64,
    /// Sequences all of whose events were ignored.
    pub ignored: u64,
    /// Sequences that depend on fleeting values; shown only with `--all`.
    pub fleeting: u64,
    /// Sequences that differ only in calls whose change a contract describes.
    pub meant: u64,
    pub notes: Vec<String>,
}

#[derive(Debug, Serialize)]
pub struct Run {
    pub recording: String,
    pub events: u64,
    pub instructions: u64,
    pub threads: usize,
    /// Accesses whose field is unknown, since type information is missing.
    pub untyped: u64,
    /// The time to extract its events in seconds, and their size in memory.
    pub seconds: f64,
    pub bytes: u64,
}

#[derive(Debug, Serialize)]
pub struct Sequences {
    pub all: u64,
    pub insertions: u64,
    pub deletions: u64,
    pub modifications: u64,
}

impl Run {
    pub fn new(path: &Path, trace: &Trace) -> Run {
        Run {
            recording: path.display().to_string(),
            events: trace.len() as u64,
            instructions: trace.instructions,
            threads: trace.threads.len(),
            untyped: trace.untyped.iter().map(|u| u.1).sum(),
            seconds: trace.seconds,
            bytes: trace.resident(),
        }
    }
}

impl Answer {
    #[allow(clippy::too_many_arguments)] // One value for each field of the document.
    pub fn new(
        args: &DiffArgs,
        left: &Trace,
        right: &Trace,
        comparison: &Comparison,
        seconds: f64,
        relevant: &[usize],
        limit: usize,
        extent: SummaryLimits,
    ) -> Answer {
        let count =
            |change: Change| comparison.sequences.iter().filter(|s| s.change() == change).count() as u64;
        let differences = comparison.matching.differences();
        let shown: Vec<SequenceSummary> =
            relevant.iter().take(limit).map(|n| tell(comparison, left, right, *n, extent)).collect();
        Answer {
            schema: "relapse.diff/1",
            left: Run::new(&args.old, left),
            right: Run::new(&args.new, right),
            unrelated: comparison.unrelated(),
            similar: (left.len() as u64 + right.len() as u64 - differences) / 2,
            moved: comparison.matching.moved.len() as u64,
            differences,
            noise: is_noise(differences, left, right),
            sequences: Sequences {
                all: comparison.sequences.len() as u64,
                insertions: count(Change::Insertion),
                deletions: count(Change::Deletion),
                modifications: count(Change::Modification),
            },
            compared: comparison.matching.compared,
            seconds,
            index_bytes: comparison.index_bytes,
            more: (relevant.len() - shown.len()) as u64,
            ignored: 0,
            fleeting: 0,
            meant: 0,
            shown,
            notes: notes(&[(&args.old, left), (&args.new, right)]),
        }
    }
}

/// Whether so many events differ that most differences are probably irrelevant.
pub fn is_noise(differences: u64, left: &Trace, right: &Trace) -> bool {
    let all = (left.len() + right.len()) as u64;
    differences > FEW && differences * 2 > all
}

/// Up to this number, differences are never noise, whatever their share.
const FEW: u64 = 200;

/// Notes about the runs for the reader.
pub fn notes(runs: &[(&Path, &Trace)]) -> Vec<String> {
    let mut notes = Vec::new();
    for (path, trace) in runs {
        let path = path.display();
        notes.extend(trace.notes.iter().map(|n| format!("{path}: {n}")));
        let untyped: u64 = trace.untyped.iter().map(|u| u.1).sum();
        // A small share of untyped accesses is normal: most programs contain some casts.
        if untyped * 20 > trace.len() as u64 {
            let names: Vec<&str> = trace.untyped.iter().take(3).map(|u| trace.names.text(u.0)).collect();
            notes.push(format!(
                "{path}: {} of {} events are of memory whose type is not known, most of them in {}; \
                 -g gives types",
                crate::render::grouped(untyped),
                crate::render::grouped(trace.len() as u64),
                names.join(", "),
            ));
        }
        if trace.budget().spilled() > 0 {
            let away = crate::render::bytes(trace.budget().spilled());
            notes.push(format!("{path}: {away} of events were kept on disk; --memory gives them more room"));
        }
    }
    notes
}
