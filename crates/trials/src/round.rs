//! One call for outcomes: workers take the sets in order and stop when enough is known.

use crate::error::Error;
use crate::lab::{Event, Tried, Watcher};
use crate::manner::Manner;
use crate::memory::{Memory, of_build, of_errors};
use crate::oracle::Judge;
use crate::process::{Status, Stop};
use crate::station::{Bench, Built, Station};
use crate::store::{Known, What};
use crate::variant::{TreeKey, Variants};
use changes::change::ChangeSet;
use changes::outcome::Outcome;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// What is asked about each set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    /// Its outcome, up to the first set that has this one.
    Outcome(Option<Outcome>),
    /// Whether it builds, up to the first that does.
    Builds,
    /// Whether the units it touches are correct, without a build.
    Correct,
}

impl Question {
    /// Whether this is all that is wanted to know.
    fn is_answered_by(self, what: What) -> bool {
        match (self, what) {
            (Question::Builds | Question::Correct, What::Builds) | (_, What::Tested(_)) => true,
            (Question::Correct, What::Correct) => true,
            (_, What::Builds | What::Correct) => false,
        }
    }

    /// Whether sets further back need not be tried.
    fn ends_with(self, what: What) -> bool {
        match (self, what) {
            (Question::Outcome(until), What::Tested(outcome)) => until == Some(outcome),
            (Question::Builds, what) => what != What::Tested(Outcome::Broken),
            _ => false,
        }
    }
}

/// The call, seen by all workers.
pub(crate) struct Round<'r> {
    pub bench: Bench<'r>,
    /// Needed unless only builds are asked for.
    pub judge: Option<&'r Judge>,
    pub variants: &'r dyn Variants,
    pub sets: &'r [ChangeSet],
    pub question: Question,
    pub remembered: &'r AtomicU32,
    pub watcher: &'r Watcher,
    next: AtomicUsize,
    /// The first set that ends the round.
    last: AtomicUsize,
    desk: Mutex<Desk<'r>>,
}

/// What workers write to.
pub(crate) struct Desk<'r> {
    pub memory: &'r mut Memory,
    pub keys: &'r mut HashMap<ChangeSet, TreeKey>,
    pub log: &'r mut Vec<Tried>,
    /// Somebody is at it.
    in_hand: HashSet<TreeKey>,
    error: Option<Error>,
}

impl<'r> Desk<'r> {
    pub fn new(
        memory: &'r mut Memory,
        keys: &'r mut HashMap<ChangeSet, TreeKey>,
        log: &'r mut Vec<Tried>,
    ) -> Desk<'r> {
        Desk { memory, keys, log, in_hand: HashSet::new(), error: None }
    }

    fn known(&self, set: &ChangeSet) -> Option<What> {
        Some(self.memory.known.get(self.keys.get(set)?)?.what)
    }
}

/// Ends a test whose outcome nobody waits for any more.
struct NoLongerWanted<'s, 'r>(&'s Round<'r>, usize);

impl Stop for NoLongerWanted<'_, '_> {
    fn stopped(&self) -> bool {
        self.0.bench.stop.stopped() || self.0.is_past(self.1)
    }
}

