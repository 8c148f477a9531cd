//! Users' questions as criteria: about a line, a byte of output, the failure.

use crate::Result;
use crate::criterion::{Criterion, Occurrence, Wanted};
use crate::outputs::{self, Output, Part};
use crate::slicer::Slicer;
use externals::flag;
use program::inst::Inst;
use recording::event::{Event, Position};
use replay::io::{IoEvent, Source};
use replay::machine::{End, Machine};
use replay::observer::{Effect, EventContext, ExternalCall, Observer, View};

impl Slicer<'_> {
    /// Criteria for all operands of the last executions of a line's instructions.
    ///
    /// # Errors
    /// If replay fails.
    pub fn line_criteria(&self, file: &str, line: u32) -> Result<Vec<Criterion>> {
        let last = self.last_occurrences(&self.sites_at(file, line))?;
        Ok(last.into_iter().map(|(_, at)| Criterion { at, wanted: vec![Wanted::All] }).collect())
    }

    /// A criterion for a byte of an output: `stdout`, `stderr`, or a file by the end of its path. `None` if
    /// no recorded call wrote that byte.
    ///
    /// # Errors
    /// If replay fails.
    pub fn output_criterion(&self, sink: &str, offset: u64) -> Result<Option<Criterion>> {
        let Some((stream, event)) = self.writer(sink, offset)? else { return Ok(None) };
        let output = self.output(stream, event)?;
        Ok(Some(outputs::criterion(stream, &output, offset - output.offset)))
    }

    /// The last call that wrote a byte of an output: its stream, and the index of its event in the stream's
    /// list.
    pub(crate) fn writer(&self, sink: &str, offset: u64) -> Result<Option<(u32, usize)>> {
        for stream in 0..self.process.streams.len() as u32 {
            let io = self.io(stream)?;
            let found = io.events.iter().rposition(|e| {
                let source = &io.sources[e.source];
                let is_meant = outputs::is_meant(source.kind, &source.name, sink);
                e.out && is_meant && offset >= e.offset && offset - e.offset < e.length
            });
            if let Some(event) = found {
                return Ok(Some((stream, event)));
            }
        }
        Ok(None)
    }

    /// The call that wrote an event of a stream's list, with the origins of the bytes.
    pub(crate) fn output(&self, stream: u32, event: usize) -> Result<Output> {
        let event = &self.io(stream)?.events[event];
        let mut output = outputs::whole(event);
        let at = Occurrence { stream, step: output.step };
        let mut caller = Caller { event, parts: Vec::new() };
        // A call that calls back takes more steps, and is not divided into parts.
        self.machine_at(at)?.run(&mut caller, at.step + 1)?;
        output.parts = caller.parts;
        Ok(output)
    }

    /// The offset of the first byte that the process wrote to standard output or error: the target of a
    /// shell's redirection may have had bytes before. `None` if it wrote none.
    ///
    /// # Errors
    /// If replay fails.
    pub fn output_start(&self, sink: &str) -> Result<Option<u64>> {
        use recording::event::source::{STDERR, STDOUT};
        let mut first: Option<u64> = None;
        for stream in 0..self.process.streams.len() as u32 {
            let io = self.io(stream)?;
            let is_meant = |source: &Source| {
                matches!(source.kind, STDOUT | STDERR) && outputs::is_meant(source.kind, &source.name, sink)
            };
            let events =
                io.events.iter().filter(|e| e.out && e.length > 0 && is_meant(&io.sources[e.source]));
            first = events.map(|e| e.offset).chain(first).min();
        }
        Ok(first)
    }

    /// Whether the process exited successfully.
    ///
    /// # Errors
    /// If replay fails.
    pub fn has_succeeded(&self) -> Result<bool> {
        let mut succeeded = false;
        for stream in 0..self.process.streams.len() as u32 {
            match self.end(stream)? {
                Some(End::Exit { status: 0 }) => succeeded = true,
                Some(End::Crash { .. } | End::Exit { .. }) => return Ok(false),
                Some(End::Exec | End::Cut) | None => {}
            }
        }
        Ok(succeeded)
    }

    /// The number of instructions that a forked process's stream shares with its parent's: those before the
    /// fork. `None` if it was not forked, or if the parent is not recorded.
    ///
    /// # Errors
    /// If there is no such stream.
    pub fn shared_steps(&self, stream: u32) -> Result<Option<u64>> {
        let checkpoints = &self.prepared(stream)?.checkpoints;
        let stream = &self.process.streams[stream as usize].stream;
        let Some(own) = stream.parts.len().checked_sub(1).filter(|parts| *parts > 0) else { return Ok(None) };
        let mut fork = Fork { own, at: None };
        // A stream that cannot be replayed to its end may still reach its fork.
        let _ = Machine::new(&self.process.image, stream).run(&mut fork, checkpoints.counters().instructions);
        Ok(fork.at)
    }

    /// A criterion for the failure of the process: the access that crashed, the call that aborted, or else
    /// what determined the exit status. `None` if it is not in the recording.
    ///
    /// # Errors
    /// If replay fails.
    pub fn failure_criterion(&self) -> Result<Option<Criterion>> {
        for stream in 0..self.process.streams.len() as u32 {
            let Some(End::Crash { .. }) = self.end(stream)? else { continue };
            let step = self.steps(stream)?;
            let machine = self.machine_at(Occurrence { stream, step })?;
            let Some(view) = machine.view() else { continue };
            // An external call has run, and has not returned.
            let step = if matches!(view.inst(), Inst::Call(_)) { step.saturating_sub(1) } else { step };
            return Ok(Some(Criterion { at: Occurrence { stream, step }, wanted: vec![Wanted::All] }));
        }
        for stream in 0..self.process.streams.len() as u32 {
            let checkpoints = &self.prepared(stream)?.checkpoints;
            for index in (0..checkpoints.len()).rev() {
                let mut ends = Ends(None);
                checkpoints.replay(index, &mut ends)?;
                if let Some(step) = ends.0 {
                    let at = Occurrence { stream, step };
                    return Ok(Some(Criterion { at, wanted: vec![Wanted::All] }));
                }
            }
        }
        Ok(None)
    }
}

