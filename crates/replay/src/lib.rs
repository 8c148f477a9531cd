//! Exact re-execution of recordings.
//!
//! A recording contains what could not be predicted; everything else follows from the program model. A
//! [`Machine`](machine::Machine) runs one stream (a thread, or a signal context) of a recorded process: it
//! recomputes every instruction, takes external input from the recording, and compares checksums along the
//! run. It either ends in the state of the recorded thread or reports where it diverged
//! ([`error::Divergence`]).
//!
//! # What lives here
//! * [`process`], [`image`], [`event_cursor`]: a recorded process, loaded: its program at its addresses, its streams'
//!   events; [`library`]: programs that processes share;
//! * [`decode`], [`code`]: the model in the form that the plain loop runs;
//! * [`fused`]: the form that the fast loop runs, groups of instructions as one;
//! * [`machine`]: the state of a thread; frames, time, ends. Beside it, each in a file of its own: the inner
//!   loop, rare instructions, calls and frames, external calls, forks, faults;
//! * [`memory`]: paged memory whose checkpoints copy only what changed;
//! * [`arith`], [`f80`]: the arithmetic of instructions;
//! * [`observer`]: observing every step, at no cost without an observer;
//! * [`checkpoint`]: start anywhere, segments backward or in parallel; [`stored`]: checkpoints as bytes;
//! * [`verify`](mod@verify): is the recording exact?
//! * [`io`], [`format`](mod@format), [`decimal`]: input and output, byte by byte;
//! * [`effects`]: ranges that known external calls read and wrote;
//! * [`activations`]: execution indices, names of moments that runs share;
//! * [`vars`]: values of source-level variables; [`constants`]: constant data;
//! * [`writers`](mod@writers): which store of another thread a load read.
//!
//! # What must not be known here
//! LLVM, how the recorder works inside, terminals, command lines. Nothing here may depend on the clock, the
//! environment or the order of threads: the same recording always gives the same steps.
//!
//! # Speed
//! Every instruction is one operation of fixed size whose operands are register slots (constants are slots
//! too), so that the program counter is the index in the model's code. Two loops run them. The plain one
//! reports every step, and checks the recording and the limit at each. The fast one runs while observers need
//! only accesses and calls and the next event is not due: it executes frequent groups of instructions at
//! once, counts per jump, and creates frames by itself. It leaves registers, memory and counts as the plain
//! one would, at any instruction.
//!
//! CPU time against the plain loop, on a shared 2 GHz Xeon: a Lua interpreter 1.3 times as fast (medians: 210
//! and 280 million instructions a second), the nested loop of `examples/speed.rs` about twice. Groups alone
//! gained nothing there; they did once conditions were branches that the processor can predict (not an index
//! computed from the condition) and calls stayed in the loop. `examples/speed.rs` and `examples/check.rs`
//! measure this.
//!
//! # Example
//! ```no_run
//! use replay::machine::{Machine, Stop};
//! use replay::observer::{Effect, Observer, View};
//! use replay::process::{LoadedProcess, Options};
//!
//! struct Stores(u64);
//! impl Observer for Stores {
//!     fn step(&mut self, _: &View<'_>, effect: Effect) {
//!         self.0 += u64::from(matches!(effect, Effect::Store { .. }));
//!     }
//! }
//!
//! let recording = recording::Recording::open("crash.rec".as_ref())?;
//! let process = LoadedProcess::load(&recording, &recording.processes[0], &Options::default())?;
//! let mut stores = Stores(0);
//! let stop = Machine::new(&process.image, &process.streams[0].stream).run(&mut stores, u64::MAX)?;
//! if let Stop::Ended(end) = stop {
//!     println!("{} stores, then {end:?}", stores.0);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![warn(missing_docs)]

pub mod activations;
pub mod arith;
mod arith64;
pub mod checkpoint;
pub mod code;
pub mod constants;
pub mod decimal;
pub mod decode;
pub mod effects;
pub mod error;
pub mod event_cursor;
mod external;
pub mod f80;
mod fast;
mod faults;
mod forks;
pub mod format;
mod frames;
mod fuse;
pub mod fused;
mod groups;
pub mod image;
pub mod io;
pub mod library;
pub mod machine;
pub mod memory;
pub mod observer;
pub mod process;
mod run;
mod run_fast;
mod slow;
pub mod stored;
pub mod vars;
pub mod verify;
pub mod writers;

pub use verify::verify;
pub use writers::writers;
