//! Maps executed instructions of one run to the corresponding ones of the other run.
//!
//! Two executed instructions correspond if their execution indices are equal ([`replay::activations`]).
//!
//! The keys of instructions ([`keys`]) agree between versions. A key consists of the function, the line in
//! the *good* version, the kind of the instruction, and its ordinal among the instructions of that kind on
//! the line. Changed lines have no counterpart. They get the key of the last unchanged line before them, so
//! that a call on an edited line still leads to the same callee.

mod executed;
pub mod keys;
mod pair;
mod stores;
mod track;

pub use executed::{executed_functions, executed_lines, executed_places};
pub use keys::Lines;
pub use pair::{pair_processes, pair_streams};
pub use stores::{Stored, stores_of};
pub use track::{Activation, Track};

use replay::machine::Machine;
use replay::observer::{Effect, Observer, View};
use replay::process::LoadedProcess;
use slice::Occurrence;
use std::collections::{HashMap, HashSet};

/// Maps a file and line of bad to those of good; returns `None` for new lines. Files are relative to the root
/// of their version.
pub type LineMap<'a> = dyn Fn(&str, u32) -> Option<(String, u32)> + 'a;

/// The version that a run belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The version in which the test passes, or fixed in its place.
    Good,
    /// The version in which the test fails.
    Bad,
}

/// The execution index of an instruction, comparable between both runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index {
    /// The activation of the function.
    pub frame: u128,
    /// The execution of the line in it.
    pub line: u128,
    /// The instruction.
    pub hash: u128,
    /// The key of the instruction, one of the inputs of `hash`.
    pub(crate) instruction_key: u64,
    pub(crate) line_key: u64,
    pub(crate) iterations: Vec<u32>,
}

/// The executions in the other run that correspond to an index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The same instruction with the same index.
    pub exact: Option<Occurrence>,
    /// The first executed instruction of the same execution of the line.
    pub first: Option<Occurrence>,
    /// The last executed instruction of the same execution of the line.
    pub last: Option<Occurrence>,
    /// The last execution of the same instruction in the same activation that is not later: for a loop that
    /// ended early, its last iteration.
    pub before: Option<Occurrence>,
    /// Whether the function's activation exists in the other run.
    pub entered: bool,
}

impl Found {
    /// The best match for the instruction itself.
    #[must_use]
    pub fn instruction(&self) -> Option<Occurrence> {
        self.exact.or(self.last)
    }
}

/// Computes the indices of executed instructions of one stream, in one replay. `None` for occurrences of
/// other streams and past the end.
///
/// # Errors
/// If the stream does not replay.
pub fn index_of(
    process: &LoadedProcess,
    stream: usize,
    at: &[Occurrence],
    side: Side,
    lines: &Lines<'_>,
) -> replay::error::Result<Vec<Option<Index>>> {
    let mut wanted: Vec<(u64, usize)> = at
        .iter()
        .enumerate()
        .filter(|(_, o)| o.stream as usize == stream)
        .map(|(i, o)| (o.step, i))
        .collect();
    wanted.sort_unstable();
    let mut answer = vec![None; at.len()];
    let Some(last) = wanted.last().map(|w| w.0) else { return Ok(answer) };
    let Some(s) = process.streams.get(stream) else { return Ok(answer) };
    let track = Track::new(&process.image, side, lines);
    let mut indexer = Indexer { track, wanted, next: 0, answer: &mut answer };
    Machine::new(&process.image, &s.stream).run(&mut indexer, last.saturating_add(1))?;
    Ok(answer)
}

struct Indexer<'a> {
    track: Track<'a>,
    /// Steps and the position of their result, sorted by step.
    wanted: Vec<(u64, usize)>,
    next: usize,
    answer: &'a mut Vec<Option<Index>>,
}

