//! SEQUITUR with run lengths, online.
//!
//! A grammar that produces exactly one sequence grows symbol by symbol. Right
//! sides are lists of nodes ⟨symbol : count⟩. After Wang and Roychoudhury, *Using
//! compressed bytecode traces for slicing Java programs* (RLESe), with three
//! decisions of our own:
//!
//! * a run is only looked at when it has ended (the last run is held back until
//!   another symbol, or the end, comes), so that a loop of a thousand rounds costs
//!   one look-up and not a thousand;
//! * two neighbours that occur twice with different counts are split only where
//!   the grammar does not grow by it. Loops with rising trip counts would grow
//!   beyond their plain run-length form otherwise. So two *similar* pairs may
//!   remain, and rarely two *identical* ones, where one came about by the fold of
//!   another: that costs a node, nothing else;
//! * a rule is also looked at for removal when another one is reused, not only when
//!   one is made: both take nodes away.

use crate::grammar::{Grammar, Sym};
use crate::pairs::{Pair, Pairs};

const GUARD: u32 = u32::MAX;
const FREE: u32 = u32::MAX - 1;

/// Symbols inside: terminals are even, rules odd.
fn rule_of(sym: u32) -> Option<u32> {
    (sym & 1 == 1 && sym < FREE).then_some(sym >> 1)
}

#[derive(Clone, Copy, Debug)]
struct Node {
    sym: u32,
    prev: u32,
    next: u32,
    count: u64,
}

fn pair(l: Node, r: Node) -> Pair {
    Pair { symbols: (l.sym, r.sym), counts: (l.count, r.count) }
}

#[derive(Clone, Copy, Debug)]
struct Rule {
    guard: u32,
    /// Nodes that name it.
    refs: u32,
}

/// What compressing cost: the work that dominates is looking pairs up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    pub checks: u64,
    /// Times the grammar was rearranged.
    pub folds: u64,
}

/// See the module's documentation.
#[derive(Clone, Debug)]
pub struct Rlese {
    nodes: Vec<Node>,
    free: Vec<u32>,
    rules: Vec<Rule>,
    free_rules: Vec<u32>,
    pairs: Pairs,
    /// The run that has not ended yet.
    pending: Option<(u32, u64)>,
    todo: Vec<u32>,
    work: Work,
    len: u64,
}

impl Default for Rlese {
    fn default() -> Rlese {
        Rlese::new()
    }
}

impl Rlese {
    #[must_use]
    pub fn new() -> Rlese {
        let mut new = Rlese {
            nodes: Vec::new(),
            free: Vec::new(),
            rules: Vec::new(),
            free_rules: Vec::new(),
            pairs: Pairs::default(),
            pending: None,
            todo: Vec::new(),
            work: Work::default(),
            len: 0,
        };
        new.make_rule();
        new
    }

