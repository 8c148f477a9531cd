//! Detects renamed identifiers.
//!
//! A hunk belongs to a rename if its tokens differ in that identifier alone. That is not sufficient, since
//! using another variable gives the same kind of edit. So the declaration must be renamed too, somewhere in
//! the scope of the name.

use super::super::{Difference, Names};
use super::{Unassigned, Unit, UnitKind};
use crate::change::{Change, ChangeKind, ChangeSet, Hunk};
use std::collections::{BTreeMap, BTreeSet};
use xxhash_rust::xxh3::xxh3_64;

/// The scope of an identifier.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Within {
    Function(String, String),
    File(String),
    Program,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Renaming {
    old: String,
    new: String,
    within: Within,
}

pub(super) fn find(difference: &Difference, free: &mut Unassigned) -> Vec<Unit> {
    let mut found: BTreeMap<Renaming, ChangeSet> = BTreeMap::new();
    for hunk in &difference.hunks {
        if let Some(renaming) = renaming(difference, hunk) {
            found.entry(renaming).or_default().extend(&hunk.changes);
        }
    }
    let declared = declarations(difference, &found);
    let mut units = Vec::new();
    for (renaming, changes) in found {
        let mentions = changes.iter().filter_map(|id| difference.names(*id)?.get(&renaming.old));
        // Not if a single declaration was replaced by another.
        if declared.contains(&renaming) && mentions.map(|name_use| name_use.old).sum::<u32>() > 1 {
            free.take(changes.iter().copied());
            let Renaming { old, new, .. } = renaming;
            units.push(Unit { changes, kind: UnitKind::Renamed { old, new } });
        }
    }
    units
}

/// The rename that a hunk consists of.
fn renaming(difference: &Difference, hunk: &Hunk) -> Option<Renaming> {
    let mut hashes: Option<(u64, u64)> = None;
    for id in &hunk.changes {
        let detail = &difference.details[id.0 as usize];
        if difference.change(*id).kind != ChangeKind::Lines || detail.old.len() != detail.new.len() {
            return None;
        }
        for (old, new) in detail.old.iter().zip(&detail.new).filter(|(old, new)| old != new) {
            if *hashes.get_or_insert((*old, *new)) != (*old, *new) {
                return None;
            }
        }
    }
    let (old, new) = hashes?;
    let details = hunk.changes.iter().map(|id| &difference.details[id.0 as usize]);
    let mixed = details.clone().any(|detail| detail.new.contains(&old) || detail.old.contains(&new));
    if mixed {
        return None;
    }
    let text = |hash: u64| -> Option<&str> {
        let all = details.clone().filter_map(|detail| detail.names.as_ref());
        all.flat_map(Names::keys).find(|name| xxh3_64(name.as_bytes()) == hash).map(String::as_str)
    };
    let (old, new) = (text(old)?, text(new)?);
    within(difference, hunk, old, new)
}

/// The scope of the identifier: the widest scope of its mentions in the hunk.
fn within(difference: &Difference, hunk: &Hunk, old: &str, new: &str) -> Option<Renaming> {
    let all = hunk.changes.iter().filter_map(|id| difference.names(*id));
    let name_use = || all.clone().flat_map(|names| [names.get(old), names.get(new)]).flatten();
    let within = if name_use().any(|name_use| name_use.global) {
        Within::Program
    } else if name_use().any(|name_use| name_use.beyond_function) {
        Within::File(hunk.file.clone())
    } else {
        let mut changes = hunk.changes.iter().map(|id| difference.change(*id));
        let function = changes.next()?.function.clone()?;
        if changes.any(|change| change.function.as_ref() != Some(&function)) {
            return None;
        }
        Within::Function(hunk.file.clone(), function)
    };
    Some(Renaming { old: old.to_owned(), new: new.to_owned(), within })
}

/// The renames for which some change deletes a declaration of the old name and adds one of the new name.
fn declarations(difference: &Difference, found: &BTreeMap<Renaming, ChangeSet>) -> BTreeSet<Renaming> {
    let mut by_old: BTreeMap<&str, Vec<&Renaming>> = BTreeMap::new();
    for renaming in found.keys() {
        by_old.entry(&renaming.old).or_default().push(renaming);
    }
    let reaches = |within: &Within, change: &Change| match within {
        Within::Function(file, function) => {
            change.file == *file && change.function.as_ref() == Some(function)
        }
        Within::File(file) => change.file == *file,
        Within::Program => true,
    };
    let mut declared = BTreeSet::new();
    for change in &difference.changes {
        let Some(names) = difference.names(change.id) else { continue };
        let gone = names.iter().filter(|(_, name_use)| name_use.old_declares && !name_use.new_declares);
        for renaming in gone.filter_map(|(name, _)| by_old.get(name.as_str())).flatten() {
            let came = names.get(&renaming.new);
            if came.is_some_and(|name_use| name_use.new_declares && !name_use.old_declares)
                && reaches(&renaming.within, change)
            {
                declared.insert((*renaming).clone());
            }
        }
    }
    declared
}
