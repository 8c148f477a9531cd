//! Steps in the headers of a library, told as the line of the program that called it.
//!
//! Templates and inline functions of the standard library are compiled into the program and
//! recorded with it, so a chain runs through them: into `push_back`, down to the copy of one
//! character. Nobody debugs these lines. A step there becomes a call at the innermost line of the
//! program itself; several in a row that come from one line are one step.

use crate::answer::{Cause, Place};

/// A step in a library becomes the call of it.
pub(crate) fn as_call(mut cause: Cause, bad: Option<Place>, good: Option<Place>, callee: &str) -> Cause {
    if bad.is_some() {
        "call".clone_into(&mut cause.kind);
    }
    cause.what = format!("{callee} was called");
    cause.place = bad;
    cause.good_place = good;
    cause.formula = None;
    cause.values.clear();
    cause
}

/// Joins steps of one line, if one of them was in a library. `folded`: whether a step was.
pub(crate) fn join(mut cause: Cause, folded: &impl Fn(&Cause) -> bool) -> Cause {
    let mut children = Vec::new();
    for child in std::mem::take(&mut cause.children) {
        let child = join(child, folded);
        if !same_line(&cause, &child) || !(folded(&cause) || folded(&child)) {
            children.push(child);
        } else if folded(&child) {
            // What the step above says of its line is more.
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
        // 1 and 2 stand for calls from line 48, 3 for one from line 20.
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
