//! Control-flow facts: predecessors, traversal orders, dominators, control dependence, loops.
//!
//! Everything is computed on a plain [`Graph`] of numbered nodes, so that tests can use graphs that
//! no compiler would emit. Dominators follow Cooper, Harvey and Kennedy, *A Simple, Fast Dominance
//! Algorithm*: on graphs of the size of functions it is faster than the algorithms with better
//! asymptotic bounds, and it is a page long. Control dependence is that of Ferrante, Ottenstein and
//! Warren: the post-dominance frontier.

use crate::inst::Inst;
use crate::model::Function;

/// A directed graph with an entry, node 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    successors: Vec<Vec<u32>>,
    predecessors: Vec<Vec<u32>>,
    /// For each node, the successor that is reached only by an exception.
    handlers: Vec<Option<u32>>,
}

impl Graph {
    /// Builds a graph from the successors of each node. Repeated edges count once; edges to nodes
    /// that do not exist are dropped.
    #[must_use]
    pub fn new(mut successors: Vec<Vec<u32>>) -> Graph {
        let count = successors.len();
        let mut predecessors = vec![Vec::new(); count];
        // The last node found to have an edge to each node. Nodes are visited in order.
        let mut last_predecessor = vec![usize::MAX; count];
        for (from, list) in successors.iter_mut().enumerate() {
            list.retain(|to| match last_predecessor.get_mut(*to as usize) {
                Some(last) => std::mem::replace(last, from) != from,
                None => false,
            });
            for to in list {
                predecessors[*to as usize].push(from as u32);
            }
        }
        Graph { successors, predecessors, handlers: vec![None; count] }
    }

    /// The same graph with its exception edges, as pairs of node and handler.
    #[must_use]
    pub fn with_handlers(mut self, handlers: impl IntoIterator<Item = (u32, u32)>) -> Graph {
        for (node, handler) in handlers {
            if self.successors(node).contains(&handler) {
                self.handlers[node as usize] = Some(handler);
            }
        }
        self
    }

    /// The graph of the blocks of a function.
    #[must_use]
    pub fn of(function: &Function) -> Graph {
        let last = |end: u32| (end as usize).checked_sub(1).and_then(|i| function.code.get(i));
        let blocks = function.blocks.iter();
        let graph =
            Graph::new(blocks.map(|b| last(b.end).map(|i| i.successors()).unwrap_or_default()).collect());
        let handlers = function.blocks.iter().zip(0..).filter_map(|(block, number)| {
            let end = (block.end as usize).checked_sub(2)?;
            match function.code.get(end..block.end as usize)? {
                [Inst::Landing { .. }, Inst::Switch { cases, .. }] => Some((number, cases.first()?.1)),
                _ => None,
            }
        });
        graph.with_handlers(handlers.collect::<Vec<_>>())
    }

    /// The number of nodes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.successors.len()
    }

    /// Whether there are no nodes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.successors.is_empty()
    }

    /// The successors of a node, each once.
    #[must_use]
    pub fn successors(&self, node: u32) -> &[u32] {
        self.successors.get(node as usize).map_or(&[], Vec::as_slice)
    }

    /// The predecessors of a node, each once, in order.
    #[must_use]
    pub fn predecessors(&self, node: u32) -> &[u32] {
        self.predecessors.get(node as usize).map_or(&[], Vec::as_slice)
    }

    /// The nodes reachable from the entry in reverse postorder: each precedes its successors except
    /// along back edges.
    #[must_use]
    pub fn reverse_postorder(&self) -> Vec<u32> {
        reverse_postorder(&self.successors, 0)
    }

    /// Immediate dominators of the nodes reachable from the entry.
    #[must_use]
    pub fn dominators(&self) -> Dominators {
        Dominators::compute(&self.successors, &self.predecessors, 0)
    }

    /// Immediate post-dominators. All nodes without successors have an edge to a virtual exit,
    /// numbered [`Graph::len`]. Every node must reach the exit: in each group of nodes that cannot
    /// (an endless loop), the first in reverse postorder gets an edge to it. The choice is
    /// deterministic.
    ///
    /// Edges to exception handlers do not count. Any call may throw, and the code after a call that
    /// returned does not depend on that.
    #[must_use]
    pub fn post_dominators(&self) -> Dominators {
        let (forward, backward) = self.with_exit();
        Dominators::compute(&backward, &forward, self.len() as u32)
    }

    /// For each node, the nodes whose branch controls whether it runs: `b` depends on `a` if `b`
    /// post-dominates a successor of `a` but does not strictly post-dominate `a`. A handler depends
    /// on the calls with an edge to it.
    #[must_use]
    pub fn control_dependence(&self) -> Vec<Vec<u32>> {
        let (mut forward, backward) = self.with_exit();
        let post = Dominators::compute(&backward, &forward, self.len() as u32);
        for (list, handler) in forward.iter_mut().zip(&self.handlers) {
            list.extend(*handler);
        }
        let mut depends = vec![Vec::new(); self.len()];
        for a in 0..self.len() as u32 {
            for &s in &forward[a as usize] {
                // Climb the tree from the successor to the first node that strictly post-dominates
                // `a`.
                let mut at = Some(s);
                let decided = |b: &u32| (*b as usize) < self.len() && (*b == a || !post.dominates(*b, a));
                while let Some(b) = at.filter(decided) {
                    if depends[b as usize].last() != Some(&a) {
                        depends[b as usize].push(a);
                    }
                    at = post.immediate(b);
                }
            }
        }
        depends
    }

    /// Natural loops: for each header, the nodes that reach one of its back edges without passing
    /// it. Sorted by header; the nodes are sorted.
    #[must_use]
    pub fn loops(&self) -> Vec<Loop> {
        let dominators = self.dominators();
        let mut loops = Vec::new();
        for header in 0..self.len() as u32 {
            let latches: Vec<u32> = self
                .predecessors(header)
                .iter()
                .copied()
                .filter(|p| dominators.dominates(header, *p))
                .collect();
            if latches.is_empty() {
                continue;
            }
            let mut inside = vec![false; self.len()];
            inside[header as usize] = true;
            let mut work = latches.clone();
            while let Some(node) = work.pop() {
                if !inside[node as usize] && dominators.is_reachable(node) {
                    inside[node as usize] = true;
                    work.extend_from_slice(self.predecessors(node));
                }
            }
            let nodes = (0..self.len() as u32).filter(|n| inside[*n as usize]).collect();
            loops.push(Loop { header, latches, nodes });
        }
        loops
    }

    /// Successors and predecessors, with the virtual exit as last node.
    fn with_exit(&self) -> (Vec<Vec<u32>>, Vec<Vec<u32>>) {
        let exit = self.len() as u32;
        let mut forward = self.successors.clone();
        let mut backward = self.predecessors.clone();
        for (node, handler) in self.handlers.iter().enumerate() {
            if let Some(handler) = *handler {
                forward[node].retain(|to| *to != handler);
                backward[handler as usize].retain(|from| *from as usize != node);
            }
        }
        forward.push(Vec::new());
        let mut last = Vec::new();
        let mut leaves = vec![false; self.len()];
        let mut join = |node: u32, leaves: &mut Vec<bool>| {
            last.push(node);
            let mut work = vec![node];
            while let Some(n) = work.pop() {
                if !std::mem::replace(&mut leaves[n as usize], true) {
                    work.extend_from_slice(&backward[n as usize]);
                }
            }
        };
        for node in (0..exit).filter(|n| forward[*n as usize].is_empty()) {
            join(node, &mut leaves);
        }
        // Unreachable nodes are last, in order.
        for node in self.reverse_postorder().into_iter().chain(0..exit) {
            if !leaves[node as usize] {
                join(node, &mut leaves);
            }
        }
        for node in &last {
            forward[*node as usize].push(exit);
        }
        backward.push(last);
        (forward, backward)
    }
}

