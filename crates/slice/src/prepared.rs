//! The first pass over a stream: checkpoints for later passes, and facts that it collects.

use crate::heap::{Allocated, Chains};
use crate::memory_streams::{MemoryStreams, Shown};
use crate::summaries::{Summaries, Summarise};
use crate::timeline;
use crate::touched::Touched;
use recording::event::{Event, Position};
use replay::checkpoint::Checkpoints;
use replay::effects;
use replay::event_cursor::Stream;
use replay::image::Image;
use replay::io::{Collector, IoList};
use replay::machine::Machine;
use replay::observer::{Effect, EventContext, ExternalCall, Observer, View};
use replay::process::{LoadedProcess, LoadedStream};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A stream: its checkpoints, and what the pass that made them collected.
pub struct Prepared<'p> {
    pub checkpoints: Checkpoints<'p>,
    pub seen: FirstPassResults,
}

/// What the first pass over a stream collected.
#[derive(Default, Serialize, Deserialize)]
pub struct FirstPassResults {
    pub summaries: Summaries,
    pub io: IoList,
    pub starts: Vec<Start>,
    /// Allocated heap blocks, by address.
    pub allocated: Vec<(u64, Allocated)>,
    pub chains: Chains,
    pub entry: Option<Entry>,
    /// Functions that were called from outside the program.
    pub entries: BTreeSet<u32>,
    /// The address of the thread's `errno`, if the program has requested it.
    pub errno: Option<u64>,
    /// Memory in which the library publishes what was written to streams without a file, in order of time.
    pub memory_streams: Vec<Shown>,
}

impl FirstPassResults {
    /// Whether all indices in it are within bounds.
    pub fn is_sound(&self, image: &Image) -> bool {
        self.io.events.iter().all(|e| e.source < self.io.sources.len())
            && self.allocated.iter().all(|(_, block)| block.chain < self.chains.len())
            && self.chains.functions().all(|function| function < image.functions())
            && self.entries.iter().chain(self.entry.iter().map(|e| &e.0)).all(|f| *f < image.functions())
    }
}

/// A call that started a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// The thread's stream, if it ran before the call returned.
    pub stream: Option<u32>,
    pub step: u64,
    /// The thread's function and its argument.
    pub routine: u64,
    pub argument: u64,
}

/// The function a stream began with, and its first argument.
pub type Entry = (u32, u64);

impl<'p> Prepared<'p> {
    /// Loads a stream from its timeline, or else replays it, with a checkpoint every so many instructions.
    /// Then the timeline is written, if `keep` is set.
    pub fn new(process: &'p LoadedProcess, stream: &'p LoadedStream, every: u64, keep: bool) -> Prepared<'p> {
        let image = &process.image;
        let file = timeline::path(process, stream);
        let stored = file.as_ref().and_then(|file| std::fs::read(file).ok());
        let known = stored.and_then(|bytes| timeline::decode(image, &stream.stream, every, bytes));
        if let Some((checkpoints, seen)) = known {
            return Prepared { checkpoints, seen };
        }
        let made = Prepared::replayed(image, &stream.stream, every);
        if let Some(file) = file.filter(|_| keep && made.checkpoints.len() > 1) {
            let bytes = timeline::encode(image, &stream.stream, every, &made.checkpoints, &made.seen);
            // If writing fails, the next question takes longer.
            let _ = bytes.map(|bytes| timeline::write(&file, &bytes));
        }
        made
    }

    /// Replays a stream.
    fn replayed(image: &'p Image, stream: &'p Stream, every: u64) -> Prepared<'p> {
        let mut first = First::new(image, every);
        let checkpoints = Checkpoints::make(image, stream, every, &mut first);
        let entry = first.entry.and_then(|(module, function, argument)| {
            Some((image.function(image.canonical(module), function)?, argument))
        });
        let entries =
            first.entries.iter().filter_map(|(module, f)| image.function(image.canonical(*module), *f));
        let seen = FirstPassResults {
            io: first.io.finish(),
            starts: first.starts,
            chains: first.chains,
            entry,
            entries: entries.collect(),
            errno: first.errno,
            memory_streams: first.memory_streams.finish(&first.allocated),
            allocated: first.allocated,
            summaries: first.summarise.finish(&mut first.touched),
        };
        Prepared { checkpoints, seen }
    }
}

