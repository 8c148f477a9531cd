//! Execution indices: names of points of a run that all runs of one program share.
//!
//! The index of an executed instruction is the path that leads to it ([`replay::activations`]), here in terms
//! of the numbers of functions and instructions. It is unique in a run. Corresponding points of two runs of a
//! program have the same index, even if something before them took longer in one run. Step numbers do not
//! have this property.
//!
//! As text, `main:31[2] > parse:7[0,5]` is instruction 7 of `parse` in the sixth iteration of its inner loop,
//! called by instruction 31 of `main` in the third iteration of its loop. `*2` after an instruction is the
//! third time that it called back into the program (`qsort` does), `~n` counts iterations of cycles that are
//! not natural loops, `#2` is the third time a function was entered from outside.

use crate::path::Error;
use program::cfg::Graph;
use program::inst::{BlockId, Inst};
use program::loop_nest::LoopNest;
use replay::activations::{Activations, Keys};
use replay::image::Image;
use replay::machine::Machine;
use replay::observer::{Effect, Observer, View};
use replay::process::LoadedProcess;
use std::fmt::{self, Write};

/// See the module's documentation.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Index(String);

impl fmt::Display for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The indices of steps of a stream, from one replay. `None` for steps that do not exist.
///
/// # Errors
/// As a replay, and if there is no such stream.
pub fn indices(process: &LoadedProcess, stream: u32, steps: &[u64]) -> Result<Vec<Option<Index>>, Error> {
    let mut wanted: Vec<(u64, usize)> = steps.iter().enumerate().map(|(n, step)| (*step, n)).collect();
    wanted.sort_unstable();
    let Some(last) = wanted.last().map(|w| w.0) else { return Ok(Vec::new()) };
    let mut indexer =
        Indexer { track: IndexTracker::new(&process.image), wanted, next: 0, found: vec![None; steps.len()] };
    run(process, stream, &mut indexer, last.saturating_add(1))?;
    Ok(indexer.found)
}

/// An executed branch or switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BranchInstance {
    /// A hash of its index. It identifies counterparts as reliably as the index, and is small.
    pub sum: u128,
    /// Its step in the stream.
    pub step: u64,
    /// The instruction: module, function, index.
    pub site: (u32, u32, u32),
    /// The successor block.
    pub to: BlockId,
}

/// Calls `seen` with the branch instances of a stream up to and including a step, in execution order, without
/// storing them.
///
/// # Errors
/// As [`indices`].
pub fn branches(
    process: &LoadedProcess,
    stream: u32,
    last: u64,
    seen: &mut dyn FnMut(BranchInstance),
) -> Result<(), Error> {
    run(
        process,
        stream,
        &mut BranchVisitor { track: IndexTracker::new(&process.image), seen },
        last.saturating_add(1),
    )
}

