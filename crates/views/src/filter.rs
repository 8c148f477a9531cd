//! Selects the differences that are relevant to a question.

use crate::compare::{Comparison, Sequence};
use crate::fleeting::decisions::{Decision, around};
use crate::trace::{Kind, NONE, Trace};
use std::collections::HashSet;
use std::str::FromStr;

/// A class of events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    /// All events in a function.
    Function(String),
    /// All events in a source file, given by a suffix of its path.
    File(String),
    /// A field or global variable: `n`, `list.n`, `counter`.
    Variable(String),
    /// A thread, by its number in the recording.
    Thread(u32),
}

impl FromStr for Which {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Which, String> {
        let shape = || {
            format!("{text:?} is not of the form function:NAME, file:NAME, variable:NAME or thread:NUMBER")
        };
        let (kind, name) = text.split_once(':').filter(|(_, name)| !name.is_empty()).ok_or_else(shape)?;
        match kind {
            "function" => Ok(Which::Function(name.to_owned())),
            "file" => Ok(Which::File(name.to_owned())),
            "variable" => Ok(Which::Variable(name.to_owned())),
            "thread" => name.parse().map(Which::Thread).map_err(|_| shape()),
            _ => Err(shape()),
        }
    }
}

impl Which {
    /// Whether an event is in this class.
    #[must_use]
    pub fn matches(&self, trace: &Trace, event: usize) -> bool {
        let row = trace.row(event);
        let act = &trace.acts[row.act as usize];
        let name = trace.names.text(act.name);
        match self {
            Which::Function(wanted) => {
                let method = trace.names.text(trace.methods[act.method as usize].name);
                method == wanted || (act.arguments.is_empty() || act.kind.name() == "call") && name == wanted
            }
            Which::File(wanted) => std::path::Path::new(trace.names.text(act.file)).ends_with(wanted),
            Which::Variable(wanted) => {
                let bare = name.split('[').next().unwrap_or(name);
                let owner = trace.names.text(act.owner);
                bare == wanted
                    || name == wanted
                    || wanted.strip_prefix(owner).and_then(|w| w.strip_prefix('.')) == Some(bare)
                    || (row.target != NONE && trace.object(row.target) == *wanted)
            }
            Which::Thread(stream) => trace.threads[trace.thread_of(event)].stream == *stream,
        }
    }
}

/// The events of a sequence without a partner: in the left and in the right run.
pub fn alone<'c>(
    comparison: &'c Comparison,
    sequence: &'c Sequence,
) -> (impl Iterator<Item = usize> + 'c, impl Iterator<Item = usize> + 'c) {
    let m = &comparison.matching;
    (
        sequence.left.clone().filter(|e| m.right_of[*e] == NONE),
        sequence.right.clone().filter(|e| m.left_of[*e] == NONE),
    )
}

/// Selects events. Events of calls whose change was intended are never selected.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// Events to exclude.
    pub ignore: Vec<Which>,
    /// If not empty, only these events are selected.
    pub only: Vec<Which>,
}

impl Choice {
    /// Whether an event is selected.
    #[must_use]
    pub fn takes(&self, trace: &Trace, event: usize) -> bool {
        let any = |of: &[Which]| of.iter().any(|w| w.matches(trace, event));
        (self.only.is_empty() || any(&self.only)) && !any(&self.ignore) && !trace.is_meant(event)
    }
}

/// The sequences with at least one selected event, in order.
#[must_use]
pub fn relevant(comparison: &Comparison, left: &Trace, right: &Trace, choice: &Choice) -> Vec<usize> {
    let keep = |s: &&Sequence| {
        let (mut l, mut r) = alone(comparison, s);
        let takes_all = choice.ignore.is_empty() && choice.only.is_empty();
        takes_all && left.meant.is_empty() && right.meant.is_empty()
            || l.any(|e| choice.takes(left, e))
            || r.any(|e| choice.takes(right, e))
    };
    comparison.sequences.iter().enumerate().filter(|(_, s)| keep(s)).map(|(n, _)| n).collect()
}

