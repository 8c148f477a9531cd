//! The place where trials are made.
//!
//! Every worker has a tree of its own and brings it from one trial to the next.
//! A tree's key says what is in it; outcomes are remembered by that key, within
//! a run and, through the store, from run to run, and no two workers build the
//! same key.

use crate::error::{Error, Side};
use crate::manner::Manner;
use crate::memory::{Memory, context};
use crate::observed::Observed;
use crate::oracle::Judge;
use crate::process::Status;
use crate::round::{Desk, Question, Round};
use crate::setup::{Mode, Setup, TrialLimits};
use crate::station::{Bench, Built, Station, TestRun};
use crate::store::{Store, What};
use crate::variant::{Base, TreeKey, Variants};
use crate::work::Work;
use changes::change::ChangeSet;
use changes::outcome::{Outcome, Trials};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Builds and tests variants of the bad version.
pub struct Lab<'a> {
    pub(crate) setup: Setup,
    pub(crate) work: Work,
    pub(crate) variants: &'a dyn Variants,
    pub(crate) base: Base,
    pub(crate) stop: Arc<AtomicBool>,
    pub(crate) stations: Vec<Station>,
    pub(crate) counters: Counters,
    pub(crate) baseline: Option<Baseline>,
    judge: Option<Judge>,
    memory: Memory,
    keys: HashMap<ChangeSet, TreeKey>,
    log: Vec<Tried>,
    watcher: Watcher,
    began: Instant,
}

#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub builds: AtomicU32,
    pub runs: AtomicU32,
    pub remembered: AtomicU32,
}

pub(crate) type Watcher = Box<dyn Fn(&Event) + Send + Sync>;

/// Something that a user may want to see while it happens.
#[derive(Clone, Debug)]
pub enum Event {
    Building(Side, Mode),
    Testing(Side),
    Recording(Side),
    /// A trial has begun, with so many changes reverted.
    Trying(usize),
    Tried(Tried),
}

/// A trial that was made, or remembered.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    pub reverted: ChangeSet,
    /// None: it builds, and nobody wanted to know more.
    pub outcome: Option<Outcome>,
    pub why: String,
    pub remembered: bool,
    pub seconds: f64,
}

/// What the versions themselves did.
#[derive(Clone, Debug)]
pub struct Baseline {
    pub good: TestRun,
    pub bad: TestRun,
    /// How long any other test may take.
    pub patience: Duration,
}

/// What it took so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Effort {
    pub builds: u32,
    pub runs: u32,
    pub remembered: u32,
    pub seconds: f64,
}

