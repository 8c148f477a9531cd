//! `relapse dump lines`: the executed lines, with execution counts.

use crate::failure::{Exit, Failure};
use crate::{Session, opened, source};
use clap::Args;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

/// Show how often each source line ran, over all processes
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  relapse dump lines run
  relapse dump lines run --json | jq '.lines[] | select(.count > 1000)'")]
pub struct LinesArgs {
    /// Directory of the recording
    recording: PathBuf,
    /// Answer in JSON (schema relapse.lines/1)
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Answer {
    schema: &'static str,
    lines: Vec<LineAnswer>,
}

#[derive(Serialize)]
struct LineAnswer {
    file: String,
    line: u32,
    count: u64,
}

pub fn run(args: &LinesArgs, session: &mut Session) -> Result<Exit, Failure> {
    let recording = opened::recording(&args.recording)?;
    let mut counts: BTreeMap<(String, u32), u64> = BTreeMap::new();
    for process in &recording.processes {
        let loaded = opened::process(&recording, process)?;
        let lines = explain::align::executed_lines(&loaded).map_err(|e| opened::load_failure(&e))?;
        for (place, count) in lines {
            *counts.entry(place).or_default() += count;
        }
    }
    let lines = counts.into_iter().map(|((file, line), count)| LineAnswer { file, line, count }).collect();
    let answer = Answer { schema: "relapse.lines/1", lines };
    if args.json {
        session.json(&answer)?;
        return Ok(Exit::Done);
    }
    for LineAnswer { file, line, count } in &answer.lines {
        writeln!(session.out, "{count:>12}  {}:{line}", source::short(file))?;
    }
    Ok(Exit::Done)
}
