//! Writes alternate inputs as files that a test can use.

use crate::failure::{Exit, Failure};
use alternate::{Alternate, Candidate, Report};
use std::path::{Path, PathBuf};
use symbolic::Input;

/// The directories of inputs.
#[derive(Debug, Default)]
pub struct Written {
    /// Candidate by candidate.
    pub candidates: Vec<Vec<PathBuf>>,
    pub nearest: Option<PathBuf>,
}

/// Writes each alternate input into a directory of its own, the best first: `1`, `2`, ..., and the nearest input on
/// which both versions agree into `nearest`.
pub fn write(directory: &Path, report: &Report) -> Result<Written, Failure> {
    let cannot = |path: &Path, e: std::io::Error| {
        Failure::failed_to(Exit::Environment, format_args!("write to {}: {e}", path.display()))
    };
    if std::fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(Failure::new(Exit::Usage, format_args!("{} is not empty", directory.display()))
            .hint("Name a directory that is empty or does not exist yet."));
    }
    let put = |name: &str, input: &Input, expected: &[u8], about: &str| {
        let path = directory.join(name);
        std::fs::create_dir_all(&path).map_err(|e| cannot(&path, e))?;
        input.write(&path).map_err(|e| cannot(&path, e))?;
        // What the old version prints is what a test expects.
        for (name, bytes) in [("expected-output", expected), ("about", about.as_bytes())] {
            let file = path.join(name);
            std::fs::write(&file, bytes).map_err(|e| cannot(&file, e))?;
        }
        Ok::<PathBuf, Failure>(path)
    };
    let about = |candidate: &Candidate, alternate: &Alternate| {
        format!(
            "{}:{} {} ({} version)\nwas: {}\nis now: {}\n",
            candidate.file,
            candidate.line,
            candidate.function,
            candidate.side,
            alternate.condition,
            alternate.flipped,
        )
    };
    let mut number = 0;
    let mut all = Vec::new();
    for candidate in &report.candidates {
        let mut written = Vec::new();
        for alternate in &candidate.alternates {
            number += 1;
            let about = about(candidate, alternate);
            let path = put(&number.to_string(), &alternate.input.new, &alternate.ended.old.stdout, &about)?;
            written.push(path);
        }
        all.push(written);
    }
    let nearest = report.nearest.as_ref().map(|nearest| {
        let branch = nearest.branch.as_deref().and_then(|branch| Some(about(branch, branch.best()?)));
        let about = branch.unwrap_or_else(|| "an input of another length\n".to_owned());
        put("nearest", &nearest.input.new, &nearest.ended.stdout, &about)
    });
    Ok(Written { candidates: all, nearest: nearest.transpose()? })
}
