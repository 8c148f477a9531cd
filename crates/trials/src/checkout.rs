//! Writes versions as file trees into the work directory.
//!
//! Nothing here writes to the user's repository. A commit is read into a separate index file and written out
//! from there. `git worktree` would leave an entry in the repository, and `git archive` would omit files that
//! `.gitattributes` marks `export-ignore`.

use crate::built;
use crate::error::{At, Error};
use crate::git::Repository;
use crate::version::{Source, Version};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, File, FileTimes};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A version as files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkout {
    /// The absolute path of the directory with the files.
    pub root: PathBuf,
    /// The directory in it where commands run.
    pub subdirectory: PathBuf,
    /// Notes for the user, for example about a missing submodule.
    pub notes: Vec<String>,
}

impl Version {
    /// Writes the version's files to `root`, which must not exist or must be empty. `without` is left out if
    /// it is inside a directory that is copied (the work directory).
    ///
    /// # Errors
    /// If git or the file system report an error.
    pub fn check_out(&self, root: &Path, without: &Path) -> Result<Checkout, Error> {
        fs::create_dir_all(root).at("create", root)?;
        let root = root.canonicalize().at("find", root)?;
        let (without, now) = (without.to_owned(), SystemTime::now());
        let mut writer = Writer { notes: Vec::new(), products: Vec::new(), without, now };
        match &self.source {
            Source::Commit(repository) => {
                let commit = self.commit.as_deref().unwrap_or_default();
                writer.commit(repository, commit, &root)?;
            }
            Source::WorkTree(repository, _) => {
                writer.work_tree(repository.work_tree.as_deref().unwrap_or(Path::new(".")), &root)?;
            }
            Source::Directory(directory) => writer.directory(directory, &root)?,
        }
        let from = match &self.source {
            Source::Commit(_) => Path::new("."),
            Source::WorkTree(_, directory) | Source::Directory(directory) => directory,
        };
        let products: Vec<PathBuf> =
            writer.products.iter().map(|path| path.strip_prefix(from).unwrap_or(path).to_owned()).collect();
        writer.notes.extend(built::note(Path::new(&self.name), &products));
        if !root.join(&self.subdirectory).is_dir() {
            return Err(Error::NoSubdirectory {
                version: self.name.clone(),
                directory: self.subdirectory.clone(),
            });
        }
        Ok(Checkout { root, subdirectory: self.subdirectory.clone(), notes: writer.notes })
    }
}

struct Writer {
    notes: Vec<String>,
    /// Products of an earlier build.
    products: Vec<PathBuf>,
    without: PathBuf,
    now: SystemTime,
}

impl Writer {
    fn commit(&mut self, repository: &Repository, commit: &str, root: &Path) -> Result<(), Error> {
        let index = tempfile::Builder::new().prefix(".index").tempdir_in(root).at("create", root)?;
        let index_file = index.path().join("index");
        repository.with_index(&index_file, root).arg("read-tree").arg(commit).bytes()?;
        let written = repository.with_index(&index_file, root).args(["checkout-index", "--all", "--force"]);
        // Without `-u` the index is not updated, and without `-q` errors are reported.
        written.bytes()?;
        let entries = repository.with_index(&index_file, root).args(["ls-files", "--stage", "-z"]).items()?;
        drop(index);
        // Files of one commit get the same time: make must not rebuild a file because another one was written
        // a moment later.
        let date = repository.ask().args(["show", "--no-patch", "--format=%ct"]).arg(commit).line()?;
        let date = SystemTime::UNIX_EPOCH + Duration::from_secs(date.parse().unwrap_or(0));
        for entry in &entries {
            // "mode hash stage\tpath"
            let Some(tab) = entry.iter().position(|b| *b == b'\t') else { continue };
            let path = Path::new(OsStr::from_bytes(&entry[tab + 1..]));
            let fields = String::from_utf8_lossy(&entry[..tab]).into_owned();
            let mut fields = fields.split(' ');
            let (mode, hash) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
            match mode {
                "160000" => self.submodule(repository, path, hash, root)?,
                "120000" => {}
                _ => set_time(&root.join(path), date.min(self.now))?,
            }
        }
        Ok(())
    }

    fn submodule(
        &mut self,
        parent: &Repository,
        path: &Path,
        commit: &str,
        root: &Path,
    ) -> Result<(), Error> {
        let target = root.join(path);
        fs::create_dir_all(&target).at("create", &target)?;
        let has = |r: &Repository| r.ask().args(["cat-file", "-e"]).arg(commit).bytes().is_ok();
        match places(parent, path, root).into_iter().find(has) {
            Some(repository) => self.commit(&repository, commit, &target),
            None => {
                self.notes.push(format!(
                    "the submodule {} is empty: its commit {commit} is not here (git submodule update --init fetches it)",
                    path.display()
                ));
                Ok(())
            }
        }
    }

