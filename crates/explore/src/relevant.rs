//! The relevant-slice condition of a run: the part of its path condition that its outputs depend on.
//!
//! Outputs are what reaches standard output, files and the exit status. A run that puts something
//! out only because a branch went this way depends on that branch; one that puts nothing out there
//! depends on it as well, so every executed branch with a way not taken on which something could be
//! put out, or the program end, is part of the criterion.
//!
//! Conditions are reordered as Algorithm 6.1 of Qi's thesis demands (*Path exploration based on
//! symbolic output*, FSE 2011): behind those that their own relevant slice has. Then a prefix with
//! its last condition turned is a prefix of the next run's reordered conditions, so no group is
//! explored twice and none is missed. The slice is the plain closure of data, control and potential
//! dependence; the classical relevant slice, which does not follow why a branch ran that only could
//! have mattered, misses groups.

use crate::distance::Edge;
use crate::error::Result;
use externals::{Direction, flag};
use program::inst::{BlockId, Inst, Operand};
use program::ways::Ways;
use replay::image::Image;
use replay::machine::Machine;
use replay::observer::{Observer, View};
use replay::process::LoadedProcess;
use slice::{Criterion, Occurrence, Relevance, Request, Slicer, SlicerOptions, Variant, Wanted};
use std::collections::{HashMap, HashSet};
use symbolic::{Condition, Kind, Path};

/// Executed branches with a silent way that could have said something: no more are criteria.
const MOST_SILENT: usize = 50_000;

/// The conditions of a run that its outputs depend on, by their numbers in the path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RelevantConditions {
    /// Reordered: each behind those of its own relevant slice.
    pub order: Vec<usize>,
    /// The slice was cut off: conditions may be missing.
    pub cut: bool,
    /// The ways out of branches that the run took.
    pub taken: HashSet<Edge>,
    /// The instruction at which it ended: module, function and number there.
    pub end: Option<(u32, u32, u32)>,
}

/// The relevant-slice condition of a path.
///
/// # Errors
/// If the run does not replay.
pub fn conditions(process: &LoadedProcess, stream: u32, path: &Path) -> Result<RelevantConditions> {
    let index = process.streams.iter().position(|s| s.number == stream).unwrap_or(0) as u32;
    let slicer = Slicer::new(process, SlicerOptions::default());
    // An event of a call comes when the call has run.
    let written = slicer.io(index)?.events.iter().filter(|e| e.out);
    let mut steps: HashSet<u64> = written.map(|e| e.instruction.saturating_sub(1)).collect();
    let walked = walk(process, stream)?;
    steps.extend(walked.silent);
    steps.insert(slicer.steps(index)?.saturating_sub(1));
    let mut steps: Vec<u64> = steps.into_iter().collect();
    steps.sort_unstable();
    let (all, mut cut) = closure(&slicer, index, &steps)?;
    let step = |number: usize| executed(process, &path.conditions[number]);
    let relevant: Vec<usize> = (0..path.conditions.len()).filter(|n| all.contains(&step(*n))).collect();
    // One by one: the graph of a slice that has all of them as criteria keeps only one of the uses that make a
    // branch potentially relevant, so that what a single branch reaches in it is too little.
    let mut slices: HashMap<u64, HashSet<u64>> = HashMap::new();
    for number in &relevant {
        let step = step(*number);
        if let std::collections::hash_map::Entry::Vacant(entry) = slices.entry(step) {
            let (of, is_cut) = closure(&slicer, index, &[step])?;
            cut |= is_cut;
            entry.insert(of);
        }
    }
    // Conditions of one instruction belong together, in their order.
    let depends = |pivot: usize, on: usize| {
        step(pivot) == step(on) || slices.get(&step(pivot)).is_some_and(|of| of.contains(&step(on)))
    };
    Ok(RelevantConditions { order: reorder(relevant, &depends), cut, taken: walked.taken, end: walked.end })
}

/// The conditions before one of a path that are in its relevant slice, by their numbers: they decide that its
/// branch runs, and what it compares.
///
/// # Errors
/// If the run does not replay.
pub fn needed_by(process: &LoadedProcess, stream: u32, path: &Path, number: usize) -> Result<Vec<usize>> {
    let index = process.streams.iter().position(|s| s.number == stream).unwrap_or(0) as u32;
    let slicer = Slicer::new(process, SlicerOptions::default());
    let step = |number: usize| executed(process, &path.conditions[number]);
    let (of, _) = closure(&slicer, index, &[step(number)])?;
    Ok((0..number).filter(|n| of.contains(&step(*n))).collect())
}

/// The step of the instruction that a condition is of. What a library function decided is known when
/// the call has come back.
fn executed(process: &LoadedProcess, condition: &Condition) -> u64 {
    let at = &condition.at;
    let function = process.image.module(at.module).functions.get(at.function as usize);
    let inst = function.and_then(|f| f.code.get(at.index as usize));
    let came_back = matches!(inst, Some(Inst::Call(_))) && condition.kind != Kind::CallTarget;
    at.step.saturating_sub(came_back.into())
}

/// The steps of the relevant slice (closure) of some steps.
fn closure(slicer: &Slicer<'_>, stream: u32, steps: &[u64]) -> Result<(HashSet<u64>, bool)> {
    let criteria: Vec<Criterion> = steps
        .iter()
        .map(|step| Criterion { at: Occurrence { stream, step: *step }, wanted: vec![Wanted::All] })
        .collect();
    let relevance = Relevance { variant: Variant::Closure, ..Relevance::default() };
    let request = Request { criteria: &criteria, relevance: Some(relevance), stop: None };
    let slice = slicer.ask(&request, &mut |_| {})?;
    let of = slice.nodes.iter().filter(|n| n.at.stream == stream).map(|n| n.at.step).collect();
    Ok((of, slice.truncated || slice.asked_back_to.is_some()))
}

