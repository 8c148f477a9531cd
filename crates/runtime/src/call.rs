//! One call into code that is not instrumented, and the ranges of memory that the table of externals names in
//! terms of its arguments and result.

use crate::bytes;
use crate::context::Context;
use crate::desc::{CallDesc, Kinds};
use crate::stream::At;
use externals::{Len, Place, Range, When};

unsafe extern "C" {
    fn __errno_location() -> *mut i32;
}

/// One call: its arguments and its result. Only [`Call::new`] makes one, so it always describes a real call,
/// and its pointers can be followed as the table of externals specifies.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    /// Time of the call and its site.
    pub at: At,
    /// The compiler's descriptor of the call.
    pub desc: &'a CallDesc,
    /// The slots of all arguments, the variadic ones included.
    pub args: &'a [u64],
    /// The first slot of the result; 0 before the call, or if it has no result.
    pub ret: u64,
}

impl Call<'_> {
    /// # Safety
    /// `desc` is the compiler's descriptor of a call that is about to be made or has just returned, and
    /// `args` its arguments: one slot or more for each entry of `desc.kinds`, which stay valid during `'a`.
    pub unsafe fn new<'a>(ctx: &Context, desc: &'a CallDesc, args: *const u64, ret: u64) -> Call<'a> {
        // SAFETY: the compiler emits `kinds` with `args` entries and `module` beside them in one descriptor;
        // the caller guarantees that the array at `args` has the slots of these kinds.
        unsafe {
            let slots = if desc.args == 0 || args.is_null() {
                0
            } else {
                Kinds::new(desc.kinds, u32::from(desc.args)).map(|k| k.slots()).sum()
            };
            let args = if slots == 0 { &[][..] } else { core::slice::from_raw_parts(args, slots) };
            Call { at: At::new(desc.module, desc.site, ctx.time), desc, args, ret }
        }
    }

    /// An argument slot; 0 if the call has fewer.
    #[inline]
    pub fn arg(&self, slot: u8) -> u64 {
        self.args.get(slot as usize).copied().unwrap_or(0)
    }

    /// The result as a count; an `int` comes zero-extended.
    #[inline]
    pub fn count(&self) -> Option<u64> {
        (self.ret >> 31 != 1 && self.ret.cast_signed() >= 0).then_some(self.ret)
    }

    /// A range's address and length.
    ///
    /// # Safety
    /// `range` belongs to the function that was called. If it applies only after the call, or depends on the
    /// result, the call has returned.
    pub unsafe fn range(&self, range: &Range) -> Option<(u64, u64)> {
        let applies = match range.when {
            When::Always => true,
            When::Ok => self.count().is_some(),
            When::Zero => self.ret as u32 == 0,
            When::NonZero => self.ret != 0,
            When::Clear(slot, bits) => self.arg(slot) as u32 & bits == 0,
        };
        if !applies {
            return None;
        }
        // SAFETY: the table names only memory that the function itself reads or writes when the condition
        // above holds: pointers behind pointers, strings up to their NUL, lengths that were passed by
        // address. Null is checked first. `errno` is the thread's own.
        unsafe {
            let address = match range.place {
                Place::Arg(slot) => self.arg(slot),
                Place::Field(slot, offset) if self.arg(slot) != 0 => self.arg(slot) + u64::from(offset),
                Place::Field(..) => 0,
                Place::Ret => self.ret,
                Place::At(slot) if self.arg(slot) != 0 => *(self.arg(slot) as *const u64),
                Place::At(_) => 0,
                Place::Ios(slot, offset) => self.virtual_base(slot).map_or(0, |at| {
                    self.arg(slot).wrapping_add(*(at as *const u64)).wrapping_add(offset.into())
                }),
                Place::Errno => __errno_location() as u64,
            };
            if address == 0 {
                return None;
            }
            let at = address as *const u8;
            let ret = self.count().unwrap_or(0);
            let len = match range.len {
                Len::Const(n) => u64::from(n),
                Len::Arg(slot) => self.arg(slot),
                Len::Mul(a, b) => self.arg(a).saturating_mul(self.arg(b)),
                Len::Times(slot, n) => self.arg(slot).saturating_mul(u64::from(n)),
                Len::Ret => ret,
                Len::RetAndNul => self.count().map_or(0, |n| n + 1),
                Len::RetTimes(slot) => ret.saturating_mul(self.arg(slot)),
                Len::RetConst(n) => ret.saturating_mul(u64::from(n)),
                Len::RetMax(slot) => ret.min(self.arg(slot)),
                Len::CStr => bytes::string_len(at) as u64 + 1,
                Len::CStrMax(slot) => string_extent(at, self.arg(slot)),
                Len::WStr => wide_extent(at, u64::MAX >> 2),
                Len::At32(slot) if self.arg(slot) != 0 => u64::from(*(self.arg(slot) as *const u32)),
                Len::At32(_) => 0,
                // The array itself; callers handle the buffers by `buffers`.
                Len::Iovec(slot) => self.arg(slot).saturating_mul(16),
                Len::Strings => strings_extent(at),
                Len::Dirent => u64::from(at.add(16).cast::<u16>().read_unaligned()),
                Len::Gcount(slot) if self.arg(slot) != 0 => *(self.arg(slot) as *const u64).add(1),
                Len::Gcount(_) => 0,
            };
            (len > 0).then_some((address, len))
        }
    }

    /// Address of the offset of the virtual base, for the C++ stream in a slot.
    ///
    /// # Safety
    /// The slot is null or points to an object with a virtual base.
    pub unsafe fn virtual_base(&self, slot: u8) -> Option<u64> {
        // SAFETY: the caller guarantees such an object. It begins with the pointer to its virtual table; the
        // offset of its first virtual base is stored three words before the table.
        (self.arg(slot) != 0).then(|| unsafe { *(self.arg(slot) as *const u64) - 24 })
    }

    /// The buffers of an `iovec` array that the call filled or read, in order, limited to the bytes that its
    /// result reports.
    ///
    /// # Safety
    /// `range` belongs to the function that was called, and the call has returned.
    pub unsafe fn buffers(&self, range: &Range) -> impl Iterator<Item = (u64, u64)> {
        let (array, count) = match (range.place, range.len) {
            (Place::Arg(slot), Len::Iovec(n)) => (self.arg(slot) as *const [u64; 2], self.arg(n)),
            _ => (core::ptr::null(), 0),
        };
        let mut left = self.count().unwrap_or(0);
        (0..count as usize).map_while(move |i| {
            if left == 0 || array.is_null() {
                return None;
            }
            // SAFETY: the function has read `count` entries of this array, or it would have failed and `left`
            // would be 0; this loop stops at the last buffer from which or to which bytes were moved.
            let [base, len] = unsafe { *array.add(i) };
            let n = len.min(left);
            left -= n;
            Some((base, n))
        })
    }
}

