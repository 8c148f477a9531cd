//! The results of an unfinished pool: interrupted, or out of time.
//!
//! The file has one line of JSON per run, written as soon as the run is over. The next call for the same
//! program, failing test and pool does not repeat these runs. Of those that passed only the nearest is
//! repeated, because its recording is needed. When a pool is finished, the file is removed.

use crate::difference::Difference;
use crate::suspicion::{Coverage, CoverageItem};
use crate::test::{Test, Verdict};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::fs::{self, File, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// A run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredResult {
    /// `pass`, `fail`, `unresolved`, or `unrecorded`: it could not be recorded.
    pub verdict: String,
    /// It was stopped at the timeout.
    #[serde(default)]
    pub hung: bool,
    /// It passed and could not be compared.
    #[serde(default)]
    pub incomparable: bool,
    /// Its coverage.
    #[serde(default)]
    pub entered: Vec<CoverageItem>,
    /// Positions of the difference, if it was compared; empty for the same control flow.
    #[serde(default)]
    pub difference: Option<Vec<u32>>,
}

impl StoredResult {
    /// The result of a run that could be used; `difference` is `None` if it was not compared.
    #[must_use]
    pub fn new(verdict: Verdict, entered: Coverage, difference: Option<&Difference>) -> StoredResult {
        let verdict = match verdict {
            Verdict::Pass => "pass",
            Verdict::Fail => "fail",
            Verdict::Unresolved => "unresolved",
        };
        StoredResult {
            verdict: verdict.to_owned(),
            hung: false,
            incomparable: false,
            entered: entered.into_iter().collect(),
            difference: difference.map(|difference| difference.positions().to_vec()),
        }
    }

    /// The result of a run that could not be recorded.
    #[must_use]
    pub fn unrecorded() -> StoredResult {
        let none = StoredResult::new(Verdict::Unresolved, Coverage::default(), None);
        StoredResult { verdict: "unrecorded".to_owned(), ..none }
    }
}

#[derive(Serialize, Deserialize)]
struct Line {
    run: usize,
    #[serde(flatten)]
    known: StoredResult,
}

#[derive(Serialize, Deserialize)]
struct Heading {
    pool: String,
}

/// See the module's documentation.
#[derive(Debug)]
pub struct PoolStore {
    path: PathBuf,
    known: HashMap<usize, StoredResult>,
    file: Mutex<File>,
}

impl PoolStore {
    /// Opens the stored results of a pool; those of another pool are discarded. `identity` identifies the
    /// program and the failing run.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn open(path: &Path, identity: u64, tests: &[Test]) -> Result<PoolStore> {
        let mut hasher = DefaultHasher::new();
        (identity, tests, env!("CARGO_PKG_VERSION")).hash(&mut hasher);
        let heading = format!("{:016x}", hasher.finish());
        let mut known = read(path, &heading);
        let failed = |source| Error::Write { what: path.display().to_string(), source };
        // Candidates for the nearest run are repeated, because their recordings are needed.
        for number in nearest(&known) {
            known.remove(&number);
        }
        let mut file =
            OpenOptions::new().create(true).write(true).truncate(true).open(path).map_err(failed)?;
        let mut text = serde_json::to_string(&Heading { pool: heading }).unwrap_or_default() + "\n";
        for (run, known) in &known {
            text += &line(*run, known);
        }
        file.write_all(text.as_bytes()).map_err(failed)?;
        Ok(PoolStore { path: path.to_owned(), known, file: Mutex::new(file) })
    }

    /// The known result of a run, by its number in the pool; `None` if it has to be made.
    #[must_use]
    pub fn get(&self, run: usize) -> Option<&StoredResult> {
        self.known.get(&run)
    }

    /// Number of runs that need not be repeated.
    #[must_use]
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether all runs have to be made.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Records the result of a run.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn put(&self, run: usize, known: &StoredResult) -> Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(line(run, known).as_bytes())
            .map_err(|source| Error::Write { what: self.path.display().to_string(), source })
    }

    /// Removes the file of a finished pool.
    pub fn forget(self) {
        // If this fails, the file is only read in vain.
        let _ = fs::remove_file(&self.path);
    }
}

