//! `relapse environment`: why a program passes on one machine and fails on another.

mod find;
mod record;
mod show;

use crate::Session;
use crate::failure::{Exit, Failure};
use clap::Subcommand;
use environment::run::Command;
use environment::{Error, Stream};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

/// Find out what another machine has that this one has not
///
/// Record the command where it passes, carry the recording to where it fails, and let `find`
/// try which recorded results make it pass there.
#[derive(Debug, Subcommand)]
pub enum EnvironmentCommand {
    Record(record::RecordArgs),
    Find(find::FindArgs),
    Show(show::ShowArgs),
}

pub fn run(command: &EnvironmentCommand, session: &mut Session) -> Result<Exit, Failure> {
    match command {
        EnvironmentCommand::Record(args) => record::run(args, session),
        EnvironmentCommand::Find(args) => find::run(args, session),
        EnvironmentCommand::Show(args) => show::run(args, session),
    }
}

/// The command with the environment and directory of this process.
fn command(words: &[OsString], streams: [Stream; 3]) -> Result<Command, Failure> {
    let directory = std::env::current_dir().map_err(|error| {
        Failure::failed_to(Exit::Environment, format_args!("find the directory: {error}"))
    })?;
    Ok(Command {
        arguments: words.iter().map(|word| word.clone().into_vec()).collect(),
        variables: std::env::vars_os().map(|(name, value)| (name.into_vec(), value.into_vec())).collect(),
        directory,
        streams,
        limits: Vec::new(),
    })
}

fn failed(error: &Error) -> Failure {
    match error {
        Error::NotRun { .. } => Failure::failed_to(Exit::TestNotRun, error),
        Error::Forbidden { .. } => Failure::failed_to(Exit::Environment, error).hint(
            "The kernel or the container forbids tracing. In a container, allow the system calls ptrace and\n\
             seccomp (docker run --cap-add=SYS_PTRACE); elsewhere, see /proc/sys/kernel/yama/ptrace_scope.",
        ),
        Error::Trace { .. } | Error::Write { .. } => Failure::failed_to(Exit::Environment, error),
        Error::Read { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
            Failure::failed_to(Exit::Usage, error)
                .hint("`relapse environment record -o DIR CMD` makes recordings.")
        }
        Error::Read { .. } => Failure::failed_to(Exit::Environment, error),
        Error::Damaged { .. } => Failure::failed_to(Exit::BadInput, error),
    }
}
