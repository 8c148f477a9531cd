//! A stream's context: the page that instrumented code, the stream's file and
//! the runtime share, and the list of all contexts.

use crate::consumed::SavedBuffer;
use crate::entry::Entry;
use crate::sys;
use core::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};
use recording::encode::Encoder;
use recording::event::header;

/// One page: the header of the stream's file, then the runtime's own state (readers of the file use only the
/// header's fields).
///
/// # Invariants
/// * A context is made by `entry::new_context` and never unmapped, so a pointer to one stays valid even when
///   its thread has ended.
/// * Only its own thread writes to it: instrumented code, hooks, and a handler that interrupts them. A
///   handler that runs instrumented code while a hook is active finds [`RuntimeState::in_hook`] set and uses a context of
///   its own ([`RuntimeState::signal`]).
/// * `key`, `stream`, `kind` and `thread` are set before [`publish`] and do not change afterwards (except in
///   a forked child, whose only thread renews them). Other threads read only these fields.
/// * `key` is 0, or the shadow of this key is reserved (see `shadow`).
/// * [`RuntimeState`]: `entries` has room for [`MAX_ENTRIES`]; `cursor` and `end` are null, or both lie in the window
///   with `cursor` not after `end`; `consumed` and `sources` are null or mapped memory of their types, used
///   only by this thread.
#[repr(C, align(4096))]
pub struct Context {
    /// The shadow of an address is at the address exclusive-or the key; 0 when nothing is recorded.
    pub key: u64,
    /// The thread's time at its last call or return, written by instrumented code.
    pub time: u64,
    /// The thread's checksum at the same moment.
    pub sum: u64,
    /// The model stack pointer; the stack grows down.
    pub stack: u64,
    /// The current call's `VaDesc`, written by instrumented code; 0 if the call is not variadic.
    pub va: u64,
    /// Time at the last loop header, written by instrumented code.
    pub ticked: u64,
    pad0: [u64; 2],
    /// [`header::MAGIC`].
    pub magic: [u8; 8],
    /// Version of the recording format.
    pub version: u32,
    /// Number of the stream in its process, from 0.
    pub stream: u32,
    /// The process's id, renewed in a forked child.
    pub pid: u32,
    /// [`header::KIND_THREAD`] or [`header::KIND_SIGNAL`].
    pub kind: u32,
    /// Valid bytes of events in the file.
    pub length: u64,
    /// The kernel's thread id.
    pub tid: u64,
    /// For a signal context, the number of the interrupted stream.
    pub parent_stream: u64,
    /// Model stack pointer at the start: the upper end of the stack.
    pub initial_stack: u64,
    /// Bytes of the model stack, without its guard.
    pub stack_size: u64,
    /// [`header::INCOMPLETE`], or 0.
    pub flags: u64,
    /// The parent's stream that this one continues after a fork, plus one; 0 if there is none.
    pub fork_stream: u32,
    pad1: u32,
    /// Bytes of that stream's events before the fork.
    pub fork_position: u64,
    /// Number of events written.
    pub events: u64,
    /// Number of mispredicted loads.
    pub misses: u64,
    /// `pthread_self()` of the thread.
    pub thread: u64,
    /// The process's number, unique among all recorded processes.
    pub identity: u64,
    /// Calls to code that is not instrumented.
    pub calls: u64,
    /// How many of `calls` had a callee missing from the table of externals.
    pub opaque: u64,
    pad2: [u64; 7],
    /// Private to the runtime; readers of the file ignore it.
    pub own: RuntimeState,
}

const _: () = {
    assert!(core::mem::offset_of!(Context, ticked) == header::AT_TICKED);
    assert!(core::mem::offset_of!(Context, magic) == header::AT_MAGIC);
    assert!(core::mem::offset_of!(Context, stream) == header::AT_STREAM);
    assert!(core::mem::offset_of!(Context, length) == header::AT_LENGTH);
    assert!(core::mem::offset_of!(Context, tid) == header::AT_TID);
    assert!(core::mem::offset_of!(Context, initial_stack) == header::AT_INITIAL_STACK);
    assert!(core::mem::offset_of!(Context, flags) == header::AT_FLAGS);
    assert!(core::mem::offset_of!(Context, fork_position) == header::AT_FORK_POSITION);
    assert!(core::mem::offset_of!(Context, misses) == header::AT_MISSES);
    assert!(core::mem::offset_of!(Context, opaque) == header::AT_OPAQUE);
    assert!(core::mem::offset_of!(Context, identity) == header::AT_IDENTITY);
    assert!(size_of::<Context>() == header::LEN);
};

impl Context {
    /// The latest time that the thread certainly reached: the last time it stored, at a call, a return or a
    /// loop header.
    pub fn reached(&self) -> u64 {
        self.time.max(self.ticked)
    }
}