    /// Symbols pushed so far.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.len
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Nodes held now: a measure of the memory in use.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.nodes.len() - self.free.len()
    }

    #[must_use]
    pub fn work(&self) -> Work {
        self.work
    }

    /// The next symbol of the sequence. Terminals are small numbers, below 2^30.
    #[inline]
    pub fn push(&mut self, terminal: u32) {
        self.len += 1;
        match &mut self.pending {
            Some((sym, count)) if *sym == terminal => *count += 1,
            _ => {
                let ended = self.pending.replace((terminal, 1));
                if let Some((sym, count)) = ended {
                    self.append(sym << 1, count);
                }
            }
        }
    }

    /// The whole sequence has been pushed.
    #[must_use]
    pub fn finish(mut self) -> Grammar {
        if let Some((sym, count)) = self.pending.take() {
            self.append(sym << 1, count);
        }
        Grammar::flatten(|rule| {
            let mut body = Vec::new();
            let mut at = self.nodes[self.rules[rule as usize].guard as usize].next;
            while self.nodes[at as usize].sym != GUARD {
                let node = self.nodes[at as usize];
                let sym = match rule_of(node.sym) {
                    Some(r) => Sym::Rule(r),
                    None => Sym::Terminal(node.sym >> 1),
                };
                body.push((sym, node.count));
                at = node.next;
            }
            body
        })
    }

    fn append(&mut self, sym: u32, count: u64) {
        let guard = self.rules[0].guard;
        let last = self.nodes[guard as usize].prev;
        let node = self.make_node(sym, count);
        self.link(last, node);
        self.link(node, guard);
        self.todo.push(last);
        self.settle();
    }

    fn make_node(&mut self, sym: u32, count: u64) -> u32 {
        let node = Node { sym, prev: 0, next: 0, count };
        if let Some(at) = self.free.pop() {
            self.nodes[at as usize] = node;
            return at;
        }
        self.nodes.push(node);
        self.nodes.len() as u32 - 1
    }

    fn make_rule(&mut self) -> u32 {
        let guard = self.make_node(GUARD, 0);
        self.link(guard, guard);
        let rule = Rule { guard, refs: 0 };
        if let Some(at) = self.free_rules.pop() {
            self.rules[at as usize] = rule;
            return at;
        }
        self.rules.push(rule);
        self.rules.len() as u32 - 1
    }

    fn link(&mut self, a: u32, b: u32) {
        self.nodes[a as usize].next = b;
        self.nodes[b as usize].prev = a;
    }

    fn refer(&mut self, sym: u32, by: i32) {
        if let Some(rule) = rule_of(sym) {
            let refs = &mut self.rules[rule as usize].refs;
            *refs = refs.wrapping_add_signed(by);
        }
    }

    fn release(&mut self, node: u32) {
        self.nodes[node as usize].sym = FREE;
        self.free.push(node);
    }

    /// The pair that begins at a node, if it is one.
    fn pair(&self, left: u32) -> Option<(Node, Node)> {
        let l = self.nodes[left as usize];
        if l.sym >= FREE {
            return None;
        }
        let r = self.nodes[l.next as usize];
        (r.sym != GUARD).then_some((l, r))
    }

    /// Takes the pair at a node out of the tables, before it changes.
    fn unnote(&mut self, left: u32) {
        if let Some((l, r)) = self.pair(left) {
            self.pairs.remove(pair(l, r), left);
        }
    }

    /// Restores what must hold, beginning at the nodes in `todo`.
    fn settle(&mut self) {
        while let Some(left) = self.todo.pop() {
            let Some((l, r)) = self.pair(left) else { continue };
            if l.sym == r.sym {
                self.merge(left);
                continue;
            }
            self.work.checks += 1;
            let (same, similar) = self.pairs.get(pair(l, r));
            if same == Some(left) {
                continue;
            }
            let other = same.or(similar).filter(|m| *m != left);
            if let Some(other) = other
                && let Some(plan) = self.plan(other, left)
            {
                self.work.folds += 1;
                self.fold(&plan);
                continue;
            }
            self.pairs.insert(pair(l, r), left);
        }
    }

    /// Two neighbours with the same symbol become one.
    fn merge(&mut self, left: u32) {
        let l = self.nodes[left as usize];
        let right = l.next;
        let r = self.nodes[right as usize];
        self.unnote(l.prev);
        self.unnote(right);
        self.nodes[left as usize].count += r.count;
        self.link(left, r.next);
        self.refer(r.sym, -1);
        self.release(right);
        self.todo.extend([left, l.prev]);
    }

    /// A rule whose whole right side is the pair at a node.
    fn whole(&self, left: u32) -> Option<u32> {
        let l = self.nodes[left as usize];
        let r = self.nodes[l.next as usize];
        let before = self.nodes[l.prev as usize];
        if before.sym != GUARD || self.nodes[r.next as usize].sym != GUARD {
            return None;
        }
        // The first rule, the sequence itself, is named by nobody.
        let rule = before.count as u32;
        (rule > 0).then_some(rule - 1)
    }

    /// How two places with the same pair of symbols become one rule; none if
    /// the grammar would grow.
    fn plan(&self, one: u32, two: u32) -> Option<Plan> {
        let (p1, q1) = self.pair(one)?;
        let (p2, q2) = self.pair(two)?;
        let counts = (p1.count.min(p2.count), q1.count.min(q2.count));
        let is_whole = |at: u32, p: Node, q: Node| self.whole(at).filter(|_| (p.count, q.count) == counts);
        let (rule, sites) = if let Some(rule) = is_whole(one, p1, q1) {
            (Some(rule), [Some(two), None])
        } else if let Some(rule) = is_whole(two, p2, q2) {
            (Some(rule), [Some(one), None])
        } else {
            (None, [Some(one), Some(two)])
        };
        let mut growth: i32 = if rule.is_some() { -1 } else { 0 };
        let mut surplus = (false, false);
        for site in sites.into_iter().flatten() {
            let (p, q) = self.pair(site)?;
            let (left, right) = (p.count > counts.0, q.count > counts.1);
            growth += i32::from(left) + i32::from(right);
            surplus = (surplus.0 || left, surplus.1 || right);
            // A neighbour that is the rule already takes the new node in.
            if let Some(rule) = rule {
                let sym = rule << 1 | 1;
                growth -= i32::from(!left && self.nodes[p.prev as usize].sym == sym);
                growth -= i32::from(!right && self.nodes[q.next as usize].sym == sym);
            }
        }
        if rule.is_none() {
            let touches = |a: Node, qa: Node, b: u32, pb: Node| {
                qa.next == b && qa.count == counts.1 && pb.count == counts.0 && a.sym == pb.sym
            };
            growth -= i32::from(touches(p1, q1, two, p2) || touches(p2, q2, one, p1));
        }
        // A rule that only these places name goes into the new one.
        let dissolves = |sym: u32, count: u64, left_over: bool| {
            rule_of(sym).is_some_and(|r| self.rules[r as usize].refs == 2) && count == 1 && !left_over
        };
        growth -= i32::from(dissolves(p1.sym, counts.0, surplus.0));
        growth -= i32::from(dissolves(q1.sym, counts.1, surplus.1));
        (growth <= 0).then_some(Plan { rule, sites, counts, syms: (p1.sym, q1.sym) })
    }

    fn fold(&mut self, plan: &Plan) {
        let (p, q) = plan.syms;
        let rule = plan.rule.unwrap_or_else(|| {
            let rule = self.make_rule();
            let guard = self.rules[rule as usize].guard;
            self.nodes[guard as usize].count = u64::from(rule) + 1;
            let first = self.make_node(p, plan.counts.0);
            let second = self.make_node(q, plan.counts.1);
            self.link(guard, first);
            self.link(first, second);
            self.link(second, guard);
            self.refer(p, 1);
            self.refer(q, 1);
            rule
        });
        for site in plan.sites.into_iter().flatten() {
            self.replace(site, rule, plan.counts);
        }
        let guard = self.rules[rule as usize].guard;
        let first = self.nodes[guard as usize].next;
        let (l, r) = (self.nodes[first as usize], self.nodes[self.nodes[first as usize].next as usize]);
        if plan.rule.is_none() {
            self.pairs.insert(pair(l, r), first);
        }
        let second = l.next;
        self.dissolve(first);
        self.dissolve(second);
    }

    /// Puts a rule in place of a pair; what is left over stays beside it.
    fn replace(&mut self, site: u32, rule: u32, (a, b): (u64, u64)) {
        let x = self.nodes[site as usize];
        let right = x.next;
        let y = self.nodes[right as usize];
        self.unnote(x.prev);
        self.unnote(site);
        self.unnote(right);
        let node = self.make_node(rule << 1 | 1, 1);
        self.rules[rule as usize].refs += 1;
        if x.count > a {
            self.nodes[site as usize].count -= a;
            self.link(site, node);
            self.todo.push(site);
        } else {
            self.link(x.prev, node);
            self.refer(x.sym, -1);
            self.release(site);
        }
        if y.count > b {
            self.nodes[right as usize].count -= b;
            self.link(node, right);
            self.todo.push(right);
        } else {
            self.link(node, y.next);
            self.refer(y.sym, -1);
            self.release(right);
        }
        self.todo.extend([x.prev, node]);
    }

    /// Puts the right side of a rule in place of the only node that names it.
    fn dissolve(&mut self, at: u32) {
        let node = self.nodes[at as usize];
        let Some(rule) = rule_of(node.sym) else { return };
        if self.rules[rule as usize].refs != 1 || node.count != 1 {
            return;
        }
        self.unnote(node.prev);
        self.unnote(at);
        let guard = self.rules[rule as usize].guard;
        let (first, last) = (self.nodes[guard as usize].next, self.nodes[guard as usize].prev);
        self.link(node.prev, first);
        self.link(last, node.next);
        self.release(at);
        self.release(guard);
        self.free_rules.push(rule);
        self.todo.extend([node.prev, last]);
    }
}

