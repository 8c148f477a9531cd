//! The options of an explanation, from the command line and from `relapse.toml`.
//!
//! The file is searched in the current directory and its ancestors, and has the options under `[explain]`.
//! The command line takes precedence. The file is written only on request (`--save`).

use crate::failure::{Exit, Failure};
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The name of the file.
pub const FILE: &str = "relapse.toml";

/// Options that can be saved. All of them may be left out on the command line.
#[derive(Clone, Debug, Default, PartialEq, Args, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Options {
    /// The version in which the test passes: a git revision or a directory
    #[arg(long, value_name = "VERSION")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub good: Option<String>,
    /// The version in which it fails; `.` is the working tree
    #[arg(long, value_name = "VERSION")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bad: Option<String>,
    /// How to build a version; CC and CXX are set to the compilers that record
    #[arg(long, value_name = "CMD")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build: Option<String>,
    /// The failing test, run where the build ran
    #[arg(long, value_name = "CMD")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// A similar test that passes with both versions: what only the failing one does is suspected first
    #[arg(long, value_name = "CMD")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passing_test: Option<String>,
    /// A wider test that both versions pass, by exit status: an answer must not break it
    #[arg(long, value_name = "CMD")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suite: Option<String>,
    /// Files that belong to the test (`*` matches anything), besides those in directories such as `tests` and
    /// those that the test names: taken from bad for every version
    #[arg(long, value_name = "GLOB")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub test_files: Vec<String>,
    /// The criterion that distinguishes good from bad [default: output]
    #[arg(long, value_enum, value_name = "ORACLE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oracle: Option<OracleKind>,
    /// The test passes if its standard output is this file's content and it exits with 0
    #[arg(long, value_name = "FILE", conflicts_with = "oracle")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect: Option<PathBuf>,
    /// Also compare this with good: `stderr`, or a file that the test writes
    #[arg(long, value_name = "WHAT")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub observe: Vec<String>,
    /// How to search for the guilty changes [default: auto]
    #[arg(long, value_enum, value_name = "METHOD")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<Method>,
    /// Number of parallel builds and tests [default: one for each core]
    #[arg(short, long, value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jobs: Option<usize>,
    /// Timeout of a test, in seconds [default: 10 times what good took, at least 5]
    #[arg(long, value_name = "SECONDS")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<f64>,
    /// Memory limit of a test
    #[arg(long, value_name = "MIB")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
    /// How often good and bad are run to see whether the test is flaky [default: 3]
    #[arg(long, value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeat: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OracleKind {
    /// Exit status and standard output as in the good version
    Output,
    /// As for `git bisect run`: 0 is good, 125 is unresolved, everything else is bad
    Exit,
    /// Processor time: a test that takes much longer than in the good version fails
    Slower,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Changes that the failure depends on, nearest first; then wider circles
    Auto,
    /// Delta debugging over all changes
    Dd,
    /// Delta debugging over the changes that were executed
    Add,
}

impl Options {
    /// The options with paths relative to `directory` rewritten, so that they are valid in `home`.
    pub fn rebased(mut self, directory: &Path, home: &Path) -> Options {
        if directory == home {
            return self;
        }
        for version in [&mut self.good, &mut self.bad].into_iter().flatten() {
            let path = directory.join(&*version);
            if path.is_dir() {
                *version = path.display().to_string();
            }
        }
        if let Some(expect) = &mut self.expect {
            *expect = directory.join(&*expect);
        }
        self
    }

    /// These options, with missing ones taken from `earlier`.
    pub fn or(self, earlier: Options) -> Options {
        // `oracle` and `expect` exclude each other: either of them replaces both.
        let oracle_said = self.oracle.is_some() || self.expect.is_some();
        Options {
            good: self.good.or(earlier.good),
            bad: self.bad.or(earlier.bad),
            build: self.build.or(earlier.build),
            test: self.test.or(earlier.test),
            passing_test: self.passing_test.or(earlier.passing_test),
            suite: self.suite.or(earlier.suite),
            test_files: if self.test_files.is_empty() { earlier.test_files } else { self.test_files },
            oracle: if oracle_said { self.oracle } else { earlier.oracle },
            expect: if oracle_said { self.expect } else { earlier.expect },
            observe: if self.observe.is_empty() { earlier.observe } else { self.observe },
            method: self.method.or(earlier.method),
            jobs: self.jobs.or(earlier.jobs),
            timeout: self.timeout.or(earlier.timeout),
            memory: self.memory.or(earlier.memory),
            repeat: self.repeat.or(earlier.repeat),
        }
    }
}

