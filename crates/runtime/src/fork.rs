//! `fork`: the child's streams become streams of their own.
//!
//! The child has a copy of all private memory, shadows included, but still shares the pages of the stream
//! files with its parent, which may already continue. So the contexts are copied before the fork; before the
//! child continues, its files are created anew, mapped at the same addresses and filled with the copies.
//!
//! `vfork` is different: the child borrows the parent's memory, so it continues writing to the parent's
//! stream until it calls `exec` or `_exit`; then the parent's `vfork` returns again, which is logged as a
//! landing.

use crate::context::{self, Context};
use crate::{heap, module, process, shadow, stream, sys, tls};
use core::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};
use recording::event::header;

unsafe extern "C" {
    fn __register_atfork(
        prepare: Option<extern "C" fn()>,
        parent: Option<extern "C" fn()>,
        child: Option<extern "C" fn()>,
        dso: *const u8,
    ) -> i32;
}

/// Maximal number of contexts of one thread and its signals; further ones are not followed.
const MAX_COUNT: usize = 16;
/// Contexts of the forking thread immediately before the fork, and their addresses.
static COPIES: AtomicPtr<(*mut Context, Context)> = AtomicPtr::new(core::ptr::null_mut());
/// Signals that the forking thread had blocked. From [`prepare`] on all signals are blocked until the child
/// has files of its own: a handler there would write to its parent's files.
static MASK: AtomicU64 = AtomicU64::new(0);
/// Threads fork one at a time.
static FORKING: AtomicBool = AtomicBool::new(false);

/// Registers the functions that the C library calls around `fork`.
pub fn install() {
    let size = (MAX_COUNT * size_of::<(*mut Context, Context)>()) as u64;
    if let Some(at) = sys::reserve(size) {
        COPIES.store(at.cast(), Relaxed);
        // SAFETY: the three functions take no arguments and stay mapped: this object is never unloaded
        // (`module::pin_library`), so it needs no handle.
        unsafe { __register_atfork(Some(prepare), Some(in_parent), Some(in_child), core::ptr::null()) };
    }
}

/// The contexts of the running thread, with the addresses of their copies. As signals are blocked from
/// `prepare` on, no context is added, and each has the same index in the child.
fn own_contexts() -> impl Iterator<Item = (*mut Context, *mut (*mut Context, Context))> {
    let copies = COPIES.load(Relaxed);
    let thread = tls::thread_pointer();
    context::all()
        // SAFETY: contexts are never unmapped, and `thread` is one of the fields that other threads may read.
        .filter(move |&c| unsafe { (*c).thread == thread })
        .take(MAX_COUNT)
        .enumerate()
        // SAFETY: `install` reserves memory for `MAX_COUNT` copies before it registers the functions that call
        // this.
        .map(move |(i, ctx)| (ctx, unsafe { copies.add(i) }))
}

extern "C" fn prepare() {
    let mask = sys::block_signals();
    while FORKING.swap(true, Acquire) {
        sys::yield_now();
    }
    MASK.store(mask, Relaxed);
    for (ctx, copy) in own_contexts() {
        // SAFETY: the context is this thread's own and no hook is active on it: the thread is in `fork`, and
        // signals are blocked. `FORKING` makes one thread at a time the only user of the memory of its copy.
        unsafe {
            (&raw mut (*copy).0).write(ctx);
            core::ptr::copy_nonoverlapping(ctx, &raw mut (*copy).1, 1);
        }
    }
}

extern "C" fn in_parent() {
    let mask = MASK.load(Relaxed);
    FORKING.store(false, Release);
    sys::restore_signals(mask);
}

extern "C" fn in_child() {
    FORKING.store(false, Release);
    begin_child();
    sys::restore_signals(MASK.load(Relaxed));
}

fn begin_child() {
    if !process::is_recording() {
        return;
    }
    shadow::after_fork();
    heap::after_fork();
    // SAFETY: the context is null or this thread's own, and no hook is active on it.
    let ctx = unsafe { tls::context().as_ref() };
    let parent = (ctx.map_or_else(sys::parent_pid, |c| c.pid), process::image());
    let modules = {
        let mut path = process::Path::in_directory();
        path.push(b"modules.raw");
        path
    };
    // SAFETY: the thread that forked is the only one in the child.
    let made = unsafe { process::make_directory() };
    let noted = match made {
        Ok(()) => {
            process::write_description(Some(parent));
            module::copy_file(&modules);
            true
        }
        Err(reason) => process::note_incomplete(reason),
    };
    // Keep the running context and those it interrupted or reserves for signals; the other threads do not
    // exist here.
    let thread = tls::thread_pointer();
    // SAFETY: contexts are never unmapped, also in the child, and no other thread writes.
    context::forget_others(|other| unsafe { (*other).thread == thread });
    for (ctx, copy) in own_contexts() {
        // SAFETY: `prepare` has filled this copy from this context just before the fork, and the
        // thread is the only one.
        unsafe {
            if !noted {
                // This is still the parent's header, the only header available.
                (*ctx).flags |= header::INCOMPLETE;
            }
            renew(ctx, &(*copy).1, made.is_ok());
        }
    }
}

/// Gives a context of the child a file of its own.
///
/// # Safety
/// `page` is a context of the child's only thread, `copy` its content before the fork, and no reference to
/// the context is live.
unsafe fn renew(page: *mut Context, copy: &Context, made: bool) {
    // SAFETY: the page is a mapping of one header that the runtime has made, so it can be mapped again at its
    // address; after that it is writable and is written completely. `copy` lies elsewhere. The window of the
    // copy is still mapped where it was in the parent; `begin` forgets it next.
    unsafe {
        let position = copy.length;
        let moved = made.then(|| stream::create(copy.stream, page as u64)).flatten();
        if moved.is_none() {
            // Private from now on, so that the child does not write to the parent's header.
            let flags = sys::MAP_PRIVATE | sys::MAP_ANONYMOUS | sys::MAP_FIXED;
            sys::map(page as u64, header::LEN as u64, sys::PROT_RW, flags, -1, 0);
        }
        core::ptr::copy_nonoverlapping(copy, page, 1);
        let ctx = &mut *page;
        let was_logging = ctx.own.logging;
        if !ctx.own.window.is_null() {
            sys::unmap(ctx.own.window, ctx.own.window_len);
        }
        let (kind, parent, stream) = (ctx.kind, ctx.parent_stream, ctx.stream);
        ctx.begin(stream, kind, parent);
        ctx.fork_stream = stream + 1;
        ctx.fork_position = position;
        ctx.own.logging = was_logging;
        if !was_logging || moved.is_none() {
            ctx.stop();
        }
        // Sources were defined in the parent's stream, which replay reads too, but a reader of this file
        // alone must find them here.
        ctx.forget_sources();
    }
}
