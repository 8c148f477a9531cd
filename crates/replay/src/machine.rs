//! The state of a replayed thread, and the operations between instructions: frames, events, time.

use crate::effects;
use crate::error::{Divergence, Error, Result};
use crate::event_cursor::{EventCursor, Stream};
use crate::image::Image;
use crate::memory::Memory;
use crate::observer::{EventContext, Observer, View};
use recording::decode::EventHead;
use recording::event::{Event, Position, kind, source};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// Limit on registers, and thereby on frames, so that a damaged recording cannot make replay recurse until
/// memory is exhausted.
pub(crate) const MAX_REGISTERS: usize = 1 << 28;

/// How a function was entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Entered {
    /// Called by modelled code.
    Linked,
    /// Called by code that is not modelled, inside an external call or from
    /// the top.
    Outside,
}

/// An activation of a modelled function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// Number of the function in the image.
    pub function: u32,
    /// The current or next instruction.
    pub pc: u32,
    /// Start of its registers.
    pub base: usize,
    /// Address of the fixed frame.
    pub frame: u64,
    /// Model stack pointer at entry.
    pub saved_stack: u64,
    /// By modelled code or by other code.
    pub entered: Entered,
    /// Number of saved variadic arguments below its own.
    pub va_base: usize,
    /// The calling function in the image, and the index of its call, if that passed variadic arguments.
    pub va: Option<(u32, u32)>,
}

/// How a stream ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum End {
    /// Orderly.
    Exit {
        /// The exit status.
        status: u32,
    },
    /// By a signal.
    Crash {
        /// The signal's number.
        signal: u32,
        /// The faulting address, as the kernel reported it.
        address: u64,
        /// Whether the instruction that raised it is known.
        located: bool,
    },
    /// The process continued as another program.
    Exec,
    /// The recording stops here (the process was killed, or events are lost).
    Cut,
}

/// Why [`Machine::run`] returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The instruction count was reached.
    Limit,
    /// The stream has ended.
    Ended(End),
}

/// What a machine has done since the start of its stream, fork parents included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Instructions executed.
    pub instructions: u64,
    /// Loads and atomic updates executed; not the memory that externals and copies read.
    pub loads: u64,
    /// Loads that the recording had to correct.
    pub mispredicted: u64,
    /// Events of the recording consumed.
    pub events: u64,
    /// Checksums that agreed.
    pub checks: u64,
}

/// One thread being replayed.
#[derive(Clone)]
pub struct Machine<'a> {
    pub(crate) image: &'a Image,
    pub(crate) stream: &'a Stream,
    pub(crate) memory: Memory,
    pub(crate) regs: Vec<u64>,
    pub(crate) frames: Vec<Frame>,
    pub(crate) va: Vec<u64>,
    pub(crate) time: u64,
    pub(crate) sum: u64,
    pub(crate) stack: u64,
    /// Time and sum in the thread's context: those of the last call or return.
    pub(crate) context: (u64, u64),
    /// The sum at the call or return before that.
    pub(crate) context_before: u64,
    pub(crate) tls: HashMap<(u32, u32), u64>,
    pub(crate) event_cursor: EventCursor<'a>,
    /// No event is due before this time: that of the next event, or the end.
    pub(crate) next_event_time: u64,
    /// The next event, if there is one.
    pub(crate) head: Option<EventHead>,
    pub(crate) last_event: u64,
    pub(crate) end: Option<End>,
    /// Stop when the events of this part are consumed up to this byte.
    pub(crate) pause_at: Option<(usize, usize)>,
    /// Stopped at `pause_at`, inside a call to code outside.
    pub(crate) paused: bool,
    /// The next event is a landing that must happen now.
    pub(crate) landing_due: bool,
    pub(crate) counters: Counters,
    /// Counters when the last fork was passed.
    pub(crate) inherited: Counters,
    pub(crate) part: usize,
    /// The part the last event came from.
    pub(crate) event_part: usize,
    /// What the current external call read and wrote, for observers.
    pub(crate) touched: AccessedRanges,
    /// For each source in the recording (part and number) the address of its content; see [`effects`].
    pub(crate) files: BTreeMap<(usize, u64), u64>,
}

