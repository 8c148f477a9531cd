//! Reference tools that observe every instruction or every access, as a measure of usual overheads. Missing
//! tools are reported as missing.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::shell::{self, Result};
use crate::subjects::{self, Flavour, Job, Subject};
use crate::tools::Tools;

/// The seconds of each reference tool for a subject's workload; `None` if the tool is missing.
pub fn all(
    tools: &Tools,
    subject: &Subject,
    package: &Path,
    job: &Job,
    plain: &Path,
) -> Vec<(&'static str, Option<f64>)> {
    let Some(expected) = report(job.run(&mut Command::new(plain))) else { return Vec::new() };
    // A run with different output is no valid measurement.
    let timed = |command: &mut Command| {
        let outcome = report(job.run(command))?;
        if outcome.status.success() && outcome.stdout == expected.stdout {
            return Some(outcome.took.as_secs_f64());
        }
        eprintln!("xtask: {}: other output than the plain program", shell::shown(command));
        None
    };
    let bare = strip_debug_info(plain, job);
    let valgrind = |tool: &str| {
        let valgrind = shell::which("valgrind")?;
        timed(Command::new(valgrind).args([&format!("--tool={tool}"), "-q"]).arg(bare.as_deref()?))
    };
    let msan = || {
        let program = report(subjects::build(tools, subject, package, Flavour::MemorySanitizer))?;
        // The C library is not instrumented; its writes must not end the run.
        timed(Command::new(program).env("MSAN_OPTIONS", "halt_on_error=0:exitcode=0:report_umrs=0"))
    };
    vec![
        ("MemorySanitizer", msan()),
        ("valgrind none", valgrind("none")),
        ("valgrind memcheck", valgrind("memcheck")),
    ]
}

/// A copy without debug information: valgrind cannot read that of clang 22.
fn strip_debug_info(plain: &Path, job: &Job) -> Option<PathBuf> {
    let copy = job.dir().join("without-debug-info");
    report(shell::run(Command::new("strip").arg("-g").arg("-o").arg(&copy).arg(plain)))?;
    Some(copy)
}

fn report<T>(result: Result<T>) -> Option<T> {
    result.map_err(|message| eprintln!("xtask: {message}")).ok()
}

/// A loop small enough for gdb, which takes microseconds for every instruction.
const SMALL_LOOP: &str = r#"
#include <stdlib.h>
static unsigned table[256];
__attribute__((noinline)) unsigned work(long rounds) {
    unsigned sum = 1;
    for (long i = 0; i < rounds; i++) {
        table[sum & 255] += (unsigned)i;
        sum = sum * 1664525u + table[(sum >> 8) & 255];
    }
    return sum;
}
int main(int argc, char **argv) {
    return argc > 1 ? (int)(work(atol(argv[1])) & 1) : 2;
}
"#;

/// The slowdown of the small loop under `gdb record full`, and recorded by `relapse`, relative to the plain
/// program.
pub struct SmallLoop {
    pub gdb: Option<f64>,
    pub recorded: Option<f64>,
}

/// Measures the small loop. The number of rounds differs by tool, so figures are per round.
pub fn gdb_record(tools: &Tools) -> SmallLoop {
    report(measure_small_loop(tools)).unwrap_or(SmallLoop { gdb: None, recorded: None })
}

fn measure_small_loop(tools: &Tools) -> Result<SmallLoop> {
    const PLAIN_ROUNDS: f64 = 200e6;
    const GDB_ROUNDS: f64 = 5e3;
    let dir = shell::target().join("bench/piece");
    shell::create_empty_dir(&dir)?;
    shell::write(&dir.join("piece.c"), SMALL_LOOP)?;
    let limit = Duration::from_secs(300);
    for (compiler, name) in [(&tools.clang, "plain"), (&tools.cc, "ours")] {
        let mut command = Command::new(compiler);
        command.args(["-O2", "-g", "piece.c", "-o", name]).current_dir(&dir);
        let outcome = shell::capture(&mut command, limit)?;
        if !outcome.status.success() {
            return Err(outcome.complaint());
        }
    }
    let many = format!("{PLAIN_ROUNDS}");
    let plain =
        shell::capture(Command::new(dir.join("plain")).arg(&many), limit)?.took.as_secs_f64() / PLAIN_ROUNDS;
    let recorded = shell::capture(tools.record(&dir.join("recording"), &dir.join("ours")).arg(&many), limit)?;
    let recorded = recorded.took.as_secs_f64() / PLAIN_ROUNDS;
    let gdb = shell::which("gdb").and_then(|gdb| {
        let run = |record: bool| {
            let mut command = Command::new(&gdb);
            command.args(["-nx", "-batch", "-ex", "set record full insn-number-max unlimited"]);
            command.args(["-ex", "break work", "-ex", "run"]);
            if record {
                command.args(["-ex", "record full"]);
            }
            command.args(["-ex", "finish", "-ex", "kill", "--args"]);
            command.arg(dir.join("plain")).arg(format!("{GDB_ROUNDS}")).current_dir(&dir);
            shell::capture(&mut command, limit)
        };
        // The cost of recording is the difference to gdb without recording.
        let (with, without) = (report(run(true))?, report(run(false))?);
        let finished = String::from_utf8_lossy(&with.stdout).contains("Value returned");
        finished.then(|| (with.took.as_secs_f64() - without.took.as_secs_f64()) / GDB_ROUNDS)
    });
    Ok(SmallLoop { gdb: gdb.map(|time| time / plain), recorded: Some(recorded / plain) })
}
