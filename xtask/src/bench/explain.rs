//! `cargo xtask bench explain`: correctness and cost of explanations, compared with delta debugging and `git
//! bisect`, in one run.
//!
//! Each method starts with fresh copies of the versions and empty caches. Builds run under `watch`, which
//! counts them and detects objects that are rebuilt although their sources did not change. The count is also
//! used to stop delta debugging at its cap. Delta debugging gets plain directories, even if there is a
//! history; bisecting gets only the history.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::bisect::{BisectResult, bisect};
use super::explain_story::{self, Story};
use super::{explain_judge, explain_table, publish, watch};
use crate::cases::{self, Case, FIRST};
use crate::shell::{self, Result};
use crate::tools::Tools;
use crate::{releases, setup};

/// On real cases, delta debugging is stopped at this multiple of the builds of `auto`.
const DD_CAP_FACTOR: u64 = 10;
/// A generous time limit that only a hang exceeds.
const LIMIT: Duration = Duration::from_secs(3600);

/// The results of all methods for one case.
#[derive(Clone, Debug, Default)]
pub struct Row {
    pub name: String,
    /// Whether it is a pair of released versions.
    pub real: bool,
    pub history: bool,
    pub auto: Effort,
    pub dd: Option<Effort>,
    /// Only if there is a history.
    pub bisect: Option<BisectResult>,
    /// An error unrelated to an explanation.
    pub problem: Option<String>,
}

/// The answer of one method, and its cost.
#[derive(Clone, Debug, Default)]
pub struct Effort {
    /// Why there is no answer.
    pub problem: Option<String>,
    /// The number of builds at which it was stopped, if it was.
    pub capped: Option<u64>,
    pub changes: u64,
    pub root: usize,
    pub auxiliary: usize,
    /// Judged by `case.toml`.
    pub right: bool,
    pub proof: Proof,
    pub builds: u64,
    pub broken: u64,
    pub runs: u64,
    /// The time until the guilty changes were known.
    pub verdict: f64,
    /// The total time.
    pub seconds: f64,
    /// The number of objects rebuilt although none of their inputs had changed.
    pub untouched: u64,
    pub story: Story,
}

impl Effort {
    pub fn answered(&self) -> bool {
        self.problem.is_none() && self.capped.is_none()
    }
}

/// The answer's claims about its own proof: "yes", "no" or "not-tried".
#[derive(Clone, Debug, Default)]
pub struct Proof {
    pub needed: String,
    pub sufficient: String,
    pub sane: String,
}

/// `cargo xtask bench explain [--cap N] [--small] [--only-auto] [NAME…]`
pub fn command(words: &[&str]) -> Result<()> {
    let (mut cap, mut small, mut only_auto, mut names) = (1000, false, false, Vec::new());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match *word {
            "--cap" => {
                let number = words.next().and_then(|number| number.parse().ok());
                cap = number.ok_or("--cap needs a number of builds")?;
            }
            "--small" => small = true,
            "--only-auto" => only_auto = true,
            name => names.push(name),
        }
    }
    setup::install(setup::Need::Test)?;
    let tools = Tools::build()?;
    let mut all: Vec<(Case, bool)> =
        Case::all(&cases::home())?.into_iter().map(|case| (case, false)).collect();
    if !small {
        all.extend(Case::all(&releases::home())?.into_iter().map(|case| (case, true)));
    }
    let known: Vec<Case> = all.iter().map(|(case, _)| case.clone()).collect();
    Case::select(&known, &names)?;
    all.retain(|(case, _)| names.is_empty() || names.contains(&case.name.as_str()));

    let mut rows = Vec::new();
    for (case, real) in all {
        rows.push(compare(&tools, &case, real, (!only_auto).then_some(cap)));
        // Store intermediate results, in case a long run is interrupted.
        publish::store("explain", &explain_table::render(&rows, cap))?;
    }
    publish::publish("explain", &explain_table::render(&rows, cap))?;
    let failed: Vec<&str> = rows
        .iter()
        .filter(|row| row.auto.problem.is_some() || row.problem.is_some())
        .map(|row| row.name.as_str())
        .collect();
    if failed.is_empty() { Ok(()) } else { Err(format!("no answer for {}", failed.join(", "))) }
}

/// Explains a case; with a cap, also runs delta debugging and bisecting on it.
fn compare(tools: &Tools, case: &Case, real: bool, cap: Option<u64>) -> Row {
    let home = shell::target().join("bench/explain").join(&case.name);
    let effort = |method: &str, cap: Option<u64>| {
        eprintln!("== {} by {method}", case.name);
        let effort = measure(tools, case, real, &home.join(method), method, cap)
            .unwrap_or_else(|problem| Effort { problem: Some(problem), ..Effort::default() });
        eprintln!("   {}", explain_table::sentence(&effort));
        effort
    };
    let history = case.culprit.is_some();
    let auto = effort("auto", None);
    let mut row = Row { name: case.name.clone(), real, history, auto, ..Row::default() };
    let Some(cap) = cap else { return row };
    row.dd = Some(effort("dd", Some(dd_cap(cap, &row))));
    if history {
        eprintln!("== {} by git bisect", case.name);
        match bisect(case, &home.join("bisect"), &tools.clang) {
            Ok(bisected) => row.bisect = Some(bisected),
            Err(problem) => row.problem = Some(format!("git bisect: {problem}")),
        }
    }
    row
}

