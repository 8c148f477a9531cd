//! Functions that copy bytes: the terms are copied as well.

use super::{arg, result};
use crate::condition::Reason;
use crate::engine::Engine;
use crate::observer::StepObserver;
use crate::shadow::TermByte;
use externals::Model;
use replay::observer::{ExternalCall, View};

/// `qsort` of larger arrays is not followed.
const MAX_SORTED: u64 = 1 << 20;

/// The content of an array before it was sorted.
pub(crate) struct SortSnapshot {
    start: u64,
    size: u64,
    bytes: Vec<u8>,
    pieces: Vec<(u64, TermByte)>,
}

impl<W: StepObserver> Engine<'_, W> {
    pub(super) fn copies(&mut self, view: &View<'_>, call: &ExternalCall<'_>, model: Model) -> bool {
        let (a, b, n) = (arg(call, 0), arg(call, 1), arg(call, 2));
        let filling = matches!(model, Model::Memset | Model::Bzero);
        let pointers: &[u32] = if filling { &[0] } else { &[0, 1] };
        self.concretise_arguments(view, call, pointers, Reason::UnknownObject);
        match model {
            Model::Memset => {
                self.concretise_arguments(view, call, &[2], Reason::Length);
                let term = self.argument(view, call, 1, 8);
                self.filled(a, n, term);
            }
            Model::Bzero => {
                self.concretise_arguments(view, call, &[1], Reason::Length);
                self.overwritten(a, b);
            }
            Model::Memcpy | Model::Mempcpy => {
                self.concretise_arguments(view, call, &[2], Reason::Length);
                self.moved(a, b, n);
            }
            Model::Bcopy => {
                self.concretise_arguments(view, call, &[2], Reason::Length);
                self.moved(b, a, n);
            }
            Model::Memccpy => {
                self.concretise_arguments(view, call, &[2, 3], Reason::Length);
                let len = call.writes.first().map_or(0, |w| w.1);
                let found = result(call) != 0;
                for i in 0..len {
                    self.byte_is(view, b.wrapping_add(i), n as u8, found && i + 1 == len);
                }
                self.moved(a, b, len);
            }
            Model::Strcpy | Model::Stpcpy => {
                // The copy may have overwritten part of the source, so the length is taken from the copy.
                let len = view.memory.peek_string(a, 1 << 24).len() as u64;
                self.ends(view, b, len);
                self.moved(a, b, len + 1);
            }
            Model::Strncpy | Model::Stpncpy => {
                self.concretise_arguments(view, call, &[2], Reason::Length);
                let len = self.string(view, b, n);
                self.moved(a, b, len);
                self.overwritten(a.wrapping_add(len), n - len);
            }
            Model::Strcat | Model::Strncat => {
                // The written range begins at the end of the old string.
                let Some((start, len)) = call.writes.iter().copied().reduce(|x, y| {
                    let low = x.0.min(y.0);
                    (low, (x.0 + x.1).max(y.0 + y.1) - low)
                }) else {
                    return false;
                };
                let moved = len.saturating_sub(1);
                self.ends(view, a, start.wrapping_sub(a));
                if model == Model::Strncat {
                    self.concretise_arguments(view, call, &[2], Reason::Length);
                }
                if model == Model::Strcat || moved < n {
                    self.ends(view, b, moved);
                } else {
                    for i in 0..moved {
                        self.byte_is(view, b.wrapping_add(i), 0, false);
                    }
                }
                self.moved(start, b, moved);
                self.overwritten(start.wrapping_add(moved), 1);
            }
            _ => return false,
        }
        true
    }

    /// `strdup` and `strndup`: a new block with the bytes of a string.
    pub(super) fn duplicates(&mut self, view: &View<'_>, call: &ExternalCall<'_>, name: &str) -> bool {
        let (from, to) = (arg(call, 0), result(call));
        let bounded = name.ends_with("strndup");
        self.concretise_arguments(view, call, &[0], Reason::UnknownObject);
        if bounded {
            self.concretise_arguments(view, call, &[1], Reason::Length);
        }
        let len = self.string(view, from, if bounded { arg(call, 1) } else { u64::MAX });
        if to != 0 {
            self.objects.add(to, len + 1);
            self.moved(to, from, len);
            self.overwritten(to.wrapping_add(len), 1);
        }
        true
    }

    /// Called before `qsort`: saves the elements.
    pub(crate) fn before_sort(&mut self, view: &View<'_>, start: u64, count: u64, size: u64) {
        let len = count.saturating_mul(size);
        if len == 0 || len > MAX_SORTED || !self.any(start, len) {
            return;
        }
        self.dissolve(start, len);
        let mut bytes = vec![0; len as usize];
        view.memory.peek(start, &mut bytes);
        let pieces = self.memory.find(start, len);
        self.sorting.push(SortSnapshot { start, size, bytes, pieces });
    }

    /// Called after `qsort`. The comparisons have fixed the order, so each element is where its bytes are
    /// now. If several elements had the same bytes, they cannot be distinguished, and are concretised.
    pub(super) fn sorts(&mut self, view: &View<'_>, call: &ExternalCall<'_>) -> bool {
        self.concretise_arguments(view, call, &[0, 1, 2], Reason::Length);
        let Some(at) = self.sorting.iter().rposition(|s| s.start == arg(call, 0)) else { return true };
        let old = self.sorting.split_off(at).swap_remove(0);
        let size = old.size as usize;
        let mut bytes = vec![0; old.bytes.len()];
        view.memory.peek(old.start, &mut bytes);
        self.overwritten(old.start, bytes.len() as u64);
        let before: Vec<&[u8]> = old.bytes.chunks(size).collect();
        for (n, element) in bytes.chunks(size).enumerate() {
            let mut alike = before.iter().enumerate().filter(|(_, e)| **e == element).map(|(i, _)| i);
            let (first, more) = (alike.next(), alike.next().is_some());
            let Some(first) = first else { continue };
            let own = (first * size) as u64..((first + 1) * size) as u64;
            for (offset, piece) in old.pieces.iter().filter(|p| own.contains(&p.0)) {
                let place = offset - own.start;
                if more {
                    let term = self.piece(*piece);
                    let value = element[place as usize];
                    self.concretise(view, term, value.into(), Reason::Detail("equal elements were sorted"));
                } else {
                    self.memory.set(old.start + (n * size) as u64 + place, Some(*piece));
                }
            }
        }
        true
    }
}
