//! The pair of versions to search between: the user's own, or a commit and its parent.
//!
//! Where good is an ancestor of bad, the commits between them are bisected first; otherwise those after their
//! merge base, if that is good too. A commit and its parent are both programs that a developer wrote, and
//! differ in little, so that a search between them meets fewer trees that do not build or pass by accident.

use crate::error::Error;
use crate::held::TestFiles;
use crate::session::{ProgressEvent, Request};
use changes::{DiffOptions, Outcome};
use std::path::PathBuf;
use trials::{Commit, History, TrialRunner, Verdict, Version, Work};

/// Two versions as files.
pub struct Pair {
    /// The version in which the test passes.
    pub good: Version,
    /// The version in which the test fails.
    pub bad: Version,
    /// The directory with good's files, with the held ones of bad.
    pub good_root: PathBuf,
    /// The directory with bad's files.
    pub bad_root: PathBuf,
    /// The commit that is bad, if it was found by bisection or is the only one.
    pub commit: Option<Commit>,
    /// Sentences for the reader about checking out and bisecting.
    pub notes: Vec<String>,
    /// Files of the test that good takes from bad.
    pub held: Vec<PathBuf>,
}

impl Pair {
    /// Checks out the versions of the request.
    ///
    /// # Errors
    /// If a version cannot be found or written.
    pub fn check_out(request: &Request, work: &Work) -> Result<Pair, Error> {
        let (good, bad) = Version::resolve_pair(&request.good, &request.bad, &request.here)?;
        Pair::of(good, bad, work, "good", "bad")
    }

    fn of(good: Version, bad: Version, work: &Work, good_name: &str, bad_name: &str) -> Result<Pair, Error> {
        let (good_root, bad_root) = (work.sources(good_name), work.sources(bad_name));
        let mut notes = good.check_out(&good_root, work.root())?.notes;
        notes.extend(bad.check_out(&bad_root, work.root())?.notes);
        Ok(Pair { good, bad, good_root, bad_root, commit: None, notes, held: Vec::new() })
    }

    /// Copies bad's files of the test to good.
    ///
    /// # Errors
    /// If they cannot be copied.
    pub fn hold(&mut self, files: &TestFiles) -> Result<(), Error> {
        self.held = files.copy(&self.bad_root, &self.good_root).map_err(|source| Error::Hold { source })?;
        Ok(())
    }