/// The number of sequences that differ only in calls whose change was intended.
#[must_use]
pub fn meant(comparison: &Comparison, left: &Trace, right: &Trace) -> usize {
    let is_meant = |s: &&Sequence| {
        let (mut l, mut r) = alone(comparison, s);
        l.all(|e| left.is_meant(e)) && r.all(|e| right.is_meant(e))
    };
    comparison.sequences.iter().filter(is_meant).count()
}

/// Which kinds of fleeting values made the runs diverge at a sequence, as bits for
/// [`crate::fleeting::words`]; 0 if none did.
#[must_use]
pub fn depends_on(comparison: &Comparison, left: &Trace, right: &Trace, number: usize) -> u8 {
    let sequence = &comparison.sequences[number];
    let m = &comparison.matching;
    let (mut l, mut r) = alone(comparison, sequence);
    let in_order = |l: u32| m.moved.binary_search(&l).is_err();
    let has_left = |e: usize| m.right_of.get(e).is_some_and(|p| *p != NONE && in_order(e as u32));
    let has_right = |e: usize| m.left_of.get(e).is_some_and(|p| *p != NONE && in_order(*p));
    of_side(left, sequence.left.start, l.next(), &has_left)
        | of_side(right, sequence.right.start, r.next(), &has_right)
}

/// The same for one run: from the start of the sequence in it and the first event without a partner.
fn of_side(trace: &Trace, start: usize, first: Option<usize>, has_partner: &dyn Fn(usize) -> bool) -> u8 {
    let at = first.unwrap_or(start);
    // The runs diverged at the decision: its first event is in the sequence, or has no partner in order.
    let parted = |d: &Decision| {
        let event = d.first as usize;
        (start..=at).contains(&event) || !has_partner(event)
    };
    let decided = around(&trace.decisions, at).filter(parted).fold(0, |sum, d| sum | d.parts);
    decided | first.map_or(0, |e| trace.fleeting_parts(e))
}

/// The sequences in reverse order, with those of the failed thread first.
#[must_use]
pub fn backwards(comparison: &Comparison, right: &Trace, shown: &[usize]) -> Vec<usize> {
    let failed = |pair: usize| {
        let thread = comparison.threads.get(pair).and_then(|p| p.1).and_then(|t| right.threads.get(t));
        let end = thread.and_then(|t| t.last.checked_sub(1)).filter(|e| *e < right.len());
        let text = end.and_then(|e| right.value_text(e)).unwrap_or_default();
        text.starts_with("signal") || text.starts_with("exit") && !text.starts_with("exit 0")
    };
    let mut out: Vec<usize> = shown.to_vec();
    out.sort_by_key(|n| {
        let pair = comparison.sequences[*n].pair;
        (!failed(pair), pair, std::cmp::Reverse(*n))
    });
    out
}

/// The earliest of the given sequences in which a value differs: something was written, called, returned or
/// allocated differently, or the same location was read with another value. A read in only one run does not
/// count by itself.
#[must_use]
pub fn first(comparison: &Comparison, left: &Trace, right: &Trace, shown: &[usize]) -> Option<usize> {
    let differs = |n: &&usize| {
        let (l, r) = alone(comparison, &comparison.sequences[**n]);
        let (l, r): (Vec<usize>, Vec<usize>) = (l.collect(), r.collect());
        let does = |trace: &Trace, e: &usize| trace.act(*e).kind != Kind::Get;
        let reads = |trace: &Trace, e: &usize| trace.act(*e).hash;
        let read: HashSet<u64> = l.iter().map(|e| reads(left, e)).collect();
        l.iter().any(|e| does(left, e)) || r.iter().any(|e| does(right, e) || read.contains(&reads(right, e)))
    };
    shown.iter().find(differs).or(shown.first()).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_kind_and_name() {
        assert_eq!("function:main".parse(), Ok(Which::Function("main".into())));
        assert_eq!("thread:3".parse(), Ok(Which::Thread(3)));
        for bad in ["", "main", "function:", "thread:x", "colour:red"] {
            assert!(bad.parse::<Which>().is_err(), "{bad}");
        }
    }
}
