//! Prints the path condition of a recording, and the times of symbolic and plain replay:
//! `cargo run --release -p symbolic --example path -- DIR [--figures] [--check] [--no-files]`
//!
//! With `--figures` only figures are printed, one name and number per line, for benchmarks.

use replay::machine::Machine;
use replay::observer::Null;
use replay::process::{LoadedProcess, Options};
use std::time::Instant;
use symbolic::{Path, TermContext};

/// Each time is the minimum of this many runs, because the first plain replay also decodes functions.
const ROUNDS: usize = 3;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let is = |name: &str| args.iter().any(|a| a == name);
    let recording = recording::Recording::open(args.first().ok_or("name a recording")?.as_ref())?;
    let recorded = recording.processes.first().ok_or("an empty recording")?;
    let process = LoadedProcess::load(&recording, recorded, &Options::default())?;
    let mut options = symbolic::Options { check: is("--check"), ..symbolic::Options::default() };
    options.inputs.files = !is("--no-files");
    let (mut plain, mut slow) = (f64::INFINITY, f64::INFINITY);
    let mut last = None;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        Machine::new(&process.image, &process.streams[0].stream).run(&mut Null, u64::MAX)?;
        plain = plain.min(start.elapsed().as_secs_f64());
        // Free the result of the last round, or it would count as memory of this one.
        drop(last.take());
        let mut world = TermContext::default();
        let start = Instant::now();
        let path = symbolic::replay(&process, recorded, process.streams[0].number, &mut world, &options)?;
        slow = slow.min(start.elapsed().as_secs_f64());
        last = Some((world, path));
    }
    let (world, path) = last.ok_or("no round")?;
    if !is("--figures") {
        list(&process, &world, &path);
    }
    let figures = [
        ("instructions", path.counters.instructions as f64),
        ("touched", path.touched as f64),
        ("conditions", path.conditions.len() as f64),
        ("decisions", path.decisions().count() as f64),
        ("input_bytes", world.variables.list.len() as f64),
        ("terms", world.pool.len() as f64),
        ("term_bytes", world.pool.heap_bytes() as f64),
        ("peak_bytes", peak()),
        ("holds", f64::from(u8::from(path.holds(&world)))),
        ("plain_seconds", plain),
        ("symbolic_seconds", slow),
    ];
    for (name, figure) in figures {
        println!("{name}={figure}");
    }
    Ok(())
}

fn list(process: &LoadedProcess, world: &TermContext, path: &Path) {
    for c in &path.conditions {
        let reason = c.reason.map(|r| format!(" ({r})")).unwrap_or_default();
        println!(
            "{}:{} {}: {}{reason}",
            c.at.function_name(&process.image),
            c.at.place(&process.image).line,
            c.kind.name(),
            world.text(c.term),
        );
    }
    for l in &path.losses {
        let line = l.at.place(&process.image).line;
        println!("{}:{line} not followed: {}", l.at.function_name(&process.image), l.reason);
    }
}

/// The peak memory of this process in bytes, as the kernel reports it. It includes the recording, so only
/// figures of the same recording are comparable.
fn peak() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kib.map_or(f64::NAN, |kib| kib * 1024.0)
}
