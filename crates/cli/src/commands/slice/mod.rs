//! `relapse slice`: all computations that a value depends on.

mod across;
mod bounds;
mod browse;
mod chain;
mod edges;
mod listing;
mod order;
mod phases;
mod unrecorded;
mod why;

use crate::failure::{Exit, Failure};
use crate::source::{self, LineSpec};
use crate::which::{self, WhichArgs};
use crate::{Session, opened, progress};
use bounds::Bounds;
use clap::{Args, ValueEnum};
use expression::Expression;
use program::names::readable;
use recording::Recording;
use serde::Serialize;
use slice::chain::{ChainOptions, Link};
use slice::{Criterion, Origin, Precision, Relevance, Request, Site, Slice, Slicer};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::atomic::AtomicBool;

/// The time limit of `--why`.
const WHY_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(60);

/// Show what a value, an output byte or a failure depends on
///
/// Computes a backward slice of the recorded run, along data and control dependences, across calls and
/// threads, and marks every source line in it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  relapse slice run --at sum.c:7:total      why did `total` have its value?
  relapse slice run --at 'sum.c:7:p->next'  the same of an expression in C
  relapse slice run --at sum.c:7 --when 'i == 3'
                                            what did line 7 use in that round?
  relapse slice run --output stdout@12      what made byte 12 of the output?
  relapse slice run --output stderr:'no such' why was that written?
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
    #[command(flatten)]
    which: WhichArgs,
    /// Only this process, counted from 0 in the order they started
    #[arg(long, value_name = "N")]
    process: Option<usize>,
    /// Include potential dependences: branches that could have mattered if they had taken another edge
    #[arg(long)]
    relevant: bool,
    #[command(flatten)]
    ways: RelevanceArgs,
    /// Follow values past plain copies, with the values
    #[arg(long)]
    chain: bool,
    /// Only what made the value inevitable, and the branches that control it: by formulas and a solver
    #[arg(long, conflicts_with = "chain")]
    why: bool,
    /// The solver, with its arguments [default: cvc5, bitwuzla or z3, if installed]
    #[arg(long, value_name = "CMD", requires = "why")]
    solver: Option<String>,
    /// In phases of the run: the values that one phase passed to another, level by level
    #[arg(long, conflicts_with_all = ["chain", "why"])]
    phases: bool,
    /// Lines with wrong values, one FILE:LINE[:VAR] each: the search follows them
    #[arg(long, value_name = "FILE", requires = "phases")]
    oracle: Option<PathBuf>,
    /// Write the levels as a page to unfold
    #[arg(long, value_name = "FILE", requires = "phases")]
    html: Option<PathBuf>,
    /// Divide loop iterations, and statements, into about this number of groups
    #[arg(long, value_name = "N", default_value_t = 10, requires = "phases")]
    groups: usize,
    /// Maximum number of links of the chain
    #[arg(long, value_name = "N", default_value_t = 40)]
    links: usize,
    /// Answer in JSON (schema relapse.slice/1)
    #[arg(long)]
    json: bool,
}

