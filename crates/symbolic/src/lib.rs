//! Symbolic replay: what a recorded run would have done on other input.
//!
//! A replay computes every instruction again with the concrete values of the run. This crate adds an observer
//! that keeps, for each value that came from input, a term over the input bytes (concolic execution). Where
//! control depends on such a term, the direction taken is a *condition*. The conjunction of the conditions is
//! the *path condition*: exactly those inputs satisfy it that take the same path through the program.
//!
//! # What lives here
//! * [`inputs`]: input bytes as variables, with names and values;
//! * [`path`]: replaying a stream, and the result;
//! * [`condition`]: conditions, and where the analysis is imprecise, with reasons;
//! * [`output`]: the bytes of the output, as terms;
//! * [`semantics`]: the semantics of instructions, as terms;
//! * [`observer`]: access to the terms of registers, memory and variables at each step;
//! * [`path_hash`]: whether two runs took the same path;
//! * [`index`]: names of points of a run that all runs of a program share;
//! * [`input`]: reconstructing an input, for a file or another run;
//! * private: shadow registers and memory, one file per kind of instruction, and `libc/` with the semantics
//!   of library functions.
//!
//! # What is exact, and what is not
//! Integers, `float` and `double`, pointers, memory and the library functions of `docs/symbolic-replay.md`
//! are exact. What is not followed (`long double`, unknown functions, very large objects) is *concretised*:
//! the path condition gets an equality with the value of the run, and the reason for it. So the path
//! condition never promises too much. The lengths of inputs are fixed: the end of a file does not move.
//! Writes of other threads keep their values.
//!
//! # What must not be known here
//! Solvers (only terms), how terms are simplified, terminals, command lines,
//! versions and changes.
//!
//! # Speed
//! Nearly all steps of a run touch no input. For those the observer checks one counter of the frame and, at
//! loads and stores, one counter of the page.
//!
//! # Example
//! ```no_run
//! use replay::process::{LoadedProcess, Options};
//!
//! let recording = recording::Recording::open("run".as_ref())?;
//! let recorded = &recording.processes[0];
//! let process = LoadedProcess::load(&recording, recorded, &Options::default())?;
//! let mut world = symbolic::TermContext::default();
//! let options = symbolic::Options::default();
//! let path = symbolic::replay(&process, recorded, 0, &mut world, &options)?;
//! for condition in &path.conditions {
//!     let place = condition.at.place(&process.image);
//!     println!("line {}: {}", place.line, world.text(condition.term));
//! }
//! assert!(path.holds(&world));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![warn(missing_docs)]

mod access;
mod calls;
pub mod condition;
mod engine;
mod float;
mod frames;
pub mod index;
mod initial;
pub mod input;
pub mod inputs;
mod libc;
mod objects;
pub mod observer;
pub mod output;
pub mod path;
pub mod path_hash;
mod pure;
mod regions;
pub mod semantics;
mod shadow;
mod step;
mod transfer;

pub use condition::{At, Condition, Imprecision, Kind, Reason, Site};
pub use engine::TermContext;
pub use index::{BranchInstance, Index, branches, indices, steps};
pub use input::Input;
pub use inputs::{EnvironmentInputs, Inputs, Origin, Variable, Variables};
pub use observer::{NoObserver, StepObserver, SymbolicState};
pub use output::{Output, PrintedNumber};
pub use path::{Error, Options, Path, replay, replay_with};
pub use path_hash::{Divergence, divergence};
