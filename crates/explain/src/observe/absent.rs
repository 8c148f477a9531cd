//! Why the other run did not execute an instruction that one run executed.
//!
//! The call stack of the instruction is followed into the other run as far as the corresponding activations
//! exist. In the innermost common activation, control must have taken another branch: the last branch there
//! that controls the instruction, and that took an edge from which it is not reachable any more, is the
//! answer. If there is none, the activation did not get that far: the process ended in one of its callees.

use super::Error;
use crate::align::{self, Index, Lines, Side, Track};
use program::cfg::Graph;
use program::inst::Inst;
use replay::machine::Machine;
use replay::observer::{Effect, Observer, View};
use replay::process::LoadedProcess;
use slice::{Criterion, Occurrence, Wanted};
use std::collections::{HashMap, VecDeque};

/// The point in the other run that decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Decided {
    pub criterion: Criterion,
    pub why: Why,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// A branch took an edge from which it is not reachable.
    Branch,
    /// The same instruction ran, but called another function or had another effect.
    Instruction,
    /// The process ended first.
    Ended,
    /// The code no longer exists; this is the closest remaining instruction.
    Near,
}

/// Why the instruction `at` of `done` did not run in `other`. `stream` is the other run's.
pub(super) fn why_not(
    (done, done_side): (&LoadedProcess, Side),
    at: Occurrence,
    (other, stream): (&LoadedProcess, usize),
    lines: &Lines<'_>,
) -> Result<Option<Decided>, Error> {
    let path = align::stack_of(done, at, done_side, lines)?;
    let side = match done_side {
        Side::Good => Side::Bad,
        Side::Bad => Side::Good,
    };
    let Some(s) = other.streams.get(stream) else { return Ok(None) };
    let mut walk = Walk {
        track: Track::new(&other.image, side, lines),
        levels: path.into_iter().map(|(index, at)| Level::new(index, at)).collect(),
        by_frame: HashMap::new(),
        last: 0,
    };
    walk.by_frame = walk.levels.iter().enumerate().map(|(i, l)| (l.index.frame, i as u32 + 1)).collect();
    let mut machine = Machine::new(&other.image, &s.stream);
    machine.run(&mut walk, u64::MAX)?;
    let (end, open) = (machine.counters().instructions, machine.frames().len());
    let Some(level) = walk.levels.iter().rposition(|l| l.entered) else { return Ok(None) };
    let l = &walk.levels[level];
    if !l.target
        && let Some(near) = nearest((done, done_side), l.at, level as u32 + 1, (other, stream), lines)?
    {
        let criterion = Criterion { at: near, wanted: vec![Wanted::Ran] };
        return Ok(Some(Decided { criterion, why: Why::Near }));
    }
    let at = |step| Occurrence { stream: stream as u32, step };
    let decided = |step, wanted, why| {
        Ok(Some(Decided { criterion: Criterion { at: at(step), wanted: vec![wanted] }, why }))
    };
    if let Some(step) = l.ran {
        return decided(step, Wanted::All, Why::Instruction);
    }
    match l.branch {
        Some((step, true)) if l.target => decided(step, Wanted::All, Why::Branch),
        _ if l.target && open > 0 => decided(walk.last.min(end), Wanted::Ran, Why::Ended),
        Some((step, _)) => decided(step, Wanted::All, Why::Near),
        // The code no longer exists. The call that led to the activation is the closest.
        None => match level.checked_sub(1).and_then(|l| walk.levels[l].ran) {
            Some(step) => decided(step, Wanted::Ran, Why::Near),
            None => decided(walk.last.min(end), Wanted::Ran, Why::Ended),
        },
    }
}

/// How many preceding instructions are searched for the former location of removed code.
const BEFORE: usize = 64;

/// The last instruction before `at`, in the same activation, that the other run also executed.
fn nearest(
    (done, side): (&LoadedProcess, Side),
    at: Occurrence,
    depth: u32,
    (other, stream): (&LoadedProcess, usize),
    lines: &Lines<'_>,
) -> Result<Option<Occurrence>, Error> {
    let Some(s) = done.streams.get(at.stream as usize) else { return Ok(None) };
    let mut recent = Recent { depth, steps: VecDeque::new() };
    Machine::new(&done.image, &s.stream).run(&mut recent, at.step)?;
    let before: Vec<Occurrence> =
        recent.steps.into_iter().map(|step| Occurrence { stream: at.stream, step }).collect();
    let indices = align::index_of(done, at.stream as usize, &before, side, lines)?;
    let indices: Vec<Index> = indices.into_iter().flatten().collect();
    let other_side = match side {
        Side::Good => Side::Bad,
        Side::Bad => Side::Good,
    };
    let found = align::find(other, stream, &indices, other_side, lines)?;
    Ok(found.iter().rev().find_map(|f| f.exact))
}

/// The last steps of an activation.
struct Recent {
    depth: u32,
    steps: VecDeque<u64>,
}

impl Observer for Recent {
    fn enter(&mut self, view: &View<'_>, _outside: bool) {
        if view.depth == self.depth {
            self.steps.clear();
        }
    }

    #[inline]
    fn step(&mut self, view: &View<'_>, _effect: Effect) {
        if view.depth == self.depth {
            if self.steps.len() == BEFORE {
                self.steps.pop_front();
            }
            self.steps.push_back(view.count);
        }
    }
}

