//! Represents steps in library headers by the program's line that called them.
//!
//! Templates and inline functions of the standard library are compiled into the program and recorded with it,
//! so a dependence chain can run through `push_back`, down to the copy of one character. Users do not debug
//! these lines. A step there is replaced by a call at the innermost line of the program itself; consecutive
//! steps from one line are one step.

use crate::answer::{Cause, Place};
use program::names::is_library;
use replay::image::Image;
use replay::machine::Machine;
use replay::observer::{Effect, Observer, View};
use replay::process::LoadedProcess;
use slice::Occurrence;

/// Replaces a step in a library by the call of the library; its sentence and its values are those of the
/// call.
pub(crate) fn as_call(mut cause: Cause, bad: Option<Place>, good: Option<Place>) -> Cause {
    if bad.is_some() && cause.kind != "missing" {
        "call".clone_into(&mut cause.kind);
    }
    cause.place = bad;
    cause.good_place = good;
    cause.formula = None;
    cause
}

/// For each step in a library, the call by which the program entered the library, in one replay; `None` if no
/// function of the program is on the call stack.
pub(crate) fn calls(process: &LoadedProcess, at: &[Occurrence]) -> Vec<Option<Occurrence>> {
    let mut answer = vec![None; at.len()];
    for (number, stream) in process.streams.iter().enumerate() {
        let of_stream = (0..at.len()).filter(|i| at[*i].stream as usize == number);
        let mut wanted: Vec<(u64, usize)> = of_stream.map(|i| (at[i].step, i)).collect();
        wanted.sort_unstable();
        let Some(last) = wanted.last().map(|wanted| wanted.0) else { continue };
        let mut callers =
            Callers { image: &process.image, under_way: Vec::new(), wanted, next: 0, found: Vec::new() };
        // If the stream does not replay to its end, the results up to that point are valid.
        let _ = Machine::new(&process.image, &stream.stream).run(&mut callers, last.saturating_add(1));
        for (i, step) in callers.found {
            answer[i] = Some(Occurrence { stream: at[i].stream, step });
        }
    }
    answer
}

/// The call stack: module, function, instruction, and its step.
struct Callers<'i> {
    image: &'i Image,
    under_way: Vec<(u32, u32, u32, u64)>,
    /// Steps and the position of their result, sorted by step.
    wanted: Vec<(u64, usize)>,
    next: usize,
    found: Vec<(usize, u64)>,
}

impl Callers<'_> {
    fn innermost_of_program(&self) -> Option<u64> {
        let own = self.under_way.iter().rev().find(|(module, function, index, _)| {
            let module = self.image.module(*module);
            let place = module.functions[*function as usize].place(*index as usize);
            place.line > 0 && !is_library(&module.file_path(place.file))
        });
        own.map(|(.., step)| *step)
    }
}

impl Observer for Callers<'_> {
    fn step(&mut self, view: &View<'_>, _effect: Effect) {
        let depth = view.depth as usize;
        self.under_way.resize(depth, (0, 0, 0, 0));
        if let Some(innermost) = self.under_way.last_mut() {
            *innermost = (view.code.module, view.code.function, view.index, view.count);
        }
        while let Some((step, i)) = self.wanted.get(self.next).copied()
            && step <= view.count
        {
            if step == view.count {
                self.found.extend(self.innermost_of_program().map(|step| (i, step)));
            }
            self.next += 1;
        }
    }
}

/// Joins consecutive steps of one line if one of them was in a library. `folded`: whether a step was.
pub(crate) fn join(mut cause: Cause, folded: &impl Fn(&Cause) -> bool) -> Cause {
    let mut children = Vec::new();
    for child in std::mem::take(&mut cause.children) {
        let child = join(child, folded);
        if !same_line(&cause, &child) || !(folded(&cause) || folded(&child)) {
            children.push(child);
        } else if folded(&child) {
            // The parent step has more information about its line.
            cause.change = cause.change.or(child.change);
            children.extend(child.children);
        } else {
            let how = std::mem::take(&mut cause.how);
            let change = child.change.or(cause.change);
            children.extend(child.children.iter().cloned());
            cause = Cause { how, change, children: Vec::new(), ..child };
        }
    }
    cause.children = children;
    cause
}

fn same_line(a: &Cause, b: &Cause) -> bool {
    let line = |place: &Option<Place>| place.as_ref().map(|p| (p.file.clone(), p.line));
    let lines = |cause: &Cause| (line(&cause.place), cause.place.is_none().then(|| line(&cause.good_place)));
    lines(a) == lines(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(id: u32, line: u32, children: Vec<Cause>) -> Cause {
        let place = Place { file: "a.cc".to_owned(), line, ..Place::default() };
        Cause { id, place: Some(place), children, ..Cause::default() }
    }

    #[test]
    fn steps_of_one_line_are_one_if_they_were_in_a_library() {
        let below = step(4, 20, vec![step(5, 9, Vec::new())]);
        let tree = step(0, 57, vec![step(1, 48, vec![step(2, 48, vec![step(3, 20, vec![below])])])]);
        // 1 and 2 represent calls from line 48, 3 one from line 20.
        let joined = join(tree, &|cause| [1, 2, 3].contains(&cause.id));
        let line = |cause: &Cause| (cause.id, cause.place.as_ref().map_or(0, |p| p.line));
        let mut seen = Vec::new();
        let mut at = Some(&joined);
        while let Some(cause) = at {
            seen.push(line(cause));
            at = cause.children.first();
        }
        assert_eq!(seen, [(0, 57), (1, 48), (4, 20), (5, 9)]);
    }

    #[test]
    fn steps_of_the_program_stay_apart() {
        let tree = step(0, 7, vec![step(1, 7, Vec::new())]);
        assert_eq!(join(tree, &|_| false).children.len(), 1);
    }
}
