//! Where what was written to streams without a file shows in memory.
//!
//! `fmemopen` is given a buffer. `open_memstream` is given the addresses of two variables, which hold the
//! address and the size of a buffer of the library's once the stream is flushed or closed. The
//! library writes all of these unseen: the program finds other bytes there than it knew. The
//! buffer's address is what it finds in the variable, and its end is taken to be where the next
//! block of the heap begins.

use crate::heap::Allocated;
use replay::observer::{ExternalCall, View};
use serde::{Deserialize, Serialize};

/// Memory that shows what was written to a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// The step since when it does.
    pub since: u64,
    pub start: u64,
    pub len: u64,
    /// The address of the `FILE`.
    pub file: u64,
}

/// No buffer of the library's is taken to be longer.
const LONGEST: u64 = 1 << 20;

/// Collects them in the first pass over a stream.
#[derive(Default)]
pub struct MemoryStreams {
    shown: Vec<Shown>,
    /// Variables that hold the address of a buffer, and the stream.
    pointers: Vec<(u64, u64)>,
}

impl MemoryStreams {
    /// A call has returned.
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

    /// A load saw something that the program did not write.
    pub fn missed(&mut self, view: &View<'_>, address: u64) {
        let Some((_, file)) = self.pointers.iter().rev().find(|(at, _)| *at == address) else { return };
        let start = view.memory.peek_word(address, 8);
        let shown = Shown { since: view.count, start, len: LONGEST, file: *file };
        if start != 0 && !self.shown.iter().any(|s| (s.start, s.file) == (start, *file)) {
            self.shown.push(shown);
        }
    }

    /// In the order of time; buffers end before the blocks that the program allocated.
    pub fn finish(mut self, allocated: &[(u64, Allocated)]) -> Vec<Shown> {
        for shown in self.shown.iter_mut().filter(|shown| shown.len == LONGEST) {
            let behind = allocated.iter().map(|block| block.0).filter(|at| *at > shown.start);
            shown.len = behind.min().map_or(LONGEST, |next| (next - shown.start).min(LONGEST));
        }
        self.shown
    }
}