/// The runtime's state of a stream.
#[repr(C)]
pub struct RuntimeState {
    /// State of the compression of events: their differences to earlier ones.
    pub encoder: Encoder,
    /// Events are being written. Cleared permanently by an error or at the end.
    pub logging: bool,
    /// A hook is active: a signal handler must not use this context.
    pub in_hook: bool,
    /// Where the next event is written, in the window; null without a window.
    pub cursor: *mut u8,
    /// The end of the window, exclusive; null without a window.
    pub end: *mut u8,
    /// The part of the file that is mapped for writing, or null.
    pub window: *mut u8,
    /// Bytes of the window, whole pages.
    pub window_len: u64,
    /// Offset of the window in the file.
    pub window_offset: u64,
    /// Entries from outside that have not returned.
    pub entries: *mut Entry,
    /// Number of entries in use.
    pub depth: usize,
    /// The context of signals that interrupt this one, once there was one.
    pub signal: *mut Context,
    /// Address of the fault that caused the last signal, or 0.
    pub fault: u64,
    /// Time of the last `Check` event.
    pub last_check: u64,
    /// What a before-hook saved for the after-hook.
    pub before_address: u64,
    /// Bytes of the block at `before_address`.
    pub before_len: u64,
    /// The unread bytes of a stream before a `scanf`, see `consumed`.
    pub consumed: *mut SavedBuffer,
    /// The output of a library during the current call, see `foreign`.
    #[cfg(feature = "staticlib")]
    pub foreign: *mut crate::foreign::ForeignIo,
    /// Per descriptor: generation and source number, see `io`.
    pub sources: *mut u64,
    /// Number of the next source to define in this stream's file, from 0.
    pub next_source: u64,
    /// How often the thread's end has been postponed.
    pub destructor_rounds: u32,
}

/// Capacity of the list of contexts.
pub const MAX_CONTEXTS: usize = 1024;
/// Nesting of calls from outside: `qsort` in a comparison in `qsort`...
pub const MAX_ENTRIES: usize = 1 << 16;

static ALL: [AtomicPtr<Context>; MAX_CONTEXTS] =
    [const { AtomicPtr::new(core::ptr::null_mut()) }; MAX_CONTEXTS];
static COUNT: AtomicU32 = AtomicU32::new(0);
/// There is, or was, more than one stream: events carry sequence numbers.
static MULTIPLE_STREAMS: AtomicBool = AtomicBool::new(false);
static SEQUENCE: AtomicU64 = AtomicU64::new(1);

/// The sequence number for the next event, if the process needs them.
#[inline]
pub fn next_sequence() -> Option<u64> {
    MULTIPLE_STREAMS.load(Relaxed).then(|| SEQUENCE.fetch_add(1, Relaxed))
}

/// Whether the process has had more than one stream, so that events carry sequence numbers.
pub fn many() -> bool {
    MULTIPLE_STREAMS.load(Relaxed)
}

/// The number of the next stream.
pub fn next_stream() -> u32 {
    let stream = COUNT.fetch_add(1, Relaxed);
    if stream > 0 {
        MULTIPLE_STREAMS.store(true, Relaxed);
    }
    stream
}

/// Adds a context to the list that is searched for the writer of a value. When the list is full, that search
/// misses some contexts; nothing else is affected. A thread that finds the context in the list sees the
/// fields that were set before.
pub fn publish(ctx: *mut Context) {
    for place in &ALL {
        if place.compare_exchange(core::ptr::null_mut(), ctx, Release, Relaxed).is_ok() {
            return;
        }
    }
}

/// All contexts that still have a shadow. Their fields `key`, `stream`, `kind` and `thread` can be
/// read from any thread.
pub fn all() -> impl Iterator<Item = *mut Context> {
    let count = (COUNT.load(Relaxed) as usize).min(MAX_CONTEXTS);
    ALL.iter().take(count).map(|c| c.load(Acquire)).filter(|c| !c.is_null())
}

/// In a forked child: only these streams continue.
pub fn forget_others(keep: impl Fn(*mut Context) -> bool) {
    for place in &ALL {
        let ctx = place.load(Acquire);
        if !ctx.is_null() && !keep(ctx) {
            place.store(core::ptr::null_mut(), Relaxed);
        }
    }
}

/// Least size of a model stack in bytes, also where the limit of the machine stack is unknown.
pub const MODEL_STACK: u64 = 64 << 20;
/// As large as the guard gap that the kernel keeps below the machine stack.
pub const GUARD: u64 = 1 << 20;

/// Size of a thread's model stack.
fn stack_size() -> u64 {
    // Without instrumentation these locals would be on the machine stack, so its limit is the guide.
    let limit = sys::stack_limit();
    limit.clamp(MODEL_STACK, 1 << 30)
}

/// A model stack with a guard below; returns its top and size.
pub fn new_stack() -> Option<(u64, u64)> {
    let size = stack_size();
    let at = sys::reserve(size + GUARD)?;
    // SAFETY: the guard is the lowest part of the memory just reserved, which is larger.
    unsafe { sys::protect_none(at, GUARD) };
    Some((at as u64 + GUARD + size - 64, size))
}

/// Unmaps a model stack.
///
/// # Safety
/// No instrumented code runs in this context any more.
pub unsafe fn drop_stack(ctx: &Context) {
    let base = ctx.initial_stack + 64 - ctx.stack_size - GUARD;
    // SAFETY: `initial_stack` and `stack_size` are what `new_stack` returned, so this is the whole mapping
    // that it made; no code uses it any more.
    unsafe { sys::unmap(base as *mut u8, ctx.stack_size + GUARD) };
}

/// Memory for the stack of entries.
pub fn new_entries() -> Option<*mut Entry> {
    sys::reserve((MAX_ENTRIES * size_of::<Entry>()) as u64).map(<*mut u8>::cast)
}
