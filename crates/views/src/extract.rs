//! Extracts events from a replay.
//!
//! One observer receives loads, stores and calls, and looks up their meaning in the function's
//! [`plan`](crate::plan).

use crate::access;
use crate::column::{Budget, Column};
use crate::error::{Error, Result, in_time};
use crate::fleeting::Fleeting;
use crate::names::{NumberMap, mix};
use crate::own::RunNames;
use crate::plan::{self, ACCESS, CALL, NOTHING, Plan, RETURN};
use crate::sink::{Columns, Sink};
use crate::trace::{Encoding, Kind, NONE, Row, Shape, Thread, Trace, site_hash};
use crate::trace_tables::{EXTERNAL_METHOD, TraceTables};
use crate::values::{self, Reader};
use recording::event::{Event, Position};
use recording::header::StreamKind;
use replay::image::Image;
use replay::machine::{End, Machine, Stop};
use replay::observer::{Effect, EventContext, ExternalCall, Observer, View};
use replay::process::LoadedProcess;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

/// Options of an extraction.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether reads are events.
    pub gets: bool,
    /// The memory budget for events; the rest goes to disk.
    pub budget: Arc<Budget>,
    /// Calls whose events are marked, because their change was intended: by stream number, the ordinal
    /// numbers of the function entries that begin them, counted from 1, sorted.
    pub meant: Arc<BTreeMap<u32, Vec<u64>>>,
    /// Names that are specific to this run.
    pub own: RunNames,
    /// After it the extraction fails with [`Error::TimeUp`].
    pub deadline: Option<Instant>,
}

/// The number of instructions between two looks at the clock.
const CLOCK_INTERVAL: u64 = 1 << 22;

impl Default for Options {
    fn default() -> Self {
        Options {
            gets: true,
            budget: Budget::new(6 << 30),
            meant: Arc::default(),
            own: RunNames::default(),
            deadline: None,
        }
    }
}

/// Extracts all events of a process.
///
/// # Errors
/// If there are too many events for an event number, or no room or time for them. If a stream cannot be
/// replayed to its end, the trace has a note about it instead.
pub fn extract(process: &LoadedProcess, options: &Options) -> Result<Trace> {
    let mut x = Extractor::new(&process.image, options);
    for loaded in &process.streams {
        let first = x.sink.len();
        x.thread = x.threads.len();
        x.threads.push(Thread {
            stream: loaded.number,
            signal: loaded.kind == StreamKind::Signal,
            first,
            last: first,
            spawned: Vec::new(),
        });
        let mut machine = Machine::new(&process.image, &loaded.stream);
        x.stack = loaded.stream.initial_stack;
        x.entries = 0;
        let end = loop {
            let limit = machine.counters().instructions.saturating_add(CLOCK_INTERVAL);
            match machine.run(&mut x, limit) {
                Ok(Stop::Ended(end)) => break ended(end),
                Ok(Stop::Limit) if machine.counters().instructions >= limit => in_time(options.deadline)?,
                Ok(Stop::Limit) => break "stopped".to_owned(),
                Err(error) => {
                    x.notes.push(format!("events end early: failed to {error}"));
                    break "cannot be replayed further".to_owned();
                }
            }
        };
        x.instructions += machine.counters().instructions;
        x.leave(machine.frames().len());
        x.end(&end);
        x.leave(0);
        x.end_mark(0);
        x.threads[x.thread].last = x.sink.len();
    }
    x.finish()
}

fn ended(end: End) -> String {
    match end {
        End::Exit { status } => format!("exit {status}"),
        End::Crash { signal, .. } => format!("signal {signal}"),
        End::Exec => "exec".to_owned(),
        End::Cut => "cut".to_owned(),
    }
}

/// An active call of a function.
pub(crate) struct ActiveCall {
    pub(crate) plan: u32,
    pub(crate) active: u32,
    pub(crate) frame: u64,
    pub(crate) size: u64,
    /// The list of objects in its frame.
    pub(crate) list: u32,
    /// The index of the instruction that it executes, if it has called another function.
    pub(crate) index: u32,
}

