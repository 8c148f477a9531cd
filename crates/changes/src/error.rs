//! Errors of comparing two trees.

use std::io;
use std::path::PathBuf;

/// Why two versions could not be compared. Fits after "failed to".
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("compare {}: its name is not UTF-8", path.display())]
    Name { path: PathBuf },
    #[error("compare {file}: it has too many lines")]
    TooLong { file: String },
}

pub type Result<T> = std::result::Result<T, Error>;
