//! The work directory.
//!
//! ```text
//! .gitignore        so that git ignores the whole directory
//! lock              held while a process uses the directory; contains its identity
//! outcomes          the stored outcomes of trials
//! cache/            objects, shared by all builds
//! logs/             one per build, of the last run
//! recordings/       of the last run
//! runs/             outputs of tests of the last run
//! units/            how each source file is compiled, as recorded by the last run's builds
//! trees/            sources and builds; removed at the end, but for those that a recording refers to
//! tmp/              the tests' TMPDIR; removed at the end
//! ```

use crate::error::{At, Error};
use crate::process_marks;
use crate::tree::remove_all;
use crate::watchdog::Watchdog;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// A work directory, locked until this is dropped.
#[derive(Debug)]
pub struct Work {
    root: PathBuf,
    lock: File,
    /// Kills our processes if we are killed.
    _watchdog: Watchdog,
    /// Keep the trees for inspection.
    pub keep: bool,
    /// Recordings and the trees in which their programs were built.
    recorded: Mutex<Vec<(PathBuf, PathBuf)>>,
}

const TREES: &str = "trees";
/// Removed at the end of the run.
const TEMPORARY_DIRS: [&str; 2] = [TREES, "tmp"];
/// Kept until the next run.
const LAST_RUN_DIRS: [&str; 4] = ["logs", "recordings", "runs", "units"];

