//! Numbers that are listed once, and the grammar of their places in the list.

use crate::grammar::Grammar;
use crate::hash::Map;
use crate::rlese::Rlese;

#[derive(Clone, Debug, Default)]
pub(crate) struct Lane {
    /// The last number put into the grammar, and its place in the list.
    last: Option<(u64, u32)>,
    /// In the order in which they first came.
    pub(crate) list: Vec<u64>,
    places: Map<u64, u32>,
    pub(crate) grammar: Rlese,
}

impl Lane {
    #[inline]
    pub(crate) fn push(&mut self, number: u64) {
        let place = match self.last {
            Some((last, place)) if last == number => place,
            _ => {
                let next = self.list.len() as u32;
                let place = *self.places.entry(number).or_insert(next);
                if place == next {
                    self.list.push(number);
                }
                self.last = Some((number, place));
                place
            }
        };
        self.grammar.push(place);
    }
}

/// Values are not tried where differences fold so well that each of their nodes stands for
/// more than this many numbers.
const FOLDED: u64 = 64;

/// The values whose differences a grammar produces, the last one of which is `end`: where a
/// program comes back to the same few places in any order, there are far fewer of them.
/// None as soon as it is clear that they take more than the differences do.
pub(crate) fn values(list: &[u64], grammar: &Grammar, end: u64) -> Option<Lane> {
    let most = grammar.nodes();
    if grammar.len() > FOLDED * most as u64 {
        return None;
    }
    let whole = sums(list, grammar).last().copied().unwrap_or(0);
    let mut value = end.wrapping_sub(whole);
    let mut lane = Lane::default();
    for symbol in grammar.symbols() {
        value = value.wrapping_add(list[symbol as usize]);
        lane.push(value);
        if lane.list.len() > most || lane.grammar.nodes() > 2 * most + 64 {
            return None;
        }
    }
    Some(lane)
}

/// For each rule the sum of what it stands for.
pub(crate) fn sums(list: &[u64], grammar: &Grammar) -> Vec<u64> {
    let mut sums: Vec<u64> = Vec::with_capacity(grammar.rules() as usize);
    for rule in 0..grammar.rules() {
        let sum = grammar.body(rule).iter().fold(0u64, |sum, node| {
            let one = match grammar.rule_of(node.sym) {
                None => list[node.sym as usize],
                Some(r) => sums[r as usize],
            };
            sum.wrapping_add(one.wrapping_mul(node.count.into()))
        });
        sums.push(sum);
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn values_are_the_sums_of_differences(of in proptest::collection::vec(any::<u64>(), 1..6),
                                              order in proptest::collection::vec(0usize..6, 1..200)) {
            let numbers: Vec<u64> = order.iter().map(|i| of[i % of.len()]).collect();
            let mut lane = Lane::default();
            let mut before = 0u64;
            for n in &numbers {
                lane.push(n.wrapping_sub(before));
                before = *n;
            }
            let grammar = lane.grammar.finish();
            if let Some(values) = values(&lane.list, &grammar, before) {
                let same: Vec<u64> = {
                    let list = values.list;
                    values.grammar.finish().symbols().map(|s| list[s as usize]).collect()
                };
                prop_assert_eq!(same, numbers);
            }
        }
    }
}
