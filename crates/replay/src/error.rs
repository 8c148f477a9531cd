//! Errors of replay.

use recording::decode::DecodeError;
use std::fmt;
use thiserror::Error;

/// Replay and recording disagree: the location and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    pub module: String,
    pub function: String,
    pub file: String,
    pub line: u32,
    pub column: u32,
    /// Number of instructions that this stream had executed.
    pub instruction: u64,
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

#[derive(Debug, Error)]
pub enum Error {
    #[error("replay exactly: {0}")]
    Diverged(Box<Divergence>),
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// A module of the recording that no binary contains.
    #[error(
        "find module {module} in {path}: the recording was made with another build \
         (recorded build id {recorded}, the file has {found})"
    )]
    AnotherBuild { path: String, module: String, recorded: String, found: String },
    #[error("load the program model: {0}")]
    Model(String),
    #[error("open the recording: {0}")]
    Recording(String),
    /// A file of stored checkpoints has a valid checksum but invalid content.
    #[error("continue from a stored checkpoint: it is of something else")]
    StoredCheckpoints,
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

pub type Result<T> = std::result::Result<T, Error>;
