//! The folders of `regressions/`: what `case.toml` says, and the two versions as git
//! sees their difference. Nothing here knows `relapse`.

use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder of `regressions/`.
#[derive(Clone, Debug)]
pub struct Case {
    pub name: String,
    pub directory: PathBuf,
    pub says: Says,
}

/// What `case.toml` says. `regressions/README.md` explains each key.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Says {
    pub title: String,
    pub covers: Vec<String>,
    pub kind: Kinds,
    /// Explained only when long tests are asked for.
    #[serde(default)]
    pub long: bool,
    #[serde(default = "make")]
    pub build: String,
    pub test: String,
    pub oracle: Option<String>,
    pub expect: Option<String>,
    #[serde(default)]
    pub observe: Vec<String>,
    pub timeout: Option<u64>,
    pub root: Vec<Named>,
    #[serde(default)]
    pub auxiliary: Vec<Named>,
    /// Other answers that are as right.
    #[serde(default)]
    pub other: Vec<Answer>,
    #[serde(default)]
    pub chains: Vec<Vec<String>>,
    /// Lines that are no part of the story.
    #[serde(default)]
    pub never: Vec<String>,
    /// What the steps of the story say, from the beginning of each sentence.
    #[serde(default)]
    pub sentences: Vec<String>,
    /// Values that a step of the story shows, as it shows them.
    #[serde(default)]
    pub values: Vec<Shown>,
    /// Lines that are shown to decide, by running bad with another value there.
    #[serde(default)]
    pub proven: Vec<String>,
    /// Parts of sentences about memory errors of bad.
    #[serde(default)]
    pub memory_errors: Vec<String>,
    pub dd: Option<Expected>,
    pub add: Option<Expected>,
    pub runs: Option<Runs>,
    pub located: Option<Located>,
    /// What the test prints differs from run to run.
    #[serde(default)]
    pub unstable: bool,
    /// Explained as commits of a repository, not as two folders.
    #[serde(default)]
    pub history: bool,
    /// Subject of the commit that is guilty.
    pub culprit: Option<String>,
    /// Answers that are tempting and wrong.
    #[serde(default)]
    pub wrong: Vec<Wrong>,
    pub suite: Option<String>,
    #[serde(default)]
    pub test_files: Vec<String>,
}

/// A tempting answer that is wrong.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wrong {
    pub root: Vec<Named>,
    #[expect(dead_code, reason = "for people")]
    pub why: String,
    /// Undone alone, it makes the test pass by luck.
    #[serde(default)]
    pub passes: bool,
}

/// A value in both versions.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shown {
    pub name: String,
    pub good: String,
    pub bad: String,
}

/// What comparisons of the runs say. Lines are named by text in them, of either version.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Runs {
    /// A line at which the first divergence is.
    pub first: Option<String>,
    /// A similar test that passes with both versions.
    pub passing: Option<String>,
    /// A line that is among what only the failing test has.
    pub cause: Option<String>,
}

/// What `relapse locate` shows of bad, which it knows alone.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Located {
    /// Text of a line among those that are shown.
    pub line: String,
    /// Among so many.
    #[serde(default = "ten")]
    pub within: usize,
    /// Tests that pass with bad, beside `suite` and `runs.passing`.
    #[serde(default)]
    pub passing: Vec<String>,
}

fn ten() -> usize {
    10
}

fn make() -> String {
    "make".to_owned()
}

/// One kind of observation, or several of which each will do.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Kinds {
    One(String),
    OneOf(Vec<String>),
}

impl Kinds {
    pub fn allow(&self, kind: &str) -> bool {
        match self {
            Kinds::One(one) => one == kind,
            Kinds::OneOf(all) => all.iter().any(|one| one == kind),
        }
    }
}

/// Guilty changes, and what has to be reverted with them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    pub root: Vec<Named>,
    #[serde(default)]
    pub auxiliary: Vec<Named>,
}

/// What another method answers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    pub root: Vec<Named>,
    #[serde(default)]
    pub auxiliary: Vec<Named>,
    pub verified: bool,
}

/// A change, named by text in its lines.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Named {
    pub file: String,
    pub old: Option<String>,
    pub new: Option<String>,
    /// Part of a hunk: `old` and `new` are whole lines.
    #[serde(default)]
    pub part: bool,
}

