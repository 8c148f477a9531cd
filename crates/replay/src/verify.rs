//! Is a recording exact? Replays every stream and says what was found.

use crate::error::{Divergence, Error, Result};
use crate::machine::{Counters, End, Machine, Stop};
use crate::observer::Null;
use crate::process::{LoadedProcess, LoadedStream, Options};
use rayon::prelude::*;
use recording::Recording;
use recording::header::StreamKind;
use std::sync::Mutex;

/// How far one stream is, for progress bars.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    pub pid: u32,
    pub stream: u32,
    /// In the stream's own unit of time.
    pub time: u64,
    pub total_time: u64,
    pub instructions: u64,
}

#[derive(Clone, Debug)]
pub struct StreamReport {
    pub stream: u32,
    pub kind: StreamKind,
    /// Replay arrived at the recorded end, and every checksum agreed.
    pub exact: bool,
    pub end: Option<End>,
    /// Of this process alone: what a fork parent did before is not counted.
    pub counters: Counters,
    /// Bytes of the stream's file.
    pub bytes: u64,
    pub error: Option<String>,
    pub divergence: Option<Divergence>,
    /// The file is damaged; what precedes the damage was replayed.
    pub damage: Option<String>,
}

#[derive(Clone, Debug)]
pub struct ProcessReport {
    pub name: String,
    pub pid: u32,
    pub streams: Vec<StreamReport>,
    /// Damage to files other than streams.
    pub damage: Vec<String>,
}

impl ProcessReport {
    #[must_use]
    pub fn exact(&self) -> bool {
        self.streams.iter().all(|s| s.exact)
    }

    /// Of all streams.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.streams.iter().fold(Counters::default(), |sum, s| sum.plus(&s.counters))
    }

    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.streams.iter().map(|s| s.bytes).sum()
    }
}

impl Counters {
    #[must_use]
    pub fn plus(&self, other: &Counters) -> Counters {
        Counters {
            instructions: self.instructions + other.instructions,
            loads: self.loads + other.loads,
            mispredicted: self.mispredicted + other.mispredicted,
            events: self.events + other.events,
            checks: self.checks + other.checks,
        }
    }

    #[must_use]
    pub fn minus(&self, other: &Counters) -> Counters {
        Counters {
            instructions: self.instructions - other.instructions,
            loads: self.loads - other.loads,
            mispredicted: self.mispredicted - other.mispredicted,
            events: self.events - other.events,
            checks: self.checks - other.checks,
        }
    }
}

/// Instructions between two reports of progress.
const SLICE: u64 = 1 << 24;

/// Is told how a verification goes on.
pub trait Watch: Sync {
    /// A stream has come so far.
    fn progress(&self, progress: Progress);
    /// A process is replayed from here on; those forked from it come in between.
    fn begins(&self, _process: usize) {}
    /// It was.
    fn ends(&self, _process: usize) {}
}

impl Watch for () {
    fn progress(&self, _: Progress) {}
}

/// Replays every stream of every process, the streams of a process several at once. A process
/// that was forked off another goes on from that one's state at the fork.
///
/// # Errors
/// If the recording or its binaries cannot be loaded. That replay diverged is
/// part of the report.
pub fn verify(recording: &Recording, options: &Options, watch: &dyn Watch) -> Result<Vec<ProcessReport>> {
    let parents: Vec<Option<usize>> = recording
        .processes
        .iter()
        .map(|p| {
            let parent = recording.fork_parent(p)?;
            recording.processes.iter().position(|q| q.name == parent.name)
        })
        .collect();
    let reports = recording.processes.iter().map(|_| Mutex::default()).collect();
    let family = Family { recording, options, watch, parents, reports };
    // Parents first, each with all that were forked from it. What is left then has a parent
    // that did not come to the fork, or is its own ancestor in a damaged recording.
    for process in 0..recording.processes.len() {
        if family.parents[process].is_none() {
            family.process(process, None)?;
        }
    }
    for process in 0..recording.processes.len() {
        if !family.is_done(process) {
            family.process(process, None)?;
        }
    }
    Ok(family.reports.into_iter().filter_map(|r| r.into_inner().ok().flatten()).collect())
}

