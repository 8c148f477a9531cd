//! Memory that a call used outside of the extent of a pointer's type, and through a `void *`.
//!
//! Only memory that the calls used is compared, at the same offset from the pointer: before a call what both
//! read, after it what one of them wrote. Addresses are not compared. After the call, blocks of different
//! lengths are not compared: their layout may have changed on purpose.

use crate::compare::{Comparison, What};
use crate::state::State;
use std::collections::BTreeSet;
use std::ops::Range;

/// Two corresponding addresses, good's first.
type AddressPair = (u64, u64);

impl Comparison<'_, '_> {
    /// Compares the parts of two blocks before and after the targets of two pointers. `len` is the number of
    /// bytes that are compared by type.
    pub(crate) fn adjacent(&mut self, path: &str, at: AddressPair, objects: [(u64, u64); 2], len: u64) {
        let [good, bad] = objects;
        let distance = |from: u64, to: u64| to.wrapping_sub(from) as i64;
        let (before, behind) = (
            (distance(at.0, good.0), distance(at.1, bad.0)),
            (distance(at.0, good.1), distance(at.1, bad.1)),
        );
        if self.what == What::Exit && (before.0 != before.1 || behind.0 != behind.1) {
            return;
        }
        self.used(path, at, before.0.max(before.1)..0);
        self.used(path, at, i64::try_from(len).unwrap_or(i64::MAX)..behind.0.min(behind.1));
    }

    /// Compares what the calls used at these offsets from two addresses.
    fn used(&mut self, path: &str, at: AddressPair, range: Range<i64>) {
        if range.is_empty() {
            return;
        }
        let (good, bad) = (self.good.state, self.bad.state);
        let within = |state: &State, at: u64| -> BTreeSet<i64> {
            let (start, end) = (at.wrapping_add_signed(range.start), at.wrapping_add_signed(range.end));
            state.used(start, end).map(|(byte, _)| byte.wrapping_sub(at) as i64).collect()
        };
        let (ours, theirs) = (within(good, at.0), within(bad, at.1));
        let offsets: Vec<i64> = match self.what {
            What::Entry => ours.intersection(&theirs).copied().collect(),
            What::Exit => ours.union(&theirs).copied().collect(),
        };
        let differs = |offset: &i64| {
            let (a, b) = (at.0.wrapping_add_signed(*offset), at.1.wrapping_add_signed(*offset));
            let is_address = good.is_address(a) || bad.is_address(b);
            matches!((good.any_byte(a), bad.any_byte(b)), (Some(a), Some(b)) if a != b && !is_address)
        };
        let Some(n) = offsets.iter().position(differs) else { return };
        let number = around(&offsets, n, differs);
        let shown = |state: &State, from: u64| {
            let byte = |offset: &i64| state.any_byte(from.wrapping_add_signed(*offset)).map(u64::from);
            let value = number.iter().rev().try_fold(0, |value, offset| Some(value << 8 | byte(offset)?));
            value.map_or_else(|| "not known".to_owned(), |value: u64| value.to_string())
        };
        let (one, other) = (shown(good, at.0), shown(bad, at.1));
        let (noun, first) = (if number.len() == 1 { "byte" } else { "bytes" }, number[0]);
        let sign = if first < 0 { '-' } else { '+' };
        let place = match first {
            0 => path.to_owned(),
            _ => format!("{path} {sign} {}", first.unsigned_abs()),
        };
        self.differ(&format!("{} {noun} at {place}", number.len()), one, other);
    }
}

/// The aligned number that contains the first differing byte: the used bytes among its four bytes, or among
/// its eight if others of these differ too.
fn around(offsets: &[i64], n: usize, differs: impl Fn(&i64) -> bool) -> &[i64] {
    let part = |size: i64| {
        let is_with = |m: &usize| {
            offsets[*m] - offsets[n] == *m as i64 - n as i64
                && offsets[*m].div_euclid(size) == offsets[n].div_euclid(size)
        };
        let first = (0..n).rev().take_while(is_with).last().unwrap_or(n);
        let last = (n..offsets.len()).take_while(is_with).last().unwrap_or(n);
        &offsets[first..=last]
    };
    let (four, eight) = (part(4), part(8));
    if eight.iter().any(|offset| !four.contains(offset) && differs(offset)) { eight } else { four }
}
