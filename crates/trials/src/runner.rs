//! Runs trials.
//!
//! Every worker has its own tree and updates it from one trial to the next. A tree's key identifies its
//! contents. Outcomes are memoised by that key, within a run and, through the store, across runs, and no two
//! workers build the same key.

use crate::batch::{Batch, Question, SharedResults};
use crate::checker::Checker;
use crate::error::{Error, Side};
use crate::examine::Examiner;
use crate::exit_kind::ExitKind;
use crate::mask;
use crate::memory::{Memory, of_build, test_context};
use crate::observed::Observed;
use crate::opened::OpenedFiles;
use crate::oracle::Judge;
use crate::process::Status;
use crate::setup::{Mode, Setup, TrialLimits};
use crate::store::{Known, Store, TrialResult};
use crate::variant::{Base, Content, TreeKey, Variant, Variants};
use crate::work::Work;
use crate::worker::{BuildOutcome, TestRun, Worker, WorkerContext};
use changes::change::ChangeSet;
use changes::outcome::{Outcome, Sanity, Trials};
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant, SystemTime};

/// Slightly more than a second.
const A_SECOND: Duration = Duration::from_millis(1100);

/// Builds and tests variants of the bad version.
pub struct TrialRunner<'a> {
    pub(crate) setup: Setup,
    pub(crate) work: Work,
    pub(crate) variants: &'a dyn Variants,
    pub(crate) base: Base,
    pub(crate) stop: Arc<AtomicBool>,
    pub(crate) workers: Vec<Worker>,
    pub(crate) counters: Counters,
    pub(crate) baseline: Option<Baseline>,
    pub(crate) judge: Option<Judge>,
    checker: Option<Checker>,
    /// The state of examinations of passing trees.
    pub(crate) examiner: Examiner,
    memory: Memory,
    keys: HashMap<ChangeSet, TreeKey>,
    log: Vec<Tried>,
    watcher: Watcher,
    began: Instant,
}

#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub builds: AtomicU32,
    /// Failed builds of trials.
    pub broken: AtomicU32,
    /// Trials that were not built because a touched unit has an error.
    pub refused: AtomicU32,
    pub runs: AtomicU32,
    pub remembered: AtomicU32,
}

pub(crate) type Watcher = Box<dyn Fn(&Event) + Send + Sync>;

/// An event of interest to the user.
#[derive(Clone, Debug)]
pub enum Event {
    /// A version is built in this mode.
    Building(Side, Mode),
    /// A version is tested.
    Testing(Side),
    /// The test of a version is recorded.
    Recording(Side),
    /// A trial has begun, with this many changes reverted.
    Trying(usize),
    /// A trial has ended.
    Tried(Tried),
    /// A passing tree is built in other configurations.
    Examining,
}

/// A trial that was run or memoised.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// The changes that were reverted in bad.
    pub reverted: ChangeSet,
    /// None: it builds, and no more was requested.
    pub outcome: Option<Outcome>,
    /// The reason: a compiler's error, or how the test ended.
    pub why: String,
    /// Whether its outcome was memoised.
    pub remembered: bool,
    /// Wall-clock time of build and test; 0 if it was memoised.
    pub seconds: f64,
}

/// The runs of the versions themselves.
#[derive(Clone, Debug)]
pub struct Baseline {
    /// The first run of good.
    pub good: TestRun,
    /// The first run of bad.
    pub bad: TestRun,
    /// Timeout of all other tests.
    pub timeout: Duration,
    /// The parts that differ from run to run and are not compared.
    pub masked: Vec<String>,
    /// Files of good and of bad that their builds and tests opened, if the tracking was complete.
    pub opened: Option<[BTreeSet<PathBuf>; 2]>,
}

/// The cost so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Effort {
    /// Builds, also failed ones and those of good and bad.
    pub builds: u32,
    /// Builds that failed.
    pub broken_builds: u32,
    /// Trials that clang rejected without a build.
    pub refused: u32,
    /// Runs of the test and other commands in a tree, also of good and bad.
    pub runs: u32,
    /// Trials whose outcome was memoised.
    pub remembered: u32,
    /// Wall-clock time since the runner was opened.
    pub seconds: f64,
}

