//! `relapse dump dependences`: the program dependence graph, reduced to lines.

use crate::failure::{Exit, Failure};
use crate::{Session, opened, source};
use clap::Args;
use locate::dependences::{Line, of_process};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::PathBuf;

/// Show which lines of a recorded program may depend on which, in any run
///
/// Functions that are not recorded may write to all memory that is passed to them.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  relapse dump dependences run
  relapse dump dependences run --json")]
pub struct DependencesArgs {
    /// Directory of a recording of the program
    recording: PathBuf,
    /// Answer in JSON (schema relapse.dependences/1)
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Answer<'a> {
    schema: &'static str,
    lines: Vec<LineAnswer<'a>>,
    edges: Vec<(u32, u32)>,
}

#[derive(Serialize)]
struct LineAnswer<'a> {
    file: &'a str,
    line: u32,
}

pub fn run(args: &DependencesArgs, session: &mut Session) -> Result<Exit, Failure> {
    let recording = opened::recording(&args.recording)?;
    let mut numbers: BTreeMap<Line, u32> = BTreeMap::new();
    let mut edges = BTreeSet::new();
    let mut lines = Vec::new();
    for process in &recording.processes {
        let graph = of_process(&opened::process(&recording, process)?, &program::outside::Nothing);
        let number = |line: &Line| {
            let next = lines.len() as u32;
            let number = *numbers.entry(line.clone()).or_insert(next);
            if number == next {
                lines.push(line.clone());
            }
            number
        };
        let own: Vec<u32> = graph.lines.iter().map(number).collect();
        edges.extend(graph.edges.iter().map(|(from, to)| (own[*from as usize], own[*to as usize])));
    }
    if args.json {
        let shown = lines.iter().map(|(file, line)| LineAnswer { file, line: *line }).collect();
        let answer =
            Answer { schema: "relapse.dependences/1", lines: shown, edges: edges.into_iter().collect() };
        session.json(&answer)?;
        return Ok(Exit::Done);
    }
    let mut needed: BTreeMap<&Line, BTreeSet<&Line>> = BTreeMap::new();
    for (from, to) in &edges {
        needed.entry(&lines[*to as usize]).or_default().insert(&lines[*from as usize]);
    }
    for ((file, line), needs) in needed {
        let needs: Vec<String> =
            needs
                .into_iter()
                .map(|(other, line)| {
                    if other == file { line.to_string() } else { format!("{}:{line}", source::short(other)) }
                })
                .collect();
        writeln!(session.out, "{}:{line}  needs {}", source::short(file), needs.join(", "))?;
    }
    Ok(Exit::Done)
}
