//! How fast events come out of a recording, beside a replay that watches nothing:
//! `cargo run --release -p relapse-views --example events -- DIR [--show N]`.

use replay::machine::Machine;
use replay::observer::Null;
use replay::process::{LoadedProcess, Options};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let recording = recording::Recording::open(words.first().ok_or("name a recording")?.as_ref())?;
    let process = recording.processes.first().ok_or("nothing was recorded")?;
    let constants = |image: &replay::image::Image| views::constants::Constants::read(image, process);
    let process = LoadedProcess::load(&recording, process, &Options::default())?;
    let constants = constants(&process.image);
    let mut plain = f64::INFINITY;
    for _ in 0..2 {
        let start = Instant::now();
        for s in &process.streams {
            Machine::new(&process.image, &s.stream).run(&mut Null, u64::MAX)?;
        }
        plain = plain.min(start.elapsed().as_secs_f64());
    }
    let start = Instant::now();
    let trace = views::extract::extract(&process, &constants, &views::extract::Options::default())?;
    let took = start.elapsed().as_secs_f64();
    let n = trace.len() as f64;
    println!("{} events of {} instructions", trace.len(), trace.instructions);
    println!("plain replay {plain:.3} s, extraction {took:.3} s: {:.2} times", took / plain);
    println!(
        "{:.2} million events a second, {:.1} bytes an event",
        n / took / 1e6,
        trace.resident() as f64 / n
    );
    println!("{} objects, {} acts, {} names", trace.objects.len(), trace.acts.len(), trace.names.len());
    let shown = words.iter().position(|w| w == "--show").and_then(|i| words.get(i + 1)?.parse().ok());
    for event in 0..trace.len().min(shown.unwrap_or(0)) {
        let act = trace.act(event);
        let method = trace.names.text(trace.methods[act.method as usize].name);
        println!("{event:6} {method:>12}:{:<4} {}", act.line, trace.text(event));
    }
    Ok(())
}
