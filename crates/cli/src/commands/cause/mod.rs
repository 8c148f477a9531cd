//! `relapse cause`: which of all differences made a test fail.

mod failure;
mod lines;

use super::diff::{HowArgs, MeantArgs, answer, contract_notes, failed, text};
use crate::Session;
use crate::failure::{Exit, Failure};
use crate::render::counted;
use clap::Args;
use explain::parting_lines::FourRuns;
use lines::Line;
use serde::Serialize;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use views::cause::{Cause, FourTraces, Suspect, cause};
use views::compare::Settings;
use views::filter::Which;
use views::told::{Entry, SequenceSummary, SummaryLimits};
use views::trace::Trace;

/// Find which of the differences between two versions made a test fail
///
/// Takes four recordings: of a test that fails now and of a similar one that passes, each with the old and
/// the new version. Differences that also occur with the passing test were intended; of the others, those
/// count that also distinguish the failing run from the passing one. If there are none, the new version no
/// longer does something: then the differences that only the old version's run of the failing test has are
/// shown.
///
/// First come the lines that distinguish the failing run of the new version from the other three: those that
/// were changed, and those that the failure depends on. Suspects are ordered as follows: those on such lines;
/// those on lines that the failure depends on, by a slice of the failing run; of them those on lines that
/// only one of the versions has, in the order of time; then by the number of dependences between line and
/// failure. Differences that depend on addresses or clocks are not suspects.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  relapse record -o old-fails -- ./old bad-input
  relapse record -o new-fails -- ./new bad-input
  relapse record -o old-passes -- ./old good-input
  relapse record -o new-passes -- ./new good-input
  relapse cause old-fails new-fails old-passes new-passes

The exit code is 1 if nothing is left to suspect, or was found in time.")]
pub struct CauseArgs {
    /// The failing test with the old version
    old: PathBuf,
    /// The failing test with the new version
    new: PathBuf,
    /// The passing test with the old version
    old_passing: PathBuf,
    /// The passing test with the new version
    new_passing: PathBuf,
    /// Ignore differences in function:NAME, file:NAME, variable:NAME or thread:NUMBER; may be repeated
    #[arg(long, value_name = "WHAT")]
    ignore: Vec<Which>,
    /// Number of suspects to show
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: usize,
    /// Show everything
    #[arg(long, conflicts_with = "limit")]
    all: bool,
    #[command(flatten)]
    how: HowArgs,
    #[command(flatten)]
    meant: MeantArgs,
    /// Time limit of the whole command, in seconds: after it, the answer has the lines, but no events
    #[arg(long, value_name = "S", default_value_t = 300)]
    budget: u64,
    /// Answer in JSON (schema relapse.cause/1)
    #[arg(long)]
    json: bool,
}

