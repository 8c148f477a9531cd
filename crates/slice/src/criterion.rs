//! The criteria from which a slice begins.

use crate::output_effects::StandardStream;
use program::inst::Reg;

/// One execution of an instruction (or of the phis on an edge, which belong
/// to the jump that took it).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Occurrence {
    /// Index in the process's `streams`.
    pub stream: u32,
    /// Number of the instruction in the stream, from 0: `View::count`.
    pub step: u64,
}

/// What a criterion requires at an occurrence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// All its operands, and why it ran.
    All,
    /// Why it ran; not its values.
    Ran,
    /// Registers of its activation, as they were when it ran.
    Registers(Vec<Reg>),
    /// Bytes of memory as they were just before it ran.
    Memory {
        /// The first byte.
        address: u64,
        /// Number of bytes.
        len: u64,
    },
    /// Bits of up to eight bytes of memory, just before it ran: a bit-field. Bit 0 is the lowest of the
    /// byte at the address.
    Bits {
        /// The first byte.
        address: u64,
        /// The bits, of the eight bytes from `address` on.
        mask: u64,
    },
    /// The branches that kept bytes from being written to a stream before it ran. Only relevant
    /// slices have them.
    Omitted(StandardStream),
}

/// A slicing criterion: why did this execution, or these values, come about?
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Criterion {
    /// The execution.
    pub at: Occurrence,
    /// What is asked of it, all together.
    pub wanted: Vec<Wanted>,
}

impl Criterion {
    /// Adds what kept earlier bytes from being written, if the name is `stdout` or `stderr`.
    #[must_use]
    pub fn with_omitted(mut self, sink: &str) -> Criterion {
        self.wanted.extend(StandardStream::named(sink).map(Wanted::Omitted));
        self
    }
}
