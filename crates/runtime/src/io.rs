//! Sources and destinations of bytes, and positions in them.
//!
//! Descriptors are resolved in `/proc/self/fd` once, and again after they were opened or closed. Positions of
//! files come from the kernel where a call to it was made anyway; positions of streams are tracked
//! incrementally, so that `getc` costs no system call.

use crate::call::Call;
use crate::context::Context;
use crate::process::Path;
use crate::stream::At;
use crate::{bytes, consumed, environment, sockets, sys};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use externals::{Channel, Data, Direction, External, Io, Len, Range, Ret, flag};
use recording::event::{Event, source};

unsafe extern "C" {
    static stdin: *mut u8;
    static stdout: *mut u8;
    static stderr: *mut u8;
    fn ftello(file: *mut u8) -> i64;
    fn __errno_location() -> *mut i32;
}

const MAX_FD: usize = 1024;
/// Indices in the table of sources after the descriptors.
const CLOCK: usize = MAX_FD;
const RANDOM: usize = MAX_FD + 1;
const SOURCES: usize = MAX_FD + 2;

/// A number that all threads read and write. Two threads that use one descriptor or stream at the same time
/// may corrupt each other's positions, as they may the program's.
struct SharedCounter(AtomicU64);

impl SharedCounter {
    const fn new(value: u64) -> SharedCounter {
        SharedCounter(AtomicU64::new(value))
    }

    fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }

    fn set(&self, value: u64) {
        self.0.store(value, Relaxed);
    }

    /// Adds to the number; returns its old value.
    fn add(&self, count: u64) -> u64 {
        let old = self.get();
        self.set(old.wrapping_add(count));
        old
    }

    fn back(&self, count: u64) {
        self.set(self.get().saturating_sub(count));
    }
}

/// State of a descriptor. The position is used for descriptors that cannot seek, separately for each
/// direction.
struct Descriptor {
    /// How often the descriptor was reopened.
    generation: SharedCounter,
    /// 0: not determined, 1: can seek, 2: cannot seek.
    seeks: SharedCounter,
    position: [SharedCounter; 2],
}

static DESCRIPTORS: [Descriptor; MAX_FD] = [const {
    Descriptor {
        generation: SharedCounter::new(0),
        seeks: SharedCounter::new(0),
        position: [const { SharedCounter::new(0) }; 2],
    }
}; MAX_FD];

/// A stream's position, tracked incrementally.
struct Stream {
    file: SharedCounter,
    /// 1 if the position is known.
    known: SharedCounter,
    position: SharedCounter,
    /// State of the read buffer after the last call: its end, and the number of unread bytes.
    read_end: SharedCounter,
    unread: SharedCounter,
}

impl Stream {
    const fn new() -> Stream {
        let [file, known, position, read_end, unread] = [const { SharedCounter::new(0) }; 5];
        Stream { file, known, position, read_end, unread }
    }

    /// Assigns the entry to this stream, with nothing known about it.
    fn reset(&self, file: u64) {
        self.file.set(file);
        for field in [&self.known, &self.position, &self.read_end, &self.unread] {
            field.set(0);
        }
    }

    fn is_known(&self) -> bool {
        self.known.get() != 0
    }
}

const STREAMS: usize = 256;
static OPEN: [Stream; STREAMS] = [const { Stream::new() }; STREAMS];

fn descriptor(fd: i32) -> Option<&'static Descriptor> {
    DESCRIPTORS.get(usize::try_from(fd).ok()?)
}

/// The entry of a stream; replaces an old one when the table is full.
fn stream(file: u64) -> &'static Stream {
    let hash = (file >> 4).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56;
    let place = |i: u64| &OPEN[((hash + i) as usize) % STREAMS];
    for entry in (0..16).map(place) {
        let taken = entry.file.get();
        if taken == 0 {
            entry.reset(file);
        }
        if taken == 0 || taken == file {
            return entry;
        }
    }
    let entry = place(0);
    entry.reset(file);
    entry
}

