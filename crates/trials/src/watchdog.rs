//! Ends what this process started if it is killed itself.
//!
//! Somebody who is killed (`SIGKILL`, or for want of memory) cannot clean up. A shell waits for the end of its
//! standard input, the other end of which only we have: when we are gone, it kills everything that
//! has a mark of ours, as the next holder of the work directory would. `PR_SET_PDEATHSIG` would reach
//! the leaders of groups only, and would end `relapse record` of a user who has logged out.

use crate::error::Error;
use crate::process_marks::{self, Mark};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// Repeats until there is none, as a process may fork while we look.
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
        // It is none of those that it is to end.
        command.env_remove(Mark::VARIABLE).process_group(0).current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn();
        child.map(Watchdog).map_err(|source| Error::Start { command: "sh".to_owned(), source })
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        // All that was started has ended by now; before its input does.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
