//! The files of a version: names first, contents only where they are needed.

use super::state::FileState;
use crate::error::{Error, Result};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A file or link as the directory listing reports it.
pub(super) struct Entry {
    link: bool,
    len: u64,
    mode: u32,
    identity: (u64, u64),
}

impl Entry {
    fn of(about: &fs::Metadata) -> Entry {
        Entry {
            link: about.is_symlink(),
            len: about.len(),
            mode: about.mode() & 0o7777,
            identity: (about.dev(), about.ino()),
        }
    }
}

/// Entries by path relative to the root.
pub(super) type Listing = BTreeMap<PathBuf, Entry>;

/// Lists a tree. Sockets, pipes and devices are skipped. So are empty directories: no build depends on them
/// being *different*.
pub(super) fn list(root: &Path, ignore: &[PathBuf]) -> Result<Listing> {
    let mut listing = Listing::new();
    let mut pending = vec![PathBuf::new()];
    while let Some(directory) = pending.pop() {
        let full = root.join(&directory);
        let entries = fs::read_dir(&full).map_err(|source| Error::Read { path: full.clone(), source })?;
        for entry in entries {
            let entry = entry.map_err(|source| Error::Read { path: full.clone(), source })?;
            // A submodule's `.git` is a file, so the type is not checked.
            if entry.file_name() == ".git" {
                continue;
            }
            let path = directory.join(entry.file_name());
            if ignore.contains(&path) {
                continue;
            }
            let about = entry.metadata().map_err(|source| Error::Read { path: entry.path(), source })?;
            if about.is_dir() {
                pending.push(path);
            } else if about.is_file() || about.is_symlink() {
                listing.insert(path, Entry::of(&about));
            }
        }
    }
    Ok(listing)
}

/// The entries of these files.
pub(super) fn look_up(root: &Path, files: &[PathBuf]) -> Result<Listing> {
    let entry = |path: &PathBuf| {
        let full = root.join(path);
        let about = fs::symlink_metadata(&full).map_err(|source| Error::Read { path: full, source })?;
        Ok((path.clone(), Entry::of(&about)))
    };
    files.iter().map(entry).collect()
}

/// Reads the file or link of an entry.
pub(super) fn read(root: &Path, path: &Path, entry: &Entry) -> Result<FileState> {
    let full = root.join(path);
    if entry.link {
        let target = fs::read_link(&full).map_err(|source| Error::Read { path: full, source })?;
        return Ok(FileState::Link { target });
    }
    let bytes = fs::read(&full).map_err(|source| Error::Read { path: full, source })?;
    Ok(FileState::Content { bytes: bytes.into(), mode: entry.mode })
}

/// Both states of a path, or nothing if they are equivalent for a build.
pub(super) fn compare(
    (good_root, good): (&Path, &Entry),
    (bad_root, bad): (&Path, &Entry),
    path: &Path,
) -> Result<Option<(FileState, FileState)>> {
    if good.identity == bad.identity {
        return Ok(None);
    }
    let old = read(good_root, path, good)?;
    // A difference in length makes the comparison unnecessary, but not the reading: both are kept.
    let new = read(bad_root, path, bad)?;
    let same = match (&old, &new) {
        (FileState::Content { bytes: a, mode: m }, FileState::Content { bytes: b, mode: n }) => {
            executable(*m) == executable(*n) && good.len == bad.len && a == b
        }
        (FileState::Link { target: a }, FileState::Link { target: b }) => a == b,
        _ => false,
    };
    Ok(if same { None } else { Some((old, new)) })
}

/// Only the executable bits count as a difference between versions. The others depend on the umask with which
/// the tree was created, and git does not store them.
pub(super) fn executable(mode: u32) -> bool {
    mode & 0o111 != 0
}

/// A path as text with `/`.
pub(super) fn name(path: &Path) -> Result<String> {
    path.to_str().map(str::to_owned).ok_or_else(|| Error::Name { path: path.to_owned() })
}
