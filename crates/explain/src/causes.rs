//! The tree of causes: from the failure to each guilty change, line by line.
//!
//! Every guilty change that a slice leads to gives one way ([`Ways`]). Along
//! it, instructions of a line are one step, and a line that comes again (a
//! loop) takes the round between out. The ways together, merged where they
//! begin alike, are the tree; the failure is at the top.

use crate::align::Side;
use crate::evidence::{Evidence, touching};
use crate::traced::{Line, Traced};
use crate::ways::{Ways, decides};
use changes::{ChangeId, Difference};
use slice::{Dependence, NodeId};
use std::collections::BTreeSet;

/// So many lines with the same values in both runs may end a way.
const MOST_DULL: usize = 3;

/// A node of a way, and how the one before needed it.
type Need = (NodeId, Option<Dependence>);

/// A step of a way: one line, executed.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub side: Side,
    pub line: Line,
    /// Its instruction that the step before needed.
    pub node: NodeId,
    /// How the step before needed it; none at the top.
    pub how: Option<Dependence>,
    /// How often the way came through this line.
    pub times: u32,
    /// The change that brought this line, or took it away.
    pub change: Option<ChangeId>,
    pub next: Vec<Step>,
}

impl Step {
    /// Whether the step before was run because of this one, rather than got a
    /// value from it.
    #[must_use]
    pub fn decided(&self) -> bool {
        self.how.is_some_and(decides)
    }

    /// This step and all below it, parents first.
    pub fn walk<'s>(&'s self, visit: &mut impl FnMut(&'s Step)) {
        visit(self);
        for step in &self.next {
            step.walk(visit);
        }
    }
}

/// The ways of one run to those guilty changes that it speaks for.
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
        // Near to the change, not on it: the last step still points at it.
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

/// A way without its end, if many lines of that have the same values in both runs: what made
/// the runs differ did not come through them.
fn without_dull_end<'w>(traced: &Traced<'_>, way: &'w [Need]) -> &'w [Need] {
    let is_dull = |need: &Need| traced.compared.dull.contains(&need.0);
    let (told, end) = way.split_at(way.iter().rposition(|need| !is_dull(need)).map_or(0, |at| at + 1));
    let lines: BTreeSet<Line> = end.iter().map(|need| traced.line(need.0)).collect();
    if lines.len() > MOST_DULL { told } else { way }
}

/// The way to where the runs began to differ, for guilty changes that nothing
/// leads to: a flag of the build, a file that nobody was seen to read.
#[must_use]
pub fn beginning(traced: &Traced<'_>, ways: &Ways, difference: &Difference) -> Vec<Step> {
    let nearest = traced.nearest_origin(ways);
    nearest.map_or_else(Vec::new, |node| way_to(traced, ways, difference, node))
}

/// The way to one node.
#[must_use]
pub fn way_to(traced: &Traced<'_>, ways: &Ways, difference: &Difference, node: NodeId) -> Vec<Step> {
    let mut forest = Vec::new();
    merge(&mut forest, steps(traced, &ways.to(node), difference).into_iter());
    forest
}

/// A way as lines.
fn steps(traced: &Traced<'_>, way: &[Need], difference: &Difference) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for &(node, how) in way {
        let line = traced.line(node);
        if line == Line::default() {
            continue;
        }
        if let Some(known) = steps.iter().position(|s| s.line == line) {
            // The same line, perhaps after a round through others.
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

/// Puts a way of single steps into a forest.
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
