//! The configuration of trials: everything that a user may set.

use crate::oracle::Oracle;
use crate::sanitizer::Sanitizer;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What is built, how, and how it is tested.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// The files of the bad version, in which changes are reverted.
    pub bad: PathBuf,
    /// The directory in a tree where the commands run.
    pub subdirectory: PathBuf,
    /// The build command, passed to `sh -c`.
    pub build: String,
    /// The command whose outcome decides, passed to `sh -c`.
    pub test: String,
    /// A larger test that good and bad both pass.
    pub suite: Option<String>,
    /// The test's standard input; empty if there is none.
    pub stdin: Option<PathBuf>,
    /// What passes.
    pub oracle: Oracle,
    /// The programs that trials use.
    pub tools: Tools,
    /// Number of trials in parallel.
    pub jobs: usize,
    /// Number of runs of good and of bad, to check that they are reproducible.
    pub repeat: usize,
    /// Resource limits of builds and tests.
    pub limits: TrialLimits,
}

/// A build command with a directory of compilers first in its path, for builds that do not use `CC`.
#[must_use]
pub fn with_compilers(build: &str, compilers: Option<&Path>) -> String {
    let Some(directory) = compilers else { return build.to_owned() };
    let quoted = directory.display().to_string().replace('\'', "'\\''");
    format!("PATH='{quoted}':\"$PATH\"; export PATH\n{build}")
}

/// The required programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tools {
    /// Passed to builds as `CC`.
    pub cc: PathBuf,
    /// Passed to builds as `CXX`.
    pub cxx: PathBuf,
    /// For `relapse record`.
    pub relapse: PathBuf,
    /// For checks of single units, which are left out without it.
    pub clang: Option<PathBuf>,
    /// Symbolizes the reports of sanitizers, which are left out without it.
    pub symbolizer: Option<PathBuf>,
    /// Identifies the compiler and everything else that outcomes depend on: stored outcomes are valid only
    /// for this identity.
    pub identity: String,
}

/// Resource limits of commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrialLimits {
    /// For a build; unlimited if `None`.
    pub build: Option<Duration>,
    /// For a test; if `None`, ten times the duration with good, and at least [`TrialLimits::MIN_TIMEOUT`].
    pub test: Option<Duration>,
    /// Address space of a process of the test, in bytes. Recorded runs are not limited, since a recorder
    /// needs far more than its program.
    pub memory: Option<u64>,
    /// Bytes that a test may write to standard output or error.
    pub output: u64,
}

impl TrialLimits {
    /// No test is stopped earlier unless the user sets a limit.
    pub const MIN_TIMEOUT: Duration = Duration::from_secs(5);
    /// Timeout of the first run of good, when no duration is known yet.
    pub const GOOD: Duration = Duration::from_secs(600);
    /// Minimum duration of a recorded hang, for runs that normally end almost immediately: up to a thousand
    /// million instructions.
    const HANG: Duration = Duration::from_millis(250);

    /// The duration for which a hang is recorded, given the `usual` duration of a run that ends: long enough
    /// to be certain, and not longer, because all of it is replayed.
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

/// The kind of code that the compiler drivers generate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// As clang would.
    Plain,
    /// With recording built in.
    Instrument,
    /// As clang would at this optimisation level, overriding the build's own.
    Optimised(u8),
    /// With a sanitizer that reports and continues.
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
