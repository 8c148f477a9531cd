//! Finds the writer of a value: the store in another thread that a load read.
//!
//! A `Load` event of a process with several threads names the stream that wrote the value. Events of all
//! streams have numbers from one sequence, so a store after an event that is later than the load is excluded.
//! Of the others, the last one that wrote these bytes is chosen.

use crate::error::Result;
use crate::event_cursor::Stream;
use crate::image::Image;
use crate::machine::Machine;
use crate::memory::Memory;
use crate::observer::{Effect, EventContext, ExternalCall, Observer, View};
use recording::event::{Event, Position};
use std::collections::{BTreeMap, HashMap, HashSet};

/// A load that read what another stream wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// Number of the instruction in the reader's stream.
    pub instruction: u64,
    /// Registration index of the module.
    pub module: u32,
    /// The load instruction in that module.
    pub site: u32,
    /// First byte.
    pub address: u64,
    /// The bytes that the load returned.
    pub bytes: Vec<u8>,
    /// Number of the stream that wrote them, as the recorder saw it.
    pub writer: u32,
    /// Its number in the sequence.
    pub seq: u64,
}

/// The store that a load read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// Number of the writer's stream.
    pub stream: u32,
    /// Number of the instruction in the writer's stream.
    pub instruction: u64,
    /// Registration index of the module.
    pub module: u32,
    /// The instruction in that module; a call if the writer is an external function.
    pub site: u32,
    /// Sequence number of the last event before it.
    pub seq: u64,
    /// It wrote exactly these bytes; otherwise it is the last store there.
    pub same: bool,
}

/// The loads of a stream that read other streams' stores.
///
/// # Errors
/// As [`Machine::run`].
pub fn reads(image: &Image, stream: &Stream) -> Result<Vec<Read>> {
    let mut r = Reads::default();
    Machine::new(image, stream).run(&mut r, u64::MAX)?;
    Ok(r.0)
}

#[derive(Default)]
struct Reads(Vec<Read>);

impl Observer for Reads {
    const STEPS: bool = false;

    fn miss(&mut self, view: &View<'_>, address: u64, len: u32, position: Position, writer: Option<u32>) {
        if let (Some(writer), Some(seq)) = (writer, position.seq) {
            let mut bytes = vec![0; len as usize];
            view.memory.peek(address, &mut bytes);
            self.0.push(Read {
                instruction: view.count,
                module: view.code.module,
                site: view.site(),
                address,
                bytes,
                writer,
                seq,
            });
        }
    }
}

/// For each read of stream `reader` the store that it read, if one can be found. The recorder names the
/// stream whose shadow contained the value, which is a guess if several do (all shadows start with zeros): if
/// that stream never stored these bytes, the others are searched. Each stream is replayed at most twice.
///
/// # Errors
/// As [`Machine::run`].
pub fn writers(
    image: &Image,
    streams: &BTreeMap<u32, &Stream>,
    reader: u32,
    reads: &[Read],
) -> Result<Vec<Option<Write>>> {
    let mut found = vec![None; reads.len()];
    let mut by_writer: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (i, r) in reads.iter().enumerate() {
        by_writer.entry(r.writer).or_default().push(i);
    }
    for (writer, wanted) in by_writer {
        if let Some(stream) = streams.get(&writer) {
            search(image, (writer, stream), reads, &wanted, &mut found)?;
        }
    }
    let open: Vec<usize> =
        (0..reads.len()).filter(|i| !found[*i].as_ref().is_some_and(|w: &Write| w.same)).collect();
    if !open.is_empty() {
        for (number, stream) in streams {
            if *number != reader {
                let others: Vec<usize> =
                    open.iter().copied().filter(|i| reads[*i].writer != *number).collect();
                search(image, (*number, stream), reads, &others, &mut found)?;
            }
        }
    }
    Ok(found)
}

/// Improves the results by the stores of one stream.
fn search(
    image: &Image,
    (number, stream): (u32, &Stream),
    reads: &[Read],
    wanted: &[usize],
    found: &mut [Option<Write>],
) -> Result<()> {
    if wanted.is_empty() {
        return Ok(());
    }
    let mut watch = Watch { reads, stream: number, ..Watch::default() };
    for &i in wanted {
        let r = &reads[i];
        for line in lines(r.address, r.bytes.len() as u64) {
            watch.lines.entry(line).or_default().push(i);
        }
    }
    Machine::new(image, stream).run(&mut watch, u64::MAX)?;
    for (i, w) in watch.best {
        let better = found[i].as_ref().is_none_or(|old| (w.same, w.seq) > (old.same, old.seq));
        if better {
            found[i] = Some(w);
        }
    }
    Ok(())
}

/// Numbers of the 16-byte lines a range touches.
fn lines(address: u64, len: u64) -> impl Iterator<Item = u64> {
    let last = address.saturating_add(len.saturating_sub(1)) >> 4;
    address >> 4..=last
}

#[derive(Default)]
struct Watch<'r> {
    reads: &'r [Read],
    stream: u32,
    lines: HashMap<u64, Vec<usize>>,
    best: HashMap<usize, Write>,
    /// Sequence number of the last event that had one.
    seq: u64,
}

impl Watch<'_> {
    fn wrote(&mut self, view: &View<'_>, address: u64, len: u64) {
        // For a long range, iterating over the watched lines is cheaper.
        let mut hit: HashSet<usize> = HashSet::new();
        if len >> 4 > self.lines.len() as u64 {
            hit.extend(self.lines.values().flatten());
        } else {
            for line in lines(address, len) {
                hit.extend(self.lines.get(&line).into_iter().flatten());
            }
        }
        for i in hit {
            let r = &self.reads[i];
            let size = r.bytes.len() as u64;
            let overlaps =
                address < r.address.saturating_add(size) && r.address < address.saturating_add(len);
            if !overlaps || self.seq > r.seq {
                continue;
            }
            let same = holds(view.memory, r);
            let old = self.best.get(&i);
            if same || !old.is_some_and(|w| w.same) {
                let write = Write {
                    stream: self.stream,
                    instruction: view.count,
                    module: view.code.module,
                    site: view.site(),
                    seq: self.seq,
                    same,
                };
                self.best.insert(i, write);
            }
        }
    }
}

fn holds(memory: &Memory, r: &Read) -> bool {
    let mut now = vec![0; r.bytes.len()];
    memory.peek(r.address, &mut now);
    now == r.bytes
}

impl Observer for Watch<'_> {
    fn step(&mut self, view: &View<'_>, effect: Effect) {
        match effect {
            // Most stores affect no watched line.
            Effect::Store { address, len } | Effect::Update { address, len, stored: true }
                if lines(address, len.into()).any(|l| self.lines.contains_key(&l)) =>
            {
                self.wrote(view, address, len.into());
            }
            Effect::Copy { to, len, .. } | Effect::Fill { to, len } if len > 0 => self.wrote(view, to, len),
            _ => {}
        }
    }

    fn external(&mut self, view: &View<'_>, call: &ExternalCall<'_>) {
        for (address, len) in call.writes {
            self.wrote(view, *address, *len);
        }
    }

    fn event(&mut self, moment: &EventContext<'_>, position: Position, event: &Event<'_>) {
        if let Some(seq) = position.seq {
            self.seq = seq;
        }
        if let (Event::Patch { address, bytes }, Some(view)) = (event, &moment.view) {
            self.wrote(view, *address, bytes.len() as u64);
        }
    }
}
