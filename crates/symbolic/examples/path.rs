//! Prints the path condition of a recording, and how long symbolic replay took
//! against plain replay: `cargo run --release -p symbolic --example path -- DIR [--quiet] [--check] [--no-files]`

use replay::machine::Machine;
use replay::observer::Null;
use replay::process::{LoadedProcess, Options};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (quiet, check) = (args.iter().any(|a| a == "--quiet"), args.iter().any(|a| a == "--check"));
    let recording = recording::Recording::open(args.first().ok_or("name a recording")?.as_ref())?;
    let recorded = recording.processes.first().ok_or("an empty recording")?;
    let process = LoadedProcess::load(&recording, recorded, &Options::default())?;
    // Twice: the first run decodes functions.
    let mut plain = 0.0;
    for _ in 0..2 {
        let start = Instant::now();
        Machine::new(&process.image, &process.streams[0].stream).run(&mut Null, u64::MAX)?;
        plain = start.elapsed().as_secs_f64();
    }
    let mut world = symbolic::World::default();
    let mut options = symbolic::Options { check, ..symbolic::Options::default() };
    options.inputs.files = !args.iter().any(|a| a == "--no-files");
    let start = Instant::now();
    let number = process.streams[0].number;
    let path = symbolic::replay(&process, recorded, number, &mut world, &options)?;
    let slow = start.elapsed().as_secs_f64();
    if !quiet {
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
    println!(
        "{} instructions, {} touch input ({:.2} %), {} conditions, {} input bytes, {} terms ({} MiB), holds: {}",
        path.counters.instructions,
        path.touched,
        100.0 * path.touched as f64 / path.counters.instructions as f64,
        path.conditions.len(),
        world.variables.list.len(),
        world.pool.len(),
        world.pool.heap_bytes() >> 20,
        path.holds(&world)
    );
    println!("plain replay {plain:.3} s, symbolic {slow:.3} s: {:.1} times", slow / plain);
    Ok(())
}
