//! Entries on disk.
//!
//! ```text
//! DIR/objects/3f/0c...   one entry: a header, diagnostics, the object if there is one
//! DIR/stats              one line per lookup
//!
//! header: magic (8) │ checksum of the rest (16) │ exit code (4) │ length of diagnostics (8)
//! ```
//! Numbers are little-endian. A failure is an entry without object. An entry is written to a
//! temporary file and renamed, so that a reader never sees a partial entry, and two builds that
//! create the same entry concurrently do not interfere. The modification time of an entry is the
//! time of its last use.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use xxhash_rust::xxh3::xxh3_128;

const MAGIC: &[u8; 8] = b"rlpsobj2";
const HEADER: usize = 8 + 16 + 4 + 8;

/// Size at which the statistics file is rotated. The old file is kept beside the new one.
const MAX_STATS_SIZE: u64 = 8 << 20;

/// The result of a compilation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The compiler's exit code.
    pub code: i32,
    pub diagnostics: Vec<u8>,
    pub object: Vec<u8>,
}

/// The result of a lookup.
#[derive(Debug, PartialEq, Eq)]
pub enum Found {
    Entry(Entry),
    Nothing,
    /// The entry was corrupt and was deleted.
    Damaged,
}

/// The directory of a cache.
#[derive(Clone, Debug)]
pub struct Entries {
    pub dir: PathBuf,
}

impl Entries {
    fn path(&self, key: u128) -> PathBuf {
        let name = format!("{key:032x}");
        self.dir.join("objects").join(&name[..2]).join(&name[2..])
    }

    /// Looks up an entry, and marks it as used.
    pub fn find(&self, key: u128) -> Found {
        let path = self.path(key);
        let Ok(bytes) = fs::read(&path) else { return Found::Nothing };
        let Some(entry) = decode(&bytes) else {
            let _ = fs::remove_file(&path);
            return Found::Damaged;
        };
        if let Ok(file) = File::options().append(true).open(&path) {
            // An error affects only the order of eviction.
            let _ = file.set_modified(SystemTime::now());
        }
        Found::Entry(entry)
    }

    pub fn store(&self, key: u128, entry: &Entry) -> io::Result<()> {
        let path = self.path(key);
        let dir = path.parent().unwrap_or(&self.dir);
        fs::create_dir_all(dir)?;
        let mut file = tempfile::Builder::new().prefix("new-").tempfile_in(dir)?;
        file.write_all(&encode(entry))?;
        file.persist(&path).map_err(|error| error.error)?;
        Ok(())
    }

    /// Evicts the least recently used entries if the total size exceeds `limit`. The remaining size
    /// is well below, so that eviction is not due again soon.
    pub fn trim(&self, limit: u64) -> io::Result<()> {
        let mut found: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
        for shard in fs::read_dir(self.dir.join("objects"))? {
            let Ok(files) = fs::read_dir(shard?.path()) else { continue };
            for file in files.flatten() {
                // Another build may have evicted it concurrently.
                let Ok(meta) = file.metadata() else { continue };
                found.push((meta.modified()?, meta.len(), file.path()));
            }
        }
        let mut total: u64 = found.iter().map(|(_, length, _)| length).sum();
        if total <= limit {
            return Ok(());
        }
        found.sort();
        for (_, length, path) in found {
            if total <= limit - limit / 5 {
                break;
            }
            let _ = fs::remove_file(path);
            total -= length;
        }
        Ok(())
    }

    /// Appends a line of statistics. A single short write in append mode is atomic with respect to
    /// other such writes.
    pub fn count(&self, what: &str, detail: &str) {
        let detail = detail.replace(['\n', '\r'], " ");
        let path = self.dir.join("stats");
        if fs::metadata(&path).is_ok_and(|meta| meta.len() > MAX_STATS_SIZE) {
            let _ = fs::rename(&path, self.dir.join("stats.old"));
        }
        let line = format!("{what}\t{detail}\n");
        // A failure to write statistics must not fail a build.
        let _ = fs::create_dir_all(&self.dir)
            .and_then(|()| File::options().create(true).append(true).open(&path))
            .and_then(|mut file| file.write_all(line.as_bytes()));
    }
}

fn encode(entry: &Entry) -> Vec<u8> {
    let mut rest = Vec::with_capacity(4 + 8 + entry.diagnostics.len() + entry.object.len());
    rest.extend_from_slice(&entry.code.to_le_bytes());
    rest.extend_from_slice(&(entry.diagnostics.len() as u64).to_le_bytes());
    rest.extend_from_slice(&entry.diagnostics);
    rest.extend_from_slice(&entry.object);
    let mut bytes = Vec::with_capacity(HEADER + rest.len());
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&xxh3_128(&rest).to_le_bytes());
    bytes.extend_from_slice(&rest);
    bytes
}

