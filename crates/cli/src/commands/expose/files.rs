//! Exposing inputs as tests: files, the good version's output, and a script.

use crate::failure::{Exit, Failure};
use explore::exposed::{Exposed, ExposingInput};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use symbolic::Input;

/// # Errors
/// If the directory contains anything.
pub fn must_be_empty(directory: &Path) -> Result<(), Failure> {
    if std::fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(Failure::new(Exit::Usage, format_args!("{} is not empty", directory.display()))
            .hint("Name a directory that is empty or does not exist yet."));
    }
    Ok(())
}

/// An input as a regression test: its observed behaviour is the expected one.
pub struct Case<'c> {
    pub input: &'c Input,
    /// The program with its arguments.
    pub command: &'c str,
    pub expected: &'c [u8],
    /// How the run ends, in words.
    pub end: &'c str,
}

/// Writes each exposing input into a separate directory: `1`, `2`, ... Returns the directories.
pub fn write(directory: &Path, exposed: &Exposed) -> Result<Vec<PathBuf>, Failure> {
    fn case(input: &ExposingInput) -> Case<'_> {
        Case {
            input: &input.input,
            command: &input.command,
            expected: &input.good.bytes,
            end: &input.good.end,
        }
    }
    write_all(directory, &exposed.inputs.iter().map(case).collect::<Vec<_>>())
}

/// The same for arbitrary tests.
pub fn write_all(directory: &Path, cases: &[Case<'_>]) -> Result<Vec<PathBuf>, Failure> {
    let mut written = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        let path = directory.join((number + 1).to_string());
        one(&path, case).map_err(|e| {
            Failure::failed_to(Exit::Environment, format_args!("write to {}: {e}", path.display()))
        })?;
        written.push(path);
    }
    Ok(written)
}

fn one(path: &Path, case: &Case<'_>) -> std::io::Result<()> {
    std::fs::create_dir_all(path)?;
    case.input.write(path)?;
    std::fs::write(path.join("expected-output"), case.expected)?;
    let script = path.join("run.sh");
    std::fs::write(&script, shell(case))?;
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755))
}

/// A script that passes if the program behaves the same; it is run in the program's directory.
fn shell(case: &Case<'_>) -> String {
    let mut text = String::from(
        "#!/bin/sh\n# Run this where the program is. It passes if the program does what is expected.\n\
         here=$(dirname \"$(realpath \"$0\")\")\noutput=$(mktemp)\n",
    );
    for (path, _) in case.input.files().filter(|(path, _)| !path.starts_with('/')) {
        text += &format!("cp \"$here/files/{path}\" \"{path}\"\n");
    }
    let mut command = case.command.to_owned();
    for (path, _) in case.input.files().filter(|(path, _)| path.starts_with('/')) {
        command = command.replace(path, &format!("\"$here\"/files{path}"));
    }
    let stdin = if case.input.stdin().is_empty() { "/dev/null" } else { "\"$here/stdin\"" };
    text += &format!("{command} < {stdin} > \"$output\"\nstatus=$?\n");
    text += "cmp \"$here/expected-output\" \"$output\"\nsame=$?\nrm -f \"$output\"\n";
    match case.end.strip_prefix("exit ") {
        Some(code) => text += &format!("[ $same -eq 0 ] && [ $status -eq {code} ]\n"),
        None => text += "[ $same -eq 0 ] && [ $status -gt 128 ]\n",
    }
    text
}
