//! `cargo xtask bench explore`: whether seeded changes are exposed, compared with mutation alone for the same
//! time; and groups of paths by output, compared with all paths.
//!
//! Changes are mutants of the programs of `bench locate`. The tests are three of its inputs that do not
//! distinguish the versions. A change that neither a search nor 300 other inputs expose counts as equivalent.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::locate_inputs::{Dice, input};
use super::mutate::{Mutant, mutants};
use super::publish;
use crate::shell::{self, Result};
use crate::tools::Tools;

const PROGRAMS: [&str; 5] = ["advise", "calc", "format", "schedule", "tables"];
/// The programs to explore, each with an initial input.
const EXPLORED: [(&str, &str); 6] = [
    ("alarm", "\\103\\200\\050\\101\\001\\001\\000"),
    ("calendar", "\\005\\003\\004"),
    ("packet", "\\004\\002\\100\\001\\005\\011"),
    ("thermostat", "\\050\\040\\074"),
    ("tree", "\\005\\003\\010\\003"),
    ("triangle", "\\003\\004\\005"),
];
const BUILD: &str = "$CC -w -g -o p p.c";
const LIMIT: Duration = Duration::from_secs(300);
/// The timeout of a version.
const RUN_TIMEOUT: Duration = Duration::from_secs(1);
/// The number of inputs tried to decide whether a change is equivalent, and the number of initial tests.
const INPUTS: usize = 300;
const TESTS: usize = 3;

/// The result of one search.
#[derive(Clone, Debug, Default)]
struct Search {
    exposed: bool,
    seconds: f64,
    runs: u64,
    asked: u64,
    by: String,
}

struct Row {
    program: &'static str,
    mutant: Mutant,
    both: Search,
    mutations: Search,
    /// Whether some of the other inputs expose it.
    shown: bool,
}

fn of(row: &Row, alone: bool) -> &Search {
    if alone { &row.mutations } else { &row.both }
}

/// `cargo xtask bench explore [--dev] [--changes N] [--seconds N] [NAME…]`
pub fn command(words: &[&str]) -> Result<()> {
    let (mut dev, mut changes, mut seconds) = (false, 12, 60);
    let mut names = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut number = || -> Result<usize> {
            let text = words.next().ok_or_else(|| format!("{word} needs a number"))?;
            text.parse().map_err(|_| format!("{text} is no number"))
        };
        match *word {
            "--dev" => dev = true,
            "--changes" => changes = number()?,
            "--seconds" => seconds = number()?,
            name => names.push(name),
        }
    }
    let tools = if dev { Tools::build_dev()? } else { Tools::build()? };
    let alone = alone(dev)?;
    let directory = shell::target().join("bench/explore");
    let wanted = |name: &str| names.is_empty() || names.contains(&name);
    let mut rows = Vec::new();
    for program in PROGRAMS.into_iter().filter(|p| wanted(p)) {
        let directory = directory.join(program);
        let bench = Bench { tools: &tools, alone: &alone, program, directory, seconds };
        rows.extend(bench.rows(changes)?);
    }
    let mut text = render(&rows, seconds);
    // A directory outside of this repository, in which only tracked files would be part of a version.
    let outside = std::env::temp_dir().join("relapse-bench-explore");
    text += &explored(&tools, &alone, &outside, seconds, &wanted)?;
    publish::publish("explore", &text)
}

struct Bench<'t> {
    tools: &'t Tools,
    alone: &'t Path,
    program: &'static str,
    directory: PathBuf,
    seconds: usize,
}

