//! A tree in which variants are built and tested in turn.

use crate::build_error::{self, BuildError};
use crate::checker::{Checker, Findings};
use crate::error::{At, Error};
use crate::observed::Observed;
use crate::oracle::Sink;
use crate::plan;
use crate::process::{self, Ending, Job, Limits, Ran, Status, Stop};
use crate::runner::Counters;
use crate::sanitizer;
use crate::setup::{Mode, Setup};
use crate::snapshot::Snapshot;
use crate::suite::copy_tree;
use crate::tree::{Tree, remove_all};
use crate::variant::{Base, TreeKey, Variant};
use crate::work::Work;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// What all workers share.
pub(crate) struct WorkerContext<'a> {
    pub setup: &'a Setup,
    pub work: &'a Work,
    pub base: &'a Base,
    pub stop: &'a AtomicBool,
    pub counters: &'a Counters,
    /// Checks touched units before a build; none before good and bad were built.
    pub checker: Option<&'a Checker>,
    /// Timeout of a test.
    pub timeout: Duration,
}

/// Variables that builds and tests must not inherit.
const SCRUBBED_VARIABLES: [&str; 12] = [
    "MAKEFLAGS",
    "MAKELEVEL",
    "MFLAGS",
    "MAKEOVERRIDES",
    "RELAPSE_RECORD_DIR",
    "RELAPSE_MODE",
    "RELAPSE_CACHE",
    "RELAPSE_TREE",
    "RELAPSE_UNITS",
    "RELAPSE_OPTIMISE",
    "RELAPSE_SANITIZE",
    "RELAPSE_DRIVER_LOG",
];
/// How much longer a test may take that was built with a sanitizer, or without optimisation.
pub(crate) const SANITIZED: u32 = 10;

/// The result of a build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BuildOutcome {
    Yes,
    /// The diagnostics, and the log.
    No(BuildError, PathBuf),
    TooLong(PathBuf),
}

/// A run of the test, and its output.
#[derive(Clone, Debug)]
pub struct TestRun {
    /// How the test ended.
    pub status: Status,
    /// Wall-clock time of the run.
    pub seconds: f64,
    /// The file with its standard output; removed after a trial, kept for good, bad and recorded runs.
    pub stdout: PathBuf,
    /// The file with its standard error, likewise.
    pub stderr: PathBuf,
    /// Copies of the observed files, as far as they exist.
    pub files: Vec<(String, PathBuf)>,
    /// The root of the tree in which it ran, which its output may contain.
    pub tree: PathBuf,
    /// What the oracle compares, without the paths of the tree.
    pub observed: Observed,
}

#[derive(Debug)]
pub(crate) struct Worker {
    name: String,
    mode: Mode,
    tree: Tree,
    /// The key from which the tree was last built, unless that has to be repeated.
    built: Option<(TreeKey, BuildOutcome)>,
    before: Snapshot,
}

impl Worker {
    pub fn new(work: &Work, name: &str, mode: Mode) -> Worker {
        let tree = Tree::new(work.tree(name));
        Worker { name: name.to_owned(), mode, tree, built: None, before: Snapshot::default() }
    }

