//! `relapse environment find`: finds the differences from the recorded machine that make the command fail
//! here.

use super::{command, failed};
use crate::Session;
use crate::failure::{Exit, Failure};
use crate::render::counted;
use clap::{Args, ValueEnum};
use environment::find::{Answer, Options, PassCriterion, Verdict, find};
use environment::{Stream, file};
use serde::Serialize;
use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::time::Duration;

/// Find what makes a command fail here that passed where it was recorded
///
/// Runs the command here many times, each time with some resources as they were recorded (files, variables,
/// limits, addresses, the time), until the few that make it pass are known. Every reported difference was
/// confirmed by runs with only that changed. The command must be repeatable; its output is not shown.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  relapse environment find there -- make check          why do the tests fail here?
  relapse environment find there --judge output ./sort  why does it print something else?

Exit codes:
  0    found
  1    not found: it fails even with all that was recorded
  5    the kernel or the container forbids tracing
  6    the command passes here as well
  7    the same run passes one time and fails another
  10   the command cannot be run")]
pub struct FindArgs {
    /// The recording, made where the command passes
    dir: PathBuf,
    /// The criterion for a run [default: exit; output if its exit code here is the recorded one]
    #[arg(long, value_enum, value_name = "BY")]
    judge: Option<By>,
    /// Timeout of a run, in seconds; then it has failed [default: ten times the recorded run, at least 10]
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<u64>,
    /// Answer in JSON (schema relapse.environment-find/1)
    #[arg(long)]
    json: bool,
    /// The command and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "CMD")]
    command: Vec<OsString>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum By {
    /// The exit code
    Exit,
    /// The exit code and standard output
    Output,
}

#[derive(Debug, Serialize)]
struct Document {
    schema: &'static str,
    verdict: &'static str,
    judged_by: &'static str,
    there: Ended,
    here: Ended,
    calls: usize,
    candidates: usize,
    runs: usize,
    culprits: Vec<Culprit>,
    parted: Option<DivergencePoint>,
    differences: Vec<String>,
    notes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Ended {
    status: u8,
    timed_out: bool,
}

#[derive(Debug, Serialize)]
struct DivergencePoint {
    call: usize,
    made: String,
}

#[derive(Debug, Serialize)]
struct Culprit {
    kind: &'static str,
    name: String,
    call: Option<usize>,
    there: String,
    here: String,
    lines: Vec<Lines>,
    sentence: String,
}

#[derive(Debug, Serialize)]
struct Lines {
    there_at: usize,
    here_at: usize,
    there: Vec<String>,
    here: Vec<String>,
}

pub fn run(args: &FindArgs, session: &mut Session) -> Result<Exit, Failure> {
    let record = file::read(&args.dir).map_err(|error| failed(&error))?;
    let mut input = None;
    let stdin = match std::io::stdin().is_terminal() {
        true => Stream::Null,
        // Every run reads it from the beginning.
        false => spool_stdin(&mut input)?,
    };
    let command = command(&args.command, [stdin, Stream::Null, Stream::Null])?;
    let options = Options {
        judge: args.judge.map(|by| match by {
            By::Exit => PassCriterion::Exit,
            By::Output => PassCriterion::Output,
        }),
        limit: match args.timeout {
            Some(seconds) => Duration::from_secs(seconds),
            None => Duration::from_millis(record.end.milliseconds * 10).max(Duration::from_secs(10)),
        },
    };
    let watched = session.watched;
    let answer = find(record, &command, &options, &mut |what| {
        if watched {
            eprintln!("relapse: {what}");
        }
    })
    .map_err(|error| failed(&error))?;
    let exit = match answer.verdict {
        Verdict::Found(_) => Exit::Done,
        Verdict::NotReplayed => Exit::No,
        Verdict::Passes => Exit::NoRegression,
        Verdict::Flaky => Exit::Flaky,
    };
    if args.json {
        session.json(&document(answer))?;
    } else {
        write(session, &answer)?;
    }
    Ok(exit)
}

/// Copies standard input to a file that is deleted when `input` is dropped.
fn spool_stdin(input: &mut Option<tempfile::NamedTempFile>) -> Result<Stream, Failure> {
    let failed = |error| Failure::failed_to(Exit::Environment, format_args!("keep standard input: {error}"));
    let mut file = tempfile::NamedTempFile::new().map_err(failed)?;
    std::io::copy(&mut std::io::stdin().lock(), &mut file).map_err(failed)?;
    let path = file.path().to_owned();
    *input = Some(file);
    Ok(Stream::File(path))
}

fn document(answer: Answer) -> Document {
    let verdict = match answer.verdict {
        Verdict::Found(_) => "found",
        Verdict::NotReplayed => "not found",
        Verdict::Passes => "passes",
        Verdict::Flaky => "flaky",
    };
    let culprits = match answer.verdict {
        Verdict::Found(culprits) => culprits,
        _ => Vec::new(),
    };
    let lines = |line: environment::narrow::Line| Lines {
        there_at: line.there_at,
        here_at: line.here_at,
        there: line.there,
        here: line.here,
    };
    Document {
        schema: "relapse.environment-find/1",
        verdict,
        judged_by: if answer.judge == PassCriterion::Exit { "exit" } else { "output" },
        there: Ended { status: answer.there.status, timed_out: answer.there.timed_out },
        here: Ended { status: answer.here.status, timed_out: answer.here.timed_out },
        calls: answer.calls,
        candidates: answer.candidates,
        runs: answer.runs,
        culprits: culprits
            .into_iter()
            .map(|culprit| Culprit {
                kind: culprit.kind,
                name: culprit.name,
                call: culprit.call,
                there: culprit.there,
                here: culprit.here,
                lines: culprit.lines.into_iter().map(lines).collect(),
                sentence: culprit.sentence,
            })
            .collect(),
        parted: answer.parted.map(|(call, made)| DivergencePoint { call, made }),
        differences: answer.differences,
        notes: answer.notes,
    }
}

fn write(session: &mut Session, answer: &Answer) -> Result<(), Failure> {
    let paint = session.paint;
    let out = &mut session.out;
    match &answer.verdict {
        Verdict::Found(culprits) => {
            for culprit in culprits {
                writeln!(out, "{} {}", paint.good("found:"), culprit.sentence)?;
                for line in &culprit.lines {
                    for text in &line.here {
                        writeln!(out, "  here   {text}")?;
                    }
                    for text in &line.there {
                        writeln!(out, "  there  {text}")?;
                    }
                }
            }
        }
        Verdict::Passes => writeln!(out, "the command passes here as well; there is nothing to find")?,
        Verdict::Flaky => writeln!(
            out,
            "{} the same run passes one time and fails another, so no difference can be held responsible \
             (the command must be one that can be run again and again: what one run writes, the next one reads)",
            paint.bad("flaky:")
        )?,
        Verdict::NotReplayed => {
            writeln!(
                out,
                "{} the command fails even with everything as recorded; what differs is",
                paint.bad("not found:")
            )?;
            if let Some((call, made)) = &answer.parted {
                writeln!(out, "  (it leaves the recorded way at call {call}, where it makes {made})")?;
            }
            for difference in &answer.differences {
                writeln!(out, "  {difference}")?;
            }
        }
    }
    let found = matches!(answer.verdict, Verdict::Found(_));
    for note in answer.notes.iter().filter(|_| !found) {
        writeln!(out, "not replayed: {note}")?;
    }
    writeln!(
        out,
        "{}, {}, {}; judged by {}",
        counted(answer.calls as u64, "recorded call"),
        counted(answer.candidates as u64, "difference"),
        counted(answer.runs as u64, "run"),
        if answer.judge == PassCriterion::Exit { "exit code" } else { "standard output" }
    )?;
    Ok(())
}
