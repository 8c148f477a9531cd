//! Hooks after, and for some functions before, a call into code that is not instrumented.

use crate::call::Call;
use crate::context::{self, Context};
use crate::desc::{CALL_RETURNS_TWICE, CallDesc};
use crate::memory::{self, Shadow};
use crate::stream::At;
use crate::{bytes, consumed, crash, heap, io, module, process, shadow, sys, tls};
use core::sync::atomic::{Ordering::SeqCst, compiler_fence};
use externals::{External, Len, Model, Place, Range, Ret, flag};
use recording::event::{Event, Slots, sync};

unsafe extern "C" {
    fn malloc_usable_size(at: *const u8) -> usize;
    fn __errno_location() -> *mut i32;
}

/// Flags that need no special handling after the call.
const PLAIN: u32 =
    flag::BEFORE | flag::NORETURN | flag::CALLS_BACK | flag::FREES | flag::MOVES | flag::SIGNALS;

/// A sum is logged at least once in this much time, where there are external calls.
const CHECK_EVERY: u64 = 16_384;

/// Called by the trampoline of `__relapse_external`.
///
/// # Safety
/// Called by instrumented code as `docs/runtime-interface.md` specifies.
pub unsafe extern "C" fn external(
    ctx: *mut Context,
    desc: *const CallDesc,
    target: u64,
    args: *const u64,
    result: *mut u64,
    place: u64,
) {
    // SAFETY: the compiler passes the context that the thread-local block names, static descriptors, and
    // arrays on the machine stack with the slots that `desc` declares: the arguments, and `ret_slots` for the
    // result (or null). `in_hook` keeps a handler from using the context, so this is the only reference to it.
    // The arguments and result of the function that has just returned satisfy `Call::new` and
    // `known_call_returned`.
    unsafe {
        let tls = tls::tls();
        let ctx = &mut *ctx;
        let desc = &*desc;
        // In this order: a signal between the two must not look like a callback.
        ctx.own.in_hook = true;
        compiler_fence(SeqCst);
        let announced = core::mem::replace(&mut (*tls).call, 0);
        let slots = if desc.ret_slots == 0 || result.is_null() {
            &mut [][..]
        } else {
            core::slice::from_raw_parts_mut(result, desc.ret_slots as usize)
        };
        let ret = slots.first().copied().unwrap_or(0);
        let again = desc.flags & CALL_RETURNS_TWICE != 0 && ret as u32 != 0;
        if again {
            ctx.land();
        } else if announced != target || ctx.has_entry_below(place) {
            // A nested call was the last one announced, or the last to call back, and never returned.
            ctx.unwound(target, place);
        }
        if ctx.key != 0 {
            let call = Call::new(ctx, desc, args, ret);
            ctx.calls += 1;
            if again {
                let event = Event::Land { stack: ctx.stack, slots: Slots::Plain(slots) };
                ctx.emit_long(call.at, &event, 64 + slots.len() * 10);
            } else {
                #[cfg(feature = "staticlib")]
                crate::foreign::log(ctx, target, &call);
                let known = if desc.known != 0 { desc.known } else { module::known_at(target) };
                match known.checked_sub(1).and_then(externals::by_id) {
                    Some(external) => known_call_returned(ctx, external, &call, slots),
                    None => {
                        ctx.opaque += 1;
                        log_result(ctx, &call, slots);
                    }
                }
            }
        }
        compiler_fence(SeqCst);
        ctx.own.in_hook = false;
    }
}

/// Logs what a known function did.
///
/// # Safety
/// `call` is a call of `external` that has returned, in the running thread, and `ctx` has a shadow. The
/// functions below that take these three have the same requirement.
unsafe fn known_call_returned(ctx: &mut Context, external: &External, call: &Call<'_>, slots: &mut [u64]) {
    // SAFETY: every function called here requires only what the caller has guaranteed. Ranges are read only
    // if the function did not fail because of a bad pointer.
    unsafe {
        if external.has(flag::FREES) || external.allocates.is_some() {
            // The shadow of a moved block must be copied before the shadow of the old block is dropped.
            if external.has(flag::MOVES) {
                moved(ctx, external, call);
            }
            heap::follow(ctx, external, call);
        }
        if let Some(model) = external.model {
            let predicted = modelled(ctx, model, external, call);
            if model.needs_result() || (external.ret != Ret::Void && predicted != Some(call.ret)) {
                log_result(ctx, call, slots);
            }
            return;
        }
        if external.has(flag::SIGNALS) {
            hide_handler(external, call);
        }
        if !failed_on_address(external, call) {
            for range in external.reads.iter().chain(external.writes) {
                sync_range(ctx, call, range);
            }
            if let Some(format) = external.format {
                crate::format::sync_arguments(ctx, call, format);
            }
        }
        if external.flags & !PLAIN != 0 {
            special(ctx, external, call);
        }
        if let Some(io) = external.io {
            io::log(ctx, external, io, call);
        }
        log_result(ctx, call, slots);
    }
}

