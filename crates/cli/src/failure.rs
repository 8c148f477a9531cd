//! What went wrong, as a sentence, and what a script sees of it.
//!
//! Libraries give fragments that fit "failed to ..."; here they become sentences that
//! say what, where, and what can be done.

use crate::render::Paint;
use std::fmt::Display;
use std::io::Write;
use std::process::ExitCode;

/// How the command ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done, or the answer is yes.
    Done,
    /// Done, and the answer is no.
    No,
    /// The command line makes no sense.
    Usage,
    /// Input that is damaged or does not fit.
    BadInput,
    /// A recording that lacks something.
    Incomplete,
    /// The machine lacks something.
    Environment,
    /// There is nothing to explain: the test does not pass before, or does not fail after.
    NoRegression,
    /// The test comes and goes.
    Flaky,
    /// A version does not build.
    DoesNotBuild,
    /// The test passes on bad and fails on good.
    Swapped,
    /// The test command cannot be run.
    TestNotRun,
    /// A revision is named and git is not there.
    NoGit,
    /// There is no clang to build with.
    NoClang,
    /// A defect of this program: an invariant of its own does not hold.
    Internal,
    /// The status of a command that was run for the user.
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

/// A command could not give its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub exit: Exit,
    /// A sentence; empty if nothing is to be said.
    pub what: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Failure {
    pub fn new(exit: Exit, what: impl Display) -> Failure {
        Failure { exit, what: what.to_string(), hint: None }
    }

    /// "failed to" and a library's fragment.
    pub fn failed_to(exit: Exit, fragment: impl Display) -> Failure {
        Failure::new(exit, format_args!("failed to {fragment}"))
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Display) -> Failure {
        self.hint = Some(hint.to_string());
        self
    }

    /// Says it on standard error.
    pub fn report(&self, paint: Paint) {
        let mut err = std::io::stderr().lock();
        // Nothing can be done about a standard error that is gone.
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

/// Writing the answer failed. A reader that has seen enough (`| head`) is no failure.
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
