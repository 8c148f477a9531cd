//! One input, followed symbolically through both versions.
//!
//! Both paths use the same variables, and equal terms have equal handles. So a condition that only one
//! version has is an effect of a change.

use crate::changed::Changed;
use crate::distance::{Distances, Edge};
use crate::error::Result;
use crate::subject::Subject;
use crate::trace::{Lines, Trace};
use crate::versions::Versions;
use alternate::{Both, Rerun, Side};
use program::inst::Inst;
use solver::Term;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Instant;
use symbolic::{Condition, Input, Kind, Path, TermContext};

/// One input in both versions.
pub struct Followed {
    /// The input.
    pub input: Input,
    /// The terms of both paths, over the same variables.
    pub world: TermContext,
    /// The conditions and outputs of each version.
    pub paths: Both<Path>,
    /// What each version's run reached and assigned.
    pub traces: Both<Trace>,
    /// For each condition of each path, the branch edges that were not taken.
    negations: Both<Vec<Vec<Edge>>>,
}

impl Followed {
    /// Records both versions with an input and replays them symbolically, until `deadline`.
    ///
    /// # Errors
    /// If a version cannot be run with it, or a run does not replay.
    pub fn new(
        subject: &Subject,
        input: &Input,
        versions: &Versions,
        changed: &Changed,
        deadline: Instant,
    ) -> Result<Followed> {
        let reruns = Both::try_from(|side| subject.record(side, input))?;
        let mut world = TermContext::default();
        let options = symbolic::Options { deadline: Some(deadline), ..subject.follow() };
        let mut path = |rerun: &Rerun| {
            symbolic::replay(&rerun.process, &rerun.recorded, rerun.stream, &mut world, &options)
        };
        let paths = Both { old: path(&reruns.old)?, new: path(&reruns.new)? };
        let traces = Both::try_from(|side| {
            let build = &versions.builds.of(side).recorded;
            let lines = Lines { difference: &versions.difference, changed, side, tree: build.tree() };
            let rerun = reruns.of(side);
            Trace::of(&rerun.process, rerun.stream, &lines)
        })?;
        let negations = |side: Side| {
            let conditions = &paths.of(side).conditions;
            conditions.iter().map(|c| not_taken(reruns.of(side), c)).collect()
        };
        let negations = Both { old: negations(Side::Old), new: negations(Side::New) };
        Ok(Followed { input: input.clone(), world, paths, traces, negations })
    }

    /// The minimum distance of the edges that a condition did not take.
    #[must_use]
    pub fn distance(&self, side: Side, condition: usize, distances: &Distances) -> Option<u32> {
        let branch_edges = self.negations.of(side).get(condition)?;
        branch_edges.iter().filter_map(|branch_edge| distances.of(*branch_edge)).min()
    }

    /// The input with other values of its variables.
    #[must_use]
    pub fn with(&self, value: &dyn Fn(u32) -> u128) -> Input {
        with_values(&self.input, &self.world, value)
    }

    /// The terms of a side's conditions.
    #[must_use]
    pub fn terms(&self, side: Side) -> HashSet<Term> {
        self.paths.of(side).conditions.iter().map(|c| c.term).collect()
    }
}

/// An input with other values of the variables of its term context.
#[must_use]
pub fn with_values(input: &Input, world: &TermContext, value: &dyn Fn(u32) -> u128) -> Input {
    let mut input = input.clone();
    for (number, variable) in world.variables.list.iter().enumerate() {
        let Some(origin) = world.variables.origins.get(variable.origin as usize) else { continue };
        if let Some(byte) = input.parts.get_mut(origin).and_then(|b| b.get_mut(variable.offset as usize)) {
            *byte = value(number as u32) as u8;
        }
    }
    input
}

/// Hashes of path prefixes; runs of one program that took the same path so far have the same hashes. For each
/// condition, the hash of the prefix up to it, and of the prefix with the condition negated.
#[must_use]
pub fn prefixes(side: Side, path: &Path) -> Vec<(u64, u64)> {
    let mut so_far = side as u64;
    let step = |so_far: u64, c: &Condition, turned: bool| {
        let mut hasher = DefaultHasher::new();
        let place = (c.at.module, c.at.function, c.at.index);
        (so_far, place, c.kind, c.direction, turned).hash(&mut hasher);
        hasher.finish()
    };
    path.conditions
        .iter()
        .map(|c| {
            let turned = step(so_far, c, true);
            so_far = step(so_far, c, false);
            (so_far, turned)
        })
        .collect()
}

/// The edges of a branch that were not taken according to a condition.
pub(crate) fn not_taken(rerun: &Rerun, condition: &Condition) -> Vec<Edge> {
    let at = &condition.at;
    let module = rerun.process.image.module(at.module);
    let Some(function) = module.functions.get(at.function as usize) else { return Vec::new() };
    let block = function.blocks.iter().position(|b| (b.start..b.end).contains(&at.index));
    let (Some(block), Some(inst)) = (block, function.code.get(at.index as usize)) else { return Vec::new() };
    let edge = |to: &u32| (at.module, at.function, block as u32, *to);
    match (condition.kind, inst) {
        (Kind::Branch, Inst::Branch { then, otherwise, .. }) => {
            let other = if condition.direction == 1 { otherwise } else { then };
            vec![edge(other)]
        }
        (Kind::Switch, Inst::Switch { default, cases, .. }) => {
            let taken =
                cases.iter().find(|(value, _)| *value == condition.direction).map_or(default, |c| &c.1);
            let targets = cases.iter().map(|c| &c.1).chain([default]);
            targets.filter(|to| *to != taken).map(edge).collect()
        }
        _ => Vec::new(),
    }
}
