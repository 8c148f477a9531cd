//! What trials are made with: all that a user may set.

use crate::oracle::Oracle;
use crate::sanitizer::Sanitizer;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What is built, how, and how it is tested.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// The files of the bad version: what changes are reverted in.
    pub bad: PathBuf,
    /// Where in a tree the commands run.
    pub subdirectory: PathBuf,
    /// Given to `sh -c`.
    pub build: String,
    pub test: String,
    /// A wider test that good and bad both pass.
    pub suite: Option<String>,
    /// The test's standard input; empty if there is none.
    pub stdin: Option<PathBuf>,
    pub oracle: Oracle,
    pub tools: Tools,
    /// How many trials are made at a time.
    pub jobs: usize,
    /// How often good and bad are run to see whether they agree with themselves.
    pub repeat: usize,
    pub limits: TrialLimits,
}

/// A build command with a directory of compilers first in its path, for builds that do not ask for
/// `CC`.
#[must_use]
pub fn with_compilers(build: &str, compilers: Option<&Path>) -> String {
    let Some(directory) = compilers else { return build.to_owned() };
    let quoted = directory.display().to_string().replace('\'', "'\\''");
    format!("PATH='{quoted}':\"$PATH\"; export PATH\n{build}")
}

/// The programs we need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tools {
    /// Handed to builds as `CC` and `CXX`.
    pub cc: PathBuf,
    pub cxx: PathBuf,
    /// For `relapse record`.
    pub relapse: PathBuf,
    /// Asked about single units; checks are left out without it.
    pub clang: Option<PathBuf>,
    /// Names addresses in the reports of sanitizers, which are left out without it.
    pub symbolizer: Option<PathBuf>,
    /// Names the compiler and whatever else outcomes depend on: remembered
    /// outcomes hold for this only.
    pub identity: String,
}

/// What commands may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrialLimits {
    /// For a build; unlimited if `None`.
    pub build: Option<Duration>,
    /// For a test; if `None`, ten times what good takes, and at least
    /// [`TrialLimits::LEAST`].
    pub test: Option<Duration>,
    /// Address space of a process of the test, in bytes. Recorded runs are
    /// not limited, since a recorder needs far more than its program.
    pub memory: Option<u64>,
    /// Bytes that a test may write to standard output or error.
    pub output: u64,
}

impl TrialLimits {
    /// No test is stopped earlier unless the user says so.
    pub const LEAST: Duration = Duration::from_secs(5);
    /// Good must be done by then, as nothing is known yet.
    pub const GOOD: Duration = Duration::from_secs(600);
    /// A hang is recorded for this long if a run that ends takes no time at all: up to a thousand million
    /// instructions.
    const HANG: Duration = Duration::from_millis(250);

    /// How long a hang is recorded: as long as it takes to be sure, if a run that ends takes `usual`, and no longer.
    /// All of it has to be replayed.
    #[must_use]
    pub fn of_recorded_hang(usual: Duration) -> Duration {
        (usual * 5).max(TrialLimits::HANG)
    }
}

impl Default for TrialLimits {
    fn default() -> TrialLimits {
        TrialLimits { build: None, test: None, memory: None, output: 64 << 20 }
    }
}

/// Which code the drivers make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// As clang would.
    Plain,
    /// With recording built in.
    Instrument,
    /// As clang would at this optimisation level, whatever the build says.
    Optimised(u8),
    /// With a sanitizer that reports and goes on.
    Sanitized(Sanitizer),
}

impl Mode {
    /// The value of `RELAPSE_MODE`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Mode::Instrument => "instrument",
            Mode::Plain | Mode::Optimised(_) | Mode::Sanitized(_) => "plain",
        }
    }

    /// A name for trees and logs.
    pub(crate) fn name(self) -> String {
        match self {
            Mode::Plain | Mode::Instrument => self.word().to_owned(),
            Mode::Optimised(level) => format!("O{level}"),
            Mode::Sanitized(sanitizer) => sanitizer.word().to_owned(),
        }
    }
}
