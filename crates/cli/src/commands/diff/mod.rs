//! `relapse diff`: the differences between two recorded runs.

pub mod answer;
pub mod text;

use crate::failure::{Exit, Failure};
use crate::render::counted;
use crate::{Session, opened};
use clap::Args;
use contract::checking::Wanted;
use contract::intended::{CallPair, Intended};
use contract::watch::Bounds;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use views::column::Budget;
use views::compare::{Settings, compare};
use views::extract::Options;
use views::filter::{Choice, Which, backwards, depends_on, first, relevant};
use views::page::{Room, page};
use views::told::SummaryLimits;
use views::trace::Trace;

/// Show the differences between two runs, of one program or of two versions of it
///
/// OLD and NEW are recordings. Their runs are compared event by event: calls, returns, fields and variables
/// read and written, allocations. Addresses are never compared, nor are values computed from them, from the
/// time, from process numbers or from randomness: two runs of one program on one input are equal. Events that
/// only moved are recognised, through the views of functions and objects that they belong to.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  relapse diff old new                       what differs, in the order of time
  relapse diff old new --first               the earliest point at which a value differs
  relapse diff old new --last                from the end, or the failure, backwards
  relapse diff old new --only variable:list.n
                                             where that field differs
  relapse diff old new --html runs.html      the same as a page, with views to jump to
  relapse diff old new --first --ignore function:log_line
                                             the same, but what that function does does not count

Runs may part because of a value that is another one in every run: a timeout, the order of a
hash table whose seed is an address. Such sequences are counted; --all shows them.

The exit code is 0 if nothing else differs and 1 if something does.")]
pub struct DiffArgs {
    /// Recording of the one run
    old: PathBuf,
    /// Recording of the other
    new: PathBuf,
    /// Only the earliest difference that matters
    #[arg(long)]
    first: bool,
    /// In reverse order: the last difference comes first
    #[arg(long, conflicts_with = "first")]
    last: bool,
    /// Ignore differences in function:NAME, file:NAME, variable:NAME or thread:NUMBER; may be repeated
    #[arg(long, value_name = "WHAT")]
    ignore: Vec<Which>,
    /// Only differences in function:NAME, file:NAME, variable:NAME or thread:NUMBER; may be repeated
    #[arg(long, value_name = "WHAT")]
    only: Vec<Which>,
    /// Number of sequences of differences to show
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Show everything, including differences that depend on addresses, time or randomness
    #[arg(long, conflicts_with = "limit")]
    all: bool,
    #[command(flatten)]
    pub how: HowArgs,
    #[command(flatten)]
    meant: MeantArgs,
    /// Write a page with both runs side by side
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Answer in JSON (schema relapse.diff/1)
    #[arg(long)]
    json: bool,
}

/// How runs are read and compared.
#[derive(Debug, Args)]
pub struct HowArgs {
    /// Number of events around a position that are compared
    #[arg(long, value_name = "N", default_value_t = 32)]
    window: usize,
    /// Functions of different names never correspond
    #[arg(long)]
    strict: bool,
    /// Leave reads out
    #[arg(long)]
    no_gets: bool,
    /// The process of each recording, counted from 0
    #[arg(long, value_name = "N")]
    process: Option<usize>,
    /// Memory for events, in MiB; the rest goes to disk
    #[arg(long, value_name = "MIB", default_value_t = 6144)]
    memory: u64,
}

/// What was meant to differ.
#[derive(Debug, Args)]
pub struct MeantArgs {
    /// Ignore calls that differ as the contracts in this file describe, or those in comments of NEW's sources
    /// (docs/contracts.md)
    #[arg(long, value_name = "FILE")]
    contracts: Option<PathBuf>,
    /// The same with the contracts in comments only
    #[arg(long)]
    intended: bool,
}

impl MeantArgs {
    /// The comparison of two recordings by contracts, if any are selected.
    pub fn ask(
        &self,
        paths: [&Path; 2],
        numbers: [usize; 2],
        how: &HowArgs,
    ) -> Result<Option<Intended>, Failure> {
        let asked = super::contract::given::asked(self.contracts.as_deref(), self.intended)?;
        let Some(contracts) = asked else { return Ok(None) };
        let failed = |error| super::contract::given::failure(&error, false);
        let bounds = Bounds { calls: 100_000, bytes: how.memory << 20 };
        let wanted = Wanted { contracts, unchanged: None, bounds, proofs: false };
        let recordings = [&opened::recording(paths[0])?, &opened::recording(paths[1])?];
        contract::recorded::intended(recordings, numbers, &wanted).map(Some).map_err(failed)
    }
}

