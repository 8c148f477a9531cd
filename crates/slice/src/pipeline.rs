//! A two-stage pipeline: a second thread produces items in the order in which they are consumed.
//!
//! The backward pass consumes one segment after the other, and replaying one takes about as long as
//! processing it: while one is processed, the next is replayed. The first item is produced without a thread,
//! because it suffices for most questions.

use std::sync::mpsc::{self, TryRecvError};

/// Items that are produced ahead.
const READY: usize = 1;

/// Produces `count` items with `make`, which may recycle one that was consumed, and passes them to `take` in
/// order until `take` returns `false`.
pub fn pipeline<T: Send, E: Send>(
    count: usize,
    make: impl Fn(usize, Option<T>) -> Result<T, E> + Sync,
    mut take: impl FnMut(usize, &T) -> Result<bool, E>,
) -> Result<(), E> {
    if count == 0 {
        return Ok(());
    }
    let first = make(0, None)?;
    if !take(0, &first)? || count == 1 {
        return Ok(());
    }
    std::thread::scope(|scope| {
        let (send, receive) = mpsc::sync_channel(READY);
        let (give_back, given_back) = mpsc::channel();
        let make = &make;
        let maker = scope.spawn(move || {
            for number in 1..count {
                let used = match given_back.try_recv() {
                    Ok(used) => Some(used),
                    Err(TryRecvError::Empty) => None,
                    Err(TryRecvError::Disconnected) => return,
                };
                if send.send(make(number, used)).is_err() {
                    return;
                }
            }
        });
        let mut used = Some(first);
        for number in 1..count {
            if let Some(used) = used.take() {
                // The producer may have finished.
                let _ = give_back.send(used);
            }
            let Ok(made) = receive.recv() else { break };
            let made = made?;
            if !take(number, &made)? {
                return Ok(());
            }
            used = Some(made);
        }
        drop((receive, give_back));
        if let Err(panic) = maker.join() {
            std::panic::resume_unwind(panic);
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn things_come_in_order_and_are_used_again() {
        let fresh = AtomicUsize::new(0);
        let make = |n: usize, used: Option<Vec<usize>>| {
            let mut list = used.unwrap_or_else(|| {
                fresh.fetch_add(1, Ordering::Relaxed);
                Vec::new()
            });
            list.clear();
            list.push(n);
            Ok::<_, ()>(list)
        };
        let mut seen = Vec::new();
        pipeline(100, make, |n, list| {
            assert_eq!(list, &[n]);
            seen.push(n);
            Ok(true)
        })
        .unwrap();
        assert_eq!(seen, (0..100).collect::<Vec<_>>());
        assert!(fresh.load(Ordering::Relaxed) <= READY + 3);
    }

    #[test]
    fn enough_is_enough() {
        for enough in [0, 1, 5] {
            let made = AtomicUsize::new(0);
            let make = |n: usize, _: Option<usize>| {
                made.fetch_add(1, Ordering::Relaxed);
                Ok::<_, ()>(n)
            };
            pipeline(1000, make, |n, _| Ok(n < enough)).unwrap();
            assert!(made.load(Ordering::Relaxed) <= enough + READY + 3);
        }
    }

    #[test]
    fn errors_come_in_their_turn() {
        let make = |n: usize, _: Option<usize>| if n == 3 { Err("made wrong") } else { Ok(n) };
        let mut last = 0;
        let outcome = pipeline(10, make, |n, _| {
            last = n;
            Ok(true)
        });
        assert_eq!((outcome, last), (Err("made wrong"), 2));
        let outcome = pipeline(
            10,
            |n, _: Option<usize>| Ok(n),
            |n, _| if n == 4 { Err("taken wrong") } else { Ok(true) },
        );
        assert_eq!(outcome, Err("taken wrong"));
    }
}
