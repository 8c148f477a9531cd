//! The hooks of instrumented code for memory.
//!
//! Code that the compiler emits calls all of them, as `docs/runtime-interface.md` specifies. For every hook
//! that means: `ctx` is the context that the thread-local block of the running thread names, and no other
//! hook is active on it (a signal's handler has a context of its own); descriptors are static data of the
//! calling module; pointers to values point to as many bytes or slots as the descriptor or the arguments
//! declare, on the caller's stack; addresses are those of an access that the program makes, or has just made,
//! itself. If the program's access is wild, the hook faults as the program would.

use crate::context::{self, Context};
use crate::desc::{Kind, Kinds, ModuleDesc, SiteDesc, VaDesc};
use crate::stream::At;
use crate::{bytes, memory, shadow};
use core::sync::atomic::{Ordering::SeqCst, compiler_fence};
use recording::event::{Event, Slots};

impl Context {
    /// Runs a hook's work; meanwhile a signal handler does not use this context.
    #[inline]
    pub fn with_reentrancy_guard<R>(&mut self, work: impl FnOnce(&mut Context) -> R) -> R {
        let was = self.own.in_hook;
        self.own.in_hook = true;
        compiler_fence(SeqCst);
        let result = work(self);
        compiler_fence(SeqCst);
        self.own.in_hook = was;
        result
    }

    #[inline]
    fn records(&self) -> bool {
        self.key != 0
    }

    /// Another stream whose shadow contains the value seen here: the probable writer, if one can be found.
    #[cold]
    fn writer(&self, address: u64, value: &[u8]) -> Option<u32> {
        if !shadow::is_program_block(address) || !shadow::is_contiguous(address, value.len() as u64) {
            return None;
        }
        for other in context::all() {
            // SAFETY: contexts are never unmapped, and these are fields that other threads may read.
            let (key, stream) = unsafe { ((*other).key, (*other).stream) };
            if key == 0 || core::ptr::eq(other, self) {
                continue;
            }
            let shadow = (address ^ key) as *const u8;
            // SAFETY: the address is foreseen, so its block is part of every shadow, and shadows are never
            // unmapped; the value lies within the block, as checked above. The thread of that shadow may
            // write there meanwhile: then the result holds for another moment, and it is only a hint.
            if unsafe { bytes::first_difference(shadow, value.as_ptr(), value.len()) } == value.len() {
                return Some(stream);
            }
        }
        None
    }

    /// A load returned another value than the shadow contains.
    ///
    /// # Safety
    /// `shadow` is the address of this thread's shadow of the value, and was just read by instrumented code
    /// or a hook.
    #[inline]
    unsafe fn mispredicted(&mut self, at: At, shadow: *mut u8, value: &[u8]) {
        // While nothing is recorded the shadow is the memory itself: an apparent miss is another thread's
        // store between two loads, and must not be overwritten.
        if !self.records() {
            return;
        }
        self.misses += 1;
        let writer = if context::many() { self.writer(shadow as u64 ^ self.key, value) } else { None };
        // SAFETY: the caller guarantees that the shadow has the size of the value, and only this thread uses
        // it. At most eight bytes are copied to each of the two words.
        unsafe {
            if value.len() <= 8 {
                let mut words = [0u64; 2];
                let [predicted, seen] = &mut words;
                bytes::copy((&raw mut *predicted).cast(), shadow, value.len());
                bytes::copy((&raw mut *seen).cast(), value.as_ptr(), value.len());
                self.emit(at, &Event::load(value.len() as u8, *predicted, *seen, writer));
            } else {
                self.emit(at, &Event::WideLoad { bytes: value, writer });
            }
            bytes::copy(shadow, value.as_ptr(), value.len());
        }
    }
}

/// Called by the trampoline of `__relapse_miss`.
///
/// # Safety
/// Called by instrumented code as `docs/runtime-interface.md` specifies.
pub unsafe extern "C" fn miss(
    ctx: *mut Context,
    module: *const ModuleDesc,
    size_site: u64,
    time: u64,
    shadow: *mut u8,
    value: u64,
) {
    // SAFETY: instrumented code has just compared `size` bytes, at most eight, at `shadow` with those that it
    // passes in `value`.
    unsafe {
        let size = ((size_site >> 32) as usize).min(8);
        let at = At::new(module, size_site as u32, time);
        let value = value.to_le_bytes();
        (*ctx).with_reentrancy_guard(|ctx| ctx.mispredicted(at, shadow, &value[..size]));
    }
}

/// # Safety
/// Called by instrumented code as `docs/runtime-interface.md` specifies.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __relapse_miss_wide(
    ctx: *mut Context,
    module: *const ModuleDesc,
    size_site: u64,
    time: u64,
    shadow: *mut u8,
    value: *const u8,
) {
    // SAFETY: instrumented code has just compared `size` bytes, at most 16, at `shadow` with those that it
    // has stored at `value` on its stack, where no other code writes.
    unsafe {
        let size = ((size_site >> 32) as usize).min(16);
        let at = At::new(module, size_site as u32, time);
        let value = core::slice::from_raw_parts(value, size);
        (*ctx).with_reentrancy_guard(|ctx| ctx.mispredicted(at, shadow, value));
    }
}

