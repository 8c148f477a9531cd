//! Making the index of a process: one replay of every stream, watched by an
//! [`index::Writer`].
//!
//! What leaves the program is seen through the same [`Log`] that slices by replay use,
//! so that both know the same.

use crate::log::{self, Log};
use crate::outputs::{self, Sinks};
use crate::questions;
use crate::slicer::Slicer;
use crate::{Error, Result};
use index::extra::{Change, Extra, Miss, Outside};
use index::writer::Written;
use index::{Layouts, Summary, Writer};
use recording::event::{Event, Position};
use replay::code::Op;
use replay::io::Collector;
use replay::machine::{Machine, Stop};
use replay::observer::{Effect, ExternalCall, Moment, Observer, View};
use replay::process::LoadedProcess;
use std::collections::HashMap;

/// Steps between two reports of progress.
const REPORTED: u64 = 1 << 22;

/// A finished index.
pub struct Indexed {
    /// The file's content.
    pub bytes: Vec<u8>,
    pub streams: Vec<(Summary, Written)>,
}

impl Slicer<'_> {
    /// Makes the index of the process. `progress` is told how many steps are done and
    /// how many there are.
    ///
    /// # Errors
    /// If a stream cannot be replayed to its end.
    pub fn index(&self, progress: &mut dyn FnMut(u64, u64)) -> Result<Indexed> {
        self.index_with(false, progress)
    }

    /// The same, and measures what other means make of it, which takes longer.
    ///
    /// # Errors
    /// If a stream cannot be replayed to its end.
    pub fn index_measured(&self, progress: &mut dyn FnMut(u64, u64)) -> Result<Indexed> {
        self.index_with(true, progress)
    }

    fn index_with(&self, measures: bool, progress: &mut dyn FnMut(u64, u64)) -> Result<Indexed> {
        let process = self.process;
        let layouts = Layouts::new(&process.image);
        let count = process.streams.len() as u32;
        let mut total = 0;
        for stream in 0..count {
            total += self.steps(stream)?;
            if let Some(trouble) = self.trouble(stream)? {
                return Err(Error::NotIndexed(trouble));
            }
        }
        let mut streams = Vec::new();
        let mut done = 0;
        for stream in 0..count {
            let writer = Writer::new(&layouts);
            let mut indexer = Indexer {
                writer: if measures { writer.measuring() } else { writer },
                log: Log::default(),
                seen: seen(process, stream)?,
                io: Collector::default(),
                sinks: Sinks::default(),
                outputs: index::outputs::Builder::default(),
                left: None,
            };
            let mut machine = Machine::new(&process.image, &process.streams[stream as usize].stream);
            let mut limit = 0;
            let end = loop {
                limit += REPORTED;
                match machine.run(&mut indexer, limit)? {
                    Stop::Limit => progress(done + limit.min(total), total),
                    Stop::Ended(end) => break end,
                }
            };
            // Calls that never came back.
            indexer.put_outputs(None);
            let mut written = indexer.writer.finish().map_err(Error::NotIndexed)?;
            written.outputs = indexer.outputs.finish();
            let (sinks, left) = (indexer.sinks.list, indexer.left);
            let unfinished = machine
                .view()
                .and_then(|v| Some((v.image.function(v.code.module, v.code.function)?, v.index, v.depth)));
            done += written.steps;
            let (starts, entry) = self.starts_and_entry(stream)?;
            let steps = written.steps;
            streams
                .push((Summary { steps, end: Some(end), unfinished, starts, entry, left, sinks }, written));
        }
        Ok(Indexed { bytes: index::file::encode(index::file::key(process), &streams), streams })
    }
}

/// For each load of a stream that saw another stream's store: stream and step of that.
type Seen = HashMap<(u64, u64), (u32, u64)>;

fn seen(process: &LoadedProcess, stream: u32) -> Result<Seen> {
    let mut all = Seen::new();
    if process.streams.len() < 2 {
        return Ok(all);
    }
    let this = &process.streams[stream as usize];
    let reads = replay::writers::reads(&process.image, &this.stream)?;
    let streams = process.streams.iter().map(|s| (s.number, &s.stream)).collect();
    let found = replay::writers(&process.image, &streams, this.number, &reads)?;
    for (read, write) in reads.iter().zip(found) {
        let write = write.and_then(|w| {
            let index = process.streams.iter().position(|s| s.number == w.stream)?;
            Some((index as u32, w.instruction))
        });
        if let Some(write) = write {
            all.insert((read.instruction, read.address), write);
        }
    }
    Ok(all)
}