impl Work {
    /// Creates the directory if necessary, and locks it. If its last holder was killed, removes the
    /// trees that it left, and kills processes that its watchdog missed.
    ///
    /// # Errors
    /// [`Error::Busy`], or if it cannot be written.
    pub fn open(root: &Path, keep: bool) -> Result<Work, Error> {
        fs::create_dir_all(root).at("create", root)?;
        let root = root.canonicalize().at("find", root)?;
        let path = root.join("lock");
        let mut options = OpenOptions::new();
        let mut lock =
            options.read(true).write(true).create(true).truncate(false).open(&path).at("open", &path)?;
        let taken = lock.try_lock();
        let mut holder = String::new();
        lock.read_to_string(&mut holder).at("read", &path)?;
        match taken {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let holder = holder.split('-').next().unwrap_or_default().to_owned();
                return Err(Error::Busy { directory: root, holder });
            }
            Err(TryLockError::Error(error)) => return Err(error).at("lock", &path),
        }
        if !holder.trim().is_empty() {
            process_marks::kill_session(holder.trim());
        }
        let mut work = Work { root, lock, _watchdog: Watchdog::start()?, keep, recorded: Mutex::default() };
        work.sign(process_marks::session()).at("write", &path)?;
        let ignore = work.root.join(".gitignore");
        fs::write(&ignore, "*\n").at("write", &ignore)?;
        for name in TEMPORARY_DIRS.iter().chain(&LAST_RUN_DIRS) {
            remove_all(&work.root.join(name))?;
        }
        for name in TEMPORARY_DIRS.iter().chain(&LAST_RUN_DIRS).chain(&["cache"]) {
            let path = work.root.join(name);
            fs::create_dir_all(&path).at("create", &path)?;
        }
        Ok(work)
    }

    fn sign(&mut self, name: &str) -> std::io::Result<()> {
        self.lock.rewind()?;
        self.lock.set_len(0)?;
        self.lock.write_all(name.as_bytes())
    }

    /// The absolute path of the work directory.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The directory to which the files of the good or bad version are checked out.
    #[must_use]
    pub fn sources(&self, name: &str) -> PathBuf {
        self.root.join("trees/sources").join(name)
    }

    pub(crate) fn tree(&self, name: &str) -> PathBuf {
        self.root.join("trees").join(name)
    }

    pub(crate) fn cache(&self) -> PathBuf {
        self.root.join("cache")
    }

    pub(crate) fn units(&self) -> PathBuf {
        self.root.join("units")
    }

    pub(crate) fn log(&self, name: &str) -> PathBuf {
        self.root.join("logs").join(name)
    }

    pub(crate) fn run(&self, name: &str) -> PathBuf {
        self.root.join("runs").join(name)
    }

    pub(crate) fn recording(&self, name: &str) -> PathBuf {
        self.root.join("recordings").join(name)
    }

    /// Keeps a tree until the next run if the recording of its program is kept: the recording refers to its
    /// sources and its program.
    pub(crate) fn keep_tree_of(&self, recording: &Path, tree: &Path) {
        let mut recorded = self.recorded.lock().unwrap_or_else(PoisonError::into_inner);
        recorded.push((recording.to_owned(), tree.to_owned()));
    }

    /// Removes the trees that no recording refers to.
    fn remove_trees(&self) {
        let recorded = self.recorded.lock().unwrap_or_else(PoisonError::into_inner);
        let is_kept = |tree: &Path| recorded.iter().any(|(recording, of)| of == tree && recording.exists());
        let trees = self.root.join(TREES);
        for tree in fs::read_dir(&trees).into_iter().flatten().flatten() {
            if !is_kept(&tree.path()) {
                // Errors cannot be reported here.
                let _ = remove_all(&tree.path());
            }
        }
        let _ = fs::remove_dir(&trees);
    }

    /// An empty directory for temporary files.
    pub fn fresh_tmp(&self, name: &str) -> Result<PathBuf, Error> {
        let path = self.root.join("tmp").join(name);
        remove_all(&path)?;
        fs::create_dir_all(&path).at("create", &path)?;
        Ok(path)
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.root.join("outcomes")
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        // Errors cannot be reported here.
        if !self.keep {
            self.remove_trees();
            for name in TEMPORARY_DIRS.iter().filter(|name| **name != TREES) {
                let _ = remove_all(&self.root.join(name));
            }
        }
        let _ = self.sign("");
        // Closing the file is not enough: a process that another thread is starting may hold a copy of it.
        let _ = self.lock.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let work = Work::open(dir.path(), false).unwrap();
        let error = Work::open(dir.path(), false).unwrap_err();
        let Error::Busy { holder, .. } = &error else { panic!("{error}") };
        assert_eq!(*holder, std::process::id().to_string());
        drop(work);
        Work::open(dir.path(), false).unwrap();
    }

    #[test]
    fn what_a_killed_run_left_behind_goes() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("lock"), "999999-abc").unwrap();
        fs::create_dir_all(dir.path().join("trees/w00")).unwrap();
        fs::write(dir.path().join("trees/w00/a.c"), "").unwrap();
        let mut stray = std::process::Command::new("sleep")
            .arg("60")
            .env(process_marks::Mark::VARIABLE, "999999-abc.4")
            .spawn()
            .unwrap();
        let mut other = std::process::Command::new("sleep")
            .arg("60")
            .env(process_marks::Mark::VARIABLE, "999999-abcd.4")
            .spawn()
            .unwrap();
        let work = Work::open(dir.path(), false).unwrap();
        assert!(!work.tree("w00").exists());
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&stray.wait().unwrap()), Some(9));
        assert_eq!(other.try_wait().unwrap(), None);
        other.kill().unwrap();
        other.wait().unwrap();
    }

    #[test]
    fn the_tree_of_a_recording_stays_until_the_next_run() {
        let dir = tempfile::tempdir().unwrap();
        let work = Work::open(dir.path(), false).unwrap();
        for name in ["bad", "good", "w00"] {
            fs::create_dir(work.tree(name)).unwrap();
            fs::write(work.tree(name).join("a.c"), "").unwrap();
        }
        fs::create_dir(work.recording("bad")).unwrap();
        work.keep_tree_of(&work.recording("bad"), &work.tree("bad"));
        // This recording was removed again.
        work.keep_tree_of(&work.recording("good"), &work.tree("good"));
        drop(work);
        let left: Vec<_> = fs::read_dir(dir.path().join("trees")).unwrap().flatten().collect();
        assert_eq!(left.iter().map(std::fs::DirEntry::file_name).collect::<Vec<_>>(), ["bad"]);
        let work = Work::open(dir.path(), false).unwrap();
        assert!(!work.tree("bad").exists());
        drop(work);
        assert!(!dir.path().join("trees").exists());
    }

    #[test]
    fn trees_go_and_the_rest_stays() {
        let dir = tempfile::tempdir().unwrap();
        for keep in [false, true] {
            let work = Work::open(dir.path(), keep).unwrap();
            fs::create_dir(work.tree("w00")).unwrap();
            fs::set_permissions(work.tree("w00"), std::os::unix::fs::PermissionsExt::from_mode(0o500))
                .unwrap();
            fs::write(work.log("build"), "done").unwrap();
            drop(work);
            assert_eq!(dir.path().join("trees/w00").exists(), keep);
            assert!(dir.path().join("logs/build").exists());
        }
    }
}
