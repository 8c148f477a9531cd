//! One package: unpacked and built twice, tested plain and recorded, every process replayed.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::package::Package;
use super::result::{OpaqueShare, Reason, Tested};
use super::source::Archive;
use crate::shell::{self, Result};
use crate::tools::Tools;

/// One of the two trees of a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tree {
    Plain,
    Recorded,
}

impl Tree {
    fn name(self) -> &'static str {
        match self {
            Tree::Plain => "plain",
            Tree::Recorded => "recorded",
        }
    }

    fn compiler(self, tools: &Tools) -> &Path {
        match self {
            Tree::Plain => &tools.clang,
            Tree::Recorded => &tools.cc,
        }
    }
}

/// The result of a shell command line.
struct ShellResult {
    code: i32,
    took: Duration,
    output: String,
}

/// The time limit of configuring, and of building. Configure scripts compile hundreds of files.
const BUILD_LIMIT: Duration = Duration::from_secs(3600);

/// The exit code of `timeout`.
const TIMED_OUT: i32 = 124;

/// A package and its directory.
pub struct Bench<'a> {
    pub tools: &'a Tools,
    pub archive: &'a Archive,
    pub package: &'a Package,
    pub home: PathBuf,
}

impl Bench<'_> {
    /// Builds and tests; an error is a reason why there is nothing to compare.
    pub fn run(&self) -> Result<Tested> {
        self.build(Tree::Plain)?;
        self.build(Tree::Recorded)?;
        let limit = self.package.limit;
        let plain = self.line(Tree::Plain, &self.package.test, "test", None, limit)?;
        if plain.code == TIMED_OUT {
            return Err(format!("built by clang, its test takes longer than {} s", limit.as_secs()));
        }
        let recording = self.home.join("recording");
        if let Some(user) = self.package.user {
            shell::create_empty_dir(&recording)?;
            std::os::unix::fs::chown(&recording, Some(user), None)
                .map_err(|error| format!("failed to give {} away: {error}", recording.display()))?;
        }
        let recorded = self.line(Tree::Recorded, &self.package.test, "test", Some(&recording), limit)?;
        let mut tested = Tested {
            plain_seconds: plain.took.as_secs_f64(),
            recorded_seconds: recorded.took.as_secs_f64(),
            bytes: size(&recording),
            ..Tested::default()
        };
        self.compare(&plain, &recorded, &mut tested);
        self.read_recorder_log(&mut tested);
        if recorded.code == TIMED_OUT {
            tested
                .reasons
                .push(Reason::once(format!("recorded, it takes longer than {} s", limit.as_secs())));
        }
        self.replay(&recording, &mut tested)?;
        Ok(tested)
    }

    fn compare(&self, plain: &ShellResult, recorded: &ShellResult, tested: &mut Tested) {
        let kind = self.package.verdicts;
        let (before, after) = (kind.of(&plain.output), kind.of(&recorded.output));
        tested.verdicts = before.len().max(1);
        tested.same = plain.code == recorded.code && before == after;
        if tested.same {
            return;
        }
        let other = before.iter().find(|line| !after.contains(line));
        let new = after.iter().find(|line| !before.contains(line));
        let said = |line: Option<&String>| line.map_or("-".to_owned(), |line| format!("`{line}`"));
        tested.reasons.push(Reason::once(format!(
            "verdicts: plain {} {}, recorded {} {}",
            plain.code,
            said(other),
            recorded.code,
            said(new)
        )));
    }

    /// Reads the recorder's messages: the share of opaque calls, and errors.
    fn read_recorder_log(&self, tested: &mut Tested) {
        let text = fs::read_to_string(self.home.join("recorder.log")).unwrap_or_default();
        for line in text.lines() {
            if let Some(share) = OpaqueShare::read(line) {
                tested.opaque = Some(share);
            } else if line.contains("incomplete") || line.contains("nothing was recorded") {
                tested.reasons.push(Reason::once(line.trim_start_matches("error: ").to_owned()));
            }
        }
    }

    fn replay(&self, recording: &Path, tested: &mut Tested) -> Result<()> {
        let limit = self.package.limit;
        let mut command = Command::new(&self.tools.relapse);
        command.arg("replay").arg(recording).arg("--json");
        let outcome = shell::capture(&mut command, limit)?;
        tested.replay_seconds = outcome.took.as_secs_f64();
        shell::write(&self.home.join("replay.json"), &outcome.stdout)?;
        shell::write(&self.home.join("replay.log"), &outcome.stderr)?;
        if outcome.timed_out {
            let reason = format!("replay takes longer than {} s", limit.as_secs());
            tested.reasons.push(Reason::once(reason));
            return Ok(());
        }
        let Ok(answer) = serde_json::from_slice::<Value>(&outcome.stdout) else {
            let complaint = outcome.complaint();
            let said = complaint.lines().next().unwrap_or("nothing").to_owned();
            tested.reasons.push(Reason::once(format!("replay gave no answer: {said}")));
            return Ok(());
        };
        tested.read_replay(&answer);
        Ok(())
    }

    /// Unpacks, configures and builds, unless that was done with the same compiler and commands.
    fn build(&self, tree: Tree) -> Result<()> {
        let dir = self.home.join(tree.name());
        let stamp = self.stamp(tree)?;
        let stamp_file = self.home.join(tree.name()).with_added_extension("stamp");
        if fs::read_to_string(&stamp_file).is_ok_and(|old| old == stamp) {
            return Ok(());
        }
        let _ = fs::remove_file(&stamp_file);
        self.archive.unpack(self.package, &dir)?;
        for (what, line) in [("configure", &self.package.configure), ("build", &self.package.build)] {
            let ended = self.line(tree, line, what, None, BUILD_LIMIT)?;
            if ended.code != 0 {
                let log = self.log(tree, what);
                return Err(format!("{}: {what} ends with {}: {}", tree.name(), ended.code, log.display()));
            }
        }
        shell::write(&stamp_file, stamp)
    }

    /// A text that changes if the tree must be rebuilt.
    fn stamp(&self, tree: Tree) -> Result<String> {
        let compiler = tree.compiler(self.tools);
        let changed = fs::metadata(compiler)
            .and_then(|meta| meta.modified())
            .map_err(|error| format!("failed to look at {}: {error}", compiler.display()))?;
        let package = self.package;
        Ok(format!(
            "{} {changed:?}\n{} {} {}\n{}\n{}\n",
            compiler.display(),
            package.source,
            package.patched,
            package.flags,
            package.configure,
            package.build
        ))
    }

    fn log(&self, tree: Tree, what: &str) -> PathBuf {
        self.home.join(format!("{}-{what}.log", tree.name()))
    }

    /// Runs a shell command line in a tree. Its output goes to a file: a daemon that stays alive would keep a
    /// pipe open.
    fn line(
        &self,
        tree: Tree,
        line: &str,
        what: &str,
        recording: Option<&Path>,
        limit: Duration,
    ) -> Result<ShellResult> {
        let log = self.log(tree, what);
        let create = |path: &Path| {
            fs::File::create(path).map_err(|error| format!("failed to write {}: {error}", path.display()))
        };
        let mut command = Command::new("timeout");
        // `timeout` runs it in a separate process group and ends the whole group.
        command.args(["-k", "10", &limit.as_secs().to_string()]);
        if let Some(recording) = recording {
            command.arg(&self.tools.relapse).args(["record", "--force", "-o"]).arg(recording).arg("--");
        }
        command.args(["sh", "-c", &format!("exec 2>&1\n{line}")]);
        let compiler = tree.compiler(self.tools);
        let cxx = match tree {
            Tree::Plain => compiler.with_file_name("clang++-22"),
            Tree::Recorded => compiler.with_file_name("relapse-c++"),
        };
        let flags = format!("-O2 -g {}", self.package.flags);
        command
            .current_dir(self.home.join(tree.name()))
            .env("CC", compiler)
            .env("CXX", cxx)
            .env("CFLAGS", flags.trim_end())
            .env("CXXFLAGS", flags.trim_end())
            .env("LC_ALL", "C")
            .env("FORCE_UNSAFE_CONFIGURE", "1")
            .env_remove("MAKEFLAGS")
            .env_remove("CARGO_MAKEFLAGS")
            .stdin(Stdio::null())
            .stdout(create(&log)?)
            .stderr(create(&self.home.join("recorder.log"))?);
        let start = Instant::now();
        let status =
            command.status().map_err(|error| format!("failed to run {}: {error}", shell::shown(&command)))?;
        let took = start.elapsed();
        let output = fs::read(&log).map_err(|error| format!("failed to read {}: {error}", log.display()))?;
        // The trees differ in their name.
        let here = self.home.join(tree.name()).display().to_string();
        let output = String::from_utf8_lossy(&output).replace(&here, "TREE");
        Ok(ShellResult {
            code: status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)),
            took,
            output,
        })
    }
}

/// The total size of the files in a directory; a file with several hard links counts once.
fn size(dir: &Path) -> u64 {
    let mut seen = HashSet::new();
    let mut dirs = vec![dir.to_owned()];
    let mut bytes = 0;
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(meta) if meta.is_dir() => dirs.push(entry.path()),
                Ok(meta) if seen.insert((meta.dev(), meta.ino())) => bytes += meta.len(),
                _ => {}
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_two_names_counts_once() {
        let dir = std::env::temp_dir().join(format!("xtask-size-{}", std::process::id()));
        shell::write(&dir.join("a/one"), "12345").unwrap();
        shell::write(&dir.join("b/other"), "123").unwrap();
        fs::hard_link(dir.join("a/one"), dir.join("b/same")).unwrap();
        assert_eq!(size(&dir), 8);
        fs::remove_dir_all(dir).unwrap();
    }
}
