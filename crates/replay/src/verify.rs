//! Is a recording exact? Replays every stream and reports the result.

use crate::error::{Divergence, Error, Result};
use crate::library::Library;
use crate::machine::{Counters, End, Machine, Stop};
use crate::observer::Null;
use crate::process::{LoadedProcess, LoadedStream, Options};
use rayon::prelude::*;
use recording::Recording;
use recording::header::StreamKind;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The progress of one stream, for progress bars.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// The process, as when it was recorded.
    pub pid: u32,
    /// Number of the stream in the process.
    pub stream: u32,
    /// In the stream's own unit of time.
    pub time: u64,
    /// The time that the recorded thread certainly reached.
    pub total_time: u64,
    /// Executed by replay, those of fork parents included.
    pub instructions: u64,
}

/// The outcome of one stream.
#[derive(Clone, Debug)]
pub struct StreamReport {
    /// Number of the stream in its process.
    pub stream: u32,
    /// Thread or signal context.
    pub kind: StreamKind,
    /// Replay reached the recorded end, and every checksum agreed.
    pub exact: bool,
    /// How the stream ended; `None` if replay failed.
    pub end: Option<End>,
    /// For this process alone: what a fork parent did before is not counted.
    pub counters: Counters,
    /// Bytes of the stream's file.
    pub bytes: u64,
    /// Why replay failed, as text.
    pub error: Option<String>,
    /// The same with its location, if replay and recording disagree.
    pub divergence: Option<Divergence>,
    /// The file is damaged; what precedes the damage was replayed.
    pub damage: Option<String>,
}

/// The outcome of one process.
#[derive(Clone, Debug)]
pub struct ProcessReport {
    /// Name of its directory in the recording.
    pub name: String,
    /// Process id when it was recorded.
    pub pid: u32,
    /// In the order of the recording; empty if `error` is set.
    pub streams: Vec<StreamReport>,
    /// Damage to files other than streams.
    pub damage: Vec<String>,
    /// Why no stream of it could be replayed.
    pub error: Option<String>,
}

impl ProcessReport {
    /// Whether all streams are exact.
    #[must_use]
    pub fn exact(&self) -> bool {
        self.error.is_none() && self.streams.iter().all(|s| s.exact)
    }

    /// The sum over all streams.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.streams.iter().fold(Counters::default(), |sum, s| sum.plus(&s.counters))
    }

    /// Bytes of all stream files.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.streams.iter().map(|s| s.bytes).sum()
    }
}

impl Counters {
    /// Adds each count.
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

    /// Subtracts each count; none of `other` may be larger.
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
const PROGRESS_INTERVAL: u64 = 1 << 24;

/// Receives the progress of a verification.
pub trait Watch: Sync {
    /// A stream has made this progress.
    fn progress(&self, progress: Progress);
    /// Replay of a process begins; others may begin and end in between on the same thread.
    fn begins(&self, _process: usize) {}
    /// Replay of the process has ended, on the same thread.
    fn ends(&self, _process: usize) {}
}

impl Watch for () {
    fn progress(&self, _: Progress) {}
}

/// Maximal number of forked processes that wait with a copy of their parent's state.
const MAX_WAITING: usize = 8;

/// Replays every stream of every process, several in parallel. A process that was forked from another
/// continues from that one's state at the fork. Processes of one program share its model and code.
///
/// # Errors
/// If no process can be loaded. If only some cannot, or replay diverged, that is part of the report.
pub fn verify(recording: &Recording, options: &Options, watch: &dyn Watch) -> Result<Vec<ProcessReport>> {
    let parents: Vec<Option<usize>> = recording
        .processes
        .iter()
        .map(|p| {
            let parent = recording.fork_parent(p)?;
            recording.processes.iter().position(|q| q.name == parent.name)
        })
        .collect();
    let family = ForkTree {
        recording,
        options,
        watch,
        library: Library::default(),
        waiting: AtomicUsize::new(0),
        outcomes: recording.processes.iter().map(|_| OnceLock::new()).collect(),
        parents,
    };
    // Parents first, each with all processes forked from it. Each remaining process has a parent that did not
    // reach the fork, or is its own ancestor in a damaged recording.
    let all = 0..recording.processes.len();
    all.clone()
        .into_par_iter()
        .filter(|p| family.parents[*p].is_none())
        .for_each(|p| family.process(p, None));
    for process in all {
        if family.outcomes[process].get().is_none() {
            family.process(process, None);
        }
    }
    family.reports()
}

struct ForkTree<'a> {
    recording: &'a Recording,
    options: &'a Options,
    watch: &'a dyn Watch,
    library: Library,
    /// Number of forked processes that wait to be replayed beside their parents.
    waiting: AtomicUsize,
    /// For each process the one from which it was forked.
    parents: Vec<Option<usize>>,
    outcomes: Vec<OnceLock<Result<ProcessReport>>>,
}

