//! Tests from a list of commands, from a directory of inputs, or from results of `make check`.

use crate::failure::{Exit, Failure};
use locate::suites::automake;
use locate::test::Test;
use std::path::{Path, PathBuf};

/// Suffixes of files with expected output.
const EXPECTED: [&str; 2] = ["out", "expected"];

/// The content of a file that the user named.
pub fn read(file: &Path, what: &str) -> Result<Vec<u8>, Failure> {
    std::fs::read(file).map_err(|error| {
        Failure::failed_to(Exit::Usage, format_args!("read {what} {}: {error}", file.display()))
    })
}

/// Tests from a file with one command per line.
pub fn commands(file: &Path) -> Result<Vec<Test>, Failure> {
    let text = read(file, "the list of tests")?;
    let text = String::from_utf8_lossy(&text);
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    Ok(lines.map(Test::new).collect())
}

/// Tests from a list of commands, or from the test results in a directory. `None` if there are none yet: the
/// build may have to create them.
pub fn tests(named: &Path, here: &Path) -> Result<Option<Vec<Test>>, Failure> {
    if named.is_file() {
        return commands(named).map(Some);
    }
    let Ok(directory) = here.join(named).canonicalize() else { return Ok(None) };
    let here = here.canonicalize().unwrap_or_else(|_| here.to_owned());
    let tests = automake::tests(&directory, &here).map_err(|e| Failure::failed_to(Exit::Usage, e))?;
    Ok(Some(tests).filter(|tests| !tests.is_empty()))
}

/// One test for each input of a directory, in alphabetical order.
pub fn inputs(directory: &Path, template: &str) -> Result<Vec<Test>, Failure> {
    if !template.contains("{}") {
        return Err(Failure::new(Exit::Usage, "the template has no {} for an input"));
    }
    let failed = |error: std::io::Error| {
        Failure::failed_to(Exit::Usage, format_args!("read the inputs in {}: {error}", directory.display()))
    };
    let directory = directory.canonicalize().map_err(failed)?;
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(&directory).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    let is_expected =
        |path: &Path| path.extension().is_some_and(|e| EXPECTED.iter().any(|known| e == *known));
    files
        .iter()
        .filter(|path| !is_expected(path))
        .map(|path| {
            let quoted = format!("'{}'", path.display().to_string().replace('\'', "'\\''"));
            let expected = expected(path);
            Ok(Test {
                expected: expected.map(|file| read(&file, "the expected output")).transpose()?,
                ..Test::new(&template.replace("{}", &quoted))
            })
        })
        .collect()
}

/// The expected output of `7.in` or `7`: `7.out`, `7.in.out` or similar.
fn expected(input: &Path) -> Option<PathBuf> {
    let whole = EXPECTED.iter().map(|end| PathBuf::from(format!("{}.{end}", input.display())));
    let replaced = EXPECTED.iter().map(|end| input.with_extension(end));
    whole.chain(replaced).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_have_their_expected_outputs() {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in [("1.in", "a"), ("1.out", "A"), ("2", "b"), ("2.expected", "B"), ("3.in", "c")] {
            std::fs::write(dir.path().join(name), text).unwrap();
        }
        let tests = inputs(dir.path(), "./p < {}").unwrap();
        let expected: Vec<Option<&[u8]>> = tests.iter().map(|test| test.expected.as_deref()).collect();
        assert_eq!(expected, [Some(&b"A"[..]), Some(b"B"), None]);
        assert!(tests[0].command.starts_with("./p < '") && tests[0].command.ends_with("/1.in'"));
        assert_eq!(inputs(dir.path(), "./p").unwrap_err().exit, Exit::Usage);
    }

    #[test]
    fn a_list_has_comments_and_empty_lines() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("list");
        std::fs::write(&file, "# tests\n./p 1\n\n  ./p 2 | grep x\n").unwrap();
        let commands: Vec<String> = commands(&file).unwrap().into_iter().map(|test| test.command).collect();
        assert_eq!(commands, ["./p 1", "./p 2 | grep x"]);
    }
}
