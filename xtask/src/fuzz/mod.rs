//! `cargo xtask fuzz-replay`: random C programs.
//!
//! Half of them are single files: csmith generates programs without undefined behaviour. Each is compiled by
//! clang and by `relapse-cc`; both executables must have the same output and exit status, also while
//! recorded, and the recording must replay exactly. The other half consist of several translation units
//! (`units`), combined by linkers and loaders. As many programs of our own generator are sliced from every
//! execution; each slice must equal reachability in the whole dependence graph.

mod build;
mod units;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::setup;
use crate::shell::{self, Result};
use crate::suite::Count;
use crate::tools::{Cores, Tools};

/// Programs that run longer without being recorded are skipped. Nearly all of those never end; the few others
/// would take minutes to replay.
const RUN_LIMIT: Duration = Duration::from_secs(2);
/// The timeout of recording and replay, which are slower.
const REPLAY_LIMIT: Duration = Duration::from_secs(300);

/// The options of a run.
#[derive(Clone, Debug)]
pub struct Plan {
    pub count: u64,
    pub first_seed: u64,
    pub jobs: u64,
    pub shrink: bool,
    /// Use the development profile.
    pub dev: bool,
    /// Use the existing executables, and test no slices.
    pub as_built: bool,
}

impl Default for Plan {
    fn default() -> Self {
        Plan { count: 200, first_seed: 1, jobs: 2, shrink: false, dev: false, as_built: false }
    }
}

/// The result of one program.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Verdict {
    Passed,
    /// Not a valid test, for the given reason.
    Skipped(String),
    Failed(Fault, String),
}

/// The kind of fault. Shrinking preserves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// `relapse-cc` fails or leaves a file uninstrumented.
    Compile,
    /// The instrumented program behaves differently.
    Output,
    /// The program behaves differently, or records nothing, while recorded.
    Record,
    /// Replay is not exact.
    Replay,
}

impl Fault {
    const ALL: [(&'static str, Fault); 4] = [
        ("compile", Fault::Compile),
        ("output", Fault::Output),
        ("record", Fault::Record),
        ("replay", Fault::Replay),
    ];

    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, fault)| *fault == self).map_or("unknown", |(name, _)| name)
    }
}

/// `cargo xtask fuzz-replay N [--seed S] [--shrink] [--jobs J] [--dev | --as-built]`
pub fn command(args: &[&str]) -> Result<()> {
    let plan = parse(args)
        .ok_or("usage: cargo xtask fuzz-replay N [--seed S] [--shrink] [--jobs J] [--dev | --as-built]")?;
    setup::install(setup::Need::Test)?;
    let tools = match (plan.as_built, plan.dev) {
        (true, _) => Tools::existing()?,
        (false, true) => Tools::build_dev()?,
        (false, false) => Tools::build()?,
    };
    let count = replay(&tools, &plan)?;
    println!("{} passed, {} failed", count.passed, count.failed);
    if !plan.as_built {
        slices(&plan)?;
    }
    if count.failed == 0 { Ok(()) } else { Err("some programs failed".to_owned()) }
}

/// Compares slices of random programs with the definition, by a test of the command.
fn slices(plan: &Plan) -> Result<()> {
    let mut test = shell::cargo();
    test.args(["test", "--package", "relapse", "--test", "it"]);
    if !plan.dev {
        test.arg("--release");
    }
    test.args(["--", "--ignored", "slices_of_many_programs"]);
    test.env("RELAPSE_FUZZ_SEEDS", format!("{}..{}", plan.first_seed, plan.first_seed + plan.count));
    shell::run(&mut test)
}

fn parse(args: &[&str]) -> Option<Plan> {
    let mut plan = Plan::default();
    let mut rest = args.iter();
    plan.count = rest.next()?.parse().ok()?;
    while let Some(word) = rest.next() {
        match *word {
            "--seed" => plan.first_seed = rest.next()?.parse().ok()?,
            "--jobs" => plan.jobs = rest.next()?.parse::<u64>().ok()?.max(1),
            "--shrink" => plan.shrink = true,
            "--dev" => plan.dev = true,
            "--as-built" => plan.as_built = true,
            _ => return None,
        }
    }
    Some(plan)
}

