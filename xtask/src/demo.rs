//! `cargo xtask demo`: the main use case on a bundled example.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::cases::{self, Case, quoted};
use crate::setup;
use crate::shell::{self, Result};
use crate::tools::Tools;

/// `cargo xtask demo`
pub fn command() -> Result<()> {
    setup::install(setup::Need::Use)?;
    let tools = Tools::build()?;
    let dir = shell::target().join("demo");
    shell::create_empty_dir(&dir)?;
    record(&tools, &dir)?;
    explain(&tools, &dir.join("explain"))
}

/// The basics: recording, replay, values.
fn record(tools: &Tools, dir: &Path) -> Result<()> {
    let example = shell::root().join("examples/demo");
    for file in ["average-old.c", "average-new.c", "temperatures.txt"] {
        fs::copy(example.join(file), dir.join(file))
            .map_err(|error| format!("failed to copy {file}: {error}"))?;
    }
    say("\nA program that averages temperatures, in an old and a new version.\n\
         The new version is wrong. Build both with `relapse cc`:");
    for version in ["old", "new"] {
        let source = format!("average-{version}.c");
        show(tools, dir, &["cc", "-g", "-O1", &source, "-o", version])?;
    }
    say("\nRecord a run of each. The program's own output stays as it is:");
    for version in ["old", "new"] {
        let recording = format!("{version}.rec");
        let program = format!("./{version}");
        show(tools, dir, &["record", "-o", &recording, "--", &program, "temperatures.txt"])?;
    }
    say("\nReplay both; every value is computed again and checked:");
    for version in ["old", "new"] {
        show(tools, dir, &["replay", &format!("{version}.rec")])?;
    }
    say("\nWhat went in and out of the new version:");
    show(tools, dir, &["dump", "io", "new.rec"])?;
    say("\nThe running total at the line that adds a reading, old and new:");
    for version in ["old", "new"] {
        let line = line_with(&dir.join(format!("average-{version}.c")), "total +=")?;
        let place = format!("average-{version}.c:{line}");
        show(tools, dir, &["values", &format!("{version}.rec"), &place, "total"])?;
    }
    say("\nThe new version keeps the total in an int: every reading loses its fraction.");
    Ok(())
}

/// The main use case: which changes made the test fail, and how.
fn explain(tools: &Tools, dir: &Path) -> Result<()> {
    let case = Case::one(&cases::home(), "running-example")?;
    case.lay_out(dir)?;
    say("\nNow a program whose test passes in one version and fails in the next. Four lines\n\
         differ; it takes two of them to break it:");
    let diff = Command::new("diff").args(["-r", "-U0", "good", "bad"]).current_dir(dir).output();
    let diff = diff.map_err(|error| format!("failed to run diff: {error}"))?;
    println!("$ diff -r -U0 good bad\n{}", String::from_utf8_lossy(&diff.stdout));
    let mut words = vec!["explain", "--good", "good", "--bad", "bad"];
    let options = case.arguments(&case.build);
    words.extend(options.iter().map(String::as_str));
    words.extend(["--html", "report.html"]);
    show(tools, dir, &words)?;
    println!("\nThe same to click through: {}", dir.join("report.html").display());
    Ok(())
}

fn say(text: &str) {
    println!("{text}");
}

/// Prints a command as a user would type it, and runs it.
fn show(tools: &Tools, dir: &Path, args: &[&str]) -> Result<()> {
    println!("$ relapse {}", args.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "));
    let status = Command::new(&tools.relapse)
        .args(args)
        .current_dir(dir)
        .status()
        .map_err(|error| format!("failed to run relapse: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("relapse {} {}", args[0], shell::ended(status))) }
}

/// The number of the first line that contains `text`.
fn line_with(path: &Path, text: &str) -> Result<usize> {
    let source =
        fs::read_to_string(path).map_err(|error| format!("failed to read {}: {error}", path.display()))?;
    let found = source.lines().position(|line| line.contains(text));
    found.map(|line| line + 1).ok_or_else(|| format!("{} has no line with {text}", path.display()))
}
