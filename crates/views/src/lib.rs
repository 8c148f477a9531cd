//! Semantic views of recorded runs, and the differences between two runs.
//!
//! A replay shows every executed instruction; two versions of a program share hardly any instruction. They do
//! share the *meaning* of instructions: a call of a function with certain arguments, a field of an object
//! that becomes 3. This crate extracts such events from a replay, groups them into views, and compares runs
//! by them, so that runs of different versions, or of different inputs, can be aligned. After Hoffman,
//! Eugster and Jagannathan, *Semantics-Aware Trace Analysis*; `docs/views.md` defines the events of a C
//! program.
//!
//! # What lives here
//! * [`extract`], [`plan`], [`trace_tables`]: extract events from a replay; the meaning of instructions is computed
//!   once per function. Private modules handle loads and stores, calls and returns, and the thread that
//!   stores the events;
//! * [`objects`], [`values`], [`types`]: identify objects and represent values in terms that mean the same in
//!   another run: never an address;
//! * [`own`]: replaces names that are specific to a run by their role;
//! * [`fleeting`]: tracks values that differ in every run through the replay;
//! * [`trace`], [`column`], [`names`]: the events of a run, 28 bytes each, on disk if memory does not
//!   suffice;
//! * [`signatures`]: calls of functions whose parameters differ between versions;
//! * [`kinds`], [`index`]: view types, and the events of each view;
//! * [`align`], [`unmatched`], [`moves`], [`lcs`], [`compare`]: similar events of two runs, and the sequences
//!   of differences between them;
//! * [`filter`], [`cause`]: select the relevant differences: by the user's choice, or by a failing test;
//! * [`told`], [`page`]: summaries of all this as plain data.
//!
//! # What must not be known here
//! Terminals, source texts, changes between versions, how runs are made. No code in this crate compares
//! addresses or instruction counts of two runs.
//!
//! # Speed
//! Extraction uses the fast replay loop with an observer of loads, stores and calls; a second thread stores
//! the events. An event costs a lookup of its object, which is usually answered by a cache, and two appended
//! rows. Comparing runs takes time and space linear in their events for a fixed window: one integer
//! comparison per event where runs are equal, a few instructions per row of a window where they differ.
//! `cargo xtask bench views` measures it.
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
//!     let first = told::tell(&comparison, &old, &new, 0, told::SummaryLimits::default());
//!     println!("{} in {}", first.change, first.stack.join(" < "));
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![warn(missing_docs)]

mod access;
pub mod align;
mod bits;
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
pub mod trace_tables;
pub mod types;
pub mod unmatched;
pub mod values;
mod words;

pub use error::{Error, Result};
