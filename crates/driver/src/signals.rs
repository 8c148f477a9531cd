//! Removes temporary files when a build is interrupted.

use std::path::Path;
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM, SIGXCPU};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// Installs a handler that removes `dir` before a signal ends this process. If the handler cannot
/// be installed, the process still works, but may leave its directory.
pub fn remove_on_signal(dir: &Path) {
    let Ok(mut signals) = Signals::new([SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM, SIGXCPU]) else { return };
    let dir = dir.to_owned();
    // The thread ends with the process.
    let _ = std::thread::Builder::new().name("signals".into()).spawn(move || {
        if let Some(signal) = signals.forever().next() {
            // A step that is still running may create a file concurrently.
            for _ in 0..50 {
                if std::fs::remove_dir_all(&dir).is_ok() || !dir.exists() {
                    break;
                }
                std::thread::sleep(Duration::from_millis(10));
            }
            let _ = emulate_default_handler(signal);
        }
    });
}

/// The prefix of a driver's directory, which contains its process id.
pub fn temp_dir_prefix() -> String {
    format!("{PREFIX}{}-", std::process::id())
}

const PREFIX: &str = "relapse-cc-";

/// Removes the directories in `temp` whose drivers no longer exist: SIGKILL cannot be handled.
/// Directories of other users remain, since they cannot be removed.
pub fn remove_stale_dirs(temp: &Path) {
    for entry in std::fs::read_dir(temp).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process =
            name.to_str().and_then(|n| n.strip_prefix(PREFIX)?.split('-').next()?.parse::<u32>().ok());
        if process.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_drivers_that_were_killed_go() {
        let temp = tempfile::tempdir().unwrap();
        let mut ended = std::process::Command::new("true").spawn().unwrap();
        ended.wait().unwrap();
        let stale = temp.path().join(format!("{PREFIX}{}-abc", ended.id()));
        let ours = temp.path().join(format!("{}abc", temp_dir_prefix()));
        let strange = temp.path().join("relapse-cc-notes");
        for dir in [&stale, &ours, &strange] {
            std::fs::create_dir(dir).unwrap();
        }
        std::fs::write(stale.join("a.bc"), "").unwrap();
        remove_stale_dirs(temp.path());
        assert!(!stale.exists() && ours.exists() && strange.exists());
    }
}
