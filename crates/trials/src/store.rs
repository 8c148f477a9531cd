//! Outcomes that persist across processes.
//!
//! An outcome is looked up by a hash of everything it depends on. The file is text, one outcome per line, and
//! is only appended to:
//!
//! ```text
//! relapse outcomes 1
//! KEY CHECKSUM {"what":{"tested":"pass"},"why":"exit 0"}
//! ```
//!
//! A killed process leaves at most one incomplete line. Any other damage of the file costs time, but never
//! the run and never gives a wrong outcome: lines that do not match their checksum are ignored, and the file
//! is put aside for inspection.

use crate::checker::Findings;
use crate::error::{At, Error};
use changes::outcome::Outcome;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// The result for one tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    pub what: TrialResult,
    /// A short reason: the compiler's diagnostic, or how the test ended.
    pub why: String,
    /// The test behaved as with bad: in exit status and in all judged outputs.
    #[serde(default)]
    pub alike: bool,
    /// It fails with the exit status and the first difference of bad.
    #[serde(default)]
    pub symptom: bool,
    /// The compiler's other messages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub more: Vec<String>,
}

impl Known {
    /// A pass of a program with clang warnings that neither version has is considered accidental unless shown
    /// otherwise.
    pub(crate) fn unless_suspicious(self, findings: Option<&Findings>) -> Known {
        let first = findings.and_then(|findings| findings.suspicious.first());
        match first.and_then(|diagnostic| diagnostic.lines().next()) {
            Some(line) if self.what == TrialResult::Tested(Outcome::Pass) => {
                let why = format!("it passes, but clang warns of what neither version has: {line}");
                Known { what: TrialResult::Tested(Outcome::Unresolved), why, ..self }
            }
            _ => self,
        }
    }

    pub(crate) fn untested(what: TrialResult, why: String) -> Known {
        Known { what, why, alike: false, symptom: false, more: Vec::new() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrialResult {
    /// The units it touches type-check; it was not built yet.
    Correct,
    /// It builds; the test was not run yet.
    Builds,
    Tested(Outcome),
}

/// A key of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StoreKey(u128);

impl StoreKey {
    /// From everything that an outcome depends on, in a fixed order.
    #[must_use]
    pub fn of(parts: &[&[u8]]) -> StoreKey {
        let mut hasher = Xxh3::new();
        for part in parts {
            // With lengths, so that different lists of parts give different input.
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        StoreKey(hasher.digest128())
    }
}

const HEADER: &str = "relapse outcomes 1";

/// The store.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    file: File,
    known: HashMap<StoreKey, Known>,
    /// A note for the user, if something was lost.
    pub note: Option<String>,
}

impl Store {
    /// Opens a store, or creates one.
    ///
    /// # Errors
    /// If none can be created at this path.
    pub fn open(path: &Path) -> Result<Store, Error> {
        let bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error).at("read", path),
        };
        let (lines, rest) = match bytes.iter().rposition(|b| *b == b'\n') {
            Some(end) => bytes.split_at(end + 1),
            None => (&[][..], &bytes[..]),
        };
        let mut lines = lines.split_inclusive(|b| *b == b'\n');
        let header = lines.next().is_none_or(|line| line.trim_ascii_end() == HEADER.as_bytes());
        let mut damaged = usize::from(!header || (!rest.is_empty() && bytes.len() == rest.len()));
        let mut known = HashMap::new();
        let mut sound = format!("{HEADER}\n").into_bytes();
        for line in lines {
            match read_line(line) {
                Some((key, outcome)) => {
                    known.insert(key, outcome);
                    sound.extend_from_slice(line);
                }
                None => damaged += 1,
            }
        }
        let mut note = None;
        if damaged > 0 {
            let aside = path.with_extension("damaged");
            fs::rename(path, &aside).at("put aside", path)?;
            let lost = if header { format!("{damaged} of them") } else { "some".to_owned() };
            note = Some(format!(
                "earlier outcomes are damaged, {lost} will be tried again; the file was put aside as {}",
                aside.display()
            ));
        }
        if sound != bytes {
            // Atomic: a reader sees the old file or the new one.
            let new = path.with_extension("new");
            fs::write(&new, &sound).at("write", &new)?;
            fs::rename(&new, path).at("write", path)?;
        }
        let file = OpenOptions::new().append(true).open(path).at("open", path)?;
        Ok(Store { path: path.to_owned(), file, known, note })
    }

    #[must_use]
    pub fn get(&self, key: StoreKey) -> Option<&Known> {
        self.known.get(&key)
    }

    /// Stores a result. A kill after this loses nothing.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn put(&mut self, key: StoreKey, known: Known) -> Result<(), Error> {
        let json = serde_json::to_string(&known).map_err(|e| Error::Store(e.to_string()))?;
        let line = format!("{:032x} {:016x} {json}\n", key.0, checksum(key, &json));
        self.file.write_all(line.as_bytes()).at("write", &self.path)?;
        self.known.insert(key, known);
        Ok(())
    }
}

