//! Finds the changes that a compiler's diagnostics point at.
//!
//! A set of changes mostly fails to build because a name used by the reverted lines is missing or is defined
//! twice. Compilers report the name and the location. Changes that mention the name more often on one side
//! than on the other are the ones that the reverted changes depend on.

use super::structure::{Mention, Structure};
use crate::change::{ChangeId, ChangeSet};
use std::collections::BTreeSet;

/// A hint with more changes than this is ignored.
const MAX_HINTED: usize = 64;

/// The direction in which a set is completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TargetVersion {
    /// Changes to revert as well.
    Good,
    /// Reverted changes to put back.
    Bad,
}

impl TargetVersion {
    /// Number of mentions on the target side, and on the other.
    fn counts(self, mention: &Mention) -> (u32, u32) {
        match self {
            TargetVersion::Good => (mention.old, mention.new),
            TargetVersion::Bad => (mention.new, mention.old),
        }
    }

    fn declares(self, mention: &Mention) -> bool {
        match self {
            TargetVersion::Good => mention.old_declares,
            TargetVersion::Bad => mention.new_declares,
        }
    }
}

/// Changes that the diagnostics about reverting `reverted` point at, as disjoint sets, closest first. Changes
/// in the function of the error come before the rest of the program, because most names are local.
pub(super) fn hinted_changes(
    structure: &Structure,
    diagnostics: &str,
    reverted: &ChangeSet,
    target_version: TargetVersion,
) -> Vec<ChangeSet> {
    let read = Diagnostics::read(diagnostics);
    let fresh = |ids: &mut dyn Iterator<Item = ChangeId>| -> ChangeSet {
        ids.filter(|id| reverted.contains(id) == (target_version == TargetVersion::Bad)).collect()
    };
    let mut near = ChangeSet::new();
    for (file, line) in &read.places {
        near.extend(structure.near(file, *line, reverted));
    }

    // Names that are missing: the changes that declare them on the target side, stop using them there, or
    // mention them.
    let missing = |wanted: &dyn Fn(&Mention) -> bool| -> ChangeSet {
        let mentions = read.missing.iter().flat_map(|word| structure.mentions(word));
        fresh(&mut mentions.filter(|mention| wanted(mention)).map(|mention| mention.id))
    };
    let is_near = |mention: &Mention| near.contains(&mention.id);
    let more = |mention: &Mention| target_version.counts(mention).0 > target_version.counts(mention).1;
    let less = |mention: &Mention| target_version.counts(mention).0 < target_version.counts(mention).1;
    let declares = |mention: &Mention| more(mention) && target_version.declares(mention);
    // Half of a block.
    let there = || -> ChangeSet {
        match target_version {
            TargetVersion::Good => reverted.clone(),
            TargetVersion::Bad => structure.all() - reverted,
        }
    };
    let halves =
        if read.syntax { fresh(&mut structure.other_halves(&there()).into_iter()) } else { ChangeSet::new() };
    // Any other quoted name.
    let named = read.named.iter().flat_map(|word| structure.mentions(word));
    let named = fresh(&mut named.filter(|mention| mention.old != mention.new).map(|mention| mention.id));
    // Changes at the location; changes that declare the names used there if none is missing (probably with
    // another type); and changes that mention the same names.
    let mut at_place = ChangeSet::new();
    let mut declaring = ChangeSet::new();
    let mut alike = ChangeSet::new();
    for (file, line) in &read.places {
        for (id, words) in structure.at(file, *line, reverted) {
            at_place.insert(id);
            for mention in words.iter().flat_map(|word| structure.mentions(word)) {
                if read.missing.is_empty() && structure.declares_for(mention, id) {
                    declaring.insert(mention.id);
                }
                if mention.old != mention.new {
                    alike.insert(mention.id);
                }
            }
        }
    }
    let at_place = fresh(&mut at_place.into_iter());
    let declaring = fresh(&mut declaring.into_iter());
    let hint_sets = [
        missing(&|mention| declares(mention) && is_near(mention)),
        missing(&|mention| less(mention) && is_near(mention)),
        missing(&|mention| declares(mention) && mention.global),
        &halves & &near,
        missing(&|mention| more(mention) && is_near(mention)),
        // Missing files, reported by the compiler or by make.
        fresh(&mut read.files.iter().filter_map(|file| structure.of_file(file)).flatten().copied()),
        &named & &near,
        at_place,
        &declaring & &near,
        missing(&declares),
        missing(&less),
        missing(&more),
        halves,
        named,
        declaring,
        fresh(&mut alike.into_iter()),
    ];

    let mut seen = ChangeSet::new();
    let mut distinct = Vec::new();
    for hint_set in hint_sets {
        let hint_set = &hint_set - &seen;
        if !hint_set.is_empty() && hint_set.len() <= MAX_HINTED {
            seen.extend(&hint_set);
            distinct.push(hint_set);
        }
    }
    distinct
}

/// The first error of each file, in order: later errors in the same file often follow from the first. If the
/// first line names no file, it is returned too.
pub(super) fn first_errors(diagnostics: &str) -> impl Iterator<Item = &str> {
    let mut files = BTreeSet::new();
    let first = diagnostics.lines().next().unwrap_or_default();
    let placed = diagnostics.lines().skip(1).filter(|line| line.contains("error: "));
    std::iter::once(first).chain(placed).enumerate().filter_map(move |(number, line)| {
        let file = error_place(line).map(|(file, _)| file);
        let is_new = match file {
            Some(file) => files.insert(file),
            None => number == 0,
        };
        is_new.then_some(line)
    })
}