/// A system call that got a bad pointer reports `EFAULT`; the runtime must not follow that pointer.
fn failed_on_address(external: &External, call: &Call<'_>) -> bool {
    const EFAULT: i32 = 14;
    call.ret as u32 == u32::MAX
        && matches!(external.ret, Ret::Int | Ret::Count | Ret::Fd)
        // SAFETY: the C library returns a pointer to the `errno` of the running thread.
        && unsafe { *__errno_location() == EFAULT }
}

/// # Safety
/// `range` belongs to the function of `call`, in the running thread, and `ctx` has a shadow. If the range
/// applies only after the call, the call has returned.
unsafe fn sync_range(ctx: &mut Context, call: &Call<'_>, range: &Range) {
    // SAFETY: the table names only memory that the function itself reads or writes. The length of an array of
    // strings includes the null pointer at its end, so every entry before it is a string.
    unsafe {
        let Some((address, len)) = call.range(range) else { return };
        if let Place::Ios(slot, _) = range.place
            && let Some(offset) = call.virtual_base(slot)
        {
            // Replay computes the base from these two words.
            ctx.sync_shadow(call.at, call.arg(slot), 8);
            ctx.sync_shadow(call.at, offset, 8);
        }
        ctx.sync_shadow(call.at, address, len);
        match range.len {
            Len::Iovec(_) => {
                for (base, len) in call.buffers(range) {
                    ctx.sync_shadow(call.at, base, len);
                }
            }
            Len::Strings => {
                for i in 0..len / 8 - 1 {
                    let string = *(address as *const u64).add(i as usize);
                    ctx.sync_shadow(call.at, string, bytes::string_len(string as *const u8) as u64 + 1);
                }
            }
            _ => {}
        }
    }
}

/// Makes known what a modelled function has read, and applies its effect to the shadow. Reads no further than
/// the function itself did.
///
/// # Safety
/// As for [`known_call_returned`], with the model of `external`.
unsafe fn modelled(ctx: &mut Context, model: Model, external: &External, call: &Call<'_>) -> Option<u64> {
    let (a, b, n) = (call.arg(0), call.arg(1), call.arg(2));
    // SAFETY: each arm makes known what the function has read: the number of bytes that it had to copy, or
    // the bytes up to the one that it found or stopped at.
    unsafe {
        match model {
            // The destination now contains what the source contained, even if they overlap.
            Model::Memcpy | Model::Mempcpy => ctx.sync_shadow_from(call.at, b, a, n),
            Model::Memccpy => {
                let len = if call.ret == 0 { call.arg(3) } else { call.ret - a };
                ctx.sync_shadow_from(call.at, b, a, len);
            }
            Model::Bcopy => ctx.sync_shadow_from(call.at, a, b, n),
            Model::Memcmp => compared(ctx, call, n, model),
            Model::Strcmp | Model::Strcasecmp => compared(ctx, call, u64::MAX, model),
            Model::Strncmp | Model::Strncasecmp => compared(ctx, call, n, model),
            Model::Memchr if call.ret != 0 => ctx.sync_shadow(call.at, a, call.ret - a + 1),
            Model::Rawmemchr => ctx.sync_shadow(call.at, a, call.ret.wrapping_sub(a) + 1),
            _ => {
                for range in external.reads {
                    if let Some((address, len)) = call.range(range) {
                        ctx.sync_shadow(call.at, address, len);
                    }
                }
            }
        }
    }
    // SAFETY: the context has a shadow, and the model accesses only memory that the function has accessed.
    let mut shadow = unsafe { Shadow::new(ctx.key) };
    externals::evaluate(model, call.args, call.ret, &mut shadow).ok()
}

/// Two strings or ranges were compared: both are read up to the first
/// difference.
///
/// # Safety
/// As for [`known_call_returned`], with a function that compares what its first two arguments point to.
unsafe fn compared(ctx: &mut Context, call: &Call<'_>, limit: u64, model: Model) {
    let strings = model != Model::Memcmp;
    let ignore_case = matches!(model, Model::Strcasecmp | Model::Strncasecmp);
    let (a, b) = (call.arg(0) as *const u8, call.arg(1) as *const u8);
    // SAFETY: the loop stops where the function did: at the limit, after the first difference, or after the
    // NUL of a string.
    unsafe {
        let mut n = 0;
        while n < limit as usize {
            let (x, y) = (*a.add(n), *b.add(n));
            n += 1;
            let same = x == y || (ignore_case && x.eq_ignore_ascii_case(&y));
            if !same || (strings && x == 0) {
                break;
            }
        }
        ctx.sync_shadow(call.at, a as u64, n as u64);
        ctx.sync_shadow(call.at, b as u64, n as u64);
    }
}

