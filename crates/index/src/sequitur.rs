//! Plain SEQUITUR (Nevill-Manning and Witten, *Identifying hierarchical structure in
//! sequences*), as the measure: no pair of neighbours occurs twice, no rule is used
//! once. Runs cost it a rule for every doubling.

use crate::grammar::{Grammar, Sym};
use crate::hash::Map;
use crate::rlese::Work;

const GUARD: u32 = u32::MAX;
const FREE: u32 = u32::MAX - 1;

fn rule_of(sym: u32) -> Option<u32> {
    (sym & 1 == 1 && sym < FREE).then_some(sym >> 1)
}

#[derive(Clone, Copy, Debug)]
struct Node {
    sym: u32,
    prev: u32,
    next: u32,
}

/// See the module's documentation.
#[derive(Clone, Debug)]
pub struct Sequitur {
    nodes: Vec<Node>,
    free: Vec<u32>,
    /// Guard and uses of each rule.
    rules: Vec<(u32, u32)>,
    free_rules: Vec<u32>,
    /// The rule of each guard.
    guards: Map<u32, u32>,
    pairs: Map<(u32, u32), u32>,
    todo: Vec<u32>,
    work: Work,
}

impl Default for Sequitur {
    fn default() -> Sequitur {
        Sequitur::new()
    }
}

impl Sequitur {
    #[must_use]
    pub fn new() -> Sequitur {
        let mut new = Sequitur {
            nodes: Vec::new(),
            free: Vec::new(),
            rules: Vec::new(),
            free_rules: Vec::new(),
            guards: Map::default(),
            pairs: Map::default(),
            todo: Vec::new(),
            work: Work::default(),
        };
        new.make_rule();
        new
    }

    #[must_use]
    pub fn work(&self) -> Work {
        self.work
    }

    /// The next symbol; terminals are below 2^30.
    pub fn push(&mut self, terminal: u32) {
        let guard = self.rules[0].0;
        let last = self.nodes[guard as usize].prev;
        let node = self.make_node(terminal << 1);
        self.link(last, node);
        self.link(node, guard);
        self.todo.push(last);
        self.settle();
    }

    #[must_use]
    pub fn finish(self) -> Grammar {
        Grammar::flatten(|rule| {
            let mut body = Vec::new();
            let mut at = self.nodes[self.rules[rule as usize].0 as usize].next;
            while self.nodes[at as usize].sym != GUARD {
                let sym = self.nodes[at as usize].sym;
                body.push((rule_of(sym).map_or(Sym::Terminal(sym >> 1), Sym::Rule), 1));
                at = self.nodes[at as usize].next;
            }
            body
        })
    }

    fn make_node(&mut self, sym: u32) -> u32 {
        if let Some(rule) = rule_of(sym) {
            self.rules[rule as usize].1 += 1;
        }
        let node = Node { sym, prev: 0, next: 0 };
        if let Some(at) = self.free.pop() {
            self.nodes[at as usize] = node;
            return at;
        }
        self.nodes.push(node);
        self.nodes.len() as u32 - 1
    }

    fn make_rule(&mut self) -> u32 {
        let guard = self.make_node(GUARD);
        self.link(guard, guard);
        let rule = match self.free_rules.pop() {
            Some(at) => {
                self.rules[at as usize] = (guard, 0);
                at
            }
            None => {
                self.rules.push((guard, 0));
                self.rules.len() as u32 - 1
            }
        };
        self.guards.insert(guard, rule);
        rule
    }

    fn link(&mut self, a: u32, b: u32) {
        self.nodes[a as usize].next = b;
        self.nodes[b as usize].prev = a;
    }

    fn release(&mut self, node: u32) {
        if let Some(rule) = rule_of(self.nodes[node as usize].sym) {
            self.rules[rule as usize].1 -= 1;
        }
        self.nodes[node as usize].sym = FREE;
        self.free.push(node);
    }

    fn pair(&self, left: u32) -> Option<(u32, u32)> {
        let l = self.nodes[left as usize];
        let r = self.nodes[l.next as usize].sym;
        (l.sym < FREE && r != GUARD).then_some((l.sym, r))
    }

    fn unnote(&mut self, left: u32) {
        if let Some(key) = self.pair(left)
            && self.pairs.get(&key) == Some(&left)
        {
            self.pairs.remove(&key);
            // Of three equal symbols the other pair was not noted; it is now the one.
            if key.0 == key.1 {
                let n = self.nodes[left as usize];
                let after = self.nodes[n.next as usize].next;
                if self.nodes[after as usize].sym == key.0 {
                    self.pairs.insert(key, n.next);
                } else if self.nodes[n.prev as usize].sym == key.0 {
                    self.pairs.insert(key, n.prev);
                }
            }
        }
    }

