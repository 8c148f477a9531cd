//! Temporary files must not stay behind when a build is interrupted.

use std::path::Path;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// From now on, a signal that ends this process removes `dir` first. A process that
/// cannot have a handler still works; it only leaves its folder behind.
pub fn remove_when_killed(dir: &Path) {
    let Ok(mut signals) = Signals::new([SIGHUP, SIGINT, SIGTERM]) else { return };
    let dir = dir.to_owned();
    // The thread ends with the process.
    let _ = std::thread::Builder::new().name("signals".into()).spawn(move || {
        if let Some(signal) = signals.forever().next() {
            let _ = std::fs::remove_dir_all(&dir);
            let _ = emulate_default_handler(signal);
        }
    });
}
