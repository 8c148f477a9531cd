//! Checks the units that a variant touches before it is built.
//!
//! Errors save a build: in a large refactoring most sets of changes do not compile. Warnings of suspicious
//! kinds that neither good nor bad has show that a variant works only by accident: a variable that is never
//! set any more, a function without a return value.

use crate::check::{Diagnostic, Units, new_suspicious};
use crate::error::Error;
use crate::process::Stop;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The units of both versions and their diagnostics.
#[derive(Debug)]
pub(crate) struct Checker {
    clang: PathBuf,
    units: Units,
    jobs: usize,
    good: Vec<Diagnostic>,
    bad: Vec<Diagnostic>,
    /// Files that builds and tests open, if they are known.
    opened: Option<BTreeSet<PathBuf>>,
}

/// The diagnostics of the units that a variant touches.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    /// Errors that the build would report too.
    pub errors: Vec<Diagnostic>,
    /// Suspicious warnings that neither good nor bad has.
    pub suspicious: Vec<Diagnostic>,
}

impl Checker {
    /// Reads the units that the builds of good and bad recorded, and checks those that differ, in the trees
    /// as built. `None` if there are none, or if clang finds errors in the built versions: then it is not
    /// reliable.
    pub fn new(
        clang: &Path,
        units: &Path,
        [good, bad]: [&Path; 2],
        touched: &BTreeSet<PathBuf>,
        opened: Option<BTreeSet<PathBuf>>,
        jobs: usize,
        stop: &dyn Stop,
    ) -> Result<Option<Checker>, Error> {
        let units = Units::read(units)?;
        if units.is_empty() {
            return Ok(None);
        }
        let mut said = Vec::new();
        for tree in [good, bad] {
            let checked = units.check(clang, tree, Some(touched), jobs, stop)?;
            if checked.errors().next().is_some() {
                return Ok(None);
            }
            said.push(checked.diagnostics);
        }
        let (Some(bad), Some(good)) = (said.pop(), said.pop()) else { return Ok(None) };
        Ok(Some(Checker { clang: clang.to_owned(), units, jobs, good, bad, opened }))
    }

    /// Checks the units of a variant in `tree` that differs from bad in these files. Errors are left out if
    /// it is unknown how the build uses the files.
    pub fn check(
        &self,
        tree: &Path,
        touched: &BTreeSet<PathBuf>,
        stop: &dyn Stop,
    ) -> Result<Findings, Error> {
        let checked = self.units.check(&self.clang, tree, Some(touched), self.jobs, stop)?;
        let mut errors: Vec<Diagnostic> = checked.errors().cloned().collect();
        // What the build generates from other files, such as a grammar, may be in the tree as the last build
        // left it.
        let read = touched.iter().filter(|file| self.may_be_read(file)).cloned().collect();
        let is_final = checked.unclear.is_empty() && self.units.covers(&read);
        if !is_final {
            errors.clear();
        }
        let suspicious = new_suspicious(&checked.diagnostics, &[&self.good, &self.bad]);
        Ok(Findings { errors, suspicious })
    }

    /// Whether builds and tests open a file, as far as is known.
    pub fn may_be_read(&self, file: &Path) -> bool {
        self.opened.as_ref().is_none_or(|opened| opened.contains(file))
    }

    pub fn has_cpp(&self) -> bool {
        self.units.has_cpp()
    }

    pub fn is_optimised(&self) -> bool {
        self.units.is_optimised()
    }

    /// Whether a build with sanitizers leaves parts of the program uninstrumented.
    pub fn unsanitized(&self) -> bool {
        !self.units.unsanitized().is_empty()
    }
}

impl Diagnostic {
    /// As clang prints it, with its notes.
    pub(crate) fn lines(&self) -> impl Iterator<Item = String> + '_ {
        std::iter::once(self).chain(&self.notes).map(|said| {
            let kind = match said.severity {
                crate::check::Severity::Error => "error",
                crate::check::Severity::Warning => "warning",
                crate::check::Severity::Note => "note",
            };
            format!("{}:{}:{}: {kind}: {}", said.file.display(), said.line, said.column, said.message)
        })
    }
}
