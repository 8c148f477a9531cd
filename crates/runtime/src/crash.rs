//! Fatal signals: logs a last event, then lets the program die by the signal as it would have without the
//! runtime. The same handler creates shadow memory that does not exist yet.

use crate::stream::At;
use crate::sys::{self, SigAction};
use crate::{process, shadow, tls};
use core::arch::global_asm;
use recording::event::Event;

const ILL: u32 = 4;
const TRAP: u32 = 5;
const ABRT: u32 = 6;
const BUS: u32 = 7;
const FPE: u32 = 8;
const SEGV: u32 = 11;
const SYS: u32 = 31;

const SA_SIGINFO: u64 = 4;
const SA_RESTORER: u64 = 0x0400_0000;
const SA_ONSTACK: u64 = 0x0800_0000;

#[repr(C)]
struct SigInfo {
    signal: i32,
    error: i32,
    code: i32,
    pad: i32,
    address: u64,
}

global_asm!(
    ".pushsection .text.relapse_restorer,\"ax\",@progbits",
    ".hidden relapse_restorer",
    ".globl relapse_restorer",
    ".type relapse_restorer,@function",
    "relapse_restorer:",
    "mov eax, 15",
    "syscall",
    ".size relapse_restorer, . - relapse_restorer",
    ".popsection",
    // Calls of `signal` by the program and by libraries are redirected here, unless the program defines
    // `signal` itself.
    ".pushsection .text.relapse_signal,\"ax\",@progbits",
    ".weak signal",
    ".type signal,@function",
    "signal:",
    "jmp __relapse_libc_signal",
    ".size signal, . - signal",
    ".popsection",
);

unsafe extern "C" {
    fn relapse_restorer();
    /// The C library's other name for `signal`.
    fn ssignal(signal: i32, handler: u64) -> u64;
}

const FATAL: [u32; 7] = [ILL, TRAP, ABRT, BUS, FPE, SEGV, SYS];

/// Installs the handler for the fatal signals that have none.
pub fn install() {
    FATAL.into_iter().for_each(take);
}

/// Installs the handler for a signal if it is fatal and has no handler.
fn take(signal: u32) {
    if !FATAL.contains(&signal) || sys::get_action(signal).handler != 0 {
        return;
    }
    let ours = SigAction {
        handler: handler_address(),
        flags: SA_SIGINFO | SA_RESTORER | SA_ONSTACK,
        restorer: relapse_restorer as *const () as u64,
        mask: 0,
    };
    // SAFETY: `handle` takes the arguments that `SA_SIGINFO` passes, and takes no lock that an interrupted
    // thread can hold; the restorer makes the system call that returns from a signal. `pin_library` keeps
    // both mapped.
    unsafe { sys::set_action(signal, &ours) };
}

/// The program has set the disposition of a signal. If that is the default, the runtime's handler stays.
pub fn action_changed(signal: u64) {
    if process::is_recording() {
        take(signal as u32);
    }
}

/// `signal` for the program: it must see the default disposition where the runtime's handler is installed,
/// and may set it again.
///
/// # Safety
/// As `signal`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __relapse_libc_signal(signal: i32, handler: u64) -> u64 {
    // SAFETY: the arguments are those of a call of `signal`.
    let old = unsafe { ssignal(signal, handler) };
    action_changed(u64::from(signal.cast_unsigned()));
    if old == handler_address() { 0 } else { old }
}

/// The handler's address, which the program must not see when it queries the disposition.
pub fn handler_address() -> u64 {
    handle as *const () as u64
}

/// Gives this thread an alternate signal stack, unless it has one: the fault may be an overflow of the
/// thread's own stack.
pub fn install_alt_stack() {
    const SIZE: u64 = 64 << 10;
    if sys::get_alt_stack().flags & sys::SS_DISABLE != 0
        && let Some(at) = sys::reserve(SIZE)
    {
        // SAFETY: the memory is new and never unmapped, so it stays valid as long as the thread runs.
        unsafe { sys::set_alt_stack(&sys::AltStack { at: at as u64, flags: 0, size: SIZE }) };
    }
}

/// Called by the kernel, at any point of the thread's execution.
extern "C" fn handle(signal: i32, info: *const SigInfo, _: *const u8) {
    let signal = signal.cast_unsigned();
    // SAFETY: with `SA_SIGINFO` the kernel passes a `siginfo_t`, which begins like `SigInfo`, on the
    // handler's stack.
    let (code, address) = unsafe { ((*info).code, (*info).address) };
    let is_fault = code > 0 && matches!(signal, SEGV | BUS | FPE | ILL);
    if signal == SEGV && is_fault && shadow::map_missing_shadow(address) {
        return;
    }
    // SAFETY: the context is null or this thread's own. It may have interrupted an active hook, but that hook
    // does not resume: the signal is raised again, with the default action, before its next instruction.
    if let Some(ctx) = unsafe { tls::context().as_mut() } {
        let address = if is_fault { address } else { 0 };
        ctx.emit(At::outside(ctx.reached()), &Event::Crash { signal, address, code: i64::from(code) });
        ctx.finish();
    }
    // SAFETY: the default action has no handler.
    unsafe {
        sys::set_action(
            signal,
            &SigAction {
                flags: SA_RESTORER,
                restorer: relapse_restorer as *const () as u64,
                ..SigAction::default()
            },
        )
    };
    if !is_fault {
        // Returning would not repeat it; it stays pending until then.
        sys::raise(signal);
    }
}
