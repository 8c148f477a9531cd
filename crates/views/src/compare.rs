//! Compares two runs: pairs of threads, similar events, sequences of differences.

use crate::align::{Matching, align};
use crate::error::{Result, in_time};
use crate::lcs;
use crate::moves;
use crate::trace::{NONE, Trace};
use std::ops::Range;
use std::time::Instant;

/// Parameters of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The number of events around a position that are compared: Δ.
    pub window: usize,
    /// Whether to match functions that may have been renamed, split or merged.
    pub relaxed: bool,
    /// After it the comparison fails with [`Error::TimeUp`](crate::Error::TimeUp).
    pub deadline: Option<Instant>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { window: 32, relaxed: true, deadline: None }
    }
}

/// The kind of a sequence of differences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// Only the right run has it.
    Insertion,
    /// Only the left run has it.
    Deletion,
    /// Both runs have different events.
    Modification,
}

impl Change {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Change::Insertion => "insertion",
            Change::Deletion => "deletion",
            Change::Modification => "modification",
        }
    }
}

/// A maximal run of differences between two similar events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sequence {
    /// The pair of threads, as an index into [`Comparison::threads`].
    pub pair: usize,
    /// From the preceding similar event to the following one. Moved events in between are not part of it.
    pub left: Range<usize>,
    /// The same in the right run.
    pub right: Range<usize>,
    /// Events without a partner.
    pub left_count: u64,
    /// Events without a partner.
    pub right_count: u64,
}

impl Sequence {
    /// Its kind.
    #[must_use]
    pub fn change(&self) -> Change {
        match (self.left_count, self.right_count) {
            (0, _) => Change::Insertion,
            (_, 0) => Change::Deletion,
            _ => Change::Modification,
        }
    }
}

/// See the module's documentation.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Similar events.
    pub matching: Matching,
    /// Corresponding threads, by index; a thread may have no partner.
    pub threads: Vec<(Option<usize>, Option<usize>)>,
    /// In the order of the left run's events, pair by pair.
    pub sequences: Vec<Sequence>,
    /// The number of functions that both runs have, and that at least one has.
    pub functions: (usize, usize),
    /// Memory used by the views' indices, in bytes.
    pub index_bytes: u64,
}

impl Comparison {
    /// Whether the runs share so few functions that they are probably of different programs.
    #[must_use]
    pub fn unrelated(&self) -> bool {
        let (common, all) = self.functions;
        all > 0 && common * 5 < all
    }
}

/// Compares two runs.
///
/// # Errors
/// If an index cannot be written to disk, or the deadline passes.
pub fn compare(left: &Trace, right: &Trace, settings: &Settings) -> Result<Comparison> {
    let threads = pair_threads(left, right);
    let mut matching = Matching::new(left.len(), right.len());
    let pairs = ranges(left, right, &threads);
    for (l, r) in &pairs {
        align(left, l.clone(), right, r.clone(), settings, &mut matching);
        in_time(settings.deadline)?;
    }
    let mut index_bytes = 0;
    if matching.differences() > 0 {
        index_bytes = moves::find(left, right, &pairs, settings, &mut matching);
        in_time(settings.deadline)?;
        matching.moved.sort_unstable();
    }
    Ok(Comparison { index_bytes, ..build_comparison(left, right, threads, matching) })
}

/// Compares two runs by longest common subsequence: the baseline of benches and tests. It takes quadratic
/// time and does not detect moves. Returns `None` if it would take more than `max_steps` steps.
#[must_use]
pub fn compare_by_lcs(left: &Trace, right: &Trace, max_steps: u64) -> Option<Comparison> {
    let threads = pair_threads(left, right);
    let mut matching = Matching::new(left.len(), right.len());
    for (l, r) in ranges(left, right, &threads) {
        let a: Vec<u64> = l.clone().map(|i| left.key(i)).collect();
        let b: Vec<u64> = r.clone().map(|j| right.key(j)).collect();
        let head = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
        let tail = a[head..].iter().rev().zip(b[head..].iter().rev()).take_while(|(a, b)| a == b).count();
        let (n, m) = ((a.len() - head - tail) as u64, (b.len() - head - tail) as u64);
        if n.saturating_mul(m) > max_steps {
            return None;
        }
        for (i, j) in lcs::longest(&a, &b, &mut matching.compared) {
            matching.pair(l.start + i, r.start + j);
        }
    }
    Some(build_comparison(left, right, threads, matching))
}

