//! A worker's own tree of files, brought from one variant to the next by
//! writing only what differs.
//!
//! Build tools compare times. A file that gets other content, older or newer,
//! must afterwards be newer than everything that was ever made from it, and no
//! other file may be touched. Times are taken from the file system's own clock,
//! as products get theirs from there; where that clock is too coarse to be past
//! the newest product, we wait for it.
//!
//! Between two builds a tree may hold variants that are only looked at. A file
//! that gets back what the last build saw gets back its time too: what was made
//! from it is not out of date.

use crate::checkout::{copy_entry, set_time};
use crate::error::{At, Error};
use crate::snapshot::Snapshot;
use crate::variant::{Base, Content, Variant};
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// A tree on disk.
#[derive(Debug)]
pub(crate) struct Tree {
    root: PathBuf,
    /// What it holds, apart from what a build made; `None`: nothing yet.
    holds: Option<Variant>,
    /// No file in it is newer.
    newest: SystemTime,
    /// What the last build saw; `None`: nothing was built since it was empty.
    built: Option<BuildInput>,
}

/// What a build saw, whether it ended well or not.
#[derive(Clone, Debug)]
struct BuildInput {
    variant: Variant,
    /// The times that files had which were written since.
    times: HashMap<PathBuf, SystemTime>,
}

impl Tree {
    #[must_use]
    pub fn new(root: PathBuf) -> Tree {
        Tree { root, holds: None, newest: SystemTime::UNIX_EPOCH, built: None }
    }

    /// The same files at another place, where somebody has put them.
    #[must_use]
    pub fn moved_to(&self, root: PathBuf) -> Tree {
        Tree { root, holds: self.holds.clone(), newest: self.newest, built: self.built.clone() }
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
        (self.holds, self.built) = (None, None);
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
        let changed = differing(base, &holds, variant);
        self.keep_times(&changed)?;
        // Removals first: a directory may have to make room for a file.
        for path in changed.iter().filter(|p| variant.entry(base, p).is_none()) {
            self.remove(path)?;
        }
        // All at once: none of them is newer than another.
        let later = self.later()?;
        for path in &changed {
            if variant.entry(base, path).is_some() {
                self.write(base, variant, path)?;
                self.date(path, self.time_when_built(base, variant, path).unwrap_or(later))?;
            }
        }
        self.newest = self.newest.max(later);
        self.holds = Some(variant.clone());
        Ok(changed)
    }

    /// Call before each build of what the tree holds.
    pub fn begin_build(&mut self) {
        self.built = self.holds.clone().map(|variant| BuildInput { variant, times: HashMap::new() });
    }

    /// Notes the times of files that are about to be written, unless they were written since the
    /// last build already.
    fn keep_times(&mut self, changed: &[PathBuf]) -> Result<(), Error> {
        let Some(built) = &mut self.built else { return Ok(()) };
        for path in changed {
            if built.times.contains_key(path) {
                continue;
            }
            let target = self.root.join(path);
            match target.symlink_metadata().and_then(|found| found.modified()) {
                Ok(time) => {
                    built.times.insert(path.clone(), time);
                }
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(error).at("read", &target),
            }
        }
        Ok(())
    }

    /// The time of a file at the last build, if it has the content of then in `variant`.
    fn time_when_built(&self, base: &Base, variant: &Variant, path: &Path) -> Option<SystemTime> {
        let built = self.built.as_ref()?;
        let same = built.variant.entry(base, path) == variant.entry(base, path);
        same.then(|| built.times.get(path).copied()).flatten()
    }