/// The nearest directory with the file, starting at this one; this one if there is none. All paths in the
/// file are relative to it.
pub fn home(directory: &Path) -> PathBuf {
    directory.ancestors().find(|above| above.join(FILE).is_file()).unwrap_or(directory).to_owned()
}

/// The file's `[explain]` table, or the default options if there is no file.
pub fn load(directory: &Path) -> Result<Options, Failure> {
    let path = directory.join(FILE);
    let Some(table) = read(&path)? else { return Ok(Options::default()) };
    let file: File = table.try_into().map_err(|error: toml::de::Error| damaged(&path, &error))?;
    Ok(file.explain)
}

/// The contents of the file.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct File {
    explain: Options,
}

/// Writes the options to the file, unless it already has the same ones.
pub fn save(directory: &Path, options: &Options) -> Result<(), Failure> {
    if load(directory)? == *options {
        return Ok(());
    }
    let path = directory.join(FILE);
    let failed = |error: &dyn std::fmt::Display| {
        Failure::failed_to(Exit::Environment, format_args!("write {}: {error}", path.display()))
            .hint("Leave out --save to go on without it.")
    };
    let text = toml::to_string(&File { explain: options.clone() }).map_err(|error| failed(&error))?;
    std::fs::write(&path, text).map_err(|error| failed(&error))
}

fn read(path: &Path) -> Result<Option<toml::Table>, Failure> {
    match std::fs::read_to_string(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => {
            Err(Failure::failed_to(Exit::BadInput, format_args!("read {}: {error}", path.display())))
        }
        Ok(text) => text.parse().map(Some).map_err(|error: toml::de::Error| damaged(path, &error)),
    }
}

fn damaged(path: &Path, error: &toml::de::Error) -> Failure {
    Failure::failed_to(
        Exit::BadInput,
        format_args!("understand {}: {}", path.display(), error.to_string().trim_end()),
    )
    .hint("Correct it, or remove it and give the options on the command line.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_survive_and_are_found_from_below() {
        let dir = tempfile::tempdir().unwrap();
        let said = Options {
            good: Some("v1".to_owned()),
            test: Some("./t \"a b\"".to_owned()),
            oracle: Some(OracleKind::Exit),
            observe: vec!["stderr".to_owned()],
            timeout: Some(2.5),
            ..Options::default()
        };
        save(dir.path(), &said).unwrap();
        assert_eq!(load(dir.path()).unwrap(), said);
        let below = dir.path().join("src/lib");
        std::fs::create_dir_all(&below).unwrap();
        assert_eq!(home(&below), dir.path());
        // A version given in a subdirectory names a directory there.
        let named = Options { bad: Some("lib".to_owned()), ..Options::default() };
        let seen = named.rebased(&dir.path().join("src"), dir.path());
        assert_eq!(seen.bad, Some(below.display().to_string()));
    }

    #[test]
    fn the_command_line_has_the_last_word() {
        let earlier = Options {
            good: Some("v1".to_owned()),
            expect: Some("out.txt".into()),
            method: Some(Method::Dd),
            ..Options::default()
        };
        let said =
            Options { good: Some("v2".to_owned()), oracle: Some(OracleKind::Exit), ..Options::default() };
        let both = said.or(earlier);
        assert_eq!(both.good.as_deref(), Some("v2"));
        assert_eq!((both.oracle, both.expect), (Some(OracleKind::Exit), None));
        assert_eq!(both.method, Some(Method::Dd));
    }

    #[test]
    fn a_damaged_file_is_said_and_left() {
        let dir = tempfile::tempdir().unwrap();
        for text in [
            "[explain",
            "[explian]\ngood = \"v1\"\n",
            "[explain]\ngod = \"v1\"\n",
            "[explain]\njobs = \"many\"\n",
        ] {
            std::fs::write(dir.path().join(FILE), text).unwrap();
            assert_eq!(load(dir.path()).unwrap_err().exit, Exit::BadInput, "{text}");
            assert_eq!(std::fs::read_to_string(dir.path().join(FILE)).unwrap(), text);
        }
    }
}