    fn settle(&mut self) {
        while let Some(left) = self.todo.pop() {
            let Some(key) = self.pair(left) else { continue };
            self.work.checks += 1;
            let other = match self.pairs.get(&key).copied() {
                None => {
                    self.pairs.insert(key, left);
                    continue;
                }
                Some(other) => other,
            };
            let right = self.nodes[left as usize].next;
            // The same pair, or one that shares a symbol with it (three in a row).
            if other == left || other == right || self.nodes[other as usize].next == left {
                continue;
            }
            if self.pair(other) != Some(key) {
                self.pairs.insert(key, left);
                continue;
            }
            self.work.folds += 1;
            self.fold(other, left, key);
        }
    }

    /// A rule whose whole right side is the pair at a node.
    fn whole(&self, left: u32) -> Option<u32> {
        let n = self.nodes[left as usize];
        let after = self.nodes[n.next as usize].next;
        if self.nodes[n.prev as usize].sym != GUARD || after != n.prev {
            return None;
        }
        self.guards.get(&n.prev).copied().filter(|r| *r != 0)
    }

    fn fold(&mut self, one: u32, two: u32, key: (u32, u32)) {
        let rule = if let Some(rule) = self.whole(one) {
            self.replace(two, rule);
            rule
        } else if let Some(rule) = self.whole(two) {
            self.replace(one, rule);
            rule
        } else {
            let rule = self.make_rule();
            let guard = self.rules[rule as usize].0;
            let (first, second) = (self.make_node(key.0), self.make_node(key.1));
            self.link(guard, first);
            self.link(first, second);
            self.link(second, guard);
            self.replace(one, rule);
            self.replace(two, rule);
            self.pairs.insert(key, first);
            rule
        };
        let guard = self.rules[rule as usize].0;
        let first = self.nodes[guard as usize].next;
        let last = self.nodes[guard as usize].prev;
        self.dissolve(first);
        self.dissolve(last);
    }

    fn replace(&mut self, site: u32, rule: u32) {
        let x = self.nodes[site as usize];
        let right = x.next;
        let after = self.nodes[right as usize].next;
        self.unnote(x.prev);
        self.unnote(right);
        self.unnote(site);
        let node = self.make_node(rule << 1 | 1);
        self.release(site);
        self.release(right);
        self.link(x.prev, node);
        self.link(node, after);
        self.todo.extend([node, x.prev]);
    }

    fn dissolve(&mut self, at: u32) {
        let node = self.nodes[at as usize];
        let Some(rule) = rule_of(node.sym).filter(|r| self.rules[*r as usize].1 == 1) else { return };
        self.unnote(node.prev);
        self.unnote(at);
        let guard = self.rules[rule as usize].0;
        let (first, last) = (self.nodes[guard as usize].next, self.nodes[guard as usize].prev);
        self.link(node.prev, first);
        self.link(last, node.next);
        self.release(at);
        self.guards.remove(&guard);
        self.release(guard);
        self.free_rules.push(rule);
        self.todo.extend([node.prev, last]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn compress(symbols: &[u32]) -> Grammar {
        let mut all = Sequitur::new();
        symbols.iter().for_each(|s| all.push(*s));
        all.finish()
    }

    #[test]
    fn the_grammars_of_the_paper() {
        assert_eq!(compress(&[1, 2, 3, 1, 2, 3]).to_string(), "S -> A:1 A:1; A -> 1:1 2:1 3:1");
        assert_eq!(compress(&[23, 38, 38, 38, 38]).to_string(), "S -> 23:1 A:1 A:1; A -> 38:1 38:1");
        let run: Vec<u32> = std::iter::once(23).chain(std::iter::repeat_n(38, 1000)).collect();
        let grammar = compress(&run);
        assert_eq!((grammar.rules(), grammar.nodes()), (9, 24));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(600))]
        #[test]
        fn nothing_is_lost_and_no_pair_is_said_twice(
            symbols in proptest::collection::vec(0u32..4, 0..300)
        ) {
            let grammar = compress(&symbols);
            prop_assert_eq!(grammar.symbols().collect::<Vec<_>>(), symbols);
            let mut uses = std::collections::HashMap::new();
            let mut pairs = std::collections::HashMap::new();
            for rule in 0..grammar.rules() {
                for node in grammar.body(rule) {
                    *uses.entry(node.sym).or_insert(0) += 1;
                }
                for (at, w) in grammar.body(rule).windows(2).enumerate() {
                    let key = (w[0].sym, w[1].sym);
                    if let Some((r, before)) = pairs.insert(key, (rule, at)) {
                        prop_assert!(r == rule && before + 1 == at, "a pair twice: {}", &grammar);
                    }
                }
            }
            for rule in 0..grammar.rules() - 1 {
                prop_assert!(uses[&grammar.symbol_of(rule)] > 1, "useless rule: {}", &grammar);
            }
        }
    }
}
