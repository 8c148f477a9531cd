//! How much more often failed runs than passed ones execute a line.
//!
//! With a suite, the whole pool gives more evidence than its nearest run: code that mostly failing runs
//! execute is suspicious (Ochiai's coefficient, after Abreu, Zoeteweij and van Gemund, *On the Accuracy
//! of Spectrum-based Fault Localization*). Blocks are counted during the replay that each run needs
//! anyway, and so are branch edges: passing runs execute a wrong condition too, but not with the same
//! result. This order, that by correct output ([`crate::right_output`]) and that of the report are
//! combined by the sum of reciprocal ranks, so that a line near the top of any of them is near the top
//! of the result.

use crate::answer::SuspectLine;
use replay::process::LoadedProcess;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A part of the program that a run executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum CoverageItem {
    /// A basic block: module, function, block.
    Block(u32, u32, u32),
    /// The edge from a branch to a block: module, function, index of the branch, block.
    Way(u32, u32, u32, u32),
}

/// The parts that a run executed.
pub type Coverage = BTreeSet<CoverageItem>;

/// Minimum number of runs for a meaningful order.
const MIN_RUNS: u32 = 10;
/// Damping of the first ranks: the larger, the less they weigh.
const RANK_DAMPING: f64 = 6.0;
/// The weight of a large pool's order, relative to that of the report, which is from one pair of runs.
/// A pool of `HALF` runs has half this weight.
const POOL_WEIGHT: f64 = 3.0;
const HALF: f64 = 30.0;
/// The weight of the order by correct output if there is no pool; half of it with a pool of weight 2.
const RIGHT: f64 = 3.0;

/// A coefficient by line; absent lines have none.
pub type Suspicion = BTreeMap<(String, u32), f64>;

/// How often runs of the pool and the failing run executed each part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    failed: u32,
    passed: u32,
    parts: BTreeMap<CoverageItem, (u32, u32)>,
}

impl Counts {
    /// Counts one run.
    pub fn add(&mut self, coverage: &Coverage, passed: bool) {
        if passed {
            self.passed += 1;
        } else {
            self.failed += 1;
        }
        for part in coverage {
            let (failed, of_passed) = self.parts.entry(*part).or_default();
            if passed {
                *of_passed += 1;
            } else {
                *failed += 1;
            }
        }
    }

    /// Adds the runs of another pool.
    pub fn join(&mut self, other: Counts) {
        self.failed += other.failed;
        self.passed += other.passed;
        for (part, (failed, passed)) in other.parts {
            let counts = self.parts.entry(part).or_default();
            counts.0 += failed;
            counts.1 += passed;
        }
    }

    fn ochiai(&self, part: CoverageItem) -> f64 {
        let (failed, passed) = self.parts.get(&part).copied().unwrap_or_default();
        ochiai(failed, passed, self.failed)
    }

    /// The suspicion of each line that the failing run executed: the maximum over its blocks and the branch
    /// edges from it.
    #[must_use]
    pub fn lines(
        &self,
        process: &LoadedProcess,
        failing: &Coverage,
        relative: &dyn Fn(&str) -> String,
    ) -> Suspicion {
        let mut lines = Suspicion::new();
        for &part in failing {
            let suspicion = self.ochiai(part);
            let (CoverageItem::Block(module, function, _) | CoverageItem::Way(module, function, ..)) = part;
            let model = process.image.module(module);
            let body = &model.functions[function as usize];
            let code = match part {
                CoverageItem::Block(_, _, block) => {
                    body.blocks.get(block as usize).map(|code| code.start..code.end)
                }
                CoverageItem::Way(_, _, index, _) => Some(index..index + 1),
            };
            for index in code.into_iter().flatten() {
                let place = body.place(index as usize);
                if place.line > 0 {
                    let known =
                        lines.entry((relative(&model.file_path(place.file)), place.line)).or_default();
                    *known = known.max(suspicion);
                }
            }
        }
        lines
    }

    /// The weight of the order by these runs; `None` if they are too few, or all passed or all failed.
    #[must_use]
    pub fn weight(&self) -> Option<f64> {
        let runs = self.failed + self.passed;
        let is_enough = self.failed > 0 && self.passed > 0 && runs >= MIN_RUNS;
        is_enough.then(|| POOL_WEIGHT * f64::from(runs) / (f64::from(runs) + HALF))
    }
}

/// Ochiai's coefficient of a part that `failed` and `passed` runs executed, with `all_failed` failed runs in
/// all.
#[must_use]
pub fn ochiai(failed: u32, passed: u32, all_failed: u32) -> f64 {
    let all = f64::from(all_failed) * f64::from(failed + passed);
    if all == 0.0 { 0.0 } else { f64::from(failed) / all.sqrt() }
}

