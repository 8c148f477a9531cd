//! Questions that have no answer as they stand, and work that is cut short.

use super::Point;
use crate::failure::{Exit, Failure};
use crate::source::{self, Spot};
use slice::Slicer;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How many lines or names are offered.
const MOST: usize = 12;

/// A flag that Ctrl-C sets, once; the second time ends the command at once.
pub fn on_interrupt() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    // Without it Ctrl-C ends the command, as it always did.
    let _ = signal_hook::flag::register_conditional_shutdown(signal_hook::consts::SIGINT, 130, stop.clone());
    let _ = signal_hook::flag::register(signal_hook::consts::SIGINT, stop.clone());
    stop.store(false, Ordering::Relaxed);
    stop
}

/// What is said after an answer that was cut short.
pub fn incomplete() -> Failure {
    Failure::new(Exit::Incomplete, "interrupted: this is what was found so far")
}

/// Refuses a name that several files have.
pub fn only_one(slicer: &Slicer<'_>, spot: &Spot) -> Result<(), Failure> {
    let files = slicer.files_named(&spot.file);
    if files.len() < 2 {
        return Ok(());
    }
    let list: Vec<String> = files.iter().map(|f| format!("  {}", source::short(f))).collect();
    Err(Failure::new(Exit::Usage, format_args!("{} could be any of {} files", spot.file, files.len()))
        .hint(format_args!("Give more of the path:\n{}", list.join("\n"))))
}

/// Why a line or a variable has nothing to ask about, and what is near.
pub fn nothing_there(slicer: &Slicer<'_>, point: &Point) -> slice::Result<Failure> {
    let Spot { file, line } = &point.spot;
    let place = format!("{file}:{line}");
    if slicer.files_named(file).is_empty() {
        return Ok(Failure::new(Exit::Usage, format_args!("no recorded source file is called {file}"))
            .hint("`relapse dump program BINARY` names the files of a program."));
    }
    if let Some(name) = &point.variable
        && slicer.last_visit(file, *line)?.is_some()
    {
        let names = slicer.variables_at(file, *line)?;
        let failure = Failure::new(Exit::Usage, format_args!("{name} has no value at {place}"));
        return Ok(if names.is_empty() {
            failure
        } else {
            failure.hint(format_args!("These have: {}.", some(&names)))
        });
    }
    let ran = if slicer.sites_at(file, *line).is_empty() { "has no code" } else { "never ran" };
    let failure = Failure::new(Exit::No, format_args!("{place} {ran}"));
    let lines = slicer.lines_that_ran(file)?;
    let before = lines.range(..*line).next_back();
    let after = lines.range(line + 1..).next();
    let near: Vec<String> = before.into_iter().chain(after).map(|l| format!("{file}:{l}")).collect();
    Ok(match near.len() {
        0 => failure.hint(format_args!("Nothing of {file} ran.")),
        _ => failure.hint(format_args!("Nearest that ran: {}.", near.join(" and "))),
    })
}

fn some(names: &[String]) -> String {
    let mut text = names.iter().take(MOST).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > MOST {
        text += &format!(", and {} more", names.len() - MOST);
    }
    text
}
