//! `relapse slice … --phases`: a hierarchical slice, level by level.

use super::bounds::Bounds;
use super::browse::{self, Asked};
use super::{SliceArgs, compute_slice, edges, failed};
use crate::Session;
use crate::failure::{Exit, Failure};
use crate::render::counted;
use crate::source::{self, LineSpec};
use replay::vars::Limits;
use report::phases::Shown;
use serde::Serialize;
use slice::phases::told::{LevelSummary, LineSummary};
use slice::phases::tree::Room;
use slice::phases::{Division, Level, Oracle, Phased, Search};
use slice::{Criterion, Slicer};
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::atomic::Ordering;

/// The answer, level by level.
#[derive(Debug, Serialize)]
pub struct Answer {
    schema: &'static str,
    process: String,
    question: String,
    levels: Vec<LevelRow>,
    /// The location of the fault; `null` if there was no oracle, or the search was interrupted.
    found: Option<LineSummary>,
    /// The number of queries to the oracle.
    questions: usize,
    /// The number of executions shown, over all levels.
    shown: usize,
    /// The number of executions in the whole slice.
    executions: usize,
    /// The cost of finding the fault along chains of dependences, for comparison.
    chains: Option<Chains>,
    #[serde(flatten)]
    bounds: Bounds,
}

#[derive(Debug, Serialize)]
struct Chains {
    length: usize,
    examined: usize,
}

#[derive(Debug, Serialize)]
struct LevelRow {
    #[serde(flatten)]
    told: LevelSummary,
    /// Whether the oracle was queried.
    asked: bool,
    /// The index of the wrong flow, if there is one.
    wrong: Option<usize>,
}

pub fn run(
    args: &SliceArgs,
    session: &mut Session,
    slicer: &Slicer<'_>,
    criteria: &[Criterion],
    question: String,
) -> Result<Exit, Failure> {
    let stop = edges::on_interrupt();
    let slice = compute_slice(args, session, slicer, criteria, &stop)?;
    // From here on an interrupt stops the processing of the slice, not the slicing.
    stop.store(false, Ordering::Relaxed);
    let mut phased = Phased::new(slicer, &slice);
    phased.stop = Some(&stop);
    phased.division = Division { groups: args.groups };
    let Some(from) = slice.criteria.iter().flatten().next_back().copied() else {
        return Err(Failure::new(Exit::No, "the slice is empty"));
    };
    if let Some(path) = &args.html {
        let tree = phased.tree(from, Room::default()).map_err(|e| stopped(&e))?;
        let files = tree.files().filter_map(|f| Some((source::short(f), std::fs::read(f).ok()?)));
        let files = files.map(|(f, text)| (f, String::from_utf8_lossy(&text).into_owned())).collect();
        let tree = tree.renamed(source::short);
        let page = report::phases::render(&Shown { tree: &tree, question: &question, files: &files });
        std::fs::write(path, page).map_err(|e| {
            Failure::failed_to(Exit::Environment, format_args!("write {}: {e}", path.display()))
        })?;
    }
    let alone = args.oracle.is_none() && args.html.is_none() && !args.json && !slice.incomplete;
    if alone && is_interactive() {
        return browse::run(session, Asked { phased: &phased, from, question, stop: &stop });
    }
    let mut answer = Answer {
        schema: "relapse.phases/1",
        process: slicer.process().name.clone(),
        question,
        levels: Vec::new(),
        found: None,
        questions: 0,
        shown: 0,
        executions: slice.nodes.len(),
        chains: None,
        bounds: Bounds::of(&slice),
    };
    // An interrupted page lacks some levels.
    answer.bounds.incomplete |= args.html.is_some() && stop.load(Ordering::Relaxed);
    match &args.oracle {
        Some(path) => {
            let mut oracle = Lines::read(path)?;
            let search = phased.search(from, &mut oracle).map_err(|e| failed(&e))?;
            answer.bounds.incomplete |= search.stopped;
            fill(&mut answer, &phased, &search)?;
            if !search.stopped {
                let explored = phased.explore(from, search.found.node);
                answer.chains = explored.map(|e| Chains { length: e.length, examined: e.examined });
            }
        }
        None => match phased.whole(from).and_then(|w| phased.level(&w, from)) {
            Ok(level) => {
                answer.shown = level.flows.len();
                answer.levels.push(row(&phased, &level, false, None)?);
            }
            Err(slice::Error::Stopped) => answer.bounds.incomplete = true,
            Err(error) => return Err(failed(&error)),
        },
    }
    let exit = if args.json { session.json(&answer)? } else { print(&answer, session)? };
    if answer.bounds.incomplete {
        return Err(edges::incomplete());
    }
    Ok(exit)
}

