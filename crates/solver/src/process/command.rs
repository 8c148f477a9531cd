//! The command line of a solver.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command as Process, Stdio};
use std::time::Duration;

/// A program that communicates in SMT-LIB 2 over standard input and output, with its arguments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Command {
    /// Its path, or its name in `PATH`.
    pub program: OsString,
    /// Its arguments, without those that depend on the timeout.
    pub arguments: Vec<OsString>,
}

/// Solvers with known arguments, in order of preference.
const KNOWN: [(&str, &[&str]); 7] = [
    ("cvc5", &["--incremental", "--lang", "smt2"]),
    ("bitwuzla", &["--lang", "smt2"]),
    ("z3", &["-in"]),
    ("yices-smt2", &["--incremental"]),
    ("boolector", &["--smt2", "--incremental"]),
    ("cvc4", &["--incremental", "--lang", "smt2"]),
    ("mathsat", &[]),
];

impl Command {
    /// A command with exactly these arguments.
    pub fn new(
        program: impl Into<OsString>,
        arguments: impl IntoIterator<Item = impl Into<OsString>>,
    ) -> Command {
        Command { program: program.into(), arguments: arguments.into_iter().map(Into::into).collect() }
    }

    /// Parses a user's command: a program, perhaps with arguments. A known program without arguments gets
    /// the required ones; others get none.
    pub fn parse(text: &str) -> Option<Command> {
        let mut words = text.split_whitespace();
        let program = words.next()?;
        let arguments: Vec<&str> = words.collect();
        if arguments.is_empty() {
            let name = Path::new(program).file_name().and_then(OsStr::to_str);
            if let Some((_, known)) = KNOWN.iter().find(|(known, _)| Some(*known) == name) {
                return Some(Command::new(program, known.iter().copied()));
            }
        }
        Some(Command::new(program, arguments))
    }

    /// The known solvers that can be started here, in order of preference.
    pub fn found() -> Vec<Command> {
        let known = ["cvc5", "bitwuzla", "z3"].into_iter().filter_map(Command::parse);
        known.filter(Command::is_present).collect()
    }

    /// Whether the program can be started.
    pub fn is_present(&self) -> bool {
        let mut process = Process::new(&self.program);
        process.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        process.status().is_ok_and(|status| status.success())
    }

    /// Starts the program and kills it at once.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn try_start(&self) -> std::io::Result<()> {
        let mut process = Process::new(&self.program);
        process.args(&self.arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = process.spawn()?;
        // It may have exited already.
        let _ = child.kill();
        child.wait()?;
        Ok(())
    }

    /// The solver's name in messages.
    pub fn name(&self) -> String {
        let name = Path::new(&self.program).file_name().unwrap_or(&self.program);
        name.to_string_lossy().into_owned()
    }

    /// The process to start. A solver that supports it gets a time limit per query, derived from `timeout`.
    pub(super) fn process(&self, timeout: Duration) -> Process {
        let mut process = Process::new(&self.program);
        process.args(&self.arguments);
        if self.name() == "cvc5" {
            // Later than our own timeout.
            process.arg(format!("--tlimit-per={}", timeout.as_millis() + 1000));
        }
        process
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_programs_get_the_arguments_they_need() {
        let cvc5 = Command::parse("/opt/bin/cvc5").unwrap();
        assert_eq!(cvc5.arguments, ["--incremental", "--lang", "smt2"]);
        assert_eq!(cvc5.name(), "cvc5");
        assert_eq!(Command::parse("z3 -in -T:5").unwrap().arguments, ["-in", "-T:5"]);
        assert_eq!(Command::parse("other").unwrap(), Command::new("other", [] as [&str; 0]));
        assert_eq!(Command::parse("  "), None);
        assert!(!Command::parse("no-such-solver-anywhere").unwrap().is_present());
        assert!(Command::parse("no-such-solver-anywhere").unwrap().try_start().is_err());
        assert!(Command::parse("sleep 100").unwrap().try_start().is_ok());
    }
}