fn log_result(ctx: &mut Context, call: &Call<'_>, slots: &[u64]) {
    let event = Event::External { slots: Slots::Plain(slots) };
    ctx.emit_long(call.at, &event, 64 + slots.len() * 10);
    if ctx.time.wrapping_sub(ctx.own.last_check) >= CHECK_EVERY {
        ctx.own.last_check = ctx.time;
        ctx.emit(At::outside(ctx.time), &Event::Check { sum: ctx.sum });
    }
}

/// Functions with effects other than reading and writing bytes.
///
/// # Safety
/// As for [`known_call_returned`].
unsafe fn special(ctx: &mut Context, external: &External, call: &Call<'_>) {
    // SAFETY: a function that has started a thread has stored its handle at the first argument, which is not
    // null. Contexts are never unmapped, and of other threads' contexts only the fields that do not change
    // are read.
    unsafe {
        if external.has(flag::MAPS) {
            mapped(ctx, external, call);
        }
        if external.has(flag::FORKS)
            && let Some(child @ 1..) = call.count()
        {
            ctx.emit(call.at, &Event::Fork { child: child as u32 });
        }
        if external.has(flag::STARTS) && call.ret as u32 == 0 && call.arg(0) != 0 {
            let handle = *(call.arg(0) as *const u64);
            let stream =
                context::all().find(|&c| (*c).thread == handle && (*c).kind == 0).map(|c| (*c).stream);
            ctx.emit(call.at, &Event::Thread { stream, handle });
        }
        if external.has(flag::SYNC) && !external.has(flag::UNLOCKS | flag::WAKES) {
            log_sync(ctx, external, call);
        }
        io::follow(external, call);
    }
}

fn log_sync(ctx: &mut Context, external: &External, call: &Call<'_>) {
    if !context::many() {
        return;
    }
    let operation = match external.flags {
        f if f & flag::UNLOCKS != 0 => sync::UNLOCK,
        f if f & flag::WAKES != 0 => sync::WAKE,
        f if f & flag::WAITS != 0 => sync::WAIT,
        f if f & flag::JOINS != 0 => sync::JOIN,
        _ => sync::LOCK,
    };
    ctx.emit(call.at, &Event::Sync { object: call.arg(0), operation });
}

/// `realloc`: moves the shadow together with the block.
///
/// # Safety
/// As for [`known_call_returned`], with a function that moves a block.
unsafe fn moved(ctx: &mut Context, external: &External, call: &Call<'_>) {
    let (from, to) = (call.arg(0), call.ret);
    let noted = core::mem::take(&mut ctx.own.before_address);
    if from == 0 || to == 0 || from == to || noted != from {
        return;
    }
    let wanted =
        if external.name == "realloc" { call.arg(1) } else { call.arg(1).saturating_mul(call.arg(2)) };
    let length = wanted.min(ctx.own.before_len);
    ctx.emit(call.at, &Event::Moved { from, to, length });
    // SAFETY: the function has moved at least `length` bytes from `from` to `to`: `length` exceeds the size
    // of neither block.
    unsafe { move_shadow(ctx, call, to, from, length) };
}

/// Moves the shadow of a block that was moved.
///
/// # Safety
/// `call` has moved `length` bytes of the program's memory, and `ctx` has a shadow.
unsafe fn move_shadow(ctx: &mut Context, call: &Call<'_>, to: u64, from: u64, length: u64) {
    // The old block may be unmapped: then a fault on its shadow would not be repaired.
    shadow::ensure_shadow(ctx.key, from, length);
    shadow::ensure_shadow(ctx.key, to, length);
    // SAFETY: the context has a shadow, now of both ranges.
    if let Some((address, length)) = unsafe { memory::move_block(ctx.key, to, from, length) } {
        ctx.emit(call.at, &Event::Zeroed { address, length });
    }
}