/// # Safety
/// Called by instrumented code as `docs/runtime-interface.md` specifies.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __relapse_copy(
    ctx: *mut Context,
    desc: *const SiteDesc,
    time: u64,
    to: u64,
    from: u64,
    len: u64,
) {
    // SAFETY: the program moves `len` bytes from `from` to `to` here. Memory is moved first, so both ranges
    // are known to be mapped when their shadow is used.
    unsafe {
        let ctx = &mut *ctx;
        if ctx.records() && len != 0 {
            let at = At::new((*desc).module, (*desc).site, time);
            ctx.with_reentrancy_guard(|ctx| {
                // Memory first: a wild pointer must fault as it would without the runtime. The destination
                // then contains what the source contained.
                bytes::copy(to as *mut u8, from as *const u8, len as usize);
                ctx.sync_shadow_from(at, from, to, len);
                memory::copy(ctx.key, to, from, len);
            });
        } else {
            bytes::copy(to as *mut u8, from as *const u8, len as usize);
        }
    }
}

/// # Safety
/// Called by instrumented code as `docs/runtime-interface.md` specifies.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __relapse_set(
    ctx: *mut Context,
    _desc: *const SiteDesc,
    _time: u64,
    to: u64,
    byte: u64,
    len: u64,
) {
    // SAFETY: the program fills `len` bytes at `to` here. Memory is filled first, so the range is known to be
    // mapped when its shadow is used.
    unsafe {
        bytes::fill(to as *mut u8, byte as u8, len as usize);
        let key = (*ctx).key;
        if key != 0 {
            memory::fill(key, to, byte as u8, len);
        }
    }
}

/// # Safety
/// Called by instrumented code as `docs/runtime-interface.md` specifies.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __relapse_read(
    ctx: *mut Context,
    desc: *const SiteDesc,
    time: u64,
    from: u64,
    len: u64,
) {
    // SAFETY: the program passes `len` bytes at `from` by value next, so they are readable.
    unsafe {
        if (*ctx).records() {
            let at = At::new((*desc).module, (*desc).site, time);
            (*ctx).with_reentrancy_guard(|ctx| ctx.sync_shadow(at, from, len));
        }
    }
}

/// # Safety
/// Called by instrumented code as `docs/runtime-interface.md` specifies.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __relapse_byval(
    ctx: *mut Context,
    desc: *const SiteDesc,
    time: u64,
    to: u64,
    from: u64,
    len: u64,
    linked: u64,
) {
    // SAFETY: `to` is a slot of `len` bytes in the frame of the function that begins, on the model stack:
    // only this thread uses it, and no code writes to it while `content` is live. `from` is where the caller
    // has put the argument.
    unsafe {
        let ctx = &mut *ctx;
        bytes::copy(to as *mut u8, from as *const u8, len as usize);
        if !ctx.records() || len == 0 {
            return;
        }
        let content = core::slice::from_raw_parts(to as *const u8, len as usize);
        ctx.with_reentrancy_guard(|ctx| {
            // `linked` is a C bool: its upper bits are undefined.
            if linked & 0xff == 0 {
                ctx.patch(At::new((*desc).module, (*desc).site, time), to, content);
            } else {
                memory::store(ctx.key, to, content.as_ptr(), len);
            }
        });
    }
}

/// # Safety
/// Called by instrumented code as `docs/runtime-interface.md` specifies.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __relapse_atomic(
    ctx: *mut Context,
    desc: *const SiteDesc,
    time: u64,
    address: u64,
    old: *const u8,
    new: *const u8,
) {
    // SAFETY: instrumented code has just accessed `size` bytes at `address`, and has stored the old value at
    // `old` and the new value, if it wrote one, at `new`, both on its stack. Atomic accesses are aligned, so
    // they cross no border of blocks and the shadow is contiguous.
    unsafe {
        if !(*ctx).records() {
            return;
        }
        (*ctx).with_reentrancy_guard(|ctx| {
            let size = ((*desc).extra as usize).min(16);
            let shadow = (address ^ ctx.key) as *mut u8;
            if bytes::first_difference(old, shadow, size) < size {
                let at = At::new((*desc).module, (*desc).site, time);
                ctx.mispredicted(at, shadow, core::slice::from_raw_parts(old, size));
            }
            if !new.is_null() {
                bytes::copy(shadow, new, size);
            }
        });
    }
}

/// # Safety
/// Called by instrumented code as `docs/runtime-interface.md` specifies.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __relapse_atomic_store(
    ctx: *mut Context,
    address: u64,
    value: *const u8,
    size: u64,
) {
    // SAFETY: instrumented code has just stored `size` bytes to `address`, the same as at `value` on its
    // stack.
    unsafe {
        if (*ctx).records() {
            memory::store((*ctx).key, address, value, size);
        }
    }
}