/// Tests `plan.count` programs. Seeds without a valid test are skipped, up to twice as many. Failing programs
/// are stored in `target/fuzz-replay`.
pub fn replay(tools: &Tools, plan: &Plan) -> Result<Count> {
    let home = shell::target().join("fuzz-replay");
    shell::create_empty_dir(&home)?;
    let next = AtomicU64::new(0);
    let failures = Mutex::new(Vec::new());
    let skipped = Mutex::new(BTreeMap::<String, u64>::new());
    let passed = AtomicU64::new(0);
    let tested = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..plan.jobs {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if tested.load(Ordering::Relaxed) >= plan.count || number >= 3 * plan.count {
                        return;
                    }
                    let seed = plan.first_seed + number;
                    let dir = home.join(format!("seed-{seed}"));
                    let verdict = test_seed(tools, seed, &dir)
                        .unwrap_or_else(|why| Verdict::Failed(Fault::Compile, why));
                    if !matches!(verdict, Verdict::Skipped(_)) {
                        let done = tested.fetch_add(1, Ordering::Relaxed) + 1;
                        if done.is_multiple_of(50) {
                            eprintln!("{done} of {} programs tested", plan.count);
                        }
                    }
                    match verdict {
                        Verdict::Passed => {
                            passed.fetch_add(1, Ordering::Relaxed);
                        }
                        Verdict::Skipped(why) => {
                            *skipped.lock().unwrap_or_else(|e| e.into_inner()).entry(why).or_default() += 1;
                        }
                        Verdict::Failed(fault, why) => {
                            eprintln!("seed {seed}: {}: {}", fault.name(), why.lines().next().unwrap_or(""));
                            let _ = fs::write(dir.join("why.txt"), format!("{}\n{why}\n", fault.name()));
                            failures.lock().unwrap_or_else(|e| e.into_inner()).push((seed, fault, dir));
                            continue;
                        }
                    }
                    // Keep the directory only for a failure.
                    let _ = fs::remove_dir_all(&dir);
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap_or_else(|e| e.into_inner());
    let skipped = skipped.into_inner().unwrap_or_else(|e| e.into_inner());
    for (why, count) in &skipped {
        eprintln!("{count} programs left out: {why}");
    }
    if !failures.is_empty() {
        eprintln!(
            "failed seeds: {:?}; see {}",
            failures.iter().map(|f| f.0).collect::<Vec<_>>(),
            home.display()
        );
    }
    if plan.shrink {
        for (_, fault, dir) in failures.iter().filter(|(_, _, dir)| dir.join("program.c").exists()) {
            shrink(*fault, dir)?;
        }
    }
    // If hardly any program ran, the setup is broken.
    let passed = passed.into_inner();
    let starved = u64::from(tested.into_inner() < plan.count);
    Ok(Count { passed, failed: failures.len() as u64 + starved })
}

fn test_seed(tools: &Tools, seed: u64, dir: &Path) -> Result<Verdict> {
    shell::create_empty_dir(dir)?;
    if seed % 16 >= 8 {
        return build::check(tools, &units::generate(seed), dir);
    }
    let source = dir.join("program.c");
    let mut csmith = Command::new("csmith");
    csmith.args(["--seed", &seed.to_string(), "--output"]).arg(&source);
    // Program shapes vary with the seed.
    csmith.args(["--max-funcs", &(3 + seed % 8).to_string()]);
    csmith.args(["--max-block-depth", &(3 + seed % 3).to_string()]);
    if seed.is_multiple_of(3) {
        csmith.arg("--float");
    }
    if seed.is_multiple_of(4) {
        csmith.arg("--inline-function");
    }
    let written = shell::capture(csmith.current_dir(dir), Duration::from_secs(60))?;
    if !written.status.success() || !source.exists() {
        return Ok(Verdict::Skipped("csmith gave up".to_owned()));
    }
    // With an argument, programs print intermediate checksums of every global.
    let arguments: &[&str] = if seed.is_multiple_of(2) { &["1"] } else { &[] };
    let level = ["-O0", "-O1", "-O2", "-O3"][(seed / 2 % 4) as usize];
    check(tools, &source, dir, arguments, level)
}

/// Tests one program, in `dir`.
fn check(tools: &Tools, source: &Path, dir: &Path, arguments: &[&str], level: &str) -> Result<Verdict> {
    let compile = |compiler: &Path, level: &str, name: &str| {
        let mut command = Command::new(compiler);
        command
            .args([level, "-g", "-w", "-Wno-incompatible-pointer-types", "-I/usr/include/csmith", "-o", name])
            .arg(source)
            .current_dir(dir);
        shell::capture(&mut command, Duration::from_secs(240))
    };
    let run = |name: &str, limit| {
        shell::capture(Command::new(dir.join(name)).args(arguments).current_dir(dir), limit)
    };
    if !compile(&tools.clang, "-O1", "plain")?.status.success() {
        return Ok(Verdict::Skipped("clang refuses it".to_owned()));
    }
    let plain = run("plain", RUN_LIMIT)?;
    if plain.timed_out {
        return Ok(Verdict::Skipped("runs too long".to_owned()));
    }
    let ours = compile(&tools.cc, level, "ours")?;
    if !ours.status.success() || !ours.stderr.is_empty() {
        return Ok(Verdict::Failed(Fault::Compile, ours.complaint()));
    }
    let same = |other: &shell::Outcome| other.status == plain.status && other.stdout == plain.stdout;
    let alone = run("ours", RUN_LIMIT * 10)?;
    if !same(&alone) {
        // A program whose behaviour depends on the optimiser is no valid test.
        for level in ["-O0", "-O2"] {
            compile(&tools.clang, level, "plain-again")?;
            if !same(&run("plain-again", RUN_LIMIT * 10)?) {
                return Ok(Verdict::Skipped("depends on the optimiser".to_owned()));
            }
        }
        shell::write(&dir.join("plain.out"), &plain.stdout)?;
        shell::write(&dir.join("ours.out"), &alone.stdout)?;
        return Ok(Verdict::Failed(Fault::Output, shell::ended(alone.status)));
    }
    check_recording(tools, &plain, &dir.join("ours"), arguments)
}

/// Records a program in its directory and replays it.
fn check_recording(
    tools: &Tools,
    plain: &shell::Outcome,
    program: &Path,
    arguments: &[&str],
) -> Result<Verdict> {
    let dir = program.parent().unwrap_or(Path::new("."));
    let recording = dir.join("recording");
    // A recording exists if the same program was tried with other options.
    let _ = fs::remove_dir_all(&recording);
    let recorded =
        shell::capture(tools.record(&recording, program).args(arguments).current_dir(dir), REPLAY_LIMIT)?;
    if recorded.status != plain.status || recorded.stdout != plain.stdout {
        let why = format!("{}\n{}", shell::ended(recorded.status), recorded.complaint());
        return Ok(Verdict::Failed(Fault::Record, why));
    }
    let replayed = tools.replay(&recording, Cores::One, REPLAY_LIMIT)?;
    if !replayed.exact || replayed.instructions == 0.0 {
        return Ok(Verdict::Failed(Fault::Replay, replayed.text));
    }
    Ok(Verdict::Passed)
}

/// Shrinks a failing program with C-Vise, if it is installed.
fn shrink(fault: Fault, dir: &Path) -> Result<()> {
    if shell::which("cvise").is_none() {
        eprintln!("cvise is not installed (cargo xtask setup --bench): nothing is shrunk");
        return Ok(());
    }
    let me = std::env::current_exe().map_err(|error| format!("failed to find myself: {error}"))?;
    let small = dir.join("small");
    shell::create_empty_dir(&small)?;
    fs::copy(dir.join("program.c"), small.join("program.c"))
        .map_err(|error| format!("failed to copy the program: {error}"))?;
    let script = small.join("interesting.sh");
    shell::write(
        &script,
        format!("#!/bin/sh\nexec '{}' fuzz-check {} program.c >/dev/null 2>&1\n", me.display(), fault.name()),
    )?;
    shell::run(Command::new("chmod").arg("+x").arg(&script))?;
    let result = shell::run(
        Command::new("cvise")
            .args(["--n", "2", "--timeout", "120"])
            .arg(&script)
            .arg("program.c")
            .env("CARGO_TARGET_DIR", shell::target())
            .current_dir(&small),
    );
    eprintln!("shrunk: {}", small.join("program.c").display());
    result
}

/// `fuzz-check FAULT FILE`: succeeds if FILE shows the fault and is a valid program. The interestingness test
/// of C-Vise.
pub fn check_command(args: &[&str]) -> Result<()> {
    let [fault, file] = args else { return Err("usage: fuzz-check FAULT FILE".to_owned()) };
    let wanted = Fault::ALL.iter().find(|(name, _)| name == fault).map(|(_, fault)| *fault);
    let wanted = wanted.ok_or_else(|| format!("there is no fault {fault}"))?;
    let tools = Tools::existing()?;
    let source =
        PathBuf::from(file).canonicalize().map_err(|error| format!("failed to find {file}: {error}"))?;
    let dir = source.with_extension("check");
    shell::create_empty_dir(&dir)?;
    let result = (|| {
        if !is_free_of_ub(&tools, &source, &dir)? {
            return Err("the program is not sound".to_owned());
        }
        for level in ["-O1", "-O0", "-O2"] {
            if let Verdict::Failed(found, _) = check(&tools, &source, &dir, &[], level)?
                && found == wanted
            {
                return Ok(());
            }
        }
        Err("the fault is gone".to_owned())
    })();
    let _ = fs::remove_dir_all(&dir);
    result
}

/// Whether a program is free of undefined behaviour that clang's sanitizers detect.
fn is_free_of_ub(tools: &Tools, source: &Path, dir: &Path) -> Result<bool> {
    for checker in ["-fsanitize=address,undefined", "-fsanitize=memory"] {
        let compiled = shell::capture(
            Command::new(&tools.clang)
                .args([
                    "-O1",
                    "-g",
                    "-w",
                    "-Wno-incompatible-pointer-types",
                    "-fno-sanitize-recover=all",
                    "-I/usr/include/csmith",
                    checker,
                ])
                .args(["-Werror=return-type", "-Werror=implicit-function-declaration"])
                .args(["-Werror=uninitialized", "-o", "sane"])
                .arg(source)
                .current_dir(dir),
            Duration::from_secs(120),
        )?;
        if !compiled.status.success() {
            return Ok(false);
        }
        let ran = shell::capture(Command::new(dir.join("sane")).current_dir(dir), RUN_LIMIT * 4)?;
        if ran.timed_out || String::from_utf8_lossy(&ran.stderr).contains("Sanitizer") {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_a_plan() {
        let plan = parse(&["30", "--seed", "7", "--shrink", "--jobs", "1"]).unwrap();
        assert_eq!((plan.count, plan.first_seed, plan.jobs, plan.shrink), (30, 7, 1, true));
        assert!(parse(&[]).is_none());
        assert!(parse(&["x"]).is_none());
        assert!(parse(&["3", "--seed"]).is_none());
    }

    #[test]
    fn faults_have_names() {
        for (name, fault) in Fault::ALL {
            assert_eq!(fault.name(), name);
        }
    }
}
