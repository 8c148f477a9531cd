//! Walking a grammar from its end to its beginning, without unfolding it.
//!
//! The place is the way from the sequence's rule down to a symbol: for each rule on
//! it the node, and how many of that node's copies lie behind. A step back goes up
//! to the first node with copies (or neighbours) left and down again to the last
//! symbol below it: constant time, amortised.

use crate::grammar::Grammar;

/// One edge of the way: a node and how many of its copies have been entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Edge {
    node: u32,
    /// First node of the rule.
    first: u32,
    done: u32,
}

/// A place in a grammar. It does not hold the grammar, which many may share; every
/// call must be given the same one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    path: Vec<Edge>,
    left: u64,
}

impl Cursor {
    /// Behind the last symbol.
    #[must_use]
    pub fn at_end(grammar: &Grammar) -> Cursor {
        let mut cursor = Cursor { path: Vec::new(), left: grammar.len() };
        if let Some(last) = grammar.rules().checked_sub(1)
            && !grammar.is_empty()
        {
            let (first, end) = grammar.range(last);
            cursor.path.push(Edge { node: end - 1, first, done: 0 });
        }
        cursor
    }

    /// Symbols before the place.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Steps back over one symbol.
    #[inline]
    pub fn back(&mut self, grammar: &Grammar) -> Option<u32> {
        let edge = self.path.last_mut()?;
        let node = grammar.node(edge.node);
        if edge.done < node.count && grammar.rule_of(node.sym).is_none() {
            edge.done += 1;
            self.left -= 1;
            return Some(node.sym);
        }
        self.back_slowly(grammar)
    }

    fn back_slowly(&mut self, grammar: &Grammar) -> Option<u32> {
        loop {
            let edge = self.path.last_mut()?;
            let node = grammar.node(edge.node);
            if edge.done == node.count {
                if edge.node > edge.first {
                    *edge = Edge { node: edge.node - 1, done: 0, ..*edge };
                } else {
                    self.path.pop();
                }
                continue;
            }
            edge.done += 1;
            match grammar.rule_of(node.sym) {
                None => {
                    self.left -= 1;
                    return Some(node.sym);
                }
                Some(rule) => {
                    let (first, end) = grammar.range(rule);
                    self.path.push(Edge { node: end - 1, first, done: 0 });
                }
            }
        }
    }

    /// Steps back over at most `n` symbols, whole runs and rules at a time. `passed`
    /// is told each, with its number of copies.
    pub fn skip(&mut self, grammar: &Grammar, n: u64, mut passed: impl FnMut(u32, u64)) {
        let mut n = n.min(self.left);
        self.left -= n;
        while n > 0 {
            let Some(edge) = self.path.last_mut() else { return };
            let node = grammar.node(edge.node);
            if edge.done == node.count {
                if edge.node > edge.first {
                    *edge = Edge { node: edge.node - 1, done: 0, ..*edge };
                } else {
                    self.path.pop();
                }
                continue;
            }
            let width = grammar.width(node.sym);
            let copies = (n / width).min(u64::from(node.count - edge.done));
            if copies > 0 {
                edge.done += copies as u32;
                n -= copies * width;
                passed(node.sym, copies);
                continue;
            }
            edge.done += 1;
            if let Some(rule) = grammar.rule_of(node.sym) {
                let (first, end) = grammar.range(rule);
                self.path.push(Edge { node: end - 1, first, done: 0 });
            }
        }
    }

    /// Steps back over a symbol and all copies of it that come with it.
    pub fn back_run(&mut self, grammar: &Grammar) -> Option<(u32, u32)> {
        let symbol = self.back(grammar)?;
        let edge = self.path.last_mut()?;
        let more = grammar.node(edge.node).count - edge.done;
        edge.done += more;
        self.left -= u64::from(more);
        Some((symbol, more + 1))
    }

    /// The symbol that [`Cursor::back`] would return, and how many copies of it are
    /// certain to come in a row.
    #[must_use]
    pub fn run(&self, grammar: &Grammar) -> Option<(u32, u32)> {
        let edge = self.path.last()?;
        let node = grammar.node(edge.node);
        (edge.done < node.count && grammar.rule_of(node.sym).is_none())
            .then(|| (node.sym, node.count - edge.done))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rlese::Rlese;
    use proptest::prelude::*;

    fn grammar(symbols: &[u32]) -> Grammar {
        let mut all = Rlese::new();
        symbols.iter().for_each(|s| all.push(*s));
        all.finish()
    }

    /// The way of the paper's figure: `S -> A:2 c:1 A:1, A -> a:1 b:2`.
    #[test]
    fn the_cursor_of_the_paper() {
        let (a, b, c) = (1, 2, 3);
        let g = grammar(&[a, b, b, a, b, b, c, a, b, b]);
        let mut cursor = Cursor::at_end(&g);
        // Each place as (count of the node, copies entered), from the sequence down.
        let way = |cursor: &Cursor| -> Vec<(u32, u32)> {
            cursor.path.iter().map(|e| (g.node(e.node).count, e.done)).collect()
        };
        let mut seen = Vec::new();
        while let Some(symbol) = cursor.back(&g) {
            seen.push((symbol, way(&cursor)));
        }
        let expected = [
            (b, vec![(1, 1), (2, 1)]),
            (b, vec![(1, 1), (2, 2)]),
            (a, vec![(1, 1), (1, 1)]),
            (c, vec![(1, 1)]),
            (b, vec![(2, 1), (2, 1)]),
            (b, vec![(2, 1), (2, 2)]),
            (a, vec![(2, 1), (1, 1)]),
            (b, vec![(2, 2), (2, 1)]),
            (b, vec![(2, 2), (2, 2)]),
            (a, vec![(2, 2), (1, 1)]),
        ];
        assert_eq!(seen, expected);
        assert_eq!((cursor.left(), cursor.back(&g)), (0, None));
    }

    proptest! {
        #[test]
        fn backwards_is_forwards_reversed(
            symbols in proptest::collection::vec(0u32..3, 0..200),
            jumps in proptest::collection::vec(0u64..40, 0..20),
        ) {
            let g = grammar(&symbols);
            let mut cursor = Cursor::at_end(&g);
            let mut back = Vec::new();
            while let Some(s) = cursor.back(&g) {
                back.push(s);
            }
            back.reverse();
            prop_assert_eq!(&back, &symbols);
            let mut cursor = Cursor::at_end(&g);
            let mut runs = Vec::new();
            while let Some((s, copies)) = cursor.back_run(&g) {
                runs.extend(std::iter::repeat_n(s, copies as usize));
                prop_assert_eq!(cursor.left() as usize + runs.len(), symbols.len());
            }
            runs.reverse();
            prop_assert_eq!(&runs, &symbols);
            let mut cursor = Cursor::at_end(&g);
            let mut at = symbols.len() as u64;
            for jump in jumps {
                let mut width = 0;
                cursor.skip(&g, jump, |sym, copies| width += g.width(sym) * copies);
                let moved = jump.min(at);
                prop_assert_eq!(width, moved);
                at -= moved;
                prop_assert_eq!(cursor.left(), at);
                if let Some((sym, count)) = cursor.run(&g) {
                    let from = (at - u64::from(count)) as usize;
                    prop_assert!(symbols[from..at as usize].iter().all(|s| *s == sym));
                }
                let one = cursor.back(&g);
                prop_assert_eq!(one, at.checked_sub(1).map(|i| symbols[i as usize]));
                at = at.saturating_sub(1);
            }
        }
    }
}
