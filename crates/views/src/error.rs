//! Errors of extraction and comparison.

use std::time::Instant;

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
    /// The deadline has passed.
    #[error("read and compare the events of the runs in the time that was given")]
    TimeUp,
}

/// An error once a deadline has passed.
pub(crate) fn in_time(deadline: Option<Instant>) -> Result<()> {
    if is_past(deadline) { Err(Error::TimeUp) } else { Ok(()) }
}

/// Whether a deadline has passed.
pub(crate) fn is_past(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| Instant::now() >= deadline)
}

/// The result type of this crate.
pub type Result<T> = std::result::Result<T, Error>;
