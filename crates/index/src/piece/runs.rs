//! Runs in a row, told by several contexts at once.
//!
//! A run is a symbol and how often it comes in a row. The symbol is told by the one before,
//! by the two before, and by the one before the last alone; the count by the symbol and by
//! what was before it. Where the last few runs came before, what followed them then is a
//! guess that counts the more the longer it has been right. One function writes and reads.

use super::LONGEST_ROW;
use crate::grammar::{Grammar, Node};
use crate::mix::{Guess, Mix, NOBODY, both};
use crate::odds::{Numbers, Odds};
use crate::range::{Coder, Decoder, Encoder, Many, WHOLE};

/// Runs that must be the same for a guess, at first.
const ALIKE: usize = 4;
const ALIKE_AT_LEAST: u32 = 2;
/// No guess has been right for longer, as far as is looked.
const LONGEST_ALIKE: u32 = 32;

/// Longer runs are not written this way.
const LONGEST_RUN: u32 = 1 << 31;

/// Where the same runs came before.
struct Past {
    /// By the last few runs: the place behind them.
    places: Vec<u32>,
    shift: u32,
    /// The run that followed then; 0 if there is none.
    at: usize,
    right: u32,
}

impl Past {
    fn new(len: usize) -> Past {
        let places = (len.max(16) * 2).next_power_of_two();
        Past { places: vec![0; places], shift: u64::BITS - places.ilog2(), at: 0, right: 0 }
    }

    fn run(&self, runs: &[Node]) -> Option<Node> {
        (self.at > 0).then(|| runs[self.at])
    }

    /// One more run is at the end.
    fn learn(&mut self, runs: &[Node]) {
        let last = runs.len() - 1;
        if self.at > 0 && runs[self.at] == runs[last] {
            self.at += 1;
            self.right += 1;
        } else {
            (self.at, self.right) = (0, 0);
        }
        let hash = (1..=ALIKE).fold(0, |hash, back| both(hash, word(runs, back)));
        let place = &mut self.places[(hash >> self.shift) as usize];
        if self.at == 0 && *place > 0 {
            let behind = *place as usize;
            let alike = (0..behind.min(LONGEST_ALIKE as usize))
                .take_while(|back| runs[behind - 1 - back] == runs[last - back])
                .count() as u32;
            if alike >= ALIKE_AT_LEAST {
                (self.at, self.right) = (behind, alike);
            }
        }
        *place = runs.len() as u32;
    }
}

/// The run so far back, and its symbol alone, as words that tell them.
fn word(runs: &[Node], back: usize) -> u64 {
    runs.len().checked_sub(back).map_or(0, |at| both(u64::from(runs[at].sym) + 1, runs[at].count.into()))
}

fn symbol(runs: &[Node], back: usize) -> u64 {
    runs.len().checked_sub(back).map_or(0, |at| u64::from(runs[at].sym) + 1)
}

/// Passes numbers and runs of them through a coder. Symbols are numbered as they come.
fn pass(coder: &mut impl Coder, list: &[u64], runs: &[Node], len: usize) -> (Vec<u64>, Vec<Node>) {
    let is_counted = coder.bit(runs.iter().any(|r| r.count > 1), WHOLE / 2);
    let mut symbols = Mix::new(len);
    let mut counts = Mix::new(if is_counted { len } else { 0 });
    let (mut numbers, mut lengths, mut seen) = (Numbers::default(), Numbers::default(), Many::default());
    let mut is_new = [Odds::default(); 4];
    let mut news = 0;
    let mut past = Past::new(len);
    let (mut got_list, mut got): (Vec<u64>, Vec<Node>) = (Vec::new(), Vec::with_capacity(len));
    for i in 0..len {
        let meant = runs.get(i).copied().unwrap_or(Node { sym: 0, count: 0 });
        let before = past.run(&got);
        let guess = before.map_or(Guess::NONE, |b| Guess { symbol: b.sym, right: past.right });
        let (last, first) = (word(&got, 1), symbol(&got, 1));
        let skipped = symbol(&got, 2);
        let contexts = [first + 7, both(last, skipped), both(skipped, 99)];
        let never = got.last().map_or(NOBODY, |last| last.sym);
        let sym = symbols.code(coder, contexts, guess, never, meant.sym).unwrap_or_else(|| {
            let known = got_list.len() as u32;
            let new = known == 0 || is_new[news & 3].code(coder, meant.sym == known);
            news = news << 1 | usize::from(new);
            if new {
                let number = list.get(known as usize).copied().unwrap_or(0);
                got_list.push(numbers.signed(coder, number));
                seen.add();
                known
            } else {
                coder.symbol(meant.sym as usize, &mut seen) as u32
            }
        });
        symbols.learn(sym);
        let mut count = 1;
        if is_counted {
            let guess = match before {
                Some(b) if b.sym == sym => Guess { symbol: b.count, right: past.right },
                _ => Guess::NONE,
            };
            let own = u64::from(sym) + 1;
            let contexts = [own, both(own, first), both(own, last)];
            count = counts
                .code(coder, contexts, guess, NOBODY, meant.count)
                .unwrap_or_else(|| lengths.size(coder, meant.count.into()).min(LONGEST_RUN.into()) as u32);
            counts.learn(count);
        }
        got.push(Node { sym, count });
        past.learn(&got);
    }
    (got_list, got)
}

