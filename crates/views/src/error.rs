//! Errors of extraction and comparison.

/// Errors as fragments that fit after "failed to".
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The process cannot be replayed.
    #[error(transparent)]
    Replay(#[from] replay::error::Error),
    /// Events beyond the memory budget could not be written to disk.
    #[error("put events aside on disk: {0}")]
    Spill(#[from] std::io::Error),
    /// The number of events exceeds the range of an event number.
    #[error("number more than {0} events of one run; leave reads out or record a shorter run")]
    TooMany(u64),
}

/// The result type of this crate.
pub type Result<T> = std::result::Result<T, Error>;
