//! `cargo xtask bench environment`: the cost of recording an environment compared with `strace -f`, and the
//! number of runs needed to find a culprit.
//!
//! The times in a row are the best of interleaved runs on one machine; only their ratios are meaningful.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::Value;

use super::publish;
use crate::setup;
use crate::shell::{self, Result};
use crate::tools::{DEFAULT_TIMEOUT, Tools};

/// The number of measurements of each run.
const ROUNDS: usize = 5;

/// A description and a command.
const SUBJECTS: [(&str, &str); 6] = [
    ("Python starts", "/usr/bin/python3 -c 'import json, argparse, logging, unittest'"),
    ("shell, 100 processes", "for i in $(seq 100); do /bin/true; done"),
    ("many small reads", "dd if=/dev/zero of=/dev/null bs=512 count=20000 2>/dev/null"),
    ("a tree is listed", "ls -lR /usr/share/doc /usr/include > /dev/null"),
    ("sorting in memory", "seq 300000 | sort -r | tail -1 > /dev/null"),
    ("computing only", "/usr/bin/python3 -S -c 'sum(i * i for i in range(2000000))'"),
];

struct Cost {
    name: &'static str,
    plain: f64,
    strace: Option<f64>,
    recorded: f64,
    calls: u64,
    bytes: u64,
}

/// `cargo xtask bench environment [--dev]`
pub fn command(words: &[&str]) -> Result<()> {
    let dev = match words {
        [] => false,
        ["--dev"] => true,
        _ => return Err("usage: cargo xtask bench environment [--dev]".to_owned()),
    };
    setup::install(setup::Need::Bench)?;
    let tools = if dev { Tools::build_dev()? } else { Tools::build()? };
    let folder = shell::target().join("bench/environment");
    shell::create_empty_dir(&folder)?;
    let mut report = String::from(
        "| run | calls | plain s | recorded s | `strace -f` s | overhead / strace's | record MiB |\n|---|---|---|---|---|---|---|\n",
    );
    for (name, script) in SUBJECTS {
        let cost = measure(&tools, &folder, name, script)?;
        line(&mut report, &cost);
    }
    report += "\n| culprit | calls | differences | runs | log2 N + 3 |\n|---|---|---|---|---|\n";
    for case in CASES {
        find(&tools, &folder, &case, &mut report)?;
    }
    publish::publish("environment", &report)
}

fn line(report: &mut String, cost: &Cost) {
    let strace = cost.strace.map_or_else(|| "-".to_owned(), |seconds| format!("{seconds:.3}"));
    let ratio = cost.strace.map_or_else(
        || "-".to_owned(),
        |seconds| match seconds > cost.plain {
            true => format!("{:.2}", (cost.recorded - cost.plain) / (seconds - cost.plain)),
            false => "-".to_owned(),
        },
    );
    let _ = writeln!(
        report,
        "| {} | {} | {:.3} | {:.3} | {strace} | {ratio} | {:.1} |",
        cost.name,
        cost.calls,
        cost.plain,
        cost.recorded,
        cost.bytes as f64 / f64::from(1 << 20)
    );
}

/// The seconds that a command takes.
fn time(command: &mut Command) -> Result<f64> {
    let began = Instant::now();
    // Cargo sets a library path that every program would search.
    command.env_remove("LD_LIBRARY_PATH").stdin(Stdio::null());
    let outcome = shell::capture(command, DEFAULT_TIMEOUT)?;
    if !outcome.status.success() {
        return Err(outcome.complaint());
    }
    Ok(began.elapsed().as_secs_f64())
}

fn measure(tools: &Tools, folder: &Path, name: &'static str, script: &str) -> Result<Cost> {
    let there = folder.join("there");
    let strace = shell::which("strace");
    let (mut plain, mut recorded, mut traced) = (f64::MAX, f64::MAX, f64::MAX);
    for _ in 0..ROUNDS {
        plain = plain.min(time(Command::new("sh").args(["-c", script]))?);
        let mut record = Command::new(&tools.relapse);
        record.args(["environment", "record", "--quiet", "-o"]).arg(&there).args(["sh", "-c", script]);
        recorded = recorded.min(time(&mut record)?);
        if let Some(strace) = &strace {
            traced =
                traced.min(time(Command::new(strace).args(["-f", "-o", "/dev/null", "sh", "-c", script]))?);
        }
    }
    let mut show = Command::new(&tools.relapse);
    let shown =
        shell::capture(show.args(["environment", "show", "--calls", "--json"]).arg(&there), DEFAULT_TIMEOUT)?;
    let answer: Value = serde_json::from_slice(&shown.stdout).map_err(|error| error.to_string())?;
    let calls = answer["calls"].as_array().map_or(0, Vec::len) as u64;
    let bytes = there.join("environment.rec").metadata().map_or(0, |about| about.len());
    Ok(Cost { name, plain, strace: strace.map(|_| traced), recorded, calls, bytes })
}

/// A command that passes after `good` and fails after `bad`, both of them scripts in its directory.
struct Case {
    name: &'static str,
    good: &'static str,
    bad: &'static str,
    command: &'static [&'static str],
}

const CASES: [Case; 4] = [
    Case {
        name: "a file that Python opens is missing",
        good: "echo 1 > data",
        bad: "rm data",
        command: &["/usr/bin/python3", "-c", "import json, argparse, logging, unittest; open('data')"],
    },
    Case {
        name: "a directory that a shell script needs",
        good: "mkdir -p run",
        bad: "rm -r run",
        command: &["sh", "-c", "for i in 1 2 3 4 5; do /bin/true; done; echo 1 > run/pid"],
    },
    Case {
        name: "bytes of a file that Perl reads",
        good: "printf 'a\\0b' > data",
        bad: "printf 'a\\0c' > data",
        command: &[
            "perl",
            "-e",
            "use POSIX; use IO::File; open F, 'data'; read F, $x, 3; exit($x ne \"a\\0b\")",
        ],
    },
    Case {
        name: "a header that the compiler includes",
        good: "echo 'int x;' > x.h; echo '#include \"x.h\"' > x.c",
        bad: "rm x.h",
        command: &["gcc", "-c", "x.c", "-o", "/dev/null"],
    },
];

fn find(tools: &Tools, folder: &Path, case: &Case, report: &mut String) -> Result<()> {
    let place = folder.join("case");
    shell::create_empty_dir(&place)?;
    let prepare = |script: &str| time(Command::new("sh").args(["-c", script]).current_dir(&place));
    prepare(case.good)?;
    let mut record = Command::new(&tools.relapse);
    record.args(["environment", "record", "--quiet", "-o", "../found", "--"]).args(case.command);
    time(record.current_dir(&place))?;
    prepare(case.bad)?;
    let mut find = Command::new(&tools.relapse);
    find.args(["environment", "find", "--json", "../found", "--"]).args(case.command);
    let found = shell::capture(
        find.env_remove("LD_LIBRARY_PATH").current_dir(&place).stdin(Stdio::null()),
        DEFAULT_TIMEOUT,
    )?;
    let answer: Value =
        serde_json::from_slice(&found.stdout).map_err(|error| format!("{}: {error}", found.complaint()))?;
    if answer["verdict"] != "found" || answer["culprits"].as_array().map_or(0, Vec::len) != 1 {
        return Err(format!("{}: {answer}", case.name));
    }
    let calls = answer["calls"].as_f64().unwrap_or(1.0);
    let _ = writeln!(
        report,
        "| {} | {calls} | {} | {} | {:.1} |",
        case.name,
        answer["candidates"],
        answer["runs"],
        calls.log2() + 3.0
    );
    Ok(())
}
