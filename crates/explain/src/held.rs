//! Files that belong to the test, equal in every tree.
//!
//! A test is often newer than the fault it finds, so good does not contain it yet. A test that was changed
//! together with the program would be reported as the cause of the failure. So every version gets the test's
//! files from bad, and these files are no suspects. Only if good does not build or pass with them, they count
//! as ordinary changes.

use std::io;
use std::path::{Component, Path, PathBuf};

/// Names of directories that contain tests.
const DIRECTORIES: [&str; 12] = [
    "test",
    "tests",
    "testing",
    "testsuite",
    "test-suite",
    "testcases",
    "unittest",
    "unittests",
    "unit-tests",
    "regress",
    "spec",
    "t",
];

/// Recognises files that belong to the test.
#[derive(Clone, Debug)]
pub struct TestFiles {
    /// Words of the test command that may name files.
    named: Vec<PathBuf>,
    patterns: Vec<String>,
}

impl TestFiles {
    /// `subdirectory` is the directory in the tree in which the test runs; `patterns` are given by the user,
    /// with `*` as a wildcard.
    #[must_use]
    pub fn new(test: &str, subdirectory: &Path, patterns: &[String]) -> TestFiles {
        let words = test.split(|c: char| c.is_whitespace() || "'\"`;&|()<>=$".contains(c));
        let named = words
            .filter(|word| !word.is_empty() && !word.starts_with(['-', '/']))
            .map(|word| normal(&subdirectory.join(word)))
            .collect();
        TestFiles { named, patterns: patterns.to_vec() }
    }

    /// Whether a file, relative to the root of the tree, belongs to the test.
    #[must_use]
    pub fn contain(&self, path: &Path) -> bool {
        let text = path.to_string_lossy();
        let in_directory = path.parent().is_some_and(|parent| {
            parent.components().any(|part| {
                let name = part.as_os_str().to_string_lossy().to_lowercase();
                DIRECTORIES.contains(&name.as_str())
            })
        });
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
        let named_test = ["test_", "test-", "check_"].iter().any(|start| stem.starts_with(start))
            || ["_test", "-test", "_tests", "_unittest", ".test"].iter().any(|end| stem.ends_with(end));
        in_directory
            || named_test
            || self.named.iter().any(|named| named == path)
            || self.patterns.iter().any(|pattern| matches(pattern, &text))
    }

    /// Copies the test's files of one tree to another. Returns the files that were written.
    ///
    /// # Errors
    /// If files cannot be read or written.
    pub fn copy(&self, from: &Path, to: &Path) -> io::Result<Vec<PathBuf>> {
        let mut written = Vec::new();
        let mut pending = vec![PathBuf::new()];
        while let Some(directory) = pending.pop() {
            for entry in std::fs::read_dir(from.join(&directory))? {
                let entry = entry?;
                let path = directory.join(entry.file_name());
                let kind = entry.file_type()?;
                if kind.is_dir() {
                    if entry.file_name() != ".git" {
                        pending.push(path);
                    }
                } else if kind.is_file() && self.contain(&path) {
                    let target = to.join(&path);
                    if std::fs::read(&target).ok().as_deref() == Some(std::fs::read(entry.path())?.as_slice())
                    {
                        continue;
                    }
                    if let Some(parent) = target.parent() {
                        std::fs::create_dir_all(parent)?;
                    }
                    std::fs::copy(entry.path(), &target)?;
                    written.push(path);
                }
            }
        }
        written.sort();
        Ok(written)
    }
}

/// Removes `.` and `..` from a path.
fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                out.pop();
            }
            Component::Normal(name) => out.push(name),
            _ => {}
        }
    }
    out
}

/// Whether a text matches a pattern in which `*` matches any text and `?` one character.
fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    // Backtracking point: the position after the last star, and the text position up to which it matches.
    let (mut p, mut t, mut star) = (0, 0, None);
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(c) if *c == '?' || *c == text[t] => (p, t) = (p + 1, t + 1),
            _ => match star {
                Some((at, taken)) => {
                    (p, t) = (at + 1, taken + 1);
                    star = Some((at, taken + 1));
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_test_are_told_from_others() {
        let files =
            TestFiles::new("sh ./check.sh --all < data/in.txt", Path::new(""), &["*_spec.c".to_owned()]);
        for path in [
            "tests/run.sh",
            "lib/Test/a.c",
            "src/test_url.c",
            "url_test.cc",
            "check.sh",
            "data/in.txt",
            "src/tree_spec.c",
        ] {
            assert!(files.contain(Path::new(path)), "{path}");
        }
        for path in ["src/test.c", "tests.c", "data/out.txt", "src/main.c", "latest/a.c"] {
            assert!(!files.contain(Path::new(path)), "{path}");
        }
        let below = TestFiles::new("./run ../in.txt", Path::new("sub"), &[]);
        assert!(below.contain(Path::new("in.txt")) && below.contain(Path::new("sub/run")));
    }

    #[test]
    fn patterns_match_as_in_a_shell() {
        for (pattern, text, fits) in [
            ("*.c", "a.c", true),
            ("*.c", "a.cc", false),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXbYbZ", false),
            ("?x", "ax", true),
            ("", "", true),
            ("*", "", true),
        ] {
            assert_eq!(matches(pattern, text), fits, "{pattern} {text}");
        }
    }

    #[test]
    fn only_what_differs_is_written() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for (dir, text) in [(&from, "new"), (&to, "old")] {
            std::fs::create_dir_all(dir.path().join("tests/data")).unwrap();
            std::fs::write(dir.path().join("tests/data/x"), text).unwrap();
            std::fs::write(dir.path().join("tests/same"), "same").unwrap();
            std::fs::write(dir.path().join("main.c"), text).unwrap();
        }
        let files = TestFiles::new("make check", Path::new(""), &[]);
        assert_eq!(files.copy(from.path(), to.path()).unwrap(), [PathBuf::from("tests/data/x")]);
        assert_eq!(std::fs::read_to_string(to.path().join("main.c")).unwrap(), "old");
        assert_eq!(std::fs::read_to_string(to.path().join("tests/data/x")).unwrap(), "new");
    }
}
