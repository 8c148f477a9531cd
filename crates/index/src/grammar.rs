//! A finished grammar: flat, and only to be read.
//!
//! Rules are numbered so that each comes behind those it names; the last one is the
//! sequence itself. What it takes to skip a rule (how many symbols it stands for)
//! is computed once, in that order.

use std::fmt;

/// A symbol while a grammar is put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sym {
    Terminal(u32),
    /// By the maker's numbers.
    Rule(u32),
}

/// So many of a symbol: a terminal if below [`Grammar::terminals`], else a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    pub sym: u32,
    pub count: u32,
}

/// See the module's documentation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grammar {
    terminals: u32,
    /// Where each rule's nodes begin; one more for the end.
    starts: Vec<u32>,
    nodes: Vec<Node>,
    /// Symbols each rule stands for.
    lens: Vec<u64>,
}

impl Grammar {
    /// Puts the rules reachable from rule 0 in order.
    pub(crate) fn flatten(body: impl Fn(u32) -> Vec<(Sym, u64)>) -> Grammar {
        let mut number: std::collections::HashMap<u32, u32> = std::collections::HashMap::new();
        let mut done: Vec<Vec<(Sym, u64)>> = Vec::new();
        let mut stack = vec![(0, body(0), 0)];
        let mut terminals = 0;
        while let Some((rule, nodes, next)) = stack.last_mut() {
            match nodes.get(*next) {
                Some((sym, _)) => {
                    *next += 1;
                    match *sym {
                        Sym::Terminal(t) => terminals = terminals.max(t + 1),
                        Sym::Rule(r) if !number.contains_key(&r) => {
                            let inner = body(r);
                            stack.push((r, inner, 0));
                        }
                        Sym::Rule(_) => {}
                    }
                }
                None => {
                    number.insert(*rule, done.len() as u32);
                    done.push(std::mem::take(nodes));
                    stack.pop();
                }
            }
        }
        let mut starts = vec![0];
        let mut nodes = Vec::new();
        for body in done {
            for (sym, mut count) in body {
                let sym = match sym {
                    Sym::Terminal(t) => t,
                    Sym::Rule(r) => terminals + number.get(&r).copied().unwrap_or(0),
                };
                while count > 0 {
                    let part = count.min(u32::MAX.into()) as u32;
                    nodes.push(Node { sym, count: part });
                    count -= u64::from(part);
                }
            }
            starts.push(nodes.len() as u32);
        }
        Grammar::new(terminals, starts, nodes).unwrap_or_default()
    }

    /// A grammar from its parts; none if a rule names itself or a later one, or
    /// stands for more than can be counted.
    pub(crate) fn new(terminals: u32, starts: Vec<u32>, nodes: Vec<Node>) -> Option<Grammar> {
        let mut lens: Vec<u64> = Vec::with_capacity(starts.len());
        for pair in starts.windows(2) {
            let mut len = 0u64;
            for node in nodes.get(pair[0] as usize..pair[1] as usize)? {
                let one = match node.sym.checked_sub(terminals) {
                    None => 1,
                    Some(rule) => *lens.get(rule as usize)?,
                };
                // Nothing that stands for nothing: a cursor must move.
                if node.count == 0 || one == 0 {
                    return None;
                }
                len = len.checked_add(one.checked_mul(node.count.into())?)?;
            }
            lens.push(len);
        }
        Some(Grammar { terminals, starts, nodes, lens })
    }

    /// The same sequence as one rule of runs.
    pub(crate) fn of_runs(terminals: u32, nodes: Vec<Node>) -> Option<Grammar> {
        Grammar::new(terminals, vec![0, nodes.len() as u32], nodes)
    }

    /// Terminals are the numbers below this.
    #[must_use]
    pub fn terminals(&self) -> u32 {
        self.terminals
    }

    /// How many rules there are, the sequence itself included.
    #[must_use]
    pub fn rules(&self) -> u32 {
        self.lens.len() as u32
    }

    #[must_use]
    pub fn body(&self, rule: u32) -> &[Node] {
        let (from, to) = (self.starts[rule as usize], self.starts[rule as usize + 1]);
        &self.nodes[from as usize..to as usize]
    }

