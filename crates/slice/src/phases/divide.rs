//! Divides a window of a run into phases.

use crate::slicer::Slicer;
use crate::{Error, Result};
use program::cfg::{Graph, Loop};
use program::inst::BlockId;
use program::model::Function;
use program::names::readable;
use replay::observer::{Effect, Observer, View};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

/// How runs are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Division {
    /// The approximate greatest number of groups of iterations, or of statements.
    pub groups: usize,
}

impl Default for Division {
    fn default() -> Self {
        Division { groups: 10 }
    }
}

/// The kind of a window, which determines how it can be divided further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Call depth at which its own code runs.
    pub depth: u32,
    /// The loop of its function that contains it, by the header's block.
    pub inside: Option<BlockId>,
    /// It consists of iterations of that loop.
    pub rounds: bool,
}

/// A part of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// Index in the process's `streams`.
    pub stream: u32,
    /// Steps of the stream.
    pub steps: Range<u64>,
    /// How it can be divided further.
    pub shape: Shape,
}

/// The kind of a phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PhaseKind {
    /// A loop from its entry to its exit.
    Loop,
    /// A call, with everything below it.
    Call {
        /// Name of the function as in the model.
        callee: String,
    },
    /// Iterations of the loop, counted from 1.
    Rounds {
        /// The first of them.
        first: u64,
        /// The last of them, which belongs to the phase.
        last: u64,
    },
    /// Statements between other phases.
    Statements,
}

/// One phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    /// What it is.
    pub kind: PhaseKind,
    /// Its steps.
    pub window: Window,
    /// Path of the source; empty if unknown.
    pub file: String,
    /// First and last line of its own code that ran, without callees; 0 if unknown.
    pub lines: (u32, u32),
    /// Name of the function whose code it is, as in the model.
    pub function: String,
}

/// A section of a window, to become a phase.
#[derive(Clone, Debug)]
pub(super) struct Section {
    pub kind: PhaseKind,
    pub steps: Range<u64>,
    pub shape: Shape,
}

impl Slicer<'_> {
    /// Divides a window: at its loops; if it has none, at its calls; a window of iterations into iterations;
    /// and the rest into statements. The phases cover the window, in order.
    ///
    /// # Errors
    /// If replay fails, or `stop` is set before it is done.
    pub fn divide(&self, window: &Window, how: Division, stop: Option<&AtomicBool>) -> Result<Vec<Phase>> {
        let mut scan = Scan::new(window);
        self.replay_within(window, &mut scan, stop)?;
        scan.close(window.steps.end);
        let groups = how.groups.max(2);
        let cut = if window.shape.rounds {
            rounds(&scan.rounds, window, groups)
        } else if !scan.loops.is_empty() {
            scan.loops.clone()
        } else if !scan.calls.is_empty() {
            scan.calls.clone()
        } else {
            statements(&scan.statements, window, groups)
        };
        Ok(cover(cut, window).into_iter().map(|s| scan.phase(s, window.stream)).collect())
    }

    /// Replays the segments that overlap a window.
    fn replay_within<O: Observer>(
        &self,
        window: &Window,
        observer: &mut O,
        stop: Option<&AtomicBool>,
    ) -> Result<()> {
        let checkpoints = &self.prepared(window.stream)?.checkpoints;
        for index in 0..checkpoints.len() {
            if stop.is_some_and(|s| s.load(Ordering::Relaxed)) {
                return Err(Error::Stopped);
            }
            let segment = checkpoints.segment(index);
            if segment.instructions.end > window.steps.start && segment.instructions.start < window.steps.end
            {
                checkpoints.replay(index, observer)?;
            }
        }
        Ok(())
    }
}

/// Groups of iterations.
fn rounds(starts: &[u64], window: &Window, groups: usize) -> Vec<Section> {
    let each = starts.len().div_ceil(groups).max(1);
    let groups: Vec<&[u64]> = starts.chunks(each).collect();
    let mut out = Vec::new();
    for (g, group) in groups.iter().enumerate() {
        let end = groups.get(g + 1).map_or(window.steps.end, |next| next[0]);
        let first = (g * each) as u64 + 1;
        let last = first + group.len() as u64 - 1;
        let shape = Shape { rounds: group.len() > 1, ..window.shape };
        out.push(Section { kind: PhaseKind::Rounds { first, last }, steps: group[0]..end, shape });
    }
    out
}

/// Groups of statements.
fn statements(starts: &[u64], window: &Window, groups: usize) -> Vec<Section> {
    let each = starts.len().div_ceil(groups).max(1);
    let groups: Vec<&[u64]> = starts.chunks(each).collect();
    let mut out = Vec::new();
    for (g, group) in groups.iter().enumerate() {
        let end = groups.get(g + 1).map_or(window.steps.end, |next| next[0]);
        out.push(Section { kind: PhaseKind::Statements, steps: group[0]..end, shape: window.shape });
    }
    out
}

/// Fills the gaps with statements.
fn cover(cut: Vec<Section>, window: &Window) -> Vec<Section> {
    let rest = |steps: Range<u64>| Section { kind: PhaseKind::Statements, steps, shape: window.shape };
    let mut out = Vec::new();
    let mut at = window.steps.start;
    for stretch in cut {
        if stretch.steps.start > at {
            out.push(rest(at..stretch.steps.start));
        }
        at = stretch.steps.end;
        out.push(stretch);
    }
    if at < window.steps.end {
        out.push(rest(at..window.steps.end));
    }
    out
}

