//! `cargo xtask bench locate`: whether faults are located, compared with common formulas.
//!
//! Faults are mutants of five programs that some random inputs reveal. `relapse locate` gets one failing
//! input, all others as its pool, and the original program's output as the expected one. The other methods
//! get the executed lines of the same recorded runs. All reports are scored with the program dependence graph
//! of the faulty program ([`super::score`]).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::locate_inputs::{Dice, input};
use super::locate_table::render;
use super::mutate::{Mutant, mutants};
use super::publish;
use super::score::Graph;
use super::spectra::{FORMULAS, Spectrum, nearest_neighbour, rank, ranking, read};
use crate::shell::{self, Result};
use crate::tools::Tools;

const PROGRAMS: [&str; 5] = ["advise", "calc", "format", "schedule", "tables"];
/// The exit code of `relapse locate` if the test passes.
const NOTHING_FAILS: i32 = 6;
/// The exit code if the failing run cannot be replayed.
const DOES_NOT_REPLAY: i32 = 3;
/// The timeout of a mutant.
const RUN_TIMEOUT: Duration = Duration::from_secs(1);
/// A mutant that hangs for more inputs is skipped: each hanging run costs every method the full timeout.
const MAX_HANGING_INPUTS: usize = 3;
const LIMIT: Duration = Duration::from_secs(300);
/// A fault revealed by a greater share of inputs is too obvious to search for.
const MAX_FAILING_SHARE: f64 = 0.6;

/// The output of a program for each input; `None` if it does not exit with 0.
type Outputs = Vec<Option<Vec<u8>>>;

/// The result for one fault.
pub struct Row {
    pub program: &'static str,
    pub mutant: Mutant,
    pub failing: usize,
    pub inputs: usize,
    /// The rank of the faulty line in the report, from 1, and the number of reported lines.
    pub rank: Option<f64>,
    pub reported: usize,
    /// The ranks by other methods, with their names.
    pub others: Vec<(&'static str, Option<f64>)>,
    /// The scores of the report, and of the same number of lines by other methods; `None` if the faulty line
    /// is not in the graph.
    pub scores: Vec<(&'static str, Option<f64>)>,
    pub seconds: f64,
    /// The time for all inputs without recording, run sequentially.
    pub plain_seconds: f64,
}

/// `cargo xtask bench locate [--dev] [--faults N] [--inputs N] [NAME…]`
pub fn command(words: &[&str]) -> Result<()> {
    let (mut dev, mut faults, mut inputs) = (false, 12, 200);
    let mut names = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut number = || -> Result<usize> {
            let text = words.next().ok_or_else(|| format!("{word} needs a number"))?;
            text.parse().map_err(|_| format!("{text} is no number"))
        };
        match *word {
            "--dev" => dev = true,
            "--faults" => faults = number()?,
            "--inputs" => inputs = number()?,
            name if PROGRAMS.contains(&name) => names.push(name),
            other => return Err(format!("{other} is no option and none of {}", PROGRAMS.join(", "))),
        }
    }
    let tools = if dev { Tools::build_dev()? } else { Tools::build()? };
    let directory = shell::target().join("bench/locate");
    let mut rows = Vec::new();
    for program in PROGRAMS.into_iter().filter(|p| names.is_empty() || names.contains(p)) {
        let bench = Bench::new(&tools, program, &directory.join(program), inputs)?;
        rows.extend(bench.faults(faults)?);
    }
    let text = render(&rows);
    publish::publish("locate", &text)
}

/// One program with its inputs and expected outputs.
struct Bench<'t> {
    tools: &'t Tools,
    program: &'static str,
    source: String,
    directory: PathBuf,
    expected: Outputs,
}

