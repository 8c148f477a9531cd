//! Expressions and selections of a line's executions on the command line, and error messages for invalid
//! ones.

use crate::failure::{Exit, Failure};
use clap::Args;
use expression::{Expression, Kind};
use replay::process::LoadedProcess;
use slice::{Which, WrongExpression};

/// The number of names that an error message suggests.
const MOST: usize = 12;

/// Which executions of a line are meant.
#[derive(Clone, Debug, Default, Args)]
pub struct WhichArgs {
    /// Only executions of the line before which this holds, such as 'i == 3' or 'name == "x"'
    #[arg(long, value_name = "EXPR", value_parser = parsed)]
    pub when: Option<Expression>,
    /// Only executions that begin before this instruction of the stream
    #[arg(long, value_name = "N")]
    pub before: Option<u64>,
    /// Of these, the one with this number, from 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub occurrence: Option<u64>,
    /// Only in this stream: `t0`, or `p123.0/t0` where several processes have one
    #[arg(long, value_name = "STREAM")]
    pub stream: Option<String>,
}

impl WhichArgs {
    pub fn is_any(&self) -> bool {
        self.when.is_some() || self.before.is_some() || self.occurrence.is_some() || self.stream.is_some()
    }

    /// Whether a stream of a process is selected.
    pub fn has(&self, process: &LoadedProcess, number: u32) -> bool {
        let name = format!("t{number}");
        self.stream.as_ref().is_none_or(|s| *s == name || *s == format!("{}/{name}", process.name))
    }

    /// The selection for a process; `None` if it has no such stream.
    pub fn of(&self, process: &LoadedProcess) -> Option<Which> {
        let stream = match &self.stream {
            None => None,
            Some(_) => {
                let index = process.streams.iter().position(|s| self.has(process, s.number))?;
                Some(index as u32)
            }
        };
        let WhichArgs { when, before, occurrence, .. } = self.clone();
        Some(Which { number: occurrence, before, when, stream })
    }

    /// The selection as text, to be appended to a location.
    pub fn words(&self) -> String {
        let mut words = String::new();
        if let Some(n) = self.occurrence {
            words += &format!(", execution {n}");
        }
        if let Some(when) = &self.when {
            words += &format!(", where {}", when.text);
        }
        if let Some(n) = self.before {
            words += &format!(", before instruction {n}");
        }
        if let Some(stream) = &self.stream {
            words += &format!(", in {stream}");
        }
        words
    }
}

/// Parses an expression of the command line.
pub fn parsed(text: &str) -> Result<Expression, String> {
    expression::parse(text).map_err(|error| sentence(text, &error))
}

fn sentence(text: &str, error: &expression::Error) -> String {
    let column = text.get(..error.span.start).unwrap_or(text).chars().count() + 1;
    format!("`{text}` is wrong at column {column}: {error}")
}

/// The failure for an expression that cannot be evaluated at a location.
pub fn wrong(place: &str, wrong: &WrongExpression) -> Failure {
    let WrongExpression { text, error, names } = wrong;
    if error.depends_on_moment() {
        let why = match &error.kind {
            Kind::NoValue(name) if name == text => String::new(),
            _ => format!(": {error}"),
        };
        let failure = Failure::new(Exit::No, format_args!("{text} has no value at {place}{why}"));
        return match &error.kind {
            Kind::NoValue(_) if !names.is_empty() => {
                failure.hint(format_args!("These have: {}.", some(names)))
            }
            _ => failure,
        };
    }
    let failure = Failure::new(Exit::Usage, sentence(text, error));
    match &error.kind {
        Kind::NoName(_) if names.is_empty() => failure,
        Kind::NoName(_) => failure.hint(format_args!("In scope at {place}: {}.", some(names))),
        Kind::NoMember { members, .. } if !members.is_empty() => {
            failure.hint(format_args!("It has: {}.", some(members)))
        }
        _ => failure,
    }
}

fn some(names: &[String]) -> String {
    let mut text = names.iter().take(MOST).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > MOST {
        text += &format!(", and {} more", names.len() - MOST);
    }
    text
}
