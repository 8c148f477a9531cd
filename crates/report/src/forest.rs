//! The causes as a flat list, and the selection of those to show if there are many.
//!
//! Cause chains can be thousands of nodes deep, so no function here recurses.

use std::collections::VecDeque;

use explain::answer::Cause;

/// Default number of steps shown.
pub const STEPS: usize = 10;

/// A cause, with its neighbours as indices into the list.
#[derive(Clone, Debug)]
pub struct Node<'a> {
    pub cause: &'a Cause,
    pub parent: Option<usize>,
    pub children: Vec<usize>,
    /// Number of edges to the failure at the root.
    pub depth: usize,
    /// Number of edges to the deepest descendant.
    pub height: usize,
    /// This node or a descendant is on a changed line.
    pub leads_to_change: bool,
}

/// All causes in preorder, from the failures: parents precede their children, and children keep the
/// order of the answer.
#[must_use]
pub fn flatten(causes: &[Cause]) -> Vec<Node<'_>> {
    let mut nodes: Vec<Node<'_>> = Vec::new();
    let mut open: Vec<(&Cause, Option<usize>)> = causes.iter().rev().map(|cause| (cause, None)).collect();
    while let Some((cause, parent)) = open.pop() {
        let index = nodes.len();
        let depth = parent.map_or(0, |parent: usize| {
            nodes[parent].children.push(index);
            nodes[parent].depth + 1
        });
        let leads_to_change = cause.change.is_some();
        nodes.push(Node { cause, parent, children: Vec::new(), depth, height: 0, leads_to_change });
        open.extend(cause.children.iter().rev().map(|child| (child, Some(index))));
    }
    for index in (0..nodes.len()).rev() {
        if let Some(parent) = nodes[index].parent {
            nodes[parent].height = nodes[parent].height.max(nodes[index].height + 1);
            nodes[parent].leads_to_change |= nodes[index].leads_to_change;
        }
    }
    nodes
}

/// The part of a forest that is shown: the selected nodes, and where the hidden ones are counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    pub shown: Vec<bool>,
    /// For a shown node, its nearest shown ancestor.
    pub parent: Vec<Option<usize>>,
    /// For a shown node, the shown nodes whose nearest shown ancestor it is, in order.
    pub children: Vec<Vec<usize>>,
    /// For a shown node, the number of hidden nodes between it and its shown parent, including hidden
    /// subtrees attached to those.
    pub above: Vec<usize>,
    /// For a shown node, the number of hidden nodes attached to it that have no shown descendant.
    pub beside: Vec<usize>,
    /// Number of nodes in trees without a shown node.
    pub elsewhere: usize,
    /// For every node, where it is counted.
    pub counted: Vec<Counted>,
}

/// Where a node appears in a [`Selection`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Counted {
    Shown,
    /// With the hidden nodes above this node.
    Above(usize),
    /// With the hidden nodes beside this node.
    Beside(usize),
    Elsewhere,
}

