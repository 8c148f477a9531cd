//! Opening what the user named, with sentences for what may be wrong with it.

use crate::failure::{Exit, Failure};
use recording::{Recording, RecordingError};
use std::path::Path;

/// Opens a recording.
pub fn recording(path: &Path) -> Result<Recording, Failure> {
    Recording::open(path).map_err(|error| {
        let exit = match &error {
            RecordingError::Io { error, .. } if error.kind() == std::io::ErrorKind::NotFound => Exit::Usage,
            _ => Exit::BadInput,
        };
        let failure = Failure::failed_to(exit, &error);
        match error {
            RecordingError::NotARecording { .. } => {
                failure.hint("Name a directory that `relapse record` made.")
            }
            RecordingError::Io { .. } => failure.hint("`relapse record -o DIR CMD` makes recordings."),
            RecordingError::Version { .. } => failure.hint("Record again with this version of relapse."),
            RecordingError::Malformed { .. } => failure,
        }
    })
}

/// What is wrong with the recording as a whole, one sentence each.
pub fn complaints(recording: &Recording) -> Vec<String> {
    let mut list = Vec::new();
    if let Some(manifest) = &recording.manifest
        && !manifest.complete
    {
        let reason = manifest.reason.as_deref().unwrap_or("the reason is not known");
        list.push(format!("the recording is incomplete: {reason}"));
    }
    for process in &recording.processes {
        list.extend(process.damage.iter().map(|d| damage(d, &recording.path)));
    }
    list
}

/// "t0 is cut after 12,345 of 20,000 bytes; everything before replays"
pub fn damage(damage: &recording::Damage, recording: &Path) -> String {
    use crate::render::grouped;
    // Paths in the recording are shorter without the recording's own.
    let what = damage.what.replace(&format!("{}/", recording.display()), "");
    let (usable, total) = (damage.usable_bytes, damage.total_bytes);
    if usable == 0 && total == 0 {
        return what;
    }
    let rest = if usable > 0 { "; everything before can be used" } else { "" };
    format!("{what} ({} of {} bytes are usable{rest})", grouped(usable), grouped(total))
}

/// The models of a process, out of the binaries it ran.
pub fn image(process: &recording::Process) -> Result<replay::image::Image, replay::error::Error> {
    let wanted: Vec<replay::image::Wanted> = process
        .modules
        .iter()
        .map(|m| replay::image::Wanted {
            index: m.index,
            id: m.id,
            path: m.path.clone(),
            build_id: m.build_id.clone(),
            addresses: m.addresses.clone(),
        })
        .collect();
    replay::image::Image::load(&wanted)
}

/// The index of a process, if it has one that is up to date. One that was made from
/// something else is left alone; a damaged one is an error, and so is one of an older
/// version, which has to be made again.
pub fn index(
    recording: &Recording,
    process: &replay::process::LoadedProcess,
) -> Result<Option<index::Index>, Failure> {
    let path = index::Index::path(&recording.path, &process.name);
    match index::Index::open(&path, process) {
        Ok(index) => Ok(Some(index)),
        Err(index::Error::Io { error, .. }) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(index::Error::Stale { .. }) => Ok(None),
        Err(error) => Err(damaged_index(&error, recording)),
    }
}

/// What to do about an index that cannot be used.
pub fn damaged_index(error: &dyn std::fmt::Display, recording: &Recording) -> Failure {
    Failure::failed_to(Exit::BadInput, shorter(&error.to_string(), &recording.path)).hint(format_args!(
        "Make it again: relapse index {}; or do without: --no-index.",
        recording.path.display()
    ))
}

/// Why a process of the recording cannot be replayed.
pub fn cannot_load(error: &replay::error::Error) -> Failure {
    use replay::error::Error;
    let failure = Failure::failed_to(Exit::BadInput, error);
    match error {
        Error::AnotherBuild { .. } => {
            failure.hint("Record again, or keep the recorded file and name it: relapse replay --binary FILE.")
        }
        Error::Model(_) => failure.hint("A recording needs the binaries it was made with, unchanged."),
        _ => failure,
    }
}

/// A library's phrase without the recording's own path.
pub fn shorter(text: &str, recording: &Path) -> String {
    text.replace(&format!("{}/", recording.display()), "")
}
