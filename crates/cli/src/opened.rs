//! Opens recordings and processes, with sentences for possible errors.

use crate::failure::{Exit, Failure};
use crate::source;
use recording::{Process, Recording, RecordingError};
use replay::process::{LoadedProcess, Options};
use slice::SlicerOptions;
use std::collections::BTreeSet;
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

/// The defects of the recording as a whole, one sentence each.
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
    // Paths in the recording are shown relative to it.
    let what = damage.what.replace(&format!("{}/", recording.display()), "");
    let (usable, total) = (damage.usable_bytes, damage.total_bytes);
    if usable == 0 && total == 0 {
        return what;
    }
    let rest = if usable > 0 { "; everything before can be used" } else { "" };
    format!("{what} ({} of {} bytes are usable{rest})", grouped(usable), grouped(total))
}

/// The models of a process: those stored in the recording, or those of the executed binaries.
pub fn image(
    recording: &Path,
    process: &recording::Process,
) -> Result<replay::image::Image, replay::error::Error> {
    let wanted: Vec<replay::image::ModuleRef> = process
        .modules
        .iter()
        .map(|m| replay::image::ModuleRef {
            index: m.index,
            id: m.id,
            path: m.path.clone(),
            build_id: m.build_id.clone(),
            addresses: m.addresses.clone(),
            base: m.load_address,
            recording: Some(recording.to_owned()),
        })
        .collect();
    replay::image::Image::load(&wanted)
}

/// Warns of source files that were changed since, whose lines are shown in the current version, and of
/// those that are gone.
pub fn warn_of_changed_sources<'a>(processes: impl IntoIterator<Item = &'a LoadedProcess>) {
    let (mut edited, mut missing) = (BTreeSet::new(), BTreeSet::new());
    for (_, module) in processes.into_iter().flat_map(|p| p.image.modules()) {
        edited.extend(module.model.edited_files());
        missing.extend(module.model.missing_files());
    }
    if let Some(first) = missing.first() {
        let (file, others) = (source::short(first), missing.len() - 1);
        let files = match others {
            0 => format!("{file} is"),
            1 => format!("{file} and another source file are"),
            _ => format!("{file} and {others} other source files are"),
        };
        eprintln!("relapse: warning: {files} not there any more; lines are shown without their text");
    }
    for file in edited {
        let file = source::short(&file);
        eprintln!(
            "relapse: warning: {file} was changed since the recorded program was built; its lines are shown as they are now"
        );
    }
}

/// Loads a process of the recording.
pub fn process(recording: &Recording, process: &Process) -> Result<LoadedProcess, Failure> {
    LoadedProcess::load(recording, process, &Options::default()).map_err(|e| load_failure(&e))
}

/// The options for slicing: the timeline of the first query is stored for later ones.
pub fn slicing() -> SlicerOptions {
    SlicerOptions { keep_timeline: true, ..SlicerOptions::default() }
}

/// The failure for a process that cannot be replayed.
pub fn load_failure(error: &replay::error::Error) -> Failure {
    use replay::error::Error;
    let failure = Failure::failed_to(Exit::BadInput, error);
    match error {
        Error::AnotherBuild { .. } => {
            failure.hint("Record again, or keep the recorded file and name it: relapse replay --binary FILE.")
        }
        Error::Model(_) => failure.hint(
            "A recording without the model of its program, such as one of an older relapse, needs the binaries \
             it was made with, unchanged.",
        ),
        _ => failure,
    }
}

/// A library's message with paths relative to the recording.
pub fn shorter(text: &str, recording: &Path) -> String {
    text.replace(&format!("{}/", recording.display()), "")
}
