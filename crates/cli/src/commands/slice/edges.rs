//! Questions that cannot be answered as asked, and interrupted work.

use super::{Content, Point, Written, failed};
use crate::failure::{Exit, Failure};
use crate::source::{self, LineSpec};
use crate::which::{self, WhichArgs};
use slice::{Criterion, Slicer};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that the first Ctrl-C sets; the second one ends the command immediately.
pub fn on_interrupt() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    // If this fails, Ctrl-C ends the command as it does by default.
    let _ = signal_hook::flag::register_conditional_shutdown(signal_hook::consts::SIGINT, 130, stop.clone());
    let _ = signal_hook::flag::register(signal_hook::consts::SIGINT, stop.clone());
    stop.store(false, Ordering::Relaxed);
    stop
}

/// The message after an answer that was interrupted.
pub fn incomplete() -> Failure {
    Failure::new(Exit::Incomplete, "interrupted: this is what was found so far")
}

/// Rejects a file name that is ambiguous.
pub fn check_unambiguous(slicer: &Slicer<'_>, spot: &LineSpec) -> Result<(), Failure> {
    let files = slicer.files_named(&spot.file);
    if files.len() < 2 {
        return Ok(());
    }
    let list: Vec<String> = files.iter().map(|f| format!("  {}", source::short(f))).collect();
    Err(Failure::new(Exit::Usage, format_args!("{} could be any of {} files", spot.file, files.len()))
        .hint(format_args!("Give more of the path:\n{}", list.join("\n"))))
}

/// The criteria of a question about a line, or the reason why it is invalid.
pub fn ask_at(
    slicer: &Slicer<'_>,
    point: &Point,
    args: &WhichArgs,
) -> Result<Result<Vec<Criterion>, Failure>, Failure> {
    let LineSpec { file, line } = &point.spot;
    let Some(which) = args.of(slicer.process()) else {
        let stream = args.stream.as_deref().unwrap_or_default();
        return Ok(Err(Failure::new(Exit::Usage, format_args!("the recording has no stream {stream}"))));
    };
    let found = match &point.expression {
        None => slicer.execution_criteria(file, *line, &which),
        Some(e) => slicer.expression_criterion(file, *line, e, &which).map(|c| c.into_iter().collect()),
    };
    match found {
        Ok(found) => Ok(Ok(found)),
        Err(slice::Error::Expression(wrong)) => Ok(Err(which::wrong(&format!("{file}:{line}"), &wrong))),
        Err(error) => Err(failed(&error)),
    }
}

/// The criteria of a question about output. Offsets are counted from the first byte that any process wrote;
/// `start` caches the position of that byte.
pub fn ask_written(
    slicer: &Slicer<'_>,
    written: &Written,
    which: &WhichArgs,
    start: &mut Option<u64>,
) -> slice::Result<Vec<Criterion>> {
    let mut criteria = match &written.what {
        Content::Offset(offset) => {
            if start.is_none() {
                *start = slicer.output_start(&written.sink)?;
            }
            let offset = offset.saturating_add(start.unwrap_or(0));
            slicer.output_criterion(&written.sink, offset)?.into_iter().collect()
        }
        Content::Text(text) => {
            let found = slicer.find_output(&written.sink, text.as_bytes())?;
            let taken = match which.occurrence {
                Some(n) => usize::try_from(n - 1).ok().and_then(|n| found.get(n)),
                None => found.last(),
            };
            let Some(&at) = taken else { return Ok(Vec::new()) };
            if found.len() > 1 && which.occurrence.is_none() {
                let times = found.len();
                eprintln!(
                    "relapse: the text is {times} times in {}; the last is taken, --occurrence N takes another",
                    written.sink
                );
            }
            slicer.output_criteria(&written.sink, at..at + text.len() as u64)?
        }
    };
    // Output omitted before the first of the bytes affects all of them, so one criterion suffices.
    if let Some(first) = criteria.first_mut() {
        *first = first.clone().with_omitted(&written.sink);
    }
    Ok(criteria)
}

/// The failure for output that no recorded call wrote.
pub fn no_such_output(written: &Written, which: &WhichArgs) -> Failure {
    let what = match (&written.what, which.occurrence) {
        (Content::Offset(n), _) => format!("byte {n} of {}", written.sink),
        (Content::Text(text), None) => format!("{} to {}", replay::vars::quoted(text), written.sink),
        (Content::Text(text), Some(n)) => {
            format!("{} to {} as often as {n} times", replay::vars::quoted(text), written.sink)
        }
    };
    Failure::new(Exit::No, format_args!("no recorded call wrote {what}"))
        .hint("`relapse dump io DIR` lists what was written.")
}

/// The failure for a line without executions that match, with alternatives nearby.
pub fn no_execution(slicer: &Slicer<'_>, point: &Point, which: &WhichArgs) -> slice::Result<Failure> {
    let LineSpec { file, line } = &point.spot;
    let place = format!("{file}:{line}");
    if slicer.files_named(file).is_empty() {
        return Ok(Failure::new(Exit::Usage, format_args!("no recorded source file is called {file}"))
            .hint("`relapse dump program BINARY` names the files of a program."));
    }
    if which.is_any() && slicer.last_visit(file, *line)?.is_some() {
        let what = format!("no execution of {place} fits: {}", which.words().trim_start_matches(", "));
        return Ok(Failure::new(Exit::No, what).hint(format_args!(
            "`relapse values DIR {place}` lists its executions; the same options choose among them."
        )));
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
