//! The part of `relapse` that lives inside recorded programs: it answers the
//! calls of instrumented code (`docs/runtime-interface.md`) and writes the raw
//! files of a recording (`docs/recording-format.md`).
//!
//! # What lives here
//! * [`hooks`]: the functions instrumented code calls for memory;
//! * [`entry`]: from outside into instrumented code and back, signals, landings;
//! * [`external`]: after a [`call`] that left instrumented code; [`known`] brings the
//!   memory up to date that the call read or wrote, [`format`](mod@format)
//!   that of `printf` and `scanf`, [`io`] names where bytes came from or went
//!   ([`sockets`] both ends of a connection), [`consumed`] finds those that a `scanf` took, `foreign` those
//!   that libraries put out;
//! * [`context`], [`stream`]: a thread's state and its file; [`shadow`]: its
//!   second copy of memory, which [`memory`] reads and writes; [`heap`]: when
//!   parts of it are given back;
//! * [`process`], [`module`], [`fork`], [`crash`]: start, registration, `fork`,
//!   fatal signals, the end;
//! * [`witness`]: one call from a given state, instead of the program;
//! * [`sys`], [`bytes`], [`tls`]: system calls, memory functions and the
//!   thread-local block, all without the C library.
//!
//! # What must not be known here
//! Instructions and models. The runtime knows sites only as numbers.
//!
//! # Constraints
//! * No standard library, no allocation: memory comes from `mmap`.
//! * Hooks run at any place of any program, in signal handlers too. They keep
//!   `errno`, take no locks on the way of a single thread, and call no function
//!   that the program could have replaced by an instrumented one.
//! * Trouble (disk full, no address space) ends the recording, never the
//!   program.
//!
//! ```text
//! program ── load differs ──► __relapse_miss ──► stream ──► p<pid>.<n>/t<N>.raw
//!         ── call returned ─► __relapse_external ┘
//! ```
#![no_std]
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
