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
use alternate::relevant::{OutputSlice, closure, executed};
use replay::process::LoadedProcess;
use slice::{Slicer, SlicerOptions};
use std::collections::HashSet;
use symbolic::Path;

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
    // The instructions of the conditions, each once, and which of them each condition is of.
    let steps: Vec<u64> = path.conditions.iter().map(|c| executed(process, &c.at, c.kind)).collect();
    let mut instructions = steps.clone();
    instructions.sort_unstable();
    instructions.dedup();
    let of: Vec<usize> = steps.iter().map(|step| instructions.partition_point(|s| s < step)).collect();
    let OutputSlice { steps: all, cut, taken, end, among } =
        OutputSlice::of(&slicer, process, index, &instructions, None)?;
    let relevant: Vec<usize> = (0..steps.len()).filter(|n| all.contains(&steps[*n])).collect();
    // Conditions of one instruction belong together, in their order.
    let depends = |pivot: usize, on: usize| of[pivot] == of[on] || among.depends(of[pivot], of[on]);
    Ok(RelevantConditions { order: reorder(relevant, &depends), cut, taken, end })
}

/// The conditions before one of a path that are in its relevant slice, by their numbers: they decide that its
/// branch runs, and what it compares.
///
/// # Errors
/// If the run does not replay.
pub fn needed_by(process: &LoadedProcess, stream: u32, path: &Path, number: usize) -> Result<Vec<usize>> {
    let index = process.streams.iter().position(|s| s.number == stream).unwrap_or(0) as u32;
    let slicer = Slicer::new(process, SlicerOptions::default());
    let step = |number: usize| executed(process, &path.conditions[number].at, path.conditions[number].kind);
    let (of, _) = closure(&slicer, index, &[step(number)], None)?;
    Ok((0..number).filter(|n| of.contains(&step(*n))).collect())
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
