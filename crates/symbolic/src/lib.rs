//! Symbolic replay: what a recorded run would have done on other input.
//!
//! A replay computes every instruction again with the values the run had. Here
//! an observer walks along and keeps, beside each value that came from input, a
//! term over the input bytes. Where control depends on such a term, the way it
//! went is a *condition*; all of them together, the *path condition*, are
//! satisfied by exactly those inputs that take the same way through the program.
//!
//! # What lives here
//! * [`inputs`]: input bytes as variables, with names and values;
//! * [`path`]: replaying a stream; what comes out of it;
//! * [`condition`]: conditions, and what was given up, with reasons;
//! * [`output`]: the bytes that went out, as terms;
//! * [`semantics`]: what instructions compute, as terms;
//! * [`observer`]: asking for terms of registers, memory and variables on the way;
//! * [`trail`]: whether two runs took the same way;
//! * [`index`]: names of moments that all runs of a program share;
//! * [`input`]: an input put together again, for a file or another run;
//! * inside: registers and memory beside the machine's, one file per kind of
//!   instruction, `libc/` with the meaning of library functions.
//!
//! # What is exact, and what is not
//! Integers, `float` and `double`, pointers, memory and the library functions of
//! `docs/symbolic-replay.md` are exact. What is not followed (`long double`,
//! unknown functions, very large objects) is *concretised*: an equality with the
//! value of the run joins the path condition, so that it never promises too
//! much, and says why it is there. The lengths of inputs are fixed: the end of a
//! file stays where it was. Other threads' writes are as they were.
//!
//! # What must not be known here
//! Solvers (only terms), how terms are simplified, terminals, command lines,
//! versions and changes.
//!
//! # Speed
//! Nearly all steps of a run touch no input. For those the observer looks at one
//! counter of the frame and, at loads and stores, at one of the page.
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
