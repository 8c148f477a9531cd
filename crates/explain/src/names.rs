//! Names whose meaning a change affects: macros, types, fields, constants.
//!
//! Such a change has no code of its own, so it is not in any slice; it takes effect where its names are used.
//! Only names that the change defines or uses differently count, and only where they can have the affected
//! meaning: a local variable in its function, a definition of a source file in that file, one of a header
//! everywhere.

use crate::align::Side;
use crate::sources::Sources;
use changes::words::{code_of, words_of};
use changes::{Change, ChangeId};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Lines of functions, by file and in order.
pub type Bodies = HashMap<String, Vec<Range<u32>>>;

/// The region in which a name has the meaning that a change affects.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Scope {
    Everywhere,
    File(String),
    Lines(String, Range<u32>),
}

/// Names with the changes that affect them.
#[derive(Debug, Default)]
pub struct Meanings {
    by_name: HashMap<String, Vec<(ChangeId, Scope)>>,
}

impl Meanings {
    /// Adds the names that a change affects in one version.
    pub fn add(&mut self, change: &Change, side: Side, sources: &Sources, bodies: &Bodies) {
        let (file, lines) = match side {
            Side::Bad => (&change.file, change.new_range()),
            Side::Good => (change.old_file.as_ref().unwrap_or(&change.file), change.old_range()),
        };
        let mut macros: HashSet<String> =
            change.old_lines.iter().chain(&change.new_lines).filter_map(|line| defined(line)).collect();
        let around = macro_around(sources, side, file, lines.start);
        let in_macro = around.is_some();
        macros.extend(around);
        let wide = if is_header(file) { Scope::Everywhere } else { Scope::File(file.clone()) };
        let body = bodies.get(file).into_iter().flatten().find(|body| body.contains(&lines.start));
        let narrow = match body {
            Some(body) => Scope::Lines(file.clone(), body.clone()),
            None => wide.clone(),
        };
        // Names used in a macro's body keep their meaning; the macro itself does not.
        let [old, new] = [&change.old_lines, &change.new_lines].map(|lines| outside_macros(lines, in_macro));
        let names = changed(&old, &new);
        for name in names.difference(&macros) {
            self.by_name.entry(name.clone()).or_default().push((change.id, narrow.clone()));
        }
        for name in macros {
            self.by_name.entry(name).or_default().push((change.id, wide.clone()));
        }
    }

    /// Whether no name was added.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// Changes that affect this name at this location, with a penalty: a name that many changes affect is
    /// weak evidence for each.
    pub fn of<'s>(
        &'s self,
        name: &str,
        file: &'s str,
        line: u32,
    ) -> impl Iterator<Item = (ChangeId, u32)> + 's {
        let all = self.by_name.get(name).map_or(&[][..], Vec::as_slice);
        let doubt = all.len().max(1).ilog2();
        all.iter().filter(move |(_, scope)| scope.contains(file, line)).map(move |(id, _)| (*id, doubt))
    }
}

impl Scope {
    fn contains(&self, file: &str, line: u32) -> bool {
        match self {
            Scope::Everywhere => true,
            Scope::File(own) => own == file,
            Scope::Lines(own, lines) => own == file && lines.contains(&line),
        }
    }
}

fn is_header(file: &str) -> bool {
    !["c", "cc", "cpp", "cxx", "y", "l"]
        .iter()
        .any(|ending| file.rsplit_once('.').is_some_and(|(_, own)| own == *ending))
}

/// The macro that a line defines or undefines.
fn defined(line: &str) -> Option<String> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start();
    let rest = rest.strip_prefix("define").or_else(|| rest.strip_prefix("undef"))?;
    let name: String = rest.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (!name.is_empty()).then_some(name)
}

/// The macro whose body contains a line.
fn macro_around(sources: &Sources, side: Side, file: &str, line: u32) -> Option<String> {
    let mut at = line.checked_sub(1)?;
    loop {
        let text = sources.line(side, file, at)?;
        if !text.trim_end().ends_with('\\') {
            return None;
        }
        if let Some(name) = defined(&text) {
            return Some(name);
        }
        at = at.checked_sub(1)?;
    }
}

/// The lines outside of macro definitions; `within`: the first line is inside of one.
fn outside_macros(lines: &[String], mut within: bool) -> Vec<String> {
    let mut outside = Vec::new();
    for line in lines {
        within |= defined(line).is_some();
        if !within {
            outside.push(line.clone());
        }
        within &= line.trim_end().ends_with('\\');
    }
    outside
}

/// Names that occur in only one version of the lines, or more often there, and those that the lines declare.
fn changed(old: &[String], new: &[String]) -> HashSet<String> {
    let mut counts: HashMap<String, (i64, bool)> = HashMap::new();
    for (lines, by) in [(old, 1), (new, -1)] {
        for line in lines {
            for word in words_of(&code_of(line)) {
                let (count, declared) = counts.entry(word.text.to_owned()).or_default();
                *count += by;
                *declared |= word.declared;
            }
        }
    }
    let about = counts.into_iter().filter(|(_, (count, declared))| *count != 0 || *declared);
    about.map(|(name, _)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|t| (*t).to_owned()).collect()
    }

    fn names(old: &[&str], new: &[&str]) -> Vec<String> {
        let mut names: Vec<String> = changed(&lines(old), &lines(new)).into_iter().collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn only_what_differs_or_is_declared_counts() {
        assert_eq!(names(&["f(state, a);"], &["f(state, b);"]), ["a", "b"]);
        assert_eq!(names(&["  int width;"], &["  long width;"]), ["int", "long", "width"]);
        assert_eq!(names(&["  RED,"], &["  RED, /* hot */"]), ["RED"]);
        assert_eq!(names(&["run(state, depth);"], &["run(state, depth + 1);"]), Vec::<String>::new());
    }

    #[test]
    fn macros_are_known_by_their_definition() {
        assert_eq!(defined("#  define LIMIT(x) 3").as_deref(), Some("LIMIT"));
        assert_eq!(defined("#if LIMIT"), None);
        assert_eq!(defined("define LIMIT"), None);
    }

    #[test]
    fn the_text_of_a_macro_gives_no_name_another_meaning() {
        let text = lines(&["int width;", "#define ADD(a) \\", "  sum(a) \\", "  + 1", "int height;"]);
        assert_eq!(outside_macros(&text, false), ["int width;", "int height;"]);
        assert_eq!(outside_macros(&lines(&["  |= 2; \\", "  a++", "b++;"]), true), ["b++;"]);
    }

    #[test]
    fn local_names_mean_nothing_elsewhere() {
        let narrow = Scope::Lines("a.c".to_owned(), 3..9);
        assert!(narrow.contains("a.c", 8) && !narrow.contains("a.c", 9) && !narrow.contains("b.c", 4));
        assert!(Scope::Everywhere.contains("b.c", 1));
        assert!(is_header("x.h") && is_header("opcodes.def") && !is_header("x.c"));
    }
}