/// A thread of each run; `None` on one side if the other thread has no partner.
type ThreadPair = (Option<usize>, Option<usize>);

/// The event ranges of paired threads.
fn ranges(left: &Trace, right: &Trace, threads: &[ThreadPair]) -> Vec<(Range<usize>, Range<usize>)> {
    let both = |pair: &ThreadPair| {
        let (l, r) = (&left.threads[pair.0?], &right.threads[pair.1?]);
        Some((l.first..l.last, r.first..r.last))
    };
    threads.iter().filter_map(both).collect()
}

/// The sequences of differences of a matching.
fn build_comparison(left: &Trace, right: &Trace, threads: Vec<ThreadPair>, matching: Matching) -> Comparison {
    let mut sequences = Vec::new();
    for (n, pair) in threads.iter().enumerate() {
        let range = |trace: &Trace, thread: Option<usize>| {
            thread.map_or(0..0, |t| trace.threads[t].first..trace.threads[t].last)
        };
        gather(n, range(left, pair.0), range(right, pair.1), &matching, &mut sequences);
    }
    Comparison { matching, threads, sequences, functions: functions(left, right), index_bytes: 0 }
}

/// Collects the sequences of one pair of threads.
fn gather(pair: usize, l: Range<usize>, r: Range<usize>, matching: &Matching, out: &mut Vec<Sequence>) {
    let (mut from_l, mut from_r) = (l.start, r.start);
    // Only partners in order delimit sequences; moved events do not.
    let first = matching.moved.partition_point(|e| (*e as usize) < l.start);
    let mut moved = matching.moved[first..].iter().peekable();
    let mut close = |left: Range<usize>, right: Range<usize>| {
        let alone = |of: &[u32], range: &Range<usize>| {
            of[range.clone()].iter().filter(|x| **x == NONE).count() as u64
        };
        let (left_count, right_count) = (alone(&matching.right_of, &left), alone(&matching.left_of, &right));
        if left_count + right_count > 0 {
            out.push(Sequence { pair, left, right, left_count, right_count });
        }
    };
    for event in l.clone() {
        if moved.next_if(|e| **e as usize == event).is_some() {
            continue;
        }
        let partner = matching.right_of[event];
        if partner != NONE {
            let partner = partner as usize;
            if event > from_l || partner > from_r {
                close(from_l..event, from_r..partner);
            }
            (from_l, from_r) = (event + 1, partner + 1);
        }
    }
    close(from_l..l.end, from_r..r.end);
}

/// Pairs threads by the similarity of the stacks they were spawned from; ties are resolved by order.
fn pair_threads(left: &Trace, right: &Trace) -> Vec<(Option<usize>, Option<usize>)> {
    let texts = |trace: &Trace, thread: usize| -> Vec<u64> {
        trace.threads[thread].spawned.iter().map(|n| trace.names.hash(*n)).collect()
    };
    let l: Vec<Vec<u64>> = (0..left.threads.len()).map(|t| texts(left, t)).collect();
    let r: Vec<Vec<u64>> = (0..right.threads.len()).map(|t| texts(right, t)).collect();
    let mut candidates = Vec::new();
    for (i, a) in l.iter().enumerate() {
        for (j, b) in r.iter().enumerate() {
            if left.threads[i].signal != right.threads[j].signal {
                continue;
            }
            let common = lcs::longest(a, b, &mut 0).len();
            let distance = a.len() + b.len() - 2 * common;
            candidates.push((distance, i.abs_diff(j), i, j));
        }
    }
    candidates.sort_unstable();
    let mut partner_l = vec![None; l.len()];
    let mut partner_r = vec![None; r.len()];
    for (_, _, i, j) in candidates {
        if partner_l[i].is_none() && partner_r[j].is_none() {
            partner_l[i] = Some(j);
            partner_r[j] = Some(i);
        }
    }
    let mut pairs: Vec<_> = partner_l.iter().enumerate().map(|(i, j)| (Some(i), *j)).collect();
    pairs.extend(partner_r.iter().enumerate().filter(|(_, i)| i.is_none()).map(|(j, _)| (None, Some(j))));
    pairs
}

