//! Errors of fault localisation.

use thiserror::Error;

/// The texts fit after "failed to".
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
    /// The failing test passes.
    #[error("see the test fail: {why}")]
    DoesNotFail { why: String },
    /// Runs of the failing test have different results.
    #[error("get the same result twice from the failing test: {why}")]
    Flaky { why: String },
    #[error("run the test: {why}")]
    TestNotRun { why: String },
    /// A suite's description cannot be used.
    #[error("read the suite: {why}")]
    Suite { why: String },
    /// Not even coverage is available.
    #[error("measure coverage: {why}")]
    Coverage { why: String },
    #[error("write {what}: {source}")]
    Write { what: String, source: std::io::Error },
}

pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Whether a run could not be recorded or replayed: then coverage may still be available.
    #[must_use]
    pub fn is_recording_error(&self) -> bool {
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