/// Calls `seen` with the steps of a stream for which `wants` is true, up to and including `last`, each with
/// the hash of its index.
///
/// # Errors
/// As [`indices`].
pub fn steps(
    process: &LoadedProcess,
    stream: u32,
    last: u64,
    wants: &dyn Fn(&View<'_>) -> bool,
    seen: &mut dyn FnMut(u128, &View<'_>),
) -> Result<(), Error> {
    run(
        process,
        stream,
        &mut StepVisitor { track: IndexTracker::new(&process.image), wants, seen },
        last.saturating_add(1),
    )
}

fn run<O: Observer>(process: &LoadedProcess, stream: u32, observer: &mut O, limit: u64) -> Result<(), Error> {
    let loaded = process.stream(stream).ok_or(Error::NoStream(stream))?;
    Machine::new(&process.image, &loaded.stream).run(observer, limit)?;
    Ok(())
}

/// A function identified by its number, which all runs of one program share.
struct NumberedFunction {
    loop_nest: LoopNest,
    module: u32,
    function: u32,
}

impl Keys for NumberedFunction {
    fn loop_nest(&self) -> &LoopNest {
        &self.loop_nest
    }

    fn function(&self) -> u64 {
        u64::from(self.module) << 32 | u64::from(self.function)
    }

    fn instruction(&self, index: u32) -> u64 {
        index.into()
    }
}

/// The active functions, and the iteration counts of their loops.
struct IndexTracker(Activations<NumberedFunction>);

impl IndexTracker {
    fn new(image: &Image) -> IndexTracker {
        IndexTracker(Activations::new(image))
    }

    fn enter(&mut self, view: &View<'_>) {
        self.0.enter(view, || NumberedFunction {
            loop_nest: LoopNest::of(&Graph::of(view.function())),
            module: view.code.module,
            function: view.code.function,
        });
    }

    fn edge(&mut self, view: &View<'_>, from: u32, to: u32) {
        self.0.edge(view, from, to);
    }

    #[inline]
    fn step(&mut self, view: &View<'_>) {
        self.0.step(view);
    }

    /// The hash of the index of a frame's current instruction.
    fn sum(&self, depth: usize) -> u128 {
        self.0.index(depth).unwrap_or(0)
    }

    fn text(&self, image: &Image, depth: usize) -> String {
        let mut text = String::new();
        for (n, frame) in self.0.frames.iter().take(depth).enumerate() {
            let functions = &image.module(frame.keys.module).functions;
            let name = functions.get(frame.keys.function as usize).map_or("?", |f| f.name.as_str());
            // Writing to a string does not fail.
            let _ = match (n, frame.nth) {
                (0, 0) => Ok(()),
                (0, nth) => write!(text, "#{nth} "),
                (_, 0) => write!(text, " > "),
                (_, nth) => write!(text, "*{nth} > "),
            };
            let _ = write!(text, "{name}:{}", frame.index);
            let counts = self.0.iterations(n + 1);
            if !counts.is_empty() {
                let list: Vec<String> = counts.iter().map(u32::to_string).collect();
                let _ = write!(text, "[{}]", list.join(","));
            }
            if frame.irregular_iterations > 0 {
                let _ = write!(text, "~{}", frame.irregular_iterations);
            }
        }
        text
    }
}

struct Indexer {
    track: IndexTracker,
    /// Steps and their positions in the result, sorted.
    wanted: Vec<(u64, usize)>,
    next: usize,
    found: Vec<Option<Index>>,
}

impl Observer for Indexer {
    fn enter(&mut self, view: &View<'_>, _outside: bool) {
        self.track.enter(view);
    }

    fn edge(&mut self, view: &View<'_>, from: BlockId, to: BlockId) {
        self.track.edge(view, from, to);
    }

    #[inline]
    fn step(&mut self, view: &View<'_>, _effect: Effect) {
        self.track.step(view);
        while let Some(&(step, whose)) = self.wanted.get(self.next)
            && step <= view.count
        {
            if step == view.count {
                self.found[whose] = Some(Index(self.track.text(view.image, view.depth as usize)));
            }
            self.next += 1;
        }
    }
}

struct BranchVisitor<'s> {
    track: IndexTracker,
    seen: &'s mut dyn FnMut(BranchInstance),
}

impl Observer for BranchVisitor<'_> {
    fn enter(&mut self, view: &View<'_>, _outside: bool) {
        self.track.enter(view);
    }

    fn edge(&mut self, view: &View<'_>, from: BlockId, to: BlockId) {
        if matches!(view.inst(), Inst::Branch { .. } | Inst::Switch { .. }) {
            let site = (view.code.module, view.code.function, view.index);
            let sum = self.track.sum(view.depth as usize);
            (self.seen)(BranchInstance { sum, step: view.count, site, to });
        }
        self.track.edge(view, from, to);
    }

    #[inline]
    fn step(&mut self, view: &View<'_>, _effect: Effect) {
        self.track.step(view);
    }
}

struct StepVisitor<'s> {
    track: IndexTracker,
    wants: &'s dyn Fn(&View<'_>) -> bool,
    seen: &'s mut dyn FnMut(u128, &View<'_>),
}

impl Observer for StepVisitor<'_> {
    fn enter(&mut self, view: &View<'_>, _outside: bool) {
        self.track.enter(view);
    }

    fn edge(&mut self, view: &View<'_>, from: BlockId, to: BlockId) {
        self.track.edge(view, from, to);
    }

    #[inline]
    fn step(&mut self, view: &View<'_>, _effect: Effect) {
        self.track.step(view);
        if (self.wants)(view) {
            (self.seen)(self.track.sum(view.depth as usize), view);
        }
    }
}
