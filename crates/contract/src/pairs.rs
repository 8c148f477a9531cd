//! Determines which calls of two runs are compared with each other.
//!
//! Calls with the same execution index come first. A contract is about states, not about points in time: two
//! calls that begin in equal states are a pair at any position. So calls without a partner, or whose partner
//! has another entry state, are then paired by entry state, in order, but only if the function depends on
//! nothing else, such as input.

use crate::judge::have_equal_entry_states;
use crate::moment::{Pair, Run};
use crate::state::Root;
use crate::version::{ObservedFunction, Version};
use crate::watch::Call;
use std::collections::HashMap;

/// Maximum number of comparisons of entry states for calls without a partner.
const MAX_TRIES: usize = 20_000;

/// One version's calls of a function.
pub struct Calls<'p, 'm> {
    /// The program of the calls.
    pub version: &'p Version<'m>,
    /// The functions of this name.
    pub watched: &'p [(usize, ObservedFunction<'m>)],
    /// The calls in the order of their first steps.
    pub calls: Vec<&'p Call<'m>>,
    /// The global variables that belong to their states.
    pub globals: &'p [Root<'m>],
}

impl<'p, 'm> Calls<'p, 'm> {
    fn run(&self, call: &'p Call<'m>) -> Option<Run<'p, 'm>> {
        let (_, watched) = self.watched.iter().find(|(number, _)| *number == call.function)?;
        Some(Run { version: self.version, watched, call })
    }
}

/// The result of pairing.
pub struct Paired<'p, 'm> {
    /// Pairs with equal entry states, and whether they were found by execution index.
    pub pairs: Vec<(Pair<'p, 'm>, bool)>,
    /// Pairs whose entry states differ.
    pub differing: Vec<Pair<'p, 'm>>,
    /// Number of calls of good without a partner.
    pub only_good: u64,
    /// Number of calls of bad without a partner.
    pub only_bad: u64,
}

/// Pairs the calls of a function.
#[must_use]
pub fn pair<'p, 'm>(good: &Calls<'p, 'm>, bad: &Calls<'p, 'm>, by_state: bool) -> Paired<'p, 'm> {
    let mut by_key: HashMap<u128, Vec<usize>> = HashMap::new();
    for (n, call) in good.calls.iter().enumerate().rev() {
        by_key.entry(call.key).or_default().push(n);
    }
    let globals = [good.globals, bad.globals];
    let mut paired = Paired { pairs: Vec::new(), differing: Vec::new(), only_good: 0, only_bad: 0 };
    let mut used = vec![false; good.calls.len()];
    // Calls without a partner yet; with the call of good that has the same key, but another entry state.
    let mut left: Vec<(&'p Call<'m>, Option<(usize, Pair<'p, 'm>)>)> = Vec::new();
    let mut unmatched_good: Vec<usize> = Vec::new();
    for call in &bad.calls {
        let partner = by_key.get_mut(&call.key).and_then(Vec::pop);
        let (Some(n), Some(run)) = (partner, bad.run(call)) else {
            left.push((call, None));
            continue;
        };
        let Some(other) = good.run(good.calls[n]) else {
            left.push((call, None));
            continue;
        };
        used[n] = true;
        let pair = Pair { good: other, bad: run };
        if have_equal_entry_states(&pair, globals) {
            paired.pairs.push((pair, true));
        } else {
            unmatched_good.push(n);
            left.push((call, Some((n, pair))));
        }
    }
    unmatched_good.extend((0..used.len()).filter(|n| !used[*n]));
    unmatched_good.sort_unstable();
    let mut tries = 0;
    let mut mismatches = Vec::new();
    for (call, mismatch) in left {
        let mut found = None;
        if by_state {
            for (at, n) in unmatched_good.iter().enumerate() {
                tries += 1;
                if tries > MAX_TRIES {
                    break;
                }
                let (Some(run), Some(other)) = (bad.run(call), good.run(good.calls[*n])) else { continue };
                let pair = Pair { good: other, bad: run };
                if have_equal_entry_states(&pair, globals) {
                    found = Some((at, pair));
                    break;
                }
            }
        }
        match (found, mismatch) {
            (Some((at, pair)), _) => {
                unmatched_good.remove(at);
                paired.pairs.push((pair, false));
            }
            (None, Some(mismatch)) => mismatches.push(mismatch),
            (None, None) => paired.only_bad += 1,
        }
    }
    // A later call may have the entry state of a call of good that has the key of an earlier one.
    for (n, pair) in mismatches {
        match unmatched_good.iter().position(|other| *other == n) {
            Some(at) => {
                unmatched_good.remove(at);
                paired.differing.push(pair);
            }
            None => paired.only_bad += 1,
        }
    }
    paired.only_good = unmatched_good.len() as u64;
    paired
}
