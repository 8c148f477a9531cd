//! Memory functions of our own. Those of the C library may have been replaced
//! by the program, even by instrumented code.

use core::arch::asm;
use core::arch::x86_64::{
    __m128i, _mm_cmpeq_epi8, _mm_load_si128, _mm_loadu_si128, _mm_movemask_epi8, _mm_set1_epi8,
};

/// # Safety
/// As for `memmove`.
#[inline]
pub unsafe fn copy(to: *mut u8, from: *const u8, len: usize) {
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
#[inline]
unsafe fn small(to: *mut u8, from: *const u8, len: usize) {
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

/// More than 32 bytes. Assembly, since the compiler would make a call of
/// `memcpy` out of a loop. Up to 256 bytes the string instruction does not pay.
#[inline]
unsafe fn forward(to: *mut u8, from: *const u8, len: usize) {
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

unsafe fn backward(to: *mut u8, from: *const u8, len: usize) {
    unsafe {
        let last = len.wrapping_sub(1);
        asm!("std", "rep movsb", "cld", inout("rcx") len => _, inout("rdi") to.wrapping_add(last) => _,
             inout("rsi") from.wrapping_add(last) => _, options(nostack));
    }
}

#[inline]
pub unsafe fn fill(to: *mut u8, byte: u8, len: usize) {
    unsafe {
        asm!("rep stosb", inout("rcx") len => _, inout("rdi") to => _, in("al") byte,
             options(nostack, preserves_flags));
    }
}

/// Index of the first byte at which two ranges differ, or `len`.
#[inline]
pub unsafe fn first_difference(a: *const u8, b: *const u8, len: usize) -> usize {
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

/// Distance to the first `byte`, at most `limit`. Reads no page beyond the one
/// with the last byte looked at.
#[inline]
pub unsafe fn find(at: *const u8, byte: u8, limit: usize) -> Option<usize> {
    if limit == 0 {
        return None;
    }
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
#[inline]
pub unsafe fn string_len(at: *const u8) -> usize {
    unsafe { find(at, 0, usize::MAX / 4).unwrap_or(0) }
}

/// A string as a slice, without its NUL.
pub unsafe fn string<'a>(at: *const u8) -> &'a [u8] {
    unsafe { core::slice::from_raw_parts(at, string_len(at)) }
}

/// Compiled code calls these by name; in the archive they are bound to it.
#[cfg(feature = "staticlib")]
mod named {
    #[unsafe(no_mangle)]
    unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, len: usize) -> *mut u8 {
        unsafe { super::copy(to, from, len) };
        to
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn memmove(to: *mut u8, from: *const u8, len: usize) -> *mut u8 {
        unsafe { super::copy(to, from, len) };
        to
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn memset(to: *mut u8, byte: i32, len: usize) -> *mut u8 {
        unsafe { super::fill(to, byte as u8, len) };
        to
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn memcmp(a: *const u8, b: *const u8, len: usize) -> i32 {
        unsafe {
            let i = super::first_difference(a, b, len);
            if i == len { 0 } else { i32::from(*a.add(i)) - i32::from(*b.add(i)) }
        }
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn bcmp(a: *const u8, b: *const u8, len: usize) -> i32 {
        unsafe { memcmp(a, b, len) }
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn strlen(at: *const u8) -> usize {
        unsafe { super::string_len(at) }
    }
}
