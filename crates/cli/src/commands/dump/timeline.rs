//! `relapse dump timeline`: the summary of each segment, which is available without replaying it.

use crate::failure::{Exit, Failure};
use crate::render::{Table, counted, grouped};
use crate::{Session, opened};
use clap::Args;
use serde::Serialize;
use slice::Slicer;
use slice::timeline::SegmentInfo;
use std::io::Write;
use std::path::PathBuf;

/// Show the timeline: a summary of each segment, made and kept if there is none
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  relapse dump timeline run
  relapse dump timeline run --json | jq '.streams[].segments[] | select(.stored)'")]
pub struct TimelineArgs {
    /// Directory of the recording
    recording: PathBuf,
    /// Answer in JSON (schema relapse.timeline/1)
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Answer {
    schema: &'static str,
    streams: Vec<StreamAnswer>,
}

#[derive(Serialize)]
struct StreamAnswer {
    stream: String,
    instructions: u64,
    bytes: Option<u64>,
    segments: Vec<SegmentAnswer>,
}

#[derive(Serialize)]
struct SegmentAnswer {
    first: u64,
    end: u64,
    depth: u32,
    functions: usize,
    blocks: u32,
    written: f64,
    irregular: bool,
    inputs: usize,
    outputs: usize,
    stored: bool,
}

pub fn run(args: &TimelineArgs, session: &mut Session) -> Result<Exit, Failure> {
    let recording = opened::recording(&args.recording)?;
    let mut answer = Answer { schema: "relapse.timeline/1", streams: Vec::new() };
    for process in &recording.processes {
        let loaded = opened::process(&recording, process)?;
        let options = opened::slicing();
        for (index, stream) in (0..).zip(&loaded.streams) {
            // The slicer that makes a timeline reports no segment as stored: make it first, then show what the
            // next query loads.
            let cannot = |e: slice::Error| Failure::new(Exit::No, format_args!("failed to {e}"));
            Slicer::new(&loaded, options).steps(index).map_err(cannot)?;
            let slicer = Slicer::new(&loaded, options);
            let segments = slicer.timeline(index).map_err(cannot)?;
            let file = slice::timeline::path(&loaded, stream).and_then(|path| std::fs::metadata(path).ok());
            answer.streams.push(StreamAnswer {
                stream: format!("{}/t{}", process.name, stream.number),
                instructions: slicer.steps(index).map_err(cannot)?,
                bytes: file.map(|file| file.len()),
                segments: segments.into_iter().map(segment).collect(),
            });
        }
    }
    if args.json {
        return session.json(&answer);
    }
    for stream in &answer.streams {
        let kept = stream.bytes.map_or_else(|| "not kept".to_owned(), |bytes| counted(bytes, "byte"));
        writeln!(session.out, "{}: {kept}", session.paint.name(&stream.stream))?;
        let columns =
            [">first", ">end", ">depth", ">functions", ">blocks", ">written", ">in", ">out", "what"];
        let mut table = Table::new(&columns);
        for s in &stream.segments {
            let what = [(s.irregular, "irregular"), (s.stored, "stored")];
            let what: Vec<&str> = what.iter().filter(|w| w.0).map(|w| w.1).collect();
            table.row(vec![
                grouped(s.first),
                grouped(s.end),
                s.depth.to_string(),
                s.functions.to_string(),
                s.blocks.to_string(),
                format!("{:.1} %", 100.0 * s.written),
                s.inputs.to_string(),
                s.outputs.to_string(),
                what.join(", "),
            ]);
        }
        table.write(&mut session.out, session.paint)?;
    }
    Ok(Exit::Done)
}

fn segment(s: SegmentInfo) -> SegmentAnswer {
    SegmentAnswer {
        first: s.instructions.start,
        end: s.instructions.end,
        depth: s.depth,
        functions: s.functions,
        blocks: s.blocks,
        written: f64::from(s.written.0) / s.written.1.max(1) as f64,
        irregular: s.irregular,
        inputs: s.inputs,
        outputs: s.outputs,
        stored: s.stored,
    }
}