fn line(run: usize, known: &StoredResult) -> String {
    serde_json::to_string(&Line { run, known: known.clone() }).unwrap_or_default() + "\n"
}

/// Reads the results of an earlier call, up to the first incomplete line.
fn read(path: &Path, heading: &str) -> HashMap<usize, StoredResult> {
    let Ok(file) = File::open(path) else { return HashMap::new() };
    let mut lines = BufReader::new(file).lines().map_while(std::result::Result::ok);
    let first = lines.next().and_then(|line| serde_json::from_str::<Heading>(&line).ok());
    if first.is_none_or(|first| first.pool != heading) {
        return HashMap::new();
    }
    let lines = lines.map_while(|line| serde_json::from_str::<Line>(&line).ok());
    lines.map(|line| (line.run, line.known)).collect()
}

/// The nearest run that passed, and the first with the same control flow.
fn nearest(known: &HashMap<usize, StoredResult>) -> HashSet<usize> {
    let compared =
        || known.iter().filter_map(|(run, known)| Some((Difference::of(known.difference.clone()?), *run)));
    let best = compared().filter(|(difference, _)| *difference != Difference::Same).min();
    let same = compared().filter(|(difference, _)| *difference == Difference::Same).map(|(_, run)| run).min();
    best.map(|(_, run)| run).into_iter().chain(same).collect()
}

/// A hash of the content of a tree: names and bytes of all files.
#[must_use]
pub fn content(tree: &Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    let mut todo = vec![tree.to_owned()];
    while let Some(directory) = todo.pop() {
        let entries = fs::read_dir(&directory).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            path.strip_prefix(tree).unwrap_or(&path).hash(&mut hasher);
            if path.is_symlink() {
                fs::read_link(&path).ok().hash(&mut hasher);
            } else if path.is_dir() {
                todo.push(path);
            } else {
                fs::read(&path).ok().hash(&mut hasher);
            }
        }
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(difference: &[u32]) -> StoredResult {
        StoredResult::new(Verdict::Pass, Coverage::default(), Some(&Difference::of(difference.to_vec())))
    }

    #[test]
    fn all_but_the_nearest_runs_are_known_next_time() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pool");
        let tests = [Test::new("a"), Test::new("b")];
        let memory = PoolStore::open(&path, 1, &tests).unwrap();
        let failed = StoredResult::new(Verdict::Fail, Coverage::from([CoverageItem::Block(0, 1, 2)]), None);
        for (run, known) in
            [passed(&[3]), passed(&[5]), passed(&[]), passed(&[]), failed.clone()].iter().enumerate()
        {
            memory.put(run, known).unwrap();
        }
        let memory = PoolStore::open(&path, 1, &tests).unwrap();
        assert_eq!((memory.len(), memory.get(4)), (3, Some(&failed)));
        assert!(memory.get(1).is_none() && memory.get(2).is_none());
        // Another program, or other tests.
        assert!(PoolStore::open(&path, 2, &tests).unwrap().is_empty());
        let memory = PoolStore::open(&path, 1, &tests[..1]).unwrap();
        assert!(memory.is_empty());
        memory.forget();
        assert!(!path.exists());
    }

    #[test]
    fn a_line_that_was_cut_off_is_not_known() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pool");
        let memory = PoolStore::open(&path, 1, &[]).unwrap();
        memory.put(0, &StoredResult::unrecorded()).unwrap();
        memory.put(1, &StoredResult::unrecorded()).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, &text[..text.len() - 9]).unwrap();
        assert_eq!(PoolStore::open(&path, 1, &[]).unwrap().len(), 1);
    }

    #[test]
    fn trees_with_other_files_are_told_apart() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("src")).unwrap();
        fs::write(dir.path().join("src/a.c"), "1").unwrap();
        let one = content(dir.path());
        assert_eq!(one, content(dir.path()));
        fs::write(dir.path().join("src/a.c"), "2").unwrap();
        assert_ne!(one, content(dir.path()));
    }
}
