//! `relapse cause`: what of all differences made a test fail.

use super::diff::{HowArgs, MeantArgs, failed, text, told_contracts};
use crate::Session;
use crate::failure::{Exit, Failure};
use crate::render::counted;
use clap::Args;
use serde::Serialize;
use std::path::{Path, PathBuf};
use views::cause::{Four, cause};
use views::filter::Which;
use views::told::{Extent, Told};

/// Find which of the differences between two versions made a test fail
///
/// Takes four recordings: of a test that fails now and of a similar one that passes, each
/// with the old and the new version. Differences that the passing test has as well were
/// meant; of the others, those count that also tell the failing run from the passing one.
/// If none does, something is not done any more: then what only the old version did on the
/// failing test is shown.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  relapse record -o old-fails -- ./old bad-input
  relapse record -o new-fails -- ./new bad-input
  relapse record -o old-passes -- ./old good-input
  relapse record -o new-passes -- ./new good-input
  relapse cause old-fails new-fails old-passes new-passes

The exit code is 1 if nothing is left to suspect.")]
pub struct CauseArgs {
    /// The failing test with the old version
    old: PathBuf,
    /// The failing test with the new version
    new: PathBuf,
    /// The passing test with the old version
    old_passing: PathBuf,
    /// The passing test with the new version
    new_passing: PathBuf,
    /// Pass over differences in function:NAME, file:NAME, variable:NAME or thread:NUMBER; may be repeated
    #[arg(long, value_name = "WHAT")]
    ignore: Vec<Which>,
    /// So many suspects are shown
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: usize,
    /// Show everything
    #[arg(long, conflicts_with = "limit")]
    all: bool,
    #[command(flatten)]
    how: HowArgs,
    #[command(flatten)]
    meant: MeantArgs,
    /// Answer in JSON (schema relapse.cause/1)
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Answer {
    schema: &'static str,
    /// Sequences of differences: old and new on the failing test, on the passing test,
    /// and passing and failing test in the new version.
    suspected: usize,
    expected: usize,
    regression: usize,
    /// Sequences of the first kind in calls that differ as their contract says.
    meant: usize,
    /// Sequences of the first kind that are not meant and that the passing test does not have.
    unexpected: usize,
    /// `present`: the cause shows in the new version; `removed`: in what it does not do any
    /// more; `none`.
    kind: &'static str,
    suspects: Vec<Shown>,
    more: usize,
    /// What contracts said.
    notes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Shown {
    /// Events that were not expected.
    unexpected: u64,
    /// How many of them tell the failing from the passing run.
    confirmed: u64,
    /// How many sequences say the same.
    times: u64,
    #[serde(flatten)]
    told: Told,
}

pub fn run(args: &CauseArgs, session: &mut Session) -> Result<Exit, Failure> {
    let contracts = args.meant.ask(&args.old, &args.new, &args.how)?;
    let paths: [&Path; 4] = [&args.old, &args.new, &args.old_passing, &args.new_passing];
    let [old, new, old_passing, new_passing] = args.how.traces(paths, contracts.as_ref())?;
    let four = Four { old: &old, new: &new, old_passing: &old_passing, new_passing: &new_passing };
    let found = cause(four, &args.how.settings(), &args.ignore).map_err(|e| failed(&e))?;
    let limit = if args.all { usize::MAX } else { args.limit };
    let extent = if args.all { Extent { rows: usize::MAX, context: 2 } } else { Extent::default() };
    let suspects = found.suspects();
    let answer = Answer {
        schema: "relapse.cause/1",
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
        suspects: suspects
            .iter()
            .take(limit)
            .map(|s| Shown {
                unexpected: s.unexpected.0 + s.unexpected.1,
                confirmed: s.confirmed,
                times: s.times,
                told: found.tell(four, s, extent),
            })
            .collect(),
        more: suspects.len().saturating_sub(limit),
        notes: contracts.iter().flat_map(told_contracts).collect(),
    };
    let exit = if suspects.is_empty() { Exit::No } else { Exit::Done };
    if args.json {
        session.json(&answer)?;
    } else {
        write(session, &answer)?;
    }
    Ok(exit)
}

fn write(session: &mut Session, answer: &Answer) -> Result<(), Failure> {
    let count = |n: usize, noun: &str| counted(n as u64, noun);
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
    let all = answer.suspects.len() + answer.more;
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
    for (n, shown) in answer.suspects.iter().enumerate() {
        writeln!(session.out)?;
        text::sequence(session, &shown.told, n + 1)?;
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
