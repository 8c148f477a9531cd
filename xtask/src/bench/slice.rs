//! `cargo xtask bench slice`: what slices cost by replay and by an index, and what the
//! index comes to beside plain SEQUITUR and zstd.
//!
//! Times are ratios to the plain program's, measured in the same run.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use super::symbolic::{Figures, figures, number};
use super::table::cell;
use crate::setup;
use crate::shell::{self, Result};
use crate::subjects::{self, Flavour, Job, Size};
use crate::tools::Tools;

/// Nothing takes longer, except by mistake.
const LIMIT: Duration = Duration::from_secs(3600);
/// The plain program is quick; its time is the best of this many runs.
const ROUNDS: usize = 5;
/// Rounds of the generated program for a billion instructions.
const BILLION: u64 = 6130;

/// What was measured of one run.
#[derive(Debug, Default)]
struct Row {
    name: String,
    /// Seconds of the plain program, optimised and not.
    plain: (f64, f64),
    replay: Figures,
    index: Figures,
    /// Relevant slices, by replay.
    relevant: Figures,
    /// KiB held at most while slicing: by replay, by index, relevant.
    memory: (f64, f64, f64),
    made: Value,
    /// Seconds to make the index.
    making: f64,
}

/// `cargo xtask bench slice [--dev] [--rounds N] [NAME…]`
pub fn command(words: &[&str]) -> Result<()> {
    let mut dev = false;
    let mut rounds = BILLION;
    let mut names = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match *word {
            "--dev" => dev = true,
            "--rounds" => {
                let n = words.next().and_then(|n| n.parse().ok());
                rounds = n.ok_or("--rounds takes a number")?;
            }
            name => names.push(name),
        }
    }
    setup::install(false)?;
    let (tools, measure) =
        if dev { (Tools::build_dev()?, build(&[])?) } else { (Tools::build()?, build(&["--release"])?) };
    let mut rows = Vec::new();
    let mut problems = Vec::new();
    let packages = subjects::fetch()?;
    for subject in subjects::select(&names)? {
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
            ask(&tools, &measure, subject.name, &recording, plain)
        };
        match row() {
            Ok(row) => rows.push(row),
            Err(message) => problems.push(format!("{}: {message}", subject.name)),
        }
    }
    match generated(&tools, &measure, rounds) {
        Ok(row) => rows.push(row),
        Err(message) => problems.push(format!("generated: {message}")),
    }
    let text = render(&rows, &problems, dev);
    let path = shell::target().join("bench/slice.md");
    shell::write(&path, &text)?;
    println!("{text}");
    println!("written to {}", path.display());
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
}

fn build(profile: &[&str]) -> Result<PathBuf> {
    let words = ["build", "--quiet", "--package", "relapse-slice", "--example", "by_index"];
    shell::run(shell::cargo().args(words).args(profile))?;
    let dir = if profile.is_empty() { "debug/examples" } else { "release/examples" };
    Ok(shell::target().join(dir).join("by_index"))
}

fn best(job: &Job, program: &Path) -> Result<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        best = best.min(super::seconds(job, &mut Command::new(program))?);
    }
    Ok(best)
}

/// The program of `xtask/subjects/slice`, for so many rounds.
fn generated(tools: &Tools, measure: &Path, rounds: u64) -> Result<Row> {
    eprintln!("== generated, {rounds} rounds");
    let dir = shell::target().join("bench/slice");
    shell::fresh_dir(&dir)?;
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
    ask(tools, measure, "generated", &recording, plain)
}

/// Slices by replay; makes the index; slices by the index.
fn ask(tools: &Tools, measure: &Path, name: &str, recording: &Path, plain: (f64, f64)) -> Result<Row> {
    let mut row = Row { name: name.to_owned(), plain, ..Row::default() };
    let ways = |way: &str| -> Result<(Figures, f64)> {
        let file = shell::target().join("bench/slice-memory");
        let mut command = Command::new("/usr/bin/time");
        command.args(["-f", "%M", "-o"]).arg(&file).arg(measure).arg(recording).args([way, "3"]);
        let found = figures(&mut command, LIMIT)?;
        let memory = std::fs::read_to_string(&file).ok().and_then(|t| t.trim().parse().ok());
        Ok((found, memory.unwrap_or(0.0)))
    };
    (row.replay, row.memory.0) = ways("replay")?;
    (row.relevant, row.memory.2) = ways("relevant")?;
    let mut command = Command::new(&tools.relapse);
    command.arg("index").arg(recording).arg("--json");
    let outcome = shell::capture(&mut command, LIMIT)?;
    row.making = outcome.took.as_secs_f64();
    if !outcome.status.success() {
        return Err(format!("{}: {}", shell::shown(&command), outcome.complaint()));
    }
    let outcome = shell::capture(command.arg("--measure"), LIMIT)?;
    let json: Value = serde_json::from_slice(&outcome.stdout).map_err(|e| format!("relapse index: {e}"))?;
    row.made = json["processes"][0].clone();
    (row.index, row.memory.1) = ways("index")?;
    for figure in ["walked", "taken", "sites"] {
        if row.replay.get(figure) != row.index.get(figure) {
            return Err(format!("{figure} by replay and by index are not the same"));
        }
    }
    Ok(row)
}

