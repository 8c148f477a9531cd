//! The lines that set the failing run of the new version apart.

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

/// So many are listed unless all are asked for.
const SHOWN: usize = 5;

/// A line that sets the failing run apart.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    /// `added`: of the four runs only the failing one of the new version executes it; `skipped`: the other three do;
    /// `removed`: only the failing one of the old version does.
    pub how: &'static str,
    /// Of which version the line is: `new`, or `old` if it was removed.
    pub version: &'static str,
    pub file: String,
    pub line: u32,
    pub function: String,
    pub source: String,
    /// Dependences between it and the failure, or what the old version put out instead; none if that does not
    /// depend on it.
    pub depth: Option<u32>,
    /// It, or what decided that it runs, stands in one version only.
    pub changed: bool,
    /// What decided that it runs, if the failure depends on it.
    pub decision: Option<Decision>,
}

/// A line that decided that another one runs.
#[derive(Clone, Debug, Serialize)]
pub struct Decision {
    pub file: String,
    pub line: u32,
    pub source: String,
}

/// The process of a recording, if it can be replayed: `relapse cause` says elsewhere why it cannot.
pub fn load(recording: &Path, process: usize) -> Option<LoadedProcess> {
    let recording = Recording::open(recording).ok()?;
    LoadedProcess::load(&recording, recording.processes.get(process)?, &Options::default()).ok()
}

/// First what is changed; of that, and of the rest, what the failure depends on, the nearest before the others.
/// `changed`: for the lines of either version, which of them the other one does not have.
pub fn of(runs: FourRuns<'_>, failure: &Failure, changed: [&Changed<'_>; 2]) -> Vec<Line> {
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
            Parting::Added => ("added", "new", &failure.new, changed[1]),
            Parting::Skipped => ("skipped", "new", &failure.new, changed[1]),
            Parting::Removed => ("removed", "old", &failure.old, changed[0]),
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
                let source = text(file, *line)?.trim().to_owned();
                Some(Decision { file: file.clone(), line: *line, source })
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
