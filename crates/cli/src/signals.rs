//! Handling of SIGINT, SIGTERM and SIGHUP in commands that search.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Signals within this interval count as one: `timeout` and shells signal the process and then its process
/// group.
const ONE_SIGNAL: Duration = Duration::from_secs(1);

/// The first signal requests the best answer so far. A later one ends the process immediately, as
/// computations between trials do not check `stop`.
pub fn stop_on_signals(stop: &Arc<AtomicBool>) -> std::io::Result<()> {
    end_on_signals(stop, None)
}

/// The same for commands without an intermediate answer: the first signal too ends the process, after the
/// grace period `grace`, in which builds and tests are terminated.
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
                // Fails only for signals without a default action.
                let _ = signal_hook::low_level::emulate_default_handler(signal);
            }
        }
    });
    Ok(())
}