    /// Whether files appear or disappear between the last build and a variant, or one changes
    /// that `is_plan` knows to say how things are built. A build tool need not notice either:
    /// few makefiles depend on themselves, and what was made from a file that is gone
    /// stays where it is.
    pub fn is_rearranged_by(&self, base: &Base, variant: &Variant, is_plan: impl Fn(&Path) -> bool) -> bool {
        let Some(from) = self.built.as_ref().map(|built| &built.variant).or(self.holds.as_ref()) else {
            return false;
        };
        let appears = |path: &Path| from.entry(base, path).is_none() != variant.entry(base, path).is_none();
        differing(base, from, variant).iter().any(|path| appears(path) || is_plan(path))
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
        let snapshot = Snapshot::of(&self.root)?;
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
        let mut directories: Vec<&PathBuf> = after.directories.difference(&before.directories).collect();
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

/// Paths at which two variants hold different things, in order.
fn differing(base: &Base, one: &Variant, other: &Variant) -> Vec<PathBuf> {
    let paths: BTreeSet<&Path> = one.paths().chain(other.paths()).collect();
    let differs = |path: &&Path| one.entry(base, path) != other.entry(base, path);
    paths.into_iter().filter(differs).map(Path::to_owned).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::process::Command;

    /// Products are made within a tick of the file system's clock, and say what from.
    const MAKEFILE: &str = "\
all: a.out b.out sum
a.out: a.in common.in
\tcat a.in common.in > a.out; echo a >> journal
b.out: b.in common.in
\tcat b.in common.in > b.out; echo b >> journal
sum: a.out b.out
\tcat a.out b.out > sum; echo sum >> journal
";

    fn content(version: u8) -> Content {
        Content::File { bytes: format!("{version}\n").into_bytes().into(), executable: false }
    }

    fn variant(versions: [u8; 3]) -> Variant {
        let mut variant = Variant::default();
        for (name, version) in ["a.in", "b.in", "common.in"].iter().zip(versions) {
            // 0 is as in the base.
            if version > 0 {
                variant.put(name.into(), Some(content(version)));
            }
        }
        variant
    }

    fn make(tree: &Tree) -> Vec<String> {
        let made =
            Command::new("make").arg("-s").current_dir(tree.root()).env_remove("MAKEFLAGS").status().unwrap();
        assert!(made.success());
        let journal = fs::read_to_string(tree.root().join("journal")).unwrap_or_default();
        let _ = fs::remove_file(tree.root().join("journal"));
        let mut made: Vec<String> = journal.lines().map(str::to_owned).collect();
        made.sort();
        made
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(6))]

        /// Back and forth between versions, some of which are not built: exactly the products
        /// of what changed since the last build are made again, and none is ever stale.
        #[test]
        fn make_sees_every_change_and_no_other(
            steps in proptest::collection::vec(([0u8..3, 0..3, 0..3], proptest::bool::weighted(0.6)), 1..16)
        ) {
            let dir = tempfile::tempdir().unwrap();
            let root = dir.path().join("base");
            fs::create_dir(&root).unwrap();
            fs::write(root.join("Makefile"), MAKEFILE).unwrap();
            for name in ["a.in", "b.in", "common.in"] {
                fs::write(root.join(name), "0\n").unwrap();
            }
            let base = Base::read(&root).unwrap();
            let mut tree = Tree::new(dir.path().join("tree"));
            let mut last: Option<[u8; 3]> = None;
            for (now, build) in steps {
                tree.set(&base, &variant(now)).unwrap();
                if !build {
                    continue;
                }
                tree.begin_build();
                let made = make(&tree);
                let changed = |parts: &[usize]| last.is_none_or(|last| parts.iter().any(|p| last[*p] != now[*p]));
                let mut expected = Vec::new();
                if changed(&[0, 2]) { expected.push("a"); }
                if changed(&[1, 2]) { expected.push("b"); }
                if changed(&[0, 1, 2]) { expected.push("sum"); }
                prop_assert_eq!(made, expected);
                let sum = fs::read_to_string(tree.root().join("sum")).unwrap();
                prop_assert_eq!(sum, format!("{}\n{}\n{}\n{}\n", now[0], now[2], now[1], now[2]));
                tree.snapshot().unwrap();
                last = Some(now);
            }
        }
    }

    #[test]
    fn files_come_and_go_with_their_directories() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("base");
        fs::create_dir_all(root.join("kept")).unwrap();
        fs::write(root.join("kept/x"), "x").unwrap();
        fs::write(root.join("place"), "a file in bad").unwrap();
        let base = Base::read(&root).unwrap();
        let mut tree = Tree::new(dir.path().join("tree"));
        tree.set(&base, &Variant::default()).unwrap();
        let mut other = Variant::default();
        other.put("place".into(), None);
        other.put(
            "place/inner/file".into(),
            Some(Content::File { bytes: b"#!".to_vec().into(), executable: true }),
        );
        other.put("link".into(), Some(Content::Link("kept/x".into())));
        let changed = tree.set(&base, &other).unwrap();
        assert_eq!(changed.len(), 3);
        let file = tree.root().join("place/inner/file");
        assert_ne!(file.metadata().unwrap().permissions().mode() & 0o100, 0);
        assert_eq!(fs::read_to_string(tree.root().join("link")).unwrap(), "x");
        tree.set(&base, &Variant::default()).unwrap();
        assert_eq!(fs::read_to_string(tree.root().join("place")).unwrap(), "a file in bad");
        assert!(tree.root().join("link").symlink_metadata().is_err());
        assert_eq!(Base::read(tree.root()).unwrap().key(&Variant::default()), base.key(&Variant::default()));
    }

    #[test]
    fn the_key_is_that_of_the_content() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a.in"), "0\n").unwrap();
        let base = Base::read(dir.path()).unwrap();
        let bad = base.key(&Variant::default());
        let mut same = Variant::default();
        same.put("a.in".into(), Some(content(0)));
        same.put("gone".into(), None);
        assert_eq!(base.key(&same), bad);
        let mut other = Variant::default();
        other.put("a.in".into(), Some(content(1)));
        assert_ne!(base.key(&other), bad);
        other.put("a.in".into(), Some(Content::File { bytes: b"0\n".to_vec().into(), executable: true }));
        assert_ne!(base.key(&other), bad);
    }
}
