//! `cargo xtask bench cause`: the rank that `relapse cause` gives the true cause, for released versions that
//! differ nearly everywhere.
//!
//! A case is used if it names a `passing` test and, as `decides`, the source text of the line that
//! distinguishes the tests.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::publish;
use crate::cases::Case;
use crate::shell::{self, Result};
use crate::tools::{DEFAULT_TIMEOUT, Tools};
use crate::{releases, setup};

/// The target: the cause has at most this rank.
const FIRST: usize = 5;

struct Row {
    name: String,
    /// The number of difference sequences on the failing test.
    sequences: u64,
    /// The rank of the cause, from 1: among the lines, and among the sequences.
    line: Option<usize>,
    lines: usize,
    suspect: Option<usize>,
    suspects: usize,
    seconds: f64,
}

/// `cargo xtask bench cause [--dev] [NAME…]`
pub fn command(words: &[&str]) -> Result<()> {
    setup::install(setup::Need::Test)?;
    let dev = words.contains(&"--dev");
    let names: Vec<&str> = words.iter().copied().filter(|word| *word != "--dev").collect();
    let tools = if dev { Tools::build_dev()? } else { Tools::build()? };
    let mut rows = Vec::new();
    for case in Case::select(&Case::all(&releases::home())?, &names)? {
        if let (Some(passing), Some(decides)) = (word(&case, "passing"), word(&case, "decides")) {
            let row = measure(&tools, &case, passing, decides)?;
            eprintln!("== {}: line {:?} of {}, {:.1} s", row.name, row.line, row.lines, row.seconds);
            rows.push(row);
        }
    }
    publish::publish("cause", &render(&rows))
}

fn word<'c>(case: &'c Case, key: &str) -> Option<&'c str> {
    case.table.get(key).and_then(toml::Value::as_str)
}

fn measure(tools: &Tools, case: &Case, passing: &str, decides: &str) -> Result<Row> {
    let dir = releases::prepare(case)?;
    let mut recordings: Vec<PathBuf> = Vec::new();
    for version in ["good", "bad"] {
        let tree = dir.join(version);
        let mut make = Command::new("sh");
        make.args(["-c", &case.build]).current_dir(&tree).env("CC", &tools.cc);
        let built = shell::capture(&mut make, DEFAULT_TIMEOUT)?;
        if !built.status.success() {
            return Err(format!("{} does not build:\n{}", case.name, built.complaint()));
        }
        for (test, name) in [(case.test.as_str(), "fails"), (passing, "passes")] {
            let recording = dir.join(format!("{version}-{name}"));
            let _ = std::fs::remove_dir_all(&recording);
            let mut record = tools.record(&recording, Path::new("sh"));
            let outcome = shell::capture(record.args(["-c", test]).current_dir(&tree), DEFAULT_TIMEOUT)?;
            if !recording.exists() {
                return Err(format!("{} was not recorded: {}", case.name, outcome.complaint()));
            }
            recordings.push(recording);
        }
    }
    let [old, old_passing, new, new_passing] = &recordings[..] else {
        return Err("four recordings are needed".to_owned());
    };
    let mut cause = Command::new(&tools.relapse);
    cause.arg("cause").args([old, new, old_passing, new_passing]).args(["--json", "--all"]);
    let start = std::time::Instant::now();
    let outcome = shell::capture(&mut cause, DEFAULT_TIMEOUT)?;
    let seconds = start.elapsed().as_secs_f64();
    let said: Value = serde_json::from_slice(&outcome.stdout).map_err(|e| {
        format!("failed to read the answer about {}: {e}\n{}", case.name, outcome.complaint())
    })?;
    let list = |key: &str| said[key].as_array().cloned().unwrap_or_default();
    let (lines, suspects) = (list("lines"), list("suspects"));
    let names = |text: &Value| text.as_str().is_some_and(|text| text.contains(decides));
    let line = lines.iter().position(|line| names(&line["source"]) || names(&line["decision"]["source"]));
    let suspect = suspects.iter().position(|suspect| shows(suspect, decides));
    Ok(Row {
        name: case.name.clone(),
        sequences: said["suspected"].as_u64().unwrap_or(0),
        line: line.map(|at| at + 1),
        lines: lines.len(),
        suspect: suspect.map(|at| at + 1),
        suspects: suspects.len(),
        seconds,
    })
}

/// Whether a differing event of a sequence is on the line.
fn shows(suspect: &Value, decides: &str) -> bool {
    let rows = suspect["rows"].as_array().cloned().unwrap_or_default();
    rows.iter().filter(|row| row["same"] == false).flat_map(|row| [&row["left"], &row["right"]]).any(
        |entry| {
            let (Some(file), Some(line)) = (entry["file"].as_str(), entry["line"].as_u64()) else {
                return false;
            };
            let text = std::fs::read(file).unwrap_or_default();
            let text = String::from_utf8_lossy(&text).into_owned();
            text.lines().nth((line as usize).saturating_sub(1)).is_some_and(|line| line.contains(decides))
        },
    )
}

fn render(rows: &[Row]) -> String {
    let place = |at: Option<usize>, of: usize| at.map_or(format!("- of {of}"), |at| format!("{at} of {of}"));
    let mut text = String::from(
        "# The cause between released versions\n\n\
         | pair | sequences that differ | the cause among the lines | among the sequences | s |\n\
         |---|---|---|---|---|\n",
    );
    for row in rows {
        let (line, suspect) = (place(row.line, row.lines), place(row.suspect, row.suspects));
        let _ =
            writeln!(text, "| {} | {} | {line} | {suspect} | {:.1} |", row.name, row.sequences, row.seconds);
    }
    let first = |at: Option<usize>| at.is_some_and(|at| at <= FIRST);
    let found = rows.iter().filter(|row| first(row.line) || first(row.suspect)).count();
    let _ = writeln!(text, "\nAmong the first {FIRST}: {found} of {}.", rows.len());
    text
}
