//! Entries from uninstrumented into instrumented code: the program's start, threads, callbacks, signal
//! handlers; and landings after `longjmp`.

use crate::context::{self, Context, MAX_ENTRIES};
use crate::desc::{FN_MAIN, FnDesc, SiteDesc};
use crate::process;
use crate::stream::{self, At};
use crate::{crash, io, module, shadow, sys, tls};
use core::sync::atomic::{Ordering::SeqCst, compiler_fence};
use recording::event::{Event, Slots, header};

/// An entry from outside that has not returned.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Entry {
    /// The value of `call` to restore in the thread-local block.
    call: u64,
    ctx: *mut Context,
    /// The model stack pointer at entry.
    stack: u64,
    /// Machine stack pointer of the entered function: below the calling code outside, above all functions
    /// that it calls itself.
    place: u64,
}

unsafe extern "C" {
    fn pthread_setspecific(key: u32, value: *const u8) -> i32;
}

impl Context {
    fn push(&mut self, entry: Entry) {
        if self.own.depth < MAX_ENTRIES {
            // SAFETY: `entries` has room for `MAX_ENTRIES`, and `depth` is less.
            unsafe { *self.own.entries.add(self.own.depth) = entry };
        }
        self.own.depth += 1;
    }

    fn top(&self) -> Option<Entry> {
        let index = self.own.depth.checked_sub(1)?;
        // SAFETY: `entries` has room for `MAX_ENTRIES`, and `index` is less; all entries below `depth` were
        // pushed.
        (index < MAX_ENTRIES).then(|| unsafe { *self.own.entries.add(index) })
    }

    /// Drops entries that a jump has abandoned.
    fn drop_entries(&mut self, stale: impl Fn(&Entry) -> bool) {
        while let Some(entry) = self.top()
            && stale(&entry)
        {
            self.own.depth -= 1;
        }
    }

    /// Whether the last entry from outside was made further down the machine stack than a function that now
    /// continues.
    #[inline]
    pub fn has_entry_below(&self, place: u64) -> bool {
        self.top().is_some_and(|entry| entry.place < place)
    }

    /// A call to code outside has returned although code that it called back has not: an exception or a jump
    /// left that code and ended in code outside. The frames between are gone, unless they are on another
    /// stack, to which the program may return.
    pub fn unwound(&mut self, target: u64, place: u64) {
        if self.has_entry_below(place) && self.top().is_some_and(|e| !shadow::on_one_stack(e.place, place)) {
            self.stop_recording(b"it goes on on another stack, where recording cannot follow");
            return;
        }
        let mut gone = false;
        while let Some(entry) = self.top()
            && (entry.place < place || (!gone && entry.call == target))
        {
            gone = true;
            self.own.depth -= 1;
            self.stack = entry.stack;
        }
    }

    /// Called when code outside calls instrumented code: detects frames that were entered before and are
    /// gone. Code outside that jumps (`longjmp` to its own `setjmp`, as test frameworks do) leaves no other
    /// trace. A live entry is higher on the machine stack. Returns the call then in progress.
    fn drop_skipped_entries(&mut self, call: u64, place: u64) -> u64 {
        let mut current_call = call;
        let mut entries = 0;
        while let Some(entry) = self.top()
            && entry.place <= place
            && (entries > 0 || shadow::on_one_stack(entry.place, place))
        {
            entries += 1;
            self.own.depth -= 1;
            self.stack = entry.stack;
            current_call = entry.call;
        }
        if entries > 0 {
            self.emit(At::outside(self.time), &Event::Unwound { entries });
        }
        current_call
    }

    /// A `returns_twice` call has returned. If it is not the first time, the frames between are gone,
    /// together with the entries made from them. Each such entry began with the model stack at or below this
    /// function's frame.
    pub fn land(&mut self) {
        let stack = self.stack;
        self.drop_entries(|e| e.stack <= stack);
        // SAFETY: null or a context of this thread's signals, which is never unmapped. The jump has left the
        // handler that used it, so no hook is active on it.
        if unsafe { self.own.signal.as_ref() }.is_some_and(|s| s.own.depth > 0) {
            let address = core::mem::take(&mut self.own.fault);
            let event = Event::Interrupted { called: self.time, address };
            // Loop iterations since the last call are complete; their ticks count.
            self.time = self.reached();
            self.emit(At::outside(self.time), &event);
        }
        let mut inner = self.own.signal;
        // SAFETY: as above, also for signals that interrupted handlers: each has its own context.
        while let Some(signal) = unsafe { inner.as_mut() } {
            signal.own.depth = 0;
            signal.own.in_hook = false;
            signal.stack = signal.initial_stack;
            signal.time = signal.reached();
            inner = signal.own.signal;
        }
        tls::set_context(self);
    }
}

