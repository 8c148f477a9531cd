//! Tracks the activations of a replay by keys that both versions share.

use super::keys::FunctionKeys;
use super::{Index, Lines, Side};
use program::loop_nest::LoopNest;
use replay::activations::{self, Activations, Keys, mix};
use replay::image::Image;
use replay::observer::View;

/// An active function.
pub type Activation = activations::Activation<FunctionKeys>;

impl Keys for FunctionKeys {
    fn loop_nest(&self) -> &LoopNest {
        &self.loop_nest
    }

    fn function(&self) -> u64 {
        self.name
    }

    fn instruction(&self, index: u32) -> u64 {
        self.instruction.get(index as usize).copied().unwrap_or(0)
    }
}

/// The stack of activations. An observer forwards its calls to it.
pub struct Track<'a> {
    side: Side,
    lines: &'a Lines<'a>,
    /// The activations with their keys, the outermost first.
    pub activations: Activations<FunctionKeys>,
}

impl<'a> Track<'a> {
    /// An empty stack.
    #[must_use]
    pub fn new(image: &Image, side: Side, lines: &'a Lines<'a>) -> Track<'a> {
        Track { side, lines, activations: Activations::new(image) }
    }

    /// Enters a function.
    pub fn enter(&mut self, view: &View<'_>) -> &mut Activation {
        let (side, lines) = (self.side, self.lines);
        self.activations.enter(view, || FunctionKeys::of(view.module(), view.function(), side, lines))
    }

    /// Updates the current instruction.
    #[inline]
    pub fn step(&mut self, view: &View<'_>) -> Option<&mut Activation> {
        self.activations.step(view)
    }

    /// Updates the loop iterations for an edge.
    #[inline]
    pub fn edge(&mut self, view: &View<'_>, from: u32, to: u32) {
        self.activations.edge(view, from, to);
    }

    /// Iterations of the loops around a frame's instruction.
    #[must_use]
    pub fn iterations(&self, depth: usize) -> &[u32] {
        self.activations.iterations(depth)
    }

    /// Hashes of line and instruction of a frame.
    #[must_use]
    pub fn hashes(&self, depth: usize) -> Option<(u128, u128)> {
        let iteration_key = self.activations.iteration_key(depth)?;
        let f = &self.activations.frames[depth - 1];
        let line = *f.keys.line.get(f.index as usize)?;
        Some((mix(iteration_key, line), self.activations.index(depth)?))
    }

    /// The index of a frame's current instruction.
    #[must_use]
    pub fn index(&self, depth: usize) -> Option<Index> {
        let f = self.activations.frames.get(depth.wrapping_sub(1))?;
        let (line, hash) = self.hashes(depth)?;
        Some(Index {
            frame: f.key,
            line,
            hash,
            instruction_key: f.keys.instruction(f.index),
            line_key: *f.keys.line.get(f.index as usize)?,
            iterations: self.iterations(depth).to_vec(),
        })
    }

    /// The indices of all frames up to a depth, and the step of each.
    #[must_use]
    pub fn stack(&self, depth: usize) -> Vec<(Index, u64)> {
        (1..=depth).filter_map(|d| Some((self.index(d)?, self.activations.frames[d - 1].step))).collect()
    }
}
