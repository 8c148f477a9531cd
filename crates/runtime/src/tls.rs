//! The thread-local block that instrumented code shares with the runtime, and the trampolines of hooks: one
//! preserves registers, two pass the stack pointer of their caller.

use crate::context::Context;
use core::arch::{asm, global_asm};

/// The thread-local block; `docs/runtime-interface.md` defines its layout.
#[repr(C)]
pub struct Tls {
    /// Target of the current call; zero once instrumented code has begun to execute it.
    pub call: u64,
    /// Context that instrumented code uses now; null before the thread's first entry.
    pub ctx: *mut Context,
}

global_asm!(
    ".pushsection .tbss,\"awT\",@nobits",
    ".globl __relapse_tls",
    ".type __relapse_tls,@object",
    ".balign 16",
    ".size __relapse_tls,16",
    "__relapse_tls:",
    ".zero 16",
    ".popsection",
);

/// The block of the running thread. It exists, initially as zeros, as long as the thread runs, and only this
/// thread uses it: hooks, and the handlers of signals that interrupt them.
#[inline]
pub fn tls() -> *mut Tls {
    let at: *mut Tls;
    // SAFETY: reads the offset of `__relapse_tls` from the GOT, where the linker or the loader has put it,
    // and the thread pointer, which the C library has set before any code of the runtime runs in a thread.
    // Both stay the same for the life of the thread.
    unsafe {
        asm!(
            "mov {0}, qword ptr [rip + __relapse_tls@GOTTPOFF]",
            "add {0}, qword ptr fs:[0]",
            out(reg) at,
            options(nostack, pure, readonly)
        );
    }
    at
}

/// The context of the running thread, or null before its first entry.
pub fn context() -> *mut Context {
    // SAFETY: `tls` is the block of this thread, which no other writes.
    unsafe { (*tls()).ctx }
}

/// Makes instrumented code of this thread use another context.
pub fn set_context(ctx: *mut Context) {
    // SAFETY: `tls` is the block of this thread, which no other reads.
    unsafe { (*tls()).ctx = ctx };
}

/// `pthread_self()`: the thread pointer.
pub fn thread_pointer() -> u64 {
    let at: u64;
    // SAFETY: the ABI of thread-local storage specifies that the first word of the thread control block
    // points to the block itself.
    unsafe { asm!("mov {0}, qword ptr fs:[0]", out(reg) at, options(nostack, pure, readonly)) };
    at
}

// preserve_most: every register but r11 and the vector registers survives. The stack is 8 off a multiple of
// 16 on entry; eight pushes keep that.
#[cfg(feature = "staticlib")]
global_asm!(
    ".pushsection .text.__relapse_miss,\"ax\",@progbits",
    ".globl __relapse_miss",
    ".type __relapse_miss,@function",
    "__relapse_miss:",
    "push rax",
    "push rcx",
    "push rdx",
    "push rsi",
    "push rdi",
    "push r8",
    "push r9",
    "push r10",
    "sub rsp, 8",
    "call {miss}",
    "add rsp, 8",
    "pop r10",
    "pop r9",
    "pop r8",
    "pop rdi",
    "pop rsi",
    "pop rdx",
    "pop rcx",
    "pop rax",
    "ret",
    ".size __relapse_miss, . - __relapse_miss",
    ".popsection",
    miss = sym crate::hooks::miss,
);

// Hooks that need the position of their caller on the machine stack: they get its stack pointer, which is
// constant within the caller, as an additional argument.
#[cfg(feature = "staticlib")]
global_asm!(
    ".pushsection .text.__relapse_enter,\"ax\",@progbits",
    ".globl __relapse_enter",
    ".type __relapse_enter,@function",
    "__relapse_enter:",
    "mov rdx, rsp",
    "jmp {enter}",
    ".size __relapse_enter, . - __relapse_enter",
    ".popsection",
    ".pushsection .text.__relapse_external,\"ax\",@progbits",
    ".globl __relapse_external",
    ".type __relapse_external,@function",
    "__relapse_external:",
    "mov r9, rsp",
    "jmp {external}",
    ".size __relapse_external, . - __relapse_external",
    ".popsection",
    enter = sym crate::entry::enter,
    external = sym crate::external::external,
);
