//! `cargo xtask bench views`: what it takes to read events from recordings and to compare
//! runs, for two versions of Lua and of SQLite on the same input, in growing sizes.
//!
//! Times of one line are of one run of the same machine: read them as ratios.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::cases::Case;
use crate::shell::{self, Result};
use crate::tools::{Cores, LONG, Tools};
use crate::{real, setup};

/// Nothing takes longer, except by mistake.
const LIMIT: Duration = Duration::from_secs(3600);
/// Beyond so many pairs of events the baseline is not tried.
const LCS_PAIRS: f64 = 2e9;

/// A program in two versions, and how it is put to work.
struct Subject {
    name: &'static str,
    case: &'static str,
    program: &'static str,
    /// The arguments for so many rounds of work.
    arguments: fn(u64) -> Vec<String>,
    rounds: &'static [u64],
}

const SUBJECTS: [Subject; 2] = [
    Subject {
        name: "lua",
        case: "lua-active-lines",
        program: "lua",
        arguments: |_| vec!["work.lua".to_owned()],
        rounds: &[1, 10, 100, 1_000, 10_000, 100_000],
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
        rounds: &[1, 10, 100, 1_000, 10_000, 100_000],
    },
];

/// What was measured for one size.
struct Row {
    subject: &'static str,
    rounds: u64,
    /// Of the old version and the new.
    events: [f64; 2],
    instructions: f64,
    /// Seconds: replay of the old version alone, reading its events, comparing.
    replay: f64,
    reading: f64,
    comparing: f64,
    bytes: f64,
    differences: f64,
    sequences: f64,
    compared: f64,
    /// Differences, comparisons and seconds of the baseline.
    lcs: Option<(f64, f64, f64)>,
}

/// `cargo xtask bench views [--events N] [NAME…]`
pub fn command(words: &[&str]) -> Result<()> {
    let (mut most, mut names) = (1e7, Vec::new());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match *word {
            "--events" => {
                most =
                    words.next().and_then(|n| n.parse().ok()).ok_or("--events needs a number of events")?;
            }
            name => names.push(name),
        }
    }
    setup::install(false)?;
    let tools = Tools::build()?;
    let mut rows: Vec<Row> = Vec::new();
    for subject in SUBJECTS.iter().filter(|s| names.is_empty() || names.contains(&s.name)) {
        let programs = build(&tools, subject)?;
        for rounds in subject.rounds {
            eprintln!("== {} with {rounds} rounds", subject.name);
            let row = measure(&tools, subject, &programs, *rounds)?;
            let events = row.events[0];
            rows.push(row);
            // The next size has about ten times as many.
            if events * 5.0 > most {
                break;
            }
        }
    }
    let text = render(&rows);
    let path = shell::target().join("bench/views.md");
    shell::write(&path, &text)?;
    println!("{text}");
    println!("written to {}", path.display());
    Ok(())
}

/// Both versions with recording built in.
fn build(tools: &Tools, subject: &Subject) -> Result<[PathBuf; 2]> {
    let case = Case::one(&real::home(), subject.case)?;
    let dir = real::prepare(&case)?;
    for version in ["good", "bad"] {
        let tree = dir.join(version);
        let mut make = Command::new("sh");
        make.args(["-c", &case.build]).current_dir(&tree).env("CC", &tools.cc);
        let built = shell::capture(&mut make, LONG)?;
        if !built.status.success() {
            return Err(format!("{} does not build:\n{}", subject.name, built.complaint()));
        }
        if subject.name == "lua" {
            let work = std::fs::read(shell::root().join("xtask/views/work.lua"));
            shell::write(&tree.join("work.lua"), work.map_err(|e| format!("failed to read work.lua: {e}"))?)?;
        }
    }
    Ok(["good", "bad"].map(|version| dir.join(version)))
}

