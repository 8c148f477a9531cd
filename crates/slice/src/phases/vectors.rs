//! Phases by which blocks ran: what hierarchical slices are compared with.
//!
//! A run is taken in intervals of equal length. Of each it is known how much of it was spent in
//! which basic block, as shares of 1; the distance of two neighbours is the sum of what their
//! shares differ, from 0 (the same) to 2 (nothing in common). Where it is more than 1 a phase
//! ends (Sherwood's *basic block vectors*). Phases shorter than an interval are not seen, and
//! what does something else in the same blocks is not told apart.

use super::divide::{PhaseKind, Shape, Stretch, Window, block_at};
use program::inst::BlockId;
use replay::observer::{Effect, Observer, View};
use std::collections::HashMap;

/// Module, function and block.
type Block = (u32, u32, BlockId);

/// Instructions spent in each block.
pub type Spent = HashMap<Block, u64>;

/// How far apart two intervals are, from 0 to 2.
#[must_use]
pub fn distance(one: &Spent, other: &Spent) -> f64 {
    let sum = |spent: &Spent| spent.values().sum::<u64>().max(1) as f64;
    let (all_one, all_other) = (sum(one), sum(other));
    let share = |spent: &Spent, block: &Block, all: f64| spent.get(block).map_or(0.0, |n| *n as f64 / all);
    let of_one: f64 =
        one.iter().map(|(block, n)| (*n as f64 / all_one - share(other, block, all_other)).abs()).sum();
    let only_other: f64 =
        other.iter().filter(|(block, _)| !one.contains_key(block)).map(|(_, n)| *n as f64 / all_other).sum();
    of_one + only_other
}

/// Tells where phases begin, interval by interval.
#[derive(Default)]
struct Neighbours {
    before: Option<Spent>,
}

impl Neighbours {
    fn begins(&mut self, now: Spent) -> bool {
        let begins = self.before.as_ref().is_none_or(|before| distance(before, &now) > 1.0);
        self.before = Some(now);
        begins
    }
}

/// Watches a window.
pub(super) struct Vectors {
    window: Window,
    interval: u64,
    /// The interval that is under way.
    now: Spent,
    neighbours: Neighbours,
    number: u64,
    /// Steps at which phases begin.
    starts: Vec<u64>,
}

impl Vectors {
    /// A window that is short is cut into shorter intervals.
    pub fn new(window: &Window, interval: u64, groups: usize) -> Vectors {
        let length = window.steps.end - window.steps.start;
        Vectors {
            window: window.clone(),
            interval: interval.min(length / groups as u64).max(1),
            now: Spent::new(),
            neighbours: Neighbours::default(),
            number: 0,
            starts: Vec::new(),
        }
    }

    fn close(&mut self) {
        let now = std::mem::take(&mut self.now);
        if !now.is_empty() && self.neighbours.begins(now) {
            self.starts.push(self.window.steps.start + self.number * self.interval);
        }
    }

    pub fn finish(mut self, window: &Window) -> Vec<Stretch> {
        self.close();
        // Their own code is whatever runs in them.
        let shape = Shape { depth: u32::MAX, inside: None, rounds: false };
        let ends = self.starts.iter().skip(1).copied().chain([window.steps.end]);
        let stretch =
            |(start, end): (&u64, u64)| Stretch { kind: PhaseKind::Alike, steps: *start..end, shape };
        self.starts.iter().zip(ends).map(stretch).collect()
    }
}

impl Observer for Vectors {
    fn step(&mut self, view: &View<'_>, _: Effect) {
        if !self.window.steps.contains(&view.count) {
            return;
        }
        let number = (view.count - self.window.steps.start) / self.interval;
        if number != self.number {
            self.close();
            self.number = number;
        }
        let block = block_at(view.function(), view.index);
        *self.now.entry((view.code.module, view.code.function, block)).or_default() += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn spent(dense: &[u64]) -> Spent {
        (0..).zip(dense).filter(|(_, n)| **n > 0).map(|(b, n)| ((0, 0, b), *n)).collect()
    }

    #[test]
    fn nothing_in_common_is_two_apart() {
        assert!((distance(&spent(&[5, 0]), &spent(&[0, 9])) - 2.0).abs() < 1e-9);
        assert!(distance(&spent(&[5, 10]), &spent(&[1, 2])).abs() < 1e-9);
    }

    #[test]
    fn a_phase_ends_where_more_than_half_is_spent_elsewhere() {
        let mut neighbours = Neighbours::default();
        let begins = [[10, 0], [9, 1], [1, 9], [0, 10], [6, 4]].map(|d| neighbours.begins(spent(&d)));
        assert_eq!(begins, [true, false, true, false, true]);
    }

    proptest! {
        /// Against the definition, written over vectors with a place for every block.
        #[test]
        fn distances_are_manhattan(one in proptest::collection::vec(0u64..50, 6), other in proptest::collection::vec(0u64..50, 6)) {
            let share = |v: &[u64], i: usize| v[i] as f64 / v.iter().sum::<u64>().max(1) as f64;
            let expected: f64 = (0..6).map(|i| (share(&one, i) - share(&other, i)).abs()).sum();
            prop_assert!((distance(&spent(&one), &spent(&other)) - expected).abs() < 1e-9);
        }
    }
}
