//! Why nothing could be located.

use thiserror::Error;

/// Texts fit after "failed to".
#[derive(Debug, Error)]
pub enum Error {
    #[error(transparent)]
    Trials(#[from] trials::Error),
    #[error(transparent)]
    Replay(#[from] replay::error::Error),
    #[error(transparent)]
    Slice(#[from] slice::Error),
    #[error(transparent)]
    Index(#[from] symbolic::Error),
    #[error("open a recording: {0}")]
    Recording(String),
    #[error("find stream {0} of a recorded process")]
    NoStream(u32),
    /// The test that is to fail passes.
    #[error("see the test fail: {why}")]
    DoesNotFail { why: String },
    /// Runs of the failing test disagree.
    #[error("get the same result twice from the failing test: {why}")]
    Flaky { why: String },
    #[error("run the test: {why}")]
    TestNotRun { why: String },
    /// The description of the tests.
    #[error("read the suite: {why}")]
    Suite { why: String },
    /// There is not even coverage.
    #[error("measure coverage: {why}")]
    Coverage { why: String },
    #[error("write {what}: {source}")]
    Write { what: String, source: std::io::Error },
}

pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Whether a run could not be recorded or replayed: coverage can still be had.
    #[must_use]
    pub fn is_of_recording(&self) -> bool {
        matches!(
            self,
            Error::Trials(trials::Error::Record { .. })
                | Error::Replay(_)
                | Error::Slice(_)
                | Error::Index(_)
                | Error::Recording(_)
                | Error::NoStream(_)
        )
    }
}
