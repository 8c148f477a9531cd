//! Tests, and whether a run of one passes.

use crate::suites::tap::Tap;
use std::path::PathBuf;
use trials::{Status, TestRun};

/// A test command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Test {
    /// Given to `sh -c`.
    pub command: String,
    /// Its name in the suite.
    pub name: Option<String>,
    /// The file that is its standard input; `None` for an empty one.
    pub stdin: Option<PathBuf>,
    /// The expected standard output; `None` if the exit status decides alone.
    pub expected: Option<Vec<u8>>,
    /// Whether its standard output follows the Test Anything Protocol.
    pub tap: bool,
    /// Files put into the tree before it runs.
    pub files: Vec<(PathBuf, Vec<u8>)>,
    /// A description of the change of its input, if it was changed.
    pub input: Option<String>,
}

/// The result of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The test passed.
    Pass,
    /// The test failed.
    Fail,
    /// The test could not decide (exit 125), or the run was cancelled or exceeded the output limit.
    Unresolved,
}

impl Test {
    /// A test without name, input or expected output.
    #[must_use]
    pub fn new(command: &str) -> Test {
        Test { command: command.to_owned(), ..Test::default() }
    }

    /// Passes for exit status 0, and the expected output if there is one. As for `git bisect run`, 125 means
    /// that the test cannot decide. A test of the Test Anything Protocol also fails if one of its results
    /// does, even with exit status 0.
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