/// Algorithm 6.1's `reorder`: the last element behind those it depends on, each part in turn. Nothing
/// recurses with the number of conditions.
pub fn reorder(list: Vec<usize>, depends: &dyn Fn(usize, usize) -> bool) -> Vec<usize> {
    enum Todo {
        Part(Vec<usize>),
        One(usize),
    }
    let mut order = Vec::with_capacity(list.len());
    let mut todo = vec![Todo::Part(list)];
    while let Some(next) = todo.pop() {
        match next {
            Todo::One(number) => order.push(number),
            Todo::Part(mut part) => {
                let Some(pivot) = part.pop() else { continue };
                let (before, rest): (Vec<usize>, Vec<usize>) =
                    part.into_iter().partition(|n| depends(pivot, *n));
                todo.push(Todo::Part(rest));
                todo.push(Todo::One(pivot));
                todo.push(Todo::Part(before));
            }
        }
    }
    order
}

/// What one walk over a run shows.
struct Walked {
    /// Steps of branches that put nothing out but could have, going another way.
    silent: Vec<u64>,
    taken: HashSet<Edge>,
    end: Option<(u32, u32, u32)>,
}

fn walk(process: &LoadedProcess, stream: u32) -> Result<Walked> {
    let mut silent = Silent {
        speaks: speaking(&process.image),
        ways: HashMap::new(),
        steps: Vec::new(),
        taken: HashSet::new(),
    };
    let mut end = None;
    if let Some(loaded) = process.stream(stream) {
        let mut machine = Machine::new(&process.image, &loaded.stream);
        machine.run(&mut silent, u64::MAX)?;
        end = machine.frames().last().map(|frame| {
            let code = process.image.code(frame.function);
            (code.module, code.function, frame.pc)
        });
    }
    Ok(Walked { silent: silent.steps, taken: silent.taken, end })
}

/// Whether each function may put something out or end the program, with all it calls.
fn speaking(image: &Image) -> Vec<bool> {
    let count = image.functions() as usize;
    let mut speaks = vec![false; count];
    loop {
        let mut changed = false;
        for number in 0..count {
            let code = image.code(number as u32);
            let function = &image.module(code.module).functions[code.function as usize];
            if !speaks[number] && function.code.iter().any(|inst| says(image, code.module, inst, &speaks)) {
                speaks[number] = true;
                changed = true;
            }
        }
        if !changed {
            return speaks;
        }
    }
}

fn says(image: &Image, module: u32, inst: &Inst, speaks: &[bool]) -> bool {
    let Inst::Call(call) = inst else { return matches!(inst, Inst::Trap) };
    let Operand::Symbol { symbol, offset: 0 } = call.callee else { return true };
    let address = image.symbol(module, symbol);
    if let Some(number) = image.function_at(address) {
        return speaks.get(number as usize).copied().unwrap_or(true);
    }
    match image.external_at(address) {
        Some((_, Some(known))) => {
            let writes = known.io.is_some_and(|io| io.direction == Direction::Out);
            writes || known.flags & (flag::EXITS | flag::NORETURN) != 0
        }
        // Nobody knows.
        _ => true,
    }
}

struct Silent {
    speaks: Vec<bool>,
    /// For each function (module and index), the ways on which something is said.
    ways: HashMap<(u32, u32), HashSet<(BlockId, BlockId)>>,
    steps: Vec<u64>,
    taken: HashSet<Edge>,
}

impl Observer for Silent {
    fn edge(&mut self, view: &View<'_>, from: BlockId, to: BlockId) {
        let successors = match view.inst() {
            Inst::Branch { then, otherwise, .. } => vec![*then, *otherwise],
            switch @ Inst::Switch { .. } => switch.successors(),
            _ => return,
        };
        self.taken.insert((view.code.module, view.code.function, from, to));
        let speaks = &self.speaks;
        let ways = self.ways.entry((view.code.module, view.code.function)).or_insert_with(|| {
            let function = view.function();
            let all = Ways::of(function);
            let mut saying = HashSet::new();
            for (block, b) in function.blocks.iter().enumerate() {
                let Some(last) = function.code.get((b.end as usize).saturating_sub(1)) else { continue };
                let targets = last.successors();
                if targets.len() < 2 {
                    continue;
                }
                for target in targets {
                    let way = (block as BlockId, target);
                    let said = all.region(way).blocks().any(|inside| {
                        let range =
                            function.blocks.get(inside as usize).map(|b| b.start as usize..b.end as usize);
                        let code = range.and_then(|r| function.code.get(r)).unwrap_or_default();
                        code.iter().any(|inst| says(view.image, view.code.module, inst, speaks))
                    });
                    if said {
                        saying.insert(way);
                    }
                }
            }
            saying
        });
        let other_says = successors.iter().any(|other| *other != to && ways.contains(&(from, *other)));
        if other_says && self.steps.len() < MOST_SILENT {
            self.steps.push(view.count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// F-6.6: rs(b6) = {b1, b3}, rs(b5) = {b2, b4}, rs(b4) = {b2}, rs(b3) = {b1}.
    #[test]
    fn conditions_stand_behind_those_they_depend_on() {
        let slices: [&[usize]; 7] = [&[], &[], &[], &[1], &[2], &[2, 4], &[1, 3]];
        let order = reorder(vec![1, 2, 3, 4, 5, 6], &|pivot, on| slices[pivot].contains(&on));
        assert_eq!(order, [1, 3, 6, 2, 4, 5]);
    }
}
