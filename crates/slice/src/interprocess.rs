//! Bytes that one process of a recording passes to another.
//!
//! A slice ends at the calls that read input. Where another process of the recording wrote these bytes, to
//! the pipe or the file they were read from, slicing continues there: what one process
//! [received](Slicer::received), another one [sent](Slicer::sent), and the calls that sent it are criteria
//! of a slice of that process. What a program got as arguments or in its environment was
//! [given](crate::given) by the call that started it.
//!
//! Pipes, sockets and files have names in a recording: `pipe:[123]`, the [ends](Ends) of a connection, or a
//! path. Bytes of a file are matched by their offset. So are those of a pipe or a connection with one
//! writer, or with several that wrote one after the other. Where the output of several writers is
//! interleaved, the bytes that a call read must occur exactly once in the output of one writer. In all cases
//! the bytes must be equal: a file may have been overwritten in between. What cannot be matched is not
//! followed.

use crate::Result;
use crate::criterion::Criterion;
use crate::slice::{Dependence, NodeId, Origin, Slice};
use crate::slicer::Slicer;
use recording::event::source::{ARGV, ENVIRONMENT, FILE, PIPE, SOCKET, STDERR, STDIN, STDOUT};
use replay::effects::variable_address;
use replay::io::{IoEvent, Source};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

/// At most so many bytes of one source are followed.
const MOST: u64 = 1 << 16;

/// Bytes that a slice depends on and that its process read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// The channel that they came through.
    pub from: Channel,
    /// Their offsets in the channel.
    pub bytes: Range<u64>,
    /// Their values.
    pub text: Vec<u8>,
    /// All bytes that the reading calls read.
    pub around: Vec<u8>,
    /// The position of `text` in `around`.
    pub within: usize,
    /// One of the executions that read them, or that needed them.
    pub node: NodeId,
}

/// The part of what another process received that this process sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The calls that sent it.
    pub criteria: Vec<Criterion>,
    /// The bytes that these calls sent of what was received, in order.
    pub text: Vec<u8>,
}

/// How bytes get from one process to another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Channel {
    /// A file, by its absolute path.
    File(String),
    /// A pipe, by its name `pipe:[…]`.
    Pipe(String),
    /// One direction of a connection.
    Socket(Ends),
    /// The argument with this index.
    Argument(usize),
    /// The environment variable with this name.
    Variable(String),
}

/// Names of the two ends of a connection. A program that inherited a socket without addresses may not know
/// one of them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ends {
    from: Option<String>,
    to: Option<String>,
}

impl Ends {
    /// Parses what follows `socket:` in a name: `[5]`, `[5] LOCAL > PEER`.
    fn named(name: &str, out: bool) -> Ends {
        let (number, ends) = name.split_once(' ').unwrap_or((name, ""));
        let (local, peer) = match ends.split_once(" > ") {
            Some((local, peer)) => (local, Some(peer.to_owned())),
            None => (number, None),
        };
        let local = Some(local.to_owned());
        if out { Ends { from: local, to: peer } } else { Ends { from: peer, to: local } }
    }

    /// Whether both can be the same connection, as far as their ends are known.
    fn meet(&self, other: &Ends) -> bool {
        let equal = |a: &Option<String>, b: &Option<String>| Some(a.as_ref()? == b.as_ref()?);
        let ends = [equal(&self.from, &other.from), equal(&self.to, &other.to)];
        ends.contains(&Some(true)) && !ends.contains(&Some(false))
    }
}

impl Channel {
    /// The channel of a source, if another process may be at the other end.
    fn of(source: &Source, out: bool) -> Option<Channel> {
        match source.kind {
            ARGV => return Some(Channel::Argument(source.fd.max(0) as usize)),
            ENVIRONMENT => return Some(Channel::Variable(source.name.clone())),
            FILE | STDIN | PIPE | SOCKET | STDOUT | STDERR => {}
            _ => return None,
        }
        if let Some(name) = source.name.strip_prefix("socket:") {
            return Some(Channel::Socket(Ends::named(name, out)));
        }
        if source.name.starts_with("pipe:[") {
            return Some(Channel::Pipe(source.name.clone()));
        }
        source.name.starts_with('/').then(|| Channel::File(source.name.clone()))
    }

    /// Whether what is written to one can be read from the other.
    fn meets(&self, other: &Channel) -> bool {
        match (self, other) {
            (Channel::Socket(ends), Channel::Socket(others)) => ends.meet(others),
            _ => self == other,
        }
    }