/// How relevant slices are made.
#[derive(Clone, Copy, Debug, Args)]
struct RelevanceArgs {
    /// Precision of the points-to analysis for code that did not run
    #[arg(long, value_enum, value_name = "HOW", default_value_t = PrecisionArg::Directed, requires = "relevant")]
    pointers: PrecisionArg,
    /// Leave out potential dependences inside libraries
    #[arg(long, requires = "relevant")]
    no_libraries: bool,
    /// Compute potential dependences up to this number of executions in the slice
    #[arg(long, value_name = "N", default_value_t = slice::relevance::LIMIT, requires = "relevant")]
    limit: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PrecisionArg {
    /// Unification-based (Steensgaard)
    Unified,
    /// Inclusion-based (Andersen)
    Directed,
}

impl SliceArgs {
    fn relevance(&self) -> Option<Relevance> {
        self.relevant.then_some(Relevance {
            precision: match self.ways.pointers {
                PrecisionArg::Unified => Precision::Steensgaard,
                PrecisionArg::Directed => Precision::Andersen,
            },
            libraries: !self.ways.no_libraries,
            limit: self.ways.limit,
            ..Relevance::default()
        })
    }
}

#[derive(Clone, Debug, Args)]
#[group(required = true, multiple = false)]
struct Question {
    /// The last execution of a line: all it used; or an expression in C before it
    #[arg(long, value_name = "FILE:LINE[:EXPR]")]
    at: Option<Point>,
    /// A byte of an output (stdout, stderr, or the end of a file's path), or a text in it
    #[arg(long, value_name = "SINK@OFFSET|SINK:TEXT")]
    output: Option<Written>,
    /// The crash, the abort, or what determined the exit status
    #[arg(long)]
    failure: bool,
}

impl Question {
    /// Moves a line without code to the next statement, with a message.
    fn moved_to_statement(&self, slicer: &Slicer<'_>) -> Question {
        let mut question = self.clone();
        if let Some(point) = &mut question.at {
            source::move_to_statement(&slicer.process().image, &mut point.spot);
        }
        question
    }
}

/// `FILE:LINE` or `FILE:LINE:EXPR`
#[derive(Clone, Debug)]
struct Point {
    spot: LineSpec,
    expression: Option<Expression>,
}

impl FromStr for Point {
    type Err = String;

    fn from_str(text: &str) -> Result<Point, String> {
        let shape =
            || format!("{text:?} is not of the form FILE:LINE or FILE:LINE:EXPR, such as main.c:12:sum");
        // The expression may contain colons, and so may the file's name.
        for (colon, _) in text.match_indices(':') {
            let end = text[colon + 1..].find(':').map_or(text.len(), |n| colon + 1 + n);
            let Ok(spot) = text[..end].parse() else { continue };
            let expression = text.get(end + 1..).map(which::parsed).transpose()?;
            return Ok(Point { spot, expression });
        }
        Err(shape())
    }
}

/// `stdout@12`, or `stderr:"text"`
#[derive(Clone, Debug)]
struct Written {
    sink: String,
    what: Content,
}

#[derive(Clone, Debug)]
enum Content {
    Offset(u64),
    Text(String),
}

impl FromStr for Written {
    type Err = String;

