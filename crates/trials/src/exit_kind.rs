//! The termination of a run, as a kind and as text.

use crate::process::Status;
use std::fmt;

/// The kind of termination of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExitKind {
    /// A normal exit, with any status.
    ByItself,
    /// A signal, including one that a shell reports as 128 plus its number.
    Signal(i32),
    /// It did not end, or exceeded the output limit.
    Hang,
    /// The test command could not be run (a shell's 126 and 127).
    NotRun,
}

impl Status {
    /// The kind of termination. In a shell's exit status, only signals that a program causes itself are
    /// recognised.
    #[must_use]
    pub fn exit_kind(self) -> ExitKind {
        match self {
            Status::Exit(126 | 127) => ExitKind::NotRun,
            Status::Exit(code) if matches!(code - 128, 4..=8 | 11 | 31) => ExitKind::Signal(code - 128),
            Status::Exit(_) => ExitKind::ByItself,
            Status::Signal(signal) => ExitKind::Signal(signal),
            Status::TimedOut | Status::OutputLimit | Status::Cancelled => ExitKind::Hang,
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Status::Exit(code) => match self.exit_kind() {
                // A shell's report about its last command.
                ExitKind::Signal(signal) => write!(f, "{} (exit {code})", Status::Signal(signal)),
                _ => write!(f, "exit {code}"),
            },
            Status::Signal(signal) => match signal_name(*signal) {
                Some(name) => write!(f, "killed by {name}"),
                None => write!(f, "killed by signal {signal}"),
            },
            Status::TimedOut => f.write_str("stopped as it took too long"),
            Status::OutputLimit => f.write_str("stopped as it wrote too much"),
            Status::Cancelled => f.write_str("called off"),
        }
    }
}

/// `SIGSEGV` for 11.
#[must_use]
pub fn signal_name(signal: i32) -> Option<&'static str> {
    const NAMES: [&str; 31] = [
        "SIGHUP",
        "SIGINT",
        "SIGQUIT",
        "SIGILL",
        "SIGTRAP",
        "SIGABRT",
        "SIGBUS",
        "SIGFPE",
        "SIGKILL",
        "SIGUSR1",
        "SIGSEGV",
        "SIGUSR2",
        "SIGPIPE",
        "SIGALRM",
        "SIGTERM",
        "SIGSTKFLT",
        "SIGCHLD",
        "SIGCONT",
        "SIGSTOP",
        "SIGTSTP",
        "SIGTTIN",
        "SIGTTOU",
        "SIGURG",
        "SIGXCPU",
        "SIGXFSZ",
        "SIGVTALRM",
        "SIGPROF",
        "SIGWINCH",
        "SIGIO",
        "SIGPWR",
        "SIGSYS",
    ];
    NAMES.get(usize::try_from(signal).ok()?.checked_sub(1)?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_in_words() {
        assert_eq!(Status::Signal(11).to_string(), "killed by SIGSEGV");
        assert_eq!(Status::Exit(134).to_string(), "killed by SIGABRT (exit 134)");
        assert_eq!(Status::Signal(40).to_string(), "killed by signal 40");
        assert_eq!(Status::Exit(3).to_string(), "exit 3");
    }
}
