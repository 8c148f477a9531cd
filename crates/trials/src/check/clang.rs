//! Runs clang on one unit: its options, its output and the files it read.

use super::diagnostic::{self, Diagnostic, Severity, in_tree, normal};
use super::functions::Functions;
use super::record::Unit;
use super::{lock, suspicious};
use crate::error::{At, Error};
use crate::process::{self, Ending, Job, Limits, Status, Stop};
use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// A unit that takes longer is not worth checking.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Options that determine clang's output format, whatever the unit's options are.
const OUTPUT_OPTIONS: [&str; 9] = [
    "-fsyntax-only",
    "-ferror-limit=0",
    "-fno-color-diagnostics",
    "-fno-caret-diagnostics",
    "-fdiagnostics-format=clang",
    "-fdiagnostics-show-option",
    "-fshow-column",
    "-fmessage-length=0",
    "-Wno-unused-command-line-argument",
];

/// Options of a unit that would suppress warnings, or errors after the first.
const SUPPRESSING_OPTIONS: [&str; 5] = ["-w", "--no-warnings", "-Werror", "-Wfatal-errors", "-fsyntax-only"];

/// One check, shared by all workers.
pub(super) struct Check<'c> {
    clang: &'c Path,
    tree: &'c Path,
    /// For clang's output files.
    dir: &'c Path,
    stop: &'c dyn Stop,
    /// Contents of files of the tree, which does not change during a check.
    files: Mutex<HashMap<PathBuf, File>>,
}

/// A file of the tree.
#[derive(Clone, Debug)]
struct File {
    contents: u128,
    /// Computed when a diagnostic refers to the file.
    functions: Option<Arc<Functions>>,
}

/// Diagnostics of a unit, and the files of the tree that clang read.
pub(super) struct Found {
    pub diagnostics: Vec<Diagnostic>,
    pub files: Vec<PathBuf>,
}

impl<'c> Check<'c> {
    /// A check of the units in `tree`, an absolute path without links; `dir` is for clang's output files.
    pub fn new(clang: &'c Path, tree: &'c Path, dir: &'c Path, stop: &'c dyn Stop) -> Check<'c> {
        Check { clang, tree, dir, stop, files: Mutex::default() }
    }

    pub fn tree(&self) -> &Path {
        self.tree
    }

    /// Runs clang. `None`: it did not finish, or a file is missing.
    pub fn run(&self, unit: &Unit, number: usize) -> Result<Option<Found>, Error> {
        let directory = normal(&unit.directory(self.tree));
        if !directory.is_dir() {
            return Ok(None);
        }
        let out = |kind: &str| self.dir.join(format!("{number}.{kind}"));
        let (stdout, stderr, depend) = (out("out"), out("err"), out("d"));
        let mut command: Vec<OsString> = vec![self.clang.into()];
        command.extend(
            unit.arguments(self.tree)
                .filter(|word| !SUPPRESSING_OPTIONS.contains(&word.as_str()))
                .map(OsString::from),
        );
        command.extend(OUTPUT_OPTIONS.map(OsString::from));
        command.extend(suspicious::switches().map(OsString::from));
        command.extend(["-MD".into(), "-MT".into(), "unit".into(), "-MF".into(), depend.clone().into()]);
        command.extend(["-x", &unit.language, "--", &unit.named(self.tree)].map(OsString::from));
        let job = Job {
            command,
            directory: &directory,
            environment: vec![("LC_ALL".into(), "C".into())],
            without: &[],
            stdin: None,
            stdout: &stdout,
            stderr: &stderr,
            limits: Limits { time: Some(TIMEOUT), ..Limits::default() },
            ending: Ending::Terminate,
        };
        let ran = process::run(&job, self.stop)?;
        let said = fs::read(&stderr).at("read", &stderr)?;
        let depends = fs::read(&depend).unwrap_or_default();
        for file in [&stdout, &stderr, &depend] {
            let _ = fs::remove_file(file);
        }
        let mut diagnostics = diagnostic::parse(&String::from_utf8_lossy(&said), &directory, self.tree);
        let refused = diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
        match ran.status {
            Status::Cancelled => return Err(Error::Cancelled),
            Status::Exit(0) if !depends.is_empty() => {}
            Status::Exit(1) if refused && !depends.is_empty() => {}
            _ => return Ok(None),
        }
        if diagnostics.iter().any(Diagnostic::is_missing_include) {
            return Ok(None);
        }
        for diagnostic in &mut diagnostics {
            self.find_function(diagnostic);
        }
        let read = dependencies(&String::from_utf8_lossy(&depends));
        let files: BTreeSet<PathBuf> = read
            .iter()
            .map(|file| in_tree(Path::new(file), &directory, self.tree))
            .filter(|file| file.is_relative())
            .collect();
        Ok(Some(Found { diagnostics, files: files.into_iter().collect() }))
    }

    fn find_function(&self, diagnostic: &mut Diagnostic) {
        if let Some(functions) = self.functions(&diagnostic.file) {
            diagnostic.function = functions.around(diagnostic.line).map(str::to_owned);
        }
        for note in &mut diagnostic.notes {
            self.find_function(note);
        }
    }

    /// The functions of a file of the tree.
    fn functions(&self, file: &Path) -> Option<Arc<Functions>> {
        if let Some(known) = lock(&self.files).get(file).and_then(|known| known.functions.clone()) {
            return Some(known);
        }
        let bytes = fs::read(self.tree.join(file)).ok().filter(|_| file.is_relative())?;
        let functions = Arc::new(Functions::of(&bytes));
        let known = File { contents: xxh3_128(&bytes), functions: Some(functions.clone()) };
        lock(&self.files).insert(file.to_owned(), known);
        Some(functions)
    }

    /// A hash of the contents of these files; a missing file has a fixed value.
    pub fn contents(&self, files: &[PathBuf]) -> u128 {
        let mut hash = Xxh3::new();
        hash.update(self.clang.as_os_str().as_encoded_bytes());
        for file in files {
            let known = lock(&self.files).get(file).map(|known| known.contents);
            let contents = known.unwrap_or_else(|| {
                let contents = fs::read(self.tree.join(file)).map_or(0, |bytes| xxh3_128(&bytes));
                lock(&self.files).insert(file.clone(), File { contents, functions: None });
                contents
            });
            hash.update(&contents.to_le_bytes());
        }
        hash.digest128()
    }
}

/// The prerequisites of a rule for make.
pub(super) fn dependencies(rule: &str) -> Vec<String> {
    let Some((_, list)) = rule.split_once(": ") else { return Vec::new() };
    let mut files = Vec::new();
    let mut file = String::new();
    let mut chars = list.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\\', Some(' ' | '#' | '\\')) => file.extend(chars.next()),
            ('$', Some('$')) => file.extend(chars.next()),
            ('\\', Some('\n')) | (' ' | '\n', _) => {
                if !file.is_empty() {
                    files.push(std::mem::take(&mut file));
                }
            }
            _ => file.push(c),
        }
    }
    files
}
