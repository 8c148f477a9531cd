//! `cargo xtask bench record`: the cost of recording and replay, as ratios to the plain program, with other
//! tools for comparison. All measurements are interleaved in one run on one machine, so that the ratios are
//! comparable.

mod anchors;
mod bisect;
pub mod cause;
pub mod contract;
pub mod environment;
pub mod explain;
mod explain_judge;
mod explain_story;
mod explain_table;
pub mod explore;
pub mod locate;
mod locate_inputs;
mod locate_table;
mod mutate;
pub mod publish;
mod score;
pub mod slice;
mod slice_phases;
mod slice_table;
mod spectra;
pub mod symbolic;
mod symbolic_faults;
mod symbolic_table;
mod table;
pub mod views;
mod views_pairs;
mod views_table;
pub mod watch;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::setup;
use crate::shell::{self, Result};
use crate::subjects::{self, Flavour, Job, Size, Subject};
use crate::tools::{Cores, Replayed, Tools};

/// Each figure is the best of this many runs.
const ROUNDS: usize = 3;
const REPLAY_LIMIT: Duration = Duration::from_secs(900);

/// The measurements of one subject: seconds, and memory in KiB.
#[derive(Debug, Default)]
pub struct Row {
    pub name: &'static str,
    pub plain_o2: f64,
    pub plain_o0: f64,
    pub recorded: f64,
    pub plain_memory: Option<f64>,
    pub recorded_memory: Option<f64>,
    pub replay: Replayed,
    pub anchors: Vec<(&'static str, Option<f64>)>,
}

/// `cargo xtask bench record [--no-anchors] [NAME…]`
pub fn command(words: &[&str]) -> Result<()> {
    let with_anchors = !words.contains(&"--no-anchors");
    let names: Vec<&str> = words.iter().copied().filter(|w| *w != "--no-anchors").collect();
    if let Err(message) = setup::install(setup::Need::Bench) {
        // The table reports missing reference tools; the rest can be measured.
        eprintln!("xtask: {message}");
        setup::install(setup::Need::Test)?;
    }
    let tools = Tools::build()?;
    let packages = subjects::fetch()?;
    let mut rows = Vec::new();
    let mut problems = Vec::new();
    for subject in subjects::select(&names)? {
        eprintln!("== {}", subject.name);
        let package = packages.get(subject.name).ok_or_else(|| format!("cargo has no {}", subject.package));
        match package.and_then(|package| measure(&tools, subject, package, with_anchors)) {
            Ok(row) => rows.push(row),
            Err(message) => problems.push(format!("{}: {message}", subject.name)),
        }
    }
    let gdb = anchors::gdb_record(&tools);
    let text = table::render(&rows, &gdb, &problems);
    publish::publish("record", &text)?;
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
}

fn measure(tools: &Tools, subject: &'static Subject, package: &Path, with_anchors: bool) -> Result<Row> {
    let build = |flavour| subjects::build(tools, subject, package, flavour);
    let (o2, o0, ours) = (build(Flavour::PlainO2)?, build(Flavour::PlainO0)?, build(Flavour::Recorded)?);
    let job = Job::prepare(subject, Size::Bench)?;
    let mut row = Row {
        name: subject.name,
        plain_o2: f64::INFINITY,
        plain_o0: f64::INFINITY,
        recorded: f64::INFINITY,
        ..Row::default()
    };
    let mut recording = PathBuf::new();
    for _ in 0..ROUNDS {
        row.plain_o2 = row.plain_o2.min(seconds(&job, &mut Command::new(&o2))?);
        row.plain_o0 = row.plain_o0.min(seconds(&job, &mut Command::new(&o0))?);
        recording = job.recording();
        row.recorded = row.recorded.min(seconds(&job, &mut tools.record(&recording, &ours))?);
    }
    // Replay takes much longer than the other steps, so it is measured once.
    row.replay = tools.replay(&recording, Cores::One, REPLAY_LIMIT)?;
    if !row.replay.exact {
        return Err("replay is not exact".to_owned());
    }
    row.plain_memory = peak_memory(&job, |time| {
        let mut command = Command::new("/usr/bin/time");
        command.args(time).arg(&o2);
        command
    });
    row.recorded_memory = peak_memory(&job, |time| {
        let mut command = tools.record(&job.recording(), Path::new("/usr/bin/time"));
        command.args(time).arg(&ours);
        command
    });
    if with_anchors {
        row.anchors = anchors::all(tools, subject, package, &job, &o2);
    }
    Ok(row)
}

/// The seconds of a run, which must succeed.
pub fn seconds(job: &Job, command: &mut Command) -> Result<f64> {
    let outcome = job.run(command)?;
    if !outcome.status.success() {
        return Err(format!(
            "{} {}: {}",
            shell::shown(command),
            shell::ended(outcome.status),
            outcome.complaint()
        ));
    }
    Ok(outcome.took.as_secs_f64())
}

/// The peak memory of a program, in KiB, measured by GNU time.
fn peak_memory(job: &Job, command: impl FnOnce(&[String]) -> Command) -> Option<f64> {
    let file = job.dir().join("peak-memory");
    let words = ["-f".to_owned(), "%M".to_owned(), "-o".to_owned(), file.display().to_string()];
    seconds(job, &mut command(&words)).ok()?;
    fs::read_to_string(&file).ok()?.trim().parse().ok()
}
