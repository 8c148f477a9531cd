//! Which bytes a `scanf` took from its stream.
//!
//! The call leaves these bytes nowhere in the program, and not always in the stream's buffer: the buffer is
//! refilled during the call, and counts as empty once the end of input was reached. So the unread bytes of
//! the buffer are saved before the call. After it, the bytes taken are assembled in memory of the runtime,
//! which replay then knows:
//!
//! ```text
//!   before:   "12 3|"          noted: 12 3
//!   after:    "45\n678..."     position after 45: the call took the noted bytes and two of the next
//! ```
//!
//! For a file that can seek, its position gives the number of bytes taken, and they can be read again. For a
//! pipe, only one refill of the buffer is visible; if there were more before the end of input, the bytes
//! cannot be determined, and none are shown.

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
/// Number of bytes at the start of the buffer that are compared to detect a refill.
const PREFIX_LEN: usize = 16;
/// Flags of a `FILE`: it has no buffer; it has reached the end of input.
const UNBUFFERED: i32 = 0x2;
const EOF_SEEN: i32 = 0x10;
/// The stream cannot seek.
const NOT_SEEKABLE: u64 = u64::MAX;

/// A thread's saved bytes; the memory starts as zeros.
#[repr(C)]
pub struct SavedBuffer {
    /// The stream; 0 if nothing is noted.
    file: u64,
    position: u64,
    base: u64,
    end: u64,
    /// Unread bytes in the buffer; `bytes` contains as many of them as fit.
    unread: u64,
    beginning: [u8; PREFIX_LEN],
    bytes: [u8; CAPACITY],
}

/// Bytes that a call took: their number and their address (0: not available).
pub struct ConsumedBytes {
    /// Number of bytes.
    pub length: u64,
    /// Address of the assembled bytes in memory of the runtime, until the next [`note`]; 0 if not available.
    pub address: u64,
}

/// Fills the buffer of a pipe, as the call would do first; after the call, the number of bytes in that
/// filling can no longer be determined. No context is in use here, because this may block, and a blocked
/// thread may be interrupted by a signal.
///
/// # Safety
/// `file` is an open stream, `format` null or a C string.
pub unsafe fn fill(file: u64, format: *const u8) {
    // SAFETY: the caller guarantees an open stream, and the program is about to read from it. Its lock is
    // held while the C library fills the buffer, as `__underflow` requires. `errno` is this thread's.
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

/// Saves the unread bytes in the buffer of a stream.
///
/// # Safety
/// `file` is an open stream.
pub unsafe fn note(ctx: &mut Context, file: u64) {
    // SAFETY: `consumed` points to memory for one `SavedBuffer` that only this thread uses; zeros are a valid one.
    // The buffer of an open stream is readable from its beginning to its end, and the lengths are limited to
    // the capacity of the note.
    unsafe {
        if ctx.own.consumed.is_null() {
            let Some(place) = sys::reserve(size_of::<SavedBuffer>() as u64) else { return };
            shadow::ensure_shadow(ctx.key, place as u64, size_of::<SavedBuffer>() as u64);
            ctx.own.consumed = place.cast();
        }
        let note = &mut *ctx.own.consumed;
        let (at, end, base) = io::read_buffer(file);
        note.file = file;
        note.position = io::stream_now(file).unwrap_or(NOT_SEEKABLE);
        (note.base, note.end) = (base, end);
        note.unread = end.saturating_sub(at);
        let kept = (note.unread as usize).min(CAPACITY);
        bytes::copy(note.bytes.as_mut_ptr(), at as *const u8, kept);
        let seen = (end.saturating_sub(base) as usize).min(PREFIX_LEN);
        bytes::copy(note.beginning.as_mut_ptr(), base as *const u8, seen);
    }
}

/// The bytes that the call took since [`note`]; nothing if no note exists for this stream.
///
/// # Safety
/// `file` is an open stream.
pub unsafe fn taken(ctx: &mut Context, file: u64) -> Option<ConsumedBytes> {
    // SAFETY: `consumed` is null or this thread's `SavedBuffer`. The buffer of an open stream is readable from its
    // beginning to the read position; it is copied after the noted bytes only if `noted + more` is at most
    // the note's capacity.
    unsafe {
        let note = ctx.own.consumed.as_mut()?;
        if core::mem::take(&mut note.file) != file {
            return None;
        }
        let (at, end, base) = io::read_buffer(file);
        let noted = note.unread;
        let (length, whole) = if note.position != NOT_SEEKABLE {
            let length = io::stream_now(file)?.saturating_sub(note.position);
            (length, length as usize <= CAPACITY && note.read_again(file, length))
        } else if flags(file) & UNBUFFERED != 0 {
            // An unbuffered stream refills for every byte.
            (noted.max(1), false)
        } else if at == end && at == base && flags(file) & EOF_SEEN != 0 {
            // Empty again: all unread bytes were taken, and more if the buffer was refilled.
            (noted, note.prefix_unchanged(base))
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
        Some(ConsumedBytes { length, address: if shown { note.bytes.as_ptr() as u64 } else { 0 } })
    }
}

impl SavedBuffer {
    /// Completes the noted bytes of a file by reading the rest from the file itself.
    ///
    /// # Safety
    /// `file` is an open stream.
    unsafe fn read_again(&mut self, file: u64, length: u64) -> bool {
        let kept = (self.unread as usize).min(CAPACITY).min(length as usize);
        let rest = &mut self.bytes[kept..length as usize];
        // SAFETY: the caller guarantees an open stream.
        let fd = unsafe { io::file_number(file) };
        rest.is_empty() || sys::read_at(fd, rest, self.position + kept as u64) == rest.len() as i64
    }

    /// Whether the buffer, which now begins at `base`, begins with the noted bytes. A stream with another
    /// buffer than before has been refilled; the old buffer may be freed.
    ///
    /// # Safety
    /// `base` is the beginning of the noted stream's buffer.
    unsafe fn prefix_unchanged(&self, base: u64) -> bool {
        let seen = (self.end.saturating_sub(self.base) as usize).min(PREFIX_LEN);
        if seen > 0 && base != self.base {
            return false;
        }
        // SAFETY: the buffer is the one that was noted, and that had at least `seen` bytes; `beginning` has
        // at least that size.
        let same = unsafe { bytes::first_difference(self.base as *const u8, self.beginning.as_ptr(), seen) };
        same == seen
    }
}
