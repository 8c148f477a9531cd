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
    /// Always [`SCHEMA`].
    pub schema: &'static str,
    /// Whether all groups for inputs of this length were found, without concretised values.
    pub complete: bool,
    /// The groups, in the order in which they were found.
    pub groups: Vec<GroupRow>,
    /// The faults, in the order in which they were found; empty if they were not searched.
    pub faults: Vec<FaultRow>,
    /// What the exploration cost.
    pub effort: Effort,
}

/// A group of paths that compute the outputs by the same expressions.
#[derive(Clone, Debug, Serialize)]
pub struct GroupRow {
    /// From 1.
    pub number: usize,
    /// Its conditions as text; all of them hold exactly for inputs of the group.
    pub condition: Vec<String>,
    /// The output as text, with terms over the input in braces.
    pub output: String,
    /// Concretised values, with locations and reasons.
    pub fixed: Vec<String>,
    /// An input of the group.
    pub example: Example,
}

/// A program location where an input causes a fault.
#[derive(Clone, Debug, Serialize)]
pub struct FaultRow {
    /// The kind of fault: the name of a signal, or what is undefined.
    pub what: String,
    /// The source file, relative to the program's directory if it is inside.
    pub file: String,
    /// The line, from 1; 0 if unknown.
    pub line: u32,
    /// The linkage name of the function.
    pub function: String,
    /// An input that causes it.
    pub example: Example,
}

/// An input, and the behaviour of the program with it.
#[derive(Clone, Debug, Serialize)]
pub struct Example {
    /// The program with its arguments, as a shell command.
    pub command: String,
    /// Its other inputs.
    pub parts: Vec<Part>,
    /// The exit status as text.
    pub end: String,
    /// The standard output; invalid UTF-8 is replaced.
    pub stdout: String,
    /// The input as it was run.
    #[serde(skip)]
    pub input: Input,
    /// The behaviour as it was observed.
    #[serde(skip)]
    pub ended: Ended,
}

/// The cost of the exploration.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Effort {
    /// Duration of the exploration.
    pub seconds: f64,
    /// As [`Exploration::runs`].
    pub runs: u64,
    /// Runs that an earlier session had found.
    pub resumed: u64,
    /// Number of queries to the solver.
    pub asked: u64,
    /// Queries with a model.
    pub found: u64,
    /// Queries that are unsatisfiable.
    pub impossible: u64,
    /// Queries without an answer.
    pub unknown: u64,
    /// As [`Exploration::lost`].
    pub lost: u64,
    /// As [`Exploration::astray`].
    pub astray: u64,
    /// As [`Exploration::duplicates`].
    pub duplicates: u64,
    /// As [`Exploration::conditions`].
    pub conditions: u64,
    /// Whether no query was left.
    pub finished: bool,
    /// Whether the user ended it.
    pub interrupted: bool,
}

impl Explored {
    /// The result of an exploration of the bad side of `subject`, which took `time`.
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
