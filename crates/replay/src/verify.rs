//! Is a recording exact? Replays every stream and says what was found.

use crate::error::{Divergence, Error, Result};
use crate::image::Image;
use crate::machine::{Counters, End, Machine, Stop};
use crate::observer::Null;
use crate::process::{LoadedProcess, LoadedStream, Options};
use rayon::prelude::*;
use recording::Recording;
use recording::header::StreamKind;

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

/// Replays every stream of every process, several at once.
///
/// # Errors
/// If the recording or its binaries cannot be loaded. That replay diverged is
/// part of the report.
pub fn verify(
    recording: &Recording,
    options: &Options,
    progress: Option<&(dyn Fn(Progress) + Sync)>,
) -> Result<Vec<ProcessReport>> {
    recording
        .processes
        .iter()
        .map(|p| {
            let loaded = LoadedProcess::load(recording, p, options)?;
            Ok(verify_process(&loaded, progress))
        })
        .collect()
}

/// One process.
#[must_use]
pub fn verify_process(
    process: &LoadedProcess,
    progress: Option<&(dyn Fn(Progress) + Sync)>,
) -> ProcessReport {
    let streams = process
        .streams
        .par_iter()
        .map(|s| {
            verify_stream(&process.image, s, &|m| {
                if let Some(p) = progress {
                    p(Progress {
                        pid: process.pid,
                        stream: s.number,
                        time: m.time(),
                        total_time: s.stream.time,
                        instructions: m.counters().instructions,
                    });
                }
            })
        })
        .collect();
    ProcessReport { name: process.name.clone(), pid: process.pid, streams, damage: process.damage.clone() }
}

fn verify_stream(image: &Image, s: &LoadedStream, tell: &dyn Fn(&Machine<'_>)) -> StreamReport {
    let mut machine = Machine::new(image, &s.stream);
    let outcome = loop {
        let next = machine.counters().instructions + SLICE;
        match machine.run(&mut Null, next) {
            Ok(Stop::Limit) => tell(&machine),
            Ok(Stop::Ended(end)) => break Ok(end),
            Err(e) => break Err(e),
        }
    };
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
