//! Measures the rate at which events are extracted from a recording, compared with a replay without an
//! observer, and the time to compare two runs: `cargo run --release -p relapse-views --example events -- DIR
//! [DIR2] [--show N]`.

use replay::machine::Machine;
use replay::observer::Null;
use replay::process::{LoadedProcess, Options};
use std::error::Error;
use views::trace::Trace;

/// Processor time of this process in seconds. Wall-clock time is unreliable on a busy machine.
fn now() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let behind = text.rsplit(')').next().unwrap_or_default();
    let ticks = behind.split_whitespace().skip(11).take(2);
    ticks.filter_map(|t| t.parse::<f64>().ok()).sum::<f64>() / 100.0
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let shown = words.iter().position(|w| w == "--show");
    let dirs = &words[..shown.unwrap_or(words.len())];
    let shown = shown.and_then(|i| words.get(i + 1)?.parse().ok()).unwrap_or(0);
    let budget = views::column::Budget::new(6 << 30);
    let options = views::extract::Options { budget, ..Default::default() };
    let (mut traces, mut all) = (Vec::new(), 0.0);
    for dir in dirs {
        let (trace, took) = measured(dir, &options)?;
        all += took;
        for event in 0..trace.len().min(shown) {
            let act = trace.act(event);
            let method = trace.names.text(trace.methods[act.method as usize].name);
            println!("{event:6} {method:>12}:{:<4} {}", act.line, trace.text(event));
        }
        traces.push(trace);
    }
    if let [left, right] = &traces[..] {
        let start = now();
        let c = views::compare::compare(left, right, &views::compare::Settings::default())?;
        let took = now() - start;
        let n = (left.len() + right.len()) as f64;
        println!("compared in {took:.3} s: {:.2} times the extraction of both", took / all);
        println!("{:.2} million events a second", n / took / 1e6);
        println!(
            "{} differences in {} sequences, {} moved, {:.1} cells an event",
            c.matching.differences(),
            c.sequences.len(),
            c.matching.moved.len(),
            c.matching.compared as f64 / n
        );
        for number in 0..c.sequences.len().min(shown) {
            let told = views::told::tell(&c, left, right, number, views::told::SummaryLimits::default());
            println!("{} in {}, depends on {:?}", told.change, told.stack.join(" < "), told.depends_on);
            for pair in told.rows {
                let text = |e: Option<views::told::Entry>| e.map_or_else(String::new, |e| e.text);
                println!("  {} {:50} | {}", pair.same, text(pair.left), text(pair.right));
            }
        }
    }
    Ok(())
}

fn measured(dir: &str, options: &views::extract::Options) -> Result<(Trace, f64), Box<dyn Error>> {
    let recording = recording::Recording::open(dir.as_ref())?;
    let process = recording.processes.first().ok_or("nothing was recorded")?;
    let process = LoadedProcess::load(&recording, process, &Options::default())?;
    let start = now();
    for s in &process.streams {
        Machine::new(&process.image, &s.stream).run(&mut Null, u64::MAX)?;
    }
    let plain = now() - start;
    let start = now();
    let trace = views::extract::extract(&process, options)?;
    let took = now() - start;
    let n = trace.len() as f64;
    println!("{} events of {} instructions", trace.len(), trace.instructions);
    println!("plain replay {plain:.3} s, extraction {took:.3} s: {:.2} times", took / plain);
    println!(
        "{:.2} million events a second, {:.1} bytes an event",
        n / took / 1e6,
        trace.resident() as f64 / n
    );
    println!("{} objects, {} acts, {} names", trace.objects.len(), trace.acts.len(), trace.names.len());
    Ok((trace, took))
}
