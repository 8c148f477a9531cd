//! The shadow as the models of the externals see it.

use crate::{bytes, shadow};
use externals::Memory;

/// The shadow of one key.
pub struct Shadow(pub u64);

impl Shadow {
    #[inline]
    fn at(&self, address: u64) -> *mut u8 {
        (address ^ self.0) as *mut u8
    }
}

// Ranges that cross the border of two blocks lie apart in the shadow. Whoever gives pages
// back or moves whole ranges goes by pieces (`shadow::pieces`); the models here take the risk
// of a wrong prediction only, as shadow blocks are mapped as a whole.
impl Memory for Shadow {
    fn read(&mut self, at: u64, into: &mut [u8]) {
        unsafe { bytes::copy(into.as_mut_ptr(), self.at(at), into.len()) };
    }

    fn write(&mut self, at: u64, bytes: &[u8]) {
        unsafe { bytes::copy(self.at(at), bytes.as_ptr(), bytes.len()) };
    }

    fn find(&mut self, at: u64, byte: u8, limit: u64) -> Option<u64> {
        unsafe { bytes::find(self.at(at), byte, limit as usize).map(|i| i as u64) }
    }

    fn copy(&mut self, to: u64, from: u64, len: u64) {
        unsafe { bytes::copy(self.at(to), self.at(from), len as usize) };
    }

    fn fill(&mut self, to: u64, byte: u8, len: u64) {
        if byte == 0 {
            zero(self.0, to, len);
        } else {
            unsafe { bytes::fill(self.at(to), byte, len as usize) };
        }
    }

    #[inline]
    fn byte(&mut self, at: u64) -> u8 {
        unsafe { *self.at(at) }
    }
}

/// From this size on pages are given back or left out.
const LARGE: u64 = 128 << 10;

/// Fills with zeros; large ranges by giving their pages back.
pub fn zero(key: u64, at: u64, len: u64) {
    for (shadow, len) in shadow::pieces(key, at, len) {
        unsafe {
            if len < LARGE {
                bytes::fill(shadow as *mut u8, 0, len as usize);
                continue;
            }
            let (first, end) = (shadow.next_multiple_of(4096), (shadow + len) & !4095);
            crate::sys::discard(first, end - first);
            bytes::fill(shadow as *mut u8, 0, (first - shadow) as usize);
            bytes::fill(end as *mut u8, 0, (shadow + len - end) as usize);
        }
    }
}

/// The shadow of a block that was moved goes with it. Whole pages of a large block are handed
/// over, so that a reservation that grows is not paid for: what is returned, address and length,
/// is zeros at its old place now.
pub fn shift(key: u64, to: u64, from: u64, len: u64) -> Option<(u64, u64)> {
    let apart = to.abs_diff(from) >= len;
    if len < LARGE || !apart || (to ^ from) & 4095 != 0 {
        unsafe { bytes::copy((to ^ key) as *mut u8, (from ^ key) as *const u8, len as usize) };
        return None;
    }
    let (first, end) = (from.next_multiple_of(4096), (from + len) & !4095);
    let copy = |at: u64, len: u64| unsafe {
        let target = to + (at - from);
        bytes::copy((target ^ key) as *mut u8, (at ^ key) as *const u8, len as usize);
    };
    copy(from, first - from);
    copy(end, from + len - end);
    let mut at = first;
    while at < end {
        let target = to + (at - from);
        let here = shadow::pieces(key, at, end - at).next().map_or(0, |p| p.1);
        let there = shadow::pieces(key, target, end - at).next().map_or(0, |p| p.1);
        let len = here.min(there).max(4096);
        if !crate::sys::hand_over(at ^ key, target ^ key, len) {
            copy(at, len);
            zero(key, at, len);
        }
        at += len;
    }
    Some((first, end - first))
}
