//! What can be wrong with a recording: errors that end the reading, and damage
//! that leaves a usable part.

use std::fmt;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a recording could not be read or written at all.
#[derive(Debug, Error)]
pub enum RecordingError {
    /// The file system said no.
    #[error("{doing} {path}: {error}")]
    Io {
        /// "read", "write", ...
        doing: &'static str,
        /// Which file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// Neither a manifest nor process directories.
    #[error("open {path}: not a recording (no manifest.json and no process directory)")]
    NotARecording {
        /// The directory.
        path: PathBuf,
    },
    /// Written by another version.
    #[error(
        "read {path}: it has format version {found}, this program reads version {}",
        crate::event::VERSION
    )]
    Version {
        /// Which file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// A file whose very first bytes are wrong.
    #[error("read {path}: {what}")]
    Malformed {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
}

impl RecordingError {
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> RecordingError {
        let path = path.to_owned();
        move |error| RecordingError::Io { doing, path, error }
    }
}

/// A file that is cut short or corrupt. What precedes the damage is usable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// What is wrong, and with which file.
    pub what: String,
    /// Bytes of content before the damage.
    pub usable_bytes: u64,
    /// Bytes of content there should be, as far as known.
    pub total_bytes: u64,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {} of {} bytes are usable", self.what, self.usable_bytes, self.total_bytes)
    }
}