pub(crate) struct Extractor<'i> {
    pub(crate) trace_tables: TraceTables<'i>,
    pub(crate) options: Options,
    pub(crate) plans: Vec<Plan>,
    /// By module and function.
    pub(crate) plan_of: Vec<Vec<u32>>,
    /// The plan of the innermost function.
    pub(crate) current: usize,
    pub(crate) frames: Vec<ActiveCall>,
    /// Event sites of calls, by call and callee.
    pub(crate) calls: NumberMap<u64, (u32, u32)>,
    pub(crate) sink: Sink,
    pub(crate) arguments: Column<u64>,
    pub(crate) threads: Vec<Thread>,
    pub(crate) thread: usize,
    pub(crate) stack: u64,
    /// The stacks that streams were spawned from.
    pub(crate) spawn_stacks: NumberMap<u32, Vec<u32>>,
    pub(crate) untyped: NumberMap<u32, u64>,
    pub(crate) notes: Vec<String>,
    pub(crate) instructions: u64,
    /// Event sites of C++'s deallocation operators.
    pub(crate) deletes: Vec<u32>,
    /// Allocation events; their keys are set at the end of the run.
    pub(crate) allocations: Vec<u32>,
    /// Taint tracking of fleeting values, which differ in every run.
    pub(crate) fleeting: Fleeting,
    /// Event sites with a fleeting value or argument, by original site and the values' parts.
    pub(crate) fleeting_sites: NumberMap<u64, u32>,
    pub(crate) start: std::time::Instant,
    /// Event ranges of marked calls, and the current marked call: its first event and its depth.
    meant: Vec<Range<usize>>,
    marked: Option<(usize, u32)>,
    /// The number of function entries in this stream so far.
    entries: u64,
    pub(crate) trouble: Option<Error>,
}

