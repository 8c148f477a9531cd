//! The answer as a document.

use crate::commands::expose::files::Case;
use alternate::{Ended, Side, Status};
use explore::exposed;
use explore::signature::Exploration;
use explore::subject::Subject;
use serde::Serialize;
use std::time::Duration;
use symbolic::{Input, Origin};

#[derive(Debug, Serialize)]
pub struct Answer {
    schema: &'static str,
    /// All groups for inputs of this length were found, and nothing was taken as fixed.
    pub complete: bool,
    pub groups: Vec<Row>,
    pub faults: Vec<FaultRow>,
    pub effort: Effort,
}

#[derive(Debug, Serialize)]
pub struct Row {
    pub number: usize,
    pub condition: Vec<String>,
    pub output: String,
    /// What was taken as fixed, with places and reasons.
    pub fixed: Vec<String>,
    pub example: Example,
}

#[derive(Debug, Serialize)]
pub struct FaultRow {
    pub file: String,
    pub line: u32,
    pub function: String,
    pub example: Example,
}

/// An input of a group, and what the program does with it.
#[derive(Debug, Serialize)]
pub struct Example {
    pub command: String,
    pub parts: Vec<exposed::Part>,
    pub end: String,
    pub stdout: String,
    #[serde(skip)]
    input: Input,
    #[serde(skip)]
    ended: Ended,
}

#[derive(Debug, Serialize)]
pub struct Effort {
    pub seconds: f64,
    pub runs: u64,
    pub asked: u64,
    pub found: u64,
    pub impossible: u64,
    pub unknown: u64,
    /// Runs that could not be made or followed.
    pub lost: u64,
    /// Runs that did not take the way that was asked for.
    pub astray: u64,
    /// Runs of a group that was known.
    pub duplicates: u64,
    pub conditions: u64,
    pub finished: bool,
    pub interrupted: bool,
}

impl Answer {
    pub fn new(explored: &Exploration, subject: &Subject, time: Duration, interrupted: bool) -> Answer {
        let example = |input: &Input, ended: &Ended| Example {
            command: exposed::command(subject, input),
            parts: input
                .parts
                .iter()
                .filter(|(origin, _)| !matches!(origin, Origin::Argument(_)))
                .map(|(origin, bytes)| exposed::Part {
                    name: origin.name(),
                    text: bytes.escape_ascii().to_string(),
                })
                .collect(),
            end: match ended.status {
                Status::Signal(number) => {
                    trials::signal_name(number).map_or_else(|| format!("signal {number}"), str::to_owned)
                }
                other => other.to_string(),
            },
            stdout: String::from_utf8_lossy(&ended.stdout).into_owned(),
            input: input.clone(),
            ended: ended.clone(),
        };
        let directory = std::path::Path::new(&subject.info(Side::New).directory).to_owned();
        let within = |file: &str| {
            let inside = std::path::Path::new(file).strip_prefix(&directory);
            inside.map_or_else(|_| crate::source::short(file), |path| path.display().to_string())
        };
        let groups = explored.groups.iter().enumerate().map(|(n, group)| Row {
            number: n + 1,
            condition: group.condition.clone(),
            output: group.output.clone(),
            fixed: group.fixed.clone(),
            example: example(&group.input, &group.ended),
        });
        let faults = explored.faults.iter().map(|fault| FaultRow {
            file: within(&fault.file),
            line: fault.line,
            function: fault.function.clone(),
            example: example(&fault.input, &fault.ended),
        });
        Answer {
            schema: "relapse.explore/1",
            complete: explored.is_complete(),
            groups: groups.collect(),
            faults: faults.collect(),
            effort: Effort {
                seconds: time.as_secs_f64(),
                runs: explored.runs,
                asked: explored.asked,
                found: explored.found,
                impossible: explored.impossible,
                unknown: explored.unknown,
                lost: explored.lost,
                astray: explored.astray,
                duplicates: explored.duplicates,
                conditions: explored.conditions,
                finished: explored.finished,
                interrupted,
            },
        }
    }

    /// The inputs of all groups and faults, as tests.
    pub fn cases(&self) -> Vec<Case<'_>> {
        let examples = self.groups.iter().map(|g| &g.example).chain(self.faults.iter().map(|f| &f.example));
        examples
            .map(|example| Case {
                input: &example.input,
                command: &example.command,
                expected: &example.ended.stdout,
                end: &example.end,
            })
            .collect()
    }
}
