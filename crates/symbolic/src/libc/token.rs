//! `strtok`: the token's bytes keep their terms, the separators around it become conditions.

use super::{arg, result};
use crate::condition::{Kind, Reason};
use crate::engine::Engine;
use crate::observer::StepObserver;
use crate::shadow::TermByte;
use replay::observer::{ExternalCall, View};
use solver::Term;

/// What the patches of a call replaced.
#[derive(Default)]
pub(crate) struct PatchedBytes {
    pub ranges: Vec<(u64, u64)>,
    pub pieces: Vec<(u64, TermByte)>,
}

impl PatchedBytes {
    pub fn clear(&mut self) {
        self.ranges.clear();
        self.pieces.clear();
    }

    fn covers(&self, address: u64) -> bool {
        self.ranges.iter().any(|(at, len)| address.wrapping_sub(*at) < *len)
    }
}

impl<W: StepObserver> Engine<'_, W> {
    pub(super) fn token(&mut self, view: &View<'_>, call: &ExternalCall<'_>, key: u64) -> bool {
        self.concretise_arguments(view, call, &[0, 1], Reason::UnknownObject);
        let found = result(call);
        let start = match arg(call, 0) {
            0 => self.tokens.get(&key).copied(),
            given => Some(given),
        };
        if key != 0 {
            self.overwritten(key, 8);
        }
        let separators = arg(call, 1);
        let size = self.string(view, separators, u64::MAX);
        let set: Vec<Term> = (0..size).map(|i| self.at_byte(view, separators.wrapping_add(i))).collect();
        let Some(start) = start else { return true };
        if found == 0 {
            let len = view.memory.peek_string(start, 1 << 24).len() as u64;
            for i in 0..len {
                self.separates(view, start.wrapping_add(i), &set, true);
            }
            self.byte_is(view, start.wrapping_add(len), 0, true);
            return true;
        }
        for at in start..found {
            self.separates(view, at, &set, true);
        }
        let len = view.memory.peek_string(found, 1 << 24).len() as u64;
        for i in 0..len {
            let at = found.wrapping_add(i);
            self.separates(view, at, &set, false);
            self.byte_is(view, at, 0, false);
        }
        let end = found.wrapping_add(len);
        // The NUL at the end of the token replaced a separator there.
        let replaced = self.replaced.pieces.iter().rev().find(|p| p.0 == end).map(|p| p.1);
        if let Some(piece) = replaced {
            let term = self.piece(piece);
            let inside = self.one_of(term, &set);
            self.assume(view, inside, Kind::External, 1, None);
            // The byte is now the NUL.
            self.memory.set(end, None);
        }
        let next = if self.replaced.covers(end) { end.wrapping_add(1) } else { end };
        self.tokens.insert(key, next);
        true
    }

    fn separates(&mut self, view: &View<'_>, at: u64, set: &[Term], is: bool) {
        if self.byte(at).is_some() {
            let byte = self.at_byte(view, at);
            let inside = self.one_of(byte, set);
            let way = if is { inside } else { self.pool().not(inside) };
            self.assume(view, way, Kind::External, is.into(), None);
        }
    }
}
