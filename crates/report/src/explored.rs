//! Report of `relapse explore`: groups of paths, and inputs that make the program fault.

mod html;
mod sarif;

pub use html::render as to_html;
pub use sarif::to_sarif;

use crate::words;
use explore::explored::{Explored, FaultRow};
use std::collections::BTreeSet;

/// The number of groups, as a sentence.
#[must_use]
pub fn headline(explored: &Explored) -> String {
    let groups = words::count(words::number(explored.groups.len()), "group");
    match explored.complete {
        true => format!("{groups} of paths, for inputs of this length; there are no others."),
        false => format!("{groups} of paths found, for inputs of this length; there may be more."),
    }
}

/// `SIGFPE at p.c:4 in main`
#[must_use]
pub fn fault(fault: &FaultRow) -> String {
    let FaultRow { what, file, line, function, .. } = fault;
    if what.starts_with("SIG") {
        return format!("{what} at {file}:{line} in {function}");
    }
    format!("{file}:{line} in {function} {what}")
}

/// The cost of the exploration and what it left out, as sentences.
#[must_use]
pub fn effort(explored: &Explored) -> Vec<String> {
    let effort = &explored.effort;
    let mut lines = vec![format!(
        "{} in {:.1} s; {} to the solver: {} with an input, {} proven to have none, {} without an answer.",
        words::count(words::number(effort.runs as usize), "run"),
        effort.seconds,
        words::count(words::number(effort.asked as usize), "question"),
        effort.found,
        effort.impossible,
        effort.unknown
    )];
    if effort.resumed > 0 {
        lines.push(format!("{} of the runs were found by an earlier exploration.", effort.resumed));
    }
    if explored.complete {
        return lines;
    }
    if !effort.finished {
        let why = if effort.interrupted { "It was interrupted" } else { "Time was up" };
        lines.push(format!("{why} before all ways were asked about."));
    }
    if effort.lost > 0 {
        let runs = words::count(words::number(effort.lost as usize), "run");
        lines.push(format!("{runs} could not be followed to their end."));
    }
    let fixed: BTreeSet<&String> = explored.groups.iter().flat_map(|g| &g.fixed).collect();
    if !fixed.is_empty() {
        let places = words::count(words::number(fixed.len()), "place");
        lines.push(format!("Other values at {places} were not tried."));
    }
    lines
}
