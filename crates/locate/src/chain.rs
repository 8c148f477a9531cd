//! Chains of control dependence, hash-consed: they determine which events of two runs correspond.
//!
//! Definition 6.1 of Wang (*Post-mortem dynamic analysis for software debugging*, 2007): two events are
//! aligned if they execute the same statement and the events they are control dependent on are aligned; first
//! events are aligned if their statements are equal. So the chain of its control-dependence ancestors
//! identifies an event. Chains are interned: one table lookup per event, and equal chains have equal numbers.
//!
//! A chain may occur twice in a run, for example for two calls from one line. An ordinal distinguishes them,
//! so that an event has at most one partner.
//!
//! Recorded runs already have such identifiers, made of the loops and calls around an instruction
//! ([`symbolic::index`]); in code with structured control flow these give the same alignments.

use std::collections::HashMap;

/// A chain; it has the same number in all runs that share the [`Chains`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChainId(pub u32);

/// An executed statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The number of the statement in the program.
    pub statement: u32,
    /// Position of the event it is control dependent on, which is earlier; `None` at the top level.
    pub depends_on: Option<usize>,
    /// The direction taken, if it is a branch.
    pub outcome: Option<u32>,
}

/// The table of chains.
#[derive(Clone, Debug, Default)]
pub struct Chains {
    /// By statement, parent chain, and ordinal.
    known: HashMap<(u32, Option<ChainId>, u32), ChainId>,
}

impl Chains {
    /// The chain of each event of a run.
    pub fn of(&mut self, run: &[Event]) -> Vec<ChainId> {
        let mut chains: Vec<ChainId> = Vec::with_capacity(run.len());
        let mut seen: HashMap<(u32, Option<ChainId>), u32> = HashMap::new();
        for event in run {
            let parent = event.depends_on.and_then(|at| chains.get(at).copied());
            let ordinal = seen.entry((event.statement, parent)).or_default();
            let next = ChainId(self.known.len() as u32);
            chains.push(*self.known.entry((event.statement, parent, *ordinal)).or_insert(next));
            *ordinal += 1;
        }
        chains
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Random runs of a statement tree; parents are earlier events.
    fn run() -> impl Strategy<Value = Vec<Event>> {
        prop::collection::vec((0u32..4, any::<prop::sample::Index>(), any::<bool>(), 0u32..2), 0..40)
            .prop_map(|drawn| {
                let mut events = Vec::new();
                for (at, (statement, parent, top, outcome)) in drawn.into_iter().enumerate() {
                    let depends_on = (at > 0 && !top).then(|| parent.index(at));
                    events.push(Event { statement, depends_on, outcome: Some(outcome) });
                }
                events
            })
    }

    /// The literal definition, with the ordinal among events that it does not distinguish.
    fn aligned(one: &[Event], other: &[Event], a: usize, b: usize) -> bool {
        let hang_alike = match (one[a].depends_on, other[b].depends_on) {
            (None, None) => true,
            (Some(a), Some(b)) => aligned(one, other, a, b),
            _ => false,
        };
        one[a].statement == other[b].statement && hang_alike && ordinal(one, a) == ordinal(other, b)
    }

    fn ordinal(run: &[Event], at: usize) -> usize {
        let same = |other: &usize| {
            run[*other].statement == run[at].statement && run[*other].depends_on == run[at].depends_on
        };
        (0..at).filter(same).count()
    }

    proptest! {
        #[test]
        fn chains_align_what_the_definition_aligns(one in run(), other in run()) {
            let mut chains = Chains::default();
            let (a, b) = (chains.of(&one), chains.of(&other));
            for (i, ours) in a.iter().enumerate() {
                let partners = (0..other.len()).filter(|j| aligned(&one, &other, i, *j)).count();
                prop_assert!(partners <= 1);
                for (j, theirs) in b.iter().enumerate() {
                    prop_assert_eq!(ours == theirs, aligned(&one, &other, i, j));
                }
            }
        }
    }
}
