//! The calls of some functions in one replay: the states before and after, and how they terminated.

use crate::capture::{CaptureContext, capture, mark_addresses};
use crate::external_effects::external_effect;
use crate::footprint::Footprint;
use crate::judge::Output;
use crate::objects::ObjectMap;
use crate::state::{Knowledge, RESULT, Root, RootKind, State, parameter_address};
use crate::version::{ObservedFunction, Version};
use explain::align::{Lines, Side, Track};
use expression::types::{Shape, Type};
use program::inst::{Inst, Operand};
use program::model::{Function, Home, Module, SymbolKind};
use recording::event::{Event, Position};
use replay::event_cursor::Stream;
use replay::io::{Collector, IoList};
use replay::machine::{End, Machine, Stop};
use replay::memory::Memory;
use replay::observer::{Effect, EventContext, ExternalCall, Observer, View};
use slice::touched::Touched;
use std::collections::{BTreeMap, HashMap};

/// How a call terminated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It returned.
    Returned,
    /// The process ended during the call.
    Exit(u32),
    /// The process aborted itself: signal 6.
    Abort,
    /// The process died by this signal.
    Signal(u32),
    /// An exception left it; its type, if it is known.
    Throw(Option<String>),
    /// It was left by `longjmp`.
    Jump,
    /// The recording ends during the call.
    Unfinished,
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Ended::Returned => write!(f, "returns"),
            Ended::Exit(status) => write!(f, "exit {status}"),
            Ended::Abort => write!(f, "abort"),
            Ended::Signal(signal) => write!(f, "signal {}", signal_name(*signal)),
            Ended::Throw(Some(ty)) => write!(f, "throw {ty}"),
            Ended::Throw(None) => write!(f, "throw"),
            Ended::Jump => write!(f, "longjmp"),
            Ended::Unfinished => write!(f, "does not end"),
        }
    }
}

/// The name of a signal, such as `SIGSEGV`.
#[must_use]
pub fn signal_name(number: u32) -> String {
    let known = i32::try_from(number).ok().and_then(trials::signal_name);
    known.map_or_else(|| number.to_string(), str::to_owned)
}

/// One call.
#[derive(Clone, Debug)]
pub struct Call<'m> {
    /// Index into the observed functions.
    pub function: usize,
    /// The ordinal number of the call among those of its function in the stream, from 1.
    pub number: u64,
    /// The execution index of the activation, which both runs share.
    pub key: u128,
    /// Function, file and line of the caller.
    pub caller: Option<Caller>,
    /// The state before the call, after the prologue.
    pub entry: State,
    /// The state after the call.
    pub exit: State,
    /// The type of the result; none if there is none, or the call did not return.
    pub result: Option<Type<'m>>,
    /// How it terminated.
    pub ended: Ended,
    /// Steps of its first and last instruction.
    pub steps: (u64, u64),
    /// The number of the function entry of the stream that began it, from 1.
    pub entered: u64,
}

/// A call site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The readable name of the calling function.
    pub function: String,
    /// The path of the source of the call site, as it was compiled.
    pub file: String,
    /// The line of the call site, from 1.
    pub line: u32,
}

/// Limits on what is kept of the calls.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Number of calls of each function.
    pub calls: u64,
    /// Total number of bytes of all states.
    pub bytes: u64,
}

/// All calls of a stream, and the output of the stream.
pub struct Seen<'m> {
    /// The calls that were kept, in the order in which they ended.
    pub calls: Vec<Call<'m>>,
    /// What the stream read and wrote.
    pub io: IoList,
    /// Effects on state outside of memory, with the instruction of the external call.
    pub external_effects: Vec<(u64, Output)>,
    /// For each observed function, the number of calls that were not kept.
    pub passed_over: Vec<u64>,
    /// Why the replay ended early.
    pub trouble: Option<String>,
}

