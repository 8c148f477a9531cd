//! Compares the modes of replaying a recording: whole, in parallel segments, backward. Also measures them.
//!
//! `cargo run --release -p relapse-replay --example check -- RECORDING [SEGMENT]`

use replay::checkpoint::Checkpoints;
use replay::io;
use replay::machine::Machine;
use replay::observer::{Effect, Null, Observer, View};
use replay::process::{LoadedProcess, Options};
use replay::writers::{reads, writers};
use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::time::Instant;

/// A hash of everything that an observer sees.
#[derive(Default, Clone, Copy, PartialEq, Debug)]
struct Digest {
    steps: u64,
    hash: u64,
}

impl Observer for Digest {
    fn step(&mut self, view: &View<'_>, effect: Effect) {
        self.steps += 1;
        let result = match view.inst().defines() {
            Some((d, _)) if !matches!(view.inst(), program::Inst::Call(_)) => view.regs[d as usize],
            _ => 0,
        };
        let touched = match effect {
            Effect::Load { address, .. } | Effect::Store { address, .. } => address,
            _ => 0,
        };
        // The hash is independent of the order within a segment, so that sums add up.
        let mut h =
            view.count ^ result.rotate_left(17) ^ touched.rotate_left(31) ^ u64::from(view.site()) << 40;
        h = (h ^ h >> 29).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.hash = self.hash.wrapping_add(h ^ h >> 32);
    }
}

/// CPU time of this thread, so that other load on the machine does not count.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|n| n.parse::<f64>().ok()).map_or(0.0, |n| n / 1e9)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let path = args.next().ok_or("usage: check RECORDING [SEGMENT]")?;
    let every: u64 = args.next().map_or(Ok(1 << 22), |s| s.parse())?;
    let recording = recording::Recording::open(Path::new(&path))?;
    for process in &recording.processes {
        let loaded = LoadedProcess::load(&recording, process, &Options::default())?;
        for s in &loaded.streams {
            println!("{} t{}", loaded.name, s.number);
            let start = cpu_seconds();
            let mut machine = Machine::new(&loaded.image, &s.stream);
            let stop = machine.run(&mut Null, u64::MAX);
            let seconds = cpu_seconds() - start;
            let c = machine.counters();
            println!("  {stop:?}, {c:?}");
            println!("  {:.1} million instructions a second", c.instructions as f64 / seconds / 1e6);
            if stop.is_err() {
                continue;
            }
            let mut whole = Digest::default();
            let start = cpu_seconds();
            Machine::new(&loaded.image, &s.stream).run(&mut whole, u64::MAX)?;
            let seconds = cpu_seconds() - start;
            println!("  watched: {:.1} million a second", whole.steps as f64 / seconds / 1e6);
            let start = Instant::now();
            let points = Checkpoints::make(&loaded.image, &s.stream, every, &mut Null);
            println!(
                "  {} checkpoints, {} KiB, {:.3} s",
                points.len(),
                points.bytes() / 1024,
                start.elapsed().as_secs_f64()
            );
            let add =
                |a: Digest, b: Digest| Digest { steps: a.steps + b.steps, hash: a.hash.wrapping_add(b.hash) };
            let parts = points.parallel(|_| Digest::default())?;
            let parallel = parts.into_iter().fold(Digest::default(), |a, b| add(a, b.1));
            let mut backward = Digest::default();
            for part in points.backward(|_| Digest::default()) {
                backward = add(backward, part?.1);
            }
            println!(
                "  parallel {}, backward {}",
                if parallel == whole { "agrees" } else { "DIFFERS" },
                if backward == whole { "agrees" } else { "DIFFERS" },
            );
            let list = io::list(&loaded.image, &s.stream)?;
            for e in list.events.iter().filter(|e| list.sources[e.source].kind != 3) {
                let source = &list.sources[e.source];
                println!(
                    "  {} {} at {}: {} bytes{} {:?}",
                    if e.out { "to" } else { "from" },
                    source.name,
                    e.offset,
                    e.length,
                    if e.verified { "" } else { " (not verified)" },
                    String::from_utf8_lossy(&e.bytes[..e.bytes.len().min(60)]),
                );
            }
        }
        let streams: BTreeMap<u32, &replay::event_cursor::Stream> =
            loaded.streams.iter().map(|s| (s.number, &s.stream)).collect();
        for s in &loaded.streams {
            let seen = reads(&loaded.image, &s.stream)?;
            let found = writers(&loaded.image, &streams, s.number, &seen)?;
            let same = found.iter().flatten().filter(|w| w.same).count();
            if !seen.is_empty() {
                println!(
                    "{} t{}: {} loads saw other streams, {} stores found, {same} with these bytes",
                    loaded.name,
                    s.number,
                    seen.len(),
                    found.iter().flatten().count()
                );
            }
        }
    }
    Ok(())
}
