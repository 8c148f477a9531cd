//! What SIGINT, SIGTERM and SIGHUP do to commands that search.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Signals that arrive together are one: `timeout` and shells send theirs to the process and
/// then to its group.
const ONE_SIGNAL: Duration = Duration::from_secs(1);

/// The first signal asks for the best answer so far; a later one ends the process at once, as
/// what is computed between trials does not look at `stop`.
pub fn stop_on_signals(stop: &Arc<AtomicBool>) -> std::io::Result<()> {
    end_on_signals(stop, None)
}

/// The same, where there is no answer before the end: after `grace`, in which builds and tests are ended, the
/// first signal ends the process too.
pub fn end_on_signals(stop: &Arc<AtomicBool>, grace: Option<Duration>) -> std::io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let stop = stop.clone();
    std::thread::spawn(move || {
        let mut first: Option<Instant> = None;
        for signal in signals.forever() {
            stop.store(true, Ordering::Relaxed);
            if let (Some(grace), None) = (grace, first) {
                std::thread::spawn(move || {
                    std::thread::sleep(grace);
                    let _ = signal_hook::low_level::emulate_default_handler(signal);
                });
            }
            if first.get_or_insert_with(Instant::now).elapsed() > ONE_SIGNAL {
                // It fails for signals without a default action only.
                let _ = signal_hook::low_level::emulate_default_handler(signal);
            }
        }
    });
    Ok(())
}
