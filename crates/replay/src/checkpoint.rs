//! Checkpoints of a replay, and segments between them.
//!
//! A first pass over the stream leaves a checkpoint every so many instructions;
//! from then on any instruction can be reached from the checkpoint before it,
//! segments can be replayed in any order, and several at once.

use crate::error::{Error, Result};
use crate::image::Image;
use crate::machine::{Counters, End, Frame, Machine, Stop};
use crate::memory::{History, Memory};
use crate::observer::{Null, Observer};
use crate::tape::{Stream, Tape, TapeMark};
use rayon::prelude::*;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Everything but memory, whose pages are in the [`History`].
#[derive(Clone)]
struct Point {
    regs: Vec<u64>,
    frames: Vec<Frame>,
    va: Vec<u64>,
    time: u64,
    sum: u64,
    stack: u64,
    context: (u64, u64),
    context_before: u64,
    tls: HashMap<(u32, u32), u64>,
    tape: TapeMark,
    last_event: u64,
    counters: Counters,
    memory: u32,
}

/// Instructions between two checkpoints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    pub index: usize,
    /// The last segment also has what follows the last instruction.
    pub instructions: Range<u64>,
}

/// See the module's documentation.
pub struct Checkpoints<'a> {
    image: &'a Image,
    stream: &'a Stream,
    points: Vec<Point>,
    history: Arc<History>,
    counters: Counters,
    end: Option<End>,
    error: Option<Error>,
}

impl<'a> Checkpoints<'a> {
    /// Replays the whole stream, leaving a checkpoint every `every`
    /// instructions. If replay fails, all up to there is usable, and
    /// [`Checkpoints::error`] says why.
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
            points,
            history: Arc::new(history),
            counters: machine.counters,
            end,
            error,
        }
    }

    /// What the first pass counted.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.counters
    }

    #[must_use]
    pub fn end(&self) -> Option<End> {
        self.end
    }

    /// Why the first pass did not come to the end.
    #[must_use]
    pub fn error(&self) -> Option<&Error> {
        self.error.as_ref()
    }

    /// Bytes of memory the checkpoints hold.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.history.bytes() + self.points.iter().map(|p| 8 * (p.regs.len() + p.va.len())).sum::<usize>()
    }

    /// How many segments there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.points.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    #[must_use]
    pub fn segment(&self, index: usize) -> Segment {
        let first = self.points[index].counters.instructions;
        let last = self.points.get(index + 1).map_or(self.counters.instructions, |p| p.counters.instructions);
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
        let n = self.points.partition_point(|p| p.counters.instructions <= instruction).max(1);
        let mut machine = self.restore(n - 1);
        machine.run(&mut Null, instruction)?;
        Ok(machine)
    }

    fn restore(&self, index: usize) -> Machine<'a> {
        let p = &self.points[index];
        let mut m = Machine::new(self.image, self.stream);
        m.memory = Memory::at(self.history.clone(), p.memory);
        m.regs.clone_from(&p.regs);
        m.frames.clone_from(&p.frames);
        m.va.clone_from(&p.va);
        (m.time, m.sum, m.stack, m.context) = (p.time, p.sum, p.stack, p.context);
        m.context_before = p.context_before;
        m.tls.clone_from(&p.tls);
        m.tape = Tape::resume(self.stream, p.tape);
        m.last_event = p.last_event;
        m.counters = p.counters;
        m.part = m.tape.part();
        m.refresh();
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
    #[must_use]
    pub fn frames(&self, index: usize) -> &[Frame] {
        &self.points[index].frames
    }

    /// Replays one segment; the machine at its end.
    ///
    /// # Errors
    /// As [`Checkpoints::replay`].
    pub fn replayed<O: Observer>(&self, index: usize, observer: &mut O) -> Result<Machine<'a>> {
        let mut machine = self.restore(index);
        let limit = match self.points.get(index + 1) {
            Some(next) => next.counters.instructions,
            None if self.error.is_some() => self.counters.instructions,
            None => u64::MAX,
        };
        machine.run(observer, limit)?;
        Ok(machine)
    }

    /// Segments from the last to the first, each replayed by an observer of
    /// its own when the iterator comes to it.
    pub fn backward<'c, O: Observer + 'c>(
        &'c self,
        mut observer: impl FnMut(&Segment) -> O + 'c,
    ) -> impl Iterator<Item = Result<(Segment, O)>> + 'c {
        (0..self.points.len()).rev().map(move |i| {
            let segment = self.segment(i);
            let mut o = observer(&segment);
            self.replay(i, &mut o)?;
            Ok((segment, o))
        })
    }

    /// All segments at once on as many cores as there are; results in order.
    ///
    /// # Errors
    /// As [`Checkpoints::replay`].
    pub fn parallel<O: Observer + Send>(
        &self,
        observer: impl Fn(&Segment) -> O + Sync,
    ) -> Result<Vec<(Segment, O)>> {
        (0..self.points.len())
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
    fn point(&mut self, history: &mut History) -> Point {
        let used = self.frames.last().map_or(0, |f| f.base + self.image.code(f.function).total());
        Point {
            regs: self.regs[..used].to_vec(),
            frames: self.frames.clone(),
            va: self.va.clone(),
            time: self.time,
            sum: self.sum,
            stack: self.stack,
            context: self.context,
            context_before: self.context_before,
            tls: self.tls.clone(),
            tape: self.tape.mark(),
            last_event: self.last_event,
            counters: self.counters,
            memory: self.memory.checkpoint(history),
        }
    }
}
