//! The names under which the driver may be called, and a directory of such names.
//!
//! Some builds ignore `CC` and call `gcc` or `c++` by name. With a directory of links with these
//! names first in `PATH`, they call the driver.

use std::ffi::OsStr;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::Language;

/// Names by which builds call a compiler.
const NAMES: &[&str] = &[
    "cc",
    "gcc",
    "clang",
    "c99",
    "c89",
    "x86_64-linux-gnu-gcc",
    "c++",
    "g++",
    "clang++",
    "x86_64-linux-gnu-g++",
];

/// The reason why the directory of names could not be created. Texts fit after "failed to".
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // The texts document each variant.
pub enum ShimError {
    #[error("find the compiler driver {path}: {error}", path = path.display())]
    Driver { path: PathBuf, error: io::Error },
    #[error("make the compiler name {path}: {error}", path = path.display())]
    Link { path: PathBuf, error: io::Error },
}

/// Fills `dir` with the usual names of compilers, each a link to the driver at `relapse_cc`.
/// Correct links are kept.
///
/// ```no_run
/// driver::shims("shims".as_ref(), "/usr/bin/relapse-cc".as_ref())?;
/// # Ok::<(), driver::ShimError>(())
/// ```
pub fn shims(dir: &Path, relapse_cc: &Path) -> Result<(), ShimError> {
    let driver = std::fs::canonicalize(relapse_cc)
        .map_err(|error| ShimError::Driver { path: relapse_cc.to_owned(), error })?;
    std::fs::create_dir_all(dir).map_err(|error| ShimError::Link { path: dir.to_owned(), error })?;
    for name in NAMES {
        let path = dir.join(name);
        link(&driver, &path).map_err(|error| ShimError::Link { path, error })?;
    }
    Ok(())
}

fn link(driver: &Path, path: &Path) -> io::Result<()> {
    if std::fs::read_link(path).is_ok_and(|target| target == driver) {
        return Ok(());
    }
    // Created by rename, because the directory may be in use.
    let dir = path.parent().unwrap_or(Path::new("."));
    let temp = tempfile::Builder::new().prefix(".shim-").make_in(dir, |temp| symlink(driver, temp))?;
    temp.into_temp_path().persist(path).map_err(|error| error.error)
}

/// The language that the name `program` implies, and the option that it implies.
pub fn called_as(program: &OsStr) -> (Language, Option<&'static str>) {
    let name = Path::new(program).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let name = without_version(&name);
    match name {
        "c89" => (Language::C, Some("-std=c90")),
        "c99" => (Language::C, Some("-std=c99")),
        _ if name.ends_with("++") || name.ends_with("cxx") => (Language::Cxx, None),
        _ => (Language::C, None),
    }
}

/// Removes a version suffix: `g++-14` is `g++`.
fn without_version(name: &str) -> &str {
    match name.rsplit_once('-') {
        Some((stem, version))
            if !version.is_empty() && version.bytes().all(|b| b.is_ascii_digit() || b == b'.') =>
        {
            stem
        }
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_language_and_standard() {
        for (name, language, standard) in [
            ("cc", Language::C, None),
            ("/usr/bin/gcc", Language::C, None),
            ("relapse-cc", Language::C, None),
            ("relapse-c++", Language::Cxx, None),
            ("./g++", Language::Cxx, None),
            ("clang++-22", Language::Cxx, None),
            ("x86_64-linux-gnu-g++-14.2", Language::Cxx, None),
            ("clang-22", Language::C, None),
            ("c99", Language::C, Some("-std=c99")),
            ("c89", Language::C, Some("-std=c90")),
        ] {
            assert_eq!(called_as(OsStr::new(name)), (language, standard), "{name}");
        }
    }

    #[test]
    fn shims_are_made_once_and_repaired() {
        let dir = tempfile::tempdir().unwrap();
        let driver = dir.path().join("relapse-cc");
        std::fs::write(&driver, "").unwrap();
        let driver = driver.canonicalize().unwrap();
        let shim_dir = dir.path().join("deep/shims");
        shims(&shim_dir, &driver).unwrap();
        std::fs::remove_file(shim_dir.join("gcc")).unwrap();
        std::fs::write(shim_dir.join("g++"), "something else").unwrap();
        shims(&shim_dir, &driver).unwrap();
        for name in NAMES {
            assert_eq!(std::fs::read_link(shim_dir.join(name)).unwrap(), driver, "{name}");
        }
        assert_eq!(std::fs::read_dir(&shim_dir).unwrap().count(), NAMES.len());
        assert!(matches!(shims(&shim_dir, Path::new("/not/there")), Err(ShimError::Driver { .. })));
    }

    #[test]
    fn no_name_is_one_that_the_driver_itself_looks_for() {
        assert!(!NAMES.contains(&"clang-22"));
    }
}