/// Replays a stream. `functions` come with the global variables that belong to their states.
pub fn watch<'m>(
    version: &Version<'m>,
    stream: &'m Stream,
    side: Side,
    lines: &Lines<'_>,
    functions: &[(ObservedFunction<'m>, Vec<Root<'m>>)],
    bounds: Bounds,
) -> Seen<'m> {
    let image = version.image;
    let mut by_function = HashMap::new();
    for (n, (watched, _)) in functions.iter().enumerate() {
        by_function.insert((watched.module, watched.number), n);
    }
    let spans = version.globals.iter().map(|g| (g.address, g.address + g.size.max(1))).collect();
    let mut watch = Watch {
        version,
        functions,
        by_function,
        bounds,
        track: Track::new(image, side, lines),
        objects: ObjectMap::new(spans),
        touched: Touched::new(image),
        io: Collector::default(),
        frames: Vec::new(),
        open: Vec::new(),
        calls: Vec::new(),
        counts: vec![0; functions.len()],
        passed_over: vec![0; functions.len()],
        bytes: 0,
        entered: 0,
        thrown: None,
        external_effects: Vec::new(),
        thread_locals: BTreeMap::new(),
    };
    let mut machine = Machine::new(image, stream);
    let stop = machine.run(&mut watch, u64::MAX);
    let (ended, trouble) = match stop {
        Ok(Stop::Ended(End::Exit { status })) => (Ended::Exit(status), None),
        Ok(Stop::Ended(End::Crash { signal: 6, .. })) => (Ended::Abort, None),
        Ok(Stop::Ended(End::Crash { signal, .. })) => (Ended::Signal(signal), None),
        Ok(Stop::Ended(End::Exec | End::Cut) | Stop::Limit) => (Ended::Unfinished, None),
        Err(error) => (Ended::Unfinished, Some(error.to_string())),
    };
    watch.close(0, machine.memory(), machine.counters().instructions, &ended);
    Seen {
        calls: watch.calls,
        io: watch.io.finish(),
        external_effects: watch.external_effects,
        passed_over: watch.passed_over,
        trouble,
    }
}

/// Maximum number of bytes of a thread-local variable.
const MAX_THREAD_LOCAL: u64 = 4096;
/// C's name for the word that `__errno_location` points to.
pub(crate) const ERRNO: &str = "errno";

/// A call in progress.
struct Open<'m> {
    depth: u32,
    call: Call<'m>,
    /// The prologue has not finished.
    pending: bool,
    /// The caller's buffer for a result that is not scalar.
    result_buffer: u64,
    used: Footprint,
}

struct Watch<'w, 'm> {
    version: &'w Version<'m>,
    functions: &'w [(ObservedFunction<'m>, Vec<Root<'m>>)],
    by_function: HashMap<(u32, u32), usize>,
    bounds: Bounds,
    track: Track<'w>,
    objects: ObjectMap,
    touched: Touched<'m>,
    io: Collector,
    /// Frames of all activations: address, function, index of the current call instruction, and module
    /// number.
    frames: Vec<(u64, &'m Function, u32, u32)>,
    open: Vec<Open<'m>>,
    calls: Vec<Call<'m>>,
    counts: Vec<u64>,
    passed_over: Vec<u64>,
    bytes: u64,
    /// Number of function entries so far.
    entered: u64,
    /// Type of the exception in flight.
    thrown: Option<String>,
    external_effects: Vec<(u64, Output)>,
    /// Thread-local variables of this thread: name, address and size.
    thread_locals: BTreeMap<String, (u64, u64)>,
}

impl<'m> Watch<'_, 'm> {
    /// Ends the calls deeper than `depth` with a termination other than returning.
    fn close(&mut self, depth: u32, memory: &Memory, step: u64, ended: &Ended) {
        while self.open.last().is_some_and(|open| open.depth > depth) {
            self.end(memory, step, ended.clone());
        }
    }

    /// Ends the innermost call.
    fn end(&mut self, memory: &Memory, step: u64, ended: Ended) {
        let Some(Open { depth, mut call, pending, used, .. }) = self.open.pop() else { return };
        call.steps.1 = step;
        used.tell(&mut call.entry, &mut call.exit, memory, |at| self.objects.is_defined(at));
        self.note_thread_locals(&mut call, memory);
        if let Some(outer) = self.open.last_mut() {
            outer.used.absorb(used);
        }
        if pending {
            // It never reached its first statement.
            self.take(&mut call.entry, call.function, memory, depth);
        }
        let (watched, _) = &self.functions[call.function];
        for (n, parameter) in watched.parameters.iter().enumerate() {
            let address = parameter_address(n);
            let size = parameter.ty.size() as usize;
            if let Some(bytes) = call.entry.read(address, size) {
                call.exit.put(address, &bytes, |_| Knowledge::Set);
                mark_addresses(&mut call.exit, &self.objects, self.version.image, address, &bytes);
            }
        }
        call.ended = ended;
        let result = call.result.clone();
        self.capture_roots(&mut call.exit, call.function, memory, depth, result);
        self.bytes += call.entry.bytes + call.exit.bytes;
        self.calls.push(call);
    }

    fn take(&self, state: &mut State, function: usize, memory: &Memory, depth: u32) {
        self.capture_roots(state, function, memory, depth, None);
    }

