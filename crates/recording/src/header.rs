//! The header of a stream.

use crate::event::{VERSION, header};

/// The point at which a forked process's stream branches from its parent's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForkPoint {
    /// The parent's stream.
    pub stream: u32,
    /// Bytes of the parent's events that precede this stream's.
    pub position: u64,
}

/// The execution context whose events a stream contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamKind {
    /// A thread.
    Thread,
    /// The signal handlers that interrupt a thread's instrumented code.
    Signal,
}

/// The fields of a stream's header page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamHeader {
    /// The exclusive or of the key and an address is the shadow address.
    pub key: u64,
    /// The thread's time when it was last stored.
    pub time: u64,
    /// The thread's checksum when it was last stored.
    pub sum: u64,
    /// The model stack pointer when it was last stored.
    pub stack: u64,
    /// The thread's time at the last loop header.
    pub ticked: u64,
    /// Number of the stream in its process.
    pub stream: u32,
    /// Process id.
    pub pid: u32,
    /// Thread or signal context.
    pub kind: StreamKind,
    /// Bytes of events.
    pub length: u64,
    /// The system's thread id.
    pub tid: u64,
    /// For a signal context, the interrupted stream.
    pub parent_stream: u64,
    /// Model stack pointer at the start.
    pub initial_stack: u64,
    /// Bytes of model stack below that.
    pub stack_size: u64,
    /// Whether events are missing (for example because the disk was full).
    pub incomplete: bool,
    /// Set if the stream continues one of the parent process's.
    pub fork: Option<ForkPoint>,
    /// Number of events that the runtime counted.
    pub events: u64,
    /// Number of mispredicted loads.
    pub misses: u64,
    /// The process's identity, as in its description.
    pub identity: u64,
    /// Number of calls to code that is not instrumented.
    pub calls: u64,
    /// Number of these calls whose callee is unknown.
    pub opaque: u64,
}

impl StreamHeader {
    /// Parses a header page. Missing bytes at its end are zero.
    ///
    /// # Errors
    /// A description of the fault, as a phrase.
    pub fn parse(page: &[u8]) -> Result<StreamHeader, String> {
        // Packed files contain only the fields.
        let mut bytes = [0; header::FIELDS_END];
        let given = page.len().min(bytes.len());
        bytes[..given].copy_from_slice(&page[..given]);
        let word = |at: usize| -> u64 {
            let mut word = [0; 8];
            word.copy_from_slice(&bytes[at..at + 8]);
            u64::from_le_bytes(word)
        };
        let half = |at: usize| -> u32 {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        if bytes[header::AT_MAGIC..header::AT_MAGIC + 8] != header::MAGIC {
            return Err("it is not a stream".to_owned());
        }
        let version = half(header::AT_VERSION);
        if version != VERSION {
            return Err(format!("it has format version {version}, this program reads version {VERSION}"));
        }
        let kind = match half(header::AT_KIND) {
            header::KIND_THREAD => StreamKind::Thread,
            header::KIND_SIGNAL => StreamKind::Signal,
            other => return Err(format!("it has the unknown kind {other}")),
        };
        let fork = half(header::AT_FORK_STREAM)
            .checked_sub(1)
            .map(|stream| ForkPoint { stream, position: word(header::AT_FORK_POSITION) });
        Ok(StreamHeader {
            key: word(header::AT_KEY),
            time: word(header::AT_TIME),
            sum: word(header::AT_SUM),
            stack: word(header::AT_STACK),
            ticked: word(header::AT_TICKED),
            stream: half(header::AT_STREAM),
            pid: half(header::AT_PID),
            kind,
            length: word(header::AT_LENGTH),
            tid: word(header::AT_TID),
            parent_stream: word(header::AT_PARENT_STREAM),
            initial_stack: word(header::AT_INITIAL_STACK),
            stack_size: word(header::AT_STACK_SIZE),
            incomplete: word(header::AT_FLAGS) & header::INCOMPLETE != 0,
            fork,
            events: word(header::AT_EVENTS),
            misses: word(header::AT_MISSES),
            identity: word(header::AT_IDENTITY),
            calls: word(header::AT_CALLS),
            opaque: word(header::AT_OPAQUE),
        })
    }

    /// A time that the thread certainly reached.
    #[must_use]
    pub fn reached(&self) -> u64 {
        self.time.max(self.ticked)
    }

    /// Serialises the header as a page in the runtime's layout.
    #[must_use]
    pub fn to_page(&self) -> Vec<u8> {
        let mut page = vec![0; header::LEN];
        let mut word = |at: usize, value: u64| page[at..at + 8].copy_from_slice(&value.to_le_bytes());
        let halves = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        word(header::AT_KEY, self.key);
        word(header::AT_TIME, self.time);
        word(header::AT_SUM, self.sum);
        word(header::AT_STACK, self.stack);
        word(header::AT_TICKED, self.ticked);
        word(header::AT_MAGIC, u64::from_le_bytes(header::MAGIC));
        word(header::AT_VERSION, halves(VERSION, self.stream));
        let kind = match self.kind {
            StreamKind::Thread => header::KIND_THREAD,
            StreamKind::Signal => header::KIND_SIGNAL,
        };
        word(header::AT_PID, halves(self.pid, kind));
        word(header::AT_LENGTH, self.length);
        word(header::AT_TID, self.tid);
        word(header::AT_PARENT_STREAM, self.parent_stream);
        word(header::AT_INITIAL_STACK, self.initial_stack);
        word(header::AT_STACK_SIZE, self.stack_size);
        word(header::AT_FLAGS, if self.incomplete { header::INCOMPLETE } else { 0 });
        if let Some(fork) = self.fork {
            word(header::AT_FORK_STREAM, u64::from(fork.stream.wrapping_add(1)));
            word(header::AT_FORK_POSITION, fork.position);
        }
        word(header::AT_EVENTS, self.events);
        word(header::AT_MISSES, self.misses);
        word(header::AT_IDENTITY, self.identity);
        word(header::AT_CALLS, self.calls);
        word(header::AT_OPAQUE, self.opaque);
        page
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_read_as_it_was_written() {
        let header = StreamHeader {
            key: 1,
            time: 2,
            sum: 3,
            stack: 4,
            ticked: 15,
            stream: 5,
            pid: 6,
            kind: StreamKind::Signal,
            length: 7,
            tid: 8,
            parent_stream: 9,
            initial_stack: 10,
            stack_size: 11,
            incomplete: true,
            fork: Some(ForkPoint { stream: 0, position: 12 }),
            events: 13,
            misses: 14,
            identity: 16,
            calls: 17,
            opaque: 18,
        };
        let mut page = header.to_page();
        assert_eq!(StreamHeader::parse(&page), Ok(header));
        page[header::AT_VERSION] = 9;
        assert!(StreamHeader::parse(&page).unwrap_err().contains("version 9"));
        assert!(StreamHeader::parse(&page[..10]).is_err());
    }
}
