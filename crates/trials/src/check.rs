//! Syntax and types of the units that a variant touches, before it is built.
//!
//! A build tells which units it compiled, and how ([`Units::read`]). In any tree with
//! the same layout clang can then be asked about each unit alone, without making code:
//! a variant with an error in it need not be built, and warnings that neither version
//! has show a variant that holds together only by chance ([`new_suspicious`]).
//!
//! # What is asked
//! Every unit is checked under its own options, and warnings of the suspicious groups
//! are switched on after them. So an error here is an error in the build: clang makes no
//! warning an error because it is switched on, and what the unit's own options take back
//! to a warning stays one. A general `-Werror` is taken away, because it would make
//! errors of warnings that only we asked for; a build may thus still refuse a unit that
//! has no error here.
//!
//! # What it costs
//! Parsing, which is a fraction of compiling. A unit is asked about only if it may be
//! touched and if it was not seen before with just these files: each check finds out
//! which files of the tree a unit is made of, and what came of it is remembered with
//! their contents. Files outside of the tree are taken not to change.
//!
//! # What it does not know
//! Files that the build makes from others are taken as they lie in the tree, from the
//! last build there. Where one is missing nothing is said about the unit
//! ([`Checked::unclear`]); where it is made from a touched file, errors may be those of a
//! stale file: see [`Units::covers`]. A file that appears in a directory searched earlier
//! for headers, while nothing that includes it is touched, is not noticed.

mod clang;
mod diagnostic;
mod functions;
mod record;
mod suspicious;

use crate::error::{At, Error};
use crate::process::Stop;
use clang::{Check, Found};
use record::Unit;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use diagnostic::{Diagnostic, Severity};
pub use record::Unsanitized;
pub use suspicious::{new_suspicious, suspicious};

/// The units of a program, and what is known about them.
#[derive(Debug)]
pub struct Units {
    /// Where they were read from; what clang writes goes there too, for a moment.
    dir: PathBuf,
    units: Vec<Unit>,
    unsanitized: Vec<Unsanitized>,
    /// For each unit.
    known: Vec<Mutex<Known>>,
}

/// What earlier checks found out about a unit: the files it was made of, and what was
/// said for which contents of theirs. Variants may be made of different files, but there
/// are few such lists.
#[derive(Debug, Default)]
struct Known {
    lists: Vec<(Vec<PathBuf>, Said)>,
}

/// What was said, by the contents of the files.
type Said = HashMap<u128, Arc<Vec<Diagnostic>>>;

/// What came of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Each once, however many units include the file.
    pub diagnostics: Vec<Diagnostic>,
    /// How many units this is about.
    pub units: usize,
    /// How many of them were seen before, just so.
    pub remembered: usize,
    /// Sources about which nothing can be said: something they include is missing, or
    /// clang did not come to an end.
    pub unclear: Vec<PathBuf>,
}

impl Checked {
    /// What the build will refuse.
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error)
    }
}

