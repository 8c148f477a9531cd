//! Input and output: every byte with its source, and for formatted output the argument that produced it.

use crate::code::VaKind;
use crate::error::Result;
use crate::event_cursor::Stream;
use crate::format::{Arguments, Formatted, format};
use crate::image::Image;
use crate::machine::Machine;
use crate::memory::Memory;
use crate::observer::{EventContext, ExternalCall, Observer, View};
use externals::format::{Number, Parser, Piece, Size};
use externals::{Data, FormatArgs};
use recording::event::{Event, Position};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Longer transfers are listed with their first bytes only.
const MAX_BYTES: u64 = 1 << 24;

/// The source or destination of bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// One of `recording::event::source`.
    pub kind: u8,
    /// Descriptor (or index of the argument), -1 if there is none.
    pub fd: i32,
    /// As recorded: a path, for example.
    pub name: String,
}

/// A transfer of bytes between the program and a source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IoEvent {
    /// Position of the event in the stream.
    pub position: Position,
    /// Number of instructions executed at the call, the call included.
    pub instruction: u64,
    /// Whether the program wrote the bytes, or read them.
    pub out: bool,
    /// Index into [`IoList::sources`].
    pub source: usize,
    /// Position of the first byte in its source.
    pub offset: u64,
    /// Address of the bytes in memory; 0 if they are not in memory.
    pub address: u64,
    /// Number of bytes transferred; `bytes` may have fewer.
    pub length: u64,
    /// The bytes, as far as known.
    pub bytes: Vec<u8>,
    /// For formatted output: which argument produced which bytes.
    pub format: Option<Formatted>,
    /// The bytes are certainly those of the recorded run.
    pub verified: bool,
}

/// The input and output of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IoList {
    /// In the order of their first use; events refer to them by index.
    pub sources: Vec<Source>,
    /// In the order of the stream.
    pub events: Vec<IoEvent>,
}

/// Collects the input and output of a stream.
#[derive(Default)]
pub struct Collector {
    list: IoList,
    /// Number of a source in the recording (part and id) to its index here.
    ids: BTreeMap<(usize, u64), usize>,
    next: BTreeMap<usize, u64>,
    /// Indices of the events of the current call.
    open: Vec<usize>,
    /// The output of the current call, if it takes a `va_list`.
    listed: Option<Formatted>,
    /// Calls in progress that have called back: the depth of their caller, and the number of instructions
    /// executed then.
    called_back: Vec<(u32, u64)>,
}

impl Collector {
    /// What was collected.
    #[must_use]
    pub fn finish(self) -> IoList {
        self.list
    }

    /// Removes and returns the events so far, for users that do not keep all bytes of a long run.
    pub fn take(&mut self) -> Vec<IoEvent> {
        self.open.clear();
        std::mem::take(&mut self.list.events)
    }

    /// The sources and destinations of the events.
    #[must_use]
    pub fn sources(&self) -> &[Source] {
        &self.list.sources
    }

    /// Number of instructions executed when the activation at this depth made its call, if it has called back
    /// since.
    fn called_back(&self, depth: u32) -> Option<u64> {
        self.called_back.iter().rev().find(|(caller, _)| *caller == depth).map(|(_, count)| *count)
    }

    fn fill(&mut self, memory: &Memory) {
        for i in self.open.drain(..) {
            let e = &mut self.list.events[i];
            if e.address != 0 && e.bytes.is_empty() {
                e.bytes = vec![0; e.length.min(MAX_BYTES) as usize];
                memory.peek(e.address, &mut e.bytes);
                e.verified = e.length <= MAX_BYTES;
            }
        }
    }
}

impl Observer for Collector {
    const STEPS: bool = false;