/// What is done with two places that have the same pair of symbols.
struct Plan {
    /// The rule that is the pair already, if there is one.
    rule: Option<u32>,
    /// The places that get the rule.
    sites: [Option<u32>; 2],
    counts: (u64, u64),
    syms: (u32, u32),
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn compress(symbols: &[u32]) -> Grammar {
        let mut all = Rlese::new();
        symbols.iter().for_each(|s| all.push(*s));
        all.finish()
    }

    fn repeat(parts: &[(u32, usize)]) -> Vec<u32> {
        parts.iter().flat_map(|(s, n)| std::iter::repeat_n(*s, *n)).collect()
    }

    #[test]
    fn the_grammars_of_the_paper() {
        let text = |symbols: &[u32]| compress(symbols).to_string();
        assert_eq!(text(&[1, 2, 3, 1, 2, 3]), "S -> A:2; A -> 1:1 2:1 3:1");
        assert_eq!(text(&repeat(&[(23, 1), (38, 4)])), "S -> 23:1 38:4");
        assert_eq!(text(&repeat(&[(23, 1), (38, 6), (23, 1), (38, 8)])), "S -> A:2 38:2; A -> 23:1 38:6");
        assert_eq!(text(&[0, 1, 1, 1]), "S -> 0:1 1:3");
        let (a, b, c) = (1, 2, 3);
        assert_eq!(text(&[a, b, b, a, b, b, c, a, b, b]), "S -> A:2 3:1 A:1; A -> 1:1 2:2");
        assert_eq!(text(&[55, 53, 55, 53]), "S -> A:2; A -> 55:1 53:1");
        assert_eq!(text(&[]), "S ->");
        assert_eq!(text(&[7]), "S -> 7:1");
    }

