//! The nearest input on which both versions agree.
//!
//! The versions diverge on the failing input. A nearby input on which they give the same output, while one
//! version still takes the failing path up to a branch, shows the property of the input on which they
//! disagree; that branch is relevant even if no change touches it ([`alternate`]).

use crate::answer;
use crate::case::Case;
use crate::observe::Observed;
use alternate::rerun::{Recorder, Rerun, Runner as _};
use alternate::{Alternate, Candidate, Options, Report, Run, Side, Verdict};
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
    let failed = |e: alternate::Error| format!("failed to {e}");
    let old = Run::open(&old, observed.good_process, &options.follow).map_err(failed)?;
    let new = Run::open(&new, Some(observed.process), &options.follow).map_err(failed)?;
    let mut runner = Recorder::new(scratch.to_owned(), RUN);
    let report = alternate::find(&old, &new, &options, &mut runner).map_err(failed)?;
    let (candidate, input) = best(&report).ok_or_else(|| nothing(&report))?;
    let mut events = |run: &Run<'_>, side: Side| {
        let again = runner.run(run.recorded, input.input.of(side), report.written.of(side)).ok()?;
        events(&again)
    };
    let runs = events(&old, Side::Old).and_then(|old| Some([old, events(&new, Side::New)?]));
    Ok((told(case, candidate, input), runs))
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

fn nothing(report: &Report) -> String {
    match report.verdict {
        Verdict::Equal => "what decides where the versions part does not depend on the input".to_owned(),
        Verdict::Found => format!(
            "{} branches were found on which the versions disagree, but none with an input on which \
             they give the same output and end well; `relapse alternate` lists them",
            report.candidates.len()
        ),
        Verdict::Undecided { .. } => {
            let reasons: Vec<&str> =
                report.searched.iter().flat_map(|s| s.reasons.iter().map(String::as_str)).take(1).collect();
            let why = reasons.first().map_or(String::new(), |reason| format!(" ({reason})"));
            format!("none was found in the time there was{why}; `relapse alternate --timeout` takes longer")
        }
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
    }
}

/// The maximum number of output bytes in an answer.
const SHOWN: usize = 2000;