impl<'a> TrialRunner<'a> {
    /// Opens a runner in a work directory. `stop` is polled continuously; once it is set, everything ends
    /// with [`Error::Cancelled`].
    ///
    /// # Errors
    /// If the bad version or the store cannot be read.
    pub fn open(
        work: Work,
        setup: Setup,
        variants: &'a dyn Variants,
        stop: Arc<AtomicBool>,
    ) -> Result<TrialRunner<'a>, Error> {
        let base = Base::read(&setup.bad)?;
        let store = Store::open(&work.store())?;
        // At least two: good and bad are built in parallel.
        let workers =
            (0..setup.jobs.max(2)).map(|n| Worker::new(&work, &format!("w{n:02}"), Mode::Plain)).collect();
        Ok(TrialRunner {
            setup,
            work,
            variants,
            base,
            stop,
            workers,
            counters: Counters::default(),
            baseline: None,
            judge: None,
            checker: None,
            examiner: Examiner::default(),
            memory: Memory { store, known: HashMap::new(), context: Vec::new() },
            keys: HashMap::new(),
            log: Vec::new(),
            watcher: Box::new(|_| {}),
            began: Instant::now(),
        })
    }

    /// Sets the observer of events.
    pub fn watch(&mut self, watcher: impl Fn(&Event) + Send + Sync + 'static) {
        self.watcher = Box::new(watcher);
    }

    pub(crate) fn tell(&self, event: &Event) {
        (self.watcher)(event);
    }

    /// The cost so far, with what was added by [`TrialRunner::add_effort`].
    #[must_use]
    pub fn effort(&self) -> Effort {
        Effort {
            builds: self.counters.builds.load(Ordering::Relaxed),
            broken_builds: self.counters.broken.load(Ordering::Relaxed),
            refused: self.counters.refused.load(Ordering::Relaxed),
            runs: self.counters.runs.load(Ordering::Relaxed),
            remembered: self.counters.remembered.load(Ordering::Relaxed),
            seconds: self.began.elapsed().as_secs_f64(),
        }
    }

    /// Adds the cost of earlier pairs of versions.
    pub fn add_effort(&mut self, effort: Effort) {
        for (counter, more) in [
            (&self.counters.builds, effort.builds),
            (&self.counters.broken, effort.broken_builds),
            (&self.counters.refused, effort.refused),
            (&self.counters.runs, effort.runs),
            (&self.counters.remembered, effort.remembered),
        ] {
            counter.fetch_add(more, Ordering::Relaxed);
        }
    }

    /// The trials so far, in the order in which they ended.
    #[must_use]
    pub fn log(&self) -> &[Tried] {
        &self.log
    }

    /// Notes for the user about the store.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        self.memory.store.note.iter().cloned().collect()
    }

    /// The work directory.
    #[must_use]
    pub fn work(&self) -> &Work {
        &self.work
    }

    /// The runs of good and bad; `None` before [`TrialRunner::prepare`] succeeded.
    #[must_use]
    pub fn baseline(&self) -> Option<&Baseline> {
        self.baseline.as_ref()
    }

    /// The difference between a recorded run and the plain one of its version, ignoring masked parts.
    #[must_use]
    pub fn deviation(&self, plain: &TestRun, recorded: &TestRun) -> Option<String> {
        self.judge.as_ref()?.deviation(&plain.observed, &recorded.observed)
    }

    /// Builds good and bad in the configuration of trials, and runs each several times.
    ///
    /// # Errors
    /// [`Error::DoesNotBuild`], [`Error::DoesNotPass`], [`Error::DoesNotFail`], [`Error::Flaky`], and errors
    /// of files and processes.
    pub fn prepare(&mut self) -> Result<&Baseline, Error> {
        let sets = [(Side::Bad, ChangeSet::new()), (Side::Good, self.variants.all())];
        self.tell(&Event::Building(Side::Good, Mode::Plain));
        self.tell(&Event::Building(Side::Bad, Mode::Plain));
        let timeout = self.setup.limits.test.unwrap_or(TrialLimits::GOOD);
        let context = WorkerContext {
            setup: &self.setup,
            work: &self.work,
            base: &self.base,
            stop: &self.stop,
            counters: &self.counters,
            checker: None,
            timeout,
        };
        let variants = self.variants;
        let watched = std::thread::scope(|scope| {
            let threads: Vec<_> = self
                .workers
                .iter_mut()
                .zip(&sets)
                .map(|(worker, (side, set))| {
                    scope.spawn(|| build_watched(&context, variants, worker, *side, set))
                })
                .collect();
            // Good first: an error that affects both is reported for good.
            let mut watched = threads.into_iter().rev().map(joined).collect::<Result<Vec<_>, Error>>()?;
            let (bad, good) = (watched.pop().flatten(), watched.pop().flatten());
            Ok::<_, Error>([good, bad])
        })?;
        let [bad_worker, good_worker, ..] = self.workers.as_mut_slice() else {
            return Err(Error::NotPrepared);
        };
        (self.watcher)(&Event::Testing(Side::Good));
        let good = run_version(&context, variants, good_worker, Side::Good, &sets[1].1)?;
        let slowest = good.iter().map(|run| run.seconds).fold(0.0, f64::max);
        let timeout = self
            .setup
            .limits
            .test
            .unwrap_or_else(|| Duration::from_secs_f64(slowest * 10.0).max(TrialLimits::MIN_TIMEOUT));
        let context = WorkerContext { timeout, ..context };
        (self.watcher)(&Event::Testing(Side::Bad));
        let bad = run_version(&context, variants, bad_worker, Side::Bad, &sets[0].1)?;
        let observed =
            |runs: &[TestRun]| -> Vec<Observed> { runs.iter().map(|r| r.observed.clone()).collect() };
        let judge = Judge::new(&self.setup.oracle.rule, &observed(&good), &observed(&bad))?;
        let opened = watched.map(|watched| Some(watched?.finish()).filter(|opened| opened.complete));
        let opened = match opened {
            [Some(good), Some(bad)] => Some([good.files, bad.files]),
            _ => None,
        };
        if let Some(clang) = &self.setup.tools.clang {
            let touched: BTreeSet<PathBuf> =
                variants.variant(&sets[1].1).map_err(Error::Changes)?.paths().map(Path::to_owned).collect();
            let trees = [good_worker.root(), bad_worker.root()];
            let units = self.work.units();
            let all = opened.as_ref().map(|[good, bad]: &[BTreeSet<PathBuf>; 2]| good | bad);
            self.checker = Checker::new(clang, &units, trees, &touched, all, self.setup.jobs, &*self.stop)?;
        }
        self.memory.context = test_context(&self.setup, &judge, timeout);
        for (set, run) in [(&sets[1].1, &good[0]), (&sets[0].1, &bad[0])] {
            let key = self.key(set)?;
            self.memory.memoise(&self.setup, key, judge.known(&run.observed))?;
        }
        let masked = judge.masked_parts();
        self.judge = Some(judge);
        let first = |runs: Vec<TestRun>| runs.into_iter().next().ok_or(Error::NotPrepared);
        Ok(self.baseline.insert(Baseline { good: first(good)?, bad: first(bad)?, timeout, masked, opened }))
    }

    pub(crate) fn context(&self) -> WorkerContext<'_> {
        WorkerContext {
            setup: &self.setup,
            work: &self.work,
            base: &self.base,
            stop: &self.stop,
            counters: &self.counters,
            checker: self.checker.as_ref(),
            timeout: self.baseline.as_ref().map_or(TrialLimits::GOOD, |baseline| baseline.timeout),
        }
    }

    /// Whether parts of the program are C++, as far as its builds recorded it.
    pub(crate) fn has_cpp(&self) -> bool {
        self.checker.as_ref().is_some_and(Checker::has_cpp)
    }

    /// Whether units can be checked, and so sanitizers be used.
    pub(crate) fn knows_units(&self) -> bool {
        self.checker.as_ref().is_some_and(|checker| !checker.unsanitized())
    }

    /// Returns the work directory, for another pair of versions.
    #[must_use]
    pub fn into_work(self) -> (Work, Effort) {
        let effort = self.effort();
        (self.work, effort)
    }

    /// The outcome of an arbitrary file tree instead of a variant of bad: a commit between good and bad. Also
    /// returns whether a failure shows the symptom of bad, and the reason.
    ///
    /// # Errors
    /// As [`Trials::outcomes`].
    pub fn outcome_of_tree(&mut self, files: &Path) -> Result<(Outcome, bool, String), Error> {
        let variant = Variant::between(&self.base, files)?;
        self.outcome_of(&variant)
    }

    /// The outcome of bad with this line appended to a file. Also returns whether a failure shows the symptom
    /// of bad, and the reason.
    ///
    /// # Errors
    /// As [`Trials::outcomes`].
    pub fn outcome_with_line(&mut self, file: &Path, line: &str) -> Result<(Outcome, bool, String), Error> {
        let path = self.base.root().join(file);
        let mut content = Content::read(&path)?;
        let Content::File { bytes, .. } = &mut content else {
            return Err(Error::Changes(format!("{} is no file", file.display())));
        };
        let end = if bytes.ends_with(b"\n") { "" } else { "\n" };
        *bytes = [&**bytes, end.as_bytes(), line.as_bytes(), b"\n"].concat().into();
        let mut variant = Variant::default();
        variant.put(file.to_owned(), Some(content));
        self.outcome_of(&variant)
    }

    /// Whether bad contains a file with this name.
    #[must_use]
    pub fn has_file(&self, file: &Path) -> bool {
        file.is_relative() && self.base.root().join(file).is_file()
    }

    fn outcome_of(&mut self, variant: &Variant) -> Result<(Outcome, bool, String), Error> {
        let key = self.base.key(variant);
        if let Some(known) = self.memory.lookup(&self.setup, key)
            && let TrialResult::Tested(outcome) = known.what
        {
            self.counters.remembered.fetch_add(1, Ordering::Relaxed);
            return Ok((outcome, known.symptom, known.why));
        }
        let mut worker = self.workers.swap_remove(0);
        let tried = self.try_tree(&mut worker, key, variant);
        self.workers.insert(0, worker);
        let known = tried?;
        self.memory.memoise(&self.setup, key, known.clone())?;
        match known.what {
            TrialResult::Tested(outcome) => Ok((outcome, known.symptom, known.why)),
            TrialResult::Builds | TrialResult::Correct => Err(Error::NotPrepared),
        }
    }

    fn try_tree(&self, worker: &mut Worker, key: TreeKey, variant: &Variant) -> Result<Known, Error> {
        let judge = self.judge.as_ref().ok_or(Error::NotPrepared)?;
        let context = self.context();
        if let Some(broken) = of_build(&worker.build(&context, key, variant)?) {
            self.counters.broken.fetch_add(1, Ordering::Relaxed);
            return Ok(broken);
        }
        let run = worker.test(&context, "tree", context.stop)?;
        if run.status == Status::Cancelled {
            return Err(Error::Cancelled);
        }
        Ok(judge.known(&run.observed))
    }

    /// How bad's test terminates, once it is known.
    #[must_use]
    pub fn exit_kind_of_bad(&self) -> Option<ExitKind> {
        Some(self.baseline.as_ref()?.bad.status.exit_kind())
    }

    pub(crate) fn key(&mut self, reverted: &ChangeSet) -> Result<TreeKey, Error> {
        if let Some(key) = self.keys.get(reverted) {
            return Ok(*key);
        }
        let variant = self.variants.variant(reverted).map_err(Error::Changes)?;
        let key = self.base.key(&variant);
        self.keys.insert(reverted.clone(), key);
        Ok(key)
    }

    fn ask(&mut self, sets: &[ChangeSet], question: Question) -> Result<Vec<TrialResult>, Error> {
        if self.baseline.is_none() {
            return Err(Error::NotPrepared);
        }
        let workers = self.setup.jobs.clamp(1, sets.len().max(1));
        self.assign(&sets[..workers.min(sets.len())])?;
        let context = WorkerContext {
            setup: &self.setup,
            work: &self.work,
            base: &self.base,
            stop: &self.stop,
            counters: &self.counters,
            checker: self.checker.as_ref(),
            timeout: self.baseline.as_ref().map_or(TrialLimits::GOOD, |baseline| baseline.timeout),
        };
        let shared = SharedResults::new(&mut self.memory, &mut self.keys, &mut self.log);
        let remembered = &self.counters.remembered;
        let batch = Batch::new(
            context,
            self.judge.as_ref(),
            self.variants,
            sets,
            question,
            remembered,
            &self.watcher,
            shared,
        );
        batch.run(&mut self.workers[..workers])
    }

    /// Assigns each of the first sets to the worker that has just built it, if there is one: a set is often
    /// first tested for whether it builds and then for its outcome.
    fn assign(&mut self, sets: &[ChangeSet]) -> Result<(), Error> {
        for (slot, set) in sets.iter().enumerate() {
            let key = self.key(set)?;
            if let Some(found) = self.workers[slot..].iter().position(|worker| worker.has_built(key)) {
                self.workers.swap(slot, slot + found);
            }
        }
        Ok(())
    }

    fn ask_outcomes(&mut self, sets: &[ChangeSet], question: Question) -> Result<Vec<Outcome>, Error> {
        let tested = |what| match what {
            TrialResult::Tested(outcome) => Ok(outcome),
            TrialResult::Builds | TrialResult::Correct => Err(Error::NotPrepared),
        };
        self.ask(sets, question)?.into_iter().map(tested).collect()
    }
}

