//! Memory functions of the runtime's own. The program may have replaced those of the C library, even by
//! instrumented code.

use core::arch::asm;
use core::arch::x86_64::{
    __m128i, _mm_cmpeq_epi8, _mm_load_si128, _mm_loadu_si128, _mm_movemask_epi8, _mm_set1_epi8,
};

/// `memmove`.
///
/// # Safety
/// `len` bytes at `from` are readable and `len` bytes at `to` are writable; they may overlap.
#[inline]
pub unsafe fn copy(to: *mut u8, from: *const u8, len: usize) {
    // SAFETY: each helper needs the two valid ranges that the caller guarantees. `forward` gets them only if
    // `to` does not lie inside the source, where it would overwrite bytes still to be read.
    unsafe {
        if len <= 32 {
            small(to, from, len);
        } else if (to as usize).wrapping_sub(from as usize) >= len {
            forward(to, from, len);
        } else {
            backward(to, from, len);
        }
    }
}

/// Up to 32 bytes: everything is read before anything is written, so overlap
/// does not matter.
///
/// # Safety
/// As for [`copy`], with `len` at most 32.
#[inline]
unsafe fn small(to: *mut u8, from: *const u8, len: usize) {
    // SAFETY: each arm of the `match` takes a type that is at most `len` bytes wide and at least
    // half of `len`, so the first and the last of that type lie within the caller's ranges and
    // together access all of them. No access assumes an alignment.
    unsafe {
        macro_rules! both_ends {
            ($ty:ty) => {{
                let end = len - size_of::<$ty>();
                let first = from.cast::<$ty>().read_unaligned();
                let last = from.add(end).cast::<$ty>().read_unaligned();
                to.cast::<$ty>().write_unaligned(first);
                to.add(end).cast::<$ty>().write_unaligned(last);
            }};
        }
        match len {
            0 => {}
            1 => *to = *from,
            2..4 => both_ends!(u16),
            4..8 => both_ends!(u32),
            8..16 => both_ends!(u64),
            _ => both_ends!(__m128i),
        }
    }
}

/// Copies more than 32 bytes. Uses assembly because the compiler would turn a loop into a call of `memcpy`.
/// Up to 256 bytes the string instruction is slower than the loop.
///
/// # Safety
/// As for [`copy`], with `len` more than 32 and `to` not inside the source.
#[inline]
unsafe fn forward(to: *mut u8, from: *const u8, len: usize) {
    // SAFETY: both instructions move bytes of the caller's ranges only: `rep movsb` exactly `len`,
    // upwards as the ABI keeps the direction flag clear; the loop 16 at a time up to `whole`, which
    // is less than `len`. The 16 bytes before the end exist as `len` is more than 32; they are read
    // first, as the loop may overwrite them when `to` lies a little below `from`.
    unsafe {
        if len > 256 {
            asm!("rep movsb", inout("rcx") len => _, inout("rdi") to => _, inout("rsi") from => _,
                 options(nostack, preserves_flags));
            return;
        }
        let whole = (len - 1) & !15;
        let tail = from.add(len - 16).cast::<__m128i>().read_unaligned();
        asm!(
            "2:",
            "movups {x}, [{from} + {i}]",
            "movups [{to} + {i}], {x}",
            "add {i}, 16",
            "cmp {i}, {end}",
            "jb 2b",
            x = out(xmm_reg) _, i = inout(reg) 0usize => _, from = in(reg) from, to = in(reg) to, end = in(reg) whole,
            options(nostack)
        );
        to.add(len - 16).cast::<__m128i>().write_unaligned(tail);
    }
}

/// From the last byte to the first.
///
/// # Safety
/// As for [`copy`].
unsafe fn backward(to: *mut u8, from: *const u8, len: usize) {
    // SAFETY: moves exactly the `len` bytes of the caller's ranges and clears the direction flag again, as
    // the ABI requires. A signal in between does no harm: the kernel clears the flag for the handler.
    unsafe {
        let last = len.wrapping_sub(1);
        asm!("std", "rep movsb", "cld", inout("rcx") len => _, inout("rdi") to.wrapping_add(last) => _,
             inout("rsi") from.wrapping_add(last) => _, options(nostack));
    }
}

/// `memset`.
///
/// # Safety
/// `len` bytes at `to` are writable.
#[inline]
pub unsafe fn fill(to: *mut u8, byte: u8, len: usize) {
    // SAFETY: stores exactly the caller's `len` bytes, upwards as the ABI keeps the direction flag
    // clear.
    unsafe {
        asm!("rep stosb", inout("rcx") len => _, inout("rdi") to => _, in("al") byte,
             options(nostack, preserves_flags));
    }
}

