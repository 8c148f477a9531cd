//! Compares two recordings by longest common subsequence, the baseline of `cargo xtask bench views`: `cargo
//! run --release -p relapse-views --example lcs -- OLD NEW`. Prints one `name=figure` per line; prints none
//! if the runs are too long for the method.

use std::error::Error;
use views::compare::compare_by_lcs;
use views::trace::Trace;

/// Step limit of a comparison.
const MAX_STEPS: u64 = 400_000_000_000;

fn trace(dir: &str, options: &views::extract::Options) -> Result<Trace, Box<dyn Error>> {
    let recording = recording::Recording::open(dir.as_ref())?;
    Ok(views::run::trace(&recording, 0, options)?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [old, new] = &words[..] else { return Err("usage: lcs OLD NEW".into()) };
    let budget = views::column::Budget::new(6 << 30);
    let options = views::extract::Options { budget, ..Default::default() };
    let (left, right) = (trace(old, &options)?, trace(new, &options)?);
    if let Some(comparison) = compare_by_lcs(&left, &right, MAX_STEPS) {
        println!("differences={}", comparison.matching.differences());
        println!("compared={}", comparison.matching.compared);
    }
    Ok(())
}
