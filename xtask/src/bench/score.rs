//! The score of a report: the share of the program that can be ignored (Renieris and Reiss, *Fault
//! Localization With Nearest Neighbor Queries*).
//!
//! An ideal programmer examines the reported lines, then all nodes one edge of the program dependence graph
//! away from them, and so on, forwards and backwards, until a faulty line is found. The score is the share of
//! the graph not examined by then; an empty report scores 0.

use serde_json::Value;
use std::collections::BTreeSet;

/// A program dependence graph.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// The line of each node.
    pub lines: Vec<u64>,
    pub edges: Vec<(usize, usize)>,
}

impl Graph {
    /// Reads the output of `relapse dump dependences --json`, for one file given by a suffix of its path.
    pub fn read(json: &Value, file: &str) -> Option<Graph> {
        let nodes = json["lines"].as_array()?;
        let mut kept = Vec::new();
        let mut graph = Graph::default();
        for node in nodes {
            let is_of_file = node["file"].as_str().is_some_and(|path| path.ends_with(file));
            kept.push(is_of_file.then_some(graph.lines.len()));
            if is_of_file {
                graph.lines.push(node["line"].as_u64()?);
            }
        }
        for edge in json["edges"].as_array()? {
            let end = |n: usize| kept.get(edge[n].as_u64()? as usize).copied().flatten();
            graph.edges.extend(end(0).zip(end(1)));
        }
        Some(graph)
    }

    /// The score of a report. `None` if the graph has no faulty line, or none is reachable.
    pub fn score(&self, reported: &[u64], faulty: &[u64]) -> Option<f64> {
        let nodes = |lines: &[u64]| -> BTreeSet<usize> {
            (0..self.lines.len()).filter(|n| lines.contains(&self.lines[*n])).collect()
        };
        let faults = nodes(faulty);
        let blamed = nodes(reported);
        if faults.is_empty() {
            return None;
        }
        // Forward and backward reachability are two separate searches: a path does not change direction.
        let (mut forward, mut backward) = (blamed.clone(), blamed);
        loop {
            let seen: BTreeSet<usize> = forward.union(&backward).copied().collect();
            if !seen.is_disjoint(&faults) {
                return Some(1.0 - seen.len() as f64 / self.lines.len() as f64);
            }
            let before = forward.len() + backward.len();
            let ahead = self.edges.iter().filter(|(from, _)| forward.contains(from)).map(|(_, to)| *to);
            let ahead: Vec<usize> = ahead.collect();
            let behind = self.edges.iter().filter(|(_, to)| backward.contains(to)).map(|(from, _)| *from);
            let behind: Vec<usize> = behind.collect();
            forward.extend(ahead);
            backward.extend(behind);
            if forward.len() + backward.len() == before {
                return Some(0.0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// F15: the defect (9) is two edges from the reported node (1); eight nodes are within that distance.
    #[test]
    fn f15_what_is_as_near_as_the_defect_has_to_be_looked_at() {
        let edges = [(1, 2), (1, 3), (4, 1), (2, 9), (3, 5), (6, 4), (7, 4), (9, 8), (8, 10), (10, 11)];
        let graph = Graph {
            lines: (0..12).collect(),
            edges: edges.iter().map(|(from, to)| (*from as usize, *to as usize)).collect(),
        };
        assert_eq!(graph.score(&[1], &[9]), Some(1.0 - 8.0 / 12.0));
        assert_eq!(graph.score(&[9], &[9]), Some(1.0 - 1.0 / 12.0));
        // Nothing is reported, or the fault is unreachable.
        assert_eq!(graph.score(&[], &[9]), Some(0.0));
        assert_eq!(graph.score(&[0], &[9]), Some(0.0));
        assert_eq!(graph.score(&[1], &[99]), None);
    }

    /// Two lines with a common predecessor are not reachable from each other.
    #[test]
    fn a_path_does_not_turn() {
        let graph = Graph { lines: vec![1, 2, 3], edges: vec![(0, 1), (0, 2)] };
        assert_eq!(graph.score(&[2], &[3]), Some(0.0));
    }

    #[test]
    fn a_printed_graph_is_read() {
        let json = serde_json::json!({
            "lines": [{"file": "/x/p.c", "line": 3}, {"file": "/usr/stdio.h", "line": 9}, {"file": "/x/p.c", "line": 4}],
            "edges": [[0, 2], [1, 2]],
        });
        let graph = Graph::read(&json, "/p.c").unwrap();
        assert_eq!((graph.lines, graph.edges), (vec![3, 4], vec![(0, 1)]));
    }
}
