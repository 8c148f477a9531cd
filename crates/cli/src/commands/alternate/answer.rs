//! The JSON document of `relapse alternate`.

use super::AlternateArgs;
use super::files::Written;
use super::values::Values;
use crate::source;
use alternate::accuracy::{self, Class, Truth};
use alternate::{Alternate, Both, Candidate, Ended, Report, Run, Searched, Status, Verdict};
use serde::Serialize;
use std::path::PathBuf;

#[derive(Debug, Serialize)]
pub struct Answer {
    schema: &'static str,
    /// `found`, `equal` or `undecided`.
    pub verdict: &'static str,
    /// If the verdict is `undecided`: the number of values that were not followed symbolically and kept their
    /// recorded value.
    pub fixed: Option<usize>,
    pub input_bytes: usize,
    pub recorded: Versions<Outcome>,
    pub candidates: Vec<Row>,
    /// If no candidate passes and ends as the old version did: an input on which both versions agree, whatever
    /// path they take.
    pub nearest: Option<Near>,
    /// Where the recorded runs begin to differ.
    pub values: Values,
    pub searched: Vec<Direction>,
    pub seconds: Seconds,
    pub runs: u64,
    /// The best class of all candidates, if the true location was given.
    pub class: Option<&'static str>,
}

#[derive(Debug, Serialize)]
pub struct Versions<T> {
    pub old: T,
    pub new: T,
}

#[derive(Debug, Serialize)]
pub struct Outcome {
    pub exit: Option<i32>,
    pub signal: Option<i32>,
    pub timed_out: bool,
    /// Standard output; invalid UTF-8 is replaced.
    pub stdout: String,
    /// How the run ended, in words.
    #[serde(skip)]
    pub words: String,
}

#[derive(Debug, Serialize)]
pub struct Row {
    pub version: &'static str,
    pub kind: &'static str,
    pub file: String,
    pub line: u32,
    pub function: String,
    pub source: Option<String>,
    pub passes: bool,
    /// Whether an input passes with which both end as the old version did with the recorded one.
    pub ends_as_old: bool,
    /// Whether the other version ran a function of this name too.
    pub shared: bool,
    /// Whether it is a check of the old version that the new one lacks, or has in a weaker form.
    pub omitted: bool,
    pub alternates: Vec<Input>,
    /// Number of instances of the branch for which no query was made.
    pub more: u64,
    /// The distance to the true location as a class, if that was given.
    pub class: Option<&'static str>,
    /// The class in words.
    #[serde(skip)]
    pub class_words: Option<String>,
}

#[derive(Debug, Serialize)]
pub struct Input {
    pub passes: bool,
    /// Whether both versions also end as the old one did with the recorded input.
    pub ends_as_old: bool,
    /// The instruction count in the failing run, and below it the ordinal number of the condition at that
    /// location.
    pub instruction: u64,
    pub occurrence: u32,
    pub index: Option<String>,
    pub condition: String,
    pub flipped: String,
    pub changed: Vec<Byte>,
    pub parts: Vec<Part>,
    pub outcome: Versions<Outcome>,
    pub directory: Option<String>,
}

#[derive(Debug, Serialize)]
pub struct Near {
    /// The branch where a version leaves its way, with the input; none if the input has another length.
    pub branch: Option<Row>,
    pub parts: Vec<Part>,
    pub outcome: Outcome,
    pub ends_as_old: bool,
    pub directory: Option<String>,
}

#[derive(Debug, Serialize)]
pub struct Byte {
    pub name: String,
    pub old: u8,
    pub new: u8,
}

#[derive(Debug, Serialize)]
pub struct Part {
    pub name: String,
    pub old: Vec<u8>,
    pub new: Vec<u8>,
}

#[derive(Debug, Serialize)]
pub struct Direction {
    pub version: &'static str,
    /// Whether values that are not followed symbolically were left unconstrained.
    pub relaxed: bool,
    pub conditions: u64,
    pub decisions: u64,
    /// Decisions left out since no output depends on them.
    pub irrelevant: u64,
    pub asked: u64,
    pub impossible: u64,
    pub found: u64,
    pub confirmed: u64,
    pub rejected: u64,
    pub untried: u64,
    pub unknown: u64,
    pub unasked: u64,
    pub reasons: Vec<String>,
    pub seconds: f64,
    pub solver_seconds: f64,
    pub solver_questions: u64,
}

#[derive(Debug, Serialize)]
pub struct Seconds {
    pub following: f64,
    pub running: f64,
}

