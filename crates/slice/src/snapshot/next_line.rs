//! The line at which a run continued after a branch.

use crate::criterion::Occurrence;
use crate::slicer::Slicer;
use replay::machine::Stop;
use replay::observer::{Effect, Observer, View};

/// Calls within a condition are followed for at most so many instructions.
const MOST_STEPS: u64 = 1_000_000;

impl Slicer<'_> {
    /// The next line of the same activation that ran after an instruction and differs from its own. `None`
    /// if the function or the run ended first.
    #[must_use]
    pub fn next_line(&self, at: Occurrence) -> Option<u32> {
        let mut machine = self.machine_at(at).ok()?;
        let mut follower = Follower { step: at.step, from: None, found: None };
        let mut chunk = 1;
        while chunk < MOST_STEPS && matches!(machine.run(&mut follower, at.step + chunk), Ok(Stop::Limit)) {
            if follower.found.is_some() {
                break;
            }
            chunk *= 4;
        }
        follower.found.flatten()
    }
}

struct Follower {
    step: u64,
    /// Call depth of the instruction, and its line.
    from: Option<(u32, u32)>,
    /// The result, once the search is finished.
    found: Option<Option<u32>>,
}

impl Observer for Follower {
    fn step(&mut self, view: &View<'_>, _: Effect) {
        let line = view.place().line;
        if view.count == self.step {
            self.from = Some((view.depth, line));
        }
        let Some((depth, own)) = self.from.filter(|_| self.found.is_none()) else { return };
        if view.depth < depth {
            self.found = Some(None);
        } else if view.depth == depth && line != 0 && line != own {
            self.found = Some(Some(line));
        }
    }
}
