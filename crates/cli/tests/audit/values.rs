//! Whether values that are shown of bad are those of the moment: what the expression is before or after
//! the execution of the line that the step belongs to, as questions about values answer it.

use super::Eye;
use recording::Recording;
use replay::machine::Machine;
use replay::process::{LoadedProcess, Options};
use serde_json::Value;
use slice::executions::{Execution, Keep, Watch, marks};
use slice::{Slicer, SlicerOptions};
use std::collections::{BTreeMap, HashSet};
use std::path::Path;

/// Instructions that an execution of a line may take.
const MOST_STEPS: u64 = 2_000_000;

/// Says which values of the causes do not hold.
pub fn audit(bad: &Path, causes: &[&Value]) -> Result<Vec<String>, String> {
    let recording = Recording::open(bad).map_err(|e| format!("failed to {e}"))?;
    // What is known of each value that is shown. The step of a cause does not say which process it is of.
    let mut known: BTreeMap<(String, String, String), Vec<String>> = BTreeMap::new();
    for process in &recording.processes {
        let loaded = LoadedProcess::load(&recording, process, &Options::default())
            .map_err(|e| format!("failed to {e}"))?;
        let slicer = Slicer::new(&loaded, SlicerOptions::default());
        let wanted = causes.iter().filter_map(|cause| cause["step"].as_u64()).collect();
        let mut stands = Vec::new();
        for stream in &loaded.streams {
            let mut eye = Eye { wanted: &wanted, seen: 0, lines: HashSet::new(), steps: Vec::new() };
            let mut machine = Machine::new(&loaded.image, &stream.stream);
            machine.run(&mut eye, super::MOST_STEPS).map_err(|e| format!("failed to {e}"))?;
            stands.push(eye.steps);
        }
        for cause in causes {
            let Some((file, line, _)) = super::place(&cause["place"]) else { continue };
            // Of a failure, the line may be that of the `return` before; of another run, nothing is known.
            let is_other = matches!(cause["kind"].as_str(), Some("failure" | "missing"));
            let Some(step) = cause["step"].as_u64().filter(|_| !is_other) else { continue };
            let named: Vec<(&str, &str)> = cause["values"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|value| Some((value["name"].as_str()?, value["bad"].as_str()?)))
                .filter(|(name, _)| *name != "result")
                .collect();
            let parsed: Vec<_> = named.iter().filter_map(|(name, _)| expression::parse(name).ok()).collect();
            if parsed.is_empty() || parsed.len() < named.len() {
                continue;
            }
            let sites = slicer.sites_at(file, line);
            let marks = marks(&loaded.image, &sites);
            // A step of the other version's recording is another instruction here.
            let is_here = |step: u64, stands: &[(u64, u32, u32, u32, Option<bool>)]| {
                let mut at = stands.iter().filter(|stand| stand.0 == step);
                at.any(|(_, module, path, at, _)| {
                    *at == line && loaded.image.module(*module).file_path(*path).ends_with(file)
                })
            };
            let streams = loaded.streams.iter().zip(&stands);
            for (stream, _) in streams.filter(|(_, stands)| is_here(step, stands)) {
                let mut watch =
                    Watch::new(&loaded.image, &marks, Keep::LastBefore(step + 1)).evaluating(&parsed, None);
                let mut machine = Machine::new(&loaded.image, &stream.stream);
                let mut run = |watch: &mut Watch<'_>, to| machine.run(watch, to).map(|_| ());
                run(&mut watch, step + 1).map_err(|e| format!("failed to {e}"))?;
                // What ends the run in the middle of the line ends the execution as well.
                let _ = run(&mut watch, step + MOST_STEPS);
                let Some(execution) = watch.executions.last().filter(|e| holds(e, step)) else { continue };
                for (n, (name, shown)) in named.iter().enumerate() {
                    let of = |all: &[Option<String>]| all.get(n).cloned().flatten();
                    let sides = [Some(&execution.before), execution.after.as_ref()].into_iter().flatten();
                    let place = format!("cause {}: at {file}:{line}", cause["id"]);
                    let all = known.entry((place, (*name).to_owned(), (*shown).to_owned())).or_default();
                    all.extend(sides.filter_map(|side| of(side)));
                }
            }
        }
    }
    let is_wrong =
        |shown: &str, known: &[String]| !known.is_empty() && !known.iter().any(|k| is_same(k, shown));
    let wrong = known.into_iter().filter(|((.., shown), known)| is_wrong(shown, known));
    Ok(wrong
        .map(|((place, name, shown), known)| {
            format!("{place} {name} was {}, not {shown}", known.join(" and then "))
        })
        .collect())
}

fn holds(execution: &Execution, step: u64) -> bool {
    execution.first <= step && execution.last.is_none_or(|last| step <= last)
}

/// Whether two texts show one value; the one may show less of it. Of structures and pointers only the
/// sort is compared, as members that are the same in both versions are left out.
fn is_same(known: &str, shown: &str) -> bool {
    let is_whole =
        |text: &str| !text.starts_with(['{', '<']) && !text.contains("pointer") && !text.contains('…');
    if !is_whole(known) || !is_whole(shown) {
        return true;
    }
    let text = |text: &str| without_address(text).trim_end_matches("...").trim_matches('"').to_owned();
    let (known, shown) = (text(known), text(shown));
    known == shown || (shown.len() >= 40 && known.starts_with(&shown))
}

/// A text that a pointer points at, without the pointer.
fn without_address(text: &str) -> &str {
    match text.split_once(' ') {
        Some((address, pointee)) if address.starts_with("0x") => pointee,
        _ => text,
    }
}