impl Trials for TrialRunner<'_> {
    type Error = Error;

    fn outcomes(&mut self, reverted: &[ChangeSet], until_pass: bool) -> Result<Vec<Outcome>, Error> {
        self.ask_outcomes(reverted, Question::Outcome(until_pass.then_some(Outcome::Pass)))
    }

    fn outcomes_until(&mut self, reverted: &[ChangeSet], stop: Outcome) -> Result<Vec<Outcome>, Error> {
        self.ask_outcomes(reverted, Question::Outcome(Some(stop)))
    }

    fn type_checks(&mut self, reverted: &ChangeSet) -> Result<bool, Error> {
        let said = self.ask(std::slice::from_ref(reverted), Question::Correct)?;
        Ok(said.first() != Some(&TrialResult::Tested(Outcome::Broken)))
    }

    fn builds(&mut self, reverted: &ChangeSet) -> Result<bool, Error> {
        let said = self.ask(std::slice::from_ref(reverted), Question::Builds)?;
        Ok(said.first() != Some(&TrialResult::Tested(Outcome::Broken)))
    }

    fn examine(&mut self, reverted: &ChangeSet) -> Result<Sanity, Error> {
        self.examine_tree(reverted)
    }

    fn diagnostics(&mut self, reverted: &ChangeSet) -> Option<String> {
        let key = self.key(reverted).ok()?;
        let known = self.memory.lookup(&self.setup, key)?;
        let lines = || std::iter::once(known.why.clone()).chain(known.more.clone());
        (known.what == TrialResult::Tested(Outcome::Broken)).then(|| lines().collect::<Vec<_>>().join("\n"))
    }

    fn fails_same_way(&mut self, reverted: &ChangeSet) -> bool {
        let Ok(key) = self.key(reverted) else { return false };
        self.memory.lookup(&self.setup, key).is_some_and(|known| known.symptom)
    }

    fn fails_alike(&mut self, reverted: &ChangeSet) -> bool {
        let Ok(key) = self.key(reverted) else { return false };
        self.memory.lookup(&self.setup, key).is_some_and(|known| known.alike)
    }
}