/// The descriptor of a stream.
///
/// # Safety
/// `file` is a stream of the C library that is not closed.
pub unsafe fn file_number(file: u64) -> i32 {
    // SAFETY: the layout of a `FILE` is part of the C library's ABI; the descriptor is at 112.
    unsafe { *((file + 112) as *const i32) }
}

/// The read position in a stream's buffer, the buffer's end and its beginning.
///
/// # Safety
/// `file` is an open stream of the C library.
pub unsafe fn read_buffer(file: u64) -> (u64, u64, u64) {
    // SAFETY: the layout of a `FILE` is part of the C library's ABI; these three pointers come after the
    // flags.
    let [at, end, base] = unsafe { *((file + 8) as *const [u64; 3]) };
    (at, end, base)
}

/// Whether a descriptor can seek.
pub fn seeks(fd: i32) -> bool {
    let Some(d) = descriptor(fd) else { return false };
    if d.seeks.get() == 0 {
        d.seeks.set(if sys::position(fd).is_some() { 1 } else { 2 });
    }
    d.seeks.get() == 1
}

/// The current position of a stream that can seek.
///
/// # Safety
/// `file` is an open stream of the C library.
pub unsafe fn stream_now(file: u64) -> Option<u64> {
    // SAFETY: the caller guarantees an open stream.
    unsafe {
        if !seeks(file_number(file)) {
            return None;
        }
        let now = tell(file)?;
        let entry = stream(file);
        entry.position.set(now);
        entry.known.set(1);
        Some(now)
    }
}

/// The stream of a call that takes an unknown number of bytes, if it is open.
///
/// # Safety
/// `io` belongs to the function that `call` calls.
pub unsafe fn consumed_stream(io: Io, call: &Call<'_>) -> Option<u64> {
    if io.data != Data::Consumed {
        return None;
    }
    let file = match io.channel {
        Channel::Stream(slot) => call.arg(slot),
        // SAFETY: a variable of the C library, which the program must not change while it reads from
        // the stream.
        Channel::Stdin => unsafe { stdin as u64 },
        _ => return None,
    };
    // SAFETY: the program passes this stream to the C library, so it is null or one of its streams.
    (file != 0 && unsafe { file_number(file) } >= 0).then_some(file)
}

/// The descriptor refers to something else from now on.
fn renew(fd: i32) {
    if let Some(d) = descriptor(fd) {
        d.generation.add(1);
        d.seeks.set(0);
        d.position.iter().for_each(|p| p.set(0));
    }
}

fn forget_stream(file: u64) {
    stream(file).reset(file);
}

/// Updates the tables after calls that open, close or seek.
///
/// # Safety
/// `call` is a call of `external` that has returned.
pub unsafe fn follow(external: &External, call: &Call<'_>) {
    // SAFETY: a function that opens returns null or an open stream; the stream of `ungetc` is open, as it has
    // put a byte back. A function that opens two descriptors has stored them in its first range; the code
    // checks that this range has eight bytes.
    unsafe {
        if external.has(flag::CLOSES) {
            if call.arg(0) < MAX_FD as u64 { renew(call.arg(0) as i32) } else { forget_stream(call.arg(0)) }
        }
        if external.has(flag::OPENS) {
            match external.ret {
                Ret::Fd => renew(call.ret as i32),
                _ if call.ret != 0 => {
                    forget_stream(call.ret);
                    // `fdopen` keeps the descriptor, but the descriptor may have been used before.
                    renew(file_number(call.ret));
                }
                _ => {}
            }
        }
        if external.has(flag::OPENS_TWO)
            && let Some((at, 8..)) = external.writes.first().and_then(|range| call.range(range))
        {
            let both = (at as *const [i32; 2]).read_unaligned();
            both.into_iter().for_each(renew);
            sockets::record_pair(both);
        }
        if external.has(flag::SEEKS) && call.arg(0) > MAX_FD as u64 {
            forget_stream(call.arg(0));
        }
        if external.has(flag::UNGETS) && call.arg(1) != 0 && call.count().is_some() {
            put_back(call.arg(1));
        }
    }
}

