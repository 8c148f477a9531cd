//! Compact indices of recorded runs: everything a slice needs, walked backwards
//! without replay.
//!
//! Replay knows all, but only forwards: who asks where a value came from pays for the
//! whole run again. The index is made once, while the run is replayed. It says for
//! every block where control came from, for every call what was called, for every
//! access where it was: as one sequence each, compressed into a grammar as it comes.
//! Grammars are walked from their ends as they are; nothing is unfolded.
//!
//! # What lives here
//! * [`rlese`], [`sequitur`]: sequences into grammars, with run lengths and without;
//! * [`grammar`], [`cursor`]: a finished grammar, and the way back through it;
//! * [`column`]: a sequence of numbers, forwards and backwards; [`relate`]: which other one
//!   tells most of it;
//! * [`piece`], [`bits`]: how it is stored; [`range`], [`odds`], [`mix`]: in as many bits as
//!   it is surprising;
//! * [`layout`], [`layouts`]: which sequences a function has, from the program alone;
//! * [`extra`]: what happens beyond the ordinary; [`outputs`]: what was written, and by what;
//! * [`writer`], [`reader`]: a stream, forwards and backwards;
//! * [`file`](mod@file): the file beside the recording;
//! * [`measure`](mod@measure): other ways to store the same, for comparison;
//! * [`hash`]: maps for small keys.
//!
//! # What must not be known here
//! What a slice is, and what a question is about. Values: the index has none. Nothing
//! here replays; the writer is told what a replay sees.
//!
//! # After
//! Wang and Roychoudhury, *Using compressed bytecode traces for slicing Java programs*
//! (PLDI 2004) and Wang's thesis: a table a function, a row an instruction, a sequence
//! an operand, the cursor. Ours differs where native programs do: addresses are those
//! of memory, relative to a register that several instructions share; rows belong to
//! stretches of code, so that a sequence can be left alone until it is asked for.
//!
//! # Example
//! ```
//! use index::{cursor::Cursor, rlese::Rlese};
//!
//! let mut sequence = Rlese::new();
//! for symbol in [23, 38, 38, 38, 23, 38, 38, 38, 38] {
//!     sequence.push(symbol);
//! }
//! let grammar = sequence.finish();
//! assert_eq!(grammar.to_string(), "S -> A:2 38:1; A -> 23:1 38:3");
//! let mut cursor = Cursor::at_end(&grammar);
//! cursor.skip(&grammar, 4, |_, _| {});
//! assert_eq!(cursor.back(&grammar), Some(23));
//! ```

pub mod bits;
pub mod column;
pub mod cursor;
pub mod extra;
pub mod file;
pub mod grammar;
pub mod hash;
mod lane;
pub mod layout;
pub mod layouts;
pub mod measure;
pub mod mix;
pub mod odds;
pub mod outputs;
mod pairs;
pub mod piece;
pub mod range;
pub mod reader;
pub mod relate;
pub mod rlese;
pub mod sequitur;
pub mod writer;

pub use file::{Error, Index, Summary};
pub use layouts::Layouts;
pub use reader::{Move, Ran, Reader};
pub use writer::Writer;