impl Answer {
    pub fn new(
        args: &AlternateArgs,
        report: &Report,
        runs: &Both<Run<'_>>,
        written: Option<Written>,
        values: Values,
    ) -> Answer {
        let (verdict, fixed) = match report.verdict {
            Verdict::Found => ("found", None),
            Verdict::Equal => ("equal", None),
            Verdict::Undecided { fixed } => ("undecided", Some(fixed)),
        };
        let truth = args.truth.as_ref().map(|t| Truth { file: t.file.clone(), line: t.line });
        let classes: Option<Vec<Class>> = truth.map(|truth| {
            let class = |c: &Candidate| accuracy::class(c, runs.of(c.side), &truth, &source::line);
            report.candidates.iter().map(class).collect()
        });
        let class = |n: usize| classes.as_ref().and_then(|c| c.get(n)).copied();
        let Written { candidates, nearest: nearest_directory } = written.unwrap_or_default();
        let directories = |n: usize| candidates.get(n).cloned().unwrap_or_default();
        Answer {
            schema: "relapse.alternate/1",
            verdict,
            fixed,
            input_bytes: report.bytes,
            recorded: versions(&report.ended),
            candidates: report
                .candidates
                .iter()
                .enumerate()
                .map(|(n, c)| row(c, &directories(n), class(n)))
                .collect(),
            nearest: report.nearest.as_ref().map(|nearest| Near {
                branch: nearest.branch.as_deref().map(|branch| row(branch, &[], None)),
                parts: nearest.parts.iter().map(part).collect(),
                outcome: outcome(&nearest.ended),
                ends_as_old: nearest.ends_as_old,
                directory: nearest_directory.map(|directory| directory.display().to_string()),
            }),
            values,
            searched: report.searched.iter().map(direction).collect(),
            seconds: Seconds { following: report.followed.as_secs_f64(), running: report.ran.as_secs_f64() },
            runs: report.runs,
            class: classes.map(|c| accuracy::best(c).number()),
        }
    }
}

fn row(candidate: &Candidate, directories: &[PathBuf], class: Option<Class>) -> Row {
    Row {
        version: candidate.side.name(),
        kind: candidate.what.name(),
        file: source::short(&candidate.file),
        line: candidate.line,
        function: candidate.function.clone(),
        source: source::line(&candidate.file, candidate.line),
        passes: candidate.passes(),
        ends_as_old: candidate.ends_as_old(),
        shared: candidate.shared,
        omitted: candidate.omitted,
        alternates: candidate
            .alternates
            .iter()
            .enumerate()
            .map(|(n, a)| input(a, directories.get(n)))
            .collect(),
        more: candidate.more,
        class: class.map(Class::number),
        class_words: class.map(|c| c.to_string()),
    }
}

fn input(alternate: &Alternate, directory: Option<&PathBuf>) -> Input {
    let changed = alternate.changed.iter();
    Input {
        passes: alternate.passes,
        ends_as_old: alternate.ends_as_old,
        instruction: alternate.at.step,
        occurrence: alternate.at.occurrence,
        index: alternate.index.as_ref().map(ToString::to_string),
        condition: alternate.condition.clone(),
        flipped: alternate.flipped.clone(),
        changed: changed.map(|c| Byte { name: c.name.clone(), old: c.old, new: c.new }).collect(),
        parts: alternate.parts.iter().map(part).collect(),
        outcome: versions(&alternate.ended),
        directory: directory.map(|d| d.display().to_string()),
    }
}

fn part(part: &alternate::Part) -> Part {
    Part { name: part.origin.name(), old: part.old.clone(), new: part.new.clone() }
}

fn versions(ended: &Both<Ended>) -> Versions<Outcome> {
    Versions { old: outcome(&ended.old), new: outcome(&ended.new) }
}

fn outcome(ended: &Ended) -> Outcome {
    let (exit, signal) = match ended.status {
        Status::Exit(code) => (Some(code), None),
        Status::Signal(number) => (None, Some(number)),
        Status::TimedOut => (None, None),
    };
    Outcome {
        exit,
        signal,
        timed_out: ended.status == Status::TimedOut,
        stdout: String::from_utf8_lossy(&ended.stdout).into_owned(),
        words: ended.status.to_string(),
    }
}

fn direction(searched: &Searched) -> Direction {
    Direction {
        version: searched.side.name(),
        relaxed: searched.relaxed,
        conditions: searched.conditions,
        decisions: searched.decisions,
        irrelevant: searched.irrelevant,
        asked: searched.asked,
        impossible: searched.impossible,
        found: searched.found,
        confirmed: searched.confirmed,
        rejected: searched.rejected,
        untried: searched.untried,
        unknown: searched.unknown,
        unasked: searched.unasked,
        reasons: searched.reasons.clone(),
        seconds: searched.time.as_secs_f64(),
        solver_seconds: searched.statistics.solver_time.as_secs_f64(),
        solver_questions: searched.statistics.solved,
    }
}
