//! The answer as text.

use super::answer::{Answer, Example};
use crate::render::{Paint, counted};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;

/// Conditions of a group that are shown.
const MOST_CONDITIONS: usize = 12;

pub fn text(answer: &Answer, written: &[PathBuf], paint: Paint) -> String {
    let mut text = String::new();
    let groups = counted(answer.groups.len() as u64, "group");
    let headline = match answer.complete {
        true => format!("{groups} of paths, for inputs of this length; there are no others."),
        false => format!("{groups} of paths found, for inputs of this length; there may be more."),
    };
    let _ = writeln!(text, "{headline}");
    for group in &answer.groups {
        let _ = writeln!(text, "\n{} {}", paint.name(format!("{}.", group.number)), group.output);
        let shown = group.condition.len().min(MOST_CONDITIONS);
        for (n, condition) in group.condition.iter().take(shown).enumerate() {
            let _ = writeln!(text, "   {} {condition}", if n == 0 { "if " } else { "and" });
        }
        if group.condition.len() > shown {
            let _ = writeln!(
                text,
                "   and {} more",
                counted((group.condition.len() - shown) as u64, "condition")
            );
        }
        if group.condition.is_empty() {
            let _ = writeln!(text, "   for every input");
        }
        example(&mut text, &group.example);
        for fixed in &group.fixed {
            let _ = writeln!(text, "   taken as fixed: {fixed}");
        }
    }
    for fault in &answer.faults {
        let what = format!("{} at {}:{} in {}", fault.example.end, fault.file, fault.line, fault.function);
        let _ = writeln!(text, "\n{}", paint.bad(what));
        example(&mut text, &fault.example);
    }
    if let (Some(first), Some(last)) = (written.first(), written.last()) {
        let _ = writeln!(text, "\nTests are in {} to {}.", first.display(), last.display());
    }
    effort(&mut text, answer);
    text
}

fn example(text: &mut String, example: &Example) {
    let _ = write!(text, "   for example {}", example.command);
    for part in &example.parts {
        let _ = write!(text, ", {} \"{}\"", part.name, part.text);
    }
    let _ = writeln!(text);
}

fn effort(text: &mut String, answer: &Answer) {
    let effort = &answer.effort;
    let _ = writeln!(
        text,
        "\n{} runs in {:.1} s; {} questions to the solver: {} with an input, {} proven to have none, {} \
         without an answer.",
        effort.runs, effort.seconds, effort.asked, effort.found, effort.impossible, effort.unknown
    );
    if answer.complete {
        return;
    }
    if !effort.finished {
        let why = if effort.interrupted { "It was interrupted" } else { "Time was up" };
        let _ = writeln!(text, "{why} before all ways were asked about.");
    }
    if effort.lost > 0 {
        let _ = writeln!(text, "{} could not be followed to their end.", counted(effort.lost, "run"));
    }
    let fixed: BTreeSet<&String> = answer.groups.iter().flat_map(|g| &g.fixed).collect();
    if !fixed.is_empty() {
        let _ = writeln!(text, "Other values at {} were not tried.", counted(fixed.len() as u64, "place"));
    }
}
