//! Errors of replay.

use recording::decode::DecodeError;
use std::fmt;
use thiserror::Error;

/// Replay and recording disagree: the location and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// The module's main source file; empty outside of all functions.
    pub module: String,
    /// Name of the function; empty outside of all functions.
    pub function: String,
    /// Path of the source file of the current instruction; empty outside of all functions.
    pub file: String,
    /// From 1; 0 if unknown.
    pub line: u32,
    /// From 1; 0 if unknown.
    pub column: u32,
    /// Number of instructions that this stream had executed.
    pub instruction: u64,
    /// Time of the stream, as replay counts it.
    pub time: u64,
    /// What replay was about to do or had computed.
    pub expected: String,
    /// What the recording contains.
    pub found: String,
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.function.is_empty() {
            write!(f, "outside of all functions")?;
        } else {
            write!(f, "in {} at {}:{}:{}", self.function, self.file, self.line, self.column)?;
        }
        write!(
            f,
            ", instruction {}, time {}: replay has {}, the recording has {}",
            self.instruction, self.time, self.expected, self.found
        )
    }
}

/// Why a recording could not be replayed.
#[derive(Debug, Error)]
pub enum Error {
    /// Replay and recording disagree.
    #[error("replay exactly: {0}")]
    Diverged(Box<Divergence>),
    /// The bytes of an event are damaged.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// A module of the recording that no binary contains.
    #[error(
        "find module {module} in {path}: the recording was made with another build \
         (recorded build id {recorded}, the file has {found})"
    )]
    AnotherBuild {
        /// The executable or library that was searched.
        path: String,
        /// Hash of the module's model, in hexadecimal.
        module: String,
        /// Recorded build id, in hexadecimal.
        recorded: String,
        /// Build id of the file, in hexadecimal, or `none`.
        found: String,
    },
    /// A binary without usable models, or models that do not fit the recording.
    #[error("load the program model: {0}")]
    Model(String),
    /// A file of the recording cannot be read, or a fork parent is missing.
    #[error("open the recording: {0}")]
    Recording(String),
    /// A file of stored checkpoints has a valid checksum but invalid content.
    #[error("continue from a stored checkpoint: it is of something else")]
    StoredCheckpoints,
    /// An instruction count beyond the end of the stream, and the number of instructions that the stream has.
    #[error("find instruction {0}: the stream has only {1}")]
    PastEnd(u64, u64),
}

impl Error {
    /// The divergence, if it is one.
    #[must_use]
    pub fn divergence(&self) -> Option<&Divergence> {
        match self {
            Error::Diverged(d) => Some(d),
            _ => None,
        }
    }
}

/// What operations of replay return.
pub type Result<T> = std::result::Result<T, Error>;
