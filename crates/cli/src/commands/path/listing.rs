//! The path condition as a list, as JSON and as SMT-LIB.

use super::{Followed, is_decision};
use crate::failure::Failure;
use crate::render::{counted, grouped};
use crate::{Session, source};
use serde::Serialize;
use solver::{Assertion, Script};
use std::collections::BTreeMap;
use symbolic::{At, Condition, Index, Kind, Reason};

/// The number of decisions listed without `--all`.
const SHOWN: usize = 40;

#[derive(Debug, Serialize)]
pub struct Input {
    name: String,
    bytes: u64,
}

#[derive(Debug, Serialize)]
pub struct Row {
    pub kind: &'static str,
    pub file: String,
    pub line: u32,
    pub function: String,
    pub instruction: u64,
    /// The execution index.
    pub index: Option<String>,
    pub time: u64,
    pub module: u32,
    pub site: u32,
    pub occurrence: u32,
    pub direction: u64,
    pub condition: String,
    pub reason: Option<String>,
    pub repeated: bool,
}

#[derive(Debug, Serialize)]
pub struct Lost {
    file: String,
    line: u32,
    function: String,
    reason: String,
}

pub fn inputs(followed: &Followed<'_>) -> Vec<Input> {
    let variables = &followed.world.variables;
    let origins = variables.origins.iter().enumerate();
    origins
        .map(|(n, o)| Input { name: o.name(), bytes: variables.of(n as u32).len() as u64 })
        .filter(|i| i.bytes > 0)
        .collect()
}

fn place(followed: &Followed<'_>, at: &At) -> (String, u32, String) {
    let image = &followed.process.image;
    (source::short(&at.file(image)), at.place(image).line, at.function_name(image).to_owned())
}

fn row(followed: &Followed<'_>, c: &Condition, index: Option<&Index>) -> Row {
    let (file, line, function) = place(followed, &c.at);
    let module = followed.process.image.module(c.at.module);
    Row {
        kind: c.kind.name(),
        file,
        line,
        function,
        instruction: c.at.step,
        index: index.map(Index::to_string),
        time: c.at.time,
        module: c.at.module,
        site: module.functions.get(c.at.function as usize).map_or(0, |f| f.first_site) + c.at.index,
        occurrence: c.at.occurrence,
        direction: c.direction,
        condition: followed.world.text(c.term),
        reason: c.reason.map(|r| r.to_string()),
        repeated: c.repeated,
    }
}

/// All conditions, each with its execution index, which takes another replay.
pub fn rows(followed: &Followed<'_>) -> Result<Vec<Row>, symbolic::Error> {
    let path = &followed.path;
    let steps: Vec<u64> = path.conditions.iter().map(|c| c.at.step).collect();
    let indices = symbolic::indices(&followed.process, path.stream, &steps)?;
    Ok(path.conditions.iter().zip(&indices).map(|(c, index)| row(followed, c, index.as_ref())).collect())
}

pub fn losses(followed: &Followed<'_>) -> Vec<Lost> {
    let list = followed.path.losses.iter();
    list.map(|l| {
        let (file, line, function) = place(followed, &l.at);
        Lost { file, line, function, reason: l.reason.to_string() }
    })
    .collect()
}

/// All conditions as SMT-LIB, each with its location as a comment.
pub fn smt2(followed: &Followed<'_>) -> String {
    let conditions = followed.path.conditions.iter().filter(|c| !c.repeated);
    let assertions: Vec<Assertion> = conditions
        .map(|c| {
            let (file, line, function) = place(followed, &c.at);
            let reason = c.reason.map(|r| format!(": {r}")).unwrap_or_default();
            Assertion::new(c.term)
                .with_comment(format!("{file}:{line} {function}, {}{reason}", c.kind.name()))
        })
        .collect();
    let variables = &followed.world.variables;
    Script { values: true, core: false }.text(&followed.world.pool, &assertions, &|v| variables.name(v))
}

pub fn write(all: bool, session: &mut Session, followed: &Followed<'_>) -> Result<(), Failure> {
    let (path, world) = (&followed.path, &followed.world);
    let decisions = path.decisions().count();
    let names: Vec<String> =
        inputs(followed).iter().map(|i| format!("{} ({})", i.name, grouped(i.bytes))).collect();
    writeln!(
        session.out,
        "{} on {} of {}; {} of {} touch input.\n",
        counted(decisions as u64, "decision"),
        counted(world.variables.list.len() as u64, "input byte"),
        names.join(", "),
        grouped(path.touched),
        counted(path.counters.instructions, "instruction"),
    )?;
    let mut last = String::new();
    let mut shown = 0;
    let mut hidden = 0;
    for c in &path.conditions {
        if !all && (c.repeated || !is_decision(c.kind)) {
            hidden += usize::from(is_decision(c.kind));
            continue;
        }
        if !all && shown == SHOWN {
            hidden += 1;
            continue;
        }
        shown += 1;
        let (file, line, function) = place(followed, &c.at);
        let head = format!("{file}:{line}  {function}");
        if head != last {
            writeln!(session.out, "{}", session.paint.name(&head))?;
            last = head;
        }
        let note = match (c.kind, c.reason) {
            (Kind::Branch, _) if c.repeated => "  (again)".to_owned(),
            (Kind::Branch | Kind::Switch, _) => String::new(),
            (_, Some(reason)) => format!("  (fixed: {reason})"),
            (kind, None) => format!("  ({})", kind.name()),
        };
        writeln!(session.out, "  {}{}", world.text(c.term), session.paint.faint(note))?;
    }
    if hidden > 0 {
        writeln!(session.out, "... and {} more; --all lists them.", grouped(hidden as u64))?;
    }
    given_up(session, followed)
}

/// Prints what was concretised or is missing, by reason.
fn given_up(session: &mut Session, followed: &Followed<'_>) -> Result<(), Failure> {
    let mut reasons: BTreeMap<String, (u64, String)> = BTreeMap::new();
    let mut note = |what: String, at: &At| {
        let (file, line, _) = place(followed, at);
        let entry = reasons.entry(what).or_insert_with(|| (0, format!("{file}:{line}")));
        entry.0 += 1;
    };
    for c in &followed.path.conditions {
        if let (Kind::Concretised, Some(reason)) = (c.kind, c.reason) {
            note(format!("value fixed: {reason}"), &c.at);
        }
    }
    for l in &followed.path.losses {
        // A value that is only printed does not affect the path condition.
        if l.reason != Reason::Printed {
            note(format!("not followed: {}", l.reason), &l.at);
        }
    }
    if !reasons.is_empty() {
        writeln!(session.out)?;
    }
    for (reason, (count, first)) in reasons {
        writeln!(session.out, "{} {reason} (first at {first})", counted(count, "time"))?;
    }
    Ok(())
}
