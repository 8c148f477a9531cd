//! Slices and questions answered by an index alone.

use crate::Result;
use crate::criterion::Occurrence;
use crate::slice::Site;
use crate::slicer::{Progress, Slicer, Todo};
use crate::walk::{ByIndex, Collected, Crossing, Walker};
use crate::wants::List;
use externals::flag;
use index::layout::Callee;
use index::{Move, Reader, Summary};
use program::inst::{Inst, Operand};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

/// Moves between two looks at whether anything is left to be found.
const LOOKED: u32 = 1 << 16;

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
        let mut by = ByIndex::default();
        let mut moves = 0;
        let mut stopped = false;
        // A segment counts as walked as a whole, as it does by replay.
        let segment = self.options.segment.max(1);
        let mut border = last / segment * segment;
        let from = (border + segment).min(total);
        while let Some(it) = reader.back()? {
            walker.back(&mut by, &mut reader, it)?;
            moves += 1;
            if moves % LOOKED == 0 {
                let walked = from.saturating_sub(reader.left());
                progress(Progress { stream, walked, of: last, nodes: walker.nodes() });
                stopped = stop.is_some_and(|s| s.load(Ordering::Relaxed));
                if stopped {
                    break;
                }
            }
            if reader.left() <= border && border > 0 {
                if walker.is_done() && by.is_empty() {
                    break;
                }
                while reader.left() <= border && border > 0 {
                    border = border.saturating_sub(segment);
                }
            }
        }
        let walked = from - border.min(from);
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

    /// The last return from `main`, or call that ends the process. The error says that
    /// only a replay can tell.
    pub(crate) fn end_by_index(
        &self,
        mut reader: Reader<'_, '_>,
    ) -> Result<std::result::Result<Option<u64>, Unknown>> {
        while let Some(it) = reader.back()? {
            let Move::Ran(ran) = it else { continue };
            let step = ran.step + u64::from(ran.last - ran.first);
            match self.facts.inst(ran.function, ran.last) {
                Inst::Return { .. } if ran.depth == 1 && self.facts.function(ran.function).name == "main" => {
                    return Ok(Ok(Some(step)));
                }
                Inst::Call(call) => match reader.layout(ran.function).callee(ran.last) {
                    Some(Callee::Outside) => {
                        let module = self.process.image.code(ran.function).module;
                        let target = match call.callee {
                            Operand::Symbol { symbol, offset } => {
                                self.process.image.symbol(module, symbol).wrapping_add_signed(offset)
                            }
                            Operand::Const(address) => address,
                            Operand::Reg(_) => 0,
                        };
                        let known = self.process.image.external_at(target).and_then(|e| e.1);
                        if known.is_some_and(|k| k.has(flag::EXITS)) {
                            return Ok(Ok(Some(step)));
                        }
                    }
                    // Whether the last call through a pointer ended the process is a
                    // matter of values.
                    Some(Callee::Column(_)) if reader.is_last() => return Ok(Err(Unknown)),
                    _ => {}
                },
                _ => {}
            }
        }
        Ok(Ok(None))
    }
}

/// The index cannot tell.
pub(crate) struct Unknown;
