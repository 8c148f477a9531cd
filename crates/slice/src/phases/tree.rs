//! All levels at once, for every answer of the oracle, so that a page can unfold them without a query.
//!
//! The child of a flow is the level that follows if that flow is the first wrong one. Levels have as many
//! children as there are answers, so their number is limited, and they are made breadth-first; a level that
//! is reached along several paths is made once.

use super::divide::{Shape, Window};
use super::told::{LevelSummary, LineSummary};
use super::{Level, Phased};
use crate::slice::NodeId;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, VecDeque};
use std::ops::Range;

/// Limits of a tree.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Number of levels.
    pub levels: usize,
    /// Approximate number of instructions to replay.
    pub steps: u64,
}

impl Default for Room {
    fn default() -> Self {
        Room { levels: 60, steps: 400_000_000 }
    }
}

/// The smallest number of steps that is charged for a level: a segment is replayed at least.
const SEGMENT: u64 = 1 << 17;

/// See the module's documentation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tree {
    /// The first is the whole run.
    pub levels: Vec<TreeLevel>,
    /// Executions in the whole slice.
    pub executions: u64,
    /// Children that were left out because of the limits.
    pub left_out: u64,
}

/// A level with its children.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeLevel {
    /// Depth from 1; levels without flows count.
    pub depth: u32,
    /// The level itself; its fields are written beside these.
    #[serde(flatten)]
    pub told: LevelSummary,
    /// The child of each flow.
    pub below: Vec<TreeChild>,
    /// The child if none of the flows is wrong.
    pub otherwise: TreeChild,
}

/// A child of a level.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TreeChild {
    /// Index in [`Tree::levels`].
    Level(usize),
    /// Nothing can be divided further: the fault is here.
    Found(LineSummary),
    /// It was left out because of the limits.
    #[default]
    LeftOut,
}

/// The identity of a level.
type Key = (u32, Range<u64>, Shape, NodeId);

/// A worklist entry: the window and node to descend into, and the answer that leads there.
struct Way {
    window: Window,
    node: NodeId,
    depth: u32,
    /// The parent level, and the flow (`None`: no flow is wrong).
    from: Option<(usize, Option<usize>)>,
}

impl Tree {
    /// Replaces the names of all files.
    #[must_use]
    pub fn renamed(mut self, name: impl Fn(&str) -> String) -> Tree {
        for level in &mut self.levels {
            level.told = std::mem::take(&mut level.told).renamed(&name);
            for below in level.below.iter_mut().chain([&mut level.otherwise]) {
                if let TreeChild::Found(place) = below {
                    place.file = name(&place.file);
                }
            }
        }
        self
    }

    /// The files that it names.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.levels.iter().flat_map(|level| {
            let phases = level.told.phases.iter().map(|p| p.file.as_str());
            let flows = level.told.flows.iter().map(|f| f.place.file.as_str());
            let ends = level.below.iter().chain([&level.otherwise]).filter_map(|below| match below {
                TreeChild::Found(place) => Some(place.file.as_str()),
                _ => None,
            });
            phases.chain(flows).chain(ends)
        })
    }
}

impl Phased<'_, '_> {
    /// The tree of all levels from a node, within limits and until it is cancelled.
    ///
    /// # Errors
    /// If replay fails, or it was cancelled at the first level.
    pub fn tree(&self, from: NodeId, room: Room) -> Result<Tree> {
        let mut tree = Tree { executions: self.slice.nodes.len() as u64, ..Tree::default() };
        let mut known: HashMap<Key, TreeChild> = HashMap::new();
        let mut todo = VecDeque::from([Way { window: self.whole(from)?, node: from, depth: 1, from: None }]);
        let mut steps = 0;
        while let Some(way) = todo.pop_front() {
            let key = (way.window.stream, way.window.steps.clone(), way.window.shape, way.node);
            let below = match known.get(&key) {
                Some(below) => below.clone(),
                None if !tree.levels.is_empty()
                    && (tree.levels.len() >= room.levels || steps >= room.steps) =>
                {
                    tree.left_out += 1;
                    TreeChild::LeftOut
                }
                None => {
                    steps += (way.window.steps.end - way.window.steps.start).max(SEGMENT);
                    let below = match self.grow(&mut tree, &way, &mut todo) {
                        Err(Error::Stopped) if !tree.levels.is_empty() => {
                            tree.left_out += 1 + todo.len() as u64;
                            break;
                        }
                        other => other?,
                    };
                    known.insert(key, below.clone());
                    below
                }
            };
            match way.from {
                Some((level, Some(flow))) => tree.levels[level].below[flow] = below,
                Some((level, None)) => tree.levels[level].otherwise = below,
                None => {}
            }
        }
        Ok(tree)
    }

    /// Makes the level of a worklist entry, and adds its children to the worklist.
    fn grow(&self, tree: &mut Tree, way: &Way, todo: &mut VecDeque<Way>) -> Result<TreeChild> {
        let descent = self.descend(way.window.clone(), way.node)?;
        let depth = way.depth + descent.passed.len() as u32;
        let Some(level) = descent.level else { return Ok(TreeChild::Found(self.summarise_line(way.node)?)) };
        let number = tree.levels.len();
        let mut go = |flow: Option<usize>, level: &Level| {
            let Some((window, node)) = self.into_phase(level, flow.and_then(|f| level.flows.get(f))) else {
                return;
            };
            todo.push_back(Way { window, node, depth: depth + 1, from: Some((number, flow)) });
        };
        (0..level.flows.len()).for_each(|flow| go(Some(flow), &level));
        go(None, &level);
        let below = vec![TreeChild::LeftOut; level.flows.len()];
        tree.levels.push(TreeLevel { depth, told: self.tell(&level)?, below, otherwise: TreeChild::LeftOut });
        Ok(TreeChild::Level(number))
    }
}