/// Index of the first byte at which two ranges differ, or `len`.
///
/// # Safety
/// `len` bytes at `a` and at `b` are readable. If another thread writes to them during the comparison, the
/// result holds for some moment in between.
#[inline]
pub unsafe fn first_difference(a: *const u8, b: *const u8, len: usize) -> usize {
    // SAFETY: every access ends at or before `len` by the loop's condition, within the ranges that the caller
    // guarantees, and none assumes an alignment.
    unsafe {
        let mut i = 0;
        while i + 16 <= len {
            let x = _mm_loadu_si128(a.add(i).cast::<__m128i>());
            let y = _mm_loadu_si128(b.add(i).cast::<__m128i>());
            let same = _mm_movemask_epi8(_mm_cmpeq_epi8(x, y)).cast_unsigned();
            if same != 0xffff {
                return i + same.trailing_ones() as usize;
            }
            i += 16;
        }
        while i < len && a.add(i).read_volatile() == b.add(i).read_volatile() {
            i += 1;
        }
        i
    }
}

/// Distance to the first `byte`, at most `limit`. Reads no page beyond the one that contains the last byte
/// examined.
///
/// # Safety
/// The bytes at `at` are readable up to the first `byte`, or for `limit` bytes if there is none.
#[inline]
pub unsafe fn find(at: *const u8, byte: u8, limit: usize) -> Option<usize> {
    if limit == 0 {
        return None;
    }
    // SAFETY: each load reads an aligned block of 16 bytes, which lies within one page, and the block
    // contains at least one byte that the caller guarantees to be readable: the first block contains `at`,
    // and the loop continues with the next only if the byte was not found and `limit` is not reached. So the
    // page is mapped, and bytes before `at` or beyond the end are masked or ignored.
    unsafe {
        let wanted = _mm_set1_epi8(byte.cast_signed());
        let skip = at as usize & 15;
        let mut block = at.sub(skip).cast::<__m128i>();
        let mut hits =
            _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_load_si128(block), wanted)).cast_unsigned() >> skip << skip;
        let mut base = 0usize.wrapping_sub(skip);
        loop {
            if hits != 0 {
                let i = base.wrapping_add(hits.trailing_zeros() as usize);
                return (i < limit).then_some(i);
            }
            base = base.wrapping_add(16);
            if base >= limit && base < usize::MAX / 2 {
                return None;
            }
            block = block.add(1);
            hits = _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_load_si128(block), wanted)).cast_unsigned();
        }
    }
}

/// Length of a string without its NUL.
///
/// # Safety
/// `at` is a string that ends with NUL.
#[inline]
pub unsafe fn string_len(at: *const u8) -> usize {
    // SAFETY: the string is readable up to its NUL, as `find` requires.
    unsafe { find(at, 0, usize::MAX / 4).unwrap_or(0) }
}

/// A string as a slice, without its NUL.
///
/// # Safety
/// `at` is a string that ends with NUL, and it is neither changed nor freed during `'a`.
pub unsafe fn string<'a>(at: *const u8) -> &'a [u8] {
    // SAFETY: the caller guarantees that the string is readable up to its NUL and unchanged during `'a`.
    unsafe { core::slice::from_raw_parts(at, string_len(at)) }
}

/// Compiled code calls these by name; inside the archive the linker binds those calls here.
#[cfg(feature = "staticlib")]
mod named {
    #[unsafe(no_mangle)]
    unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, len: usize) -> *mut u8 {
        // SAFETY: the compiler calls `memcpy` with valid ranges that do not overlap, which is more than
        // `copy` requires.
        unsafe { super::copy(to, from, len) };
        to
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn memmove(to: *mut u8, from: *const u8, len: usize) -> *mut u8 {
        // SAFETY: the contract of `memmove` is that of `copy`.
        unsafe { super::copy(to, from, len) };
        to
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn memset(to: *mut u8, byte: i32, len: usize) -> *mut u8 {
        // SAFETY: the contract of `memset` is that of `fill`.
        unsafe { super::fill(to, byte as u8, len) };
        to
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn memcmp(a: *const u8, b: *const u8, len: usize) -> i32 {
        // SAFETY: `memcmp` is called with `len` readable bytes at both addresses, and `i` is a valid index
        // unless it is `len`.
        unsafe {
            let i = super::first_difference(a, b, len);
            if i == len { 0 } else { i32::from(*a.add(i)) - i32::from(*b.add(i)) }
        }
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn bcmp(a: *const u8, b: *const u8, len: usize) -> i32 {
        // SAFETY: the contract of `bcmp` is that of `memcmp`.
        unsafe { memcmp(a, b, len) }
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn strlen(at: *const u8) -> usize {
        // SAFETY: `strlen` is called with a string that ends with NUL.
        unsafe { super::string_len(at) }
    }
}