impl Bench<'_> {
    fn rows(&self, most: usize) -> Result<Vec<Row>> {
        let file = shell::root().join(format!("xtask/locate/{}.c", self.program));
        let source =
            fs::read_to_string(&file).map_err(|e| format!("failed to read {}: {e}", file.display()))?;
        shell::create_empty_dir(&self.directory)?;
        for number in 0..INPUTS {
            let text = input(self.program, number as u64);
            shell::write(&self.directory.join(format!("cases/{number:04}.in")), text)?;
        }
        if !self.build("good", &source)? {
            return Err(format!("{} does not compile", self.program));
        }
        let expected = self.outputs("good")?;
        let mut left = mutants(&source);
        let mut dice = Dice::new(source.len() as u64 + 1);
        for at in (1..left.len()).rev() {
            left.swap(at, dice.below(at as u64 + 1) as usize);
        }
        let mut rows = Vec::new();
        while let Some(mutant) = left.pop().filter(|_| rows.len() < most) {
            if !self.build("bad", &mutant.apply(&source))? {
                continue;
            }
            let got = self.outputs("bad")?;
            let same: Vec<usize> = (0..INPUTS).filter(|n| got[*n] == expected[*n]).take(TESTS).collect();
            if same.len() < TESTS {
                // Every test exposes it, so there is no input to search for.
                continue;
            }
            let shown = got != expected;
            let both = self.search(&same)?;
            let mutations = self.mutation_only(&same)?;
            eprintln!("{} line {}: {both:?} {mutations:?}", self.program, mutant.line);
            rows.push(Row { program: self.program, mutant, both, mutations, shown });
        }
        Ok(rows)
    }

    fn build(&self, version: &str, source: &str) -> Result<bool> {
        let tree = self.directory.join(version);
        shell::create_empty_dir(&tree)?;
        shell::write(&tree.join("p.c"), source)?;
        let mut command = Command::new(&self.tools.clang);
        command.args(["-w", "-O0", "-o"]).arg(self.directory.join(format!("{version}-plain"))).arg("p.c");
        Ok(shell::capture(command.current_dir(&tree), LIMIT)?.status.success())
    }

    /// The output of a version for each input, and its exit code.
    fn outputs(&self, version: &str) -> Result<Vec<(Option<i32>, Vec<u8>)>> {
        let mut list = Vec::new();
        for number in 0..INPUTS {
            let path = self.directory.join(format!("cases/{number:04}.in"));
            let file =
                fs::File::open(&path).map_err(|e| format!("failed to open {}: {e}", path.display()))?;
            let mut command = Command::new(self.directory.join(format!("{version}-plain")));
            let ran = shell::capture(command.stdin(Stdio::from(file)), RUN_TIMEOUT)?;
            list.push((ran.status.code(), ran.stdout));
        }
        Ok(list)
    }

    fn search(&self, tests: &[usize]) -> Result<Search> {
        let mut command = Command::new(&self.tools.relapse);
        command.args(["expose", "--quiet", "--good", "good", "--bad", "bad", "--json", "-"]);
        command.args(["--build", BUILD, "--work", "work"]);
        command.args(["--budget", &format!("{}s", self.seconds)]);
        for test in self.tests(tests) {
            command.arg("--test").arg(test);
        }
        let ran = shell::capture(command.current_dir(&self.directory), LIMIT)?;
        Ok(read(&ran.stdout))
    }

    fn mutation_only(&self, tests: &[usize]) -> Result<Search> {
        let mut command = Command::new(self.alone);
        command.arg("mutations").arg(self.seconds.to_string()).arg(&self.tools.cc).arg(BUILD);
        command.args(self.tests(tests));
        let ran = shell::capture(command.current_dir(&self.directory), LIMIT)?;
        Ok(read(&ran.stdout))
    }

    fn tests(&self, numbers: &[usize]) -> Vec<String> {
        let path = |number: &usize| self.directory.join(format!("cases/{number:04}.in"));
        numbers.iter().map(|number| format!("./p < {}", path(number).display())).collect()
    }
}

fn read(document: &[u8]) -> Search {
    let answer: Value = serde_json::from_slice(document).unwrap_or_default();
    let effort = &answer["effort"];
    let first = &answer["inputs"][0];
    Search {
        exposed: answer["verdict"] == "differ",
        seconds: first["seconds"].as_f64().or(effort["seconds_searching"].as_f64()).unwrap_or(0.0),
        runs: effort["runs"].as_u64().unwrap_or(0),
        asked: effort["questions"]["asked"].as_u64().unwrap_or(0),
        by: first["found_by"].as_str().unwrap_or("-").to_owned(),
    }
}

/// Builds the example of the crate `explore` that implements the methods for comparison.
fn alone(dev: bool) -> Result<PathBuf> {
    let mut command = shell::cargo();
    command.args(["build", "--quiet", "--package", "relapse-explore", "--example", "alone"]);
    if !dev {
        command.arg("--release");
    }
    shell::run(&mut command)?;
    Ok(shell::target().join(if dev { "debug" } else { "release" }).join("examples/alone"))
}

