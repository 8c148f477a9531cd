//! `cargo xtask bench slice`: the cost of dynamic and relevant slices.
//!
//! Times are ratios to the plain program's, measured in the same run. A kind of slice that takes too long for
//! a subject is stopped, and the table is made without it.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::publish;
use super::slice_phases;
use super::slice_table::render;
use super::symbolic::{Figures, figures};
use crate::setup;
use crate::shell::{self, Result};
use crate::subjects::{self, Flavour, Job, Size};
use crate::tools::Tools;

/// A generous time limit for everything else, which only a hang exceeds.
const LIMIT: Duration = Duration::from_secs(3600);
/// The default time limit of one kind for one subject, in seconds.
const DEFAULT_TIME_LIMIT: u64 = 1200;
/// The plain program is fast, so its time is the best of this many runs.
const ROUNDS: usize = 5;
/// The rounds of the generated program that execute a billion instructions.
const BILLION: u64 = 6130;

/// The measurements of one run.
#[derive(Debug, Default)]
pub struct Row {
    pub name: String,
    /// Seconds of the plain program, optimised and unoptimised.
    pub plain: (f64, f64),
    pub dynamic: Figures,
    pub relevant: Figures,
    /// Peak memory of slicing in KiB: dynamic, relevant.
    pub memory: (f64, f64),
    /// Kinds that were stopped, and after how many seconds.
    pub stopped: Vec<(&'static str, u64)>,
}

/// The parameters of the measurement.
struct Parameters {
    measure: PathBuf,
    questions: u64,
    /// The time limit of one kind, in seconds.
    time_limit: u64,
}

/// `cargo xtask bench slice [--dev] [--rounds N] [--questions N] [--limit SECONDS] [NAME…]`; a name is a
/// subject's, `generated` or `phases`.
pub fn command(words: &[&str]) -> Result<()> {
    let mut dev = false;
    let mut rounds = BILLION;
    let (mut questions, mut time_limit) = (3, DEFAULT_TIME_LIMIT);
    let mut names = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match *word {
            "--dev" => dev = true,
            option @ ("--rounds" | "--questions" | "--limit") => {
                let n = words.next().and_then(|n| n.parse().ok()).filter(|n| *n > 0);
                let n = n.ok_or_else(|| format!("{option} takes a number above 0"))?;
                match option {
                    "--rounds" => rounds = n,
                    "--questions" => questions = n,
                    _ => time_limit = n,
                }
            }
            name => names.push(name),
        }
    }
    setup::install(setup::Need::Test)?;
    let tools = if dev { Tools::build_dev()? } else { Tools::build()? };
    let asked = Parameters { measure: build("measure", dev)?, questions, time_limit };
    let mut rows = Vec::new();
    let mut problems = Vec::new();
    let packages = subjects::fetch()?;
    let all = names.is_empty();
    let is_named = |name: &str| all || names.contains(&name);
    let subjects: Vec<&str> =
        names.iter().copied().filter(|n| !["generated", "phases"].contains(n)).collect();
    let subjects = if all || !subjects.is_empty() { subjects::select(&subjects)? } else { Vec::new() };
    for subject in subjects {
        eprintln!("== {}", subject.name);
        let row = || {
            let package =
                packages.get(subject.name).ok_or_else(|| format!("cargo has no {}", subject.package))?;
            let build = |flavour| subjects::build(&tools, subject, package, flavour);
            let (o2, o0, ours) =
                (build(Flavour::PlainO2)?, build(Flavour::PlainO0)?, build(Flavour::Recorded)?);
            let job = Job::prepare(subject, Size::Small)?;
            let plain = (best(&job, &o2)?, best(&job, &o0)?);
            let recording = job.recording();
            super::seconds(&job, &mut tools.record(&recording, &ours))?;
            ask(&asked, subject.name, &recording, plain)
        };
        match row() {
            Ok(row) => rows.push(row),
            Err(message) => problems.push(format!("{}: {message}", subject.name)),
        }
    }
    if is_named("generated") {
        match generated(&tools, &asked, rounds) {
            Ok(row) => rows.push(row),
            Err(message) => problems.push(format!("generated: {message}")),
        }
    }
    let mut text = if rows.is_empty() { String::from("# Slices\n") } else { render(&rows, questions) };
    if is_named("phases") {
        eprintln!("== phases");
        match slice_phases::measure(&tools, &build("by_phases", dev)?) {
            Ok((rows, left)) => text.push_str(&slice_phases::render(&rows, &left)),
            Err(message) => problems.push(format!("phases: {message}")),
        }
    }
    if dev {
        let _ = writeln!(text, "\nBuilt with the development profile.");
    }
    for problem in &problems {
        let _ = writeln!(text, "\nNot measured: {problem}");
    }
    publish::publish("slice", &text)?;
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
}