impl Observer for Indexer<'_> {
    fn enter(&mut self, view: &View<'_>, _outside: bool) {
        self.track.enter(view);
    }

    fn edge(&mut self, view: &View<'_>, from: u32, to: u32) {
        self.track.edge(view, from, to);
    }

    #[inline]
    fn step(&mut self, view: &View<'_>, _effect: Effect) {
        self.track.step(view);
        while let Some((step, i)) = self.wanted.get(self.next).copied()
            && step <= view.count
        {
            if step == view.count {
                self.answer[i] = self.track.index(view.depth as usize);
            }
            self.next += 1;
        }
    }
}

/// The indices of an executed instruction and of the calls on its stack, outermost first, each with its step.
///
/// # Errors
/// If the stream does not replay.
pub fn stack_of(
    process: &LoadedProcess,
    at: Occurrence,
    side: Side,
    lines: &Lines<'_>,
) -> replay::error::Result<Vec<(Index, Occurrence)>> {
    let Some(s) = process.streams.get(at.stream as usize) else { return Ok(Vec::new()) };
    let track = Track::new(&process.image, side, lines);
    let mut stacker = Stacker { track, step: at.step, stack: None };
    let mut machine = Machine::new(&process.image, &s.stream);
    machine.run(&mut stacker, at.step.saturating_add(1))?;
    if let Some(stack) = stacker.stack {
        return Ok(at_stream(stack, at.stream));
    }
    // The replay reports no step for an instruction that ended the program.
    let track = &mut stacker.track;
    let depth = machine.frames().len();
    track.activations.frames.truncate(depth);
    if let (Some(f), Some(ours)) = (machine.frames().last(), track.activations.frames.last_mut()) {
        (ours.index, ours.step) = (f.pc, at.step);
    }
    Ok(at_stream(track.stack(depth), at.stream))
}

fn at_stream(stack: Vec<(Index, u64)>, stream: u32) -> Vec<(Index, Occurrence)> {
    stack.into_iter().map(|(index, step)| (index, Occurrence { stream, step })).collect()
}

struct Stacker<'a> {
    track: Track<'a>,
    step: u64,
    stack: Option<Vec<(Index, u64)>>,
}

impl Observer for Stacker<'_> {
    fn enter(&mut self, view: &View<'_>, _outside: bool) {
        self.track.enter(view);
    }

    fn edge(&mut self, view: &View<'_>, from: u32, to: u32) {
        self.track.edge(view, from, to);
    }

    #[inline]
    fn step(&mut self, view: &View<'_>, _effect: Effect) {
        self.track.step(view);
        if view.count == self.step {
            self.stack = Some(self.track.stack(view.depth as usize));
        }
    }
}

/// Finds indices of the other version's run in a stream, in one replay.
///
/// # Errors
/// If the stream does not replay.
pub fn find(
    process: &LoadedProcess,
    stream: usize,
    wanted: &[Index],
    side: Side,
    lines: &Lines<'_>,
) -> replay::error::Result<Vec<Found>> {
    let mut by_frame: HashMap<u128, Vec<usize>> = HashMap::new();
    for (i, index) in wanted.iter().enumerate() {
        by_frame.entry(index.frame).or_default().push(i);
    }
    let mut finder = Finder {
        track: Track::new(&process.image, side, lines),
        stream: stream as u32,
        wanted,
        groups: by_frame.values().cloned().collect(),
        by_frame: HashMap::new(),
        found: vec![Found::default(); wanted.len()],
        latest: vec![Vec::new(); wanted.len()],
    };
    finder.by_frame = by_frame.keys().copied().zip(1..).collect();
    if let (Some(s), false) = (process.streams.get(stream), wanted.is_empty()) {
        Machine::new(&process.image, &s.stream).run(&mut finder, u64::MAX)?;
    }
    Ok(finder.found)
}

