//! A dependence chain with its values.

use crate::Session;
use crate::failure::{Exit, Failure};
use crate::source;
use serde::Serialize;
use slice::chain::{Kind, Link};
use slice::{Occurrence, Slice, Slicer};
use std::io::Write;

/// One link of a chain.
#[derive(Debug, Serialize)]
pub struct Row {
    kind: &'static str,
    file: String,
    line: u32,
    function: String,
    stream: u32,
    instruction: u64,
    /// The value the instruction computed: `k = 15`.
    value: Option<String>,
    /// The values it used: `i = 3`.
    used: Vec<String>,
    /// The links whose values it used, by index.
    from: Vec<usize>,
    /// The links of the branches that control it, or that chose the values.
    because: Vec<usize>,
    /// The source line.
    text: String,
}

pub fn rows(slicer: &Slicer<'_>, slice: &Slice, links: &[Link]) -> slice::Result<Vec<Row>> {
    let at: Vec<Occurrence> = links.iter().map(|l| slice.nodes[l.node as usize].at).collect();
    let shots = slicer.values(&at, replay::vars::Limits::default())?;
    let mut rows = Vec::new();
    for (link, shot) in links.iter().zip(shots) {
        let named = |v: &slice::Named| match &v.name {
            Some(name) => format!("{name} = {}", v.value),
            None => v.value.clone(),
        };
        let value = match (link.kind, shot.branch) {
            (Kind::Decided, Some(taken)) => Some(if taken { "yes" } else { "no" }.to_owned()),
            _ => shot.result.as_ref().map(named),
        };
        // The address of a variable is no information about its value.
        let has_meaning = |o: &&slice::Named| o.name.as_ref().is_some_and(|name| !name.starts_with('&'));
        let mut used: Vec<String> =
            shot.operands.iter().filter(|o| o.reg.is_some()).filter(has_meaning).map(named).collect();
        used.dedup();
        let at = slice.nodes[link.node as usize].at;
        rows.push(Row {
            kind: match link.kind {
                Kind::Asked => "asked",
                Kind::Computed => "computed",
                Kind::Constant => "constant",
                Kind::Input => "input",
                Kind::Decided => "decided",
                Kind::Called => "called",
            },
            text: source::line(&shot.place.file, shot.place.line).unwrap_or_default(),
            file: source::short(&shot.place.file),
            line: shot.place.line,
            function: shot.place.function,
            stream: at.stream,
            instruction: at.step,
            value,
            used,
            from: link.from.iter().map(|f| f.0).collect(),
            because: link.because.clone(),
        });
    }
    Ok(rows)
}

pub fn print(rows: &[Row], session: &mut Session) -> Result<Exit, Failure> {
    let paint = session.paint;
    let out = &mut session.out;
    for (number, row) in rows.iter().enumerate() {
        let place = source::place(&row.file, row.line, &row.function);
        writeln!(out, "{:>3}  {}  {}", number + 1, paint.name(&place), row.text)?;
        let mut says = Vec::new();
        if !row.used.is_empty() {
            says.push(format!("with {}", row.used.join(", ")));
        }
        if let Some(value) = &row.value {
            let verb = match row.kind {
                "decided" => "decided",
                "constant" => "constant",
                "input" => "came in",
                _ => "gave",
            };
            says.push(format!("{verb} {value}"));
        }
        let mut from: Vec<usize> = row.from.iter().map(|f| f + 1).collect();
        from.sort_unstable();
        from.dedup();
        if !from.is_empty() {
            let list: Vec<String> = from.iter().map(ToString::to_string).collect();
            says.push(format!("from {}", list.join(", ")));
        }
        if !row.because.is_empty() {
            let list: Vec<String> = row.because.iter().map(|b| (b + 1).to_string()).collect();
            says.push(format!("because of {}", list.join(", ")));
        }
        if !says.is_empty() {
            writeln!(out, "     {}", paint.faint(says.join("; ")))?;
        }
    }
    Ok(Exit::Done)
}