impl<'a> Lab<'a> {
    /// Takes over a work directory. `stop` is looked at all the time; once it is
    /// set, everything ends with [`Error::Cancelled`].
    ///
    /// # Errors
    /// If the bad version or the store cannot be read.
    pub fn open(
        work: Work,
        setup: Setup,
        variants: &'a dyn Variants,
        stop: Arc<AtomicBool>,
    ) -> Result<Lab<'a>, Error> {
        let base = Base::read(&setup.bad)?;
        let store = Store::open(&work.store())?;
        // Two at least: good and bad are built side by side.
        let stations =
            (0..setup.jobs.max(2)).map(|n| Station::new(&work, &format!("w{n:02}"), Mode::Plain)).collect();
        Ok(Lab {
            setup,
            work,
            variants,
            base,
            stop,
            stations,
            counters: Counters::default(),
            baseline: None,
            judge: None,
            memory: Memory { store, known: HashMap::new(), context: Vec::new() },
            keys: HashMap::new(),
            log: Vec::new(),
            watcher: Box::new(|_| {}),
            began: Instant::now(),
        })
    }

    /// Has somebody told what happens.
    pub fn watch(&mut self, watcher: impl Fn(&Event) + Send + Sync + 'static) {
        self.watcher = Box::new(watcher);
    }

    pub(crate) fn tell(&self, event: &Event) {
        (self.watcher)(event);
    }

    #[must_use]
    pub fn effort(&self) -> Effort {
        Effort {
            builds: self.counters.builds.load(Ordering::Relaxed),
            runs: self.counters.runs.load(Ordering::Relaxed),
            remembered: self.counters.remembered.load(Ordering::Relaxed),
            seconds: self.began.elapsed().as_secs_f64(),
        }
    }

    /// The trials so far, in the order in which they ended.
    #[must_use]
    pub fn log(&self) -> &[Tried] {
        &self.log
    }

    /// What the user should know about the store.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        self.memory.store.note.iter().cloned().collect()
    }

    #[must_use]
    pub fn work(&self) -> &Work {
        &self.work
    }

    #[must_use]
    pub fn baseline(&self) -> Option<&Baseline> {
        self.baseline.as_ref()
    }

    /// Builds good and bad as trials are built, and runs each several times.
    ///
    /// # Errors
    /// [`Error::DoesNotBuild`], [`Error::DoesNotPass`], [`Error::DoesNotFail`],
    /// [`Error::Flaky`], and all that can go wrong with files and processes.
    pub fn prepare(&mut self) -> Result<&Baseline, Error> {
        let sets = [(Side::Bad, ChangeSet::new()), (Side::Good, self.variants.all())];
        self.tell(&Event::Building(Side::Good, Mode::Plain));
        self.tell(&Event::Building(Side::Bad, Mode::Plain));
        let patience = self.setup.limits.test.unwrap_or(TrialLimits::GOOD);
        let bench = Bench {
            setup: &self.setup,
            work: &self.work,
            base: &self.base,
            stop: &self.stop,
            builds: &self.counters.builds,
            runs: &self.counters.runs,
            patience,
        };
        let variants = self.variants;
        std::thread::scope(|scope| {
            let threads: Vec<_> = self
                .stations
                .iter_mut()
                .zip(&sets)
                .map(|(station, (side, set))| {
                    scope.spawn(|| build_version(&bench, variants, station, *side, set))
                })
                .collect();
            // Good first: what is wrong with both is said of good.
            threads.into_iter().rev().try_for_each(joined)
        })?;
        let [bad_station, good_station, ..] = self.stations.as_mut_slice() else {
            return Err(Error::NotPrepared);
        };
        (self.watcher)(&Event::Testing(Side::Good));
        let good = run_version(&bench, variants, good_station, Side::Good, &sets[1].1)?;
        let slowest = good.iter().map(|run| run.seconds).fold(0.0, f64::max);
        let patience = self
            .setup
            .limits
            .test
            .unwrap_or_else(|| Duration::from_secs_f64(slowest * 10.0).max(TrialLimits::LEAST));
        let bench = Bench { patience, ..bench };
        (self.watcher)(&Event::Testing(Side::Bad));
        let bad = run_version(&bench, variants, bad_station, Side::Bad, &sets[0].1)?;
        let observed =
            |runs: &[TestRun]| -> Vec<Observed> { runs.iter().map(|r| r.observed.clone()).collect() };
        let judge = Judge::new(&self.setup.oracle.rule, &observed(&good), &observed(&bad))?;
        self.memory.context = context(&self.setup, &judge, patience);
        for (set, run) in [(&sets[1].1, &good[0]), (&sets[0].1, &bad[0])] {
            let key = self.key(set)?;
            self.memory.remember(&self.setup, key, judge.known(&run.observed))?;
        }
        self.judge = Some(judge);
        let first = |runs: Vec<TestRun>| runs.into_iter().next().ok_or(Error::NotPrepared);
        Ok(self.baseline.insert(Baseline { good: first(good)?, bad: first(bad)?, patience }))
    }

    /// How bad's test ends, once that is known.
    #[must_use]
    pub fn manner_of_bad(&self) -> Option<Manner> {
        Some(self.baseline.as_ref()?.bad.status.manner())
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

    /// The outcome of one trial made from nothing: no earlier build, nothing
    /// remembered. For answers that others will rely on.
    ///
    /// # Errors
    /// As [`Trials::outcomes`].
    pub fn fresh(&mut self, reverted: &ChangeSet) -> Result<Outcome, Error> {
        let key = self.key(reverted)?;
        self.stations[0].wipe()?;
        self.memory.known.remove(&key);
        let outcome = self.ask_outcomes(std::slice::from_ref(reverted), Question::Anew)?;
        outcome.first().copied().ok_or(Error::NotPrepared)
    }

    fn ask(&mut self, sets: &[ChangeSet], question: Question) -> Result<Vec<What>, Error> {
        let patience = match (&self.baseline, question) {
            (Some(baseline), _) => baseline.patience,
            (None, Question::Builds) => TrialLimits::LEAST,
            (None, _) => return Err(Error::NotPrepared),
        };
        let workers = self.setup.jobs.clamp(1, sets.len().max(1));
        self.seat(&sets[..workers.min(sets.len())])?;
        let bench = Bench {
            setup: &self.setup,
            work: &self.work,
            base: &self.base,
            stop: &self.stop,
            builds: &self.counters.builds,
            runs: &self.counters.runs,
            patience,
        };
        let desk = Desk::new(&mut self.memory, &mut self.keys, &mut self.log);
        let remembered = &self.counters.remembered;
        let round = Round::new(
            bench,
            self.judge.as_ref(),
            self.variants,
            sets,
            question,
            remembered,
            &self.watcher,
            desk,
        );
        round.run(&mut self.stations[..workers])
    }

    /// Each of the first sets goes to the station that has just built it, if one has:
    /// often something is tested that was asked about before only whether it builds.
    fn seat(&mut self, sets: &[ChangeSet]) -> Result<(), Error> {
        for (seat, set) in sets.iter().enumerate() {
            let key = self.key(set)?;
            if let Some(found) = self.stations[seat..].iter().position(|station| station.has_built(key)) {
                self.stations.swap(seat, seat + found);
            }
        }
        Ok(())
    }

    fn ask_outcomes(&mut self, sets: &[ChangeSet], question: Question) -> Result<Vec<Outcome>, Error> {
        let tested = |what| match what {
            What::Tested(outcome) => Ok(outcome),
            What::Builds => Err(Error::NotPrepared),
        };
        self.ask(sets, question)?.into_iter().map(tested).collect()
    }
}

