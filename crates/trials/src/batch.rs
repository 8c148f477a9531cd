//! One request for outcomes: workers take the sets in order and stop when enough is known.

use crate::error::Error;
use crate::exit_kind::ExitKind;
use crate::memory::{Memory, of_build, of_errors};
use crate::oracle::Judge;
use crate::process::{Status, Stop};
use crate::runner::{Event, Tried, Watcher};
use crate::store::{Known, TrialResult};
use crate::variant::{TreeKey, Variants};
use crate::worker::{BuildOutcome, Worker, WorkerContext};
use changes::change::ChangeSet;
use changes::outcome::Outcome;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The question about each set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    /// Its outcome, up to the first set with this outcome.
    Outcome(Option<Outcome>),
    /// Whether it builds, up to the first set that does.
    Builds,
    /// Whether the units it touches type-check, without a build.
    Correct,
}

impl Question {
    /// Whether this result answers the question.
    fn is_answered_by(self, what: TrialResult) -> bool {
        match (self, what) {
            (Question::Builds | Question::Correct, TrialResult::Builds) | (_, TrialResult::Tested(_)) => true,
            (Question::Correct, TrialResult::Correct) => true,
            (_, TrialResult::Builds | TrialResult::Correct) => false,
        }
    }

    /// Whether later sets need not be tried.
    fn ends_with(self, what: TrialResult) -> bool {
        match (self, what) {
            (Question::Outcome(until), TrialResult::Tested(outcome)) => until == Some(outcome),
            (Question::Builds, what) => what != TrialResult::Tested(Outcome::Broken),
            _ => false,
        }
    }
}

/// The request, shared by all workers.
pub(crate) struct Batch<'r> {
    pub context: WorkerContext<'r>,
    /// Required unless the question is only about builds.
    pub judge: Option<&'r Judge>,
    pub variants: &'r dyn Variants,
    pub sets: &'r [ChangeSet],
    pub question: Question,
    pub remembered: &'r AtomicU32,
    pub watcher: &'r Watcher,
    next: AtomicUsize,
    /// Index of the first set that ends the batch.
    last: AtomicUsize,
    shared: Mutex<SharedResults<'r>>,
}

/// The results that workers write.
pub(crate) struct SharedResults<'r> {
    pub memory: &'r mut Memory,
    pub keys: &'r mut HashMap<ChangeSet, TreeKey>,
    pub log: &'r mut Vec<Tried>,
    /// Trees that a worker is processing.
    in_progress: HashSet<TreeKey>,
    error: Option<Error>,
}

impl<'r> SharedResults<'r> {
    pub fn new(
        memory: &'r mut Memory,
        keys: &'r mut HashMap<ChangeSet, TreeKey>,
        log: &'r mut Vec<Tried>,
    ) -> SharedResults<'r> {
        SharedResults { memory, keys, log, in_progress: HashSet::new(), error: None }
    }

    fn known(&self, set: &ChangeSet) -> Option<TrialResult> {
        Some(self.memory.known.get(self.keys.get(set)?)?.what)
    }
}

/// Cancels a test whose outcome is no longer needed.
struct StopWhenDecided<'s, 'r>(&'s Batch<'r>, usize);

impl Stop for StopWhenDecided<'_, '_> {
    fn stopped(&self) -> bool {
        self.0.context.stop.stopped() || self.0.is_beyond_last(self.1)
    }
}

