//! A tree in which one variant after the other is built and tested.

use crate::complaint::{self, Complaint};
use crate::error::{At, Error};
use crate::observed::Observed;
use crate::oracle::Sink;
use crate::plan;
use crate::process::{self, Ending, Job, Limits, Ran, Status, Stop};
use crate::setup::{Mode, Setup};
use crate::snapshot::Snapshot;
use crate::tree::Tree;
use crate::variant::{Base, TreeKey, Variant};
use crate::work::Work;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

/// What all stations share.
pub(crate) struct Bench<'a> {
    pub setup: &'a Setup,
    pub work: &'a Work,
    pub base: &'a Base,
    pub stop: &'a AtomicBool,
    pub builds: &'a AtomicU32,
    pub runs: &'a AtomicU32,
    /// How long a test may take.
    pub patience: Duration,
}

/// Neither may reach into a build or a test of the user's.
const FOREIGN: [&str; 5] = ["MAKEFLAGS", "MAKELEVEL", "MFLAGS", "MAKEOVERRIDES", "RELAPSE_RECORD_DIR"];

/// What came of a build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Built {
    Yes,
    /// What was complained about, and the log.
    No(Complaint, PathBuf),
    TooLong(PathBuf),
}

/// A run of the test, and what it put out.
#[derive(Clone, Debug)]
pub struct TestRun {
    pub status: Status,
    pub seconds: f64,
    pub stdout: PathBuf,
    pub stderr: PathBuf,
    /// Copies of the named files that are observed, those that there were.
    pub files: Vec<(String, PathBuf)>,
    /// The root of the tree it ran in, which its output may name.
    pub tree: PathBuf,
    pub observed: Observed,
}

#[derive(Debug)]
pub(crate) struct Station {
    name: String,
    mode: Mode,
    tree: Tree,
    /// What the tree was last built from, unless that has to be done again.
    built: Option<(TreeKey, Built)>,
    before: Snapshot,
}

impl Station {
    pub fn new(work: &Work, name: &str, mode: Mode) -> Station {
        let tree = Tree::new(work.tree(name));
        Station { name: name.to_owned(), mode, tree, built: None, before: Snapshot::default() }
    }

    pub fn root(&self) -> &Path {
        self.tree.root()
    }

    /// Whether the tree is built from just this.
    pub fn has_built(&self, key: TreeKey) -> bool {
        self.built.as_ref().is_some_and(|(last, _)| *last == key)
    }

    /// Forgets everything: the next build begins from nothing.
    pub fn wipe(&mut self) -> Result<(), Error> {
        self.built = None;
        self.tree.wipe()
    }

    /// Builds a variant, from what the last build left.
    pub fn build(&mut self, bench: &Bench, key: TreeKey, variant: &Variant) -> Result<Built, Error> {
        if let Some((_, built)) = self.built.take_if(|(last, _)| *last == key) {
            self.built = Some((key, built.clone()));
            return Ok(built);
        }
        let is_plan = |path: &Path| plan::is_plan(path, &bench.setup.build);
        if self.tree.is_rearranged_by(bench.base, variant, is_plan) {
            self.wipe()?;
        }
        let mut from_nothing = self.tree.is_empty();
        let built = loop {
            self.tree.set(bench.base, variant)?;
            match self.build_once(bench, key)? {
                // Stale products can break a build that is sound.
                (Built::No(..), false) if !from_nothing => {
                    self.wipe()?;
                    from_nothing = true;
                }
                (Built::TooLong(log), _) => {
                    // Who knows what was half written.
                    self.wipe()?;
                    break Built::TooLong(log);
                }
                (built, _) => {
                    self.before = self.tree.snapshot()?;
                    break built;
                }
            }
        };
        self.built = Some((key, built.clone()));
        Ok(built)
    }

    /// Also says whether a failure is certain to be the variant's own.
    fn build_once(&mut self, bench: &Bench, key: TreeKey) -> Result<(Built, bool), Error> {
        let setup = bench.setup;
        let number = bench.builds.fetch_add(1, Ordering::Relaxed) + 1;
        let log = bench.work.log(&format!("{number:04}-{}-{}-{key}.log", self.name, self.mode.word()));
        let directory = self.tree.root().join(&setup.subdirectory);
        if !directory.is_dir() {
            let complaint = format!("the directory {} is not there", setup.subdirectory.display());
            return Ok((Built::No(Complaint::certain(complaint), log), true));
        }
        let job = Job {
            command: process::shell(&setup.build),
            directory: &directory,
            environment: self.environment(bench),
            without: &FOREIGN,
            stdin: None,
            stdout: &log,
            stderr: &log,
            limits: Limits { time: setup.limits.build, memory: None, output: None },
            ending: Ending::Ask,
        };
        let ran = process::run(&job, bench.stop)?;
        Ok(match ran.status {
            Status::Exit(0) => (Built::Yes, true),
            Status::Cancelled => {
                // What was half written would look finished to the next build.
                self.wipe()?;
                return Err(Error::Cancelled);
            }
            Status::TimedOut | Status::Flooded => (Built::TooLong(log), true),
            Status::Exit(_) | Status::Signal(_) => {
                let complaint = complaint::first(&log, self.tree.root());
                let certain = complaint.from_compiler;
                (Built::No(complaint, log), certain)
            }
        })
    }

