//! From level to level, asking somebody which value is the first wrong one.

use super::{Flow, Level, Phased, Window};
use crate::Result;
use crate::slice::NodeId;

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
}

impl Phased<'_, '_> {
    /// Goes from level to level until nothing can be cut any more.
    ///
    /// # Errors
    /// If replay fails, or the oracle does.
    pub fn search(&self, from: NodeId, oracle: &mut dyn Oracle) -> Result<Search> {
        let mut window = self.whole(from)?;
        let mut node = from;
        let mut search = Search {
            turns: Vec::new(),
            found: Found { window: window.clone(), node },
            questions: 0,
            shown: 0,
        };
        while search.turns.len() < MAX_LEVELS {
            let level = self.level(&window, node)?;
            // Nothing was cut: this is one statement.
            if level.phases.len() <= 1 && level.phases.iter().all(|p| p.window == window) {
                break;
            }
            let asked = !level.flows.is_empty();
            let mut wrong = None;
            if asked {
                search.questions += 1;
                search.shown += level.flows.len();
                let answer = oracle.first_wrong(self, &level)?;
                wrong = answer.and_then(|i| level.flows.get(i).cloned());
            }
            let phase = wrong.as_ref().map_or(level.at, |f| f.made_in);
            if let Some(flow) = &wrong {
                node = flow.node;
            }
            let Some(next) = level.phases.get(phase).map(|p| p.window.clone()) else { break };
            search.turns.push(Turn { level, asked, wrong });
            window = self.until(next, node);
        }
        search.found = Found { window, node };
        Ok(search)
    }

    /// A phase, up to the execution that is asked about.
    fn until(&self, mut window: Window, node: NodeId) -> Window {
        let step = self.slice.nodes[node as usize].at.step;
        window.steps.end = window.steps.end.min(step.saturating_add(1)).max(window.steps.start);
        window
    }
}
