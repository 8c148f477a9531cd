//! Access to the shadow, and the shadow as the models of the externals see it.
//!
//! A range that crosses the border of two blocks is split in the shadow, and memory of the program may follow
//! the first part. So every access that may be long uses [`shadow::pieces`].

use crate::shadow::{self, is_contiguous, pieces};
use crate::{bytes, sys};
use externals::Memory;

/// Stores bytes to the shadow of a range.
///
/// # Safety
/// `key` is that of a context of this thread that has a shadow. The range is memory of the program, so that
/// [`shadow::map_missing_shadow`] succeeds if the shadow has to be created first, or its shadow is already reserved.
/// `len` bytes at `content` are readable.
#[inline]
pub unsafe fn store(key: u64, at: u64, content: *const u8, len: u64) {
    // SAFETY: each piece is the shadow of a part of the range, which only this thread writes, and receives
    // its part of the content.
    unsafe {
        if is_contiguous(at, len) {
            bytes::copy((at ^ key) as *mut u8, content, len as usize);
            return;
        }
        for (piece, len) in pieces(key, at, len) {
            let offset = (piece ^ key) - at;
            bytes::copy(piece as *mut u8, content.add(offset as usize), len as usize);
        }
    }
}

/// Fills the shadow of a range with a byte.
///
/// # Safety
/// As for [`store`].
#[inline]
pub unsafe fn fill(key: u64, at: u64, byte: u8, len: u64) {
    if is_contiguous(at, len) {
        // SAFETY: this is the shadow of the whole range, which only this thread writes.
        unsafe { bytes::fill((at ^ key) as *mut u8, byte, len as usize) };
        return;
    }
    for (piece, len) in pieces(key, at, len) {
        // SAFETY: the piece is the shadow of a part of the range, which only this thread writes.
        unsafe { bytes::fill(piece as *mut u8, byte, len as usize) };
    }
}

/// `memmove` in the shadow.
///
/// # Safety
/// As for [`store`], for both ranges.
#[inline]
pub unsafe fn copy(key: u64, to: u64, from: u64, len: u64) {
    // SAFETY: with one piece on either side these are the shadows of the two ranges; `copy_pieces` requires
    // what the caller has guaranteed.
    unsafe {
        if is_contiguous(to, len) && is_contiguous(from, len) {
            bytes::copy((to ^ key) as *mut u8, (from ^ key) as *const u8, len as usize);
        } else {
            copy_pieces(key, to, from, len);
        }
    }
}

/// # Safety
/// As for [`copy`].
#[cold]
unsafe fn copy_pieces(key: u64, to: u64, from: u64, len: u64) {
    let upwards = to.wrapping_sub(from) >= len;
    let mut done = 0;
    while done < len {
        let left = len - done;
        // Number of bytes from here to the next border of either range, in the direction of the copy.
        let (offset, n) = if upwards {
            (
                done,
                shadow::bytes_to_block_end(to + done).min(shadow::bytes_to_block_end(from + done)).min(left),
            )
        } else {
            let n = shadow::bytes_from_block_start(to + left)
                .min(shadow::bytes_from_block_start(from + left))
                .min(left);
            (left - n, n)
        };
        // SAFETY: neither part crosses a border, so both are contiguous in the shadow. Parts of one block
        // overlap there as they do in memory, and the direction preserves the bytes still to be read; parts
        // of two blocks do not overlap.
        unsafe {
            bytes::copy(((to + offset) ^ key) as *mut u8, ((from + offset) ^ key) as *const u8, n as usize);
        }
        done += n;
    }
}

/// The shadow of one key.
pub struct Shadow(u64);

impl Shadow {
    /// # Safety
    /// `key` is that of a context of this thread that has a shadow. The shadow is then used only
    /// for ranges that [`store`] may be called for, and in this thread.
    pub unsafe fn new(key: u64) -> Shadow {
        Shadow(key)
    }
}

impl Memory for Shadow {
    fn read(&mut self, at: u64, into: &mut [u8]) {
        for (piece, len) in pieces(self.0, at, into.len() as u64) {
            let offset = ((piece ^ self.0) - at) as usize;
            // SAFETY: the piece is the shadow of a range on which the model was called, by the contract of
            // `new`; `offset + len` is at most the length of `into`.
            unsafe { bytes::copy(into.as_mut_ptr().add(offset), piece as *const u8, len as usize) };
        }
    }