/// Bytes of a string with its NUL, at most `limit`.
///
/// # Safety
/// The string at `at` is readable up to its NUL or for `limit` bytes.
pub unsafe fn string_extent(at: *const u8, limit: u64) -> u64 {
    // SAFETY: `find` has the same requirement.
    unsafe { bytes::find(at, 0, limit as usize).map_or(limit, |i| i as u64 + 1) }
}

/// Bytes of a string of wide characters with its NUL, at most `limit` characters.
///
/// # Safety
/// The string at `at` is readable up to its NUL or for `limit` characters.
pub unsafe fn wide_extent(at: *const u8, limit: u64) -> u64 {
    let mut n = 0;
    // SAFETY: no character before this one was NUL, and it is not beyond the limit.
    while n < limit && unsafe { at.add(n as usize * 4).cast::<u32>().read_unaligned() } != 0 {
        n += 1;
    }
    (n + 1).min(limit) * 4
}

/// Bytes of an array of strings with the null pointer at its end.
///
/// # Safety
/// The array at `at` is readable up to its null pointer.
unsafe fn strings_extent(at: *const u8) -> u64 {
    let mut n = 0;
    // SAFETY: no entry before this one was null, so it belongs to the array.
    while unsafe { *at.cast::<u64>().add(n) } != 0 {
        n += 1;
    }
    (n as u64 + 1) * 8
}
