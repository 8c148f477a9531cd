//! A monitored build: `xtask watched-build LOG COMMAND` runs the command in the current directory, and
//! records in the directory LOG that there was a build and which objects it rebuilt unnecessarily.
//!
//! A rebuild is unnecessary if the object's own source, all headers and the makefile are, byte for byte, what
//! they were when the object was last built in this directory, and what they were in the previous build. (A
//! header that one build removed, before failing, and the next restored counts as touched, whatever its
//! content.) If a build keeps objects separate from sources, an object may depend on any source.

use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use crate::shell::{self, Result};

/// Files in the log directory: one line per build, one line per unnecessarily rebuilt object.
pub const BUILDS: &str = "builds";
pub const UNTOUCHED: &str = "untouched";

/// The build command that monitors `build`.
pub fn command_line(log: &Path, build: &str) -> Result<String> {
    let exe = std::env::current_exe().map_err(|error| format!("failed to find myself: {error}"))?;
    let quote = |text: &str| format!("'{}'", text.replace('\'', r"'\''"));
    let words =
        [exe.display().to_string(), "watched-build".to_owned(), log.display().to_string(), build.to_owned()];
    Ok(words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" "))
}

/// `xtask watched-build LOG COMMAND`; returns the command's exit code.
pub fn build(log: &Path, command: &str) -> Result<u8> {
    append(&log.join(BUILDS), "build\n")?;
    let here = std::env::current_dir().map_err(|error| format!("failed to find this folder: {error}"))?;
    let before = times(&here);
    let status = Command::new("sh")
        .args(["-c", command])
        .status()
        .map_err(|error| format!("failed to run {command}: {error}"))?;
    let after = times(&here);

    let mut hasher = DefaultHasher::new();
    here.hash(&mut hasher);
    let state_file = log.join(format!("tree-{:016x}", hasher.finish()));
    let state = read_state(&state_file);
    let (state, needless) = judge(&here, &before, &after, state);
    let text: String = state
        .iter()
        .map(|(object, made)| format!("{:016x} {:016x} {}\n", made.of, made.last, object.display()))
        .collect();
    shell::write(&state_file, text)?;
    for object in needless {
        append(&log.join(UNTOUCHED), &format!("{}\n", here.join(object).display()))?;
    }
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

type Times = BTreeMap<PathBuf, SystemTime>;
type State = BTreeMap<PathBuf, ObjectInputs>;

/// The hash of an object's inputs when it was built, and in the last build, which may have failed before it
/// built the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ObjectInputs {
    of: u64,
    last: u64,
}

/// The new state of each object, and the objects that were rebuilt unnecessarily.
fn judge(here: &Path, before: &Times, after: &Times, mut state: State) -> (State, Vec<PathBuf>) {
    let shared = shared_key(here);
    let everything = key_of(&sources(here), shared);
    let mut needless = Vec::new();
    // An object that a failed build removed must be rebuilt.
    state.retain(|object, _| after.contains_key(object));
    for (object, time) in after {
        let beside = ["c", "cc", "cpp"].map(|e| here.join(object.with_extension(e)));
        let key =
            if beside.iter().any(|source| source.exists()) { key_of(&beside, shared) } else { everything };
        let known = state.get(object).copied();
        if before.get(object) == Some(time) {
            // The inputs of an unknown object are unknown: 0 matches nothing.
            let of = known.map_or(0, |known| known.of);
            state.insert(object.clone(), ObjectInputs { of, last: key });
            continue;
        }
        if before.contains_key(object) && known == Some(ObjectInputs { of: key, last: key }) {
            needless.push(object.clone());
        }
        state.insert(object.clone(), ObjectInputs { of: key, last: key });
    }
    (state, needless)
}

fn times(here: &Path) -> Times {
    let mut found = Times::new();
    walk(here, &mut |path| {
        if path.extension().is_some_and(|e| e == "o")
            && let Ok(modified) = fs::metadata(path).and_then(|meta| meta.modified())
            && let Ok(name) = path.strip_prefix(here)
        {
            found.insert(name.to_owned(), modified);
        }
    });
    found
}

/// The hash of all files that many objects depend on.
fn shared_key(here: &Path) -> u64 {
    let mut files = Vec::new();
    walk(here, &mut |path| {
        let header = path.extension().is_some_and(|e| e == "h" || e == "hpp");
        let plan = ["Makefile", "CMakeLists.txt", "meson.build"];
        if header || path.file_name().is_some_and(|name| plan.iter().any(|plan| name == *plan)) {
            files.push(path.to_owned());
        }
    });
    files.sort();
    key_of(&files, 0)
}

