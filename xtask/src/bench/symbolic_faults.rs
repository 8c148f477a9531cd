//! `cargo xtask bench symbolic faults`: whether `relapse alternate` names the line of a seeded fault.
//!
//! Faults are mutants of five programs that some random inputs reveal. Both versions are recorded with the
//! shortest input that distinguishes them, and `relapse alternate` compares the recordings. Since a mutant
//! changes one line in place, the line numbers of both versions agree. The claims of an answer are checked
//! with plain builds: an input that *passes* must give the same output with both, one that does not must give
//! different outputs. Any other result is a false verdict.

use std::fmt::Write;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::locate_inputs::{Dice, input};
use super::mutate::{Mutant, mutants};
use super::publish;
use crate::shell::{self, Result};
use crate::tools::Tools;

const PROGRAMS: [&str; 5] = ["advise", "calc", "format", "schedule", "tables"];
/// The timeout of a mutant.
const RUN_TIMEOUT: Duration = Duration::from_secs(1);
const LIMIT: Duration = Duration::from_secs(600);
/// A fault revealed by a greater share of inputs is too obvious to search for.
const MAX_FAILING_SHARE: f64 = 0.6;
/// The targets: the shares of faults with the exact line and with the right function.
const EXACT: f64 = 0.60;
const FUNCTION: f64 = 0.95;

/// The result for one fault.
struct Row {
    program: &'static str,
    mutant: Mutant,
    /// `found`, `equal`, `undecided`, or the reason why there is no answer.
    verdict: String,
    candidates: usize,
    /// The number of lines at which values first differ.
    values: usize,
    /// Whether a reported branch is on the faulty line.
    by_branch: bool,
    /// The rank of the faulty line among the candidates, and of the first line in its function, from 1.
    exact: Option<usize>,
    function: Option<usize>,
    /// Claims that the plain builds refute.
    denied: Vec<String>,
    seconds: f64,
}

/// `cargo xtask bench symbolic faults [--dev | --as-built] [--faults N] [--inputs N] [--budget S] [NAME…]`
pub fn command(words: &[&str]) -> Result<()> {
    let (mut dev, mut built, mut faults, mut inputs, mut budget) = (false, false, 12, 60, 60);
    let mut names = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut number = || -> Result<usize> {
            let text = words.next().ok_or_else(|| format!("{word} needs a number"))?;
            text.parse().map_err(|_| format!("{text} is no number"))
        };
        match *word {
            "--dev" => dev = true,
            "--as-built" => built = true,
            "--faults" => faults = number()?,
            "--inputs" => inputs = number()?,
            "--budget" => budget = number()?,
            name => names.push(name),
        }
    }
    let tools = match (built, dev) {
        (true, _) => Tools::of_tests()?,
        (_, true) => Tools::build_dev()?,
        _ => Tools::build()?,
    };
    let directory = shell::target().join("bench/symbolic-faults");
    let mut rows = Vec::new();
    for program in PROGRAMS.into_iter().filter(|p| names.is_empty() || names.contains(p)) {
        let bench = Bench::new(&tools, program, &directory.join(program), inputs, budget)?;
        bench.faults(faults, &mut rows)?;
        // Store intermediate results: each program takes long.
        publish::store("symbolic-faults", &render(&rows).0)?;
    }
    let (text, met) = render(&rows);
    publish::publish("symbolic-faults", &text)?;
    if met { Ok(()) } else { Err("a target was missed".to_owned()) }
}

/// One program with its inputs and outputs.
struct Bench<'t> {
    tools: &'t Tools,
    program: &'static str,
    source: String,
    directory: PathBuf,
    budget: usize,
    inputs: Vec<String>,
    expected: Vec<Option<Vec<u8>>>,
}

