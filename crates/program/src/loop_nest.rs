//! Loop nesting of a function, and the iteration counts of a run.

use crate::cfg::Graph;

/// The loops that contain each block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopNest {
    /// Loop depth of each block.
    depth: Vec<u32>,
    /// For a loop header, the membership of each block.
    inside: Vec<Option<Vec<bool>>>,
    /// Position of each block in reverse postorder, to detect cycles that are not natural loops.
    rank: Vec<u32>,
}

impl LoopNest {
    /// Finds the loops of a graph.
    #[must_use]
    pub fn of(graph: &Graph) -> LoopNest {
        let mut loop_nest = LoopNest {
            depth: vec![0; graph.len()],
            inside: vec![None; graph.len()],
            rank: vec![u32::MAX; graph.len()],
        };
        for l in graph.loops() {
            let mut inside = vec![false; graph.len()];
            for node in &l.nodes {
                inside[*node as usize] = true;
                loop_nest.depth[*node as usize] += 1;
            }
            loop_nest.inside[l.header as usize] = Some(inside);
        }
        for (i, node) in graph.reverse_postorder().into_iter().enumerate() {
            loop_nest.rank[node as usize] = i as u32;
        }
        loop_nest
    }

    /// The number of loops that contain a block.
    #[must_use]
    pub fn depth(&self, block: u32) -> usize {
        self.depth.get(block as usize).map_or(0, |d| *d as usize)
    }

    /// The blocks of the loop with this header, as a membership vector.
    #[must_use]
    pub fn body(&self, header: u32) -> Option<&[bool]> {
        self.inside.get(header as usize)?.as_deref()
    }

    /// Headers of the loops that contain a block, outermost first.
    #[must_use]
    pub fn headers(&self, block: u32) -> Vec<u32> {
        let mut headers: Vec<u32> = (0..self.inside.len() as u32)
            .filter(|h| self.body(*h).is_some_and(|b| b.get(block as usize) == Some(&true)))
            .collect();
        headers.sort_by_key(|h| self.depth(*h));
        headers
    }

    /// Updates iteration counts for an edge. `counts` has, from `base`, the iterations of the loops
    /// that contain `from`; afterwards of those that contain `to`. Returns whether the edge closes
    /// a cycle that is not a natural loop.
    #[inline]
    pub fn pass(&self, counts: &mut Vec<u32>, base: usize, from: u32, to: u32) -> bool {
        counts.resize(base + self.depth(to), 0);
        if let (Some(inside), Some(count)) = (self.body(to), counts.last_mut()) {
            if inside[from as usize] {
                *count = count.wrapping_add(1);
                return false;
            }
            *count = 0;
        }
        self.rank.get(to as usize) <= self.rank.get(from as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cfg::Loop;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn walk(graph: &Graph, turns: &[usize]) -> Vec<u32> {
        let mut at = 0;
        let mut nodes = vec![0];
        for turn in turns {
            let next = graph.successors(at);
            if next.is_empty() {
                break;
            }
            at = next[turn % next.len()];
            nodes.push(at);
        }
        nodes
    }

    /// Iterations of each loop, counted separately: back edges to the header since the loop was
    /// entered from outside.
    fn brute_force(loops: &[Loop], nodes: &[u32]) -> Vec<u32> {
        let here = nodes[nodes.len() - 1];
        let mut around: Vec<&Loop> = loops.iter().filter(|l| l.nodes.contains(&here)).collect();
        around.sort_by_key(|l| std::cmp::Reverse(l.nodes.len()));
        let count = |l: &Loop| {
            let mut count = 0;
            for pair in nodes.windows(2).filter(|p| p[1] == l.header) {
                count = if l.nodes.contains(&pair[0]) { count + 1 } else { 0 };
            }
            count
        };
        around.into_iter().map(count).collect()
    }

    proptest! {
        #[test]
        fn iterations_are_those_of_each_loop_by_itself(
            edges in proptest::collection::vec(proptest::collection::vec(0..9u32, 0..3), 9),
            turns in proptest::collection::vec(0..6usize, 0..60),
        ) {
            let graph = Graph::new(edges);
            let loop_nest = LoopNest::of(&graph);
            let loops = graph.loops();
            let nodes = walk(&graph, &turns);
            // The slot below `base` belongs to another frame.
            let mut counts = vec![77];
            // The entry block may be a loop header.
            counts.resize(1 + loop_nest.depth(0), 0);
            for i in 1..nodes.len() {
                loop_nest.pass(&mut counts, 1, nodes[i - 1], nodes[i]);
                prop_assert_eq!(&counts[1..], &brute_force(&loops, &nodes[..=i])[..]);
            }
            prop_assert_eq!(counts[0], 77);
        }

        /// Either iteration counts and block identify a moment uniquely, or the cycle is not a
        /// natural loop and `pass` reported it.
        #[test]
        fn no_block_runs_twice_in_one_iteration(
            edges in proptest::collection::vec(proptest::collection::vec(0..7u32, 0..3), 7),
            turns in proptest::collection::vec(0..6usize, 0..50),
        ) {
            let graph = Graph::new(edges);
            let loop_nest = LoopNest::of(&graph);
            let nodes = walk(&graph, &turns);
            let (mut counts, mut odd) = (vec![0; loop_nest.depth(0)], 0);
            let mut seen = HashSet::from([(0, counts.clone(), odd)]);
            for i in 1..nodes.len() {
                odd += u32::from(loop_nest.pass(&mut counts, 0, nodes[i - 1], nodes[i]));
                prop_assert!(seen.insert((nodes[i], counts.clone(), odd)), "block {} of {nodes:?}", nodes[i]);
            }
        }
    }
}
