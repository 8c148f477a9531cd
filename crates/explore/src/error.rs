//! Errors of this crate.

/// The texts fit after "failed to".
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Trials(#[from] trials::Error),
    #[error(transparent)]
    Changes(#[from] changes::Error),
    #[error(transparent)]
    Contract(#[from] contract::Error),
    #[error("build the {version} version: {diagnostic} (log in {log})")]
    DoesNotBuild { version: &'static str, diagnostic: String, log: String },
    #[error("see a difference between the versions: their files are the same")]
    SameFiles,
    #[error("run the test on the {version} version: {why}")]
    TestNotRun { version: &'static str, why: String },
    #[error("find a program to run with other input: {0}")]
    NoSubject(Unusable),
    #[error("read a recording of the test: {0}")]
    Recording(String),
    #[error(transparent)]
    Replay(#[from] replay::error::Error),
    #[error(transparent)]
    Slice(#[from] slice::Error),
    #[error("follow the input of a run: {0}")]
    Symbolic(#[from] symbolic::Error),
    #[error("run the program again: {0}")]
    Rerun(#[from] alternate::Untried),
    #[error("follow a run: it is too long")]
    TooLong,
    #[error("write {what}: {source}")]
    Write { what: String, source: std::io::Error },
}

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
