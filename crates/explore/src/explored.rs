//! The result of an exploration, as plain data.

use crate::exposed::{self, Part};
use crate::signature::Exploration;
use crate::subject::Subject;
use alternate::{Ended, Side, Status};
use serde::Serialize;
use std::path::Path;
use std::time::Duration;
use symbolic::Input;

/// The name and version of the schema.
pub const SCHEMA: &str = "relapse.explore/1";

/// The whole result.
#[derive(Clone, Debug, Serialize)]
pub struct Explored {
    pub schema: &'static str,
    /// Whether all groups for inputs of this length were found, without concretised values.
    pub complete: bool,
    pub groups: Vec<GroupRow>,
    pub faults: Vec<FaultRow>,
    pub effort: Effort,
}

/// A group of paths that compute the outputs by the same expressions.
#[derive(Clone, Debug, Serialize)]
pub struct GroupRow {
    /// From 1.
    pub number: usize,
    pub condition: Vec<String>,
    pub output: String,
    /// Concretised values, with locations and reasons.
    pub fixed: Vec<String>,
    pub example: Example,
}

/// A program location where an input causes a fault.
#[derive(Clone, Debug, Serialize)]
pub struct FaultRow {
    pub what: String,
    pub file: String,
    pub line: u32,
    pub function: String,
    pub example: Example,
}

/// An input, and the behaviour of the program with it.
#[derive(Clone, Debug, Serialize)]
pub struct Example {
    pub command: String,
    pub parts: Vec<Part>,
    /// The exit status as text.
    pub end: String,
    pub stdout: String,
    #[serde(skip)]
    pub input: Input,
    #[serde(skip)]
    pub ended: Ended,
}

/// The cost of the exploration.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Effort {
    pub seconds: f64,
    pub runs: u64,
    /// Runs that an earlier session had found.
    pub resumed: u64,
    pub asked: u64,
    pub found: u64,
    pub impossible: u64,
    pub unknown: u64,
    pub lost: u64,
    pub astray: u64,
    pub duplicates: u64,
    pub conditions: u64,
    pub finished: bool,
    pub interrupted: bool,
}

impl Explored {
    #[must_use]
    pub fn new(explored: &Exploration, subject: &Subject, time: Duration, interrupted: bool) -> Explored {
        let directory = Path::new(&subject.info(Side::New).directory);
        let within = |file: &str| {
            let inside = Path::new(file).strip_prefix(directory);
            inside.map_or_else(|_| file.to_owned(), |path| path.display().to_string())
        };
        let groups = explored.groups.iter().enumerate().map(|(n, group)| GroupRow {
            number: n + 1,
            condition: group.condition.clone(),
            output: group.output.clone(),
            fixed: group.fixed.clone(),
            example: example(subject, &group.input, &group.ended),
        });
        let faults = explored.faults.iter().map(|fault| FaultRow {
            what: fault.what.clone(),
            file: within(&fault.file),
            line: fault.line,
            function: fault.function.clone(),
            example: example(subject, &fault.input, &fault.ended),
        });
        Explored {
            schema: SCHEMA,
            complete: explored.is_complete(),
            groups: groups.collect(),
            faults: faults.collect(),
            effort: Effort {
                seconds: time.as_secs_f64(),
                runs: explored.runs,
                resumed: explored.resumed,
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

    /// The inputs of all groups and faults.
    pub fn examples(&self) -> impl Iterator<Item = &Example> {
        self.groups.iter().map(|g| &g.example).chain(self.faults.iter().map(|f| &f.example))
    }
}

fn example(subject: &Subject, input: &Input, ended: &Ended) -> Example {
    Example {
        command: exposed::command(subject, input),
        parts: exposed::parts(input),
        end: match ended.status {
            Status::Signal(number) => {
                trials::signal_name(number).map_or_else(|| format!("signal {number}"), str::to_owned)
            }
            other => other.to_string(),
        },
        stdout: String::from_utf8_lossy(&ended.stdout).into_owned(),
        input: input.clone(),
        ended: ended.clone(),
    }
}
