//! Determines which call of which process wrote a byte of the test's output.
//!
//! The output of a test command consists of the writes of several processes, sequential or interleaved, mixed
//! with bytes of programs that were not recorded. No recording contains the offset of a write in the whole
//! output, so the output is reconstructed: each process has its writes in order, and at every offset the
//! process whose next writes agree longest with the output is assumed to be the writer. Writes through the C
//! library's buffer and direct writes form separate lists, since they overtake each other.

use super::ends::{ProcessEnd, call_at, callee_name};
use program::inst::Inst;
use recording::event::source;
use replay::io::IoEvent;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

/// An accidental agreement shorter than this that ends in the middle of a write does not count.
const TRUSTED: usize = 64;

/// A destination of the program's output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Sink {
    Stdout,
    Stderr,
    File(String),
}

impl Sink {
    pub fn name(&self) -> &str {
        match self {
            Sink::Stdout => "stdout",
            Sink::Stderr => "stderr",
            Sink::File(path) => path,
        }
    }
}

/// A write of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Write {
    /// Index in the list of processes.
    pub process: usize,
    pub stream: usize,
    /// Index in the stream's events.
    pub event: usize,
}

impl Write {
    pub fn event<'e>(&self, ends: &'e [ProcessEnd]) -> &'e IoEvent {
        &ends[self.process].streams[self.stream].io.events[self.event]
    }
}

/// The bytes of the whole output that a write produced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub write: Write,
    /// Offset of its first byte in the write.
    pub from: usize,
    /// Its range in the whole output.
    pub at: Range<usize>,
}

/// The write that produced a byte, and the offset of the byte in it.
pub(super) fn find(pieces: &[Piece], offset: usize) -> Option<(Write, usize)> {
    // Later writes to a file replace earlier ones.
    let piece = pieces.iter().rev().find(|p| p.at.contains(&offset))?;
    Some((piece.write, piece.from + offset - piece.at.start))
}

/// The writes of all processes to a sink, in each process's order.
fn writes(ends: &[ProcessEnd], sink: &Sink) -> Vec<Vec<Write>> {
    let wanted = match sink {
        Sink::Stdout => source::STDOUT,
        Sink::Stderr => source::STDERR,
        Sink::File(_) => source::FILE,
    };
    let sources = || ends.iter().flat_map(|p| &p.streams).flat_map(|s| &s.io.sources);
    let read: BTreeSet<&str> = ends
        .iter()
        .flat_map(|p| &p.streams)
        .flat_map(|s| s.io.events.iter().filter(|e| !e.out).filter_map(|e| s.io.sources.get(e.source)))
        .map(|s| s.name.as_str())
        .collect();
    // Another descriptor of the same pipe is the same sink (`2>&1`). Bytes that a recorded process reads do
    // not reach the end of the pipeline.
    let names: BTreeSet<&str> = match sink {
        Sink::File(_) => BTreeSet::new(),
        _ => sources().filter(|s| s.kind == wanted && !s.name.is_empty()).map(|s| &*s.name).collect(),
    };
    let matches = |kind: u8, name: &str| match sink {
        Sink::File(path) => !name.is_empty() && Path::new(name).ends_with(path.trim_start_matches("./")),
        _ => (kind == wanted || names.contains(name)) && !(name.starts_with("pipe:") && read.contains(name)),
    };
    let mut all = Vec::new();
    for (process, end) in ends.iter().enumerate() {
        let mut direct: BTreeMap<(u64, usize, usize), Write> = BTreeMap::new();
        let mut buffered = BTreeMap::new();
        for (stream, s) in end.streams.iter().enumerate() {
            for (event, e) in s.io.events.iter().enumerate() {
                let inherited = s.inherited > 0 && e.instruction <= s.inherited;
                let to = s.io.sources.get(e.source);
                if !e.out || inherited || !to.is_some_and(|x| matches(x.kind, &x.name)) {
                    continue;
                }
                let order = (e.position.seq.map_or(0, |s| s + 1), stream, event);
                let list = if is_direct(end, e) { &mut direct } else { &mut buffered };
                list.insert(order, Write { process, stream, event });
            }
        }
        all.extend([buffered, direct].map(|l| l.into_values().collect::<Vec<_>>()));
    }
    all.retain(|l| !l.is_empty());
    all
}

/// Whether a write bypassed the C library's buffers.
fn is_direct(process: &ProcessEnd, e: &IoEvent) -> bool {
    let image = &process.loaded.image;
    let module = image.module(e.position.module);
    let Some((f, index)) = module.function_at(e.position.site) else { return false };
    match &module.functions[f].code[index] {
        Inst::Call(call) => matches!(
            callee_name(image, e.position.module, call).as_str(),
            "write" | "writev" | "pwrite" | "pwrite64" | "pwritev" | "send" | "sendto" | "sendmsg"
        ),
        _ => false,
    }
}

/// Splits the output into the writes that produced it. Bytes that no recorded process wrote are in no piece.
pub(super) fn pieces(ends: &[ProcessEnd], sink: &Sink, output: &[u8]) -> Vec<Piece> {
    let lists = writes(ends, sink);
    if let Sink::File(_) = sink {
        return lists
            .into_iter()
            .flatten()
            .map(|write| {
                let e = write.event(ends);
                let start = e.offset as usize;
                Piece { write, from: 0, at: start..start.saturating_add(e.length as usize) }
            })
            .collect();
    }
    let texts: Vec<Vec<&[u8]>> =
        lists.iter().map(|l| l.iter().map(|w| &w.event(ends).bytes[..]).collect()).collect();
    weave(&texts, output)
        .into_iter()
        .map(|(list, number, from, at)| Piece { write: lists[list][number], from, at })
        .collect()
}

