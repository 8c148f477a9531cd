//! Which differences matter to whoever asks.

use crate::compare::{Comparison, Sequence};
use crate::fleeting::decisions::{Decision, around};
use crate::trace::{Kind, NONE, Trace};
use std::collections::HashSet;
use std::str::FromStr;

/// A sort of events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    /// Everything in a function.
    Function(String),
    /// Everything in a source file, named by the end of its path.
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
    /// Whether an event is of this sort.
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

/// The events of a sequence that have no partner: of the left, of the right run.
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

/// Which events count: those of calls that differ as they should never do.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// Not these.
    pub ignore: Vec<Which>,
    /// Only these, if there are any.
    pub only: Vec<Which>,
}

impl Choice {
    /// Whether an event counts.
    #[must_use]
    pub fn takes(&self, trace: &Trace, event: usize) -> bool {
        let any = |of: &[Which]| of.iter().any(|w| w.matches(trace, event));
        (self.only.is_empty() || any(&self.only)) && !any(&self.ignore) && !trace.is_meant(event)
    }
}

/// Sequences in which something counts, in order.
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

/// How many sequences differ only in calls that differ as they should.
#[must_use]
pub fn meant(comparison: &Comparison, left: &Trace, right: &Trace) -> usize {
    let is_meant = |s: &&Sequence| {
        let (mut l, mut r) = alone(comparison, s);
        l.all(|e| left.is_meant(e)) && r.all(|e| right.is_meant(e))
    };
    comparison.sequences.iter().filter(is_meant).count()
}

/// What of all that is other in every run made the runs part at a sequence, as
/// [`crate::fleeting::words`] tells; 0 if nothing of it did.
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

/// The same of one run: where the sequence begins in it, and with which event.
fn of_side(trace: &Trace, start: usize, first: Option<usize>, has_partner: &dyn Fn(usize) -> bool) -> u8 {
    let at = first.unwrap_or(start);
    // The runs parted right behind the decision, or at it, before: here nothing is in order.
    let parted = |d: &Decision| {
        let event = d.first as usize;
        (start..=at).contains(&event) || !has_partner(event)
    };
    let decided = around(&trace.decisions, at).filter(parted).fold(0, |sum, d| sum | d.parts);
    decided | first.map_or(0, |e| trace.says_fleeting(e))
}

/// The sequences from the end of the run backwards, beginning with the thread that failed.
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

/// The earliest sequence in which a value differs, of those given: something was
/// written, called, returned or allocated differently, or the same was read with
/// another value. That only one run reads something is no such thing by itself.
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
