//! `relapse index`: makes slices need no replay.

use crate::failure::{Exit, Failure};
use crate::render::{bytes, counted, grouped};
use crate::{Session, opened, progress};
use clap::Args;
use index::Index;
use replay::process::{LoadedProcess, Options};
use serde::Serialize;
use slice::{Slicer, SlicerOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Make an index of a recording, so that slices need no replay
///
/// Replays the recording once and writes, beside it, where control came from and which
/// memory was used, compressed. `relapse slice` uses it from then on, for any number of
/// questions.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  relapse index run                         make it
  relapse slice run --at sum.c:7:total      answered by the index
  relapse slice run --at sum.c:7 --no-index answered by replay, the same")]
pub struct IndexArgs {
    /// Directory of the recording
    recording: PathBuf,
    /// Also measure what plain SEQUITUR and zstd make of the same (takes a while)
    #[arg(long)]
    measure: bool,
    /// Answer in JSON (schema relapse.index/1)
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Answer {
    schema: &'static str,
    processes: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    process: String,
    file: PathBuf,
    instructions: u64,
    /// Size of the file.
    bytes: u64,
    bits_per_instruction: f64,
    /// Numbers in its sequences, and bytes they are compressed to.
    numbers: u64,
    sequence_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    measured: Option<Others>,
}

/// The same sequences by other means.
#[derive(Debug, Default, Serialize)]
struct Others {
    raw_bytes: u64,
    sequitur_bytes: u64,
    zstd_bytes: u64,
    /// Pairs that were looked up.
    checks: u64,
    sequitur_checks: u64,
    /// Pieces that SEQUITUR would have made smaller.
    larger: u64,
}

pub fn run(args: &IndexArgs, session: &mut Session) -> Result<Exit, Failure> {
    let recording = opened::recording(&args.recording)?;
    let mut processes = Vec::new();
    for process in &recording.processes {
        let loaded = LoadedProcess::load(&recording, process, &Options::default())
            .map_err(|e| opened::cannot_load(&e))?;
        let slicer = Slicer::new(&loaded, SlicerOptions::default());
        let bar = progress::bar(session.watched && !args.json, "indexing", 0);
        let mut shown = |done, of| {
            bar.set_length(of);
            bar.set_position(done);
        };
        let made = if args.measure { slicer.index_measured(&mut shown) } else { slicer.index(&mut shown) };
        let made = made.map_err(|e| Failure::failed_to(Exit::BadInput, &e))?;
        bar.finish_and_clear();
        let file = Index::path(&recording.path, &process.name);
        write(&file, &made.bytes)?;
        let instructions: u64 = made.streams.iter().map(|s| s.0.steps).sum();
        let size = made.bytes.len() as u64;
        let measured = args.measure.then(|| others(&made));
        processes.push(Row {
            process: process.name.clone(),
            file,
            instructions,
            bytes: size,
            bits_per_instruction: 8.0 * size as f64 / instructions.max(1) as f64,
            numbers: made.streams.iter().map(|s| s.1.size.symbols).sum(),
            sequence_bytes: made.streams.iter().map(|s| s.1.size.bytes).sum(),
            measured,
        });
    }
    if args.json {
        return session.json(&Answer { schema: "relapse.index/1", processes });
    }
    for row in &processes {
        writeln!(
            session.out,
            "{}: {} indexed in {} ({:.3} bits each)",
            row.process,
            counted(row.instructions, "instruction"),
            bytes(row.bytes),
            row.bits_per_instruction
        )?;
        if let Some(m) = &row.measured {
            writeln!(
                session.out,
                "  sequences: {} as they are, {} here, {} by SEQUITUR, {} by zstd",
                bytes(m.raw_bytes),
                bytes(row.sequence_bytes),
                bytes(m.sequitur_bytes),
                bytes(m.zstd_bytes)
            )?;
        }
    }
    let numbers: u64 = processes.iter().map(|p| p.numbers).sum();
    writeln!(session.out, "{} numbers; `relapse slice` uses the index from now on.", grouped(numbers))?;
    Ok(Exit::Done)
}

fn others(made: &slice::indexing::Indexed) -> Others {
    let mut all = Others::default();
    for (_, written) in &made.streams {
        let one = written.measured;
        all.raw_bytes += one.raw;
        all.sequitur_bytes += one.sequitur;
        all.zstd_bytes += one.zstd;
        all.checks += written.size.work.checks;
        all.sequitur_checks += one.sequitur_checks;
        all.larger += one.larger;
    }
    all
}

/// Under another name first: half an index must not be found.
fn write(path: &Path, content: &[u8]) -> Result<(), Failure> {
    let draft = path.with_extension("new");
    std::fs::write(&draft, content)
        .and_then(|()| std::fs::rename(&draft, path))
        .map_err(|e| Failure::failed_to(Exit::Environment, format_args!("write {}: {e}", path.display())))
}
