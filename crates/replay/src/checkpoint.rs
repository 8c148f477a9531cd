//! Checkpoints of a replay, and segments between them.
//!
//! A first pass over the stream makes a checkpoint at regular numbers of instructions. From then on any
//! instruction is reachable from the checkpoint before it, and segments can be replayed in any order, and
//! several in parallel.
//!
//! Checkpoints can be stored ([`crate::stored`]): all of them by their instruction counts, some with
//! registers and memory. The checkpoints from one of these to the next are a *span*. They are recomputed, by
//! replaying the span, when one of them is first needed.

use crate::error::{Error, Result};
use crate::event_cursor::{EventCursor, EventCursorMark, Stream};
use crate::image::Image;
use crate::machine::{Counters, End, Frame, Machine, Stop};
use crate::memory::{History, Memory};
use crate::observer::{Null, Observer};
use crate::stored::StoredCheckpoints;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// The state at a checkpoint without memory, whose pages are in the [`History`].
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct CheckpointState {
    regs: Vec<u64>,
    frames: Vec<Frame>,
    va: Vec<u64>,
    time: u64,
    sum: u64,
    stack: u64,
    context: (u64, u64),
    context_before: u64,
    tls: HashMap<(u32, u32), u64>,
    files: BTreeMap<(usize, u64), u64>,
    event_cursor: EventCursorMark,
    last_event: u64,
    counters: Counters,
    pub(crate) memory: u32,
}

impl CheckpointState {
    /// Number of instructions executed before.
    pub(crate) fn instructions(&self) -> u64 {
        self.counters.instructions
    }

    /// Whether a machine over the image and the stream can be in this state; checks all invariants on which
    /// the machine relies.
    pub(crate) fn is_possible(&self, image: &Image, stream: &Stream) -> bool {
        let mut from = 0;
        self.event_cursor.is_in(stream)
            && self.frames.iter().all(|f| {
                let fits = f.function < image.functions() && {
                    let code = image.code(f.function);
                    let end = f.base.checked_add(code.total());
                    f.base >= from
                        && end.is_some_and(|end| end <= self.regs.len())
                        && (f.pc as usize) < code.ops.len()
                        && f.va_base <= self.va.len()
                        && f.va.is_none_or(|(function, call)| {
                            function < image.functions() && (call as usize) < image.code(function).calls.len()
                        })
                };
                from = f.base;
                fits
            })
    }
}

/// Checkpoints that one replay made.
struct SpanCheckpoints {
    points: Vec<CheckpointState>,
    history: Arc<History>,
}

/// See the module's documentation.
struct Span {
    /// Index of its first segment.
    first: usize,
    made: OnceLock<SpanCheckpoints>,
}

/// The instructions between two checkpoints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Number of the segment, from 0.
    pub index: usize,
    /// In the last segment, what follows the last instruction is included.
    pub instructions: Range<u64>,
}

/// See the module's documentation.
pub struct Checkpoints<'a> {
    image: &'a Image,
    stream: &'a Stream,
    /// The first instruction of each segment.
    starts: Vec<u64>,
    spans: Vec<Span>,
    /// The stored checkpoints at which all spans but the first begin.
    stored: StoredCheckpoints,
    counters: Counters,
    end: Option<End>,
    error: Option<Error>,
}