fn read_line(line: &[u8]) -> Option<(StoreKey, Known)> {
    let line = std::str::from_utf8(line).ok()?.strip_suffix('\n')?;
    let mut fields = line.splitn(3, ' ');
    let key = StoreKey(u128::from_str_radix(fields.next()?, 16).ok()?);
    let sum = u64::from_str_radix(fields.next()?, 16).ok()?;
    let json = fields.next()?;
    (sum == checksum(key, json)).then(|| serde_json::from_str(json).ok().map(|known| (key, known)))?
}

fn checksum(key: StoreKey, json: &str) -> u64 {
    xxh3_64(&[key.0.to_le_bytes().as_slice(), json.as_bytes()].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn known(why: &str) -> Known {
        Known::untested(TrialResult::Tested(Outcome::Unresolved), why.to_owned())
    }

    fn key(n: u8) -> StoreKey {
        StoreKey::of(&[&[n]])
    }

    #[test]
    fn outcomes_are_there_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("outcomes");
        let key = StoreKey::of(&[b"tree", b"make"]);
        let mut store = Store::open(&path).unwrap();
        assert_eq!(store.get(key), None);
        store.put(key, known("exit 1")).unwrap();
        store.put(key, known("exit 2,\nwith \"lines\"")).unwrap();
        drop(store);
        let store = Store::open(&path).unwrap();
        assert_eq!(store.get(key), Some(&known("exit 2,\nwith \"lines\"")));
        assert_eq!(store.get(StoreKey::of(&[b"treem", b"ake"])), None);
        assert_eq!(store.note, None);
    }

    #[test]
    fn a_file_that_is_no_store_is_put_aside() {
        for content in ["not a store", "not a store\n", "relapse outcomes 2\nx\n"] {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("outcomes");
            fs::write(&path, content).unwrap();
            let mut store = Store::open(&path).unwrap();
            assert!(store.note.as_ref().unwrap().contains("outcomes.damaged"), "{:?}", store.note);
            assert_eq!(fs::read_to_string(dir.path().join("outcomes.damaged")).unwrap(), content);
            store.put(key(1), known("")).unwrap();
            drop(store);
            assert_eq!(Store::open(&path).unwrap().get(key(1)), Some(&known("")));
        }
    }

    #[test]
    fn a_line_that_a_kill_left_unfinished_is_no_damage() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("outcomes");
        let mut store = Store::open(&path).unwrap();
        for n in 0..3 {
            store.put(key(n), known("exit 1")).unwrap();
        }
        drop(store);
        let whole = fs::read(&path).unwrap();
        fs::write(&path, &whole[..whole.len() - 5]).unwrap();
        let mut store = Store::open(&path).unwrap();
        assert_eq!((store.note.as_ref(), store.known.len()), (None, 2));
        store.put(key(9), known("exit 9")).unwrap();
        drop(store);
        let store = Store::open(&path).unwrap();
        assert_eq!((store.note.as_ref(), store.known.len()), (None, 3));
    }

    proptest! {
        /// Whichever bytes are damaged, an outcome is right or unknown, and new ones are kept.
        #[test]
        fn damage_never_makes_a_wrong_outcome(
            hits in proptest::collection::vec((0usize..2000, any::<u8>()), 1..30),
            cut in proptest::option::of(0usize..2000),
        ) {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("outcomes");
            let mut store = Store::open(&path).unwrap();
            for n in 0..20 {
                store.put(key(n), known(&n.to_string())).unwrap();
            }
            drop(store);
            let mut bytes = fs::read(&path).unwrap();
            for (at, byte) in hits {
                let at = at % bytes.len();
                bytes[at] = byte;
            }
            bytes.truncate(cut.unwrap_or(usize::MAX));
            fs::write(&path, &bytes).unwrap();
            let mut store = Store::open(&path).unwrap();
            let right = |store: &Store| {
                (0..20u8).all(|n| store.get(key(n)).is_none_or(|found| *found == known(&n.to_string())))
            };
            prop_assert!(right(&store));
            store.put(key(77), known("new")).unwrap();
            drop(store);
            let store = Store::open(&path).unwrap();
            prop_assert!(right(&store) && store.note.is_none());
            prop_assert_eq!(store.get(key(77)), Some(&known("new")));
        }
    }
}
