//! `cargo xtask bench explain`: what it takes to explain regressions, by each method,
//! side by side in one run.
//!
//! Each method begins from nothing: its own copies of the versions, its own caches.
//! Builds go through `watch`, which counts them and sees whether objects are built again
//! whose sources did not change. That is also how delta debugging is stopped at its cap.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{explain_table, watch};
use crate::cases::{self, Case};
use crate::shell::{self, Result};
use crate::tools::Tools;
use crate::{real, setup};

/// In this order, so that the caps of the others can depend on the first.
pub const METHODS: [&str; 3] = ["auto", "dd", "add"];
/// On the real ones the others may take so many times the builds of `auto`.
const DD_TIMES: u64 = 10;
const ADD_TIMES: u64 = 3;
/// Nothing takes longer, except by mistake.
const LIMIT: Duration = Duration::from_secs(3600);

/// What the methods made of one case.
#[derive(Clone, Debug, Default)]
pub struct Row {
    pub name: String,
    pub real: bool,
    /// In the order of [`METHODS`].
    pub methods: Vec<Effort>,
}

/// What one method answered, and what that took.
#[derive(Clone, Debug, Default)]
pub struct Effort {
    /// Why there is no answer.
    pub problem: Option<String>,
    /// Stopped after this many builds.
    pub capped: Option<u64>,
    pub changes: u64,
    pub root: usize,
    pub auxiliary: usize,
    pub verified: bool,
    /// The answer names what `case.toml` calls guilty.
    pub expected: bool,
    pub builds: u64,
    pub runs: u64,
    pub seconds: f64,
    /// Objects built again although nothing they are made of had changed.
    pub untouched: u64,
}

/// `cargo xtask bench explain [--cap N] [--small] [NAME…]`
pub fn command(words: &[&str]) -> Result<()> {
    let (mut cap, mut small, mut names) = (1000, false, Vec::new());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match *word {
            "--cap" => {
                let number = words.next().and_then(|number| number.parse().ok());
                cap = number.ok_or("--cap needs a number of builds")?;
            }
            "--small" => small = true,
            name => names.push(name),
        }
    }
    setup::install(false)?;
    let tools = Tools::build()?;
    let mut all: Vec<(Case, bool)> =
        Case::all(&cases::home())?.into_iter().map(|case| (case, false)).collect();
    if !small {
        all.extend(Case::all(&real::home())?.into_iter().map(|case| (case, true)));
    }
    let known: Vec<Case> = all.iter().map(|(case, _)| case.clone()).collect();
    Case::select(&known, &names)?;
    all.retain(|(case, _)| names.is_empty() || names.contains(&case.name.as_str()));

    let mut rows = Vec::new();
    for (case, real) in all {
        let mut row = Row { name: case.name.clone(), real, methods: Vec::new() };
        for method in METHODS {
            eprintln!("== {} by {method}", case.name);
            let cap = cap_for(method, cap, &row);
            let effort = measure(&tools, &case, real, method, cap)
                .unwrap_or_else(|problem| Effort { problem: Some(problem), ..Effort::default() });
            eprintln!("   {}", explain_table::sentence(&effort));
            row.methods.push(effort);
        }
        rows.push(row);
        // A long run that is stopped leaves what it has.
        shell::write(&shell::target().join("bench/explain.md"), explain_table::render(&rows, cap))?;
    }
    let path = shell::target().join("bench/explain.md");
    println!("{}", explain_table::render(&rows, cap));
    println!("written to {}", path.display());
    let failed: Vec<&str> = rows
        .iter()
        .filter(|row| row.methods.iter().any(|effort| effort.problem.is_some()))
        .map(|row| row.name.as_str())
        .collect();
    if failed.is_empty() { Ok(()) } else { Err(format!("no answer for {}", failed.join(", "))) }
}

/// After how many builds a method is stopped. On the real ones, what matters is whether
/// `dd` needs ten times the builds of `auto`; it need not run on from there, and `add`,
/// which is there for comparison, not even so long.
fn cap_for(method: &str, cap: u64, row: &Row) -> u64 {
    let times = if method == "dd" { DD_TIMES } else { ADD_TIMES };
    match row.methods.first() {
        Some(auto) if row.real && method != "auto" => (auto.builds * times + 1).clamp(cap.min(50), cap),
        _ => cap,
    }
}

