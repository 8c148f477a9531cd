//! Finds the commit that introduced a change.
//!
//! A change is a difference between two versions; the message of the commit that made it gives its purpose.
//! Added lines are looked up with `git blame`, deleted lines with `git blame --reverse`: it returns the last
//! commit that still has a line, and a child of that commit deleted it. Both follow merges and renames.
//!
//! Cost: `git blame` compares the file's versions once per commit that touched it; some tenths of a second
//! for long histories. It is run only for the few changes that are reported.
//!
//! Not followed: a line that was deleted on a branch that forked before good and was merged after it. The
//! result is then the merge.

use crate::error::Error;
use crate::git::Repository;
use crate::history::{Commit, commits};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

/// The commit that last touched a line of a file; `text` is the file in its current state, `file` its path
/// from the top of the repository. `None` if git does not know, or the line is not committed yet.
#[must_use]
pub fn commit_of_line(repository: &Repository, text: &Path, file: &str, line: u32) -> Option<Commit> {
    let ask = repository.ask().without_fetching().args(["blame", "--line-porcelain", "--no-textconv", "-w"]);
    let ask = ask.arg(format!("-L{line},{line}")).arg("--contents").arg(text).arg("HEAD").arg("--").arg(file);
    let found = read_blame(&String::from_utf8_lossy(&ask.bytes().ok()?)).into_iter().next()?;
    if found.commit.bytes().all(|byte| byte == b'0') {
        return None;
    }
    commits(repository, &["--max-count=1", &found.commit]).ok()?.into_iter().next()
}

/// A line as reported by `git blame`: the commit it belongs to, and its position there.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Line {
    commit: String,
    number: u32,
    file: String,
    /// The search stopped at this commit.
    boundary: bool,
}

/// The commit between `good` and `bad` that introduced a change: the lines `new_range` of `file` in bad, or,
/// if there are none, the absence of the lines `old_range` of `old_file` in good. Lines count from 1, paths
/// are relative to the top of the repository. If several commits contributed, the one with most of the lines,
/// and of those the newest.
///
/// `None` if git does not know: the file is not in the repository, or the lines are not changed.
#[must_use]
pub fn commit_of_change(
    repository: &Repository,
    good: &str,
    bad: &str,
    file: &str,
    old_file: &str,
    old_range: Range<u32>,
    new_range: Range<u32>,
) -> Option<Commit> {
    let (good, bad) = (repository.commit(good)?, repository.commit(bad)?);
    let order = commits(repository, &[&bad, &format!("^{good}")]).ok()?;
    let history = Span { repository, good: &good, order: &order };
    if !new_range.is_empty() {
        // Commits that only moved or indented lines are used only if there is no other.
        for blame_options in [&["-w", "-C"][..], &["-w"], &[]] {
            let found = history.blame(blame_options, &bad, file, &new_range).unwrap_or_default();
            let new = found.into_iter().filter(|line| !line.boundary).map(|line| line.commit);
            if let Some(commit) = history.most(new) {
                return Some(commit);
            }
        }
    }
    if old_range.is_empty() {
        return None;
    }
    for blame_options in [&["--reverse", "-w"][..], &["--reverse"]] {
        let gone = history.gone(blame_options, &bad, old_file, &old_range).unwrap_or_default();
        if let Some(commit) = history.most(gone) {
            return Some(commit);
        }
    }
    None
}

/// The commits between good and bad.
struct Span<'a> {
    repository: &'a Repository,
    good: &'a str,
    /// Children before parents.
    order: &'a [Commit],
}