/// An exception has left a call, and a handler of the caller begins: the frames between are gone.
///
/// # Safety
/// Called by instrumented code as `docs/runtime-interface.md` specifies.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __relapse_land(ctx: *mut Context, desc: *const SiteDesc, slots: *const u64) {
    let tls = tls::tls();
    // SAFETY: the compiler passes the context of the continuing function, which is this thread's, a static
    // descriptor, and two slots on the machine stack. `in_hook` keeps a handler from using the context.
    unsafe {
        let (ctx, desc) = (&mut *ctx, &*desc);
        ctx.own.in_hook = true;
        compiler_fence(SeqCst);
        (*tls).call = 0;
        ctx.land();
        let slots = core::slice::from_raw_parts(slots, 2);
        let event = Event::Land { stack: ctx.stack, slots: Slots::Plain(slots) };
        ctx.emit_long(At::new(desc.module, desc.site, ctx.time), &event, 64 + slots.len() * 10);
        compiler_fence(SeqCst);
        ctx.own.in_hook = false;
    }
}

/// Called by the trampoline of `__relapse_enter`.
///
/// # Safety
/// Called by instrumented code as `docs/runtime-interface.md` specifies.
pub unsafe extern "C" fn enter(desc: *const FnDesc, args: *const u64, place: u64) {
    let tls = tls::tls();
    // SAFETY: the compiler passes a static descriptor and as many arguments as it declares. The context is
    // this thread's own. A reference to it is made only when no hook is active on it, and `in_hook` then keeps
    // handlers from making another. `main` gets its arguments as the kernel has laid them out, and is entered
    // before the program has threads. If no module was registered, so that the process starts here, this is
    // the first instrumented code that runs.
    unsafe {
        let call = (*tls).call;
        if (*tls).ctx.is_null() {
            process::start();
            (*tls).ctx = new_context(header::KIND_THREAD, 0);
        }
        let ctx = (*tls).ctx;
        let desc = &*desc;
        // If a call to a modelled function was announced but has not begun, this is no external call: a
        // signal arrived in between.
        let inside = call != 0 && module::known_at(call) != module::MODELLED;
        if (*ctx).own.in_hook || (!inside && (*ctx).own.depth > 0) {
            enter_signal(ctx, call, desc, args, place);
            return;
        }
        // A handler that interrupted code outside is entered like any callback. The kernel's arguments to it
        // lie directly above its frame.
        let passed = |n: usize| (*args.add(n)).wrapping_sub(place) < 4096;
        if inside && desc.arg_slots >= 3 && *args == SEGV && passed(1) && passed(2) {
            show_overflow(&*ctx, desc, args);
        }
        let ctx = &mut *ctx;
        let call = ctx.drop_skipped_entries(call, place);
        let entry = Entry { call, ctx: (*tls).ctx, stack: ctx.stack, place };
        ctx.own.in_hook = true;
        compiler_fence(SeqCst);
        ctx.push(entry);
        if ctx.own.logging {
            if desc.flags & FN_MAIN != 0 && call == 0 {
                let (argc, argv) = if desc.arg_slots >= 2 {
                    (*args, *args.add(1) as *const *const u8)
                } else {
                    (0, core::ptr::null())
                };
                io::sync_arguments(ctx, argc, argv);
            }
            log_enter(ctx, desc, args, call != 0);
        }
        // Cleared here already, and not only by the caller: a signal that arrives next must see that
        // instrumented code has begun.
        (*tls).call = 0;
        compiler_fence(SeqCst);
        ctx.own.in_hook = false;
    }
}

/// Logs the entry into a function.
///
/// # Safety
/// `desc` is the compiler's descriptor of a function that is entered, and `args` has its arguments.
unsafe fn log_enter(ctx: &mut Context, desc: &FnDesc, args: *const u64, inside: bool) {
    let count = (desc.arg_slots as usize).min(255);
    // SAFETY: the caller guarantees that the array has `arg_slots` slots. It lies on the machine stack, where
    // no other code writes. The module is loaded, since its code runs.
    let (slots, module) = unsafe {
        let slots = if count == 0 { &[][..] } else { core::slice::from_raw_parts(args, count) };
        (slots, module::index(desc.module))
    };
    let event = Event::Enter { module, function: desc.function, slots: Slots::Plain(slots), inside };
    ctx.emit_long(At::outside(ctx.time), &event, 64 + count * 10);
}

