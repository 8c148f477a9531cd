//! A worker's own tree of files, brought from one variant to the next by
//! writing only what differs.
//!
//! Build tools compare times. A file that gets other content, older or newer,
//! must afterwards be newer than everything that was ever made from it, and no
//! other file may be touched. Times are taken from the file system's own clock,
//! as products get theirs from there; where that clock is too coarse to be past
//! the newest product, we wait for it.

use crate::checkout::{copy_entry, set_time};
use crate::error::{At, Error};
use crate::variant::{Base, Content, Variant};
use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// A tree on disk.
#[derive(Debug)]
pub struct Tree {
    root: PathBuf,
    /// What it holds, apart from what a build made; `None`: nothing yet.
    holds: Option<Variant>,
    /// No file in it is newer.
    newest: SystemTime,
}

impl Tree {
    #[must_use]
    pub fn new(root: PathBuf) -> Tree {
        Tree { root, holds: None, newest: SystemTime::UNIX_EPOCH }
    }

    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether it holds nothing yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.holds.is_none()
    }

    /// Empties the tree: the next [`Tree::set`] begins from nothing.
    ///
    /// # Errors
    /// If files cannot be removed.
    pub fn wipe(&mut self) -> Result<(), Error> {
        self.holds = None;
        self.newest = SystemTime::UNIX_EPOCH;
        remove_all(&self.root)
    }

    /// Makes the tree hold a variant. Returns the paths that were written or
    /// removed; all of them if the tree was empty.
    ///
    /// # Errors
    /// If files cannot be read or written.
    pub fn set(&mut self, base: &Base, variant: &Variant) -> Result<Vec<PathBuf>, Error> {
        let Some(holds) = self.holds.take() else {
            self.fill(base, variant)?;
            self.holds = Some(variant.clone());
            return Ok(base.paths().map(Path::to_owned).collect());
        };
        let mut changed: Vec<PathBuf> = Vec::new();
        for path in holds.paths().chain(variant.paths()) {
            if holds.entry(base, path) != variant.entry(base, path) {
                changed.push(path.to_owned());
            }
        }
        changed.sort();
        changed.dedup();
        // Removals first: a directory may have to make room for a file.
        for path in changed.iter().filter(|p| variant.entry(base, p).is_none()) {
            self.remove(path)?;
        }
        // All at once: none of them is newer than another.
        let later = self.later()?;
        for path in &changed {
            if variant.entry(base, path).is_some() {
                self.write(base, variant, path)?;
                self.date(path, later)?;
            }
        }
        self.newest = self.newest.max(later);
        self.holds = Some(variant.clone());
        Ok(changed)
    }

    fn fill(&mut self, base: &Base, variant: &Variant) -> Result<(), Error> {
        remove_all(&self.root)?;
        fs::create_dir_all(&self.root).at("create", &self.root)?;
        let now = SystemTime::now();
        for directory in base.directories() {
            let target = self.root.join(directory);
            fs::create_dir_all(&target).at("create", &target)?;
        }
        let mut newest = SystemTime::UNIX_EPOCH;
        let mut times = HashMap::new();
        for path in base.paths() {
            let source = base.root().join(path);
            let time = source.symlink_metadata().and_then(|m| m.modified()).at("read", &source)?.min(now);
            newest = newest.max(time);
            if variant.changes(path) {
                times.insert(path, time);
            } else {
                let target = self.make_room(path)?;
                copy_entry(&source, &target, now)?;
            }
        }
        // As old as what they stand for: a file and another made from it that were
        // both changed must not look as if one of them were out of date.
        for path in variant.paths() {
            if variant.entry(base, path).is_some() {
                self.write(base, variant, path)?;
                self.date(path, times.get(path).copied().unwrap_or(newest))?;
            }
        }
        self.newest = newest;
        Ok(())
    }

    fn make_room(&self, path: &Path) -> Result<PathBuf, Error> {
        let target = self.root.join(path);
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent).at("create", parent)?;
        }
        Ok(target)
    }

    fn write(&self, base: &Base, variant: &Variant, path: &Path) -> Result<(), Error> {
        let target = self.make_room(path)?;
        // A new file in place of the old: it may be read-only, or a link.
        if target.symlink_metadata().is_ok() {
            fs::remove_file(&target).at("replace", &target)?;
        }
        match variant.content(path) {
            None => copy_entry(&base.root().join(path), &target, SystemTime::now()),
            Some(None) => Ok(()),
            Some(Some(Content::File { bytes, executable })) => {
                fs::write(&target, bytes).at("write", &target)?;
                if *executable {
                    let mut permissions = target.metadata().at("read", &target)?.permissions();
                    // Whoever may read may execute.
                    permissions.set_mode(permissions.mode() | (permissions.mode() & 0o444) >> 2);
                    fs::set_permissions(&target, permissions).at("set the permissions of", &target)?;
                }
                Ok(())
            }
            Some(Some(Content::Link(to))) => std::os::unix::fs::symlink(to, &target).at("create", &target),
        }
    }

    /// A time newer than everything in the tree. The clock that products get
    /// their times from is not one that we can read, so a file is asked.
    fn later(&self) -> Result<SystemTime, Error> {
        let deadline = Instant::now() + Duration::from_millis(2500);
        let probe = self.root.join(format!(".relapse-clock-{}", std::process::id()));
        let later = loop {
            fs::write(&probe, b"x").at("write", &probe)?;
            let now = probe.metadata().and_then(|m| m.modified()).at("read", &probe)?;
            if now > self.newest {
                break now;
            }
            if Instant::now() > deadline {
                // Something in the tree is from the future.
                break self.newest + Duration::from_secs(1);
            }
            std::thread::sleep(Duration::from_millis(1));
        };
        fs::remove_file(&probe).at("remove", &probe)?;
        Ok(later)
    }

    /// Sets the time of a file. The time of a link is that of what it points to.
    fn date(&self, path: &Path, time: SystemTime) -> Result<(), Error> {
        let target = self.root.join(path);
        let found = target.symlink_metadata().at("read", &target)?;
        if found.is_file() { set_time(&target, time) } else { Ok(()) }
    }

    fn remove(&self, path: &Path) -> Result<(), Error> {
        let target = self.root.join(path);
        match fs::remove_file(&target) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(error).at("remove", &target);
            }
            _ => {}
        }
        // Directories that are empty now go too, as git would have it.
        let mut parent = target.parent();
        while let Some(directory) = parent.filter(|d| *d != self.root && d.starts_with(&self.root)) {
            if fs::remove_dir(directory).is_err() {
                break;
            }
            parent = directory.parent();
        }
        Ok(())
    }

    /// What is in the tree, to find out later what a test did to it. The next
    /// change will be newer than all that is there.
    ///
    /// # Errors
    /// If the tree cannot be read.
    pub fn snapshot(&mut self) -> Result<Snapshot, Error> {
        let mut snapshot = Snapshot::default();
        walk(&self.root, Path::new(""), &mut snapshot)?;
        self.newest = snapshot.files.values().map(|s| s.modified).fold(self.newest, SystemTime::max);
        Ok(snapshot)
    }

    /// Takes back what a test did: new files are removed, files of the version
    /// get their content and time again. Says whether products were changed,
    /// which a build has to make good.
    ///
    /// # Errors
    /// If files cannot be read or written.
    pub fn restore(&mut self, base: &Base, before: &Snapshot) -> Result<bool, Error> {
        let after = self.snapshot()?;
        for path in after.files.keys().filter(|p| !before.files.contains_key(*p)) {
            let target = self.root.join(path);
            fs::remove_file(&target).at("remove", &target)?;
        }
        // Inner ones first.
        let mut directories: Vec<&PathBuf> =
            after.directories.keys().filter(|p| !before.directories.contains_key(*p)).collect();
        directories.sort_by_key(|p| std::cmp::Reverse(p.components().count()));
        for path in directories {
            let target = self.root.join(path);
            fs::remove_dir(&target).at("remove", &target)?;
        }
        let holds = self.holds.take().unwrap_or_default();
        let mut disturbed = false;
        for (path, was) in &before.files {
            if after.files.get(path) == Some(was) {
                continue;
            }
            if holds.entry(base, path).is_some() {
                self.write(base, &holds, path)?;
                self.date(path, was.modified)?;
            } else {
                disturbed = true;
            }
        }
        self.holds = Some(holds);
        Ok(disturbed)
    }
}

