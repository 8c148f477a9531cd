//! `relapse slice`: everything a value came from.

mod bounds;
mod browse;
mod chain;
mod edges;
mod listing;
mod phases;
mod why;

use crate::failure::{Exit, Failure};
use crate::source::{self, Spot};
use crate::{Session, opened, progress};
use bounds::Bounds;
use clap::{Args, ValueEnum};
use program::names::readable;
use replay::process::{LoadedProcess, Options};
use serde::Serialize;
use slice::chain::{ChainOptions, Link};
use slice::{Criterion, Origin, Precision, Relevance, Request, Site, Slice, Slicer, SlicerOptions};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::atomic::AtomicBool;

/// How long it is asked why.
const WHY: std::time::Duration = std::time::Duration::from_secs(60);

/// Show what a value, an output byte or a failure came from
///
/// Walks back through the recorded run from what is asked about, along data and
/// decisions, across calls and threads, and marks every source line on the way.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  relapse slice run --at sum.c:7:total      why did `total` have its value?
  relapse slice run --output stdout@12      what made byte 12 of the output?
  relapse slice run --at sum.c:7 --relevant what was not done that could have been?
  relapse slice run --failure --chain       where did the crash come from, with values?
  relapse slice run --failure --phases      what did one part of the run give to another?
                                            (in a terminal: a tree to walk in)
  relapse slice run --failure --why         what made it inevitable?")]
pub struct SliceArgs {
    /// Directory of the recording
    recording: PathBuf,
    #[command(flatten)]
    question: Question,
    /// Only this process, counted from 0 in the order they started
    #[arg(long, value_name = "N")]
    process: Option<usize>,
    /// Also what could have gone another way: decisions by which something was not done
    #[arg(long)]
    relevant: bool,
    #[command(flatten)]
    ways: WayArgs,
    /// Follow values past plain copies, with the values
    #[arg(long)]
    chain: bool,
    /// Only what made it inevitable, and what let that run: by formulas and a solver
    #[arg(long, conflicts_with = "chain")]
    why: bool,
    /// The solver, with its arguments [default: cvc5, bitwuzla or z3, what is there]
    #[arg(long, value_name = "CMD", requires = "why")]
    solver: Option<String>,
    /// In phases of the run: what one phase gave to another, level by level
    #[arg(long, conflicts_with_all = ["chain", "why"])]
    phases: bool,
    /// Lines whose values are wrong, one FILE:LINE[:VAR] each: the search goes where they lead
    #[arg(long, value_name = "FILE", requires = "phases")]
    oracle: Option<PathBuf>,
    /// Write the levels as a page to unfold
    #[arg(long, value_name = "FILE", requires = "phases")]
    html: Option<PathBuf>,
    /// Cut rounds of a loop, and statements, into about so many groups
    #[arg(long, value_name = "N", default_value_t = 10, requires = "phases")]
    groups: usize,
    /// At most so many links of the chain
    #[arg(long, value_name = "N", default_value_t = 40)]
    links: usize,
    /// Answer in JSON (schema relapse.slice/1)
    #[arg(long)]
    json: bool,
}

