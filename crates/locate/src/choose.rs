//! The nearest run of a pool, without exact comparison of all runs.
//!
//! A run's [`Signature`](crate::branches::Signature) gives a lower bound of its difference. A run whose bound
//! is not smaller than the best difference so far need not be compared; the choice is the same as if it were.
//! Among equal differences the first run of the pool is chosen, in whatever order runs are offered, so that
//! parallel workers get the same choice.

use crate::difference::Difference;

/// The best run so far.
#[derive(Clone, Debug, Default)]
pub struct Nearest {
    best: Option<(Difference, usize)>,
}

impl Nearest {
    /// Whether a run with this bound could still be chosen.
    #[must_use]
    pub fn could_be_nearest(&self, bound: &Difference, run: usize) -> bool {
        self.best.as_ref().is_none_or(|(best, chosen)| (bound, run) < (best, *chosen))
    }

    /// Takes the run if it is nearer. Returns whether it is.
    pub fn offer(&mut self, difference: Difference, run: usize) -> bool {
        let nearer = self.could_be_nearest(&difference, run);
        if nearer {
            self.best = Some((difference, run));
        }
        nearer
    }

    /// The smallest difference offered so far, and the number of its run.
    #[must_use]
    pub fn best(&self) -> Option<(&Difference, usize)> {
        self.best.as_ref().map(|(difference, run)| (difference, *run))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::branches::{Branches, Signature};
    use crate::chain::{Chains, Event};
    use proptest::prelude::*;

    /// Runs of one program: all statements but the first are branches that depend on the first event or on an
    /// earlier branch.
    fn run() -> impl Strategy<Value = Vec<Event>> {
        prop::collection::vec((0u32..5, any::<prop::sample::Index>(), 0u32..2), 1..25).prop_map(|drawn| {
            let mut events = vec![Event { statement: 9, depends_on: None, outcome: None }];
            for (statement, parent, outcome) in drawn {
                let depends_on = Some(parent.index(events.len()));
                events.push(Event { statement, depends_on, outcome: Some(outcome) });
            }
            events
        })
    }

    proptest! {
        #[test]
        fn bounded_choice_is_the_choice_of_comparing_all(
            failing in run(),
            pool in prop::collection::vec(run(), 0..12),
            order in any::<u64>(),
            most in 1usize..30,
        ) {
            let mut chains = Chains::default();
            let branches = Branches::of_events(&failing, &mut chains, most);
            let all: Vec<Difference> =
                pool.iter().map(|run| branches.compare_events(run, &mut chains)).collect();
            // Of a long run, the end is compared.
            let whole = Branches::of_events(&failing, &mut chains, usize::MAX);
            let dropped = (whole.events().count() - branches.events().count()) as u32;
            prop_assert!(branches.events().eq(whole.events().skip(dropped as usize)));
            for (run, difference) in pool.iter().zip(&all) {
                let of_whole = whole.compare_events(run, &mut chains);
                let kept = of_whole.positions().iter().filter_map(|position| position.checked_sub(dropped));
                prop_assert_eq!(difference, &Difference::of(kept.collect()));
            }
            let expected = all.iter().cloned().enumerate().map(|(n, d)| (d, n)).min();
            let mut visits: Vec<usize> = (0..pool.len()).collect();
            visits.sort_by_key(|n| (*n as u64 + 1).wrapping_mul(order | 1));
            let mut nearest = Nearest::default();
            for n in visits {
                let mut signature = Signature::default();
                for event in &pool[n] {
                    if let Some(to) = event.outcome {
                        signature.see((0, 0, event.statement), to);
                    }
                }
                let bound = branches.bound(&signature);
                prop_assert!(bound <= all[n]);
                if nearest.could_be_nearest(&bound, n) {
                    nearest.offer(all[n].clone(), n);
                }
            }
            prop_assert_eq!(nearest.best().map(|(d, n)| (d.clone(), n)), expected);
        }
    }
}
