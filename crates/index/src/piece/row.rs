//! Symbols in a row, each coded by the two before it.
//!
//! Where a sequence has little that repeats as a whole, what comes next may still depend
//! on what came just before. Every pair of symbols, and every symbol, remembers what
//! followed it; what did not follow yet is looked for one symbol shorter (prediction by
//! partial matching, after Cleary and Witten).

use super::LONGEST_ROW;
use crate::grammar::{Grammar, Node};
use crate::hash::Map;
use crate::odds::Numbers;
use crate::range::{Decoder, Encoder, Few, Many, Sizes};

/// A context remembers at most so many symbols.
const FOLLOWERS: usize = 24;
const STEP: u32 = 2;
const MOST: u32 = 1 << 12;

/// What came behind a context, and how often.
#[derive(Clone, Debug, Default)]
struct Followers {
    all: Vec<(u32, u32)>,
    total: u32,
}

impl Followers {
    /// The weight of what is not in the list.
    fn escape(&self) -> u32 {
        self.all.len() as u32
    }

    fn learn(&mut self, symbol: u32) {
        let known = self.all.iter().position(|f| f.0 == symbol);
        match known {
            Some(at) => {
                self.all[at].1 += STEP;
                self.total += STEP;
            }
            None if self.all.len() < FOLLOWERS => {
                self.all.push((symbol, 1));
                self.total += 1;
            }
            None => return,
        }
        if self.total > MOST {
            self.all.iter_mut().for_each(|f| f.1 = f.1.div_ceil(2));
            self.total = self.all.iter().map(|f| f.1).sum();
        }
    }

    /// Whether the symbol was there.
    fn put(&self, to: &mut Encoder, symbol: u32) -> bool {
        let total = u64::from(self.total + self.escape());
        let mut below = 0;
        for (s, n) in &self.all {
            if *s == symbol {
                to.put(below, (*n).into(), total);
                return true;
            }
            below += u64::from(*n);
        }
        to.put(below, self.escape().into(), total);
        false
    }

    fn get(&self, from: &mut Decoder<'_>) -> Option<u32> {
        let at = from.share((self.total + self.escape()).into());
        let mut below = 0;
        for (s, n) in &self.all {
            if at < below + u64::from(*n) {
                from.got(below, (*n).into());
                return Some(*s);
            }
            below += u64::from(*n);
        }
        from.got(below, self.escape().into());
        None
    }
}

/// Contexts of two symbols and of one, and what is known without any.
#[derive(Default)]
struct Models {
    contexts: Map<(u32, u32), Followers>,
    seen: Many,
    is_new: Few<2>,
    number: Numbers,
    first: Sizes,
}

const NONE: u32 = u32::MAX;

/// What may tell the next symbol: the two before it, or the one.
fn contexts(before: (u32, u32)) -> [(u32, u32); 2] {
    [before, (NONE, before.1)]
}

impl Models {
    /// A symbol came, found at one of the contexts. Shorter ones learn only what a longer
    /// one did not know: that is all they are asked about.
    fn learn(&mut self, before: (u32, u32), symbol: u32, found: Option<usize>) {
        for key in contexts(before).into_iter().take(found.map_or(2, |at| at + 1)) {
            self.contexts.entry(key).or_default().learn(symbol);
        }
    }
}

pub fn code(list: &[u64], g: &Grammar, end: Option<u64>, form: u8) -> Vec<u8> {
    let mut to = Encoder::default();
    let mut m = Models::default();
    if let Some(end) = end {
        m.first.put(&mut to, end);
    }
    m.first.put(&mut to, g.len());
    let mut place: Vec<Option<u32>> = vec![None; list.len()];
    let mut known = 0;
    let mut before = (NONE - 1, NONE - 1);
    for symbol in g.symbols() {
        let at = place[symbol as usize].unwrap_or(known);
        let found = contexts(before)
            .into_iter()
            .position(|key| m.contexts.get(&key).is_some_and(|c| c.put(&mut to, at)));
        if found.is_none() {
            if !m.seen.is_empty() {
                m.is_new.put(&mut to, usize::from(at == known));
            }
            if at == known {
                place[symbol as usize] = Some(at);
                known += 1;
                m.seen.add();
                m.number.signed(&mut to, list[symbol as usize]);
            } else {
                m.seen.put(&mut to, at as usize);
            }
        }
        m.learn(before, at, found);
        before = (before.1, at);
    }
    let mut bytes = vec![form];
    bytes.extend(to.finish());
    bytes
}

pub fn read(bytes: &[u8], has_end: bool) -> Option<(Vec<u64>, Grammar, u64)> {
    let mut from = Decoder::new(bytes);
    let mut m = Models::default();
    let end = if has_end { m.first.get(&mut from) } else { 0 };
    let len = m.first.get(&mut from);
    if len == 0 || len > LONGEST_ROW {
        return None;
    }
    let mut list = Vec::new();
    let mut nodes: Vec<Node> = Vec::new();
    let mut before = (NONE - 1, NONE - 1);
    for _ in 0..len {
        let found = contexts(before)
            .into_iter()
            .enumerate()
            .find_map(|(i, key)| Some((i, m.contexts.get(&key)?.get(&mut from)?)));
        let at = match found {
            Some((_, at)) => at,
            None if m.seen.is_empty() || m.is_new.get(&mut from) == 1 => {
                m.seen.add();
                list.push(m.number.signed(&mut from, 0));
                list.len() as u32 - 1
            }
            None => m.seen.get(&mut from) as u32,
        };
        m.learn(before, at, found.map(|f| f.0));
        before = (before.1, at);
        match nodes.last_mut() {
            Some(last) if last.sym == at => last.count += 1,
            _ => nodes.push(Node { sym: at, count: 1 }),
        }
    }
    let terminals = list.len() as u32;
    Some((list, Grammar::of_runs(terminals, nodes)?, end))
}
