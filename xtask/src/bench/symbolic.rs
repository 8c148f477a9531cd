//! `cargo xtask bench symbolic`: the cost of symbolic replay and of solver queries.
//!
//! Measures symbolic against concrete replay of the same recording; a run with very many decisions; the
//! queries of one direction of `relapse alternate`, with several methods of asking; and another symbolic
//! execution tool on the same program and input.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::publish;
use super::symbolic_faults;
use super::symbolic_table;
use crate::setup;
use crate::shell::{self, Result};
use crate::subjects::{self, Flavour, inputs};
use crate::tools::Tools;

/// A generous time limit that only a hang exceeds.
const LIMIT: Duration = Duration::from_secs(1800);
/// The time limit of the other tool on the ledger.
const ANCHOR_LIMIT: Duration = Duration::from_secs(600);

/// Figures by name, as the measuring examples print them.
pub type Figures = BTreeMap<String, String>;

/// A figure as a number.
pub fn number(figures: &Figures, name: &str) -> Option<f64> {
    figures.get(name)?.parse().ok()
}

/// The measurements; each is an error if it failed.
#[derive(Debug, Default)]
pub struct Measured {
    pub replays: Vec<(String, Result<Figures>)>,
    pub rounds: Option<Result<Figures>>,
    pub sharing: Option<Result<Figures>>,
    /// Seconds for `relapse` to record, load and follow the ledger symbolically.
    pub ours: Option<Result<f64>>,
    pub anchor: Option<Result<Figures>>,
}

/// A program with a workload and symbolic input.
struct Task {
    name: &'static str,
    program: Program,
    arguments: &'static [&'static str],
    stdin: fn() -> String,
    /// The number of bytes of prose in `input.txt`.
    file: usize,
    options: &'static [&'static str],
}

