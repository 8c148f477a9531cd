//! What went wrong, and where in the recordings it shows.
//!
//! Given how both test runs ended and what they put out, [`observe`] says what
//! the difference is, which call of which recorded process made it, and what
//! to ask a slice about: [`Observed::criteria`] for the bad recording,
//! [`Observed::good_criteria`] for the corresponding place in the good one.

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

/// Why nothing could be observed.
#[derive(Debug, Error)]
pub enum Error {
    #[error(transparent)]
    Replay(#[from] replay::error::Error),
    #[error("find stream {0} of a recorded process")]
    NoStream(usize),
}

/// How a run of the test command ended, and what it put out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunOutput {
    pub exit: Option<i32>,
    pub signal: Option<i32>,
    pub timed_out: bool,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// Output files by path, as the user named them.
    pub files: BTreeMap<String, Vec<u8>>,
}

impl From<&trials::TestRun> for RunOutput {
    /// What cannot be read is taken for empty.
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
    pub recording: Option<&'a Recording>,
    /// Root of the version's source tree; places are relative to it.
    pub root: &'a Path,
    pub output: &'a RunOutput,
}

/// Which outputs count besides the exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sinks {
    pub stdout: bool,
    pub stderr: bool,
    /// Those in [`RunOutput::files`].
    pub files: bool,
}

impl Default for Sinks {
    fn default() -> Self {
        Sinks { stdout: true, stderr: true, files: true }
    }
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    pub observation: Observation,
    /// Index in the bad recording's `processes`.
    pub process: usize,
    pub criteria: Vec<Criterion>,
    pub good_process: Option<usize>,
    pub good_criteria: Vec<Criterion>,
    /// Things the reader should know.
    pub notes: Vec<String>,
    /// A process that was stopped in a loop has written down its time at its
    /// last call only. The loop goes on in replay up to these times (stream
    /// index, time); see [`Observed::prepare`].
    pub horizon: Vec<(u32, u64)>,
}

impl Observed {
    /// Must be called on the bad process before it is replayed for the
    /// criteria: a hang lies behind the last time the recording knows.
    pub fn prepare(&self, process: &mut LoadedProcess) {
        for (stream, time) in &self.horizon {
            if let Some(s) = process.streams.get_mut(*stream as usize) {
                // The checksum that was written down belongs to the old time.
                (s.stream.time, s.stream.sum) = (*time, None);
            }
        }
    }
}

/// How recordings of a test are loaded: a loop in which it hung is looked at by [`hang`], for as
/// long as it takes to know it, and not for the minutes that the test had.
pub(crate) fn options() -> Options {
    Options { last_loop: Some(0), ..Options::default() }
}

/// Says what differs between the runs and where it shows; see the module's
/// documentation. `map` takes lines of bad to those of good, files relative to
/// the versions' roots.
///
/// # Errors
/// If a recording does not replay where the answer lies. What merely cannot be
/// explained is an observation of the kind `unknown`.
pub fn observe(good: Run<'_>, bad: Run<'_>, map: &LineMap<'_>, sinks: Sinks) -> Result<Observed, Error> {
    let mut scene = Scene::new(good, bad, map);
    let mut observed = match look(&mut scene, sinks)? {
        Some(observed) => observed,
        None => failures::unknown(&scene)?,
    };
    observed.notes.splice(0..0, scene.notes);
    Ok(observed)
}

/// The first kind of difference there is.
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
