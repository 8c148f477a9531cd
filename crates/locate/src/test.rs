//! Tests, and whether a run of one passes.

use crate::suites::tap::Tap;
use std::path::PathBuf;
use trials::{Status, TestRun};

/// A test command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Test {
    /// Given to `sh -c`.
    pub command: String,
    /// What its suite calls it.
    pub name: Option<String>,
    pub stdin: Option<PathBuf>,
    /// What it is to write to standard output; none if its exit status says all.
    pub expected: Option<Vec<u8>>,
    /// What it writes to standard output follows the Test Anything Protocol.
    pub tap: bool,
    /// Files put into the tree before it runs.
    pub files: Vec<(PathBuf, Vec<u8>)>,
    /// What was changed in its input, if something was.
    pub input: Option<String>,
}

/// What came of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Pass,
    Fail,
    /// It could not tell (exit 125), or was ended by us.
    Unresolved,
}

impl Test {
    #[must_use]
    pub fn new(command: &str) -> Test {
        Test { command: command.to_owned(), ..Test::default() }
    }

    /// Exit status 0, and the expected output if there is one. As for `git bisect run`, 125 cannot
    /// tell. What follows the Test Anything Protocol fails if one of its tests does, whatever the exit
    /// status is.
    #[must_use]
    pub fn judge(&self, run: &TestRun) -> Verdict {
        let stdout = || std::fs::read(&run.stdout).unwrap_or_default();
        match run.status {
            Status::Exit(125) | Status::OutputLimit | Status::Cancelled => Verdict::Unresolved,
            Status::Exit(0) if self.expected.as_ref().is_some_and(|expected| stdout() != *expected) => {
                Verdict::Fail
            }
            Status::Exit(0) if self.tap && Tap::read(&stdout()).is_some_and(|tap| !tap.passed()) => {
                Verdict::Fail
            }
            Status::Exit(0) => Verdict::Pass,
            _ => Verdict::Fail,
        }
    }
}
