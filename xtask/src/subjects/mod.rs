//! `cargo xtask subjects`: real programs, built with `relapse cc` and with clang, run on real workloads,
//! recorded and replayed.

mod build;
mod catalogue;
pub mod inputs;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

pub use build::{Flavour, build, fetch, home};
pub use catalogue::{SUBJECTS, Size, Subject};

use crate::setup;
use crate::shell::{self, Outcome, Result};
use crate::suite::Count;
use crate::tools::{Cores, Tools};

/// The timeout of a workload, recorded or replayed.
const LIMIT: Duration = Duration::from_secs(600);

/// `cargo xtask subjects [--bench] [NAME…]`
pub fn command(args: &[&str]) -> Result<()> {
    let (size, names) = match args {
        ["--bench", names @ ..] => (Size::Bench, names),
        names => (Size::Small, names),
    };
    setup::install(setup::Need::Test)?;
    let count = check(&Tools::build()?, names, size)?;
    println!("{} passed, {} failed", count.passed, count.failed);
    if count.failed == 0 { Ok(()) } else { Err("some subjects failed".to_owned()) }
}

/// The subjects with these names; all if no names are given.
pub fn select(names: &[&str]) -> Result<Vec<&'static Subject>> {
    if let Some(wrong) = names.iter().find(|name| !SUBJECTS.iter().any(|subject| subject.name == **name)) {
        let known: Vec<&str> = SUBJECTS.iter().map(|subject| subject.name).collect();
        return Err(format!("there is no subject {wrong}; there are {}", known.join(", ")));
    }
    Ok(SUBJECTS.iter().filter(|subject| names.is_empty() || names.contains(&subject.name)).collect())
}

/// Checks each subject: it builds, has the same output plain and recorded, and replays exactly.
pub fn check(tools: &Tools, names: &[&str], size: Size) -> Result<Count> {
    let packages = fetch()?;
    let count = Mutex::new(Count::default());
    let todo = Mutex::new(select(names)?.into_iter());
    // Two at a time: most of the time is compiling, and some subjects are one large file.
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let next = todo.lock().unwrap_or_else(|e| e.into_inner()).next();
                    let Some(subject) = next else { return };
                    let package =
                        packages.get(subject.name).ok_or_else(|| format!("cargo has no {}", subject.package));
                    let outcome = package.and_then(|package| check_one(tools, subject, package, size));
                    let mut count = count.lock().unwrap_or_else(|e| e.into_inner());
                    match outcome {
                        Ok(line) => {
                            println!("{:<8} ok      {line}", subject.name);
                            count.passed += 1;
                        }
                        Err(message) => {
                            println!("{:<8} FAILED  {message}", subject.name);
                            count.failed += 1;
                        }
                    }
                }
            });
        }
    });
    Ok(count.into_inner().unwrap_or_else(|e| e.into_inner()))
}

fn check_one(tools: &Tools, subject: &Subject, package: &Path, size: Size) -> Result<String> {
    // Only the output is compared, not the speed.
    let plain = build(tools, subject, package, Flavour::PlainO0)?;
    let ours = build(tools, subject, package, Flavour::Recorded)?;
    let job = Job::prepare(subject, size)?;

    let expected = job.run(&mut Command::new(&plain))?;
    if !expected.status.success() {
        return Err(format!("the plain program {}: {}", shell::ended(expected.status), expected.complaint()));
    }
    let alone = job.run(&mut Command::new(&ours))?;
    same(&expected, &alone).map_err(|why| format!("not recorded, {why}"))?;
    let recording = job.recording();
    let recorded = job.run(&mut tools.record(&recording, &ours))?;
    same(&expected, &recorded).map_err(|why| format!("recorded, {why}"))?;
    let replayed = tools.replay(&recording, Cores::All, LIMIT)?;
    if !replayed.exact || replayed.instructions == 0.0 {
        let start: String = replayed.text.chars().take(600).collect();
        return Err(format!("replay is not exact: {start}"));
    }
    Ok(format!(
        "{:>7.2} million instructions, {:.4} bits each, plain -O0 {:.2} s, recorded {:.2} s, replayed {:.2} s",
        replayed.instructions / 1e6,
        replayed.bits_per_instruction,
        expected.took.as_secs_f64(),
        recorded.took.as_secs_f64(),
        replayed.wall_seconds,
    ))
}

fn same(expected: &Outcome, actual: &Outcome) -> Result<()> {
    if actual.timed_out {
        return Err("it does not end".to_owned());
    }
    if actual.status != expected.status {
        return Err(format!("it {}: {}", shell::ended(actual.status), actual.complaint()));
    }
    if actual.stdout != expected.stdout {
        let line = expected
            .stdout
            .split(|b| *b == b'\n')
            .zip(actual.stdout.split(|b| *b == b'\n'))
            .position(|(a, b)| a != b);
        return Err(match line {
            Some(line) => format!("it prints something else in line {}", line + 1),
            None => "it prints more or less".to_owned(),
        });
    }
    Ok(())
}

/// A subject's workload, which can be run any number of times.
pub struct Job {
    dir: PathBuf,
    arguments: Vec<String>,
}

impl Job {
    pub fn prepare(subject: &Subject, size: Size) -> Result<Self> {
        let dir = home(subject).join(match size {
            Size::Small => "work-small",
            Size::Bench => "work-bench",
        });
        shell::create_empty_dir(&dir)?;
        let arguments = (subject.workload)(size, &dir)?;
        Ok(Job { dir, arguments })
    }

    /// The path for a recording of this job; nothing exists there.
    pub fn recording(&self) -> PathBuf {
        let path = self.dir.join("recording");
        // If it cannot be removed, `relapse record` reports it.
        let _ = std::fs::remove_dir_all(&path);
        path
    }

    /// The directory in which the job runs.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Runs `command` with the job's arguments added.
    pub fn run(&self, command: &mut Command) -> Result<Outcome> {
        command.args(&self.arguments).current_dir(&self.dir).stdin(Stdio::null());
        shell::capture(command, LIMIT)
    }
}