/// Seconds of a slice: making ready once, and one question.
fn slice(way: &Figures) -> Option<f64> {
    let n = number(way, "questions")?;
    Some(number(way, "prepared")? + number(way, "sliced")? / n)
}

fn by_replay(row: &Row) -> Option<f64> {
    slice(&row.replay)
}

fn by_index(row: &Row) -> Option<f64> {
    slice(&row.index)
}

/// Percent of the program's instructions that are in a slice.
fn share(way: &Figures) -> Option<f64> {
    let each = number(way, "sites")? / number(way, "questions")?;
    Some(100.0 * each / number(way, "code")?)
}

/// How much longer a relevant slice takes than a dynamic one, both by replay.
fn relevant_extra(row: &Row) -> Option<f64> {
    Some(slice(&row.relevant)? / by_replay(row)?)
}

type Column = (&'static str, fn(&Row) -> Option<f64>);

const TIMES: &[Column] = &[
    ("instructions, millions", |r| Some(number(&r.index, "instructions")? / 1e6)),
    ("slice, % of executed", |r| {
        Some(100.0 * number(&r.index, "taken")? / number(&r.index, "walked")?.max(1.0))
    }),
    ("slice, % of program", |r| share(&r.index)),
    ("by replay / -O2", |r| Some(by_replay(r)? / r.plain.0)),
    ("by index / -O2", |r| Some(by_index(r)? / r.plain.0)),
    ("by index / -O0", |r| Some(by_index(r)? / r.plain.1)),
    ("replay / index", |r| Some(by_replay(r)? / by_index(r)?)),
    ("memory by replay, MiB", |r| Some(r.memory.0 / 1024.0)),
    ("memory by index, MiB", |r| Some(r.memory.1 / 1024.0)),
    ("making the index / -O2", |r| Some(r.making / r.plain.0)),
];

const RELEVANT: &[Column] = &[
    ("dynamic, % of program", |r| share(&r.replay)),
    ("relevant, % of program", |r| share(&r.relevant)),
    ("relevant / dynamic, size", |r| Some(share(&r.relevant)? / share(&r.replay)?)),
    ("relevant / dynamic, time", relevant_extra),
    ("memory, MiB", |r| Some(r.memory.2 / 1024.0)),
];

fn made(row: &Row, name: &str) -> Option<f64> {
    row.made.get(name).or_else(|| row.made.get("measured")?.get(name))?.as_f64()
}

const SIZES: &[Column] = &[
    ("file, KiB", |r| Some(made(r, "bytes")? / 1024.0)),
    ("bits per instruction", |r| made(r, "bits_per_instruction")),
    ("numbers, millions", |r| Some(made(r, "numbers")? / 1e6)),
    ("sequences, % of raw", |r| Some(100.0 * made(r, "sequence_bytes")? / made(r, "raw_bytes")?)),
    ("SEQUITUR, % of raw", |r| Some(100.0 * made(r, "sequitur_bytes")? / made(r, "raw_bytes")?)),
    ("zstd, % of raw", |r| Some(100.0 * made(r, "zstd_bytes")? / made(r, "raw_bytes")?)),
    ("sequences / SEQUITUR", |r| Some(made(r, "sequence_bytes")? / made(r, "sequitur_bytes")?)),
    ("look-ups, SEQUITUR / ours", |r| Some(made(r, "sequitur_checks")? / made(r, "checks")?.max(1.0))),
    ("pieces larger than SEQUITUR", |r| made(r, "larger")),
];

/// One target: what, its figure, the limit, and whether the figure may not be above it.
type Target = (String, Option<f64>, f64, bool);

/// What was to be reached, and whether it was.
fn targets(rows: &[Row]) -> String {
    let mean = |of: fn(&Row) -> Option<f64>| {
        let values: Option<Vec<f64>> = rows.iter().map(of).collect();
        values.and_then(|v| super::table::geometric_mean(&v))
    };
    let worst = |of: fn(&Row) -> Option<f64>| {
        let values: Option<Vec<f64>> = rows.iter().map(of).collect();
        values.and_then(|v| v.into_iter().reduce(f64::max))
    };
    let long = rows.iter().find(|r| r.name == "generated");
    let millions = long.and_then(|r| number(&r.index, "instructions")).map_or(0.0, |n| n / 1e6);
    let long = |of: fn(&Row) -> Option<f64>| long.and_then(of);
    let all: [Target; 6] = [
        (
            format!("dynamic slice of {millions:.0} million instructions / -O2"),
            long(|r| Some(by_replay(r)? / r.plain.0)),
            60.0,
            true,
        ),
        ("memory of the same, MiB".to_owned(), long(|r| Some(r.memory.0 / 1024.0)), 2048.0, true),
        ("by replay / by index, mean".to_owned(), mean(|r| Some(by_replay(r)? / by_index(r)?)), 10.0, false),
        ("relevant / dynamic, time, mean".to_owned(), mean(relevant_extra), 1.5, true),
        (
            "sequences / SEQUITUR, mean".to_owned(),
            mean(|r| Some(made(r, "sequence_bytes")? / made(r, "sequitur_bytes")?)),
            0.5,
            true,
        ),
        (
            "sequences / SEQUITUR, worst".to_owned(),
            worst(|r| Some(made(r, "sequence_bytes")? / made(r, "sequitur_bytes")?)),
            1.0,
            true,
        ),
    ];
    let mut text = String::from("\n| target | figure | limit | |\n|---|---|---|---|\n");
    for (what, figure, limit, most) in all {
        let met = match figure {
            None => "not measured",
            Some(f) if (f <= limit) == most || f == limit => "met",
            Some(_) => "missed",
        };
        let word = if most { "at most" } else { "at least" };
        let _ = writeln!(text, "| {what} | {} | {word} {limit} | {met} |", cell(figure));
    }
    text
}

fn render(rows: &[Row], problems: &[String], dev: bool) -> String {
    let mut text = String::from("# Slices: by replay and by index\n");
    for columns in [TIMES, RELEVANT, SIZES] {
        let heads = columns.iter().map(|c| c.0).collect::<Vec<_>>().join(" | ");
        let _ = write!(text, "\n| subject | {heads} |\n|---{}|\n", "|---".repeat(columns.len()));
        for row in rows {
            let cells: Vec<String> = columns.iter().map(|c| cell((c.1)(row))).collect();
            let _ = writeln!(text, "| {} | {} |", row.name, cells.join(" | "));
        }
        let means: Vec<String> = columns
            .iter()
            .map(|c| {
                let values: Vec<f64> = rows.iter().filter_map(|r| (c.1)(r)).collect();
                cell(super::table::geometric_mean(&values).filter(|_| values.len() == rows.len()))
            })
            .collect();
        let _ = writeln!(text, "| geometric mean | {} |", means.join(" | "));
    }
    let _ = writeln!(
        text,
        "\nThree questions each, evenly spread over the run, all that an instruction used; a slice is \
         making ready once and a third of the questions' time. Raw: eight bytes an address, four any \
         other number. The thesis that the index follows has RLESe at 5.94 % of raw over its subjects, \
         from 0.02 % (SOR) to 20.15 % (_209_db), and SEQUITUR from 0.04 % to 18.35 %."
    );
    text.push_str(&targets(rows));
    if dev {
        let _ = writeln!(text, "\nBuilt with the development profile.");
    }
    for problem in problems {
        let _ = writeln!(text, "\nNot measured: {problem}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> Row {
        let figures = |sliced: &str| -> Figures {
            [("questions", "3"), ("prepared", "1"), ("sliced", sliced), ("instructions", "2000000")]
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect()
        };
        Row {
            name: "a".to_owned(),
            plain: (0.5, 1.0),
            replay: figures("27"),
            index: figures("3"),
            made: serde_json::json!({
                "bytes": 2048, "sequence_bytes": 100, "measured": { "sequitur_bytes": 400 }
            }),
            ..Row::default()
        }
    }

    #[test]
    fn a_slice_is_making_ready_and_one_question() {
        let text = render(&[row()], &[], true);
        // 1 + 27 / 3 seconds against 1 + 3 / 3.
        assert!(text.contains("| a | 2.00 | - | - | 20.00 | 4.00 | 2.00 | 5.00 |"), "{text}");
        assert!(text.contains("| 2.00 | - | - | - | - | - | 0.2500 |"), "{text}");
        assert!(text.contains("| by replay / by index, mean | 5.00 | at least 10 | missed |"), "{text}");
        assert!(text.contains("| sequences / SEQUITUR, mean | 0.2500 | at most 0.5 | met |"), "{text}");
        assert!(text.contains("| relevant / dynamic, time, mean | - | at most 1.5 | not measured |"));
        assert!(text.contains("development profile"));
    }
}
