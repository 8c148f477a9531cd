//! Computes the difference between two trees.
//!
//! One file per step: `walk` lists and reads files, `rename` pairs file names, `pair` compares one file,
//! `groups` finds its hunks, `alike` matches lines that are versions of each other. `cut` splits hunks by
//! syntax where it is known; elsewhere `groups` splits them with `line_lexer`. `detail` keeps the tokens and names
//! of each change; `moved` and `units` work across files. `state` reconstructs versions; `places` translates
//! lines.

mod alike;
mod cut;
mod detail;
mod fixed;
mod groups;
mod heading;
mod language;
mod line_lexer;
mod moved;
mod pair;
mod places;
#[cfg(test)]
mod programs;
mod rename;
mod state;
mod summary;
#[cfg(test)]
mod tests;
mod units;
mod walk;

pub(crate) use detail::{Detail, NameUse, Names};
pub use state::FileState;
pub use summary::{FileSummary, Summary};
pub use units::{Unit, UnitKind};

use crate::change::{Change, ChangeId, ChangeSet, Hunk, HunkId};
use crate::error::Result;
use pair::Pair;
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// What a comparison leaves out.
#[derive(Clone, Debug, Default)]
pub struct DiffOptions {
    /// Files and directories to skip, relative to the roots. `.git` is always skipped at any depth.
    pub ignore: Vec<PathBuf>,
    /// Only these files of good and of bad are compared, relative to the roots.
    pub only: Option<[Vec<PathBuf>; 2]>,
}

/// All differences between a good and a bad version, as changes that can be reverted one by one.
#[derive(Default)]
pub struct Difference {
    changes: Vec<Change>,
    hunks: Vec<Hunk>,
    /// One entry per change.
    details: Vec<Detail>,
    pairs: Vec<Pair>,
    /// Index of a pair, by its name in bad and by its name in good.
    by_new: HashMap<String, usize>,
    by_old: HashMap<String, usize>,
}

/// Compares two trees.
///
/// # Errors
/// If a file or directory cannot be read, or a differing file has a name that is not UTF-8.
pub fn difference(good: &Path, bad: &Path, options: &DiffOptions) -> Result<Difference> {
    let (old, new) = match &options.only {
        Some([of_good, of_bad]) => (walk::look_up(good, of_good), walk::look_up(bad, of_bad)),
        None => rayon::join(|| walk::list(good, &options.ignore), || walk::list(bad, &options.ignore)),
    };
    let (old, new) = (old?, new?);
    let both: Vec<_> =
        old.iter().filter_map(|(path, entry)| new.get(path).map(|other| (path, entry, other))).collect();
    let compared: Vec<_> = both
        .into_par_iter()
        .map(|(path, a, b)| Ok(walk::compare((good, a), (bad, b), path)?.map(|states| (path, states))))
        .collect::<Result<_>>()?;
    let gone = read_missing(good, &old, &new)?;
    let added = read_missing(bad, &new, &old)?;

    let mut sides = Vec::new();
    for (path, (old, new)) in compared.into_iter().flatten() {
        let name = walk::name(path)?;
        sides.push(((Some(name.clone()), old), (Some(name), new)));
    }
    let (mut gone, mut added) = (gone, added);
    for (old, new) in rename::renamed(&gone, &added) {
        if let (Some(a), Some(b)) = (gone.remove(&old), added.remove(&new)) {
            sides.push(((Some(old), a), (Some(new), b)));
        }
    }
    sides.extend(gone.into_iter().map(|(path, state)| ((Some(path), state), (None, FileState::Absent))));
    sides.extend(added.into_iter().map(|(path, state)| ((None, FileState::Absent), (Some(path), state))));
    sides.sort_by(|(_, (a, _)), (_, (b, _))| a.cmp(b));
    let pairs = sides.into_par_iter().map(|(old, new)| Pair::new(old, new)).collect::<Result<Vec<_>>>()?;
    Ok(Difference::new(pairs))
}

/// States of the files that only this listing contains.
fn read_missing(
    root: &Path,
    here: &walk::Listing,
    there: &walk::Listing,
) -> Result<BTreeMap<String, FileState>> {
    here.par_iter()
        .filter(|(path, _)| !there.contains_key(*path))
        .map(|(path, entry)| Ok((walk::name(path)?, walk::read(root, path, entry)?)))
        .collect()
}

impl Difference {
    fn new(mut pairs: Vec<(Pair, Vec<Change>)>) -> Difference {
        pairs.sort_by(|(a, _), (b, _)| a.file().cmp(b.file()));
        let mut difference = Difference::default();
        for (mut pair, changes) in pairs {
            let first = number(difference.changes.len());
            let first_hunk = number(difference.hunks.len());
            pair.shift(first);
            for mut change in changes {
                change.id.0 += first;
                change.hunk.0 += first_hunk;
                match difference.hunks.last_mut().filter(|hunk| hunk.id == change.hunk) {
                    Some(hunk) => hunk.changes.push(change.id),
                    None => difference.hunks.push(Hunk {
                        id: change.hunk,
                        changes: vec![change.id],
                        file: change.file.clone(),
                    }),
                }
                difference.changes.push(change);
            }
            difference.details.append(&mut pair.details);
            let number = difference.pairs.len();
            if let Some(path) = &pair.new_path {
                difference.by_new.insert(path.clone(), number);
            }
            if let Some(path) = &pair.old_path {
                difference.by_old.insert(path.clone(), number);
            }
            difference.pairs.push(pair);
        }
        moved::mark(&mut difference.changes);
        difference
    }

    /// All changes, in the order of their numbers.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// The change with this number.
    ///
    /// # Panics
    /// If the number belongs to another difference.
    #[must_use]
    pub fn change(&self, id: ChangeId) -> &Change {
        let at = self.changes.binary_search_by_key(&id, |change| change.id);
        &self.changes[at.unwrap_or_else(|_| panic!("no change {} in this difference", id.0))]
    }

    /// All hunks, in the order of their numbers.
    #[must_use]
    pub fn hunks(&self) -> &[Hunk] {
        &self.hunks
    }

    /// The hunk with this number.
    ///
    /// # Panics
    /// If the number belongs to another difference.
    #[must_use]
    pub fn hunk(&self, id: HunkId) -> &Hunk {
        let at = self.hunks.binary_search_by_key(&id, |hunk| hunk.id);
        &self.hunks[at.unwrap_or_else(|_| panic!("no hunk {} in this difference", id.0))]
    }

    /// The names that a change mentions, if its syntax is known.
    pub(crate) fn names(&self, id: ChangeId) -> Option<&Names> {
        self.details.get(id.0 as usize)?.names.as_ref()
    }

    /// The set of all changes; reverting it gives good.
    #[must_use]
    pub fn all(&self) -> ChangeSet {
        self.changes.iter().map(|change| change.id).collect()
    }

    /// Whether good and bad are the same.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
