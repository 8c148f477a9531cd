//! The configuration of the driver, and its environment variables.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::Language;
use super::cache::ObjectCache;
use super::overrides::{Optimisation, Sanitizer};

/// The kind of build.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Programs that can be recorded.
    #[default]
    Instrument,
    /// Programs as clang builds them: faster to build and to run.
    Plain,
}

/// Default size limit of the cache.
const CACHE_LIMIT: u64 = 5 << 30;

/// The configuration of a session.
#[derive(Debug)]
pub struct Setup {
    /// The language of sources whose name does not determine it, and of the linked libraries.
    pub language: Language,
    /// The kind of build.
    pub mode: Mode,
    /// The compiler, if not the default.
    pub clang: Option<PathBuf>,
    /// Commands are appended to this file.
    pub log: Option<PathBuf>,
    /// A directory in which the runtime object may be kept.
    pub runtime_cache: Option<PathBuf>,
    /// The object cache, if one is used.
    pub objects: Option<ObjectCache>,
    /// The root of the tree being built, if products must not contain its path.
    pub tree: Option<PathBuf>,
    /// In plain mode: a level that replaces the build's own.
    pub optimisation: Option<Optimisation>,
    /// In plain mode: a sanitizer to compile and link with.
    pub sanitizer: Option<Sanitizer>,
    /// In plain mode: a directory for records of the compilations.
    pub units: Option<PathBuf>,
    /// The program that executes requests to transform bitcode.
    pub instrumenter: PathBuf,
    /// Names of the current directory: clang may put any of them into debug information.
    pub working_dirs: Vec<PathBuf>,
}

impl Setup {
    /// Reads the configuration from the environment. The error is a sentence for the user.
    pub fn from_environment(language: Language, instrumenter: &Path) -> Result<Self, String> {
        let value = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let path = |name: &str| value(name).map(PathBuf::from);
        let limit = match value("RELAPSE_CACHE_LIMIT") {
            Some(text) => size(&text.to_string_lossy()).ok_or_else(|| {
                format!("failed to read RELAPSE_CACHE_LIMIT={}: want a size such as 500M", text.display())
            })?,
            None => CACHE_LIMIT,
        };
        Ok(Setup {
            language,
            mode: mode(value("RELAPSE_MODE").map(|text| text.to_string_lossy().into_owned()).as_deref())?,
            clang: path("RELAPSE_CLANG"),
            log: path("RELAPSE_DRIVER_LOG"),
            runtime_cache: path("XDG_CACHE_HOME")
                .or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache"))),
            objects: path("RELAPSE_CACHE").map(|dir| ObjectCache { dir, limit }),
            tree: path("RELAPSE_TREE"),
            optimisation: named(
                "RELAPSE_OPTIMISE",
                value("RELAPSE_OPTIMISE"),
                Optimisation::named,
                "`0`, `1`, `2`, `3` or `s`",
            )?,
            sanitizer: named(
                "RELAPSE_SANITIZE",
                value("RELAPSE_SANITIZE"),
                Sanitizer::named,
                "`address` or `memory`",
            )?,
            units: path("RELAPSE_UNITS"),
            instrumenter: instrumenter.to_owned(),
            working_dirs: std::env::current_dir().ok().into_iter().chain(path("PWD")).collect(),
        })
    }
}

fn mode(text: Option<&str>) -> Result<Mode, String> {
    match text {
        None | Some("instrument") => Ok(Mode::Instrument),
        Some("plain") => Ok(Mode::Plain),
        Some(other) => Err(format!("failed to read RELAPSE_MODE={other}: it is `plain` or `instrument`")),
    }
}

/// Parses a variable that has one of a few values.
fn named<T>(
    name: &str,
    text: Option<OsString>,
    meaning: fn(&str) -> Option<T>,
    values: &str,
) -> Result<Option<T>, String> {
    let Some(text) = text.map(|text| text.to_string_lossy().into_owned()) else { return Ok(None) };
    match meaning(&text) {
        Some(value) => Ok(Some(value)),
        None => Err(format!("failed to read {name}={text}: it is {values}")),
    }
}

/// Parses a size in bytes, or with K, M, G or T for powers of 1024.
fn size(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" | "B" => 0,
        "K" | "KB" | "KIB" => 10,
        "M" | "MB" | "MIB" => 20,
        "G" | "GB" | "GIB" => 30,
        "T" | "TB" | "TIB" => 40,
        _ => return None,
    };
    digits.trim().parse::<u64>().ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        for (text, bytes) in [("0", 0), ("17", 17), ("2k", 2048), ("500M", 500 << 20), ("5 GiB", 5 << 30)] {
            assert_eq!(size(text), Some(bytes), "{text}");
        }
        for text in ["", "M", "-1", "1.5G", "5X", "99999999999T"] {
            assert_eq!(size(text), None, "{text}");
        }
    }

    #[test]
    fn modes() {
        assert_eq!(mode(None), Ok(Mode::Instrument));
        assert_eq!(mode(Some("plain")), Ok(Mode::Plain));
        assert!(mode(Some("quick")).is_err());
    }
}
