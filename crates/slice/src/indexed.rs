//! Slices and questions answered by an index alone.

use crate::Result;
use crate::ahead::ahead;
use crate::criterion::{Criterion, Occurrence};
use crate::outputs;
use crate::slice::Site;
use crate::slicer::{Progress, Slicer, Todo};
use crate::walk::{Collected, Crossing, Stretches, Walker};
use crate::wants::List;
use index::extra::Extra;
use index::{Move, Ran, Reader, Summary};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Moves that are read ahead at a time.
const AT_ONCE: usize = 1 << 14;

impl<'p> Slicer<'p> {
    /// What the index knows of a stream, if there is one.
    pub(crate) fn summary(&self, stream: u32) -> Option<&Summary> {
        self.index.as_ref()?.0.summary(stream)
    }

    /// A reader behind the last step of a stream.
    pub(crate) fn reader(&self, stream: u32) -> Result<Option<Reader<'_, '_>>> {
        let Some((index, layouts)) = &self.index else { return Ok(None) };
        let count = self.process.streams.len();
        let stored = index.stored(stream).ok_or(crate::Error::NoStream(stream, count))?;
        Ok(Some(Reader::new(layouts, &stored)))
    }

    /// One walk over a stream by its index, back from its end.
    pub(crate) fn walk_index<'c>(
        &self,
        all: &mut Collected<'_>,
        stream: u32,
        todo: Todo<'c>,
        stop: Option<&AtomicBool>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(Vec<Crossing>, List)> {
        let Some(mut reader) = self.reader(stream)? else { return Ok((Vec::new(), List::default())) };
        let total = reader.left();
        let is_thread = self.starter(stream)?.is_some();
        let mut walker = Walker::new(all, stream, is_thread);
        todo.give(&mut walker, total);
        let Some(last) = walker.last_asked() else { return Ok((Vec::new(), List::default())) };
        if last == total
            && let Some((function, index, depth)) = self.summary(stream).and_then(|s| s.unfinished)
        {
            walker.unfinished(function, index, depth, total);
        }
        let mut by = Stretches::default();
        let mut stopped = false;
        // A segment counts as walked as a whole, as it does by replay.
        let segment = self.options.segment.max(1);
        let mut border = last / segment * segment;
        let from = (border + segment).min(total);
        let first = behind(&mut reader, from)?;
        let Some(mut here) = self.reader(stream)? else { return Ok((Vec::new(), List::default())) };
        here.stand_by(&reader);
        let reader = Mutex::new((reader, first));
        // One reader finds out where control came from, ahead and beside the walk, which asks
        // the other one what instructions did there.
        let read = |_, used: Option<Vec<Move>>| -> Result<Vec<Move>> {
            let mut moves = used.unwrap_or_default();
            moves.clear();
            let mut reader = reader.lock().unwrap_or_else(PoisonError::into_inner);
            moves.append(&mut reader.1);
            while moves.len() < AT_ONCE
                && let Some(it) = reader.0.back()?
            {
                moves.push(it);
            }
            Ok(moves)
        };
        ahead(usize::MAX, read, |_, moves: &Vec<Move>| {
            let mut moves = &moves[..];
            let is_last = moves.len() < AT_ONCE;
            while !moves.is_empty() {
                let over = walker.back_over(&mut by, &mut here, moves, border)?;
                moves = &moves[over..];
                if here.left() <= border && border > 0 {
                    if walker.is_done() && by.is_empty() {
                        return Ok(false);
                    }
                    while here.left() <= border && border > 0 {
                        border = border.saturating_sub(segment);
                    }
                }
            }
            let walked = from.saturating_sub(here.left());
            progress(Progress { stream, walked, of: last, nodes: walker.nodes() });
            stopped = stop.is_some_and(|s| s.load(Ordering::Relaxed));
            Ok(!stopped && !is_last)
        })?;
        let walked = from - border.min(from);
        walker.add_up(&mut by);
        if !stopped {
            walker.finish();
        }
        let crossings = std::mem::take(&mut walker.crossings);
        let began = walker.began;
        all.slice.walked += walked;
        all.slice.incomplete |= stopped;
        Ok((crossings, began))
    }