/// Finds the step of the first event of the process itself, after its fork.
struct Fork {
    /// The part of the stream that has its events.
    own: usize,
    at: Option<u64>,
}

impl Observer for Fork {
    const STEPS: bool = false;

    fn event(&mut self, moment: &EventContext<'_>, _: Position, _: &Event<'_>) {
        if moment.part >= self.own && self.at.is_none() {
            self.at = moment.view.as_ref().map(|view| view.count);
        }
    }
}

/// Determines the parts of an output call's event.
struct Caller<'e> {
    event: &'e IoEvent,
    parts: Vec<Part>,
}

impl Observer for Caller<'_> {
    const STEPS: bool = false;

    fn external(&mut self, view: &View<'_>, call: &ExternalCall<'_>) {
        self.parts = outputs::parts(view, call, self.event);
    }
}

/// The last return from `main`, or call that ends the process.
struct Ends(Option<u64>);

impl Observer for Ends {
    fn step(&mut self, view: &View<'_>, _: Effect) {
        if leaves(view) {
            self.0 = Some(view.count);
        }
    }
}

/// Whether this instruction ends the process.
pub(crate) fn leaves(view: &View<'_>) -> bool {
    match view.inst() {
        Inst::Return { .. } => view.depth == 1 && view.function().name == "main",
        Inst::Call(c) => {
            let target = view.value(c.callee);
            view.image.function_at(target).is_none()
                && view.image.external_at(target).and_then(|e| e.1).is_some_and(ends_process)
        }
        _ => false,
    }
}

/// It neither returns nor continues elsewhere, unlike a jump, or the end of a thread.
fn ends_process(known: &externals::External) -> bool {
    known.has(flag::NORETURN)
        && !known.has(flag::JUMPS)
        && !matches!(known.name, "pthread_exit" | "thrd_exit")
}
