//! Shows how the difference between two trees is split: units, their changes, and the time it took.
//!
//! `cargo run -p relapse-changes --example units -- GOOD BAD [--lines]`

use changes::{DiffOptions, UnitKind, difference};
use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [good, bad, rest @ ..] = args.as_slice() else { return Err("two directories are needed".into()) };
    let show = rest.iter().any(|arg| arg == "--lines");
    let start = Instant::now();
    let difference = difference(Path::new(good), Path::new(bad), &DiffOptions::default())?;
    let compared = start.elapsed();
    let units = difference.units();
    println!(
        "{} hunks, {} changes, {} units; {compared:.2?} and {:.2?}",
        difference.hunks().len(),
        difference.changes().len(),
        units.len(),
        start.elapsed() - compared
    );
    for unit in units.iter().filter(|unit| show || unit.kind != UnitKind::Hunk) {
        println!("== {:?}", unit.kind);
        for id in &unit.changes {
            let change = difference.change(*id);
            let function = change.function.as_deref().unwrap_or("-");
            println!("-- {} of {}: {}:{} {function}", id.0, change.hunk.0, change.file, change.new_start);
            let old = change.old_lines.iter().map(|line| ('-', line));
            for (sign, line) in old.chain(change.new_lines.iter().map(|line| ('+', line))) {
                println!("{sign}{line}");
            }
        }
    }
    Ok(())
}