    /// Each process counts positions in it separately, and bytes that were read are consumed.
    pub(crate) fn is_stream(&self) -> bool {
        match self {
            Channel::Pipe(_) | Channel::Socket(_) => true,
            Channel::File(_) | Channel::Argument(_) | Channel::Variable(_) => false,
        }
    }

    /// It is passed to a program when it starts.
    pub(crate) fn is_given(&self) -> bool {
        match self {
            Channel::Argument(_) | Channel::Variable(_) => true,
            Channel::File(_) | Channel::Pipe(_) | Channel::Socket(_) => false,
        }
    }
}

/// Bytes of a channel that were read, and a node that read them.
#[derive(Default)]
struct Taken {
    /// The needed bytes, by offset.
    text: BTreeMap<u64, u8>,
    around: BTreeMap<u64, u8>,
    node: NodeId,
}

impl Slicer<'_> {
    /// Bytes that a slice depends on and that came from files, pipes, sockets, arguments or the environment.
    /// Channels with too many such bytes are left out.
    ///
    /// # Errors
    /// If replay fails.
    pub fn received(&self, slice: &Slice) -> Result<Vec<Received>> {
        let mut all: BTreeMap<Channel, Taken> = BTreeMap::new();
        for stream in 0..self.process().streams.len() as u32 {
            let io = self.io(stream)?;
            let mut by_step: HashMap<u64, Vec<(&IoEvent, Channel)>> = HashMap::new();
            for event in io.events.iter().filter(|e| !e.out && !e.bytes.is_empty()) {
                let Some(channel) = Channel::of(&io.sources[event.source], false) else { continue };
                if channel.is_given() {
                    given(slice, event, &channel, &mut all);
                } else {
                    let step = event.instruction.saturating_sub(1);
                    by_step.entry(step).or_default().push((event, channel));
                }
            }
            for (node, taken) in slice.nodes.iter().enumerate() {
                let node = node as NodeId;
                let events = by_step.get(&taken.at.step).filter(|_| taken.at.stream == stream);
                for (event, channel) in events.into_iter().flatten() {
                    let is_asked = slice.criteria.contains(&Some(node));
                    for range in needed(slice, node, event, is_asked) {
                        take(&mut all, channel, event, range, node);
                    }
                }
            }
        }
        let mut received = Vec::new();
        for (from, taken) in all.into_iter().filter(|(_, taken)| taken.text.len() as u64 <= MOST) {
            let all_around = ranges(taken.around.keys().copied());
            for bytes in ranges(taken.text.keys().copied()) {
                let text = taken.text.range(bytes.clone()).map(|(_, byte)| *byte).collect();
                let wide = all_around
                    .iter()
                    .find(|range| range.start <= bytes.start && bytes.end <= range.end)
                    .unwrap_or(&bytes)
                    .clone();
                let within = (bytes.start - wide.start) as usize;
                let around = taken.around.range(wide).map(|(_, byte)| *byte).collect();
                received.push(Received { from: from.clone(), bytes, text, around, within, node: taken.node });
            }
        }
        Ok(received)
    }

    /// What the process wrote to a channel, or read from it, up to the first gap.
    ///
    /// # Errors
    /// If replay fails.
    pub fn text_of(&self, channel: &Channel, written: bool) -> Result<Vec<u8>> {
        let bytes = self.transferred(channel, written)?.map(|(_, bytes)| bytes).unwrap_or_default();
        let start = bytes.first_key_value().map_or(0, |(at, _)| *at);
        Ok((start..).zip(bytes).take_while(|(n, (at, _))| n == at).map(|(_, (_, byte))| byte).collect())
    }

    /// The pipes that the process read from.
    ///
    /// # Errors
    /// If replay fails.
    pub fn pipes_read(&self) -> Result<BTreeSet<Channel>> {
        let mut all = BTreeSet::new();
        for stream in 0..self.process().streams.len() as u32 {
            let io = self.io(stream)?;
            let sources = io.events.iter().filter(|e| !e.out).map(|e| &io.sources[e.source]);
            let channels = sources.filter_map(|source| Channel::of(source, false));
            all.extend(channels.filter(|c| matches!(c, Channel::Pipe(_))));
        }
        Ok(all)
    }

    /// The pipe that standard output or error goes to, if it is one.
    ///
    /// # Errors
    /// If replay fails.
    pub fn piped(&self, sink: &str) -> Result<Option<Channel>> {
        for stream in 0..self.process().streams.len() as u32 {
            let io = self.io(stream)?;
            let is_meant = |source: &&Source| {
                matches!(source.kind, STDOUT | STDERR) && recording::event::source::name(source.kind) == sink
            };
            let source = io.sources.iter().find(is_meant);
            if let Some(pipe @ Channel::Pipe(_)) = source.and_then(|source| Channel::of(source, true)) {
                return Ok(Some(pipe));
            }
        }
        Ok(None)
    }

    /// The part of what another process received that this process wrote; `None` if it wrote none of it.
    /// `before`: how many bytes other processes wrote to the pipe before, if that is known.
    ///
    /// # Errors
    /// If replay fails.
    pub fn sent(&self, received: &Received, before: Option<u64>) -> Result<Option<Sent>> {
        let Some((name, written)) = self.transferred(&received.from, true)? else { return Ok(None) };
        let is_at = |start: u64, text: &[u8]| {
            !text.is_empty() && (start..).zip(text).all(|(at, byte)| written.get(&at) == Some(byte))
        };
        let (start, text) = match (received.from.is_stream(), before) {
            (true, Some(before)) => {
                let end = before + written.len() as u64;
                let (from, to) = (received.bytes.start.max(before), received.bytes.end.min(end));
                if from >= to {
                    return Ok(None);
                }
                let skipped = (from - received.bytes.start) as usize;
                // A forked process continues the offsets of its parent.
                let first = written.first_key_value().map_or(0, |(at, _)| *at);
                (first + (from - before), &received.text[skipped..skipped + (to - from) as usize])
            }
            (true, None) => {
                let mut places = written.keys().copied().filter(|start| is_at(*start, &received.around));
                let (Some(start), None) = (places.next(), places.next()) else { return Ok(None) };
                (start + received.within as u64, &received.text[..])
            }
            (false, _) => (received.bytes.start, &received.text[..]),
        };
        if !is_at(start, text) {
            return Ok(None);
        }
        let criteria = self.output_criteria(&name, start..start + text.len() as u64)?;
        Ok((!criteria.is_empty()).then(|| Sent { criteria, text: text.to_vec() }))
    }

    /// All that the process wrote to a channel, or read from it, by offset, and its name for the channel.
    /// `None` if several connections match.
    fn transferred(&self, channel: &Channel, written: bool) -> Result<Option<(String, BTreeMap<u64, u8>)>> {
        let (mut name, mut bytes): (Option<String>, _) = (None, BTreeMap::new());
        for stream in 0..self.process().streams.len() as u32 {
            let io = self.io(stream)?;
            // The parent wrote what was written before a fork.
            let own = if written { self.shared_steps(stream)?.unwrap_or(0) } else { 0 };
            for event in io.events.iter().filter(|e| e.out == written && e.instruction >= own) {
                let source = &io.sources[event.source];
                if Channel::of(source, written).is_some_and(|of| of.meets(channel)) {
                    if name.as_ref().is_some_and(|known| *known != source.name) {
                        return Ok(None);
                    }
                    name = Some(source.name.clone());
                    bytes.extend((event.offset..).zip(event.bytes.iter().copied()));
                }
            }
        }
        Ok(name.map(|name| (name, bytes)))
    }
}

