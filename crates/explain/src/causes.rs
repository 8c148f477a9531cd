//! The tree of causes: from the failure to each guilty change, line by line.
//!
//! Every guilty change in a slice gives one dependence path ([`Ways`]). Consecutive instructions of a line
//! form one step. A line that occurs again (a loop) removes the steps of the iteration between its
//! occurrences. The paths are merged at common prefixes into a tree with the failure at its root.

use crate::align::Side;
use crate::evidence::{Evidence, touching};
use crate::traced::{Line, Traced};
use crate::ways::{Ways, decides};
use changes::{ChangeId, Difference};
use slice::{Dependence, NodeId};
use std::collections::BTreeSet;

/// At most this many lines with equal values in both runs may end a path; a longer end is cut off.
const MOST_DULL: usize = 3;

/// A node of a path, and the dependence of its predecessor on it.
type Need = (NodeId, Option<Dependence>);

/// A step of a path: one executed line.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The run that executed it.
    pub side: Side,
    /// The line in that run's version.
    pub line: Line,
    /// The instruction of the line that the preceding step depends on.
    pub node: NodeId,
    /// The kind of that dependence; `None` at the root.
    pub how: Option<Dependence>,
    /// How often the path visited this line.
    pub times: u32,
    /// The change that introduced or removed this line.
    pub change: Option<ChangeId>,
    /// The steps on which this one depends.
    pub next: Vec<Step>,
}

impl Step {
    /// Whether this step determined that the preceding step ran, rather than contributing to its value.
    #[must_use]
    pub fn decided(&self) -> bool {
        self.how.is_some_and(decides)
    }

    /// Visits this step and its descendants in preorder.
    pub fn walk<'s>(&'s self, visit: &mut impl FnMut(&'s Step)) {
        visit(self);
        for step in &self.next {
            step.walk(visit);
        }
    }
}

/// The paths of one run to the guilty changes for which it is the goal's run.
#[must_use]
pub fn tree(
    traced: &Traced<'_>,
    ways: &Ways,
    evidence: &Evidence,
    difference: &Difference,
    guilty: impl Iterator<Item = ChangeId>,
) -> Vec<Step> {
    let mut forest: Vec<Step> = Vec::new();
    for id in guilty {
        let Some((_, node)) = evidence.goal(id).filter(|n| n.0 == traced.side) else { continue };
        let way = ways.to(node);
        let told = without_dull_end(traced, &way);
        let mut steps = steps(traced, told, difference);
        // The goal is near the change, not in it: the last step still refers to the change.
        if let Some(last) = steps.last_mut()
            && last.change.is_none()
            && told.len() == way.len()
        {
            last.change = Some(id);
        }
        merge(&mut forest, steps.into_iter());
    }
    forest
}

/// A path without its last steps if many lines of these have the same values in both runs: the difference
/// between the runs did not propagate through them.
fn without_dull_end<'w>(traced: &Traced<'_>, way: &'w [Need]) -> &'w [Need] {
    let is_dull = |need: &Need| traced.compared.dull.contains(&need.0);
    let (told, end) = way.split_at(way.iter().rposition(|need| !is_dull(need)).map_or(0, |at| at + 1));
    let lines: BTreeSet<Line> = end.iter().map(|need| traced.line(need.0)).collect();
    if lines.len() > MOST_DULL { told } else { way }
}

/// The path to the nearest node where the runs began to differ, for guilty changes that no slice reaches: a
/// build flag, or a file whose reads were not observed.
#[must_use]
pub fn beginning(traced: &Traced<'_>, ways: &Ways, difference: &Difference) -> Vec<Step> {
    let nearest = traced.nearest_origin(ways);
    nearest.map_or_else(Vec::new, |node| way_to(traced, ways, difference, node))
}

/// The path to one node.
#[must_use]
pub fn way_to(traced: &Traced<'_>, ways: &Ways, difference: &Difference, node: NodeId) -> Vec<Step> {
    let mut forest = Vec::new();
    merge(&mut forest, steps(traced, &ways.to(node), difference).into_iter());
    forest
}

/// Converts a path to lines.
fn steps(traced: &Traced<'_>, way: &[Need], difference: &Difference) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for &(node, how) in way {
        let line = traced.line(node);
        if line == Line::default() {
            continue;
        }
        if let Some(known) = steps.iter().position(|s| s.line == line) {
            // The same line, perhaps after an iteration through others.
            let again = known + 1 < steps.len();
            steps.truncate(known + 1);
            steps[known].times += u32::from(again);
            continue;
        }
        let file = traced.file(line);
        let change = touching(difference, traced.side, file, line.line);
        steps.push(Step {
            side: traced.side,
            line,
            node,
            how: if steps.is_empty() { None } else { how },
            times: 1,
            change: change.map(|c| c.id),
            next: Vec::new(),
        });
    }
    steps
}

/// Inserts a linear path into a forest.
pub fn graft(forest: &mut Vec<Step>, mut way: Step) {
    let mut steps = Vec::new();
    loop {
        let next = way.next.pop();
        steps.push(way);
        match next {
            Some(step) => way = step,
            None => break,
        }
    }
    merge(forest, steps.into_iter());
}

fn merge(forest: &mut Vec<Step>, mut way: impl Iterator<Item = Step>) {
    let Some(step) = way.next() else { return };
    let found = forest.iter().position(|s| (s.side, s.line) == (step.side, step.line));
    let at = found.unwrap_or_else(|| {
        forest.push(step.clone());
        forest.len() - 1
    });
    if found.is_some() && forest[at].change.is_none() {
        forest[at].change = step.change;
    }
    merge(&mut forest[at].next, way);
}