/// One call on the stack, searched in the other run.
struct Level {
    index: Index,
    /// In the run that executed the instruction.
    at: Occurrence,
    entered: bool,
    /// Whether the function contains the instruction.
    target: bool,
    block: u32,
    /// Blocks whose branch controls it.
    deciding: Vec<bool>,
    /// Blocks from which it is reachable without a back edge.
    reaching: Vec<bool>,
    /// The step of the corresponding execution.
    ran: Option<u64>,
    /// The last controlling branch, and whether it took an edge away from the instruction.
    branch: Option<(u64, bool)>,
}

impl Level {
    fn new(index: Index, at: Occurrence) -> Level {
        Level {
            index,
            at,
            entered: false,
            target: false,
            block: 0,
            deciding: Vec::new(),
            reaching: Vec::new(),
            ran: None,
            branch: None,
        }
    }
}

struct Walk<'a> {
    track: Track<'a>,
    levels: Vec<Level>,
    by_frame: HashMap<u128, u32>,
    /// The last instruction.
    last: u64,
}

impl Observer for Walk<'_> {
    fn enter(&mut self, view: &View<'_>, _outside: bool) {
        let frame = self.track.enter(view);
        frame.mark = self.by_frame.get(&frame.key).copied().unwrap_or(0);
        let Some(level) = (frame.mark as usize).checked_sub(1).and_then(|l| self.levels.get_mut(l)) else {
            return;
        };
        level.entered = true;
        let keys = frame.keys.clone();
        let f = view.function();
        let graph = Graph::of(f);
        let block_of =
            |index: usize| f.blocks.iter().position(|b| (b.start as usize..b.end as usize).contains(&index));
        let exact = keys.instruction.iter().position(|k| *k == level.index.instruction_key);
        level.target = exact.is_some();
        // If the instruction no longer exists, uses any remaining instruction of its line.
        let near = exact.or_else(|| keys.line.iter().position(|k| *k == level.index.line_key));
        let Some(block) = near.and_then(block_of) else { return };
        level.block = block as u32;
        level.deciding = deciding(&graph, block as u32);
        level.reaching = reaching(&graph, block as u32);
    }

    fn edge(&mut self, view: &View<'_>, from: u32, to: u32) {
        let depth = view.depth as usize;
        let mark = self.track.activations.frames.get(depth.wrapping_sub(1)).map_or(0, |f| f.mark);
        if let Some(level) = (mark as usize).checked_sub(1).and_then(|l| self.levels.get_mut(l))
            && level.ran.is_none()
            && level.deciding.get(from as usize) == Some(&true)
            && matches!(view.inst(), Inst::Branch { .. } | Inst::Switch { .. })
        {
            // Branches of later iterations do not control this execution.
            let wanted = &level.index.iterations;
            let here = self.track.iterations(depth);
            let common = here.len().min(wanted.len());
            if here[..common] <= wanted[..common] {
                // A back edge of a loop around the instruction leads to another iteration.
                let round = self.track.activations.frames[depth - 1]
                    .keys
                    .loop_nest
                    .body(to)
                    .is_some_and(|b| b[from as usize] && b[level.block as usize]);
                let away = round || level.reaching.get(to as usize) != Some(&true);
                level.branch = Some((view.count, away));
            }
        }
        self.track.edge(view, from, to);
    }

    #[inline]
    fn step(&mut self, view: &View<'_>, _effect: Effect) {
        self.last = view.count;
        let Some(frame) = self.track.step(view) else { return };
        let Some(mark) = (frame.mark as usize).checked_sub(1) else { return };
        if frame.keys.instruction[view.index as usize] == self.levels[mark].index.instruction_key
            && self.track.hashes(view.depth as usize).is_some_and(|h| h.1 == self.levels[mark].index.hash)
        {
            self.levels[mark].ran = Some(view.count);
        }
    }
}

/// Blocks on whose branch a block is control dependent, directly or transitively.
fn deciding(graph: &Graph, block: u32) -> Vec<bool> {
    let depends = graph.control_dependence();
    let mut found = vec![false; graph.len()];
    let mut work = vec![block];
    while let Some(b) = work.pop() {
        for a in &depends[b as usize] {
            if !std::mem::replace(&mut found[*a as usize], true) {
                work.push(*a);
            }
        }
    }
    found
}

/// Blocks from which a block is reachable without a back edge.
fn reaching(graph: &Graph, block: u32) -> Vec<bool> {
    let mut rank = vec![0; graph.len()];
    for (i, b) in graph.reverse_postorder().into_iter().enumerate() {
        rank[b as usize] = i;
    }
    let mut found = vec![false; graph.len()];
    found[block as usize] = true;
    let mut work = vec![block];
    while let Some(b) = work.pop() {
        for &p in graph.predecessors(b) {
            if rank[p as usize] < rank[b as usize] && !std::mem::replace(&mut found[p as usize], true) {
                work.push(p);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 0: if → 1 | 2; 1 → 3; 2: if → 3 | 4; 3 → 4; 4 end
    fn diamond() -> Graph {
        Graph::new(vec![vec![1, 2], vec![3], vec![3, 4], vec![4], vec![]])
    }

    #[test]
    fn branches_above_decide() {
        assert_eq!(deciding(&diamond(), 1), [true, false, false, false, false]);
        assert_eq!(deciding(&diamond(), 3), [true, false, true, false, false]);
        assert_eq!(deciding(&diamond(), 4), [false; 5]);
    }

    #[test]
    fn a_loop_is_not_a_way_back() {
        // 0 → 1 (header) → 2 | 4; 2: if → 3 | 1; 3 → 1; 4 end
        let graph = Graph::new(vec![vec![1], vec![2, 4], vec![3, 1], vec![1], vec![]]);
        assert_eq!(reaching(&graph, 3), [true, true, true, true, false]);
        assert_eq!(reaching(&graph, 2), [true, true, true, false, false]);
    }
}
