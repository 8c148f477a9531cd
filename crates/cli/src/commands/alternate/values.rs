//! The lines at which the values that the output depends on first differ: faults that no branch reveals.

use super::AlternateArgs;
use crate::source;
use crate::{Session, failure::Failure};
use explain::answer::Cause;
use explain::parting::{origin, parting};
use serde::Serialize;

/// The document for the case that no alternate input can be computed.
#[derive(Debug, Serialize)]
pub struct Unanswered {
    pub schema: &'static str,
    /// `unanswered`.
    pub verdict: &'static str,
    pub reason: String,
    pub values: Values,
}

/// The lines at which the two recorded runs first differ in a value that their output depends on.
#[derive(Debug, Default, Serialize)]
pub struct Values {
    /// Ordered by distance to the output.
    pub lines: Vec<Line>,
    /// The reason if no lines are known.
    pub unknown: Option<String>,
}

#[derive(Debug, Serialize)]
pub struct Line {
    /// `old` if the new version did not run the line.
    pub version: &'static str,
    pub file: String,
    pub line: u32,
    pub function: String,
    pub source: String,
    pub what: String,
    pub values: Vec<Value>,
    /// The number of executed lines between this one and the output.
    pub steps: usize,
}

#[derive(Debug, Serialize)]
pub struct Value {
    pub name: String,
    pub old: Option<String>,
    pub new: Option<String>,
}

impl Values {
    pub fn of(args: &AlternateArgs) -> Values {
        match parting(&args.old, &args.new) {
            Ok(ways) => Values { lines: ways.iter().filter_map(line).collect(), unknown: None },
            Err(error) => Values { lines: Vec::new(), unknown: Some(format!("failed to {error}")) },
        }
    }
}

fn line(way: &Cause) -> Option<Line> {
    let origin = origin(way);
    let (version, place) = match (&origin.place, &origin.good_place) {
        (Some(place), _) => ("new", place),
        (None, place) => ("old", place.as_ref()?),
    };
    let value = |value: &explain::answer::ValuePair| Value {
        name: value.name.clone(),
        old: value.good.clone(),
        new: value.bad.clone(),
    };
    Some(Line {
        version,
        file: place.file.clone(),
        line: place.line,
        function: place.function.clone(),
        source: place.text.trim().to_owned(),
        what: origin.what.clone(),
        values: origin.values.iter().map(value).collect(),
        steps: steps(way),
    })
}

fn steps(way: &Cause) -> usize {
    std::iter::successors(way.children.first(), |cause| cause.children.first()).count()
}

/// Prints the lines. `is_all`: the answer has no branches.
pub fn write(session: &mut Session, values: &Values, is_all: bool) -> Result<(), Failure> {
    let paint = session.paint;
    if let Some(why) = values.unknown.as_ref().filter(|_| is_all) {
        writeln!(session.out, "Where values part is not known: {why}.")?;
    }
    if values.lines.is_empty() {
        return Ok(());
    }
    writeln!(session.out, "What the output is made of begins to differ here:")?;
    for line in &values.lines {
        let place = format!("{}:{}  {}", source::short(&line.file), line.line, line.function);
        let only = if line.version == "old" { "  (old version)" } else { "" };
        writeln!(session.out, "   {}{only}", paint.name(place))?;
        if !line.source.is_empty() {
            writeln!(session.out, "       {}", line.source)?;
        }
        for value in line.values.iter().filter(|value| value.old != value.new) {
            let side = |side: &Option<String>| side.clone().unwrap_or_else(|| "nothing".to_owned());
            writeln!(
                session.out,
                "       {} was {}, in the old version {}",
                value.name,
                side(&value.new),
                side(&value.old)
            )?;
        }
    }
    writeln!(session.out)?;
    Ok(())
}
