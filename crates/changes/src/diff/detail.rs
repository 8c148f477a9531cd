//! What is known about a change apart from its lines: its tokens and the names it mentions.

use super::cut::Parsed;
use super::groups::{Lines, Side};
use crate::syntax::{NameScope, Syntax, name_effect};
use std::collections::BTreeMap;
use std::ops::Range;

/// How a change mentions a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct NameUse {
    /// Number of mentions in its old and new lines.
    pub old: u32,
    pub new: u32,
    /// Whether old (new) lines declare or define it.
    pub old_declares: bool,
    pub new_declares: bool,
    /// Whether the name is visible outside its function at any of the mentions.
    pub beyond_function: bool,
    /// Whether it is visible outside its file.
    pub global: bool,
}

pub(crate) type Names = BTreeMap<String, NameUse>;

#[derive(Default)]
pub(crate) struct Detail {
    /// Hashes of the tokens of its old and new lines.
    pub old: Vec<u64>,
    pub new: Vec<u64>,
    /// It lies within a function that begins before it and ends after it.
    pub enclosed: bool,
    /// None where the syntax is not known.
    pub names: Option<Names>,
}

impl Detail {
    pub(super) fn new(parsed: Option<&Parsed>, old: &Side, new: &Side, group: &Lines) -> Detail {
        let names = parsed.map(|parsed| {
            let mut names = Names::new();
            add(&mut names, &parsed.old, old, &group.old, true);
            add(&mut names, &parsed.new, new, &group.new, false);
            names
        });
        Detail {
            old: old.lexed.tokens(group.old.start, group.old.end).to_vec(),
            new: new.lexed.tokens(group.new.start, group.new.end).to_vec(),
            enclosed: parsed.is_some_and(|parsed| parsed.is_enclosed(group)),
            names,
        }
    }
}

fn add(names: &mut Names, syntax: &Syntax, side: &Side, lines: &Range<u32>, old: bool) {
    for name in syntax.names(lines) {
        let text = String::from_utf8_lossy(&side.text[name.at.clone()]);
        let name_use = names.entry(text.into_owned()).or_default();
        let declares = name.effects & name_effect::DECLARE != 0;
        let (count, declared) = if old {
            (&mut name_use.old, &mut name_use.old_declares)
        } else {
            (&mut name_use.new, &mut name_use.new_declares)
        };
        *count += 1;
        *declared |= declares;
        name_use.beyond_function |= !matches!(name.reach, NameScope::Local(_));
        name_use.global |= name.reach == NameScope::Global;
    }
}
