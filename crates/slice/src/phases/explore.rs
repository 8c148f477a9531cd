//! The alternative to hierarchical slices: a breadth-first search along dependence chains of length 1, 2,
//! and so on, from the criterion, until it reaches the faulty line. It is the baseline for the effort that
//! hierarchical slices save.

use super::Phased;
use crate::slice::NodeId;

/// The effort of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExplorationCost {
    /// Length of the shortest chain to an execution of the line.
    pub length: usize,
    /// Executions at the ends of chains of at most this length.
    pub examined: usize,
}

impl Phased<'_, '_> {
    /// Searches from a node for the line of another node. `None` if no chain leads there.
    #[must_use]
    pub fn explore(&self, from: NodeId, to: NodeId) -> Option<ExplorationCost> {
        let place = |node: NodeId| {
            let site = self.slice.nodes[node as usize].site;
            (site.module, site.function, self.line(node))
        };
        let wanted = place(to);
        let needs = |node: NodeId| self.needs.of(node).iter().map(|(n, _)| *n);
        explore(self.slice.nodes.len(), from, needs, |node| place(node) == wanted)
    }
}

/// The same search on any graph.
fn explore<I: Iterator<Item = NodeId>>(
    nodes: usize,
    from: NodeId,
    needs: impl Fn(NodeId) -> I,
    wanted: impl Fn(NodeId) -> bool,
) -> Option<ExplorationCost> {
    let mut seen = vec![false; nodes];
    *seen.get_mut(from as usize)? = true;
    let mut front = vec![from];
    let (mut length, mut examined) = (0, 0);
    while !front.is_empty() {
        examined += front.len();
        if front.iter().any(|n| wanted(*n)) {
            return Some(ExplorationCost { length, examined });
        }
        let mut next = Vec::new();
        for producer in front.into_iter().flat_map(&needs) {
            if !std::mem::replace(&mut seen[producer as usize], true) {
                next.push(producer);
            }
        }
        front = next;
        length += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Compares with all-pairs shortest paths (Floyd and Warshall).
        #[test]
        fn chains_are_shortest(edges in proptest::collection::vec((0u32..8, 0u32..8), 0..20), to in 0u32..8) {
            let mut far = [[usize::MAX / 4; 8]; 8];
            for (i, row) in far.iter_mut().enumerate() { row[i] = 0; }
            for (a, b) in &edges { if a != b { far[*a as usize][*b as usize] = 1; } }
            for k in 0..8 { for i in 0..8 { for j in 0..8 {
                far[i][j] = far[i][j].min(far[i][k] + far[k][j]);
            } } }
            let needs = |n: NodeId| edges.iter().filter(move |e| e.0 == n).map(|e| e.1);
            let found = explore(8, 0, needs, |n| n == to);
            let length = far[0][to as usize];
            let expected = (length < 8).then(|| ExplorationCost {
                length,
                examined: far[0].iter().filter(|d| **d <= length).count(),
            });
            prop_assert_eq!(found, expected);
        }
    }
}
