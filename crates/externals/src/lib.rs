//! What the C library's functions read, write and return: one table, used by
//! the runtime (what to log), by replay (what happened), by slicing (what
//! depends on what) and by symbolic execution (what it means).
//!
//! No allocation, no I/O, `no_std`: the runtime links it into every recorded
//! program.
//!
//! ```
//! let strlen = externals::find("strlen").unwrap();
//! assert_eq!(strlen.model, Some(externals::Model::Strlen));
//! ```
#![no_std]
