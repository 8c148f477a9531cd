//! `cargo xtask bench slice`: what slices cost by replay and by an index, and what the
//! index comes to beside plain SEQUITUR and zstd.
//!
//! Times are ratios to the plain program's, measured in the same run. A way that takes too long
//! for a subject is stopped, and the table made without it.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::slice_phases;
use super::symbolic::{Figures, figures, number};
use super::table::cell;
use crate::setup;
use crate::shell::{self, Result};
use crate::subjects::{self, Flavour, Job, Size};
use crate::tools::Tools;

/// Nothing else takes longer, except by mistake.
const LIMIT: Duration = Duration::from_secs(3600);
/// Seconds that one way may take for one subject, unless said otherwise.
const PATIENCE: u64 = 1200;
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
    making: Option<f64>,
    /// Ways that were stopped, and after how many seconds.
    stopped: Vec<(&'static str, u64)>,
}

/// What is asked.
struct Asked {
    measure: PathBuf,
    questions: u64,
    /// Seconds that one way may take.
    patience: u64,
}

/// `cargo xtask bench slice [--dev] [--rounds N] [--questions N] [--limit SECONDS] [NAME…]`,
/// a name being a subject's, `generated` or `phases`.
pub fn command(words: &[&str]) -> Result<()> {
    let mut dev = false;
    let mut rounds = BILLION;
    let (mut questions, mut patience) = (3, PATIENCE);
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
                    _ => patience = n,
                }
            }
            name => names.push(name),
        }
    }
    setup::install(false)?;
    let tools = if dev { Tools::build_dev()? } else { Tools::build()? };
    let asked = Asked { measure: build("by_index", dev)?, questions, patience };
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
            ask(&tools, &asked, subject.name, &recording, plain)
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
    let path = shell::target().join("bench/slice.md");
    shell::write(&path, &text)?;
    println!("{text}");
    println!("written to {}", path.display());
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

/// The program of `xtask/subjects/slice`, for so many rounds.
fn generated(tools: &Tools, asked: &Asked, rounds: u64) -> Result<Row> {
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
    ask(tools, asked, "generated", &recording, plain)
}

/// Slices one way: figures, and KiB held at most; none if it took too long.
fn one_way(asked: &Asked, recording: &Path, way: &str) -> Result<Option<(Figures, f64)>> {
    let file = shell::target().join("bench/slice-memory");
    let mut command = Command::new("/usr/bin/time");
    command.args(["-f", "%M", "-o"]).arg(&file);
    // Beneath, so that what takes too long is not left running.
    command.args(["timeout", "-s", "KILL", &asked.patience.to_string()]);
    command.arg(&asked.measure).arg(recording).args([way, &asked.questions.to_string()]);
    let started = Instant::now();
    let limit = Duration::from_secs(asked.patience);
    let found = match figures(&mut command, limit + LIMIT) {
        Err(_) if started.elapsed() >= limit => return Ok(None),
        other => other?,
    };
    let memory = std::fs::read_to_string(&file).ok().and_then(|t| t.trim().parse().ok());
    Ok(Some((found, memory.unwrap_or(0.0))))
}

