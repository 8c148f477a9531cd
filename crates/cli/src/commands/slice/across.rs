//! Slices that go on in other processes of the recording: those that wrote what was read.

use super::{Answer, SliceArgs, failed, one};
use crate::failure::Failure;
use crate::{Session, opened, source};
use recording::Recording;
use replay::process::{LoadedProcess, Options};
use slice::handover::{Channel, Received, in_sequence};
use slice::{Criterion, Slice, Slicer, SlicerOptions};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes that go round in circles are followed no further than so many processes.
const MOST: usize = 16;

/// Characters that are shown of what was handed over.
const SHOWN: usize = 40;

/// A process that waits for its slice: what it wrote, and in words.
#[derive(Default)]
struct Asked {
    criteria: Vec<Criterion>,
    words: Vec<String>,
}

/// The slices of the processes that gave the first one what it read, nearest first.
pub fn follow(
    args: &SliceArgs,
    session: &Session,
    recording: &Recording,
    first: usize,
    slicer: &Slicer<'_>,
    slice: &Slice,
    stop: &AtomicBool,
) -> Result<Vec<Answer>, Failure> {
    let mut answers = Vec::new();
    if recording.processes.len() < 2 {
        return Ok(answers);
    }
    let mut done = vec![first];
    let mut received = slicer.received(slice).map_err(|e| failed(&e))?;
    let mut reader = first;
    let mut waiting: BTreeMap<usize, Asked> = BTreeMap::new();
    while answers.len() < MOST && !stop.load(Ordering::Relaxed) {
        for (writer, asked) in writers(recording, reader, &received)? {
            let known = waiting.entry(writer).or_default();
            let new: Vec<Criterion> =
                asked.criteria.into_iter().filter(|c| !known.criteria.contains(c)).collect();
            known.criteria.extend(new);
            known.words.extend(asked.words);
        }
        // Each process is asked once, the last started first: mostly bytes go from earlier to later.
        waiting.retain(|process, _| !done.contains(process));
        let Some((writer, asked)) = waiting.pop_last() else { break };
        done.push(writer);
        let loaded = load(recording, writer)?;
        let slicer = Slicer::new(&loaded, options());
        let program = source::short(&recording.processes[writer].info.executable);
        let question = format!("{}, from {program}", asked.words.join(" and "));
        let (answer, slice) = one(args, session, &slicer, &asked.criteria, question, stop)?;
        received = slicer.received(&slice).map_err(|e| failed(&e))?;
        reader = writer;
        answers.push(answer);
    }
    Ok(answers)
}

pub fn options() -> SlicerOptions {
    SlicerOptions { keep_timeline: true, ..SlicerOptions::default() }
}

pub fn load(recording: &Recording, process: usize) -> Result<LoadedProcess, Failure> {
    let loaded = LoadedProcess::load(recording, &recording.processes[process], &Options::default());
    loaded.map_err(|e| opened::cannot_load(&e))
}

/// Which processes sent what one of them received.
fn writers(
    recording: &Recording,
    reader: usize,
    received: &[Received],
) -> Result<BTreeMap<usize, Asked>, Failure> {
    let mut all: BTreeMap<usize, Asked> = BTreeMap::new();
    if received.is_empty() {
        return Ok(all);
    }
    // Which process wrote to which of the channels, and what.
    let mut candidates: Vec<(usize, Vec<Option<Vec<u8>>>)> = Vec::new();
    for process in (0..recording.processes.len()).filter(|process| *process != reader) {
        let is_before =
            recording.processes[process].info.pid == recording.processes[reader].info.pid && process < reader;
        let loaded = load(recording, process)?;
        let slicer = Slicer::new(&loaded, options());
        let mut writes = Vec::new();
        for item in received {
            writes.push(match item.from {
                Channel::Argument(_) => is_before.then(Vec::new),
                Channel::File(_) | Channel::Pipe(_) => {
                    let text = slicer.text_of(&item.from, true).map_err(|e| failed(&e))?;
                    (!text.is_empty()).then_some(text)
                }
            });
        }
        if writes.iter().any(Option::is_some) {
            candidates.push((process, writes));
        }
    }
    let starts = starts(recording, reader, received, &candidates)?;
    let mut found = vec![false; received.len()];
    for in_turns in [false, true] {
        let known = found.clone();
        // The last that wrote it; of a pipe, others may have written the rest.
        for (nth, (process, writes)) in candidates.iter().enumerate().rev() {
            let wanted = |n: &usize| {
                let is_shared = matches!(received[*n].from, Channel::Pipe(_)) && !in_turns;
                writes[*n].is_some() && !known[*n] && (is_shared || !found[*n])
            };
            let wanted: Vec<usize> = (0..received.len()).filter(wanted).collect();
            if wanted.is_empty() {
                continue;
            }
            let loaded = load(recording, *process)?;
            let slicer = Slicer::new(&loaded, options());
            for n in wanted {
                let item = &received[n];
                let start = starts[n][nth].filter(|_| !in_turns);
                let criteria = slicer.sent(item, start).map_err(|e| failed(&e))?;
                if !criteria.is_empty() {
                    found[n] = true;
                    let asked = all.entry(*process).or_default();
                    asked.criteria.extend(criteria);
                    asked.words.push(words(item));
                }
            }
        }
    }
    Ok(all)
}

/// Where in the pipes each of the candidates began to write.
fn starts(
    recording: &Recording,
    reader: usize,
    received: &[Received],
    candidates: &[(usize, Vec<Option<Vec<u8>>>)],
) -> Result<Vec<Vec<Option<u64>>>, Failure> {
    let loaded = load(recording, reader)?;
    let slicer = Slicer::new(&loaded, options());
    let mut all = Vec::new();
    for (n, item) in received.iter().enumerate() {
        let read = slicer.text_of(&item.from, false).map_err(|e| failed(&e))?;
        let written: Vec<Vec<u8>> =
            candidates.iter().map(|(_, writes)| writes[n].clone().unwrap_or_default()).collect();
        all.push(in_sequence(&read, &written));
    }
    Ok(all)
}

/// Whether what a process writes to standard output or error is read by another one: then it is
/// not the output that people see.
pub fn is_read_by_another(
    recording: &Recording,
    writer: usize,
    slicer: &Slicer<'_>,
    sink: &str,
) -> Result<bool, Failure> {
    let Some(pipe) = slicer.piped(sink).map_err(|e| failed(&e))? else { return Ok(false) };
    for process in (0..recording.processes.len()).filter(|process| *process != writer) {
        let loaded = load(recording, process)?;
        if Slicer::new(&loaded, options()).reads_from(&pipe).map_err(|e| failed(&e))? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn words(received: &Received) -> String {
    let text = String::from_utf8_lossy(&received.text);
    let text = match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", replay::vars::quoted(&text[..end])),
        None => replay::vars::quoted(&text),
    };
    match &received.from {
        Channel::Pipe(_) => format!("{text} in the pipe"),
        Channel::File(path) => format!("{text} in {}", source::short(path)),
        Channel::Argument(number) => format!("{text}, argument {number}"),
    }
}
