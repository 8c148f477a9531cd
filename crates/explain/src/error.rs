//! Why there is no explanation.

use thiserror::Error;

/// Texts fit after "failed to".
#[derive(Debug, Error)]
pub enum Error {
    /// A trial cannot be made, or the test shows no regression.
    #[error(transparent)]
    Trials(#[from] trials::Error),
    /// The differences cannot be read.
    #[error("compare the versions: {0}")]
    Changes(#[from] changes::Error),
    /// There is nothing to search.
    #[error("find a difference between the versions: their files are the same")]
    SameVersions,
    /// The test's files of bad cannot be copied to good, or good's own files cannot be restored.
    #[error("give the good version the files of the test: {source}")]
    Hold {
        /// The I/O error.
        source: std::io::Error,
    },
}