/// The number of functions that ran in both, and in at least one. `main` is not counted: any two programs
/// share it.
fn functions(left: &Trace, right: &Trace) -> (usize, usize) {
    use std::collections::HashSet;
    let names = |trace: &Trace| -> HashSet<u64> {
        let own = trace.methods.iter().skip(1).filter(|m| trace.names.text(m.name) != "main");
        own.map(|m| trace.names.hash(m.name)).collect()
    };
    let (l, r) = (names(left), names(right));
    (l.intersection(&r).count(), l.union(&r).count())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column::Budget;
    use crate::testing::{self, Said};
    use proptest::prelude::*;

    fn traces(l: &[Said], r: &[Said]) -> (Trace, Trace) {
        let budget = Budget::new(1 << 30);
        (testing::trace(l, &budget), testing::trace(r, &budget))
    }

    fn compared(l: &[Said], r: &[Said], settings: &Settings) -> Comparison {
        let (left, right) = traces(l, r);
        compare(&left, &right, settings).unwrap()
    }

    fn by_lcs(l: &[Said], r: &[Said]) -> Comparison {
        let (left, right) = traces(l, r);
        compare_by_lcs(&left, &right, u64::MAX).unwrap()
    }

    fn events(most: usize, values: u64) -> impl Strategy<Value = Vec<Said>> {
        proptest::collection::vec((0u32..3, 0u32..4, 0..values), 0..most)
    }

    /// Checks that each event has at most one partner, with an equal key, and that sequences contain exactly
    /// the events without a partner.
    fn check(l: &[Said], r: &[Said], c: &Comparison) -> std::result::Result<(), TestCaseError> {
        let m = &c.matching;
        for (i, partner) in m.right_of.iter().enumerate().filter(|p| *p.1 != NONE) {
            prop_assert_eq!(m.left_of[*partner as usize], i as u32);
            prop_assert_eq!(l[i].2, r[*partner as usize].2);
        }
        for (j, partner) in m.left_of.iter().enumerate().filter(|p| *p.1 != NONE) {
            prop_assert_eq!(m.right_of[*partner as usize], j as u32);
        }
        let in_sequences: u64 = c.sequences.iter().map(|s| s.left_count + s.right_count).sum();
        prop_assert_eq!(in_sequences, m.differences());
        for w in c.sequences.windows(2) {
            prop_assert!(w[0].left.end <= w[1].left.start && w[0].right.end <= w[1].right.start);
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn what_is_similar_is_a_matching(
            l in events(60, 6),
            r in events(60, 6),
            window in 2usize..20,
            relaxed: bool,
        ) {
            check(&l, &r, &compared(&l, &r, &Settings { window, relaxed, deadline: None }))?;
            check(&l, &r, &by_lcs(&l, &r))?;
        }

        #[test]
        fn an_insertion_costs_no_more_than_itself(
            l in events(80, 5),
            new in events(20, 5),
            at in 0usize..80,
            window in 2usize..20,
        ) {
            let at = at.min(l.len());
            let mut r = l.clone();
            r.splice(at..at, new.iter().copied());
            let settings = Settings { window, ..Settings::default() };
            let c = compared(&l, &r, &settings);
            check(&l, &r, &c)?;
            prop_assert!(c.matching.differences() <= new.len() as u64);
            let back = compared(&r, &l, &settings);
            prop_assert!(back.matching.differences() <= new.len() as u64);
        }

        #[test]
        fn small_runs_are_compared_as_well_as_by_the_baseline(l in events(40, 8), r in events(40, 8)) {
            let settings = Settings { window: 50, ..Settings::default() };
            let views = compared(&l, &r, &settings).matching.differences();
            let lcs = by_lcs(&l, &r).matching.differences();
            prop_assert!(views <= lcs, "{} > {}", views, lcs);
        }
    }

    #[test]
    fn changed_programs_are_compared_at_least_as_well_as_by_the_baseline() {
        let (mut logs, mut pairs) = (0.0, 0);
        for seed in 0..150 {
            let mut dice = testing::Dice(seed);
            let old = testing::Program::random(&mut dice);
            let mut new = old.clone();
            for _ in 0..=seed % 4 {
                new.change(&mut dice);
            }
            let (l, r) = (old.run(1500), new.run(1500));
            if l.len() < 50 || r.len() < 50 {
                continue;
            }
            let views = compared(&l, &r, &Settings::default());
            check(&l, &r, &views).unwrap();
            let lcs = by_lcs(&l, &r);
            let all = (l.len() + r.len()) as f64;
            let similar = |c: &Comparison| all - c.matching.differences() as f64;
            logs += (similar(&views).max(1.0) / similar(&lcs).max(1.0)).ln();
            pairs += 1;
        }
        let accuracy = (logs / f64::from(pairs)).exp();
        assert!(pairs > 40 && accuracy >= 1.0, "{accuracy} over {pairs} pairs");
    }

    #[test]
    fn what_has_moved_is_no_difference() {
        let part = |method, values: std::ops::Range<u64>| -> Vec<Said> {
            values.map(|v| (method, method, v)).collect()
        };
        let (a, b, c) = (part(1, 0..40), part(2, 100..110), part(3, 200..240));
        let l = [a.clone(), b.clone(), c.clone()].concat();
        let r = [b, a, c].concat();
        let settings = Settings { window: 8, ..Settings::default() };
        let moved = compared(&l, &r, &settings);
        assert_eq!(moved.matching.differences(), 0);
        assert!(!moved.matching.moved.is_empty());
        let blind = by_lcs(&l, &r);
        assert_eq!(blind.matching.differences(), 20);
    }

    #[test]
    fn a_long_insertion_does_not_lead_astray() {
        // Every third event is one of a few frequent ones.
        let event = |i: u64| (1, 1, if i.is_multiple_of(3) { i % 9 } else { 1000 + i });
        let l: Vec<Said> = (0..600).map(event).collect();
        let mut r = l.clone();
        r.splice(100..100, (5000..7000).map(event));
        r.splice(50..50, [(1, 1, 9_999)]);
        let c = compared(&l, &r, &Settings::default());
        assert_eq!(c.matching.differences(), 2001);
    }

    #[test]
    fn effort_grows_with_size_only() {
        let run = |n: u64, changed: u64| -> Vec<Said> {
            (0..n).map(|i| (1, 1, if i % 50 == 0 { i + changed } else { i % 1000 })).collect()
        };
        let effort = |n: u64| compared(&run(n, 0), &run(n, 1), &Settings::default()).matching.compared;
        let (small, large) = (effort(5_000), effort(40_000));
        assert!(large < 12 * small, "{small} and {large}");
    }

    #[test]
    fn the_baseline_refuses_what_takes_too_long() {
        let (left, right) = traces(&[(0, 0, 1); 5], &[(0, 0, 2); 5]);
        assert!(compare_by_lcs(&left, &right, 10).is_none());
        assert!(compare_by_lcs(&left, &right, 25).is_some());
    }
}
