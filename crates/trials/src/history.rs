//! Bisects the commits between good and bad.
//!
//! Trials of whole commits come before trials of changes: a commit was meant to build, so its outcome is more
//! reliable than that of a tree that never existed, and a thousand commits take ten trials. As in `git
//! bisect`, this assumes that a commit with a bad ancestor is bad too. The next commit is the one that best
//! splits the remaining ones (`git rev-list --bisect-all`, which handles merges). Unlike `git bisect`,
//! nothing is written to the repository: marks are kept here, and a `git bisect log` can be imported.
//!
//! A release is often tagged on a branch of its own that is not part of bad's history. Then the merge base is
//! tested first, and if it is good, it replaces good.
//!
//! Commits that cannot be tested are *skipped*. Problems that prevent testing one commit mostly also affect
//! its neighbours, so the next one is chosen at some distance, which grows with each skipped commit. If only
//! skipped commits remain, all of them remain candidates.
//!
//! Cost: one call of git at the beginning and one for each step; both are linear in the number of commits
//! between good and bad, apart from git's counting through merges.

use crate::error::Error;
use crate::git::Repository;
use serde::Serialize;
use std::collections::{BTreeSet, HashMap};

/// A commit, as reports name it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Commit {
    /// The full hash.
    pub id: String,
    /// The first line of its message.
    pub subject: String,
    /// The author date, `YYYY-MM-DD`.
    pub date: String,
    /// The hashes of its parents, the first parent first.
    pub parents: Vec<String>,
}

impl Commit {
    /// The prefix of the identifier that is shown to users.
    #[must_use]
    pub fn short_id(&self) -> &str {
        self.id.get(..10).unwrap_or(&self.id)
    }
}

/// The result for a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The test passes.
    Good,
    /// The test fails.
    Bad,
    /// It cannot be built or tested.
    Skip,
}

/// The first bad commit, as far as it could be determined.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Culprit {
    /// The first bad commit, or the newest candidate if skipped ones remain.
    pub commit: Commit,
    /// The commits to compare it with: the parents of the oldest candidate along first parents, tested ones
    /// first. The others are good only as ancestors of good ones. Empty if an unrelated history was merged.
    pub parents: Vec<String>,
    /// Skipped commits that may also be the first bad one, newest first. All of them precede `commit`.
    pub other_candidates: Vec<Commit>,
}

/// Commits between good and bad, and the verdicts so far.
#[derive(Clone, Debug)]
pub struct History {
    repository: Repository,
    /// Ancestors of bad that are not ancestors of good, children before parents.
    commits: Vec<Commit>,
    index: HashMap<String, usize>,
    /// For each commit, whether it or a descendant is good.
    cleared: Vec<bool>,
    /// Commits to exclude in git's queries.
    good: Vec<String>,
    bad: usize,
    skipped: BTreeSet<usize>,
    wanted: Option<usize>,
}

impl History {
    /// The commits that lead from `good` to `bad`; `None` if good is not an ancestor of bad.
    ///
    /// # Errors
    /// If git fails, or there are no such commits.
    pub fn between(repository: &Repository, good: &str, bad: &str) -> Result<Option<History>, Error> {
        let resolve = |name: &str| {
            let place = || repository.work_tree.clone().unwrap_or_else(|| repository.git_dir.clone());
            let missing = || Error::NoSuchVersion { name: name.to_owned(), place: place() };
            repository.commit(name).ok_or_else(missing)
        };
        let (good, bad) = (resolve(good)?, resolve(bad)?);
        let beside = repository.ask().args(["rev-list", "--max-count=1"]).arg(&good).arg(format!("^{bad}"));
        if good == bad || !beside.line()?.is_empty() {
            return Ok(None);
        }
        let commits = commits(repository, &[&bad, &format!("^{good}")])?;
        let index: HashMap<String, usize> =
            commits.iter().enumerate().map(|(i, c)| (c.id.clone(), i)).collect();
        let Some(bad) = index.get(&bad).copied() else { return Ok(None) };
        Ok(Some(History {
            repository: repository.clone(),
            cleared: vec![false; commits.len()],
            commits,
            index,
            good: vec![good],
            bad,
            skipped: BTreeSet::new(),
            wanted: None,
        }))
    }