/// A byte was put back to a stream.
///
/// # Safety
/// `file` is an open stream of the C library.
pub unsafe fn put_back(file: u64) {
    stream(file).position.back(1);
    // SAFETY: the caller guarantees an open stream.
    if let Some(d) = descriptor(unsafe { file_number(file) }) {
        d.position[0].back(1);
    }
}

impl Context {
    /// All sources must be defined again, from number 0; used in a forked child.
    pub fn forget_sources(&mut self) {
        self.own.sources = core::ptr::null_mut();
        self.own.next_source = 0;
    }

    fn define_source(&mut self, kind: u8, fd: i32, name: &[u8]) -> u64 {
        self.emit_long(At::outside(self.time), &Event::Source { kind, fd, name }, name.len() + 64);
        self.own.next_source += 1;
        self.own.next_source - 1
    }

    /// The source at an index of the table, made by `define` if its generation has changed.
    fn source(
        &mut self,
        place: usize,
        generation: u32,
        define: impl FnOnce(&mut Context) -> u64,
    ) -> Option<u64> {
        if self.own.sources.is_null() {
            self.own.sources = sys::reserve((SOURCES * 8) as u64)?.cast();
        }
        debug_assert!(place < SOURCES);
        // SAFETY: `place` is a descriptor below `MAX_FD`, `CLOCK` or `RANDOM`, so it is one of the
        // `SOURCES` words that were reserved, as zeros, for this thread alone.
        let entry = unsafe { &mut *self.own.sources.add(place) };
        let known = *entry;
        if (known >> 32) as u32 == generation {
            return Some(known & 0xffff_ffff);
        }
        let id = define(self);
        *entry = u64::from(generation) << 32 | id;
        Some(id)
    }

    /// The number of a descriptor's source, defined when it is first used; if it is too high for the table,
    /// each time. `None` for a negative descriptor, or without memory.
    pub fn descriptor_source(&mut self, fd: i32) -> Option<u64> {
        let Some(d) = descriptor(fd) else {
            return (fd >= 0).then(|| define_descriptor(self, fd));
        };
        self.source(fd as usize, d.generation.get() as u32 + 1, |ctx| define_descriptor(ctx, fd))
    }
}

fn define_descriptor(ctx: &mut Context, fd: i32) -> u64 {
    const TYPE: u32 = 0o170_000;
    const SOCKET: u32 = 0o140_000;
    let mut link = Path::new();
    link.push(b"/proc/self/fd/").push_number(fd.cast_unsigned().into());
    let mut text = [0; 1024];
    let name = sys::readlink(link.as_c_str(), &mut text).unwrap_or(&[]);
    let mode = sys::mode(fd).map(|m| m & TYPE);
    let kind = match (fd, mode) {
        (0, _) => source::STDIN,
        (1, _) => source::STDOUT,
        (2, _) => source::STDERR,
        (_, Some(0o100_000)) => source::FILE,
        (_, Some(0o010_000)) => source::PIPE,
        (_, Some(SOCKET)) => source::SOCKET,
        _ if name == b"/dev/urandom" || name == b"/dev/random" => source::RANDOM,
        _ => source::OTHER,
    };
    if mode != Some(SOCKET) {
        return ctx.define_source(kind, fd, name);
    }
    // Reuses the buffer of the link's name, because stack space may be scarce.
    link = Path::new();
    link.push(name);
    sockets::describe(fd, &mut link);
    ctx.define_source(kind, fd, link.as_bytes())
}

/// Position before a system call moved `count` bytes on `fd`.
pub fn descriptor_position(fd: i32, out: bool, count: u64) -> u64 {
    let Some(d) = descriptor(fd) else { return 0 };
    if d.seeks.get() != 2 {
        match sys::position(fd) {
            Some(now) => {
                d.seeks.set(1);
                return now.saturating_sub(count);
            }
            None => d.seeks.set(2),
        }
    }
    d.position[usize::from(out)].add(count)
}

