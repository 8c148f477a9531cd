//! A sandbox: a directory of its own, files, commands, and a transcript of the
//! session that reads like a terminal.

#![allow(dead_code)] // Each test file uses a part of it.

use replay::process::{LoadedProcess, Options};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

pub struct Sandbox {
    dir: tempfile::TempDir,
    transcript: String,
}

impl Sandbox {
    pub fn new() -> Sandbox {
        Sandbox { dir: tempfile::tempdir().expect("a temporary directory"), transcript: String::new() }
    }

    /// A sandbox with one C program, compiled by `relapse cc -g` to `./name`.
    pub fn with_program(name: &str, source: &str) -> Sandbox {
        let mut sandbox = Sandbox::new();
        sandbox.file(&format!("{name}.c"), source);
        sandbox.quietly(&format!("relapse cc -g -O1 -pthread -o {name} {name}.c"));
        sandbox
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    pub fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.path().join(name);
        std::fs::write(&path, content).expect("write a test file");
        path
    }

    /// Runs a command line (words split at blanks) and notes it down.
    pub fn run(&mut self, line: &str) -> Output {
        let output = self.execute(line, "");
        let _ = writeln!(self.transcript, "$ {line}");
        self.note(&output);
        output
    }

    /// Runs a command that must succeed and is not worth noting.
    pub fn quietly(&mut self, line: &str) -> String {
        let output = self.execute(line, "");
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{line}: {}\n{out}{err}", output.status);
        out.into_owned()
    }

    /// Records `command` into `run` and returns the output.
    pub fn record(&mut self, command: &str, stdin: &str) -> Output {
        self.execute(&format!("relapse record --quiet -o run -- {command}"), stdin)
    }

    /// The first process of the recording in `run`.
    pub fn loaded(&self) -> LoadedProcess {
        let recording = recording::Recording::open(&self.path().join("run")).expect("a recording");
        let process = LoadedProcess::load(&recording, &recording.processes[0], &Options::default());
        process.expect("a process that can be replayed")
    }

    pub fn execute(&self, line: &str, stdin: &str) -> Output {
        let mut words = line.split_whitespace().map(|w| w.replace('\u{b7}', " "));
        let program = words.next().expect("a command");
        let mut command = match program.as_str() {
            "relapse" => Command::new(env!("CARGO_BIN_EXE_relapse")),
            other if other.starts_with("./") => Command::new(self.path().join(other)),
            other => Command::new(other),
        };
        command.args(words).current_dir(self.path());
        command.env_remove("NO_COLOR").env_remove("RELAPSE_RECORD_DIR");
        feed(command, stdin.as_bytes())
    }

    fn note(&mut self, output: &Output) {
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let _ = write!(self.transcript, "{out}");
        if !out.is_empty() && !out.ends_with('\n') {
            self.transcript.push_str("[no line end]\n");
        }
        for line in err.lines() {
            let _ = writeln!(self.transcript, "[stderr] {line}");
        }
        match output.status.code() {
            Some(0) => {}
            Some(code) => {
                let _ = writeln!(self.transcript, "[exit {code}]");
            }
            None => {
                let _ = writeln!(self.transcript, "[{}]", output.status);
            }
        }
    }

    /// The session so far, with the directory's name replaced.
    pub fn transcript(&self) -> String {
        let real = self.path().canonicalize().expect("the sandbox's path");
        self.transcript
            .replace(&real.display().to_string(), "[DESK]")
            .replace(&self.path().display().to_string(), "[DESK]")
    }
}

/// Compiles, records and loads a program.
pub fn recorded(source: &str, stdin: &str) -> (Sandbox, LoadedProcess) {
    let mut sandbox = Sandbox::with_program("p", source);
    sandbox.record("./p", stdin);
    let process = sandbox.loaded();
    (sandbox, process)
}

/// Runs a command with bytes on its standard input.
/// The lines that `relapse slice` marks.
pub fn marked_lines(slice: &str) -> Vec<u32> {
    let marked = slice.lines().filter_map(|line| line.trim_start().strip_prefix('>'));
    marked.filter_map(|line| line.split_whitespace().next()?.parse().ok()).collect()
}

pub fn feed(mut command: Command, stdin: &[u8]) -> Output {
    use std::io::Write;
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let mut pipe = child.stdin.take().expect("a pipe");
    // Commands that do not read their input may be gone already.
    let _ = pipe.write_all(stdin);
    drop(pipe);
    child.wait_with_output().expect("the command's end")
}

/// What differs from run to run, for snapshots.
pub const FILTERS: &[(&str, &str)] = &[
    (r"\bp\d+\.(\d+)", "p[PID].$1"),
    (r"\bthread \d+", "thread [TID]"),
    (r#""pid": \d+"#, r#""pid": [PID]"#),
    (r"[\d.]+ [KMG]iB|[\d,]+ bytes", "[SIZE]"),
    (r#""(replay_seconds|bits_per_instruction)": [\d.e+-]+"#, r#""$1": [NUMBER]"#),
    (r#""bytes": \d+"#, r#""bytes": [SIZE]"#),
    (r"0x[0-9a-f]{4,}", "[ADDRESS]"),
    (r"\b[0-9a-f]{32,40}\b", "[ID]"),
    (r"[\d.]+ s\b", "[SECONDS]"),
    (r"(?m)[\d.]+\.\d{3}$", "[BITS]"),
    // How many instructions a line is made of is the compiler's business.
    (r"[\d,]+ instructions", "[N] instructions"),
    // Which of many states a solver finds is its own affair.
    (r"(run from it)(\n +(called with .*|(both|good|bad): .*|.* in good, .* in bad))+", "$1: [STATE]"),
    (r"(?m)^(p\[PID\]\.\d+ +\S+) +\d.*$", "$1  [FIGURES]"),
    (r"(?m)^ +[\d,]+  ", "  [N]  "),
    // Widths of columns depend on what they held.
    (r"(?m)(\S) {2,}", "$1  "),
    (r"(?m)^ {2,}", "  "),
];

#[allow(unused_macros)] // Each test program uses a part of this file.
macro_rules! assert_session {
    ($sandbox:expr, @$expected:literal) => {
        insta::with_settings!({ filters => $crate::sandbox::FILTERS.to_vec() }, {
            insta::assert_snapshot!($sandbox.transcript(), @$expected);
        });
    };
}
