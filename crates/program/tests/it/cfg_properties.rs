//! Tests control-flow facts against their definitions, on random graphs.

use program::cfg::Graph;
use proptest::prelude::*;

/// Up to 10 nodes with up to 3 successors each, some of which do not exist.
fn graphs() -> impl Strategy<Value = Vec<Vec<u32>>> {
    (1usize..10).prop_flat_map(|n| prop::collection::vec(prop::collection::vec(0..n as u32 + 1, 0..4), n))
}

/// The nodes reachable from `from` without passing `without`, including `from`.
fn reach(successors: &[Vec<u32>], from: u32, without: Option<u32>) -> Vec<bool> {
    let mut seen = vec![false; successors.len()];
    let mut work = vec![from];
    while let Some(n) = work.pop() {
        if Some(n) != without && !std::mem::replace(&mut seen[n as usize], true) {
            work.extend(&successors[n as usize]);
        }
    }
    seen
}

/// `a` dominates `b`: `b` is reachable, but not without `a`.
fn dominates(successors: &[Vec<u32>], root: u32, a: u32, b: u32) -> bool {
    reach(successors, root, None)[b as usize]
        && (a == b || !reach(successors, root, Some(a))[b as usize])
        && reach(successors, root, None)[a as usize]
}

fn plain(graph: &Graph) -> Vec<Vec<u32>> {
    (0..graph.len() as u32).map(|n| graph.successors(n).to_vec()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn edges_are_the_same_both_ways(edges in graphs()) {
        let graph = Graph::new(edges.clone());
        let n = graph.len() as u32;
        for a in 0..n {
            for b in 0..n {
                let there = edges[a as usize].contains(&b);
                prop_assert_eq!(graph.successors(a).iter().filter(|s| **s == b).count(), usize::from(there));
                prop_assert_eq!(graph.predecessors(b).iter().filter(|p| **p == a).count(), usize::from(there));
            }
        }
    }

    #[test]
    fn reverse_postorder_has_reachable_nodes_and_forward_edges(edges in graphs()) {
        let graph = Graph::new(edges);
        let order = graph.reverse_postorder();
        let reachable = reach(&plain(&graph), 0, None);
        prop_assert_eq!(order.len(), reachable.iter().filter(|r| **r).count());
        let rank = |n: u32| order.iter().position(|o| *o == n);
        // An edge that goes backwards in the order closes a cycle.
        for &a in &order {
            for &b in graph.successors(a) {
                if rank(b) <= rank(a) {
                    prop_assert!(reach(&plain(&graph), b, None)[a as usize]);
                }
            }
        }
    }

    #[test]
    fn dominators_match_the_definition(edges in graphs()) {
        let graph = Graph::new(edges);
        let (plain, found) = (plain(&graph), graph.dominators());
        let n = graph.len() as u32;
        for b in 0..n {
            for a in 0..n {
                prop_assert_eq!(found.dominates(a, b), dominates(&plain, 0, a, b), "{} {}", a, b);
            }
            // The immediate dominator is dominated by all other strict dominators.
            let strict: Vec<u32> = (0..n).filter(|a| *a != b && dominates(&plain, 0, *a, b)).collect();
            match found.immediate(b) {
                None => prop_assert!(strict.is_empty()),
                Some(i) => {
                    prop_assert!(strict.contains(&i));
                    prop_assert!(strict.iter().all(|a| dominates(&plain, 0, *a, i)));
                }
            }
        }
    }

    #[test]
    fn post_dominators_and_control_dependence_match_the_definition(edges in graphs()) {
        let graph = Graph::new(edges);
        let n = graph.len() as u32;
        let exit = n;
        let post = graph.post_dominators();
        // The edges to the virtual exit, by the rule in the documentation of `post_dominators`.
        let mut forward = plain(&graph);
        forward.push(Vec::new());
        for a in 0..n {
            if graph.successors(a).is_empty() {
                forward[a as usize].push(exit);
            }
        }
        for a in graph.reverse_postorder().into_iter().chain(0..n) {
            if !reach(&forward, a, None)[exit as usize] {
                forward[a as usize].push(exit);
            }
        }
        let mut backward = vec![Vec::new(); forward.len()];
        for (a, list) in forward.iter().enumerate() {
            for b in list {
                backward[*b as usize].push(a as u32);
            }
        }
        let depends = graph.control_dependence();
        for a in 0..n {
            prop_assert!(post.is_reachable(a));
            for b in 0..n {
                let expected = dominates(&backward, exit, b, a);
                prop_assert_eq!(post.dominates(b, a), expected, "post {} {}", b, a);
                let strictly = a != b && expected;
                let decided = !strictly
                    && forward[a as usize].iter().any(|s| dominates(&backward, exit, b, *s));
                prop_assert_eq!(depends[b as usize].contains(&a), decided, "{} on {}", b, a);
            }
        }
    }

    #[test]
    fn loops_match_the_definition(edges in graphs()) {
        let graph = Graph::new(edges);
        let plain = plain(&graph);
        let n = graph.len() as u32;
        let loops = graph.loops();
        for h in 0..n {
            let latches: Vec<u32> = (0..n)
                .filter(|l| plain[*l as usize].contains(&h) && dominates(&plain, 0, h, *l))
                .collect();
            let found = loops.iter().find(|l| l.header == h);
            prop_assert_eq!(found.is_some(), !latches.is_empty());
            let Some(found) = found else { continue };
            prop_assert_eq!(&found.latches, &latches);
            for node in 0..n {
                let inside = node == h
                    || (reach(&plain, 0, None)[node as usize]
                        && latches.iter().any(|l| reach(&plain, node, Some(h))[*l as usize]));
                prop_assert_eq!(found.nodes.contains(&node), inside, "{} in loop of {}", node, h);
            }
        }
    }
}

#[test]
fn an_if_decides_its_arms_and_not_what_follows() {
    //   0 -> 1, 2; both -> 3
    let graph = Graph::new(vec![vec![1, 2], vec![3], vec![3], vec![]]);
    assert_eq!(graph.control_dependence(), [vec![], vec![0], vec![0], vec![]]);
    assert_eq!(graph.post_dominators().immediate(0), Some(3));
    assert_eq!(graph.dominators().immediate(3), Some(0));
    assert!(graph.loops().is_empty());
}

#[test]
fn a_call_decides_its_handler_and_not_what_follows_its_return() {
    //  0 calls: -> 1, or 2 by an exception; 1 calls: -> 3, or 4; 2 -> 3; 4 propagates it
    let edges = vec![vec![1, 2], vec![3, 4], vec![3], vec![], vec![]];
    let plain = Graph::new(edges.clone());
    assert_eq!(plain.control_dependence(), [vec![], vec![0], vec![0], vec![0, 1], vec![1]]);
    let graph = Graph::new(edges).with_handlers([(0, 2), (1, 4)]);
    assert_eq!(graph.control_dependence(), [vec![], vec![], vec![0], vec![], vec![1]]);
    assert_eq!(graph.post_dominators().immediate(0), Some(1));
    // Handlers that are not successors are ignored.
    let other = Graph::new(vec![vec![1], vec![]]).with_handlers([(0, 7), (9, 1)]);
    assert_eq!(other, Graph::new(vec![vec![1], vec![]]));
}

#[test]
fn a_loop_decides_itself() {
    //   0 -> 1; 1 -> 2, 3; 2 -> 1
    let graph = Graph::new(vec![vec![1], vec![2, 3], vec![1], vec![]]);
    assert_eq!(graph.control_dependence(), [vec![], vec![1], vec![1], vec![]]);
    let loops = graph.loops();
    assert_eq!((loops[0].header, loops[0].nodes.as_slice()), (1, &[1, 2][..]));
}

#[test]
fn graphs_without_an_end_and_without_nodes() {
    let endless = Graph::new(vec![vec![1], vec![1]]);
    assert!(endless.post_dominators().is_reachable(0));
    let none = Graph::new(Vec::new());
    assert!(none.reverse_postorder().is_empty() && none.loops().is_empty());
    assert!(none.control_dependence().is_empty());
    assert!(none.dominators().immediate(0).is_none());
}