fn measure(tools: &Tools, case: &Case, real: bool, method: &str, cap: u64) -> Result<Effort> {
    let dir = shell::target().join("bench/explain").join(&case.name).join(method);
    shell::fresh_dir(&dir)?;
    let from = if real { real::prepare(case)? } else { case.dir.clone() };
    for version in ["good", "bad"] {
        shell::copy_tree(&from.join(version), &dir.join(version))?;
    }
    let log = dir.join("watched");
    shell::write(&log.join(watch::BUILDS), "")?;
    let answer = dir.join("answer.json");
    let mut command = Command::new(&tools.relapse);
    command
        .args(["explain", "--good", "good", "--bad", "bad", "--method", method])
        .args(case.arguments(&watch::command_line(&log, &case.build)?))
        .arg("--json")
        .arg(&answer)
        .current_dir(&dir)
        .env("XDG_CACHE_HOME", dir.join("cache"))
        .env("CCACHE_DISABLE", "1")
        .stdin(Stdio::null())
        .stdout(file(&dir.join("report.txt"))?)
        .stderr(file(&dir.join("messages.txt"))?);
    let start = Instant::now();
    let capped = run(&mut command, &log, cap)?;
    let seconds = start.elapsed().as_secs_f64();
    let mut effort = Effort { seconds, ..Effort::default() };
    effort.untouched = lines(&log.join(watch::UNTOUCHED));
    if capped {
        effort.builds = lines(&log.join(watch::BUILDS));
        // Time may have ended it before the cap did.
        effort.capped = Some(cap.min(effort.builds));
        return Ok(effort);
    }
    let said = fs::read(&answer).ok().and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
    let Some(said) = said else {
        let messages = fs::read_to_string(dir.join("messages.txt")).unwrap_or_default();
        let last: Vec<&str> = messages.lines().rev().take(3).collect();
        return Err(format!("no answer: {}", last.into_iter().rev().collect::<Vec<_>>().join(" / ")));
    };
    let number = |key: &str| said["trials"][key].as_u64().unwrap_or(0);
    let count = |key: &str| said[key].as_array().map_or(0, Vec::len);
    effort.changes = number("changes");
    effort.builds = number("builds");
    effort.runs = number("runs");
    effort.root = count("root");
    effort.auxiliary = count("auxiliary");
    effort.verified = said["verified"] == true;
    effort.expected = names_the_guilty(case, &said);
    Ok(effort)
}

/// Whether the root changes are those of `case.toml`, or others that are as right.
fn names_the_guilty(case: &Case, answer: &Value) -> bool {
    let others = case.table.get("other").and_then(toml::Value::as_array).into_iter().flatten();
    let answers = std::iter::once(&case.table).chain(others.filter_map(toml::Value::as_table));
    let reported = answer["root"].as_array().map(Vec::as_slice).unwrap_or_default();
    answers
        .filter_map(|one| one.get("root")?.as_array())
        .any(|expected| expected.iter().all(|named| reported.iter().any(|hunk| is_named(named, hunk))))
}

/// Whether a reported hunk is the one that `case.toml` names.
fn is_named(named: &toml::Value, hunk: &Value) -> bool {
    let said = |key: &str| named.get(key).and_then(toml::Value::as_str);
    let among = |text: Option<&str>, lines: &Value| {
        let mut lines = lines.as_array().into_iter().flatten().filter_map(Value::as_str);
        text.is_none_or(|text| lines.any(|line| line.contains(text)))
    };
    hunk["file"].as_str() == said("file")
        && among(said("old"), &hunk["old_text"])
        && among(said("new"), &hunk["new_text"])
}

/// Runs to the end, or until there were more builds than `cap`: then it is interrupted,
/// as by Ctrl-C, and the answer is yes.
fn run(command: &mut Command, log: &Path, cap: u64) -> Result<bool> {
    let shown = shell::shown(command);
    let mut child = command.spawn().map_err(|error| format!("failed to run {shown}: {error}"))?;
    let start = Instant::now();
    let mut interrupted = None;
    loop {
        let ended = child.try_wait().map_err(|error| format!("failed to wait for {shown}: {error}"))?;
        if ended.is_some() {
            return Ok(interrupted.is_some());
        }
        match interrupted {
            None if start.elapsed() > LIMIT || lines(&log.join(watch::BUILDS)) > cap => {
                interrupted = Some(Instant::now());
                let pid = child.id().to_string();
                // If it cannot be told, the last resort below remains.
                let _ = Command::new("kill").args(["-INT", &pid]).status();
            }
            Some(since) if since.elapsed() > Duration::from_secs(60) => {
                child.kill().map_err(|error| format!("failed to stop {shown}: {error}"))?;
            }
            _ => {}
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn lines(path: &Path) -> u64 {
    fs::read(path).map_or(0, |bytes| bytes.iter().filter(|byte| **byte == b'\n').count() as u64)
}

fn file(path: &PathBuf) -> Result<fs::File> {
    fs::File::create(path).map_err(|error| format!("failed to make {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cap_on_real_programs_follows_auto() {
        let auto = |real, builds| Row {
            real,
            methods: vec![Effort { builds, ..Effort::default() }],
            ..Row::default()
        };
        assert_eq!(cap_for("auto", 1000, &Row { real: true, ..Row::default() }), 1000);
        assert_eq!(cap_for("dd", 1000, &auto(false, 7)), 1000);
        assert_eq!(cap_for("dd", 1000, &auto(true, 7)), 71);
        assert_eq!(cap_for("add", 1000, &auto(true, 30)), 91);
        assert_eq!(cap_for("dd", 1000, &auto(true, 1)), 50);
        assert_eq!(cap_for("dd", 1000, &auto(true, 500)), 1000);
    }

    #[test]
    fn answers_are_compared_by_their_lines() {
        let case = Case::one(&cases::home(), "scheduler-moved").unwrap();
        let answer = |file: &str, old: &str, new: &str| serde_json::json!({ "root": [{ "file": file, "old_text": [old], "new_text": [new] }] });
        let (before, after) = ("return task->left > 0 && task->wake <= now;", "return task->left > 0;");
        assert!(names_the_guilty(&case, &answer("sched.c", "", after)));
        assert!(names_the_guilty(&case, &answer("sched.c", before, "")), "as right");
        assert!(!names_the_guilty(&case, &answer("sched.c", "", "")));
        assert!(!names_the_guilty(&case, &answer("other.c", before, after)));
    }
}
