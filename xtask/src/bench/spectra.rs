//! Other methods of fault localisation, from the executed lines of the same runs: formulas of spectrum-based
//! localisation, and the nearest neighbour by permutation spectrum (Renieris and Reiss, *Fault Localization
//! With Nearest Neighbor Queries*).

use serde_json::Value;
use std::collections::BTreeMap;

/// The executed lines of a run, with execution counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spectrum {
    pub passed: bool,
    pub lines: BTreeMap<u64, u64>,
}

/// Reads the lines of a file, given by a suffix of its path, from the output of `relapse dump lines --json`.
pub fn read(json: &Value, file: &str, passed: bool) -> Spectrum {
    let lines = json["lines"].as_array().into_iter().flatten().filter_map(|line| {
        let is_of_file = line["file"].as_str().is_some_and(|path| path.ends_with(file));
        is_of_file.then_some((line["line"].as_u64()?, line["count"].as_u64()?))
    });
    Spectrum { passed, lines: lines.collect() }
}

/// A formula: the failed and passed runs that executed the line, and the numbers of failed and passed runs.
pub type Formula = fn(f64, f64, f64, f64) -> f64;

/// The formulas by name.
pub const FORMULAS: &[(&str, Formula)] = &[
    ("Ochiai", |ef, ep, failed, _| ratio(ef, (failed * (ef + ep)).sqrt())),
    (
        "DStar",
        |ef, ep, failed, _| if ep + failed - ef == 0.0 { f64::MAX } else { ef * ef / (ep + failed - ef) },
    ),
    ("Tarantula", |ef, ep, failed, passed| {
        let (of_failed, of_passed) = (ratio(ef, failed), ratio(ep, passed));
        ratio(of_failed, of_failed + of_passed)
    }),
    ("Barinel", |ef, ep, _, _| ratio(ef, ef + ep)),
];

fn ratio(a: f64, b: f64) -> f64 {
    if b == 0.0 { 0.0 } else { a / b }
}

/// The mean rank of a line by a formula: after all more suspicious lines, in the middle of the equally
/// suspicious ones. `None` if no failed run executed it.
pub fn rank(runs: &[Spectrum], formula: Formula, line: u64) -> Option<f64> {
    let count = |passed: bool, line: u64| {
        runs.iter().filter(|run| run.passed == passed && run.lines.contains_key(&line)).count() as f64
    };
    let of = |passed: bool| runs.iter().filter(|run| run.passed == passed).count() as f64;
    let (failed, passed) = (of(false), of(true));
    let suspicion = |line: u64| formula(count(false, line), count(true, line), failed, passed);
    if count(false, line) == 0.0 {
        return None;
    }
    let own = suspicion(line);
    let lines: std::collections::BTreeSet<u64> =
        runs.iter().flat_map(|run| run.lines.keys().copied()).collect();
    let others = lines.iter().filter(|other| **other != line).map(|other| suspicion(*other));
    let (mut above, mut same) = (0.0, 0.0);
    for other in others {
        above += f64::from(other > own);
        same += f64::from(other == own);
    }
    Some(above + same / 2.0 + 1.0)
}

/// All lines that failed runs executed, the most suspicious by a formula first.
pub fn ranking(runs: &[Spectrum], formula: Formula) -> Vec<u64> {
    let failed = runs.iter().filter(|run| !run.passed);
    let lines: std::collections::BTreeSet<u64> = failed.flat_map(|run| run.lines.keys().copied()).collect();
    let mut ranked: Vec<(f64, u64)> =
        lines.into_iter().filter_map(|line| Some((rank(runs, formula, line)?, line))).collect();
    ranked.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    ranked.into_iter().map(|(_, line)| line).collect()
}

