//! The events of a stream, and the constants of the raw files, shared by the writing and the
//! reading half.

pub use crate::slots::{Slots, SlotsIter, unzigzag, varint, zigzag};

/// Version of the whole format. Readers reject all others.
pub const VERSION: u32 = 3;

/// `Position::module` and `Position::site` of events that have no site.
pub const NO_SITE: u32 = u32::MAX;

/// The first byte of an event: kind in the low bits, then flags.
pub mod tag {
    /// The bits of the kind.
    pub const KIND_MASK: u8 = 0x1f;
    /// A sequence number follows.
    pub const SEQ: u8 = 0x40;
    /// The module differs from the previous event's and follows.
    pub const MODULE: u8 = 0x80;
}

/// Event kinds, the low five bits of an event's first byte.
#[allow(missing_docs)] // The variants of `Event` document each kind.
pub mod kind {
    pub const LOAD: u8 = 1;
    pub const PATCH: u8 = 2;
    pub const EXTERNAL: u8 = 3;
    pub const ENTER: u8 = 4;
    pub const LAND: u8 = 5;
    pub const IO: u8 = 6;
    pub const SOURCE: u8 = 7;
    pub const CHECK: u8 = 8;
    pub const VA_START: u8 = 9;
    pub const VALUE: u8 = 10;
    pub const THREAD_LOCAL: u8 = 11;
    pub const MOVED: u8 = 12;
    pub const ZEROED: u8 = 13;
    pub const FORK: u8 = 14;
    pub const EXEC: u8 = 15;
    pub const THREAD: u8 = 16;
    pub const SIGNAL: u8 = 17;
    pub const SYNC: u8 = 18;
    pub const END: u8 = 19;
    pub const CRASH: u8 = 20;
    pub const MAPPED: u8 = 21;
    pub const INTERRUPTED: u8 = 22;
    pub const UNWOUND: u8 = 23;

    /// Whether events of this kind carry a module and a site.
    #[must_use]
    pub const fn has_site(kind: u8) -> bool {
        !matches!(kind, ENTER | SOURCE | CHECK | SIGNAL | END | CRASH | INTERRUPTED | UNWOUND)
    }

    /// The kind's name, as in the format description.
    #[must_use]
    pub const fn name(kind: u8) -> Option<&'static str> {
        const NAMES: [&str; 24] = [
            "",
            "Load",
            "Patch",
            "External",
            "Enter",
            "Land",
            "Io",
            "Source",
            "Check",
            "VaStart",
            "Value",
            "ThreadLocal",
            "Moved",
            "Zeroed",
            "Fork",
            "Exec",
            "Thread",
            "Signal",
            "Sync",
            "End",
            "Crash",
            "Mapped",
            "Interrupted",
            "Unwound",
        ];
        if kind == 0 || kind as usize >= NAMES.len() { None } else { Some(NAMES[kind as usize]) }
    }
}

/// `Event::Source::kind`.
#[allow(missing_docs)]
pub mod source {
    pub const FILE: u8 = 0;
    pub const STDIN: u8 = 1;
    pub const ARGV: u8 = 2;
    pub const ENVIRONMENT: u8 = 3;
    pub const TIME: u8 = 4;
    pub const PIPE: u8 = 5;
    pub const SOCKET: u8 = 6;
    pub const RANDOM: u8 = 7;
    pub const STDOUT: u8 = 8;
    pub const STDERR: u8 = 9;
    pub const OTHER: u8 = 10;

    /// A display name of the kind.
    #[must_use]
    pub const fn name(kind: u8) -> &'static str {
        const NAMES: [&str; 10] =
            ["file", "stdin", "argv", "environment", "time", "pipe", "socket", "random", "stdout", "stderr"];
        if kind as usize >= NAMES.len() { "other" } else { NAMES[kind as usize] }
    }
}

/// `Event::Sync::operation`.
pub mod sync {
    /// Another operation that orders threads.
    pub const OTHER: u8 = 0;
    /// A lock was acquired.
    pub const LOCK: u8 = 1;
    /// A lock is about to be released.
    pub const UNLOCK: u8 = 2;
    /// A wait (condition variable, semaphore, barrier) has ended.
    pub const WAIT: u8 = 3;
    /// Waiters are about to be woken.
    pub const WAKE: u8 = 4;
    /// Another thread was joined.
    pub const JOIN: u8 = 5;
}