    fn capture_roots(
        &self,
        state: &mut State,
        function: usize,
        memory: &Memory,
        depth: u32,
        result: Option<Type<'m>>,
    ) {
        let (watched, globals) = &self.functions[function];
        let mut roots = watched.roots();
        if let Some(ty) = result {
            roots.push(Root { kind: RootKind::Result, name: "\\result".to_owned(), ty, address: RESULT });
        }
        roots.extend(globals.iter().cloned());
        let variable = |address: u64| {
            if let Some(n) = self.version.global_at(address) {
                let global = &self.version.globals[n];
                return Some((global.address, global.ty.clone()));
            }
            self.frames.iter().take(depth as usize).rev().find_map(|(base, function, _, module)| {
                let offset = address.checked_sub(*base).filter(|o| *o < function.frame_size)?;
                let model = self.version.image.module(*module);
                function.bindings.iter().find_map(|b| {
                    let Home::Frame(at) = b.home else { return None };
                    let ty = Type::of(model, function.variables.get(b.variable as usize)?.ty);
                    (b.part.is_none() && (at..at + ty.size().max(1)).contains(&offset))
                        .then(|| (base + at, ty))
                })
            })
        };
        let scene = CaptureContext {
            image: self.version.image,
            memory,
            objects: &self.objects,
            touched: &self.touched,
            variable: &variable,
        };
        capture(state, &roots, &scene, &self.version.modules);
    }

    /// Stores the parameters in the entry state of the new call, and captures the rest of it.
    fn begin(&mut self, view: &View<'_>) {
        let Some(mut open) = self.open.pop() else { return };
        open.pending = false;
        let (watched, _) = &self.functions[open.call.function];
        for (n, parameter) in watched.parameters.iter().enumerate() {
            let size = parameter.ty.size().min(1 << 16) as usize;
            let (mut bytes, mut known) = (vec![0; size], vec![false; size]);
            for (home, part) in watched.homes(parameter) {
                let (offset, len) = part.map_or((0, size), |(o, n)| (o as usize / 8, n.div_ceil(8) as usize));
                let memory = |address: u64| {
                    let mut bytes = vec![0; len];
                    view.memory.peek(address, &mut bytes);
                    bytes
                };
                let (value, defined): (Vec<u8>, bool) = match home {
                    Home::Value(operand, _) if watched.is_passed(operand) => {
                        (view.wide(operand).to_le_bytes().to_vec(), true)
                    }
                    Home::Frame(at) => (memory(view.frame.wrapping_add(at)), true),
                    Home::Memory(operand, at) if watched.is_passed(operand) => {
                        (memory(view.value(operand).wrapping_add_signed(at)), true)
                    }
                    _ => (Vec::new(), false),
                };
                for (i, byte) in value.iter().take(len).enumerate() {
                    if let (Some(to), Some(k)) = (bytes.get_mut(offset + i), known.get_mut(offset + i)) {
                        (*to, *k) = (*byte, defined);
                    }
                }
            }
            open.call.entry.put(parameter_address(n), &bytes, |i| {
                if known[i] { Knowledge::Set } else { Knowledge::Nothing }
            });
        }
        for n in 0..watched.parameters.len() {
            let address = parameter_address(n);
            if let Some(bytes) = open.call.entry.read(address, 8) {
                mark_addresses(&mut open.call.entry, &self.objects, self.version.image, address, &bytes);
            }
        }
        if watched.function.ret.is_empty()
            && let Some(first) = watched.function.params.first()
        {
            open.result_buffer = view.value(Operand::Reg(first.reg));
        }
        let function = open.call.function;
        self.take(&mut open.call.entry, function, view.memory, view.depth);
        self.open.push(open);
    }

    /// Registers the address of a thread-local variable.
    fn thread_local(&mut self, module: &Module, symbol: u32, address: u64) {
        let Some(symbol) = module.symbols.get(symbol as usize) else { return };
        let (name, size) = match symbol.kind {
            SymbolKind::ThreadLocal { size, .. } => (symbol.name.as_str(), size),
            _ if symbol.name == "__errno_location" => (ERRNO, 4),
            _ => return,
        };
        if self.thread_locals.contains_key(name) {
            return;
        }
        self.thread_locals.insert(name.to_owned(), (address, size.min(MAX_THREAD_LOCAL)));
    }

