//! Dynamic dependences and slices: why does a value come about?
//!
//! A *slice* is the set of executed instructions on which a value, or the execution of an instruction,
//! depends: through registers, through memory, through controlling branches, across calls, library functions
//! and threads. It is computed backwards over a recording, one segment of the replay at a time.
//!
//! # What lives here
//! * [`criterion`]: slicing criteria;
//! * [`slicer`]: a recorded process, prepared for slicing;
//! * [`slice`](mod@slice): the result, a graph of executed instructions;
//! * [`visits`]: when a source line last ran; [`executions`]: every time, with values;
//! * [`questions`]: users' questions as criteria; [`occurrences`]: a chosen execution of a line, and what an
//!   expression reads there; [`moment`], [`touched`]: variables and memory as expressions see them;
//!   `outputs`, `texts`: the origin of written bytes, by their offset and by their text;
//! * [`interprocess`], [`writers`](mod@writers): bytes that one process of a recording wrote and another
//!   read; `given`: what a program received when it was started;
//! * [`started`]: calls by which a process started programs that may not be recorded;
//! * [`nearby`]: suggestions for questions that cannot be answered;
//! * [`snapshot`]: the values at executed instructions and statements, for showing;
//! * [`chain`](mod@chain): the answer without plain copies;
//! * [`among`]: dependences among selected instructions, from one pass; `label_sets`: sets of these;
//! * [`relevance`]: slices that also follow potential dependences; `output_effects`: output that could
//!   have been written;
//! * [`phases`]: the answer by levels, as values that phases of the run pass to each other;
//! * [`timeline`]: results of the first pass, stored beside the recording; `summaries`: a summary of each
//!   segment, so that irrelevant ones are not replayed; `watching`: the segments in which a line runs;
//! * `prepared`: the first pass over a run; `segment_trace`, `irregular`, `fragments`, `formatted`: the
//!   trace of one segment; `pipeline`: replay of the next segment while one is processed;
//! * `backward`: the backward pass over the traces; `live`, `uses`, `provenance`: what is live, and for
//!   which nodes; `demanded_bits`: which bits of a register; `facts`, `summary`, `library`, `heap`,
//!   `memory_streams`: static and whole-run facts about the program.
//!
//! # What must not be known here
//! Good and bad versions, changes, terminals. Source files are names and line numbers; no source file is
//! opened here.
//!
//! # How
//! Dynamic slicing after Wang and Roychoudhury, *Dynamic slicing on Java bytecode traces*: the backward pass
//! keeps the live locations (registers of an activation, bytes of memory) whose last definition has not been
//! reached yet, and for every activation the blocks whose controlling branch has not been reached yet. An
//! instruction that defines a live location, or controls a pending block, is a node of the slice, and its
//! operands become live. Only the demanded bits of a register are live, so that unrelated bits of the same
//! word are not part of the slice. Only the traces of a segment or two are stored, and time is near-linear
//! in the steps visited.
//!
//! # Example
//! ```no_run
//! use slice::{Slicer, SlicerOptions};
//!
//! let recording = recording::Recording::open("crash.rec".as_ref())?;
//! let options = replay::process::Options::default();
//! let process = replay::process::LoadedProcess::load(&recording, &recording.processes[0], &options)?;
//! let slicer = Slicer::new(&process, SlicerOptions::default());
//! let question = slicer.line_criteria("main.c", 12)?;
//! let slice = slicer.slice(&question, &mut |_| {})?;
//! for (file, line) in slicer.lines(&slice) {
//!     println!("{file}:{line}");
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![warn(missing_docs)]

pub mod among;
mod backward;
pub mod chain;
mod choice;
pub mod criterion;
mod demanded_bits;
pub mod executions;
mod facts;
mod formatted;
mod fragments;
mod given;
mod heap;
pub mod interprocess;
mod irregular;
mod label_sets;
mod library;
mod live;
mod memory_streams;
pub mod moment;
pub mod nearby;
pub mod occurrences;
mod output_effects;
mod outputs;
pub mod phases;
mod pipeline;
mod prepared;
mod provenance;
pub mod questions;
pub mod relevance;
mod segment_trace;
pub mod slice;
pub mod slicer;
pub mod snapshot;
pub mod started;
mod summaries;
mod summary;
mod texts;
pub mod timeline;
pub mod touched;
mod uses;
pub mod visits;
mod watching;
pub mod writers;

pub use among::Among;
pub use criterion::{Criterion, Occurrence, Wanted};
pub use occurrences::Which;
pub use output_effects::StandardStream;
pub use relevance::{Precision, Relevance, Variant};
pub use slice::{Dependence, Leaf, Node, NodeId, Origin, Site, Slice};
pub use slicer::{Progress, Request, Slicer, SlicerOptions};
pub use snapshot::{Named, Snapshot};
pub use texts::assemble_parts;
pub use visits::Visit;

/// Errors: replay fails, or a question refers to nothing.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A stream cannot be replayed.
    #[error(transparent)]
    Replay(#[from] replay::error::Error),
    /// A segment's trace contradicts the program.
    #[error(transparent)]
    Inconsistent(#[from] InconsistentTrace),
    /// The process has no stream of that index; the second number is how many it has.
    #[error("find stream {0}: the process has only {1}")]
    NoStream(u32, usize),
    /// A stream has no step of that number.
    #[error("find step {step} of stream {stream}: it has only {steps}")]
    NoStep {
        /// Index of the stream.
        stream: u32,
        /// The step that was asked for.
        step: u64,
        /// Number of steps that the stream has, as far as it can be replayed.
        steps: u64,
    },
    /// The condition or expression of a question is wrong.
    #[error(transparent)]
    Expression(Box<WrongExpression>),
    /// The operation was cancelled by the caller.
    #[error("go on: it was stopped")]
    Stopped,
}

/// An expression that cannot be evaluated, and the names that are in scope.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("evaluate the expression: {error}")]
pub struct WrongExpression {
    /// The text of the expression.
    pub text: String,
    /// What is wrong with it.
    pub error: expression::Error,
    /// Names in scope where it was evaluated: those of the function, then those of the file.
    pub names: Vec<String>,
}

/// The trace of a segment contradicts the program: a defect of the slicer, not of its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("walk back over the trace of a segment: it contradicts the program at step {0} (internal error)")]
pub struct InconsistentTrace(pub u64);

/// The result of what can fail in this crate.
pub type Result<T> = std::result::Result<T, Error>;
