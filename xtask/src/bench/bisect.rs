//! `git bisect run` over the history of a case, for comparison: it finds the commit, and its number of builds
//! is the baseline for an explanation.
//!
//! The script returns "skip" for a commit that does not build, and "good" if the test ends as in the first
//! commit and, unless the case compares only the exit status, prints the same.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::explain::lines;
use super::watch;
use crate::cases::{self, Case, FIRST, git};
use crate::shell::{self, Result};
use crate::tools::DEFAULT_TIMEOUT;

/// The result of bisecting.
#[derive(Clone, Debug, Default)]
pub struct BisectResult {
    /// Whether it names the guilty commit.
    pub right: bool,
    pub builds: u64,
}

/// Bisects a case that has a culprit, in a separate directory, with a given compiler.
pub fn bisect(case: &Case, dir: &Path, cc: &Path) -> Result<BisectResult> {
    shell::create_empty_dir(dir)?;
    case.lay_out(dir)?;
    let log = dir.join("watched");
    shell::write(&log.join(watch::BUILDS), "")?;
    let repository = dir.join("repository");
    let script = dir.join("run.sh");
    shell::write(&script, commands(case, dir, &watch::command_line(&log, &case.build)?))?;

    // The run of the first commit is the expected one.
    git(&repository, &["checkout", "--quiet", FIRST])?;
    let run = |command: &mut Command| {
        shell::capture(command.current_dir(&repository).env("CC", cc), DEFAULT_TIMEOUT)
    };
    let first = run(Command::new("sh").arg(&script))?;
    if first.status.code() == Some(SKIP) {
        return Err(format!("the first commit does not build: {}", first.complaint()));
    }
    for kind in ["status", "output"] {
        let (from, to) = (dir.join(format!("{kind}.now")), dir.join(format!("{kind}.good")));
        fs::copy(&from, &to).map_err(|error| format!("failed to copy {}: {error}", from.display()))?;
    }
    git(&repository, &["bisect", "start", "main", FIRST])?;
    // The command fails if only skipped commits remain; then it names no commit.
    let outcome = run(Command::new("git").args(["bisect", "run", "sh"]).arg(&script))?;
    let found = git(&repository, &["log", "-1", "--format=%s", "refs/bisect/bad"])?;
    Ok(BisectResult {
        right: outcome.status.success() && Some(found) == case.culprit,
        builds: lines(&log.join(watch::BUILDS)),
    })
}

/// The exit status by which git recognises a commit that cannot be tested.
const SKIP: i32 = 125;

fn commands(case: &Case, dir: &Path, build: &str) -> String {
    let seconds = case.table.get("timeout").and_then(toml::Value::as_integer).unwrap_or(10);
    let only_status = case.table.get("oracle").and_then(toml::Value::as_str) == Some("exit");
    let compare = if only_status { "" } else { "cmp -s output.good output.now || exit 1\n" };
    format!(
        "{build} || exit {SKIP}\n\
         timeout {seconds} sh -c {} > {dir}/output.now\n\
         echo $? > {dir}/status.now\n\
         cd {dir}\n\
         cmp -s status.good status.now || exit 1\n\
         {compare}",
        cases::quoted(&case.test),
        dir = cases::quoted(&dir.display().to_string()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compared_depends_on_the_oracle() {
        let mut case = Case::one(&cases::home(), "scheduler-moved").unwrap();
        case.table.clear();
        let text = commands(&case, Path::new("/d"), "make");
        assert!(text.starts_with("make || exit 125\ntimeout 10 sh -c "), "{text}");
        assert!(text.ends_with("cmp -s output.good output.now || exit 1\n"), "{text}");
        case.table.insert("oracle".to_owned(), "exit".into());
        assert!(!commands(&case, Path::new("/d"), "make").contains("output.good"));
    }
}