    /// Adds thread-local variables to the states.
    fn note_thread_locals(&self, call: &mut Call<'_>, memory: &Memory) {
        for (name, (address, size)) in &self.thread_locals {
            let all: Vec<(u64, u8)> = call.entry.used(*address, address + size).collect();
            // A value that the library left in `errno` does not belong to the program's state.
            if all.len() as u64 == *size && name != ERRNO {
                let bytes = all.into_iter().map(|(_, byte)| byte).collect();
                call.entry.thread_locals.insert(name.clone(), bytes);
            }
            if call.exit.used(*address, address + size).next().is_some() {
                let mut bytes = vec![0; *size as usize];
                memory.peek(*address, &mut bytes);
                call.exit.thread_locals.insert(name.clone(), bytes);
            }
        }
    }

    /// Records a memory access of the innermost call.
    #[inline]
    fn record_access(&mut self, view: &View<'_>, effect: Effect) {
        let Some(open) = self.open.last_mut() else { return };
        let used = &mut open.used;
        match effect {
            Effect::None => {}
            // Its own locals do not belong to any state.
            Effect::Load { address, .. } | Effect::Store { address, .. }
                if address.wrapping_sub(view.frame) < view.function().frame_size => {}
            Effect::Load { address, len } => used.read(address, len.into(), view.memory),
            Effect::Store { address, len } | Effect::Update { address, len, stored: true } => {
                used.write(address, len.into());
            }
            Effect::Update { address, len, stored: false } => used.read(address, len.into(), view.memory),
            Effect::Copy { to, from, len } => {
                if to.abs_diff(from) >= len {
                    used.read(from, len, view.memory);
                }
                used.write(to, len);
            }
            Effect::Fill { to, len } => used.write(to, len),
        }
    }

    /// The innermost call is about to return.
    fn returning(&mut self, view: &View<'_>, value: Option<Operand>) {
        let Some(open) = self.open.last_mut() else { return };
        let (watched, _) = &self.functions[open.call.function];
        if let Some(ty) = watched.result() {
            let size = ty.size().min(1 << 16) as usize;
            let bytes = match (value, &ty.shape()) {
                (Some(Operand::Reg(r)), Shape::Record(..) | Shape::Array(..)) => {
                    // Each contains eight bytes of a record.
                    let mut bytes = Vec::new();
                    let mut at = r;
                    for part in &watched.function.ret {
                        let word = view.wide(Operand::Reg(at)).to_le_bytes();
                        bytes.extend_from_slice(&word[..8 * part.slots().min(2) as usize]);
                        at += part.slots();
                    }
                    bytes
                }
                (Some(operand), _) => view.wide(operand).to_le_bytes().to_vec(),
                (None, Shape::Record(..)) if open.result_buffer != 0 => {
                    let mut bytes = vec![0; size];
                    view.memory.peek(open.result_buffer, &mut bytes);
                    let bytes_defined: Vec<bool> =
                        (0..size).map(|n| self.objects.is_defined(open.result_buffer + n as u64)).collect();
                    let known = |n: usize| if bytes_defined[n] { Knowledge::Set } else { Knowledge::Nothing };
                    open.call.exit.put(RESULT, &bytes, known);
                    Vec::new()
                }
                _ => Vec::new(),
            };
            let bytes: Vec<u8> = bytes.into_iter().take(size).collect();
            open.call.exit.put(RESULT, &bytes, |_| Knowledge::Set);
            mark_addresses(&mut open.call.exit, &self.objects, self.version.image, RESULT, &bytes);
            open.call.result = Some(ty);
        }
        self.end(view.memory, view.count, Ended::Returned);
    }
}

impl Observer for Watch<'_, '_> {
    fn enter(&mut self, view: &View<'_>, outside: bool) {
        let depth = view.depth as usize;
        self.entered += 1;
        self.close(view.depth - 1, view.memory, view.count, &Ended::Jump);
        self.frames.truncate(depth - 1);
        let caller = self.frames.last().copied();
        let key = self.track.enter(view).key;
        let model = self.version.image.module(view.code.module);
        let function = &model.functions[view.code.function as usize];
        self.objects.enter(view.frame, function.frame_size);
        for p in &function.params {
            if let program::inst::ArgTy::ByVal { size, .. } = p.ty {
                self.objects.define(view.frame.wrapping_add(p.frame_offset), size);
            }
        }
        self.frames.push((view.frame, function, 0, view.code.module));
        let Some(number) = self.by_function.get(&(view.code.module, view.code.function)).copied() else {
            return;
        };
        self.counts[number] += 1;
        if self.counts[number] > self.bounds.calls || self.bytes > self.bounds.bytes {
            self.passed_over[number] += 1;
            return;
        }
        let caller = caller.filter(|_| !outside).map(|(_, function, index, module)| {
            let place = function.place(index as usize);
            Caller {
                function: program::names::readable(&function.name).into_owned(),
                file: self.version.image.module(module).file_path(place.file),
                line: place.line,
            }
        });
        let call = Call {
            function: number,
            number: self.counts[number],
            key,
            caller,
            entry: State::default(),
            exit: State::default(),
            result: None,
            ended: Ended::Unfinished,
            steps: (view.count, view.count),
            entered: self.entered,
        };
        self.open.push(Open {
            depth: view.depth,
            call,
            pending: true,
            result_buffer: 0,
            used: Footprint::default(),
        });
        if self.functions[number].0.prologue == 0 {
            self.begin(view);
        }
    }

