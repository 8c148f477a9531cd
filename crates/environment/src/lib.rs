//! The environment of a program: recorded where the program passes, tried where it fails.
//!
//! The same program passes on one machine (*there*) and fails on this one (*here*). A record contains its
//! system calls with their results, by the *things* that they query ([`record::Key`]): a path, a variable, a
//! limit, an address, the clock. Here the program is run again with some things as recorded, until the few
//! with which it passes are known. After Qi Dawei's thesis (National University of Singapore 2013, section
//! 7.2); `docs/decisions/0030-ptrace-with-seccomp.md` describes what is different and why.
//!
//! # What lives here
//! * `calls`, `filter`: the system calls that matter, and the seccomp program that stops for them;
//! * `tracee`, `spawn`, `trace`: a stopped thread, a command that is traced from its first instruction, and
//!   the loop that handles the stops of all its threads and processes;
//! * `threads`, `decode`, `engine`, `serve`: open files and directories, decoding a call, handling its entry
//!   and exit, and which calls the tracer makes in the thread's place;
//! * [`record`], [`file`], `place`: what is recorded, and the portable file that stores it;
//! * `there`, `replay`, `peers`: an index of a record by query, and stand-ins for files and peers;
//! * [`candidates`], [`search`], [`mod@find`], [`narrow`]: what differs, and which of it decides;
//! * [`sentences`], [`words`], [`secrets`]: sentences about differences; and what should not leave the machine.
//!
//! # What must not be known here
//! Terminals, the environment of this process, the other crates. Nothing that is kept or compared is a
//! descriptor, a process number or an address.
//!
//! # Limits
//! x86-64 only. 32-bit programs, `io_uring` and data that passes between processes of the run itself are not
//! recorded. Threads are followed, but not made to interleave as in the recorded run: answers belong to
//! things, so that this rarely matters, and the verdict is confirmed by a second run.
//!
//! # Example
//! ```no_run
//! use environment::find::{Options, Verdict, find};
//! use environment::{file, run};
//! use std::time::Duration;
//! let command = run::Command {
//!     arguments: vec![b"./app".to_vec()],
//!     directory: "/srv/app".into(),
//!     ..run::Command::default()
//! };
//! // Where it passes:
//! file::write("there".as_ref(), &run::record(&command, None)?)?;
//! // Where it fails:
//! let options = Options { judge: None, limit: Duration::from_secs(60) };
//! let answer = find(file::read("there".as_ref())?, &command, &options, &mut |_| ())?;
//! if let Verdict::Found(culprits) = answer.verdict {
//!     // open("/etc/app.conf") gave ENOENT here; there it was a file of 312 bytes; …
//!     culprits.iter().for_each(|culprit| println!("{}", culprit.sentence));
//! }
//! # Ok::<(), environment::Error>(())
//! ```

#![warn(missing_docs)]

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
compile_error!(
    "system calls are traced on Linux for x86-64 only: the table of calls and the registers are its own"
);

mod address;
pub mod calls;
pub mod candidates;
mod decode;
mod engine;
mod error;
pub mod file;
mod filter;
pub mod find;
pub mod limits;
pub mod narrow;
mod peers;
mod place;
pub mod record;
mod replay;
pub mod run;
pub mod search;
pub mod secrets;
pub mod sentences;
mod serve;
mod spawn;
mod there;
mod threads;
mod trace;
mod tracee;
pub mod words;

pub use error::{Error, Result};
pub use spawn::Stream;
