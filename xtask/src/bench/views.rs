//! `cargo xtask bench views`: the cost of extracting events from recordings and of comparing runs, for two
//! versions of Lua and of SQLite on the same input, in growing sizes; and the quality of comparisons, for
//! these, for the small regressions and for random programs.
//!
//! Times in a row are measured in one run on one machine; only their ratios are meaningful.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use super::publish;
use super::symbolic::figures;
use super::views_pairs;
use super::views_table::{Pair, Row, Spilled, render};
use crate::cases::Case;
use crate::shell::{self, Outcome, Result};
use crate::tools::{Cores, DEFAULT_TIMEOUT, Tools};
use crate::{releases, setup};

/// A generous time limit that only a hang exceeds.
pub const LIMIT: Duration = Duration::from_secs(3600);
/// The limit of event pairs for the baseline.
const LCS_PAIRS: f64 = 1e11;
/// The memory for events, in MiB, if most of them are to be on disk.
const SMALL_MEMORY_MIB: u64 = 512;

/// A program in two versions, with its workload.
struct Subject {
    name: &'static str,
    case: &'static str,
    program: &'static str,
    /// The arguments for this many rounds of work.
    arguments: fn(u64) -> Vec<String>,
    /// The largest has 100 million events.
    rounds: &'static [u64],
}

const SUBJECTS: [Subject; 2] = [
    Subject {
        name: "lua",
        case: "lua-active-lines",
        program: "lua",
        arguments: |_| vec!["work.lua".to_owned()],
        rounds: &[1, 10, 100, 1_000, 13_000],
    },
    Subject {
        name: "sqlite",
        case: "sqlite-printf",
        program: "sql",
        arguments: |rounds| {
            vec![format!(
                "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < {rounds}) \
                 SELECT count(*), sum(n * n % 7), max(length(printf('%d', n))) FROM t"
            )]
        },
        rounds: &[1, 10, 100, 1_000, 10_000, 92_000],
    },
];

/// `cargo xtask bench views [--dev] [--events N] [NAME…]`; names are `lua`, `sqlite` and `pairs`, for the
/// many small ones.
pub fn command(words: &[&str]) -> Result<()> {
    let (mut most, mut dev, mut names) = (1.2e8, false, Vec::new());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match *word {
            "--dev" => dev = true,
            "--events" => {
                most =
                    words.next().and_then(|n| n.parse().ok()).ok_or("--events needs a number of events")?;
            }
            name => names.push(name),
        }
    }
    setup::install(setup::Need::Test)?;
    let tools = if dev { Tools::build_dev()? } else { Tools::build()? };
    let baseline = Baseline::build()?;
    let (mut rows, mut spilled): (Vec<Row>, Vec<Spilled>) = (Vec::new(), Vec::new());
    for subject in SUBJECTS.iter().filter(|s| names.is_empty() || names.contains(&s.name)) {
        let programs = build(&tools, subject)?;
        let mut last: Option<(f64, u64)> = None;
        for rounds in subject.rounds {
            // The number of events is proportional to the rounds, apart from startup.
            if last.is_some_and(|(events, before)| events * (*rounds as f64 / before as f64) > most) {
                break;
            }
            eprintln!("== {} with {rounds} rounds", subject.name);
            let recordings = record(&tools, subject, &programs, *rounds)?;
            let row = measure(&tools, &baseline, subject, &recordings, *rounds)?;
            eprintln!("   {} events", row.events[0]);
            last = Some((row.events[0], *rounds));
            rows.push(row);
            // Measured once: it takes as long as all other measurements of its size.
            if spilled.is_empty() && *rounds == subject.rounds[subject.rounds.len() - 1] {
                spilled.push(on_disk(&tools, subject, &recordings)?);
            }
            for recording in recordings {
                let _ = std::fs::remove_dir_all(recording);
            }
        }
    }
    let small = names.is_empty() || names.contains(&"pairs");
    let pairs = if small { views_pairs::measure(&tools, &baseline)? } else { Vec::new() };
    let text = render(&rows, &spilled, &pairs);
    publish::publish("views", &text)
}

/// Builds both versions with instrumentation.
fn build(tools: &Tools, subject: &Subject) -> Result<[PathBuf; 2]> {
    let case = Case::one(&releases::home(), subject.case)?;
    let dir = releases::prepare(&case)?;
    let trees = ["good", "bad"].map(|version| dir.join(version));
    // In parallel: the larger program is a single file.
    let built = std::thread::scope(|scope| {
        let threads = trees.each_ref().map(|tree| {
            let mut make = Command::new("sh");
            make.args(["-c", &case.build]).current_dir(tree).env("CC", &tools.cc);
            scope.spawn(move || shell::capture(&mut make, DEFAULT_TIMEOUT))
        });
        threads.map(|thread| thread.join().unwrap_or_else(|_| Err("a build came to a bad end".to_owned())))
    });
    for (tree, built) in trees.iter().zip(built) {
        let built = built?;
        if !built.status.success() {
            return Err(format!("{} does not build:\n{}", subject.name, built.complaint()));
        }
        if subject.name == "lua" {
            let work = std::fs::read(shell::root().join("xtask/views/work.lua"));
            shell::write(&tree.join("work.lua"), work.map_err(|e| format!("failed to read work.lua: {e}"))?)?;
        }
    }
    Ok(trees)
}

