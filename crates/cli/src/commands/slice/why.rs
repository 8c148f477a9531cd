//! `relapse slice … --why`: the executions that made a value inevitable, and the branches that control them.

use crate::failure::{Exit, Failure};
use crate::{Session, solvers, source};
use explain::align::Side;
use explain::formula::formula;
use explain::semantic::layers::layers;
use explain::semantic::why::Solving;
use explain::semantic::{Cause, Question};
use explain::traced::Traced;
use program::names::is_library;
use serde::Serialize;
use slice::{NodeId, Slice, Slicer};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

/// One cause.
#[derive(Debug, Serialize)]
pub struct Row {
    /// The number of decisions between it and the question.
    layer: u32,
    /// `value` or `decision`; its location follows.
    kind: &'static str,
    file: String,
    line: u32,
    function: String,
    /// The lines that made it inevitable, the last executed one first.
    lines: Vec<Line>,
    /// The number of executed instructions in it, and in a slice along data dependences.
    instructions: usize,
    of: usize,
    minimal: bool,
}

#[derive(Debug, Serialize)]
struct Line {
    file: String,
    line: u32,
    formula: Option<String>,
}

/// The causes of a slice's criterion.
pub fn rows(
    slicer: &Slicer<'_>,
    slice: &Slice,
    time: Duration,
    solver: Option<&str>,
) -> Result<Vec<Row>, Failure> {
    // For a question without a value, the control dependence of the line is part of the question.
    let traced = Traced::new(Side::Bad, slicer.process(), Path::new("/"), slice.clone(), false);
    let commands = solvers::named(solver)?;
    let settings = solver::Settings { commands, ..solver::Settings::default() };
    let mut solving = Solving::new(settings, time);
    let found = layers(&traced, &mut solving).map_err(|reason| {
        Failure::new(Exit::No, format_args!("it could not be put as a formula: {reason}"))
            .hint("Without --why the slice shows everything it came from.")
    })?;
    // Decisions inside the standard library are not informative for its callers.
    let is_shown = |layer: u32, cause: &Cause| layer == 0 || !is_of_library(&traced, cause.question.node());
    let steps = steps(&traced, &found.causes);
    let shown = steps.iter().filter(|(layer, causes)| is_shown(*layer, causes[0]));
    Ok(shown.map(|(layer, causes)| row(&traced, *layer, causes)).collect())
}

/// Merges the causes of one line into one step of the report: causes of values, or of decisions, at the same
/// or at consecutive distances, such as those of `a && b`.
fn steps<'c>(traced: &Traced<'_>, causes: &'c [(u32, Cause)]) -> Vec<(u32, Vec<&'c Cause>)> {
    let mut steps: Vec<(u32, Vec<&Cause>)> = Vec::new();
    // The latest step of each line, and its greatest distance.
    let mut known: BTreeMap<(bool, u32, u32, u32), (usize, u32)> = BTreeMap::new();
    for (layer, cause) in causes {
        let (node, place) = (cause.question.node(), traced.line(cause.question.node()));
        let site = traced.slice.nodes[node as usize].site;
        let key = (is_decision(cause), site.module, site.function, place.line);
        match known.get_mut(&key).filter(|(_, reached)| place.line > 0 && *layer <= *reached + 1) {
            Some((step, reached)) => {
                *reached = (*reached).max(*layer);
                steps[*step].1.push(cause);
            }
            None => {
                known.insert(key, (steps.len(), *layer));
                steps.push((*layer, vec![cause]));
            }
        }
    }
    steps
}

fn is_decision(cause: &Cause) -> bool {
    matches!(cause.question, Question::Decision(_))
}

fn is_of_library(traced: &Traced<'_>, node: NodeId) -> bool {
    is_library(&format!("/{}", traced.file(traced.line(node))))
}

/// The row for one step, which has at least one cause.
fn row(traced: &Traced<'_>, layer: u32, causes: &[&Cause]) -> Row {
    let name = |file: &str| source::short(&format!("/{file}"));
    let first = causes[0];
    let asked = traced.line(first.question.node());
    let asked_of_library = is_of_library(traced, first.question.node());
    // The last executed one comes first.
    let generators: BTreeSet<_> = causes
        .iter()
        .flat_map(|c| &c.generators)
        .map(|n| (Reverse(traced.slice.nodes[*n as usize].at), *n))
        .collect();
    let mut lines: Vec<Line> = Vec::new();
    let mut known: BTreeMap<(u32, u32), usize> = BTreeMap::new();
    for (_, node) in &generators {
        let place = traced.line(*node);
        if place.line == 0 || is_of_library(traced, *node) && !asked_of_library {
            continue;
        }
        let site = traced.slice.nodes[*node as usize].site;
        let module = traced.process.image.module(site.module);
        let text = formula(module, &module.functions[site.function as usize], site.index);
        let at = *known.entry((place.file, place.line)).or_insert_with(|| {
            lines.push(Line { file: name(traced.file(place)), line: place.line, formula: None });
            lines.len() - 1
        });
        // The longest formula is the most informative one of the line.
        let longer = |old: &Option<String>| text.as_ref().map(String::len) > old.as_ref().map(String::len);
        if longer(&lines[at].formula) {
            lines[at].formula = text;
        }
    }
    Row {
        layer,
        kind: if is_decision(first) { "decision" } else { "value" },
        file: name(traced.file(asked)),
        line: asked.line,
        function: traced.function(traced.slice.nodes[first.question.node() as usize].site).to_owned(),
        lines,
        instructions: generators.len(),
        of: causes.iter().map(|c| c.cone).max().unwrap_or(0).max(generators.len()),
        minimal: causes.iter().all(|c| c.minimal),
    }
}

pub fn print(rows: &[Row], session: &mut Session) -> Result<Exit, Failure> {
    for row in rows {
        let what = if row.kind == "decision" { "why did it go this way" } else { "why this value" };
        let indent = "  ".repeat(row.layer as usize);
        writeln!(
            session.out,
            "{indent}{}  {what}?  {} of {} executed instructions{}",
            source::place(&row.file, row.line, &row.function),
            row.instructions,
            row.of,
            if row.minimal { "" } else { ", perhaps not all needed" }
        )?;
        for line in &row.lines {
            let text = line.formula.clone().or_else(|| source::line(&line.file, line.line));
            let text = text.unwrap_or_default();
            writeln!(session.out, "{indent}    {}:{}  {text}", line.file, line.line)?;
        }
    }
    Ok(Exit::Done)
}
