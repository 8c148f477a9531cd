//! The relevant-slice condition of a run: the part of its path condition that its outputs depend on.
//!
//! Outputs are writes to standard output and files, and the exit status. An output that is written only
//! because a branch took this edge depends on that branch. So does the absence of an output: every executed
//! branch with an edge not taken on which an output could be written, or the program could end, is part of
//! the criterion.
//!
//! Conditions are reordered as Algorithm 6.1 of Qi's thesis demands (*Path exploration based on symbolic
//! output*, FSE 2011): each after those in its own relevant slice. Then a prefix with its last condition
//! negated is a prefix of the next run's reordered conditions, so every group is explored exactly once. The
//! slice is the plain closure of data, control and potential dependence. The classical relevant slice does
//! not follow why a potentially relevant branch was executed, and misses groups.

use crate::distance::Edge;
use crate::error::Result;
use alternate::relevant::{OutputSlice, SliceRequest, closure, executed};
use replay::process::LoadedProcess;
use slice::{Precision, Slicer, SlicerOptions};
use std::collections::HashSet;
use std::sync::atomic::AtomicBool;
use symbolic::Path;

/// The conditions of a run that its outputs depend on, by their indices in the path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RelevantConditions {
    /// Reordered: each after those of its own relevant slice. If the slice was truncated, all conditions as
    /// they were executed, because any may be relevant.
    pub order: Vec<usize>,
    /// Whether the slice was truncated.
    pub cut: bool,
    /// The branch edges that the run took.
    pub taken: HashSet<Edge>,
    /// The instruction at which the run ended: module, function and index.
    pub end: Option<(u32, u32, u32)>,
}

/// The relevant-slice condition of a path; `None` if another thread set `stop` before it was known.
///
/// # Errors
/// If the run does not replay.
pub fn conditions(
    process: &LoadedProcess,
    stream: u32,
    path: &Path,
    stop: &AtomicBool,
) -> Result<Option<RelevantConditions>> {
    let index = process.streams.iter().position(|s| s.number == stream).unwrap_or(0) as u32;
    let slicer = Slicer::new(process, SlicerOptions::default());
    // The instructions of the conditions, each once, and which of them each condition is of.
    let steps: Vec<u64> = path.conditions.iter().map(|c| executed(process, &c.at, c.kind)).collect();
    let mut instructions = steps.clone();
    instructions.sort_unstable();
    instructions.dedup();
    let of: Vec<usize> = steps.iter().map(|step| instructions.partition_point(|s| s < step)).collect();
    let precision = Precision::Andersen;
    let request = SliceRequest { stream: index, among: &instructions, precision, stop };
    let slice = OutputSlice::of(&slicer, &request)?;
    let OutputSlice { steps: all, cut, stopped, taken, end, among } = slice;
    if stopped {
        return Ok(None);
    }
    if cut {
        return Ok(Some(RelevantConditions { order: (0..steps.len()).collect(), cut, taken, end }));
    }
    let relevant: Vec<usize> = (0..steps.len()).filter(|n| all.contains(&steps[*n])).collect();
    // Conditions of one instruction belong together, in their order.
    let depends = |pivot: usize, on: usize| of[pivot] == of[on] || among.depends(of[pivot], of[on]);
    Ok(Some(RelevantConditions { order: reorder(relevant, &depends), cut, taken, end }))
}

/// The conditions before a condition of a path that are in its relevant slice, by their indices: they
/// determine that its branch is executed, and the operands of its comparison. Some are missing if another
/// thread set `stop`.
///
/// # Errors
/// If the run does not replay.
pub fn needed_by(
    process: &LoadedProcess,
    stream: u32,
    path: &Path,
    number: usize,
    stop: &AtomicBool,
) -> Result<Vec<usize>> {
    let index = process.streams.iter().position(|s| s.number == stream).unwrap_or(0) as u32;
    let slicer = Slicer::new(process, SlicerOptions::default());
    let step = |number: usize| executed(process, &path.conditions[number].at, path.conditions[number].kind);
    let request = SliceRequest { stream: index, among: &[], precision: Precision::Andersen, stop };
    let of = closure(&slicer, &[step(number)], &request)?;
    Ok((0..number).filter(|n| of.contains(&step(*n))).collect())
}

/// Algorithm 6.1's `reorder`: the last element after those it depends on, then recursively for each part. An
/// explicit stack replaces recursion, whose depth would grow with the number of conditions.
pub fn reorder(list: Vec<usize>, depends: &dyn Fn(usize, usize) -> bool) -> Vec<usize> {
    enum Todo {
        Part(Vec<usize>),
        One(usize),
    }
    let mut order = Vec::with_capacity(list.len());
    let mut worklist = vec![Todo::Part(list)];
    while let Some(next) = worklist.pop() {
        match next {
            Todo::One(number) => order.push(number),
            Todo::Part(mut part) => {
                let Some(pivot) = part.pop() else { continue };
                let (before, rest): (Vec<usize>, Vec<usize>) =
                    part.into_iter().partition(|n| depends(pivot, *n));
                worklist.push(Todo::Part(rest));
                worklist.push(Todo::One(pivot));
                worklist.push(Todo::Part(before));
            }
        }
    }
    order
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