/// How relevant slices are made.
#[derive(Clone, Copy, Debug, Args)]
struct WayArgs {
    /// How exactly pointers are followed where nothing ran
    #[arg(long, value_enum, value_name = "HOW", default_value_t = PrecisionArg::Directed, requires = "relevant")]
    pointers: PrecisionArg,
    /// Leave out what could have gone another way inside of libraries
    #[arg(long, requires = "relevant")]
    no_libraries: bool,
    /// Ask branches until so many executions are part of the slice
    #[arg(long, value_name = "N", default_value_t = slice::relevance::LIMIT, requires = "relevant")]
    limit: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PrecisionArg {
    /// What flows together is one (Steensgaard)
    Unified,
    /// What flows one way flows one way (Andersen)
    Directed,
}

impl SliceArgs {
    fn relevance(&self) -> Option<Relevance> {
        self.relevant.then_some(Relevance {
            precision: match self.ways.pointers {
                PrecisionArg::Unified => Precision::Unified,
                PrecisionArg::Directed => Precision::Directed,
            },
            libraries: !self.ways.no_libraries,
            limit: self.ways.limit,
            ..Relevance::default()
        })
    }
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct Question {
    /// A line as it last ran: all it used; or a variable as it was before
    #[arg(long, value_name = "FILE:LINE[:VAR]")]
    at: Option<Point>,
    /// A byte of an output: stdout, stderr, or the end of a file's path
    #[arg(long, value_name = "SINK@OFFSET")]
    output: Option<Byte>,
    /// The crash, the abort, or what decided the exit status
    #[arg(long)]
    failure: bool,
}

/// `FILE:LINE` or `FILE:LINE:VAR`
#[derive(Clone, Debug)]
struct Point {
    spot: Spot,
    variable: Option<String>,
}

impl FromStr for Point {
    type Err = String;

    fn from_str(text: &str) -> Result<Point, String> {
        let shape =
            |_| format!("{text:?} is not of the form FILE:LINE or FILE:LINE:VAR, such as main.c:12:sum");
        if let Ok(spot) = text.parse() {
            return Ok(Point { spot, variable: None });
        }
        let (spot, variable) = text.rsplit_once(':').ok_or_else(|| shape(()))?;
        let spot = spot.parse::<Spot>().map_err(|_| shape(()))?;
        Ok(Point { spot, variable: Some(variable.to_owned()) })
    }
}

/// `stdout@12`
#[derive(Clone, Debug)]
struct Byte {
    sink: String,
    offset: u64,
}

impl FromStr for Byte {
    type Err = String;