    /// The common ancestor of `good` and `bad` (their merge base), and the commits that lead from there to
    /// `bad`; `None` if they have none, or if one is an ancestor of the other. The merge base is untested:
    /// test it first.
    ///
    /// # Errors
    /// If git fails, or there are no such commits.
    pub fn from_merge_base(
        repository: &Repository,
        good: &str,
        bad: &str,
    ) -> Result<Option<(Commit, History)>, Error> {
        // Git exits with 1 if there is none; an unrelated history is not an error.
        let Ok(base) = repository.ask().arg("merge-base").arg(good).arg(bad).line() else { return Ok(None) };
        if base.is_empty() || repository.commit(good).as_ref() == Some(&base) {
            return Ok(None);
        }
        let Some(history) = History::between(repository, &base, bad)? else { return Ok(None) };
        let found = commits(repository, &["--max-count=1", &base])?.pop();
        Ok(found.map(|commit| (commit, history)))
    }

    /// All ancestors of bad that are not ancestors of good, children before parents.
    #[must_use]
    pub fn commits(&self) -> &[Commit] {
        &self.commits
    }

    /// Number of commits that may be the first bad one, including skipped ones.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.candidates().len()
    }

    /// The commit to test next; `None` once there is a [`History::culprit`].
    ///
    /// # Errors
    /// If git fails.
    pub fn next(&self) -> Result<Option<Commit>, Error> {
        let untested = self.untested();
        if untested.is_empty() {
            return Ok(None);
        }
        if let Some(wanted) = self.wanted.filter(|w| untested.contains(w)) {
            return Ok(Some(self.commits[wanted].clone()));
        }
        let ask = self.repository.ask().args(["rev-list", "--bisect-all"]).arg(&self.commits[self.bad].id);
        let ask = self.good.iter().fold(ask, |ask, good| ask.arg(format!("^{good}")));
        let text = ask.bytes()?;
        // "HASH (dist=NUMBER)", best first; other decorations may precede the distance.
        let ranked = String::from_utf8_lossy(&text).into_owned();
        let ranked = ranked.lines().filter_map(|line| {
            let (id, rest) = line.split_once(' ')?;
            let distance = rest.split_once("dist=")?.1.split(|c: char| !c.is_ascii_digit()).next()?;
            Some((*self.index.get(id)?, distance.parse::<u64>().ok()?))
        });
        let candidates = self.candidates();
        let mut best: Option<(u128, usize)> = None;
        for (commit, distance) in ranked.filter(|(c, _)| untested.contains(c)) {
            let score = self.score(&candidates, commit, distance);
            if best.is_none_or(|(most, _)| score > most) {
                best = Some((score, commit));
            }
        }
        // If git lists other commits than this history, any untested commit is better than none.
        let chosen =
            best.map(|(_, commit)| commit).or_else(|| untested.iter().nth(untested.len() / 2).copied());
        Ok(chosen.map(|c| self.commits[c].clone()))
    }

    /// The expected value of testing a commit: the information it gives, times the probability that it can be
    /// tested, which is small near skipped ones. "Near" refers to the order in which commits are listed,
    /// which is exact for a linear history and good enough for branches.
    fn score(&self, candidates: &[usize], commit: usize, distance: u64) -> u128 {
        let place = |c: usize| candidates.binary_search(&c).unwrap_or_else(|place| place);
        let here = place(commit);
        let skipped = self.skipped.iter().filter(|s| candidates.binary_search(s).is_ok());
        let (mut gap, mut count) = (usize::MAX, 0_u128);
        for other in skipped {
            gap = gap.min(here.abs_diff(place(*other)));
            count += 1;
        }
        // Fixed point, so that equal scores are equal on every machine.
        let distance = (u128::from(distance) + 1) << 32;
        if count == 0 { distance } else { distance * gap as u128 / (gap as u128 + 2 * count) }
    }

    /// Records a verdict. False if it adds no information: the commit is not a candidate, or the verdict
    /// contradicts others (a good commit that contains the bad one).
    pub fn mark(&mut self, id: &str, verdict: Verdict) -> bool {
        let Some(&commit) = self.index.get(id) else { return false };
        let candidate = self.candidates().binary_search(&commit).is_ok();
        match verdict {
            Verdict::Bad if candidate && commit != self.bad => self.bad = commit,
            Verdict::Skip if candidate && commit != self.bad => {
                return self.skipped.insert(commit);
            }
            Verdict::Good if !self.cleared[commit] => {
                let reached = self.reached(commit);
                if reached.binary_search(&self.bad).is_ok() {
                    return false;
                }
                for older in reached {
                    self.cleared[older] = true;
                }
                self.good.push(id.to_owned());
            }
            _ => return false,
        }
        self.skipped.remove(&commit);
        true
    }

    /// Selects this commit to be tested next, because it is suspected to be the first bad one (or the one
    /// before it). False if its verdict is known or irrelevant.
    pub fn jump(&mut self, id: &str) -> bool {
        let wanted = self.index.get(id).copied().filter(|w| self.untested().contains(w));
        self.wanted = wanted.or(self.wanted);
        wanted.is_some()
    }

    /// The first bad commit, once nothing is left to test.
    #[must_use]
    pub fn culprit(&self) -> Option<Culprit> {
        if !self.untested().is_empty() {
            return None;
        }
        let candidates = self.candidates();
        let mut at = self.bad;
        let is_candidate = |id: &String| self.index.get(id).filter(|c| candidates.binary_search(c).is_ok());
        while let Some(older) = self.commits[at].parents.first().and_then(is_candidate) {
            at = *older;
        }
        let mut parents = self.commits[at].parents.clone();
        parents.retain(|parent| is_candidate(parent).is_none());
        parents.sort_by_key(|parent| !self.is_tested(parent));
        let others = candidates.iter().filter(|c| **c != self.bad);
        Some(Culprit {
            commit: self.commits[self.bad].clone(),
            parents,
            other_candidates: others.map(|c| self.commits[*c].clone()).collect(),
        })
    }

    /// Whether a commit was itself found to be good.
    #[must_use]
    pub fn is_tested(&self, id: &str) -> bool {
        self.good.iter().any(|good| good == id)
    }

    /// The commits from `from` to the last one whose message says that they revert it, oldest first.
    ///
    /// # Errors
    /// If git fails.
    pub fn reverts(&self, from: &str) -> Result<Vec<Commit>, Error> {
        let Some(last) = self.commits.first() else { return Ok(Vec::new()) };
        let words = format!("--grep=This reverts commit {from}");
        let mut found =
            commits(&self.repository, &["--fixed-strings", &words, &last.id, &format!("^{from}")])?;
        found.reverse();
        Ok(found)
    }

    /// Imports the verdicts of a `git bisect log`, or of the file `BISECT_LOG`. Returns the number of
    /// verdicts that added information.
    ///
    /// # Errors
    /// If git fails.
    pub fn apply_log(&mut self, text: &str) -> Result<usize, Error> {
        let mut new_verdicts = 0;
        for (verdict, name) in read_log(text) {
            let Some(id) = self.repository.commit(&name) else { continue };
            let said = match (verdict, self.index.contains_key(&id)) {
                (Verdict::Good, false) => self.clear_shared_ancestors(&id)?,
                _ => self.mark(&id, verdict),
            };
            new_verdicts += usize::from(said);
        }
        Ok(new_verdicts)
    }

    /// A good commit that is not in bad's history clears the commits that both histories contain.
    fn clear_shared_ancestors(&mut self, id: &str) -> Result<bool, Error> {
        let ask = self.repository.ask().arg("rev-list").arg(id);
        let text = self.good.iter().fold(ask, |ask, good| ask.arg(format!("^{good}"))).bytes()?;
        let text = String::from_utf8_lossy(&text).into_owned();
        let shared: Vec<usize> = text.lines().filter_map(|l| self.index.get(l).copied()).collect();
        if shared.contains(&self.bad) || shared.is_empty() {
            return Ok(false);
        }
        for commit in shared {
            self.cleared[commit] = true;
        }
        self.good.push(id.to_owned());
        Ok(true)
    }

    /// The commits that may be the first bad one, in order.
    fn candidates(&self) -> Vec<usize> {
        self.walk(self.bad, |c| !self.cleared[c])
    }

    fn reached(&self, from: usize) -> Vec<usize> {
        self.walk(from, |_| true)
    }

    fn walk(&self, from: usize, enter: impl Fn(usize) -> bool) -> Vec<usize> {
        let mut seen = vec![false; self.commits.len()];
        let mut todo = vec![from];
        while let Some(commit) = todo.pop() {
            if !seen[commit] && enter(commit) {
                seen[commit] = true;
                todo.extend(self.commits[commit].parents.iter().filter_map(|p| self.index.get(p)));
            }
        }
        seen.iter().enumerate().filter(|(_, seen)| **seen).map(|(commit, _)| commit).collect()
    }

    fn untested(&self) -> BTreeSet<usize> {
        let open = |c: &usize| *c != self.bad && !self.skipped.contains(c);
        self.candidates().into_iter().filter(open).collect()
    }
}