impl Span<'_> {
    fn most(&self, ids: impl IntoIterator<Item = String>) -> Option<Commit> {
        let mut counts: BTreeMap<usize, u32> = BTreeMap::new();
        for id in ids {
            if let Some(place) = self.order.iter().position(|c| c.id == id) {
                *counts.entry(place).or_default() += 1;
            }
        }
        let (place, _) =
            counts.into_iter().max_by_key(|(place, count)| (*count, std::cmp::Reverse(*place)))?;
        self.order.get(place).cloned()
    }

    fn blame(
        &self,
        blame_options: &[&str],
        to: &str,
        file: &str,
        lines: &Range<u32>,
    ) -> Result<Vec<Line>, Error> {
        let ask =
            self.repository.ask().without_fetching().args(["blame", "--line-porcelain", "--no-textconv"]);
        let ask = blame_options.iter().fold(ask, |ask, way| ask.arg(way));
        let ask = ask.arg(format!("-L{},{}", lines.start, lines.end - 1));
        let text = ask.arg(format!("{}..{to}", self.good)).arg("--").arg(file).bytes()?;
        Ok(read_blame(&String::from_utf8_lossy(&text)))
    }

    /// The commits that deleted lines, one for each line that is missing in `to`.
    fn gone(
        &self,
        blame_options: &[&str],
        to: &str,
        file: &str,
        lines: &Range<u32>,
    ) -> Result<Vec<String>, Error> {
        let mut found = Vec::new();
        for (at, last) in (lines.start..).zip(self.blame(blame_options, to, file, lines)?) {
            if last.commit == to {
                continue; // still present
            }
            let children: Vec<&Commit> =
                self.order.iter().filter(|c| c.parents.contains(&last.commit)).collect();
            let deleting_commit = children.iter().find(|child| self.deletes_line(&last, &child.id));
            let Some(deleting_commit) = deleting_commit.or(children.first()) else { continue };
            // A merge only propagates what its other side did, if good is an ancestor of that side.
            let deeper = deleting_commit.parents.iter().filter(|p| **p != last.commit).find_map(|side| {
                let behind = self.repository.ask().args(["rev-list", "--max-count=1", self.good]);
                let behind = behind.arg(format!("^{side}")).line().ok()?;
                let in_span = self.order.iter().any(|c| c.id == *side);
                let gone = || self.gone(blame_options, side, file, &(at..at + 1)).unwrap_or_default();
                (behind.is_empty() && in_span).then(gone)?.into_iter().next()
            });
            found.push(deeper.unwrap_or_else(|| deleting_commit.id.clone()));
        }
        Ok(found)
    }

    /// Whether a line of one commit is missing in its child.
    fn deletes_line(&self, line: &Line, child: &str) -> bool {
        let ask =
            self.repository.ask().without_fetching().args(["diff-tree", "-p", "-U0", "-M", "--no-textconv"]);
        let ask = ask.args(["--no-ext-diff", "--no-color", "--src-prefix=a/", "--dst-prefix=b/"]);
        let Ok(text) = ask.arg(&line.commit).arg(child).bytes() else { return false };
        let mut in_file = false;
        for text in String::from_utf8_lossy(&text).lines() {
            if let Some(old) = text.strip_prefix("--- ") {
                in_file = old.trim_end_matches('\t').strip_prefix("a/") == Some(&line.file);
            } else if in_file && let Some(hunk) = text.strip_prefix("@@ -") {
                let old = hunk.split(' ').next().unwrap_or_default();
                let (start, count) = old.split_once(',').unwrap_or((old, "1"));
                let (start, count): (u32, u32) = (start.parse().unwrap_or(0), count.parse().unwrap_or(0));
                if (start..start + count).contains(&line.number) {
                    return true;
                }
            }
        }
        false
    }
}

/// The format is, per line, a header "HASH NUMBER-THERE NUMBER-HERE", properties, and the text after a tab.
fn read_blame(text: &str) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut current: Option<Line> = None;
    for text in text.lines() {
        if text.starts_with('\t') {
            lines.extend(current.take());
        } else if let Some(line) = &mut current {
            if let Some(file) = text.strip_prefix("filename ") {
                file.clone_into(&mut line.file);
            }
            line.boundary |= text == "boundary";
        } else {
            let mut words = text.split(' ');
            let commit = words.next().unwrap_or_default().to_owned();
            let number = words.next().and_then(|n| n.parse().ok()).unwrap_or(0);
            current = Some(Line { commit, number, file: String::new(), boundary: false });
        }
    }
    lines
}
