//! The built commands, run as a user would.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::shell::{self, Outcome, Result};

/// A generous default timeout of a program.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(900);

/// Paths of the built executables.
#[derive(Clone, Debug)]
pub struct Tools {
    pub relapse: PathBuf,
    pub cc: PathBuf,
    /// Plain clang, for comparison.
    pub clang: PathBuf,
}

/// The result of `relapse replay --json` for a recording.
#[derive(Clone, Debug, Default)]
pub struct Replayed {
    pub exact: bool,
    pub instructions: f64,
    pub loads: f64,
    pub mispredicted: f64,
    pub bits_per_instruction: f64,
    pub wall_seconds: f64,
    /// The output, for the report of a failure.
    pub text: String,
}

/// The number of cores that a replay may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cores {
    One,
    All,
}

fn link_cxx(dir: &Path) -> Result<()> {
    let cxx = dir.join("relapse-c++");
    if fs::symlink_metadata(&cxx).is_err() {
        std::os::unix::fs::symlink("relapse-cc", &cxx)
            .map_err(|error| format!("failed to link {}: {error}", cxx.display()))?;
    }
    Ok(())
}

impl Tools {
    /// Builds the commands (release) and makes the `relapse-c++` link.
    pub fn build() -> Result<Self> {
        shell::run(shell::cargo().args(["build", "--release", "--quiet", "--package", "relapse"]))?;
        Self::existing()
    }

    /// The same with the development profile, for a busy machine.
    pub fn build_dev() -> Result<Self> {
        // With the features of the whole workspace, as the tests were built, so that nothing is built twice.
        shell::run(shell::cargo().args(["build", "--quiet", "--workspace", "--bins"]))?;
        Self::in_target_dir("debug")
    }

    /// Makes the `relapse-c++` link for the commands that the tests build.
    pub fn before_tests() -> Result<()> {
        let dir = shell::target().join("debug");
        fs::create_dir_all(&dir).map_err(|error| format!("failed to create {}: {error}", dir.display()))?;
        link_cxx(&dir)
    }

    /// The commands as the tests have built them.
    pub fn of_tests() -> Result<Self> {
        Self::in_target_dir("debug")
    }

    /// The commands of the last release build.
    pub fn existing() -> Result<Self> {
        Self::in_target_dir("release")
    }

    fn in_target_dir(profile: &str) -> Result<Self> {
        let dir = shell::target().join(profile);
        let tools = Tools {
            relapse: dir.join("relapse"),
            cc: dir.join("relapse-cc"),
            clang: shell::which("clang-22").ok_or("clang-22 is missing: run cargo xtask setup")?,
        };
        if !tools.cc.exists() {
            return Err(format!("{} is not built", tools.cc.display()));
        }
        link_cxx(&dir)?;
        Ok(tools)
    }

    /// `relapse record` for a program; the caller appends arguments.
    pub fn record(&self, recording: &Path, program: &Path) -> Command {
        let mut command = Command::new(&self.relapse);
        command.args(["record", "--quiet", "-o"]).arg(recording).arg("--").arg(program);
        command
    }

    /// `relapse replay --json`.
    pub fn replay(&self, recording: &Path, cores: Cores, limit: Duration) -> Result<Replayed> {
        let mut command = Command::new(&self.relapse);
        command.arg("replay").arg(recording).arg("--json");
        if cores == Cores::One {
            command.env("RAYON_NUM_THREADS", "1");
        }
        let outcome = shell::capture(&mut command, limit)?;
        Ok(read_replay(&outcome))
    }
}

/// Parses the answer of `relapse replay --json`. Malformed answers count as not exact.
fn read_replay(outcome: &Outcome) -> Replayed {
    let mut text = String::from_utf8_lossy(&outcome.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&outcome.stderr));
    if outcome.timed_out {
        text.push_str("(stopped: it took too long)\n");
    }
    let json: Value = serde_json::from_slice(&outcome.stdout).unwrap_or(Value::Null);
    let number = |name: &str| json.get(name).and_then(Value::as_f64).unwrap_or(0.0);
    let said_exact = json.get("exact").and_then(Value::as_bool).unwrap_or(false);
    Replayed {
        exact: said_exact && outcome.status.success(),
        instructions: number("instructions"),
        loads: number("loads"),
        mispredicted: number("mispredicted"),
        bits_per_instruction: number("bits_per_instruction"),
        wall_seconds: outcome.took.as_secs_f64(),
        text,
    }
}
