//! The first pass over a stream: checkpoints for later ones, and what is seen on the way.

use crate::heap::{Allocated, Chains};
use crate::memory_streams::{MemoryStreams, Shown};
use recording::event::{Event, Position};
use replay::checkpoint::Checkpoints;
use replay::effects;
use replay::image::Image;
use replay::io::{Collector, IoList};
use replay::observer::{ExternalCall, Moment, Observer, View};
use replay::tape::Stream;
use std::collections::BTreeSet;

/// One stream: its checkpoints, and what the pass that made them saw.
pub struct Prepared<'p> {
    pub checkpoints: Checkpoints<'p>,
    pub io: IoList,
    pub starts: Vec<Start>,
    /// Blocks of the heap that were allocated, by address.
    pub allocated: Vec<(u64, Allocated)>,
    pub chains: Chains,
    pub entry: Option<Entry>,
    /// Functions that were called from outside.
    pub entries: BTreeSet<u32>,
    /// Where the thread's `errno` is, if the program has asked for it.
    pub errno: Option<u64>,
    /// Where the library shows what was written to streams without a file, in the order of time.
    pub memory_streams: Vec<Shown>,
}

/// A call that started a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    /// Replays a stream, with a checkpoint every so many instructions.
    pub fn new(image: &'p Image, stream: &'p Stream, every: u64) -> Prepared<'p> {
        let mut first = First::default();
        let checkpoints = Checkpoints::make(image, stream, every, &mut first);
        let entry = first.entry.and_then(|(module, function, argument)| {
            Some((image.function(image.canonical(module), function)?, argument))
        });
        let entries =
            first.entries.iter().filter_map(|(module, f)| image.function(image.canonical(*module), *f));
        Prepared {
            checkpoints,
            io: first.io.finish(),
            starts: first.starts,
            chains: first.chains,
            entry,
            entries: entries.collect(),
            errno: first.errno,
            memory_streams: first.memory_streams.finish(&first.allocated),
            allocated: first.allocated,
        }
    }
}

/// The first pass over a stream.
#[derive(Default)]
struct First {
    io: Collector,
    starts: Vec<Start>,
    /// Blocks of the heap, by address.
    allocated: Vec<(u64, Allocated)>,
    chains: Chains,
    /// The stream of a thread that the call under way has started.
    started: Option<u32>,
    /// The function the stream began with (module and number there), and its
    /// first argument.
    entry: Option<(u32, u32, u64)>,
    /// All functions that were called from outside: module and number there.
    entries: BTreeSet<(u32, u32)>,
    errno: Option<u64>,
    memory_streams: MemoryStreams,
}

impl Observer for First {
    const STEPS: bool = false;

    fn event(&mut self, moment: &Moment<'_>, position: Position, event: &Event<'_>) {
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
    }

    fn landed(&mut self, view: &View<'_>) {
        self.io.landed(view);
    }

    fn miss(&mut self, view: &View<'_>, address: u64, _: u32, _: Position, _: Option<u32>) {
        self.memory_streams.missed(view, address);
    }
}
