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
    /// The quadratic method was asked for on runs that are too long for it.
    #[error(
        "compare {left} with {right} events by longest common subsequence: that takes {left} times {right} steps"
    )]
    TooLongForLcs {
        /// Events left over on one side when the common beginning and end are taken off.
        left: u64,
        /// And on the other.
        right: u64,
    },
}

/// Shorthand.
pub type Result<T> = std::result::Result<T, Error>;