struct Family<'a> {
    recording: &'a Recording,
    options: &'a Options,
    watch: &'a dyn Watch,
    /// Of each process the one it was forked from.
    parents: Vec<Option<usize>>,
    reports: Vec<Mutex<Option<ProcessReport>>>,
}

/// A process that goes on from a stream of its parent's.
struct Child {
    process: usize,
    /// Its own stream that does.
    stream: u32,
    /// Bytes of the parent's stream before the fork.
    position: u64,
}

impl Family<'_> {
    fn is_done(&self, process: usize) -> bool {
        self.reports[process].lock().is_ok_and(|r| r.is_some())
    }

    /// Replays a process; `from` is its parent's thread at the fork, and the number of the
    /// stream that goes on from there.
    fn process(&self, number: usize, from: Option<(&Machine<'_>, u32)>) -> Result<()> {
        self.watch.begins(number);
        let process = LoadedProcess::load(self.recording, &self.recording.processes[number], self.options)?;
        let streams: Result<Vec<StreamReport>> = process
            .streams
            .par_iter()
            .map(|s| {
                let machine = match from {
                    Some((parent, stream)) if stream == s.number => {
                        parent.in_child(&process.image, &s.stream)
                    }
                    _ => Machine::new(&process.image, &s.stream),
                };
                self.stream(&process, s, machine, &self.children(number, s.number))
            })
            .collect();
        let damage = process.damage.clone();
        let report =
            ProcessReport { name: process.name.clone(), pid: process.pid, streams: streams?, damage };
        if let Ok(mut place) = self.reports[number].lock() {
            *place = Some(report);
        }
        self.watch.ends(number);
        Ok(())
    }

    /// Processes forked from a stream, in the order of their forks.
    fn children(&self, parent: usize, stream: u32) -> Vec<Child> {
        let mut children: Vec<Child> = (0..self.parents.len())
            .filter(|c| self.parents[*c] == Some(parent) && *c != parent)
            .filter_map(|process| {
                let forked = |s: &recording::Stream| Some((s.header.stream, s.header.fork?));
                let (own, fork) = self.recording.processes[process].streams.iter().find_map(forked)?;
                (fork.stream == stream).then_some(Child { process, stream: own, position: fork.position })
            })
            .collect();
        children.sort_by_key(|c| (c.position, c.process));
        children
    }

    fn stream(
        &self,
        process: &LoadedProcess,
        s: &LoadedStream,
        mut machine: Machine<'_>,
        children: &[Child],
    ) -> Result<StreamReport> {
        let tell = |m: &Machine<'_>| {
            self.watch.progress(Progress {
                pid: process.pid,
                stream: s.number,
                time: m.time(),
                total_time: s.stream.reached(),
                instructions: m.counters().instructions,
            });
        };
        let mut next_child = 0;
        let outcome = loop {
            let waiting = children.get(next_child);
            machine.stop_at_fork(waiting.map(|c| c.position));
            if let Some(child) = waiting.filter(|_| machine.forked()) {
                self.process(child.process, Some((&machine, child.stream)))?;
                next_child += 1;
                continue;
            }
            let next = machine.counters().instructions + SLICE;
            match machine.run(&mut Null, next) {
                Ok(Stop::Limit) => tell(&machine),
                Ok(Stop::Ended(end)) => break Ok(end),
                Err(e) => break Err(e),
            }
        };
        tell(&machine);
        let error = outcome.as_ref().err();
        Ok(StreamReport {
            stream: s.number,
            kind: s.kind,
            exact: error.is_none(),
            end: outcome.as_ref().ok().copied(),
            counters: machine.counters().minus(&machine.inherited()),
            bytes: s.stored_bytes,
            error: error.map(ToString::to_string),
            divergence: error.and_then(Error::divergence).cloned(),
            damage: s.damage.clone(),
        })
    }
}
