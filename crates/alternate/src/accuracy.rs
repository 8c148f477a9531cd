//! The accuracy of a report, where the true fault is known.
//!
//! The classes are those of the DARWIN report (MSR-TR-2008-91, section 5): 1, the same line; 1a, a line with
//! the same text; 2, the same function; 3, a caller or callee of it; 4, none of these.

use crate::report::Candidate;
use crate::run::Run;
use program::inst::{Inst, Operand};
use replay::image::Image;
use std::fmt;
use std::path::Path;

/// See the module's documentation. Ordered from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// The line of the fault.
    SameLine,
    /// Another line with the same text, apart from white space.
    SameText,
    /// Another line of the function that contains the fault.
    SameFunction,
    /// A function that calls the faulty one directly, or is called by it.
    Neighbour,
    /// None of the others.
    Elsewhere,
}

impl Class {
    /// The number in the DARWIN report.
    #[must_use]
    pub fn number(self) -> &'static str {
        match self {
            Class::SameLine => "1",
            Class::SameText => "1a",
            Class::SameFunction => "2",
            Class::Neighbour => "3",
            Class::Elsewhere => "4",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self {
            Class::SameLine => "the line itself",
            Class::SameText => "a line with the same text",
            Class::SameFunction => "the same function",
            Class::Neighbour => "a caller or callee",
            Class::Elsewhere => "somewhere else",
        };
        write!(f, "class {}, {words}", self.number())
    }
}

/// The location of the fault. The file may be any suffix of its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Truth {
    /// A suffix of the path, by whole components.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

/// The class of a candidate. `run` is the run of its version; `source` returns the text of a line.
#[must_use]
pub fn class(
    candidate: &Candidate,
    run: &Run<'_>,
    truth: &Truth,
    source: &dyn Fn(&str, u32) -> Option<String>,
) -> Class {
    let image = &run.process.image;
    let in_file = |path: &str| Path::new(path).ends_with(truth.file.trim_start_matches("./"));
    if in_file(&candidate.file) && candidate.line == truth.line {
        return Class::SameLine;
    }
    let truth_path = paths(image).find(|p| in_file(p));
    let text = |file: &str, line| source(file, line).map(|t| t.split_whitespace().collect::<String>());
    let wanted = truth_path.as_deref().and_then(|file| text(file, truth.line)).filter(|t| !t.is_empty());
    if wanted.is_some() && wanted == text(&candidate.file, candidate.line) {
        return Class::SameText;
    }
    let Some(function) = function_at(image, &in_file, truth.line) else { return Class::Elsewhere };
    if function == candidate.function {
        return Class::SameFunction;
    }
    let calls = |caller: &str, callee: &str| callees(image, caller).any(|name| name == callee);
    if calls(&function, &candidate.function) || calls(&candidate.function, &function) {
        return Class::Neighbour;
    }
    Class::Elsewhere
}

/// The best class of several candidates; `Elsewhere` if there are none.
#[must_use]
pub fn best(classes: impl IntoIterator<Item = Class>) -> Class {
    classes.into_iter().min().unwrap_or(Class::Elsewhere)
}

fn paths(image: &Image) -> impl Iterator<Item = String> {
    image.modules().flat_map(|(index, _)| {
        let module = image.module(index);
        (0..module.files.len() as u32).map(|file| module.file_path(file))
    })
}

/// The function with code at a line, or else the last function that begins before it.
fn function_at(image: &Image, in_file: &dyn Fn(&str) -> bool, line: u32) -> Option<String> {
    let mut before: Option<(u32, String)> = None;
    for (index, _) in image.modules() {
        let module = image.module(index);
        for function in &module.functions {
            let here = |file: u32| in_file(&module.file_path(file));
            if function.places.iter().any(|p| p.line == line && here(p.file)) {
                return Some(function.name.clone());
            }
            let begins = function.line;
            if begins <= line && here(function.file) && before.as_ref().is_none_or(|b| b.0 < begins) {
                before = Some((begins, function.name.clone()));
            }
        }
    }
    before.map(|b| b.1)
}

/// The names of the functions that a function calls directly.
fn callees<'i>(image: &'i Image, caller: &str) -> impl Iterator<Item = &'i str> {
    let modules = image.modules().map(|(index, _)| image.module(index));
    let callers =
        modules.flat_map(move |m| m.functions.iter().map(move |f| (m, f))).filter(|(_, f)| f.name == caller);
    let called = callers.flat_map(|(m, f)| {
        f.code.iter().filter_map(move |inst| match inst {
            Inst::Call(call) => match call.callee {
                Operand::Symbol { symbol, .. } => m.symbols.get(symbol as usize).map(|s| s.name.as_str()),
                _ => None,
            },
            _ => None,
        })
    });
    called.collect::<Vec<_>>().into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_class_counts() {
        assert_eq!(best([Class::Elsewhere, Class::SameText, Class::Neighbour]), Class::SameText);
        assert_eq!(best([]), Class::Elsewhere);
        assert_eq!(Class::SameText.to_string(), "class 1a, a line with the same text");
    }
}
