//! A run-length grammar, coded by what has come before.
//!
//! A rule stands where it is first named. So neither how many rules there are nor the name of
//! a new one is written, and a number is written where it first occurs.

use crate::grammar::{Grammar, Node};
use crate::odds::Numbers;
use crate::range::{Decoder, Encoder, Few, Many, Sizes};

/// No grammar has more nodes: they are sealed long before.
const MOST_NODES: usize = 1 << 18;

/// What has come before in a coded grammar.
#[derive(Default)]
struct Models {
    /// How a node names its symbol, by how the one before did.
    kind: [Few<3>; 3],
    before: usize,
    /// Symbols, by when they first came.
    seen: Many,
    /// The count that each symbol had last.
    counts: Vec<u32>,
    single: [Few<2>; 4],
    same: Few<2>,
    count: Sizes,
    first: Sizes,
    number: Numbers,
    length: Sizes,
}

const SEEN: usize = 0;
const NEW_NUMBER: usize = 1;
const NEW_RULE: usize = 2;

impl Models {
    /// The model for whether a count is one: by what the symbol's last one was.
    fn single(&mut self, is_rule: bool, last: u32) -> &mut Few<2> {
        &mut self.single[usize::from(is_rule) * 2 + usize::from(last == 1)]
    }

    fn put_count(&mut self, to: &mut Encoder, is_rule: bool, last: u32, count: u32) {
        self.single(is_rule, last).put(to, usize::from(count == 1));
        if count == 1 {
            return;
        }
        if last > 1 {
            self.same.put(to, usize::from(count == last));
            if count == last {
                return;
            }
        }
        self.count.put(to, u64::from(count) - 2);
    }

    fn get_count(&mut self, from: &mut Decoder<'_>, is_rule: bool, last: u32) -> Option<u32> {
        if self.single(is_rule, last).get(from) == 1 {
            return Some(1);
        }
        if last > 1 && self.same.get(from) == 1 {
            return Some(last);
        }
        u32::try_from(self.count.get(from).checked_add(2)?).ok()
    }
}

pub(super) fn code(list: &[u64], g: &Grammar, end: Option<u64>, first: u8) -> Vec<u8> {
    let mut to = Encoder::default();
    let mut m = Models::default();
    if let Some(end) = end {
        m.first.put(&mut to, end);
    }
    let mut place: Vec<Option<u32>> = vec![None; (g.terminals() + g.rules()) as usize];
    let mut stack = Vec::new();
    if let Some(last) = g.rules().checked_sub(1) {
        m.first.put(&mut to, g.body(last).len() as u64);
        stack.push((last, 0));
    }
    while let Some((rule, at)) = stack.last_mut() {
        let Some(node) = g.body(*rule).get(*at) else {
            stack.pop();
            continue;
        };
        *at += 1;
        let inner = g.rule_of(node.sym);
        let kind = match (place[node.sym as usize], inner) {
            (Some(_), _) => SEEN,
            (None, None) => NEW_NUMBER,
            (None, Some(_)) => NEW_RULE,
        };
        m.kind[m.before].put(&mut to, kind);
        m.before = kind;
        let mut last = 0;
        if let Some(known) = place[node.sym as usize] {
            m.seen.put(&mut to, known as usize);
            last = m.counts[known as usize];
            m.counts[known as usize] = node.count;
        } else {
            place[node.sym as usize] = Some(m.counts.len() as u32);
            m.seen.add();
            m.counts.push(node.count);
        }
        m.put_count(&mut to, inner.is_some(), last, node.count);
        match inner {
            None if kind == NEW_NUMBER => {
                m.number.signed(&mut to, list[node.sym as usize]);
            }
            Some(inner) if kind == NEW_RULE => {
                m.length.put(&mut to, g.body(inner).len() as u64);
                stack.push((inner, 0));
            }
            _ => {}
        }
    }
    let mut bytes = vec![first];
    bytes.extend(to.finish());
    bytes
}

/// The right side of a rule that is being read.
type Body = Vec<(Named, u32)>;

/// What a node of a coded grammar names, before all rules are numbered.
#[derive(Clone, Copy)]
enum Named {
    Number(u32),
    Rule(u32),
}

pub(super) fn read(bytes: &[u8], has_end: bool) -> Option<(Vec<u64>, Grammar, u64)> {
    let mut from = Decoder::new(bytes);
    let mut m = Models::default();
    let end = if has_end { m.first.get(&mut from) } else { 0 };
    let mut list = Vec::new();
    let mut names: Vec<Named> = Vec::new();
    // Rules by when they were begun: their number once they are finished.
    let mut finished: Vec<Option<u32>> = vec![None];
    let mut open: Vec<(u32, u64, Body)> = vec![(0, m.first.get(&mut from), Vec::new())];
    let mut bodies: Vec<Body> = Vec::new();
    let mut count_of_nodes = 0;
    while let Some((rule, len, body)) = open.last_mut() {
        if body.len() as u64 == *len {
            finished[*rule as usize] = Some(bodies.len() as u32);
            bodies.push(std::mem::take(body));
            open.pop();
            continue;
        }
        count_of_nodes += 1;
        if count_of_nodes > MOST_NODES || *len > MOST_NODES as u64 {
            return None;
        }
        let kind = m.kind[m.before].get(&mut from);
        m.before = kind;
        let (name, last, place) = match kind {
            SEEN if m.seen.is_empty() => return None,
            SEEN => {
                let place = m.seen.get(&mut from);
                (names[place], m.counts[place], place)
            }
            _ => {
                let name = if kind == NEW_NUMBER {
                    Named::Number(list.len() as u32)
                } else {
                    finished.push(None);
                    Named::Rule(finished.len() as u32 - 1)
                };
                names.push(name);
                m.seen.add();
                m.counts.push(0);
                (name, 0, names.len() - 1)
            }
        };
        let is_rule = matches!(name, Named::Rule(_));
        let count = m.get_count(&mut from, is_rule, last)?;
        m.counts[place] = count;
        body.push((name, count));
        match (kind, name) {
            (NEW_NUMBER, _) => list.push(m.number.signed(&mut from, 0)),
            (NEW_RULE, Named::Rule(rule)) => {
                let len = m.length.get(&mut from);
                open.push((rule, len, Vec::new()));
            }
            // A rule cannot name itself.
            (_, Named::Rule(rule)) if finished[rule as usize].is_none() => return None,
            _ => {}
        }
    }
    let terminals = list.len() as u32;
    let mut starts = vec![0];
    let mut nodes = Vec::with_capacity(count_of_nodes);
    for body in bodies {
        for (name, count) in body {
            let sym = match name {
                Named::Number(n) => n,
                Named::Rule(rule) => terminals + finished[rule as usize]?,
            };
            nodes.push(Node { sym, count });
        }
        starts.push(nodes.len() as u32);
    }
    Some((list, Grammar::new(terminals, starts, nodes)?, end))
}
