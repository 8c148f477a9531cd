//! How much more often failed runs than passed ones execute a line.
//!
//! With a suite the pool says more than its nearest run: code that mostly failed runs execute is
//! suspicious (Ochiai's coefficient, after Abreu, Zoeteweij and van Gemund, *On the Accuracy of
//! Spectrum-based Fault Localization*). Blocks are counted in the replay that a run gets anyway, and so
//! are the ways that branches went: a wrong condition is executed by passing runs too, but not with the
//! same result. The order that this gives and that of the report are joined by the sum of reciprocal
//! ranks, so that a line which is near the top of either is near the top of both together.

use crate::answer::SuspectLine;
use replay::process::LoadedProcess;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A part of the program that a run executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Part {
    /// A basic block: module, function, block.
    Block(u32, u32, u32),
    /// The edge from a branch to a block: module, function, index of the branch, block.
    Way(u32, u32, u32, u32),
}

/// The parts that a run executed.
pub type Coverage = BTreeSet<Part>;

/// Minimum number of runs for a meaningful order.
const LEAST_RUNS: u32 = 10;
/// Damping of the first ranks: the larger, the less they weigh.
const FLATTEN: f64 = 6.0;
/// How much more the pool's order weighs than that of the report, which is from one pair of runs.
const POOL: f64 = 3.0;

/// How often runs of the pool and the failing run executed each part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    failed: u32,
    passed: u32,
    parts: BTreeMap<Part, (u32, u32)>,
}

impl Counts {
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

    fn ochiai(&self, part: Part) -> f64 {
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
    ) -> BTreeMap<(String, u32), f64> {
        let mut lines: BTreeMap<(String, u32), f64> = BTreeMap::new();
        for &part in failing {
            let suspicion = self.ochiai(part);
            let (Part::Block(module, function, _) | Part::Way(module, function, ..)) = part;
            let model = process.image.module(module);
            let body = &model.functions[function as usize];
            let code = match part {
                Part::Block(_, _, block) => body.blocks.get(block as usize).map(|code| code.start..code.end),
                Part::Way(_, _, index, _) => Some(index..index + 1),
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

    /// Whether there are enough runs of both kinds to say something.
    #[must_use]
    pub fn says_something(&self) -> bool {
        self.failed > 0 && self.passed > 0 && self.failed + self.passed >= LEAST_RUNS
    }
}

/// Ochiai's coefficient of a part that `failed` and `passed` runs executed, with `all_failed` failed runs in
/// all.
#[must_use]
pub fn ochiai(failed: u32, passed: u32, all_failed: u32) -> f64 {
    let all = f64::from(all_failed) * f64::from(failed + passed);
    if all == 0.0 { 0.0 } else { f64::from(failed) / all.sqrt() }
}

/// Joins the order of the report with that of suspicion.
pub fn join(lines: &mut [SuspectLine], suspicion: &BTreeMap<(String, u32), f64>) {
    let of = |line: &SuspectLine| {
        suspicion.get(&(line.place.file.clone(), line.place.line)).copied().unwrap_or_default()
    };
    let all: Vec<f64> = lines.iter().map(of).collect();
    // Behind all that are more suspicious, in the middle of those that are equally so.
    let rank = |own: f64| {
        let above = all.iter().filter(|other| **other > own).count() as f64;
        let same = all.iter().filter(|other| **other == own).count() as f64;
        above + (same - 1.0) / 2.0
    };
    for (line, suspicion) in lines.iter_mut().zip(&all) {
        line.suspicion = Some(*suspicion);
    }
    let mut weighed: Vec<(f64, SuspectLine)> = Vec::with_capacity(lines.len());
    for (n, line) in lines.iter().enumerate() {
        let weight = 1.0 / (FLATTEN + n as f64) + POOL / (FLATTEN + rank(all[n]));
        weighed.push((weight, line.clone()));
    }
    // Stable: equals stay in the order of the report.
    weighed.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (place, (_, line)) in lines.iter_mut().zip(weighed) {
        *place = line;
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
        let block = |number| Part::Block(0, 0, number);
        counts.add(&Coverage::from([block(0), block(1), Part::Way(0, 0, 4, 1)]), false);
        counts.add(&Coverage::from([block(0), block(2), Part::Way(0, 0, 4, 2)]), true);
        assert!(!counts.says_something());
        assert!(counts.ochiai(block(1)) > counts.ochiai(block(0)));
        // Both ran the branch, but with different directions.
        assert!(counts.ochiai(Part::Way(0, 0, 4, 1)) > counts.ochiai(block(0)));
        assert_eq!(counts.ochiai(block(2)), 0.0);
        assert_eq!(counts.ochiai(block(9)), 0.0);
    }

    #[test]
    fn both_orders_count_and_that_of_the_pool_more() {
        let mut lines = [line(1), line(2), line(3)];
        let suspicion = [(1, 0.1), (2, 0.9), (3, 0.2)].map(|(n, s)| (("a.c".to_owned(), n), s));
        join(&mut lines, &suspicion.into());
        assert_eq!(lines.map(|l| l.place.line), [2, 3, 1]);
        // Equally suspicious: the report's order decides.
        let mut lines = [line(1), line(2), line(3)];
        let suspicion = [(1, 0.1), (2, 0.9), (3, 0.9)].map(|(n, s)| (("a.c".to_owned(), n), s));
        join(&mut lines, &suspicion.into());
        assert_eq!(lines.map(|l| l.place.line), [2, 3, 1]);
        // Nothing is known: the report's own order.
        let mut lines = [line(3), line(1), line(2)];
        join(&mut lines, &BTreeMap::new());
        assert_eq!(lines.map(|l| l.place.line), [3, 1, 2]);
    }
}
