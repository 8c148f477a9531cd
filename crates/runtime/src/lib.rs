//! The part of `relapse` that lives inside recorded programs: it implements the hooks of instrumented code
//! (`docs/runtime-interface.md`) and writes the raw files of a recording (`docs/recording-format.md`).
//!
//! # What lives here
//! * [`hooks`]: the hooks of instrumented code for memory;
//! * [`entry`]: entries from outside into instrumented code and returns from it, signals, landings;
//! * [`external`]: after a [`call`] that left instrumented code; [`known`] updates the shadow of the memory
//!   that the call read or wrote, [`format`](mod@format) that of `printf` and `scanf`, [`io`] names the
//!   sources of input and the destinations of output ([`sockets`] both ends of a connection), [`consumed`]
//!   finds the bytes that a `scanf` took, `foreign` those that libraries read and write;
//! * [`context`], [`stream`]: a thread's state and its file; [`shadow`]: its second copy of memory, which
//!   [`memory`] reads and writes; [`heap`]: when parts of the shadow are released;
//! * [`process`], [`module`], [`fork`], [`crash`]: start, registration, `fork`, fatal signals, the end;
//! * [`witness`]: one call from a given state, instead of the program;
//! * [`sys`], [`bytes`], [`tls`]: system calls, memory functions and the thread-local block, all without the
//!   C library.
//!
//! # What must not be known here
//! Instructions and models. The runtime knows sites only as numbers.
//!
//! # Constraints
//! * No standard library, no allocation: memory comes from `mmap`.
//! * Hooks run at any point of any program, in signal handlers too. They preserve `errno`, take no locks on
//!   the path of a single-threaded program, and call no function that the program could have replaced by an
//!   instrumented one.
//! * An error (disk full, no address space) ends the recording, never the program.
//!
//! ```text
//! program ── load differs ──► __relapse_miss ──► stream ──► p<pid>.<n>/t<N>.raw
//!         ── call returned ─► __relapse_external ┘
//! ```
#![no_std]
#![warn(missing_docs)]
#![allow(
    unsafe_code,
    clippy::deref_addrof,
    reason = "the whole crate works on raw memory of the program it is linked into"
)]
#![deny(
    clippy::undocumented_unsafe_blocks,
    clippy::missing_safety_doc,
    reason = "every unsafe block says why it is sound, every unsafe function what it asks for"
)]

pub mod bytes;
pub mod call;
pub mod consumed;
pub mod context;
pub mod crash;
pub mod desc;
pub mod entry;
pub mod environment;
pub mod external;
#[cfg(feature = "staticlib")]
pub mod foreign;
pub mod fork;
pub mod format;
pub mod heap;
pub mod hooks;
pub mod io;
pub mod known;
pub mod memory;
pub mod module;
pub mod process;
pub mod shadow;
pub mod sockets;
pub mod stream;
pub mod sys;
pub mod tls;
pub mod witness;

#[cfg(feature = "staticlib")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    sys::abort()
}
