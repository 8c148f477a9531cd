//! Regressions to be explained, as their `case.toml` tells them. What the keys mean is
//! said in `regressions/README.md`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::shell::{self, Result};

/// One regression.
#[derive(Clone, Debug)]
pub struct Case {
    pub name: String,
    /// The folder of `case.toml`.
    pub dir: PathBuf,
    pub title: String,
    pub build: String,
    pub test: String,
    /// Everything that was said.
    pub table: toml::Table,
}

/// The small regressions of this repository.
pub fn home() -> PathBuf {
    shell::root().join("regressions")
}

impl Case {
    /// The cases in the folders of a folder, in the order of their names.
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
        Ok(Case {
            title: word("title").ok_or_else(|| format!("{name} has no title"))?,
            build: word("build").unwrap_or_else(|| "make".to_owned()),
            test: word("test").ok_or_else(|| format!("{name} has no test"))?,
            name,
            dir,
            table,
        })
    }

    /// Those of these names; all, if there are none.
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

    /// The options that `relapse explain` needs, apart from the versions, quoted for a shell.
    pub fn options(&self) -> Vec<String> {
        self.arguments(&self.build).into_iter().map(|word| quoted(&word)).collect()
    }

    /// The same, unquoted, with a build command of the caller's.
    pub fn arguments(&self, build: &str) -> Vec<String> {
        let mut words = vec!["--build".to_owned(), build.to_owned(), "--test".to_owned(), self.test.clone()];
        let mut option = |name: &str, value: String| words.extend([format!("--{name}"), value]);
        if let Some(oracle) = self.table.get("oracle").and_then(toml::Value::as_str) {
            option("oracle", oracle.to_owned());
        }
        if let Some(file) = self.table.get("expect").and_then(toml::Value::as_str) {
            option("expect", self.dir.join(file).display().to_string());
        }
        for what in self.table.get("observe").and_then(toml::Value::as_array).into_iter().flatten() {
            option("observe", what.as_str().unwrap_or_default().to_owned());
        }
        if let Some(seconds) = self.table.get("timeout").and_then(toml::Value::as_integer) {
            option("timeout", seconds.to_string());
        }
        words
    }
}

/// A word as one would type it.
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
    fn words_for_a_shell_are_quoted() {
        assert_eq!(quoted("a-b.c"), "a-b.c");
        assert_eq!(quoted("it's < x"), r"'it'\''s < x'");
        assert_eq!(quoted(""), "''");
    }
}