impl<'t> Bench<'t> {
    fn new(
        tools: &'t Tools,
        program: &'static str,
        directory: &Path,
        inputs: usize,
        budget: usize,
    ) -> Result<Bench<'t>> {
        let file = shell::root().join(format!("xtask/locate/{program}.c"));
        let source =
            fs::read_to_string(&file).map_err(|e| format!("failed to read {}: {e}", file.display()))?;
        shell::create_empty_dir(directory)?;
        // The shortest first, since symbolic replay is slow.
        let mut inputs: Vec<String> = (0..inputs as u64).map(|number| input(program, number)).collect();
        inputs.sort_by_key(String::len);
        let mut bench = Bench {
            tools,
            program,
            source,
            directory: directory.to_owned(),
            budget,
            inputs,
            expected: Vec::new(),
        };
        if !bench.build("old", &bench.source.clone())? {
            return Err(format!("{program} does not compile"));
        }
        for text in &bench.inputs {
            let output = bench.output("old", text.as_bytes())?;
            bench.expected.push(output);
        }
        if bench.expected.contains(&None) {
            return Err(format!("{program} fails for one of its inputs"));
        }
        Ok(bench)
    }

    /// Compiles a version, plain and instrumented. Returns whether it compiles.
    fn build(&self, version: &str, source: &str) -> Result<bool> {
        let tree = self.directory.join(version);
        shell::create_empty_dir(&tree)?;
        shell::write(&tree.join("p.c"), source)?;
        for (compiler, program) in [(&self.tools.clang, "plain"), (&self.tools.cc, "recorded")] {
            let mut command = Command::new(compiler);
            command.args(["-w", "-g", "-O0", "-o", program, "p.c"]).current_dir(&tree);
            if !shell::capture(&mut command, LIMIT)?.status.success() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The output of the plain program for an input; `None` if it does not exit with 0.
    fn output(&self, version: &str, text: &[u8]) -> Result<Option<Vec<u8>>> {
        let mut command = Command::new(self.directory.join(version).join("plain"));
        let ran = shell::capture(command.stdin(self.stdin(text)?), RUN_TIMEOUT)?;
        Ok(Some(ran.stdout).filter(|_| ran.status.code() == Some(0)))
    }

    fn stdin(&self, text: &[u8]) -> Result<Stdio> {
        let path = self.directory.join("stdin");
        shell::write(&path, text)?;
        let file = File::open(&path).map_err(|e| format!("failed to open {}: {e}", path.display()))?;
        Ok(Stdio::from(file))
    }

    /// Searches for this many faults, cycling through the operators.
    fn faults(&self, most: usize, rows: &mut Vec<Row>) -> Result<()> {
        let mut left = mutants(&self.source);
        let mut dice = Dice::new(self.source.len() as u64 + 1);
        for at in (1..left.len()).rev() {
            left.swap(at, dice.below(at as u64 + 1) as usize);
        }
        let mut operators: Vec<&str> = left.iter().map(|mutant| mutant.operator).collect();
        operators.sort_unstable();
        operators.dedup();
        let mut done = 0;
        while done < most && !left.is_empty() {
            for operator in &operators {
                if done == most {
                    return Ok(());
                }
                while let Some(at) = left.iter().position(|mutant| mutant.operator == *operator) {
                    let mutant = left.swap_remove(at);
                    if let Some(row) = self.ask(mutant)? {
                        eprintln!("== {} {} {}", row.program, row.mutant.line, row.verdict);
                        rows.push(row);
                        done += 1;
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// `None` if no input reveals the fault, or too many do.
    fn ask(&self, mutant: Mutant) -> Result<Option<Row>> {
        if !self.build("new", &mutant.apply(&self.source))? {
            return Ok(None);
        }
        let mut failing = Vec::new();
        let mut hangs = 0;
        for (number, text) in self.inputs.iter().enumerate() {
            let start = Instant::now();
            let output = self.output("new", text.as_bytes())?;
            hangs += usize::from(start.elapsed() >= RUN_TIMEOUT);
            if hangs > 2 {
                return Ok(None);
            }
            if output.is_some() && output != self.expected[number] {
                failing.push(number);
            }
        }
        let shown =
            failing.first().filter(|_| failing.len() as f64 <= MAX_FAILING_SHARE * self.inputs.len() as f64);
        let Some(text) = shown.and_then(|number| self.inputs.get(*number)) else { return Ok(None) };
        for version in ["old", "new"] {
            let recording = self.directory.join(format!("run-{version}"));
            let mut command = Command::new(&self.tools.relapse);
            command.args(["record", "--quiet", "--force", "-o"]).arg(&recording).args(["--", "./recorded"]);
            command.current_dir(self.directory.join(version)).stdin(self.stdin(text.as_bytes())?);
            shell::capture(&mut command, LIMIT)?;
        }
        let start = Instant::now();
        let mut command = Command::new(&self.tools.relapse);
        command.args(["alternate", "run-old", "run-new", "--json", "--budget", &self.budget.to_string()]);
        command.args(["--truth", &format!("p.c:{}", mutant.line)]).current_dir(&self.directory);
        let ran = shell::capture(&mut command, LIMIT)?;
        let seconds = start.elapsed().as_secs_f64();
        let answer: Value = serde_json::from_slice(&ran.stdout).unwrap_or(Value::Null);
        let verdict = match answer["verdict"].as_str() {
            Some(verdict) => verdict.to_owned(),
            None => ran.complaint().lines().next().unwrap_or("no answer").to_owned(),
        };
        let candidates = answer["candidates"].as_array().cloned().unwrap_or_default();
        let faulty = mutant.faulty();
        let is_exact = |c: &Value| c["line"].as_u64().is_some_and(|line| faulty.contains(&line));
        let in_function = |c: &Value| is_exact(c) || matches!(c["class"].as_str(), Some("1" | "1a" | "2"));
        let values = answer["values"]["lines"].as_array().cloned().unwrap_or_default();
        let faulty_function = function_of(&self.source, mutant.line);
        let is_in_it =
            |line: &Value| is_exact(line) || line["function"].as_str() == faulty_function.as_deref();
        let at = |found: Option<usize>| found.map(|n| n + 1);
        // In the ranking, branches follow the lines at which values first differ.
        let behind = |found: Option<usize>| found.map(|n| values.len() + n + 1);
        let mut denied = Vec::new();
        for candidate in &candidates {
            denied.extend(self.denied(candidate, text.as_bytes())?);
        }
        Ok(Some(Row {
            program: self.program,
            verdict,
            candidates: candidates.len(),
            values: values.len(),
            by_branch: candidates.iter().any(is_exact),
            exact: at(values.iter().position(is_exact)).or(behind(candidates.iter().position(is_exact))),
            function: at(values.iter().position(is_in_it))
                .or(behind(candidates.iter().position(in_function))),
            denied,
            seconds,
            mutant,
        }))
    }

    /// The claim about a candidate's best input that plain builds refute, if they do.
    fn denied(&self, candidate: &Value, recorded: &[u8]) -> Result<Option<String>> {
        let best = &candidate["alternates"][0];
        let parts = best["parts"].as_array().cloned().unwrap_or_default();
        let text = match parts.iter().find(|part| part["name"] == "stdin") {
            Some(part) => part["new"].as_array().cloned().unwrap_or_default(),
            None => recorded.iter().map(|b| Value::from(*b)).collect(),
        };
        let text: Vec<u8> = text.iter().filter_map(|b| Some(b.as_u64()? as u8)).collect();
        let end = |version: &str| -> Result<(Option<i32>, Vec<u8>)> {
            let mut command = Command::new(self.directory.join(version).join("plain"));
            let ran = shell::capture(command.stdin(self.stdin(&text)?), 10 * RUN_TIMEOUT)?;
            Ok((ran.status.code(), ran.stdout))
        };
        let same = end("old")? == end("new")?;
        let claimed = best["passes"] == true;
        let words = if claimed { "passes" } else { "differs" };
        Ok((same != claimed).then(|| format!("line {}: an input that {words} does not", candidate["line"])))
    }
}

/// The function that contains a line: the last one that begins before it.
fn function_of(source: &str, line: usize) -> Option<String> {
    let begins =
        |text: &&str| text.starts_with(|c: char| c.is_alphabetic()) && !text.trim_end().ends_with(';');
    let before = source.lines().take(line).filter(begins).filter_map(|text| text.split_once('('));
    let (head, _) = before.last()?;
    head.split(|c: char| !c.is_alphanumeric() && c != '_').next_back().map(str::to_owned)
}

/// The report, and whether all targets are met.
fn render(rows: &[Row]) -> (String, bool) {
    let mut text = String::from("# Seeded faults and alternate inputs\n\n");
    text.push_str(
        "| program | line | operator | verdict | branches | values | exact line | function | s |\n\
         |---|---|---|---|---|---|---|---|---|\n",
    );
    let rank = |rank: Option<usize>| rank.map_or("-".to_owned(), |n| n.to_string());
    for row in rows {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {:.1} |",
            row.program,
            row.mutant.line,
            row.mutant.operator,
            row.verdict.replace('|', "/"),
            row.candidates,
            row.values,
            rank(row.exact),
            rank(row.function),
            row.seconds
        );
    }
    let part = |count: usize| count as f64 / rows.len().max(1) as f64;
    let share = |count: usize| format!("{count} of {} ({:.0} %)", rows.len(), 100.0 * part(count));
    let exact = rows.iter().filter(|row| row.exact.is_some()).count();
    let by_branch = rows.iter().filter(|row| row.by_branch).count();
    let first = rows.iter().filter(|row| row.exact == Some(1)).count();
    let function = rows.iter().filter(|row| row.function.is_some()).count();
    let denied: Vec<String> = rows
        .iter()
        .flat_map(|row| row.denied.iter().map(|what| format!("{} {}: {what}", row.program, row.mutant.line)))
        .collect();
    let _ = writeln!(
        text,
        "\nThe faulty line is named: {}; as a branch: {}; it is the first: {}. A line of the faulty function is named: {}.",
        share(exact),
        share(by_branch),
        share(first),
        share(function)
    );
    text.push_str("\n## Targets\n\n");
    let word = |met: bool| if met { "met" } else { "missed" };
    let targets = [
        (format!("exact line for {:.0} %", EXACT * 100.0), part(exact) >= EXACT),
        (format!("right function for {:.0} %", FUNCTION * 100.0), part(function) >= FUNCTION),
        ("no claim that plain builds deny".to_owned(), denied.is_empty()),
    ];
    for (target, met) in &targets {
        let _ = writeln!(text, "* {target}: {}", word(*met && !rows.is_empty()));
    }
    for what in &denied {
        let _ = writeln!(text, "\nDenied: {what}");
    }
    (text, !rows.is_empty() && targets.iter().all(|(_, met)| *met))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(exact: Option<usize>, function: Option<usize>, denied: &[&str]) -> Row {
        Row {
            program: "calc",
            mutant: Mutant { operator: "constant", line: 7, text: String::new() },
            verdict: "found".to_owned(),
            candidates: 3,
            values: 1,
            by_branch: exact.is_some(),
            exact,
            function,
            denied: denied.iter().map(|text| (*text).to_owned()).collect(),
            seconds: 1.0,
        }
    }

    #[test]
    fn functions_are_known_by_where_they_begin() {
        let source = "int x;\nstatic int one(int a)\n{\n  return a;\n}\nint two(void) {\n  one(1);\n}\n";
        let of = |line| function_of(source, line);
        assert_eq!([of(1), of(4), of(7)], [None, Some("one".to_owned()), Some("two".to_owned())]);
    }

    #[test]
    fn targets_are_parts_of_all_faults() {
        let (text, met) = render(&[row(Some(1), Some(1), &[]), row(Some(2), Some(1), &[])]);
        assert!(met, "{text}");
        assert!(text.contains("it is the first: 1 of 2 (50 %)"), "{text}");
        let (text, met) = render(&[row(Some(1), Some(1), &[]), row(None, None, &[])]);
        assert!(!met, "{text}");
        assert!(text.contains("right function for 95 %: missed"), "{text}");
        assert!(!render(&[row(Some(1), Some(1), &["line 7: an input that passes does not"])]).1);
        assert!(!render(&[]).1, "what was not measured has met nothing");
    }
}
