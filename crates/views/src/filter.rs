//! Differences that do not matter to whoever asks.

use crate::compare::{Comparison, Sequence};
use crate::trace::{Kind, NONE, Trace};
use std::collections::HashSet;
use std::str::FromStr;

/// What is passed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ignore {
    /// Everything in a function.
    Function(String),
    /// Everything in a source file, named by the end of its path.
    File(String),
    /// A field or global variable: `n`, `list.n`, `counter`.
    Variable(String),
    /// A thread, by its number in the recording.
    Thread(u32),
}

impl FromStr for Ignore {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Ignore, String> {
        let shape = || {
            format!("{text:?} is not of the form function:NAME, file:NAME, variable:NAME or thread:NUMBER")
        };
        let (kind, name) = text.split_once(':').filter(|(_, name)| !name.is_empty()).ok_or_else(shape)?;
        match kind {
            "function" => Ok(Ignore::Function(name.to_owned())),
            "file" => Ok(Ignore::File(name.to_owned())),
            "variable" => Ok(Ignore::Variable(name.to_owned())),
            "thread" => name.parse().map(Ignore::Thread).map_err(|_| shape()),
            _ => Err(shape()),
        }
    }
}

impl Ignore {
    /// Whether an event is of this sort.
    #[must_use]
    pub fn matches(&self, trace: &Trace, event: usize) -> bool {
        let row = trace.row(event);
        let act = &trace.acts[row.act as usize];
        let name = trace.names.text(act.name);
        match self {
            Ignore::Function(wanted) => {
                let method = trace.names.text(trace.methods[act.method as usize].name);
                method == wanted || (act.arguments.is_empty() || act.kind.name() == "call") && name == wanted
            }
            Ignore::File(wanted) => std::path::Path::new(trace.names.text(act.file)).ends_with(wanted),
            Ignore::Variable(wanted) => {
                let bare = name.split('[').next().unwrap_or(name);
                let owner = trace.names.text(act.owner);
                bare == wanted
                    || name == wanted
                    || wanted.strip_prefix(owner).and_then(|w| w.strip_prefix('.')) == Some(bare)
                    || (row.target != NONE && trace.object(row.target) == *wanted)
            }
            Ignore::Thread(stream) => trace.threads[trace.thread_of(event)].stream == *stream,
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

/// Sequences in which something is not ignored, in order.
#[must_use]
pub fn relevant(comparison: &Comparison, left: &Trace, right: &Trace, ignored: &[Ignore]) -> Vec<usize> {
    let matters = |trace: &Trace, event: usize| !ignored.iter().any(|i| i.matches(trace, event));
    let keep = |s: &&Sequence| {
        let (mut l, mut r) = alone(comparison, s);
        ignored.is_empty() || l.any(|e| matters(left, e)) || r.any(|e| matters(right, e))
    };
    comparison.sequences.iter().enumerate().filter(|(_, s)| keep(s)).map(|(n, _)| n).collect()
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
        assert_eq!("function:main".parse(), Ok(Ignore::Function("main".into())));
        assert_eq!("thread:3".parse(), Ok(Ignore::Thread(3)));
        for bad in ["", "main", "function:", "thread:x", "colour:red"] {
            assert!(bad.parse::<Ignore>().is_err(), "{bad}");
        }
    }
}