impl Named {
    /// Whether lines of good and bad are those that are meant.
    pub fn fits(&self, file: &str, old: &[String], new: &[String]) -> bool {
        let among = |text: &Option<String>, lines: &[String]| {
            let text = text.as_ref().map(|text| text.trim_end_matches('\n'));
            text.is_none_or(|text| lines.join("\n").contains(text))
        };
        file == self.file && among(&self.old, old) && among(&self.new, new)
    }
}

impl Case {
    /// Puts `good` and `bad` into a folder, and for a case with commits the `repository`, whose
    /// first commit is tagged `first`.
    pub fn lay_out(&self, folder: &Path) -> Result<(), String> {
        let text = |e: std::io::Error| e.to_string();
        let commits = self.directory.join("commits");
        if !commits.is_dir() {
            for version in ["good", "bad"] {
                copy(&self.directory.join(version), &folder.join(version)).map_err(text)?;
            }
            return Ok(());
        }
        let repository = folder.join("repository");
        copy(&self.directory.join("good"), &repository).map_err(text)?;
        let run = |command: &mut Command| {
            command.current_dir(&repository).env("GIT_CONFIG_GLOBAL", "/dev/null");
            for who in ["AUTHOR", "COMMITTER"] {
                command
                    .env(format!("GIT_{who}_NAME"), "Dev")
                    .env(format!("GIT_{who}_EMAIL"), "dev@example.org");
                command.env(format!("GIT_{who}_DATE"), "2025-01-01T00:00:00Z");
            }
            let output = command.output().map_err(text)?;
            match output.status.success() {
                true => Ok(()),
                false => Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr))),
            }
        };
        run(Command::new("git").args(["init", "--quiet", "--initial-branch=main"]))?;
        run(Command::new("git").args(["add", "--all", "--force"]))?;
        run(Command::new("git").args(["commit", "--quiet", "--message", "First version"]))?;
        run(Command::new("git").args(["tag", "first"]))?;
        let script = self.directory.join("history.sh");
        if script.is_file() {
            run(Command::new("sh").arg(&script).arg(&self.directory).env("CASE", &self.directory))?;
        } else {
            let mut patches: Vec<PathBuf> =
                std::fs::read_dir(&commits).map_err(text)?.flatten().map(|entry| entry.path()).collect();
            patches.sort();
            run(Command::new("git").args(["am", "--quiet", "--keep-cr"]).args(patches))?;
        }
        for (version, revision) in [("good", "first"), ("bad", "HEAD")] {
            let target = folder.join(version);
            std::fs::create_dir_all(&target).map_err(text)?;
            let archive = format!("git archive {revision} | tar -x -C '{}'", target.display());
            run(Command::new("sh").args(["-c", &archive]))?;
        }
        Ok(())
    }
}

/// All cases, in the order of their names.
pub fn all() -> Vec<Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../regressions");
    let entries = std::fs::read_dir(&root).unwrap_or_else(|e| panic!("{}: {e}", root.display()));
    let mut cases: Vec<Case> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.is_dir())
        .map(|directory| {
            let file = directory.join("case.toml");
            let text = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
            let says: Says = toml::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
            let name = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
            assert!(!says.title.is_empty() && !says.covers.is_empty() && !says.root.is_empty(), "{name}");
            Case { name, directory, says }
        })
        .collect();
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    cases
}

/// Lines that differ, as `git diff` sees them without context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// In bad (in good, if it is gone).
    pub file: String,
    pub old: Vec<String>,
    pub new: Vec<String>,
    /// First line in good and bad, from 1; without lines there, the line before.
    pub old_start: usize,
    pub new_start: usize,
}

