//! The observed failure, and its location in the recordings.
//!
//! Given the end and the output of both test runs, [`observe`] returns their difference, the call of the
//! recorded process that produced it, and the slicing criteria: [`Observed::criteria`] for the bad recording,
//! [`Observed::good_criteria`] for the corresponding location in the good one.

mod absent;
mod argument;
mod commands;
mod damage;
mod differences;
mod ends;
mod failures;
mod hang;
mod outputs;
pub(crate) mod places;
mod pointer;
mod scene;
mod status;
mod words;

use crate::align::LineMap;
use crate::answer::Observation;
use recording::Recording;
use replay::process::{LoadedProcess, Options};
use scene::Scene;
use slice::Criterion;
use std::collections::BTreeMap;
use std::path::Path;
use thiserror::Error;
use trials::Status;

/// Why the observation failed.
#[derive(Debug, Error)]
pub enum Error {
    /// A process does not replay at the location of the difference.
    #[error(transparent)]
    Replay(#[from] replay::error::Error),
    /// A process has no stream with this index.
    #[error("find stream {0} of a recorded process")]
    NoStream(usize),
}

/// The end of a run of the test command, and its output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunOutput {
    /// The exit status; `None` if the test did not exit.
    pub exit: Option<i32>,
    /// The number of the signal that killed the test; `None` if none did.
    pub signal: Option<i32>,
    /// The test was stopped at its time limit.
    pub timed_out: bool,
    /// The complete standard output.
    pub stdout: Vec<u8>,
    /// The complete standard error.
    pub stderr: Vec<u8>,
    /// Output files by path, as given by the user.
    pub files: BTreeMap<String, Vec<u8>>,
}

impl From<&trials::TestRun> for RunOutput {
    /// Unreadable output counts as empty.
    fn from(run: &trials::TestRun) -> RunOutput {
        let read = |path: &Path| std::fs::read(path).unwrap_or_default();
        let (exit, signal, timed_out) = match run.status {
            Status::Exit(code) => (Some(code), None, false),
            Status::Signal(signal) => (None, Some(signal), false),
            Status::TimedOut => (None, None, true),
            Status::OutputLimit | Status::Cancelled => (None, None, false),
        };
        RunOutput {
            exit,
            signal,
            timed_out,
            stdout: read(&run.stdout),
            stderr: read(&run.stderr),
            files: run.files.iter().map(|(name, path)| (name.clone(), read(path))).collect(),
        }
    }
}

/// One version's run.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    /// The recording; `None` if the run was not recorded.
    pub recording: Option<&'a Recording>,
    /// Root of the version's source tree; locations are relative to it.
    pub root: &'a Path,
    /// How the run ended, and its output.
    pub output: &'a RunOutput,
}

/// The outputs that are compared besides the exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sinks {
    /// Whether the standard output is compared.
    pub stdout: bool,
    /// Whether the standard error is compared.
    pub stderr: bool,
    /// Those in [`RunOutput::files`].
    pub files: bool,
}

impl Default for Sinks {
    fn default() -> Self {
        Sinks { stdout: true, stderr: true, files: true }
    }
}

/// The result of the observation.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// The failure in the form of the answer.
    pub observation: Observation,
    /// Index in the bad recording's `processes`.
    pub process: usize,
    /// The slicing criteria in that process; empty if the failure has no location.
    pub criteria: Vec<Criterion>,
    /// Index in the good recording's `processes`; `None` if no process of good corresponds.
    pub good_process: Option<usize>,
    /// The slicing criteria at the corresponding location in good; empty if there is none.
    pub good_criteria: Vec<Criterion>,
    /// Notes for the reader.
    pub notes: Vec<String>,
    /// A process that was stopped in a loop recorded its time at its last call only. Replay continues the
    /// loop up to these times (stream index, time); see [`Observed::prepare`].
    pub horizon: Vec<(u32, u64)>,
}

impl Observed {
    /// Must be called on the bad process before it is replayed for the criteria: a hang is after the last
    /// recorded time.
    pub fn prepare(&self, process: &mut LoadedProcess) {
        for (stream, time) in &self.horizon {
            if let Some(s) = process.streams.get_mut(*stream as usize) {
                // The recorded checksum belongs to the old time.
                (s.stream.time, s.stream.sum) = (*time, None);
            }
        }
    }
}

/// Options for loading recordings of a test. [`hang`] examines a loop in which the test hung, only as far as
/// necessary to identify it, so replay does not repeat the loop for the minutes that the test ran.
pub(crate) fn options() -> Options {
    Options { last_loop: Some(0), ..Options::default() }
}

/// Determines the difference between the runs and its location; see the module's documentation. `map` takes
/// lines of bad to those of good, with files relative to the versions' roots.
///
/// # Errors
/// If a recording does not replay at the location of the difference. A failure that only lacks an explanation
/// is an observation of the kind `unknown`.
pub fn observe(good: Run<'_>, bad: Run<'_>, map: &LineMap<'_>, sinks: Sinks) -> Result<Observed, Error> {
    let mut scene = Scene::new(good, bad, map);
    let mut observed = match look(&mut scene, sinks)? {
        Some(observed) => observed,
        None => failures::unknown(&scene)?,
    };
    observed.notes.splice(0..0, scene.notes);
    Ok(observed)
}

/// The first kind of difference that applies.
fn look(scene: &mut Scene<'_>, sinks: Sinks) -> Result<Option<Observed>, Error> {
    if scene.bad_run.output.timed_out && !scene.good_run.output.timed_out {
        return hang::hang(scene);
    }
    let failures = [failures::assertion, failures::abort, failures::signal, status::exit_status];
    for failure in failures {
        if let Some(observed) = failure(scene)? {
            return Ok(Some(observed));
        }
    }
    differences::output(scene, sinks)
}