    fn event(&mut self, moment: &EventContext<'_>, position: Position, event: &Event<'_>) {
        match event {
            Event::Source { kind, fd, name } => {
                let id = self.next.entry(moment.part).or_default();
                self.ids.insert((moment.part, *id), self.list.sources.len());
                *id += 1;
                let name = String::from_utf8_lossy(name).into_owned();
                self.list.sources.push(Source { kind: *kind, fd: *fd, name });
            }
            Event::Io { out, source, offset, address, length } => {
                // A child may continue to use a source that its parent has named.
                let known = (0..=moment.part).rev().find_map(|p| self.ids.get(&(p, *source)));
                let Some(source) = known.copied() else { return };
                self.open.push(self.list.events.len());
                let called_back = moment.view.and_then(|v| self.called_back(v.depth));
                self.list.events.push(IoEvent {
                    position,
                    instruction: called_back.or(moment.view.map(|v| v.count)).unwrap_or(0),
                    out: *out,
                    source,
                    offset: *offset,
                    address: *address,
                    length: *length,
                    bytes: Vec::new(),
                    format: None,
                    verified: false,
                });
            }
            Event::Enter { .. } => {
                self.fill(moment.memory);
                if let Some(caller) = moment.view
                    && self.called_back(caller.depth).is_none()
                {
                    self.called_back.push((caller.depth, caller.count));
                }
            }
            _ => {}
        }
    }

    fn leaving(&mut self, view: &View<'_>, call: &ExternalCall<'_>) {
        let Some(f) = call.known.and_then(|k| k.format) else { return };
        let FormatArgs::List(slot) = f.args else { return };
        let argument = |slot: usize| call.args.get(slot).copied().unwrap_or(0);
        let text = view.memory.peek_string(argument(f.format as usize), MAX_BYTES as usize);
        let mut given = VaListArguments::new(&text, argument(slot as usize), view.memory);
        self.listed = Some(format(&text, &mut given, view.memory));
    }

    fn external(&mut self, view: &View<'_>, call: &ExternalCall<'_>) {
        self.called_back.retain(|(depth, _)| *depth < view.depth);
        let listed = self.listed.take();
        if self.open.is_empty() {
            return;
        }
        if let Some(known) = call.known {
            for &i in &self.open {
                describe(&mut self.list.events[i], view, call, known, listed.as_ref());
            }
        }
        self.fill(view.memory);
    }

    fn landed(&mut self, view: &View<'_>) {
        self.called_back.retain(|(depth, _)| *depth < view.depth);
        self.fill(view.memory);
    }
}

/// Computes bytes that are not simply in memory.
fn describe(
    e: &mut IoEvent,
    view: &View<'_>,
    call: &ExternalCall<'_>,
    known: &externals::External,
    listed: Option<&Formatted>,
) {
    let result = call.result.first().copied().unwrap_or(0);
    let data = known.io.map(|io| io.data);
    if let (true, Some(f)) = (e.out, known.format.filter(|f| !f.input)) {
        let formatted = match (f.args, listed) {
            // The call has consumed the list.
            (FormatArgs::List(_), Some(formatted)) => formatted.clone(),
            (FormatArgs::List(_), None) => return,
            (FormatArgs::From(slot), _) => {
                let text_at = call.args.get(f.format as usize).copied().unwrap_or(0);
                let text = view.memory.peek_string(text_at, MAX_BYTES as usize);
                format(&text, &mut CallArguments::new(view, call, u32::from(slot)), view.memory)
            }
        };
        // The result of the call must agree with the computed output.
        e.verified = formatted.bytes.len() as u64 == e.length
            && (result as u32 as usize) == formatted.bytes.len()
            && !formatted.uncertain;
        e.bytes.clone_from(&formatted.bytes);
        e.format = Some(formatted);
        return;
    }
    match data {
        Some(Data::Byte) => {
            let v = if e.out { call.args.first().copied().unwrap_or(0) } else { result };
            e.bytes = vec![v as u8];
            e.verified = e.length == 1;
        }
        Some(Data::Line(_)) if e.out => {
            let n = e.length.saturating_sub(1).min(MAX_BYTES) as usize;
            e.bytes = vec![0; n];
            let at = if e.address != 0 { e.address } else { call.args.first().copied().unwrap_or(0) };
            view.memory.peek(at, &mut e.bytes);
            e.bytes.push(b'\n');
            e.verified = e.bytes.len() as u64 == e.length;
        }
        Some(Data::Result) => {
            e.bytes = result.to_le_bytes()[..e.length.min(8) as usize].to_vec();
            e.verified = true;
        }
        _ => {}
    }
}

/// Variadic arguments of a call.
struct CallArguments<'v> {
    view: &'v View<'v>,
    /// First slot and kind of each.
    args: Vec<(u32, VaKind)>,
}