/// # Safety
/// Called by instrumented code as `docs/runtime-interface.md` specifies.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __relapse_value(
    ctx: *mut Context,
    desc: *const SiteDesc,
    time: u64,
    slots: *const u64,
) {
    // SAFETY: `extra` is the number of slots that instrumented code has stored at `slots` on its stack, where
    // no other code writes.
    unsafe {
        if !(*ctx).records() {
            return;
        }
        let count = ((*desc).extra as usize).min(255);
        let slots = if count == 0 { &[][..] } else { core::slice::from_raw_parts(slots, count) };
        let at = At::new((*desc).module, (*desc).site, time);
        let event = Event::Value { slots: Slots::Plain(slots) };
        (*ctx).with_reentrancy_guard(|ctx| ctx.emit_long(at, &event, 64 + count * 10));
    }
}

/// # Safety
/// Called by instrumented code as `docs/runtime-interface.md` specifies.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __relapse_tls_addr(
    ctx: *mut Context,
    desc: *const SiteDesc,
    time: u64,
    address: u64,
) {
    // SAFETY: context and descriptor are valid by the interface; the address is only logged.
    unsafe {
        if !(*ctx).records() {
            return;
        }
        let at = At::new((*desc).module, (*desc).site, time);
        let event = Event::ThreadLocal { symbol: (*desc).extra, address };
        (*ctx).with_reentrancy_guard(|ctx| ctx.emit(at, &event));
    }
}

/// `va_list` of the System V convention.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct VaList {
    /// Offset in the save area of the next general register: 48 when none is left.
    pub gp_offset: u32,
    /// Offset in the save area of the next vector register: 48 at first, 176 when none is left.
    pub fp_offset: u32,
    /// Address of the next argument on the stack.
    pub overflow: u64,
    /// Address of the area where the callee saved its argument registers.
    pub save: u64,
}

impl VaList {
    /// Whether taking arguments from the earlier list can produce this one.
    pub fn is_reached_from(&self, earlier: &VaList) -> bool {
        self.save == earlier.save
            && self.overflow >= earlier.overflow
            && self.gp_offset >= earlier.gp_offset
            && self.fp_offset >= earlier.fp_offset
    }
}

/// Iterates over variadic arguments: the address and size of each.
pub struct VaWalk {
    /// The rest of the list.
    pub list: VaList,
}

impl VaWalk {
    fn on_stack(&mut self, size: u64, align: u64) -> u64 {
        let at = self.list.overflow.next_multiple_of(align.max(8));
        self.list.overflow = at + size.next_multiple_of(8);
        at
    }

    /// Takes the next argument, of this kind: its address and size in bytes.
    pub fn next(&mut self, kind: Kind) -> (u64, u64) {
        match kind {
            Kind::Word if self.list.gp_offset < 48 => {
                self.list.gp_offset += 8;
                (self.list.save + u64::from(self.list.gp_offset) - 8, 8)
            }
            Kind::Word => (self.on_stack(8, 8), 8),
            Kind::Float | Kind::Double => {
                let size = if kind == Kind::Float { 4 } else { 8 };
                if self.list.fp_offset < 176 {
                    self.list.fp_offset += 16;
                    (self.list.save + u64::from(self.list.fp_offset) - 16, size)
                } else {
                    (self.on_stack(8, 8), size)
                }
            }
            Kind::TwoWords if self.list.gp_offset <= 32 => {
                self.list.gp_offset += 16;
                (self.list.save + u64::from(self.list.gp_offset) - 16, 16)
            }
            Kind::TwoWords => (self.on_stack(16, 16), 16),
            Kind::LongDouble => (self.on_stack(16, 16), 10),
            Kind::ByVal { size, align } => (self.on_stack(size, align), size),
        }
    }
}

/// # Safety
/// Called by instrumented code as `docs/runtime-interface.md` specifies.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __relapse_va_start(
    ctx: *mut Context,
    desc: *const SiteDesc,
    time: u64,
    list: *const VaList,
    va: *const VaDesc,
) {
    // SAFETY: `va_start` has just filled the list. `va` is null, or the static descriptor that the caller has
    // left in the context for this very call: so the arguments are of these kinds, and lie at the addresses
    // that the walk over the list computes, in the save area or on the machine stack.
    unsafe {
        if !(*ctx).records() {
            return;
        }
        (*ctx).with_reentrancy_guard(|ctx| {
            let l = *list;
            let at = At::new((*desc).module, (*desc).site, time);
            ctx.emit(
                at,
                &Event::VaStart {
                    gp_offset: l.gp_offset,
                    fp_offset: l.fp_offset,
                    overflow_area: l.overflow,
                    save_area: l.save,
                },
            );
            let key = ctx.key;
            let copy = |address: u64, len: u64| {
                memory::store(key, address, address as *const u8, len);
            };
            copy(list as u64, size_of::<VaList>() as u64);
            // Replay knows the caller's arguments and stores them at the same addresses.
            if let Some(va) = va.as_ref() {
                let mut walk = VaWalk { list: l };
                for kind in Kinds::new(va.kinds, va.count) {
                    let (address, len) = walk.next(kind);
                    copy(address, len);
                }
            }
        });
    }
}
