//! Regressions to be explained, as described by their `case.toml`. `regressions/README.md` documents the
//! keys.
//!
//! A case stores its bad version as a directory, or as patches to the good one. Patches are applied in a
//! separate repository, so that such a case can be explained with its history and without.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::shell::{self, Result};
use crate::tools::DEFAULT_TIMEOUT;

/// One regression.
#[derive(Clone, Debug)]
pub struct Case {
    pub name: String,
    /// The directory of `case.toml`.
    pub dir: PathBuf,
    pub title: String,
    pub build: String,
    pub test: String,
    /// The subject of the guilty commit, if the case is explained with its history.
    pub culprit: Option<String>,
    /// The whole file.
    pub table: toml::Table,
}

/// The small regressions of this repository.
pub fn home() -> PathBuf {
    shell::root().join("regressions")
}

impl Case {
    /// The cases in the subdirectories of a directory, sorted by name.
    pub fn all(home: &Path) -> Result<Vec<Case>> {
        let entries =
            fs::read_dir(home).map_err(|error| format!("failed to read {}: {error}", home.display()))?;
        let mut dirs: Vec<PathBuf> =
            entries.flatten().map(|entry| entry.path()).filter(|p| p.is_dir()).collect();
        dirs.sort();
        dirs.into_iter().map(Case::read).collect()
    }

    /// The case of this name.
    pub fn one(home: &Path, name: &str) -> Result<Case> {
        Case::read(home.join(name))
    }

    fn read(dir: PathBuf) -> Result<Case> {
        let file = dir.join("case.toml");
        let text = fs::read_to_string(&file)
            .map_err(|error| format!("failed to read {}: {error}", file.display()))?;
        let table: toml::Table =
            text.parse().map_err(|error| format!("failed to understand {}: {error}", file.display()))?;
        let word = |key: &str| table.get(key).and_then(toml::Value::as_str).map(str::to_owned);
        let name = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let history = table.get("history").and_then(toml::Value::as_bool).unwrap_or(false);
        let culprit = match word("culprit") {
            None if history => return Err(format!("{name} has a history, but no culprit")),
            culprit => culprit.filter(|_| history),
        };
        Ok(Case {
            culprit,
            title: word("title").ok_or_else(|| format!("{name} has no title"))?,
            build: word("build").unwrap_or_else(|| "make".to_owned()),
            test: word("test").ok_or_else(|| format!("{name} has no test"))?,
            name,
            dir,
            table,
        })
    }

    /// The cases with these names; all if no names are given.
    pub fn select(cases: &[Case], names: &[&str]) -> Result<Vec<Case>> {
        if let Some(wrong) = names.iter().find(|name| !cases.iter().any(|case| case.name == **name)) {
            let known: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
            return Err(format!("there is no case {wrong}; there are {}", known.join(", ")));
        }
        Ok(cases
            .iter()
            .filter(|case| names.is_empty() || names.contains(&case.name.as_str()))
            .cloned()
            .collect())
    }

    /// The options for `relapse explain`, without the versions, quoted for a shell.
    pub fn options(&self) -> Vec<String> {
        self.arguments(&self.build).into_iter().map(|word| quoted(&word)).collect()
    }

    /// The same, unquoted, with a given build command.
    pub fn arguments(&self, build: &str) -> Vec<String> {
        let mut words = vec!["--build".to_owned(), build.to_owned(), "--test".to_owned(), self.test.clone()];
        let mut option = |name: &str, value: String| words.extend([format!("--{name}"), value]);
        if let Some(oracle) = self.table.get("oracle").and_then(toml::Value::as_str) {
            option("oracle", oracle.to_owned());
        }
        if let Some(file) = self.table.get("expect").and_then(toml::Value::as_str) {
            option("expect", self.dir.join(file).display().to_string());
        }
        for (key, name) in [("observe", "observe"), ("test_files", "test-files")] {
            for what in self.table.get(key).and_then(toml::Value::as_array).into_iter().flatten() {
                option(name, what.as_str().unwrap_or_default().to_owned());
            }
        }
        if let Some(suite) = self.table.get("suite").and_then(toml::Value::as_str) {
            option("suite", suite.to_owned());
        }
        if let Some(seconds) = self.table.get("timeout").and_then(toml::Value::as_integer) {
            option("timeout", seconds.to_string());
        }
        words
    }

    /// Whether the bad version is stored as patches.
    fn has_patches(&self) -> bool {
        self.dir.join("commits").is_dir()
    }

