//! The errors of this crate. Each kind fits after "failed to".

use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("run {program}: {reason}")]
    NotRun { program: String, reason: String },
    /// The kernel or the container does not permit tracing.
    #[error("trace system calls: {step} is not permitted here ({source})")]
    Forbidden { step: &'static str, source: io::Error },
    #[error("trace system calls: {step}: {source}")]
    Trace { step: &'static str, source: io::Error },
    #[error("read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("write {}: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("read {}: {what}", path.display())]
    Damaged { path: PathBuf, what: String },
}

pub type Result<T> = std::result::Result<T, Error>;
