//! Reads what a build recorded about its compilations: the files in the directory of `RELAPSE_UNITS`.
//!
//! Each line is JSON. Paths in the tree begin with a placeholder for its root, which contains NUL bytes and
//! so cannot occur in a path or option. A line is written completely or not at all, but a build may have been
//! killed in between.

use super::diagnostic::in_tree;
use crate::error::{At, Error};
use serde::Deserialize;
use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Represents the root of the tree.
const PLACEHOLDER: &str = "\0tree\0";

/// A source, and how it was compiled.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize)]
pub struct Unit {
    /// The directory in which the compiler ran, with the placeholder.
    directory: String,
    /// As it was named in the command, with the placeholder.
    source: String,
    /// As an argument of `-x`.
    pub language: String,
    /// Arguments for clang, with the placeholder; without the source and all output options.
    arguments: Vec<String>,
}

/// A command to which a sanitizer could not be applied, and the option that prevented it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Unsanitized {
    /// The output file, or the first source, without the tree's root.
    pub file: String,
    /// The option that is incompatible with a sanitizer.
    pub option: String,
}

impl Unit {
    pub fn directory(&self, tree: &Path) -> PathBuf {
        PathBuf::from(shown(&self.directory, tree))
    }

    /// The source as named in the command.
    pub fn named(&self, tree: &Path) -> String {
        shown(&self.source, tree)
    }

    /// Determined by the last optimisation option. `-O1` leaves most undefined behaviour without effect.
    pub fn is_optimised(&self) -> bool {
        let level = self.arguments.iter().rev().find_map(|word| word.strip_prefix("-O"));
        level.is_some_and(|level| !matches!(level, "0" | "1" | "g"))
    }

    pub fn arguments(&self, tree: &Path) -> impl Iterator<Item = String> {
        self.arguments.iter().map(|word| shown(word, tree))
    }

    /// The source, relative to the tree if it is inside.
    pub fn source(&self) -> PathBuf {
        // The choice of root is irrelevant.
        let root = Path::new("/tree");
        in_tree(Path::new(&self.named(root)), &self.directory(root), root)
    }

    pub fn is_cpp(&self) -> bool {
        self.language.starts_with("c++")
    }

    /// Whether this is a probe of a configuration script. These scripts compile small programs to determine
    /// properties of the system, which are deleted or irrelevant when the program itself is built. The source
    /// of a test may be outside of the tree and remain there.
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

/// The units of a build, each as it was last compiled, in the order of their first compilation.
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

/// The commands of a build to which no sanitizer was applied.
pub fn unsanitized(dir: &Path) -> Result<Vec<Unsanitized>, Error> {
    let mut found = lines::<Unsanitized>(&dir.join("unsanitized"))?;
    for command in &mut found {
        command.file = command.file.replace(&format!("{PLACEHOLDER}/"), "");
    }
    Ok(found)
}

/// The records of a file. A build without records creates no file.
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