    /// Writes both versions to `good` and `bad` in a directory; for a case with patches, also its repository
    /// to `repository`.
    pub fn lay_out(&self, dir: &Path) -> Result<()> {
        let (good, bad) = (dir.join("good"), dir.join("bad"));
        shell::create_empty_dir(&bad)?;
        shell::create_empty_dir(&good)?;
        shell::copy_tree(&self.dir.join("good"), &good)?;
        if !self.has_patches() {
            return shell::copy_tree(&self.dir.join("bad"), &bad);
        }
        let repository = dir.join("repository");
        shell::create_empty_dir(&repository)?;
        shell::copy_tree(&good, &repository)?;
        git(&repository, &["init", "--quiet", "--initial-branch=main"])?;
        git(&repository, &["add", "--all", "--force"])?;
        git(&repository, &["commit", "--quiet", "--message", "Begin"])?;
        git(&repository, &["tag", FIRST])?;
        let script = self.dir.join("history.sh");
        if script.is_file() {
            done(with_author(Command::new("sh").arg(&script).current_dir(&repository)))?;
        } else {
            let patches = self.patches()?;
            let mut words = vec!["am", "--quiet", "--committer-date-is-author-date"];
            words.extend(patches.iter().map(String::as_str));
            git(&repository, &words)?;
        }
        git(&repository, &["checkout-index", "--all", &format!("--prefix={}/", bad.display())])?;
        Ok(())
    }

    /// The patches in the order of application.
    fn patches(&self) -> Result<Vec<String>> {
        let home = self.dir.join("commits");
        let entries =
            fs::read_dir(&home).map_err(|error| format!("failed to read {}: {error}", home.display()))?;
        let mut patches: Vec<String> = entries
            .flatten()
            .map(|entry| entry.path().display().to_string())
            .filter(|path| path.ends_with(".patch"))
            .collect();
        patches.sort();
        Ok(patches)
    }
}

/// The tag of the first commit of a case's repository.
pub const FIRST: &str = "first";

/// Runs git in a repository and returns its output; an error if it fails.
pub fn git(repository: &Path, words: &[&str]) -> Result<String> {
    done(with_author(Command::new("git").args(words).current_dir(repository)))
}

/// Fixes author and date, so that commits are reproducible.
fn with_author(command: &mut Command) -> &mut Command {
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "Dev").env(format!("GIT_{who}_EMAIL"), "dev@example.org");
        command.env(format!("GIT_{who}_DATE"), "2025-01-01T12:00:00 +0000");
    }
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1")
}

fn done(command: &mut Command) -> Result<String> {
    let outcome = shell::capture(command, DEFAULT_TIMEOUT)?;
    if !outcome.status.success() {
        return Err(format!("{}: {}", shell::shown(command), outcome.complaint()));
    }
    Ok(String::from_utf8_lossy(&outcome.stdout).trim_end().to_owned())
}

/// A word quoted for a shell if necessary.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_can_be_read() {
        let cases = Case::all(&home()).unwrap();
        assert!(cases.len() >= 25, "{}", cases.len());
        let hang = Case::select(&cases, &["template-hang"]).unwrap();
        assert_eq!(hang.len(), 1);
        let words = hang[0].arguments("make");
        assert!(words.windows(2).any(|pair| pair == ["--timeout", "3"]), "{words:?}");
        assert!(Case::select(&cases, &["no-such-case"]).is_err());
    }

    #[test]
    fn patches_lead_to_the_bad_version() {
        let home = std::env::temp_dir().join(format!("xtask-lay-out-{}", std::process::id()));
        let dir = home.join("case");
        shell::write(&dir.join("good/a.txt"), "one\n").unwrap();
        let patch = |file: &str, subject: &str, old: &str, new: &str| {
            let text = format!(
                "From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001\n\
                 From: Dev <dev@example.org>\nDate: Tue, 6 May 2025 09:37:00 +0000\n\
                 Subject: [PATCH] {subject}\n\n---\ndiff --git a/a.txt b/a.txt\n\
                 --- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-{old}\n+{new}\n-- \n2.39.5\n\n"
            );
            shell::write(&dir.join("commits").join(file), text).unwrap();
        };
        patch("0002-then.patch", "Say three", "two", "three");
        patch("0001-first.patch", "Say two", "one", "two");
        let toml = "title = \"t\"\ntest = \"true\"\nsuite = \"make check\"\ntest_files = [\"t/*\"]\n\
                    history = true\nculprit = \"Say three\"\n";
        shell::write(&dir.join("case.toml"), toml).unwrap();

        let case = Case::one(&home, "case").unwrap();
        assert_eq!(case.culprit.as_deref(), Some("Say three"));
        let options = case.options().join(" ");
        assert!(options.contains("--test-files 't/*' --suite 'make check'"), "{options}");
        let to = home.join("out");
        case.lay_out(&to).unwrap();
        assert_eq!(fs::read_to_string(to.join("good/a.txt")).unwrap(), "one\n");
        assert_eq!(fs::read_to_string(to.join("bad/a.txt")).unwrap(), "three\n");
        let log =
            git(&to.join("repository"), &["log", "--format=%s %ad", "--date=short", "first.."]).unwrap();
        assert_eq!(log, "Say three 2025-05-06\nSay two 2025-05-06");
        fs::remove_dir_all(home).unwrap();
    }

    #[test]
    fn words_for_a_shell_are_quoted() {
        assert_eq!(quoted("a-b.c"), "a-b.c");
        assert_eq!(quoted("it's < x"), r"'it'\''s < x'");
        assert_eq!(quoted(""), "''");
    }
}