    /// The symbol that stands for a rule.
    #[must_use]
    pub fn symbol_of(&self, rule: u32) -> u32 {
        self.terminals + rule
    }

    /// The rule a symbol stands for; none for a terminal.
    #[must_use]
    #[inline]
    pub fn rule_of(&self, sym: u32) -> Option<u32> {
        sym.checked_sub(self.terminals)
    }

    #[inline]
    pub(crate) fn range(&self, rule: u32) -> (u32, u32) {
        (self.starts[rule as usize], self.starts[rule as usize + 1])
    }

    #[inline]
    pub(crate) fn node(&self, at: u32) -> Node {
        self.nodes[at as usize]
    }

    /// Symbols a symbol stands for.
    #[must_use]
    #[inline]
    pub fn width(&self, sym: u32) -> u64 {
        self.rule_of(sym).map_or(1, |r| self.lens[r as usize])
    }

    /// Nodes of all rules.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.nodes.len()
    }

    /// Length of the sequence.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.lens.last().copied().unwrap_or(0)
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The sequence, from its beginning.
    pub fn symbols(&self) -> impl Iterator<Item = u32> + '_ {
        let mut stack = Vec::new();
        if let Some(last) = self.rules().checked_sub(1) {
            let (from, to) = self.range(last);
            stack.push((from, to, 0));
        }
        std::iter::from_fn(move || {
            loop {
                let (at, end, k) = stack.last_mut()?;
                if at == end {
                    stack.pop();
                    continue;
                }
                let node = self.node(*at);
                *k += 1;
                if *k == node.count {
                    (*at, *k) = (*at + 1, 0);
                }
                match self.rule_of(node.sym) {
                    None => return Some(node.sym),
                    Some(rule) => {
                        let (from, to) = self.range(rule);
                        stack.push((from, to, 0));
                    }
                }
            }
        })
    }
}

impl Grammar {
    /// The sequence from its beginning, as symbols with how often each comes in a row.
    pub fn runs(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        let mut stack = Vec::new();
        if let Some(last) = self.rules().checked_sub(1) {
            let (from, to) = self.range(last);
            stack.push((from, to, 0));
        }
        let mut held: Option<(u32, u64)> = None;
        std::iter::from_fn(move || {
            while let Some((at, end, done)) = stack.last_mut() {
                if at == end {
                    stack.pop();
                    continue;
                }
                let node = self.node(*at);
                let Some(rule) = self.rule_of(node.sym) else {
                    *at += 1;
                    let run = (node.sym, node.count.into());
                    match &mut held {
                        Some((sym, count)) if *sym == node.sym => *count += run.1,
                        _ => match held.replace(run) {
                            None => {}
                            ended => return ended,
                        },
                    }
                    continue;
                };
                *done += 1;
                if *done == node.count {
                    (*at, *done) = (*at + 1, 0);
                }
                let (from, to) = self.range(rule);
                stack.push((from, to, 0));
            }
            held.take()
        })
    }
}

/// `S -> A:2 38:2; A -> 23:1 38:6`
impl fmt::Display for Grammar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(last) = self.rules().checked_sub(1) else { return write!(f, "S ->") };
        let mut names = vec![last];
        let mut next = 0;
        while let Some(rule) = names.get(next).copied() {
            for node in self.body(rule) {
                if let Some(r) = self.rule_of(node.sym).filter(|r| !names.contains(r)) {
                    names.push(r);
                }
            }
            next += 1;
        }
        let name = |rule: u32| match names.iter().position(|n| *n == rule) {
            None | Some(0) => "S".to_owned(),
            Some(n @ 1..=18) => char::from(b'A' + n as u8 - 1).to_string(),
            Some(n) => format!("R{n}"),
        };
        for (i, rule) in names.iter().enumerate() {
            if i > 0 {
                write!(f, "; ")?;
            }
            write!(f, "{} ->", name(*rule))?;
            for node in self.body(*rule) {
                match self.rule_of(node.sym) {
                    None => write!(f, " {}:{}", node.sym, node.count)?,
                    Some(r) => write!(f, " {}:{}", name(r), node.count)?,
                }
            }
        }
        Ok(())
    }
}
