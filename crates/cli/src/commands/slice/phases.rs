//! `relapse slice … --phases`: a slice level by level.

use super::{SliceArgs, edges, failed};
use crate::Session;
use crate::failure::{Exit, Failure};
use crate::render::counted;
use crate::source::{self, Spot};
use replay::vars::Limits;
use serde::Serialize;
use slice::phases::divide::PhaseKind;
use slice::phases::{Flow, Level, Oracle, Phase, Phased, Search};
use slice::{Criterion, Dependence, NodeId, Request, Slicer, Snapshot};
use std::io::Write;
use std::path::Path;

/// The answer, level by level.
#[derive(Debug, Serialize)]
pub struct Answer {
    schema: &'static str,
    process: String,
    question: String,
    levels: Vec<LevelRow>,
    /// Where it ended; `null` if nobody could say what is wrong.
    found: Option<Place>,
    /// How often the oracle was asked.
    questions: usize,
    /// Executions that were shown, over all levels.
    shown: usize,
    /// Executions in the whole slice.
    executions: usize,
}

#[derive(Debug, Serialize)]
struct LevelRow {
    function: String,
    phases: Vec<PhaseRow>,
    flows: Vec<FlowRow>,
    /// Whether the oracle was asked.
    asked: bool,
    /// Index of the wrong flow, if there is one.
    wrong: Option<usize>,
}

#[derive(Debug, Serialize)]
struct PhaseRow {
    kind: &'static str,
    /// Of a call what is called, of rounds which.
    name: Option<String>,
    file: String,
    first_line: u32,
    last_line: u32,
    instructions: u64,
    /// It has what is asked about.
    asked: bool,
}

#[derive(Debug, Serialize)]
struct FlowRow {
    file: String,
    line: u32,
    /// `value` or `decision`.
    kind: &'static str,
    name: Option<String>,
    value: Option<String>,
    made_in: usize,
    used_in: Vec<usize>,
}

#[derive(Debug, Serialize)]
struct Place {
    file: String,
    line: u32,
    function: String,
}

pub fn run(
    args: &SliceArgs,
    session: &mut Session,
    slicer: &Slicer<'_>,
    criteria: &[Criterion],
    question: String,
) -> Result<Exit, Failure> {
    let stop = edges::on_interrupt();
    let request = Request { criteria, relevance: args.relevance(), stop: Some(&stop) };
    let slice = slicer.ask(&request, &mut |_| {}).map_err(|e| failed(&e))?;
    let phased = Phased::new(slicer, &slice);
    let Some(from) = slice.criteria.iter().flatten().next_back().copied() else {
        return Err(Failure::new(Exit::No, "the slice is empty"));
    };
    let mut answer = Answer {
        schema: "relapse.phases/1",
        process: slicer.process().name.clone(),
        question,
        levels: Vec::new(),
        found: None,
        questions: 0,
        shown: 0,
        executions: slice.nodes.len(),
    };
    match &args.oracle {
        Some(path) => {
            let mut oracle = Lines::read(path)?;
            let search = phased.search(from, &mut oracle).map_err(|e| failed(&e))?;
            fill(&mut answer, &phased, &search)?;
        }
        None => {
            let level = phased.whole(from).and_then(|w| phased.level(&w, from)).map_err(|e| failed(&e))?;
            answer.shown = level.flows.len();
            answer.levels.push(row(&phased, &level, false, None)?);
        }
    }
    if args.json {
        return session.json(&answer);
    }
    print(&answer, session)
}

/// An oracle that knows lines, and perhaps variables, whose values are wrong.
struct Lines {
    wrong: Vec<(Spot, Option<String>)>,
}

impl Lines {
    fn read(path: &Path) -> Result<Lines, Failure> {
        let text = std::fs::read_to_string(path)
            .map_err(|e| Failure::failed_to(Exit::Usage, format_args!("read {}: {e}", path.display())))?;
        let mut wrong = Vec::new();
        for (n, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or("").trim();
            if line.is_empty() {
                continue;
            }
            let point: super::Point = line.parse().map_err(|e: String| {
                Failure::new(Exit::Usage, format_args!("{}, line {}: {e}", path.display(), n + 1))
            })?;
            wrong.push((point.spot, point.variable));
        }
        Ok(Lines { wrong })
    }
}

impl Oracle for Lines {
    fn first_wrong(&mut self, phased: &Phased<'_, '_>, level: &Level) -> slice::Result<Option<usize>> {
        let shots = snapshots(phased, &level.flows)?;
        Ok(shots.iter().position(|shot| {
            let name = shot.result.as_ref().and_then(|r| r.name.as_deref());
            self.wrong.iter().any(|(spot, variable)| {
                shot.place.line == spot.line
                    && source::names(&spot.file, &shot.place.file)
                    && variable.as_deref().is_none_or(|v| Some(v) == name)
            })
        }))
    }
}

fn snapshots(phased: &Phased<'_, '_>, flows: &[Flow]) -> slice::Result<Vec<Snapshot>> {
    let at: Vec<_> = flows.iter().map(|f| phased.slice.nodes[f.node as usize].at).collect();
    phased.slicer.values(&at, Limits::default())
}