impl Units {
    /// The units of the builds that ran with `RELAPSE_UNITS` set to `dir`, each as it was
    /// compiled last.
    ///
    /// # Errors
    /// If what is there cannot be read.
    pub fn read(dir: &Path) -> Result<Units, Error> {
        let units = record::units(dir)?;
        let known = units.iter().map(|_| Mutex::default()).collect();
        Ok(Units { dir: dir.to_owned(), units, unsanitized: record::unsanitized(dir)?, known })
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.units.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// Is some of it C++? MemorySanitizer is of no use then: the standard library is not
    /// instrumented, and everything that it fills would count as uninitialised.
    #[must_use]
    pub fn has_cpp(&self) -> bool {
        self.units.iter().any(Unit::is_cpp)
    }

    /// Is most of it compiled with optimisation?
    #[must_use]
    pub fn is_optimised(&self) -> bool {
        2 * self.units.iter().filter(|unit| unit.is_optimised()).count() > self.units.len()
    }

    /// Commands of sanitized builds that got no sanitizer.
    #[must_use]
    pub fn unsanitized(&self) -> &[Unsanitized] {
        &self.unsanitized
    }

    /// Is each of these files (relative to the tree) a source or known to be included by
    /// one? Of others it is not known what the build makes of them: errors found by a
    /// check may then come from a file that the build would make anew.
    #[must_use]
    pub fn covers(&self, touched: &BTreeSet<PathBuf>) -> bool {
        let mut known: HashSet<PathBuf> = self.units.iter().map(Unit::source).collect();
        for unit in &self.known {
            known.extend(lock(unit).lists.iter().flat_map(|(files, _)| files.iter().cloned()));
        }
        touched.iter().all(|file| known.contains(file))
    }

    /// Asks `clang` about the units as they lie in `tree`: all, or those that `touched`
    /// files (relative to the tree) may matter to. `jobs` are asked about at a time.
    ///
    /// # Errors
    /// If no process can be started or `stop` says so. A unit that clang refuses is no
    /// error.
    pub fn check(
        &self,
        clang: &Path,
        tree: &Path,
        touched: Option<&BTreeSet<PathBuf>>,
        jobs: usize,
        stop: &dyn Stop,
    ) -> Result<Checked, Error> {
        let wanted: Vec<usize> =
            (0..self.units.len()).filter(|unit| self.may_matter(*unit, touched)).collect();
        if wanted.is_empty() {
            return Ok(Checked::default());
        }
        let dir = tempfile::tempdir_in(&self.dir).at("create a directory in", &self.dir)?;
        let tree = fs::canonicalize(tree).at("find", tree)?;
        let check = Check::new(clang, &tree, dir.path(), stop);
        let next = AtomicUsize::new(0);
        let answers: Mutex<Vec<Option<Result<Answer, Error>>>> =
            Mutex::new(wanted.iter().map(|_| None).collect());
        let work = || {
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(unit) = wanted.get(at) else { return };
                let answer = if stop.stopped() { Err(Error::Cancelled) } else { self.ask(&check, *unit) };
                if answer.is_err() {
                    next.store(wanted.len(), Ordering::Relaxed);
                }
                lock(&answers)[at] = Some(answer);
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..jobs.min(wanted.len()) {
                scope.spawn(work);
            }
            work();
        });
        let mut checked = Checked::default();
        let mut said: HashSet<Diagnostic> = HashSet::new();
        let answers = answers.into_inner().unwrap_or_else(PoisonError::into_inner);
        // An error keeps later units from being asked about, and stands before them.
        for (answer, unit) in answers.into_iter().flatten().zip(&wanted) {
            match answer? {
                Answer::Absent => continue,
                Answer::Unclear => checked.unclear.push(self.units[*unit].source()),
                Answer::Said(diagnostics, remembered) => {
                    checked.remembered += usize::from(remembered);
                    for diagnostic in diagnostics.iter() {
                        if said.insert(diagnostic.clone()) {
                            checked.diagnostics.push(diagnostic.clone());
                        }
                    }
                }
            }
            checked.units += 1;
        }
        Ok(checked)
    }

    /// May a change of these files change what is said about the unit?
    fn may_matter(&self, unit: usize, touched: Option<&BTreeSet<PathBuf>>) -> bool {
        let Some(touched) = touched else { return true };
        let known = lock(&self.known[unit]);
        let is_touched = |file: &PathBuf| touched.contains(file);
        known.lists.is_empty()
            || is_touched(&self.units[unit].source())
            || known.lists.iter().any(|(files, _)| files.iter().any(is_touched))
    }

    fn ask(&self, check: &Check, number: usize) -> Result<Answer, Error> {
        let unit = &self.units[number];
        if !check.tree().join(unit.source()).is_file() {
            return Ok(Answer::Absent);
        }
        for (files, said) in &lock(&self.known[number]).lists {
            if let Some(diagnostics) = said.get(&check.contents(files)) {
                return Ok(Answer::Said(diagnostics.clone(), true));
            }
        }
        let Some(Found { diagnostics, files }) = check.run(unit, number)? else { return Ok(Answer::Unclear) };
        let contents = check.contents(&files);
        let diagnostics = Arc::new(diagnostics);
        let mut known = lock(&self.known[number]);
        let at = known.lists.iter().position(|(list, _)| *list == files).unwrap_or_else(|| {
            known.lists.push((files, HashMap::new()));
            known.lists.len() - 1
        });
        known.lists[at].1.insert(contents, diagnostics.clone());
        Ok(Answer::Said(diagnostics, false))
    }
}

/// What is found out about one unit.
enum Answer {
    /// It is not in this tree.
    Absent,
    Unclear,
    /// And whether that was known.
    Said(Arc<Vec<Diagnostic>>, bool),
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Sound after any panic: nothing in them is ever half written.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
