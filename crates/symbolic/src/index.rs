//! Execution indices: names of moments that all runs of one program share.
//!
//! The index of an executed instruction (Xin, Sumner and Zhang, "Efficient Program Execution
//! Indexing", PLDI 2008) is the path that leads to it: the calls under way, each with the
//! instruction it stands at and how often the loops around that went round, then the instruction
//! itself in the same way. No two moments of a run have the same one, and what two runs of a program
//! have in common has the same index in both, even if something before it took longer in one of
//! them. A step's number says nothing of that kind.
//!
//! As text, `main:31[2] > parse:7[0,5]` is instruction 7 of `parse` in the sixth iteration of its
//! inner loop, called by instruction 31 of `main` in its third. `*2` behind an instruction is the
//! third time that it called back into the program (`qsort` does), `~n` counts ways round cycles
//! that are no loops, `#2` the third time a function was entered from outside.

use crate::path::Error;
use program::cfg::Graph;
use program::inst::{BlockId, Inst};
use program::nest::Nest;
use replay::image::Image;
use replay::machine::Machine;
use replay::observer::{Effect, Observer, View};
use replay::process::LoadedProcess;
use std::collections::HashMap;
use std::fmt::{self, Write};
use std::rc::Rc;

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

/// Shows all branch instances of a stream, in the order of time; none is kept.
///
/// # Errors
/// As [`indices`].
pub fn branches(
    process: &LoadedProcess,
    stream: u32,
    seen: &mut dyn FnMut(BranchInstance),
) -> Result<(), Error> {
    run(process, stream, &mut Summer { track: Track::new(&process.image), seen }, u64::MAX)
}

/// Shows all steps of a stream that `wants` asks for, each with the sum of its index.
///
/// # Errors
/// As [`indices`].
pub fn steps(
    process: &LoadedProcess,
    stream: u32,
    wants: &dyn Fn(&View<'_>) -> bool,
    seen: &mut dyn FnMut(u128, &View<'_>),
) -> Result<(), Error> {
    run(process, stream, &mut Stepper { track: Track::new(&process.image), wants, seen }, u64::MAX)
}

fn run<O: Observer>(process: &LoadedProcess, stream: u32, observer: &mut O, limit: u64) -> Result<(), Error> {
    let loaded = process.stream(stream).ok_or(Error::NoStream(stream))?;
    Machine::new(&process.image, &loaded.stream).run(observer, limit)?;
    Ok(())
}

/// A function that runs.
struct Frame {
    nest: Rc<Nest>,
    module: u32,
    function: u32,
    /// The sum of the calls that led here.
    sum: u128,
    /// The instruction it stands at.
    index: u32,
    /// Functions entered from there.
    entries: u32,
    /// What of `counts` is its own.
    base: usize,
    loops: usize,
    odd: u32,
    /// How many entries its caller's instruction had made before; from outside, how often this
    /// function had been entered.
    nth: u32,
}

/// The functions under way, and how often their loops went round.
struct Track {
    nests: Vec<Option<Rc<Nest>>>,
    frames: Vec<Frame>,
    /// Iterations of the loops around the instructions of all frames.
    counts: Vec<u32>,
    entered: HashMap<(u32, u32), u32>,
}

fn mix(sum: u128, word: u64) -> u128 {
    (sum ^ u128::from(word)).wrapping_mul(0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645).rotate_left(53)
}

impl Track {
    fn new(image: &Image) -> Track {
        Track {
            nests: vec![None; image.functions() as usize],
            frames: Vec::new(),
            counts: Vec::new(),
            entered: HashMap::new(),
        }
    }

    fn enter(&mut self, view: &View<'_>) {
        let number = view.image.function(view.code.module, view.code.function).unwrap_or(0);
        let (module, function) = (view.code.module, view.code.function);
        let nest = match self.nests.get_mut(number as usize) {
            Some(place) => {
                place.get_or_insert_with(|| Rc::new(Nest::of(&Graph::of(view.function())))).clone()
            }
            None => Rc::new(Nest::of(&Graph::of(view.function()))),
        };
        self.frames.truncate((view.depth as usize).saturating_sub(1));
        let caller = self.sum(self.frames.len());
        let (base, nth) = match self.frames.last_mut() {
            Some(caller) => {
                caller.entries += 1;
                (caller.base + caller.loops, caller.entries - 1)
            }
            None => {
                let nth = self.entered.entry((module, function)).or_default();
                *nth += 1;
                (0, *nth - 1)
            }
        };
        let loops = nest.depth(0);
        self.counts.truncate(base);
        self.counts.resize(base + loops, 0);
        let sum = mix(mix(caller, u64::from(module) << 32 | u64::from(function)), nth.into());
        let frame = Frame { nest, module, function, sum, index: 0, entries: 0, base, loops, odd: 0, nth };
        self.frames.push(frame);
    }

    fn edge(&mut self, view: &View<'_>, from: u32, to: u32) {
        let depth = view.depth as usize;
        self.frames.truncate(depth);
        let Some(frame) = self.frames.get_mut(depth.wrapping_sub(1)) else { return };
        self.counts.truncate(frame.base + frame.loops);
        frame.odd += u32::from(frame.nest.pass(&mut self.counts, frame.base, from, to));
        frame.loops = self.counts.len() - frame.base;
    }

    #[inline]
    fn step(&mut self, view: &View<'_>) {
        if let Some(frame) = self.frames.get_mut((view.depth as usize).wrapping_sub(1)) {
            frame.index = view.index;
            frame.entries = 0;
        }
    }

    /// The sum of the index of the instruction that a frame stands at.
    fn sum(&self, depth: usize) -> u128 {
        let Some(frame) = self.frames.get(depth.wrapping_sub(1)) else { return 0 };
        let place = mix(frame.sum, u64::from(frame.index) << 32 | u64::from(frame.odd));
        let counts = self.counts.get(frame.base..frame.base + frame.loops).unwrap_or_default();
        counts.iter().fold(place, |sum, count| mix(sum, (*count).into()))
    }

    fn text(&self, image: &Image, depth: usize) -> String {
        let mut text = String::new();
        for (n, frame) in self.frames.iter().take(depth).enumerate() {
            let functions = &image.module(frame.module).functions;
            let name = functions.get(frame.function as usize).map_or("?", |f| f.name.as_str());
            // Writing to a string does not fail.
            let _ = match (n, frame.nth) {
                (0, 0) => Ok(()),
                (0, nth) => write!(text, "#{nth} "),
                (_, 0) => write!(text, " > "),
                (_, nth) => write!(text, "*{nth} > "),
            };
            let _ = write!(text, "{name}:{}", frame.index);
            let counts = &self.counts[frame.base..frame.base + frame.loops];
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
