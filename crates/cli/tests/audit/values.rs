//! Whether values that are shown of bad are those of the moment: what the expression is before or after
//! the execution of the line that the step belongs to, as questions about values answer it.

use recording::Recording;
use replay::machine::Machine;
use replay::process::{LoadedProcess, Options};
use serde_json::Value;
use slice::executions::{Execution, Keep, Watch, marks};
use slice::{Slicer, SlicerOptions};
use std::path::Path;

/// Instructions that an execution of a line may take.
const MOST_STEPS: u64 = 2_000_000;

/// Says which values of the causes do not hold.
pub fn audit(bad: &Path, causes: &[&Value]) -> Result<Vec<String>, String> {
    let recording = Recording::open(bad).map_err(|e| format!("failed to {e}"))?;
    let mut wrong = Vec::new();
    for process in &recording.processes {
        let loaded = LoadedProcess::load(&recording, process, &Options::default())
            .map_err(|e| format!("failed to {e}"))?;
        let slicer = Slicer::new(&loaded, SlicerOptions::default());
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
            for stream in &loaded.streams {
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
                    let known: Vec<String> = [Some(&execution.before), execution.after.as_ref()]
                        .into_iter()
                        .filter_map(|all| of(all?))
                        .collect();
                    if !known.is_empty() && !known.iter().any(|known| is_same(known, shown)) {
                        wrong.push(format!(
                            "cause {}: at {file}:{line} {name} was {}, not {shown}",
                            cause["id"],
                            known.join(" and then ")
                        ));
                    }
                }
            }
        }
    }
    Ok(wrong)
}

fn holds(execution: &Execution, step: u64) -> bool {
    execution.first <= step && execution.last.is_none_or(|last| step <= last)
}

/// Whether two texts show one value; the one may show less of it. Of structures and pointers only the
/// sort is compared, as members that are the same in both versions are left out.
fn is_same(known: &str, shown: &str) -> bool {
    let is_whole = |text: &str| !text.starts_with(['{', '<']) && !text.contains("pointer") && !text.contains('…');
    if !is_whole(known) || !is_whole(shown) {
        return true;
    }
    let text = |text: &str| text.trim_end_matches("...").trim_matches('"').to_owned();
    let (known, shown) = (text(known), text(shown));
    known == shown || (shown.len() >= 40 && known.starts_with(&shown))
}
