//! The hooks of instrumented code that have to do with memory.

use crate::context::{self, Context};
use crate::desc::{Kind, Kinds, ModuleDesc, SiteDesc, VaDesc};
use crate::stream::At;
use crate::{bytes, shadow};
use core::sync::atomic::{Ordering::SeqCst, compiler_fence};
use recording::event::{Event, Slots};

impl Context {
    /// Runs a hook's work; meanwhile a signal leaves this context alone.
    #[inline]
    pub fn busily<R>(&mut self, work: impl FnOnce(&mut Context) -> R) -> R {
        let was = self.own.busy;
        self.own.busy = true;
        compiler_fence(SeqCst);
        let result = work(self);
        compiler_fence(SeqCst);
        self.own.busy = was;
        result
    }

    #[inline]
    fn records(&self) -> bool {
        self.key != 0
    }

    /// Another stream whose shadow holds what was seen here: the writer, as far
    /// as can be told.
    #[cold]
    unsafe fn writer(&self, address: u64, value: &[u8]) -> Option<u32> {
        if !shadow::is_foreseen(address) {
            return None;
        }
        for other in context::all() {
            let (key, stream) = unsafe { ((*other).key, (*other).stream) };
            if key == 0 || core::ptr::eq(other, self) {
                continue;
            }
            let shadow = (address ^ key) as *const u8;
            if unsafe { bytes::first_difference(shadow, value.as_ptr(), value.len()) } == value.len() {
                return Some(stream);
            }
        }
        None
    }

    /// A load saw something else than the shadow.
    #[inline]
    unsafe fn mispredicted(&mut self, at: At, shadow: *mut u8, value: &[u8]) {
        // While nothing is recorded the shadow is the memory itself: what looks like a
        // miss is another thread's store between two loads, and must stay.
        if !self.records() {
            return;
        }
        self.misses += 1;
        let writer =
            if context::many() { unsafe { self.writer(shadow as u64 ^ self.key, value) } } else { None };
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

/// Behind the trampoline of `__relapse_miss`.
///
/// # Safety
/// Called by instrumented code as the interface says.
pub unsafe extern "C" fn miss(
    ctx: *mut Context,
    module: *const ModuleDesc,
    size_site: u64,
    time: u64,
    shadow: *mut u8,
    value: u64,
) {
    unsafe {
        let size = ((size_site >> 32) as usize).min(8);
        let at = At::new(module, size_site as u32, time);
        let value = value.to_le_bytes();
        (*ctx).busily(|ctx| ctx.mispredicted(at, shadow, &value[..size]));
    }
}

/// # Safety
/// Called by instrumented code as the interface says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __relapse_miss_wide(
    ctx: *mut Context,
    module: *const ModuleDesc,
    size_site: u64,
    time: u64,
    shadow: *mut u8,
    value: *const u8,
) {
    unsafe {
        let size = ((size_site >> 32) as usize).min(16);
        let at = At::new(module, size_site as u32, time);
        let value = core::slice::from_raw_parts(value, size);
        (*ctx).busily(|ctx| ctx.mispredicted(at, shadow, value));
    }
}

/// # Safety
/// Called by instrumented code as the interface says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __relapse_copy(
    ctx: *mut Context,
    desc: *const SiteDesc,
    time: u64,
    to: u64,
    from: u64,
    len: u64,
) {
    unsafe {
        let ctx = &mut *ctx;
        if ctx.records() && len != 0 {
            let at = At::new((*desc).module, (*desc).site, time);
            ctx.busily(|ctx| {
                // Memory first: a wild pointer must fault as it would alone. The
                // destination then holds what the source held.
                bytes::copy(to as *mut u8, from as *const u8, len as usize);
                ctx.make_known_from(at, from, to, len);
                bytes::copy((to ^ ctx.key) as *mut u8, (from ^ ctx.key) as *const u8, len as usize);
            });
        } else {
            bytes::copy(to as *mut u8, from as *const u8, len as usize);
        }
    }
}

/// # Safety
/// Called by instrumented code as the interface says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __relapse_set(
    ctx: *mut Context,
    _desc: *const SiteDesc,
    _time: u64,
    to: u64,
    byte: u64,
    len: u64,
) {
    unsafe {
        bytes::fill(to as *mut u8, byte as u8, len as usize);
        let key = (*ctx).key;
        if key != 0 {
            bytes::fill((to ^ key) as *mut u8, byte as u8, len as usize);
        }
    }
}