    #[test]
    fn a_run_costs_one_look_up() {
        let mut all = Rlese::new();
        repeat(&[(23, 1), (38, 1000)]).into_iter().for_each(|s| all.push(s));
        assert_eq!(all.work().checks, 0, "the run has not ended");
        assert_eq!(all.finish().nodes(), 2);
    }

    /// Trip counts 1 to 39: 78 runs. Splitting whatever is similar makes 115 nodes.
    #[test]
    fn splits_must_pay() {
        let loops: Vec<u32> = (1..40).flat_map(|n| repeat(&[(1, 1), (2, n)])).collect();
        let grammar = compress(&loops);
        assert!(grammar.nodes() <= 78, "{}", grammar.nodes());
        assert_eq!(grammar.symbols().collect::<Vec<_>>(), loops);
    }

    fn sequences() -> impl Strategy<Value = Vec<u32>> {
        let runs = proptest::collection::vec((0u32..5, 1usize..6), 0..80);
        let plain = proptest::collection::vec(0u32..3, 0..200);
        let nested = (runs.clone(), 1usize..5, proptest::collection::vec(0u32..4, 0..4)).prop_map(
            |(body, times, tail)| {
                let mut all = repeat(&body).repeat(times);
                all.extend(tail);
                all
            },
        );
        prop_oneof![runs.prop_map(|r| repeat(&r)), plain, nested]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(600))]
        #[test]
        fn nothing_is_lost_and_no_rule_is_useless(symbols in sequences()) {
            let grammar = compress(&symbols);
            prop_assert_eq!(grammar.symbols().collect::<Vec<_>>(), symbols.clone());
            prop_assert_eq!(grammar.len(), symbols.len() as u64);
            let runs = symbols.chunk_by(|a, b| a == b).count();
            prop_assert!(grammar.nodes() <= runs, "{} nodes for {} runs", grammar.nodes(), runs);
            let mut uses = std::collections::HashMap::new();
            for rule in 0..grammar.rules() {
                let body = grammar.body(rule);
                prop_assert!(body.windows(2).all(|w| w[0].sym != w[1].sym), "repeats: {}", &grammar);
                for node in body {
                    let entry = uses.entry(node.sym).or_insert((0, 0));
                    *entry = (entry.0 + 1, entry.1.max(node.count));
                }
            }
            for rule in 0..grammar.rules() - 1 {
                let (nodes, most) = uses[&grammar.symbol_of(rule)];
                prop_assert!(nodes > 1 || most > 1, "useless rule: {}", &grammar);
            }
        }
    }
}
