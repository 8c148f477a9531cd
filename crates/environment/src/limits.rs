//! Resource limits: those of this process, and setting others for a command.

use nix::libc;
use nix::sys::resource::{Resource, getrlimit};
use std::process::Command;

/// Number of the resource, soft and hard limit.
pub type Limit = (u32, u64, u64);

/// The limits that are recorded and can be tried.
pub const LIMITS: [(u32, &str, &str); 11] = [
    (libc::RLIMIT_CPU, "processor time", "-t"),
    (libc::RLIMIT_FSIZE, "file size", "-f"),
    (libc::RLIMIT_DATA, "data size", "-d"),
    (libc::RLIMIT_STACK, "stack size", "-s"),
    (libc::RLIMIT_CORE, "core file size", "-c"),
    (libc::RLIMIT_NPROC, "number of processes", "-u"),
    (libc::RLIMIT_NOFILE, "number of open files", "-n"),
    (libc::RLIMIT_MEMLOCK, "locked memory", "-l"),
    (libc::RLIMIT_AS, "virtual memory", "-v"),
    (libc::RLIMIT_SIGPENDING, "pending signals", "-i"),
    (libc::RLIMIT_MSGQUEUE, "message queues", "-q"),
];

/// The limits of this process.
#[must_use]
pub fn own() -> Vec<Limit> {
    const RESOURCES: [Resource; 11] = [
        Resource::RLIMIT_CPU,
        Resource::RLIMIT_FSIZE,
        Resource::RLIMIT_DATA,
        Resource::RLIMIT_STACK,
        Resource::RLIMIT_CORE,
        Resource::RLIMIT_NPROC,
        Resource::RLIMIT_NOFILE,
        Resource::RLIMIT_MEMLOCK,
        Resource::RLIMIT_AS,
        Resource::RLIMIT_SIGPENDING,
        Resource::RLIMIT_MSGQUEUE,
    ];
    let known = RESOURCES.into_iter().zip(LIMITS);
    known
        .filter_map(|(resource, (number, ..))| {
            let (soft, hard) = getrlimit(resource).ok()?;
            Some((number, soft, hard))
        })
        .collect()
}

/// The limit closest to the requested one that this process can set, and a description of the
/// difference.
#[must_use]
pub fn possible((number, soft, hard): Limit, own_hard: u64) -> (Limit, Option<String>) {
    let hard = if hard <= own_hard || may_raise() { hard } else { own_hard };
    let missing = (soft > hard).then(|| {
        let name = LIMITS.iter().find(|limit| limit.0 == number);
        let (_, name, option) = name.copied().unwrap_or((0, "something", ""));
        format!("the limit on {name} (ulimit {option}), which may not be raised above {hard} here")
    });
    ((number, soft.min(hard), hard), missing)
}

/// Makes a command run under these limits, as far as they are known and differ from those of this
/// process.
///
/// # Errors
/// Names the limit that cannot be set here.
pub fn set(command: &mut Command, wanted: impl IntoIterator<Item = Limit>) -> Result<(), String> {
    let own = own();
    let mut other = Vec::new();
    for limit in wanted {
        let Some(here) = own.iter().find(|here| here.0 == limit.0).filter(|here| **here != limit) else {
            continue;
        };
        let (limit, missing) = possible(limit, here.2);
        if let Some(missing) = missing {
            return Err(missing);
        }
        other.push(limit);
    }
    if !other.is_empty() {
        crate::spawn::under(command, other);
    }
    Ok(())
}

/// Whether a hard limit may be raised: even root may lack the capability, as in a container.
fn may_raise() -> bool {
    const SYS_RESOURCE: u64 = 24;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    line.and_then(|set| u64::from_str_radix(set.trim(), 16).ok())
        .is_some_and(|set| set >> SYS_RESOURCE & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_runs_under_the_limits_that_were_asked_for() {
        let files = own().into_iter().find(|limit| limit.0 == libc::RLIMIT_NOFILE).unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -Sn; ulimit -Hn"]);
        // Unknown limits are ignored.
        set(&mut command, [(files.0, 17, files.2.min(40)), (99, 1, 1)]).unwrap();
        let output = command.output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), format!("17\n{}\n", files.2.min(40)));
        assert_eq!(own().into_iter().find(|limit| limit.0 == files.0), Some(files));
    }
}
