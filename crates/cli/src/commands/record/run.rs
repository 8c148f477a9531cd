//! Runs the command under the recorder, as if the shell had started it.

use nix::sys::personality::{self, Persona};
use rustix::process::{Pid, Signal, getpgrp, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The environment variable with the directory into which the program's runtime records.
pub const DIRECTORY: &str = "RELAPSE_RECORD_DIR";

/// Runs `command`, which inherits standard input, output and error. `directory` is the recording's directory,
/// or `None` to run without recording.
///
/// # Errors
/// If it cannot be started.
pub fn run(command: &[OsString], directory: Option<&Path>) -> io::Result<ExitStatus> {
    let (program, args) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    // From here on these signals do not end this process: it ends when the child ends, and packs what the
    // child has recorded.
    let mut signals = Signals::new([SIGINT, SIGQUIT, SIGTERM, SIGHUP])?;
    // The limit on file sizes applies to the program. Our own writes may then fail, which is reported.
    signal_hook::flag::register(SIGXFSZ, Arc::default())?;
    let mut command = Command::new(program);
    command.args(args);
    match directory {
        Some(directory) => command.env(DIRECTORY, directory),
        None => command.env_remove(DIRECTORY),
    };
    if directory.is_some() {
        disable_aslr();
    }
    let mut child = command.spawn()?;
    let pid = Pid::from_child(&child);
    let ended = Arc::new(AtomicBool::new(false));
    let after = ended.clone();
    std::thread::spawn(move || {
        for signal in signals.forever() {
            if after.load(Ordering::Acquire) {
                // Only packing remains, and every reader supports the raw files.
                let _ = emulate_default_handler(signal);
            }
            forward(signal, pid);
        }
    });
    let status = child.wait();
    ended.store(true, Ordering::Release);
    status
}

/// Disables address space randomisation for child processes, as debuggers do: recordings of two versions then
/// differ in addresses only where the versions differ. Some containers forbid it; then all addresses differ.
fn disable_aslr() {
    if let Ok(now) = personality::get() {
        let _ = personality::set(now | Persona::ADDR_NO_RANDOMIZE);
    }
}

/// A terminal sends its signals to the whole foreground process group, including the child. Any other signal
/// reached only this process and is forwarded.
fn forward(signal: i32, child: Pid) {
    let from_terminal = matches!(signal, SIGINT | SIGQUIT)
        && rustix::termios::tcgetpgrp(rustix::stdio::stderr()).is_ok_and(|group| group == getpgrp());
    if from_terminal {
        return;
    }
    if let Some(signal) = Signal::from_named_raw(signal) {
        // Fails if the child has just ended.
        let _ = kill_process(child, signal);
    }
}

/// The exit code that a shell would report.
pub fn exit_code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|s| 128 + s)).unwrap_or(1);
    u8::try_from(code).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, directory: Option<&Path>) -> ExitStatus {
        run(&["sh".into(), "-c".into(), script.into()], directory).unwrap()
    }

    #[test]
    fn the_exit_code_is_the_shells() {
        assert_eq!(exit_code(shell("exit 7", None)), 7);
        assert_eq!(exit_code(shell("kill -KILL $$", None)), 137);
        // SIGTERM has a handler in this process, but not in the child.
        assert_eq!(exit_code(shell("kill -TERM $$", None)), 143);
    }

    #[test]
    fn the_command_knows_where_to_record() {
        assert_eq!(
            exit_code(shell("test \"$RELAPSE_RECORD_DIR\" = /some/where", Some(Path::new("/some/where")))),
            0
        );
        assert_eq!(exit_code(shell("test -z \"$RELAPSE_RECORD_DIR\"", None)), 0);
    }

    #[test]
    fn a_command_that_is_not_there_is_an_error() {
        let error = run(&["./no-such-program".into()], None).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
