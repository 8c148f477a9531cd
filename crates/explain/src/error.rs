//! Why there is no explanation.

use thiserror::Error;

/// Texts fit after "failed to".
#[derive(Debug, Error)]
pub enum Error {
    #[error(transparent)]
    Trials(#[from] trials::Error),
    #[error("compare the versions: {0}")]
    Changes(#[from] changes::Error),
    #[error("find a difference between the versions: their files are the same")]
    SameVersions,
    #[error("give the good version the files of the test: {source}")]
    Hold { source: std::io::Error },
}
