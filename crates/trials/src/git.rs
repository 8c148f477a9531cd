//! Runs git without letting it write to the user's repository.

use crate::error::Error;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A repository: the location of git's objects, and the work tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    pub(crate) git_dir: PathBuf,
    /// None for a bare repository.
    pub(crate) work_tree: Option<PathBuf>,
}

impl Repository {
    /// The repository that contains `place`, if there is one.
    #[must_use]
    pub fn around(place: &Path) -> Option<Repository> {
        let ask = |what: &str| -> Option<PathBuf> {
            let mut command = git();
            command.arg("-C").arg(place).args(["rev-parse", what]);
            let output = command.stderr(Stdio::null()).output().ok()?;
            let path = PathBuf::from(OsStr::from_bytes(output.stdout.strip_suffix(b"\n")?));
            (output.status.success() && path.is_absolute()).then_some(path)
        };
        Some(Repository { git_dir: ask("--absolute-git-dir")?, work_tree: ask("--show-toplevel") })
    }

    /// Whether git is installed.
    #[must_use]
    pub fn can_ask() -> bool {
        git().arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
    }

    /// Like [`Repository::around`], for a repository without a work tree (a submodule that is not checked
    /// out).
    pub(crate) fn of_objects(git_dir: &Path) -> Repository {
        Repository { git_dir: git_dir.to_owned(), work_tree: None }
    }

    /// A git command on this repository, run in `files` with a separate index.
    pub(crate) fn with_index(&self, index: &Path, files: &Path) -> GitCommand<'_> {
        let mut command = git();
        command.current_dir(files).arg("--git-dir").arg(&self.git_dir);
        command.arg("--work-tree").arg(files).env("GIT_INDEX_FILE", index);
        GitCommand { command, repository: self, words: Vec::new() }
    }

    /// A git command on this repository and its own work tree.
    pub(crate) fn ask(&self) -> GitCommand<'_> {
        let mut command = git();
        match &self.work_tree {
            Some(work_tree) => command.arg("-C").arg(work_tree),
            // A submodule's configuration may name a work tree that no longer exists. Naming one here
            // overrides it, and any will do.
            None => command.arg("--git-dir").arg(&self.git_dir).arg("--work-tree").arg(&self.git_dir),
        };
        GitCommand { command, repository: self, words: Vec::new() }
    }

    /// The commit that a name denotes.
    pub(crate) fn commit(&self, name: &str) -> Option<String> {
        let found = self.ask().args(["rev-parse", "--verify", "--quiet", "--end-of-options"]);
        let found = found.arg(format!("{name}^{{commit}}")).line().ok()?;
        (!found.is_empty()).then_some(found)
    }
}

fn git() -> Command {
    let mut command = Command::new("git");
    // This process may have been started by a hook of another repository.
    for name in
        ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY"]
    {
        command.env_remove(name);
    }
    command.env("GIT_OPTIONAL_LOCKS", "0").env("LC_ALL", "C").stdin(Stdio::null());
    // The first three would create files in the repository, the fourth adds text to the output, and the last
    // hides commits from `git blame`.
    for setting in [
        "core.splitIndex=false",
        "core.fsmonitor=false",
        "core.untrackedCache=false",
        "log.showSignature=false",
        "blame.ignoreRevsFile=",
    ] {
        command.args(["-c", setting]);
    }
    command
}

/// A git command under construction.
pub(crate) struct GitCommand<'a> {
    command: Command,
    repository: &'a Repository,
    words: Vec<String>,
}

impl GitCommand<'_> {
    pub fn arg(mut self, word: impl AsRef<OsStr>) -> Self {
        self.words.push(word.as_ref().to_string_lossy().into_owned());
        self.command.arg(word);
        self
    }

    pub fn args<const N: usize>(self, words: [&str; N]) -> Self {
        words.into_iter().fold(self, GitCommand::arg)
    }

    /// Objects missing in a partial clone are not fetched, because fetching would write to the repository;
    /// git reports an error instead.
    pub fn without_fetching(mut self) -> Self {
        self.command.env("GIT_NO_LAZY_FETCH", "1");
        self
    }

    /// Standard output, if git succeeded.
    pub fn bytes(mut self) -> Result<Vec<u8>, Error> {
        let output =
            self.command.output().map_err(|source| Error::Start { command: "git".to_owned(), source })?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let message = String::from_utf8_lossy(&output.stderr).trim().replace('\n', "; ");
        let message = if message.is_empty() { output.status.to_string() } else { message };
        let repository = self.repository;
        Err(Error::Git {
            repository: repository.work_tree.clone().unwrap_or_else(|| repository.git_dir.clone()),
            command: self.words.join(" "),
            message,
        })
    }

    /// The first line of standard output.
    pub fn line(self) -> Result<String, Error> {
        let bytes = self.bytes()?;
        Ok(String::from_utf8_lossy(&bytes).lines().next().unwrap_or_default().trim().to_owned())
    }

    /// Standard output of a command with `-z`.
    pub fn items(self) -> Result<Vec<Vec<u8>>, Error> {
        let bytes = self.bytes()?;
        Ok(bytes.split(|b| *b == 0).filter(|item| !item.is_empty()).map(<[u8]>::to_vec).collect())
    }
}
