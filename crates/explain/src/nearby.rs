//! The nearest input on which both versions agree.
//!
//! The versions diverge on the failing input. A nearby input on which they give the same output, while one
//! version still takes the failing path up to a branch, shows the property of the input on which they
//! disagree; that branch is relevant even if no change touches it ([`alternate`]).

use crate::answer;
use crate::case::Case;
use crate::observe::Observed;
use alternate::rerun::{Recorder, Rerun, Runner as _};
use alternate::{Alternate, Candidate, Nearest, Options, Report, Run, Side, Verdict};
use recording::Recording;
use std::path::Path;
use std::time::Duration;
use views::trace::Trace;

/// Time limit for each of the two directions.
const BUDGET: Duration = Duration::from_secs(10);
/// Time limit for one solver query.
const QUESTION: Duration = Duration::from_secs(2);
/// Time limit for one run with another input.
const RUN: Duration = Duration::from_secs(5);
/// Longer runs are not executed symbolically, which is about fifty times slower than replay.
pub const MOST_STEPS: u64 = 30_000_000;

/// Returns the alternate input, or why there is none: what was tried, and what the user can do.
pub fn nearby(
    case: &Case<'_>,
    observed: &Observed,
    steps: u64,
    scratch: &Path,
) -> Result<(answer::Alternate, Option<[Trace; 2]>), String> {
    if observed.observation.kind == "hang" {
        return Err("the failing run does not end, so its input was not followed".to_owned());
    }
    if steps > MOST_STEPS {
        return Err(format!(
            "the run has {steps} instructions, more than the {MOST_STEPS} that are followed here; \
             `relapse alternate` on two recordings has no such limit"
        ));
    }
    let open = |directory: Option<&Path>| {
        let directory = directory.ok_or_else(|| "there is no recording of both versions".to_owned())?;
        Recording::open(directory).map_err(|e| format!("failed to {e}"))
    };
    let (old, new) = (open(case.end(true).1)?, open(case.end(false).1)?);
    let mut options = Options::new(case.solving.commands.clone());
    options.budget = BUDGET;
    options.solver.limits.timeout = QUESTION;
    options.instances = 2;
    options.nearest = true;
    let failed = |e: alternate::Error| format!("failed to {e}");
    let old = Run::open(&old, observed.good_process, &options.follow).map_err(failed)?;
    let new = Run::open(&new, Some(observed.process), &options.follow).map_err(failed)?;
    let mut runner = Recorder::new(scratch.to_owned(), RUN);
    let report = alternate::find(&old, &new, &options, &mut runner).map_err(failed)?;
    let end = report.ended.of(Side::Old).status;
    let nearest = report.nearest.as_ref().filter(|nearest| nearest.ended.status == end);
    let (told, input) = match (best(&report), nearest) {
        (Some((candidate, input)), _) => (told(case, candidate, input), &input.input),
        (None, Some(nearest)) => {
            let branch = nearest.branch.as_deref().and_then(|branch| Some((branch, branch.best()?)));
            let told = branch.map_or_else(
                || of_another_length(nearest),
                |(candidate, input)| told(case, candidate, input),
            );
            (told, &nearest.input)
        }
        (None, None) => return Err(nothing(&report, case)),
    };
    let mut events = |run: &Run<'_>, side: Side| {
        let again = runner.run(run.recorded, input.of(side), report.written.of(side)).ok()?;
        events(&again)
    };
    let runs = events(&old, Side::Old).and_then(|old| Some([old, events(&new, Side::New)?]));
    Ok((told, runs))
}

/// An input with more or fewer bytes: no branch was asked for it.
fn of_another_length(nearest: &Nearest) -> answer::Alternate {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    answer::Alternate {
        parts: nearest
            .parts
            .iter()
            .map(|part| answer::InputPart {
                name: part.origin.name(),
                old: text(&part.old),
                new: text(&part.new),
            })
            .collect(),
        end: nearest.ended.status.to_string(),
        stdout: text(&nearest.ended.stdout[..nearest.ended.stdout.len().min(SHOWN)]),
        ..answer::Alternate::default()
    }
}

/// The events of a version with the alternate input.
fn events(again: &Rerun) -> Option<Trace> {
    views::extract::extract(&again.process, &views::extract::Options::default()).ok()
}

/// The passing alternate input nearest to the failing one. Both versions must end as good does with the
/// failing input: two equal crashes are no pass.
fn best(report: &Report) -> Option<(&Candidate, &Alternate)> {
    let all = report.candidates.iter().flat_map(|c| c.alternates.iter().map(move |a| (c, a)));
    all.filter(|(_, a)| a.ends_as_old).min_by_key(|(_, a)| a.changed.len())
}

fn nothing(report: &Report, case: &Case<'_>) -> String {
    match report.verdict {
        Verdict::Equal => "what decides where the versions part does not depend on the input".to_owned(),
        Verdict::Found => {
            let found = match report.candidates.len() {
                1 => "one branch was found on which the versions disagree, but without an input".to_owned(),
                n => {
                    format!("{n} branches were found on which the versions disagree, but none with an input")
                }
            };
            format!("{found} on which they give the same output and end well; `relapse alternate` lists them")
        }
        Verdict::Undecided { .. } => {
            let reasons: Vec<&str> =
                report.searched.iter().flat_map(|s| s.reasons.iter().map(String::as_str)).take(1).collect();
            let why = reasons.first().map_or(String::new(), |reason| {
                format!(" ({})", [Side::Old, Side::New].iter().fold((*reason).to_owned(), in_version(case)))
            });
            format!("none was found in the time there was{why}; `relapse alternate --timeout` takes longer")
        }
    }
}

/// Shortens the paths of a version's files to those below its root.
fn in_version<'c>(case: &'c Case<'_>) -> impl Fn(String, &Side) -> String + 'c {
    |text, side| {
        let side = if *side == Side::Old { crate::align::Side::Good } else { crate::align::Side::Bad };
        text.replace(&format!("{}/", case.tree(side).display()), "")
    }
}

fn told(case: &Case<'_>, candidate: &Candidate, input: &Alternate) -> answer::Alternate {
    let side = match candidate.side {
        Side::Old => crate::align::Side::Good,
        Side::New => crate::align::Side::Bad,
    };
    let root = case.tree(side);
    let file = Path::new(&candidate.file);
    let file = file.strip_prefix(root).unwrap_or(file).display().to_string();
    let text = case.sources.line(side, &file, candidate.line).unwrap_or_default();
    let ended = input.ended.of(candidate.side);
    answer::Alternate {
        changed: input
            .changed
            .iter()
            .map(|c| answer::Byte { name: c.name.clone(), old: c.old, new: c.new })
            .collect(),
        version: if candidate.side == Side::Old { "good" } else { "bad" }.to_owned(),
        place: answer::Place {
            file,
            line: candidate.line,
            column: candidate.column,
            function: candidate.function.clone(),
            text,
        },
        condition: input.condition.clone(),
        flipped: input.flipped.clone(),
        end: ended.status.to_string(),
        stdout: String::from_utf8_lossy(&ended.stdout[..ended.stdout.len().min(SHOWN)]).into_owned(),
        parts: Vec::new(),
    }
}

/// The maximum number of output bytes in an answer.
const SHOWN: usize = 2000;
