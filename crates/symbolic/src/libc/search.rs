//! Functions that search: the result is kept, and conditions, one per byte, state that there was no earlier
//! match.

use super::{arg, result};
use crate::condition::{Kind, Reason};
use crate::engine::Engine;
use crate::observer::StepObserver;
use externals::Model;
use replay::observer::{ExternalCall, View};
use solver::{Binary, Term};

impl<W: StepObserver> Engine<'_, W> {
    pub(super) fn searches(&mut self, view: &View<'_>, call: &ExternalCall<'_>, model: Model) -> bool {
        let (a, b, n) = (arg(call, 0), arg(call, 1), arg(call, 2));
        self.concretise_arguments(view, call, &[0], Reason::UnknownObject);
        let found = result(call);
        match model {
            Model::Strlen => self.ends(view, a, found),
            Model::Strnlen => {
                self.concretise_arguments(view, call, &[1], Reason::Length);
                self.string(view, a, b);
            }
            Model::Memchr | Model::Memrchr | Model::Rawmemchr => {
                let len = if model == Model::Rawmemchr { u64::MAX } else { n };
                self.concretise_arguments(view, call, &[2], Reason::Length);
                let (first, last) = match (model, found) {
                    (Model::Memrchr, 0) => (0, len),
                    (Model::Memrchr, at) => (at - a, len),
                    (_, 0) => (0, len),
                    (_, at) => (0, at - a + 1),
                };
                self.assume_found_at(view, call, (a, first, last), found);
            }
            Model::Strchr | Model::Strchrnul | Model::Strrchr => {
                let len = view.memory.peek_string(a, 1 << 24).len() as u64;
                match (model, found) {
                    // `strrchr` always reads to the end of the string.
                    (Model::Strrchr, at) => {
                        self.ends(view, a, len);
                        let first = if at == 0 { 0 } else { at - a };
                        self.assume_found_at(view, call, (a, first, len + 1), at);
                    }
                    (_, 0) => {
                        self.ends(view, a, len);
                        self.assume_found_at(view, call, (a, 0, len + 1), 0);
                    }
                    (_, at) => {
                        let place = at - a;
                        for i in 0..place {
                            self.byte_is(view, a.wrapping_add(i), 0, false);
                        }
                        if model == Model::Strchrnul && place == len && arg(call, 1) as u8 != 0 {
                            self.byte_is(view, at, 0, true);
                            self.assume_found_at(view, call, (a, 0, place), 0);
                        } else {
                            self.assume_found_at(view, call, (a, 0, place + 1), at);
                        }
                    }
                }
            }
            Model::Strspn | Model::Strcspn | Model::Strpbrk => self.span_search(view, call, model),
            Model::Strstr | Model::Memmem => self.substring_search(view, call, model),
            _ => return false,
        }
        true
    }

    /// Adds conditions that in a range (start, from, to) the byte is at the position found and nowhere else.
    fn assume_found_at(
        &mut self,
        view: &View<'_>,
        call: &ExternalCall<'_>,
        (start, first, last): (u64, u64, u64),
        found: u64,
    ) {
        let byte = arg(call, 1) as u8;
        let wanted = self.argument(view, call, 1, 8);
        if wanted.is_none() && !self.any(start.wrapping_add(first), last.saturating_sub(first)) {
            return;
        }
        let wanted = match wanted {
            Some(term) => term,
            None => self.constant(8, byte.into()),
        };
        for i in first..last {
            let at = start.wrapping_add(i);
            let term = self.at_byte(view, at);
            let same = self.pool().binary(Binary::Eq, term, wanted);
            let is = at == found && found != 0;
            let way = if is { same } else { self.pool().not(same) };
            self.assume(view, way, Kind::External, is.into(), None);
        }
    }

    /// Whether a byte is in a set.
    pub(super) fn one_of(&mut self, byte: Term, set: &[Term]) -> Term {
        let mut any = self.constant(1, 0);
        for member in set {
            let same = self.pool().binary(Binary::Eq, byte, *member);
            any = self.pool().or(any, same);
        }
        any
    }

    fn span_search(&mut self, view: &View<'_>, call: &ExternalCall<'_>, model: Model) {
        let (a, b) = (arg(call, 0), arg(call, 1));
        self.concretise_arguments(view, call, &[1], Reason::UnknownObject);
        let size = self.string(view, b, u64::MAX);
        let set: Vec<Term> = (0..size).map(|i| self.at_byte(view, b.wrapping_add(i))).collect();
        let len = match (model, result(call)) {
            (Model::Strpbrk, 0) => view.memory.peek_string(a, 1 << 24).len() as u64,
            (Model::Strpbrk, at) => at - a,
            (_, n) => n,
        };
        if !self.any(a, len + 1) && !self.any(b, size) {
            return;
        }
        let mut stop = [0];
        view.memory.peek(a.wrapping_add(len), &mut stop);
        for i in 0..=len {
            let byte = self.at_byte(view, a.wrapping_add(i));
            let inside = self.one_of(byte, &set);
            let nul = self.constant(8, 0);
            let end = self.pool().binary(Binary::Eq, byte, nul);
            let not_end = self.pool().not(end);
            let outside = self.pool().not(inside);
            // `strspn` continues inside the set (which has no NUL), the others continue outside of it.
            let way = match (model, i < len, stop[0]) {
                (Model::Strspn, true, _) => inside,
                (Model::Strspn, false, _) => outside,
                (_, true, _) => self.pool().and(outside, not_end),
                (_, false, 0) => end,
                (_, false, _) => inside,
            };
            self.assume(view, way, Kind::External, u64::from(i < len), None);
        }
    }

    fn substring_search(&mut self, view: &View<'_>, call: &ExternalCall<'_>, model: Model) {
        let (a, b) = (arg(call, 0), if model == Model::Memmem { arg(call, 2) } else { arg(call, 1) });
        let (hay, needle) = if model == Model::Memmem {
            self.concretise_arguments(view, call, &[1, 2, 3], Reason::Length);
            (arg(call, 1), arg(call, 3))
        } else {
            self.concretise_arguments(view, call, &[1], Reason::UnknownObject);
            let hay = view.memory.peek_string(a, 1 << 24).len() as u64;
            let needle = self.string(view, b, u64::MAX);
            (hay, needle)
        };
        let found = result(call);
        let last = if found == 0 { hay } else { found - a + needle };
        if needle == 0 || !self.any(a, last + 1) && !self.any(b, needle) {
            return;
        }
        if model == Model::Strstr {
            if found == 0 {
                self.ends(view, a, hay);
            } else {
                for i in 0..last {
                    self.byte_is(view, a.wrapping_add(i), 0, false);
                }
            }
        }
        let places = if found == 0 { (hay + 1).saturating_sub(needle) } else { found - a + 1 };
        for i in 0..places {
            let mut match_here = self.constant(1, 1);
            for j in 0..needle {
                let x = self.at_byte(view, a.wrapping_add(i + j));
                let y = self.at_byte(view, b.wrapping_add(j));
                let same = self.pool().binary(Binary::Eq, x, y);
                match_here = self.pool().and(match_here, same);
            }
            let is = found != 0 && i + 1 == places;
            let way = if is { match_here } else { self.pool().not(match_here) };
            self.assume(view, way, Kind::External, is.into(), None);
        }
    }
}