/// # Safety
/// As for [`known_call_returned`], with a function that maps, moves or unmaps.
unsafe fn mapped(ctx: &mut Context, external: &External, call: &Call<'_>) {
    let page = |n: u64| n.next_multiple_of(sys::PAGE);
    if call.ret == u64::MAX || call.ret as u32 == u32::MAX {
        return;
    }
    let (address, length) = match external.name {
        "munmap" => {
            // The range is unmapped: a fault on its shadow would not be repaired.
            shadow::ensure_shadow(ctx.key, call.arg(0), call.arg(1));
            (call.arg(0), page(call.arg(1)))
        }
        "mremap" => {
            let (from, to) = (call.arg(0), call.ret);
            let length = call.arg(1).min(call.arg(2));
            shadow::ensure_shadow(ctx.key, to, call.arg(2).max(1));
            if from != to {
                ctx.emit(call.at, &Event::Moved { from, to, length });
                // SAFETY: `mremap` has moved the smaller of the old and the new length.
                unsafe { move_shadow(ctx, call, to, from, length) };
            }
            return;
        }
        _ if call.arg(3) & sys::MAP_ANONYMOUS != 0 => {
            shadow::ensure_shadow(ctx.key, call.ret, call.arg(1).max(1));
            (call.ret, page(call.arg(1)))
        }
        _ => {
            shadow::ensure_shadow(ctx.key, call.ret, call.arg(1).max(1));
            io::log_mapped(ctx, call);
            return;
        }
    };
    if length > 0 {
        ctx.emit(call.at, &Event::Zeroed { address, length });
        // SAFETY: the context has a shadow, and its part for this range is covered above.
        unsafe { memory::zero(ctx.key, address, length) };
    }
}

/// A program that queries the old disposition must see the default, not the runtime's handler. `signal`
/// itself does this in its wrapper.
///
/// # Safety
/// `call` is a call of `external`, which sets a handler, and has returned.
unsafe fn hide_handler(external: &External, call: &Call<'_>) {
    if external.name != "sigaction" {
        return;
    }
    crash::action_changed(call.arg(0));
    let old = call.arg(2) as *mut u64;
    // SAFETY: `sigaction` has succeeded, so it has stored a `struct sigaction` at its third argument. That
    // has 152 bytes in the C library and begins with the handler.
    unsafe {
        if !old.is_null() && call.ret as u32 == 0 && *old == crash::handler_address() {
            bytes::fill(old.cast(), 0, 152);
        }
    }
}

/// # Safety
/// Called by instrumented code as `docs/runtime-interface.md` specifies.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __relapse_before(
    ctx: *mut Context,
    desc: *const CallDesc,
    _target: u64,
    args: *const u64,
) {
    // SAFETY: the compiler passes the context that the thread-local block names, a static descriptor, and the
    // arguments of the next call, which it describes. The function is about to read what is read here: the
    // block that `realloc` gets is null or from the C library's heap, the stream of `scanf` is open, and the
    // target of `strcat` is a string.
    unsafe {
        let (ctx, desc) = (&mut *ctx, &*desc);
        if ctx.key == 0 {
            return;
        }
        let Some(external) = desc.known.checked_sub(1).and_then(externals::by_id) else { return };
        let stream = external.io.and_then(|io| io::consumed_stream(io, &Call::new(ctx, desc, args, 0)));
        if let (Some(file), Some(format)) = (stream, external.format) {
            let format = Call::new(ctx, desc, args, 0).arg(format.format) as *const u8;
            consumed::fill(file, format);
            ctx.with_reentrancy_guard(|ctx| consumed::note(ctx, file));
            return;
        }
        ctx.with_reentrancy_guard(|ctx| {
            let call = Call::new(ctx, desc, args, 0);
            if external.has(flag::MOVES) {
                let old = call.arg(0);
                ctx.own.before_address = old;
                ctx.own.before_len = if old == 0 { 0 } else { malloc_usable_size(old as *const u8) as u64 };
            } else if external.has(flag::SWITCHES) {
                ctx.stop_recording(
                    b"it goes on on another stack (swapcontext), where recording cannot follow",
                );
            } else if external.has(flag::EXITS) {
                // If the pid differs, this is the child of a vfork, and the recorded process does not end.
                if ctx.pid == sys::pid() {
                    process::end(ctx, call.arg(0) as u32);
                }
            } else if external.has(flag::UNLOCKS | flag::WAKES) {
                log_sync(ctx, external, &call);
            } else if let Some(Model::Strcat | Model::Strncat) = external.model {
                let to = call.arg(0);
                ctx.sync_shadow(call.at, to, bytes::string_len(to as *const u8) as u64 + 1);
            } else {
                for range in external.reads {
                    sync_range(ctx, &call, range);
                }
                if external.has(flag::EXECS) {
                    ctx.emit(call.at, &Event::Exec);
                }
            }
        });
    }
}