/// Commits of a range, children before parents.
pub(crate) fn commits(repository: &Repository, range: &[&str]) -> Result<Vec<Commit>, Error> {
    let ask = repository.ask().args(["log", "--topo-order", "-z", "--no-patch"]);
    let ask = ask.arg("--format=%H%x1f%P%x1f%as%x1f%s");
    let items = range.iter().fold(ask, |ask, word| ask.arg(word)).arg("--").items()?;
    let commit = |item: &Vec<u8>| {
        let text = String::from_utf8_lossy(item).into_owned();
        let mut fields = text.splitn(4, '\x1f').map(str::to_owned);
        let (id, parents, date) = (fields.next()?, fields.next()?, fields.next()?);
        let parents = parents.split_whitespace().map(str::to_owned).collect();
        Some(Commit { id, parents, date, subject: fields.next()? })
    };
    Ok(items.iter().filter_map(commit).collect())
}

/// Verdicts and commit names, in order. Each verdict occurs in a comment (`# bad: [HASH] SUBJECT`), and most
/// also in a command (`git bisect bad HASH`). `git bisect start BAD GOOD...` only has the names that the user
/// typed, which may denote other commits by now.
fn read_log(text: &str) -> Vec<(Verdict, String)> {
    let commands = || text.lines().filter_map(|l| l.trim().strip_prefix("git bisect "));
    let bare = |word: &str| word.trim_matches('\'').to_owned();
    let (mut good_terms, mut bad_terms) = (words(["good", "old"]), words(["bad", "new"]));
    for start in commands().filter_map(|c| c.strip_prefix("start")) {
        let arguments: Vec<String> = start.split_whitespace().map(bare).collect();
        for (at, argument) in arguments.iter().enumerate() {
            let (option, value) = match argument.split_once('=') {
                Some((option, value)) => (option, Some(value.to_owned())),
                None => (argument.as_str(), arguments.get(at + 1).cloned()),
            };
            match option {
                "--term-good" | "--term-old" => good_terms.extend(value),
                "--term-bad" | "--term-new" => bad_terms.extend(value),
                _ => {}
            }
        }
    }
    let verdict = |term: &str| match term {
        "skip" => Some(Verdict::Skip),
        _ if good_terms.iter().any(|t| t == term) => Some(Verdict::Good),
        _ if bad_terms.iter().any(|t| t == term) => Some(Verdict::Bad),
        _ => None,
    };
    let mut verdicts = Vec::new();
    for line in text.lines().map(str::trim) {
        if let Some((term, rest)) = line.strip_prefix("# ").and_then(|l| l.split_once(": [")) {
            let id = rest.split(']').next().unwrap_or_default();
            verdicts.extend(verdict(term).map(|v| (v, id.to_owned())));
        } else if let Some((term, rest)) = line.strip_prefix("git bisect ").and_then(|l| l.split_once(' ')) {
            let names = rest.split_whitespace().map(bare);
            verdicts.extend(names.filter_map(|name| Some((verdict(term)?, name))));
        }
    }
    verdicts
}

fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_are_read_with_any_terms() {
        let text = "git bisect start '--term-old' 'fast' '--term-new=slow'\n\
                    # status: waiting for both good and bad commits\n\
                    # slow: [aaaa] it: [is] slow\ngit bisect slow aaaa\n\
                    # fast: [bbbb] start\ngit bisect fast bbbb\n\
                    # skip: [cccc] broken\ngit bisect skip cccc\n\
                    # first slow commit: [dddd] culprit\n";
        let found: Vec<_> = read_log(text).into_iter().map(|(v, id)| format!("{v:?} {id}")).collect();
        let twice = ["Bad aaaa", "Bad aaaa", "Good bbbb", "Good bbbb", "Skip cccc", "Skip cccc"];
        assert_eq!(found, twice);
        assert_eq!(read_log("# bad: [a] x\n# good: [b] y\ngit bisect start 'HEAD' 'v1'\n").len(), 2);
    }
}
