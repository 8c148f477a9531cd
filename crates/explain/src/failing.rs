//! Which process of two recordings made the difference between them.

use crate::align::pair_processes;
use crate::observe::{Run, RunOutput, Sinks, observe, options};
use recording::Recording;
use recording::manifest::Outcome;
use replay::process::LoadedProcess;
use slice::{Slicer, SlicerOptions, assemble_parts};
use std::path::Path;

/// The processes of two recordings in which the observed difference was made, counted from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailingPair {
    /// The process of the old recording.
    pub old: usize,
    /// The process of the new recording.
    pub new: usize,
    /// The difference, as a sentence.
    pub summary: String,
}

/// Chooses the process by the failure as an explanation does: the one that crashed, or that decided the exit
/// status, or wrote the first differing byte. `None` if both recordings have one process only, if nothing
/// differs, or if the process of the new recording has no counterpart.
#[must_use]
pub fn failing_pair(old: &Recording, new: &Recording) -> Option<FailingPair> {
    if old.processes.len() < 2 && new.processes.len() < 2 {
        return None;
    }
    let outputs = [output(old), output(new)];
    let root = Path::new("/");
    let run = |recording, output| Run { recording: Some(recording), root, output };
    // Lines are not compared here, only processes.
    let same = |file: &str, line: u32| Some((file.to_owned(), line));
    let observed = observe(run(old, &outputs[0]), run(new, &outputs[1]), &same, Sinks::default()).ok()?;
    if observed.observation.kind == "unknown" {
        return None;
    }
    let paired = || pair_processes(old, new).into_iter().find(|pair| pair.0 == observed.process);
    let of_old = observed.good_process.or_else(|| paired().map(|pair| pair.1))?;
    Some(FailingPair { old: of_old, new: observed.process, summary: observed.observation.summary })
}

/// How a recorded run ended, and what its recorded processes wrote to standard output.
#[must_use]
pub fn output(recording: &Recording) -> RunOutput {
    let outcome = recording.manifest.as_ref().and_then(|manifest| manifest.outcome);
    let (exit, signal) = match outcome {
        Some(Outcome::Exit(status)) => (Some(status), None),
        Some(Outcome::Signal(number)) => (None, Some(number)),
        None => (None, None),
    };
    let mut written: Vec<(u64, Vec<u8>)> = Vec::new();
    for process in &recording.processes {
        // What a process wrote that does not replay is not known.
        let Ok(loaded) = LoadedProcess::load(recording, process, &options()) else { continue };
        let slicer = Slicer::new(&loaded, SlicerOptions::default());
        written.extend(slicer.output_bytes("stdout").ok().flatten());
    }
    let parts = written.iter().map(|(at, bytes)| (*at, bytes.as_slice()));
    let stdout = assemble_parts(parts).unwrap_or_default().1;
    RunOutput { exit, signal, stdout, ..RunOutput::default() }
}
