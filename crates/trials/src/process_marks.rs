//! Finds the processes that belong to a command started by this crate.

use rustix::process::{Pid, Signal, kill_process};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

/// A value in the environment of a command, which its child processes inherit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark(String);

impl Mark {
    /// Tests can see the variable, so its name does not mention this tool.
    pub const VARIABLE: &str = "PROCESS_GROUP_MARK";

    /// A new, unique mark.
    pub(crate) fn new() -> Mark {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Mark(format!("{}.{}", session(), NEXT.fetch_add(1, Ordering::Relaxed)))
    }

    pub(crate) fn text(&self) -> &str {
        &self.0
    }
}

/// A prefix of every mark of this process, and of no other process.
pub(crate) fn session() -> &'static str {
    static SESSION: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    SESSION.get_or_init(|| {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        format!("{}-{:x}", std::process::id(), now.as_nanos())
    })
}

/// Kills every process with this mark.
pub(crate) fn kill_marked(mark: &Mark) {
    kill_matching(|value| value == mark.0, None);
}

/// Kills processes that an earlier process of this tool left running.
pub(crate) fn kill_session(session: &str) {
    kill_matching(|value| value.strip_prefix(session).is_some_and(|rest| rest.starts_with('.')), None);
}

/// Kills every process with this mark except one.
pub(crate) fn kill_all_but(spared: Pid, mark: &Mark) {
    kill_matching(|value| value == mark.0, Some(spared));
}

/// Repeats until none is left, because a process may fork in the meantime.
fn kill_matching(is_ours: impl Fn(&str) -> bool, spared: Option<Pid>) {
    for _ in 0..100 {
        let found: Vec<Pid> = marked(&is_ours).into_iter().filter(|pid| Some(*pid) != spared).collect();
        if found.is_empty() {
            return;
        }
        for pid in found {
            // It may have ended in the meantime.
            let _ = kill_process(pid, Signal::KILL);
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// Live processes with a matching mark. The environments of other users' processes are not readable; they are
/// not ours.
fn marked(is_ours: impl Fn(&str) -> bool) -> Vec<Pid> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let prefix = format!("{}=", Mark::VARIABLE);
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| {
            let Ok(environment) = std::fs::read(format!("/proc/{pid}/environ")) else { return false };
            environment
                .split(|b| *b == 0)
                .filter_map(|word| std::str::from_utf8(word).ok()?.strip_prefix(&prefix))
                .any(&is_ours)
        })
        .filter_map(Pid::from_raw)
        .collect()
}
