//! Transfers events from a replay to their columns.
//!
//! Appending an event is cheap, except for its memory: fresh pages, and eventually a file. A second thread
//! does that in parallel with the replay, which reuses a few small buffers.

use crate::column::{Budget, Column};
use crate::trace::Packed;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// Number of events in a buffer, small enough for the cache.
const BATCH: usize = 4096;
/// Number of buffers in transit.
const BATCHES: usize = 8;

/// The rows and keys of the same events.
pub(crate) struct Columns {
    pub(crate) rows: Column<Packed>,
    pub(crate) keys: Column<u64>,
}

impl Columns {
    fn append(&mut self, batch: &Batch) -> io::Result<()> {
        self.rows.append(&batch.rows)?;
        self.keys.append(&batch.keys)
    }
}

#[derive(Default)]
struct Batch {
    rows: Vec<Packed>,
    keys: Vec<u64>,
}

impl Batch {
    fn new() -> Batch {
        Batch { rows: Vec::with_capacity(BATCH), keys: Vec::with_capacity(BATCH) }
    }
}

/// How buffers are appended.
enum Writer {
    Thread {
        full: SyncSender<Batch>,
        empty: Receiver<Batch>,
        thread: JoinHandle<io::Result<Columns>>,
    },
    /// On the replay's own thread, if no thread could be created.
    Here(Box<Columns>, io::Result<()>),
}

/// See the module's documentation.
pub(crate) struct Sink {
    batch: Batch,
    /// The number of events in earlier buffers.
    count: usize,
    writer: Writer,
}

impl Sink {
    pub(crate) fn new(budget: &Arc<Budget>) -> Sink {
        let columns = || Columns { rows: Column::new(budget), keys: Column::new(budget) };
        let (full, filled) = sync_channel::<Batch>(BATCHES);
        let (emptied, empty) = sync_channel(BATCHES);
        let mut own = columns();
        let thread = std::thread::Builder::new().name("events".to_owned()).spawn(move || {
            let mut result = Ok(());
            for mut batch in filled {
                // After a failure events are dropped, but the replay runs to its end.
                if result.is_ok() {
                    result = own.append(&batch);
                }
                batch.rows.clear();
                batch.keys.clear();
                // Fails only at the end, when the replay takes no more buffers.
                let _ = emptied.send(batch);
            }
            result.map(|()| own)
        });
        let writer = match thread {
            Ok(thread) => {
                for _ in 1..BATCHES {
                    let _ = full.send(Batch::new());
                }
                Writer::Thread { full, empty, thread }
            }
            Err(_) => Writer::Here(Box::new(columns()), Ok(())),
        };
        Sink { batch: Batch::new(), count: 0, writer }
    }

    /// The number of events.
    pub(crate) fn len(&self) -> usize {
        self.count + self.batch.rows.len()
    }

    /// Appends an event. Returns whether the buffer is full.
    #[inline]
    pub(crate) fn push(&mut self, row: Packed, key: u64) -> bool {
        self.batch.rows.push(row);
        self.batch.keys.push(key);
        self.batch.keys.len() == BATCH
    }

    /// Sends the buffer to the writer.
    pub(crate) fn flush(&mut self) {
        self.count += self.batch.rows.len();
        match &mut self.writer {
            Writer::Thread { full, empty, .. } => {
                // Cannot fail: the thread ends only after this sender is dropped.
                let batch = empty.recv().unwrap_or_default();
                let _ = full.send(std::mem::replace(&mut self.batch, batch));
            }
            Writer::Here(columns, result) => {
                if result.is_ok() {
                    *result = columns.append(&self.batch);
                }
                self.batch.rows.clear();
                self.batch.keys.clear();
            }
        }
    }

    /// Returns the columns with all events.
    pub(crate) fn finish(mut self) -> io::Result<Columns> {
        self.flush();
        match self.writer {
            Writer::Thread { full, empty, thread } => {
                drop(full);
                // Without this, the thread could block when it returns a buffer.
                drop(empty);
                thread.join().unwrap_or_else(|_| Err(io::Error::other("the thread for events ended early")))
            }
            Writer::Here(columns, result) => result.map(|()| *columns),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Row;

    #[test]
    fn events_arrive_in_order() {
        for (n, budget) in
            [(0, 1 << 30), (1, 1 << 30), (BATCH, 0), (40 * BATCH + 17, 1 << 30), (40 * BATCH + 17, 0)]
        {
            let mut sink = Sink::new(&Budget::new(budget));
            for i in 0..n {
                let row = Row { act: i as u32, target: 1, active: 2, value: i as u64 * 3 };
                if sink.push(row.into(), i as u64 * 5) {
                    sink.flush();
                }
                assert_eq!(sink.len(), i + 1);
            }
            let columns = sink.finish().unwrap();
            assert_eq!((columns.rows.len(), columns.keys.len()), (n, n));
            for i in [0, n / 2, n.saturating_sub(1)].into_iter().filter(|i| *i < n) {
                let row = Row::from(columns.rows.get(i));
                assert_eq!((row.act, row.value, columns.keys.get(i)), (i as u32, i as u64 * 3, i as u64 * 5));
            }
        }
    }
}