/// The header page of a raw stream file: byte offsets and magic.
#[allow(missing_docs)] // The fields are described in the table of the format description.
pub mod header {
    /// Length of the header; events follow.
    pub const LEN: usize = 4096;
    pub const MAGIC: [u8; 8] = *b"RLPSTRM1";
    pub const KIND_THREAD: u32 = 0;
    pub const KIND_SIGNAL: u32 = 1;
    /// Flag: events are missing from the stream (for example because the disk was full).
    pub const INCOMPLETE: u64 = 1;

    pub const AT_KEY: usize = 0;
    pub const AT_TIME: usize = 8;
    pub const AT_SUM: usize = 16;
    pub const AT_STACK: usize = 24;
    pub const AT_VA: usize = 32;
    pub const AT_TICKED: usize = 40;
    pub const AT_MAGIC: usize = 64;
    pub const AT_VERSION: usize = 72;
    pub const AT_STREAM: usize = 76;
    pub const AT_PID: usize = 80;
    pub const AT_KIND: usize = 84;
    pub const AT_LENGTH: usize = 88;
    pub const AT_TID: usize = 96;
    pub const AT_PARENT_STREAM: usize = 104;
    pub const AT_INITIAL_STACK: usize = 112;
    pub const AT_STACK_SIZE: usize = 120;
    pub const AT_FLAGS: usize = 128;
    pub const AT_FORK_STREAM: usize = 136;
    pub const AT_FORK_POSITION: usize = 144;
    pub const AT_EVENTS: usize = 152;
    pub const AT_MISSES: usize = 160;
    pub const AT_IDENTITY: usize = 176;
    pub const AT_CALLS: usize = 184;
    pub const AT_OPAQUE: usize = 192;
    /// One past the last field. The rest of the page is private to the runtime.
    pub const FIELDS_END: usize = 200;
}

/// Name of a file in the recording's directory. When the runtime could not write some data, it
/// appends a line with the name of the process's directory, and a reason if it has one.
pub const INCOMPLETE_FILE: &str = "incomplete";

/// The modules file: magic, version u32, then records.
pub mod modules {
    /// First bytes of the file.
    pub const MAGIC: [u8; 8] = *b"RLPSMODS";
}

/// `process.raw`: magic, version u32, then records of tag u32, length u32 and that many bytes.
/// Unknown tags are skipped, so that fields can be added.
pub mod process {
    /// First bytes of the file.
    pub const MAGIC: [u8; 8] = *b"RLPSPROC";
    /// u32
    pub const PID: u32 = 1;
    /// u32, of the parent process
    pub const PARENT: u32 = 2;
    /// Path of the executable.
    pub const EXECUTABLE: u32 = 3;
    /// One argument, in order.
    pub const ARGUMENT: u32 = 4;
    /// Working directory at start.
    pub const DIRECTORY: u32 = 5;
    /// GNU build id of the executable.
    pub const BUILD_ID: u32 = 6;
    /// pid u32, image u32: the parent process from which this one was forked.
    pub const FORKED_FROM: u32 = 7;
    /// u32: the number of preceding `exec`s, the `n` of the directory's name
    pub const IMAGE: u32 = 8;
    /// u64: also in the header of each of the process's streams
    pub const IDENTITY: u32 = 9;
    /// number of the resource u32, soft limit u64, hard limit u64
    pub const LIMIT: u32 = 10;
}

/// Time and location of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "read", derive(serde::Serialize, serde::Deserialize))]
pub struct Position {
    /// The stream's time.
    pub time: u64,
    /// Registration index of the module, or [`NO_SITE`].
    pub module: u32,
    /// The instruction in the module, or [`NO_SITE`].
    pub site: u32,
    /// The process-wide sequence number, once there is more than one stream.
    pub seq: Option<u64>,
}

impl Position {
    /// The position of an event without an instruction.
    #[must_use]
    pub const fn without_site(time: u64, seq: Option<u64>) -> Position {
        Position { time, module: NO_SITE, site: NO_SITE, seq }
    }
}

