//! Finds clang and its linker, and stores the runtime object where the linker can read it.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The runtime, linked into every program; built by this crate's build script.
const RUNTIME: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/relapse_runtime.o"));

/// File name of the runtime object, by which a second copy on a command line is recognised.
pub const RUNTIME_NAME: &str = "relapse_runtime.o";

/// The clang to run: `named` if given, else version 22 from Debian's location. Never `myself`,
/// which may be in `PATH` under a compiler's name: the driver would call itself endlessly.
pub fn find_clang(named: Option<&Path>, myself: Option<&Path>) -> Option<PathBuf> {
    let myself = myself.map(|path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()));
    let is_other = |path: &PathBuf| fs::canonicalize(path).ok() != myself || myself.is_none();
    if let Some(path) = named {
        let is_name = path.components().count() == 1 && path.file_name() == Some(path.as_os_str());
        return if is_name { search_path(path, is_other) } else { Some(path.to_owned()).filter(is_other) };
    }
    let well_known = ["/usr/bin/clang-22", "/usr/lib/llvm-22/bin/clang", "/usr/local/bin/clang-22"];
    well_known
        .iter()
        .map(PathBuf::from)
        .find(|path| path.is_file() && is_other(path))
        .or_else(|| search_path(Path::new("clang-22"), is_other))
}

/// Searches `name` in the directories of `PATH`.
fn search_path(name: &Path, is_wanted: impl Fn(&PathBuf) -> bool) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(name)).find(|file| file.is_file() && is_wanted(file))
}

/// Whether lld is installed beside clang, so that `-fuse-ld=lld` works.
pub fn has_lld(clang: &Path) -> bool {
    let real = fs::canonicalize(clang).unwrap_or_else(|_| clang.to_owned());
    real.parent().is_some_and(|dir| dir.join("ld.lld").exists())
}

/// Writes the runtime object into `cache` (or `fallback`, if that is not writable) and returns its
/// path. The directory name is a hash of the content, so different builds of this program do not
/// interfere. The file is created by rename, so that a parallel `make` never reads a partial file.
pub fn runtime_object(cache: Option<&Path>, fallback: &Path) -> io::Result<PathBuf> {
    let hash = xxhash_rust::xxh3::xxh3_128(RUNTIME);
    if let Some(cache) = cache
        && let Ok(path) = place(&cache.join("relapse").join(format!("{hash:032x}")))
    {
        return Ok(path);
    }
    place(fallback)
}

fn place(dir: &Path) -> io::Result<PathBuf> {
    let path = dir.join(RUNTIME_NAME);
    if fs::metadata(&path).is_ok_and(|meta| meta.len() == RUNTIME.len() as u64) {
        return Ok(path);
    }
    fs::create_dir_all(dir)?;
    let mut file = tempfile::NamedTempFile::new_in(dir)?;
    file.write_all(RUNTIME)?;
    file.persist(&path).map_err(|error| error.error)?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runtime_is_cached_once_and_falls_back_when_the_cache_is_no_folder() {
        let dir = tempfile::tempdir().unwrap();
        let first = runtime_object(Some(dir.path()), Path::new("/nonexistent")).unwrap();
        assert_eq!(fs::read(&first).unwrap(), RUNTIME);
        assert_eq!(runtime_object(Some(dir.path()), Path::new("/nonexistent")).unwrap(), first);

        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        let second = runtime_object(Some(&file), dir.path()).unwrap();
        assert_eq!(second, dir.path().join(RUNTIME_NAME));
    }
}