    fn write(&mut self, at: u64, bytes: &[u8]) {
        // SAFETY: the model was called on this range, by the contract of `new`.
        unsafe { store(self.0, at, bytes.as_ptr(), bytes.len() as u64) };
    }

    fn find(&mut self, at: u64, byte: u8, limit: u64) -> Option<u64> {
        pieces(self.0, at, limit).find_map(|(piece, len)| {
            // SAFETY: the piece is the shadow of a range on which the model was called, by the contract of
            // `new`. The called function has read the same bytes of memory, which are known.
            let found = unsafe { bytes::find(piece as *const u8, byte, len as usize) }?;
            Some((piece ^ self.0) - at + found as u64)
        })
    }

    fn copy(&mut self, to: u64, from: u64, len: u64) {
        // SAFETY: the model was called on these ranges, by the contract of `new`.
        unsafe { copy(self.0, to, from, len) };
    }

    fn fill(&mut self, to: u64, byte: u8, len: u64) {
        // SAFETY: the model was called on this range, by the contract of `new`.
        unsafe {
            if byte == 0 {
                zero(self.0, to, len);
            } else {
                fill(self.0, to, byte, len);
            }
        }
    }

    #[inline]
    fn byte(&mut self, at: u64) -> u8 {
        // SAFETY: the model was called on a range with this byte, by the contract of `new`.
        unsafe { *((at ^ self.0) as *const u8) }
    }
}

/// From this size on, pages are released or remapped instead of written.
const LARGE: u64 = 128 << 10;

/// Fills the shadow with zeros; for large ranges, by releasing their pages.
///
/// # Safety
/// As for [`store`].
pub unsafe fn zero(key: u64, at: u64, len: u64) {
    for (shadow, len) in pieces(key, at, len) {
        // SAFETY: the piece is the shadow of a part of the range: private anonymous memory of the
        // runtime, which only this thread writes. A large one has at least a page between its first
        // and last border of pages, so all three parts lie within the piece.
        unsafe {
            if len < LARGE {
                bytes::fill(shadow as *mut u8, 0, len as usize);
                continue;
            }
            let (first, end) = (shadow.next_multiple_of(4096), (shadow + len) & !4095);
            sys::discard(first, end - first);
            bytes::fill(shadow as *mut u8, 0, (first - shadow) as usize);
            bytes::fill(end as *mut u8, 0, (shadow + len - end) as usize);
        }
    }
}

/// Moves the shadow of a block that was moved. Whole pages of a large block are remapped, so that pages of a
/// growing reservation that were never touched stay unallocated. The result is the part (address and length)
/// that is zero at its old address now.
///
/// # Safety
/// As for [`store`], for both ranges.
pub unsafe fn move_block(key: u64, to: u64, from: u64, len: u64) -> Option<(u64, u64)> {
    let apart = to.abs_diff(from) >= len;
    if len < LARGE || !apart || (to ^ from) & 4095 != 0 {
        // SAFETY: `copy` has the requirements of this function for both ranges.
        unsafe { copy(key, to, from, len) };
        return None;
    }
    let (first, end) = (from.next_multiple_of(4096), (from + len) & !4095);
    // SAFETY: `at` and `len` are a part of the block, and its target a part of the new range.
    let copy_part = |at: u64, len: u64| unsafe { copy(key, to + (at - from), at, len) };
    copy_part(from, first - from);
    copy_part(end, from + len - end);
    let mut at = first;
    while at < end {
        let target = to + (at - from);
        let len = shadow::bytes_to_block_end(at).min(shadow::bytes_to_block_end(target)).min(end - at);
        // SAFETY: the part and its target begin and end at page borders: `first`, `end` and the borders of
        // blocks do, and `to` and `from` have the same offset in their pages. They do not overlap in memory
        // nor in the shadow, each lies in one block of it, and both are private anonymous memory of the
        // runtime.
        if !unsafe { sys::move_pages(at ^ key, target ^ key, len) } {
            copy_part(at, len);
            // SAFETY: this is the old address of a part of the block.
            unsafe { zero(key, at, len) };
        }
        at += len;
    }
    Some((first, end - first))
}
