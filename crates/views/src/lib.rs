//! Semantic views of recorded runs, and what differs between two of them.
//!
//! A replay shows every executed instruction; two versions of a program hardly
//! share any. What they do share is what instructions *mean*: that a function was
//! called with these arguments, that a field of an object became 3. This crate
//! takes such events out of a replay, gathers them in views, and compares runs by
//! them, so that runs of different versions, and of different inputs, can be laid
//! side by side. After Hoffman, Eugster and Jagannathan, *Semantics-Aware Trace
//! Analysis*; `docs/views.md` says what an event is in a C program.
//!
//! # What lives here
//! * [`extract`], [`plan`], [`book`]: events from a replay; what an instruction means
//!   is found out once for each function. Beside it, each in a file of its own: loads and
//!   stores, calls and returns, and the thread that keeps what was found;
//! * [`objects`], [`values`], [`types`]: which object, which value, in
//!   terms that mean the same in another run: never an address;
//! * [`own`]: names that a run has of its own, by their role;
//! * [`fleeting`]: which values are other ones in every run, followed through the replay;
//! * [`trace`], [`column`], [`names`]: the events of a run, 28 bytes each, on disk where
//!   memory does not suffice;
//! * [`signatures`]: calls of functions that have other parameters in another version;
//! * [`kinds`], [`index`]: types of views, and the events of each view;
//! * [`align`], [`leftover`], [`moves`], [`lcs`], [`compare`]: similar events of two runs, and the
//!   sequences of differences between them;
//! * [`filter`], [`cause`]: which differences matter: to somebody who says so, and to a
//!   test that fails;
//! * [`told`], [`page`]: all this in words.
//!
//! # What must not be known here
//! Terminals, source texts, changes between versions, how runs are made. Nothing
//! here compares addresses or instruction numbers of two runs.
//!
//! # Speed
//! The replay is the fast one with an observer of loads, stores and calls; memory
//! for events is filled by a thread beside it. An event
//! costs a lookup of its object, which mostly is the one of last time, and two
//! appended rows. Comparing runs takes time and space linear in their events for a
//! fixed window: where runs are equal it costs a comparison of two numbers, where
//! they differ a window costs a few instructions a row. `cargo xtask bench views`
//! measures.
//!
//! # Example
//! ```no_run
//! use views::{compare, extract, run, told};
//! let open = |dir: &str| -> Result<_, Box<dyn std::error::Error>> {
//!     let recording = recording::Recording::open(dir.as_ref())?;
//!     Ok(run::trace(&recording, 0, &extract::Options::default())?)
//! };
//! let (old, new) = (open("old.rec")?, open("new.rec")?);
//! let comparison = compare::compare(&old, &new, &compare::Settings::default())?;
//! if !comparison.sequences.is_empty() {
//!     let first = told::tell(&comparison, &old, &new, 0, told::Extent::default());
//!     println!("{} in {}", first.change, first.stack.join(" < "));
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod access;
pub mod align;
mod bits;
pub mod book;
mod calls;
pub mod cause;
pub mod column;
pub mod compare;
pub mod error;
pub mod extract;
pub mod filter;
pub mod fleeting;
pub mod index;
pub mod kinds;
pub mod lcs;
pub mod leftover;
pub mod moves;
pub mod names;
pub mod objects;
pub mod own;
pub mod page;
pub mod plan;
mod roots;
pub mod run;
pub mod signatures;
mod sink;
#[cfg(test)]
mod testing;
pub mod told;
pub mod trace;
pub mod types;
pub mod values;
mod words;

pub use error::{Error, Result};
