//! Tests, and whether a run of one passes.

use std::path::PathBuf;
use trials::{Status, TestRun};

/// A test command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Test {
    /// Given to `sh -c`.
    pub command: String,
    pub stdin: Option<PathBuf>,
    /// What it is to write to standard output; none if its exit status says all.
    pub expected: Option<Vec<u8>>,
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
    /// tell.
    #[must_use]
    pub fn judge(&self, run: &TestRun) -> Verdict {
        let stdout = || std::fs::read(&run.stdout).unwrap_or_default();
        match (run.status, &self.expected) {
            (Status::Exit(0), None) => Verdict::Pass,
            (Status::Exit(0), Some(expected)) if stdout() == *expected => Verdict::Pass,
            (Status::Exit(125) | Status::Flooded | Status::Cancelled, _) => Verdict::Unresolved,
            _ => Verdict::Fail,
        }
    }
}
