//! Two versions, each built twice: as clang would, and with recording.
//!
//! The plain builds decide whether an input distinguishes the versions. Recordings of the other two give the
//! conditions for the solver.

use crate::error::{Error, Result};
use alternate::{Both, Side};
use changes::{DiffOptions, Difference};
use locate::test::Test;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use trials::{
    Mode, Oracle, Recorded, Rule, Run, Setup, Status, Suite, TestRun, Tools, TrialLimits, Version, Work,
};

/// How to build.
#[derive(Clone, Debug)]
pub struct BuildSetup {
    /// The user's current directory.
    pub here: PathBuf,
    /// Passed to `sh -c`.
    pub build: String,
    /// Limits of each build and each run.
    pub limits: TrialLimits,
    /// The compiler wrappers and other programs that trials need.
    pub tools: Tools,
    /// A directory with the usual names of compilers, for builds that do not use `CC`.
    pub compilers: Option<PathBuf>,
    /// Directory for all intermediate files.
    pub work: PathBuf,
    /// Keep the built trees.
    pub keep: bool,
}

/// The displayed name of a side.
#[must_use]
pub fn name(side: Side) -> &'static str {
    match side {
        Side::Old => "good",
        Side::New => "bad",
    }
}

/// One version, built.
pub struct BuiltVersion {
    /// The build without recording.
    pub plain: Suite,
    /// The build with recording.
    pub recorded: Suite,
    /// Keeps its files while it is used.
    _files: Files,
}

/// Both versions, and what differs between them.
pub struct Versions {
    /// Both versions, built.
    pub builds: Both<BuiltVersion>,
    /// The changes between their files.
    pub difference: Difference,
}

/// The directory of the checked-out files, and the guard that keeps it.
type Files = (Work, PathBuf);

impl BuildSetup {
    /// Checks both versions out, compares and builds them.
    ///
    /// # Errors
    /// If one does not exist or does not build, or if their files are the same.
    pub fn versions(&self, good: &str, bad: &str, stop: &Arc<AtomicBool>) -> Result<Versions> {
        let (good, bad) = Version::resolve_pair(good, bad, &self.here)?;
        let versions = Both { old: good, new: bad };
        let sources = Both::try_from(|side| self.check_out(versions.of(side), name(side)))?;
        let difference = changes::difference(&sources.old.1, &sources.new.1, &DiffOptions::default())?;
        if difference.is_empty() {
            return Err(Error::SameFiles);
        }
        let build = |side: Side, files: Files| self.build_both(versions.of(side), files, name(side), stop);
        let (old, new) = std::thread::scope(|scope| {
            let old = scope.spawn(|| build(Side::Old, sources.old));
            let new = build(Side::New, sources.new);
            (old.join(), new)
        });
        let old = old.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        Ok(Versions { builds: Both { old, new: new? }, difference })
    }

    /// One version, built twice.
    ///
    /// # Errors
    /// If it does not exist or does not build.
    pub fn version(&self, version: &str, stop: &Arc<AtomicBool>) -> Result<BuiltVersion> {
        let version = Version::resolve(version, &self.here)?;
        let files = self.check_out(&version, "sources")?;
        self.build_both(&version, files, "only", stop)
    }

    fn check_out(&self, version: &Version, name: &str) -> Result<Files> {
        let work = Work::open(&self.work.join(format!("{name}-files")), self.keep)?;
        let files = work.sources(name);
        version.check_out(&files, work.root())?;
        Ok((work, files))
    }

    fn build_both(
        &self,
        version: &Version,
        files: Files,
        name: &str,
        stop: &Arc<AtomicBool>,
    ) -> Result<BuiltVersion> {
        let build = |mode: Mode| -> Result<Suite> {
            let kind = if mode == Mode::Plain { "plain" } else { "recorded" };
            let work = Work::open(&self.work.join(format!("{name}-{kind}")), self.keep)?;
            let mut suite = Suite::open(work, self.setup(version, &files.1), stop.clone())?;
            suite.build_as(mode).map_err(|error| match error {
                trials::Error::DoesNotBuild { diagnostic, log, .. } => {
                    let version = match name {
                        "good" => "the good version",
                        "bad" => "the bad version",
                        _ => "the program",
                    };
                    Error::DoesNotBuild { version, diagnostic, log: log.display().to_string() }
                }
                other => other.into(),
            })?;
            Ok(suite)
        };
        Ok(BuiltVersion { plain: build(Mode::Plain)?, recorded: build(Mode::Instrument)?, _files: files })
    }

    fn setup(&self, version: &Version, files: &std::path::Path) -> Setup {
        Setup {
            bad: files.to_owned(),
            subdirectory: version.subdirectory.clone(),
            build: trials::with_compilers(&self.build, self.compilers.as_deref()),
            test: String::new(),
            suite: None,
            stdin: None,
            oracle: Oracle { rule: Rule::Exit, observe: Vec::new() },
            tools: self.tools.clone(),
            jobs: 1,
            repeat: 1,
            limits: self.limits,
        }
    }
}

impl BuiltVersion {
    /// Runs a whole test command with the plain build.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn run(&self, test: &Test, name: &str, time: Duration) -> Result<TestRun> {
        Ok(self.plain.run(&run_of(test, name), time)?)
    }

    /// Records a whole test command.
    ///
    /// # Errors
    /// If nothing was recorded.
    pub fn record(&self, test: &Test, name: &str, time: Duration) -> Result<Recorded> {
        Ok(self.recorded.record(&run_of(test, name), time)?)
    }
}

fn run_of<'t>(test: &'t Test, name: &'t str) -> Run<'t> {
    Run { name, command: &test.command, stdin: test.stdin.as_deref(), files: &test.files }
}

/// Why a test command could not be run at all, if so: a shell reports this by exit codes 126 and 127.
#[must_use]
pub fn not_run(run: &TestRun) -> Option<String> {
    match run.status {
        Status::Exit(code @ (126 | 127)) => {
            let said = std::fs::read_to_string(&run.stderr).unwrap_or_default();
            let line = said.lines().next_back().unwrap_or_default().trim().to_owned();
            Some(if line.is_empty() { format!("it ended with {code}") } else { line })
        }
        _ => None,
    }
}
