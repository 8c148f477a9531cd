//! Large blocks of the heap. The C library unmaps them when they are freed; their shadow must be freed too,
//! or shadows would outgrow the program.

use crate::call::Call;
use crate::context::Context;
use crate::{memory, shadow};
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};
use externals::{External, flag};
use recording::event::Event;

/// Blocks of at least this size count as large.
const LARGE: u64 = 128 << 10;
/// Blocks that do not fit into the table are not tracked; that costs only memory.
const MAX_BLOCKS: usize = 512;

static mut BLOCKS: [(u64, u64); MAX_BLOCKS] = [(0, 0); MAX_BLOCKS];
static COUNT: AtomicUsize = AtomicUsize::new(0);
static LOCK: AtomicBool = AtomicBool::new(false);

/// Runs `f` unless the table is in use: waiting in a signal handler could deadlock.
fn try_locked<R>(f: impl FnOnce(&mut [(u64, u64); MAX_BLOCKS]) -> R) -> Option<R> {
    if LOCK.swap(true, Acquire) {
        return None;
    }
    // SAFETY: there is no other reference to the table: a thread that finds `LOCK` taken returns, and so does
    // a handler that interrupts this one.
    let result = f(unsafe { &mut *(&raw mut BLOCKS) });
    LOCK.store(false, Release);
    Some(result)
}

/// In a forked child the lock may be held by a thread that does not exist.
pub fn after_fork() {
    LOCK.store(false, Release);
}

/// Updates the table after a call that allocates or frees, and releases the shadow of what was freed.
///
/// # Safety
/// `call` is a call of `external` that has returned, in the running thread, and `ctx` has a shadow.
#[inline]
pub unsafe fn follow(ctx: &mut Context, external: &External, call: &Call<'_>) {
    if external.has(flag::FREES) && COUNT.load(Relaxed) > 0 {
        // SAFETY: `freed` has the requirements of this function: the call has returned.
        unsafe { freed(ctx, external, call) };
    }
    // SAFETY: the range belongs to the function that was called, and the call has returned.
    let block = external.allocates.as_ref().and_then(|block| unsafe { call.range(block) });
    if let Some((address, size)) = block
        && size >= LARGE
    {
        try_locked(|blocks| {
            // Other code may have freed a block that was at this address.
            let wanted = if blocks.iter().any(|b| b.0 == address) { address } else { 0 };
            if let Some(place) = blocks.iter_mut().find(|b| b.0 == wanted) {
                if place.0 == 0 {
                    COUNT.fetch_add(1, Relaxed);
                }
                *place = (address, size);
            }
        });
    } else if let Some((address, _)) = block
        && external.has(flag::MOVES)
        && COUNT.load(Relaxed) > 0
    {
        // A large block that was made small in place: what follows it may belong to others now.
        try_locked(|blocks| {
            if let Some(place) = blocks.iter_mut().find(|b| b.0 == address) {
                COUNT.fetch_sub(1, Relaxed);
                *place = (0, 0);
            }
        });
    }
}

/// # Safety
/// As for [`follow`].
#[cold]
unsafe fn freed(ctx: &mut Context, external: &External, call: &Call<'_>) {
    let address = call.arg(0);
    // A `realloc` that kept the block in place, or failed, has freed nothing.
    if address == 0 || (external.has(flag::MOVES) && (call.ret == address || call.ret == 0)) {
        return;
    }
    let length = try_locked(|blocks| {
        let place = blocks.iter_mut().find(|b| b.0 == address)?;
        COUNT.fetch_sub(1, Relaxed);
        Some(core::mem::take(place).1)
    });
    if let Some(Some(length)) = length {
        ctx.emit(call.at, &Event::Zeroed { address, length });
        // The block may be unmapped: then a fault on its shadow would not be repaired.
        shadow::ensure_shadow(ctx.key, address, length);
        // SAFETY: the context has a shadow, now of this range too, and the content of the block is not read
        // any more.
        unsafe { memory::zero(ctx.key, address, length) };
    }
}