fn measure(tools: &Tools, subject: &Subject, programs: &[PathBuf; 2], rounds: u64) -> Result<Row> {
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
    let replayed = tools.replay(&recordings[0], Cores::One, LIMIT)?;
    if !replayed.exact {
        return Err(format!("{}: replay is not exact", subject.name));
    }
    let seconds = serde_json::from_str::<Value>(&replayed.text).ok();
    let replay = seconds.and_then(|v| v["replay_seconds"].as_f64()).unwrap_or(replayed.wall_seconds);
    let answer = diff(tools, &recordings, &[])?;
    let number = |value: &Value| value.as_f64().unwrap_or(0.0);
    let events = [number(&answer["left"]["events"]), number(&answer["right"]["events"])];
    let lcs = match events[0] * events[1] <= LCS_PAIRS {
        true => diff(tools, &recordings, &["--lcs"]).ok(),
        false => None,
    };
    Ok(Row {
        subject: subject.name,
        rounds,
        events,
        instructions: replayed.instructions,
        replay,
        reading: number(&answer["left"]["seconds"]),
        comparing: number(&answer["seconds"]),
        bytes: number(&answer["left"]["bytes"])
            + number(&answer["right"]["bytes"])
            + number(&answer["index_bytes"]),
        differences: number(&answer["differences"]),
        sequences: number(&answer["sequences"]["all"]),
        compared: number(&answer["compared"]),
        lcs: lcs.map(|l| (number(&l["differences"]), number(&l["compared"]), number(&l["seconds"]))),
    })
}

fn diff(tools: &Tools, recordings: &[PathBuf], options: &[&str]) -> Result<Value> {
    let mut command = Command::new(&tools.relapse);
    let paths: Vec<&Path> = recordings.iter().map(PathBuf::as_path).collect();
    command.arg("diff").args(paths).args(["--json", "--limit", "1"]).args(options);
    let outcome = shell::capture(&mut command, LIMIT)?;
    serde_json::from_slice(&outcome.stdout)
        .map_err(|error| format!("failed to read the answer of {}: {error}", shell::shown(&command)))
}

fn render(rows: &[Row]) -> String {
    let mut out = String::from(
        "# Views\n\nTwo versions on the same input. Reading: events from the old version's recording, beside its \
         plain replay. Accuracy: (n − differences)/n against that of the longest common subsequence.\n\n\
         | subject | rounds | events | instructions/event | reading/replay | million events/s | comparing/reading | \
         bytes/event | differences | sequences | compares/event | LCS differences | LCS compares/ours | accuracy |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    let mut accuracies = Vec::new();
    for r in rows {
        let all = r.events[0] + r.events[1];
        let (differences, compares, accuracy) = match r.lcs {
            Some((differences, compares, _)) => {
                let accuracy = (all - r.differences) / (all - differences).max(1.0);
                accuracies.push(accuracy);
                (
                    format!("{differences}"),
                    format!("{:.1}", compares / r.compared.max(1.0)),
                    format!("{:.2} %", 100.0 * accuracy),
                )
            }
            None => ("-".to_owned(), "-".to_owned(), "-".to_owned()),
        };
        let _ = writeln!(
            out,
            "| {} | {} | {} | {:.1} | {:.2} | {:.2} | {:.2} | {:.0} | {} | {} | {:.1} | {differences} | {compares} | {accuracy} |",
            r.subject,
            r.rounds,
            r.events[0],
            r.instructions / r.events[0].max(1.0),
            r.reading / r.replay.max(1e-9),
            r.events[0] / r.reading.max(1e-9) / 1e6,
            r.comparing / (2.0 * r.reading).max(1e-9),
            r.bytes / all.max(1.0),
            r.differences,
            r.sequences,
            r.compared / all.max(1.0),
        );
    }
    if !accuracies.is_empty() {
        let mean = (accuracies.iter().map(|a| a.ln()).sum::<f64>() / accuracies.len() as f64).exp();
        let _ = writeln!(
            out,
            "\nAccuracy against the longest common subsequence, geometric mean: {:.2} %.",
            100.0 * mean
        );
    }
    out
}