/// The sequence as runs, symbols numbered as they first come; none if there are too many.
fn runs(list: &[u64], g: &Grammar, most: usize) -> Option<(Vec<u64>, Vec<Node>)> {
    let (mut numbers, mut places) = (Vec::new(), vec![NOBODY; list.len()]);
    let mut all = Vec::new();
    for (symbol, count) in g.runs() {
        if all.len() == most || count >= LONGEST_RUN.into() {
            return None;
        }
        let place = &mut places[symbol as usize];
        if *place == NOBODY {
            *place = numbers.len() as u32;
            numbers.push(list[symbol as usize]);
        }
        all.push(Node { sym: *place, count: count as u32 });
    }
    Some((numbers, all))
}

/// The runs of a sequence, of which there are at most so many, and how many there are.
pub fn code(list: &[u64], g: &Grammar, end: Option<u64>, form: u8, most: usize) -> Option<(Vec<u8>, usize)> {
    let (list, runs) = runs(list, g, most.min(LONGEST_ROW as usize))?;
    let mut to = Encoder::default();
    let mut first = Numbers::default();
    if let Some(end) = end {
        first.size(&mut to, end);
    }
    first.size(&mut to, runs.len() as u64);
    pass(&mut to, &list, &runs, runs.len());
    let mut bytes = vec![form];
    bytes.extend(to.finish());
    Some((bytes, runs.len()))
}

pub fn read(bytes: &[u8], has_end: bool) -> Option<(Vec<u64>, Grammar, u64)> {
    let mut from = Decoder::new(bytes);
    let mut first = Numbers::default();
    let end = if has_end { first.size(&mut from, 0) } else { 0 };
    let len = first.size(&mut from, 0);
    if len == 0 || len > LONGEST_ROW {
        return None;
    }
    let (list, runs) = pass(&mut from, &[], &[], len as usize);
    let terminals = list.len() as u32;
    Some((list, Grammar::of_runs(terminals, runs)?, end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lane::Lane;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn runs_come_back(
            some in proptest::collection::vec((any::<u64>(), 1usize..40), 1..8),
            order in proptest::collection::vec(0usize..8, 1..400),
            end in proptest::option::of(any::<u64>()),
        ) {
            let mut lane = Lane::default();
            let mut all = Vec::new();
            for i in &order {
                let (number, count) = some[i % some.len()];
                all.extend(std::iter::repeat_n(number, count));
            }
            all.iter().for_each(|n| lane.push(*n));
            let grammar = lane.grammar.finish();
            let (bytes, _) = code(&lane.list, &grammar, end, 0, 1 << 18).expect("few runs");
            let (list, grammar, last) = read(&bytes[1..], end.is_some()).expect("what was written");
            let same: Vec<u64> = grammar.symbols().map(|s| list[s as usize]).collect();
            prop_assert_eq!(same, all);
            prop_assert_eq!(last, end.unwrap_or(0));
        }

        #[test]
        fn nonsense_does_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            if let Some((list, grammar, _)) = read(&bytes, true) {
                prop_assert!(grammar.symbols().take(1000).all(|s| (s as usize) < list.len()));
            }
        }
    }

    /// One symbol of any, then the next of ten: neither the one nor the two before tell it.
    #[test]
    fn what_was_before_the_last_tells() {
        let mut lane = Lane::default();
        let mut state = 1u64;
        for i in 0..4000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            lane.push(if i % 2 == 0 { i / 2 % 10 } else { 100 + (state >> 33) % 16 });
        }
        let grammar = lane.grammar.finish();
        let (bytes, runs) = code(&lane.list, &grammar, None, 0, 1 << 18).expect("few runs");
        assert_eq!(runs, 4000);
        // Half of them take four bits.
        assert!((1000..1300).contains(&bytes.len()), "{}", bytes.len());
    }
}
