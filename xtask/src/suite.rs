//! `cargo xtask test`: runs all checks. `--quick` is for frequent use during development, `--long` for the
//! end of a feature.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::shell::{self, Result};
use crate::tools::Tools;
use crate::{fuzz, setup, subjects};

/// The extent of testing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Format, and the unit tests of the libraries, which start no compiler.
    Quick,
    /// The checks that every change must pass.
    Usual,
    /// Also the ignored tests, and more random programs.
    Long,
}

impl Scope {
    fn random_programs(self) -> u64 {
        match self {
            Scope::Quick => 0,
            Scope::Usual => 60,
            Scope::Long => 1_000,
        }
    }

    /// The options of nextest that select the tests.
    fn selection(self) -> &'static [&'static str] {
        match self {
            Scope::Quick => &["--workspace", "--lib"],
            Scope::Usual => &["--workspace"],
            Scope::Long => &["--workspace", "--run-ignored", "all"],
        }
    }

    /// The same for cargo's own runner.
    fn plain_selection(self) -> &'static [&'static str] {
        match self {
            Scope::Quick => self.selection(),
            Scope::Usual => &["--workspace", "--lib", "--bins", "--tests"],
            Scope::Long => &["--workspace", "--lib", "--bins", "--tests", "--", "--include-ignored"],
        }
    }
}

/// The numbers of passed and failed checks of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    pub passed: u64,
    pub failed: u64,
}

impl Count {
    /// A step with a single check.
    fn one(result: Result<()>) -> Count {
        match result {
            Ok(()) => Count { passed: 1, failed: 0 },
            Err(message) => {
                eprintln!("xtask: {message}");
                Count { passed: 0, failed: 1 }
            }
        }
    }

    fn add(self, other: Count) -> Count {
        Count { passed: self.passed + other.passed, failed: self.failed + other.failed }
    }
}

/// `cargo xtask test [--quick|--long]`
pub fn command(scope: Scope) -> Result<()> {
    setup::install(setup::Need::Test)?;
    setup::rust_components()?;
    let mut lines = Vec::new();
    let mut total = Count::default();
    let mut step = |name: &str, run: &mut dyn FnMut() -> Count| {
        eprintln!("\n== {name}");
        let start = Instant::now();
        let count = run();
        total = total.add(count);
        lines.push(format!(
            "{name:<28} {:>5} passed {:>3} failed {:>6.0} s",
            count.passed,
            count.failed,
            start.elapsed().as_secs_f64()
        ));
        count.failed == 0
    };
    step("format", &mut || Count::one(format()));
    if scope != Scope::Quick {
        step("lints", &mut || Count::one(clippy()));
    }
    step("tests", &mut || tests(scope));
    if scope != Scope::Quick {
        step("examples in the documents", &mut || {
            counted(shell::cargo().args(["test", "--workspace", "--doc"]))
        });
        // The tests have built them.
        let tools = Tools::of_tests();
        let run_with = |run: &dyn Fn(&Tools) -> Result<Count>| {
            let done = tools.as_ref().map_err(Clone::clone).and_then(run);
            done.unwrap_or_else(|message| Count::one(Err(message)))
        };
        step("random programs", &mut || {
            let plan = fuzz::Plan { count: scope.random_programs(), ..fuzz::Plan::default() };
            run_with(&|tools| fuzz::replay(tools, &plan))
        });
        step("real programs", &mut || run_with(&|tools| subjects::check(tools, &[], subjects::Size::Small)));
    }
    println!();
    for line in &lines {
        println!("{line}");
    }
    println!("{} passed, {} failed", total.passed, total.failed);
    if total.failed == 0 { Ok(()) } else { Err("some tests failed".to_owned()) }
}

/// `cargo xtask lint`
pub fn lint() -> Result<()> {
    setup::rust_components()?;
    format()?;
    clippy()
}

fn format() -> Result<()> {
    shell::run(shell::cargo().args(["fmt", "--all", "--check"]))
}

fn clippy() -> Result<()> {
    shell::run(shell::cargo().args([
        "clippy",
        "--quiet",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ]))
}

fn tests(scope: Scope) -> Count {
    if let Err(message) = Tools::before_tests() {
        return Count::one(Err(message));
    }
    if shell::which("cargo-nextest").is_some() {
        return counted(shell::cargo().args(["nextest", "run", "--no-fail-fast"]).args(scope.selection()));
    }
    counted(shell::cargo().args(["test", "--no-fail-fast"]).args(scope.plain_selection()))
}

/// Runs a test command, shows its output, and counts the tests in it.
fn counted(command: &mut Command) -> Count {
    eprintln!("$ {}", shell::shown(command));
    // nextest prints its results on standard error, cargo's own runner on standard output: both are passed
    // through and parsed.
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => return Count::one(Err(format!("failed to run cargo: {error}"))),
    };
    let stderr = child.stderr.take();
    let reader = std::thread::spawn(move || stderr.map(|pipe| tee_results(pipe, std::io::stderr())));
    let mut count = child.stdout.take().map(|pipe| tee_results(pipe, std::io::stdout())).unwrap_or_default();
    count = count.add(reader.join().ok().flatten().unwrap_or_default());
    let status = child.wait();
    if count.failed == 0 && !status.is_ok_and(|status| status.success()) {
        // The command failed before it ran any test.
        count.failed = 1;
    }
    count
}

/// Copies a stream line by line, and adds up the results in it.
fn tee_results(from: impl std::io::Read, mut to: impl Write) -> Count {
    let mut count = Count::default();
    for line in BufReader::new(from).split(b'\n').map_while(std::result::Result::ok) {
        count = count.add(results_in(&String::from_utf8_lossy(&line)));
        // A closed terminal does not change the results.
        let _ = to.write_all(&line).and_then(|()| to.write_all(b"\n"));
    }
    count
}

/// The numbers in a summary line of cargo's test runner or of nextest.
fn results_in(line: &str) -> Count {
    let line = line.trim_start();
    if !line.starts_with("test result:") && !line.starts_with("Summary [") {
        return Count::default();
    }
    let words: Vec<&str> = line.split([' ', ';', ',', '(', ')']).filter(|word| !word.is_empty()).collect();
    let before = |name: &str| {
        words.windows(2).find(|pair| pair[1] == name).and_then(|pair| pair[0].parse().ok()).unwrap_or(0)
    };
    Count { passed: before("passed"), failed: before("failed") + before("timed") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_lines_are_understood() {
        for (line, passed, failed) in [
            ("test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out", 12, 0),
            ("test result: FAILED. 3 passed; 2 failed; 0 ignored", 3, 2),
            ("     Summary [   1.234s] 48 tests run: 47 passed (1 slow), 1 failed, 0 skipped", 47, 1),
            ("     Summary [   1.2s] 4 tests run: 3 passed, 1 timed out, 0 skipped", 3, 1),
            ("running 3 tests, 3 passed", 0, 0),
        ] {
            assert_eq!(results_in(line), Count { passed, failed }, "{line}");
        }
    }
}
