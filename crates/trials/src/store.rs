//! Outcomes that survive the process.
//!
//! An outcome is found again by everything it depends on, hashed into one key.
//! Whatever is wrong with the file costs time, never the run: a store that
//! cannot be opened is put aside and a new one begun, and a value that does not
//! match its checksum was never there.

use crate::error::{At, Error};
use changes::outcome::Outcome;
use redb::{Database, ReadableDatabase, TableDefinition};
use serde::{Deserialize, Serialize};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// What is known about one tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    pub what: What,
    /// In a few words: the compiler's complaint, or how the test ended.
    pub why: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// It builds; nobody ran the test yet.
    Builds,
    Tested(Outcome),
}

/// A key of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StoreKey([u8; 16]);

impl StoreKey {
    /// From all that an outcome depends on, in a fixed order.
    #[must_use]
    pub fn of(parts: &[&[u8]]) -> StoreKey {
        let mut hasher = Xxh3::new();
        for part in parts {
            // With lengths, so that no two lists of parts read the same.
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        StoreKey(hasher.digest128().to_le_bytes())
    }
}

const TABLE: TableDefinition<&[u8], &[u8]> = TableDefinition::new("outcomes/1");
/// A store of hundreds of thousands of outcomes needs no more.
const CACHE: usize = 16 << 20;

/// The store.
#[derive(Debug)]
pub struct Store {
    database: Database,
    /// Said to the user, if the old store had to be put aside.
    pub note: Option<String>,
}

impl Store {
    /// Opens a store, or begins one.
    ///
    /// # Errors
    /// If none can be begun at this place.
    pub fn open(path: &Path) -> Result<Store, Error> {
        match try_open(path) {
            Ok(database) => Ok(Store { database, note: None }),
            Err(reason) if path.exists() => {
                let aside = path.with_extension("damaged");
                std::fs::rename(path, &aside).at("put aside", path)?;
                let database = try_open(path).map_err(Error::Store)?;
                let note = format!(
                    "earlier outcomes could not be read ({reason}); they were put aside as {}",
                    aside.display()
                );
                Ok(Store { database, note: Some(note) })
            }
            Err(reason) => Err(Error::Store(reason)),
        }
    }

    /// What is known. Nothing, if it cannot be read.
    #[must_use]
    pub fn get(&self, key: StoreKey) -> Option<Known> {
        let read = || -> Option<Vec<u8>> {
            let table = self.database.begin_read().ok()?.open_table(TABLE).ok()?;
            Some(table.get(key.0.as_slice()).ok()??.value().to_vec())
        };
        let bytes = quietly(read).flatten()?;
        let (sum, json) = bytes.split_at_checked(8)?;
        (sum == checksum(key, json)).then(|| serde_json::from_slice(json).ok())?
    }

    /// Remembers. On disk when this returns.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn put(&self, key: StoreKey, known: &Known) -> Result<(), Error> {
        let json = serde_json::to_vec(known).map_err(|e| Error::Store(e.to_string()))?;
        let value = [checksum(key, &json).as_slice(), &json].concat();
        let write = || -> Result<(), redb::Error> {
            let transaction = self.database.begin_write()?;
            transaction.open_table(TABLE)?.insert(key.0.as_slice(), value.as_slice())?;
            Ok(transaction.commit()?)
        };
        quietly(write)
            .unwrap_or_else(|| Err(redb::Error::Corrupted("it is damaged".to_owned())))
            .map_err(|e| Error::Store(e.to_string()))
    }
}

fn try_open(path: &Path) -> Result<Database, String> {
    quietly(|| Database::builder().set_cache_size(CACHE).create(path).map_err(|e| e.to_string()))
        .unwrap_or_else(|| Err("it is damaged".to_owned()))
}

/// The database checks some of what it reads by assertions.
fn quietly<T>(action: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(action)).ok()
}

fn checksum(key: StoreKey, json: &[u8]) -> [u8; 8] {
    xxh3_64(&[key.0.as_slice(), json].concat()).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(why: &str) -> Known {
        Known { what: What::Tested(Outcome::Unresolved), why: why.to_owned() }
    }

    #[test]
    fn outcomes_are_there_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("outcomes.redb");
        let key = StoreKey::of(&[b"tree", b"make"]);
        let store = Store::open(&path).unwrap();
        assert_eq!(store.get(key), None);
        store.put(key, &known("exit 1")).unwrap();
        drop(store);
        let store = Store::open(&path).unwrap();
        assert_eq!(store.get(key), Some(known("exit 1")));
        assert_eq!(store.get(StoreKey::of(&[b"treem", b"ake"])), None);
        assert_eq!(store.note, None);
    }

    #[test]
    fn a_file_that_is_no_store_is_put_aside() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("outcomes.redb");
        std::fs::write(&path, "not a store").unwrap();
        let store = Store::open(&path).unwrap();
        assert!(store.note.as_ref().unwrap().contains("outcomes.damaged"), "{:?}", store.note);
        assert_eq!(std::fs::read(dir.path().join("outcomes.damaged")).unwrap(), b"not a store");
        let key = StoreKey::of(&[]);
        store.put(key, &known("")).unwrap();
        assert_eq!(store.get(key), Some(known("")));
    }

    /// Whatever bytes are hit, an outcome is right or unknown, and new ones can be kept
    /// (if not before, then after the next start).
    #[test]
    fn damage_never_makes_a_wrong_outcome() {
        let dir = tempfile::tempdir().unwrap();
        let whole = dir.path().join("whole.redb");
        let keys: Vec<StoreKey> = (0..20u8).map(|n| StoreKey::of(&[&[n]])).collect();
        let store = Store::open(&whole).unwrap();
        for (n, key) in keys.iter().enumerate() {
            store.put(*key, &known(&n.to_string())).unwrap();
        }
        drop(store);
        let bytes = std::fs::read(&whole).unwrap();
        std::panic::set_hook(Box::new(|_| {}));
        let mut state = 7u64;
        for round in 0..60 {
            let mut damaged = bytes.clone();
            for _ in 0..1 + round % 40 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let at = usize::try_from(state >> 33).unwrap()
                    % damaged.len().min(if round % 2 == 0 { 8192 } else { usize::MAX });
                damaged[at] = (state >> 24) as u8;
            }
            if round % 7 == 0 {
                damaged.truncate(damaged.len() / 2);
            }
            let path = dir.path().join(format!("{round}.redb"));
            std::fs::write(&path, &damaged).unwrap();
            let store = Store::open(&path).unwrap();
            for (n, key) in keys.iter().enumerate() {
                if let Some(found) = store.get(*key) {
                    assert_eq!(found, known(&n.to_string()));
                }
            }
        }
        let _ = std::panic::take_hook();
    }
}