enum Program {
    /// A file of `xtask/subjects/symbolic`.
    Own(&'static str),
    Subject(&'static str),
}

const TASKS: &[Task] = &[
    Task {
        name: "work chosen by input",
        program: Program::Own("commands.c"),
        arguments: &[],
        stdin: || "mpc x\n".repeat(60),
        file: 0,
        options: &[],
    },
    Task {
        name: "lua, script fixed",
        program: Program::Subject("lua"),
        arguments: &["work.lua", "6"],
        stdin: String::new,
        file: 0,
        options: &["--no-files"],
    },
    Task {
        name: "sqlite, number of rows",
        program: Program::Subject("sqlite"),
        arguments: &["1000", "test.db"],
        stdin: String::new,
        file: 0,
        options: &["--no-files"],
    },
    Task {
        name: "lua, script followed",
        program: Program::Subject("lua"),
        arguments: &["work.lua", "1"],
        stdin: String::new,
        file: 0,
        options: &[],
    },
    Task {
        name: "zlib, 4,000 bytes",
        program: Program::Subject("zlib"),
        arguments: &["input.txt"],
        stdin: String::new,
        file: 4000,
        options: &[],
    },
    Task {
        name: "bzip2, 3,000 bytes",
        program: Program::Subject("bzip2"),
        arguments: &["-9", "-k", "-c", "input.txt"],
        stdin: String::new,
        file: 3000,
        options: &[],
    },
];

/// `cargo xtask bench symbolic [--no-anchors | faults …]`
pub fn command(words: &[&str]) -> Result<()> {
    let anchors = match words {
        [] => true,
        ["--no-anchors"] => false,
        ["faults", options @ ..] => return symbolic_faults::command(options),
        _ => return Err("usage: cargo xtask bench symbolic [--no-anchors | faults …]".to_owned()),
    };
    setup::install(setup::Need::Test)?;
    let tools = Tools::build()?;
    let examples = Examples::build()?;
    let packages = subjects::fetch();
    let home = shell::target().join("bench/symbolic");
    let mut measured = Measured::default();
    for task in TASKS {
        eprintln!("== {}", task.name);
        let program = match task.program {
            Program::Own(file) => compile(&tools.cc, file, &home, "recorded"),
            Program::Subject(name) => build_subject(&tools, name, &packages),
        };
        let figures = program.and_then(|program| {
            let dir = home.join(task.name.replace([' ', ','], "-"));
            shell::create_empty_dir(&dir)?;
            if let Program::Subject(name) = task.program {
                copy_scripts(name, &dir)?;
            }
            shell::write(&dir.join("input.txt"), inputs::prose(task.file))?;
            shell::write(&dir.join("stdin"), (task.stdin)())?;
            let recording = record(&tools, &program, task.arguments, &dir)?;
            examples.path(&recording, task.options)
        });
        measured.replays.push((task.name.to_owned(), figures));
    }
    eprintln!("== many decisions");
    measured.rounds = Some(many(&tools, &examples, &home));
    eprintln!("== the questions of one direction");
    let ledger = home.join("ledger");
    shell::create_empty_dir(&ledger)?;
    shell::write(&ledger.join("stdin"), entries(5))?;
    measured.sharing = Some(sharing(&tools, &examples, &home, &ledger));
    if anchors {
        eprintln!("== other tools");
        measured.ours = Some(followed(&tools, &home, &ledger));
        measured.anchor = Some(setup::angr().and_then(|python| angr(&tools, &python, &home, &ledger)));
    }
    let (text, met) = symbolic_table::render(&measured);
    publish::publish("symbolic", &text)?;
    if met { Ok(()) } else { Err("a target was missed, or could not be measured".to_owned()) }
}

/// The examples that measure parts of commands within one process.
struct Examples {
    path: PathBuf,
    sharing: PathBuf,
}

impl Examples {
    fn build() -> Result<Examples> {
        let words = ["build", "--release", "--quiet", "--package", "symbolic", "--example", "path"];
        shell::run(shell::cargo().args(words))?;
        let words =
            ["build", "--release", "--quiet", "--package", "relapse-alternate", "--example", "sharing"];
        shell::run(shell::cargo().args(words))?;
        let dir = shell::target().join("release/examples");
        Ok(Examples { path: dir.join("path"), sharing: dir.join("sharing") })
    }

    fn path(&self, recording: &Path, options: &[&str]) -> Result<Figures> {
        figures(Command::new(&self.path).arg(recording).arg("--figures").args(options), LIMIT)
    }
}

/// The figures that a program printed as `name=figure`, one per line.
pub fn figures(command: &mut Command, limit: Duration) -> Result<Figures> {
    let outcome = shell::capture(command, limit)?;
    if outcome.timed_out {
        return Err(format!("no end within {} s", limit.as_secs()));
    }
    if !outcome.status.success() {
        return Err(format!("it {}: {}", shell::ended(outcome.status), outcome.complaint()));
    }
    let text = String::from_utf8_lossy(&outcome.stdout);
    let pairs = text.lines().filter_map(|line| line.split_once('='));
    Ok(pairs.map(|(name, figure)| (name.to_owned(), figure.to_owned())).collect())
}

fn sources() -> PathBuf {
    shell::root().join("xtask/subjects/symbolic")
}

fn compile(compiler: &Path, file: &str, home: &Path, flavour: &str) -> Result<PathBuf> {
    let program = home.join(format!("{}-{flavour}", file.trim_end_matches(".c")));
    std::fs::create_dir_all(home).map_err(|error| format!("failed to make {}: {error}", home.display()))?;
    let mut command = Command::new(compiler);
    command.args(["-O1", "-g", "-o"]).arg(&program).arg(sources().join(file));
    let outcome = shell::capture(&mut command, LIMIT)?;
    if !outcome.status.success() {
        return Err(format!("failed to compile {file}: {}", outcome.complaint()));
    }
    Ok(program)
}

fn build_subject(
    tools: &Tools,
    name: &str,
    packages: &Result<BTreeMap<&'static str, PathBuf>>,
) -> Result<PathBuf> {
    let subject = *subjects::select(&[name])?.first().ok_or("no such subject")?;
    let packages = packages.as_ref().map_err(Clone::clone)?;
    let package = packages.get(name).ok_or_else(|| format!("cargo has no {}", subject.package))?;
    subjects::build(tools, subject, package, Flavour::Recorded)
}

/// Copies the scripts that a subject's program reads besides its input.
fn copy_scripts(name: &str, dir: &Path) -> Result<()> {
    let from = shell::root().join("xtask/subjects").join(name);
    if from.is_dir() { shell::copy_tree(&from, dir) } else { Ok(()) }
}

/// Records a program in a directory, with the file `stdin` there as standard input.
fn record(tools: &Tools, program: &Path, arguments: &[&str], dir: &Path) -> Result<PathBuf> {
    let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let recording = dir.join(format!("recording-{name}"));
    if recording.exists() {
        std::fs::remove_dir_all(&recording)
            .map_err(|error| format!("failed to remove {}: {error}", recording.display()))?;
    }
    let stdin = dir.join("stdin");
    let stdin = File::open(&stdin).map_err(|error| format!("failed to open {}: {error}", stdin.display()))?;
    let mut command = tools.record(&recording, program);
    command.args(arguments).current_dir(dir).stdin(Stdio::from(stdin));
    let outcome = shell::capture(&mut command, LIMIT)?;
    if !outcome.status.success() {
        return Err(format!("{name} {}: {}", shell::ended(outcome.status), outcome.complaint()));
    }
    Ok(recording)
}

fn many(tools: &Tools, examples: &Examples, home: &Path) -> Result<Figures> {
    let program = compile(&tools.cc, "rounds.c", home, "recorded")?;
    let dir = home.join("rounds");
    shell::create_empty_dir(&dir)?;
    shell::write(&dir.join("stdin"), &inputs::prose(2000).as_bytes()[..2000])?;
    let recording = record(tools, &program, &["60"], &dir)?;
    examples.path(&recording, &[])
}

/// Lines of a ledger, the same on every machine.
fn entries(count: usize) -> String {
    let line = |n: usize| {
        let sign = if n.is_multiple_of(3) { '-' } else { '+' };
        format!("{}{sign}{}\n", char::from(b'a' + (n * 7 % 5) as u8), 17 + n * 53 % 990)
    };
    (0..count).map(line).collect()
}

fn sharing(tools: &Tools, examples: &Examples, home: &Path, dir: &Path) -> Result<Figures> {
    let mut command = Command::new(&examples.sharing);
    for version in ["ledger-old.c", "ledger-new.c"] {
        let program = compile(&tools.cc, version, home, "recorded")?;
        command.arg(record(tools, &program, &[], dir)?);
    }
    figures(&mut command, LIMIT)
}

/// The total time for a path condition, including the start of the program.
fn followed(tools: &Tools, home: &Path, dir: &Path) -> Result<f64> {
    let program = compile(&tools.cc, "ledger-new.c", home, "recorded")?;
    let start = std::time::Instant::now();
    let recording = record(tools, &program, &[], dir)?;
    let mut command = Command::new(&tools.relapse);
    let outcome = shell::capture(command.arg("path").arg(recording).arg("--json"), LIMIT)?;
    if !outcome.status.success() {
        return Err(outcome.complaint());
    }
    Ok(start.elapsed().as_secs_f64())
}

fn angr(tools: &Tools, python: &Path, home: &Path, dir: &Path) -> Result<Figures> {
    let program = compile(&tools.clang, "ledger-new.c", home, "plain")?;
    let mut command = Command::new(python);
    command.arg(sources().join("follow.py")).arg(program).arg(dir.join("stdin"));
    figures(&mut command, ANCHOR_LIMIT)
}