impl<'i> Extractor<'i> {
    fn new(image: &'i Image, options: &Options) -> Extractor<'i> {
        let mut trace_tables = TraceTables::new(image);
        // The plan that is current while no function is active.
        let outside = Plan { method: EXTERNAL_METHOD, ..Plan::default() };
        trace_tables.objects.all.reserve(1 << 10);
        Extractor {
            trace_tables,
            options: options.clone(),
            plans: vec![outside],
            plan_of: Vec::new(),
            current: 0,
            frames: Vec::new(),
            calls: NumberMap::default(),
            sink: Sink::new(&options.budget),
            arguments: Column::new(&options.budget),
            threads: Vec::new(),
            thread: 0,
            stack: 0,
            spawn_stacks: NumberMap::default(),
            untyped: NumberMap::default(),
            notes: Vec::new(),
            instructions: 0,
            deletes: Vec::new(),
            allocations: Vec::new(),
            fleeting: Fleeting::default(),
            fleeting_sites: NumberMap::default(),
            start: std::time::Instant::now(),
            meant: Vec::new(),
            marked: None,
            entries: 0,
            trouble: None,
        }
    }

    #[inline]
    pub(crate) fn emit(&mut self, act: u32, target: u32, value: u64, key: u64) {
        let active = self.frames.last().map_or(NONE, |f| f.active);
        if self.sink.push(Row { act, target, active, value }.into(), key) {
            self.settle();
        }
    }

    #[cold]
    fn settle(&mut self) {
        self.sink.flush();
        if let Err(error) = self.arguments.settle() {
            self.trouble.get_or_insert(error.into());
        }
        if self.sink.len() >= NONE as usize - (1 << 20) {
            self.trouble.get_or_insert(Error::TooMany(NONE.into()));
        }
    }

    pub(crate) fn plan(&mut self, module: u32, function: u32) -> u32 {
        let (m, f) = (module as usize, function as usize);
        if let Some(known) = self.plan_of.get(m).and_then(|of| of.get(f))
            && *known != NONE
        {
            return *known;
        }
        let mut plan = plan::plan(&mut self.trace_tables, module, function);
        if !self.options.gets {
            for (index, what) in plan.what.iter_mut().enumerate() {
                if *what >= ACCESS && plan.accesses[(*what - ACCESS) as usize].kind == Kind::Get {
                    debug_assert_eq!(plan.accesses[(*what - ACCESS) as usize].index as usize, index);
                    *what = NOTHING;
                }
            }
        }
        let number = self.plans.len() as u32;
        self.plans.push(plan);
        if self.plan_of.len() <= m {
            self.plan_of.resize(m + 1, Vec::new());
        }
        if self.plan_of[m].len() <= f {
            self.plan_of[m].resize(self.trace_tables.image.module(module).functions.len().max(f + 1), NONE);
        }
        self.plan_of[m][f] = number;
        number
    }

    /// Pops frames until `depth` are left.
    pub(crate) fn leave(&mut self, depth: usize) {
        while self.frames.len() > depth {
            if let Some(frame) = self.frames.pop()
                && frame.list != NONE
            {
                self.trace_tables.objects.end(frame.list);
            }
        }
        if self.fleeting.any() {
            self.fleeting.leave(depth);
            self.fleeting.decisions.left(self.sink.len(), depth);
        }
        self.current = self.frames.last().map_or(0, |f| f.plan as usize);
    }

    /// Begins marking events if the call that was just entered is a marked one.
    fn begin_mark(&mut self, view: &View<'_>) {
        let stream = self.threads[self.thread].stream;
        let is_meant =
            self.options.meant.get(&stream).is_some_and(|starts| starts.binary_search(&self.entries).is_ok());
        if is_meant && self.marked.is_none() {
            self.marked = Some((self.sink.len(), view.depth));
        }
    }

    /// Ends marking if the call that is marked is not among the outer `depth` ones.
    fn end_mark(&mut self, depth: u32) {
        if let Some((first, of)) = self.marked
            && of > depth
        {
            self.meant.push(first..self.sink.len());
            self.marked = None;
        }
    }

    /// The object at an address, created if there is none.
    pub(crate) fn object(&mut self, base: u64, ty: u32) -> u32 {
        match self.trace_tables.objects.at(base, ty) {
            Some(known) => known,
            None => access::make(&mut self.trace_tables, &mut self.frames, self.stack, base, ty),
        }
    }

    /// Represents a value: returns the number stored in the event's row and the one that enters its key.
    #[inline]
    pub(crate) fn represent(
        &mut self,
        take: Encoding,
        raw: u64,
        address: u64,
        view: &View<'_>,
    ) -> (u64, u64) {
        match take {
            Encoding::Plain => (raw, raw),
            Encoding::Pointer => (u64::from(raw != 0), u64::from(raw != 0)),
            Encoding::Object(ty) if raw != 0 => {
                (u64::from(self.object(raw, ty)) + 1, self.trace_tables.names.hash(ty) | 1)
            }
            Encoding::Whole(len) => {
                let said = values::bytes_hash(view.memory, address, u64::from(len).min(256), &self.fleeting);
                (said, said)
            }
            _ => {
                let own = &self.options.own;
                let mut reader =
                    Reader { names: &mut self.trace_tables.names, image: self.trace_tables.image, own };
                reader.represent(take, raw, view.memory, &self.fleeting)
            }
        }
    }

    pub(crate) fn stack_text(&self) -> String {
        let name = |f: &ActiveCall| self.trace_tables.names.text(self.method_name(f)).to_owned();
        self.frames.iter().rev().map(name).collect::<Vec<_>>().join(" < ")
    }

    pub(crate) fn method_name(&self, f: &ActiveCall) -> u32 {
        self.trace_tables.methods[self.plans[f.plan as usize].method as usize].name
    }

    pub(crate) fn marked(&mut self, kind: Kind, text: &str, index: usize) {
        let plan = &self.plans[self.current];
        let (at, method) = ((plan.module, plan.function, index), plan.method);
        let text = self.trace_tables.names.intern(text);
        let act = self.trace_tables.act(at, method, kind, 0, 0, Shape::Stack, Arc::new([]));
        let key = mix(self.trace_tables.acts[act as usize].hash, self.trace_tables.names.hash(text));
        self.emit(act, NONE, text.into(), key);
    }

    fn end(&mut self, how: &str) {
        let stack = self.stack_text();
        let text = if stack.is_empty() { how.to_owned() } else { format!("{how} in {stack}") };
        let index = self.frames.last().map_or(usize::MAX, |f| f.index as usize);
        self.marked(Kind::End, &text, index);
        let thread = &mut self.threads[self.thread];
        thread.spawned = self.spawn_stacks.get(&thread.stream).cloned().unwrap_or_default();
    }

    fn finish(mut self) -> Result<Trace> {
        self.settle();
        if let Some(error) = self.trouble {
            return Err(error);
        }
        let Extractor { trace_tables, sink, arguments, .. } = self;
        let Columns { rows, mut keys } = sink.finish()?;
        let TraceTables { names, acts, methods, objects, .. } = trace_tables;
        let objects = objects.finish();
        for (event, row) in
            self.allocations.into_iter().map(|e| (e as usize, Row::from(rows.get(e as usize))))
        {
            // The key of an allocation contains the object's type; if the type is unknown, the size.
            let key = match objects[row.target as usize].ty {
                0 if matches!(acts[row.act as usize].shape, Shape::Fleeting(_)) => {
                    mix(site_hash(Kind::Init, 0, 0), values::FLEETING)
                }
                0 => mix(site_hash(Kind::Init, 0, 0), row.value),
                ty => site_hash(Kind::Init, names.hash(ty), 0),
            };
            keys.set(event, key);
        }
        let mut untyped: Vec<(u32, u64)> = self.untyped.into_iter().collect();
        untyped.sort_by_key(|u| std::cmp::Reverse(u.1));
        Ok(Trace {
            names,
            acts,
            methods,
            objects,
            threads: self.threads,
            rows,
            keys,
            arguments,
            instructions: self.instructions,
            seconds: self.start.elapsed().as_secs_f64(),
            untyped,
            decisions: self.fleeting.decisions.finish(),
            meant: self.meant,
            notes: self.notes,
            budget: self.options.budget,
        })
    }
}

impl Observer for Extractor<'_> {
    // Instructions other than accesses and calls are not observed.
    const ALL_STEPS: bool = false;