fn fill(answer: &mut Answer, phased: &Phased<'_, '_>, search: &Search) -> Result<(), Failure> {
    for turn in &search.turns {
        let wrong = turn.wrong.as_ref().and_then(|w| turn.level.flows.iter().position(|f| f == w));
        answer.levels.push(row(phased, &turn.level, turn.asked, wrong)?);
    }
    answer.questions = search.questions;
    answer.shown = search.shown;
    answer.found = Some(place(phased, search.found.node));
    Ok(())
}

fn place(phased: &Phased<'_, '_>, node: NodeId) -> Place {
    let site = phased.slice.nodes[node as usize].site;
    let module = phased.slicer.process().image.module(site.module);
    let function = &module.functions[site.function as usize];
    let place = function.place(site.index as usize);
    Place {
        file: source::short(&module.file_path(place.file)),
        line: place.line,
        function: function.name.clone(),
    }
}

fn row(
    phased: &Phased<'_, '_>,
    level: &Level,
    asked: bool,
    wrong: Option<usize>,
) -> Result<LevelRow, Failure> {
    let shots = snapshots(phased, &level.flows).map_err(|e| failed(&e))?;
    let flows = level.flows.iter().zip(shots).map(|(flow, shot)| {
        let decides = matches!(flow.how, Dependence::Control | Dependence::Call);
        let branch = shot.branch.map(|taken| if taken { "true" } else { "false" }.to_owned());
        let (name, value) = match shot.result {
            _ if decides => (shot.callee, branch),
            Some(result) => (result.name, Some(result.value)),
            None => (None, branch),
        };
        FlowRow {
            file: source::short(&shot.place.file),
            line: shot.place.line,
            kind: if decides { "decision" } else { "value" },
            name,
            value,
            made_in: flow.made_in,
            used_in: flow.used_in.clone(),
        }
    });
    let phases = level.phases.iter().enumerate().map(|(i, p)| phase(p, i == level.at));
    let function = level.phases.first().map(|p| p.function.clone()).unwrap_or_default();
    Ok(LevelRow { function, phases: phases.collect(), flows: flows.collect(), asked, wrong })
}

fn phase(phase: &Phase, asked: bool) -> PhaseRow {
    let (kind, name) = match &phase.kind {
        PhaseKind::Loop => ("loop", None),
        PhaseKind::Call { callee } => ("call", Some(callee.clone())),
        PhaseKind::Rounds { first, last } if first == last => ("round", Some(first.to_string())),
        PhaseKind::Rounds { first, last } => ("rounds", Some(format!("{first} to {last}"))),
        PhaseKind::Statements => ("statements", None),
    };
    PhaseRow {
        kind,
        name,
        file: source::short(&phase.file),
        first_line: phase.lines.0,
        last_line: phase.lines.1,
        instructions: phase.window.steps.end - phase.window.steps.start,
        asked,
    }
}

fn print(answer: &Answer, session: &mut Session) -> Result<Exit, Failure> {
    let paint = session.paint;
    let out = &mut session.out;
    for (n, level) in answer.levels.iter().enumerate() {
        writeln!(out, "{}", paint.name(format_args!("Level {}, in {}:", n + 1, level.function)))?;
        for (i, p) in level.phases.iter().enumerate() {
            let name = p.name.as_ref().map(|n| format!(" {n}")).unwrap_or_default();
            let mark = if p.asked { "  (asked about)" } else { "" };
            let lines = match (p.first_line, p.last_line) {
                (0, _) => String::new(),
                (a, b) if a == b => format!(", line {a}"),
                (a, b) => format!(", lines {a} to {b}"),
            };
            writeln!(out, "  {:>3}  {}{name}{lines}{mark}", i + 1, p.kind)?;
        }
        for (i, f) in level.flows.iter().enumerate() {
            let used: Vec<String> = f.used_in.iter().map(|u| (u + 1).to_string()).collect();
            let what = match (&f.name, &f.value) {
                (Some(name), Some(value)) => format!("{name} = {value}"),
                (Some(name), None) => name.clone(),
                (None, Some(value)) => value.clone(),
                (None, None) => String::new(),
            };
            let what = if f.kind == "decision" { format!("decided: {what}") } else { what };
            let mark = if level.wrong == Some(i) { '>' } else { ' ' };
            writeln!(
                out,
                "{mark} {} -> {}  {}:{}  {}",
                f.made_in + 1,
                used.join(", "),
                f.file,
                f.line,
                what.trim_end_matches([':', ' '])
            )?;
        }
        writeln!(out)?;
    }
    if let Some(found) = &answer.found {
        writeln!(
            out,
            "{} {}:{}, in {}: {}, {}, {} of {} shown.",
            paint.good("It went wrong at"),
            found.file,
            found.line,
            found.function,
            counted(answer.levels.len() as u64, "level"),
            counted(answer.questions as u64, "question"),
            answer.shown,
            counted(answer.executions as u64, "execution"),
        )?;
    }
    Ok(Exit::Done)
}