impl Hunk {
    /// Whether lines from `start` on are part of this hunk. A place between lines
    /// (`count` is 0) is part of it if it touches it.
    pub fn covers(&self, side: Side, start: usize, count: usize) -> bool {
        let (first, length) = match side {
            Side::Old => (self.old_start, self.old.len()),
            Side::New => (self.new_start, self.new.len()),
        };
        // Between lines, `first` and `start` are the line before the place.
        let from = if length == 0 { first + 1 } else { first };
        let begin = if count == 0 { start + 1 } else { start };
        from <= begin && begin + count <= from + length
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Old,
    New,
}

/// The difference between `good` and `bad` in a folder, renamed files recognised.
pub fn difference(folder: &Path) -> Result<Vec<Hunk>, String> {
    let mut git = Command::new("git");
    git.args(["diff", "--no-index", "--no-color", "--find-renames", "--unified=0", "--no-prefix"]);
    git.args(["good", "bad"]).current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null");
    let output = git.output().map_err(|e| format!("git: {e}"))?;
    parse(&String::from_utf8_lossy(&output.stdout))
}

fn parse(text: &str) -> Result<Vec<Hunk>, String> {
    let mut hunks: Vec<Hunk> = Vec::new();
    let (mut before, mut file) = (String::new(), String::new());
    // Lines of the hunk that are still to come: `---` may also begin a removed line.
    let (mut removed, mut added) = (0, 0);
    for line in text.lines() {
        if let Some(hunk) = hunks.last_mut()
            && removed + added > 0
        {
            match line.split_at_checked(1) {
                Some(("-", rest)) => {
                    removed -= 1;
                    hunk.old.push(rest.to_owned());
                }
                Some(("+", rest)) => {
                    added -= 1;
                    hunk.new.push(rest.to_owned());
                }
                _ => {}
            }
        } else if let Some(path) = line.strip_prefix("--- ") {
            before = path.strip_prefix("good/").unwrap_or(path).to_owned();
        } else if let Some(path) = line.strip_prefix("+++ ") {
            file = path.strip_prefix("bad/").map_or_else(|| before.clone(), str::to_owned);
        } else if let Some(numbers) = line.strip_prefix("@@ -") {
            let understood = || {
                let (old, rest) = numbers.split_once(" +")?;
                let (new, _) = rest.split_once(" @@")?;
                Some((range(old)?, range(new)?))
            };
            let ((old_start, olds), (new_start, news)) =
                understood().ok_or_else(|| format!("what is {line}?"))?;
            (removed, added) = (olds, news);
            hunks.push(Hunk { file: file.clone(), old: vec![], new: vec![], old_start, new_start });
        }
    }
    Ok(hunks)
}

fn range(text: &str) -> Option<(usize, usize)> {
    match text.split_once(',') {
        Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    }
}

/// The hunk that a name means; there must be exactly one.
pub fn hunk_named<'a>(hunks: &'a [Hunk], named: &Named) -> Result<&'a Hunk, String> {
    let mut found = hunks.iter().filter(|hunk| named.fits(&hunk.file, &hunk.old, &hunk.new));
    match (found.next(), found.next()) {
        (Some(hunk), None) => Ok(hunk),
        (None, _) => Err(format!("there is no change like {named:?}")),
        (Some(_), Some(_)) => Err(format!("there are several changes like {named:?}")),
    }
}

/// Puts the lines of good back for these hunks in a copy of bad.
pub fn revert(bad: &Path, hunks: &[&Hunk]) -> Result<(), String> {
    let mut hunks = hunks.to_vec();
    // From the end, so that line numbers stay right.
    hunks.sort_by_key(|hunk| std::cmp::Reverse(hunk.new_start));
    for hunk in hunks {
        let path = bad.join(&hunk.file);
        let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let mut lines: Vec<&str> = text.lines().collect();
        let from = if hunk.new.is_empty() { hunk.new_start } else { hunk.new_start - 1 };
        lines.splice(from..from + hunk.new.len(), hunk.old.iter().map(String::as_str));
        std::fs::write(&path, lines.join("\n") + "\n").map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(())
}

/// Puts the lines of good back for what a wrong answer names: hunks, or parts of them.
pub fn revert_named(bad: &Path, hunks: &[Hunk], named: &[Named]) -> Result<(), String> {
    let whole: Vec<&Hunk> =
        named.iter().filter(|n| !n.part).map(|n| hunk_named(hunks, n)).collect::<Result<_, _>>()?;
    revert(bad, &whole)?;
    for part in named.iter().filter(|n| n.part) {
        let path = bad.join(&part.file);
        let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let (old, new) = (part.old.as_deref().unwrap_or_default(), part.new.as_deref().unwrap_or_default());
        if text.matches(new).count() != 1 {
            return Err(format!("{part:?} is not there once"));
        }
        std::fs::write(&path, text.replace(new, old)).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(())
}

/// Copies a folder with everything in it.
pub fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