    fn work_tree(&mut self, from: &Path, root: &Path) -> Result<(), Error> {
        let Some(repository) = Repository::around(from) else { return self.directory(from, root) };
        let tracked: HashSet<PathBuf> = listed(&repository, from, &["--cached"])?.into_iter().collect();
        for path in listed(&repository, from, &ALL)? {
            let (source, target) = (from.join(&path), root.join(&path));
            let Ok(found) = source.symlink_metadata() else { continue }; // deleted, but still tracked
            if source.starts_with(&self.without) {
                continue;
            }
            if found.is_file() && !tracked.contains(&path) && built::is_product(&source) {
                self.products.push(source);
                continue;
            }
            if found.is_dir() {
                // A submodule, or a repository that is unknown to this one.
                fs::create_dir_all(&target).at("create", &target)?;
                if source.join(".git").exists() {
                    self.work_tree(&source, &target)?;
                }
            } else {
                self.copy(&source, &target)?;
            }
        }
        Ok(())
    }

    /// All files, or those that git would list.
    fn directory(&mut self, from: &Path, root: &Path) -> Result<(), Error> {
        if let Some(repository) = Repository::around(from)
            && !listed(&repository, from, &ALL)?.is_empty()
        {
            return self.work_tree(from, root);
        }
        self.copy_all(from, root)
    }

    fn copy_all(&mut self, from: &Path, root: &Path) -> Result<(), Error> {
        for entry in fs::read_dir(from).at("read", from)? {
            let entry = entry.at("read", from)?;
            let (source, target) = (entry.path(), root.join(entry.file_name()));
            if entry.file_name() == ".git" || source == self.without || root.starts_with(&source) {
                continue;
            }
            let kind = entry.file_type().at("read", &source)?;
            let is_product = || match kind.is_dir() {
                true => built::is_product_directory(&source),
                false => kind.is_file() && built::is_product(&source),
            };
            if is_product() {
                self.products.push(source);
            } else if kind.is_dir() {
                fs::create_dir_all(&target).at("create", &target)?;
                self.copy_all(&source, &target)?;
            } else {
                self.copy(&source, &target)?;
            }
        }
        Ok(())
    }

    fn copy(&mut self, source: &Path, target: &Path) -> Result<(), Error> {
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent).at("create", parent)?;
        }
        copy_entry(source, target, self.now)
    }
}

/// Repositories that may contain a submodule's commits: git's own copies, and the checked-out one.
fn places(parent: &Repository, path: &Path, root: &Path) -> Vec<Repository> {
    let mut found = Vec::new();
    let modules = root.join(".gitmodules");
    let names = parent.ask().args(["config", "-f"]).arg(&modules);
    let names = names.args(["--null", "--get-regexp", "^submodule\\..*\\.path$"]);
    // "submodule.NAME.path\nPATH"; without the file there are no names.
    for item in names.items().unwrap_or_default() {
        let item = String::from_utf8_lossy(&item).into_owned();
        let Some((key, value)) = item.split_once('\n') else { continue };
        let name = key.strip_prefix("submodule.").and_then(|k| k.strip_suffix(".path"));
        if let (Some(name), true) = (name, Path::new(value) == path) {
            let common =
                parent.ask().args(["rev-parse", "--path-format=absolute", "--git-common-dir"]).line();
            for git_dir in [common.map(PathBuf::from).unwrap_or_default(), parent.git_dir.clone()] {
                found.push(git_dir.join("modules").join(name));
            }
        }
    }
    let mut found: Vec<_> =
        found.into_iter().filter(|p| p.is_dir()).map(|p| Repository::of_objects(&p)).collect();
    if let Some(checked_out) = parent.work_tree.as_ref().map(|w| w.join(path))
        && checked_out.join(".git").exists()
    {
        found.extend(Repository::around(&checked_out));
    }
    found
}

/// Tracked files and others that are not ignored.
const ALL: [&str; 3] = ["--cached", "--others", "--exclude-standard"];

/// The files below a directory that git lists, relative to it.
fn listed(repository: &Repository, below: &Path, which: &[&str]) -> Result<Vec<PathBuf>, Error> {
    let from_here = Repository { git_dir: repository.git_dir.clone(), work_tree: Some(below.to_owned()) };
    let asked = which.iter().fold(from_here.ask().args(["ls-files", "-z"]), |asked, word| asked.arg(word));
    let items = asked.items()?;
    let mut paths: Vec<PathBuf> = items.iter().map(|i| PathBuf::from(OsStr::from_bytes(i))).collect();
    // A path in conflict is listed once for each side.
    paths.sort();
    paths.dedup();
    Ok(paths)
}

/// Copies a file with its permissions and time, or a symbolic link. Pipes, sockets and devices are skipped.
pub(crate) fn copy_entry(source: &Path, target: &Path, latest: SystemTime) -> Result<(), Error> {
    let found = source.symlink_metadata().at("read", source)?;
    if found.is_symlink() {
        let to = fs::read_link(source).at("read", source)?;
        return std::os::unix::fs::symlink(to, target).at("create", target);
    }
    if !found.is_file() {
        return Ok(());
    }
    fs::copy(source, target).at("copy", source)?;
    // A file with a future time would be newer than everything built from it.
    set_time(target, found.modified().unwrap_or(latest).min(latest))
}

pub(crate) fn set_time(path: &Path, time: SystemTime) -> Result<(), Error> {
    // Setting the time needs no write permission.
    let file = File::open(path).at("open", path)?;
    file.set_times(FileTimes::new().set_modified(time)).at("set the time of", path)
}