/// The offset in a pipe at which each of several writers began, if they wrote one after the other: what was
/// read is the concatenation of what they wrote, in some order. Bytes at the end may not have been read.
#[must_use]
pub fn concatenation_offsets(read: &[u8], written: &[Vec<u8>]) -> Vec<Option<u64>> {
    let mut starts = vec![None; written.len()];
    let mut at = 0;
    loop {
        let rest = &read[at..];
        let fits = |text: &[u8]| !text.is_empty() && (rest.starts_with(text) || text.starts_with(rest));
        let open = (0..written.len()).filter(|n| starts[*n].is_none() && !rest.is_empty());
        // The first one of greatest length.
        let next = open.filter(|n| fits(&written[*n])).rev().max_by_key(|n| written[*n].len());
        let Some(next) = next else { return starts };
        starts[next] = Some(at as u64);
        at = (at + written[next].len()).min(read.len());
    }
}

/// Arguments and variables that contain leaves of a slice, or that a call looked up.
fn given(slice: &Slice, event: &IoEvent, channel: &Channel, all: &mut BTreeMap<Channel, Taken>) {
    if let Channel::Variable(name) = channel {
        let state = variable_address(name.as_bytes());
        if let Some((_, node)) = slice.initial_states.iter().find(|(address, _)| *address == state) {
            take(all, channel, event, Part { start: 0, end: event.bytes.len() as u64 }, *node);
        }
    }
    for leaf in &slice.leaves {
        let (Origin::Outside { address, len, .. } | Origin::Unwritten { address, len, .. }) = leaf.origin
        else {
            continue;
        };
        if let Some(mut range) = overlap(event, address, len) {
            // A variable is taken as a whole.
            if let Channel::Variable(_) = channel {
                range = Part { start: 0, end: event.bytes.len() as u64 };
            }
            take(all, channel, event, range, leaf.needed_by);
        }
    }
}

