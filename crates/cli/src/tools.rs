//! The compilers and the directory for building versions.

use crate::commands::compile;
use crate::failure::{Exit, Failure};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use trials::Tools;

/// The tools for building versions, and the work directory.
pub struct Builder {
    pub tools: Tools,
    /// A directory in which the usual compiler names are links to our driver.
    pub compilers: PathBuf,
    pub work: PathBuf,
}

impl Builder {
    /// `work` is the directory given by the user, if any; otherwise `key` identifies a directory for the
    /// project and command in the user's cache directory.
    pub fn new(work: Option<&PathBuf>, key: &Path) -> Result<Builder, Failure> {
        let work = match work {
            Some(directory) => directory.clone(),
            None => work_directory(key)?,
        };
        let mut tools = find()?;
        let compilers = compilers(&work, &tools)?;
        tools.cxx = compilers.join("c++");
        Ok(Builder { tools, compilers, work })
    }
}

/// Finds the compiler drivers next to this executable.
fn find() -> Result<Tools, Failure> {
    let compile::Programs { relapse, cc } = compile::programs()?;
    let Some(clang) = driver::clang() else {
        return Err(Failure::failed_to(Exit::NoClang, "find clang 22, which builds the versions")
            .hint("Install clang-22 and lld-22, or name a clang in RELAPSE_CLANG."));
    };
    let symbolizer =
        std::fs::canonicalize(&clang).unwrap_or_else(|_| clang.clone()).with_file_name("llvm-symbolizer");
    Ok(Tools {
        cxx: cc.with_file_name("relapse-c++"),
        identity: identity(&cc),
        cc,
        relapse,
        symbolizer: Some(symbolizer).filter(|path| path.is_file()),
        clang: Some(clang),
    })
}

/// Creates the directory of [`Builder::compilers`].
fn compilers(work: &Path, tools: &Tools) -> Result<PathBuf, Failure> {
    let directory = std::path::absolute(work.join("compilers")).unwrap_or_else(|_| work.join("compilers"));
    driver::shims(&directory, &tools.cc).map_err(|e| Failure::failed_to(Exit::Environment, e))?;
    Ok(directory)
}

/// Identifies the build of the driver: a different build may compile differently.
fn identity(cc: &Path) -> String {
    let stamp = std::fs::metadata(cc).and_then(|m| Ok((m.len(), m.modified()?))).ok();
    format!("{} {stamp:?}", env!("CARGO_PKG_VERSION"))
}

/// A project-specific directory in the user's cache directory.
fn work_directory(here: &Path) -> Result<PathBuf, Failure> {
    let variable = |name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let cache = variable("XDG_CACHE_HOME")
        .filter(|p| p.is_absolute())
        .or_else(|| variable("HOME").map(|home| home.join(".cache")))
        .ok_or_else(|| {
            Failure::new(Exit::Environment, "there is no place for builds: HOME is not set")
                .hint("Name a directory with --work.")
        })?;
    let mut hasher = DefaultHasher::new();
    here.hash(&mut hasher);
    let name = here.file_name().unwrap_or_default().to_string_lossy();
    Ok(cache.join("relapse").join(format!("{name}-{:016x}", hasher.finish())))
}
