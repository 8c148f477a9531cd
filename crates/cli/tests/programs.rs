//! Runs the C and C++ programs in `tests/programs/`, each as a test of its own.
//!
//! A program says in comments what is to be expected of it:
//! ```text
//! // args: one two          arguments
//! // stdin: a line          may be repeated
//! // env: NAME=VALUE        may be repeated
//! // flags: -pthread        for the compiler
//! // exit: 3                exit status, 0 if not said
//! // signal: SEGV           or the signal it dies of
//! // opaque: f g            all functions that may lack a model; not looked at if not said
//! // expect: a line         of standard output, in order; blanks at the end do not count
//! ```
//! It is compiled by plain clang and by `relapse cc`. Plain, instrumented and recorded
//! runs must all do what the comments say and agree on every byte of output, and the
//! recording must replay exactly. A second recording must say the same to `relapse diff`, whatever
//! the clock, process numbers and random bytes were meanwhile ([`AS_IT_COMES`] are left out).

mod sandbox;

use libtest_mimic::{Arguments, Failed, Trial};
use sandbox::feed;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn main() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs");
    let mut sources: Vec<PathBuf> = std::fs::read_dir(&directory)
        .unwrap_or_else(|e| panic!("{}: {e}", directory.display()))
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "c" || e == "cpp"))
        .collect();
    sources.sort();
    assert!(sources.len() >= 60, "only {} programs found", sources.len());
    let trials = sources
        .into_iter()
        .map(|path| {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            Trial::test(name, move || check(&path).map_err(Failed::from))
        })
        .collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

/// Programs that do other things in every run: the order of threads decides what they do, or how far
/// they have come when a signal arrives.
const AS_IT_COMES: &[&str] = &[
    "threads_",
    "exceptions_threads",
    "signal_alarm",
    "signal_from_outside",
    "signal_longjmp_loop",
    "signal_storm",
];

/// What the comments of a program say.
#[derive(Debug, Default)]
struct Expectations {
    args: Vec<String>,
    stdin: String,
    env: Vec<(String, String)>,
    flags: Vec<String>,
    status: Status,
    opaque: Option<Vec<String>>,
    stdout: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Exit(i32),
    Signal(i32),
}

impl Default for Status {
    fn default() -> Status {
        Status::Exit(0)
    }
}

impl Expectations {
    fn read(source: &str) -> Result<Expectations, String> {
        let mut e = Expectations::default();
        for line in source.lines().take_while(|line| line.starts_with("//")) {
            let Some((key, value)) = line[2..].trim_start().split_once(':') else { continue };
            let value = value.strip_prefix(' ').unwrap_or(value);
            let words = || value.split_whitespace().map(str::to_owned);
            match key {
                "args" => e.args.extend(words()),
                "flags" => e.flags.extend(words()),
                "opaque" => e.opaque = Some(words().collect()),
                "stdin" => e.stdin += &format!("{value}\n"),
                "env" => {
                    let (name, value) = value.split_once('=').ok_or("env: needs NAME=VALUE")?;
                    e.env.push((name.to_owned(), value.to_owned()));
                }
                "exit" => e.status = Status::Exit(value.parse().map_err(|_| format!("bad exit: {value}"))?),
                "signal" => e.status = Status::Signal(signal_number(value)?),
                "expect" => e.stdout.push(value.trim_end().to_owned()),
                _ => {}
            }
        }
        Ok(e)
    }
}

fn signal_number(name: &str) -> Result<i32, String> {
    let known = [
        ("ILL", 4),
        ("ABRT", 6),
        ("BUS", 7),
        ("FPE", 8),
        ("KILL", 9),
        ("SEGV", 11),
        ("ALRM", 14),
        ("TERM", 15),
    ];
    let found = known.iter().find(|(n, _)| *n == name);
    found.map(|(_, number)| *number).ok_or_else(|| format!("unknown signal {name}"))
}

