//! Slices that go on in other processes of the recording: those that wrote what was read.

use super::{Answer, SliceArgs, failed, one};
use crate::failure::Failure;
use crate::{Session, opened, source};
use recording::Recording;
use replay::process::Options;
use slice::handover::Channel;
use slice::writers::{Writer, writers};
use slice::{Slice, Slicer};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes that go round in circles are followed no further than so many processes.
const MOST: usize = 16;

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
    let mut waiting: BTreeMap<usize, Writer> = BTreeMap::new();
    while answers.len() < MOST && !stop.load(Ordering::Relaxed) {
        let writers = writers(recording, reader, &received, &Options::default(), opened::slicing());
        for (process, writer) in writers.map_err(|e| failed(&e))? {
            waiting.entry(process).or_default().join(writer);
        }
        // Each process is asked once, the last started first: mostly bytes go from earlier to later.
        waiting.retain(|process, _| !done.contains(process));
        let Some((process, writer)) = waiting.pop_last() else { break };
        done.push(process);
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

/// Pipes that processes of a recording read from: what is written to them is not the output that
/// people see.
pub fn pipes_between(recording: &Recording) -> Result<BTreeSet<Channel>, Failure> {
    let mut all = BTreeSet::new();
    for process in &recording.processes {
        let loaded = opened::process(recording, process)?;
        all.extend(Slicer::new(&loaded, opened::slicing()).pipes_read().map_err(|e| failed(&e))?);
    }
    Ok(all)
}