    /// Restores good's own files.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn release(&mut self, work: &Work) -> Result<(), Error> {
        self.held.clear();
        std::fs::remove_dir_all(&self.good_root).map_err(|source| Error::Hold { source })?;
        self.good.check_out(&self.good_root, work.root())?;
        Ok(())
    }

    /// The differences between the two.
    ///
    /// # Errors
    /// If files cannot be read, or nothing differs.
    pub fn difference(&self, request: &Request) -> Result<changes::Difference, Error> {
        let options = DiffOptions { ignore: request.ignore.clone(), ..DiffOptions::default() };
        let difference = changes::difference(&self.good_root, &self.bad_root, &options)?;
        if difference.is_empty() {
            return Err(Error::SameVersions);
        }
        Ok(difference)
    }

    /// The commits that lead to bad from good, or else from their merge base. A working tree counts as its
    /// `HEAD`.
    #[must_use]
    pub fn history(&self) -> Option<Line> {
        let (good, repository) = (self.good.commit.as_ref()?, self.good.repository()?);
        let bad = self.bad.commit.clone().or_else(|| self.bad.head())?;
        if let Some(history) = History::between(repository, good, &bad).ok()? {
            return Some(Line { history, merge_base: None });
        }
        let (base, history) = History::from_merge_base(repository, good, &bad).ok()??;
        Some(Line { history, merge_base: Some(base) })
    }

    /// Bisects the commits, and continues with the first bad one and its predecessor. Returns `None` if that
    /// is the present pair.
    ///
    /// # Errors
    /// If trials cannot be made.
    pub fn bisected(
        &mut self,
        request: &Request,
        line: Line,
        files: &TestFiles,
        lab: &mut TrialRunner<'_>,
        news: &dyn Fn(&ProgressEvent<'_>),
    ) -> Result<Option<Narrowed>, Error> {
        let uncommitted = self.bad.commit.is_none();
        if line.is_single_commit() && !uncommitted {
            return Ok(None);
        }
        let Line { mut history, merge_base } = line;
        let mut tried = 0;
        if let Some(base) = &merge_base {
            news(&ProgressEvent::Bisecting { commit: base, remaining: history.remaining() });
            tried += 1;
            if self.try_commit(request, &base.id, files, lab)? != Verdict::Good {
                self.notes.push(format!(
                    "The commits were not bisected: good is no ancestor of bad, and the test does not pass in \
                     the commit where they part ({}, `{}`).",
                    base.short_id(), base.subject
                ));
                return Ok(None);
            }
        }
        if let Some(log) = self.good.repository().and_then(trials::bisect_log) {
            // Log entries that do not fit this history are ignored.
            let _ = history.apply_log(&log);
        }
        if uncommitted {
            let head = history.commits().first().cloned();
            let Some(head) = head else { return Ok(None) };
            tried += 1;
            match self.try_commit(request, &head.id, files, lab)? {
                // Uncommitted changes are the cause.
                Verdict::Good => {
                    return Ok(Some(Narrowed {
                        good: head.id,
                        bad: None,
                        commit: None,
                        tried,
                        others: Vec::new(),
                    }));
                }
                Verdict::Bad => {}
                Verdict::Skip => return Ok(None),
            }
        }
        let mut culprit = loop {
            while let Some(commit) = history.next()? {
                news(&ProgressEvent::Bisecting { commit: &commit, remaining: history.remaining() });
                tried += 1;
                let verdict = self.try_commit(request, &commit.id, files, lab)?;
                history.mark(&commit.id, verdict);
            }
            let Some(culprit) = history.culprit() else { return Ok(None) };
            // If the change was reverted and made again, the last time counts.
            let Some(revert) = history.reverts(&culprit.commit.id)?.pop() else { break culprit };
            tried += 1;
            if self.try_commit(request, &revert.id, files, lab)? != Verdict::Good {
                break culprit;
            }
            let last = history.commits().first().map(|last| last.id.clone()).unwrap_or_default();
            match self
                .good
                .repository()
                .map(|r| History::between(r, &revert.id, &last))
                .transpose()?
                .flatten()
            {
                Some(later) => history = later,
                None => break culprit,
            }
        };
        // An ancestor of a good commit may behave like neither version.
        let mut good = merge_base.map(|base| base.id).or_else(|| self.good.commit.clone());
        for parent in std::mem::take(&mut culprit.parents) {
            let is_good = history.is_tested(&parent) || {
                tried += 1;
                self.try_commit(request, &parent, files, lab)? == Verdict::Good
            };
            if is_good {
                good = Some(parent);
                break;
            }
        }
        let Some(good) = good else { return Ok(None) };
        Ok(Some(Narrowed {
            good,
            bad: Some(culprit.commit.id.clone()),
            commit: Some(culprit.commit),
            tried,
            others: culprit.other_candidates,
        }))
    }

    fn try_commit(
        &self,
        request: &Request,
        commit: &str,
        files: &TestFiles,
        lab: &mut TrialRunner<'_>,
    ) -> Result<Verdict, Error> {
        let version = Version::resolve(commit, &request.here)?;
        let root = lab.work().sources(&format!("commit-{commit}"));
        version.check_out(&root, lab.work().root())?;
        if !self.held.is_empty() {
            files.copy(&self.bad_root, &root).map_err(|source| Error::Hold { source })?;
        }
        let (outcome, symptom, _) = lab.outcome_of_tree(&root)?;
        let _ = std::fs::remove_dir_all(&root);
        Ok(match outcome {
            Outcome::Pass => Verdict::Good,
            // Another failure may hide the expected one.
            Outcome::Fail if symptom => Verdict::Bad,
            Outcome::Fail | Outcome::Unresolved | Outcome::Broken => Verdict::Skip,
        })
    }

    /// The pair that bisection found.
    ///
    /// # Errors
    /// If a version cannot be written.
    pub fn narrowed(
        self,
        request: &Request,
        found: &Narrowed,
        files: &TestFiles,
        work: &Work,
    ) -> Result<Pair, Error> {
        let good = Version::resolve(&found.good, &request.here)?;
        let bad = match &found.bad {
            Some(commit) => Version::resolve(commit, &request.here)?,
            None => self.bad.clone(),
        };
        let mut pair = Pair::of(good, bad, work, "parent", "commit")?;
        if !self.held.is_empty() {
            for root in [&pair.good_root, &pair.bad_root] {
                files.copy(&self.bad_root, root).map_err(|source| Error::Hold { source })?;
            }
            pair.held.clone_from(&self.held);
        }
        pair.commit.clone_from(&found.commit);
        pair.notes.splice(0..0, self.notes);
        if !found.others.is_empty() {
            let subjects: Vec<String> = found.others.iter().map(|c| format!("`{}`", c.subject)).collect();
            pair.notes.push(format!(
                "Commits before it could not be tested and may have a part in it: {}.",
                subjects.join(", ")
            ));
        }
        Ok(pair)
    }

    /// The commit that introduced a change, if the versions are commits.
    #[must_use]
    pub fn commit_of(&self, change: &changes::Change) -> Option<Commit> {
        if let Some(commit) = &self.commit
            && commit.parents.len() < 2
        {
            return Some(commit.clone());
        }
        let (good, bad) = (self.good.commit.as_ref()?, self.bad.commit.as_ref()?);
        let repository = self.good.repository()?;
        let old_file = change.old_file.as_deref().unwrap_or(&change.file);
        trials::commit_of_change(
            repository,
            good,
            bad,
            &change.file,
            old_file,
            change.old_range(),
            change.new_range(),
        )
    }
}

/// The commits to bisect.
pub struct Line {
    history: History,
    /// The commit at which the range begins, if that is not good itself.
    merge_base: Option<Commit>,
}

impl Line {
    /// The commit that is bad if good is its parent.
    #[must_use]
    pub fn only_commit(&self) -> Option<&Commit> {
        self.history.commits().first().filter(|_| self.is_single_commit())
    }

    fn is_single_commit(&self) -> bool {
        self.merge_base.is_none() && self.history.commits().len() < 2
    }
}

/// The result of bisection.
pub struct Narrowed {
    good: String,
    /// None: the working tree.
    bad: Option<String>,
    commit: Option<Commit>,
    /// Number of commits tried.
    pub tried: usize,
    others: Vec<Commit>,
}