struct Indexer<'l> {
    writer: Writer<'l>,
    /// For what is more than a step.
    log: Log,
    seen: Seen,
    /// What the calls under way have written.
    io: Collector,
    sinks: Sinks,
    outputs: index::outputs::Builder,
    /// The last step by which the process could leave.
    left: Option<u64>,
}

impl Indexer<'_> {
    /// Puts down what was written since; if it was by a call that has come back, what of the
    /// call made it.
    fn put_outputs(&mut self, back: Option<(&View<'_>, &ExternalCall<'_>)>) {
        for event in self.io.take() {
            if !event.out {
                continue;
            }
            let sink = self.sinks.place(event.source, &self.io.sources()[event.source]);
            let mut output = outputs::whole(&event, sink);
            // One that called back has taken more steps by now.
            if let Some((view, call)) = back.filter(|b| b.0.count == event.instruction) {
                output.parts = outputs::parts(view, call, &event);
            }
            self.outputs.push(&output);
        }
    }
}

impl Observer for Indexer<'_> {
    #[inline]
    fn step(&mut self, view: &View<'_>, effect: Effect) {
        let function = self.log.number(view);
        self.writer.step(function, view.index, view.depth, effect, || match view.inst() {
            program::inst::Inst::Select { cond, .. } => view.value(*cond) & 1 != 0,
            _ => false,
        });
        if let Op::Call { .. } = view.code.ops[view.index as usize] {
            if questions::leaves(view) {
                self.left = Some(view.count);
            }
            self.log.calling(view);
            if let Some(passed) = self.log.passed.pop() {
                self.writer.extra(Extra::Passed(passed));
            }
        } else if view.depth == 1
            && matches!(view.code.ops[view.index as usize], Op::Return { .. })
            && questions::leaves(view)
        {
            self.left = Some(view.count);
        }
    }

    fn edge(&mut self, view: &View<'_>, from: u32, to: u32) {
        let function = self.log.number(view);
        self.writer.edge(function, view.depth, from, to);
    }

    fn enter(&mut self, view: &View<'_>, outside: bool) {
        let function = self.log.number(view);
        self.writer.enter(function, view.depth, view.frame, outside);
    }

    fn returned(&mut self, view: &View<'_>) {
        let function = self.log.number(view);
        self.writer.returned(function, view.index, view.depth);
    }

    fn leaving(&mut self, view: &View<'_>, call: &ExternalCall<'_>) {
        self.io.leaving(view, call);
    }

    fn external(&mut self, view: &View<'_>, call: &ExternalCall<'_>) {
        self.io.external(view, call);
        self.put_outputs(Some((view, call)));
        self.log.external(view, call);
        self.log.items.clear();
        let direct = self.writer.is_direct(view.depth);
        for o in self.log.externals.drain(..) {
            self.writer.extra(Extra::Outside(Outside {
                function: o.function,
                index: o.index,
                depth: view.depth,
                direct,
                reads: o.reads,
                writes: o.writes,
                known: o.known.map(|k| k.name.to_owned()),
            }));
        }
    }

    fn landed(&mut self, view: &View<'_>) {
        self.io.landed(view);
        self.put_outputs(None);
        let function = self.log.number(view);
        self.writer.extra(Extra::Landed { function, index: view.index, depth: view.depth });
    }

    fn event(&mut self, moment: &Moment<'_>, position: Position, event: &Event<'_>) {
        self.io.event(moment, position, event);
        if let Event::Enter { .. } = event {
            self.put_outputs(None);
        }
        self.log.event(moment, position, event);
        self.log.items.clear();
        let depth = moment.view.map_or(0, |v| v.depth);
        for change in self.log.changes.drain(..) {
            let change = match change {
                log::Change::Patch { address, len } => Change::Patch { address, len },
                log::Change::Moved { from, to, len } => Change::Moved { from, to, len },
                log::Change::Zeroed { address, len } => Change::Zeroed { address, len },
            };
            self.writer.extra(Extra::Changed { depth, change });
        }
    }

    fn miss(&mut self, view: &View<'_>, address: u64, len: u32, position: Position, writer: Option<u32>) {
        self.log.miss(view, address, len, position, writer);
        self.log.items.clear();
        for m in self.log.misses.drain(..) {
            let seen = self.seen.get(&(m.step, m.address)).copied();
            let log::Miss { step, module, site, address, bytes, writer, seq } = m;
            self.writer.extra(Extra::Missed(Miss { step, module, site, address, bytes, writer, seq, seen }));
        }
    }

    fn variadic(&mut self, view: &View<'_>, argument: u32, address: u64, len: u64) {
        self.writer.extra(Extra::Spilled { depth: view.depth, argument, address, len });
    }
}