/// The name of the document's schema.
#[derive(Debug, Serialize)]
struct Schema(&'static str);

impl Default for Schema {
    fn default() -> Schema {
        Schema("relapse.cause/1")
    }
}

#[derive(Debug, Default, Serialize)]
struct Answer {
    schema: Schema,
    /// The number of difference sequences: old against new on the failing test, on the passing test, and
    /// passing against failing test in the new version.
    suspected: usize,
    expected: usize,
    regression: usize,
    /// Sequences of the first kind within calls whose change a contract describes.
    meant: usize,
    /// Sequences of the first kind that are not intended and do not occur with the passing test.
    unexpected: usize,
    /// `present`: the cause is something the new version does; `removed`: something it no longer does;
    /// `none`; `unfinished`: there was no time to compare the events, and all counts are 0.
    kind: &'static str,
    /// The number of suspects that distinguish the failing from the passing test in the new version. The
    /// others are listed because the failure depends on them.
    telling: usize,
    /// Whether most events of the two runs of the failing test differ.
    noise: bool,
    /// Sequences of the first kind that depend on addresses, clocks and other values that differ in every
    /// run.
    fleeting: usize,
    /// The lines that distinguish the failing run of the new version.
    lines: Vec<Line>,
    /// The slicing criterion by which suspects were ranked; `None` if there was none.
    sliced: Option<String>,
    /// Whether there was no time for all of the slices: dependences may be missing.
    slices_cut: bool,
    suspects: Vec<Shown>,
    more: usize,
    /// Notes about contracts.
    notes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Shown {
    /// Events that were not expected.
    unexpected: u64,
    /// How many of them distinguish the failing from the passing run.
    confirmed: u64,
    /// The number of sequences with the same events.
    times: u64,
    /// The number of dependence edges between its line and the failure; `None` if the failure does not depend
    /// on it.
    depth: Option<u32>,
    /// Whether one of its lines is in one version only.
    changed: bool,
    /// Whether one of its lines is in `lines`.
    parting: bool,
    #[serde(flatten)]
    told: SequenceSummary,
}

pub fn run(args: &CauseArgs, session: &mut Session) -> Result<Exit, Failure> {
    let budget = Duration::from_secs(args.budget);
    let deadline = Instant::now() + budget;
    let contracts = args.meant.ask([&args.old, &args.new], [args.how.process(); 2], &args.how)?;
    let paths: [&Path; 4] = [&args.old, &args.new, &args.old_passing, &args.new_passing];
    // The lines take a few replays, the events many times that.
    let processes = paths.map(|path| lines::load(path, args.how.process()));
    let [old, new, old_passing, new_passing] = processes.each_ref().map(Option::as_ref);
    let changed = [new, old].map(|other| other.map(failure::Changed::new).unwrap_or_default());
    let (mut failure, mut lines) = (failure::Failure::default(), Vec::new());
    if let (Some(old), Some(new)) = (old, new) {
        failure = failure::of(old, new, &set_after(budget / 2));
        if let (Some(old_passing), Some(new_passing)) = (old_passing, new_passing) {
            lines = lines::of(FourRuns { old, new, old_passing, new_passing }, &failure, &changed);
        }
    }
    let mut answer =
        match args.how.traces_before(paths, [args.how.process(); 4], contracts.as_ref(), Some(deadline))? {
            Some(traces) => {
                compared(args, traces.each_ref().map(Arc::as_ref), deadline, &failure, &lines, &changed)?
            }
            None => None,
        }
        .unwrap_or_else(|| Answer { kind: "unfinished", ..Answer::default() });
    answer.slices_cut = [&failure.old, &failure.new].into_iter().flatten().any(|slice| slice.cut);
    answer.sliced = failure.words;
    answer.notes = contracts.iter().flat_map(contract_notes).collect();
    answer.lines = lines;
    let exit = if answer.suspects.is_empty() && answer.lines.is_empty() { Exit::No } else { Exit::Done };
    if args.json {
        session.json(&answer)?;
    } else {
        write(session, &answer, args)?;
    }
    Ok(exit)
}

/// The part of the answer that comes from events; `None` if the deadline passes before.
fn compared(
    args: &CauseArgs,
    [old, new, old_passing, new_passing]: [&Trace; 4],
    deadline: Instant,
    failure: &failure::Failure,
    lines: &[Line],
    changed: &[failure::Changed; 2],
) -> Result<Option<Answer>, Failure> {
    let four = FourTraces { old, new, old_passing, new_passing };
    let settings = Settings { deadline: Some(deadline), ..args.how.settings() };
    let found = match cause(four, &settings, &args.ignore) {
        Err(views::Error::TimeUp) => return Ok(None),
        found => found.map_err(|e| failed(&e))?,
    };
    let limit = if args.all { usize::MAX } else { args.limit };
    let extent =
        if args.all { SummaryLimits { rows: usize::MAX, context: 2 } } else { SummaryLimits::default() };
    let suspects = ranked(&found, four, failure, lines, changed);
    Ok(Some(Answer {
        suspected: found.sequences[0],
        expected: found.sequences[1],
        regression: found.sequences[2],
        meant: found.meant,
        unexpected: found.unexpected,
        kind: match (found.d.is_empty(), suspects.is_empty()) {
            (false, _) => "present",
            (true, false) => "removed",
            _ => "none",
        },
        telling: found.d.len(),
        noise: answer::is_noise(found.a.matching.differences(), old, new),
        fleeting: found.fleeting,
        suspects: suspects
            .iter()
            .take(limit)
            .map(|(rank, s)| Shown {
                depth: rank.depth,
                changed: rank.changed,
                parting: rank.parting,
                unexpected: s.unexpected.0 + s.unexpected.1,
                confirmed: s.confirmed,
                times: s.times,
                told: found.tell(four, s, extent),
            })
            .collect(),
        more: suspects.len().saturating_sub(limit),
        ..Answer::default()
    }))
}

/// A flag that another thread sets after some time.
fn set_after(time: Duration) -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let set = flag.clone();
    std::thread::spawn(move || {
        std::thread::sleep(time);
        set.store(true, Ordering::Relaxed);
    });
    flag
}

/// The criteria by which a suspect is ranked.
struct Rank {
    depth: Option<u32>,
    changed: bool,
    parting: bool,
}

/// The suspects in order of suspicion.
fn ranked<'c>(
    found: &'c Cause,
    four: FourTraces<'_>,
    failure: &failure::Failure,
    lines: &[Line],
    [of_old, of_new]: &[failure::Changed; 2],
) -> Vec<(Rank, &'c Suspect)> {
    let places: HashSet<(&str, u32)> = lines.iter().map(|line| (line.file.as_str(), line.line)).collect();
    let rank = |suspect: &Suspect| {
        let told = found.tell(four, suspect, SummaryLimits { rows: 16, context: 0 });
        let rows = || told.rows.iter().filter(|p| !p.same && !p.expected);
        let right = || rows().filter_map(|p| p.right.as_ref());
        let left = || rows().filter_map(|p| p.left.as_ref());
        let is_parting = |e: &Entry| places.contains(&(e.file.as_str(), e.line));
        Rank {
            depth: right().filter_map(|e| failure.new.as_ref()?.depth(&e.file, e.line)).min(),
            changed: right().any(|e| of_new.is(&e.function, &e.file, e.line))
                || left().any(|e| of_old.is(&e.function, &e.file, e.line)),
            parting: right().any(is_parting) || left().any(is_parting),
        }
    };
    let mut list: Vec<(Rank, &Suspect)> = found.suspects().iter().map(|s| (rank(s), s)).collect();
    if !found.d.is_empty() {
        // A check that the new version lacks leaves no event in its runs, so comparing them cannot confirm
        // it. The only evidence is that the failure depends on what was executed instead.
        let others = found.removed.iter().map(|s| (rank(s), s));
        list.extend(others.filter(|(rank, _)| rank.depth.is_some() || rank.parting));
    }
    // The sort is stable: ties keep the order of the analysis.
    let near = |rank: &Rank| if rank.changed { None } else { rank.depth };
    list.sort_by_key(|(rank, s)| {
        (!rank.parting, rank.depth.is_none(), !rank.changed, s.confirmed == 0, near(rank))
    });
    list
}

