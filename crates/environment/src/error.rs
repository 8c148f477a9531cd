//! The errors of this crate. Each kind fits after "failed to".

use std::io;
use std::path::PathBuf;

/// Why a record was not made, read or written, or a command not run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The command itself cannot be started: there is no such program, or `exec` failed.
    #[error("run {program}: {reason}")]
    NotRun {
        /// The path or the first word of the command; empty if there is no command.
        program: String,
        /// A fragment for the user.
        reason: String,
    },
    /// The kernel or the container does not permit tracing.
    #[error("trace system calls: {step} is not permitted here ({source})")]
    Forbidden {
        /// What was attempted, such as "installing a seccomp filter".
        step: &'static str,
        /// What the kernel answered.
        source: io::Error,
    },
    /// A system call of the tracer failed.
    #[error("trace system calls: {step}: {source}")]
    Trace {
        /// As in `Forbidden`.
        step: &'static str,
        /// As in `Forbidden`.
        source: io::Error,
    },
    /// A file cannot be read.
    #[error("read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// A file or directory cannot be written.
    #[error("write {}: {source}", path.display())]
    Write {
        /// The file or directory.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// A record's file was read but is not one that this version reads.
    #[error("read {}: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// A fragment for the user, from [`crate::file::decode`].
        what: String,
    },
}

/// The result of what can fail in this crate.
pub type Result<T> = std::result::Result<T, Error>;
