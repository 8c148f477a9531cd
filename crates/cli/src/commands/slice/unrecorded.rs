//! Output of programs that are not recorded: the slice starts at the call that started the program.

use super::{Content, Written, failed};
use crate::failure::Failure;
use crate::{opened, source};
use recording::Recording;
use slice::Slicer;
use slice::started::StartedProgram;

/// The call that started the program which most likely wrote a text that no recorded process wrote, and the
/// call's process: the last call whose command contains the text, or the only one.
pub fn writer(recording: &Recording, written: &Written) -> Result<Option<(usize, StartedProgram)>, Failure> {
    let Content::Text(text) = &written.what else { return Ok(None) };
    let mut all = Vec::new();
    for process in 0..recording.processes.len() {
        let loaded = opened::process(recording, &recording.processes[process])?;
        let started = Slicer::new(&loaded, opened::slicing()).started().map_err(|e| failed(&e))?;
        all.extend(started.into_iter().map(|started| (process, started)));
    }
    let says = |started: &StartedProgram| started.command.join(" ").contains(text.trim());
    if let Some(at) = all.iter().rposition(|(_, started)| says(started)) {
        return Ok(Some(all.swap_remove(at)));
    }
    Ok(if all.len() == 1 { all.pop() } else { None })
}

/// The question as text.
pub fn words(started: &StartedProgram) -> String {
    let place = source::place(&source::short(&started.file), started.line, "");
    let command = replay::vars::quoted(&started.command.join(" "));
    format!(
        "what a program wrote that is not recorded, started at {place} by {} with {command},",
        started.function
    )
}