impl HowArgs {
    pub fn settings(&self) -> Settings {
        Settings { window: self.window, relaxed: !self.strict, deadline: None }
    }

    /// The index of the process in each recording.
    pub fn process(&self) -> usize {
        self.process.unwrap_or(0)
    }

    /// The index of the process in each of two recordings, and why it was chosen, if it is not the first:
    /// without a number, the one in which the difference between the runs was made.
    pub fn failing(&self, paths: [&Path; 2]) -> Result<([usize; 2], Option<String>), Failure> {
        if let Some(number) = self.process {
            return Ok(([number; 2], None));
        }
        let [old, new] = [opened::recording(paths[0])?, opened::recording(paths[1])?];
        let Some(found) = explain::failing::failing_pair(&old, &new) else { return Ok(([0; 2], None)) };
        let program = new.processes.get(found.new).map_or("", |process| process.info.executable.as_str());
        let program = program.rsplit('/').next().unwrap_or_default();
        let which = match found.old == found.new {
            true => format!("process {} ({}) is compared", found.new, program),
            false => format!("processes {} and {} ({}) are compared", found.old, found.new, program),
        };
        let why = format!("{which}, as it made the difference: {}; --process takes others", found.summary);
        Ok(([found.old, found.new], Some(why)))
    }

    /// Options for the extraction; all runs of the command share one memory budget.
    pub fn options(&self) -> Options {
        Options { gets: !self.no_gets, budget: Budget::new(self.memory << 20), ..Options::default() }
    }

    /// Extracts the events of recordings in parallel. In the first two, calls whose change a contract
    /// describes are marked.
    pub fn traces<const N: usize>(
        &self,
        paths: [&Path; N],
        numbers: [usize; N],
        meant: Option<&Intended>,
    ) -> Result<[Arc<Trace>; N], Failure> {
        self.traces_before(paths, numbers, meant, None)?.ok_or_else(|| failed(&views::Error::TimeUp))
    }

    /// The same; `None` if the deadline passes before.
    pub fn traces_before<const N: usize>(
        &self,
        paths: [&Path; N],
        numbers: [usize; N],
        meant: Option<&Intended>,
        deadline: Option<Instant>,
    ) -> Result<Option<[Arc<Trace>; N]>, Failure> {
        let plain = Options { deadline, ..self.options() };
        let options: Vec<Options> = (0..N)
            .map(|n| match meant {
                Some(meant) if n < 2 => Options { meant: Arc::new(meant.starts(n)), ..plain.clone() },
                _ => plain.clone(),
            })
            .collect();
        let mut recordings = Vec::new();
        for (path, number) in paths.into_iter().zip(numbers) {
            let recording = opened::recording(path)?;
            if number >= recording.processes.len() {
                let has = recording.processes.len();
                let what = format!("{} has no process {number}", path.display());
                return Err(Failure::new(Exit::Usage, what).hint(format!("It has {has}, counted from 0.")));
            }
            recordings.push(recording);
        }
        let all: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = recordings
                .iter()
                .zip(&options)
                .zip(numbers)
                .map(|((r, options), number)| scope.spawn(move || views::run::trace(r, number, options)))
                .collect();
            threads.into_iter().map(|t| t.join()).collect()
        });
        let mut traces = Vec::new();
        for result in all {
            let trace =
                result.map_err(|_| Failure::new(Exit::BadInput, "reading a run came to a bad end"))?;
            match trace {
                Err(views::Error::TimeUp) => return Ok(None),
                trace => traces.push(trace.map_err(|e| failed(&e))?),
            }
        }
        let others = views::signatures::reconcile(&mut traces);
        if let (false, Some(first)) = (others.is_empty(), traces.first_mut()) {
            let (some, more) = others.split_at(others.len().min(4));
            let more = if more.is_empty() { "" } else { ", ..." };
            first.notes.push(format!(
                "{}{more}: other parameters in the other version; calls are compared by those of the same name",
                some.join(", ")
            ));
        }
        let traces: Vec<Arc<Trace>> = traces.into_iter().map(Arc::new).collect();
        let traces = traces.try_into();
        traces.map(Some).map_err(|_| Failure::new(Exit::Usage, "there are not enough recordings"))
    }
}

