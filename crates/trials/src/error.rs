//! Errors of trials, apart from a program failing its test.

use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Texts fit after "failed to".
#[derive(Debug, Error)]
pub enum Error {
    #[error("{action} {}: {source}", path.display())]
    File { action: &'static str, path: PathBuf, source: io::Error },
    #[error("run {command}: {source}")]
    Start { command: String, source: io::Error },
    #[error("read the repository {} (git {command}): {message}", repository.display())]
    Git { repository: PathBuf, command: String, message: String },
    #[error("find the version {name}: it is neither a directory nor a commit of {}", place.display())]
    NoSuchVersion { name: String, place: PathBuf },
    #[error(
        "tell what the version {name} is: there are a directory and a commit of this name \
         (./{name} is the directory, refs/heads/{name} or refs/tags/{name} the commit)"
    )]
    AmbiguousVersion { name: String },
    #[error("find the version {name}: it is no directory, and git is not there to ask")]
    NoGit { name: String },
    #[error("find the directory {} in the version {version}", directory.display())]
    NoSubdirectory { version: String, directory: PathBuf },
    #[error("use {}: process {holder} is at work in it", directory.display())]
    Busy { directory: PathBuf, holder: String },
    /// The good or the bad version does not build.
    #[error("build the {version} version: {diagnostic} (log in {})", log.display())]
    DoesNotBuild { version: Side, diagnostic: String, log: PathBuf },
    /// The test is not a regression test: it fails on good too.
    #[error("see the test pass on the good version: {why}")]
    DoesNotPass { why: String },
    /// Bad passes the test.
    #[error("see the test fail on the bad version: {why}")]
    DoesNotFail { why: String },
    /// It would be a regression with the versions swapped.
    #[error("see the test pass on the good version: {why}; it passes on the bad one")]
    Swapped { why: String },
    /// The test command itself cannot be run.
    #[error("run the test on the {version} version: {why}")]
    TestNotRun { version: Side, why: String },
    /// Repeated runs of one version disagree.
    #[error("get the same result twice from the {version} version: {why}")]
    Flaky { version: Side, why: String },
    /// [`TrialRunner::prepare`](crate::TrialRunner::prepare) was not called, or failed.
    #[error("judge a trial before good and bad were run")]
    NotPrepared,
    #[error("make a recording of the {what}: {why}")]
    Record { what: String, why: String },
    #[error("use the store of outcomes: {0}")]
    Store(String),
    #[error("apply the changes: {0}")]
    Changes(String),
    #[error("go on: interrupted")]
    Cancelled,
}

/// Which of the two versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    Good,
    Bad,
}

impl std::fmt::Display for Side {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Side::Good => "good",
            Side::Bad => "bad",
        })
    }
}

/// Adds to an I/O error the action and the file.
pub(crate) trait At<T> {
    fn at(self, action: &'static str, path: &Path) -> Result<T, Error>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, action: &'static str, path: &Path) -> Result<T, Error> {
        self.map_err(|source| Error::File { action, path: path.to_owned(), source })
    }
}