fn build(example: &str, dev: bool) -> Result<PathBuf> {
    let words = ["build", "--quiet", "--package", "relapse-slice", "--example", example];
    let (profile, dir): (&[&str], _) =
        if dev { (&[], "debug/examples") } else { (&["--release"], "release/examples") };
    shell::run(shell::cargo().args(words).args(profile))?;
    Ok(shell::target().join(dir).join(example))
}

fn best(job: &Job, program: &Path) -> Result<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        best = best.min(super::seconds(job, &mut Command::new(program))?);
    }
    Ok(best)
}

/// Measures the program of `xtask/subjects/slice`, with this many rounds.
fn generated(tools: &Tools, asked: &Parameters, rounds: u64) -> Result<Row> {
    eprintln!("== generated, {rounds} rounds");
    let dir = shell::target().join("bench/slice");
    shell::create_empty_dir(&dir)?;
    let source = shell::root().join("xtask/subjects/slice/busy.c");
    let rounds = rounds.to_string();
    for (compiler, level, name) in
        [(&tools.clang, "-O2", "o2"), (&tools.clang, "-O0", "o0"), (&tools.cc, "-O2", "ours")]
    {
        let mut command = Command::new(compiler);
        command.arg(level).arg("-g").arg(&source).args(["-o", name]).current_dir(&dir);
        shell::run(&mut command)?;
    }
    let time = |name: &str| -> Result<f64> {
        let mut best = f64::INFINITY;
        for _ in 0..ROUNDS {
            let outcome = shell::capture(Command::new(dir.join(name)).arg(&rounds), LIMIT)?;
            best = best.min(outcome.took.as_secs_f64());
        }
        Ok(best)
    };
    let plain = (time("o2")?, time("o0")?);
    let recording = dir.join("run");
    shell::run(tools.record(&recording, &dir.join("ours")).arg(&rounds))?;
    ask(asked, "generated", &recording, plain)
}

/// Slices of one kind: figures, and peak memory in KiB; `None` if it took too long.
fn measure_kind(asked: &Parameters, recording: &Path, kind: &str) -> Result<Option<(Figures, f64)>> {
    let file = shell::target().join("bench/slice-memory");
    let mut command = Command::new("/usr/bin/time");
    command.args(["-f", "%M", "-o"]).arg(&file);
    // `timeout` runs inside `time`, so that a slow measurement is not left running.
    command.args(["timeout", "-s", "KILL", &asked.time_limit.to_string()]);
    command.arg(&asked.measure).arg(recording).args([kind, &asked.questions.to_string()]);
    let started = Instant::now();
    let limit = Duration::from_secs(asked.time_limit);
    let found = match figures(&mut command, limit + LIMIT) {
        Err(_) if started.elapsed() >= limit => return Ok(None),
        other => other?,
    };
    let memory = std::fs::read_to_string(&file).ok().and_then(|t| t.trim().parse().ok());
    Ok(Some((found, memory.unwrap_or(0.0))))
}

/// Measures both kinds of slices. Kinds that take too long are left out.
fn ask(asked: &Parameters, name: &str, recording: &Path, plain: (f64, f64)) -> Result<Row> {
    let mut row = Row { name: name.to_owned(), plain, ..Row::default() };
    match measure_kind(asked, recording, "dynamic")? {
        Some(found) => (row.dynamic, row.memory.0) = found,
        None => row.stopped.push(("dynamic", asked.time_limit)),
    }
    match measure_kind(asked, recording, "relevant")? {
        Some(found) => (row.relevant, row.memory.1) = found,
        None => row.stopped.push(("relevant", asked.time_limit)),
    }
    Ok(row)
}
