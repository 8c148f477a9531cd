//! Slices that continue in other processes of the recording: those that wrote what was read.

use super::{Answer, SliceArgs, failed, one};
use crate::failure::Failure;
use crate::{Session, opened, source};
use recording::Recording;
use replay::process::Options;
use slice::interprocess::Channel;
use slice::writers::{Writer, writers};
use slice::{Criterion, Slice, Slicer};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};

/// The maximum number of processes to visit: data may flow in cycles.
const MOST: usize = 16;

/// The slices of the processes whose output the first one read, nearest first.
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
    // A process may be visited several times, for new criteria: for example, a request goes out and a
    // response comes back.
    let mut done: BTreeMap<usize, Vec<Criterion>> = BTreeMap::new();
    let mut received = slicer.received(slice).map_err(|e| failed(&e))?;
    let mut reader = first;
    let mut waiting: BTreeMap<usize, Writer> = BTreeMap::new();
    while answers.len() < MOST && !stop.load(Ordering::Relaxed) {
        let writers = writers(recording, reader, &received, &Options::default(), opened::slicing());
        for (process, writer) in writers.map_err(|e| failed(&e))? {
            waiting.entry(process).or_default().join(writer);
        }
        waiting.retain(|process, writer| {
            let asked = done.get(process).map_or(&[][..], Vec::as_slice);
            writer.criteria.retain(|criterion| !asked.contains(criterion));
            !writer.criteria.is_empty()
        });
        // Visit the process that started last: data mostly flows from earlier to later processes.
        let Some((process, writer)) = waiting.pop_last() else { break };
        done.entry(process).or_default().extend(writer.criteria.iter().cloned());
        let loaded = opened::process(recording, &recording.processes[process])?;
        let slicer = Slicer::new(&loaded, opened::slicing());
        let program = source::short(&recording.processes[process].info.executable);
        let question = format!("{}, from {program},", writer.words(source::short));
        let (answer, slice) = one(args, session, &slicer, &writer.criteria, question, stop)?;
        received = slicer.received(&slice).map_err(|e| failed(&e))?;
        reader = process;
        answers.push(answer);
    }
    Ok(answers)
}

/// Pipes that processes of the recording read from: output to them is not output that users see.
pub fn pipes_between(recording: &Recording) -> Result<BTreeSet<Channel>, Failure> {
    let mut all = BTreeSet::new();
    for process in &recording.processes {
        let loaded = opened::process(recording, process)?;
        all.extend(Slicer::new(&loaded, opened::slicing()).pipes_read().map_err(|e| failed(&e))?);
    }
    Ok(all)
}
