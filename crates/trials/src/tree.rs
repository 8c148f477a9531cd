//! A worker's own file tree, updated from one variant to the next by writing only what differs.
//!
//! Build tools compare times. A file that gets different content, from an older or a newer variant, must
//! afterwards be newer than everything that was ever built from it, and no other file may be touched. Times
//! are taken from the file system's own clock, because products get theirs from there. Where that clock is
//! too coarse to be later than the newest product, the update waits for it.
//!
//! Between two builds a tree may hold variants that are only checked. A file whose content from the last
//! build is restored also gets its time back, because the products made from it are not out of date.

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
    /// The variant it holds, apart from build products; `None`: nothing yet.
    holds: Option<Variant>,
    /// An upper bound of the times of its files.
    newest: SystemTime,
    /// The input of the last build; `None`: nothing was built since the tree was empty.
    built: Option<BuildInput>,
}

/// The input of a build, whether it succeeded or not.
#[derive(Clone, Debug)]
struct BuildInput {
    variant: Variant,
    /// The build-time modification times of files that were written since.
    times: HashMap<PathBuf, SystemTime>,
}

impl Tree {
    #[must_use]
    pub fn new(root: PathBuf) -> Tree {
        Tree { root, holds: None, newest: SystemTime::UNIX_EPOCH, built: None }
    }

    /// The same files at another path, where the caller has put them.
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

    /// Empties the tree: the next [`Tree::set`] starts from scratch.
    ///
    /// # Errors
    /// If files cannot be removed.
    pub fn wipe(&mut self) -> Result<(), Error> {
        (self.holds, self.built) = (None, None);
        self.newest = SystemTime::UNIX_EPOCH;
        remove_all(&self.root)
    }

    /// Makes the tree hold a variant. Returns the paths that were written or removed; all of them if the tree
    /// was empty.
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
        self.save_times(&changed)?;
        // Removals first: a directory may have to be replaced by a file.
        for path in changed.iter().filter(|p| variant.entry(base, p).is_none()) {
            self.remove(path)?;
        }
        // The same time for all: none of them is newer than another.
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

    /// Must be called before each build of the tree.
    pub fn begin_build(&mut self) {
        self.built = self.holds.clone().map(|variant| BuildInput { variant, times: HashMap::new() });
    }

    /// Saves the times of files that are about to be written, unless they were already written since the last
    /// build.
    fn save_times(&mut self, changed: &[PathBuf]) -> Result<(), Error> {
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

    /// The time of a file at the last build, if `variant` has the same content as that build.
    fn time_when_built(&self, base: &Base, variant: &Variant, path: &Path) -> Option<SystemTime> {
        let built = self.built.as_ref()?;
        let same = built.variant.entry(base, path) == variant.entry(base, path);
        same.then(|| built.times.get(path).copied()).flatten()
    }

    /// Whether files appear or disappear between the last build and a variant, or a file changes that
    /// `is_build_file` recognises as defining the build. A build tool may miss both: few makefiles depend on
    /// themselves, and the products of a deleted file remain.
    pub fn needs_clean_build(
        &self,
        base: &Base,
        variant: &Variant,
        is_build_file: impl Fn(&Path) -> bool,
    ) -> bool {
        let Some(from) = self.built.as_ref().map(|built| &built.variant).or(self.holds.as_ref()) else {
            return false;
        };
        let appears = |path: &Path| from.entry(base, path).is_none() != variant.entry(base, path).is_none();
        differing(base, from, variant).iter().any(|path| appears(path) || is_build_file(path))
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
        // They get the times of the files they replace: a file and another generated from it that were both
        // changed must not appear to be out of date.
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
        // Replaced by a new file, because the old one may be read-only or a link.
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
                    // Execution is permitted wherever reading is.
                    permissions.set_mode(permissions.mode() | (permissions.mode() & 0o444) >> 2);
                    fs::set_permissions(&target, permissions).at("set the permissions of", &target)?;
                }
                Ok(())
            }
            Some(Some(Content::Link(to))) => std::os::unix::fs::symlink(to, &target).at("create", &target),
        }
    }

    /// A time later than everything in the tree. The clock that gives products their times cannot be read
    /// directly, so a probe file is used.
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
                // A file in the tree has a future time.
                break self.newest + Duration::from_secs(1);
            }
            std::thread::sleep(Duration::from_millis(1));
        };
        fs::remove_file(&probe).at("remove", &probe)?;
        Ok(later)
    }

    /// Sets the time of a file. Links are left unchanged, because their time is that of their target.
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
        // Directories that become empty are removed too, as git does it.
        let mut parent = target.parent();
        while let Some(directory) = parent.filter(|d| *d != self.root && d.starts_with(&self.root)) {
            if fs::remove_dir(directory).is_err() {
                break;
            }
            parent = directory.parent();
        }
        Ok(())
    }

    /// The contents of the tree, for detecting later what a test modified. The next change will be newer than
    /// everything there.
    ///
    /// # Errors
    /// If the tree cannot be read.
    pub fn snapshot(&mut self) -> Result<Snapshot, Error> {
        let snapshot = Snapshot::of(&self.root)?;
        self.newest = snapshot.files.values().map(|s| s.modified).fold(self.newest, SystemTime::max);
        Ok(snapshot)
    }

    /// Undoes what a test did: new files are removed, files of the version get their content and time back.
    /// Returns whether products were changed, which requires a build.
    ///
    /// # Errors
    /// If files cannot be read or written.
    pub fn restore(&mut self, base: &Base, before: &Snapshot) -> Result<bool, Error> {
        let after = self.snapshot()?;
        for path in after.files.keys().filter(|p| !before.files.contains_key(*p)) {
            let target = self.root.join(path);
            fs::remove_file(&target).at("remove", &target)?;
        }
        // Inner directories first.
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

/// Paths at which two variants differ, in order.
fn differing(base: &Base, one: &Variant, other: &Variant) -> Vec<PathBuf> {
    let paths: BTreeSet<&Path> = one.paths().chain(other.paths()).collect();
    let differs = |path: &&Path| one.entry(base, path) != other.entry(base, path);
    paths.into_iter().filter(differs).map(Path::to_owned).collect()
}

/// Removes a directory recursively, including directories for which a build removed the write permission.
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

    /// Products are made within a tick of the file system's clock, and contain the names of their inputs.
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

        /// Arbitrary sequences of versions, some of which are not built: exactly the products of what changed
        /// since the last build are rebuilt, and none is ever stale.
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
