//! The live activations, identified by execution indices.
//!
//! The index of an executed instruction (Xin, Sumner and Zhang, "Efficient Program Execution Indexing", PLDI
//! 2008) is the path that leads to it: the activations on the call stack, each with its current instruction
//! and the iteration counts of the loops around that, then the instruction itself in the same form. Only the
//! loops *around* an instruction count, each from its own entry: an additional iteration of an inner loop
//! does not change the indices of what follows it.
//!
//! An index is stored as a hash of 128 bits. The user chooses how functions and instructions are named in it
//! ([`Keys`]): by their numbers, for two runs of one program, or by names that two versions share.

use crate::image::Image;
use crate::observer::View;
use program::loop_nest::LoopNest;
use std::collections::HashMap;
use std::rc::Rc;

/// Names of a function and its instructions.
pub trait Keys {
    /// The loop nest of the function.
    fn loop_nest(&self) -> &LoopNest;
    /// Name of the function; a number or a hash.
    fn function(&self) -> u64;
    /// Name of the instruction at this index of the function's code.
    fn instruction(&self, index: u32) -> u64;
}

/// An activation of a function.
pub struct Activation<K> {
    /// Names of its function and instructions.
    pub keys: Rc<K>,
    /// Identifies the activation: equal for corresponding calls.
    pub key: u128,
    /// Index of the instruction that ran last in this activation; 0 before the first.
    pub index: u32,
    /// Number of that instruction in the stream; at first, of the first instruction.
    pub step: u64,
    /// Number of functions entered from that instruction: an external function may call back many times.
    entries: u32,
    /// Start and number of its iteration counts.
    base: u32,
    loops: u32,
    /// Number of iterations of cycles that are not natural loops.
    pub irregular_iterations: u32,
    /// How many functions the caller's instruction had entered before; for an entry from outside, how often
    /// this function had been entered.
    pub nth: u32,
    /// Free for use by the observer.
    pub mark: u32,
}

/// The stack of activations. Its user forwards the calls that it receives as an observer.
pub struct Activations<K> {
    functions: Vec<Option<Rc<K>>>,
    /// Outermost first. After a return, frames of callees remain until the next edge or entry.
    pub frames: Vec<Activation<K>>,
    /// Iteration counts of the loops around the instructions of all frames.
    counts: Vec<u32>,
    /// How often each function was entered at the top, by name.
    roots: HashMap<u64, u32>,
}

impl<K: Keys> Activations<K> {
    /// No activations yet.
    #[must_use]
    pub fn new(image: &Image) -> Activations<K> {
        Activations {
            functions: (0..image.functions()).map(|_| None).collect(),
            frames: Vec::new(),
            counts: Vec::new(),
            roots: HashMap::new(),
        }
    }

    /// A function was entered; `keys` creates its names, once per function.
    pub fn enter(&mut self, view: &View<'_>, keys: impl FnOnce() -> K) -> &mut Activation<K> {
        let number = view.image.function(view.code.module, view.code.function).unwrap_or(0);
        let keys = self.functions[number as usize].get_or_insert_with(|| Rc::new(keys())).clone();
        let caller = (view.depth as usize).saturating_sub(1);
        self.frames.truncate(caller);
        let (key, base, nth) = match self.frames.last_mut() {
            Some(f) => {
                let end = f.base + f.loops;
                let counts = &self.counts[f.base as usize..end as usize];
                let entry = u64::from(f.entries) << 32 | u64::from(f.irregular_iterations);
                f.entries += 1;
                let site = f.keys.instruction(f.index);
                (mix(mix(at(f.key, counts), site), entry), end, f.entries - 1)
            }
            None => {
                let nth = self.roots.entry(keys.function()).or_default();
                *nth += 1;
                (u128::from(*nth), 0, *nth - 1)
            }
        };
        let loops = keys.loop_nest().depth(0) as u32;
        self.counts.truncate(base as usize);
        self.counts.resize((base + loops) as usize, 0);
        let key = mix(key, keys.function());
        // The frames below are those of the machine. If one of them were missing here, control would have
        // jumped into the middle of a function, which cannot happen.
        self.frames.push(Activation {
            keys,
            key,
            index: 0,
            step: view.count,
            entries: 0,
            base,
            loops,
            irregular_iterations: 0,
            nth,
            mark: 0,
        });
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    /// An instruction ran.
    #[inline]
    pub fn step(&mut self, view: &View<'_>) -> Option<&mut Activation<K>> {
        let f = self.frames.get_mut((view.depth as usize).wrapping_sub(1))?;
        f.index = view.index;
        f.step = view.count;
        f.entries = 0;
        Some(f)
    }

    /// Control followed an edge.
    #[inline]
    pub fn edge(&mut self, view: &View<'_>, from: u32, to: u32) {
        let depth = view.depth as usize;
        self.frames.truncate(depth);
        let Some(f) = self.frames.get_mut(depth.wrapping_sub(1)) else { return };
        self.counts.truncate((f.base + f.loops) as usize);
        let irregular_iterations = f.keys.loop_nest().pass(&mut self.counts, f.base as usize, from, to);
        f.irregular_iterations += u32::from(irregular_iterations);
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

    /// Identifies the current iteration of the loops around a frame's instruction.
    #[must_use]
    pub fn iteration_key(&self, depth: usize) -> Option<u128> {
        let f = self.frames.get(depth.wrapping_sub(1))?;
        Some(mix(at(f.key, self.iterations(depth)), f.irregular_iterations.into()))
    }

    /// The index of a frame's current instruction.
    #[must_use]
    pub fn index(&self, depth: usize) -> Option<u128> {
        let iteration_key = self.iteration_key(depth)?;
        let f = &self.frames[depth - 1];
        Some(mix(iteration_key, f.keys.instruction(f.index)))
    }
}

fn at(key: u128, counts: &[u32]) -> u128 {
    counts.iter().fold(mix(key, counts.len() as u64), |h, c| mix(h, u64::from(*c)))
}

/// One step of a hash. A collision would only align moments that do not correspond; with 128 bits, none is
/// expected.
#[inline]
#[must_use]
pub fn mix(hash: u128, value: u64) -> u128 {
    const PRIME: u128 = 0x0123_4567_89ab_cdef_0fed_cba9_8765_4321;
    let h = (hash ^ u128::from(value)).wrapping_mul(PRIME);
    h ^ (h >> 67)
}