/// The bytes of an event, relative to its first, that were needed from the reading call.
fn needed(slice: &Slice, node: NodeId, event: &IoEvent, is_asked: bool) -> BTreeSet<Part> {
    let whole = Part { start: 0, end: event.bytes.len() as u64 };
    if is_asked {
        return BTreeSet::from([whole]);
    }
    let in_memory = event.address != 0;
    slice
        .needed_by(node)
        .filter_map(|(_, how)| match how {
            Dependence::Memory { address, len } | Dependence::Thread { address, len } if in_memory => {
                overlap(event, address, len)
            }
            Dependence::Memory { .. } | Dependence::Thread { .. } => Some(whole),
            // A returned character counts; the number of bytes read does not.
            Dependence::Register(_) | Dependence::Return(_) => (!in_memory).then_some(whole),
            _ => None,
        })
        .collect()
}

/// A range of bytes of an event, relative to its first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Part {
    start: u64,
    end: u64,
}

fn overlap(event: &IoEvent, address: u64, len: u64) -> Option<Part> {
    let end = event.address.checked_add(event.bytes.len() as u64)?;
    let (from, to) = (address.max(event.address), address.saturating_add(len).min(end));
    (event.address != 0 && from < to).then(|| Part { start: from - event.address, end: to - event.address })
}

fn take(all: &mut BTreeMap<Channel, Taken>, channel: &Channel, event: &IoEvent, range: Part, node: NodeId) {
    let taken = all.entry(channel.clone()).or_default();
    taken.node = node;
    let bytes = || (event.offset..).zip(event.bytes.iter().copied());
    taken.text.extend(bytes().skip(range.start as usize).take((range.end - range.start) as usize));
    taken.around.extend(bytes());
}

/// Groups sorted numbers into maximal ranges.
fn ranges(numbers: impl Iterator<Item = u64>) -> Vec<Range<u64>> {
    let mut all: Vec<Range<u64>> = Vec::new();
    for number in numbers {
        match all.last_mut() {
            Some(last) if last.end == number => last.end += 1,
            _ => all.push(number..number + 1),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writers_one_after_the_other_are_put_in_order() {
        let order = |read: &str, written: &[&str]| {
            concatenation_offsets(
                read.as_bytes(),
                &written.iter().map(|text| text.as_bytes().to_vec()).collect::<Vec<_>>(),
            )
        };
        assert_eq!(order("ab12cd", &["cd", "ab", "12"]), [Some(4), Some(0), Some(2)]);
        assert_eq!(order("aab", &["a", "ab"]), [Some(0), Some(1)], "the longest does not fit first");
        assert_eq!(order("aba", &["a", "ab"]), [Some(2), Some(0)]);
        assert_eq!(order("xyz", &["xyz", ""]), [Some(0), None]);
        assert_eq!(order("xyzz", &["xy", "zzzz"]), [Some(0), Some(2)], "the reader did not wait for all");
        assert_eq!(order("x1y2", &["xy", "12"]), [None, None], "they took turns");
    }

    #[test]
    fn both_ends_name_a_connection_alike() {
        let ends = |name: &str, out: bool| Ends::named(name, out);
        let client = "[7] 127.0.0.1:4000 > 127.0.0.1:80";
        let server = "[9] 127.0.0.1:80 > 127.0.0.1:4000";
        assert!(ends(client, true).meet(&ends(server, false)));
        assert!(!ends(client, true).meet(&ends(server, true)), "the other direction");
        assert!(!ends(client, true).meet(&ends("[8] 127.0.0.1:80 > 127.0.0.1:4001", false)));
        // In a socket pair, a program that inherited one end knows only that end.
        assert!(ends("[5] [5] > [6]", true).meet(&ends("[6]", false)));
        assert!(ends("[5]", true).meet(&ends("[6] [6] > [5]", false)));
        assert!(!ends("[5]", true).meet(&ends("[6]", false)), "nothing is known");
    }

    #[test]
    fn ranges_have_no_gaps() {
        assert_eq!(ranges([].into_iter()), []);
        assert_eq!(ranges([1, 2, 3, 7, 9, 10].into_iter()), [1..4, 7..8, 9..11]);
    }
}