/// Position of a stream that can seek.
///
/// # Safety
/// `file` is an open stream of the C library.
unsafe fn tell(file: u64) -> Option<u64> {
    // SAFETY: the stream is open; `ftello` takes its lock, which this thread can take again if it
    // holds it. `errno` is this thread's.
    unsafe {
        let errno = *__errno_location();
        let position = ftello(file as *mut u8);
        *__errno_location() = errno;
        u64::try_from(position).ok()
    }
}

/// How many bytes the call that has just returned took from a stream, according to its buffer. At most one
/// refill is visible; more are rare (a token longer than the buffer) and make only the offset inaccurate.
///
/// # Safety
/// `file` is an open stream of the C library.
unsafe fn bytes_consumed(file: u64) -> u64 {
    let entry = stream(file);
    // SAFETY: the caller guarantees an open stream.
    let (at, end, base) = unsafe { read_buffer(file) };
    let unread = end.saturating_sub(at);
    let was = entry.unread.get();
    match end == entry.read_end.get() && unread <= was {
        true => was - unread,
        false => was + at.saturating_sub(base),
    }
}

/// How many bytes `fgets` has stored at an address: `text` up to the first NUL. A line may contain further
/// NUL bytes; then only the stream has the length.
///
/// # Safety
/// `file` is an open stream of the C library, from which `fgets` has read to `address`, where there are
/// `room` bytes; `text` is less than `room`.
pub unsafe fn line_length(file: u64, address: u64, text: u64, room: u64) -> u64 {
    // SAFETY: called only with offsets less than `room`: `text - 1`, and `taken` or less after its check.
    let byte = |at: u64| unsafe { *((address + at) as *const u8) };
    // A whole line, or a full buffer.
    if text > 0 && byte(text - 1) == b'\n' || text + 1 >= room {
        return text;
    }
    let entry = stream(file);
    // SAFETY: the caller guarantees an open stream.
    let (taken, (at, _, base)) = unsafe {
        let now = if entry.is_known() { tell(file) } else { None };
        let taken = match now {
            Some(now) => now.saturating_sub(entry.position.get()),
            None => bytes_consumed(file),
        };
        (taken, read_buffer(file))
    };
    if taken <= text || taken >= room || byte(taken) != 0 {
        return text;
    }
    // At the end of the input the buffer counts as empty.
    let seen = taken.min(at.saturating_sub(base));
    // SAFETY: `k` is at most `at - base`, so the byte lies in the part of the stream's buffer that was
    // already read.
    let same = (1..=seen).all(|k| unsafe { *((at - k) as *const u8) } == byte(taken - k));
    if same { taken } else { text }
}

/// Position before a call on a stream, and the number of bytes it moved. Without `count` that number is
/// computed from the stream.
///
/// # Safety
/// `file` is an open stream of the C library.
pub unsafe fn stream_position(file: u64, out: bool, count: Option<u64>) -> (u64, u64) {
    // SAFETY: the caller guarantees an open stream.
    unsafe {
        let fd = file_number(file);
        let entry = stream(file);
        let (at, end, _) = read_buffer(file);
        let unread = end.saturating_sub(at);
        let seeks = seeks(fd);
        let result = if seeks {
            let known = entry.is_known();
            match count {
                Some(n) => {
                    if !known {
                        entry.position.set(tell(file).unwrap_or(0).saturating_sub(n));
                    }
                    (entry.position.get(), n)
                }
                None => {
                    let now = tell(file).unwrap_or(0);
                    let before = if known { entry.position.get().min(now) } else { now };
                    (before, now - before)
                }
            }
        } else {
            let n = count.unwrap_or_else(|| if out { 0 } else { bytes_consumed(file) });
            (descriptor(fd).map_or(0, |d| d.position[usize::from(out)].add(n)), n)
        };
        if seeks {
            entry.position.set(result.0 + result.1);
            entry.known.set(1);
        }
        entry.read_end.set(end);
        entry.unread.set(unread);
        result
    }
}