fn record(tools: &Tools, subject: &Subject, programs: &[PathBuf; 2], rounds: u64) -> Result<Vec<PathBuf>> {
    let mut recordings = Vec::new();
    for tree in programs {
        let recording = tree.join("recording");
        let _ = std::fs::remove_dir_all(&recording);
        let mut command = tools.record(&recording, &tree.join(subject.program));
        command.args((subject.arguments)(rounds)).current_dir(tree).env("ROUNDS", rounds.to_string());
        let outcome = shell::capture(&mut command, LIMIT)?;
        if !recording.exists() {
            return Err(format!("{} was not recorded: {}", subject.name, outcome.complaint()));
        }
        recordings.push(recording);
    }
    Ok(recordings)
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(0.0)
}

fn measure(
    tools: &Tools,
    baseline: &Baseline,
    subject: &Subject,
    recordings: &[PathBuf],
    rounds: u64,
) -> Result<Row> {
    let replayed = tools.replay(&recordings[0], Cores::One, LIMIT)?;
    if !replayed.exact {
        return Err(format!("{}: replay is not exact", subject.name));
    }
    let seconds = serde_json::from_str::<Value>(&replayed.text).ok();
    let replay = seconds.and_then(|v| v["replay_seconds"].as_f64()).unwrap_or(replayed.wall_seconds);
    // Measured alone: parallel runs would slow each other down.
    let reading = {
        let mut command = Command::new(&tools.relapse);
        command.arg("views").arg(&recordings[0]).args(["--type", "thread", "--json"]);
        number(&answer(&mut command)?.0["seconds"])
    };
    let (said, memory) = diff(tools, recordings, &[])?;
    let events = [number(&said["left"]["events"]), number(&said["right"]["events"])];
    let lcs = match events[0] * events[1] <= LCS_PAIRS {
        true => baseline.compare(recordings),
        false => None,
    };
    Ok(Row {
        subject: subject.name,
        rounds,
        events,
        instructions: replayed.instructions,
        replay,
        reading,
        comparing: number(&said["seconds"]),
        bytes: number(&said["left"]["bytes"])
            + number(&said["right"]["bytes"])
            + number(&said["index_bytes"]),
        memory,
        pair: pair(&said, lcs),
    })
}

/// The program that compares runs by longest common subsequence.
pub struct Baseline {
    program: PathBuf,
}

impl Baseline {
    fn build() -> Result<Baseline> {
        let words = ["build", "--release", "--quiet", "--package", "relapse-views", "--example", "lcs"];
        shell::run(shell::cargo().args(words))?;
        Ok(Baseline { program: shell::target().join("release/examples/lcs") })
    }

    /// The number of differences and of compared events; `None` if it takes too long.
    pub fn compare(&self, recordings: &[PathBuf]) -> Option<(f64, f64)> {
        let said = figures(Command::new(&self.program).args(recordings), LIMIT).ok()?;
        let figure = |name: &str| said.get(name)?.parse().ok();
        Some((figure("differences")?, figure("compared")?))
    }
}

/// The figures of a comparison by views and by the baseline.
pub fn pair(said: &Value, lcs: Option<(f64, f64)>) -> Pair {
    Pair {
        events: number(&said["left"]["events"]) + number(&said["right"]["events"]),
        differences: number(&said["differences"]),
        sequences: number(&said["sequences"]["all"]),
        compared: number(&said["compared"]),
        lcs,
    }
}

/// Compares the largest runs again, with little memory for events.
fn on_disk(tools: &Tools, subject: &Subject, recordings: &[PathBuf]) -> Result<Spilled> {
    let (said, memory) = diff(tools, recordings, &["--memory", &SMALL_MEMORY_MIB.to_string()])?;
    Ok(Spilled {
        subject: subject.name,
        mebibytes: SMALL_MEMORY_MIB,
        memory,
        differences: number(&said["differences"]),
        comparing: number(&said["seconds"]),
    })
}

/// Runs `relapse diff`. Returns its answer and its peak memory in bytes.
pub fn diff(tools: &Tools, recordings: &[PathBuf], options: &[&str]) -> Result<(Value, f64)> {
    let mut command = Command::new("/usr/bin/time");
    command.args(["-f", "peak %M"]).arg(&tools.relapse);
    let paths: Vec<&Path> = recordings.iter().map(PathBuf::as_path).collect();
    command.arg("diff").args(paths).args(["--json", "--limit", "1"]).args(options);
    let (value, outcome) = answer(&mut command)?;
    let said = String::from_utf8_lossy(&outcome.stderr).into_owned();
    let peak = said.lines().find_map(|l| l.strip_prefix("peak ")?.trim().parse::<f64>().ok());
    Ok((value, peak.unwrap_or(f64::NAN) * 1024.0))
}

fn answer(command: &mut Command) -> Result<(Value, Outcome)> {
    let outcome = shell::capture(command, LIMIT)?;
    let value = serde_json::from_slice(&outcome.stdout).map_err(|error| {
        let complaint = outcome.complaint();
        format!("failed to read the answer of {}: {error}\n{complaint}", shell::shown(command))
    })?;
    Ok((value, outcome))
}