/// Builds a version while tracking which of its files are opened; tracking continues because the test opens
/// some too. None if tracking is not possible.
fn build_watched(
    context: &WorkerContext,
    variants: &dyn Variants,
    worker: &mut Worker,
    side: Side,
    reverted: &ChangeSet,
) -> Result<Option<OpenedFiles>, Error> {
    let variant = variants.variant(reverted).map_err(Error::Changes)?;
    worker.fill(context, &variant)?;
    let watched = OpenedFiles::watch(worker.root()).ok();
    build_version(context, variants, worker, side, reverted)?;
    Ok(watched)
}

pub(crate) fn build_version(
    context: &WorkerContext,
    variants: &dyn Variants,
    worker: &mut Worker,
    side: Side,
    reverted: &ChangeSet,
) -> Result<(), Error> {
    let variant = variants.variant(reverted).map_err(Error::Changes)?;
    let (diagnostic, log) = match worker.build(context, context.base.key(&variant), &variant)? {
        BuildOutcome::Yes => return Ok(()),
        BuildOutcome::No(diagnostic, log) => (diagnostic.text, log),
        BuildOutcome::TooLong(log) => ("it was stopped as it took too long".to_owned(), log),
    };
    Err(Error::DoesNotBuild { version: side, diagnostic, log })
}