/// The block that contains an instruction: blocks tile the code.
pub(super) fn block_at(function: &Function, index: u32) -> BlockId {
    function.blocks.partition_point(|b| b.end <= index) as BlockId
}

/// What one replay finds in a window.
struct Scan {
    window: Window,
    loops: Vec<Section>,
    calls: Vec<Section>,
    rounds: Vec<u64>,
    statements: Vec<u64>,
    /// Lines of the window's own code with the step at which each began; only changes are stored.
    lines: Vec<(u64, u32)>,
    /// File and function of the code; those at the window's own depth, once it was seen (`named`).
    file: String,
    function: String,
    named: bool,
    /// The current loop, and its first step.
    open: Option<(BlockId, u64)>,
    /// The current call: its first step, and the callee.
    call: Option<(u64, String)>,
    before: u64,
    known: HashMap<(u32, u32), Vec<Loop>>,
    /// The block of the last step, and its outermost loop.
    last: Option<((u32, u32, BlockId), Option<BlockId>)>,
    line: u32,
}

impl Scan {
    fn new(window: &Window) -> Scan {
        Scan {
            window: window.clone(),
            loops: Vec::new(),
            calls: Vec::new(),
            rounds: Vec::new(),
            statements: Vec::new(),
            lines: Vec::new(),
            file: String::new(),
            function: String::new(),
            named: false,
            open: None,
            call: None,
            before: window.steps.start,
            known: HashMap::new(),
            last: None,
            line: 0,
        }
    }

    fn close(&mut self, end: u64) {
        self.leave_loop(end);
        self.leave_call(end);
    }

    fn leave_loop(&mut self, end: u64) {
        if let Some((header, start)) = self.open.take() {
            let shape = Shape { depth: self.window.shape.depth, inside: Some(header), rounds: true };
            self.loops.push(Section { kind: PhaseKind::Loop, steps: start..end, shape });
        }
    }

    fn leave_call(&mut self, end: u64) {
        if let Some((start, callee)) = self.call.take() {
            let shape = Shape { depth: self.window.shape.depth + 1, inside: None, rounds: false };
            self.calls.push(Section { kind: PhaseKind::Call { callee }, steps: start..end, shape });
        }
    }

    /// The outermost loop around a block that does not contain the whole window.
    fn outermost(&mut self, view: &View<'_>, block: BlockId) -> Option<BlockId> {
        let key = (view.code.module, view.code.function);
        let loops = self.known.entry(key).or_insert_with(|| Graph::of(view.function()).loops());
        let around = |l: &&Loop| l.nodes.binary_search(&block).is_ok();
        let within = self.window.shape.inside.and_then(|h| loops.iter().find(|l| l.header == h));
        loops
            .iter()
            .filter(around)
            .filter(|l| within.is_none_or(|w| l.header != w.header && l.nodes.len() < w.nodes.len()))
            .max_by_key(|l| l.nodes.len())
            .map(|l| l.header)
    }

    fn phase(&self, stretch: Section, stream: u32) -> Phase {
        let from = self.lines.partition_point(|l| l.0 < stretch.steps.start);
        let inside = self.lines[from..].iter().take_while(|l| l.0 < stretch.steps.end).map(|l| l.1);
        // A section may begin within a line.
        let inside: Vec<u32> = inside
            .chain(
                from.checked_sub(1)
                    .map(|i| self.lines[i].1)
                    .filter(|_| self.lines.get(from).is_none_or(|l| l.0 > stretch.steps.start)),
            )
            .collect();
        let lines = (inside.iter().min().copied().unwrap_or(0), inside.iter().max().copied().unwrap_or(0));
        Phase {
            kind: stretch.kind,
            window: Window { stream, steps: stretch.steps, shape: stretch.shape },
            file: self.file.clone(),
            lines,
            function: self.function.clone(),
        }
    }
}

impl Observer for Scan {
    fn step(&mut self, view: &View<'_>, _: Effect) {
        if !self.window.steps.contains(&view.count) {
            return;
        }
        if view.depth > self.window.shape.depth {
            if self.call.is_none() {
                let callee = readable(&view.function().name).into_owned();
                self.call = Some((self.before, callee));
            }
            return;
        }
        self.leave_call(view.count);
        self.before = view.count;
        let function = view.function();
        let place = view.place();
        // The window of a call begins with the caller's instruction.
        let own = view.depth == self.window.shape.depth;
        if self.file.is_empty() || own && !self.named {
            self.named = own;
            self.file = view.module().file_path(function.file);
            self.function = readable(&function.name).into_owned();
        }
        if place.line > 0 && place.line != self.line {
            self.line = place.line;
            self.statements.push(view.count);
            self.lines.push((view.count, place.line));
        }
        let block = block_at(function, view.index);
        let begins = function.blocks.get(block as usize).is_some_and(|b| b.start == view.index);
        if self.window.shape.rounds && begins && self.window.shape.inside == Some(block) {
            self.rounds.push(view.count);
        }
        let here = (view.code.module, view.code.function, block);
        let now = match self.last {
            Some((there, now)) if there == here => now,
            _ if own => self.outermost(view, block),
            _ => None,
        };
        self.last = Some((here, now));
        if self.open.map(|o| o.0) != now {
            self.leave_loop(view.count);
            self.open = now.map(|header| (header, view.count));
        }
    }
}