    fn from_str(text: &str) -> Result<Written, String> {
        let shape = || {
            format!(
                "{text:?} is not of the form SINK@OFFSET or SINK:TEXT, such as stdout@0 or stderr:\"error\""
            )
        };
        let at = text.rsplit_once('@').and_then(|(sink, offset)| Some((sink, offset.parse().ok()?)));
        if let Some((sink, offset)) = at.filter(|(sink, _)| !sink.is_empty() && !sink.contains(':')) {
            return Ok(Written { sink: sink.to_owned(), what: Content::Offset(offset) });
        }
        let (sink, said) =
            text.split_once(':').filter(|(s, t)| !s.is_empty() && !t.is_empty()).ok_or_else(shape)?;
        // The shell removes one pair of quotes. A second, quoted pair has the same meaning.
        let said = match said.strip_prefix('"').and_then(|t| t.strip_suffix('"')).filter(|t| !t.is_empty()) {
            Some(quoted) => quoted.replace("\\n", "\n").replace("\\t", "\t").replace("\\\"", "\""),
            None => said.to_owned(),
        };
        Ok(Written { sink: sink.to_owned(), what: Content::Text(said) })
    }
}

#[derive(Debug, Serialize)]
struct Answer {
    schema: &'static str,
    process: String,
    question: String,
    /// `dynamic` or `relevant`.
    kind: &'static str,
    /// The executions from which the backward pass starts.
    criteria: Vec<At>,
    /// The lines in the slice, by file and number.
    lines: Vec<Line>,
    /// The inputs and other origins at which the slice ends.
    origins: Vec<End>,
    chain: Option<Vec<chain::Row>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    causes: Option<Vec<why::Row>>,
    instructions: u64,
    executions: u64,
    #[serde(flatten)]
    bounds: Bounds,
    /// Slices of other processes, for what they wrote and this one read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    writers: Vec<Answer>,
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
    /// The maximum of the execution counts of the line's instructions in the slice.
    count: u64,
    /// It is in the slice only because an alternative of a branch could have mattered.
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
    let mut question = args.question.clone();
    let count = recording.processes.len();
    let order = match args.process {
        Some(number) => (number < count).then_some((number, None)).into_iter().collect(),
        None if question.output.is_some() => (0..count).map(|number| (number, None)).collect(),
        None => order::by_failure(&recording),
    };
    let mut numbers: Vec<usize> = order.iter().map(|(number, _)| *number).collect();
    // Output that another process reads is considered only if no other process matches.
    let (mut between, mut pipes_between) = (Vec::new(), None);
    while !numbers.is_empty() || !between.is_empty() {
        let is_last = numbers.is_empty();
        let number = if is_last { between.remove(0) } else { numbers.remove(0) };
        let loaded = opened::process(&recording, &recording.processes[number])?;
        let slicer = Slicer::new(&loaded, opened::slicing());
        if let Some(written) = &question.output
            && !is_last
            && args.process.is_none()
            && recording.processes.len() > 1
            && let Some(pipe) = slicer.piped(&written.sink).map_err(|e| failed(&e))?
        {
            let known = match &pipes_between {
                Some(known) => known,
                None => pipes_between.insert(across::pipes_between(&recording)?),
            };
            if known.contains(&pipe) {
                between.push(number);
                continue;
            }
        }
        question = question.moved_to_statement(&slicer);
        match ask(&slicer, &question, &args.which, &mut output_start)? {
            Ok(criteria) => {
                opened::warn_of_changed_sources([&loaded]);
                if let Some((_, Some(how))) = order.iter().find(|(asked, _)| *asked == number) {
                    eprintln!("relapse: process {number} is asked, which {how}; --process takes another");
                }
                let asked = words(&question, &args.which);
                return answer(args, session, (&recording, number), &slicer, &criteria, asked);
            }
            // The failure of a process that has the file is more specific than that of one that does not.
            Err(why) => match &reason {
                Some(Failure { exit, .. }) if *exit != Exit::Usage || why.exit == Exit::Usage => {}
                _ => reason = Some(why),
            },
        }
    }
    if let Some(written) = &question.output
        && args.process.is_none()
        && let Some((number, started)) = unrecorded::writer(&recording, written)?
    {
        let loaded = opened::process(&recording, &recording.processes[number])?;
        let slicer = Slicer::new(&loaded, opened::slicing());
        let asked = unrecorded::words(&started);
        return answer(args, session, (&recording, number), &slicer, &[started.criterion], asked);
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

/// The criteria of the question, or the reason why this process has no answer. Offsets in output are counted
/// from the first byte that any process wrote; `output_start` caches the position of that byte.
fn ask(
    slicer: &Slicer<'_>,
    question: &Question,
    which: &WhichArgs,
    output_start: &mut Option<u64>,
) -> Result<Result<Vec<Criterion>, Failure>, Failure> {
    let found = if let Some(point) = &question.at {
        edges::check_unambiguous(slicer, &point.spot)?;
        match edges::ask_at(slicer, point, which)? {
            Ok(found) => Ok(found),
            Err(failure) => return Ok(Err(failure)),
        }
    } else if let Some(written) = &question.output {
        edges::ask_written(slicer, written, which, output_start)
    } else if slicer.has_succeeded().map_err(|e| failed(&e))? {
        let what = "the process did not fail: it ended with status 0";
        return Ok(Err(
            Failure::new(Exit::No, what).hint("Ask about a line (--at) or its output (--output).")
        ));
    } else {
        slicer.failure_criterion().map(|c| c.into_iter().collect())
    };
    let found = found.map_err(|e| failed(&e))?;
    if !found.is_empty() {
        return Ok(Ok(found));
    }
    Ok(Err(match (&question.at, &question.output) {
        (Some(point), _) => edges::no_execution(slicer, point, which).map_err(|e| failed(&e))?,
        (_, Some(written)) => edges::no_such_output(written, which),
        _ => Failure::new(Exit::No, "the recording does not show how the process ended"),
    }))
}

/// Computes the slice, which is partial if the user interrupts.
fn compute_slice(
    args: &SliceArgs,
    session: &Session,
    slicer: &Slicer<'_>,
    criteria: &[Criterion],
    stop: &AtomicBool,
) -> Result<Slice, Failure> {
    let bar = progress::bar(session.watched, "walking back", 1);
    let request = Request { criteria, relevance: args.relevance(), stop: Some(stop), ..Request::default() };
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
    (recording, process): (&Recording, usize),
    slicer: &Slicer<'_>,
    criteria: &[Criterion],
    question: String,
) -> Result<Exit, Failure> {
    if args.phases {
        return phases::run(args, session, slicer, criteria, question);
    }
    let stop = edges::on_interrupt();
    let (mut answer, slice) = one(args, session, slicer, criteria, question, &stop)?;
    if args.process.is_none() {
        answer.writers = across::follow(args, session, recording, process, slicer, &slice, &stop)?;
    }
    let exit = if args.json { session.json(&answer)? } else { print(&answer, session)? };
    if slice.incomplete {
        return Err(edges::incomplete());
    }
    Ok(exit)
}

/// The answer for one process.
fn one(
    args: &SliceArgs,
    session: &Session,
    slicer: &Slicer<'_>,
    criteria: &[Criterion],
    question: String,
    stop: &AtomicBool,
) -> Result<(Answer, Slice), Failure> {
    let slice = compute_slice(args, session, slicer, criteria, stop)?;
    let lines = lines(slicer, &slice);
    let rows = if args.chain { Some(links(slicer, &slice, args.links)?) } else { None };
    let causes =
        if args.why { Some(why::rows(slicer, &slice, WHY_TIMEOUT, args.solver.as_deref())?) } else { None };
    let answer = Answer {
        schema: "relapse.slice/1",
        process: slicer.process().name.clone(),
        question,
        kind: kind(args),
        criteria: criteria.iter().map(|c| At { stream: c.at.stream, instruction: c.at.step }).collect(),
        lines,
        origins: origins(&slice),
        chain: rows,
        causes,
        instructions: slice.walked,
        executions: slice.sites.values().map(|t| t.count).sum(),
        bounds: Bounds::of(&slice),
        writers: Vec::new(),
    };
    Ok((answer, slice))
}

fn print(answer: &Answer, session: &mut Session) -> Result<Exit, Failure> {
    let is_listed = answer.chain.is_none() && answer.causes.is_none();
    let exit = match (&answer.chain, &answer.causes) {
        (Some(rows), _) => chain::print(rows, session)?,
        (_, Some(rows)) => why::print(rows, session)?,
        _ => listing::print(answer, session)?,
    };
    for writer in &answer.writers {
        writeln!(session.out)?;
        if !is_listed {
            writeln!(session.out, "{}:", writer.question)?;
        }
        print(writer, session)?;
    }
    Ok(exit)
}

fn kind(args: &SliceArgs) -> &'static str {
    match args.relevance() {
        None => "dynamic",
        Some(_) => "relevant",
    }
}

/// The question as text.
fn words(q: &Question, which: &WhichArgs) -> String {
    match (&q.at, &q.output) {
        (Some(Point { spot, expression }), _) => {
            let place = format!("{}:{}{}", spot.file, spot.line, which.words());
            expression.as_ref().map_or_else(|| place.clone(), |e| format!("{} at {place}", e.text))
        }
        (_, Some(Written { sink, what: Content::Offset(n) })) => format!("byte {n} of {sink}"),
        (_, Some(Written { sink, what: Content::Text(text) })) => {
            format!("{} in {sink}{}", replay::vars::quoted(text), which.words())
        }
        _ => "the failure".to_owned(),
    }
}

fn lines(slicer: &Slicer<'_>, slice: &Slice) -> Vec<Line> {
    let mut all: BTreeMap<(String, u32), Line> = BTreeMap::new();
    let only = potential_only_sites(slice);
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

/// Instructions that are in the slice only because of branch alternatives that were not taken.
fn potential_only_sites(slice: &Slice) -> BTreeSet<Site> {
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