impl<'t> Bench<'t> {
    fn new(tools: &'t Tools, program: &'static str, directory: &Path, inputs: usize) -> Result<Bench<'t>> {
        let file = shell::root().join(format!("xtask/locate/{program}.c"));
        let source =
            fs::read_to_string(&file).map_err(|e| format!("failed to read {}: {e}", file.display()))?;
        shell::create_empty_dir(&directory.join("cases"))?;
        for number in 0..inputs {
            shell::write(&directory.join(format!("cases/{number:04}.in")), input(program, number as u64))?;
        }
        let mut bench =
            Bench { tools, program, source, directory: directory.to_owned(), expected: Vec::new() };
        let source = bench.source.clone();
        if !bench.build(&source)? {
            return Err(format!("{program} does not compile"));
        }
        let (expected, _) = bench.outputs(inputs)?.ok_or_else(|| format!("{program} hangs"))?;
        for (number, output) in expected.iter().enumerate() {
            let output = output.clone().ok_or_else(|| format!("{program} fails for input {number}"))?;
            shell::write(&directory.join(format!("cases/{number:04}.out")), output)?;
        }
        bench.expected = expected;
        Ok(bench)
    }

    /// Compiles a program to `plain`. Returns whether it compiles.
    fn build(&self, source: &str) -> Result<bool> {
        let tree = self.directory.join("tree");
        shell::create_empty_dir(&tree)?;
        shell::write(&tree.join("p.c"), source)?;
        // A separate repository: the surrounding one ignores the target directory.
        shell::capture(Command::new("git").args(["init", "--quiet"]).current_dir(&tree), LIMIT)?;
        let mut command = Command::new(&self.tools.clang);
        command.args(["-w", "-O0", "-o", "../plain", "p.c"]).current_dir(&tree);
        Ok(shell::capture(&mut command, LIMIT)?.status.success())
    }

    /// The output of the plain program for each input (`None` if it does not exit with 0), and the time.
    /// Returns `None` if it hangs for many.
    fn outputs(&self, inputs: usize) -> Result<Option<(Outputs, f64)>> {
        let start = Instant::now();
        let mut list = Vec::new();
        let mut hanging = 0;
        for number in 0..inputs {
            let path = self.directory.join(format!("cases/{number:04}.in"));
            let file =
                fs::File::open(&path).map_err(|e| format!("failed to open {}: {e}", path.display()))?;
            let mut command = Command::new(self.directory.join("plain"));
            let began = Instant::now();
            let ran = shell::capture(command.stdin(Stdio::from(file)), RUN_TIMEOUT)?;
            hanging += usize::from(began.elapsed() >= RUN_TIMEOUT);
            if hanging > MAX_HANGING_INPUTS {
                return Ok(None);
            }
            list.push(Some(ran.stdout).filter(|_| ran.status.code() == Some(0)));
        }
        Ok(Some((list, start.elapsed().as_secs_f64())))
    }

    /// Locates up to this many faults, cycling through the operators.
    fn faults(&self, most: usize) -> Result<Vec<Row>> {
        let mut left = mutants(&self.source);
        let mut dice = Dice::new(self.source.len() as u64);
        for at in (1..left.len()).rev() {
            left.swap(at, dice.below(at as u64 + 1) as usize);
        }
        let mut operators: Vec<&str> = left.iter().map(|mutant| mutant.operator).collect();
        operators.sort_unstable();
        operators.dedup();
        let mut rows = Vec::new();
        while rows.len() < most && !left.is_empty() {
            for operator in &operators {
                while let Some(at) = left.iter().position(|mutant| mutant.operator == *operator) {
                    let mutant = left.swap_remove(at);
                    if let Some(row) = self.locate(mutant)? {
                        rows.push(row);
                        break;
                    }
                }
                if rows.len() == most {
                    break;
                }
            }
        }
        Ok(rows)
    }

    /// `None` if no input reveals the fault, or too many do.
    fn locate(&self, mutant: Mutant) -> Result<Option<Row>> {
        if !self.build(&mutant.apply(&self.source))? {
            return Ok(None);
        }
        let Some((outputs, plain_seconds)) = self.outputs(self.expected.len())? else { return Ok(None) };
        let wrong = |n: &usize| outputs[*n].is_some() && outputs[*n] != self.expected[*n];
        let failing = (0..outputs.len()).filter(|n| outputs[*n] != self.expected[*n]).count();
        let Some(shown) = (0..outputs.len()).find(wrong) else { return Ok(None) };
        if failing as f64 > MAX_FAILING_SHARE * outputs.len() as f64 {
            return Ok(None);
        }
        let start = Instant::now();
        let case = |end: &str| self.directory.join(format!("cases/{shown:04}.{end}"));
        let mut command = Command::new(&self.tools.relapse);
        command.args(["locate", "--quiet", "--build", "$CC -g -w -O0 -o p p.c", "--repeat", "1"]);
        // The test runs in a copy of the tree.
        command.args(["--test", &format!("./p < '{}'", case("in").display())]);
        // The other methods use the recordings.
        command.args(["--suite", "../cases", "--template", "./p < {}", "--keep", "--json", "-"]);
        command.arg("--expect").arg(case("out"));
        command.arg("--work").arg(self.directory.join("work")).current_dir(self.directory.join("tree"));
        let ran = shell::capture(&mut command, LIMIT)?;
        let seconds = start.elapsed().as_secs_f64();
        // The effect of a fault may depend on uninitialised memory: it may have none when recorded.
        if ran.status.code() == Some(NOTHING_FAILS) {
            return Ok(None);
        }
        if ran.status.code() == Some(DOES_NOT_REPLAY) {
            eprintln!("xtask: {}:{} is left out: {}", self.program, mutant.line, ran.complaint());
            return Ok(None);
        }
        let answer: Value = serde_json::from_slice(&ran.stdout)
            .map_err(|e| format!("{} {mutant:?}: {e}: {}", self.program, ran.complaint()))?;
        let lines = answer["lines"].as_array().cloned().unwrap_or_default();
        let faulty = mutant.faulty();
        let at = |line: &Value| line["place"]["line"].as_u64().is_some_and(|line| faulty.contains(&line));
        let reported: Vec<u64> = lines
            .iter()
            .filter(|line| line["folded"] == false)
            .filter_map(|line| line["place"]["line"].as_u64())
            .collect();
        let passed: Vec<bool> = (0..outputs.len()).map(|n| outputs[n] == self.expected[n]).collect();
        let runs = self.spectra(&passed)?;
        let best =
            |formula| faulty.iter().filter_map(|line| rank(&runs, formula, *line)).min_by(f64::total_cmp);
        let mut others: Vec<(&'static str, Option<f64>)> =
            FORMULAS.iter().map(|(name, formula)| (*name, best(*formula))).collect();
        // The rank in an unordered set is its middle.
        let neighbour =
            nearest_neighbour(&runs).filter(|lines| faulty.iter().any(|line| lines.contains(line)));
        others.push(("NN", neighbour.map(|lines| (lines.len() as f64 + 1.0) / 2.0)));
        let graph = self.dump("dependences", "failing")?;
        let graph = Graph::read(&graph, "/p.c").ok_or("the dependences are not understood")?;
        let mut scores = vec![("relapse locate", graph.score(&reported, &faulty))];
        for (name, formula) in FORMULAS {
            let as_many: Vec<u64> = ranking(&runs, *formula).into_iter().take(reported.len()).collect();
            scores.push((name, graph.score(&as_many, &faulty)));
        }
        scores.push(("NN", graph.score(&nearest_neighbour(&runs).unwrap_or_default(), &faulty)));
        Ok(Some(Row {
            program: self.program,
            failing,
            inputs: outputs.len(),
            rank: lines.iter().position(at).map(|n| n as f64 + 1.0),
            reported: reported.len(),
            others,
            scores,
            seconds,
            plain_seconds,
            mutant,
        }))
    }

    /// The executed lines of the failing run and of the pool's runs.
    fn spectra(&self, passed: &[bool]) -> Result<Vec<Spectrum>> {
        let mut runs = vec![read(&self.dump("lines", "failing")?, "/p.c", false)];
        for (number, passed) in passed.iter().enumerate() {
            let name = format!("pool-{number}");
            // Runs that could not be recorded are missing.
            if self.directory.join("work/recordings").join(&name).exists() {
                runs.push(read(&self.dump("lines", &name)?, "/p.c", *passed));
            }
        }
        Ok(runs)
    }

    /// The output of a `relapse dump` command for a recording.
    fn dump(&self, what: &str, recording: &str) -> Result<Value> {
        let mut command = Command::new(&self.tools.relapse);
        command.args(["dump", what, "--json"]).arg(self.directory.join("work/recordings").join(recording));
        let ran = shell::capture(&mut command, LIMIT)?;
        serde_json::from_slice(&ran.stdout)
            .map_err(|e| format!("relapse dump {what} {recording}: {e}: {}", ran.complaint()))
    }
}
