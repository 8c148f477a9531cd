//! Why a value is what it is: dynamic dependences and slices.
//!
//! A *slice* is the set of executed instructions that a value, or the fact that
//! something ran at all, came from: through registers, through memory, through
//! the branches that decided, across calls, library functions and threads. It
//! is computed backwards over a recording, one segment of the replay at a time.
//!
//! # What lives here
//! * [`criterion`]: the question;
//! * [`slicer`]: a recorded process made ready for questions;
//! * [`slice`](mod@slice): the answer, a graph of executed instructions;
//! * [`visits`]: when a source line last ran; [`executions`]: every time, with values;
//! * [`questions`]: what people ask, as criteria; [`occurrences`]: which execution of a line, and
//!   what an expression reads there; [`moment`], [`touched`]: variables and memory as expressions see them;
//!   `outputs`, `texts`: what made the bytes that were written, by offset and by what they say;
//! * [`handover`], [`writers`](mod@writers): bytes that one process of a recording wrote and another read;
//!   `given`: what a program was given when it was started;
//! * [`started`]: calls by which a process started programs that may not be recorded;
//! * [`nearby`]: what they could have meant;
//! * [`snapshot`]: the values at executed instructions and statements, for showing;
//! * [`chain`](mod@chain): the answer without plain copies;
//! * [`relevance`]: slices that also follow what could have gone another way; `output_effects`: what could
//!   have been written;
//! * [`phases`]: the answer level by level, as what phases of the run gave to each other;
//! * [`timeline`]: what the first pass found, kept beside the recording; `summaries`: of each segment, so that
//!   one that cannot matter is not replayed; `watching`: the segments in which a line runs;
//! * `prepared`: the first pass over a run; `segment_trace`, `irregular`, `fragments`, `formatted`: the
//!   trace of one segment; `pipeline`: replayed while another is processed;
//! * `backward`: the backward pass over it; `live`, `uses`, `provenance`: what is live, and for
//!   which nodes; `demanded_bits`: which bits of a register; `facts`, `summary`, `library`, `heap`, `memory_streams`: what is known of the
//!   program beside.
//!
//! # What must not be known here
//! Good and bad versions, changes, terminals. Source files are names and line
//! numbers; nothing here opens one.
//!
//! # How
//! Dynamic slicing after Wang and Roychoudhury, *Dynamic slicing on Java
//! bytecode traces*: the backward pass keeps the live places (registers of an
//! activation, bytes of memory) whose last definition is still to be found, and
//! for every activation the blocks whose controlling branch is still to be found.
//! An instruction that defines a live place, or controls a pending block, is a node
//! of the slice, and what it uses comes to be live. Of a register those bits are live that are
//! demanded, so that what lies beside them in a word is no part of the slice. Nothing is stored but the trace
//! of a segment or two, and time is near-linear in the steps visited.
//!
//! # Example
//! ```no_run
//! use slice::{Slicer, SlicerOptions};
//!
//! let recording = recording::Recording::open("crash.rec".as_ref())?;
//! let options = replay::process::Options::default();
//! let process = replay::process::LoadedProcess::load(&recording, &recording.processes[0], &options)?;
//! let slicer = Slicer::new(&process, SlicerOptions::default());
//! let question = slicer.ask_line("main.c", 12)?;
//! let slice = slicer.slice(&question, &mut |_| {})?;
//! for (file, line) in slicer.lines(&slice) {
//!     println!("{file}:{line}");
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
pub mod handover;
mod heap;
mod irregular;
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

pub use criterion::{Criterion, Occurrence, Wanted};
pub use occurrences::Which;
pub use output_effects::StandardStream;
pub use relevance::{Precision, Relevance, Variant};
pub use slice::{Dependence, Leaf, Node, NodeId, Origin, Site, Slice};
pub use slicer::{Progress, Request, Slicer, SlicerOptions};
pub use snapshot::{Named, Snapshot};
pub use texts::put_together;
pub use visits::Visit;

/// What can go wrong: replay fails, or a question is about nothing.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Replay(#[from] replay::error::Error),
    #[error(transparent)]
    Inconsistent(#[from] InconsistentTrace),
    #[error("find stream {0}: the process has only {1}")]
    NoStream(u32, usize),
    #[error("find step {step} of stream {stream}: it has only {steps}")]
    NoStep { stream: u32, step: u64, steps: u64 },
    #[error(transparent)]
    Expression(Box<WrongExpression>),
    /// It was stopped from outside.
    #[error("go on: it was stopped")]
    Stopped,
}

/// An expression that has no value, and the names that have one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("evaluate the expression: {error}")]
pub struct WrongExpression {
    pub text: String,
    pub error: expression::Error,
    pub names: Vec<String>,
}

/// The trace of a segment contradicts the program: a defect of the slicer, not of its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("walk back over the trace of a segment: it contradicts the program at step {0} (internal error)")]
pub struct InconsistentTrace(pub u64);

pub type Result<T> = std::result::Result<T, Error>;
