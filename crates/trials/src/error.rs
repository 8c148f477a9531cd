//! Errors of trials, apart from a program failing its test.

use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Texts fit after "failed to".
#[derive(Debug, Error)]
pub enum Error {
    /// A file or directory cannot be read or changed.
    #[error("{action} {}: {source}", path.display())]
    File {
        /// What was attempted, as a verb: "read", "create".
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// A program cannot be started.
    #[error("run {command}: {source}")]
    Start {
        /// The program.
        command: String,
        /// The reason.
        source: io::Error,
    },
    /// Git ended with an error.
    #[error("read the repository {} (git {command}): {message}", repository.display())]
    Git {
        /// The work tree, or of a bare repository the directory of git.
        repository: PathBuf,
        /// The words of the command after `git`.
        command: String,
        /// What git wrote to standard error, in one line.
        message: String,
    },
    /// The name denotes no version.
    #[error("find the version {name}: it is neither a directory nor a commit of {}", place.display())]
    NoSuchVersion {
        /// The name as the user gave it.
        name: String,
        /// The directory in which it was looked up, or the repository.
        place: PathBuf,
    },
    /// The name denotes a directory and a commit.
    #[error(
        "tell what the version {name} is: there are a directory and a commit of this name \
         (./{name} is the directory, refs/heads/{name} or refs/tags/{name} the commit)"
    )]
    AmbiguousVersion {
        /// The name as the user gave it.
        name: String,
    },
    /// The name denotes no directory, and git is not installed.
    #[error("find the version {name}: it is no directory, and git is not there to ask")]
    NoGit {
        /// The name as the user gave it.
        name: String,
    },
    /// The version lacks the directory in which commands run.
    #[error("find the directory {} in the version {version}", directory.display())]
    NoSubdirectory {
        /// The version as the user named it.
        version: String,
        /// The directory, relative to the version's root.
        directory: PathBuf,
    },
    /// Another process uses the work directory.
    #[error("use {}: process {holder} is at work in it", directory.display())]
    Busy {
        /// The work directory.
        directory: PathBuf,
        /// Its process number.
        holder: String,
    },
    /// The good or the bad version does not build.
    #[error("build the {version} version: {diagnostic} (log in {})", log.display())]
    DoesNotBuild {
        /// Which of the two.
        version: Side,
        /// The first error of the build.
        diagnostic: String,
        /// The build's output.
        log: PathBuf,
    },
    /// The test is not a regression test: it fails on good too.
    #[error("see the test pass on the good version: {why}")]
    DoesNotPass {
        /// How good's run ended and in what it is not as required.
        why: String,
    },
    /// Bad passes the test.
    #[error("see the test fail on the bad version: {why}")]
    DoesNotFail {
        /// How bad's run ended, and what was ignored in comparing it with good's.
        why: String,
    },
    /// It would be a regression with the versions swapped.
    #[error("see the test pass on the good version: {why}; it passes on the bad one")]
    Swapped {
        /// As in `DoesNotPass`.
        why: String,
    },
    /// The test command itself cannot be run.
    #[error("run the test on the {version} version: {why}")]
    TestNotRun {
        /// Which of the two.
        version: Side,
        /// The shell's message, and its exit status.
        why: String,
    },
    /// Repeated runs of one version disagree.
    #[error("get the same result twice from the {version} version: {why}")]
    Flaky {
        /// Which of the two.
        version: Side,
        /// In what the runs disagree.
        why: String,
    },
    /// [`TrialRunner::prepare`](crate::TrialRunner::prepare) was not called, or failed.
    #[error("judge a trial before good and bad were run")]
    NotPrepared,
    /// A run under the recorder made no recording.
    #[error("make a recording of the {what}: {why}")]
    Record {
        /// Which run.
        what: String,
        /// The reason.
        why: String,
    },
    /// The file of outcomes cannot be read or written.
    #[error("use the store of outcomes: {0}")]
    Store(String),
    /// Changes cannot be reverted; the reason is that of [`Variants::variant`](crate::Variants::variant).
    #[error("apply the changes: {0}")]
    Changes(String),
    /// A stop was requested.
    #[error("go on: interrupted")]
    Cancelled,
}

/// Which of the two versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// The version in which the test passes.
    Good,
    /// The version in which the test fails.
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