/// Combines the order of the report with that by the pool, with its weight, and that by correct output,
/// unless that is empty.
pub fn join(lines: &mut [SuspectLine], pool: Option<(f64, &Suspicion)>, right: &Suspicion) {
    let mut weights: Vec<f64> = (0..lines.len()).map(|n| 1.0 / (RANK_DAMPING + n as f64)).collect();
    if let Some((weight, pool)) = pool {
        for line in lines.iter_mut() {
            line.suspicion = Some(of(line, pool));
        }
        weigh(&mut weights, lines, pool, weight);
    }
    if !right.is_empty() {
        weigh(&mut weights, lines, right, RIGHT / (1.0 + pool.map_or(0.0, |(weight, _)| weight) / 2.0));
    }
    let mut weighed: Vec<(f64, SuspectLine)> = weights.into_iter().zip(lines.iter().cloned()).collect();
    // Stable sort: ties keep the order of the report.
    weighed.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (place, (_, line)) in lines.iter_mut().zip(weighed) {
        *place = line;
    }
}

fn of(line: &SuspectLine, suspicion: &Suspicion) -> f64 {
    suspicion.get(&(line.place.file.clone(), line.place.line)).copied().unwrap_or_default()
}

/// Adds the reciprocal rank of each line: below all more suspicious lines, and in the middle of equally
/// suspicious ones.
fn weigh(weights: &mut [f64], lines: &[SuspectLine], suspicion: &Suspicion, weight: f64) {
    let all: Vec<f64> = lines.iter().map(|line| of(line, suspicion)).collect();
    for (sum, own) in weights.iter_mut().zip(&all) {
        let above = all.iter().filter(|other| *other > own).count() as f64;
        let same = all.iter().filter(|other| *other == own).count() as f64;
        *sum += weight / (RANK_DAMPING + above + (same - 1.0) / 2.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use explain::answer::Place;

    fn line(line: u32) -> SuspectLine {
        SuspectLine {
            place: Place { file: "a.c".to_owned(), line, ..Place::default() },
            why: "slice".to_owned(),
            ..SuspectLine::default()
        }
    }

    #[test]
    fn blocks_of_failed_runs_are_suspicious() {
        let mut counts = Counts::default();
        let block = |number| CoverageItem::Block(0, 0, number);
        counts.add(&Coverage::from([block(0), block(1), CoverageItem::Way(0, 0, 4, 1)]), false);
        counts.add(&Coverage::from([block(0), block(2), CoverageItem::Way(0, 0, 4, 2)]), true);
        assert_eq!(counts.weight(), None);
        assert!(counts.ochiai(block(1)) > counts.ochiai(block(0)));
        // Both ran the branch, but with different directions.
        assert!(counts.ochiai(CoverageItem::Way(0, 0, 4, 1)) > counts.ochiai(block(0)));
        assert_eq!(counts.ochiai(block(2)), 0.0);
        assert_eq!(counts.ochiai(block(9)), 0.0);
    }

    #[test]
    fn more_runs_weigh_more() {
        let mut counts = Counts::default();
        let mut weight = |runs: u32| {
            (0..runs).for_each(|run| counts.add(&Coverage::new(), run > 0));
            counts.weight()
        };
        let few = weight(10);
        assert!(few.is_some() && few < weight(100));
    }

    #[test]
    fn all_orders_count() {
        let of = |list: &[(u32, f64)]| list.iter().map(|(n, s)| (("a.c".to_owned(), *n), *s)).collect();
        let joined = |lines: [u32; 3], pool: Option<(f64, &Suspicion)>, right: &Suspicion| {
            let mut lines = lines.map(line);
            join(&mut lines, pool, right);
            lines.map(|l| l.place.line)
        };
        let none = Suspicion::new();
        // The pool weighs more than the report.
        let pool: Suspicion = of(&[(1, 0.1), (2, 0.9), (3, 0.2)]);
        assert_eq!(joined([1, 2, 3], Some((3.0, &pool)), &none), [2, 3, 1]);
        // Equally suspicious: the report's order decides.
        let pool: Suspicion = of(&[(1, 0.1), (2, 0.9), (3, 0.9)]);
        assert_eq!(joined([1, 2, 3], Some((3.0, &pool)), &none), [2, 3, 1]);
        // What right output needs too is less suspicious.
        let right: Suspicion = of(&[(1, 0.3), (2, 1.0), (3, 0.3)]);
        assert_eq!(joined([1, 2, 3], None, &right), [2, 1, 3]);
        // Nothing is known: the report's own order.
        assert_eq!(joined([3, 1, 2], None, &none), [3, 1, 2]);
    }
}