/// Reverted changes that diagnostics accuse, error by error: those at the location of the error, else those
/// that declare the names it quotes, else those at the locations of the compiler's notes.
pub(super) fn accused(structure: &Structure, diagnostics: &str, reverted: &ChangeSet) -> ChangeSet {
    let at = |place: &Option<(String, u32)>| -> ChangeSet {
        let Some((file, line)) = place else { return ChangeSet::new() };
        let here = structure.at(file, *line, reverted).into_iter().map(|(id, _)| id);
        here.filter(|id| reverted.contains(id)).collect()
    };
    let declaring = |text: &str| -> ChangeSet {
        let names = quoted(text).into_iter().flat_map(words);
        let mentions = names.flat_map(|name| structure.mentions(name));
        let declares = |mention: &&Mention| mention.old_declares || mention.new_declares;
        let ids = mentions.filter(declares).map(|mention| mention.id);
        ids.filter(|id| reverted.contains(id)).collect()
    };
    let mut accused = ChangeSet::new();
    let mut open = false;
    for line in diagnostics.lines() {
        if line.contains("error: ") {
            let mut here = at(&error_place(line));
            if here.is_empty() {
                here = declaring(line);
            }
            open = here.is_empty();
            accused.extend(here);
        } else if open && line.contains(": note: ") {
            accused.extend(at(&place_of(line, ": note: ")));
            accused.extend(declaring(line));
        }
    }
    accused
}

/// The location of the error in a line.
fn error_place(line: &str) -> Option<(String, u32)> {
    place_of(line, ": fatal error: ").or_else(|| place_of(line, ": error: "))
}

fn place_of(line: &str, before: &str) -> Option<(String, u32)> {
    line.find(before).and_then(|at| place(&line[..at]))
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Diagnostics {
    /// Names reported as missing.
    missing: BTreeSet<String>,
    /// All quoted names.
    named: BTreeSet<String>,
    /// Files reported as missing.
    files: BTreeSet<String>,
    /// A bracket or block is unbalanced.
    syntax: bool,
    /// Locations of errors.
    places: BTreeSet<(String, u32)>,
}

const MISSING: [&str; 10] = [
    "undeclared",
    "undefined",
    "unknown type",
    "unknown field",
    "no member named",
    "does not refer",
    "not declared",
    "has no member",
    "implicit declaration",
    "incomplete",
];
const SYNTAX: [&str; 9] = [
    "expected",
    "extraneous",
    "unterminated",
    "#endif",
    "#else",
    "missing '",
    "not in switch",
    "not in a switch",
    "not in loop",
];
const NO_FILE: [&str; 4] = ["file not found", "No such file", "No rule to make", "missing and no known rule"];

impl Diagnostics {
    fn read(text: &str) -> Diagnostics {
        let mut found = Diagnostics::default();
        for line in text.lines().take(2000) {
            let about_missing = MISSING.iter().any(|words| line.contains(words));
            let about_file = NO_FILE.iter().any(|words| line.contains(words));
            let about_error = line.contains("error") || line.contains("multiple definition") || about_missing;
            if !(about_error || about_file || line.contains("note:") || line.contains("duplicate symbol")) {
                continue;
            }
            found.syntax |= about_error && SYNTAX.iter().any(|words| line.contains(words));
            for quoted in quoted(line) {
                if about_file {
                    found.files.insert(quoted.to_owned());
                    continue;
                }
                for word in words(quoted) {
                    if about_missing {
                        found.missing.insert(word.to_owned());
                    }
                    found.named.insert(word.to_owned());
                }
            }
            if let Some((_, symbol)) = line.split_once("symbol: ") {
                found.missing.extend(words(symbol).take(1).map(str::to_owned));
            }
            found.places.extend(error_place(line));
        }
        found
    }
}

/// Quoted texts, for all quotation marks that compilers, linkers and make use.
fn quoted(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some(start) = rest.find(['\'', '`', '‘', '"']) {
        let open = rest[start..].chars().next().map_or(1, char::len_utf8);
        let inner = &rest[start + open..];
        let Some(end) = inner.find(['\'', '’', '"', '`']) else { break };
        found.push(&inner[..end]);
        let close = inner[end..].chars().next().map_or(1, char::len_utf8);
        rest = &inner[end + close..];
    }
    found
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
}

/// `file:line` or `file:line:column`.
fn place(text: &str) -> Option<(String, u32)> {
    let mut parts = text.trim().split(':');
    let file = parts.next()?;
    let line = parts.next()?.parse().ok()?;
    Some((file.trim_start_matches("./").to_owned(), line))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(words: &[&str]) -> BTreeSet<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn names_places_and_files_are_read() {
        let diagnostics = Diagnostics::read(
            "cc -c a.c\nsrc/a.c:12:9: error: use of undeclared identifier 'm'\n   12 |   z = x + m;\n\
             src/b.c:3: fatal error: 'gone.h' file not found\nld.lld: error: undefined symbol: helper\n\
             a.c:(.text+0x1): undefined reference to `other'\nb.c:7:1: error: conflicting types for 'f'\n",
        );
        assert_eq!(diagnostics.missing, set(&["m", "helper", "other"]));
        assert_eq!(diagnostics.named, set(&["m", "other", "f"]));
        assert_eq!(diagnostics.files, set(&["gone.h"]));
        let places = [("b.c", 7), ("src/a.c", 12), ("src/b.c", 3)];
        assert_eq!(
            diagnostics.places,
            places.iter().map(|(file, line)| ((*file).to_owned(), *line)).collect()
        );
    }

    #[test]
    fn nonsense_is_no_hint() {
        assert_eq!(
            Diagnostics::read("error: ‘ü\nerror '\n: error: x\nö:é: error: '"),
            Diagnostics::default()
        );
    }
}
