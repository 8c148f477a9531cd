//! Writes alternate inputs as files that a test can use.

use crate::failure::{Exit, Failure};
use alternate::Report;
use std::path::{Path, PathBuf};

/// Writes each alternate input into a separate directory: `1`, `2`, ..., best first. Returns the directories
/// of each candidate.
pub fn write(directory: &Path, report: &Report) -> Result<Vec<Vec<PathBuf>>, Failure> {
    let cannot = |path: &Path, e: std::io::Error| {
        Failure::failed_to(Exit::Environment, format_args!("write to {}: {e}", path.display()))
    };
    if std::fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(Failure::new(Exit::Usage, format_args!("{} is not empty", directory.display()))
            .hint("Name a directory that is empty or does not exist yet."));
    }
    let mut number = 0;
    let mut all = Vec::new();
    for candidate in &report.candidates {
        let mut written = Vec::new();
        for alternate in &candidate.alternates {
            number += 1;
            let path = directory.join(number.to_string());
            std::fs::create_dir_all(&path).map_err(|e| cannot(&path, e))?;
            alternate.input.new.write(&path).map_err(|e| cannot(&path, e))?;
            // The old version's output is the test's expected output.
            let expected = path.join("expected-output");
            std::fs::write(&expected, &alternate.ended.old.stdout).map_err(|e| cannot(&expected, e))?;
            let about = format!(
                "{}:{} {} ({} version)\nwas: {}\nis now: {}\n",
                candidate.file,
                candidate.line,
                candidate.function,
                candidate.side,
                alternate.condition,
                alternate.flipped,
            );
            let about_file = path.join("about");
            std::fs::write(&about_file, about).map_err(|e| cannot(&about_file, e))?;
            written.push(path);
        }
        all.push(written);
    }
    Ok(all)
}