/// # Safety
/// Called by instrumented code as the interface says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __relapse_read(
    ctx: *mut Context,
    desc: *const SiteDesc,
    time: u64,
    from: u64,
    len: u64,
) {
    unsafe {
        if (*ctx).records() {
            let at = At::new((*desc).module, (*desc).site, time);
            (*ctx).busily(|ctx| ctx.make_known(at, from, len));
        }
    }
}

/// # Safety
/// Called by instrumented code as the interface says.
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
    unsafe {
        let ctx = &mut *ctx;
        bytes::copy(to as *mut u8, from as *const u8, len as usize);
        if !ctx.records() || len == 0 {
            return;
        }
        let content = core::slice::from_raw_parts(to as *const u8, len as usize);
        ctx.busily(|ctx| {
            // `linked` is a C bool: its upper bits mean nothing.
            if linked & 0xff == 0 {
                ctx.patch(At::new((*desc).module, (*desc).site, time), to, content);
            } else {
                bytes::copy((to ^ ctx.key) as *mut u8, content.as_ptr(), content.len());
            }
        });
    }
}

/// # Safety
/// Called by instrumented code as the interface says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __relapse_atomic(
    ctx: *mut Context,
    desc: *const SiteDesc,
    time: u64,
    address: u64,
    old: *const u8,
    new: *const u8,
) {
    unsafe {
        if !(*ctx).records() {
            return;
        }
        (*ctx).busily(|ctx| {
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
/// Called by instrumented code as the interface says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __relapse_atomic_store(
    ctx: *mut Context,
    address: u64,
    value: *const u8,
    size: u64,
) {
    unsafe {
        if (*ctx).records() {
            bytes::copy((address ^ (*ctx).key) as *mut u8, value, size as usize);
        }
    }
}

/// # Safety
/// Called by instrumented code as the interface says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __relapse_value(
    ctx: *mut Context,
    desc: *const SiteDesc,
    time: u64,
    slots: *const u64,
) {
    unsafe {
        if !(*ctx).records() {
            return;
        }
        let count = ((*desc).extra as usize).min(255);
        let slots = if count == 0 { &[][..] } else { core::slice::from_raw_parts(slots, count) };
        let at = At::new((*desc).module, (*desc).site, time);
        let event = Event::Value { slots: Slots::Plain(slots) };
        (*ctx).busily(|ctx| ctx.emit_long(at, &event, 64 + count * 10));
    }
}

/// # Safety
/// Called by instrumented code as the interface says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __relapse_tls_addr(
    ctx: *mut Context,
    desc: *const SiteDesc,
    time: u64,
    address: u64,
) {
    unsafe {
        if !(*ctx).records() {
            return;
        }
        let at = At::new((*desc).module, (*desc).site, time);
        let event = Event::ThreadLocal { symbol: (*desc).extra, address };
        (*ctx).busily(|ctx| ctx.emit(at, &event));
    }
}

/// `va_list` of the System V convention.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct VaList {
    pub gp_offset: u32,
    pub fp_offset: u32,
    pub overflow: u64,
    pub save: u64,
}

/// Walks over variadic arguments: where each lies and how many bytes it has.
pub struct VaWalk {
    pub list: VaList,
}

impl VaWalk {
    fn on_stack(&mut self, size: u64, align: u64) -> u64 {
        let at = self.list.overflow.next_multiple_of(align.max(8));
        self.list.overflow = at + size.next_multiple_of(8);
        at
    }

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
/// Called by instrumented code as the interface says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __relapse_va_start(
    ctx: *mut Context,
    desc: *const SiteDesc,
    time: u64,
    list: *const VaList,
    va: *const VaDesc,
) {
    unsafe {
        if !(*ctx).records() {
            return;
        }
        (*ctx).busily(|ctx| {
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
                bytes::copy((address ^ key) as *mut u8, address as *const u8, len as usize);
            };
            copy(list as u64, size_of::<VaList>() as u64);
            // Replay knows the caller's arguments and puts them to the same places.
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