/// The failure if nothing was computed before the interrupt, or of another error.
fn stopped(error: &slice::Error) -> Failure {
    match error {
        slice::Error::Stopped => edges::incomplete(),
        other => failed(other),
    }
}

/// Whether the session is interactive.
fn is_interactive() -> bool {
    let dumb = std::env::var_os("TERM").is_none_or(|t| t.is_empty() || t == "dumb");
    !dumb && std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

/// An oracle given by a list of lines, and optionally variables, whose values are wrong.
struct Lines {
    wrong: Vec<(LineSpec, Option<String>)>,
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
            wrong.push((point.spot, point.expression.map(|e| e.text)));
        }
        Ok(Lines { wrong })
    }
}

impl Oracle for Lines {
    fn first_wrong(&mut self, phased: &Phased<'_, '_>, level: &Level) -> slice::Result<Option<usize>> {
        let at: Vec<_> = level.flows.iter().map(|f| phased.slice.nodes[f.node as usize].at).collect();
        let shots = phased.slicer.values(&at, Limits::default())?;
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

fn fill(answer: &mut Answer, phased: &Phased<'_, '_>, search: &Search) -> Result<(), Failure> {
    for turn in &search.turns {
        let wrong = turn.wrong.as_ref().and_then(|w| turn.level.flows.iter().position(|f| f == w));
        answer.levels.push(row(phased, &turn.level, turn.asked, wrong)?);
    }
    answer.questions = search.questions;
    answer.shown = search.shown;
    if !search.stopped {
        let mut found = phased.summarise_line(search.found.node).map_err(|e| failed(&e))?;
        found.file = source::short(&found.file);
        answer.found = Some(found);
    }
    Ok(())
}

fn row(
    phased: &Phased<'_, '_>,
    level: &Level,
    asked: bool,
    wrong: Option<usize>,
) -> Result<LevelRow, Failure> {
    let told = phased.tell(level).map_err(|e| failed(&e))?.renamed(source::short);
    Ok(LevelRow { told, asked, wrong })
}

fn print(answer: &Answer, session: &mut Session) -> Result<Exit, Failure> {
    let paint = session.paint;
    let out = &mut session.out;
    for (n, LevelRow { told, wrong, .. }) in answer.levels.iter().enumerate() {
        writeln!(out, "{}", paint.name(format_args!("Level {}, in {}:", n + 1, told.function)))?;
        for (i, p) in told.phases.iter().enumerate() {
            let mark = if p.asked { "  (asked about)" } else { "" };
            writeln!(out, "  {:>3}  {}{mark}", i + 1, p.title())?;
        }
        for (i, f) in told.flows.iter().enumerate() {
            let used: Vec<String> = f.used_in.iter().map(|u| (u + 1).to_string()).collect();
            let mark = if *wrong == Some(i) { '>' } else { ' ' };
            let place = source::place(&f.place.file, f.place.line, &f.place.function);
            writeln!(out, "{mark} {} -> {}  {place}  {}", f.made_in + 1, used.join(", "), f.title())?;
        }
        writeln!(out)?;
    }
    if let Some(found) = &answer.found {
        writeln!(
            out,
            "{} {}, in {}: {}, {}, {} of {} shown.",
            paint.good("It went wrong at"),
            source::place(&found.file, found.line, &found.function),
            found.function,
            counted(answer.levels.len() as u64, "level"),
            counted(answer.questions as u64, "question"),
            answer.shown,
            counted(answer.executions as u64, "execution"),
        )?;
    }
    if let Some(chains) = &answer.chains {
        let all = counted(chains.examined as u64, "execution");
        writeln!(
            out,
            "{}",
            paint.faint(format_args!("Along chains of up to {} it would have been {all}.", chains.length))
        )?;
    }
    answer.bounds.write(out)?;
    if answer.bounds.truncated {
        writeln!(out, "\nThe slice is longer than what is kept of it; levels may lack what came first.")?;
    }
    Ok(Exit::Done)
}
