//! From level to level, asking somebody which value is the first wrong one.

use super::{Flow, Level, Phased, Window};
use crate::slice::NodeId;
use crate::{Error, Result};

/// Nothing is cut more often than this.
const MAX_LEVELS: usize = 200;

/// Somebody who can tell right from wrong.
pub trait Oracle {
    /// The first of a level's flows (there is at least one) that should not be as it is. None
    /// if all are right: then the phase that is asked about went wrong by itself.
    ///
    /// # Errors
    /// If it cannot be told.
    fn first_wrong(&mut self, phased: &Phased<'_, '_>, level: &Level) -> Result<Option<usize>>;
}

/// What was done on a level.
#[derive(Clone, Debug)]
pub struct Turn {
    pub level: Level,
    /// Whether somebody was asked.
    pub asked: bool,
    /// The flow that was wrong.
    pub wrong: Option<Flow>,
}

/// Where it ended.
#[derive(Clone, Debug)]
pub struct Found {
    pub window: Window,
    pub node: NodeId,
}

/// A search that has ended.
#[derive(Clone, Debug)]
pub struct Search {
    pub turns: Vec<Turn>,
    pub found: Found,
    /// How often somebody was asked.
    pub questions: usize,
    /// Executions that were shown, over all levels.
    pub shown: usize,
    /// It was stopped before it had ended.
    pub stopped: bool,
}

/// The way into a phase.
#[derive(Clone, Debug)]
pub struct Descent {
    /// Levels on which no phase gave anything to another: nobody need be asked there.
    pub passed: Vec<Level>,
    /// The first that has something to ask; none if nothing can be cut any more.
    pub level: Option<Level>,
    /// Where it stands.
    pub found: Found,
}

impl Phased<'_, '_> {
    /// Goes from level to level until nothing can be cut any more, or it is stopped.
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
            let untold = |level| Turn { level, asked: false, wrong: None };
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
            search.turns.push(Turn { level, asked: true, wrong });
            let Some((window, node)) = next else { break };
            descent = self.descend(window, node)?;
        }
        Ok(())
    }

    /// Cuts a window, and the phase that is asked about as long as there is nothing to ask.
    ///
    /// # Errors
    /// If replay fails, or it was stopped.
    pub fn descend(&self, mut window: Window, node: NodeId) -> Result<Descent> {
        let mut passed = Vec::new();
        let end = |passed, level, window| Descent { passed, level, found: Found { window, node } };
        while passed.len() < MAX_LEVELS {
            let level = self.level(&window, node)?;
            // Nothing was cut: this is one statement.
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

    /// Where to go on: in the phase that made what is wrong, up to there, or if nothing is in the
    /// phase that is asked about.
    #[must_use]
    pub fn into_phase(&self, level: &Level, wrong: Option<&Flow>) -> Option<(Window, NodeId)> {
        let (phase, node) = wrong.map_or((level.at, level.from), |f| (f.made_in, f.node));
        Some((self.until(level.phases.get(phase)?.window.clone(), node), node))
    }

    /// A phase, up to the execution that is asked about.
    fn until(&self, mut window: Window, node: NodeId) -> Window {
        let step = self.slice.nodes[node as usize].at.step;
        window.steps.end = window.steps.end.min(step.saturating_add(1)).max(window.steps.start);
        window
    }
}
