//! A flag for analyses that check no clock.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// How often the condition is checked.
const INTERVAL: Duration = Duration::from_millis(20);

/// Runs `work` with a flag that another thread sets once `is_over` holds.
pub fn with_stop_flag<T>(is_over: &(dyn Fn() -> bool + Sync), work: impl FnOnce(&AtomicBool) -> T) -> T {
    let stop = AtomicBool::new(is_over());
    let (done, waits) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let waits = waits;
            while waits.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                if is_over() {
                    return stop.store(true, Ordering::Relaxed);
                }
            }
        });
        let result = work(&stop);
        drop(done);
        result
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn the_flag_is_set_when_time_is_up() {
        let until = Instant::now() + Duration::from_millis(60);
        let after = with_stop_flag(&|| Instant::now() >= until, |stop| {
            while !stop.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(1));
            }
            Instant::now()
        });
        assert!(after >= until);
    }

    #[test]
    fn work_that_ends_before_is_not_kept_waiting() {
        assert!(!with_stop_flag(&|| false, |stop| stop.load(Ordering::Relaxed)));
        assert!(with_stop_flag(&|| true, |stop| stop.load(Ordering::Relaxed)));
    }
}
