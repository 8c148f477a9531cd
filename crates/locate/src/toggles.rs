//! Sets of branches to negate, in the order of the differences they make.
//!
//! The order of path generation (Wang, *Post-mortem dynamic analysis for software debugging*, section 6.3):
//! the last branch alone, then with an earlier one, and so on. Steps that are control dependent on a branch
//! are not executed when it takes another direction, so the two are never negated together. Without a result
//! this is exponential in the number of branches; the caller limits the time.

/// The steps that are control dependent on a branch: from the branch itself up to where its successors join
/// again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// The step of the branch.
    pub from: u64,
    /// Exclusive.
    pub to: u64,
}

impl Region {
    /// Whether a later step depends on the branch.
    #[must_use]
    pub fn holds(&self, step: u64) -> bool {
        self.from < step && step < self.to
    }
}

/// How to continue after a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Continuation {
    /// Try the set with further, earlier branches.
    Deeper,
    /// No earlier branch can help.
    Prune,
    /// End the enumeration.
    Stop,
}

/// Maximum number of branches that are negated together.
const MOST: usize = 6;

/// Visits the sets as positions in `regions`, which are in execution order. Returns whether a visit stopped
/// it.
pub fn enumerate(regions: &[Region], visit: &mut dyn FnMut(&[usize]) -> Continuation) -> bool {
    extend(regions, regions.len(), &[], visit)
}

fn extend(
    regions: &[Region],
    before: usize,
    turned: &[usize],
    visit: &mut dyn FnMut(&[usize]) -> Continuation,
) -> bool {
    for branch in (0..before).rev() {
        if turned.iter().any(|later| regions[branch].holds(regions[*later].from)) {
            continue;
        }
        let mut set = vec![branch];
        set.extend(turned);
        match visit(&set) {
            Continuation::Stop => return true,
            Continuation::Prune => {}
            Continuation::Deeper if set.len() == MOST => {}
            Continuation::Deeper => {
                if extend(regions, branch, &set, visit) {
                    return true;
                }
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::difference::Difference;
    use proptest::prelude::*;

    fn sets(regions: &[Region], most: usize) -> Vec<Vec<usize>> {
        let mut sets = Vec::new();
        enumerate(regions, &mut |set| {
            sets.push(set.to_vec());
            if sets.len() < most { Continuation::Deeper } else { Continuation::Stop }
        });
        sets
    }

    /// F14: `if (1) 2; if (3) 4; if (5) { if (6) 7; else 9; } 10` with the path 1 3 5 6 7 10.
    #[test]
    fn f14_is_enumerated_as_in_the_table() {
        let region = |from, to| Region { from, to };
        let regions = [region(1, 2), region(2, 3), region(3, 6), region(4, 6)];
        let named: Vec<Vec<u32>> =
            sets(&regions, 100).iter().map(|set| set.iter().map(|at| [1, 3, 5, 6][*at]).collect()).collect();
        let table: [&[u32]; 11] =
            [&[6], &[3, 6], &[1, 3, 6], &[1, 6], &[5], &[3, 5], &[1, 3, 5], &[1, 5], &[3], &[1, 3], &[1]];
        assert_eq!(named, table);
    }

    #[test]
    fn nothing_is_added_to_a_pruned_set() {
        let regions: Vec<Region> = (0..3).map(|n| Region { from: n, to: n + 1 }).collect();
        let mut seen = Vec::new();
        enumerate(&regions, &mut |set| {
            seen.push(set.to_vec());
            if set == [2] { Continuation::Prune } else { Continuation::Deeper }
        });
        assert_eq!(seen, [vec![2], vec![1], vec![0, 1], vec![0]]);
    }

    proptest! {
        #[test]
        fn sets_come_in_increasing_order_of_difference(ends in prop::collection::vec(1u64..6, 0..9)) {
            // Regions nest, as those of structured code do.
            let mut regions: Vec<Region> = Vec::new();
            for (from, length) in ends.into_iter().enumerate() {
                let from = from as u64;
                let outer = regions.iter().filter(|r| r.holds(from)).map(|r| r.to).min();
                regions.push(Region { from, to: (from + length).min(outer.unwrap_or(u64::MAX)) });
            }
            let sets = sets(&regions, 500);
            let differences: Vec<Difference> =
                sets.iter().map(|set| Difference::of(set.iter().map(|n| *n as u32).collect())).collect();
            prop_assert!(differences.windows(2).all(|pair| pair[0] < pair[1]));
        }
    }
}
