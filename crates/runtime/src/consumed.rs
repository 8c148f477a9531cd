//! What a `scanf` took from its stream.
//!
//! It leaves the bytes nowhere in the program, and not always in the stream's buffer: that
//! is filled again on the way, and counts as empty once the end of the input was met. So
//! the bytes that wait in the buffer are noted before the call. Behind it, what was taken
//! is put together in a place of our own, which replay then knows:
//!
//! ```text
//!   before:   "12 3|"          noted: 12 3
//!   behind:   "45\n678..."     at 45: taken were the noted ones and two of the next
//! ```
//!
//! A file that can seek says how far it was read, and its bytes can be read once more. Of
//! a pipe we see one filling of the buffer; if there were more before its end, nobody can
//! say what was taken, and no bytes are shown.

use crate::context::Context;
use crate::io;
use crate::{bytes, shadow, sys};

unsafe extern "C" {
    fn __underflow(file: *mut u8) -> i32;
    fn flockfile(file: *mut u8);
    fn funlockfile(file: *mut u8);
    fn __errno_location() -> *mut i32;
}

/// More bytes than this in one call are not shown.
const CAPACITY: usize = 64 << 10;
/// So much of the buffer's beginning is looked at to see whether it was filled again.
const BEGINNING: usize = 16;
/// Flags of a `FILE`: it has no buffer; it has met its end.
const UNBUFFERED: i32 = 0x2;
const EOF_SEEN: i32 = 0x10;
/// The stream cannot seek.
const NOWHERE: u64 = u64::MAX;

/// A thread's notes; the memory begins as zeros.
#[repr(C)]
pub struct Note {
    /// The stream; 0 if nothing is noted.
    file: u64,
    position: u64,
    base: u64,
    end: u64,
    /// Bytes that waited in the buffer; of those, `bytes` has as many as fit.
    unread: u64,
    beginning: [u8; BEGINNING],
    bytes: [u8; CAPACITY],
}

/// Bytes that a call took: how many, and where they are (0: nowhere).
pub struct Taken {
    pub length: u64,
    pub address: u64,
}

/// Fills the buffer of a pipe, as the call would do first: afterwards one cannot tell how
/// much there was. No context is in use meanwhile, for this may wait, and whoever waits
/// may be interrupted.
///
/// # Safety
/// `file` is an open stream, `format` null or a C string.
pub unsafe fn fill(file: u64, format: *const u8) {
    // SAFETY: the stream is open, says the caller, and the program is about to read from it. Its
    // lock is held while the C library fills the buffer, as `__underflow` asks for. `errno` is this
    // thread's.
    unsafe {
        if format.is_null() || *format == 0 || io::seeks(io::file_number(file)) {
            return;
        }
        let (at, end, _) = io::read_buffer(file);
        if at < end || flags(file) & EOF_SEEN != 0 {
            return;
        }
        let errno = *__errno_location();
        flockfile(file as *mut u8);
        __underflow(file as *mut u8);
        funlockfile(file as *mut u8);
        *__errno_location() = errno;
    }
}

/// # Safety
/// `file` is an open stream.
unsafe fn flags(file: u64) -> i32 {
    // SAFETY: a `FILE` begins with its flags; that is part of the C library's ABI.
    unsafe { *(file as *const i32) }
}

/// Notes what waits in the buffer of a stream.
///
/// # Safety
/// `file` is an open stream.
pub unsafe fn note(ctx: &mut Context, file: u64) {
    // SAFETY: `consumed` points to memory for one `Note` that only this thread knows of; zeros are
    // a valid one. The buffer of an open stream is readable from its beginning to its end, and the
    // lengths are cut to what the note has room for.
    unsafe {
        if ctx.own.consumed.is_null() {
            let Some(place) = sys::reserve(size_of::<Note>() as u64) else { return };
            shadow::cover(ctx.key, place as u64, size_of::<Note>() as u64);
            ctx.own.consumed = place.cast();
        }
        let note = &mut *ctx.own.consumed;
        let (at, end, base) = io::read_buffer(file);
        note.file = file;
        note.position = io::stream_now(file).unwrap_or(NOWHERE);
        (note.base, note.end) = (base, end);
        note.unread = end.saturating_sub(at);
        let kept = (note.unread as usize).min(CAPACITY);
        bytes::copy(note.bytes.as_mut_ptr(), at as *const u8, kept);
        let seen = (end.saturating_sub(base) as usize).min(BEGINNING);
        bytes::copy(note.beginning.as_mut_ptr(), base as *const u8, seen);
    }
}

/// What the call took since the note; nothing if there is none of this stream.
///
/// # Safety
/// `file` is an open stream.
pub unsafe fn taken(ctx: &mut Context, file: u64) -> Option<Taken> {
    // SAFETY: `consumed` is null or this thread's `Note`. The buffer of an open stream is readable
    // from its beginning to where reading goes on; it is copied behind the noted bytes only if
    // `noted + more` is at most the note's capacity.
    unsafe {
        let note = ctx.own.consumed.as_mut()?;
        if core::mem::take(&mut note.file) != file {
            return None;
        }
        let (at, end, base) = io::read_buffer(file);
        let noted = note.unread;
        let (length, whole) = if note.position != NOWHERE {
            let length = io::stream_now(file)?.saturating_sub(note.position);
            (length, length as usize <= CAPACITY && note.read_again(file, length))
        } else if flags(file) & UNBUFFERED != 0 {
            // Filled again for every byte.
            (noted.max(1), false)
        } else if at == end && at == base && flags(file) & EOF_SEEN != 0 {
            // Empty again: all that waited was taken, and more if it was filled again.
            (noted, note.begins_as_before(base))
        } else if (base, end) == (note.base, note.end) && end - at <= noted {
            (noted - (end - at), true)
        } else {
            let more = at.saturating_sub(base);
            let whole = noted + more <= CAPACITY as u64;
            if whole {
                bytes::copy(note.bytes.as_mut_ptr().add(noted as usize), base as *const u8, more as usize);
            }
            (noted + more, whole)
        };
        let shown = whole && length as usize <= CAPACITY;
        Some(Taken { length, address: if shown { note.bytes.as_ptr() as u64 } else { 0 } })
    }
}

impl Note {
    /// Completes the noted bytes of a file from the file itself.
    ///
    /// # Safety
    /// `file` is an open stream.
    unsafe fn read_again(&mut self, file: u64, length: u64) -> bool {
        let kept = (self.unread as usize).min(CAPACITY).min(length as usize);
        let rest = &mut self.bytes[kept..length as usize];
        // SAFETY: the stream is open, says the caller.
        let fd = unsafe { io::file_number(file) };
        rest.is_empty() || sys::read_at(fd, rest, self.position + kept as u64) == rest.len() as i64
    }

    /// Whether the buffer, which begins at `base` now, begins with what was noted. A stream that
    /// has got another buffer meanwhile has been filled again; the old one may be gone.
    ///
    /// # Safety
    /// `base` is where the buffer of the noted stream begins.
    unsafe fn begins_as_before(&self, base: u64) -> bool {
        let seen = (self.end.saturating_sub(self.base) as usize).min(BEGINNING);
        if seen > 0 && base != self.base {
            return false;
        }
        // SAFETY: the buffer is the one that was noted, and that had at least `seen` bytes;
        // `beginning` has room for as many.
        let same = unsafe { bytes::first_difference(self.base as *const u8, self.beginning.as_ptr(), seen) };
        same == seen
    }
}