/// A signal interrupted instrumented code or a hook: the handler runs in a
/// context of its own.
///
/// # Safety
/// `interrupted` is the context of this thread that was in use. `desc` is the compiler's descriptor
/// of the handler, and `args` has its arguments.
unsafe fn enter_signal(interrupted: *mut Context, call: u64, desc: &FnDesc, args: *const u64, place: u64) {
    let tls = tls::tls();
    // SAFETY: an interrupted hook may hold a reference to its context, so this code makes none: the fields
    // `signal` and `fault` are written only by handlers, and of the others only the time is read. No code is
    // active on the context of signals: an active handler would be the interrupted context, with a context of
    // signals of its own.
    unsafe {
        if (*interrupted).own.signal.is_null() {
            let signal = new_context(header::KIND_SIGNAL, u64::from((*interrupted).stream));
            (*interrupted).own.signal = signal;
        }
        let ctx = &mut *(*interrupted).own.signal;
        ctx.own.depth = 0;
        ctx.stack = ctx.initial_stack;
        ctx.push(Entry { call, ctx: interrupted, stack: ctx.stack, place });
        (*tls).ctx = ctx;
        (*tls).call = 0;
        (*interrupted).own.fault = fault_address(desc, args);
        show_overflow(&*interrupted, desc, args);
        if ctx.own.logging {
            let signal = if desc.arg_slots > 0 { *args as u32 } else { 0 };
            let interrupted = (*interrupted).time.max((*interrupted).ticked);
            ctx.emit(At::outside(ctx.time), &Event::Signal { signal, interrupted });
            log_enter(ctx, desc, args, false);
        }
    }
}

const SEGV: u64 = 11;
const BUS: u64 = 7;

/// Address of the access that faulted, if a fault caused this handler to run and the handler receives its
/// address.
///
/// # Safety
/// `desc` is the compiler's descriptor of a handler, and `args` has its arguments.
unsafe fn fault_address(desc: &FnDesc, args: *const u64) -> u64 {
    // SAFETY: there are at least three slots. A function that takes three arguments and is entered
    // asynchronously is a handler set with `SA_SIGINFO`, to which the kernel passes the number of the signal
    // and a `siginfo_t`.
    unsafe {
        if desc.arg_slots < 3 || !matches!(*args, SEGV | BUS) {
            return 0;
        }
        // `siginfo_t`: number, error, code, then the address.
        let info = *args.add(1) as *const i32;
        if info.is_null() || *info.add(2) <= 0 { 0 } else { *info.add(4).cast::<u64>() }
    }
}

/// Rewrites a stack overflow for the handler. A program that distinguishes a stack overflow from other faults
/// queries the bounds of the stack with its locals, and checks whether the fault is near its end. That stack
/// is the model stack, but the one that overflowed may be the machine stack, or the fault is in the guard.
/// The handler gets an overflow of the stack that it knows.
///
/// # Safety
/// `desc` is the compiler's descriptor of a handler, and `args` has its arguments.
unsafe fn show_overflow(interrupted: &Context, desc: &FnDesc, args: *const u64) {
    /// A frame that begins further below the stack pointer probes the stack first.
    const NEAR: u64 = 1 << 20;
    /// Offset of the stack pointer in `ucontext_t`.
    const AT_STACK_POINTER: u64 = 160;
    // SAFETY: as above. A fault address implies a `siginfo_t`; after it comes the `ucontext_t`, which the
    // kernel always passes. Both are on the stack of the handler, writable.
    unsafe {
        let fault = fault_address(desc, args);
        let (info, machine) = (*args.add(1), *args.add(2));
        if fault == 0 || machine == 0 {
            return;
        }
        let pointer = *((machine + AT_STACK_POINTER) as *const u64);
        let lowest = interrupted.initial_stack + 64 - interrupted.stack_size;
        let in_guard = (lowest - context::GUARD..lowest).contains(&fault);
        let overflow = fault < pointer + 4096 && fault + NEAR > pointer && !sys::is_mapped(fault);
        if in_guard || overflow {
            *((info + 16) as *mut u64) = lowest;
        }
    }
}

