//! Watches a line in a stream: only segments in which it may run are replayed.

use crate::Result;
use crate::executions::Watch;
use crate::prepared::Prepared;
use crate::slicer::Slicer;
use crate::summaries::blocks_of;
use crate::touched::Touched;
use replay::machine::Machine;

impl<'p> Slicer<'p> {
    /// Replays the steps of a stream, up to `end`, with the watch of a line as observer. A segment is
    /// skipped if the line does not run in it and no execution of the line is in progress in an activation
    /// that does. Returns the machine at the end, if the last segment was not skipped.
    ///
    /// # Errors
    /// If there is no such stream, or replay fails.
    pub fn watch<'a>(&self, stream: u32, watch: &mut Watch<'a>, end: u64) -> Result<Option<Machine<'p>>>
    where
        'p: 'a,
    {
        let image = &self.process.image;
        let Prepared { checkpoints, seen } = self.prepared(stream)?;
        let blocks = blocks_of(image, &watch.sites());
        let mut machine: Option<Machine<'p>> = None;
        for index in 0..checkpoints.len() {
            let steps = checkpoints.segment(index).instructions;
            if index > 0 && steps.start >= end {
                break;
            }
            let goes_on = seen.summaries.get(index).is_none_or(|s| watch.is_in_progress(s.depth));
            if !goes_on && !seen.summaries.may_run_any(index, &blocks) {
                machine = None;
                continue;
            }
            let mut here = match machine.take() {
                Some(machine) => machine,
                None => {
                    watch.resume(Touched::before(image, &seen.summaries, index));
                    checkpoints.machine_of(index)?
                }
            };
            let is_last = index + 1 == checkpoints.len() && checkpoints.error().is_none();
            here.run(watch, if is_last { end } else { steps.end.min(end) })?;
            machine = Some(here);
        }
        Ok(machine)
    }
}