fn render(rows: &[Row], seconds: usize) -> String {
    let mut text = String::from("# Exposing changes\n\n");
    let real: Vec<&Row> = rows.iter().filter(|r| r.shown || r.both.exposed || r.mutations.exposed).collect();
    let _ = writeln!(
        text,
        "{} seeded changes that three tests do not show, {} of them not known to be equivalent; {seconds} s each.\n",
        rows.len(),
        real.len()
    );
    text += "| method | exposed | of | median seconds | runs | questions |\n|---|---:|---:|---:|---:|---:|\n";
    for (name, alone) in [("mutations and solver", false), ("mutations alone", true)] {
        let of = |row| of(row, alone);
        let exposed = real.iter().filter(|r| of(r).exposed).count();
        let mut times: Vec<f64> = real.iter().filter(|r| of(r).exposed).map(|r| of(r).seconds).collect();
        times.sort_by(f64::total_cmp);
        let median = times.get(times.len() / 2).copied().unwrap_or(0.0);
        let sum = |what: fn(&Search) -> u64| rows.iter().map(|r| what(of(r))).sum::<u64>();
        let (runs, asked) = (sum(|s| s.runs), sum(|s| s.asked));
        let _ = writeln!(text, "| {name} | {exposed} | {} | {median:.1} | {runs} | {asked} |", real.len());
    }
    text += "\n| program | line | operator | both | by | mutations alone | other inputs show it |\n|---|---:|---|---:|---|---:|---|\n";
    let cell = |s: &Search| if s.exposed { format!("{:.1} s", s.seconds) } else { "no".to_owned() };
    for row in rows {
        let shown = if row.shown { "yes" } else { "no" };
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {shown} |",
            row.program,
            row.mutant.line,
            row.mutant.operator,
            cell(&row.both),
            row.both.by,
            cell(&row.mutations),
        );
    }
    text
}

/// Groups by output, compared with all paths.
fn explored(
    tools: &Tools,
    alone: &Path,
    directory: &Path,
    seconds: usize,
    wanted: &dyn Fn(&str) -> bool,
) -> Result<String> {
    let mut text = String::from(
        "\n# Groups by output beside all paths\n\n| program | groups / paths | runs | questions | conditions asked about | seconds | complete |\n|---|---:|---:|---:|---:|---:|---|\n",
    );
    let (mut tests, mut calls, mut count) = (0.0, 0.0, 0.0);
    for (program, first) in EXPLORED.into_iter().filter(|(name, _)| wanted(name)) {
        let tree = directory.join(program);
        shell::create_empty_dir(&tree)?;
        let file = shell::root().join(format!("xtask/explore/{program}.c"));
        fs::copy(&file, tree.join("p.c")).map_err(|e| format!("failed to copy {}: {e}", file.display()))?;
        let test = format!("printf '{first}' | ./p");
        let ask = |command: &mut Command| -> Result<Value> {
            let ran = shell::capture(command.current_dir(&tree), LIMIT)?;
            serde_json::from_slice(&ran.stdout)
                .map_err(|e| format!("{program}: {e}: {}", String::from_utf8_lossy(&ran.stderr)))
        };
        let mut by_output = Command::new(&tools.relapse);
        by_output.args(["explore", "--quiet", "--json", "-", "--build", BUILD, "--work", "../work"]);
        by_output.args(["--budget", &format!("{seconds}s"), "--test", &test]);
        let mut by_path = Command::new(alone);
        by_path.arg("paths").arg(seconds.to_string()).arg(&tools.cc).args([BUILD, &test]);
        let (groups, paths) = (ask(&mut by_output)?, ask(&mut by_path)?);
        let pair = |field: &str| {
            let of = |a: &Value| a["effort"][field].as_f64().unwrap_or(0.0);
            (of(&groups), of(&paths))
        };
        let len = |a: &Value| a["groups"].as_array().map_or(0, Vec::len);
        let ((r1, r2), (q1, q2), (c1, c2), (s1, s2)) =
            (pair("runs"), pair("asked"), pair("conditions"), pair("seconds"));
        let _ = writeln!(
            text,
            "| {program} | {} / {} | {r1} / {r2} | {q1} / {q2} | {c1} / {c2} | {s1:.1} / {s2:.1} | {} / {} |",
            len(&groups),
            len(&paths),
            groups["complete"],
            paths["complete"],
        );
        tests += (len(&paths) as f64 / len(&groups).max(1) as f64).ln();
        calls += (q2 / q1.max(1.0)).ln();
        count += 1.0;
    }
    let mean = |sum: f64| (sum / f64::max(count, 1.0)).exp();
    let _ = writeln!(
        text,
        "\nGeometric mean: {:.1} times fewer tests, {:.1} times fewer questions.",
        mean(tests),
        mean(calls)
    );
    Ok(text)
}