/// A natural loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// Dominates all other nodes.
    pub header: u32,
    /// Nodes with a back edge to the header.
    pub latches: Vec<u32>,
    /// All nodes, including the header.
    pub nodes: Vec<u32>,
}

/// A tree of immediate dominators (or post-dominators).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dominators {
    root: u32,
    /// `u32::MAX` for nodes that are not reachable from the root.
    immediate: Vec<u32>,
    /// Distance from the root, at which `dominates` stops.
    depth: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Dominators {
    fn compute(successors: &[Vec<u32>], predecessors: &[Vec<u32>], root: u32) -> Dominators {
        let order = reverse_postorder(successors, root);
        let mut rank = vec![NONE; successors.len()];
        for (i, node) in order.iter().enumerate() {
            rank[*node as usize] = i as u32;
        }
        let mut immediate = vec![NONE; successors.len()];
        if let Some(place) = immediate.get_mut(root as usize) {
            *place = root;
        }
        let mut changed = true;
        while changed {
            changed = false;
            for &node in order.iter().skip(1) {
                let mut best = NONE;
                for &p in &predecessors[node as usize] {
                    if immediate[p as usize] == NONE {
                        continue;
                    }
                    best = if best == NONE { p } else { meet(&immediate, &rank, best, p) };
                }
                if immediate[node as usize] != best {
                    immediate[node as usize] = best;
                    changed = true;
                }
            }
        }
        let mut depth = vec![0; successors.len()];
        for &node in order.iter().skip(1) {
            depth[node as usize] = depth[immediate[node as usize] as usize] + 1;
        }
        Dominators { root, immediate, depth }
    }

    /// The closest strict dominator; none for the root and for unreachable nodes.
    #[must_use]
    pub fn immediate(&self, node: u32) -> Option<u32> {
        let parent = *self.immediate.get(node as usize)?;
        (parent != NONE && node != self.root).then_some(parent)
    }

    /// Whether the node is reachable from the root.
    #[must_use]
    pub fn is_reachable(&self, node: u32) -> bool {
        self.immediate.get(node as usize).is_some_and(|p| *p != NONE)
    }

    /// Whether every path from the root to `b` passes `a`. A node dominates itself. False if one of
    /// them is unreachable.
    #[must_use]
    pub fn dominates(&self, a: u32, b: u32) -> bool {
        if !self.is_reachable(a) || !self.is_reachable(b) {
            return false;
        }
        let mut at = b;
        while self.depth[at as usize] > self.depth[a as usize] {
            at = self.immediate[at as usize];
        }
        at == a
    }
}

/// The closest common ancestor in the partial tree.
fn meet(immediate: &[u32], rank: &[u32], mut a: u32, mut b: u32) -> u32 {
    while a != b {
        while rank[a as usize] > rank[b as usize] {
            a = immediate[a as usize];
        }
        while rank[b as usize] > rank[a as usize] {
            b = immediate[b as usize];
        }
    }
    a
}

fn reverse_postorder(successors: &[Vec<u32>], root: u32) -> Vec<u32> {
    let mut seen = vec![false; successors.len()];
    let mut order = Vec::new();
    let Some(first) = seen.get_mut(root as usize) else { return order };
    *first = true;
    let mut stack = vec![(root, 0)];
    while let Some((node, next)) = stack.last_mut() {
        match successors[*node as usize].get(*next) {
            Some(&to) => {
                *next += 1;
                if !std::mem::replace(&mut seen[to as usize], true) {
                    stack.push((to, 0));
                }
            }
            None => {
                order.push(*node);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}