impl<'a> Checkpoints<'a> {
    /// Replays the whole stream and makes a checkpoint every `every` instructions. If replay fails, the part
    /// before the failure is usable, and [`Checkpoints::error`] returns the error.
    #[must_use]
    pub fn make<O: Observer>(
        image: &'a Image,
        stream: &'a Stream,
        every: u64,
        observer: &mut O,
    ) -> Checkpoints<'a> {
        let every = every.max(1);
        let mut machine = Machine::new(image, stream);
        let mut history = History::default();
        let mut points = Vec::new();
        let (mut end, mut error) = (None, None);
        loop {
            observer.checkpoint(&machine);
            points.push(machine.point(&mut history));
            let next = machine.counters.instructions.saturating_add(every);
            match machine.run(observer, next) {
                Ok(Stop::Limit) => {}
                Ok(Stop::Ended(e)) => {
                    end = Some(e);
                    break;
                }
                Err(e) => {
                    error = Some(e);
                    break;
                }
            }
        }
        Checkpoints {
            image,
            stream,
            starts: points.iter().map(CheckpointState::instructions).collect(),
            spans: vec![Span {
                first: 0,
                made: SpanCheckpoints { points, history: Arc::new(history) }.into(),
            }],
            stored: StoredCheckpoints::default(),
            counters: machine.counters,
            end,
            error,
        }
    }

    /// Loads stored checkpoints; none if the bytes are damaged or belong to another recording.
    #[must_use]
    pub fn load(image: &'a Image, stream: &'a Stream, bytes: Vec<u8>) -> Option<Checkpoints<'a>> {
        let (table, stored) = StoredCheckpoints::load(image, stream, bytes)?;
        let spans = std::iter::once(0).chain(stored.segments());
        Some(Checkpoints {
            image,
            stream,
            starts: table.starts,
            spans: spans.map(|first| Span { first, made: OnceLock::new() }).collect(),
            stored,
            counters: table.counters,
            end: table.end,
            error: None,
        })
    }

    /// The checkpoints as bytes, with at most `most_pages` pages of memory. None if the first pass failed, or
    /// if these checkpoints were themselves loaded.
    #[must_use]
    pub fn store(&self, most_pages: usize) -> Option<Vec<u8>> {
        let made = self.spans.first()?.made.get()?;
        if self.error.is_some() || made.points.len() != self.starts.len() {
            return None;
        }
        StoredCheckpoints::encode(&made.points, &made.history, (self.counters, self.end), most_pages)
    }

    /// The segments whose beginning is stored with registers and memory.
    pub fn stored_segments(&self) -> impl Iterator<Item = usize> + '_ {
        self.stored.segments()
    }

    /// The checkpoint at the beginning of a segment, and the pages of its memory.
    fn at(&self, index: usize) -> Result<(&CheckpointState, &Arc<History>)> {
        let number = self.spans.partition_point(|s| s.first <= index).max(1) - 1;
        let span = &self.spans[number];
        let made = match span.made.get() {
            Some(made) => made,
            None => {
                let made = self.make_span(number)?;
                span.made.get_or_init(|| made)
            }
        };
        Ok((&made.points[index - span.first], &made.history))
    }

    /// Recomputes the checkpoints of a span that begins with a stored one, or at the start of the stream.
    fn make_span(&self, number: usize) -> Result<SpanCheckpoints> {
        let first = self.spans[number].first;
        let end = self.spans.get(number + 1).map_or(self.starts.len(), |next| next.first);
        let mut points = Vec::new();
        let (mut machine, mut history) = match number.checked_sub(1) {
            None => {
                let mut history = History::default();
                let mut machine = Machine::new(self.image, self.stream);
                points.push(machine.point(&mut history));
                (machine, history)
            }
            Some(stored) => {
                let (point, pages) = self.stored.get(stored)?;
                let history = History::of(&pages);
                points.push(point.clone());
                (self.restore(point, &Arc::new(history.clone())), history)
            }
        };
        for start in &self.starts[first + 1..end] {
            machine.run(&mut Null, *start)?;
            if machine.counters.instructions != *start {
                return Err(Error::StoredCheckpoints);
            }
            points.push(machine.point(&mut history));
        }
        Ok(SpanCheckpoints { points, history: Arc::new(history) })
    }

    /// Counters at the end of the first pass.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// How the stream ended; `None` if the first pass failed before the end.
    #[must_use]
    pub fn end(&self) -> Option<End> {
        self.end
    }

    /// Why the first pass did not reach the end of the stream.
    #[must_use]
    pub fn error(&self) -> Option<&Error> {
        self.error.as_ref()
    }

    /// Bytes of memory that the checkpoints occupy.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let made = self.spans.iter().filter_map(|span| span.made.get());
        made.map(|made| {
            let registers = made.points.iter().map(|p| 8 * (p.regs.len() + p.va.len())).sum::<usize>();
            made.history.bytes() + registers
        })
        .sum()
    }

    /// Number of segments.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether there is no segment; the first pass makes at least one.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// A segment by its number, which must be below [`Checkpoints::len`].
    #[must_use]
    pub fn segment(&self, index: usize) -> Segment {
        let first = self.starts[index];
        let last = self.starts.get(index + 1).copied().unwrap_or(self.counters.instructions);
        Segment { index, instructions: first..last }
    }

    /// A machine that has executed exactly `instruction` instructions.
    ///
    /// # Errors
    /// If the stream is shorter.
    pub fn machine_at(&self, instruction: u64) -> Result<Machine<'a>> {
        if instruction > self.counters.instructions {
            return Err(Error::PastEnd(instruction, self.counters.instructions));
        }
        let mut machine = self.machine_of(self.segment_of(instruction))?;
        machine.run(&mut Null, instruction)?;
        Ok(machine)
    }

    /// The segment of an instruction, or the last one.
    #[must_use]
    pub fn segment_of(&self, instruction: u64) -> usize {
        self.starts.partition_point(|start| *start <= instruction).max(1) - 1
    }

    /// A machine at the beginning of a segment.
    ///
    /// # Errors
    /// If a stored checkpoint cannot be replayed.
    pub fn machine_of(&self, index: usize) -> Result<Machine<'a>> {
        let (point, history) = self.at(index)?;
        Ok(self.restore(point, history))
    }

    fn restore(&self, p: &CheckpointState, history: &Arc<History>) -> Machine<'a> {
        let mut m = Machine::new(self.image, self.stream);
        m.memory = Memory::at(history.clone(), p.memory);
        m.regs.clone_from(&p.regs);
        m.frames.clone_from(&p.frames);
        m.va.clone_from(&p.va);
        (m.time, m.sum, m.stack, m.context) = (p.time, p.sum, p.stack, p.context);
        m.context_before = p.context_before;
        m.tls.clone_from(&p.tls);
        m.files.clone_from(&p.files);
        m.event_cursor = EventCursor::resume(self.stream, p.event_cursor);
        m.last_event = p.last_event;
        m.counters = p.counters;
        m.part = m.event_cursor.part();
        m.peek_next();
        m
    }

    /// Replays one segment.
    ///
    /// # Errors
    /// Only in the last segment, if the first pass failed there.
    pub fn replay<O: Observer>(&self, index: usize, observer: &mut O) -> Result<()> {
        self.replayed(index, observer).map(|_| ())
    }

    /// The activations at the beginning of a segment, the innermost last.
    ///
    /// # Errors
    /// If a stored checkpoint cannot be replayed.
    pub fn frames(&self, index: usize) -> Result<&[Frame]> {
        Ok(&self.at(index)?.0.frames)
    }

    /// Replays one segment and returns the machine at its end.
    ///
    /// # Errors
    /// As [`Checkpoints::replay`].
    pub fn replayed<O: Observer>(&self, index: usize, observer: &mut O) -> Result<Machine<'a>> {
        let mut machine = self.machine_of(index)?;
        let limit = match self.starts.get(index + 1) {
            Some(next) => *next,
            None if self.error.is_some() => self.counters.instructions,
            None => u64::MAX,
        };
        machine.run(observer, limit)?;
        Ok(machine)
    }

    /// Iterates over segments from the last to the first, and replays each with an observer of its own when
    /// the iterator reaches it.
    pub fn backward<'c, O: Observer + 'c>(
        &'c self,
        mut observer: impl FnMut(&Segment) -> O + 'c,
    ) -> impl Iterator<Item = Result<(Segment, O)>> + 'c {
        (0..self.starts.len()).rev().map(move |i| {
            let segment = self.segment(i);
            let mut o = observer(&segment);
            self.replay(i, &mut o)?;
            Ok((segment, o))
        })
    }

    /// Replays all segments in parallel on all cores; results in order.
    ///
    /// # Errors
    /// As [`Checkpoints::replay`].
    pub fn parallel<O: Observer + Send>(
        &self,
        observer: impl Fn(&Segment) -> O + Sync,
    ) -> Result<Vec<(Segment, O)>> {
        (0..self.starts.len())
            .into_par_iter()
            .map(|i| {
                let segment = self.segment(i);
                let mut o = observer(&segment);
                self.replay(i, &mut o)?;
                Ok((segment, o))
            })
            .collect()
    }
}

impl Machine<'_> {
    fn point(&mut self, history: &mut History) -> CheckpointState {
        let used = self.frames.last().map_or(0, |f| f.base + self.image.code(f.function).total());
        CheckpointState {
            regs: self.regs[..used].to_vec(),
            frames: self.frames.clone(),
            va: self.va.clone(),
            time: self.time,
            sum: self.sum,
            stack: self.stack,
            context: self.context,
            context_before: self.context_before,
            tls: self.tls.clone(),
            files: self.files.clone(),
            event_cursor: self.event_cursor.mark(),
            last_event: self.last_event,
            counters: self.counters,
            memory: self.memory.checkpoint(history),
        }
    }
}
