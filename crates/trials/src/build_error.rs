//! Extracts the first error of a build from its log.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// The diagnostics of a failed build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildError {
    /// One line, without the path of the tree that was built.
    pub text: String,
    /// Further messages of compilers, errors and their notes, up to a limit.
    pub more: Vec<String>,
    /// The error is a compiler's, about a source file. Any other error may also be caused by products that an
    /// earlier build left in the tree.
    pub from_compiler: bool,
}

/// Finds the first error. An unreadable log gives a diagnostic too, since something failed.
#[must_use]
pub fn first(log: &Path, tree: &Path) -> BuildError {
    let mut best: Option<(u8, String)> = None;
    let mut more: Vec<String> = Vec::new();
    let mut last = String::new();
    if let Ok(file) = File::open(log) {
        let mut reader = BufReader::new(file);
        let mut line = Vec::new();
        while {
            line.clear();
            reader.read_until(b'\n', &mut line).unwrap_or(0) > 0
        } {
            let text = String::from_utf8_lossy(&line).trim().to_owned();
            if text.is_empty() {
                continue;
            }
            let rank = rank(&text);
            let found = best.as_ref().map_or(0, |(found, _)| *found);
            if rank > found {
                best = Some((rank, text.clone()));
            } else if found == COMPILER && (rank == COMPILER || has_place(&text, ": note: ")) {
                more.push(text.clone());
                if more.len() == MAX_FURTHER_ERRORS {
                    break;
                }
            }
            last = text;
        }
    }
    let from_compiler = best.as_ref().is_some_and(|(rank, _)| *rank == COMPILER);
    let mut text = best.map_or(last, |(_, text)| text);
    if text.is_empty() {
        "it failed without saying why".clone_into(&mut text);
    }
    let mut root = tree.display().to_string();
    root.push('/');
    let shown = |text: String| text.replace(&root, "").chars().take(500).collect();
    BuildError { text: shown(text), more: more.into_iter().map(shown).collect(), from_compiler }
}

impl BuildError {
    /// An error found by this crate that is certain.
    pub(crate) fn certain(text: String) -> BuildError {
        BuildError { text, more: Vec::new(), from_compiler: true }
    }
}

/// Number of errors and notes that are kept besides the first.
const MAX_FURTHER_ERRORS: usize = 30;

const COMPILER: u8 = 4;

/// How informative a line is about the cause of a build failure; among equals the first line is used. `make`
/// only repeats that a command failed.
fn rank(line: &str) -> u8 {
    if has_place(line, ": error: ") || has_place(line, ": fatal error: ") {
        return COMPILER;
    }
    const LINKER: [&str; 5] = [
        "undefined reference to",
        "multiple definition of",
        "undefined symbol",
        "duplicate symbol",
        "cannot find -l",
    ];
    if LINKER.iter().any(|word| line.contains(word)) {
        return 3;
    }
    let lower = line.to_ascii_lowercase();
    if lower.contains("error:")
        || lower.contains("error at ")
        || lower.starts_with("error ")
        || line.contains(": not found")
    {
        return 2;
    }
    u8::from(line.contains("*** ") || line.contains("ninja: build stopped"))
}

/// Whether the word follows `file:line` or `file:line:column`.
fn has_place(line: &str, word: &str) -> bool {
    let Some(at) = line.find(word) else { return false };
    let number = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    line[..at].rsplit(':').next().is_some_and(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(log: &str) -> BuildError {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        std::fs::write(&path, log).unwrap();
        first(&path, Path::new("/tmp/trees/w00"))
    }

    #[test]
    fn the_compiler_before_make() {
        let log = "cc -c a.c\n/tmp/trees/w00/a.c:3:5: error: use of undeclared identifier 'm'\n\
                   a.c:9:1: error: expected '}'\nmake: *** [Makefile:2: a.o] Error 1\n";
        let found = of(log);
        assert_eq!(found.text, "a.c:3:5: error: use of undeclared identifier 'm'");
        assert_eq!(found.more, ["a.c:9:1: error: expected '}'"]);
        assert!(found.from_compiler);
    }

    #[test]
    fn notes_belong_to_errors() {
        let log = "x.c:1:1: note: about a warning\na.c:3:5: error: too many arguments\n  3 | f(1, 2);\n\
                   /tmp/trees/w00/b.h:7:6: note: 'f' declared here\n1 error generated.\n";
        let found = of(log);
        assert_eq!(found.text, "a.c:3:5: error: too many arguments");
        assert_eq!(found.more, ["b.h:7:6: note: 'f' declared here"]);
    }

    #[test]
    fn a_missing_header() {
        let found = of("In file included from a.c:1:\nb.h:2:10: fatal error: 'c.h' file not found\n");
        assert_eq!(found.text, "b.h:2:10: fatal error: 'c.h' file not found");
        assert!(found.from_compiler);
    }

    #[test]
    fn the_linker_names_what_is_missing() {
        let log = "/usr/bin/ld: a.o: in function `main':\na.c:(.text+0x9): undefined reference to `f'\n\
                   clang: error: linker command failed with exit code 1\nmake: *** [all] Error 1\n";
        let found = of(log);
        assert_eq!(found.text, "a.c:(.text+0x9): undefined reference to `f'");
        assert!(!found.from_compiler);
    }

    #[test]
    fn make_alone_and_anything_else() {
        let log = "make: Entering directory '/x'\nmake: *** No rule to make target 'b.h', needed by 'a.o'.  Stop.\n";
        assert_eq!(of(log).text, "make: *** No rule to make target 'b.h', needed by 'a.o'.  Stop.");
        assert_eq!(of("configuring\nno luck\n").text, "no luck");
        assert_eq!(of("").text, "it failed without saying why");
    }

    #[test]
    fn a_log_that_is_not_text() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        std::fs::write(&path, b"\xff\xfe\nx.c:1:1: error: \xff\n").unwrap();
        assert_eq!(first(&path, Path::new("/t")).text, "x.c:1:1: error: \u{fffd}");
    }
}
