//! Both runs, replayed, with the pairing of their processes and streams.

use super::ends::{ProcessEnd, replay_all, stack_at};
use super::places::Sources;
use super::{Error, Observed, Run};
use crate::align::{self, Found, Index, LineMap, Lines, Side, pair_processes, pair_streams};
use crate::answer::{Observation, Place};
use replay::process::LoadedProcess;
use slice::{Criterion, Occurrence};

pub(super) struct Scene<'a> {
    pub good_run: Run<'a>,
    pub bad_run: Run<'a>,
    pub map: &'a LineMap<'a>,
    pub good: Vec<ProcessEnd>,
    pub bad: Vec<ProcessEnd>,
    /// Positions in `bad` and `good`.
    pairs: Vec<(usize, usize)>,
    pub good_sources: Sources,
    pub bad_sources: Sources,
    pub notes: Vec<String>,
}

impl<'a> Scene<'a> {
    pub fn new(good_run: Run<'a>, bad_run: Run<'a>, map: &'a LineMap<'a>) -> Scene<'a> {
        let mut notes = Vec::new();
        let bad = bad_run.recording.map(|r| replay_all(r, &mut notes)).unwrap_or_default();
        let good = good_run.recording.map(|r| replay_all(r, &mut notes)).unwrap_or_default();
        let mut pairs = Vec::new();
        if let (Some(g), Some(b)) = (good_run.recording, bad_run.recording) {
            for (b, g) in pair_processes(g, b) {
                let b = bad.iter().position(|p| p.index == b);
                let g = good.iter().position(|p| p.index == g);
                pairs.extend(b.zip(g));
            }
        }
        Scene {
            good_run,
            bad_run,
            map,
            good,
            bad,
            pairs,
            good_sources: Sources::new(good_run.root),
            bad_sources: Sources::new(bad_run.root),
            notes,
        }
    }

    /// The process of good that is paired with one of bad.
    pub fn partner(&self, bad: usize) -> Option<usize> {
        self.pairs.iter().find(|p| p.0 == bad).map(|p| p.1)
    }

    /// The process of bad that is paired with one of good.
    pub fn partner_of_good(&self, good: usize) -> Option<usize> {
        self.pairs.iter().find(|p| p.1 == good).map(|p| p.0)
    }

    /// The stream of good that is paired with one of bad.
    pub fn good_stream(&self, bad: usize, good: usize, stream: usize) -> Option<usize> {
        let pairs = pair_streams(&self.good[good].loaded, &self.bad[bad].loaded);
        pairs.iter().find(|p| p.0 == stream).map(|p| p.1)
    }

    /// The stream of bad that is paired with one of good.
    pub fn bad_stream(&self, bad: usize, good: usize, stream: usize) -> Option<usize> {
        let pairs = pair_streams(&self.good[good].loaded, &self.bad[bad].loaded);
        pairs.iter().find(|p| p.1 == stream).map(|p| p.0)
    }

    pub fn lines(&self, bad: usize) -> Lines<'a> {
        Lines::new(self.map, self.good_run.root, self.bad_run.root, &self.bad[bad].loaded.image)
    }

    /// An observation of a process of bad, with the call stack `frames` (function and instruction, outermost
    /// first).
    pub fn observed(&self, kind: &str, bad: usize, frames: &[(u32, u32)]) -> Observed {
        let image = &self.bad[bad].loaded.image;
        let stack: Vec<Place> =
            frames.iter().rev().map(|(f, index)| self.bad_sources.place(image, *f, *index)).collect();
        Observed {
            observation: Observation {
                kind: kind.to_owned(),
                place: stack.first().cloned(),
                stack,
                ..Observation::default()
            },
            process: self.bad[bad].index,
            ..Observed::default()
        }
    }

    /// Sets the criteria of bad.
    pub fn ask(observed: &mut Observed, criteria: Vec<Criterion>) {
        observed.observation.step = criteria.first().map(|c| c.at.step);
        observed.criteria = criteria;
    }

    /// Sets the criteria of good.
    pub fn ask_good(
        &self,
        observed: &mut Observed,
        good: usize,
        criteria: Vec<Criterion>,
    ) -> Result<(), Error> {
        observed.good_process = Some(self.good[good].index);
        if let Some(first) = criteria.first() {
            observed.observation.good_place = self.good_place(good, first.at)?;
        }
        observed.good_criteria = criteria;
        Ok(())
    }

    pub fn good_place(&self, good: usize, at: Occurrence) -> Result<Option<Place>, Error> {
        let process = &self.good[good].loaded;
        let stack = stack_at(process, at)?;
        Ok(stack.last().map(|(f, index)| self.good_sources.place(&process.image, *f, *index)))
    }

    /// The executions in good that correspond to one of bad.
    pub fn in_good(&self, bad: usize, at: Occurrence) -> Result<Option<(usize, Index, Found)>, Error> {
        let Some(good) = self.partner(bad) else { return Ok(None) };
        let Some(stream) = self.good_stream(bad, good, at.stream as usize) else { return Ok(None) };
        let lines = self.lines(bad);
        let (from, to) = (&self.bad[bad].loaded, &self.good[good].loaded);
        Ok(translate((from, Side::Bad), at, (to, stream), &lines)?.map(|(i, f)| (good, i, f)))
    }

    /// The executions in bad that correspond to one of good.
    pub fn in_bad(&self, good: usize, at: Occurrence) -> Result<Option<(usize, Index, Found)>, Error> {
        let Some(bad) = self.partner_of_good(good) else { return Ok(None) };
        let Some(stream) = self.bad_stream(bad, good, at.stream as usize) else { return Ok(None) };
        let lines = self.lines(bad);
        let (from, to) = (&self.good[good].loaded, &self.bad[bad].loaded);
        Ok(translate((from, Side::Good), at, (to, stream), &lines)?.map(|(i, f)| (bad, i, f)))
    }
}

fn translate(
    (from, side): (&LoadedProcess, Side),
    at: Occurrence,
    (to, stream): (&LoadedProcess, usize),
    lines: &Lines<'_>,
) -> Result<Option<(Index, Found)>, Error> {
    let other = match side {
        Side::Good => Side::Bad,
        Side::Bad => Side::Good,
    };
    let Some((index, _)) = align::stack_of(from, at, side, lines)?.pop() else { return Ok(None) };
    let found = align::find(to, stream, std::slice::from_ref(&index), other, lines)?.pop();
    Ok(Some(index).zip(found))
}
