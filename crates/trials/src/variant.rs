//! The contents of a tree: the bad version, with some files replaced.

use crate::error::{At, Error};
use changes::change::ChangeSet;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// Provides the files when changes are reverted.
pub trait Variants: Sync {
    /// The files that differ from the bad version when these changes are reverted in it.
    ///
    /// # Errors
    /// If the changes cannot be applied, with the reason.
    fn variant(&self, reverted: &ChangeSet) -> Result<Variant, String>;

    /// All changes, so that reverting them gives the good version.
    fn all(&self) -> ChangeSet;
}

/// A file's content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// A regular file.
    File {
        /// Its content.
        bytes: Arc<[u8]>,
        /// Whether its owner may execute it.
        executable: bool,
    },
    /// A symbolic link with this target.
    Link(PathBuf),
}

/// A fingerprint of the file at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    hash: u128,
    /// 0 is a file, 1 an executable file, 2 a symbolic link.
    kind: u8,
}

impl Content {
    /// The fingerprint of the content.
    #[must_use]
    pub fn entry(&self) -> Entry {
        match self {
            Content::File { bytes, executable } => {
                Entry { hash: xxh3_128(bytes), kind: u8::from(*executable) }
            }
            Content::Link(to) => Entry { hash: xxh3_128(to.as_os_str().as_bytes()), kind: 2 },
        }
    }

    /// Reads a file or a link.
    pub(crate) fn read(path: &Path) -> Result<Content, Error> {
        let found = path.symlink_metadata().at("read", path)?;
        if found.is_symlink() {
            return Ok(Content::Link(fs::read_link(path).at("read", path)?));
        }
        let executable = found.permissions().mode() & 0o100 != 0;
        Ok(Content::File { bytes: fs::read(path).at("read", path)?.into(), executable })
    }
}

/// Files that differ from bad, by path; `None` is an absent file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variant {
    files: BTreeMap<PathBuf, (Option<Content>, Option<Entry>)>,
}

impl Variant {
    /// The variant that turns bad's files into those of another tree.
    ///
    /// # Errors
    /// If the tree cannot be read.
    pub(crate) fn between(base: &Base, files: &Path) -> Result<Variant, Error> {
        let other = Base::read(files)?;
        let mut variant = Variant::default();
        for (path, entry) in &other.files {
            if base.files.get(path) != Some(entry) {
                variant.put(path.clone(), Some(Content::read(&files.join(path))?));
            }
        }
        for path in base.files.keys().filter(|path| !other.files.contains_key(*path)) {
            variant.put(path.clone(), None);
        }
        Ok(variant)
    }

    /// Sets the content of a file, relative to the tree; `None` removes it.
    pub fn put(&mut self, path: PathBuf, content: Option<Content>) {
        let entry = content.as_ref().map(Content::entry);
        self.files.insert(path, (content, entry));
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.keys().map(PathBuf::as_path)
    }

    /// Paths at which it differs from bad.
    pub(crate) fn touched<'v>(&'v self, base: &'v Base) -> impl Iterator<Item = &'v Path> {
        self.paths().filter(|path| self.entry(base, path) != base.files.get(*path).copied())
    }

    pub(crate) fn changes(&self, path: &Path) -> bool {
        self.files.contains_key(path)
    }

    /// `None`: as in bad.
    pub(crate) fn content(&self, path: &Path) -> Option<&Option<Content>> {
        self.files.get(path).map(|(content, _)| content)
    }

    /// The fingerprint of the file at a path.
    pub(crate) fn entry(&self, base: &Base, path: &Path) -> Option<Entry> {
        match self.files.get(path) {
            Some((_, entry)) => *entry,
            None => base.files.get(path).copied(),
        }
    }
}

/// The bad version's files.
#[derive(Clone, Debug)]
pub struct Base {
    root: PathBuf,
    files: BTreeMap<PathBuf, Entry>,
    directories: BTreeSet<PathBuf>,
}

/// Identifies the contents of a whole tree: equal trees have equal keys, regardless of their location and
/// history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreeKey(pub u128);

impl std::fmt::Display for TreeKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Enough to distinguish the trials of a run.
        write!(f, "{:012x}", self.0 >> 80)
    }
}

impl Base {
    /// Reads a file tree.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read(root: &Path) -> Result<Base, Error> {
        let mut base = Base { root: root.to_owned(), files: BTreeMap::new(), directories: BTreeSet::new() };
        base.walk(Path::new(""))?;
        Ok(base)
    }

    fn walk(&mut self, below: &Path) -> Result<(), Error> {
        let directory = self.root.join(below);
        for entry in fs::read_dir(&directory).at("read", &directory)? {
            let entry = entry.at("read", &directory)?;
            let path = below.join(entry.file_name());
            let kind = entry.file_type().at("read", &entry.path())?;
            if kind.is_dir() {
                self.walk(&path)?;
                self.directories.insert(path);
            } else if kind.is_file() || kind.is_symlink() {
                let content = Content::read(&entry.path())?;
                self.files.insert(path, content.entry());
            }
        }
        Ok(())
    }

    /// The directory that it was read from.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.keys().map(PathBuf::as_path)
    }

    pub(crate) fn directories(&self) -> impl Iterator<Item = &Path> {
        self.directories.iter().map(PathBuf::as_path)
    }

    /// The key of a variant's tree.
    #[must_use]
    pub fn key(&self, variant: &Variant) -> TreeKey {
        let mut hasher = Xxh3::new();
        let changed = variant.paths().filter(|p| !self.files.contains_key(*p));
        let paths: BTreeSet<&Path> = self.paths().chain(changed).collect();
        for path in paths {
            if let Some(entry) = variant.entry(self, path) {
                let name = path.as_os_str().as_bytes();
                hasher.update(&(name.len() as u64).to_le_bytes());
                hasher.update(name);
                hasher.update(&entry.hash.to_le_bytes());
                hasher.update(&[entry.kind]);
            }
        }
        TreeKey(hasher.digest128())
    }
}