/// A panic in a worker is a bug, and is propagated to the waiting thread.
pub(crate) fn joined<T>(thread: std::thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Repeated runs. One that hangs is repeated only once, because it takes so long.
fn run_version(
    context: &WorkerContext,
    variants: &dyn Variants,
    worker: &mut Worker,
    side: Side,
    reverted: &ChangeSet,
) -> Result<Vec<TestRun>, Error> {
    let mut runs: Vec<TestRun> = Vec::new();
    while runs.len() < context.setup.repeat.max(1) {
        // Does nothing unless the last run modified the tree.
        build_version(context, variants, worker, side, reverted)?;
        let run = worker.test(context, &format!("{side}-{}", runs.len()), context.stop)?;
        if run.status == Status::Cancelled {
            return Err(Error::Cancelled);
        }
        let hangs = run.status.exit_kind() == ExitKind::Hang;
        let clock =
            run.observed.outputs.iter().any(|output| {
                output.judged && mask::looks_like_clock(output.content.text(), SystemTime::now())
            });
        runs.push(run);
        if clock && runs.len() + 1 == context.setup.repeat {
            // Runs within one second print the same time, which would appear to be stable.
            std::thread::sleep(A_SECOND);
        }
        if hangs && runs.len() >= 2 {
            break;
        }
    }
    Ok(runs)
}
