//! The lines at which the values that the output depends on first differ: faults that no branch reveals.

use super::AlternateArgs;
use crate::source;
use crate::{Session, failure::Failure};
use explain::answer::Cause;
use explain::parting::{origin, parting};
use serde::Serialize;
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// The document for the case that no alternate input can be computed.
#[derive(Debug, Serialize)]
pub struct NoAlternateInput {
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

/// The comparison of both runs, under way beside the search for inputs. It cannot be stopped, but nobody need wait for it
/// longer than the budget allows.
pub struct Pending {
    answer: mpsc::Receiver<Values>,
    budget: Duration,
    until: Instant,
}

/// When the search has used up the budget, the comparison gets this part of it.
const SHARE: u32 = 10;

impl Pending {
    pub fn begin(args: &AlternateArgs) -> Pending {
        let (tell, answer) = mpsc::channel();
        let (old, new) = (args.old.clone(), args.new.clone());
        std::thread::spawn(move || {
            let values = match parting(&old, &new) {
                Ok(ways) => Values { lines: ways.iter().filter_map(line).collect(), unknown: None },
                Err(error) => Values { lines: Vec::new(), unknown: Some(format!("failed to {error}")) },
            };
            // Nobody listens any more if it took too long.
            let _ = tell.send(values);
        });
        let budget = Duration::from_secs(args.budget);
        Pending { answer, budget, until: Instant::now() + budget }
    }

    pub fn values(self) -> Values {
        let left = self.until.saturating_duration_since(Instant::now()).max(self.budget / SHARE);
        self.answer.recv_timeout(left).unwrap_or_else(|_| Values {
            lines: Vec::new(),
            unknown: Some(format!("time was up after {} s (--budget)", self.budget.as_secs())),
        })
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
            let name = &value.name;
            match (&value.new, &value.old) {
                (Some(new), Some(old)) => {
                    writeln!(session.out, "       {name} was {new}, in the old version {old}")?;
                }
                (Some(new), None) => {
                    writeln!(session.out, "       {name} was {new}; the old version has no value here")?;
                }
                (None, Some(old)) => {
                    writeln!(
                        session.out,
                        "       in the old version {name} was {old}; the new one has no value here"
                    )?;
                }
                (None, None) => {}
            }
        }
    }
    writeln!(session.out)?;
    Ok(())
}