    #[inline]
    fn all_steps(&self) -> bool {
        self.fleeting.any() || self.plans[self.current].sources.is_some()
    }

    #[inline]
    fn step(&mut self, view: &View<'_>, effect: Effect) {
        if self.all_steps() {
            self.flow(view, effect);
        }
        let what = self.plans[self.current].what.get(view.index as usize).copied().unwrap_or(NOTHING);
        match what {
            NOTHING => {}
            CALL => {
                if let Some(frame) = self.frames.last_mut() {
                    frame.index = view.index;
                }
            }
            RETURN => self.returning(view),
            access => self.access(view, (access - ACCESS) as usize, effect),
        }
    }

    fn edge(&mut self, view: &View<'_>, from: u32, to: u32) {
        if self.fleeting.any() {
            self.on_edge(view, from, to);
        }
    }

    fn enter(&mut self, view: &View<'_>, outside: bool) {
        if !self.options.meant.is_empty() {
            self.entries += 1;
            self.end_mark(view.depth - 1);
            self.begin_mark(view);
        }
        self.entered(view, outside);
    }

    fn returned(&mut self, view: &View<'_>) {
        self.leave(view.depth as usize);
        self.end_mark(view.depth);
        if self.fleeting.any() || self.fleeting.passes() {
            self.receive_result(view);
        }
    }

    fn variadic(&mut self, view: &View<'_>, argument: u32, address: u64, len: u64) {
        if self.fleeting.any() {
            self.spilled(view, argument, address, len);
        }
    }

    fn landed(&mut self, view: &View<'_>) {
        self.leave(view.depth as usize);
        self.end_mark(view.depth);
    }

    fn unwound(&mut self, view: &View<'_>) {
        self.leave(view.depth as usize);
        self.end_mark(view.depth);
    }

    fn external(&mut self, view: &View<'_>, call: &ExternalCall<'_>) {
        self.propagate_external(view, call);
        self.on_external_return(view, call);
    }

    fn event(&mut self, moment: &EventContext<'_>, _: Position, event: &Event<'_>) {
        let child = match event {
            Event::Thread { stream, .. } => *stream,
            Event::Fork { .. } => None,
            Event::Patch { address, bytes } if self.fleeting.any() => {
                self.fleeting.overwritten(*address, bytes.len() as u64);
                return;
            }
            Event::Zeroed { address, length } if self.fleeting.any() => {
                self.fleeting.overwritten(*address, *length);
                return;
            }
            _ => return,
        };
        let stack = self.stack_text();
        let index = moment.view.map_or(usize::MAX, |v| v.index as usize);
        self.marked(Kind::Fork, &stack, index);
        if let Some(child) = child {
            let mut spawn: Vec<u32> = self.frames.iter().rev().map(|f| self.method_name(f)).collect();
            let parent = self.threads[self.thread].stream;
            spawn.extend(self.spawn_stacks.get(&parent).cloned().unwrap_or_default());
            self.spawn_stacks.insert(child, spawn);
        }
    }
}
