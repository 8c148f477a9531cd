//! Errors of comparing two trees.

use std::io;
use std::path::PathBuf;

/// Why two versions could not be compared. Fits after "failed to".
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or directory cannot be read.
    #[error("read {}: {source}", path.display())]
    Read {
        /// The file or directory.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// A name is not UTF-8; paths are text here.
    #[error("compare {}: its name is not UTF-8", path.display())]
    Name {
        /// The file or directory whose name is not UTF-8.
        path: PathBuf,
    },
    /// A file has more lines than 31 bits can count.
    #[error("compare {file}: it has too many lines")]
    TooLong {
        /// The file, as [`Change::file`](crate::Change::file).
        file: String,
    },
}

/// The result of what can fail in this crate.
pub type Result<T> = std::result::Result<T, Error>;
