//! Descriptions of the packages: `xtask/real/packages.toml`.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use crate::shell::{self, Result};

/// The default time limit of a recorded test, and of its replay.
const LIMIT: u64 = 300;

/// A Debian source package, with its build and test commands.
#[derive(Clone, Debug)]
pub struct Package {
    pub name: String,
    /// The name of the source package.
    pub source: String,
    /// Packages that the build or the test needs.
    pub needs: Vec<String>,
    /// Whether Debian's patches are applied. Without them no generated file is out of date.
    pub patched: bool,
    /// Options for `CFLAGS` besides `-O2 -g`.
    pub flags: String,
    pub configure: String,
    pub build: String,
    pub test: String,
    /// Which part of its tests is run.
    pub scope: String,
    /// How test results are extracted from the output.
    pub verdicts: Verdicts,
    /// The time limit of the recorded test, and of its replay.
    pub limit: Duration,
    /// The user of its processes, if they drop root privileges.
    pub user: Option<u32>,
}

/// The part of a test's output that must be the same with and without recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdicts {
    /// Lines with the result of one test, in the formats of automake and TAP.
    Lines,
    /// The whole output.
    Output,
    /// Only the exit status.
    Status,
}

impl Verdicts {
    /// The lines to compare, sorted: tests that run in parallel end in any order.
    pub fn of(self, output: &str) -> Vec<String> {
        const ENDS: [&str; 12] = [
            "PASS: ", "FAIL: ", "SKIP: ", "XFAIL: ", "XPASS: ", "ERROR: ", "PASS ", "FAIL ", "ok ",
            "not ok ", "pass: ", "fail: ",
        ];
        let line = |line: &str| line.trim().to_owned();
        match self {
            Verdicts::Status => Vec::new(),
            Verdicts::Output => output.lines().map(line).collect(),
            Verdicts::Lines => {
                let is_end = |line: &&str| ENDS.iter().any(|end| line.trim_start().starts_with(end));
                let mut lines: Vec<String> = output.lines().filter(is_end).map(line).collect();
                lines.sort();
                lines
            }
        }
    }
}

impl Package {
    /// All packages, in the order of the file.
    pub fn all() -> Result<Vec<Package>> {
        let file = shell::root().join("xtask/real/packages.toml");
        let text = fs::read_to_string(&file)
            .map_err(|error| format!("failed to read {}: {error}", file.display()))?;
        let table: toml::Table =
            text.parse().map_err(|error| format!("failed to understand {}: {error}", file.display()))?;
        let listed = table.get("package").and_then(toml::Value::as_array).into_iter().flatten();
        listed.filter_map(toml::Value::as_table).map(Package::read).collect()
    }

    /// The packages with these names; all if no names are given.
    pub fn select(all: Vec<Package>, names: &[&str]) -> Result<Vec<Package>> {
        let known: BTreeSet<String> = all.iter().map(|package| package.name.clone()).collect();
        if let Some(wrong) = names.iter().find(|name| !known.contains(**name)) {
            let known: Vec<String> = known.into_iter().collect();
            return Err(format!("there is no package {wrong}; there are {}", known.join(", ")));
        }
        let wanted = |package: &Package| names.is_empty() || names.contains(&package.name.as_str());
        Ok(all.into_iter().filter(wanted).collect())
    }

    fn read(table: &toml::Table) -> Result<Package> {
        const KEYS: [&str; 12] = [
            "name",
            "source",
            "needs",
            "patched",
            "flags",
            "configure",
            "build",
            "test",
            "scope",
            "verdicts",
            "limit",
            "user",
        ];
        let word = |key: &str| table.get(key).and_then(toml::Value::as_str).map(str::to_owned);
        let name = word("name").ok_or("a package has no name")?;
        if let Some(key) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
            return Err(format!("{name}: {key} means nothing"));
        }
        let said = |key: &str| word(key).ok_or_else(|| format!("{name} has no {key}"));
        let verdicts = match word("verdicts").as_deref() {
            None | Some("lines") => Verdicts::Lines,
            Some("output") => Verdicts::Output,
            Some("status") => Verdicts::Status,
            Some(other) => return Err(format!("{name}: {other} is no kind of verdicts")),
        };
        let limit = table.get("limit").and_then(toml::Value::as_integer).map(u64::try_from);
        let limit = limit.transpose().map_err(|_| format!("{name}: the limit is no number of seconds"))?;
        let user = table.get("user").and_then(toml::Value::as_integer).map(u32::try_from);
        let user = user.transpose().map_err(|_| format!("{name}: the user is no number"))?;
        let needs = table.get("needs").and_then(toml::Value::as_array).into_iter().flatten();
        Ok(Package {
            source: word("source").unwrap_or_else(|| name.clone()),
            needs: needs.filter_map(toml::Value::as_str).map(str::to_owned).collect(),
            patched: table.get("patched").and_then(toml::Value::as_bool).unwrap_or(false),
            flags: word("flags").unwrap_or_default(),
            configure: word("configure").unwrap_or_else(|| "true".to_owned()),
            build: word("build").unwrap_or_else(|| "make -j2".to_owned()),
            test: said("test")?,
            scope: said("scope")?,
            verdicts,
            limit: Duration::from_secs(limit.unwrap_or(LIMIT)),
            user,
            name,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_package_can_be_read() {
        let all = Package::all().unwrap();
        let names: BTreeSet<&str> = all.iter().map(|package| package.name.as_str()).collect();
        assert_eq!(names.len(), all.len(), "a name is used twice");
        assert!(all.len() >= 30, "{}", all.len());
        let one = Package::select(all.clone(), &["sed"]).unwrap();
        assert_eq!(one.len(), 1);
        assert!(Package::select(all, &["no-such-package"]).unwrap_err().contains("sed"));
    }

    #[test]
    fn wrong_keys_are_refused() {
        let read = |text: &str| Package::read(&text.parse::<toml::Table>().unwrap());
        assert!(read("name = 'a'\ntest = 'true'\nscope = 'all'").is_ok());
        assert!(read("name = 'a'\ntest = 'true'\nscope = 'all'\nmake = 'x'").unwrap_err().contains("make"));
        assert!(read("name = 'a'\nscope = 'all'").unwrap_err().contains("test"));
        assert!(read("name = 'a'\ntest = 'true'\nscope = 'all'\nverdicts = 'x'").is_err());
    }

    #[test]
    fn verdicts_are_lines_that_tell_how_a_test_ended() {
        let output = "PASS: b\nmake[1]: Entering\nFAIL: a\nok 1 - x\nnot ok 2\n  pass: z\n";
        let lines = Verdicts::Lines.of(output);
        assert_eq!(lines, ["FAIL: a", "PASS: b", "not ok 2", "ok 1 - x", "pass: z"]);
        assert_eq!(Verdicts::Output.of(output).len(), 6);
        assert!(Verdicts::Status.of(output).is_empty());
    }
}
