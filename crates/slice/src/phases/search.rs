//! Descends from level to level; an oracle picks the first wrong value on each.

use super::{Flow, Level, Phased, Window};
use crate::slice::NodeId;
use crate::{Error, Result};

/// At most so many levels are visited.
const MAX_LEVELS: usize = 200;

/// An oracle that distinguishes right values from wrong ones.
pub trait Oracle {
    /// The first of a level's flows (there is at least one) that is wrong. `None` if all are right: then the
    /// fault is in the phase of the queried node.
    ///
    /// # Errors
    /// If it cannot be decided.
    fn first_wrong(&mut self, phased: &Phased<'_, '_>, level: &Level) -> Result<Option<usize>>;
}

/// The outcome of one level.
#[derive(Clone, Debug)]
pub struct SearchStep {
    /// The level that was visited.
    pub level: Level,
    /// Whether the oracle was queried.
    pub asked: bool,
    /// The wrong flow.
    pub wrong: Option<Flow>,
}

/// The result of a search: a window, and the node in question.
#[derive(Clone, Debug)]
pub struct Found {
    /// What cannot be divided further, or was not.
    pub window: Window,
    /// The node whose value or decision is in question there.
    pub node: NodeId,
}

/// A finished search.
#[derive(Clone, Debug)]
pub struct Search {
    /// The levels in the order of the descent, also those on which nothing was asked.
    pub turns: Vec<SearchStep>,
    /// Where the descent ended.
    pub found: Found,
    /// The number of queries to the oracle.
    pub questions: usize,
    /// The number of executions that were shown, over all levels.
    pub shown: usize,
    /// It was cancelled before it was finished.
    pub stopped: bool,
}

/// The descent into a phase.
#[derive(Clone, Debug)]
pub struct Descent {
    /// Levels without flows between phases, on which the oracle is not queried.
    pub passed: Vec<Level>,
    /// The first level with flows; `None` if nothing can be divided further.
    pub level: Option<Level>,
    /// The current window and node.
    pub found: Found,
}

impl Phased<'_, '_> {
    /// Descends until nothing can be divided further, or the search is cancelled.
    ///
    /// # Errors
    /// If replay fails, or the oracle does.
    pub fn search(&self, from: NodeId, oracle: &mut dyn Oracle) -> Result<Search> {
        let window = self.whole(from)?;
        let found = Found { window: window.clone(), node: from };
        let mut search = Search { turns: Vec::new(), found, questions: 0, shown: 0, stopped: false };
        match self.search_within(window, from, oracle, &mut search) {
            Err(Error::Stopped) => search.stopped = true,
            other => other?,
        }
        Ok(search)
    }

    fn search_within(
        &self,
        window: Window,
        from: NodeId,
        oracle: &mut dyn Oracle,
        search: &mut Search,
    ) -> Result<()> {
        let mut descent = self.descend(window, from)?;
        loop {
            let untold = |level| SearchStep { level, asked: false, wrong: None };
            search.turns.extend(std::mem::take(&mut descent.passed).into_iter().map(untold));
            search.found = descent.found;
            let Some(level) = descent.level else { break };
            if search.turns.len() >= MAX_LEVELS {
                break;
            }
            search.questions += 1;
            search.shown += level.flows.len();
            let answer = oracle.first_wrong(self, &level)?;
            let wrong = answer.and_then(|i| level.flows.get(i).cloned());
            let next = self.into_phase(&level, wrong.as_ref());
            search.turns.push(SearchStep { level, asked: true, wrong });
            let Some((window, node)) = next else { break };
            descent = self.descend(window, node)?;
        }
        Ok(())
    }

    /// Divides a window, and then the phase of the node until a level has flows.
    ///
    /// # Errors
    /// If replay fails, or it was cancelled.
    pub fn descend(&self, mut window: Window, node: NodeId) -> Result<Descent> {
        let mut passed = Vec::new();
        let end = |passed, level, window| Descent { passed, level, found: Found { window, node } };
        while passed.len() < MAX_LEVELS {
            let level = self.level(&window, node)?;
            // Nothing was divided: this is one statement.
            if level.phases.len() <= 1 && level.phases.iter().all(|p| p.window == window) {
                break;
            }
            if !level.flows.is_empty() {
                return Ok(end(passed, Some(level), window));
            }
            let Some((next, _)) = self.into_phase(&level, None) else { break };
            passed.push(level);
            window = next;
        }
        Ok(end(passed, None, window))
    }

    /// The next window and node: the phase that produced the wrong value, up to that execution; if no flow
    /// is wrong, the phase of the level's own node.
    #[must_use]
    pub fn into_phase(&self, level: &Level, wrong: Option<&Flow>) -> Option<(Window, NodeId)> {
        let (phase, node) = wrong.map_or((level.at, level.from), |f| (f.made_in, f.node));
        Some((self.until(level.phases.get(phase)?.window.clone(), node), node))
    }

    /// A phase, up to the execution of a node.
    fn until(&self, mut window: Window, node: NodeId) -> Window {
        let step = self.slice.nodes[node as usize].at.step;
        window.steps.end = window.steps.end.min(step.saturating_add(1)).max(window.steps.start);
        window
    }
}
