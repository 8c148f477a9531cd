//! `strcmp`, `memcmp` and related functions: the result as a term.
//!
//! The term is built from the end to the front. At each position either the bytes are equal and the rest
//! decides, or their difference is the result. The end is the first position where a string certainly ends or
//! two bytes certainly differ.

use super::{arg, result};
use crate::condition::Kind;
use crate::engine::Engine;
use crate::observer::StepObserver;
use externals::Model;
use replay::observer::{ExternalCall, View};
use solver::{Binary, Term};

/// For longer comparisons, conditions fix the position where they ended.
const MAX_TERM: u64 = 512;

impl<W: StepObserver> Engine<'_, W> {
    pub(super) fn compares(&mut self, view: &View<'_>, call: &ExternalCall<'_>, model: Model) -> bool {
        let (a, b) = (arg(call, 0), arg(call, 1));
        let strings = model != Model::Memcmp;
        let fold = matches!(model, Model::Strcasecmp | Model::Strncasecmp);
        let bounded = matches!(model, Model::Memcmp | Model::Strncmp | Model::Strncasecmp);
        let n = if bounded { arg(call, 2) } else { u64::MAX };
        self.concretise_arguments(view, call, &[0, 1], crate::condition::Reason::UnknownObject);
        if bounded {
            self.concretise_arguments(view, call, &[2], crate::condition::Reason::Length);
        }
        let mut pairs: Vec<(Term, Term)> = Vec::new();
        let mut any = false;
        let mut certain = false;
        while (pairs.len() as u64) < n.min(MAX_TERM) {
            let i = pairs.len() as u64;
            let (at, to) = (a.wrapping_add(i), b.wrapping_add(i));
            any |= self.byte(at).is_some() || self.byte(to).is_some();
            let mut x = self.at_byte(view, at);
            let mut y = self.at_byte(view, to);
            if fold {
                (x, y) = (self.lower(x), self.lower(y));
            }
            pairs.push((x, y));
            let (known_x, known_y) = (self.world.pool.as_constant(x), self.world.pool.as_constant(y));
            let ends = strings && (known_x == Some(0) || known_y == Some(0));
            let differ = matches!((known_x, known_y), (Some(x), Some(y)) if x != y);
            if ends || differ {
                certain = true;
                break;
            }
        }
        if !any {
            return true;
        }
        if !certain && pairs.len() as u64 != n {
            self.assume_order(view, &pairs, strings);
            return true;
        }
        let exact = self.difference(&pairs, strings, None);
        let variables = &self.world.variables;
        let ours = self.world.pool.evaluate(exact, &|v| variables.value(v)) as u32;
        let real = result(call) as u32;
        // Other implementations return other numbers of the same sign.
        let term = if ours == real {
            exact
        } else {
            let (less, more) = if real.cast_signed() < 0 { (real, 1) } else { (u32::MAX, real.max(1)) };
            self.difference(&pairs, strings, Some((less, more)))
        };
        let variables = &self.world.variables;
        if self.world.pool.evaluate(term, &|v| variables.value(v)) as u32 == real {
            self.assign(view, call.site.dst, 32, Some(term));
        } else {
            self.assume_order(view, &pairs, strings);
        }
        true
    }

    fn difference(&mut self, pairs: &[(Term, Term)], strings: bool, signs: Option<(u32, u32)>) -> Term {
        let zero = self.constant(32, 0);
        let nul = self.constant(8, 0);
        let mut rest = zero;
        for (i, (x, y)) in pairs.iter().enumerate().rev() {
            let difference = match signs {
                None => {
                    let (x, y) = (self.fit(*x, 32), self.fit(*y, 32));
                    self.pool().binary(Binary::Sub, x, y)
                }
                Some((less, more)) => {
                    let (less, more) = (self.constant(32, less.into()), self.constant(32, more.into()));
                    let below = self.pool().binary(Binary::Ult, *x, *y);
                    self.pool().ite(below, less, more)
                }
            };
            if strings && i + 1 < pairs.len() {
                // Both strings end here and are equal: later bytes do not count.
                let either = if self.world.pool.as_constant(*x).is_some() { *x } else { *y };
                let end = self.pool().binary(Binary::Eq, either, nul);
                rest = self.pool().ite(end, zero, rest);
            }
            let same = self.pool().binary(Binary::Eq, *x, *y);
            rest = self.pool().ite(same, rest, difference);
        }
        rest
    }

    /// Adds conditions that the comparison ended where it did: equal bytes before, and this order there.
    fn assume_order(&mut self, view: &View<'_>, pairs: &[(Term, Term)], strings: bool) {
        let variables = &self.world.variables;
        let values: Vec<(u128, u128)> = pairs
            .iter()
            .map(|(x, y)| {
                let value = |t: Term| self.world.pool.evaluate(t, &|v| variables.value(v));
                (value(*x), value(*y))
            })
            .collect();
        for ((x, y), (now_x, now_y)) in pairs.iter().zip(values) {
            if now_x != now_y {
                let (low, high) = if now_x < now_y { (*x, *y) } else { (*y, *x) };
                let way = self.pool().binary(Binary::Ult, low, high);
                self.assume(view, way, Kind::External, 0, None);
                return;
            }
            let same = self.pool().binary(Binary::Eq, *x, *y);
            self.assume(view, same, Kind::External, 1, None);
            if strings {
                let nul = self.constant(8, 0);
                let end = self.pool().binary(Binary::Eq, *x, nul);
                let way = if now_x == 0 { end } else { self.pool().not(end) };
                self.assume(view, way, Kind::External, u64::from(now_x == 0), None);
                if now_x == 0 {
                    return;
                }
            }
        }
    }

    /// A letter in lower case, in the C locale.
    pub(super) fn lower(&mut self, byte: Term) -> Term {
        self.shifted(byte, b'A', b'Z')
    }

    /// A byte of the range with its case switched; other bytes unchanged.
    pub(super) fn shifted(&mut self, byte: Term, low: u8, high: u8) -> Term {
        let width = self.world.pool.width(byte);
        let (low, high) = (self.constant(width, low.into()), self.constant(width, high.into()));
        let case = self.constant(width, 0x20);
        let pool = self.pool();
        let from = pool.binary(Binary::Ule, low, byte);
        let to = pool.binary(Binary::Ule, byte, high);
        let letter = pool.and(from, to);
        let other = pool.binary(Binary::Xor, byte, case);
        pool.ite(letter, other, byte)
    }
}
