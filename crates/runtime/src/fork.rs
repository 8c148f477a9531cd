//! `fork`: the child's streams become streams of their own.
//!
//! The child has a copy of all private memory, shadows included, but still
//! shares the pages of the stream files with its parent. Before it runs on,
//! its files are made anew and mapped at the same addresses.
//!
//! `vfork` is different: the child borrows the parent's memory, so it goes on
//! writing to the parent's stream until it calls `exec` or `_exit`; then the
//! parent's `vfork` returns again, which is logged as a landing.

use crate::context::{self, Context};
use crate::{io, module, process, shadow, stream, sys, tls};
use recording::event::header;

unsafe extern "C" {
    fn __register_atfork(
        prepare: Option<extern "C" fn()>,
        parent: Option<extern "C" fn()>,
        child: Option<extern "C" fn()>,
        dso: *const u8,
    ) -> i32;
}

pub fn install() {
    unsafe { __register_atfork(None, None, Some(in_child), core::ptr::null()) };
}

extern "C" fn in_child() {
    if !process::is_recording() {
        return;
    }
    shadow::after_fork();
    io::after_fork();
    let ctx = unsafe { (*tls::tls()).ctx };
    let parent = (unsafe { ctx.as_ref() }.map_or_else(sys::parent_pid, |c| c.pid), process::image());
    let modules = {
        let mut path = process::Path::in_directory();
        path.push(b"modules.raw");
        path
    };
    let made = process::make_directory();
    if made {
        process::write_description(Some(parent));
        module::copy_file(&modules);
    } else {
        process::note_incomplete();
    }
    // The running context and those it interrupted or keeps for signals.
    let mine = |other: *mut Context| unsafe { (*other).thread == tls::thread_pointer() };
    context::forget_others(mine);
    for other in context::all() {
        unsafe { renew(other, made) };
    }
}

/// Gives a context of the child a file of its own.
unsafe fn renew(page: *mut Context, made: bool) {
    unsafe {
        let copy = page.read();
        let position = copy.length;
        let moved = made.then(|| stream::create(copy.stream, page as u64)).flatten();
        if moved.is_none() {
            // Private from now on, so that the parent's header stays its own.
            let flags = sys::MAP_PRIVATE | sys::MAP_ANONYMOUS | sys::MAP_FIXED;
            sys::map(page as u64, header::LEN as u64, sys::PROT_RW, flags, -1, 0);
        }
        page.write(copy);
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
        // Sources were defined in the parent's stream, which replay reads too,
        // but a reader of this file alone should find them here.
        ctx.forget_sources();
    }
}