fn decode(bytes: &[u8]) -> Option<Entry> {
    let rest = bytes.strip_prefix(MAGIC)?;
    let (sum, rest) = rest.split_first_chunk::<16>()?;
    if xxh3_128(rest) != u128::from_le_bytes(*sum) {
        return None;
    }
    let (code, rest) = rest.split_first_chunk::<4>()?;
    let (length, rest) = rest.split_first_chunk::<8>()?;
    let (diagnostics, object) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    let code = i32::from_le_bytes(*code);
    Some(Entry { code, diagnostics: diagnostics.to_vec(), object: object.to_vec() })
}

/// Counts of cache lookups by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheCounts {
    /// Object found in the cache.
    pub hits: u64,
    /// Failure found in the cache.
    pub failed_hits: u64,
    /// Compiled, and stored if that succeeded or the source has errors.
    pub misses: u64,
    /// Compiled without a lookup, because the result of such a command cannot be cached.
    pub bypassed: u64,
    /// Lookups that found a corrupt entry (each is also a miss).
    pub damaged: u64,
}

/// Reads the statistics of the cache in `dir`. The counts of an unused cache are zero.
pub fn cache_counts(dir: &Path) -> io::Result<CacheCounts> {
    let mut counts = CacheCounts::default();
    let text = match fs::read(dir.join("stats")) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(counts),
        Err(error) => return Err(error),
    };
    for line in text.split(|&byte| byte == b'\n') {
        match line.split(|&byte| byte == b'\t').next().unwrap_or_default() {
            b"hit" => counts.hits += 1,
            b"hit-failure" => counts.failed_hits += 1,
            b"miss" => counts.misses += 1,
            b"bypass" => counts.bypassed += 1,
            b"damaged" => counts.damaged += 1,
            _ => {}
        }
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn entries() -> (tempfile::TempDir, Entries) {
        let dir = tempfile::tempdir().unwrap();
        let entries = Entries { dir: dir.path().join("cache") };
        (dir, entries)
    }

    fn entry(length: usize) -> Entry {
        Entry { code: 0, diagnostics: b"a warning".to_vec(), object: vec![7; length] }
    }

    #[test]
    fn what_is_stored_is_found() {
        let (_dir, entries) = entries();
        assert_eq!(entries.find(1), Found::Nothing);
        entries.store(1, &entry(10)).unwrap();
        let failure = Entry { code: 1, ..entry(0) };
        entries.store(2, &failure).unwrap();
        assert_eq!(entries.find(1), Found::Entry(entry(10)));
        assert_eq!(entries.find(2), Found::Entry(failure));
        assert_eq!(entries.find(3), Found::Nothing);
    }

    #[test]
    fn every_damage_is_noticed() {
        let (_dir, entries) = entries();
        entries.store(1, &entry(3)).unwrap();
        let path = entries.path(1);
        let whole = fs::read(&path).unwrap();
        let mut damaged: Vec<Vec<u8>> = (0..whole.len()).map(|length| whole[..length].to_vec()).collect();
        damaged.extend((0..whole.len()).map(|at| {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            bytes
        }));
        for bytes in damaged {
            fs::write(&path, &bytes).unwrap();
            assert_eq!(entries.find(1), Found::Damaged, "{bytes:?}");
            assert_eq!(entries.find(1), Found::Nothing);
        }
    }

    #[test]
    fn the_entries_not_used_for_longest_go_first() {
        let (_dir, entries) = entries();
        let now = SystemTime::now();
        for key in 0..10_u128 {
            entries.store(key << 120, &entry(1000)).unwrap();
            let file = File::options().append(true).open(entries.path(key << 120)).unwrap();
            file.set_modified(now - Duration::from_secs(1000 - key as u64)).unwrap();
        }
        entries.trim(1 << 20).unwrap();
        assert!((0..10_u128).all(|key| entries.path(key << 120).exists()));
        // Using the oldest entry makes it the most recently used.
        entries.find(0);
        entries.trim(5500).unwrap();
        let left: Vec<u128> = (0..10).filter(|key| entries.path(key << 120).exists()).collect();
        assert_eq!(left, [0, 7, 8, 9]);
    }

    #[test]
    fn lookups_are_counted() {
        let (_dir, entries) = entries();
        assert_eq!(cache_counts(&entries.dir).unwrap(), CacheCounts::default());
        let lines = ["hit", "hit", "hit-failure", "miss", "bypass"].into_iter();
        for (what, detail) in lines.zip(["a.c", "two\nlines", "broken.c", "b.c", "-v"]) {
            entries.count(what, detail);
        }
        let expected = CacheCounts { hits: 2, failed_hits: 1, misses: 1, bypassed: 1, damaged: 0 };
        assert_eq!(cache_counts(&entries.dir).unwrap(), expected);
    }
}
