//! Checks the syntax and types of the units that a variant touches, before it is built.
//!
//! A build records which units it compiled, and how ([`Units::read`]). In any tree with the same layout,
//! clang can then check each unit alone without generating code. A variant with an error need not be built,
//! and warnings that neither version has indicate a variant that works only by accident ([`new_suspicious`]).
//!
//! # What is checked
//! Every unit is checked with its own options, followed by options that enable the suspicious warning groups.
//! So an error here is an error in the build: clang does not turn a warning into an error because it is
//! enabled, and a warning that the unit's own options exempt from `-Werror` stays one. A general `-Werror` is
//! removed, because it would turn warnings that only this check enables into errors. So a build may still
//! reject a unit that has no error here.
//!
//! # Cost
//! Parsing, which is a fraction of compiling. A unit is checked only if it may be touched and was not checked
//! before with exactly these files: each check determines which files of the tree a unit reads, and its
//! result is memoised by their contents. Files outside of the tree are assumed not to change.
//!
//! # Limits
//! Files that the build generates are used as they are in the tree, from the last build there. If one is
//! missing, the check gives no result for the unit ([`Checked::unclear`]). If one is generated from a touched
//! file, errors may come from a stale file: see [`Units::covers`]. A new file in a directory that is searched
//! earlier for headers is not noticed while no file that includes it is touched.

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

/// The units of a program, and the memoised results about them.
#[derive(Debug)]
pub struct Units {
    /// The directory they were read from; also used for clang's temporary output.
    dir: PathBuf,
    units: Vec<Unit>,
    unsanitized: Vec<Unsanitized>,
    /// One per unit.
    known: Vec<Mutex<Known>>,
}

/// The memoised results of earlier checks of a unit: the lists of files it read, and for each list the
/// diagnostics by the contents of these files. Variants may read different files, but there are few such
/// lists.
#[derive(Debug, Default)]
struct Known {
    lists: Vec<(Vec<PathBuf>, Said)>,
}

/// Diagnostics by the contents of the files.
type Said = HashMap<u128, Arc<Vec<Diagnostic>>>;

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Each diagnostic once, even if several units include the file.
    pub diagnostics: Vec<Diagnostic>,
    /// Number of units checked.
    pub units: usize,
    /// Number of units whose result was memoised.
    pub remembered: usize,
    /// Sources without a result: a file they include is missing, or clang did not finish.
    pub unclear: Vec<PathBuf>,
}

impl Checked {
    /// Errors that the build will report too.
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error)
    }
}

impl Units {
    /// Reads the units of the builds that ran with `RELAPSE_UNITS` set to `dir`, each as it was compiled
    /// last.
    ///
    /// # Errors
    /// If the records cannot be read.
    pub fn read(dir: &Path) -> Result<Units, Error> {
        let units = record::units(dir)?;
        let known = units.iter().map(|_| Mutex::default()).collect();
        Ok(Units { dir: dir.to_owned(), units, unsanitized: record::unsanitized(dir)?, known })
    }

    /// Number of units.
    #[must_use]
    pub fn len(&self) -> usize {
        self.units.len()
    }

    /// Whether no build recorded a unit.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// Whether some units are C++. MemorySanitizer is not usable then: the standard library is not
    /// instrumented, and all memory that it writes would count as uninitialised.
    #[must_use]
    pub fn has_cpp(&self) -> bool {
        self.units.iter().any(Unit::is_cpp)
    }

    /// Whether most units are compiled with optimisation.
    #[must_use]
    pub fn is_optimised(&self) -> bool {
        2 * self.units.iter().filter(|unit| unit.is_optimised()).count() > self.units.len()
    }

    /// Commands of sanitized builds to which no sanitizer was applied.
    #[must_use]
    pub fn unsanitized(&self) -> &[Unsanitized] {
        &self.unsanitized
    }

    /// Whether each of these files (relative to the tree) is a source or is known to be included by one. For
    /// other files it is unknown how the build uses them: errors found by a check may then come from a file
    /// that the build would regenerate.
    #[must_use]
    pub fn covers(&self, touched: &BTreeSet<PathBuf>) -> bool {
        let mut known: HashSet<PathBuf> = self.units.iter().map(Unit::source).collect();
        for unit in &self.known {
            known.extend(lock(unit).lists.iter().flat_map(|(files, _)| files.iter().cloned()));
        }
        touched.iter().all(|file| known.contains(file))
    }

    /// Runs `clang` on the units in `tree`: all, or those that the `touched` files (relative to the tree) may
    /// affect. `jobs` units are checked in parallel.
    ///
    /// # Errors
    /// If no process can be started or `stop` requests it. A unit that clang rejects is not an error.
    pub fn check(
        &self,
        clang: &Path,
        tree: &Path,
        touched: Option<&BTreeSet<PathBuf>>,
        jobs: usize,
        stop: &dyn Stop,
    ) -> Result<Checked, Error> {
        let wanted: Vec<usize> =
            (0..self.units.len()).filter(|unit| self.may_affect(*unit, touched)).collect();
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
        // An error prevents later units from being checked, and is found before them.
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

    /// Whether a change of these files may change the diagnostics of the unit.
    fn may_affect(&self, unit: usize, touched: Option<&BTreeSet<PathBuf>>) -> bool {
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

/// The result for one unit.
enum Answer {
    /// It is not in this tree.
    Absent,
    Unclear,
    /// The diagnostics, and whether they were memoised.
    Said(Arc<Vec<Diagnostic>>, bool),
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Sound after any panic: no update can be interrupted halfway.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