fn sources(here: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    walk(here, &mut |path| {
        if path.extension().is_some_and(|e| ["c", "cc", "cpp"].iter().any(|source| e == *source)) {
            files.push(path.to_owned());
        }
    });
    files.sort();
    files
}

fn key_of(files: &[PathBuf], seed: u64) -> u64 {
    let mut hasher = DefaultHasher::new();
    seed.hash(&mut hasher);
    for file in files {
        file.hash(&mut hasher);
        fs::read(file).ok().hash(&mut hasher);
    }
    hasher.finish()
}

fn walk(dir: &Path, visit: &mut dyn FnMut(&Path)) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && entry.file_name() != ".git" => walk(&path, visit),
            Ok(kind) if kind.is_file() => visit(&path),
            _ => {}
        }
    }
}

fn read_state(path: &Path) -> State {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines()
        .filter_map(|line| {
            let (of, rest) = line.split_once(' ')?;
            let (last, object) = rest.split_once(' ')?;
            let number = |text: &str| u64::from_str_radix(text, 16).ok();
            Some((PathBuf::from(object), ObjectInputs { of: number(of)?, last: number(last)? }))
        })
        .collect()
}

fn append(path: &Path, text: &str) -> Result<()> {
    let file = fs::OpenOptions::new().append(true).create(true).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|error| format!("failed to write {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn needless_objects_are_seen() {
        let here = std::env::temp_dir().join(format!("xtask-watch-{}", std::process::id()));
        shell::create_empty_dir(&here).unwrap();
        for (name, text) in [("a.c", "1"), ("b.c", "2"), ("h.h", "3")] {
            shell::write(&here.join(name), text).unwrap();
        }
        let at = |a: u64, b: u64| {
            let moment = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            Times::from([("a.o".into(), moment(a)), ("b.o".into(), moment(b))])
        };
        let (state, needless) = judge(&here, &Times::new(), &at(1, 1), State::new());
        assert!(needless.is_empty(), "a first build is needed");
        shell::write(&here.join("a.c"), "changed").unwrap();
        let (state, needless) = judge(&here, &at(1, 1), &at(2, 1), state);
        assert!(needless.is_empty(), "a.c changed");
        let (state, needless) = judge(&here, &at(2, 1), &at(3, 3), state);
        assert_eq!(needless, [PathBuf::from("a.o"), PathBuf::from("b.o")]);
        shell::write(&here.join("h.h"), "changed").unwrap();
        let (state, needless) = judge(&here, &at(3, 3), &at(4, 4), state);
        assert!(needless.is_empty(), "a header changed");
        shell::write(&here.join("h.h"), "wrong").unwrap();
        let (state, needless) = judge(&here, &at(4, 4), &at(4, 4), state);
        assert!(needless.is_empty(), "a failed build made nothing");
        shell::write(&here.join("h.h"), "changed").unwrap();
        let (state, needless) = judge(&here, &at(4, 4), &at(4, 5), state);
        assert!(needless.is_empty(), "a header was there and back");
        let gone = Times::from([("b.o".into(), at(4, 5)[Path::new("b.o")])]);
        let (state, _) = judge(&here, &at(4, 5), &gone, state);
        let (_, needless) = judge(&here, &gone, &at(6, 5), state);
        assert!(needless.is_empty(), "a.o was gone");
        fs::remove_dir_all(&here).unwrap();
    }

    #[test]
    fn an_object_apart_from_the_sources_may_be_made_of_any() {
        let here = std::env::temp_dir().join(format!("xtask-watch-apart-{}", std::process::id()));
        shell::create_empty_dir(&here).unwrap();
        shell::write(&here.join("a.c"), "1").unwrap();
        let at = |seconds| {
            Times::from([("p.dir/a.c.o".into(), SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))])
        };
        let (state, _) = judge(&here, &Times::new(), &at(1), State::new());
        shell::write(&here.join("a.c"), "changed").unwrap();
        let (state, needless) = judge(&here, &at(1), &at(2), state);
        assert!(needless.is_empty(), "a.c changed");
        let (_, needless) = judge(&here, &at(2), &at(3), state);
        assert_eq!(needless, [PathBuf::from("p.dir/a.c.o")]);
        fs::remove_dir_all(&here).unwrap();
    }
}
