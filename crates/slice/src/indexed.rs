//! Slices and questions answered by an index alone.

use crate::Result;
use crate::slicer::{Progress, Slicer, Todo};
use crate::walk::{ByIndex, Collected, Crossing, Walker};
use crate::wants::List;
use index::{Reader, Summary};

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
            }
            if reader.left() <= border && border > 0 {
                if walker.is_done() {
                    break;
                }
                while reader.left() <= border && border > 0 {
                    border = border.saturating_sub(segment);
                }
            }
        }
        let walked = from - border.min(from);
        walker.finish();
        let crossings = std::mem::take(&mut walker.crossings);
        let began = walker.began;
        all.slice.walked += walked;
        Ok((crossings, began))
    }
}