impl<'r> Batch<'r> {
    #[expect(clippy::too_many_arguments, reason = "each is a part of the runner, borrowed by itself")]
    pub fn new(
        context: WorkerContext<'r>,
        judge: Option<&'r Judge>,
        variants: &'r dyn Variants,
        sets: &'r [ChangeSet],
        question: Question,
        remembered: &'r AtomicU32,
        watcher: &'r Watcher,
        shared: SharedResults<'r>,
    ) -> Batch<'r> {
        let (next, last) = (AtomicUsize::new(0), AtomicUsize::new(usize::MAX));
        Batch {
            context,
            judge,
            variants,
            sets,
            question,
            remembered,
            watcher,
            next,
            last,
            shared: Mutex::new(shared),
        }
    }

    /// Runs the batch on all workers, each in a thread.
    pub fn run(self, workers: &mut [Worker]) -> Result<Vec<TrialResult>, Error> {
        // The first sets are assigned explicitly, see `TrialRunner::assign`.
        self.next.store(workers.len(), Ordering::Relaxed);
        std::thread::scope(|scope| {
            let mut slots = workers.iter_mut().enumerate();
            let own = slots.next();
            for (slot, worker) in slots {
                let batch = &self;
                scope.spawn(move || batch.work(worker, slot));
            }
            if let Some((slot, worker)) = own {
                self.work(worker, slot);
            }
        });
        let last = self.last.load(Ordering::Relaxed);
        let shared = self.shared.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = shared.error {
            return Err(error);
        }
        let wanted = self.sets.len().min(last.saturating_add(1));
        self.sets[..wanted].iter().map(|set| shared.known(set).ok_or(Error::Cancelled)).collect()
    }

    fn shared(&self) -> MutexGuard<'_, SharedResults<'r>> {
        // Sound after any panic: no update can be interrupted halfway.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_beyond_last(&self, index: usize) -> bool {
        index > self.last.load(Ordering::Relaxed)
    }

    fn work(&self, worker: &mut Worker, first: usize) {
        let mut index = first;
        loop {
            let Some(set) = self.sets.get(index) else { return };
            if self.is_beyond_last(index) || self.shared().error.is_some() {
                return;
            }
            let stopped = self.context.stop.stopped();
            let done = if stopped { Err(Error::Cancelled) } else { self.try_one(worker, index, set) };
            if let Err(error) = done {
                self.shared().error.get_or_insert(error);
                return;
            }
            index = self.next.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn try_one(&self, worker: &mut Worker, index: usize, set: &ChangeSet) -> Result<(), Error> {
        let began = Instant::now();
        let variant = self.variants.variant(set).map_err(Error::Changes)?;
        let key = self.context.base.key(&variant);
        {
            let mut shared = self.shared();
            shared.keys.insert(set.clone(), key);
            if let Some(known) = shared.memory.lookup(self.context.setup, key)
                && self.question.is_answered_by(known.what)
            {
                self.remembered.fetch_add(1, Ordering::Relaxed);
                self.note(shared, index, set, &known, None);
                return Ok(());
            }
            if !shared.in_progress.insert(key) {
                return Ok(()); // its outcome will be known at the end
            }
        }
        (self.watcher)(&Event::Trying(set.len()));
        let findings = worker.check(&self.context, key, &variant)?;
        if let Some(findings) = findings.as_ref().filter(|findings| !findings.errors.is_empty()) {
            self.context.counters.refused.fetch_add(1, Ordering::Relaxed);
            let mut shared = self.shared();
            let known = of_errors(&findings.errors);
            shared.memory.memoise(self.context.setup, key, known.clone())?;
            self.note(shared, index, set, &known, Some(began));
            return Ok(());
        }
        if self.question == Question::Correct {
            let mut shared = self.shared();
            let known = Known::untested(TrialResult::Correct, String::new());
            shared.memory.known.insert(key, known);
            return Ok(());
        }
        let built = worker.build(&self.context, key, &variant)?;
        let mut uncertain = matches!(built, BuildOutcome::TooLong(_));
        let known = match of_build(&built) {
            Some(broken) => {
                self.context.counters.broken.fetch_add(1, Ordering::Relaxed);
                broken
            }
            None if self.question == Question::Builds => Known::untested(TrialResult::Builds, String::new()),
            None => match self.test(worker, index)? {
                Some((known, exit_kind)) => {
                    // The machine may have been busy, so this result is not stored permanently.
                    uncertain =
                        exit_kind == ExitKind::Hang && known.what == TrialResult::Tested(Outcome::Unresolved);
                    known.unless_suspicious(findings.as_ref())
                }
                None => return Ok(()),
            },
        };
        let mut shared = self.shared();
        if uncertain {
            shared.memory.known.insert(key, known.clone());
        } else {
            shared.memory.memoise(self.context.setup, key, known.clone())?;
        }
        self.note(shared, index, set, &known, Some(began));
        Ok(())
    }

    /// None if the outcome is no longer needed.
    fn test(&self, worker: &mut Worker, index: usize) -> Result<Option<(Known, ExitKind)>, Error> {
        let judge = self.judge.ok_or(Error::NotPrepared)?;
        let stop = StopWhenDecided(self, index);
        let mut run = worker.test(&self.context, &format!("trial-{index}"), &stop)?;
        for _ in 0..2 {
            if judge.needs_repeat(&run.observed) {
                let again = worker.test(&self.context, &format!("trial-{index}"), &stop)?;
                if again.observed.cpu < run.observed.cpu {
                    run = again;
                }
            }
        }
        // The output of single trials is not used later.
        for file in [&run.stdout, &run.stderr].into_iter().chain(run.files.iter().map(|(_, file)| file)) {
            let _ = std::fs::remove_file(file);
        }
        if run.status == Status::Cancelled {
            return if self.context.stop.stopped() { Err(Error::Cancelled) } else { Ok(None) };
        }
        Ok(Some((judge.known(&run.observed), run.status.exit_kind())))
    }

    fn note(
        &self,
        mut shared: MutexGuard<'_, SharedResults<'r>>,
        index: usize,
        set: &ChangeSet,
        known: &Known,
        began: Option<Instant>,
    ) {
        if self.question.ends_with(known.what) {
            self.last.fetch_min(index, Ordering::Relaxed);
        }
        let outcome = match known.what {
            TrialResult::Tested(outcome) => Some(outcome),
            TrialResult::Builds | TrialResult::Correct => None,
        };
        let tried = Tried {
            reverted: set.clone(),
            outcome,
            why: known.why.clone(),
            remembered: began.is_none(),
            seconds: began.map_or(0.0, |began| began.elapsed().as_secs_f64()),
        };
        shared.log.push(tried.clone());
        // A watcher may be slow.
        drop(shared);
        (self.watcher)(&Event::Tried(tried));
    }
}