/// The bytes of an input or output: address (0: not available) and count; no count if only the stream has it.
///
/// # Safety
/// `call` is a call of `external` that has returned, and `io` belongs to the function.
unsafe fn extent(external: &External, io: Io, call: &Call<'_>) -> Option<(u64, Option<u64>)> {
    let text = |range: &Range, (address, len): (u64, u64)| {
        // Ranges of strings include their NUL, which is not input or output. A bounded string may have none.
        let has_nul = match range.len {
            Len::CStr | Len::RetAndNul => true,
            // SAFETY: `range` gives readable bytes, at least one.
            Len::CStrMax(_) => unsafe { *((address + len - 1) as *const u8) == 0 },
            _ => false,
        };
        (address, Some(len - u64::from(has_nul)))
    };
    // SAFETY: the ranges belong to the function that was called, and the call has returned.
    unsafe {
        Some(match io.data {
            Data::Written(i) => {
                let range = external.writes.get(i as usize)?;
                text(range, call.range(range)?)
            }
            Data::Read(i) | Data::Text(i) => {
                let range = external.reads.get(i as usize)?;
                text(range, call.range(range)?)
            }
            Data::Line(i) => {
                let range = external.reads.get(i as usize)?;
                let (address, len) = text(range, call.range(range)?);
                (address, len.map(|n| n + 1))
            }
            Data::Byte => (0, Some(call.count().map(|_| 1)?)),
            Data::Count => (0, Some(call.count()?)),
            Data::Consumed => (0, None),
            Data::Result => (0, Some(8)),
        })
    }
}

/// Logs the input or output of a call that has returned.
///
/// # Safety
/// `call` is a call of `external` that has returned, `io` is the function's, and `ctx` is this
/// thread's and has a shadow.
pub unsafe fn log(ctx: &mut Context, external: &External, io: Io, call: &Call<'_>) {
    let out = io.direction == Direction::Out;
    // SAFETY: the program has passed the stream to a function that reads or writes, so it is open (one
    // without a descriptor is ignored); `stdin`, `stdout` and `stderr` are the C library's. The bytes that
    // the function has read or written are mapped: `line_length` stays below the length that was passed, and
    // `taken` names bytes in memory of the runtime.
    unsafe {
        let Some((address, count)) = extent(external, io, call) else { return };
        let file = match io.channel {
            Channel::Stream(slot) => call.arg(slot),
            Channel::Stdin => stdin as u64,
            Channel::Stdout => stdout as u64,
            Channel::Stderr => stderr as u64,
            Channel::Fd(slot) => {
                log_descriptor(ctx, external, io, call, call.arg(slot) as i32, (address, count.unwrap_or(0)));
                return;
            }
            // The environment was logged when `main` was entered.
            Channel::Environment => return,
            Channel::Clock | Channel::Random => {
                let (place, kind) = if io.channel == Channel::Clock {
                    (CLOCK, source::TIME)
                } else {
                    (RANDOM, source::RANDOM)
                };
                if let Some(id) = ctx.source(place, 1, |ctx| ctx.define_source(kind, -1, &[])) {
                    let length = count.unwrap_or(0);
                    ctx.emit(call.at, &Event::Io { out, source: id, offset: 0, address, length });
                }
                return;
            }
        };
        if file == 0 || file_number(file) < 0 {
            return;
        }
        let mut count = count;
        if let (Data::Written(i), Some(text)) = (io.data, count)
            && let Some(Len::CStrMax(slot)) = external.writes.get(i as usize).map(|range| range.len)
        {
            let length = line_length(file, address, text, call.arg(slot));
            if length > text {
                ctx.sync_shadow(call.at, address, length + 1);
                count = Some(length);
            }
        }
        let taken = if io.data == Data::Consumed { consumed::taken(ctx, file) } else { None };
        // `stream_position` advances the tracked position by the bytes read; for a `scanf`, `taken` has
        // already set it, so it is moved back first.
        if let Some(taken) = &taken
            && seeks(file_number(file))
        {
            stream(file).position.back(taken.length);
        }
        let (offset, length) = stream_position(file, out, taken.as_ref().map(|t| t.length).or(count));
        if length == 0 {
            return;
        }
        let address = taken.map_or(address, |taken| taken.address);
        if io.data == Data::Consumed {
            ctx.sync_shadow(call.at, address, length);
        }
        if let Some(id) = ctx.descriptor_source(file_number(file)) {
            ctx.emit(call.at, &Event::Io { out, source: id, offset, address, length });
        }
    }
}