/// Ranges that an external call read and wrote: address and length. Only those that a model or the recording
/// reports, not those of the table of externals.
#[derive(Clone, Debug, Default)]
pub(crate) struct AccessedRanges {
    pub reads: Vec<(u64, u64)>,
    pub writes: Vec<(u64, u64)>,
    /// Bytes transferred between memory and files: to, from, length.
    pub transfers: Vec<(u64, u64, u64)>,
}

impl AccessedRanges {
    pub fn clear(&mut self) {
        self.reads.clear();
        self.writes.clear();
        self.transfers.clear();
    }
}

impl<'a> Machine<'a> {
    /// A thread at the start of its stream; no instruction has run.
    #[must_use]
    pub fn new(image: &'a Image, stream: &'a Stream) -> Self {
        let mut m = Machine {
            image,
            stream,
            memory: Memory::default(),
            regs: Vec::new(),
            frames: Vec::new(),
            va: Vec::new(),
            time: 0,
            sum: 0,
            stack: stream.initial_stack,
            context: (0, 0),
            context_before: 0,
            tls: HashMap::new(),
            event_cursor: EventCursor::new(stream),
            next_event_time: 0,
            head: None,
            last_event: 0,
            end: None,
            pause_at: None,
            paused: false,
            landing_due: false,
            counters: Counters::default(),
            inherited: Counters::default(),
            part: 0,
            event_part: 0,
            touched: AccessedRanges::default(),
            files: BTreeMap::new(),
        };
        m.peek_next();
        m
    }

    /// The counts up to here.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// The counters before the process was forked.
    #[must_use]
    pub fn inherited(&self) -> Counters {
        self.inherited
    }