/// A process that continues a stream of its parent's.
#[derive(Clone, Copy)]
struct Child {
    process: usize,
    /// Its own stream that continues the parent's.
    stream: u32,
    /// Bytes of the parent's stream before the fork.
    position: u64,
}

impl ForkTree<'_> {
    fn reports(self) -> Result<Vec<ProcessReport>> {
        let mut reports = Vec::new();
        let mut failed = Vec::new();
        for (process, outcome) in self.recording.processes.iter().zip(self.outcomes) {
            match outcome.into_inner() {
                Some(Ok(report)) => reports.push(report),
                Some(Err(error)) => failed.push((process, error)),
                None => {}
            }
        }
        if reports.is_empty() && !failed.is_empty() {
            return Err(failed.swap_remove(0).1);
        }
        reports.extend(failed.into_iter().map(|(process, error)| ProcessReport {
            name: process.name.clone(),
            pid: process.info.pid,
            streams: Vec::new(),
            damage: process.damage.iter().map(ToString::to_string).collect(),
            error: Some(error.to_string()),
        }));
        Ok(reports)
    }

    /// Replays a process; `from` is its parent's thread at the fork, and the number of the
    /// stream that goes on from there.
    fn process(&self, number: usize, from: Option<(Machine<'_>, u32)>) {
        self.watch.begins(number);
        let outcome = self.replay(number, from);
        // A process that is its own ancestor may already have an outcome.
        let _ = self.outcomes[number].set(outcome);
        self.watch.ends(number);
    }

    fn replay(&self, number: usize, from: Option<(Machine<'_>, u32)>) -> Result<ProcessReport> {
        let after = from.as_ref().map(|(parent, stream)| (*stream, parent.stream));
        let recorded = &self.recording.processes[number];
        let process = LoadedProcess::load_from(&self.library, self.recording, recorded, self.options, after)?;
        let mut from = from;
        let machines: Vec<(&LoadedStream, Machine<'_>)> = process
            .streams
            .iter()
            .map(|s| {
                let machine = match from.take_if(|(_, stream)| *stream == s.number) {
                    Some((parent, _)) => parent.in_child(&process.image, &s.stream),
                    None => Machine::new(&process.image, &s.stream),
                };
                (s, machine)
            })
            .collect();
        let streams = machines
            .into_par_iter()
            .map(|(s, machine)| self.stream(&process, s, machine, &self.children(number, s.number)))
            .collect();
        let damage = process.damage.clone();
        Ok(ProcessReport { name: process.name, pid: process.pid, streams, damage, error: None })
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
    ) -> StreamReport {
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
        let outcome = rayon::in_place_scope(|scope| {
            loop {
                let waiting = children.get(next_child).copied();
                machine.stop_at_fork(waiting.map(|c| c.position));
                if let Some(child) = waiting.filter(|_| machine.forked()) {
                    let from = Some((machine.clone(), child.stream));
                    if self.waiting.fetch_add(1, Relaxed) < MAX_WAITING {
                        scope.spawn(move |_| {
                            self.waiting.fetch_sub(1, Relaxed);
                            self.process(child.process, from);
                        });
                    } else {
                        self.waiting.fetch_sub(1, Relaxed);
                        self.process(child.process, from);
                    }
                    next_child += 1;
                    continue;
                }
                let next = machine.counters().instructions + PROGRESS_INTERVAL;
                match machine.run(&mut Null, next) {
                    Ok(Stop::Limit) => tell(&machine),
                    Ok(Stop::Ended(end)) => break Ok(end),
                    Err(e) => break Err(e),
                }
            }
        });
        tell(&machine);
        let error = outcome.as_ref().err();
        StreamReport {
            stream: s.number,
            kind: s.kind,
            exact: error.is_none(),
            end: outcome.as_ref().ok().copied(),
            counters: machine.counters().minus(&machine.inherited()),
            bytes: s.stored_bytes,
            error: error.map(ToString::to_string),
            divergence: error.and_then(Error::divergence).cloned(),
            damage: s.damage.clone(),
        }
    }
}
