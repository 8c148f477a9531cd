//! The shadow as the models of the externals see it.

use crate::bytes;
use externals::Memory;

/// The shadow of one key.
pub struct Shadow(pub u64);

impl Shadow {
    #[inline]
    fn at(&self, address: u64) -> *mut u8 {
        (address ^ self.0) as *mut u8
    }
}

// Ranges that cross the border of two blocks lie apart in the shadow. Blocks
// are 64 GiB and no mapping is known to straddle one; `known` takes care in
// any case, models take the risk of a wrong prediction only.
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

/// Fills with zeros; large ranges by giving their pages back.
pub fn zero(key: u64, at: u64, len: u64) {
    const LARGE: u64 = 128 << 10;
    let shadow = at ^ key;
    unsafe {
        if len < LARGE {
            bytes::fill(shadow as *mut u8, 0, len as usize);
            return;
        }
        let (first, end) = (shadow.next_multiple_of(4096), (shadow + len) & !4095);
        crate::sys::discard(first, end - first);
        bytes::fill(shadow as *mut u8, 0, (first - shadow) as usize);
        bytes::fill(end as *mut u8, 0, (shadow + len - end) as usize);
    }
}
