//! Small repositories and trees for trials.

use changes::{DiffOptions, Difference};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use trials::{Oracle, Setup, Tools, TrialLimits, TrialRunner, Work};

/// Files as (path, content); a path that ends in `!` is executable.
pub fn write(root: &Path, files: &[(&str, &str)]) {
    for (path, content) in files {
        let target = root.join(path.trim_end_matches('!'));
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::write(&target, content).unwrap();
        if path.ends_with('!') {
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            fs::set_permissions(&target, mode).unwrap();
        }
    }
}

pub fn git(directory: &Path, words: &[&str]) -> String {
    let output = Command::new("git")
        .arg("-C")
        .arg(directory)
        .args(["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "protocol.file.allow=always"])
        .args(words)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

/// The state of a repository that must not be modified.
pub fn state(repository: &Path) -> Vec<String> {
    let ask = |words: &[&str]| git(repository, words);
    let mut files = Vec::new();
    list(&repository.join(".git"), &mut files);
    files.sort();
    vec![
        ask(&["status", "--porcelain=v2", "--branch", "--ignored"]),
        ask(&["rev-parse", "HEAD"]),
        ask(&["worktree", "list"]),
        ask(&["for-each-ref"]),
        ask(&["config", "--list", "--local"]),
        files.join("\n"),
    ]
}

/// Names and sizes of the contents; `status` itself may refresh the index.
fn list(directory: &Path, into: &mut Vec<String>) {
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            list(&entry.path(), into);
        } else {
            into.push(format!("{} {}", entry.path().display(), entry.metadata().unwrap().len()));
        }
    }
}

/// All files below a directory with their content, sorted.
pub fn contents(root: &Path) -> Vec<(String, String)> {
    fn walk(root: &Path, below: &Path, into: &mut Vec<(String, String)>) {
        for entry in fs::read_dir(root.join(below)).unwrap() {
            let entry = entry.unwrap();
            let path = below.join(entry.file_name());
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                walk(root, &path, into);
            } else if kind.is_symlink() {
                let to = fs::read_link(entry.path()).unwrap();
                into.push((path.display().to_string(), format!("-> {}", to.display())));
            } else {
                into.push((path.display().to_string(), fs::read_to_string(entry.path()).unwrap()));
            }
        }
    }
    let mut found = Vec::new();
    walk(root, Path::new(""), &mut found);
    found.sort();
    found
}

/// Two versions on disk and a work directory.
pub struct Case {
    pub dir: tempfile::TempDir,
    pub difference: Difference,
    pub setup: Setup,
    pub stop: Arc<AtomicBool>,
}

impl Case {
    pub fn new(common: &[(&str, &str)], good: &[(&str, &str)], bad: &[(&str, &str)]) -> Case {
        let dir = tempfile::tempdir().unwrap();
        for (side, files) in [("good", good), ("bad", bad)] {
            let root = dir.path().join(side);
            fs::create_dir(&root).unwrap();
            write(&root, common);
            write(&root, files);
        }
        let difference =
            changes::difference(&dir.path().join("good"), &dir.path().join("bad"), &DiffOptions::default())
                .unwrap();
        let setup = Setup {
            bad: dir.path().join("bad"),
            subdirectory: PathBuf::new(),
            build: "make".to_owned(),
            test: "./test".to_owned(),
            suite: None,
            stdin: None,
            oracle: Oracle::default(),
            tools: Tools {
                cc: "cc".into(),
                cxx: "c++".into(),
                relapse: "relapse".into(),
                identity: "the compiler of the tests".to_owned(),
                clang: None,
                symbolizer: None,
            },
            jobs: 2,
            repeat: 3,
            limits: TrialLimits::default(),
        };
        Case { dir, difference, setup, stop: Arc::default() }
    }

    pub fn work_path(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    pub fn runner(&self) -> TrialRunner<'_> {
        let work = Work::open(&self.work_path(), false).unwrap();
        TrialRunner::open(work, self.setup.clone(), &self.difference, self.stop.clone()).unwrap()
    }

    /// Lines that the build appended to a file beside the work directory.
    pub fn journal(&self) -> Vec<String> {
        let text = fs::read_to_string(self.dir.path().join("journal")).unwrap_or_default();
        let _ = fs::remove_file(self.dir.path().join("journal"));
        text.lines().map(str::to_owned).collect()
    }
}