/// The sentence, exit code and hint for an error.
pub fn failed(error: &views::Error) -> Failure {
    match error {
        views::Error::Replay(error) => opened::load_failure(error),
        views::Error::TooMany(_) => {
            Failure::failed_to(Exit::BadInput, error).hint("--no-gets leaves reads out.")
        }
        views::Error::TimeUp => Failure::failed_to(Exit::No, error).hint("Give it more time (--budget)."),
        views::Error::Spill(_) => Failure::failed_to(Exit::Environment, error)
            .hint("Events that do not fit into --memory are kept in the directory for temporary files."),
    }
}

/// The results of the contracts on the two runs, for the reader.
pub fn contract_notes(intended: &Intended) -> Vec<String> {
    let pairs = |pairs: &[CallPair], of: &str| pairs.iter().filter(|pair| pair.function == of).count() as u64;
    let told = |function: &String| {
        let changed = counted(pairs(&intended.fulfilled, function), "call");
        let mut text = format!("contract of {function}: {changed} changed as it says");
        match pairs(&intended.violated, function) {
            0 => {}
            n => {
                text += &format!(
                    ", {} did not, and {} shown",
                    counted(n, "call"),
                    if n == 1 { "is" } else { "are" }
                )
            }
        }
        text
    };
    intended.functions.iter().map(told).chain(intended.notes.iter().cloned()).collect()
}

pub fn run(args: &DiffArgs, session: &mut Session) -> Result<Exit, Failure> {
    let paths = [args.old.as_path(), args.new.as_path()];
    let (numbers, chosen) = args.how.failing(paths)?;
    let contracts = args.meant.ask(paths, numbers, &args.how)?;
    let [left, right] = args.how.traces(paths, numbers, contracts.as_ref())?;
    let start = std::time::Instant::now();
    let comparison = compare(&left, &right, &args.how.settings()).map_err(|e| failed(&e))?;
    let seconds = start.elapsed().as_secs_f64();
    let choice = Choice { ignore: args.ignore.clone(), only: args.only.clone() };
    let relevant = relevant(&comparison, &left, &right, &choice);
    let meant = views::filter::meant(&comparison, &left, &right);
    let ignored = comparison.sequences.len() - relevant.len() - meant;
    let is_steady = |n: &usize| depends_on(&comparison, &left, &right, *n) == 0;
    let steady: Vec<usize> = relevant.iter().copied().filter(is_steady).collect();
    let fleeting = relevant.len() - steady.len();
    let exit = if steady.is_empty() { Exit::Done } else { Exit::No };
    let shown = match args.all {
        true => relevant,
        false => steady,
    };
    let shown = match (args.first, args.last) {
        (true, _) => first(&comparison, &left, &right, &shown).into_iter().collect(),
        (_, true) => backwards(&comparison, &right, &shown),
        _ => shown,
    };
    let limit = if args.all { usize::MAX } else { args.limit };
    let extent =
        if args.all { SummaryLimits { rows: usize::MAX, context: 2 } } else { SummaryLimits::default() };
    let mut answer = answer::Answer::new(args, &left, &right, &comparison, seconds, &shown, limit, extent);
    (answer.ignored, answer.fleeting, answer.meant) = (ignored as u64, fleeting as u64, meant as u64);
    answer.notes.extend(chosen);
    if let Some(contracts) = &contracts {
        answer.notes.extend(contract_notes(contracts));
    }
    if let Some(file) = &args.html {
        let mut page =
            page(&comparison, &left, &right, &shown, Room::default()).map_err(|e| failed(&e.into()))?;
        page.names = [&args.old, &args.new].map(|p| p.display().to_string());
        page.notes.clone_from(&answer.notes);
        std::fs::write(file, report::runs::render(&page)).map_err(|e| {
            Failure::failed_to(Exit::Environment, format_args!("write {}: {e}", file.display()))
        })?;
    }
    if args.json {
        session.json(&answer)?;
    } else {
        text::write(session, &answer, args)?;
    }
    Ok(exit)
}