/// # Safety
/// Called by instrumented code as `docs/runtime-interface.md` specifies.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __relapse_leave(_desc: *const FnDesc) {
    let tls = tls::tls();
    // SAFETY: the context is null or this thread's own. The leaving function is instrumented, so no hook is
    // active on it; contexts in entries are this thread's too.
    unsafe {
        let Some(ctx) = (*tls).ctx.as_mut() else { return };
        let stack = ctx.stack;
        ctx.drop_entries(|e| e.stack < stack);
        let entry = ctx.top();
        ctx.own.depth = ctx.own.depth.saturating_sub(1);
        if let Some(entry) = entry {
            (*tls).call = entry.call;
            (*tls).ctx = entry.ctx;
        }
    }
}

/// Creates the state that instrumented code needs in a thread that reaches it without an entry.
pub fn prepare_thread() {
    if tls::context().is_null() {
        tls::set_context(new_context(header::KIND_THREAD, 0));
    }
}

/// Creates stack, shadow and stream of a thread or of its signals. `parent` is the stream of the thread that
/// the signals interrupt.
fn new_context(kind: u32, parent: u64) -> *mut Context {
    // A signal during this code would find a half-initialised context.
    let mask = sys::block_signals();
    let recorded = process::is_recording();
    let mut page = None;
    let mut stream = 0;
    if recorded {
        stream = context::next_stream();
        // SAFETY: the kernel chooses the address of the header.
        page = unsafe { stream::create(stream, 0) };
    }
    let made = page.is_some();
    let (Some(page), Some((stack, size)), Some(entries)) = (
        page.or_else(|| sys::reserve(header::LEN as u64).map(<*mut u8>::cast)),
        context::new_stack(),
        context::new_entries(),
    ) else {
        // Without a model stack the program cannot run.
        sys::abort()
    };
    // SAFETY: the page was mapped just now, writable and as long as a context; no other code has its address,
    // and zeros are a valid context.
    let ctx: &mut Context = unsafe { &mut *page };
    ctx.stack = stack;
    ctx.initial_stack = stack;
    ctx.stack_size = size;
    ctx.own.entries = entries;
    if made {
        ctx.begin(stream, kind, parent);
        match shadow::new_key() {
            Some(key) => ctx.key = key,
            None => ctx.stop_recording(b"there is no room for recording in its address space (ulimit -v)"),
        }
        crash::install_alt_stack();
        context::publish(ctx);
    } else if recorded {
        process::note_incomplete(b"");
    }
    if kind == header::KIND_THREAD
        && let Some(key) = process::thread_key()
    {
        // SAFETY: the key is from `pthread_key_create` and not deleted; its destructor takes a context.
        unsafe { pthread_setspecific(key, page.cast()) };
    }
    sys::restore_signals(mask);
    page
}

/// The destructor of the runtime's thread-specific value. Other destructors may still run instrumented code,
/// so it postpones itself to the last round.
///
/// # Safety
/// Called by the C library with the context it was given.
pub unsafe extern "C" fn on_thread_exit(value: *mut u8) {
    let page = value.cast::<Context>();
    // SAFETY: the value is the context that `new_context` has stored for this thread. The C library is
    // running the thread's destructors, so no hook is active on it.
    let Some(ctx) = (unsafe { page.as_mut() }) else { return };
    ctx.own.destructor_rounds += 1;
    if ctx.own.destructor_rounds < 4
        && let Some(key) = process::thread_key()
    {
        // SAFETY: the key is from `pthread_key_create` and not deleted; the value is unchanged.
        unsafe { pthread_setspecific(key, value) };
        return;
    }
    let mask = sys::block_signals();
    if ctx.own.logging {
        let event = Event::End { sum: ctx.sum, status: 0 };
        ctx.emit(At::outside(ctx.time), &event);
    }
    let mut next = page;
    // SAFETY: this thread's context and those of its signals, which are never unmapped. Signals are blocked,
    // so no hook is active on them.
    while let Some(ctx) = unsafe { next.as_mut() } {
        ctx.finish();
        if ctx.key != 0 {
            shadow::retire(ctx.key);
        }
        // SAFETY: this is the last round of destructors. Instrumented code that runs later gets a new
        // context.
        unsafe { context::drop_stack(ctx) };
        next = ctx.own.signal;
    }
    tls::set_context(core::ptr::null_mut());
    sys::restore_signals(mask);
}