    fn edge(&mut self, view: &View<'_>, from: u32, to: u32) {
        self.track.edge(view, from, to);
    }

    #[inline]
    fn step(&mut self, view: &View<'_>, effect: Effect) {
        self.track.step(view);
        self.touched.step(view, effect);
        self.objects.step(effect);
        self.record_access(view, effect);
        match view.inst() {
            Inst::ThreadLocal { dst, symbol } => {
                self.thread_local(view.module(), *symbol, view.value(Operand::Reg(*dst)));
            }
            Inst::Call(_) => {
                if let Some(frame) = self.frames.get_mut(view.depth as usize - 1) {
                    frame.2 = view.index;
                }
            }
            Inst::Return { value, .. } => {
                self.close(view.depth, view.memory, view.count, &Ended::Jump);
                if self.open.last().is_some_and(|open| open.depth == view.depth) {
                    self.returning(view, *value);
                }
            }
            _ => {}
        }
        if let Some(open) = self.open.last()
            && open.pending
            && open.depth == view.depth
            && view.index + 1 == self.functions[open.call.function].0.prologue
        {
            self.begin(view);
        }
    }

    fn leaving(&mut self, view: &View<'_>, call: &ExternalCall<'_>) {
        self.io.leaving(view, call);
    }

    fn external(&mut self, view: &View<'_>, call: &ExternalCall<'_>) {
        self.touched.external(view, call);
        let name = self.version.image.external_at(call.target).map_or("", |e| e.0);
        self.objects.external(view, call, name);
        if let Some(external_effect) = external_effect(name, call, view.memory) {
            self.external_effects.push((view.count, external_effect));
        }
        if let Some(open) = self.open.last_mut() {
            call.reads.iter().for_each(|(address, len)| open.used.read(*address, *len, view.memory));
            call.writes.iter().for_each(|(address, len)| open.used.write(*address, *len));
        }
        self.io.external(view, call);
    }

    fn event(&mut self, moment: &EventContext<'_>, position: Position, event: &Event<'_>) {
        self.touched.event(moment, position, event);
        match event {
            // The innermost function is still at the call that throws.
            Event::Land { .. } => {
                if let Some(view) = moment.view
                    && let Inst::Call(call) = view.inst()
                    && let Some(ty) = thrown(&view, call)
                {
                    self.thrown = Some(ty);
                }
            }
            Event::Patch { address, bytes } => {
                self.objects.define(*address, bytes.len() as u64);
                if let Some(open) = self.open.last_mut() {
                    open.used.write(*address, bytes.len() as u64);
                }
            }
            Event::Zeroed { address, length } => self.objects.define(*address, *length),
            _ => {}
        }
        self.io.event(moment, position, event);
    }

    fn miss(&mut self, _: &View<'_>, address: u64, len: u32, _: Position, _: Option<u32>) {
        self.objects.define(address, len.into());
    }

    fn landed(&mut self, view: &View<'_>) {
        let ended = match view.inst() {
            Inst::Landing { .. } => Ended::Throw(self.thrown.clone()),
            _ => Ended::Jump,
        };
        self.close(view.depth, view.memory, view.count, &ended);
        self.frames.truncate(view.depth as usize);
    }

    fn unwound(&mut self, view: &View<'_>) {
        self.close(view.depth, view.memory, view.count, &Ended::Throw(self.thrown.clone()));
        self.frames.truncate(view.depth as usize);
    }
}

/// The type of the exception that a call throws.
fn thrown(view: &View<'_>, call: &program::inst::Call) -> Option<String> {
    let name = |operand: Operand| match operand {
        Operand::Symbol { symbol, .. } => view.module().symbols.get(symbol as usize).map(|s| s.name.as_str()),
        _ => None,
    };
    if name(call.callee)? != "__cxa_throw" {
        return None;
    }
    crate::exceptions::described(name(call.args.get(1)?.value)?)
}