/// Like [`find`], but returns exact matches only; cheaper for large numbers of indices.
///
/// # Errors
/// If the stream does not replay.
pub fn find_exact(
    process: &LoadedProcess,
    stream: usize,
    wanted: &[Index],
    side: Side,
    lines: &Lines<'_>,
) -> replay::error::Result<Vec<Option<Occurrence>>> {
    let mut finder = ExactFinder {
        track: Track::new(&process.image, side, lines),
        stream: stream as u32,
        frames: wanted.iter().map(|index| index.frame).collect(),
        found: wanted.iter().map(|index| (index.hash, None)).collect(),
    };
    if let (Some(s), false) = (process.streams.get(stream), wanted.is_empty()) {
        Machine::new(&process.image, &s.stream).run(&mut finder, u64::MAX)?;
    }
    Ok(wanted.iter().map(|index| finder.found.get(&index.hash).copied().flatten()).collect())
}

struct ExactFinder<'a> {
    track: Track<'a>,
    stream: u32,
    /// Activations to search.
    frames: HashSet<u128>,
    /// By hash of the index; the first execution found.
    found: HashMap<u128, Option<Occurrence>>,
}

impl Observer for ExactFinder<'_> {
    fn enter(&mut self, view: &View<'_>, _outside: bool) {
        let frame = self.track.enter(view);
        frame.mark = u32::from(self.frames.contains(&frame.key));
    }

    fn edge(&mut self, view: &View<'_>, from: u32, to: u32) {
        self.track.edge(view, from, to);
    }

    #[inline]
    fn step(&mut self, view: &View<'_>, _effect: Effect) {
        if self.track.step(view).is_some_and(|frame| frame.mark != 0)
            && let Some((_, hash)) = self.track.hashes(view.depth as usize)
            && let Some(found) = self.found.get_mut(&hash)
        {
            found.get_or_insert(Occurrence { stream: self.stream, step: view.count });
        }
    }
}

struct Finder<'a> {
    track: Track<'a>,
    stream: u32,
    wanted: &'a [Index],
    /// Activations to search, with the number of their group plus one.
    by_frame: HashMap<u128, u32>,
    groups: Vec<Vec<usize>>,
    found: Vec<Found>,
    /// Iteration counts of each `before`.
    latest: Vec<Vec<u32>>,
}

impl Observer for Finder<'_> {
    fn enter(&mut self, view: &View<'_>, _outside: bool) {
        let frame = self.track.enter(view);
        frame.mark = self.by_frame.get(&frame.key).copied().unwrap_or(0);
        if frame.mark != 0 {
            for i in &self.groups[frame.mark as usize - 1] {
                self.found[*i].entered = true;
            }
        }
    }

    fn edge(&mut self, view: &View<'_>, from: u32, to: u32) {
        self.track.edge(view, from, to);
    }

    #[inline]
    fn step(&mut self, view: &View<'_>, _effect: Effect) {
        if let Some(frame) = self.track.step(view)
            && frame.mark != 0
        {
            let mark = frame.mark;
            self.compare(mark, view);
        }
    }
}

impl Finder<'_> {
    fn compare(&mut self, mark: u32, view: &View<'_>) {
        let depth = view.depth as usize;
        let Some((line, hash)) = self.track.hashes(depth) else { return };
        let at = Occurrence { stream: self.stream, step: view.count };
        let keys = &self.track.activations.frames[depth - 1].keys;
        for &i in &self.groups[mark as usize - 1] {
            let (index, found) = (&self.wanted[i], &mut self.found[i]);
            if index.line == line {
                found.first = found.first.or(Some(at));
                found.last = Some(at);
            }
            if keys.instruction[view.index as usize] != index.instruction_key {
                continue;
            }
            if index.hash == hash {
                found.exact = found.exact.or(Some(at));
            }
            let iterations = self.track.iterations(depth);
            if iterations.len() == index.iterations.len()
                && iterations <= &index.iterations[..]
                && (found.before.is_none() || iterations >= &self.latest[i][..])
            {
                found.before = Some(at);
                self.latest[i] = iterations.to_vec();
            }
        }
    }
}
