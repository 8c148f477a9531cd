//! What the workers of a search share: the pool of inputs, and what was found.

use crate::subject::Outcomes;
use alternate::rerun::PlainRun;
use std::collections::{HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use symbolic::Input;

/// An input for one of the subjects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seed {
    pub subject: usize,
    pub input: Input,
}

/// How an input was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Means {
    /// It is that of a test that there was.
    Test,
    /// A mutation.
    Mutation,
    /// A solver proposed it.
    Solver,
}

/// An input on which the versions differ, twice.
#[derive(Clone, Debug)]
pub struct Exposure {
    pub seed: Seed,
    pub means: Means,
    pub outcomes: Outcomes,
    /// Seconds since the search began.
    pub after: f64,
}

/// See the module's documentation.
#[derive(Default)]
pub struct Shared {
    pool: Mutex<Vec<Seed>>,
    /// Inputs that the solver's worker is to follow.
    study: Mutex<VecDeque<Seed>>,
    exposures: Mutex<Vec<Exposure>>,
    shapes: Mutex<HashSet<u64>>,
    /// Inputs that somebody wants to have a further look at, the most interesting first.
    offered: Mutex<Option<VecDeque<(Seed, Means)>>>,
    pub runs: AtomicU64,
    /// The workers are to end.
    pub done: AtomicBool,
}

/// So many inputs are kept.
const MOST_SEEDS: usize = 600;
/// So many wait to be followed.
const MOST_WAITING: usize = 60;
/// So many exposures with outputs of the same form are kept, and so many in all.
const MOST_ALIKE: usize = 3;
const MOST_EXPOSURES: usize = 60;
/// So many inputs wait for a further look.
const MOST_OFFERED: usize = 100;

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    /// Whether the search is over.
    pub fn is_over(&self, until: Instant, stop: &AtomicBool) -> bool {
        self.done.load(Ordering::Relaxed) || stop.load(Ordering::Relaxed) || Instant::now() >= until
    }

    /// Adds an input if what the versions did with it looks like nothing before.
    pub fn add_if_new(&self, seed: &Seed, outcomes: &Outcomes) -> bool {
        let shape = number((seed.subject, shape(&outcomes.old), shape(&outcomes.new)));
        if !locked(&self.shapes).insert(shape) {
            return false;
        }
        self.add(seed);
        true
    }

    /// Adds an input to the pool.
    pub fn add(&self, seed: &Seed) {
        let mut pool = locked(&self.pool);
        if pool.len() < MOST_SEEDS {
            pool.push(seed.clone());
        }
    }

    /// Has an input followed.
    pub fn send(&self, seed: Seed) {
        let mut study = locked(&self.study);
        if study.len() < MOST_WAITING {
            study.push_back(seed);
        }
    }

    pub fn next_to_study(&self) -> Option<Seed> {
        locked(&self.study).pop_front()
    }

    pub fn pool(&self) -> Vec<Seed> {
        locked(&self.pool).clone()
    }

    pub fn expose(&self, exposure: Exposure) {
        let mut all = locked(&self.exposures);
        let looks = |e: &Exposure| (shape(&e.outcomes.old), shape(&e.outcomes.new));
        // Many that look alike say little more than one.
        let alike = all.iter().filter(|e| looks(e) == looks(&exposure)).count();
        if alike < MOST_ALIKE && all.len() < MOST_EXPOSURES {
            all.push(exposure);
        }
    }

    /// Has inputs that were run offered to [`Shared::next_offered`].
    pub fn offer_inputs(&self) {
        locked(&self.offered).get_or_insert_default();
    }

    /// Offers an input; one that looks new comes before those that do not.
    pub fn offer(&self, seed: &Seed, means: Means, is_new: bool) {
        if let Some(offered) = locked(&self.offered).as_mut() {
            if is_new {
                offered.push_front((seed.clone(), means));
                offered.truncate(MOST_OFFERED);
            } else if offered.len() < MOST_OFFERED {
                offered.push_back((seed.clone(), means));
            }
        }
    }

    pub fn next_offered(&self) -> Option<(Seed, Means)> {
        locked(&self.offered).as_mut()?.pop_front()
    }

    /// The exposures from a number on.
    pub fn exposures(&self, from: usize) -> Vec<Exposure> {
        locked(&self.exposures).get(from..).unwrap_or_default().to_vec()
    }
}

fn number(what: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}

/// What a run looks like from far: how it ended, and its first lines with all numbers and all
/// words alike. A cheap stand-in for coverage, which plain builds do not tell.
#[must_use]
pub fn shape(run: &PlainRun) -> u64 {
    const LOOKED_AT: usize = 400;
    let mut text = Vec::new();
    for byte in run.ended.stdout.iter().take(LOOKED_AT) {
        let class = match byte {
            b'0'..=b'9' => b'0',
            other => *other,
        };
        if class != b'0' || text.last() != Some(&b'0') {
            text.push(class);
        }
    }
    let files: Vec<bool> = run.files.iter().map(|f| f.1.is_some()).collect();
    number((format!("{:?}", run.ended.status), text, files))
}