/// One event. `docs/runtime-interface.md` defines the meaning of each kind for replay.
#[allow(missing_docs)] // The fields are described in the format's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A load of up to 8 bytes returned `predicted + delta` (wrapping). The writer is the stream
    /// that stored the value; it is kept only with a sequence number.
    Load { size: u8, delta: u64, writer: Option<u32> },
    /// A load of more than 8 bytes returned these bytes.
    WideLoad { bytes: &'a [u8], writer: Option<u32> },
    /// Memory now holds these bytes.
    Patch { address: u64, bytes: &'a [u8] },
    /// An external call returned.
    External { slots: Slots<'a> },
    /// External code called a modelled function; `inside` an external call, or from the top.
    Enter { module: u32, function: u32, slots: Slots<'a>, inside: bool },
    /// A `returns_twice` call returned again.
    Land { stack: u64, slots: Slots<'a> },
    /// Bytes were read from or written to a source.
    Io { out: bool, source: u64, offset: u64, address: u64, length: u64 },
    /// Defines the next source id, counted from 0. `fd` is -1 if there is none.
    Source { kind: u8, fd: i32, name: &'a [u8] },
    /// The checksum at this time.
    Check { sum: u64 },
    /// A `va_list` was filled.
    VaStart { gp_offset: u32, fp_offset: u32, overflow_area: u64, save_area: u64 },
    /// The result of an instruction replay cannot compute.
    Value { slots: Slots<'a> },
    /// Address of this thread's copy of a thread-local variable.
    ThreadLocal { symbol: u32, address: u64 },
    /// `realloc` moved the shadow of a block.
    Moved { from: u64, to: u64, length: u64 },
    /// A range was filled with zeros.
    Zeroed { address: u64, length: u64 },
    /// The process forked.
    Fork { child: u32 },
    /// The process is about to execute another program.
    Exec,
    /// A thread was started: its stream if known, and its `pthread_t`.
    Thread { stream: Option<u32>, handle: u64 },
    /// The first event of each run of a signal handler in a signal stream.
    Signal { signal: u32, interrupted: u64 },
    /// A synchronisation operation of threads; see [`sync`].
    Sync { object: u64, operation: u8 },
    /// The process ended normally.
    End { sum: u64, status: u32 },
    /// The process was killed by a signal.
    Crash { signal: u32, address: u64, code: i64 },
    /// A range now holds bytes of a source; an `Io` follows.
    Mapped { address: u64, length: u64 },
    /// A signal handler interrupted instrumented code and jumped out of it; a `Land` follows.
    /// Contains the time of the last call or return before, and the address of a fault (0:
    /// unknown).
    Interrupted { called: u64, address: u64 },
    /// Entries from external code whose frames were skipped by a jump in external code.
    Unwound { entries: u64 },
}

impl<'a> Event<'a> {
    /// A load of up to 8 bytes. Both values are zero-extended.
    #[must_use]
    pub const fn load(size: u8, predicted: u64, value: u64, writer: Option<u32>) -> Event<'a> {
        Event::Load { size, delta: value.wrapping_sub(predicted), writer }
    }

    /// The kind's number.
    #[must_use]
    pub const fn kind(&self) -> u8 {
        match self {
            Event::Load { .. } | Event::WideLoad { .. } => kind::LOAD,
            Event::Patch { .. } => kind::PATCH,
            Event::External { .. } => kind::EXTERNAL,
            Event::Enter { .. } => kind::ENTER,
            Event::Land { .. } => kind::LAND,
            Event::Io { .. } => kind::IO,
            Event::Source { .. } => kind::SOURCE,
            Event::Check { .. } => kind::CHECK,
            Event::VaStart { .. } => kind::VA_START,
            Event::Value { .. } => kind::VALUE,
            Event::ThreadLocal { .. } => kind::THREAD_LOCAL,
            Event::Moved { .. } => kind::MOVED,
            Event::Zeroed { .. } => kind::ZEROED,
            Event::Fork { .. } => kind::FORK,
            Event::Exec => kind::EXEC,
            Event::Thread { .. } => kind::THREAD,
            Event::Signal { .. } => kind::SIGNAL,
            Event::Sync { .. } => kind::SYNC,
            Event::End { .. } => kind::END,
            Event::Crash { .. } => kind::CRASH,
            Event::Mapped { .. } => kind::MAPPED,
            Event::Interrupted { .. } => kind::INTERRUPTED,
            Event::Unwound { .. } => kind::UNWOUND,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_kinds() {
        assert_eq!(kind::name(kind::LOAD), Some("Load"));
        assert_eq!(kind::name(kind::THREAD), Some("Thread"));
        assert_eq!(kind::name(kind::MAPPED), Some("Mapped"));
        assert_eq!(kind::name(0), None);
        assert_eq!(kind::name(24), None);
    }
}
