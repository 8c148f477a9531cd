//! Which processes of a recording wrote what one of them read.

use crate::Result;
use crate::criterion::Criterion;
use crate::interprocess::{Channel, Received, Sent, concatenation_offsets};
use crate::slicer::{Slicer, SlicerOptions};
use recording::Recording;
use recording::argument::Argument;
use replay::process::{LoadedProcess, Options};
use std::collections::BTreeMap;

/// Maximum number of characters of a text in [`Writer::words`].
const SHOWN: usize = 40;

/// A process that wrote what another one read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Writer {
    /// The calls that wrote it.
    pub criteria: Vec<Criterion>,
    /// What it wrote, and to which channel.
    pub wrote: Vec<(Channel, Vec<u8>)>,
}

impl Writer {
    /// Describes what it wrote. `short` abbreviates paths.
    #[must_use]
    pub fn words(&self, short: impl Fn(&str) -> String) -> String {
        let mut by_channel: BTreeMap<&Channel, Vec<&[u8]>> = BTreeMap::new();
        for (channel, text) in &self.wrote {
            by_channel.entry(channel).or_default().push(text);
        }
        let one = |(channel, texts): (&Channel, Vec<&[u8]>)| {
            let first = String::from_utf8_lossy(texts[0]);
            let cut = first.char_indices().nth(SHOWN);
            let dots = if cut.is_some() || texts.len() > 1 { "..." } else { "" };
            let first = &first[..cut.map_or(first.len(), |(end, _)| end)];
            let text = format!("{}{dots}", replay::vars::quoted(first));
            match channel {
                Channel::Pipe(_) => format!("{text} in the pipe"),
                Channel::File(path) => format!("{text} in {}", short(path)),
                Channel::Socket(_) => format!("{text} in the connection"),
                Channel::Argument(number) => format!("{text}, argument {number}"),
                Channel::Variable(_) => format!("{text} in the environment"),
            }
        };
        by_channel.into_iter().map(one).collect::<Vec<_>>().join(" and ")
    }

    /// Adds what another one wrote.
    pub fn join(&mut self, other: Writer) {
        self.criteria.extend(other.criteria);
        self.wrote.extend(other.wrote);
    }
}

/// What a process wrote to the channels of what was received.
struct Candidate {
    process: usize,
    written: Vec<Option<Vec<u8>>>,
}

/// The processes that sent what another one, `reader`, received, by their index in the recording.
///
/// # Errors
/// If a process cannot be loaded or replayed.
pub fn writers(
    recording: &Recording,
    reader: usize,
    received: &[Received],
    options: &Options,
    slicing: SlicerOptions,
) -> Result<BTreeMap<usize, Writer>> {
    let mut all: BTreeMap<usize, Writer> = BTreeMap::new();
    if received.is_empty() || recording.processes.len() < 2 {
        return Ok(all);
    }
    let load = |process: usize| LoadedProcess::load(recording, &recording.processes[process], options);
    let mut candidates = Vec::new();
    for process in (0..recording.processes.len()).filter(|process| *process != reader) {
        let loaded = load(process)?;
        let slicer = Slicer::new(&loaded, slicing);
        let mut written = Vec::new();
        for item in received {
            written.push(match item.from.is_given() {
                true => (start_of(recording, process, reader).is_some()).then(Vec::new),
                false => Some(slicer.text_of(&item.from, true)?).filter(|text| !text.is_empty()),
            });
        }
        if written.iter().any(Option::is_some) {
            candidates.push(Candidate { process, written });
        }
    }
    if candidates.is_empty() {
        return Ok(all);
    }
    let starts = starts(&Slicer::new(&load(reader)?, slicing), received, &candidates)?;
    let mut found = vec![false; received.len()];
    for in_turns in [false, true] {
        let known = found.clone();
        // The last process that wrote it; for a pipe, other processes may have written the rest.
        for (nth, Candidate { process, written }) in candidates.iter().enumerate().rev() {
            let wanted = |n: &usize| {
                let is_shared = received[*n].from.is_stream() && !in_turns;
                written[*n].is_some() && !known[*n] && (is_shared || !found[*n])
            };
            let wanted: Vec<usize> = (0..received.len()).filter(wanted).collect();
            if wanted.is_empty() {
                continue;
            }
            let loaded = load(*process)?;
            let slicer = Slicer::new(&loaded, slicing);
            for n in wanted {
                let sent = match start_of(recording, *process, reader).filter(|_| received[n].from.is_given())
                {
                    Some(start) => {
                        let criteria = match start {
                            Start::Executed => slicer.executed_with(&received[n])?,
                            Start::Child(arguments) => slicer.started_with(&received[n], arguments)?,
                        };
                        (!criteria.is_empty()).then(|| Sent { criteria, text: received[n].text.clone() })
                    }
                    None => slicer.sent(&received[n], starts[n][nth].filter(|_| !in_turns))?,
                };
                if let Some(sent) = sent {
                    found[n] = true;
                    let writer = all.entry(*process).or_default();
                    writer.criteria.extend(sent.criteria);
                    writer.wrote.push((received[n].from.clone(), sent.text));
                }
            }
        }
    }
    Ok(all)
}

/// How a process started the program of another one.
enum Start<'r> {
    /// By replacing its own program.
    Executed,
    /// In a child process, with these arguments.
    Child(&'r [Argument]),
}

/// How this process started the program of `reader`, if it did.
fn start_of(recording: &Recording, process: usize, reader: usize) -> Option<Start<'_>> {
    let of = |process: usize| &recording.processes[process].info;
    let is_before =
        |process: usize| of(process).pid == of(reader).pid && of(process).image + 1 == of(reader).image;
    if is_before(process) {
        return Some(Start::Executed);
    }
    let is_parent = of(process).pid == of(reader).parent && of(reader).forked_from.is_none();
    let is_child = is_parent && !(0..recording.processes.len()).any(is_before);
    is_child.then(|| Start::Child(&of(reader).arguments))
}

/// The offsets in the channels at which each candidate began to write.
fn starts(
    reader: &Slicer<'_>,
    received: &[Received],
    candidates: &[Candidate],
) -> Result<Vec<Vec<Option<u64>>>> {
    let mut all = Vec::new();
    for (n, item) in received.iter().enumerate() {
        let read = reader.text_of(&item.from, false)?;
        let written: Vec<Vec<u8>> =
            candidates.iter().map(|c| c.written[n].clone().unwrap_or_default()).collect();
        all.push(concatenation_offsets(&read, &written));
    }
    Ok(all)
}
