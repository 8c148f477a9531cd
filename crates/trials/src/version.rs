//! Resolves the versions that a user names.

use crate::error::{At, Error};
use crate::git::Repository;
use std::path::{Component, Path, PathBuf};

/// One version of the user's program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// As the user named it.
    pub name: String,
    /// The commit, if it is one.
    pub commit: Option<String>,
    pub(crate) source: Source,
    /// The user's subdirectory in the version: commands run there.
    pub subdirectory: PathBuf,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Commit(Repository),
    /// The current files: tracked ones, and untracked ones that are not ignored.
    WorkTree(Repository, PathBuf),
    Directory(PathBuf),
}

impl Version {
    /// Resolves `name`, relative to the current directory `here`:
    ///
    /// * the directory `here` itself, or one above it in the same repository: the working tree with all
    ///   uncommitted changes;
    /// * another directory: just that directory;
    /// * else a commit (tag, branch, `HEAD~3`, hash) of the repository.
    ///
    /// # Errors
    /// If it is none of these, or is ambiguous.
    pub fn resolve(name: &str, here: &Path) -> Result<Version, Error> {
        let here = here.canonicalize().at("find", here)?;
        let repository = Repository::around(&here);
        let place = here.join(name);
        let directory = place.is_dir().then(|| place.canonicalize()).transpose().at("find", &place)?;
        let is_path = matches!(
            Path::new(name).components().next(),
            Some(Component::CurDir | Component::ParentDir | Component::RootDir)
        );
        let commit = match (&repository, is_path || name.is_empty()) {
            (Some(repository), false) => repository.commit(name),
            _ => None,
        };
        match (directory, commit, repository) {
            (Some(_), Some(_), _) => Err(Error::AmbiguousVersion { name: name.to_owned() }),
            (None, Some(commit), Some(repository)) => {
                let subdirectory = subdirectory(&repository, &here);
                let source = Source::Commit(repository);
                Ok(Version { name: name.to_owned(), commit: Some(commit), source, subdirectory })
            }
            (Some(directory), None, repository) if !name.is_empty() => {
                let within = |r: &Repository| {
                    r.work_tree
                        .as_ref()
                        .is_some_and(|w| directory.starts_with(w) && here.starts_with(&directory))
                };
                let (source, subdirectory) = match repository.filter(within) {
                    Some(repository) => {
                        let subdirectory = subdirectory(&repository, &here);
                        (Source::WorkTree(repository, directory), subdirectory)
                    }
                    None => (Source::Directory(directory), PathBuf::new()),
                };
                Ok(Version { name: name.to_owned(), commit: None, source, subdirectory })
            }
            _ if !Repository::can_ask() => Err(Error::NoGit { name: name.to_owned() }),
            _ => Err(Error::NoSuchVersion { name: name.to_owned(), place: here }),
        }
    }

    /// The repository whose commit or working tree it is.
    #[must_use]
    pub fn repository(&self) -> Option<&Repository> {
        match &self.source {
            Source::Commit(repository) | Source::WorkTree(repository, _) => Some(repository),
            Source::Directory(_) => None,
        }
    }

    /// The commit that a working tree is based on.
    #[must_use]
    pub fn head(&self) -> Option<String> {
        self.repository()?.commit("HEAD")
    }

    /// Resolves both versions in the same mode: if the other version is a plain directory, `.` is a plain
    /// directory too, and not the working tree of the repository that contains it.
    ///
    /// # Errors
    /// As [`Version::resolve`].
    pub fn resolve_pair(good: &str, bad: &str, here: &Path) -> Result<(Version, Version), Error> {
        let (mut good, mut bad) = (Version::resolve(good, here)?, Version::resolve(bad, here)?);
        let plain = |v: &Version| matches!(v.source, Source::Directory(_));
        if plain(&good) || plain(&bad) {
            for version in [&mut good, &mut bad] {
                if let Source::WorkTree(_, directory) = &version.source {
                    version.source = Source::Directory(directory.clone());
                    version.subdirectory = PathBuf::new();
                }
            }
        }
        Ok((good, bad))
    }
}

fn subdirectory(repository: &Repository, here: &Path) -> PathBuf {
    let work_tree = repository.work_tree.as_ref().and_then(|w| w.canonicalize().ok());
    work_tree.and_then(|w| here.strip_prefix(w).ok().map(Path::to_owned)).unwrap_or_default()
}

/// The log of a `git bisect` in progress.
#[must_use]
pub fn bisect_log(repository: &Repository) -> Option<String> {
    std::fs::read_to_string(repository.git_dir.join("BISECT_LOG")).ok()
}

/// The versions that delimit a `git bisect` in progress: good, then bad. Among several good ones, the one
/// with the fewest commits between it and bad.
///
/// # Errors
/// If git fails.
pub fn bisect_marks(here: &Path) -> Result<Option<(String, String)>, Error> {
    let Some(repository) = Repository::around(here) else { return Ok(None) };
    // `git bisect terms`: a user may choose old and new, or other words.
    let terms = std::fs::read_to_string(repository.git_dir.join("BISECT_TERMS")).unwrap_or_default();
    let mut terms = terms.lines();
    let (bad_term, good_term) = (terms.next().unwrap_or("bad"), terms.next().unwrap_or("good"));
    let refs = repository
        .ask()
        .args(["for-each-ref", "--format=%(refname) %(objectname)", "refs/bisect/"])
        .bytes()?;
    let refs = String::from_utf8_lossy(&refs).into_owned();
    let marks = || refs.lines().filter_map(|l| l.strip_prefix("refs/bisect/")?.split_once(' '));
    let Some((_, bad)) = marks().find(|(name, _)| *name == bad_term) else { return Ok(None) };
    let mut nearest: Option<(u64, &str)> = None;
    for (name, good) in marks() {
        if name.strip_prefix(good_term).is_none_or(|rest| !rest.starts_with('-')) {
            continue;
        }
        let range = format!("{good}..{bad}");
        let between =
            repository.ask().args(["rev-list", "--count"]).arg(range).line()?.parse().unwrap_or(u64::MAX);
        if nearest.is_none_or(|(least, _)| between < least) {
            nearest = Some((between, good));
        }
    }
    Ok(nearest.map(|(_, good)| (good.to_owned(), bad.to_owned())))
}