/// The lines in which the nearest passing run's permutation differs. A permutation sorts lines by execution
/// count; the distance is the number of lines that must be moved.
pub fn nearest_neighbour(runs: &[Spectrum]) -> Option<Vec<u64>> {
    let (failing, others) = runs.split_first()?;
    let all: std::collections::BTreeSet<u64> =
        runs.iter().flat_map(|run| run.lines.keys().copied()).collect();
    let permutation = |run: &Spectrum| {
        let mut lines: Vec<u64> = all.iter().copied().collect();
        lines.sort_by_key(|line| (run.lines.get(line).copied().unwrap_or(0), *line));
        lines
    };
    let own = permutation(failing);
    let position: BTreeMap<u64, usize> = own.iter().enumerate().map(|(n, line)| (*line, n)).collect();
    let moved = |run: &Spectrum| {
        let other: Vec<usize> = permutation(run).iter().map(|line| position[line]).collect();
        let kept: std::collections::BTreeSet<usize> = increasing(&other).into_iter().collect();
        own.iter().enumerate().filter(|(n, _)| !kept.contains(n)).map(|(_, line)| *line).collect::<Vec<u64>>()
    };
    others.iter().filter(|run| run.passed).map(moved).min_by_key(Vec::len)
}

/// A longest increasing subsequence; of a permutation, the longest common subsequence with the sorted order.
fn increasing(sequence: &[usize]) -> Vec<usize> {
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = vec![None; sequence.len()];
    for (at, value) in sequence.iter().enumerate() {
        let place = ends.partition_point(|end| sequence[*end] < *value);
        before[at] = place.checked_sub(1).map(|p| ends[p]);
        if place == ends.len() {
            ends.push(at);
        } else {
            ends[place] = at;
        }
    }
    let mut list = Vec::new();
    let mut at = ends.last().copied();
    while let Some(n) = at {
        list.push(sequence[n]);
        at = before[n];
    }
    list.reverse();
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(passed: bool, lines: &[(u64, u64)]) -> Spectrum {
        Spectrum { passed, lines: lines.iter().copied().collect() }
    }

    #[test]
    fn a_line_that_only_failed_runs_execute_is_first_by_all_formulas() {
        let runs =
            [run(false, &[(1, 1), (2, 1), (3, 1)]), run(true, &[(1, 1), (2, 1)]), run(true, &[(1, 1)])];
        for (name, formula) in FORMULAS {
            assert_eq!(rank(&runs, *formula, 3), Some(1.0), "{name}");
            assert_eq!(rank(&runs, *formula, 1), Some(3.0), "{name}");
            assert_eq!(rank(&runs, *formula, 9), None, "{name}");
        }
    }

    /// F16: a permutation spectrum does not contain the order in which lines ran.
    #[test]
    fn f16_runs_in_another_order_have_no_distance() {
        let runs = [run(false, &[(1, 3), (2, 1), (3, 1)]), run(true, &[(1, 3), (2, 1), (3, 1)])];
        assert_eq!(nearest_neighbour(&runs), Some(Vec::new()));
    }

    #[test]
    fn the_neighbour_with_fewest_moves_is_chosen() {
        let runs = [
            run(false, &[(1, 1), (2, 2), (3, 3)]),
            run(true, &[(1, 3), (2, 2), (3, 1)]),
            run(true, &[(1, 1), (2, 4), (3, 3)]),
        ];
        assert_eq!(nearest_neighbour(&runs).map(|lines| lines.len()), Some(1));
        assert_eq!(increasing(&[3, 1, 2, 5, 4]), [1, 2, 4]);
    }

    #[test]
    fn the_lines_of_one_file_are_read() {
        let json = serde_json::json!({ "lines": [
            { "file": "/x/a.c", "line": 3, "count": 2 }, { "file": "/x/b.h", "line": 1, "count": 1 },
        ]});
        assert_eq!(read(&json, "/a.c", false), run(false, &[(3, 2)]));
    }

    #[test]
    fn the_ranking_has_what_only_failed_runs_execute_first() {
        let runs = [run(false, &[(1, 1), (3, 1)]), run(true, &[(1, 1), (2, 1)])];
        assert_eq!(ranking(&runs, FORMULAS[0].1), [3, 1]);
    }
}
