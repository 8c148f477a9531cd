//! Makes memory known: where memory and shadow differ, the difference is logged and the shadow is updated.

use crate::context::Context;
use crate::stream::At;
use crate::{bytes, memory, shadow};
use recording::event::Event;

/// Patches with fewer equal bytes than this between them are logged as one.
const GAP: usize = 12;
/// Longest patch; longer differences become several.
const MAX_PATCH_LEN: usize = 1 << 20;

impl Context {
    /// Makes `len` bytes at `address` known.
    ///
    /// # Safety
    /// `address` is 0, or the bytes are readable. The context is this thread's and has a shadow.
    #[inline]
    pub unsafe fn sync_shadow(&mut self, at: At, address: u64, len: u64) {
        // SAFETY: guaranteed by the caller; content and address are the same memory.
        unsafe { self.sync_shadow_from(at, address, address, len) };
    }

    /// The same, but the content is read from another address (the destination of a `memmove` contains what
    /// the source contained).
    ///
    /// # Safety
    /// `address` is 0, or memory of the program, and `len` bytes at `content` are readable. The context is
    /// this thread's and has a shadow.
    #[inline]
    pub unsafe fn sync_shadow_from(&mut self, at: At, address: u64, content: u64, len: u64) {
        if address == 0 || len == 0 {
            return;
        }
        for (shadow, piece) in shadow::pieces(self.key, address, len) {
            let from = shadow ^ self.key;
            let content = content + (from - address);
            // SAFETY: `content` is the part of the caller's range that belongs to this piece; its shadow is
            // reserved or created when the access faults.
            let same =
                unsafe { bytes::first_difference(content as *const u8, shadow as *const u8, piece as usize) };
            if same < piece as usize {
                // SAFETY: as above, and the piece is contiguous in the shadow.
                unsafe { self.patch_range(at, from, content, piece as usize, same) };
            }
        }
    }

    /// Logs the differences from `start` on.
    ///
    /// # Safety
    /// `len` bytes at `content` are readable, and the shadow of `len` bytes at `address` is
    /// contiguous and belongs to this thread.
    #[inline(never)]
    unsafe fn patch_range(&mut self, at: At, address: u64, content: u64, len: usize, mut start: usize) {
        let memory = content as *const u8;
        let shadow = (address ^ self.key) as *mut u8;
        // SAFETY: `start`, `stop` and `end` never exceed `len`, so everything stays within the two ranges.
        // Other threads of the program may write to `memory` meanwhile: the slice of it is only copied to the
        // event, byte for byte, and the shadow gets the copy (`patch`).
        unsafe {
            while start < len {
                // The difference ends where GAP bytes are equal.
                let mut end = start + 1;
                let mut equal = 0;
                while end < len && equal < GAP && end - start < MAX_PATCH_LEN {
                    equal = if *memory.add(end) == *shadow.add(end) { equal + 1 } else { 0 };
                    end += 1;
                }
                let stop = end - equal;
                self.patch(
                    at,
                    address + start as u64,
                    core::slice::from_raw_parts(memory.add(start), stop - start),
                );
                start = end + bytes::first_difference(memory.add(end), shadow.add(end), len - end);
            }
        }
    }

    /// Logs that memory contains `bytes` at `address`; the shadow gets exactly the logged bytes, even if
    /// another thread writes meanwhile.
    ///
    /// # Safety
    /// `address` is memory of the program, of the length of `bytes`. The context is this thread's and has a
    /// shadow.
    pub unsafe fn patch(&mut self, at: At, address: u64, bytes: &[u8]) {
        let len = bytes.len();
        let content = if self.emit_long(at, &Event::Patch { address, bytes }, len + 64) {
            // SAFETY: the event has just been written, and the bytes are at its end: they lie in the window
            // directly before the cursor.
            unsafe { self.own.cursor.sub(len) }
        } else {
            bytes.as_ptr()
        };
        // SAFETY: there are `len` bytes of content, and the caller guarantees the range.
        unsafe { memory::store(self.key, address, content, len as u64) };
    }
}
