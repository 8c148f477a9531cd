//! The difference between a failing run and another one, and the order of differences.
//!
//! Definitions 6.2 and 6.3 of Wang (*Post-mortem dynamic analysis for software debugging*, 2007). The
//! difference is the list of branch events of the failing run whose aligned event in the other run took
//! another direction. It is not symmetric. Differences are compared from the end, without weights: events
//! close to the failure matter more, since early differences are often validation of input. A run with the
//! same control flow gives no information about branches and is preferred least.

use std::cmp::Ordering;

/// Positions in the failing run's list of branch events, in execution order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// At least one.
    Toggled(Vec<u32>),
    /// The same control flow up to the failure.
    Same,
}

impl Difference {
    /// From positions in any order.
    #[must_use]
    pub fn of(mut positions: Vec<u32>) -> Difference {
        positions.sort_unstable();
        positions.dedup();
        if positions.is_empty() { Difference::Same } else { Difference::Toggled(positions) }
    }

    /// The positions; none for the same control flow.
    #[must_use]
    pub fn positions(&self) -> &[u32] {
        match self {
            Difference::Toggled(positions) => positions,
            Difference::Same => &[],
        }
    }
}

impl Ord for Difference {
    /// A run nearer to the failing one is smaller.
    fn cmp(&self, other: &Difference) -> Ordering {
        let (one, other) = match (self, other) {
            (Difference::Same, Difference::Same) => return Ordering::Equal,
            (Difference::Same, _) => return Ordering::Greater,
            (_, Difference::Same) => return Ordering::Less,
            (Difference::Toggled(one), Difference::Toggled(other)) => (one, other),
        };
        // Before the common suffix, the one whose last event is later is nearer.
        let parts = one.iter().rev().zip(other.iter().rev()).find(|(a, b)| a != b);
        parts.map_or_else(|| one.len().cmp(&other.len()), |(a, b)| b.cmp(a))
    }
}

impl PartialOrd for Difference {
    fn partial_cmp(&self, other: &Difference) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn difference() -> impl Strategy<Value = Difference> {
        prop::collection::vec(0u32..6, 0..5).prop_map(Difference::of)
    }

    /// The literal definition 6.3.
    fn less(one: &[u32], other: &[u32]) -> bool {
        let common = one.iter().rev().zip(other.iter().rev()).take_while(|(a, b)| a == b).count();
        if common == one.len() {
            return one.len() < other.len();
        }
        common < other.len() && one[one.len() - 1 - common] > other[other.len() - 1 - common]
    }

    proptest! {
        #[test]
        fn comparison_is_a_total_preorder(a in difference(), b in difference(), c in difference()) {
            prop_assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
            prop_assert_eq!(a.cmp(&b) == Ordering::Equal, a == b);
            if a <= b && b <= c {
                prop_assert!(a <= c);
            }
            if let (Difference::Toggled(x), Difference::Toggled(y)) = (&a, &b) {
                prop_assert_eq!(a < b, less(x, y));
            }
        }
    }

    #[test]
    fn equal_control_flow_is_preferred_least() {
        assert!(Difference::of(vec![0, 1, 2]) < Difference::Same);
        assert!(Difference::of(vec![4]) < Difference::of(vec![3, 4]));
        assert!(Difference::of(vec![1, 5]) < Difference::of(vec![4]));
    }
}