fn check(source: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(source).map_err(|e| e.to_string())?;
    let expected = Expectations::read(&text)?;
    // Same name everywhere: assert() and perror() print it.
    let directory = |name: &str| tempfile::Builder::new().prefix(name).tempdir().map_err(|e| e.to_string());
    let (plain, ours) = (directory("plain")?, directory("ours")?);

    let (clang, driver) = match source.extension() {
        Some(e) if e == "cpp" => ("clang++-22", "c++"),
        _ => ("clang-22", "cc"),
    };
    compile(Command::new(clang).arg("-O0"), source, &plain.path().join("program"), &expected)?;
    let relapse = env!("CARGO_BIN_EXE_relapse");
    compile(Command::new(relapse).args([driver, "-O1"]), source, &ours.path().join("program"), &expected)?;
    if let Some(allowed) = &expected.opaque {
        check_opaque(relapse, ours.path(), allowed)?;
    }

    let reference = run(Command::new("./program"), plain.path(), &expected);
    as_expected("the plain program", &reference, &expected)?;
    let unrecorded = run(Command::new("./program"), ours.path(), &expected);
    same("the instrumented program", &unrecorded, &reference)?;
    as_expected("the instrumented program", &unrecorded, &expected)?;

    let mut record = Command::new(relapse);
    record.args(["record", "--quiet", "-o", "recording", "--", "./program"]);
    let mut recorded = run(record, ours.path(), &expected);
    if let Some(code) = recorded.status.code()
        && let Status::Signal(signal) = expected.status
        && code == 128 + signal
    {
        recorded.status = std::process::ExitStatus::from_raw(signal);
    }
    same("the recorded program", &recorded, &reference)?;

    let mut replay = Command::new(relapse);
    replay.args(["replay", "recording"]).current_dir(ours.path());
    let replay = feed(replay, b"");
    if !replay.status.success() {
        return Err(format!("replay is not exact ({}):\n{}", replay.status, show(&replay)));
    }
    let name = source.file_stem().unwrap_or_default().to_string_lossy();
    if AS_IT_COMES.iter().any(|part| name.starts_with(part)) {
        return Ok(());
    }
    let mut record = Command::new(relapse);
    record.args(["record", "--quiet", "-o", "again", "--", "./program"]);
    run(record, ours.path(), &expected);
    let mut diff = Command::new(relapse);
    diff.args(["diff", "recording", "again"]).current_dir(ours.path());
    let diff = feed(diff, b"");
    match diff.status.success() {
        true => Ok(()),
        false => Err(format!("two recordings differ ({}):\n{}", diff.status, show(&diff))),
    }
}

fn check_opaque(relapse: &str, directory: &Path, allowed: &[String]) -> Result<(), String> {
    let mut dump = Command::new(relapse);
    dump.args(["dump", "program", "program"]).current_dir(directory);
    let dump = feed(dump, b"");
    let text = String::from_utf8_lossy(&dump.stdout);
    let opaque: Vec<&str> = text.lines().filter(|line| line.starts_with("opaque @")).collect();
    let expected = |line: &&&str| !allowed.iter().any(|name| line.contains(&format!("@{name}:")));
    match opaque.iter().find(expected) {
        None if opaque.len() == allowed.len() => Ok(()),
        _ => Err(format!("these functions have no model: {opaque:?}")),
    }
}

fn compile(command: &mut Command, source: &Path, output: &Path, e: &Expectations) -> Result<(), String> {
    command.args(["-g", "-w", "-o"]).arg(output).arg(source).args(&e.flags);
    let result = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if result.status.success() && result.stderr.is_empty() {
        return Ok(());
    }
    Err(format!("{command:?}: {}\n{}", result.status, show(&result)))
}

fn run(mut command: Command, directory: &Path, e: &Expectations) -> Output {
    command.args(&e.args).current_dir(directory).env_remove("RELAPSE_RECORD_DIR");
    command.envs(e.env.iter().map(|(k, v)| (k, v)));
    feed(command, e.stdin.as_bytes())
}

fn as_expected(who: &str, output: &Output, e: &Expectations) -> Result<(), String> {
    let status = match output.status.code() {
        Some(code) => Status::Exit(code),
        None => Status::Signal(output.status.signal().unwrap_or(0)),
    };
    let out = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<&str> = out.lines().map(str::trim_end).collect();
    if status != e.status || lines != e.stdout {
        return Err(format!(
            "{who} should end with {:?} and print\n{}\nbut did\n{}",
            e.status,
            e.stdout.join("\n"),
            show(output)
        ));
    }
    Ok(())
}

fn same(who: &str, output: &Output, reference: &Output) -> Result<(), String> {
    if output == reference {
        return Ok(());
    }
    Err(format!(
        "{who} does something else than the plain one:\n{}\nplain:\n{}",
        show(output),
        show(reference)
    ))
}

fn show(output: &Output) -> String {
    format!(
        "{}\n--- stdout\n{}--- stderr\n{}---",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}