fn write(session: &mut Session, answer: &Answer, args: &CauseArgs) -> Result<(), Failure> {
    let count = |n: usize, noun: &str| counted(n as u64, noun);
    lines::write(session, &answer.lines, args.all)?;
    if answer.slices_cut {
        writeln!(
            session.out,
            "There was no time to follow all that the failure depends on (--budget {}).",
            args.budget
        )?;
    }
    if answer.kind == "unfinished" {
        if answer.lines.is_empty() {
            writeln!(
                session.out,
                "No line sets the failing run of the new version apart from the other three."
            )?;
        }
        writeln!(
            session.out,
            "The events of the runs were not compared: that takes longer than --budget {} allows. --no-gets and\n\
             a smaller test make them fewer.",
            args.budget
        )?;
        for note in &answer.notes {
            writeln!(session.out, "{}", session.paint.faint(format!("note: {note}")))?;
        }
        return Ok(());
    }
    if answer.noise {
        writeln!(
            session.out,
            "{} the versions differ in most of what they do on the failing test.",
            session.paint.bad("Mostly noise:")
        )?;
    }
    writeln!(
        session.out,
        "The versions differ in {} on the failing test and {} on the passing one; {} only on the failing one.",
        count(answer.suspected, "sequence"),
        answer.expected,
        if answer.unexpected == 1 { "1 is".to_owned() } else { format!("{} are", answer.unexpected) },
    )?;
    if answer.meant > 0 {
        writeln!(
            session.out,
            "{} in calls that differ as their contract says, and left out.",
            if answer.meant == 1 { "1 is".to_owned() } else { format!("{} are", answer.meant) },
        )?;
    }
    let all = answer.telling;
    match answer.kind {
        "present" => writeln!(
            session.out,
            "{} of them also {} the failing from the passing test in the new version:",
            all,
            if all == 1 { "tells" } else { "tell" }
        )?,
        "removed" => writeln!(
            session.out,
            "None of them tells the failing from the passing test in the new version: something is not done any \
             more. What only differs between the versions:"
        )?,
        _ => writeln!(session.out, "Nothing is left to suspect: values that no event shows may differ.")?,
    }
    if answer.fleeting > 0 {
        let depend = if answer.fleeting == 1 { "depends" } else { "depend" };
        let told =
            format!("{} of them {depend} on addresses, clocks or random numbers: left out.", answer.fleeting);
        writeln!(session.out, "{}", session.paint.faint(told))?;
    }
    if let Some(sliced) = &answer.sliced
        && !answer.suspects.is_empty()
    {
        writeln!(session.out, "They are ranked by what {sliced} depends on.")?;
    }
    for (n, shown) in answer.suspects.iter().enumerate() {
        writeln!(session.out)?;
        text::sequence(session, &shown.told, n + 1)?;
        let depends = shown.depth.map(|d| match d {
            0 => "the failure is here".to_owned(),
            d => format!("{} before the failure", count(d as usize, "dependence")),
        });
        let changed = shown.changed.then(|| "on a line that only one version has".to_owned());
        let alike = (shown.confirmed == 0 && answer.kind == "present")
            .then(|| "the new version does the same on the passing test".to_owned());
        let words: Vec<String> = depends.into_iter().chain(changed).chain(alike).collect();
        if !words.is_empty() {
            writeln!(session.out, "    {}", session.paint.faint(words.join(", ")))?;
        }
        if shown.times > 1 {
            writeln!(session.out, "    The same differs at {}.", counted(shown.times - 1, "more place"))?;
        }
    }
    for note in &answer.notes {
        writeln!(session.out, "{}", session.paint.faint(format!("note: {note}")))?;
    }
    if answer.more > 0 {
        writeln!(session.out, "\n... and {}; --all shows them.", count(answer.more, "more sequence"))?;
    }
    Ok(())
}