/// The first pass over a stream.
struct First<'p> {
    summarise: Summarise<'p>,
    touched: Touched<'p>,
    io: Collector,
    starts: Vec<Start>,
    /// Heap blocks, by address.
    allocated: Vec<(u64, Allocated)>,
    chains: Chains,
    /// The stream of a thread that the call in progress has started.
    started: Option<u32>,
    /// The function the stream began with (module, and index in it), and its first argument.
    entry: Option<(u32, u32, u64)>,
    /// All functions that were called from outside: module, and index in it.
    entries: BTreeSet<(u32, u32)>,
    errno: Option<u64>,
    memory_streams: MemoryStreams,
}

impl<'p> First<'p> {
    fn new(image: &'p Image, every: u64) -> First<'p> {
        First {
            summarise: Summarise::new(image, every),
            touched: Touched::new(image),
            io: Collector::default(),
            starts: Vec::new(),
            allocated: Vec::new(),
            chains: Chains::default(),
            started: None,
            entry: None,
            entries: BTreeSet::new(),
            errno: None,
            memory_streams: MemoryStreams::default(),
        }
    }
}

impl Observer for First<'_> {
    const ALL_STEPS: bool = false;
    const FUSED_EDGES: bool = true;

    #[inline(always)] // the fast loop knows which effect it is
    fn step(&mut self, _: &View<'_>, effect: Effect) {
        self.summarise.step(effect);
        self.touched.effect(effect);
    }

    #[inline(always)]
    fn fused_edge(&mut self, fused_edge: u32) {
        self.summarise.fused_edge(fused_edge);
    }

    fn edge(&mut self, view: &View<'_>, _: u32, to: u32) {
        self.summarise.edge(view, to);
    }

    #[inline]
    fn enter(&mut self, view: &View<'_>, _: bool) {
        self.summarise.enter(view);
    }

    #[inline]
    fn returned(&mut self, view: &View<'_>) {
        self.summarise.returned(view);
    }

    fn unwound(&mut self, view: &View<'_>) {
        self.summarise.control_returned(view);
    }

    fn variadic(&mut self, _: &View<'_>, _: u32, _: u64, _: u64) {
        self.summarise.irregular();
    }

    fn checkpoint(&mut self, machine: &Machine<'_>) {
        self.summarise.checkpoint(machine, &mut self.touched);
    }

    fn event(&mut self, moment: &EventContext<'_>, position: Position, event: &Event<'_>) {
        if !matches!(event, Event::Check { .. }) {
            self.summarise.irregular();
        }
        match event {
            Event::Thread { stream, .. } => self.started = *stream,
            Event::ThreadLocal { symbol, address } => {
                let module = moment.view.as_ref().map(|view| view.image.module(position.module));
                let name = module.and_then(|m| m.symbols.get(*symbol as usize)).map(|s| s.name.as_str());
                if name == Some("__errno_location") {
                    self.errno = Some(*address);
                }
            }
            Event::Enter { module, function, slots, .. } => {
                self.entries.insert((*module, *function));
                if self.entry.is_none() {
                    self.entry = Some((*module, *function, slots.iter().next().unwrap_or(0)));
                }
            }
            _ => {}
        }
        self.io.event(moment, position, event);
        self.touched.event(moment, position, event);
    }

    fn leaving(&mut self, view: &View<'_>, call: &ExternalCall<'_>) {
        self.io.leaving(view, call);
    }

    fn external(&mut self, view: &View<'_>, call: &ExternalCall<'_>) {
        let started = self.started.take();
        if let Some(known) = call.known.filter(|k| k.has(externals::flag::STARTS)) {
            // `pthread_create` has attributes before the function.
            let first = if known.name == "thrd_create" { 1 } else { 2 };
            let arg = |n: usize| call.args.get(n).copied().unwrap_or(0);
            let (routine, argument) = (arg(first), arg(first + 1));
            let step = view.count.saturating_sub(1);
            self.starts.push(Start { stream: started, step, routine, argument });
        }
        self.memory_streams.opened(view, call);
        if let Some((address, size)) = effects::allocated(view, call) {
            let chain = self.chains.of(call.frames.iter().rev().map(|f| (f.function, f.pc)));
            self.allocated
                .push((address, Allocated { stream: 0, step: view.count, size: size.max(1), chain }));
        }
        self.io.external(view, call);
        self.touched.external(view, call);
        self.summarise.control_returned(view);
    }

    fn landed(&mut self, view: &View<'_>) {
        self.summarise.control_returned(view);
        self.io.landed(view);
    }

    fn miss(&mut self, view: &View<'_>, address: u64, _: u32, _: Position, _: Option<u32>) {
        self.summarise.irregular();
        self.memory_streams.missed(view, address);
    }
}
