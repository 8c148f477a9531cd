//! A comparison as plain data, for display.

use crate::compare::{Comparison, Sequence};
use crate::filter::{self, alone};
use crate::fleeting;
use crate::lcs;
use crate::trace::{NONE, Trace};
use serde::Serialize;

/// An event as text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// Its number in the run.
    pub event: usize,
    /// The number of the thread's stream.
    pub thread: u32,
    /// `get`, `set`, `call`, `return`, `init`, `fork` or `end`.
    pub kind: &'static str,
    /// The function on top of the stack.
    pub function: String,
    /// Path of the source file; empty if unknown.
    pub file: String,
    /// 0 if unknown.
    pub line: u32,
    /// The whole event in one line.
    pub text: String,
    /// The field or callee.
    pub name: String,
    /// The object accessed or called on.
    pub target: Option<String>,
    /// The object the function works on.
    pub active: Option<String>,
    /// Its value alone.
    pub value: Option<String>,
}

/// Two events side by side.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Pair {
    /// The event of the left run.
    pub left: Option<Entry>,
    /// The event of the right run.
    pub right: Option<Entry>,
    /// Whether the two events are similar.
    pub same: bool,
    /// Whether this difference also occurs with the passing test.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub expected: bool,
}

/// A sequence of differences.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SequenceSummary {
    /// Its number, in the order of time.
    pub number: usize,
    /// `insertion`, `deletion` or `modification`.
    pub change: &'static str,
    /// Events of the left and of the right run that have no partner.
    pub left_events: u64,
    /// See `left_events`.
    pub right_events: u64,
    /// A few preceding similar events, the differences, a few following similar events.
    pub rows: Vec<Pair>,
    /// The number of rows left out.
    pub more: u64,
    /// The kinds of fleeting values that made the runs diverge here: `addresses`, `the clock`, `system
    /// numbers`, `random numbers`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<&'static str>,
    /// The call stack at its beginning, innermost function first, of the right run (of the left, if the right
    /// has none).
    pub stack: Vec<String>,
}

/// Limits of a summary's size.
#[derive(Clone, Copy, Debug)]
pub struct SummaryLimits {
    /// The maximum number of differences.
    pub rows: usize,
    /// The number of similar events before and after.
    pub context: usize,
}

impl Default for SummaryLimits {
    fn default() -> Self {
        SummaryLimits { rows: 12, context: 1 }
    }
}

/// Describes an event.
#[must_use]
pub fn entry(trace: &Trace, event: usize) -> Entry {
    let row = trace.row(event);
    let act = &trace.acts[row.act as usize];
    let object = |o: u32| (o != NONE).then(|| trace.object(o));
    Entry {
        event,
        thread: trace.threads[trace.thread_of(event)].stream,
        kind: act.kind.name(),
        function: trace.names.text(trace.methods[act.method as usize].name).to_owned(),
        file: trace.names.text(act.file).to_owned(),
        line: act.line,
        text: trace.text(event),
        name: trace.names.text(act.name).to_owned(),
        target: object(row.target),
        active: object(row.active),
        value: trace.value_text(event),
    }
}

/// Summarises a sequence.
#[must_use]
pub fn tell(
    comparison: &Comparison,
    left: &Trace,
    right: &Trace,
    number: usize,
    extent: SummaryLimits,
) -> SequenceSummary {
    let sequence = &comparison.sequences[number];
    let mut rows = Vec::new();
    let similar = |l: usize| Pair {
        left: Some(entry(left, l)),
        right: Some(entry(right, comparison.matching.right_of[l] as usize)),
        same: true,
        expected: false,
    };
    let before = sequence.left.start.saturating_sub(extent.context)..sequence.left.start;
    rows.extend(before.filter(|l| in_order(comparison, sequence, *l)).map(similar));
    let pairs = align_unmatched(comparison, sequence, left, right, extent.rows);
    for (l, r) in &pairs {
        rows.push(Pair {
            left: l.map(|e| entry(left, e)),
            right: r.map(|e| entry(right, e)),
            same: false,
            expected: false,
        });
    }
    let shown = |side: fn(&(Option<usize>, Option<usize>)) -> bool| pairs.iter().filter(|p| side(p)).count();
    let more = (sequence.left_count - shown(|p| p.0.is_some()) as u64)
        + (sequence.right_count - shown(|p| p.1.is_some()) as u64);
    let after = sequence.left.end..(sequence.left.end + extent.context).min(left.len());
    rows.extend(after.filter(|l| in_order(comparison, sequence, *l)).map(similar));
    let stack = match (sequence.right_count, sequence.left_count) {
        (0, _) => stack(left, alone(comparison, sequence).0.next()),
        _ => stack(right, alone(comparison, sequence).1.next()),
    };
    SequenceSummary {
        number,
        change: sequence.change().name(),
        left_events: sequence.left_count,
        right_events: sequence.right_count,
        rows,
        more,
        depends_on: fleeting::words(filter::depends_on(comparison, left, right, number)),
        stack,
    }
}

fn in_order(comparison: &Comparison, sequence: &Sequence, l: usize) -> bool {
    let partner = comparison.matching.right_of[l];
    let reach = 1 << 16;
    partner != NONE
        && (partner as usize).abs_diff(sequence.right.start) < reach
        && ((partner as usize) < sequence.right.start) == (l < sequence.left.start)
}

/// Puts events without a partner next to those of the other run that access the same field in the same
/// manner, or call the same function.
fn align_unmatched(
    comparison: &Comparison,
    sequence: &Sequence,
    left: &Trace,
    right: &Trace,
    most: usize,
) -> Vec<(Option<usize>, Option<usize>)> {
    let (l, r) = alone(comparison, sequence);
    let (l, r): (Vec<usize>, Vec<usize>) = (l.take(most).collect(), r.take(most).collect());
    let hashes =
        |trace: &Trace, events: &[usize]| -> Vec<u64> { events.iter().map(|e| trace.act(*e).hash).collect() };
    let pairs = lcs::longest(&hashes(left, &l), &hashes(right, &r), &mut 0);
    let mut out = Vec::new();
    let (mut i, mut j) = (0, 0);
    for (a, b) in pairs.into_iter().chain([(l.len(), r.len())]) {
        out.extend(l[i..a].iter().map(|e| (Some(*e), None)));
        out.extend(r[j..b].iter().map(|e| (None, Some(*e))));
        if a < l.len() && b < r.len() {
            out.push((Some(l[a]), Some(r[b])));
        }
        (i, j) = (a + 1, b + 1);
    }
    out.truncate(most);
    out
}

/// The call stack at an event, innermost function first, derived from the preceding calls and returns.
#[must_use]
pub fn stack(trace: &Trace, event: Option<usize>) -> Vec<String> {
    /// The number of events that are scanned.
    const FAR: usize = 1 << 20;
    let Some(event) = event else { return Vec::new() };
    let first = trace.threads[trace.thread_of(event)].first;
    let method = |m: u32| trace.names.text(trace.methods[m as usize].name).to_owned();
    let mut stack = vec![method(trace.act(event).method)];
    let mut depth = 0u32;
    for e in (first.max(event.saturating_sub(FAR))..event).rev() {
        let act = trace.act(e);
        match act.kind.name() {
            "return" => depth += 1,
            "call" if depth > 0 => depth -= 1,
            "call" if trace.names.text(act.name) == stack[stack.len() - 1] => {
                if act.method == crate::trace_tables::EXTERNAL_METHOD {
                    break;
                }
                stack.push(method(act.method));
            }
            _ => {}
        }
        if stack.len() > 64 {
            break;
        }
    }
    stack
}