    /// Another worker, with a copy of the tree in its current state.
    pub fn copied(&mut self, work: &Work, name: &str) -> Result<Worker, Error> {
        let root = work.tree(name);
        remove_all(&root)?;
        copy_tree(self.tree.root(), &root)?;
        let mut tree = self.tree.moved_to(root);
        let before = tree.snapshot()?;
        Ok(Worker { name: name.to_owned(), mode: self.mode, tree, built: self.built.clone(), before })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn root(&self) -> &Path {
        self.tree.root()
    }

    /// Whether the tree is built from exactly this key.
    pub fn has_built(&self, key: TreeKey) -> bool {
        self.built.as_ref().is_some_and(|(last, _)| *last == key)
    }

    /// Discards everything: the next build starts from scratch.
    pub fn wipe(&mut self) -> Result<(), Error> {
        self.built = None;
        self.tree.wipe()
    }

    /// Checks the units that a variant touches with the compiler, in the tree as the last build left it.
    /// `None` if this gives no result without a build.
    pub fn check(
        &mut self,
        context: &WorkerContext,
        key: TreeKey,
        variant: &Variant,
    ) -> Result<Option<Findings>, Error> {
        let Some(checker) = context.checker else { return Ok(None) };
        // Without the products of a build, generated headers are missing.
        if self.tree.is_empty() {
            return Ok(None);
        }
        // A build file that this build does not read, such as that of another build system, has no effect.
        let is_build_file =
            |path: &Path| plan::is_build_file(path, &context.setup.build) && checker.may_be_read(path);
        let touched: BTreeSet<PathBuf> = variant.touched(context.base).map(Path::to_owned).collect();
        if touched.iter().any(|path| is_build_file(path)) {
            return Ok(None);
        }
        if !self.has_built(key) {
            self.built = None;
            self.tree.set(context.base, variant)?;
        }
        checker.check(self.tree.root(), &touched, context.stop).map(Some)
    }

    /// Writes a variant into an empty tree, without building it.
    pub fn fill(&mut self, context: &WorkerContext, variant: &Variant) -> Result<(), Error> {
        if self.tree.is_empty() {
            self.tree.set(context.base, variant)?;
        }
        Ok(())
    }

    /// Builds a variant incrementally, starting from the products of the last build.
    pub fn build(
        &mut self,
        context: &WorkerContext,
        key: TreeKey,
        variant: &Variant,
    ) -> Result<BuildOutcome, Error> {
        if let Some((_, built)) = self.built.take_if(|(last, _)| *last == key) {
            self.built = Some((key, built.clone()));
            return Ok(built);
        }
        let is_build_file = |path: &Path| plan::is_build_file(path, &context.setup.build);
        if self.tree.needs_clean_build(context.base, variant, is_build_file) {
            self.wipe()?;
        }
        let mut from_scratch = self.tree.is_empty();
        let built = loop {
            self.tree.set(context.base, variant)?;
            match self.build_once(context, key)? {
                // Stale products can break a correct build.
                (BuildOutcome::No(..), false) if !from_scratch => {
                    self.wipe()?;
                    from_scratch = true;
                }
                (BuildOutcome::TooLong(log), _) => {
                    // Products may be incomplete.
                    self.wipe()?;
                    break BuildOutcome::TooLong(log);
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

    /// Also returns whether a failure is certain to be caused by the variant itself.
    fn build_once(&mut self, context: &WorkerContext, key: TreeKey) -> Result<(BuildOutcome, bool), Error> {
        let setup = context.setup;
        let number = context.counters.builds.fetch_add(1, Ordering::Relaxed) + 1;
        let log = context.work.log(&format!("{number:04}-{}-{}-{key}.log", self.name, self.mode.name()));
        let directory = self.tree.root().join(&setup.subdirectory);
        if !directory.is_dir() {
            let diagnostic = format!("the directory {} is not there", setup.subdirectory.display());
            return Ok((BuildOutcome::No(BuildError::certain(diagnostic), log), true));
        }
        let job = Job {
            command: process::shell(&setup.build),
            directory: &directory,
            environment: self.build_environment(context)?,
            without: &SCRUBBED_VARIABLES,
            stdin: None,
            stdout: &log,
            stderr: &log,
            limits: Limits { time: setup.limits.build, memory: None, output: None },
            ending: Ending::Terminate,
        };
        self.tree.begin_build();
        let ran = process::run(&job, context.stop)?;
        Ok(match ran.status {
            Status::Exit(0) => (BuildOutcome::Yes, true),
            Status::Cancelled => {
                // An incomplete product would look complete to the next build.
                self.wipe()?;
                return Err(Error::Cancelled);
            }
            Status::TimedOut | Status::OutputLimit => (BuildOutcome::TooLong(log), true),
            Status::Exit(_) | Status::Signal(_) => {
                let diagnostic = build_error::first(&log, self.tree.root());
                let certain = diagnostic.from_compiler;
                (BuildOutcome::No(diagnostic, log), certain)
            }
        })
    }

    /// The variables of this tool in the environment of builds. Tests do not see them.
    fn build_environment(&self, context: &WorkerContext) -> Result<Vec<(OsString, OsString)>, Error> {
        let tools = &context.setup.tools;
        let mut environment: Vec<(OsString, OsString)> = vec![
            ("CC".into(), tools.cc.clone().into()),
            ("CXX".into(), tools.cxx.clone().into()),
            ("RELAPSE_MODE".into(), self.mode.word().into()),
            ("RELAPSE_CACHE".into(), context.work.cache().into()),
            ("RELAPSE_TREE".into(), self.tree.root().into()),
        ];
        if self.mode == Mode::Plain {
            environment.push(("RELAPSE_UNITS".into(), context.work.units().into()));
        }
        if let Mode::Optimised(level) = self.mode {
            environment.push(("RELAPSE_OPTIMISE".into(), level.to_string().into()));
        }
        if let Mode::Sanitized(sanitizer) = self.mode {
            environment.push(("RELAPSE_SANITIZE".into(), sanitizer.word().into()));
            // Builds also run programs that they built.
            environment
                .extend(sanitizer::environment(&context.work.fresh_tmp(&format!("{}-build", self.name))?));
        }
        Ok(environment)
    }

    /// Runs the test in the tree as it was built. `name` is the name under which its outputs are kept.
    pub fn test(&mut self, context: &WorkerContext, name: &str, stop: &dyn Stop) -> Result<TestRun, Error> {
        let limits = &context.setup.limits;
        let (mut time, mut memory) = (context.timeout, limits.memory);
        if let Mode::Sanitized(_) | Mode::Optimised(_) = self.mode {
            (time, memory) = (context.timeout * SANITIZED, None);
        }
        let limits = Limits { time: Some(time), memory, output: Some(limits.output) };
        let command = process::shell(&context.setup.test);
        self.execute(context, name, command, limits, Ending::Terminate, stop)
    }

    /// Runs another command in the directory of the test, and returns its status.
    pub fn run(
        &mut self,
        context: &WorkerContext,
        name: &str,
        command: &str,
        time: Duration,
    ) -> Result<Status, Error> {
        let limits = Limits { time: Some(time), memory: None, output: Some(context.setup.limits.output) };
        let run =
            self.execute(context, name, process::shell(command), limits, Ending::Terminate, context.stop)?;
        Ok(run.status)
    }

    /// The directory into which the sanitizer of this tree writes its reports.
    pub fn reports(&self, context: &WorkerContext) -> PathBuf {
        context.work.run(&format!("{}-reports", self.name))
    }

    /// Runs the test under `relapse record`, into a directory that does not exist yet.
    pub fn record(
        &mut self,
        context: &WorkerContext,
        name: &str,
        into: &Path,
        time: Duration,
    ) -> Result<TestRun, Error> {
        let mut command: Vec<OsString> = vec![context.setup.tools.relapse.clone().into()];
        command.extend(["record", "--quiet", "-o"].map(OsString::from));
        command.push(into.into());
        command.push("--".into());
        command.extend(process::shell(&context.setup.test));
        let limits = Limits { time: Some(time), memory: None, output: Some(context.setup.limits.output) };
        self.execute(context, name, command, limits, Ending::KillChildrenFirst, context.stop)
    }

    fn execute(
        &mut self,
        context: &WorkerContext,
        name: &str,
        command: Vec<OsString>,
        limits: Limits,
        ending: Ending,
        stop: &dyn Stop,
    ) -> Result<TestRun, Error> {
        let setup = context.setup;
        context.counters.runs.fetch_add(1, Ordering::Relaxed);
        let tmp = context.work.fresh_tmp(&self.name)?;
        let directory = self.tree.root().join(&setup.subdirectory);
        let mut environment: Vec<(OsString, OsString)> = vec![("TMPDIR".into(), tmp.clone().into())];
        if let Mode::Sanitized(_) = self.mode {
            let reports = self.reports(context);
            remove_all(&reports)?;
            fs::create_dir_all(&reports).at("create", &reports)?;
            environment.extend(sanitizer::environment(&reports));
        }
        let (stdout, stderr) =
            (context.work.run(&format!("{name}.out")), context.work.run(&format!("{name}.err")));
        let job = Job {
            command,
            directory: &directory,
            environment,
            without: &SCRUBBED_VARIABLES,
            stdin: setup.stdin.as_deref(),
            stdout: &stdout,
            stderr: &stderr,
            limits,
            ending,
        };
        let ran = process::run(&job, stop)?;
        let places = [(tmp.as_path(), "{tmp}"), (self.tree.root(), "{tree}")];
        let observed = Observed::look(&setup.oracle, &ran, &directory, &places)?;
        let files = keep_files(context, name, &directory)?;
        if self.tree.restore(context.base, &self.before)? {
            // The test changed build products.
            self.built = None;
        }
        let Ran { status, seconds, stdout, stderr, .. } = ran;
        Ok(TestRun { status, seconds, stdout, stderr, files, tree: self.tree.root().to_owned(), observed })
    }
}

/// Copies the observed files to where the next run does not overwrite them.
fn keep_files(
    context: &WorkerContext,
    name: &str,
    directory: &Path,
) -> Result<Vec<(String, PathBuf)>, Error> {
    let mut kept = Vec::new();
    for (number, sink) in context.setup.oracle.observe.iter().enumerate() {
        if let Sink::File(path) = sink {
            let (source, target) = (directory.join(path), context.work.run(&format!("{name}.file{number}")));
            if source.is_file() {
                fs::copy(&source, &target).at("copy", &source)?;
                kept.push((sink.to_string(), target));
            }
        }
    }
    Ok(kept)
}
