//! Execution indices: names of moments that all runs of one program share.
//!
//! The index of an executed instruction is the path that leads to it ([`replay::activations`]), here
//! by the numbers of functions and instructions. No two moments of a run have the same one, and what
//! two runs of a program have in common has the same index in both, even if something before it took
//! longer in one of them. A step's number says nothing of that kind.
//!
//! As text, `main:31[2] > parse:7[0,5]` is instruction 7 of `parse` in the sixth iteration of its
//! inner loop, called by instruction 31 of `main` in its third. `*2` behind an instruction is the
//! third time that it called back into the program (`qsort` does), `~n` counts ways round cycles
//! that are no loops, `#2` the third time a function was entered from outside.

use crate::path::Error;
use program::cfg::Graph;
use program::inst::{BlockId, Inst};
use program::nest::Nest;
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

/// The indices of steps of a stream, from one replay; none for steps that there are not.
///
/// # Errors
/// As a replay, and if there is no such stream.
pub fn indices(process: &LoadedProcess, stream: u32, steps: &[u64]) -> Result<Vec<Option<Index>>, Error> {
    let mut wanted: Vec<(u64, usize)> = steps.iter().enumerate().map(|(n, step)| (*step, n)).collect();
    wanted.sort_unstable();
    let Some(last) = wanted.last().map(|w| w.0) else { return Ok(Vec::new()) };
    let mut indexer =
        Indexer { track: Track::new(&process.image), wanted, next: 0, found: vec![None; steps.len()] };
    run(process, stream, &mut indexer, last.saturating_add(1))?;
    Ok(indexer.found)
}

/// An executed branch or switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BranchInstance {
    /// The sum of its index: as good as the index for finding counterparts, and small.
    pub sum: u128,
    pub step: u64,
    /// Where it stands: module, function, instruction.
    pub site: (u32, u32, u32),
    /// The block it went to.
    pub to: BlockId,
}

/// Shows the branch instances of a stream up to a step and with it, in the order of time; none is kept.
///
/// # Errors
/// As [`indices`].
pub fn branches(
    process: &LoadedProcess,
    stream: u32,
    last: u64,
    seen: &mut dyn FnMut(BranchInstance),
) -> Result<(), Error> {
    run(process, stream, &mut Summer { track: Track::new(&process.image), seen }, last.saturating_add(1))
}

/// Shows the steps of a stream that `wants` asks for, up to one and with it, each with the sum of its index.
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
        &mut Stepper { track: Track::new(&process.image), wants, seen },
        last.saturating_add(1),
    )
}

fn run<O: Observer>(process: &LoadedProcess, stream: u32, observer: &mut O, limit: u64) -> Result<(), Error> {
    let loaded = process.stream(stream).ok_or(Error::NoStream(stream))?;
    Machine::new(&process.image, &loaded.stream).run(observer, limit)?;
    Ok(())
}

/// A function by its number: all runs of one program share it.
struct Numbered {
    nest: Nest,
    module: u32,
    function: u32,
}

impl Keys for Numbered {
    fn nest(&self) -> &Nest {
        &self.nest
    }

    fn function(&self) -> u64 {
        u64::from(self.module) << 32 | u64::from(self.function)
    }

    fn instruction(&self, index: u32) -> u64 {
        index.into()
    }
}

/// The functions under way, and how often their loops went round.
struct Track(Activations<Numbered>);

impl Track {
    fn new(image: &Image) -> Track {
        Track(Activations::new(image))
    }

    fn enter(&mut self, view: &View<'_>) {
        self.0.enter(view, || Numbered {
            nest: Nest::of(&Graph::of(view.function())),
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

    /// The sum of the index of the instruction that a frame stands at.
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
            if frame.odd > 0 {
                let _ = write!(text, "~{}", frame.odd);
            }
        }
        text
    }
}

struct Indexer {
    track: Track,
    /// Steps, and whose they are, sorted.
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

struct Summer<'s> {
    track: Track,
    seen: &'s mut dyn FnMut(BranchInstance),
}

impl Observer for Summer<'_> {
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

struct Stepper<'s> {
    track: Track,
    wants: &'s dyn Fn(&View<'_>) -> bool,
    seen: &'s mut dyn FnMut(u128, &View<'_>),
}

impl Observer for Stepper<'_> {
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