impl<'v> CallArguments<'v> {
    fn new(view: &'v View<'_>, call: &ExternalCall<'v>, first_slot: u32) -> CallArguments<'v> {
        let mut slot = 0;
        let mut args = Vec::new();
        for a in &call.site.args {
            if slot >= first_slot {
                args.push((a.src, a.kind));
            }
            slot += a.slots;
        }
        CallArguments { view, args }
    }

    fn slot(&self, number: u32, k: u32) -> u64 {
        let Some((src, _)) = self.args.get(number as usize) else { return 0 };
        self.view.regs.get((src + k) as usize).copied().unwrap_or(0)
    }
}

impl Arguments for CallArguments<'_> {
    fn int(&mut self, number: u32) -> u64 {
        self.slot(number, 0)
    }
    fn double(&mut self, number: u32) -> u64 {
        self.slot(number, 0)
    }
    fn long_double(&mut self, number: u32) -> u128 {
        u128::from(self.slot(number, 1)) << 64 | u128::from(self.slot(number, 0))
    }
}

/// Arguments in a `va_list`: their addresses follow from the types in the format.
struct VaListArguments<'v> {
    memory: &'v Memory,
    places: Vec<u64>,
}

#[derive(Clone, Copy, PartialEq)]
enum VaListKind {
    Int,
    Double,
    LongDouble,
}

impl<'v> VaListArguments<'v> {
    fn new(text: &[u8], list: u64, memory: &'v Memory) -> VaListArguments<'v> {
        let mut kinds = Vec::new();
        let mut note = |number: u32, kind| {
            // No real format has more arguments.
            if number < 4096 {
                let n = number as usize;
                if kinds.len() <= n {
                    kinds.resize(n + 1, VaListKind::Int);
                }
                kinds[n] = kind;
            }
        };
        for piece in Parser::printf(text) {
            let Piece::Conversion(c) = piece else { continue };
            for n in [c.width, c.precision] {
                if let Number::Arg(n) = n {
                    note(n, VaListKind::Int);
                }
            }
            if let Some(n) = c.arg {
                let float = matches!(c.kind.to_ascii_lowercase(), b'e' | b'f' | b'g' | b'a');
                note(
                    n,
                    match (float, c.size) {
                        (true, Size::LongDouble) => VaListKind::LongDouble,
                        (true, _) => VaListKind::Double,
                        _ => VaListKind::Int,
                    },
                );
            }
        }
        let mut gp = memory.peek_word(list, 4);
        let mut fp = memory.peek_word(list.wrapping_add(4), 4);
        let mut overflow = memory.peek_word(list.wrapping_add(8), 8);
        let save = memory.peek_word(list.wrapping_add(16), 8);
        let mut on_stack = |size: u64| {
            let at = if size == 16 { overflow.wrapping_add(15) & !15 } else { overflow };
            overflow = at.wrapping_add(size);
            at
        };
        let places = kinds
            .iter()
            .map(|kind| match kind {
                VaListKind::Int if gp < 48 => {
                    gp += 8;
                    save.wrapping_add(gp - 8)
                }
                VaListKind::Double if fp < 176 => {
                    fp += 16;
                    save.wrapping_add(fp - 16)
                }
                VaListKind::LongDouble => on_stack(16),
                _ => on_stack(8),
            })
            .collect();
        VaListArguments { memory, places }
    }

    fn word(&self, number: u32, offset: u64, len: usize) -> u64 {
        let Some(at) = self.places.get(number as usize) else { return 0 };
        self.memory.peek_word(at.wrapping_add(offset), len)
    }
}

impl Arguments for VaListArguments<'_> {
    fn int(&mut self, number: u32) -> u64 {
        self.word(number, 0, 8)
    }
    fn double(&mut self, number: u32) -> u64 {
        self.word(number, 0, 8)
    }
    fn long_double(&mut self, number: u32) -> u128 {
        u128::from(self.word(number, 8, 2)) << 64 | u128::from(self.word(number, 0, 8))
    }
}

/// Replays a stream and returns its input and output.
///
/// # Errors
/// As [`Machine::run`].
pub fn list(image: &Image, stream: &Stream) -> Result<IoList> {
    let mut collector = Collector::default();
    Machine::new(image, stream).run(&mut collector, u64::MAX)?;
    Ok(collector.finish())
}