impl<'r> Round<'r> {
    #[expect(clippy::too_many_arguments, reason = "each is a part of the lab, borrowed by itself")]
    pub fn new(
        bench: Bench<'r>,
        judge: Option<&'r Judge>,
        variants: &'r dyn Variants,
        sets: &'r [ChangeSet],
        question: Question,
        remembered: &'r AtomicU32,
        watcher: &'r Watcher,
        desk: Desk<'r>,
    ) -> Round<'r> {
        let (next, last) = (AtomicUsize::new(0), AtomicUsize::new(usize::MAX));
        Round {
            bench,
            judge,
            variants,
            sets,
            question,
            remembered,
            watcher,
            next,
            last,
            desk: Mutex::new(desk),
        }
    }

    /// Has the stations do it all, each in a thread.
    pub fn run(self, stations: &mut [Station]) -> Result<Vec<What>, Error> {
        // The first sets are given out by hand, see `Lab::seat`.
        self.next.store(stations.len(), Ordering::Relaxed);
        std::thread::scope(|scope| {
            let mut seats = stations.iter_mut().enumerate();
            let own = seats.next();
            for (seat, station) in seats {
                let round = &self;
                scope.spawn(move || round.work(station, seat));
            }
            if let Some((seat, station)) = own {
                self.work(station, seat);
            }
        });
        let last = self.last.load(Ordering::Relaxed);
        let desk = self.desk.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = desk.error {
            return Err(error);
        }
        let wanted = self.sets.len().min(last.saturating_add(1));
        self.sets[..wanted].iter().map(|set| desk.known(set).ok_or(Error::Cancelled)).collect()
    }

    fn desk(&self) -> MutexGuard<'_, Desk<'r>> {
        // Sound after any panic: nothing in it is ever half written.
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_past(&self, index: usize) -> bool {
        index > self.last.load(Ordering::Relaxed)
    }

    fn work(&self, station: &mut Station, first: usize) {
        let mut index = first;
        loop {
            let Some(set) = self.sets.get(index) else { return };
            if self.is_past(index) || self.desk().error.is_some() {
                return;
            }
            let stopped = self.bench.stop.stopped();
            let done = if stopped { Err(Error::Cancelled) } else { self.try_one(station, index, set) };
            if let Err(error) = done {
                self.desk().error.get_or_insert(error);
                return;
            }
            index = self.next.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn try_one(&self, station: &mut Station, index: usize, set: &ChangeSet) -> Result<(), Error> {
        let began = Instant::now();
        let variant = self.variants.variant(set).map_err(Error::Changes)?;
        let key = self.bench.base.key(&variant);
        {
            let mut desk = self.desk();
            desk.keys.insert(set.clone(), key);
            if let Some(known) = desk.memory.recall(self.bench.setup, key)
                && self.question.is_answered_by(known.what)
            {
                self.remembered.fetch_add(1, Ordering::Relaxed);
                self.note(desk, index, set, &known, None);
                return Ok(());
            }
            if !desk.in_hand.insert(key) {
                return Ok(()); // its outcome will be known at the end
            }
        }
        (self.watcher)(&Event::Trying(set.len()));
        let findings = station.check(&self.bench, key, &variant)?;
        if let Some(findings) = findings.as_ref().filter(|findings| !findings.errors.is_empty()) {
            self.bench.counters.refused.fetch_add(1, Ordering::Relaxed);
            let mut desk = self.desk();
            let known = of_errors(&findings.errors);
            desk.memory.remember(self.bench.setup, key, known.clone())?;
            self.note(desk, index, set, &known, Some(began));
            return Ok(());
        }
        if self.question == Question::Correct {
            let mut desk = self.desk();
            let known = Known::untested(What::Correct, String::new());
            desk.memory.known.insert(key, known);
            return Ok(());
        }
        let built = station.build(&self.bench, key, &variant)?;
        let mut doubtful = matches!(built, Built::TooLong(_));
        let known = match of_build(&built) {
            Some(broken) => {
                self.bench.counters.broken.fetch_add(1, Ordering::Relaxed);
                broken
            }
            None if self.question == Question::Builds => Known::untested(What::Builds, String::new()),
            None => match self.test(station, index)? {
                Some((known, manner)) => {
                    // Perhaps the machine was busy: not something to believe for ever.
                    doubtful = manner == Manner::Hang && known.what == What::Tested(Outcome::Unresolved);
                    known.unless_suspicious(findings.as_ref())
                }
                None => return Ok(()),
            },
        };
        let mut desk = self.desk();
        if doubtful {
            desk.memory.known.insert(key, known.clone());
        } else {
            desk.memory.remember(self.bench.setup, key, known.clone())?;
        }
        self.note(desk, index, set, &known, Some(began));
        Ok(())
    }

    /// None if nobody waits for it any more.
    fn test(&self, station: &mut Station, index: usize) -> Result<Option<(Known, Manner)>, Error> {
        let judge = self.judge.ok_or(Error::NotPrepared)?;
        let stop = NoLongerWanted(self, index);
        let mut run = station.test(&self.bench, &format!("trial-{index}"), &stop)?;
        for _ in 0..2 {
            if judge.wants_another(&run.observed) {
                let again = station.test(&self.bench, &format!("trial-{index}"), &stop)?;
                if again.observed.cpu < run.observed.cpu {
                    run = again;
                }
            }
        }
        // Of thousands of trials nobody looks at the output.
        for file in [&run.stdout, &run.stderr].into_iter().chain(run.files.iter().map(|(_, file)| file)) {
            let _ = std::fs::remove_file(file);
        }
        if run.status == Status::Cancelled {
            return if self.bench.stop.stopped() { Err(Error::Cancelled) } else { Ok(None) };
        }
        Ok(Some((judge.known(&run.observed), run.status.manner())))
    }

    fn note(
        &self,
        mut desk: MutexGuard<'_, Desk<'r>>,
        index: usize,
        set: &ChangeSet,
        known: &Known,
        began: Option<Instant>,
    ) {
        if self.question.ends_with(known.what) {
            self.last.fetch_min(index, Ordering::Relaxed);
        }
        let outcome = match known.what {
            What::Tested(outcome) => Some(outcome),
            What::Builds | What::Correct => None,
        };
        let tried = Tried {
            reverted: set.clone(),
            outcome,
            why: known.why.clone(),
            remembered: began.is_none(),
            seconds: began.map_or(0.0, |began| began.elapsed().as_secs_f64()),
        };
        desk.log.push(tried.clone());
        // A watcher may take its time.
        drop(desk);
        (self.watcher)(&Event::Tried(tried));
    }
}