/// Slices by replay; makes the index; slices by the index. What takes too long is left out.
fn ask(tools: &Tools, asked: &Asked, name: &str, recording: &Path, plain: (f64, f64)) -> Result<Row> {
    let mut row = Row { name: name.to_owned(), plain, ..Row::default() };
    match one_way(asked, recording, "replay")? {
        Some(found) => (row.replay, row.memory.0) = found,
        None => row.stopped.push(("replay", asked.patience)),
    }
    match one_way(asked, recording, "relevant")? {
        Some(found) => (row.relevant, row.memory.2) = found,
        None => row.stopped.push(("relevant", asked.patience)),
    }
    let limit = Duration::from_secs(asked.patience);
    let mut command = Command::new(&tools.relapse);
    command.arg("index").arg(recording).arg("--json");
    let outcome = shell::capture(&mut command, limit)?;
    if outcome.timed_out {
        row.stopped.extend([("making", asked.patience), ("measuring", asked.patience)]);
        row.stopped.push(("index", asked.patience));
        return Ok(row);
    }
    row.making = Some(outcome.took.as_secs_f64());
    if !outcome.status.success() {
        return Err(format!("{}: {}", shell::shown(&command), outcome.complaint()));
    }
    let outcome = shell::capture(command.arg("--measure"), limit)?;
    if outcome.timed_out {
        row.stopped.push(("measuring", asked.patience));
    } else {
        let json: Value =
            serde_json::from_slice(&outcome.stdout).map_err(|e| format!("relapse index: {e}"))?;
        row.made = json["processes"][0].clone();
    }
    match one_way(asked, recording, "index")? {
        Some(found) => (row.index, row.memory.1) = found,
        None => row.stopped.push(("index", asked.patience)),
    }
    if row.stopped.iter().any(|s| ["replay", "index"].contains(&s.0)) {
        return Ok(row);
    }
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

/// Executed instructions, by whichever way came to its end.
fn instructions(row: &Row) -> Option<f64> {
    number(&row.index, "instructions").or_else(|| number(&row.replay, "instructions"))
}

/// MiB, if it was measured.
fn kept(kib: f64) -> Option<f64> {
    (kib > 0.0).then_some(kib / 1024.0)
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

/// What stands above it, its figure, and what had to be done for that.
type Column = (&'static str, fn(&Row) -> Option<f64>, &'static [&'static str]);

const BOTH: &[&str] = &["replay", "index"];
const INDEX: &[&str] = &["index"];
const REPLAY: &[&str] = &["replay"];
const WITH_RELEVANT: &[&str] = &["relevant", "replay"];
const MEASURED: &[&str] = &["measuring"];

const TIMES: &[Column] = &[
    ("instructions, millions", |r| Some(instructions(r)? / 1e6), BOTH),
    (
        "slice, % of executed",
        |r| Some(100.0 * number(&r.index, "taken")? / number(&r.index, "walked")?.max(1.0)),
        INDEX,
    ),
    ("slice, % of program", |r| share(&r.index), INDEX),
    ("by replay / -O2", |r| Some(by_replay(r)? / r.plain.0), REPLAY),
    ("by index / -O2", |r| Some(by_index(r)? / r.plain.0), INDEX),
    ("by index / -O0", |r| Some(by_index(r)? / r.plain.1), INDEX),
    ("replay / index", |r| Some(by_replay(r)? / by_index(r)?), BOTH),
    ("memory by replay, MiB", |r| kept(r.memory.0), REPLAY),
    ("memory by index, MiB", |r| kept(r.memory.1), INDEX),
    ("making the index / -O2", |r| Some(r.making? / r.plain.0), &["making"]),
];

const RELEVANT: &[Column] = &[
    ("dynamic, % of program", |r| share(&r.replay), REPLAY),
    ("relevant, % of program", |r| share(&r.relevant), WITH_RELEVANT),
    ("relevant / dynamic, size", |r| Some(share(&r.relevant)? / share(&r.replay)?), WITH_RELEVANT),
    ("relevant / dynamic, time", relevant_extra, WITH_RELEVANT),
    ("memory, MiB", |r| kept(r.memory.2), WITH_RELEVANT),
];

fn made(row: &Row, name: &str) -> Option<f64> {
    row.made.get(name).or_else(|| row.made.get("measured")?.get(name))?.as_f64()
}

const SIZES: &[Column] = &[
    ("file, KiB", |r| Some(made(r, "bytes")? / 1024.0), MEASURED),
    ("bits per instruction", |r| made(r, "bits_per_instruction"), MEASURED),
    ("numbers, millions", |r| Some(made(r, "numbers")? / 1e6), MEASURED),
    ("sequences, % of raw", |r| Some(100.0 * made(r, "sequence_bytes")? / made(r, "raw_bytes")?), MEASURED),
    ("SEQUITUR, % of raw", |r| Some(100.0 * made(r, "sequitur_bytes")? / made(r, "raw_bytes")?), MEASURED),
    ("zstd, % of raw", |r| Some(100.0 * made(r, "zstd_bytes")? / made(r, "raw_bytes")?), MEASURED),
    ("sequences / SEQUITUR", |r| Some(made(r, "sequence_bytes")? / made(r, "sequitur_bytes")?), MEASURED),
    (
        "look-ups, SEQUITUR / ours",
        |r| Some(made(r, "sequitur_checks")? / made(r, "checks")?.max(1.0)),
        MEASURED,
    ),
    ("pieces larger than SEQUITUR", |r| made(r, "larger"), MEASURED),
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
    let millions = long.and_then(instructions).map_or(0.0, |n| n / 1e6);
    let long = |of: fn(&Row) -> Option<f64>| long.and_then(of);
    let all: [Target; 6] = [
        (
            format!("dynamic slice of {millions:.0} million instructions / -O2"),
            long(|r| Some(by_replay(r)? / r.plain.0)),
            60.0,
            true,
        ),
        ("memory of the same, MiB".to_owned(), long(|r| kept(r.memory.0)), 2048.0, true),
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

fn render(rows: &[Row], questions: u64) -> String {
    let mut text = String::from("# Slices: by replay and by index\n");
    for columns in [TIMES, RELEVANT, SIZES] {
        let heads = columns.iter().map(|c| c.0).collect::<Vec<_>>().join(" | ");
        let _ = write!(text, "\n| subject | {heads} |\n|---{}|\n", "|---".repeat(columns.len()));
        for row in rows {
            let cells: Vec<String> = columns.iter().map(|c| shown(row, c)).collect();
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
        "\nQuestions for each: {questions}, evenly spread over the run, all that an instruction used; a slice is \
         making ready once and the mean of the questions' times. Raw: eight bytes an address, four any \
         other number. The thesis that the index follows has RLESe at 5.94 % of raw over its subjects, \
         from 0.02 % (SOR) to 20.15 % (_209_db), and SEQUITUR from 0.04 % to 18.35 %."
    );
    text.push_str(&targets(rows));
    text
}

/// A figure; without one, that it took too long to have it.
fn shown(row: &Row, column: &Column) -> String {
    let figure = (column.1)(row);
    match row.stopped.iter().find(|s| column.2.contains(&s.0)) {
        Some((_, seconds)) if figure.is_none() => format!("stopped after {seconds} s"),
        _ => cell(figure),
    }
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
        let text = render(&[row()], 3);
        // 1 + 27 / 3 seconds against 1 + 3 / 3.
        assert!(text.contains("| a | 2.00 | - | - | 20.00 | 4.00 | 2.00 | 5.00 |"), "{text}");
        assert!(text.contains("| 2.00 | - | - | - | - | - | 0.2500 |"), "{text}");
        assert!(text.contains("| by replay / by index, mean | 5.00 | at least 10 | missed |"), "{text}");
        assert!(text.contains("| sequences / SEQUITUR, mean | 0.2500 | at most 0.5 | met |"), "{text}");
        assert!(text.contains("| relevant / dynamic, time, mean | - | at most 1.5 | not measured |"));
        assert!(text.contains("\nQuestions for each: 3,"), "{text}");
    }

    #[test]
    fn what_was_stopped_is_said_and_the_rest_is_there() {
        let mut row = row();
        row.stopped = vec![("relevant", 40), ("replay", 40)];
        row.replay = Figures::default();
        let text = render(&[row], 1);
        let line = "| a | 2.00 | - | - | stopped after 40 s | 4.00 | 2.00 | stopped after 40 s |";
        assert!(text.contains(line), "{text}");
        assert!(text.contains("| 2.00 | - | - | - | - | - | 0.2500 |"), "{text}");
        assert!(text.contains("| by replay / by index, mean | - | at least 10 | not measured |"), "{text}");
    }
}