/// # Safety
/// As for [`log`].
unsafe fn log_descriptor(
    ctx: &mut Context,
    external: &External,
    io: Io,
    call: &Call<'_>,
    fd: i32,
    (address, mut length): (u64, u64),
) {
    let out = io.direction == Direction::Out;
    let ranges = if out { external.reads } else { external.writes };
    let vector = ranges.iter().find(|r| matches!(r.len, Len::Iovec(_)));
    if vector.is_some() {
        length = call.count().unwrap_or(0);
    }
    if length == 0 {
        return;
    }
    let Some(id) = ctx.descriptor_source(fd) else { return };
    let mut offset = match io.at {
        Some(slot) => call.arg(slot),
        None => descriptor_position(fd, out, length),
    };
    let Some(vector) = vector else {
        ctx.emit(call.at, &Event::Io { out, source: id, offset, address, length });
        return;
    };
    // SAFETY: the range belongs to the function that was called, and the call has returned.
    for (address, length) in unsafe { call.buffers(vector) } {
        ctx.emit(call.at, &Event::Io { out, source: id, offset, address, length });
        offset += length;
    }
}

/// `mmap` of a file: later loads from the mapping read the file's bytes.
pub fn log_mapped(ctx: &mut Context, call: &Call<'_>) {
    let (address, length) = (call.ret, call.arg(1));
    if let Some(id) = ctx.descriptor_source(call.arg(4) as i32) {
        ctx.emit(call.at, &Event::Mapped { address, length });
        ctx.emit(call.at, &Event::Io { out: false, source: id, offset: call.arg(5), address, length });
    }
}

/// Makes `argv`, its strings and the environment known, before `main`.
///
/// # Safety
/// `argv` is null or has `argc` strings and a null pointer, as `main` gets them. `ctx` is this thread's. No
/// code changes the environment during the call.
pub unsafe fn sync_arguments(ctx: &mut Context, argc: u64, argv: *const *const u8) {
    let at = At::outside(ctx.time);
    // SAFETY: the caller guarantees that the strings of both arrays are readable up to their NUL and the
    // arrays up to their null pointers. Instrumented code has not yet started a thread that could change
    // them.
    unsafe {
        if !argv.is_null() {
            ctx.sync_shadow(at, argv as u64, (argc + 1) * 8);
            for i in 0..argc as usize {
                let argument = *argv.add(i);
                let length = bytes::string_len(argument) as u64;
                ctx.sync_shadow(at, argument as u64, length + 1);
                let id = ctx.define_source(source::ARGV, i as i32, &[]);
                ctx.emit(
                    at,
                    &Event::Io { out: false, source: id, offset: 0, address: argument as u64, length },
                );
            }
        }
        let array = environment::array();
        let count = environment::entries().count() as u64;
        if !array.is_null() {
            ctx.sync_shadow(at, array as u64, (count + 1) * 8);
        }
        for entry in environment::entries() {
            let name = entry.iter().position(|&b| b == b'=').unwrap_or(entry.len());
            ctx.sync_shadow(at, entry.as_ptr() as u64, entry.len() as u64 + 1);
            let id = ctx.define_source(source::ENVIRONMENT, -1, &entry[..name]);
            let (address, length) = (entry.as_ptr() as u64, entry.len() as u64);
            ctx.emit(at, &Event::Io { out: false, source: id, offset: 0, address, length });
        }
    }
}