/// The number of builds at which delta debugging is stopped. For real cases the only question is whether it
/// needs ten times the builds of `auto`, so it is stopped there.
fn dd_cap(cap: u64, row: &Row) -> u64 {
    if row.real { (row.auto.builds * DD_CAP_FACTOR + 1).clamp(cap.min(50), cap) } else { cap }
}

fn measure(
    tools: &Tools,
    case: &Case,
    real: bool,
    dir: &Path,
    method: &str,
    cap: Option<u64>,
) -> Result<Effort> {
    shell::create_empty_dir(dir)?;
    if real {
        let from = releases::prepare(case)?;
        for version in ["good", "bad"] {
            shell::copy_tree(&from.join(version), &dir.join(version))?;
        }
    } else {
        case.lay_out(dir)?;
    }
    let (here, good, bad) = if case.culprit.is_some() && method == "auto" {
        (dir.join("repository"), FIRST, "HEAD")
    } else {
        (dir.to_owned(), "good", "bad")
    };
    let log = dir.join("watched");
    shell::write(&log.join(watch::BUILDS), "")?;
    let answer = dir.join("answer.json");
    let mut command = Command::new(&tools.relapse);
    command
        .args(["explain", "--good", good, "--bad", bad, "--method", method])
        .args(case.arguments(&watch::command_line(&log, &case.build)?))
        .arg("--json")
        .arg(&answer)
        .current_dir(here)
        .env("XDG_CACHE_HOME", dir.join("cache"))
        .env("CCACHE_DISABLE", "1")
        .stdin(Stdio::null())
        .stdout(file(&dir.join("report.txt"))?)
        .stderr(file(&dir.join("messages.txt"))?);
    let start = Instant::now();
    let stopped = run(&mut command, &log, cap.unwrap_or(u64::MAX))?;
    let seconds = start.elapsed().as_secs_f64();
    let untouched = lines(&log.join(watch::UNTOUCHED));
    if stopped {
        let builds = lines(&log.join(watch::BUILDS));
        // The time limit may have ended it before the cap did.
        let capped = Some(cap.unwrap_or(builds).min(builds));
        return Ok(Effort { seconds, untouched, builds, capped, ..Effort::default() });
    }
    let said = fs::read(&answer).ok().and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
    let Some(said) = said else {
        let messages = fs::read_to_string(dir.join("messages.txt")).unwrap_or_default();
        let last: Vec<&str> = messages.lines().rev().take(3).collect();
        return Err(format!("no answer: {}", last.into_iter().rev().collect::<Vec<_>>().join(" / ")));
    };
    // Delta debugging does not identify a commit.
    let judged = Case { culprit: case.culprit.clone().filter(|_| method == "auto"), ..case.clone() };
    let right = explain_judge::is_right(&judged, &said);
    let story = explain_story::judge(case, &said);
    Ok(Effort { seconds, untouched, right, story, ..effort_of(&said) })
}

/// The figures in the answer.
fn effort_of(said: &Value) -> Effort {
    let number = |key: &str| said["trials"][key].as_u64().unwrap_or(0);
    let count = |key: &str| said[key].as_array().map_or(0, Vec::len);
    let proof = |key: &str| said["proof"][key].as_str().unwrap_or("not-tried").to_owned();
    Effort {
        changes: number("changes"),
        root: count("root"),
        auxiliary: count("auxiliary"),
        proof: Proof { needed: proof("needed"), sufficient: proof("sufficient"), sane: proof("sane") },
        builds: number("builds"),
        broken: number("broken_builds"),
        runs: number("runs"),
        verdict: said["trials"]["seconds_to_verdict"].as_f64().unwrap_or(0.0),
        ..Effort::default()
    }
}

/// Runs a command to its end, or interrupts it as Ctrl-C does once there are more builds than `cap`. Returns
/// whether it was interrupted.
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
                // If sending the signal fails, the process is killed below.
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

/// The number of lines of a file; 0 if it does not exist.
pub fn lines(path: &Path) -> u64 {
    fs::read(path).map_or(0, |bytes| bytes.iter().filter(|byte| **byte == b'\n').count() as u64)
}

fn file(path: &Path) -> Result<fs::File> {
    fs::File::create(path).map_err(|error| format!("failed to make {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cap_on_real_programs_follows_auto() {
        let auto =
            |real, builds| Row { real, auto: Effort { builds, ..Effort::default() }, ..Row::default() };
        assert_eq!(dd_cap(1000, &auto(false, 7)), 1000);
        assert_eq!(dd_cap(1000, &auto(true, 7)), 71);
        assert_eq!(dd_cap(1000, &auto(true, 1)), 50);
        assert_eq!(dd_cap(1000, &auto(true, 500)), 1000);
    }

    #[test]
    fn an_answer_tells_its_effort_and_its_proof() {
        let said = serde_json::json!({
            "root": [{}], "auxiliary": [{}, {}],
            "proof": { "needed": "yes", "sufficient": "no", "sane": "yes", "minimal": "not-tried" },
            "trials": { "changes": 9, "builds": 7, "broken_builds": 2, "runs": 5, "seconds_to_verdict": 1.5 },
        });
        let effort = effort_of(&said);
        assert_eq!((effort.root, effort.auxiliary, effort.changes), (1, 2, 9));
        assert_eq!((effort.builds, effort.broken, effort.runs), (7, 2, 5));
        assert_eq!([effort.proof.needed, effort.proof.sufficient, effort.proof.sane], ["yes", "no", "yes"]);
        assert_eq!(effort_of(&serde_json::json!({})).proof.sane, "not-tried");
    }
}