/// The output of a process to a sink, buffered writes first, and its pieces.
pub(super) fn own_output(ends: &[ProcessEnd], process: usize, sink: &Sink) -> (Vec<u8>, Vec<Piece>) {
    let mut output = Vec::new();
    let mut pieces = Vec::new();
    for write in writes(ends, sink).into_iter().flatten().filter(|w| w.process == process) {
        let start = output.len();
        output.extend_from_slice(&write.event(ends).bytes);
        pieces.push(Piece { write, from: 0, at: start..output.len() });
    }
    (output, pieces)
}

/// Finds the lists' texts in the output: list, index in it, offset of the first byte in the text, and range
/// in the output.
fn weave(lists: &[Vec<&[u8]>], output: &[u8]) -> Vec<(usize, usize, usize, Range<usize>)> {
    let mut next = vec![(0, 0); lists.len()];
    let mut found = Vec::new();
    let mut at = 0;
    while at < output.len() {
        // Of equal ones the last: in a pipeline that is the last writer.
        let best = (0..lists.len())
            .map(|l| (agreement(&lists[l], next[l], &output[at..]), l))
            .max()
            .filter(|(length, _)| *length > 0);
        let Some((mut length, list)) = best else {
            at += 1;
            continue;
        };
        let (number, from) = &mut next[list];
        while length > 0 {
            let left = lists[list][*number].len() - *from;
            let n = left.min(length);
            if n > 0 {
                found.push((list, *number, *from, at..at + n));
            }
            at += n;
            length -= n;
            *from += n;
            if n == left {
                (*number, *from) = (*number + 1, 0);
            }
        }
    }
    found
}

/// The number of bytes for which the output agrees with the list from `next`. Only whole texts count, unless
/// the output ends or at least [`TRUSTED`] bytes of a text agree.
fn agreement(list: &[&[u8]], next: (usize, usize), output: &[u8]) -> usize {
    let (mut whole, mut at) = (0, 0);
    let mut from = next.1;
    for text in list.get(next.0..).unwrap_or_default() {
        let text = &text[from..];
        from = 0;
        let same = text.iter().zip(&output[at..]).take_while(|(a, b)| a == b).count();
        at += same;
        if same < text.len() {
            return if at == output.len() || same >= TRUSTED { at } else { whole };
        }
        whole = at;
    }
    whole
}

/// Whether the process ended inside a call of one of these functions.
pub(super) fn ends_in(process: &ProcessEnd, stream: usize, names: &[&str]) -> Option<usize> {
    let frames = &process.streams.get(stream)?.frames;
    frames
        .iter()
        .rposition(|f| call_at(&process.loaded.image, f).is_some_and(|(n, _)| names.contains(&n.as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn woven(lists: &[Vec<&str>], output: &str) -> Vec<(usize, usize, usize, Range<usize>)> {
        let lists: Vec<Vec<&[u8]>> = lists.iter().map(|l| l.iter().map(|t| t.as_bytes()).collect()).collect();
        weave(&lists, output.as_bytes())
    }

    #[test]
    fn one_writer_is_found_between_foreign_bytes() {
        let found = woven(&[vec!["hello ", "world\n"]], "+ echo\nhello world\ndone\n");
        assert_eq!(found, [(0, 0, 0, 7..13), (0, 1, 0, 13..19)]);
    }

    #[test]
    fn the_longest_agreement_wins() {
        let found = woven(&[vec!["a\n", "x\n"], vec!["a\n", "b\n"]], "a\nb\na\nx\n");
        assert_eq!(found.iter().map(|f| f.0).collect::<Vec<_>>(), [1, 1, 0, 0]);
    }

    #[test]
    fn what_agrees_by_chance_behind_long_agreement_is_of_another() {
        let line = "x".repeat(TRUSTED);
        let found = woven(&[vec![&line, "<one>"], vec!["<two>"]], &format!("{line}<two><one>"));
        assert_eq!(found.iter().map(|f| (f.0, f.1)).collect::<Vec<_>>(), [(0, 0), (1, 0), (0, 1)]);
        // A pipe may accept a long text in two parts.
        let long = "y".repeat(TRUSTED) + "z";
        let found = woven(&[vec![&long], vec!["<two>"]], &format!("{}<two>z", "y".repeat(TRUSTED)));
        assert_eq!(found.iter().map(|f| (f.0, f.1)).collect::<Vec<_>>(), [(0, 0), (1, 0), (0, 0)]);
    }

    #[test]
    fn an_output_cut_short_still_belongs_to_its_write() {
        assert_eq!(woven(&[vec!["hello"]], "hel"), [(0, 0, 0, 0..3)]);
        assert_eq!(woven(&[vec!["hello"]], "help"), []);
    }

    proptest! {
        /// Distinct texts in any interleaving are all found at their offsets.
        #[test]
        fn every_write_is_found_in_any_mix(order in proptest::collection::vec(0..3usize, 1..40)) {
            let mut lists = vec![Vec::new(); 3];
            let mut output = Vec::new();
            let mut expected = Vec::new();
            for l in order {
                let text = format!("<{l}:{}>", lists[l].len());
                expected.push((l, lists[l].len(), 0, output.len()..output.len() + text.len()));
                output.extend_from_slice(text.as_bytes());
                lists[l].push(text);
            }
            let lists: Vec<Vec<&[u8]>> =
                lists.iter().map(|l| l.iter().map(String::as_bytes).collect()).collect();
            prop_assert_eq!(weave(&lists, &output), expected);
        }
    }
}
