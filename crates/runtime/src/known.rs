//! Making memory known: where memory and shadow differ, the difference is
//! logged and the shadow follows.

use crate::context::Context;
use crate::stream::At;
use crate::{bytes, shadow};
use recording::event::Event;

/// Patches closer to each other than this are logged as one.
const GAP: usize = 12;
/// Longest patch; longer differences become several.
const LONGEST: usize = 1 << 20;

impl Context {
    /// Makes `len` bytes at `address` known.
    #[inline]
    pub unsafe fn make_known(&mut self, at: At, address: u64, len: u64) {
        unsafe { self.make_known_from(at, address, address, len) };
    }

    /// The same, but what memory held is found at another place (the
    /// destination of a `memmove` holds what the source held).
    #[inline]
    pub unsafe fn make_known_from(&mut self, at: At, address: u64, content: u64, len: u64) {
        if address == 0 || len == 0 {
            return;
        }
        for (shadow, piece) in shadow::pieces(self.key, address, len) {
            let from = shadow ^ self.key;
            let content = content + (from - address);
            let same =
                unsafe { bytes::first_difference(content as *const u8, shadow as *const u8, piece as usize) };
            if same < piece as usize {
                unsafe { self.patch_range(at, from, content, piece as usize, same) };
            }
        }
    }

    #[inline(never)]
    unsafe fn patch_range(&mut self, at: At, address: u64, content: u64, len: usize, mut start: usize) {
        let memory = content as *const u8;
        let shadow = (address ^ self.key) as *mut u8;
        unsafe {
            while start < len {
                // The difference ends where GAP bytes are equal.
                let mut end = start + 1;
                let mut equal = 0;
                while end < len && equal < GAP && end - start < LONGEST {
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

    /// Logs that memory holds `bytes` at `address`; the shadow gets what was
    /// logged, whatever another thread writes meanwhile.
    pub unsafe fn patch(&mut self, at: At, address: u64, bytes: &[u8]) {
        let len = bytes.len();
        let shadow = (address ^ self.key) as *mut u8;
        if self.emit_long(at, &Event::Patch { address, bytes }, len + 64) {
            // The bytes are the event's last.
            unsafe { bytes::copy(shadow, self.own.cursor.sub(len), len) };
        } else {
            unsafe { bytes::copy(shadow, bytes.as_ptr(), len) };
        }
    }
}
