//! The memory in which the library publishes what was written to streams without a file.
//!
//! `fmemopen` takes a buffer. `open_memstream` takes the addresses of two variables, which hold the address
//! and the size of a buffer of the library once the stream is flushed or closed. The library's writes to all
//! of these are not recorded: the program's next load finds changed bytes. The buffer's address is the value
//! that a load finds in the variable, and its end is assumed to be the start of the next heap block.

use crate::heap::Allocated;
use replay::observer::{ExternalCall, View};
use serde::{Deserialize, Serialize};

/// Memory in which the contents of a stream are published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// The first step at which they are.
    pub since: u64,
    pub start: u64,
    pub len: u64,
    /// The address of the `FILE`.
    pub file: u64,
}

/// The assumed greatest length of a buffer of the library.
const LONGEST: u64 = 1 << 20;

/// Collects such memory in the first pass over a stream.
#[derive(Default)]
pub struct MemoryStreams {
    shown: Vec<Shown>,
    /// Variables that hold the address of a buffer, and the `FILE` of the stream.
    pointers: Vec<(u64, u64)>,
}

impl MemoryStreams {
    /// An external call has returned.
    pub fn opened(&mut self, view: &View<'_>, call: &ExternalCall<'_>) {
        let Some(known) = call.known else { return };
        let file = call.result.first().copied().unwrap_or(0);
        let arg = |n: usize| call.args.get(n).copied().unwrap_or(0);
        let mut show = |start, len| self.shown.push(Shown { since: view.count, start, len, file });
        match known.name {
            "fmemopen" if file != 0 && arg(0) != 0 => show(arg(0), arg(1)),
            "open_memstream" if file != 0 => {
                show(arg(0), 8);
                show(arg(1), 8);
                self.pointers.push((arg(0), file));
            }
            _ => {}
        }
    }

    /// A load read bytes that the program had not written.
    pub fn missed(&mut self, view: &View<'_>, address: u64) {
        let Some((_, file)) = self.pointers.iter().rev().find(|(at, _)| *at == address) else { return };
        let start = view.memory.peek_word(address, 8);
        let shown = Shown { since: view.count, start, len: LONGEST, file: *file };
        if start != 0 && !self.shown.iter().any(|s| (s.start, s.file) == (start, *file)) {
            self.shown.push(shown);
        }
    }

    /// The published memory in order of time. Buffers end before the next block that the program allocated.
    pub fn finish(mut self, allocated: &[(u64, Allocated)]) -> Vec<Shown> {
        for shown in self.shown.iter_mut().filter(|shown| shown.len == LONGEST) {
            let behind = allocated.iter().map(|block| block.0).filter(|at| *at > shown.start);
            shown.len = behind.min().map_or(LONGEST, |next| (next - shown.start).min(LONGEST));
        }
        self.shown
    }
}
