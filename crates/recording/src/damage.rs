//! Faults of a recording: errors that prevent reading it, and damage that leaves a usable part.

use std::fmt;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The reason why a recording could not be read or written.
#[derive(Debug, Error)]
pub enum RecordingError {
    /// An I/O error.
    #[error("{doing} {path}: {error}")]
    Io {
        /// The operation: "read", "write", ...
        doing: &'static str,
        /// The path of the file.
        path: PathBuf,
        /// The underlying error.
        error: std::io::Error,
    },
    /// The directory has neither a manifest nor process directories.
    #[error("open {path}: not a recording (no manifest.json and no process directory)")]
    NotARecording {
        /// The directory.
        path: PathBuf,
    },
    /// The recording has another format version.
    #[error(
        "read {path}: it has format version {found}, this program reads version {}",
        crate::event::VERSION
    )]
    Version {
        /// The path of the file.
        path: PathBuf,
        /// The version found.
        found: u32,
    },
    /// The first bytes of a file are invalid.
    #[error("read {path}: {what}")]
    Malformed {
        /// The path of the file.
        path: PathBuf,
        /// A description of the fault.
        what: String,
    },
}

impl RecordingError {
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> RecordingError {
        let path = path.to_owned();
        move |error| RecordingError::Io { doing, path, error }
    }
}

/// Damage to a truncated or corrupt file. The data before the damage is usable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// A description of the fault, with the name of the file.
    pub what: String,
    /// Bytes of content before the damage.
    pub usable_bytes: u64,
    /// Expected bytes of content, as far as known.
    pub total_bytes: u64,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {} of {} bytes are usable", self.what, self.usable_bytes, self.total_bytes)
    }
}
