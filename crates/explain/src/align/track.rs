//! Following a replay: which activation runs, and how often the loops around
//! its instruction went round.

use super::keys::{FunctionKeys, mix};
use super::{Index, Lines, Side};
use replay::image::Image;
use replay::observer::View;
use std::collections::HashMap;
use std::rc::Rc;

/// A function that runs.
pub struct Activation {
    /// What alignment knows of its function.
    pub keys: Rc<FunctionKeys>,
    /// Names the activation: equal in both runs for calls that correspond.
    pub key: u128,
    /// The instruction that ran last here, and when.
    pub index: u32,
    pub step: u64,
    /// Functions entered from that instruction: an external function may call
    /// back many times.
    entries: u32,
    /// Start and number of its iteration counts.
    base: u32,
    loops: u32,
    /// Times round cycles that are no loops.
    odd: u32,
    /// For the observer that follows.
    pub mark: u32,
}

/// The stack of activations. Its user passes on the calls it gets as an
/// observer.
pub struct Track<'a> {
    side: Side,
    lines: &'a Lines<'a>,
    functions: Vec<Option<Rc<FunctionKeys>>>,
    pub frames: Vec<Activation>,
    counts: Vec<u32>,
    /// Functions entered at the top, by name.
    roots: HashMap<u64, u32>,
}

impl<'a> Track<'a> {
    /// Nothing runs yet.
    #[must_use]
    pub fn new(image: &Image, side: Side, lines: &'a Lines<'a>) -> Track<'a> {
        Track {
            side,
            lines,
            functions: vec![None; image.functions() as usize],
            frames: Vec::new(),
            counts: Vec::new(),
            roots: HashMap::new(),
        }
    }

    fn keys(&mut self, view: &View<'_>) -> Rc<FunctionKeys> {
        let number = view.image.function(view.code.module, view.code.function).unwrap_or(0);
        let place = &mut self.functions[number as usize];
        let keys = place.get_or_insert_with(|| {
            Rc::new(FunctionKeys::of(view.module(), view.function(), self.side, self.lines))
        });
        keys.clone()
    }

    /// A function was entered.
    pub fn enter(&mut self, view: &View<'_>) -> &mut Activation {
        let keys = self.keys(view);
        let caller = (view.depth as usize).saturating_sub(1);
        self.frames.truncate(caller);
        let (key, base) = match self.frames.last_mut() {
            Some(f) => {
                let end = f.base + f.loops;
                let counts = &self.counts[f.base as usize..end as usize];
                let site = f.keys.instruction.get(f.index as usize).copied().unwrap_or(0);
                let entry = u64::from(f.entries) << 32 | u64::from(f.odd);
                f.entries += 1;
                (mix(mix(at(f.key, counts), site), entry), end)
            }
            None => {
                let nth = self.roots.entry(keys.name).or_default();
                *nth += 1;
                (u128::from(*nth), 0)
            }
        };
        let loops = keys.nest.depth(0) as u32;
        self.counts.truncate(base as usize);
        self.counts.resize((base + loops) as usize, 0);
        let key = mix(key, keys.name);
        // The frames below are those of the machine; one it has and we do not
        // can only come from a jump into the middle, which does not happen.
        self.frames.push(Activation {
            keys,
            key,
            index: 0,
            step: view.count,
            entries: 0,
            base,
            loops,
            odd: 0,
            mark: 0,
        });
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    /// An instruction ran.
    #[inline]
    pub fn step(&mut self, view: &View<'_>) -> Option<&mut Activation> {
        let f = self.frames.get_mut((view.depth as usize).wrapping_sub(1))?;
        f.index = view.index;
        f.step = view.count;
        f.entries = 0;
        Some(f)
    }

    /// Control went over an edge.
    #[inline]
    pub fn edge(&mut self, view: &View<'_>, from: u32, to: u32) {
        let depth = view.depth as usize;
        self.frames.truncate(depth);
        let Some(f) = self.frames.get_mut(depth.wrapping_sub(1)) else { return };
        self.counts.truncate((f.base + f.loops) as usize);
        let odd = f.keys.nest.pass(&mut self.counts, f.base as usize, from, to);
        f.odd += u32::from(odd);
        f.loops = self.counts.len() as u32 - f.base;
    }

    /// Iterations of the loops around a frame's instruction.
    #[must_use]
    pub fn iterations(&self, depth: usize) -> &[u32] {
        self.frames
            .get(depth.wrapping_sub(1))
            .and_then(|f| self.counts.get(f.base as usize..(f.base + f.loops) as usize))
            .unwrap_or(&[])
    }

    /// Hashes of line and instruction of a frame.
    #[must_use]
    pub fn hashes(&self, depth: usize) -> Option<(u128, u128)> {
        let f = self.frames.get(depth.wrapping_sub(1))?;
        let here = mix(at(f.key, self.iterations(depth)), f.odd.into());
        let line = *f.keys.line.get(f.index as usize)?;
        let instruction = *f.keys.instruction.get(f.index as usize)?;
        Some((mix(here, line), mix(here, instruction)))
    }

    /// The index of the instruction a frame stands at.
    #[must_use]
    pub fn index(&self, depth: usize) -> Option<Index> {
        let f = self.frames.get(depth.wrapping_sub(1))?;
        let (line, hash) = self.hashes(depth)?;
        Some(Index {
            frame: f.key,
            line,
            hash,
            instruction_key: *f.keys.instruction.get(f.index as usize)?,
            line_key: *f.keys.line.get(f.index as usize)?,
            iterations: self.iterations(depth).to_vec(),
        })
    }

    /// The indices of all frames up to a depth, and when each ran last.
    #[must_use]
    pub fn stack(&self, depth: usize) -> Vec<(Index, u64)> {
        (1..=depth).filter_map(|d| Some((self.index(d)?, self.frames[d - 1].step))).collect()
    }
}

fn at(key: u128, counts: &[u32]) -> u128 {
    counts.iter().fold(mix(key, counts.len() as u64), |h, c| mix(h, u64::from(*c)))
}
