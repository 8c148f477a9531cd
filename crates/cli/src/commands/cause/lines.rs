//! The lines that distinguish the failing run of the new version from the other three.

use super::failure::{Changed, Failure};
use crate::render::counted;
use crate::{Session, source};
use explain::parting_lines::{FourRuns, Parting, PartingLine, parting_lines};
use program::names::readable;
use recording::Recording;
use replay::process::{LoadedProcess, Options};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// The number of lines shown without `--all`.
const SHOWN: usize = 5;

/// A line that distinguishes the failing run.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    /// `added`: only the failing run of the new version executes it; `skipped`: only that run does not;
    /// `removed`: only the failing run of the old version executes it.
    pub how: &'static str,
    /// The version of the line: `new`, or `old` if it was removed.
    pub version: &'static str,
    pub file: String,
    pub line: u32,
    pub function: String,
    pub source: String,
    /// The number of dependence edges between it and the failure, or the old version's output; `None` if
    /// there is no dependence.
    pub depth: Option<u32>,
    /// Whether the line, or the branch that controls it, occurs in one version only.
    pub changed: bool,
    /// The branch that controls it, if the failure depends on it.
    pub decision: Option<Decision>,
}

/// The line of a branch that controls another line.
#[derive(Clone, Debug, Serialize)]
pub struct Decision {
    pub file: String,
    pub line: u32,
    pub source: String,
}

/// Loads a process of a recording, if it can be replayed. An error is reported elsewhere.
pub fn load(recording: &Path, process: usize) -> Option<LoadedProcess> {
    let recording = Recording::open(recording).ok()?;
    LoadedProcess::load(&recording, recording.processes.get(process)?, &Options::default()).ok()
}

/// The distinguishing lines: changed ones first; within each group those that the failure depends on, the
/// farthest first, since a cause precedes its effects, then the others. `changed`: for either version, finds the lines that the other one does not
/// have.
pub fn of(runs: FourRuns<'_>, failure: &Failure, changed: &[Changed; 2]) -> Vec<Line> {
    let processes = [runs.old, runs.new, runs.old_passing, runs.new_passing];
    let modules = processes.iter().flat_map(|process| process.image.modules());
    let edited: HashSet<String> = modules.flat_map(|(_, m)| m.model.edited_files()).collect();
    let mut files: HashMap<String, Vec<String>> = HashMap::new();
    let mut text = |file: &str, line: u32| -> Option<String> {
        if !files.contains_key(file) {
            let read = || Some(String::from_utf8_lossy(&std::fs::read(file).ok()?).into_owned());
            let text = if edited.contains(file) { None } else { read() };
            let lines = text.unwrap_or_default().lines().map(str::to_owned).collect();
            files.insert(file.to_owned(), lines);
        }
        files.get(file)?.get(line.checked_sub(1)? as usize).cloned()
    };
    let lines = parting_lines(runs, &mut text).unwrap_or_default();
    let line = |line: PartingLine| {
        let (how, version, slices, changed) = match line.how {
            Parting::Added => ("added", "new", &failure.new, &changed[1]),
            Parting::Skipped => ("skipped", "new", &failure.new, &changed[1]),
            Parting::Removed => ("removed", "old", &failure.old, &changed[0]),
        };
        let decided = slices.as_ref().and_then(|s| s.decided(&line.file, line.line));
        let function = readable(&line.function).into_owned();
        let is_changed = |file: &str, number| changed.is(&function, file, number);
        Line {
            how,
            version,
            depth: slices.as_ref().and_then(|s| s.depth(&line.file, line.line)),
            changed: is_changed(&line.file, line.line)
                || decided.is_some_and(|(file, number)| is_changed(file, *number)),
            decision: decided.and_then(|(file, line)| {
                // The branch at the end of a loop may be at its closing brace.
                let source = text(file, *line)?.trim().to_owned();
                source.contains(char::is_alphanumeric).then_some(Decision {
                    file: file.clone(),
                    line: *line,
                    source,
                })
            }),
            file: line.file,
            line: line.line,
            function,
            source: line.text,
        }
    };
    let mut lines: Vec<Line> = lines.into_iter().map(line).collect();
    lines.sort_by_key(|line| {
        (!line.changed, line.depth.is_none(), Reverse(line.depth), line.version == "old")
    });
    lines
}

pub fn write(session: &mut Session, lines: &[Line], all: bool) -> std::io::Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    let shown = if all { lines.len() } else { SHOWN };
    writeln!(session.out, "These lines set the failing run of the new version apart from the other three:")?;
    for line in lines.iter().take(shown) {
        let place = format!("{}:{}", source::short(&line.file), line.line);
        let sign = if line.how == "added" { session.paint.good("+") } else { session.paint.bad("-") };
        let depends = match line.depth {
            Some(0) if line.version == "new" => "  the failure is here".to_owned(),
            Some(depth) => format!("  {} before the failure", counted(depth.into(), "dependence")),
            None if line.how == "skipped" => "  the others execute it".to_owned(),
            None => String::new(),
        };
        let rest = session.paint.faint(format!("{}{depends}", line.function));
        writeln!(session.out, "  {sign} {}  {rest}", session.paint.name(place))?;
        writeln!(session.out, "        {}", line.source)?;
        if let Some(decision) = &line.decision {
            let place = format!("{}:{}", source::short(&decision.file), decision.line);
            writeln!(session.out, "    because of {place}  {}", decision.source)?;
        }
    }
    if lines.len() > shown {
        writeln!(session.out, "  ... and {}", counted((lines.len() - shown) as u64, "more line"))?;
    }
    writeln!(session.out)
}
