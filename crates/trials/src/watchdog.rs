//! Kills the processes that this process started, if it is killed itself.
//!
//! A killed process (`SIGKILL`, out of memory) cannot clean up. A shell waits for end of file on its
//! standard input, whose other end only this process has. Then it kills every process that has one of
//! our marks, as the next holder of the work directory would. `PR_SET_PDEATHSIG` would reach only the
//! leaders of process groups, and would end the `relapse record` of a user who has logged out.

use crate::error::Error;
use crate::process_marks::{self, Mark};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// Repeats while marked processes exist, because a process may fork during the scan.
const SCRIPT: &str = r#"
trap '' HUP INT QUIT TERM
read -r _
for round in 1 2 3 4 5 6 7 8 9 10; do
    found=$(grep -ls "$1\." /proc/[0-9]*/environ)
    test -n "$found" || exit 0
    for environment in $found; do
        number=${environment#/proc/}
        kill -s KILL "${number%/environ}"
    done
done
"#;

/// See the module's documentation.
#[derive(Debug)]
pub(crate) struct Watchdog(Child);

impl Watchdog {
    pub(crate) fn start() -> Result<Watchdog, Error> {
        let ours = format!("{}={}", Mark::VARIABLE, process_marks::session());
        let mut command = Command::new("sh");
        command.args(["-c", SCRIPT, "sh"]).arg(ours);
        // The shell must not kill itself.
        command.env_remove(Mark::VARIABLE).process_group(0).current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn();
        child.map(Watchdog).map_err(|source| Error::Start { command: "sh".to_owned(), source })
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        // All children have ended by now, so kill the shell before its input is closed.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
