//! Errors of this crate.

/// The texts fit after "failed to".
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A version cannot be checked out, run or recorded.
    #[error(transparent)]
    Trials(#[from] trials::Error),
    /// The versions' files cannot be compared.
    #[error(transparent)]
    Changes(#[from] changes::Error),
    /// A contract is invalid, or there is none.
    #[error(transparent)]
    Contract(#[from] contract::Error),
    /// A version does not build.
    #[error("build {version}: {diagnostic} (log in {log})")]
    DoesNotBuild {
        /// "the good version", "the bad version" or, if there is only one, "the program".
        version: &'static str,
        /// The first error of the build.
        diagnostic: String,
        /// The path of the build's complete output.
        log: String,
    },
    /// There is nothing to search for.
    #[error("see a difference between the versions: their files are the same")]
    SameFiles,
    /// The shell does not find the test, or may not run it.
    #[error("run the test on the {version} version: {why}")]
    TestNotRun {
        /// "good" or "bad".
        version: &'static str,
        /// The last line of its standard error, or its exit status.
        why: String,
    },
    /// No process of a test is usable.
    #[error("find a program to run with other input: {0}")]
    NoSubject(Unusable),
    /// A recording cannot be opened, loaded or replayed; the text is the reason.
    #[error("read a recording of the test: {0}")]
    Recording(String),
    /// A run does not replay.
    #[error(transparent)]
    Replay(#[from] replay::error::Error),
    /// A run cannot be sliced.
    #[error(transparent)]
    Slice(#[from] slice::Error),
    /// The symbolic replay failed.
    #[error("follow the input of a run: {0}")]
    Symbolic(#[from] symbolic::Error),
    /// The program cannot be run with an input.
    #[error("run the program again: {0}")]
    Rerun(#[from] alternate::Untried),
    /// A recorded run timed out, or has more calls and loop iterations than are followed.
    #[error("follow a run: it is too long")]
    TooLong,
    /// The time limit was reached before the conditions of the first run were known.
    #[error("follow the first run in the time given")]
    NoTime,
    /// A file cannot be written.
    #[error("write {what}: {source}")]
    Write {
        /// The file.
        what: String,
        /// The I/O error.
        source: std::io::Error,
    },
}

/// A result with this crate's error.
pub type Result<T> = std::result::Result<T, Error>;

/// Why no process of a test can be run with other input.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    #[error("no process of the test reads standard input, arguments or files")]
    NoInput,
    #[error("the process that reads input was forked by another one")]
    Forked,
    #[error("the program {0} was not built here")]
    Foreign(String),
}