    fn from_str(text: &str) -> Result<Byte, String> {
        let shape = || format!("{text:?} is not of the form SINK@OFFSET, such as stdout@0");
        let (sink, offset) = text.rsplit_once('@').filter(|(s, _)| !s.is_empty()).ok_or_else(shape)?;
        Ok(Byte { sink: sink.to_owned(), offset: offset.parse().map_err(|_| shape())? })
    }
}

#[derive(Debug, Serialize)]
struct Answer {
    schema: &'static str,
    process: String,
    question: String,
    /// `dynamic` or `relevant`.
    kind: &'static str,
    /// Where the way back began.
    criteria: Vec<At>,
    /// Marked lines, by file and number.
    lines: Vec<Line>,
    /// Where it ended.
    origins: Vec<End>,
    chain: Option<Vec<chain::Row>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    causes: Option<Vec<why::Row>>,
    instructions: u64,
    executions: u64,
    #[serde(flatten)]
    bounds: Bounds,
}

#[derive(Debug, Serialize)]
struct At {
    stream: u32,
    instruction: u64,
}

#[derive(Debug, Serialize)]
struct Line {
    file: String,
    line: u32,
    function: String,
    /// How often an instruction of the line is on the way, at most.
    count: u64,
    /// It is there only because it could have gone another way.
    potential: bool,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
struct End {
    kind: &'static str,
    name: Option<String>,
    file: Option<String>,
    line: Option<u32>,
}

pub fn run(args: &SliceArgs, session: &mut Session) -> Result<Exit, Failure> {
    let recording = opened::recording(&args.recording)?;
    let (mut reason, mut output_start) = (None, None);
    for (number, process) in recording.processes.iter().enumerate() {
        if args.process.is_some_and(|n| n != number) {
            continue;
        }
        let loaded = LoadedProcess::load(&recording, process, &Options::default());
        let loaded = loaded.map_err(|e| opened::cannot_load(&e))?;
        let slicer = Slicer::new(&loaded, SlicerOptions::default());
        match ask(&slicer, &args.question, &mut output_start)? {
            Ok(criteria) => {
                opened::warn_of_edits([&loaded]);
                return answer(args, session, &slicer, &criteria);
            }
            Err(why) => reason = reason.or(Some(why)),
        }
    }
    Err(reason.unwrap_or_else(|| {
        let n = recording.processes.len();
        Failure::new(Exit::Usage, format_args!("the recording has no process {}", args.process.unwrap_or(0)))
            .hint(format_args!("It has {n}, counted from 0."))
    }))
}

fn failed(error: &slice::Error) -> Failure {
    match error {
        slice::Error::Inconsistent(_) => Failure::failed_to(Exit::Internal, error)
            .hint("Please report it, with the recording and its program."),
        _ => Failure::failed_to(Exit::BadInput, error),
    }
}

/// The question as criteria, or why this process has no answer. Bytes of an output are counted from
/// the first one that any process wrote; `output_start` says where that is, once it is known.
fn ask(
    slicer: &Slicer<'_>,
    question: &Question,
    output_start: &mut Option<u64>,
) -> Result<Result<Vec<Criterion>, Failure>, Failure> {
    if let Some(point) = &question.at {
        edges::only_one(slicer, &point.spot)?;
    }
    let found = if let Some(point) = &question.at {
        let Spot { file, line } = &point.spot;
        match &point.variable {
            None => slicer.ask_line(file, *line),
            Some(name) => slicer.ask_variable(file, *line, name).map(|c| c.into_iter().collect()),
        }
    } else if let Some(byte) = &question.output {
        if output_start.is_none() {
            *output_start = slicer.output_start(&byte.sink).map_err(|e| failed(&e))?;
        }
        let offset = byte.offset.saturating_add(output_start.unwrap_or(0));
        slicer.ask_output(&byte.sink, offset).map(|c| c.into_iter().collect())
    } else if slicer.has_succeeded().map_err(|e| failed(&e))? {
        let what = "the process did not fail: it ended with status 0";
        return Ok(Err(
            Failure::new(Exit::No, what).hint("Ask about a line (--at) or its output (--output).")
        ));
    } else {
        slicer.ask_failure().map(|c| c.into_iter().collect())
    };
    let found = found.map_err(|e| failed(&e))?;
    if !found.is_empty() {
        return Ok(Ok(found));
    }
    Ok(Err(match (&question.at, &question.output) {
        (Some(point), _) => edges::nothing_there(slicer, point).map_err(|e| failed(&e))?,
        (_, Some(byte)) => {
            let what = format!("no recorded call wrote byte {} of {}", byte.offset, byte.sink);
            Failure::new(Exit::No, what).hint("`relapse dump io DIR` lists what was written.")
        }
        _ => Failure::new(Exit::No, "the recording does not show how the process ended"),
    }))
}

/// The slice, as far as it goes until somebody interrupts.
fn walk_back(
    args: &SliceArgs,
    session: &Session,
    slicer: &Slicer<'_>,
    criteria: &[Criterion],
    stop: &AtomicBool,
) -> Result<Slice, Failure> {
    let bar = progress::bar(session.watched, "walking back", 1);
    let request = Request { criteria, relevance: args.relevance(), stop: Some(stop) };
    let slice = slicer.ask(&request, &mut |p| {
        bar.set_length(p.of);
        bar.set_position(p.walked.min(p.of));
    });
    bar.finish_and_clear();
    slice.map_err(|e| failed(&e))
}

fn answer(
    args: &SliceArgs,
    session: &mut Session,
    slicer: &Slicer<'_>,
    criteria: &[Criterion],
) -> Result<Exit, Failure> {
    if args.phases {
        return phases::run(args, session, slicer, criteria, question(&args.question));
    }
    let slice = walk_back(args, session, slicer, criteria, &edges::on_interrupt())?;
    let lines = lines(slicer, &slice);
    let rows = if args.chain { Some(links(slicer, &slice, args.links)?) } else { None };
    let causes = if args.why { Some(why::rows(slicer, &slice, WHY, args.solver.as_deref())?) } else { None };
    let answer = Answer {
        schema: "relapse.slice/1",
        process: slicer.process().name.clone(),
        question: question(&args.question),
        kind: kind(args),
        criteria: criteria.iter().map(|c| At { stream: c.at.stream, instruction: c.at.step }).collect(),
        lines,
        origins: origins(&slice),
        chain: rows,
        causes,
        instructions: slice.walked,
        executions: slice.sites.values().map(|t| t.count).sum(),
        bounds: Bounds::of(&slice),
    };
    let exit = if args.json {
        session.json(&answer)?
    } else {
        match (&answer.chain, &answer.causes) {
            (Some(rows), _) => chain::print(rows, session)?,
            (_, Some(rows)) => why::print(rows, session)?,
            _ => listing::print(&answer, session)?,
        }
    };
    if slice.incomplete {
        return Err(edges::incomplete());
    }
    Ok(exit)
}

fn kind(args: &SliceArgs) -> &'static str {
    match args.relevance() {
        None => "dynamic",
        Some(_) => "relevant",
    }
}

fn question(q: &Question) -> String {
    match (&q.at, &q.output) {
        (Some(Point { spot, variable: None }), _) => format!("{}:{}", spot.file, spot.line),
        (Some(Point { spot, variable: Some(v) }), _) => format!("{v} at {}:{}", spot.file, spot.line),
        (_, Some(b)) => format!("byte {} of {}", b.offset, b.sink),
        _ => "the failure".to_owned(),
    }
}

fn lines(slicer: &Slicer<'_>, slice: &Slice) -> Vec<Line> {
    let mut all: BTreeMap<(String, u32), Line> = BTreeMap::new();
    let only = potential_sites(slice);
    for (site, taken) in &slice.sites {
        let module = slicer.process().image.module(site.module);
        let function = &module.functions[site.function as usize];
        let place = function.place(site.index as usize);
        if place.line == 0 {
            continue;
        }
        let file = module.file_path(place.file);
        let line = all.entry((file.clone(), place.line)).or_insert_with(|| Line {
            file: source::short(&file),
            line: place.line,
            function: readable(&function.name).into_owned(),
            count: 0,
            potential: only.contains(site),
        });
        line.potential &= only.contains(site);
        line.count = line.count.max(taken.count);
    }
    all.into_values().collect()
}

/// Instructions that were taken only because they could have gone another way.
fn potential_sites(slice: &Slice) -> BTreeSet<Site> {
    let mut only: BTreeSet<Site> = slice.nodes.iter().filter(|n| n.potential).map(|n| n.site).collect();
    if !only.is_empty() {
        for node in slice.nodes.iter().filter(|n| !n.potential) {
            only.remove(&node.site);
        }
    }
    only
}

fn origins(slice: &Slice) -> Vec<End> {
    let mut all: Vec<End> = slice
        .leaves
        .iter()
        .map(|leaf| match &leaf.origin {
            Origin::Outside { variable: Some(d), .. } | Origin::Unwritten { variable: Some(d), .. } => End {
                kind: "variable",
                name: (!d.name.starts_with('.')).then(|| d.name.clone()),
                file: (d.line > 0).then(|| source::short(&d.file)),
                line: (d.line > 0).then_some(d.line),
            },
            Origin::Outside { .. } => End { kind: "outside", name: None, file: None, line: None },
            Origin::Unwritten { .. } => End { kind: "unwritten", name: None, file: None, line: None },
            Origin::Stream { .. } => End { kind: "thread", name: None, file: None, line: None },
            Origin::Parameter { function, .. } => {
                End { kind: "parameter", name: Some(function.clone()), file: None, line: None }
            }
        })
        .collect();
    all.sort();
    all.dedup();
    all
}

fn links(slicer: &Slicer<'_>, slice: &Slice, most: usize) -> Result<Vec<chain::Row>, Failure> {
    let Some(start) = slice.criteria.iter().flatten().next() else { return Ok(Vec::new()) };
    let options = ChainOptions { max_links: most.max(1), ..ChainOptions::default() };
    let links: Vec<Link> = slice::chain::chain(slicer, slice, *start, options);
    chain::rows(slicer, slice, &links).map_err(|e| failed(&e))
}