    fn environment(&self, bench: &Bench) -> Vec<(OsString, OsString)> {
        let tools = &bench.setup.tools;
        vec![
            ("CC".into(), tools.cc.clone().into()),
            ("CXX".into(), tools.cxx.clone().into()),
            ("RELAPSE_MODE".into(), self.mode.word().into()),
            ("RELAPSE_CACHE".into(), bench.work.cache().into()),
            ("RELAPSE_TREE".into(), self.tree.root().into()),
        ]
    }

    /// Runs the test in the tree as it was built. `name` is what its outputs are
    /// kept by.
    pub fn test(&mut self, bench: &Bench, name: &str, stop: &dyn Stop) -> Result<TestRun, Error> {
        let limits = &bench.setup.limits;
        let limits =
            Limits { time: Some(bench.patience), memory: limits.memory, output: Some(limits.output) };
        let command = process::shell(&bench.setup.test);
        self.execute(bench, name, command, limits, Ending::Ask, stop)
    }

    /// Runs the test under `relapse record`, into a directory that does not exist yet.
    pub fn record(
        &mut self,
        bench: &Bench,
        name: &str,
        into: &Path,
        time: Duration,
    ) -> Result<TestRun, Error> {
        let mut command: Vec<OsString> = vec![bench.setup.tools.relapse.clone().into()];
        command.extend(["record", "--quiet", "-o"].map(OsString::from));
        command.push(into.into());
        command.push("--".into());
        command.extend(process::shell(&bench.setup.test));
        let limits = Limits { time: Some(time), memory: None, output: Some(bench.setup.limits.output) };
        self.execute(bench, name, command, limits, Ending::SpareLeader, bench.stop)
    }

    fn execute(
        &mut self,
        bench: &Bench,
        name: &str,
        command: Vec<OsString>,
        limits: Limits,
        ending: Ending,
        stop: &dyn Stop,
    ) -> Result<TestRun, Error> {
        let setup = bench.setup;
        bench.runs.fetch_add(1, Ordering::Relaxed);
        let tmp = bench.work.fresh_tmp(&self.name)?;
        let directory = self.tree.root().join(&setup.subdirectory);
        let mut environment = self.environment(bench);
        environment.push(("TMPDIR".into(), tmp.clone().into()));
        let (stdout, stderr) =
            (bench.work.run(&format!("{name}.out")), bench.work.run(&format!("{name}.err")));
        let job = Job {
            command,
            directory: &directory,
            environment,
            without: &FOREIGN,
            stdin: setup.stdin.as_deref(),
            stdout: &stdout,
            stderr: &stderr,
            limits,
            ending,
        };
        let ran = process::run(&job, stop)?;
        let places = [(tmp.as_path(), "{tmp}"), (self.tree.root(), "{tree}")];
        let observed = Observed::look(&setup.oracle, &ran, &directory, &places)?;
        let files = keep_files(bench, name, &directory)?;
        if self.tree.restore(bench.base, &self.before)? {
            // The test changed what the build made.
            self.built = None;
        }
        let Ran { status, seconds, stdout, stderr } = ran;
        Ok(TestRun { status, seconds, stdout, stderr, files, tree: self.tree.root().to_owned(), observed })
    }
}

/// Copies what is observed to where the next run does not overwrite it.
fn keep_files(bench: &Bench, name: &str, directory: &Path) -> Result<Vec<(String, PathBuf)>, Error> {
    let mut kept = Vec::new();
    for (number, sink) in bench.setup.oracle.observe.iter().enumerate() {
        if let Sink::File(path) = sink {
            let (source, target) = (directory.join(path), bench.work.run(&format!("{name}.file{number}")));
            if source.is_file() {
                fs::copy(&source, &target).at("copy", &source)?;
                kept.push((sink.to_string(), target));
            }
        }
    }
    Ok(kept)
}
