//! Exposing inputs as tests: files, the output of good, and a script.

use crate::failure::{Exit, Failure};
use explore::exposed::{Exposed, ExposingInput};
use std::path::{Path, PathBuf};

/// # Errors
/// If there is something in it already.
pub fn must_be_empty(directory: &Path) -> Result<(), Failure> {
    if std::fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(Failure::new(Exit::Usage, format_args!("{} is not empty", directory.display()))
            .hint("Name a directory that is empty or does not exist yet."));
    }
    Ok(())
}

/// Writes each exposing input into a directory of its own: `1`, `2`, ... Returns them.
pub fn write(directory: &Path, exposed: &Exposed) -> Result<Vec<PathBuf>, Failure> {
    let mut written = Vec::new();
    for input in &exposed.inputs {
        let path = directory.join(input.number.to_string());
        one(&path, input).map_err(|e| {
            Failure::failed_to(Exit::Environment, format_args!("write to {}: {e}", path.display()))
        })?;
        written.push(path);
    }
    Ok(written)
}

fn one(path: &Path, input: &ExposingInput) -> std::io::Result<()> {
    std::fs::create_dir_all(path)?;
    input.input.write(path)?;
    std::fs::write(path.join("expected-output"), &input.good.bytes)?;
    let script = path.join("run.sh");
    std::fs::write(&script, shell(input))?;
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755))
}

/// A script that passes with good: to be run in the directory of the program.
fn shell(input: &ExposingInput) -> String {
    let mut text = String::from(
        "#!/bin/sh\n# Run this where the program is. It passes if the program does what good did.\n",
    );
    text += "here=$(dirname \"$(realpath \"$0\")\")\n";
    for (path, _) in input.input.files().filter(|(path, _)| !path.starts_with('/')) {
        text += &format!("cp \"$here/files/{path}\" \"{path}\"\n");
    }
    let mut command = input.command.clone();
    for (path, _) in input.input.files().filter(|(path, _)| path.starts_with('/')) {
        command = command.replace(path, &format!("\"$here\"/files{path}"));
    }
    let stdin = if input.input.stdin().is_empty() { "/dev/null" } else { "\"$here/stdin\"" };
    text += &format!("{command} < {stdin} > \"${{TMPDIR:-/tmp}}/output.$$\"\nstatus=$?\n");
    text += "cmp \"$here/expected-output\" \"${TMPDIR:-/tmp}/output.$$\"\nsame=$?\nrm -f \"${TMPDIR:-/tmp}/output.$$\"\n";
    match input.good.end.strip_prefix("exit ") {
        Some(code) => text += &format!("[ $same -eq 0 ] && [ $status -eq {code} ]\n"),
        None => text += "[ $same -eq 0 ]\n",
    }
    text
}