    /// The thread's memory, as replay knows it.
    #[must_use]
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// The recorded program.
    #[must_use]
    pub fn image(&self) -> &'a Image {
        self.image
    }

    /// The activations, outermost first.
    #[must_use]
    pub fn frames(&self) -> &[Frame] {
        &self.frames
    }

    /// The stream's time.
    #[must_use]
    pub fn time(&self) -> u64 {
        self.time
    }

    /// The running checksum of stored values and branches.
    #[must_use]
    pub fn sum(&self) -> u64 {
        self.sum
    }

    /// How the stream ended, once it has.
    #[must_use]
    pub fn end(&self) -> Option<End> {
        self.end
    }

    /// The state at the instruction of the innermost frame.
    #[must_use]
    pub fn view(&self) -> Option<View<'_>> {
        let f = self.frames.last()?;
        let code = self.image.code(f.function);
        Some(View {
            image: self.image,
            code,
            index: f.pc,
            regs: &self.regs[f.base..f.base + code.total()],
            memory: &self.memory,
            count: self.counters.instructions,
            time: self.time,
            depth: self.frames.len() as u32,
            frame: f.frame,
        })
    }

    pub(crate) fn moment(&self) -> EventContext<'_> {
        EventContext { view: self.view(), memory: &self.memory, part: self.event_part }
    }

    /// Reads the head of the next event after one was consumed.
    pub(crate) fn peek_next(&mut self) {
        self.head = self.event_cursor.peek();
        if let Some(h) = &mut self.head {
            h.position.module = self.image.canonical(h.position.module);
        }
        self.next_event_time = match self.head {
            Some(h) => h.position.time,
            None if self.stream.incomplete => self.last_event,
            None => self.last_event.max(self.stream.reached()),
        };
    }

    pub(crate) fn is_next(&self, module: u32, site: u32) -> bool {
        self.head.is_some_and(|h| {
            let p = h.position;
            p.time == self.time && p.site == site && p.module == module
        })
    }

    /// Consumes the next event; `head` must be present.
    pub(crate) fn take(&mut self) -> Result<(Position, Event<'a>)> {
        self.event_part = self.event_cursor.part();
        let next = self.event_cursor.take()?;
        self.counters.events += 1;
        if self.event_cursor.part() != self.part {
            self.part = self.event_cursor.part();
            self.inherited = self.counters;
        }
        if let Some((p, _)) = next {
            self.last_event = p.time;
        }
        self.peek_next();
        match next {
            Some((mut position, event)) => {
                position.module = self.image.canonical(position.module);
                Ok((position, event))
            }
            None => Err(self.diverged("an event", "no more events")),
        }
    }

    #[cold]
    pub(crate) fn diverged(&self, expected: impl Into<String>, found: impl Into<String>) -> Error {
        let mut d = Divergence {
            module: String::new(),
            function: String::new(),
            file: String::new(),
            line: 0,
            column: 0,
            instruction: self.counters.instructions,
            time: self.time,
            expected: expected.into(),
            found: found.into(),
        };
        if let Some(v) = self.view() {
            let place = v.place();
            d.module = v.module().name.clone();
            d.function = v.function().name.clone();
            d.file = v.module().file_path(place.file);
            (d.line, d.column) = (place.line, place.column);
        }
        Error::Diverged(Box::new(d))
    }

    /// A description of the next event.
    pub(crate) fn describe_next(&self) -> String {
        let Some(h) = self.head else { return "no more events".to_owned() };
        let name = kind::name(h.kind).unwrap_or("?");
        let p = h.position;
        if p.site == recording::event::NO_SITE {
            return format!("{name} at time {}", p.time);
        }
        let module = self.image.module(p.module);
        let place = module.function_at(p.site).map(|(f, i)| {
            let f = &module.functions[f];
            format!(" ({} line {})", f.name, f.place(i).line)
        });
        format!("{name} at time {}, site {}.{}{}", p.time, p.module, p.site, place.unwrap_or_default())
    }

    /// Time has passed an event or the end of the recording.
    #[cold]
    pub(crate) fn event_overdue(&mut self) -> Result<()> {
        match self.head.map(|h| h.kind) {
            None => self.cut()?,
            // Time advances once after the last call for which the thread stored its context.
            Some(kind::CRASH | kind::INTERRUPTED) => {}
            Some(kind::END) => self.finish()?,
            Some(_) => {
                return Err(self.diverged(format!("come to time {}", self.time), self.describe_next()));
            }
        }
        Ok(())
    }

    /// The same, at a loop header. The thread stores its time there: an event due by the last known time must
    /// have happened before.
    pub(crate) fn event_overdue_in_loop(&mut self) -> Result<()> {
        match self.head.map(|h| h.kind) {
            Some(kind::CRASH) => self.crash(false),
            Some(kind::INTERRUPTED) => {
                self.landing_due = true;
                Ok(())
            }
            _ => self.event_overdue(),
        }
    }

    /// At a call or return the thread stores its context; a crash, a jump out of a signal handler or a kill
    /// for which an earlier time was stored must have happened before.
    pub(crate) fn write_context(&mut self) -> Result<()> {
        if self.time >= self.next_event_time {
            match self.head.map(|h| h.kind) {
                Some(kind::CRASH) if self.passed(self.stream.time) => return self.crash(false),
                None if !self.stream.incomplete && self.passed(self.stream.time) => return self.cut(),
                Some(kind::INTERRUPTED)
                    if self.interruption().is_some_and(|(called, _)| self.time > called) =>
                {
                    self.landing_due = true;
                    return Ok(());
                }
                _ => {}
            }
            if self.time > self.next_event_time {
                self.event_overdue()?;
            }
        }
        self.context_before = self.context.1;
        self.context = (self.time, self.sum);
        Ok(())
    }

    /// Whether time is later than the header's time of the last call. A stream without a checksum has no
    /// trustworthy header.
    fn passed(&self, called: u64) -> bool {
        self.time > if self.stream.sum.is_some() { called } else { self.next_event_time }
    }

    /// Whether control does not continue here: the stream has ended, or a jump was due, which this call
    /// performs.
    pub(crate) fn stopped<O: Observer>(&mut self, observer: &mut O) -> Result<bool> {
        if std::mem::take(&mut self.landing_due) {
            self.jump(observer)?;
            return Ok(true);
        }
        Ok(self.end.is_some())
    }

    /// The next event is `Crash`, and it happens now.
    pub(crate) fn crash(&mut self, located: bool) -> Result<()> {
        if let (_, Event::Crash { signal, address, .. }) = self.take()? {
            self.check_header()?;
            self.end = Some(End::Crash { signal, address, located });
        }
        Ok(())
    }

    /// The recording stops here.
    pub(crate) fn cut(&mut self) -> Result<()> {
        self.check_header()?;
        self.end = Some(End::Cut);
        Ok(())
    }

    /// Without an `End` event, the header contains the checksum of the last call or return. A kill may have
    /// happened between the stores of time and sum, so the sum before that is accepted too.
    fn check_header(&mut self) -> Result<()> {
        let Some(sum) = self.stream.sum else { return Ok(()) };
        if self.stream.incomplete || self.stream.time != self.context.0 {
            return Ok(());
        }
        if sum != self.context.1 && sum != self.context_before {
            return Err(self.diverged(
                format!("checksum {:#x} at the last call", self.context.1),
                format!("checksum {sum:#x}"),
            ));
        }
        self.counters.checks += 1;
        Ok(())
    }

    /// The next event is `End`; it must agree with the thread's context.
    pub(crate) fn finish(&mut self) -> Result<()> {
        let (position, event) = self.take()?;
        if let Event::End { sum, status } = event {
            let (time, ours) = self.context;
            if (time, ours) != (position.time, sum) {
                return Err(self.diverged(
                    format!("time {time} and checksum {ours:#x} at the end"),
                    format!("time {} and checksum {sum:#x}", position.time),
                ));
            }
            self.counters.checks += 1;
            self.end = Some(End::Exit { status });
        }
        Ok(())
    }

    /// Applies an event that only changes memory or describes something.
    pub(crate) fn apply<O: Observer>(&mut self, observer: &mut O) -> Result<()> {
        let (position, event) = self.take()?;
        match event {
            Event::Patch { address, bytes } => self.memory.write(address, bytes),
            Event::Moved { from, to, length } => self.memory.copy(to, from, length),
            Event::Zeroed { address, length } => self.memory.fill(address, 0, length),
            Event::Check { sum } => {
                if sum != self.sum {
                    return Err(
                        self.diverged(format!("checksum {:#x}", self.sum), format!("checksum {sum:#x}"))
                    );
                }
                self.counters.checks += 1;
            }
            Event::Source { kind, name, .. } => {
                let of_part = self.files.range((self.event_part, 0)..=(self.event_part, u64::MAX));
                let number = of_part.last().map_or(0, |(key, _)| key.1 + 1);
                let is_file = matches!(kind, source::FILE | source::PIPE) && !name.is_empty();
                let at = if is_file { effects::file_address(name) } else { 0 };
                self.files.insert((self.event_part, number), at);
            }
            Event::Io { out, source, offset, address, length } if O::STEPS => {
                self.transferred(out, source, offset, address, length);
            }
            _ => {}
        }
        observer.event(&self.moment(), position, &event);
        Ok(())
    }

    /// The current call has transferred bytes between memory and a source.
    fn transferred(&mut self, out: bool, source: u64, offset: u64, address: u64, length: u64) {
        // A child may continue to use a source that its parent has named.
        let known = (0..=self.event_part).rev().find_map(|part| self.files.get(&(part, source)).copied());
        let Some(file) = known.filter(|at| *at != 0 && length > 0) else { return };
        let content = file.wrapping_add(offset);
        let ranges = if out { &mut self.touched.writes } else { &mut self.touched.reads };
        ranges.push((content, length));
        if address != 0 {
            let (to, from) = if out { (content, address) } else { (address, content) };
            self.touched.transfers.push((to, from, length));
        }
    }

    /// Applies the patches that belong to an instruction.
    pub(crate) fn patches<O: Observer>(&mut self, observer: &mut O, module: u32, site: u32) -> Result<()> {
        while self.is_next(module, site) && self.head.is_some_and(|h| h.kind == kind::PATCH) {
            self.apply(observer)?;
        }
        Ok(())
    }

    /// Outside of all functions: handles the next event.
    pub(crate) fn top<O: Observer>(&mut self, observer: &mut O) -> Result<()> {
        self.context = (self.time, self.sum);
        match self.head.map(|h| h.kind) {
            None => self.cut(),
            Some(kind::ENTER) => self.enter_from_outside(observer),
            Some(kind::END) => self.finish(),
            Some(kind::CRASH) => self.crash(false),
            Some(kind::EXEC) => {
                self.apply(observer)?;
                self.end = Some(End::Exec);
                Ok(())
            }
            Some(kind::LOAD | kind::EXTERNAL | kind::LAND | kind::VALUE | kind::VA_START) => {
                Err(self.diverged("no function running", self.describe_next()))
            }
            Some(_) => self.apply(observer),
        }
    }
}

/// Limits a length; longer ranges cannot occur.
pub(crate) fn bounded(len: u64) -> u64 {
    len.min(1 << 36)
}