/// Selects about `limit` nodes, by priority: failures; changed lines; steps at which another value or
/// decision makes the test pass; steps on a path from a change to a failure; all others. Within a
/// priority, the most informative steps come first, then those closest to a failure or changed line.
///
/// Branching points of the selected paths are shown in addition, which at most doubles the number.
/// Without them the drawing would connect unrelated nodes.
#[must_use]
pub fn select(nodes: &[Node<'_>], limit: usize) -> Selection {
    let mut shown = vec![nodes.len() <= limit; nodes.len()];
    if nodes.len() > limit {
        for index in by_importance(nodes).into_iter().take(limit) {
            shown[index] = true;
        }
        show_meeting_points(nodes, &mut shown);
    }
    let mut selection = Selection {
        parent: vec![None; nodes.len()],
        children: vec![Vec::new(); nodes.len()],
        above: vec![0; nodes.len()],
        beside: vec![0; nodes.len()],
        elsewhere: 0,
        counted: Vec::with_capacity(nodes.len()),
        shown,
    };
    // For every node, the shown node closest to it at or below it. All branching points are shown, so a
    // hidden node has at most one.
    let mut below: Vec<Option<usize>> = vec![None; nodes.len()];
    for index in (0..nodes.len()).rev() {
        if selection.shown[index] {
            below[index] = Some(index);
        }
        if let (Some(parent), Some(found)) = (nodes[index].parent, below[index]) {
            below[parent] = Some(found);
        }
    }
    for (index, node) in nodes.iter().enumerate() {
        if selection.shown[index] {
            let mut up = node.parent;
            while let Some(parent) = up.filter(|&parent| !selection.shown[parent]) {
                up = nodes[parent].parent;
            }
            selection.parent[index] = up;
            if let Some(up) = up {
                selection.children[up].push(index);
            }
            selection.counted.push(Counted::Shown);
            continue;
        }
        let place = match (below[index], node.parent) {
            (Some(found), _) => Counted::Above(found),
            (None, Some(parent)) if selection.shown[parent] => Counted::Beside(parent),
            (None, Some(parent)) => selection.counted[parent],
            (None, None) => Counted::Elsewhere,
        };
        match place {
            Counted::Shown => {}
            Counted::Above(at) => selection.above[at] += 1,
            Counted::Beside(at) => selection.beside[at] += 1,
            Counted::Elsewhere => selection.elsewhere += 1,
        }
        selection.counted.push(place);
    }
    selection
}

fn by_importance(nodes: &[Node<'_>]) -> Vec<usize> {
    // Distance to the nearest failure or changed line, along the edges of the forest.
    let mut distance = vec![usize::MAX; nodes.len()];
    let mut queue = VecDeque::new();
    for (index, node) in nodes.iter().enumerate() {
        if node.parent.is_none() || node.cause.change.is_some() {
            distance[index] = 0;
            queue.push_back(index);
        }
    }
    while let Some(index) = queue.pop_front() {
        let near = nodes[index].children.iter().copied().chain(nodes[index].parent);
        for next in near {
            if distance[next] == usize::MAX {
                distance[next] = distance[index] + 1;
                queue.push_back(next);
            }
        }
    }
    let mut order: Vec<usize> = (0..nodes.len()).collect();
    order.sort_by_key(|&index| {
        let node = &nodes[index];
        let class = match () {
            () if node.parent.is_none() => 0,
            () if node.cause.change.is_some() => 1,
            () if decides(node.cause) => 2,
            () if node.leads_to_change => 3,
            () => 4,
        };
        (class, silence(node.cause), distance[index], index)
    });
    order
}

/// How uninformative a step is: 0 if the versions differ there or a trial shows that the failure
/// depends on it, 3 if the source text is unknown, as for generated sources.
fn silence(cause: &Cause) -> u8 {
    let differs = cause.values.iter().any(|value| value.good.is_some() && value.good != value.bad);
    let is_proven = cause.link.as_ref().is_some_and(|link| link.outcome == "gone");
    let has_text = [&cause.place, &cause.good_place].into_iter().flatten().any(|p| !p.text.trim().is_empty());
    match () {
        () if !has_text => 3,
        () if differs || is_proven => 0,
        () if !cause.what.is_empty() => 1,
        () => 2,
    }
}

/// Whether the test passes with another value or decision here.
fn decides(cause: &Cause) -> bool {
    cause.link.as_ref().is_some_and(|link| link.outcome == "passes")
}

/// Shows every node at which two or more paths to shown nodes branch.
fn show_meeting_points(nodes: &[Node<'_>], shown: &mut [bool]) {
    let mut ways = vec![0usize; nodes.len()];
    for index in (0..nodes.len()).rev() {
        if ways[index] > 1 {
            shown[index] = true;
        }
        if let Some(parent) = nodes[index].parent
            && (shown[index] || ways[index] > 0)
        {
            ways[parent] += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A forest from parent numbers: the parent of node `i + 1` is one of the first `i + 1` nodes.
    fn forest(parents: &[usize], changed: &[usize]) -> Vec<Cause> {
        let mut made: Vec<Cause> = (0..=parents.len())
            .map(|id| Cause {
                id: u32::try_from(id).unwrap(),
                change: changed.contains(&id).then_some(0),
                ..Cause::default()
            })
            .collect();
        for index in (1..made.len()).rev() {
            let child = made.pop().unwrap();
            made[parents[index - 1] % index].children.insert(0, child);
        }
        made
    }

    fn is_above(nodes: &[Node<'_>], upper: usize, mut lower: usize) -> bool {
        while let Some(parent) = nodes[lower].parent {
            if parent == upper {
                return true;
            }
            lower = parent;
        }
        false
    }

    #[test]
    fn a_long_chain_keeps_its_ends() {
        let parents: Vec<usize> = (0..299).collect();
        let causes = forest(&parents, &[299]);
        let nodes = flatten(&causes);
        assert_eq!(nodes[0].height, 299);
        let selection = select(&nodes, 10);
        assert_eq!(selection.shown.iter().filter(|&&shown| shown).count(), 10);
        assert!(selection.shown[0] && selection.shown[1] && selection.shown[298] && selection.shown[299]);
        assert_eq!(selection.above.iter().sum::<usize>(), 290);
    }

    #[test]
    fn nothing_gives_nothing() {
        let selection = select(&flatten(&[]), 10);
        assert!(selection.shown.is_empty());
    }

    proptest! {
        #[test]
        fn selection_is_a_true_picture(
            parents in proptest::collection::vec(any::<usize>(), 0..40),
            changed in proptest::collection::vec(0usize..41, 0..4),
            limit in 1usize..45,
        ) {
            let causes = forest(&parents, &changed);
            let nodes = flatten(&causes);
            let selection = select(&nodes, limit);
            let shown = selection.shown.iter().filter(|&&shown| shown).count();
            prop_assert!(shown >= limit.min(nodes.len()) && shown < 2 * limit.max(1) + 1);
            // Every hidden node is counted once.
            let hidden = nodes.len() - shown;
            let counted = selection.above.iter().sum::<usize>()
                + selection.beside.iter().sum::<usize>() + selection.elsewhere;
            prop_assert_eq!(hidden, counted);
            for a in 0..nodes.len() {
                if !selection.shown[a] {
                    continue;
                }
                // The shown parent is the nearest shown ancestor.
                let nearest = (0..a).rev().find(|&b| selection.shown[b] && is_above(&nodes, b, a));
                prop_assert_eq!(selection.parent[a], nearest);
                // The paths to two shown nodes branch at a shown node.
                for b in 0..a {
                    if selection.shown[b] && !is_above(&nodes, b, a) {
                        let meet = (0..b).rev().find(|&c| is_above(&nodes, c, a) && is_above(&nodes, c, b));
                        prop_assert!(meet.is_none_or(|meet| selection.shown[meet]));
                    }
                }
                // The count above a node covers the hidden path to its shown parent, and the hidden
                // subtrees attached to that path.
                let above = (0..nodes.len()).filter(|&h| {
                    !selection.shown[h] && {
                        let mut at = h;
                        loop {
                            if is_above(&nodes, at, a) { break true; }
                            match nodes[at].parent {
                                Some(up) if !selection.shown[up] => at = up,
                                _ => break false,
                            }
                        }
                    } && {
                        let way = |x: usize| is_above(&nodes, x, a) && nearest.is_none_or(|n| x > n && is_above(&nodes, n, x));
                        let mut at = h;
                        loop {
                            if way(at) { break true; }
                            match nodes[at].parent {
                                Some(up) if !selection.shown[up] => at = up,
                                _ => break false,
                            }
                        }
                    }
                }).count();
                prop_assert_eq!(selection.above[a], above);
            }
        }
    }
}
