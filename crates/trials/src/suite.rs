//! One version, built once with recording, and recordings of many commands in it.
//!
//! Tests of a suite may write files beside their program, so each worker has a copy of the built tree;
//! nothing is built twice. Each run restores its copy.

use crate::checkout::copy_entry;
use crate::error::{At, Error, Side};
use crate::record::{Recorded, record};
use crate::runner::Counters;
use crate::setup::{Mode, Setup, TrialLimits};
use crate::tree::remove_all;
use crate::variant::{Base, Variant};
use crate::work::Work;
use crate::worker::{BuildOutcome, TestRun, Worker, WorkerContext};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// See the module's documentation.
pub struct Suite {
    setup: Setup,
    work: Work,
    base: Base,
    stop: Arc<AtomicBool>,
    counters: Counters,
    /// The tree in which the build ran, to which source locations refer.
    built: Option<PathBuf>,
    workers: Mutex<Vec<Worker>>,
    returned: Condvar,
}

/// A command to run in the tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run<'a> {
    /// The name under which its outputs and its recording are kept.
    pub name: &'a str,
    /// Passed to `sh -c`.
    pub command: &'a str,
    /// Standard input; `None`: that of the setup.
    pub stdin: Option<&'a Path>,
    /// Files written to the tree beforehand, relative to the directory in which the command runs.
    pub files: &'a [(PathBuf, Vec<u8>)],
}

impl Suite {
    /// Opens a suite in a work directory; `setup.bad` contains the files of the version.
    ///
    /// # Errors
    /// If the version cannot be read.
    pub fn open(work: Work, setup: Setup, stop: Arc<AtomicBool>) -> Result<Suite, Error> {
        let base = Base::read(&setup.bad)?;
        Ok(Suite {
            setup,
            work,
            base,
            stop,
            counters: Counters::default(),
            built: None,
            workers: Mutex::new(Vec::new()),
            returned: Condvar::new(),
        })
    }

    /// Builds the version with recording, once, and copies the tree for the workers.
    ///
    /// # Errors
    /// [`Error::DoesNotBuild`], or if files cannot be written.
    pub fn build(&mut self) -> Result<(), Error> {
        self.build_as(Mode::Instrument)
    }

    /// The same in another mode: a plain build cannot be recorded.
    ///
    /// # Errors
    /// As [`Suite::build`].
    pub fn build_as(&mut self, mode: Mode) -> Result<(), Error> {
        let mut first = Worker::new(&self.work, "s00", mode);
        let variant = Variant::default();
        let context = context(self, &self.setup, TrialLimits::GOOD);
        let (diagnostic, log) = match first.build(&context, self.base.key(&variant), &variant)? {
            BuildOutcome::Yes => (None, PathBuf::new()),
            BuildOutcome::No(diagnostic, log) => (Some(diagnostic.text), log),
            BuildOutcome::TooLong(log) => (Some("it was stopped as it took too long".to_owned()), log),
        };
        if let Some(diagnostic) = diagnostic {
            return Err(Error::DoesNotBuild { version: Side::Bad, diagnostic, log });
        }
        let mut workers = Vec::new();
        for number in 1..self.setup.jobs {
            workers.push(first.copied(&self.work, &format!("s{number:02}"))?);
        }
        self.built = Some(first.root().to_owned());
        // Pushed last, so that it is used first.
        workers.push(first);
        self.workers = Mutex::new(workers);
        Ok(())
    }

    /// The tree in which the build ran.
    #[must_use]
    pub fn tree(&self) -> &Path {
        self.built.as_deref().unwrap_or(Path::new("."))
    }

    /// The work directory.
    #[must_use]
    pub fn work(&self) -> &Work {
        &self.work
    }

    /// The numbers of builds and of runs.
    #[must_use]
    pub fn effort(&self) -> (u32, u32) {
        (self.counters.builds.load(Ordering::Relaxed), self.counters.runs.load(Ordering::Relaxed))
    }

    /// Runs a command without recording. May be called by several threads: the number of parallel runs is
    /// limited by the number of workers.
    ///
    /// # Errors
    /// If files or processes cannot be created, and [`Error::Cancelled`].
    pub fn run(&self, run: &Run<'_>, time: Duration) -> Result<TestRun, Error> {
        self.with(run, time, |context, worker| {
            let ran = worker.test(context, run.name, context.stop)?;
            match ran.status {
                crate::process::Status::Cancelled => Err(Error::Cancelled),
                _ => Ok(ran),
            }
        })
    }

    /// Runs a command under the recorder.
    ///
    /// # Errors
    /// As [`Suite::run`], and [`Error::Record`] if nothing was recorded.
    pub fn record(&self, run: &Run<'_>, time: Duration) -> Result<Recorded, Error> {
        let mut recorded = self.with(run, time, |context, worker| record(context, worker, run.name, time))?;
        recorded.tree = self.tree().to_owned();
        Ok(recorded)
    }

    /// Removes a recording that is not needed any more.
    ///
    /// # Errors
    /// If files cannot be removed.
    pub fn discard(&self, recorded: &Recorded) -> Result<(), Error> {
        remove_all(&recorded.directory)
    }

    fn with<T>(
        &self,
        run: &Run<'_>,
        time: Duration,
        act: impl FnOnce(&WorkerContext<'_>, &mut Worker) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let setup = Setup {
            test: run.command.to_owned(),
            stdin: run.stdin.map(Path::to_owned).or_else(|| self.setup.stdin.clone()),
            ..self.setup.clone()
        };
        let mut worker = self.take()?;
        let placed = run.files.iter().try_for_each(|(path, content)| {
            let path = worker.root().join(&setup.subdirectory).join(path);
            fs::write(&path, content).at("write", &path)
        });
        let result = placed.and_then(|()| act(&context(self, &setup, time), &mut worker));
        self.workers.lock().unwrap_or_else(PoisonError::into_inner).push(worker);
        self.returned.notify_one();
        result
    }

    /// Takes a worker from the pool; waits until one is free.
    fn take(&self) -> Result<Worker, Error> {
        if self.built.is_none() {
            return Err(Error::NotPrepared);
        }
        let mut workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(worker) = workers.pop() {
                return Ok(worker);
            }
            workers = self.returned.wait(workers).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

fn context<'b>(suite: &'b Suite, setup: &'b Setup, timeout: Duration) -> WorkerContext<'b> {
    WorkerContext {
        setup,
        work: &suite.work,
        base: &suite.base,
        stop: &suite.stop,
        counters: &suite.counters,
        checker: None,
        timeout,
    }
}

/// Copies a tree with times, modes and links.
pub(crate) fn copy_tree(from: &Path, to: &Path) -> Result<(), Error> {
    let mut todo = vec![(from.to_owned(), to.to_owned())];
    while let Some((from, to)) = todo.pop() {
        fs::create_dir_all(&to).at("create", &to)?;
        for entry in fs::read_dir(&from).at("read", &from)? {
            let entry = entry.at("read", &from)?;
            let (source, target) = (entry.path(), to.join(entry.file_name()));
            if entry.file_type().at("read", &source)?.is_dir() {
                todo.push((source, target));
            } else {
                copy_entry(&source, &target, SystemTime::now())?;
            }
        }
    }
    Ok(())
}