impl Trials for Lab<'_> {
    type Error = Error;

    fn outcomes(&mut self, reverted: &[ChangeSet], until_pass: bool) -> Result<Vec<Outcome>, Error> {
        self.ask_outcomes(reverted, Question::Outcome(until_pass.then_some(Outcome::Pass)))
    }

    fn outcomes_until(&mut self, reverted: &[ChangeSet], stop: Outcome) -> Result<Vec<Outcome>, Error> {
        self.ask_outcomes(reverted, Question::Outcome(Some(stop)))
    }

    fn builds(&mut self, reverted: &ChangeSet) -> Result<bool, Error> {
        let builds = self.builds_until(std::slice::from_ref(reverted))?;
        builds.first().copied().ok_or(Error::NotPrepared)
    }

    fn builds_until(&mut self, reverted: &[ChangeSet]) -> Result<Vec<bool>, Error> {
        let answers = self.ask(reverted, Question::Builds)?;
        Ok(answers.into_iter().map(|what| what != What::Tested(Outcome::Broken)).collect())
    }

    fn complaint(&mut self, reverted: &ChangeSet) -> Option<String> {
        let key = self.key(reverted).ok()?;
        let known = self.memory.recall(&self.setup, key)?;
        let lines = || std::iter::once(known.why.clone()).chain(known.more.clone());
        (known.what == What::Tested(Outcome::Broken)).then(|| lines().collect::<Vec<_>>().join("\n"))
    }

    fn fails_alike(&mut self, reverted: &ChangeSet) -> bool {
        let Ok(key) = self.key(reverted) else { return false };
        self.memory.recall(&self.setup, key).is_some_and(|known| known.alike)
    }
}

pub(crate) fn build_version(
    bench: &Bench,
    variants: &dyn Variants,
    station: &mut Station,
    side: Side,
    reverted: &ChangeSet,
) -> Result<(), Error> {
    let variant = variants.variant(reverted).map_err(Error::Changes)?;
    let (complaint, log) = match station.build(bench, bench.base.key(&variant), &variant)? {
        Built::Yes => return Ok(()),
        Built::No(complaint, log) => (complaint.text, log),
        Built::TooLong(log) => ("it was stopped as it took too long".to_owned(), log),
    };
    Err(Error::DoesNotBuild { version: side, complaint, log })
}

/// A panic in a worker is a bug of ours, and goes on in the thread that waited.
pub(crate) fn joined<T>(thread: std::thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Repeated runs. One that hangs is repeated only once, as it takes so long.
fn run_version(
    bench: &Bench,
    variants: &dyn Variants,
    station: &mut Station,
    side: Side,
    reverted: &ChangeSet,
) -> Result<Vec<TestRun>, Error> {
    let mut runs: Vec<TestRun> = Vec::new();
    while runs.len() < bench.setup.repeat.max(1) {
        // Does nothing unless the last run spoilt the tree.
        build_version(bench, variants, station, side, reverted)?;
        let run = station.test(bench, &format!("{side}-{}", runs.len()), bench.stop)?;
        if run.status == Status::Cancelled {
            return Err(Error::Cancelled);
        }
        let hangs = run.status.manner() == Manner::Hang;
        runs.push(run);
        if hangs && runs.len() >= 2 {
            break;
        }
    }
    Ok(runs)
}
