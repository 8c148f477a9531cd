//! Errors of fault localisation.

use thiserror::Error;

/// The texts fit after "failed to".
#[derive(Debug, Error)]
pub enum Error {
    /// A version cannot be built, run or recorded.
    #[error(transparent)]
    Trials(#[from] trials::Error),
    /// A run does not replay.
    #[error(transparent)]
    Replay(#[from] replay::error::Error),
    /// A run cannot be sliced.
    #[error(transparent)]
    Slice(#[from] slice::Error),
    /// The execution indices or conditions of a run cannot be computed.
    #[error(transparent)]
    Index(#[from] symbolic::Error),
    /// A recording cannot be opened, or lacks what corresponds to the failing run.
    #[error("open a recording: {0}")]
    Recording(String),
    /// The process has no stream with this index.
    #[error("find stream {0} of a recorded process")]
    NoStream(u32),
    /// The failing test passes.
    #[error("see the test fail: {why}")]
    DoesNotFail {
        /// The outcome of its runs.
        why: String,
    },
    /// Runs of the failing test have different results.
    #[error("get the same result twice from the failing test: {why}")]
    Flaky {
        /// How many runs failed.
        why: String,
    },
    /// The shell does not find the test, or may not run it.
    #[error("run the test: {why}")]
    TestNotRun {
        /// The last line of its standard error, or its exit status.
        why: String,
    },
    /// A suite's description cannot be used.
    #[error("read the suite: {why}")]
    Suite {
        /// The reason, as a sentence without a full stop.
        why: String,
    },
    /// Not even coverage is available.
    #[error("measure coverage: {why}")]
    Coverage {
        /// The reason, as a sentence without a full stop.
        why: String,
    },
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