    /// The last execution in a stream of each of some instructions.
    pub(crate) fn last_by_index(
        &self,
        mut reader: Reader<'_, '_>,
        stream: u32,
        sites: &[Site],
    ) -> Result<HashMap<Site, Occurrence>> {
        let image = &self.process.image;
        let mut wanted: HashMap<u32, Vec<(u32, Site)>> = HashMap::new();
        let mut open = 0;
        for site in sites {
            if let Some(function) = image.function(site.module, site.function) {
                wanted.entry(function).or_default().push((site.index, *site));
                open += 1;
            }
        }
        let mut found = HashMap::new();
        while open > 0
            && let Some(it) = reader.back()?
        {
            let Move::Ran(ran) = it else { continue };
            let Some(here) = wanted.get_mut(&ran.function) else { continue };
            here.retain(|(index, site)| {
                let ran_it = (ran.first..=ran.last).contains(index);
                if ran_it {
                    let step = ran.step + u64::from(index - ran.first);
                    found.insert(*site, Occurrence { stream, step });
                    open -= 1;
                }
                !ran_it
            });
        }
        Ok(found)
    }

    /// The last run through some instructions: its first and last step, and its depth. `look`
    /// is shown each of its instructions, the last one first.
    pub(crate) fn visit_by_index(
        &self,
        mut reader: Reader<'_, '_>,
        sites: &HashSet<Site>,
        look: &mut dyn FnMut(&Ran, u32),
    ) -> Result<Option<(u64, u64, u32)>> {
        let mut wanted: HashMap<u32, HashSet<u32>> = HashMap::new();
        for site in sites {
            if let Some(function) = self.process.image.function(site.module, site.function) {
                wanted.entry(function).or_default().insert(site.index);
            }
        }
        let mut found: Option<(u64, u64, u32)> = None;
        'walk: while let Some(it) = reader.back()? {
            let entered = match &it {
                Move::Enter { depth, .. } => Some(*depth),
                Move::Extra(extra) => match **extra {
                    Extra::Enter { depth, .. } => Some(depth),
                    _ => None,
                },
                _ => None,
            };
            if let (Some(depth), Some((_, _, of))) = (entered, found)
                && depth <= of
            {
                break;
            }
            let Move::Ran(ran) = it else { continue };
            match found {
                Some((_, _, depth)) if ran.depth > depth => continue,
                Some((_, _, depth)) if ran.depth < depth => break,
                _ => {}
            }
            let here = wanted.get(&ran.function);
            for index in (ran.first..=ran.last).rev() {
                let step = ran.step + u64::from(index - ran.first);
                match (here.is_some_and(|h| h.contains(&index)), &mut found) {
                    (true, Some((first, ..))) => *first = step,
                    (true, None) => found = Some((step, step, ran.depth)),
                    (false, Some(_)) => break 'walk,
                    (false, None) => continue,
                }
                look(&ran, index);
            }
        }
        Ok(found)
    }

    /// Marks the instructions of a stream that ran, by function.
    pub(crate) fn ran_by_index(
        &self,
        mut reader: Reader<'_, '_>,
        ran: &mut HashMap<u32, Vec<bool>>,
    ) -> Result<()> {
        while let Some(it) = reader.back()? {
            let Move::Ran(it) = it else { continue };
            let all = ran
                .entry(it.function)
                .or_insert_with(|| vec![false; self.facts.function(it.function).code.len()]);
            all[it.first as usize..=it.last as usize].fill(true);
        }
        Ok(())
    }

    /// What is asked when a byte of an output is asked about; none if the stream did not
    /// write it.
    pub(crate) fn output_by_index(&self, stream: u32, sink: &str, byte: u64) -> Result<Option<Criterion>> {
        let Some(outputs) = self.index.as_ref().and_then(|i| i.0.outputs(stream)) else { return Ok(None) };
        let found = outputs.last(|s| outputs::is_meant(s.kind, &s.name, sink), byte)?;
        Ok(found.map(|output| outputs::criterion(stream, &output, byte - output.offset)))
    }
}

/// Goes back to the first execution that began before a step; what was met since the one before.
fn behind(reader: &mut Reader<'_, '_>, step: u64) -> Result<Vec<Move>> {
    let mut since = Vec::new();
    while let Some(it) = reader.back()? {
        match &it {
            Move::Ran(ran) if ran.step >= step => {
                since.clear();
                continue;
            }
            Move::Ran(_) => {
                since.push(it);
                break;
            }
            _ => since.push(it),
        }
    }
    Ok(since)
}
