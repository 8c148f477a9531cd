//! Whether a link names the moment that its cause is about: in the recording of bad the instruction
//! ran that often before, stands in the line that is shown, and had another value.

use program::inst::{Inst, Operand};
use recording::Recording;
use replay::machine::Machine;
use replay::observer::{Effect, Observer, View};
use replay::process::{LoadedProcess, Options};
use serde_json::Value;
use std::collections::HashMap;
use std::path::Path;

/// A link as the answer has it, and what was seen of it.
struct Wanted {
    cause: u64,
    function: String,
    length: u64,
    index: u32,
    occurrence: u64,
    value: u64,
    line: Option<u64>,
    /// Line and value, in each process.
    seen: Vec<(u32, Option<u64>)>,
}

struct Counter<'w> {
    /// By module, function and index: how often it ran, and the links that want it.
    sites: HashMap<(u32, u32, u32), (u64, Vec<usize>)>,
    wanted: &'w mut [Wanted],
}

impl Observer for Counter<'_> {
    fn step(&mut self, view: &View<'_>, _: Effect) {
        let site = (view.code.module, view.code.function, view.index);
        let Some((count, links)) = self.sites.get_mut(&site) else { return };
        for link in links {
            if self.wanted[*link].occurrence != *count {
                continue;
            }
            let operand = match view.inst() {
                Inst::Branch { cond: operand, .. }
                | Inst::Switch { value: operand, .. }
                | Inst::Store { value: operand, .. }
                | Inst::Return { value: Some(operand), .. } => Some(*operand),
                inst => inst.defines().map(|(reg, _)| Operand::Reg(reg)),
            };
            let value = operand.map(|operand| view.value(operand));
            self.wanted[*link].seen.push((view.place().line, value));
        }
        *count += 1;
    }
}

/// Says which links of the causes do not hold.
pub fn audit(bad: &Path, causes: &[&Value]) -> Result<Vec<String>, String> {
    let number = |value: &Value| value.as_u64().unwrap_or(u64::MAX);
    let mut wanted: Vec<Wanted> = Vec::new();
    for cause in causes.iter().filter(|cause| cause["link"].is_object()) {
        let link = &cause["link"]["intervention"];
        wanted.push(Wanted {
            cause: number(&cause["id"]),
            function: link["function"].as_str().unwrap_or_default().to_owned(),
            length: number(&link["length"]),
            index: u32::try_from(number(&link["index"])).map_err(|e| e.to_string())?,
            occurrence: number(&link["occurrence"]),
            value: number(&link["value"]),
            // A failure is shown at the `return` that was taken; the value is set where all of them meet.
            line: cause["place"]["line"].as_u64().filter(|_| cause["kind"] != "failure"),
            seen: Vec::new(),
        });
    }
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let recording = Recording::open(bad).map_err(|e| format!("failed to {e}"))?;
    for process in &recording.processes {
        let loaded = LoadedProcess::load(&recording, process, &Options::default())
            .map_err(|e| format!("failed to {e}"))?;
        let mut sites: HashMap<_, (u64, Vec<usize>)> = HashMap::new();
        for (module, own) in loaded.image.modules() {
            for (function, model) in own.model.functions.iter().enumerate() {
                for (n, link) in wanted.iter().enumerate() {
                    if model.name == link.function && model.code.len() as u64 == link.length {
                        sites.entry((module, function as u32, link.index)).or_default().1.push(n);
                    }
                }
            }
        }
        for stream in &loaded.streams {
            let mut counter = Counter { sites: sites.clone(), wanted: &mut wanted };
            let run = Machine::new(&loaded.image, &stream.stream).run(&mut counter, super::MOST_STEPS);
            run.map_err(|e| format!("failed to {e}"))?;
        }
    }
    let mut wrong = Vec::new();
    for link in &wanted {
        let is_it = |(line, value): &(u32, Option<u64>)| {
            link.line.is_none_or(|wanted| wanted == u64::from(*line)) && *value != Some(link.value)
        };
        if !link.seen.iter().any(is_it) {
            wrong.push(format!(
                "cause {}: no {}th execution of instruction {} of {} with another value than {}: {:?}",
                link.cause, link.occurrence, link.index, link.function, link.value, link.seen
            ));
        }
    }
    Ok(wrong)
}
