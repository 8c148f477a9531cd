//! Makes a trace from a recording.

use crate::error::{Error, Result};
use crate::extract::{Options, extract};
use crate::own::RunNames;
use crate::trace::Trace;
use recording::Recording;
use replay::process::LoadedProcess;

/// Extracts the events of a process of a recording.
///
/// # Errors
/// If there is no such process, its program cannot be loaded, or there are too
/// many events.
pub fn trace(recording: &Recording, process: usize, options: &Options) -> Result<Trace> {
    let Some(recorded) = recording.processes.get(process) else {
        let has = recording.processes.len();
        return Err(Error::Replay(replay::error::Error::Recording(format!(
            "there is no process {process}, only {has}"
        ))));
    };
    let loaded = LoadedProcess::load(recording, recorded, &replay::process::Options::default())?;
    let options =
        Options { own: RunNames::of(&recorded.info).recorded_in(&recording.path), ..options.clone() };
    let mut trace = extract(&loaded, &options)?;
    trace.notes.extend(loaded.damage.iter().cloned());
    trace.notes.extend(loaded.streams.iter().filter_map(|s| s.damage.clone()));
    Ok(trace)
}
