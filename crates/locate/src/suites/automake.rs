//! Tests of `make check`: Automake's parallel test driver creates a `.trs` file for each.
//!
//! The file has the result of the test; its name identifies the test. The command is the file of that name
//! without `.trs`, with or without an extension for scripts.

use crate::test::Test;
use crate::{Error, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// Extensions of tests that are scripts.
const SCRIPTS: [&str; 6] = ["sh", "test", "tap", "py", "pl", "bash"];

/// The tests whose results are in a directory and its subdirectories, ordered by name. Each command first
/// changes to the directory of the test, relative to `here`. Tests that were skipped are left out.
///
/// # Errors
/// If the directory cannot be read.
pub fn tests(directory: &Path, here: &Path) -> Result<Vec<Test>> {
    let mut results = Vec::new();
    find(directory, &mut results)?;
    results.sort();
    let mut tests = Vec::new();
    for file in results {
        let text = fs::read_to_string(&file).map_err(|error| unread(&file, &error))?;
        if field(&text, "global-test-result").or_else(|| field(&text, "test-result")) == Some("SKIP") {
            continue;
        }
        let program = program(&file);
        let (Some(folder), Some(name)) = (program.parent(), program.file_name()) else { continue };
        let folder = folder.strip_prefix(here).unwrap_or(folder);
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let quoted = |path: &Path| trials::quoted(path.as_os_str().as_encoded_bytes());
        let command = format!("cd {} && srcdir=. ./{}", quoted(folder), quoted(Path::new(name)));
        let name = folder.join(name).with_extension("");
        let name = name.strip_prefix(".").unwrap_or(&name).display().to_string();
        tests.push(Test { name: Some(name), ..Test::new(&command) });
    }
    Ok(tests)
}

fn find(directory: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(directory).map_err(|error| unread(directory, &error))? {
        let entry = entry.map_err(|error| unread(directory, &error))?;
        let path = entry.path();
        // Symbolic links to directories may form cycles, so they are not followed.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            find(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "trs") {
            found.push(path);
        }
    }
    Ok(())
}

fn unread(path: &Path, error: &std::io::Error) -> Error {
    Error::Suite { why: format!("{}: {error}", path.display()) }
}

/// The first word of a field, as in `:test-result: FAIL`.
fn field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.lines().find_map(|line| {
        let rest = line.strip_prefix(':')?.strip_prefix(name)?.strip_prefix(':')?;
        rest.split_whitespace().next()
    })
}

/// The program of a result. A program that the test's own build creates need not exist here.
fn program(result: &Path) -> PathBuf {
    let plain = result.with_extension("");
    let scripts = SCRIPTS.iter().map(|extension| result.with_extension(extension));
    std::iter::once(plain.clone()).chain(scripts).find(|path| path.is_file()).unwrap_or(plain)
}

#[cfg(test)]
mod tests_of_results {
    use super::*;

    #[test]
    fn results_name_their_tests() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        file("tests/sum.trs", ":test-result: PASS\n:global-test-result: PASS\n");
        file("tests/run.trs", ":test-result: FAIL one 2\n:global-test-result: FAIL\n");
        file("tests/run.sh", "exit 1\n");
        file("tests/tty.trs", ":test-result: SKIP\n:global-test-result: SKIP\n");
        let tests = tests(dir.path(), dir.path()).unwrap();
        let commands: Vec<&str> = tests.iter().map(|test| test.command.as_str()).collect();
        assert_eq!(commands, ["cd tests && srcdir=. ./run.sh", "cd tests && srcdir=. ./sum"]);
        assert_eq!(tests[0].name.as_deref(), Some("tests/run"));
    }
}
