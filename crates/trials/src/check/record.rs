//! What a build said it compiled: the files in the directory of `RELAPSE_UNITS`.
//!
//! Each line is JSON. Paths in the tree begin with a placeholder for its root, which
//! has NUL bytes in it and so is no part of any path or option. A line is written whole
//! or not at all, but a build may have been killed in between.

use super::diagnostic::in_tree;
use crate::error::{At, Error};
use serde::Deserialize;
use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Stands for the root of the tree.
const PLACEHOLDER: &str = "\0tree\0";

/// A source, and how it was compiled.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize)]
pub struct Unit {
    /// Where the compiler ran, with the placeholder.
    directory: String,
    /// As it was named there, with the placeholder.
    source: String,
    /// As after `-x`.
    pub language: String,
    /// For clang, with the placeholder; without the source and all that asks for a
    /// product.
    arguments: Vec<String>,
}

/// A command that should have had a sanitizer, and what was in the way.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Unsanitized {
    /// What was to be made, or the first source; with the tree's root left out.
    pub file: String,
    /// The option that does not go together with a sanitizer.
    pub option: String,
}

impl Unit {
    pub fn directory(&self, tree: &Path) -> PathBuf {
        PathBuf::from(shown(&self.directory, tree))
    }

    /// The source as it was named.
    pub fn named(&self, tree: &Path) -> String {
        shown(&self.source, tree)
    }

    /// By the last option that says so. `-O1` leaves much of what is undefined alone.
    pub fn is_optimised(&self) -> bool {
        let level = self.arguments.iter().rev().find_map(|word| word.strip_prefix("-O"));
        level.is_some_and(|level| !matches!(level, "0" | "1" | "g"))
    }

    pub fn arguments(&self, tree: &Path) -> impl Iterator<Item = String> {
        self.arguments.iter().map(|word| shown(word, tree))
    }

    /// The source, relative to the tree if it is in there.
    pub fn source(&self) -> PathBuf {
        // Any root will do.
        let root = Path::new("/tree");
        in_tree(Path::new(&self.named(root)), &self.directory(root), root)
    }

    pub fn is_cpp(&self) -> bool {
        self.language.starts_with("c++")
    }

    /// Configuration scripts compile little programs to see what the system has. Those
    /// are gone or of no interest when the program itself is built. The source of a test may
    /// well lie outside of the tree, and stays there.
    fn is_probe(&self) -> bool {
        let source = self.source();
        if source.is_absolute() && !source.is_file() {
            return true;
        }
        let is_of_tool = |part: &std::ffi::OsStr| part == "CMakeFiles" || part == "meson-private";
        source.iter().any(is_of_tool) || source.file_stem().is_some_and(|stem| stem == "conftest")
    }
}

fn shown(text: &str, tree: &Path) -> String {
    text.replace(PLACEHOLDER, &tree.display().to_string())
}

/// The units of a build, each as it was last compiled, in the order of first sight.
pub fn units(dir: &Path) -> Result<Vec<Unit>, Error> {
    let mut found: Vec<Unit> = Vec::new();
    let mut index: HashMap<(String, String), usize> = HashMap::new();
    for unit in lines::<Unit>(&dir.join("units"))? {
        if unit.is_probe() {
            continue;
        }
        let next = found.len();
        match index.entry((unit.directory.clone(), unit.source.clone())).or_insert(next) {
            at if *at < next => found[*at] = unit,
            _ => found.push(unit),
        }
    }
    Ok(found)
}

/// The commands of a build that got no sanitizer.
pub fn unsanitized(dir: &Path) -> Result<Vec<Unsanitized>, Error> {
    let mut found = lines::<Unsanitized>(&dir.join("unsanitized"))?;
    for command in &mut found {
        command.file = command.file.replace(&format!("{PLACEHOLDER}/"), "");
    }
    Ok(found)
}

/// What the lines of a file say. A build that had nothing to say made no file.
fn lines<T: for<'d> Deserialize<'d>>(path: &Path) -> Result<Vec<T>, Error> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        text => text.at("read", path)?,
    };
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let parse = |line: &str| serde_json::from_str(line).map_err(io::Error::from);
    whole.lines().map(parse).collect::<Result<_, _>>().at("read", path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_record_of_a_unit_counts() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(units(dir.path()).unwrap(), []);
        let line = |directory: &str, source: &str, argument: &str| {
            let unit = serde_json::json!({
                "directory": directory, "source": source, "language": "c", "arguments": [argument]
            });
            format!("{unit}\n")
        };
        let outside = dir.path().join("test.c");
        fs::write(&outside, "").unwrap();
        let mut text = line("\0tree\0/sub", "../a.c", "-O0");
        text += &line("\0tree\0", "b.c", "-I\0tree\0/inc");
        text += &line("\0tree\0", "conftest.c", "-O0");
        text += &line("\0tree\0/build/CMakeFiles/3.25/CompilerIdC", "id.c", "-O0");
        text += &line("/tmp", "elsewhere.c", "-O0");
        text += &line("\0tree\0", &outside.display().to_string(), "-O2");
        text += &line("\0tree\0/sub", "../a.c", "-O1");
        text += "{\"directory\": \"half of a li";
        fs::write(dir.path().join("units"), text).unwrap();
        let found = units(dir.path()).unwrap();
        let root = Path::new("/t/w1");
        let shown: Vec<_> = found
            .iter()
            .map(|unit| (unit.source(), unit.directory(root), unit.arguments(root).collect()))
            .collect();
        let expected: [(PathBuf, PathBuf, Vec<String>); 3] = [
            ("a.c".into(), "/t/w1/sub".into(), vec!["-O1".into()]),
            ("b.c".into(), "/t/w1".into(), vec!["-I/t/w1/inc".into()]),
            (outside, "/t/w1".into(), vec!["-O2".into()]),
        ];
        assert_eq!(shown, expected);
        fs::write(dir.path().join("units"), "no JSON\n").unwrap();
        assert!(units(dir.path()).is_err());
    }
}
