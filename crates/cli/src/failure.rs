//! Errors as sentences for users, and as exit codes for scripts.
//!
//! Libraries return fragments that fit "failed to ..."; this module turns them into sentences that state the
//! error, its location, and a remedy.

use crate::render::Paint;
use std::fmt::Display;
use std::io::Write;
use std::process::ExitCode;

/// The exit status of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done, or the answer is yes.
    Done,
    /// Done, and the answer is no.
    No,
    /// The command line is invalid.
    Usage,
    /// The input is damaged or inconsistent.
    BadInput,
    /// A recording is incomplete.
    Incomplete,
    /// The machine lacks a resource.
    Environment,
    /// There is no regression: the test does not pass before, or does not fail after.
    NoRegression,
    /// The test is flaky.
    Flaky,
    /// A version does not build.
    DoesNotBuild,
    /// The test passes on bad and fails on good.
    Swapped,
    /// The test command cannot be run.
    TestNotRun,
    /// A revision is given but git is not installed.
    NoGit,
    /// There is no clang to build with.
    NoClang,
    /// An internal error: an invariant of this program is violated.
    Internal,
    /// The exit status of a command that was run for the user.
    OfCommand(u8),
}

impl Exit {
    pub fn number(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::No => 1,
            Exit::Usage => 2,
            Exit::BadInput => 3,
            Exit::Incomplete => 4,
            Exit::Environment => 5,
            Exit::NoRegression => 6,
            Exit::Flaky => 7,
            Exit::DoesNotBuild => 8,
            Exit::Swapped => 9,
            Exit::TestNotRun => 10,
            Exit::NoGit => 11,
            Exit::NoClang => 12,
            Exit::Internal => 13,
            Exit::OfCommand(status) => status,
        }
    }

    pub fn code(self) -> ExitCode {
        ExitCode::from(self.number())
    }
}

/// A command failed to give its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub exit: Exit,
    /// A sentence; empty if nothing is to be reported.
    pub what: String,
    /// A suggested remedy.
    pub hint: Option<String>,
}

impl Failure {
    pub fn new(exit: Exit, what: impl Display) -> Failure {
        Failure { exit, what: what.to_string(), hint: None }
    }

    /// Makes a sentence of "failed to" and a library's fragment.
    pub fn failed_to(exit: Exit, fragment: impl Display) -> Failure {
        Failure::new(exit, format_args!("failed to {fragment}"))
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Display) -> Failure {
        self.hint = Some(hint.to_string());
        self
    }

    /// Prints the failure to standard error.
    pub fn report(&self, paint: Paint) {
        let mut err = std::io::stderr().lock();
        // Errors of writing to standard error are ignored.
        if !self.what.is_empty() {
            let _ = writeln!(err, "{} {}", paint.bad("relapse:"), self.what);
        }
        if let Some(hint) = &self.hint {
            for line in hint.lines() {
                let _ = writeln!(err, "  {line}");
            }
        }
    }
}

/// An error of writing the answer. A reader that closed the pipe early (`| head`) is not a failure.
impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            return Failure { exit: Exit::Done, what: String::new(), hint: None };
        }
        Failure::failed_to(Exit::Environment, format_args!("write the answer: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_the_documented_ones() {
        let documented = [
            Exit::Done,
            Exit::No,
            Exit::Usage,
            Exit::BadInput,
            Exit::Incomplete,
            Exit::Environment,
            Exit::NoRegression,
            Exit::Flaky,
            Exit::DoesNotBuild,
            Exit::Swapped,
            Exit::TestNotRun,
            Exit::NoGit,
            Exit::NoClang,
            Exit::Internal,
        ];
        for (number, exit) in documented.into_iter().enumerate() {
            assert_eq!(usize::from(exit.number()), number);
        }
        assert_eq!(Exit::OfCommand(139).number(), 139);
    }

    #[test]
    fn a_closed_pipe_ends_quietly() {
        let failure = Failure::from(std::io::Error::from(std::io::ErrorKind::BrokenPipe));
        assert_eq!((failure.exit, failure.what.as_str()), (Exit::Done, ""));
    }
}
