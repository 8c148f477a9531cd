//! What can go wrong between a recording and a comparison.

/// Fragments that fit after "failed to".
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The process cannot be replayed.
    #[error(transparent)]
    Replay(#[from] replay::error::Error),
    /// Events that outgrew memory could not be put aside.
    #[error("put events aside on disk: {0}")]
    Spill(#[from] std::io::Error),
    /// There are more events than can be numbered.
    #[error("number more than {0} events of one run; leave reads out or record a shorter run")]
    TooMany(u64),
}

/// Shorthand.
pub type Result<T> = std::result::Result<T, Error>;
