//! A directory to work in, C programs in it, and runs of commands there and here.

#![allow(dead_code)] // Each test file uses a part of it.

use environment::find::{Answer, Culprit, Options, Verdict, find};
use environment::record::Record;
use environment::run::{Command, record};
use environment::{Stream, file};
use std::path::{Path, PathBuf};
use std::time::Duration;

pub struct Sandbox {
    folder: tempfile::TempDir,
    variables: Vec<(String, String)>,
    pub limits: Vec<(u32, u64, u64)>,
}

impl Sandbox {
    pub fn new() -> Sandbox {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let home = folder.path().join("home").display().to_string();
        let variables = [("PATH", "/usr/bin:/bin"), ("HOME", &home), ("LC_ALL", "C")];
        Sandbox {
            variables: variables.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
            folder,
            limits: Vec::new(),
        }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("make a directory");
        std::fs::write(&path, content).expect("write a file");
        path
    }

    pub fn set(&mut self, name: &str, value: Option<&str>) {
        self.variables.retain(|(n, _)| n != name);
        self.variables.extend(value.map(|value| (name.to_owned(), value.to_owned())));
    }

    /// Compiles a C program to `./name`.
    pub fn cc(&self, name: &str, source: &str, options: &[&str]) {
        self.file(&format!("{name}.c"), source);
        let status = std::process::Command::new("cc")
            .current_dir(self.path())
            .args(["-O1", "-w", "-o", name, &format!("{name}.c")])
            .args(options)
            .status();
        assert!(status.expect("a C compiler").success());
    }

    fn command(&self, words: &[&str]) -> Command {
        Command {
            arguments: words.iter().map(|word| word.as_bytes().to_vec()).collect(),
            variables: self
                .variables
                .iter()
                .map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec()))
                .collect(),
            directory: self.path().to_owned(),
            streams: [Stream::Null, Stream::Null, Stream::Null],
            limits: self.limits.clone(),
        }
    }

    /// Runs a command that must pass, writes its record to a file and reads it back.
    pub fn record(&self, words: &[&str]) -> Record {
        let record = self.try_record(words);
        assert_eq!(record.end.status, 0, "{words:?} fails where it should pass");
        record
    }

    /// The same with a text on standard input.
    pub fn record_with(&self, words: &[&str], input: &str) -> Record {
        let mut command = self.command(words);
        command.streams[0] = Stream::File(self.file("stdin", input));
        let record = record(&command, Some(Duration::from_secs(60))).expect("a record");
        assert_eq!(record.end.status, 0, "{words:?} fails where it should pass");
        record
    }

    pub fn try_record(&self, words: &[&str]) -> Record {
        let record = record(&self.command(words), Some(Duration::from_secs(60))).expect("a record");
        let folder = tempfile::tempdir().expect("a temporary directory");
        file::write(folder.path(), &record).expect("write the record");
        file::read(folder.path()).expect("read the record")
    }

    pub fn find(&self, there: Record, words: &[&str]) -> Answer {
        self.find_with(there, words, &Options { judge: None, limit: Duration::from_secs(60) })
    }

    pub fn find_with(&self, there: Record, words: &[&str], options: &Options) -> Answer {
        find(there, &self.command(words), options, &mut |_| ()).expect("an answer")
    }

    /// The decisive things, which must have been found.
    pub fn culprits(&self, there: Record, words: &[&str]) -> Vec<Culprit> {
        let answer = self.find(there, words);
        match answer.verdict {
            Verdict::Found(culprits) => culprits,
            ref other => panic!("{other:?}: {answer:#?}"),
        }
    }

    /// The sentence about the one decisive thing, with the directory as `.`.
    pub fn sentence(&self, there: Record, words: &[&str]) -> String {
        let culprits = self.culprits(there, words);
        let sentences: Vec<String> =
            culprits.into_iter().map(|culprit| self.plain(&culprit.sentence)).collect();
        sentences.join("\n")
    }

    pub fn plain(&self, text: &str) -> String {
        text.replace(&self.path().display().to_string(), ".")
    }
}