/// Every file and directory of a tree, at one time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    files: HashMap<PathBuf, Stamp>,
    directories: HashMap<PathBuf, ()>,
}

#[derive(Clone, Debug, PartialEq)]
struct Stamp {
    modified: SystemTime,
    size: u64,
    inode: u64,
}

fn walk(root: &Path, below: &Path, snapshot: &mut Snapshot) -> Result<(), Error> {
    let directory = root.join(below);
    for entry in fs::read_dir(&directory).at("read", &directory)? {
        let entry = entry.at("read", &directory)?;
        let path = below.join(entry.file_name());
        // A file may vanish while we look, if a process that is being killed removes it.
        let Ok(found) = entry.metadata() else { continue };
        if found.is_dir() {
            walk(root, &path, snapshot)?;
            snapshot.directories.insert(path, ());
        } else {
            let modified = found.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            let stamp = Stamp { modified, size: found.len(), inode: found.ino() };
            snapshot.files.insert(path, stamp);
        }
    }
    Ok(())
}

/// Removes a directory with everything in it, also where a build took away the
/// right to write.
pub(crate) fn remove_all(path: &Path) -> Result<(), Error> {
    let gone = |error: &std::io::Error| error.kind() == std::io::ErrorKind::NotFound;
    match fs::remove_dir_all(path) {
        Ok(()) => Ok(()),
        Err(error) if gone(&error) => Ok(()),
        Err(_) => {
            allow_writing(path);
            match fs::remove_dir_all(path) {
                Err(error) if !gone(&error) => Err(error).at("remove", path),
                _ => Ok(()),
            }
        }
    }
}

fn allow_writing(directory: &Path) {
    let _ = fs::set_permissions(directory, fs::Permissions::from_mode(0o700));
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|t| t.is_dir()) {
            allow_writing(&entry.path());
        }
    }
}
